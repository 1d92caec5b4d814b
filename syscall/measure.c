/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/signals.h"

#define WARM_UP_NS 200000000u
#define TIMED_NS 200000000u
#define POLL_NS 10000000u

struct run {
	const struct plan *plan;
	struct crew *crew;
	struct counter *counter;
	struct hammer hammer;
	struct driver *driver; /* NULL: the native one */
	struct result *result;
	uint64_t began_ns; /* after the warm-up */
};

/* The part of total that falls to index of n parts, as even as whole numbers allow. */
static uint64_t share(uint64_t total, int n, int index)
{
	return total / (uint64_t)n + ((uint64_t)index < total % (uint64_t)n);
}

/* Opens the gate for ns (or until every member has reached its limit), or until a signal. */
static void round__run(struct run *run, uint64_t ns)
{
	uint64_t end = clock_ns() + ns, now;
	sigset_t ends;

	signals__ending(&ends);
	if (run->driver)
		crew__start(run->crew, driver__work, run->driver);
	else
		crew__start(run->crew, hammer__work, &run->hammer);
	while ((now = clock_ns()) < end && !crew__finished(run->crew)) {
		uint64_t left = end - now;
		struct timespec wait;
		int got;

		if (run->plan->calls && left > POLL_NS)
			left = POLL_NS;
		wait.tv_sec = (time_t)(left / 1000000000u);
		wait.tv_nsec = (long)(left % 1000000000u);
		got = sigtimedwait(&ends, NULL, &wait);
		if (got > 0) {
			run->result->signal = got;
			break;
		}
	}
	crew__stop(run->crew);
	for (int i = 0; i < run->plan->threads; i++)
		run->result->made_in_all += crew__members(run->crew)[i].made;
}

/* Adds up what the members of each core did, and what was counted there since `before`. */
static void window__fill(struct run *run, struct window *window, const uint64_t *before)
{
	const struct plan *plan = run->plan;
	const struct member *members = crew__members(run->crew);
	uint64_t first = UINT64_MAX, last = 0, made = 0, elapsed = 0;

	for (int core = 0; core < plan->cores; core++) {
		struct core_count *count = &window->cores[core];
		uint64_t start = UINT64_MAX, end = 0;

		for (int i = core; i < plan->threads; i += plan->cores) {
			count->made += members[i].made;
			start = members[i].start_ns < start ? members[i].start_ns : start;
			end = members[i].end_ns > end ? members[i].end_ns : end;
			run->result->moved |= members[i].moved;
		}
		if (window->counted)
			count->counted = counter__read(run->counter, plan->cpus[core],
						       plan->call->nr).calls - before[core];
		count->elapsed_ns = end - start;
		made += count->made;
		elapsed += count->elapsed_ns;
		first = start < first ? start : first;
		last = end > last ? end : last;
	}
	window->per_second = last > first ? (double)made * 1e9 / (double)(last - first) : 0;
	window->ns_per_call = made ? (double)elapsed / (double)made : 0;
}

static void show_progress(const struct run *run, int done, int all)
{
	const struct plan *plan = run->plan;
	double left = (double)(clock_ns() - run->began_ns) / 1e9 / done * (all - done);

	if (plan->progress_lines)
		for (int core = 0; core < plan->cores; core++)
			fprintf(stderr, "#%d:%llu\n", plan->cpus[core],
				(unsigned long long)result__sum(run->result, plan->cores,
								run->counter != NULL, core).made);
	else if (plan->progress_bar)
		fprintf(stderr, "\r%3d %%  [%-30.*s]  %.0f s left\033[K", 100 * done / all,
			30 * done / all, "==============================", left);
}

static int window__run(struct run *run, int index, bool counted)
{
	const struct plan *plan = run->plan;
	struct window *window = &run->result->windows[run->result->n];
	struct member *members = crew__members(run->crew);
	uint64_t *before = calloc((size_t)plan->cores, sizeof(*before));
	int err = 0;

	window->cores = calloc((size_t)plan->cores, sizeof(*window->cores));
	window->counted = counted;
	if (!before || !window->cores) {
		free(before);
		free(window->cores);
		return -ENOMEM;
	}
	for (int i = 0; i < plan->threads; i++)
		members[i].limit = plan->calls ? share(share(plan->calls, plan->windows, index),
						       plan->threads, i)
					       : UINT64_MAX;
	if (counted) {
		for (int core = 0; core < plan->cores; core++)
			before[core] = counter__read(run->counter, plan->cpus[core],
						     plan->call->nr).calls;
		err = counter__start(run->counter, COUNTING);
	}
	if (!err) {
		round__run(run, plan->calls ? UINT64_MAX / 2 : plan->window_ns);
		if (counted)
			counter__stop(run->counter);
		window__fill(run, window, before);
		run->result->n++;
	} else {
		free(window->cores);
	}
	free(before);
	return err;
}

