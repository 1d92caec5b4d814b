/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels: each message once, in order and whole, through every kind of them, with many at once. */
#include <errno.h>
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
#include <sys/time.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/cpus.h"
#include "message/pair.h"

#define SENDERS 8

static int cpus[2];

/* This machine has no such kind: io_uring refused. */
static bool refused(const struct channel_kind *kind, int err)
{
	return kind->send == stream__send_io_uring && (err == -EPERM || err == -ENOSYS);
}

static struct pair_job job_of(const struct channel_kind *kind, size_t size, uint64_t n)
{
	return (struct pair_job){.kind = kind, .size = size, .n = n, .look = true, .cpus = {cpus[0], cpus[1]}};
}

static void every_size_through_every_kind(void **state)
{
	static const size_t sizes[] = {0, 1, 1024, 65535, 1000000};
	(void)state;
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			uint64_t n = sizes[i] > 1024 ? 67 : 3001;
			struct pair_job job = job_of(kind, sizes[i], n);
			struct pair_result result;
			int err = pair__stream(&job, &result);

			if (refused(kind, err))
				continue;
			if (err || result.sent != n || result.received != n || result.wrong)
				fail_msg("%s, %zu bytes: %s; sent %llu, received %llu, wrong %llu", kind->name, sizes[i],
					 strerror(-err), (unsigned long long)result.sent, (unsigned long long)result.received,
					 (unsigned long long)result.wrong);
			assert_true(result.seconds > 0);
		}
}

static void there_and_back(void **state)
{
	(void)state;
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct pair_job job = job_of(kind, 100, 500);
		struct pair_result result;
		uint64_t ns[500] = {0};
		int err = kind->collects ? 0 : pair__ping(&job, ns, &result);

		if (kind->collects)
			continue;
		assert_int_equal(err, 0);
		assert_int_equal(result.received, 500);
		for (int i = 0; i < 500; i++)
			assert_true(ns[i] > 0);
	}
}

static void *send_many(void *argument)
{
	struct pair_job *job = argument;
	struct pair_result result;
	int err = pair__stream(job, &result);

	return (void *)(intptr_t)(err ? err : result.received == job->n && !result.wrong ? 0 : -EILSEQ);
}

/* Of threads alone, in one process: what ThreadSanitizer can see. */
static void eight_senders_at_once(void **state)
{
	(void)state;
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct pair_job jobs[SENDERS];
		pthread_t threads[SENDERS];

		if (kind->processes)
			continue;
		for (int i = 0; i < SENDERS; i++) {
			jobs[i] = job_of(kind, 200, 5000);
			jobs[i].cpus[0] = cpus[i % 2];
			jobs[i].cpus[1] = cpus[i / 2 % 2];
			assert_int_equal(pthread_create(&threads[i], NULL, send_many, &jobs[i]), 0);
		}
		for (int i = 0; i < SENDERS; i++) {
			void *err;

			pthread_join(threads[i], &err);
			assert_int_equal((intptr_t)err, 0);
		}
	}
}

struct half {
	struct channel *channel;
	uint64_t n;
	struct receipt receipt;
};

static void *receive_half(void *argument)
{
	struct half *half = argument;

	return (void *)(intptr_t)half->channel->kind->receive(half->channel, half->n, &half->receipt);
}

static void references_balance(void **state)
{
	static const char *const names[] = {"reference", "reference-atomic"};
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct channel channel;
		struct half half = {.channel = &channel, .n = 50000};
		pthread_t thread;
		void *err;

		assert_int_equal(channel__open(&channel, channel_kind__find(names[k]), 100), 0);
		channel.look = true;
		assert_int_equal(pthread_create(&thread, NULL, receive_half, &half), 0);
		assert_int_equal(channel.kind->send(&channel, half.n), 0);
		pthread_join(thread, &err);
		assert_int_equal((intptr_t)err, 0);
		assert_int_equal(half.receipt.received, half.n);
		for (uint64_t i = 0; i < channel.messages; i++) {
			struct frame *frame = channel__frame(&channel, i);

			assert_int_equal(atomic_load(&frame->given) + atomic_load(&frame->dropped), 1);
		}
		/* Sent and not yet received, it has two. */
		assert_int_equal(channel.kind->send(&channel, 1), 0);
		assert_int_equal(atomic_load(&channel__frame(&channel, half.n)->given) +
					 atomic_load(&channel__frame(&channel, half.n)->dropped),
				 2);
		channel__close(&channel);
	}
}

/* What is changed once it is sent is seen by who got a reference, and not by who got a copy. */
static void copies_are_copies(void **state)
{
	(void)state;
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct receipt receipt = {.received = 0};
		struct channel channel;
		bool reference = !strncmp(kind->name, "reference", 9);

		if (refused(kind, channel__open(&channel, kind, 64))) {
			channel__close(&channel);
			continue;
		}
		channel.look = true;
		assert_int_equal(kind->send(&channel, 2), 0);
		channel__frame(&channel, 1)->bytes[63]++;
		assert_int_equal(kind->receive(&channel, 2, &receipt), 0);
		assert_int_equal(receipt.received, reference ? 1 : 2);
		assert_int_equal(receipt.wrong, reference ? 1 : 0);
		channel__close(&channel);
	}
}

/* A message that is not the one due is counted as wrong, through every kind. */
static void a_lost_message_is_found(void **state)
{
	(void)state;
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct receipt receipt = {.received = 0};
		struct channel channel;

		if (refused(kind, channel__open(&channel, kind, 64))) {
			channel__close(&channel);
			continue;
		}
		assert_int_equal(kind->send(&channel, 3), 0);
		channel.due = 1; /* as if the receiver had had one more */
		if (kind->processes && kind->send != copy__send) {
			assert_int_equal(kind->receive(&channel, 3, &receipt), 0);
			assert_int_equal(receipt.received, 0);
			assert_int_equal(receipt.wrong, 3);
		} else { /* a ring hands over what is in that slot: two are left */
			channel__frame(&channel, 1)->sum++;
			channel.look = true;
			assert_int_equal(kind->receive(&channel, 2, &receipt), 0);
			assert_int_equal(receipt.received, 1);
			assert_int_equal(receipt.wrong, 1);
		}
		channel__close(&channel);
	}
}

static volatile sig_atomic_t alarms;

static void count_alarm(int number)
{
	(void)number;
	alarms++;
}

/* A write that a signal cuts short goes on where it was; it is short though calls that had not begun are restarted. */
static void interrupted_all_the_time(void **state)
{
	const struct sigaction action = {.sa_handler = count_alarm, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	(void)state;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct pair_job job = job_of(kind, 60000, 3000);
		struct pair_result result;
		int err = pair__stream(&job, &result);

		if (!refused(kind, err) && err)
			fail_msg("%s: %s; sent %llu, received %llu, wrong %llu", kind->name, strerror(-err),
				 (unsigned long long)result.sent, (unsigned long long)result.received,
				 (unsigned long long)result.wrong);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	assert_true(alarms > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_through_every_kind), cmocka_unit_test(there_and_back),
		cmocka_unit_test(eight_senders_at_once),	 cmocka_unit_test(references_balance),
		cmocka_unit_test(copies_are_copies),		 cmocka_unit_test(a_lost_message_is_found),
		cmocka_unit_test(interrupted_all_the_time),
	};
	int *chosen, n = cpus__must_choose(NULL, true, &chosen);

	cpus[0] = chosen[0];
	cpus[1] = chosen[n - 1];
	free(chosen);
	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
