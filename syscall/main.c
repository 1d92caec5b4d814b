/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall-rate: how many system calls a second does each core make? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/host.h"
#include "common/message.h"
#include "common/output.h"
#include "common/privileges.h"
#include "common/record.h"
#include "common/signals.h"
#include "probes/others.h"
#include "syscall/cost.h"
#include "syscall/options.h"
#include "syscall/report.h"
#include "syscall/watch.h"

#define DEFAULT_WINDOW_NS 1000000000u
#define MOST_THREADS 4096
#define MOST_PROJECTED 1000000

static int list(void)
{
	struct counter_target target = {getpid(), getpid(), calls[0].nr};
	struct counter *counter;
	char why[256];

	puts("calls:");
	for (const struct call *call = calls; call->name; call++)
		printf("  %-14s %s\n", call->name, call->summary);
	puts("counters:");
	printf("  %-14s %s\n", "none", "the threads' own count only");
	for (const struct counter_kind *kind = counter_kinds; kind->name; kind++) {
		bool usable = !counter__open(kind->name, &target, &counter, why, sizeof(why));

		printf("  %-14s %s%s%s\n", kind->name, kind->summary, usable ? "" : ": not here: ", why);
		counter__close(counter);
	}
	return EXIT_MEASURED;
}

static int describe_host(void)
{
	json_t *host = host__describe();
	int err = record__write(host, stdout);

	json_decref(host);
	return err || fflush(stdout) ? EXIT_FAILED : EXIT_MEASURED;
}

static struct counter *open_counter(const struct options *options, const struct call *call)
{
	struct counter_target target = {getpid(), getpid(), call->nr};
	struct counter *counter = NULL;
	char why[256];
	int err;

	if (call->nr < 0 && options->counter && strcmp(options->counter, "none"))
		message__usage("--counter %s: %s makes no system calls to count", options->counter,
			       call->name);
	if (call->nr < 0 || (options->counter && !strcmp(options->counter, "none")))
		return NULL;
	err = counter__open(options->counter ? options->counter : "bpf", &target, &counter, why,
			    sizeof(why));
	if (err == -ENOENT)
		message__usage("--counter '%s': unknown; --list shows what there is", options->counter);
	if (err && options->counter) {
		message__error("--counter %s: %s", options->counter, why);
		exit(EXIT_FAILED);
	}
	if (err)
		message__notice("counting in user space only (--counter none): %s", why);
	return counter;
}

static void plan_windows(struct plan *plan, const struct options *options)
{
	uint64_t ns = options->interval_ns;

	plan->calls = options->calls;
	if (plan->calls) {
		plan->windows = plan->calls < STATS_LEAST ? 1 : STATS_LEAST;
		plan->window_ns = DEFAULT_WINDOW_NS;
		return;
	}
	/* One second, or less where the duration would hold too few windows for an interval. */
	if (!ns) {
		ns = DEFAULT_WINDOW_NS;
		if (ns > options->duration_ns / STATS_LEAST)
			ns = options->duration_ns / STATS_LEAST;
	}
	if (!ns || ns > options->duration_ns)
		ns = options->duration_ns;
	if (options->duration_ns / ns > 1000000)
		message__usage("--interval: more than a million windows in that duration");
	plan->windows = (int)(options->duration_ns / ns);
	plan->window_ns = options->duration_ns / (uint64_t)plan->windows;
}

static int check(const struct result *result, int err)
{
	int status = EXIT_MEASURED;

	if (err) {
		message__error("the run failed: %s", strerror(-err));
		status = EXIT_FAILED;
	}
	if (result->moved) {
		message__error("a measured CPU went away during the run; its calls are counted where "
			       "its thread was moved");
		status = EXIT_FAILED;
	}
	if (result->lost) {
		message__error("made and counted differ by %lld calls (%llu skipped by the kernel)",
			       (long long)result->lost, (unsigned long long)result->runs.skipped);
		status = EXIT_FAILED;
	}
	return result->signal ? 128 + result->signal : status;
}