/* Which calls the observer saw, and how long a sample of them took. */
static int summarise(struct run *run)
{
	struct result *result = run->result;
	struct member *members = crew__members(run->crew);
	struct core_count all;
	int err = 0;

	result->summary = calloc(NR_SLOTS, sizeof(*result->summary));
	if (!result->summary)
		return -ENOMEM;
	if (!result->signal && run->counter->kind->times) {
		for (int i = 0; i < run->plan->threads; i++)
			members[i].limit = UINT64_MAX;
		err = counter__start(run->counter, TIMING);
		if (!err)
			round__run(run, TIMED_NS);
		counter__stop(run->counter);
	}
	for (int nr = 0; nr < NR_SLOTS; nr++)
		result->summary[nr] = counter__read(run->counter, -1, nr);
	all = result__sum(result, run->plan->cores, true, -1);
	result->lost = (int64_t)(all.made - result->summary[run->plan->call->nr].calls);
	result->runs = counter__runs(run->counter);
	return err;
}

/* Everything between the start of the crew and its end. */
static int run__windows(struct run *run)
{
	const struct plan *plan = run->plan;
	struct result *result = run->result;
	int arms = run->counter ? 2 : 1, err = 0;
	struct noise_reading before, after;

	for (int i = 0; i < plan->threads; i++)
		crew__members(run->crew)[i].limit = UINT64_MAX;
	round__run(run, plan->window_ns < WARM_UP_NS ? plan->window_ns : WARM_UP_NS);
	before = noise__read();
	run->began_ns = clock_ns();
	for (int i = 0; !err && !result->signal && !result->moved && i < plan->windows; i++) {
		for (int arm = 0; !err && !result->signal && arm < arms; arm++) {
			err = window__run(run, i, run->counter && !arm);
			show_progress(run, result->n ? result->n : 1, plan->windows * arms);
		}
	}
	if (plan->progress_bar)
		fputs("\r\033[K", stderr);
	if (run->counter && result->n) {
		int failed = summarise(run);

		err = err ? err : failed;
	}
	after = noise__read();
	result->noise = noise__between(&before, &after);
	return err;
}

int measure__run(const struct plan *plan, struct counter *counter, struct result *result)
{
	struct run run = {.plan = plan, .counter = counter, .result = result};
	int arms = counter ? 2 : 1, err, *where;
	char why[256];

	*result = (struct result){.made_in_all = plan->call->nr >= 0}; /* call__prepare's */
	result->windows = calloc((size_t)(plan->windows * arms), sizeof(*result->windows));
	where = calloc((size_t)plan->threads, sizeof(*where));
	if (!result->windows || !where) {
		free(where);
		return -ENOMEM;
	}
	for (int i = 0; i < plan->threads; i++)
		where[i] = plan->cpus[i % plan->cores];
	err = call__prepare(&run.hammer, plan->call);
	if (!err)
		err = crew__new(&run.crew, where, plan->threads);
	free(where);
	if (!err && plan->driver) {
		err = driver__new(&run.driver, plan->driver, crew__members(run.crew), plan->threads, why,
				  sizeof(why));
		if (err)
			message__error("--driver %s: %s", driver_names[plan->driver], why);
	}
	if (!err)
		err = run__windows(&run);
	crew__free(run.crew);
	driver__free(run.driver);
	call__close(&run.hammer);
	return err;
}

struct core_count result__sum(const struct result *result, int cores, bool counted, int core)
{
	struct core_count sum = {0};

	for (int i = 0; i < result->n; i++) {
		const struct window *window = &result->windows[i];

		if (window->counted != counted)
			continue;
		for (int c = core < 0 ? 0 : core; c < (core < 0 ? cores : core + 1); c++) {
			sum.made += window->cores[c].made;
			sum.counted += window->cores[c].counted;
			sum.elapsed_ns += window->cores[c].elapsed_ns;
		}
	}
	return sum;
}

static double measure_of(const struct window *window, int core, enum measure measure)
{
	const struct core_count *count;

	if (core < 0)
		return measure == PER_SECOND ? window->per_second : window->ns_per_call;
	count = &window->cores[core];
	if (!count->made || !count->elapsed_ns)
		return 0;
	return measure == PER_SECOND ? (double)count->made * 1e9 / (double)count->elapsed_ns
				     : (double)count->elapsed_ns / (double)count->made;
}

struct stats result__stats(const struct result *result, bool counted, int core, enum measure measure)
{
	double *samples = calloc((size_t)result->n + 1, sizeof(*samples));
	struct stats stats;
	size_t n = 0;

	for (int i = 0; samples && i < result->n; i++)
		if (result->windows[i].counted == counted)
			samples[n++] = measure_of(&result->windows[i], core, measure);
	stats = stats__of(samples, n);
	free(samples);
	return stats;
}

struct stats result__added(const struct result *result)
{
	double *samples = calloc((size_t)result->n + 1, sizeof(*samples));
	struct stats stats;
	size_t n = 0;

	for (int i = 0; samples && i + 1 < result->n; i += 2)
		samples[n++] = result->windows[i].ns_per_call - result->windows[i + 1].ns_per_call;
	stats = stats__of(samples, n);
	free(samples);
	return stats;
}

void result__free(struct result *result)
{
	for (int i = 0; i < result->n; i++)
		free(result->windows[i].cores);
	free(result->windows);
	free(result->summary);
	*result = (struct result){0};
}
