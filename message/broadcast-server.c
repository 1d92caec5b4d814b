/* SPDX-License-Identifier: BSD-2-Clause */
/* A server of a broadcast: an event loop over the coordinator's commands and the connections that are full. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "message/broadcast-internal.h"

/* With SO_LINGER 0, which the listening socket has handed down, this is a reset. */
static void reader__close(struct reader *reader, _Atomic uint64_t *count)
{
	close(reader->fd);
	reader->fd = -1;
	atomic_fetch_add(count, 1);
}

/* Epoll is asked once; until it answers, no send is tried. */
static void reader__block(struct server *server, struct reader *reader)
{
	struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT, .data.ptr = reader};

	reader->blocked = true;
	if (epoll_ctl(server->epoll, reader->listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, reader->fd, &event))
		reader__close(reader, &server->told->dropped);
	reader->listed = true;
}

bool reader__sent(struct server *server, struct reader *reader, ssize_t result)
{
	if (result == -EINTR)
		return true;
	if (result == -EAGAIN) {
		reader__block(server, reader);
		return false;
	}
	if (result < 0) {
		reader__close(reader, &server->told->dropped);
		return false;
	}
	reader->offset += (size_t)result;
	if (reader->offset == server->ring.size) {
		reader->next++;
		reader->offset = 0;
	}
	return reader->next <= server->newest;
}

void reader__push(struct server *server, struct reader *reader)
{
	size_t size = server->ring.size;
	ssize_t n;

	do {
		const uint8_t *message = ring__slot(&server->ring, reader->next);

		n = send(reader->fd, message + reader->offset, size - reader->offset, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (reader__sent(server, reader, n < 0 ? -errno : n));
}

/* Those who would need what the ring is about to lose. */
static void evict(struct server *server, uint64_t sequence)
{
	for (uint64_t i = 0; i < server->n; i++) {
		struct reader *reader = &server->readers[i];

		if (reader->fd >= 0 && reader->next + QUEUE <= sequence)
			reader__close(reader, &server->told->evicted);
	}
}

/* Of STRATEGY_EACH: servers send one after the other. */
static void await_turn(const struct place *place)
{
	_Atomic uint32_t *turn = &place->shared->turn;
	uint32_t seen;

	while ((seen = atomic_load(turn)) < (uint32_t)place->index)
		futex__wait(turn, seen, 1000000000u);
}

static void pass_turn(const struct place *place)
{
	_Atomic uint32_t *turn = &place->shared->turn;
	uint32_t own = (uint32_t)place->index;

	/* The coordinator has it moved on when it gives up. */
	atomic_compare_exchange_strong(turn, &own, own + 1);
	futex__wake(turn);
}

static int send_all(struct server *server, const struct command *command)
{
	struct told *told = server->told;
	uint64_t sent = 0;
	int err;

	if (command->strategy == STRATEGY_TREE) {
		uint8_t *slot = ring__slot(&server->ring, command->sequence);

		if (recv(server->place->line, slot, server->ring.size, MSG_WAITALL) != (ssize_t)server->ring.size)
			return -EPIPE;
		server->ring.holds[command->sequence % QUEUE] = command->sequence;
	}
	server->newest = command->sequence;
	if (command->strategy == STRATEGY_EACH)
		await_turn(server->place);
	err = strategy__pass(server, command->strategy);
	atomic_store(&told->pass_ended, clock_ns());
	if (command->strategy == STRATEGY_EACH)
		pass_turn(server->place);
	for (uint64_t i = 0; i < server->n; i++)
		sent += server->readers[i].next > server->newest;
	atomic_store(&told->sent, sent);
	return err;
}

/* Does the next command. Returns 0, -EPIPE: the coordinator is gone, or -errno. */
static int obey(struct server *server)
{
	const struct place *place = server->place;
	struct command command;
	char why[sizeof(server->told->why)] = "it can't send";
	int err = 0;

	if (recv(place->line, &command, sizeof(command), MSG_WAITALL) != sizeof(command))
		return -EPIPE;
	if (command.kind == COMMAND_PREPARE) {
		evict(server, command.sequence);
		if (command.strategy != STRATEGY_TREE)
			ring__message(&server->ring, command.sequence);
		err = strategy__prepare(server, command.strategy, why, sizeof(why));
	} else if (command.kind == COMMAND_SEND) {
		err = send_all(server, &command);
	} else {
		strategy__rest(server);
	}
	if (err == -EPIPE)
		return err;
	/* A strategy that is refused is no failure of the server: it tells, and takes the next command. */
	if (err)
		snprintf(server->told->why, sizeof(server->told->why), "%s", why);
	atomic_store(&server->told->err, err);
	shared__tell(place->shared, &server->told->at, command.number);
	return 0;
}

static int serve(struct server *server)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(server->epoll, events, EVENTS, -1), err;

		for (int i = 0; i < n; i++) {
			struct reader *reader = events[i].data.ptr;

			if (!reader) {
				err = obey(server);
				if (err)
					return err;
			} else if (reader->fd >= 0) {
				reader->blocked = false;
				if (events[i].events & (EPOLLERR | EPOLLHUP))
					reader__close(reader, &server->told->dropped);
				else if (reader__due(server, reader))
					reader__push(server, reader);
			}
		}
	}
}

