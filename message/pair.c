/* SPDX-License-Identifier: BSD-2-Clause */
#include "message/pair.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cpus.h"
#include "probes/calls.h"

/* In memory of both sides. */
struct meeting {
	struct receipt receipt;
	atomic_int ready; /* 1: the receiver is where it should be; less than 0: it failed */
};

struct other {
	const struct pair_job *job;
	struct channel *there, *back; /* back NULL: one way */
	struct meeting *meeting;
	pthread_t thread;
	pid_t pid;
};

static int receive(struct other *other)
{
	struct meeting *meeting = other->meeting;
	int err = cpus__pin(other->job->cpus[1]);

	atomic_store(&meeting->ready, err ? err : 1);
	if (!other->back)
		return err ? err : other->there->kind->receive(other->there, other->job->n, &meeting->receipt);
	for (uint64_t i = 0; i < other->job->n && !err; i++) {
		err = other->there->kind->receive(other->there, 1, &meeting->receipt);
		err = err ? err : other->back->kind->send(other->back, 1);
	}
	return err;
}

static void *receive_as_thread(void *argument)
{
	return (void *)(intptr_t)receive(argument);
}

static void divide(const struct other *other, bool sender)
{
	if (other->there->kind->divide) {
		other->there->kind->divide(other->there, sender);
		if (other->back)
			other->back->kind->divide(other->back, !sender);
	}
}

static void know(const struct other *other, pid_t pid)
{
	other->there->other = pid;
	if (other->back)
		other->back->other = pid;
}

/* Starts the receiver and waits until it is ready. Returns 0 or -errno. */
static int start(struct other *other)
{
	pid_t parent = getpid();
	int err = 0, ready;

	if (!other->job->kind->processes) {
		err = -pthread_create(&other->thread, NULL, receive_as_thread, other);
	} else {
		other->pid = fork();
		if (!other->pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			divide(other, false);
			know(other, parent);
			_exit(receive(other) ? 1 : 0);
		}
		err = other->pid < 0 ? -errno : 0;
		if (!err) {
			divide(other, true);
			know(other, other->pid);
		}
	}
	while (!err && !(ready = atomic_load(&other->meeting->ready)))
		if (other->pid && channel__wait(other->there, 1024))
			return -EPIPE;
		else
			sched_yield();
	return err;
}

/* Waits for the receiver's end. Returns 0 or -errno. */
static int finish(struct other *other)
{
	void *told = NULL;
	int status = 0;

	if (!other->job->kind->processes) {
		pthread_join(other->thread, &told);
		return (int)(intptr_t)told;
	}
	while (waitpid(other->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? -EPIPE : 0;
}

static int send_all(struct other *other, uint64_t *ns)
{
	const struct channel *there = other->there;
	uint64_t before = clock_ns(), now;
	struct receipt back = {0};
	int err = 0;

	if (!other->back)
		return there->kind->send(other->there, other->job->n);
	for (uint64_t i = 0; i < other->job->n && !err; i++, before = now) {
		err = there->kind->send(other->there, 1);
		err = err ? err : other->back->kind->receive(other->back, 1, &back);
		now = clock_ns();
		ns[i] = now - before;
	}
	return !err && back.received != other->job->n ? -EILSEQ : err;
}

static int open_channel(struct channel *channel, const struct pair_job *job)
{
	int err = channel__open(channel, job->kind, job->size);

	channel->look = job->look;
	channel->eager = job->cpus[0] == job->cpus[1];
	return err;
}

/* ns NULL: one way. */
static int run(const struct pair_job *job, uint64_t *ns, struct pair_result *result)
{
	struct channel there = {.kind = NULL}, back = {.kind = NULL};
	struct meeting *meeting = shared__new(sizeof(*meeting));
	struct other other = {.job = job, .there = &there, .back = ns ? &back : NULL, .meeting = meeting};
	cpu_set_t before;
	uint64_t started = 0;
	int err = meeting ? open_channel(&there, job) : -ENOMEM, ended;

	*result = (struct pair_result){.seconds = 0};
	sched_getaffinity(0, sizeof(before), &before);
	if (!err && ns)
		err = open_channel(&back, job);
	if (!err)
		err = cpus__pin(job->cpus[0]);
	if (!err) {
		err = start(&other);
		err = err ? err : atomic_load(&meeting->ready) < 0 ? atomic_load(&meeting->ready) : 0;
		if (job->watcher)
			calls__start(job->watcher);
		started = clock_ns();
		err = err ? err : send_all(&other, ns);
		/* What is sent is received; or nobody sends any more. */
		if (err && other.pid > 0)
			kill(other.pid, SIGKILL);
		ended = other.pid || !job->kind->processes ? finish(&other) : 0;
		err = err ? err : ended;
		if (job->watcher)
			result->syscalls = calls__stop(job->watcher);
		result->seconds = (double)((ns ? clock_ns() : meeting->receipt.at_ns) - started) / 1e9;
		result->sent = there.next;
		result->received = meeting->receipt.received;
		result->wrong = meeting->receipt.wrong;
		if (!err && (result->received != job->n || result->wrong || result->sent != job->n))
			err = -EILSEQ;
	}
	sched_setaffinity(0, sizeof(before), &before);
	channel__close(&there);
	channel__close(&back);
	shared__free(meeting, sizeof(*meeting));
	return err;
}

int pair__stream(const struct pair_job *job, struct pair_result *result)
{
	return run(job, NULL, result);
}

int pair__ping(const struct pair_job *job, uint64_t *ns, struct pair_result *result)
{
	return run(job, ns, result);
}

int pairs__stream(const struct pair_job *job, int pairs, struct pair_result *result)
{
	struct told {
		struct pair_result result;
		int err;
	} *told = shared__new(sizeof(*told) * (size_t)pairs);
	uint64_t started = clock_ns();
	int err = told ? 0 : -ENOMEM, running = 0;

	*result = (struct pair_result){.seconds = 0};
	for (; running < pairs && !err; running++) {
		pid_t pid = fork();

		if (!pid) {
			struct pair_job own = *job;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			own.watcher = NULL;
			own.cpus[0] = job->cpus[running % 2];
			own.cpus[1] = job->cpus[!(running % 2)];
			told[running].err = pair__stream(&own, &told[running].result);
			_exit(0);
		}
		err = pid < 0 ? -errno : 0;
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	result->seconds = (double)(clock_ns() - started) / 1e9;
	for (int i = 0; i < running; i++) {
		result->sent += told[i].result.sent;
		result->received += told[i].result.received;
		result->wrong += told[i].result.wrong;
		err = err ? err : told[i].err;
	}
	shared__free(told, sizeof(*told) * (size_t)pairs);
	return !err && result->received != job->n * (uint64_t)pairs ? -EILSEQ : err;
}
