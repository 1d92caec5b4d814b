/* SPDX-License-Identifier: BSD-2-Clause */
/* The coordinator of a broadcast: starts the servers and the client processes, has them do a round, and takes
 * what they have told. */
#include "message/broadcast.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/stats.h"
#include "message/broadcast-internal.h"

#define SETUP_LIMIT_NS 120000000000u
#define ROUND_LIMIT_NS 10000000000u
#define LOOK_NS 20000000u /* so often it is looked whether all processes live */

struct broadcast {
	struct broadcast_plan plan;
	struct shared *shared;
	size_t shared_size;
	struct group servers, clients;
	int lines[MOST_PROCESSES]; /* to the servers */
	int backlog, ports;
	uint64_t command;  /* number of the latest */
	uint64_t sequence; /* of the latest broadcast */
	struct ring ring;
};

static int start_server(struct broadcast *b, struct place place)
{
	const struct timeval limit = {ROUND_LIMIT_NS / 1000000000u, 0};
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	place.line = pair[1];
	err = group__start(&b->servers, place, server__run);
	close(pair[1]);
	setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (err)
		close(pair[0]);
	else
		b->lines[place.index] = pair[0];
	return err;
}

/* The i-th of the group, with its share of the clients. */
static int start(struct broadcast *b, struct group *group, int i)
{
	struct place place = {&b->plan, b->shared, &group->told[i], i, share__first(b->plan.clients, group->n, i),
			      share__first(b->plan.clients, group->n, i + 1), -1, b->backlog, b->ports};

	place.n -= place.first;
	return group == &b->servers ? start_server(b, place) : group__start(group, place, clients__run);
}

/* Looks after who has died. Returns how many live. */
static int look(struct broadcast *b)
{
	int live = group__reap(&b->servers) + group__reap(&b->clients);
	uint32_t turn = atomic_load(&b->shared->turn);

	/* A dead server's turn is over. */
	if (turn < (uint32_t)b->servers.started && !b->servers.pids[turn] &&
	    atomic_compare_exchange_strong(&b->shared->turn, &turn, turn + 1))
		futex__wake(&b->shared->turn);
	return live;
}

/* Until all of the group who live are there. Returns 0, what one of them has failed with, -ETIMEDOUT after
 * `until`, or -ECHILD: during set-up, when nobody may die, somebody has. */
static int await(struct broadcast *b, struct group *group, uint64_t number, uint64_t until, char *why,
		 size_t why_size)
{
	uint64_t looked = clock_ns();

	for (;;) {
		uint32_t news = atomic_load(&b->shared->news);
		uint64_t now = clock_ns();

		if (group__at(group, number))
			return group__failure(group, why, why_size);
		if (now > until)
			return -ETIMEDOUT;
		if (now - looked > LOOK_NS) {
			looked = now;
			if (look(b) < b->servers.n + b->clients.n && b->sequence < FIRST_BROADCAST)
				return -ECHILD;
			continue;
		}
		futex__wait(&b->shared->news, news, LOOK_NS);
	}
}

/* Tells all servers that live. */
static void command(struct broadcast *b, enum command_kind kind, enum strategy strategy)
{
	struct command order = {++b->command, b->sequence, kind, strategy};
	bool follows = kind == COMMAND_SEND && strategy == STRATEGY_TREE;

	for (int i = 0; i < b->servers.n; i++) {
		if (!b->servers.pids[i])
			continue;
		/* A server that takes nothing is dead, or stopped: the round will tell. */
		if (send(b->lines[i], &order, sizeof(order), MSG_NOSIGNAL | (follows ? MSG_MORE : 0)) > 0 && follows)
			send(b->lines[i], ring__message(&b->ring, b->sequence), b->ring.size, MSG_NOSIGNAL);
	}
}

static int start_all(struct broadcast *b, char *why, size_t why_size)
{
	uint64_t until = clock_ns() + SETUP_LIMIT_NS;
	int err = 0, said;

	for (int i = 0; i < b->servers.n && !err; i++)
		err = start(b, &b->servers, i);
	for (int i = 0; i < b->clients.n && !err; i++)
		err = start(b, &b->clients, i);
	if (!err)
		err = await(b, &b->clients, 1, until, why, why_size);
	if (!err)
		err = await(b, &b->servers, 1, until, why, why_size);
	if (err != -ECHILD && err != -ETIMEDOUT)
		return err;
	said = group__failure(&b->servers, why, why_size);
	said = said ? said : group__failure(&b->clients, why, why_size);
	if (!said)
		snprintf(why, why_size, "%s", err == -ECHILD ? "a process of the broadcast was killed during set-up" :
			 "connecting the clients takes more than two minutes");
	return said ? said : err;
}