/* Options that connections take over from it: reset on close; messages go at once, though the last one's
 * receipt is not known yet. */
static int listen_here(const struct place *place)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	struct linger reset = {1, 0};
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, size) || listen(fd, place->backlog) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		place__fail(place, -errno, "it can't listen: %s", strerror(errno));
	atomic_store(&place->told->port, ntohs(address.sin_port));
	atomic_fetch_add(&place->shared->news, 1);
	futex__wake(&place->shared->news);
	return fd;
}

/* Bytes nobody will read, until no more go in. Returns how many went in. */
static size_t fill(struct server *server, struct reader *reader)
{
	static const uint8_t nothing[65536];
	size_t sum = 0;
	ssize_t n;

	while ((n = send(reader->fd, nothing, sizeof(nothing), MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
		sum += (size_t)n;
	if (!reader->blocked)
		reader__block(server, reader);
	return sum;
}

/* Acknowledgements, which are delayed by up to 200 ms, make room: until there was none for 250 ms. */
static void fill_up(struct server *server)
{
	const struct timespec pause = {0, 50000000};

	for (int quiet = 0; quiet < 5; quiet++) {
		size_t sum = 0;

		nanosleep(&pause, NULL);
		for (uint64_t i = 0; i < server->n; i++)
			if (server->readers[i].blocked)
				sum += fill(server, &server->readers[i]);
		if (sum)
			quiet = -1;
	}
}

/* A stalled client is known by where it comes from: 127.2.x.x. */
static void accept_all(struct server *server, int listening)
{
	const struct place *place = server->place;
	int small = SMALL_BUFFER;

	for (uint64_t i = 0; i < server->n; i++) {
		struct reader *reader = &server->readers[i];
		struct sockaddr_in from;
		socklen_t size = sizeof(from);

		do
			reader->fd = accept4(listening, (struct sockaddr *)&from, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
		while (reader->fd < 0 && (errno == EINTR || errno == ECONNABORTED));
		if (reader->fd < 0)
			place__fail(place, -errno, "it can't accept: %s", strerror(errno));
		atomic_store(&place->told->accepted, i + 1);
		reader->next = FIRST_BROADCAST;
		if ((ntohl(from.sin_addr.s_addr) >> 16 & 255) != 2)
			continue;
		setsockopt(reader->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
		fill(server, reader);
	}
}

void server__run(const struct place *place)
{
	struct server server = {.place = place, .told = place->told, .n = place->n, .armed = -1};
	struct epoll_event event = {.events = EPOLLIN};
	int listening = listen_here(place);

	server.readers = calloc(place->n, sizeof(*server.readers));
	server.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (!server.readers || ring__open(&server.ring, place->plan->size) || server.epoll < 0 ||
	    epoll_ctl(server.epoll, EPOLL_CTL_ADD, place->line, &event))
		place__fail(place, -ENOMEM, "out of memory");
	accept_all(&server, listening);
	close(listening);
	if (place->plan->stalled)
		fill_up(&server);
	shared__tell(place->shared, &place->told->at, 1);
	serve(&server);
	_exit(0);
}
