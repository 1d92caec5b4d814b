/* SPDX-License-Identifier: BSD-2-Clause */
/* Broadcasts: every strategy reaches every client, whoever stalls, lags or dies. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/clock.h"
#include "message/broadcast.h"

#define CLIENTS 200
#define QUEUE 8 /* broadcasts a client may be behind */

static char why[256];

static struct broadcast *open_plan(struct broadcast_plan plan)
{
	struct broadcast *broadcast;
	double setup_s = -1;

	plan.servers = plan.servers ? plan.servers : 2;
	plan.client_processes = plan.client_processes ? plan.client_processes : 2;
	if (broadcast__open(&broadcast, &plan, &setup_s, why, sizeof(why)))
		fail_msg("%s", why);
	assert_true(setup_s > 0);
	return broadcast;
}

/* A round that everybody who is expected gets. False: this machine has no such strategy. */
static bool round_of(struct broadcast *broadcast, enum strategy strategy, uint64_t expected, struct broadcast_round *round)
{
	int err = broadcast__round(broadcast, strategy, round, why, sizeof(why));

	if (err == -ENOTSUP && strategy == STRATEGY_IO_URING)
		return false;
	if (err || *why)
		fail_msg("%s: %s", strategy_names[strategy], why);
	assert_int_equal(round->received, expected);
	assert_true(round->min_ms > 0 && round->min_ms <= round->p50_ms && round->p50_ms <= round->p99_ms &&
		    round->p99_ms <= round->last_ms);
	return true;
}

/* The processes in the order they were started in: servers, then clients. */
static int children(pid_t *pids, int most)
{
	char path[64];
	FILE *file;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "r");
	if (!file)
		return -1;
	while (n < most && fscanf(file, "%d", &pids[n]) == 1)
		n++;
	fclose(file);
	return n;
}

/* A line of /proc/net/tcp. */
struct connection {
	unsigned int local, remote; /* ports */
	unsigned int state;
	unsigned long inode;
};

static bool next_connection(FILE *file, struct connection *connection)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, " %*d: %*x:%x %*x:%x %x %*x:%*x %*x:%*x %*x %*d %*d %lu", &connection->local,
			   &connection->remote, &connection->state, &connection->inode) == 4)
			return true;
	return false;
}

/* Where a server listened: the port of any of its connections. */
static unsigned int port_of(pid_t server)
{
	unsigned long inode = 0;
	unsigned int port = 0;

	for (int fd = 3; fd < 100 && !port; fd++) {
		struct connection connection;
		char path[64], target[64] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)server, fd);
		if (readlink(path, target, sizeof(target) - 1) < 0 || sscanf(target, "socket:[%lu]", &inode) != 1)
			continue;
		file = fopen("/proc/net/tcp", "r");
		assert_non_null(file);
		while (!port && next_connection(file, &connection))
			port = connection.inode == inode ? connection.local : 0;
		fclose(file);
	}
	return port;
}

/* Ends of connections with this server, in any state. */
static int connections(unsigned int port)
{
	FILE *file = fopen("/proc/net/tcp", "r");
	struct connection connection;
	int n = 0;

	assert_non_null(file);
	while (next_connection(file, &connection))
		n += connection.local == port || connection.remote == port;
	fclose(file);
	return n;
}

static void every_client_gets_every_message_once(void **state)
{
	static const size_t sizes[] = {1, 1024, 65535, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = CLIENTS, .size = sizes[i], .threads = 3});
		struct broadcast_round round;

		for (int turn = 0; turn < 3; turn++)
			for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++) {
				if (!round_of(broadcast, strategy, CLIENTS, &round))
					continue;
				assert_int_equal(round.clients, CLIENTS);
				assert_int_equal(round.evicted + round.dropped, 0);
				assert_true(round.sends_per_second > 0);
				assert_true(round.server_cpu_ms > 0 && round.client_cpu_ms > 0);
			}
		broadcast__close(broadcast);
	}
}

/* Sends are short, and go on where they ended. */
static void messages_may_be_larger_than_all_buffers(void **state)
{
	struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = 10, .size = 16 << 20, .threads = 2});
	struct broadcast_round round;

	(void)state;
	for (int turn = 0; turn < 2; turn++)
		for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++)
			round_of(broadcast, strategy, 10, &round);
	broadcast__close(broadcast);
}

static void odd_shares_leave_nobody_out(void **state)
{
	(void)state;
	for (uint64_t clients = 1; clients < 12; clients++) {
		struct broadcast *broadcast = open_plan((struct broadcast_plan){
			.clients = clients, .size = 100, .threads = 4, .servers = 3, .client_processes = 2});
		struct broadcast_round round;

		for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++)
			round_of(broadcast, strategy, clients, &round);
		broadcast__close(broadcast);
	}
}

