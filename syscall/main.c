/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall-rate: how many system calls a second does each core make? */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "build/version.h"
#include "common/cpus.h"
#include "common/message.h"
#include "common/output.h"
#include "common/units.h"
#include "syscall/report.h"

#define DEFAULT_NS 10000000000u
#define DEFAULT_WINDOW_NS 1000000000u
#define MOST_THREADS 4096

enum { OPT_CORES = 256, OPT_SMT, OPT_CALL, OPT_CALLS, OPT_COUNTER, OPT_INTERVAL, OPT_THREADS,
       OPT_PROGRESS, OPT_PROJECT, OPT_JSON, OPT_LIST, OPT_HOST };

struct options {
	const char *cores, *call, *counter, *json, *output;
	uint64_t duration_ns, interval_ns, calls, threads, project;
	bool smt, progress, list, host;
};

const char *argp_program_version = "syscall-rate " TOLL_VERSION " (" TOLL_COMMIT ")";

static const struct argp_option argp_options[] = {
	{"duration", 'd', "SEC", 0, "Count for SEC (10s; takes 500ms, 2m …); the uncounted baseline "
	 "takes as long again", 0},
	{"interval", OPT_INTERVAL, "SEC", 0, "Length of one window (1s, or a sixth of -d)", 0},
	{"calls", OPT_CALLS, "N", 0, "Make N calls in all instead of -d", 0},
	{"cores", OPT_CORES, "N|LIST", 0, "N cores, or the CPUs of a list (0-2,5; one CPU: \"5,\")", 0},
	{"smt", OPT_SMT, NULL, 0, "All hardware threads, not one a physical core", 0},
	{"threads", OPT_THREADS, "N", 0, "N threads, shared out over the cores (one a core)", 0},
	{"call", OPT_CALL, "NAME", 0, "The call to hammer (getuid)", 0},
	{"counter", OPT_COUNTER, "NAME", 0, "What counts: bpf (the cheapest that works), none, or a name "
	 "that --list shows", 0},
	{"project", OPT_PROJECT, "N", 0, "Also project the rate to N cores", 0},
	{"progress", OPT_PROGRESS, NULL, 0, "Print #cpu:count after each window, on standard error", 0},
	{"json", OPT_JSON, "FILE", 0, "Write the run as JSON (\"-\": to standard output, alone)", 0},
	{NULL, 'o', "FILE", 0, "Write the table to FILE", 0},
	{NULL, 'q', NULL, 0, "No table, progress or notices", 0},
	{"list", OPT_LIST, NULL, 0, "What can be measured here, and why not what can't", 0},
	{"host", OPT_HOST, NULL, 0, "Describe this machine as JSON", 0},
	{0},
};

static uint64_t duration(const char *option, const char *text)
{
	uint64_t ns = 0;
	int err = units__parse_duration(text, &ns);

	if (err == -ERANGE)
		message__usage("%s %s: must be above 0 and at most 365 days", option, text);
	if (err)
		message__usage("%s '%s': not a duration such as 10s, 500ms or 2m", option, text);
	return ns;
}

static uint64_t whole(const char *option, const char *text)
{
	uint64_t count = 0;

	if (units__parse_count(text, &count))
		message__usage("%s '%s': not a whole number of at least 1", option, text);
	return count;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd': options->duration_ns = duration("-d", text); break;
	case 'o': options->output = text; break;
	case 'q': message_quiet = true; break;
	case OPT_INTERVAL: options->interval_ns = duration("--interval", text); break;
	case OPT_CALLS: options->calls = whole("--calls", text); break;
	case OPT_CORES: options->cores = text; break;
	case OPT_SMT: options->smt = true; break;
	case OPT_THREADS: options->threads = whole("--threads", text); break;
	case OPT_CALL: options->call = text; break;
	case OPT_COUNTER: options->counter = text; break;
	case OPT_PROJECT: options->project = whole("--project", text); break;
	case OPT_PROGRESS: options->progress = true; break;
	case OPT_JSON: options->json = text; break;
	case OPT_LIST: options->list = true; break;
	case OPT_HOST: options->host = true; break;
	case ARGP_KEY_ARG: message__usage("extra argument '%s'", text);
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse, NULL,
	"Hammers a system call from one pinned thread a core, counts the calls with eBPF, and compares "
	"with 2009.\vExamples:\n"
	"  sudo syscall-rate                    ten seconds of getuid on every core\n"
	"  sudo syscall-rate -d 3s --cores 1    one core\n"
	"  syscall-rate --counter none          without privileges\n"
	"  sudo syscall-rate --json - -q | jq   the JSON alone\n\n"
	"Exit status: 0 measured and complete, 1 failed or incomplete, 2 bad usage, 128 + signal when "
	"interrupted (what was measured is printed).",
	NULL, NULL, NULL};

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