int broadcast__open(struct broadcast **broadcast, const struct broadcast_plan *plan, double *setup_s, char *why,
		    size_t why_size)
{
	struct broadcast *b = calloc(1, sizeof(*b));
	uint64_t began = clock_ns();
	int err;

	*broadcast = NULL;
	*why = 0;
	if (!b)
		return -ENOMEM;
	b->plan = *plan;
	b->command = b->sequence = 1;
	err = broadcast__fit(&b->plan, &b->backlog, &b->ports, why, why_size);
	if (!err)
		err = ring__open(&b->ring, plan->size);
	b->shared_size = sizeof(*b->shared) + b->plan.clients * sizeof(*b->shared->received_ns);
	if (!err) {
		b->shared = mmap(NULL, b->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		err = b->shared == MAP_FAILED ? -errno : 0;
		b->shared = err ? NULL : b->shared;
	}
	if (!err) {
		b->servers = (struct group){.whose = "server", .told = b->shared->servers, .n = b->plan.servers};
		b->clients = (struct group){.whose = "client", .told = b->shared->clients, .n = b->plan.client_processes};
		err = start_all(b, why, why_size);
	}
	b->plan.cpus = NULL;
	if (err && !*why)
		snprintf(why, why_size, "%s", strerror(-err));
	if (err) {
		broadcast__close(b);
		return err;
	}
	*setup_s = (double)(clock_ns() - began) / 1e9;
	*broadcast = b;
	return 0;
}

/* The receipts, as times since `start`. Returns 0 or -ENOMEM. */
static int summarise(const struct broadcast *b, uint64_t began, struct broadcast_round *round)
{
	double *ms = calloc(b->plan.clients, sizeof(*ms));
	uint64_t n = 0;

	if (!ms)
		return -ENOMEM;
	for (uint64_t i = 0; i < b->plan.clients; i++) {
		uint64_t at = atomic_load(&b->shared->received_ns[i]);

		if (at)
			ms[n++] = (double)(at - began) / 1e6;
	}
	qsort(ms, n, sizeof(*ms), stats__by_value);
	round->received = n;
	if (n) {
		round->min_ms = ms[0];
		round->p50_ms = ms[(n - 1) / 2];
		round->p99_ms = ms[(n - 1) * 99 / 100];
		round->last_ms = ms[n - 1];
	}
	free(ms);
	return 0;
}

/* What the processes have counted. Returns how many pieces were wrong. */
static uint64_t add_up(const struct broadcast *b, uint64_t began, struct broadcast_round *round)
{
	uint64_t sent = 0, ended = 0, wrong = 0;

	for (int i = 0; i < b->servers.n; i++) {
		const struct told *told = &b->servers.told[i];
		uint64_t at = atomic_load(&told->pass_ended);

		round->evicted += atomic_load(&told->evicted);
		round->dropped += atomic_load(&told->dropped);
		if (at < began)
			continue;
		ended = at > ended ? at : ended;
		sent += atomic_load(&told->sent);
	}
	for (int i = 0; i < b->clients.n; i++)
		wrong += atomic_load(&b->clients.told[i].wrong);
	round->sends_per_second = ended ? (double)sent * 1e9 / (double)(ended - began) : NAN;
	return wrong;
}

/* From the first send until it is over. Returns 0, -ETIMEDOUT or what a server failed with. */
static int run(struct broadcast *b, enum strategy strategy, uint64_t *began, struct broadcast_round *round,
	       char *why, size_t why_size)
{
	uint64_t sent;
	int err, late;

	group__cpu_ms(&b->servers, true);
	group__cpu_ms(&b->clients, true);
	atomic_store(&b->shared->sequence, b->sequence);
	*began = clock_ns();
	command(b, COMMAND_SEND, strategy);
	sent = b->command;
	late = await(b, &b->clients, b->sequence, *began + ROUND_LIMIT_NS, NULL, 0);
	err = await(b, &b->servers, sent, *began + ROUND_LIMIT_NS, why, why_size);
	round->server_cpu_ms = group__cpu_ms(&b->servers, false);
	round->client_cpu_ms = group__cpu_ms(&b->clients, false);
	return err ? err : late;
}

int broadcast__round(struct broadcast *b, enum strategy strategy, struct broadcast_round *round, char *why,
		     size_t why_size)
{
	uint64_t began;
	int err, failed;

	*why = 0;
	*round = (struct broadcast_round){b->plan.clients, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
	for (uint64_t i = 0; i < b->plan.clients; i++)
		atomic_store_explicit(&b->shared->received_ns[i], 0, memory_order_relaxed);
	atomic_store(&b->shared->turn, 0);
	b->sequence++;
	ring__message(&b->ring, b->sequence);
	command(b, COMMAND_PREPARE, strategy);
	err = await(b, &b->servers, b->command, clock_ns() + ROUND_LIMIT_NS, why, why_size);
	if (err && err != -ETIMEDOUT) {
		b->sequence--; /* it was not sent */
		return err;
	}
	err = run(b, strategy, &began, round, why, why_size);
	atomic_store(&b->shared->turn, MOST_PROCESSES);
	futex__wake(&b->shared->turn);
	command(b, COMMAND_REST, strategy);
	await(b, &b->servers, b->command, clock_ns() + 1000000000u, NULL, 0);
	failed = summarise(b, began, round);
	if (add_up(b, began, round)) {
		snprintf(why, why_size, "a client received what was not sent");
		failed = -EILSEQ;
	}
	if (!group__reap(&b->servers) || !group__reap(&b->clients)) {
		snprintf(why, why_size, "the processes of the broadcast have died");
		failed = -ECHILD;
	}
	if (err == -ETIMEDOUT && !failed) {
		snprintf(why, why_size, "after %.0f s, %llu of %llu clients have it", ROUND_LIMIT_NS / 1e9,
			 (unsigned long long)round->received, (unsigned long long)round->clients);
		err = 0;
	}
	if (failed && !*why)
		snprintf(why, why_size, "%s", strerror(-failed));
	return failed ? failed : err;
}

void broadcast__close(struct broadcast *b)
{
	if (!b)
		return;
	group__kill(&b->clients);
	group__kill(&b->servers);
	group__bury(&b->clients);
	group__bury(&b->servers);
	for (int i = 0; i < b->servers.started; i++)
		close(b->lines[i]);
	if (b->shared)
		munmap(b->shared, b->shared_size);
	free(b->ring.bytes);
	free(b);
}