static void the_stalled_stop_nobody_and_are_evicted(void **state)
{
	static const size_t sizes[] = {1, 1024, 100000};

	(void)state;
	for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct broadcast *broadcast = open_plan((struct broadcast_plan){
				.clients = CLIENTS, .stalled = 10, .size = sizes[i], .threads = 2});
			struct broadcast_round round;

			for (int turn = 1; turn <= QUEUE + 3; turn++) {
				if (!round_of(broadcast, strategy, CLIENTS - 10, &round))
					break;
				assert_int_equal(round.evicted, turn > QUEUE ? 10 : 0);
				assert_int_equal(round.dropped, 0);
			}
			broadcast__close(broadcast);
		}
}

static void all_may_be_stalled(void **state)
{
	struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = 20, .stalled = 20, .size = 1024});
	struct broadcast_round round;

	(void)state;
	assert_int_equal(broadcast__round(broadcast, STRATEGY_TREE, &round, why, sizeof(why)), 0);
	assert_int_equal(round.received, 0);
	assert_true(isnan(round.last_ms));
	broadcast__close(broadcast);
}

static void the_dead_are_dropped(void **state)
{
	(void)state;
	for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++) {
		struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = CLIENTS, .size = 1024, .threads = 2});
		struct broadcast_round round;
		pid_t pids[8];

		if (children(pids, 8) != 4)
			skip();
		if (round_of(broadcast, strategy, CLIENTS, &round)) {
			kill(pids[2], SIGKILL);
			for (int turn = 0; turn < 3; turn++)
				round_of(broadcast, strategy, CLIENTS / 2, &round);
			assert_int_equal(round.dropped, CLIENTS / 2);
			assert_int_equal(round.evicted, 0);
		}
		broadcast__close(broadcast);
	}
}

static void *kill_soon(void *argument)
{
	usleep(20000);
	kill(*(pid_t *)argument, SIGKILL);
	return NULL;
}

/* A process of the four dies in the middle of a long round, then all of its kind do. */
static void a_round_survives_deaths(void **state)
{
	(void)state;
	for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++)
		for (int victim = 0; victim < 4; victim++) {
			struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = CLIENTS, .size = 2000000});
			uint64_t began = clock_ns();
			struct broadcast_round round;
			pthread_t thread;
			pid_t pids[8];
			int err;

			if (children(pids, 8) != 4)
				skip();
			assert_int_equal(pthread_create(&thread, NULL, kill_soon, &pids[victim]), 0);
			err = broadcast__round(broadcast, strategy, &round, why, sizeof(why));
			pthread_join(thread, NULL);
			assert_true(!err || (err == -ENOTSUP && strategy == STRATEGY_IO_URING));
			assert_true(round.received >= CLIENTS / 2 || err);
			assert_true(clock_ns() - began < 5000000000u);
			kill(pids[victim / 2 * 2], SIGKILL);
			kill(pids[victim / 2 * 2 + 1], SIGKILL);
			usleep(50000);
			err = broadcast__round(broadcast, strategy, &round, why, sizeof(why));
			assert_true(err == -ECHILD || (err == -ENOTSUP && strategy == STRATEGY_IO_URING));
			assert_int_not_equal(*why, 0);
			broadcast__close(broadcast);
			assert_int_equal(children(pids, 8), 0);
		}
}

/* Some of a server's clients have the message when it dies: those of the other server are still waited for. */
static void a_dead_server_costs_its_own_clients(void **state)
{
	struct broadcast_round round;

	(void)state;
	for (int turn = 0; turn < 3; turn++) {
		struct broadcast *broadcast = open_plan((struct broadcast_plan){
			.clients = CLIENTS, .size = 2000000, .client_processes = 1});
		pthread_t thread;
		pid_t pids[8];

		if (children(pids, 8) != 3)
			skip();
		assert_int_equal(pthread_create(&thread, NULL, kill_soon, &pids[0]), 0);
		assert_int_equal(broadcast__round(broadcast, STRATEGY_EACH, &round, why, sizeof(why)), 0);
		pthread_join(thread, NULL);
		assert_true(round.received >= CLIENTS / 2 && round.received < CLIENTS);
		round_of(broadcast, STRATEGY_EACH, CLIENTS / 2, &round);
		broadcast__close(broadcast);
	}
}

