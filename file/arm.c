/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/arm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/signals.h"
#include "probes/calls.h"

#define FIRST_LIMIT 65536 /* bytes, but at least eight blocks */
#define MOST_GROWTH 16.0
#define PATIENCE_NS 5000000000u /* an arm that took so long in all gets no further samples */

struct arm *arms__add(struct arms *arms)
{
	static struct arm spare;

	if (arms->n == arms->room) {
		int room = arms->room ? 2 * arms->room : 64;
		struct arm *more = realloc(arms->arms, (size_t)room * sizeof(*more));

		if (!more) {
			arms->lost = true;
			return &spare;
		}
		arms->arms = more;
		arms->room = room;
	}
	arms->arms[arms->n] = (struct arm){.kind = "", .readers = 1, .limit = UINT64_MAX};
	return &arms->arms[arms->n++];
}

void arms__free(struct arms *arms)
{
	for (int i = 0; i < arms->n; i++) {
		free(arms->arms[i].samples);
		json_decref(arms->arms[i].syscalls);
	}
	free(arms->arms);
	*arms = (struct arms){0};
}

static void fail(struct arm *arm, int err)
{
	if (!arm->why[0])
		snprintf(arm->why, sizeof(arm->why), "%s", strerror(-err));
	arm->status = err == -ENOTSUP || err == -ENOSYS || err == -EPERM ? ARM_UNAVAILABLE : ARM_FAILED;
}

/* One run. Returns 0 or -errno; of an arm that failed, it is said there. */
static int once(struct arm *arm, enum purpose purpose, struct watcher *watcher, struct meter *meter)
{
	int err;

	*meter = (struct meter){.purpose = purpose, .limit = arm->limit, .watcher = watcher, .sample.sync_seconds = NAN};
	if (purpose == FOR_TRUTH && arm->verified && arm->verified < arm->limit)
		meter->limit = arm->verified;
	if (signals__pending())
		return -EINTR;
	err = arm->run(arm, meter);
	if (err && err != -EINTR)
		fail(arm, err);
	if (meter->syscalls)
		calls__divide(meter->syscalls, meter->sample.calls);
	if (!err && meter->syscalls)
		arm->syscalls = meter->syscalls;
	else
		json_decref(meter->syscalls);
	return err;
}

static uint64_t whole_blocks(const struct arm *arm, uint64_t bytes)
{
	return arm->block ? (bytes + arm->block - 1) / arm->block * arm->block : bytes;
}

/* Lets the limit grow until a sample takes about the time asked for, or is all there is. */
static int fit(struct arm *arm, const struct arms_plan *plan)
{
	double wanted = (double)plan->duration_ns / 1e9;
	uint64_t least = arm->block > FIRST_LIMIT / 8 ? 8 * (uint64_t)arm->block : FIRST_LIMIT;
	struct meter meter;

	if (arm->fixed)
		return 0;
	for (arm->limit = least; arm->limit < plan->size;) {
		double growth;
		int err = once(arm, FOR_SIZE, NULL, &meter);

		if (err)
			return err;
		growth = wanted / fmax(meter.sample.seconds, 1e-9);
		if (growth < 1.5 || meter.sample.bytes < arm->limit)
			break;
		arm->limit = whole_blocks(arm, (uint64_t)((double)arm->limit * fmin(growth, MOST_GROWTH)));
	}
	/* What nearly is all is all. */
	if (arm->limit > plan->size / 2)
		arm->limit = plan->size;
	return 0;
}

/* Everything before the samples. An arm that fails is left out; only a signal ends it all. */
static int prepare(struct arm *arm, const struct arms_plan *plan, struct watcher *watcher)
{
	struct meter meter;
	int err;

	arm->samples = calloc((size_t)plan->rounds, sizeof(*arm->samples));
	if (!arm->samples)
		return -ENOMEM;
	if (plan->once || arm->status != ARM_OK)
		return 0;
	err = fit(arm, plan);
	if (!err)
		err = once(arm, FOR_TRUTH, NULL, &meter);
	if (!err && watcher)
		err = once(arm, FOR_CALLS, watcher, &meter);
	return err == -EINTR ? err : 0;
}

