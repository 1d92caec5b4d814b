/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that has the file: each call is a message to it and one back, the data in them, over a pair of
 * sockets. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/layer.h"

struct server {
	struct layer_file file;
	pid_t pid;
	int socket; /* ours */
};

struct request {
	uint64_t offset;
	bool write; /* a block follows */
};
struct answer {
	ssize_t n; /* read: so many bytes follow; or -errno */
};

/* Head and body with one call where the socket takes them. Returns 0 or -errno. */
static int send_both(int socket, void *head, size_t head_size, void *body, size_t size)
{
	struct iovec parts[2] = {{head, head_size}, {body, size}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t n = sendmsg(socket, &message, MSG_NOSIGNAL);

	if (n < 0)
		n = errno == EINTR ? 0 : -errno;
	if (n < 0)
		return (int)n;
	if ((size_t)n < head_size) {
		int err = layer__write(socket, (char *)head + n, head_size - (size_t)n, LAYER_NEXT);

		return err ? err : layer__write(socket, body, size, LAYER_NEXT);
	}
	n -= (ssize_t)head_size;
	return layer__write(socket, (char *)body + n, size - (size_t)n, LAYER_NEXT);
}

static int receive(int socket, void *data, size_t size)
{
	ssize_t n = layer__read(socket, data, size, LAYER_NEXT);

	return n < 0 ? (int)n : (size_t)n < size ? -EPIPE : 0;
}

/* Serves until the other end is closed. */
static void __attribute__((noreturn)) serve(struct server *server, int socket)
{
	struct layer_file *file = &server->file;
	struct request request;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	while (!receive(socket, &request, sizeof(request))) {
		struct answer answer = {0};
		size_t size = 0;

		if (request.write) {
			if (receive(socket, file->buffer, file->job.block))
				break;
			answer.n = layer__write(file->fd, file->buffer, file->job.block, request.offset);
		} else {
			answer.n = layer__read(file->fd, file->buffer, file->job.block, request.offset);
			size = answer.n > 0 ? (size_t)answer.n : 0;
		}
		if (send_both(socket, &answer, sizeof(answer), file->buffer, size))
			break;
	}
	_exit(0);
}

static int open_server(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	int err = layer__new(file, sizeof(struct server), &layer_server, job, job->path, why, why_size);
	struct server *server = (struct server *)*file;
	int pair[2];

	if (err)
		return err;
	server->socket = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	server->socket = pair[0];
	server->pid = fork();
	if (!server->pid) {
		close(pair[0]);
		serve(server, pair[1]);
	}
	err = server->pid < 0 ? -errno : 0;
	close(pair[1]);
	return err;
}

static int move_served(struct layer_file *file, bool write, uint64_t offset)
{
	struct server *server = (struct server *)file;
	struct request request = {offset, write};
	uint64_t at = offset == LAYER_NEXT ? file->position : offset;
	size_t block = file->job.block;
	struct answer answer;
	int err;

	if (write)
		layer__make(file, file->buffer, at);
	err = send_both(server->socket, &request, sizeof(request), file->buffer, write ? block : 0);
	if (!err)
		err = receive(server->socket, &answer, sizeof(answer));
	if (!err && answer.n < 0)
		err = (int)answer.n;
	if (!err && !write)
		err = receive(server->socket, file->buffer, (size_t)answer.n);
	if (err)
		return err;
	if (write)
		file->bytes += block;
	else
		layer__saw(file, file->buffer, (size_t)answer.n, at);
	if (offset == LAYER_NEXT)
		file->position += write ? block : (size_t)answer.n;
	return 0;
}

static void close_server(struct layer_file *file)
{
	struct server *server = (struct server *)file;

	if (!file)
		return;
	if (server->socket >= 0)
		close(server->socket);
	if (server->pid > 0)
		waitpid(server->pid, NULL, 0);
	layer__free(file);
}

const struct layer layer_server = {"server", "raw in another process: each call a message there, with the data, and back",
				   LAYER_READS | LAYER_WRITES | LAYER_STREAMS | LAYER_DIRECT, open_server, move_served, NULL,
				   close_server};
