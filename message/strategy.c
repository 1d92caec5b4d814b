/* SPDX-License-Identifier: BSD-2-Clause */
/* The ways of sending one message to every client of a server. */
#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "message/broadcast-internal.h"

#define SUBMISSIONS 1024 /* room in the ring of io_uring, and sends of a batch */

const char *const strategy_names[STRATEGIES] = {
	[STRATEGY_EACH] = "each",
	[STRATEGY_EPOLL] = "epoll",
	[STRATEGY_IO_URING] = "io_uring",
	[STRATEGY_THREADS] = "threads",
	[STRATEGY_TREE] = "tree",
};

const char *const strategy_summaries[STRATEGIES] = {
	[STRATEGY_EACH] = "one loop of sends to each client in turn; server processes wait for each other",
	[STRATEGY_EPOLL] = "each server process sends as epoll tells that there is room",
	[STRATEGY_IO_URING] = "each server process submits its sends to io_uring, 1024 with one call",
	[STRATEGY_THREADS] = "in each server process, pinned threads send to a share of its clients each",
	[STRATEGY_TREE] = "the message goes to each server process first, and from there to its clients",
};

static void push_share(struct server *server, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		if (reader__due(server, &server->readers[i]))
			reader__push(server, &server->readers[i]);
}

static int pass_in_turn(struct server *server)
{
	push_share(server, 0, server->n);
	return 0;
}

/* Every connection that is not full is ready at once, so all are armed before the clock starts, in an epoll that
 * nobody waits for until then. */
static int prepare_epoll(struct server *server)
{
	struct epoll_event event = {.events = EPOLLOUT | EPOLLONESHOT};

	server->armed = epoll_create1(EPOLL_CLOEXEC);
	if (server->armed < 0)
		return -errno;
	for (uint64_t i = 0; i < server->n; i++) {
		struct reader *reader = &server->readers[i];

		event.data.ptr = reader;
		if (reader->fd >= 0 && !reader->blocked &&
		    epoll_ctl(server->armed, EPOLL_CTL_ADD, reader->fd, &event))
			return -errno;
	}
	return 0;
}

static int pass_epoll(struct server *server)
{
	struct epoll_event events[EVENTS];
	int n;

	while ((n = epoll_wait(server->armed, events, EVENTS, 0)) > 0 || (n < 0 && errno == EINTR))
		for (int i = 0; i < n; i++) {
			struct reader *reader = events[i].data.ptr;

			if (reader__due(server, reader))
				reader__push(server, reader);
		}
	/* Those that were not ready are told by the server's own epoll from now on. */
	return n < 0 ? -errno : pass_in_turn(server);
}

static int prepare_uring(struct server *server, char *why, size_t why_size)
{
	struct io_uring *uring;
	int err;

	if (server->uring)
		return 0;
	uring = calloc(1, sizeof(*uring));
	if (!uring)
		return -ENOMEM;
	err = io_uring_queue_init(SUBMISSIONS, uring, 0);
	if (err) {
		snprintf(why, why_size, "the kernel refuses io_uring (%s)", strerror(-err));
		free(uring);
		return err == -EPERM || err == -ENOSYS ? -ENOTSUP : err;
	}
	server->uring = uring;
	return 0;
}

static void submit(struct server *server, struct reader *reader)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(server->uring); /* there is one: a batch fits the ring */
	const uint8_t *message = ring__slot(&server->ring, reader->next);

	io_uring_prep_send(sqe, reader->fd, message + reader->offset, server->ring.size - reader->offset,
			   MSG_DONTWAIT | MSG_NOSIGNAL);
	io_uring_sqe_set_data(sqe, reader);
}

/* A batch is over before the next begins: no client has two sends under way. What is still due after the first,
 * of a client that lags or of a message that did not fit, is sent like elsewhere. */
static int pass_uring(struct server *server)
{
	struct io_uring_cqe *cqe;

	for (uint64_t i = 0; i < server->n;) {
		unsigned int flying = 0, head, seen;

		for (; i < server->n && flying < SUBMISSIONS; i++)
			if (reader__due(server, &server->readers[i])) {
				submit(server, &server->readers[i]);
				flying++;
			}
		while (flying) {
			int n = io_uring_submit_and_wait(server->uring, flying);

			if (n < 0 && n != -EINTR && n != -EAGAIN && n != -EBUSY)
				return n;
			seen = 0;
			io_uring_for_each_cqe(server->uring, head, cqe) {
				struct reader *reader = io_uring_cqe_get_data(cqe);

				seen++;
				if (reader__sent(server, reader, cqe->res))
					reader__push(server, reader);
			}
			io_uring_cq_advance(server->uring, seen);
			flying -= seen;
		}
	}
	return 0;
}

static int prepare_threads(struct server *server)
{
	const struct broadcast_plan *plan = server->place->plan;
	int err, *cpus;

	if (server->crew)
		return 0;
	cpus = calloc((size_t)plan->threads, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	for (int i = 0; i < plan->threads; i++)
		cpus[i] = plan->n_cpus ? plan->cpus[(server->place->index + i) % plan->n_cpus] : sched_getcpu();
	err = crew__new(&server->crew, cpus, plan->threads);
	free(cpus);
	return err;
}

static void push_own_share(struct member *member, const atomic_bool *stop, void *argument)
{
	struct server *server = argument;
	int threads = server->place->plan->threads, own = (int)(member - crew__members(server->crew));

	(void)stop; /* it is how the end is waited for: a share is always sent to its end */
	push_share(server, share__first(server->n, threads, own), share__first(server->n, threads, own + 1));
}

static int pass_threads(struct server *server)
{
	crew__start(server->crew, push_own_share, server);
	crew__stop(server->crew);
	return 0;
}

int strategy__prepare(struct server *server, enum strategy strategy, char *why, size_t why_size)
{
	int err = 0;

	if (strategy == STRATEGY_IO_URING)
		return prepare_uring(server, why, why_size);
	if (strategy == STRATEGY_EPOLL)
		err = prepare_epoll(server);
	if (strategy == STRATEGY_THREADS)
		err = prepare_threads(server);
	if (err)
		snprintf(why, why_size, "%s: %s", strategy_names[strategy], strerror(-err));
	return err;
}

int strategy__pass(struct server *server, enum strategy strategy)
{
	switch (strategy) {
	case STRATEGY_EPOLL:
		return pass_epoll(server);
	case STRATEGY_IO_URING:
		return pass_uring(server);
	case STRATEGY_THREADS:
		return pass_threads(server);
	default:
		return pass_in_turn(server);
	}
}

void strategy__rest(struct server *server)
{
	if (server->armed >= 0)
		close(server->armed);
	server->armed = -1;
}