/* A file that can't be opened is bad usage where its folder is missing, else a refusal. */
static void open_or_exit(struct output *output, const char *path)
{
	int err = output__open(output, path);

	if (err == -ENOENT || err == -ENOTDIR || err == -EISDIR)
		message__usage("%s: %s", path, strerror(-err));
	if (err) {
		message__error("%s: %s", path, strerror(-err));
		exit(EXIT_FAILED);
	}
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

static int finish(struct output *output, const char *name)
{
	int err = output__commit(output);

	if (err)
		message__error("%s: %s", name, strerror(-err));
	return err;
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
			       (long long)result->lost, (unsigned long long)result->misses);
		status = EXIT_FAILED;
	}
	return result->signal ? 128 + result->signal : status;
}

static void block_signals(void)
{
	sigset_t ends;

	measure__ending_signals(&ends);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN); /* a reader that leaves must not cost the JSON */
}

int main(int argc, char **argv)
{
	struct options options = {.duration_ns = DEFAULT_NS, .call = "getuid"};
	struct output table = {0}, json = {0};
	struct result result;
	struct plan plan = {0};
	struct seed seed;
	struct cpus cpus;
	struct report report = {.plan = &plan, .result = &result, .seed = &seed, .argv = argv};
	struct counter *counter;
	time_t now = time(NULL);
	struct tm utc;
	bool repeated;
	char why[256];
	int *chosen, err, status;

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.list)
		return list();
	if (options.host)
		return json_dumpf(host__describe(), stdout, JSON_INDENT(2)) || puts("") < 0 ||
		       fflush(stdout);
	plan.call = call__find(options.call);
	if (!plan.call)
		message__usage("--call '%s': unknown; --list shows what there is", options.call);
	if ((err = cpus__find(&cpus)) || (err = seed__read(&seed)) ||
	    !(chosen = calloc(cpus.n, sizeof(*chosen)))) {
		message__error("can't tell which CPUs there are: %s", strerror(err ? -err : ENOMEM));
		return EXIT_FAILED;
	}
	plan.cores = cpus__choose(&cpus, options.cores, options.smt, chosen, &repeated, why, sizeof(why));
	if (plan.cores < 0)
		message__usage("--cores: %s", why);
	if (repeated)
		message__notice("--cores: a CPU is named twice; it is used once");
	plan.cpus = chosen;
	if (options.threads && (options.threads < (uint64_t)plan.cores || options.threads > MOST_THREADS))
		message__usage("--threads: from %d (one a core) to %d", plan.cores, MOST_THREADS);
	plan.threads = options.threads ? (int)options.threads : plan.cores;
	if (options.project > 1000000)
		message__usage("--project: at most 1000000 cores");
	plan_windows(&plan, &options);
	plan.progress_lines = options.progress && !message_quiet;
	plan.progress_bar = !message_quiet && !options.calls && isatty(STDERR_FILENO);
	counter = open_counter(&options, plan.call);
	open_or_exit(&json, options.json);
	if (!message_quiet || options.output)
		open_or_exit(&table, options.output ? options.output
				     : json.stream == stdout ? NULL : "-");
	block_signals();
	gmtime_r(&now, &utc);
	strftime(report.started, sizeof(report.started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	report.counter = counter ? counter__name(counter) : "none";
	report.project = (int)options.project;

	err = measure__run(&plan, counter, &result);
	status = check(&result, err);
	if (result.n && !err) {
		if (table.stream)
			report__print(&report, table.stream);
		if (json.stream) {
			json_t *object = report__json(&report);

			if (!object || json_dumpf(object, json.stream, JSON_INDENT(2)) < 0)
				message__error("JSON: can't be written");
			fputc('\n', json.stream);
			json_decref(object);
		}
		if (finish(&table, options.output ? options.output : "standard output") |
		    finish(&json, options.json && strcmp(options.json, "-") ? options.json
									    : "standard output"))
			status = status ? status : EXIT_FAILED;
	}
	output__close(&table);
	output__close(&json);
	result__free(&result);
	counter__close(counter);
	free(chosen);
	cpus__free(&cpus);
	return status;
}