static void tell_progress(const struct arms *arms, const struct arms_plan *plan, const char *what, int round, int i,
			  uint64_t started)
{
	static uint64_t told;
	uint64_t now = clock_ns();
	double done = ((double)round * arms->n + i) / ((double)plan->rounds * arms->n);

	if (!plan->progress || now - told < 200000000)
		return;
	told = now;
	if (done > 0)
		fprintf(stderr, "\r%s: %3.0f %%, %.0f s left \033[K", what, done * 100,
			(double)(now - started) / 1e9 * (1 - done) / done);
	else
		fprintf(stderr, "\r%s: %d of %d \033[K", what, i + 1, arms->n);
}

static bool spent(const struct arm *arm)
{
	double sum = 0;

	for (int i = 0; i < arm->n; i++)
		sum += arm->samples[i].seconds;
	return sum > PATIENCE_NS / 1e9;
}

static int measure(struct arms *arms, const struct arms_plan *plan)
{
	struct watcher *watcher = NULL;
	uint64_t started = clock_ns();
	struct meter meter;
	int err = 0;

	if (plan->calls && !plan->once)
		watcher = calls__open();
	for (int i = 0; i < arms->n && !err; i++) {
		tell_progress(arms, plan, "trying and verifying", 0, i, started);
		err = prepare(&arms->arms[i], plan, watcher);
	}
	calls__close(watcher);
	started = clock_ns();
	for (int round = 0; round < plan->rounds && !err; round++)
		for (int i = 0; i < arms->n && err != -EINTR; i++) {
			struct arm *arm = &arms->arms[i];

			tell_progress(arms, plan, "measuring", round, i, started);
			if (arm->status != ARM_OK || spent(arm))
				continue;
			err = once(arm, FOR_TIME, NULL, &meter);
			if (!err)
				arm->samples[arm->n++] = meter.sample;
			err = err == -EINTR ? err : 0;
		}
	if (plan->progress)
		fputs("\r\033[K", stderr);
	return err;
}

int arms__run(struct arms *arms, const struct arms_plan *plan)
{
	struct noise_reading before = noise__read(), after;
	int err = arms->lost ? -ENOMEM : measure(arms, plan);

	after = noise__read();
	arms->noise = noise__between(&before, &after);
	if (err == -EINTR)
		arms->signal = signals__pending();
	return err == -EINTR ? 0 : err;
}

int arms__status(const struct arms *arms)
{
	int status = EXIT_MEASURED;

	for (int i = 0; i < arms->n; i++) {
		const struct arm *arm = &arms->arms[i];

		if (arm->status != ARM_FAILED)
			continue;
		if (arm->block)
			message__error("%s%s%s, %zu bytes a call: %s", arm->kind, arm->kind[0] ? ", " : "", arm->mode,
				       arm->block, arm->why);
		else
			message__error("%s: %s", arm->mode, arm->why);
		status = EXIT_FAILED;
	}
	return arms->signal ? 128 + arms->signal : status;
}

static struct stats over(const struct arm *arm, double (*figure)(const struct sample *))
{
	double *figures = calloc((size_t)arm->n + 1, sizeof(*figures));
	struct stats stats;

	for (int i = 0; figures && i < arm->n; i++)
		figures[i] = figure(&arm->samples[i]);
	stats = stats__of(figures, figures ? (size_t)arm->n : 0);
	free(figures);
	return stats;
}

static double seconds_of(const struct sample *sample)
{
	return sample->seconds;
}

static double ns_of(const struct sample *sample)
{
	return sample->calls ? sample->seconds * 1e9 / (double)sample->calls : NAN;
}

static double rate_of(const struct sample *sample)
{
	return (double)sample->bytes / sample->seconds;
}

struct stats arm__seconds(const struct arm *arm)
{
	return over(arm, seconds_of);
}

struct stats arm__ns_per_call(const struct arm *arm)
{
	return over(arm, ns_of);
}

double arm__bytes_per_second(const struct arm *arm)
{
	return over(arm, rate_of).median;
}
