/* SPDX-License-Identifier: BSD-2-Clause */
/* Streams between two processes: pipes, Unix sockets and TCP over loopback, and several ways to write to them. On
 * the stream a message is its number and its bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/output.h"
#include "message/channel.h"

#define BATCH_BYTES 65536u
#define BATCH_MESSAGES 64
#define INPUT_BYTES (256u << 10)

struct stream {
	int in, out; /* the receiver's end, the sender's end; -1: closed, or the other process's */
	size_t wire; /* bytes of a message on the stream */
	/* The receiver's: what was read and not yet taken. */
	uint8_t *input;
	size_t room, have;
	/* The sender's: what is collected. */
	uint8_t *batch;
	struct io_uring ring;
	bool has_ring;
};

static int make_tcp(int pair[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, err = 0;

	pair[0] = -1;
	pair[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listening < 0 || pair[1] < 0 || bind(listening, (void *)&address, sizeof(address)) ||
	    getsockname(listening, (void *)&address, &length) || listen(listening, 1) ||
	    connect(pair[1], (void *)&address, sizeof(address)) ||
	    (pair[0] = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) < 0 ||
	    setsockopt(pair[1], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		err = -errno;
	if (listening >= 0)
		close(listening);
	return err;
}

int stream__open(struct channel *channel)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int pair[2] = {-1, -1}, err = 0;

	if (!stream)
		return -ENOMEM;
	channel->own = stream;
	switch ((enum transport)channel->kind->transport) {
	case PIPE: err = pipe2(pair, O_CLOEXEC) ? -errno : 0; break;
	case UNIX: err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? -errno : 0; break;
	case TCP: err = make_tcp(pair); break;
	}
	stream->in = pair[0];
	stream->out = pair[1];
	stream->wire = sizeof(uint64_t) + channel->size;
	stream->room = stream->wire > INPUT_BYTES ? stream->wire : INPUT_BYTES;
	stream->input = malloc(stream->room);
	stream->batch = malloc(BATCH_BYTES > stream->wire ? BATCH_BYTES : stream->wire);
	if (!stream->input || !stream->batch)
		return -ENOMEM;
	memset(stream->input, 0, stream->room);
	if (!err && channel->kind->send == stream__send_io_uring) {
		err = io_uring_queue_init(BATCH_MESSAGES, &stream->ring, 0);
		stream->has_ring = !err;
	}
	return err;
}

void stream__divide(struct channel *channel, bool sender)
{
	struct stream *stream = channel->own;
	int *theirs = sender ? &stream->in : &stream->out;

	close(*theirs);
	*theirs = -1;
}

/* A TCP connection ends with a reset, lest it stays in TIME_WAIT while the next is measured. */
static void close_end(const struct channel *channel, int fd)
{
	const struct linger reset = {1, 0};

	if (fd < 0)
		return;
	if (channel->kind->transport == TCP)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
}

void stream__close(struct channel *channel)
{
	struct stream *stream = channel->own;

	if (!stream)
		return;
	if (stream->has_ring)
		io_uring_queue_exit(&stream->ring);
	close_end(channel, stream->out);
	close_end(channel, stream->in);
	free(stream->input);
	free(stream->batch);
	free(stream);
}

/* The i-th message as it goes over the stream: its number is in it. */
static const void *wire_of(struct channel *channel, uint64_t i)
{
	struct frame *frame = channel__frame(channel, i);

	frame->number = i;
	return &frame->number;
}

int stream__send_each(struct channel *channel, uint64_t n)
{
	const struct stream *stream = channel->own;
	int err = 0;

	for (; n && !err; n--) {
		err = output__write_all(stream->out, wire_of(channel, channel->next), stream->wire);
		channel->next += !err;
	}
	return err;
}

int stream__send_batch(struct channel *channel, uint64_t n)
{
	const struct stream *stream = channel->own;
	size_t most = BATCH_BYTES / stream->wire ? BATCH_BYTES / stream->wire : 1;
	int err = 0;

	while (n && !err) {
		size_t k = n < most ? n : most;

		for (size_t i = 0; i < k; i++)
			memcpy(stream->batch + i * stream->wire, wire_of(channel, channel->next + i), stream->wire);
		err = output__write_all(stream->out, stream->batch, k * stream->wire);
		channel->next += err ? 0 : k;
		n -= k;
	}
	return err;
}

/* As many as are different messages: each carries its own number. */
static size_t at_once(const struct channel *channel, uint64_t n)
{
	size_t most = channel->messages < BATCH_MESSAGES ? channel->messages : BATCH_MESSAGES;

	return n < most ? (size_t)n : most;
}

/* The rest of k messages of which `done` bytes are sent. */
static int write_rest(struct channel *channel, size_t k, size_t done)
{
	const struct stream *stream = channel->own;
	int err = 0;

	for (size_t i = done / stream->wire; i < k && !err; i++) {
		size_t from = i == done / stream->wire ? done % stream->wire : 0;

		err = output__write_all(stream->out, (const uint8_t *)wire_of(channel, channel->next + i) + from, stream->wire - from);
	}
	return err;
}

int stream__send_writev(struct channel *channel, uint64_t n)
{
	const struct stream *stream = channel->own;
	struct iovec parts[BATCH_MESSAGES];
	int err = 0;

	while (n && !err) {
		size_t k = at_once(channel, n);
		ssize_t put;

		for (size_t i = 0; i < k; i++)
			parts[i] = (struct iovec){(void *)wire_of(channel, channel->next + i), stream->wire};
		put = writev(stream->out, parts, (int)k);
		err = put < 0 && errno != EINTR ? -errno : write_rest(channel, k, put < 0 ? 0 : (size_t)put);
		channel->next += err ? 0 : k;
		n -= k;
	}
	return err;
}

int stream__send_sendmmsg(struct channel *channel, uint64_t n)
{
	const struct stream *stream = channel->own;
	struct mmsghdr messages[BATCH_MESSAGES];
	struct iovec parts[BATCH_MESSAGES];
	int err = 0;

	memset(messages, 0, sizeof(messages));
	while (n && !err) {
		size_t k = at_once(channel, n), done = 0;
		int put;

		for (size_t i = 0; i < k; i++) {
			parts[i] = (struct iovec){(void *)wire_of(channel, channel->next + i), stream->wire};
			messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
		}
		put = sendmmsg(stream->out, messages, (unsigned int)k, MSG_NOSIGNAL);
		err = put < 0 && errno != EINTR ? -errno : 0;
		for (int i = 0; i < put; i++) /* a short one is the last */
			done += messages[i].msg_len;
		err = err ? err : write_rest(channel, k, done);
		channel->next += err ? 0 : k;
		n -= k;
	}
	return err;
}

/* Each linked to the next, so that they are sent in order; what follows a short one is cancelled. */
int stream__send_io_uring(struct channel *channel, uint64_t n)
{
	struct stream *stream = channel->own;
	int err = 0;

	while (n && !err) {
		size_t k = at_once(channel, n), done = 0;
		int results[BATCH_MESSAGES];
		bool whole = true;

		for (size_t i = 0; i < k; i++) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&stream->ring);

			io_uring_prep_send(sqe, stream->out, wire_of(channel, channel->next + i), stream->wire,
					   MSG_WAITALL | MSG_NOSIGNAL);
			io_uring_sqe_set_data64(sqe, i);
			if (i + 1 < k)
				sqe->flags |= IOSQE_IO_LINK;
		}
		do
			err = io_uring_submit_and_wait(&stream->ring, (unsigned int)k);
		while (err == -EINTR);
		err = err < 0 ? err : 0;
		for (size_t i = 0; i < k && !err;) {
			struct io_uring_cqe *cqe;

			err = io_uring_wait_cqe(&stream->ring, &cqe);
			if (err == -EINTR) {
				err = 0;
				continue;
			}
			if (err)
				break;
			results[io_uring_cqe_get_data64(cqe)] = cqe->res;
			io_uring_cqe_seen(&stream->ring, cqe);
			i++;
		}
		for (size_t i = 0; i < k && !err && whole; i++) {
			bool again = results[i] == -ECANCELED || results[i] == -EINTR || results[i] == -EAGAIN;

			err = results[i] < 0 && !again ? results[i] : 0;
			done += results[i] > 0 ? (size_t)results[i] : 0;
			whole = results[i] == (int)stream->wire;
		}
		err = err ? err : write_rest(channel, k, done);
		channel->next += err ? 0 : k;
		n -= k;
	}
	return err;
}

int stream__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	struct stream *stream = channel->own;
	size_t used = 0;

	while (n) {
		ssize_t got;

		for (; n && stream->have - used >= stream->wire; n--, used += stream->wire) {
			uint64_t number;

			memcpy(&number, stream->input + used, sizeof(number));
			channel__take(channel, number, stream->input + used + sizeof(number), receipt);
		}
		memmove(stream->input, stream->input + used, stream->have - used);
		stream->have -= used;
		used = 0;
		if (!n)
			break;
		got = read(stream->in, stream->input + stream->have, stream->room - stream->have);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPIPE;
		stream->have += (size_t)got;
	}
	receipt->at_ns = clock_ns();
	return 0;
}