/* In a process of its own: a lowered limit stays. */
static int within_128_descriptors(void)
{
	struct rlimit limit = {40, 128};
	struct broadcast_plan many = {.clients = 100000, .size = 1024}, some = {.clients = CLIENTS, .size = 1024};
	struct broadcast *broadcast;
	struct broadcast_round round;
	double setup_s;

	setrlimit(RLIMIT_NOFILE, &limit);
	if (broadcast__open(&broadcast, &many, &setup_s, why, sizeof(why)) != -EMFILE || broadcast)
		return 1;
	if (!strstr(why, "descriptors") || !strstr(why, "the limit is 128") || strchr(why, '\n'))
		return 2;
	some.servers = 1;
	if (broadcast__open(&broadcast, &some, &setup_s, why, sizeof(why)) != -EMFILE)
		return 3;
	some.servers = 0; /* 64 to a process */
	if (broadcast__open(&broadcast, &some, &setup_s, why, sizeof(why)))
		return 4;
	if (broadcast__round(broadcast, STRATEGY_EACH, &round, why, sizeof(why)) || round.received != CLIENTS)
		return 5;
	broadcast__close(broadcast);
	return 0;
}

static void descriptors_are_counted_before(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(within_128_descriptors());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void nonsense_is_refused(void **state)
{
	static const struct broadcast_plan plans[] = {
		{.clients = 0, .size = 1},
		{.clients = 1, .size = 0},
		{.clients = 1, .size = 1u << 30},
		{.clients = 1, .stalled = 2, .size = 1},
		{.clients = 1, .size = 1, .servers = -1},
		{.clients = 1, .size = 1, .client_processes = 65},
	};
	struct broadcast *broadcast;
	double setup_s;

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		assert_int_equal(broadcast__open(&broadcast, &plans[i], &setup_s, why, sizeof(why)), -EINVAL);
		assert_int_not_equal(*why, 0);
		assert_null(broadcast);
	}
	broadcast__close(NULL);
}

static void nothing_stays_behind(void **state)
{
	struct broadcast *broadcast = open_plan((struct broadcast_plan){.clients = CLIENTS, .stalled = 10, .size = 1024});
	struct broadcast_round round;
	unsigned int ports[2];
	pid_t pids[8];

	(void)state;
	if (children(pids, 8) != 4)
		skip();
	for (int i = 0; i < 2; i++) {
		ports[i] = port_of(pids[i]);
		assert_int_equal(connections(ports[i]), CLIENTS); /* two ends of a half */
	}
	for (int turn = 0; turn < QUEUE + 2; turn++)
		round_of(broadcast, STRATEGY_TREE, CLIENTS - 10, &round);
	broadcast__close(broadcast);
	for (int i = 0; i < 2; i++)
		assert_int_equal(connections(ports[i]), 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Whoever opened it is killed: its processes become ours, to be waited for, and end. */
static void orphans_end(void **state)
{
	pid_t pid;
	int status, ended = 0;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	pid = fork();
	if (!pid) {
		open_plan((struct broadcast_plan){.clients = CLIENTS, .size = 1024});
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	for (int i = 0; i < 100 && ended < 4; i++) {
		usleep(20000);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			ended++;
	}
	assert_int_equal(ended, 4);
}

static void two_at_once(void **state)
{
	struct broadcast_plan plan = {.clients = CLIENTS, .size = 1024, .threads = 2};
	struct broadcast *a = open_plan(plan), *b;
	struct broadcast_round round;

	(void)state;
	plan.size = 70000;
	b = open_plan(plan);
	for (enum strategy strategy = 0; strategy < STRATEGIES; strategy++) {
		round_of(a, strategy, CLIENTS, &round);
		round_of(b, strategy, CLIENTS, &round);
	}
	broadcast__close(a);
	round_of(b, STRATEGY_EACH, CLIENTS, &round);
	assert_int_equal(round.evicted + round.dropped, 0);
	broadcast__close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_client_gets_every_message_once),
		cmocka_unit_test(messages_may_be_larger_than_all_buffers),
		cmocka_unit_test(odd_shares_leave_nobody_out),
		cmocka_unit_test(the_stalled_stop_nobody_and_are_evicted),
		cmocka_unit_test(all_may_be_stalled),
		cmocka_unit_test(the_dead_are_dropped),
		cmocka_unit_test(a_round_survives_deaths),
		cmocka_unit_test(a_dead_server_costs_its_own_clients),
		cmocka_unit_test(descriptors_are_counted_before),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(nothing_stays_behind),
		cmocka_unit_test(orphans_end),
		cmocka_unit_test(two_at_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