/* Prints what was measured, also of a run that failed half-way. Returns the exit status so far. */
static int report(const struct report *report, struct output *table, struct output *json, int status)
{
	int err = 0;

	if (table->stream)
		err = report__print(report, table->stream);
	if (json->stream) {
		json_t *record = report__json(report);

		err = record__write(record, json->stream) ? -EIO : err;
		json_decref(record);
	}
	if (output__finish(table) | output__finish(json))
		return status ? status : EXIT_FAILED;
	if (err)
		message__error("the report is incomplete: %s", strerror(-err));
	return err && !status ? EXIT_FAILED : status;
}

static void plan_driver(struct plan *plan, const struct options *options)
{
	if (!options->driver)
		return;
	while (plan->driver < DRIVERS && strcmp(driver_names[plan->driver], options->driver) != 0)
		plan->driver++;
	if (plan->driver == DRIVERS)
		message__usage("--driver '%s': native, interp or jit", options->driver);
	if (plan->driver && strcmp(plan->call->name, "getuid") != 0)
		message__usage("--driver %s: its program calls getuid, not %s", options->driver,
			       plan->call->name);
}

/* Chooses call, CPUs and threads; exits where that can't be. The caller frees plan->cpus. */
static void plan_where(struct plan *plan, const struct options *options)
{
	int *chosen;

	plan->call = call__find(options->call);
	if (!plan->call)
		message__usage("--call '%s': unknown; --list shows what there is", options->call);
	plan_driver(plan, options);
	plan->cores = cpus__must_choose(options->cores, options->smt, &chosen);
	plan->cpus = chosen;
	if (options->threads &&
	    (options->threads < (uint64_t)plan->cores || options->threads > MOST_THREADS))
		message__usage("--threads: from %d (one a core) to %d", plan->cores, MOST_THREADS);
	plan->threads = options->threads ? (int)options->threads : plan->cores;
	plan->progress_lines = options->progress && !message_quiet;
	plan->progress_bar = !message_quiet && isatty(STDERR_FILENO);
}

int main(int argc, char **argv)
{
	struct options options;
	struct output table = {.fd = -1}, json = {.fd = -1};
	struct result result;
	struct plan plan = {0};
	struct seed seed;
	struct summary summary;
	struct report told = {.plan = &plan, .result = &result, .seed = &seed, .argv = argv};
	struct counter *counter;
	int err, status, others;

	output__hold_standard();
	options__parse(&options, argc, argv);
	if (options.list)
		return list();
	if (options.host)
		return describe_host();
	if (options.pids || options.command || options.all)
		return watch(&options, argv);
	plan_where(&plan, &options);
	if (options.cost) {
		status = cost(&options, plan.call, plan.cpus[0], argv);
		free((int *)plan.cpus);
		return status;
	}
	plan_windows(&plan, &options);
	if (options.project > MOST_PROJECTED)
		message__usage("--project: at most %d cores", MOST_PROJECTED);
	if (seed__read(&seed)) {
		message__error("the published figures can't be read");
		return EXIT_FAILED;
	}
	others = others__attached(); /* before ours are loaded */
	counter = open_counter(&options, plan.call);
	output__must_open_both(&table, &json, options.output, options.json, "-");
	err = privileges__drop(counter && counter->kind->admin);
	if (err)
		message__notice("capabilities not needed are kept: %s", strerror(-err));
	signals__block();
	record__now(told.started);
	told.counter = counter ? counter->kind : NULL;
	told.project = (int)options.project;

	err = measure__run(&plan, counter, &result);
	result.noise.other_probes = others < 0 ? -1 : others;
	if (result.summary) {
		summary__of(&summary, result.summary, NULL,
			    (struct summary_view){.errors = !told.counter->one_call, .times = told.counter->times});
		told.summary = &summary;
	}
	status = check(&result, err);
	if (result.n)
		status = report(&told, &table, &json, status);
	output__close(&table);
	output__close(&json);
	result__free(&result);
	counter__close(counter);
	free((int *)plan.cpus);
	return status;
}
