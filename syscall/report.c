/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build/version.h"
#include "common/units.h"

/* One row of the strace -c table. */
struct row {
	char name[32];
	uint64_t calls, errors;
	double seconds;
};

static int by_seconds_then_calls(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return (x->calls < y->calls) - (x->calls > y->calls);
}

/* Fills rows (room for NR_SLOTS), sorted as strace does; returns how many. */
static int rows_of(const struct result *result, struct row *rows)
{
	int n = 0;

	for (int nr = 0; nr < NR_SLOTS; nr++) {
		const struct tally *tally = &result->summary[nr];

		if (!tally->calls)
			continue;
		rows[n] = (struct row){.calls = tally->calls, .errors = tally->errors};
		if (tally->timed)
			rows[n].seconds = (double)tally->time_ns / (double)tally->timed *
					  (double)tally->calls / 1e9;
		syscall__name(nr, rows[n].name, sizeof(rows[n].name));
		n++;
	}
	qsort(rows, (size_t)n, sizeof(*rows), by_seconds_then_calls);
	return n;
}

static void print_row(FILE *stream, const struct row *row, double all)
{
	char errors[24] = "";

	if (row->errors)
		snprintf(errors, sizeof(errors), "%llu", (unsigned long long)row->errors);
	fprintf(stream, "%6.2f %11.6f %11.0f %9llu %9s %s\n",
		all > 0 ? 100 * row->seconds / all : 0, row->seconds,
		row->calls ? floor(row->seconds * 1e6 / (double)row->calls) : 0,
		(unsigned long long)row->calls, errors, row->name);
}

static void print_summary(const struct report *report, FILE *stream)
{
	static const char rule[] = "------ ----------- ----------- --------- --------- ----------------";
	struct row rows[NR_SLOTS], total = {.name = "total"};
	int n = rows_of(report->result, rows);

	for (int i = 0; i < n; i++) {
		total.calls += rows[i].calls;
		total.errors += rows[i].errors;
		total.seconds += rows[i].seconds;
	}
	fprintf(stream, "\n%% time     seconds  usecs/call     calls    errors syscall\n%s\n", rule);
	for (int i = 0; i < n; i++)
		print_row(stream, &rows[i], total.seconds);
	fprintf(stream, "%s\n", rule);
	print_row(stream, &total, total.seconds);
	fprintf(stream, "calls and errors are exact; seconds come from a separate timed pass (one %s in "
		"%d, scaled up)\n", report->plan->call->name, SAMPLE_EVERY);
}

static void print_stats(FILE *stream, const char *label, struct stats s, const char *unit, double by)
{
	fprintf(stream, "%-28s %10.2f %s  (min %.2f, max %.2f, ", label, s.median / by, unit,
		s.min / by, s.max / by);
	if (isnan(s.low))
		fprintf(stream, "no 95 %% interval below %d windows; %zu)\n", STATS_LEAST, s.n);
	else
		fprintf(stream, "95 %% interval %.2f to %.2f, %zu windows)\n", s.low / by, s.high / by,
			s.n);
}

static void print_cores(const struct report *report, FILE *stream, bool observed)
{
	const struct plan *plan = report->plan;

	fprintf(stream, "%5s %15s %15s %14s %9s\n", "cpu", "made", "counted", "calls/s", "ns/call");
	for (int core = -1, i = 0; i <= plan->cores; i++) {
		char counted[24] = "-", cpu[16] = "all";
		struct core_count sum;

		core = i < plan->cores ? i : -1;
		sum = result__sum(report->result, plan->cores, observed, core);
		if (observed)
			snprintf(counted, sizeof(counted), "%llu", (unsigned long long)sum.counted);
		if (core >= 0)
			snprintf(cpu, sizeof(cpu), "%d", plan->cpus[core]);
		fprintf(stream, "%5s %15llu %15s %14.0f %9.2f\n", cpu, (unsigned long long)sum.made,
			counted,
			result__stats(report->result, observed, core, PER_SECOND).median,
			result__stats(report->result, observed, core, NS_PER_CALL).median);
	}
}

static void print_seed(const struct report *report, FILE *stream, double rate)
{
	const struct seed *seed = report->seed;
	int cores = report->plan->cores;
	char text[32];

	fprintf(stream, "\n2009, published (Erlang VM, %d cores): %.1f M/s as written up, %.1f M/s as its "
		"printed counts add up\n", seed->cores, seed->written_up / 1e6, seed->printed / 1e6);
	fprintf(stream, "here, measured on %d core%s: %s, %.2f x in total, %.2f x a core (to the %.1f "
		"M/s)\n", cores, cores == 1 ? "" : "s", units__print_rate(text, sizeof(text), rate),
		rate / seed->written_up, rate / cores / (seed->written_up / seed->cores),
		seed->written_up / 1e6);
	fprintf(stream, "the %.0f M/s of 2009: %s here\n", seed->claimed / 1e6,
		rate >= seed->claimed ? "reached" : "not reached");
	if (report->project > cores)
		fprintf(stream, "projected, not measured: %s on %d cores, if each is as fast as these "
			"%d\n", units__print_rate(text, sizeof(text), rate / cores * report->project),
			report->project, cores);
}

void report__print(const struct report *report, FILE *stream)
{
	const struct result *result = report->result;
	bool observed = result->summary != NULL;
	struct stats rate = result__stats(result, observed, -1, PER_SECOND);

	fprintf(stream, "%s from %d thread%s on %d core%s, counter %s\n\n", report->plan->call->name,
		report->plan->threads, report->plan->threads == 1 ? "" : "s", report->plan->cores,
		report->plan->cores == 1 ? "" : "s", report->counter);
	print_cores(report, stream, observed);
	if (observed)
		print_summary(report, stream);
	fputc('\n', stream);
	print_stats(stream, observed ? "counted" : "own count", rate, "M/s", 1e6);
	if (observed) {
		print_stats(stream, "uncounted baseline", result__stats(result, false, -1, PER_SECOND),
			    "M/s", 1e6);
		print_stats(stream, "the counter adds", result__added(result), "ns a call", 1);
	}
	print_seed(report, stream, rate.median);
	fprintf(stream, "noise: %llu ms stolen by the hypervisor, %llu involuntary switches\n",
		(unsigned long long)result->noise.steal_ms,
		(unsigned long long)result->noise.involuntary_switches);
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *stats_json(struct stats s)
{
	return json_pack("{s:o, s:o, s:o, s:[o,o], s:I}", "median", real_or_null(s.median), "min",
			 real_or_null(s.min), "max", real_or_null(s.max), "ci95", real_or_null(s.low),
			 real_or_null(s.high), "windows", (json_int_t)s.n);
}

/* {made, counted, elapsed_ns, per_second, ns_per_call} of one core, or all with core -1. */
static json_t *count_json(const struct report *report, bool observed, int core)
{
	struct core_count sum = result__sum(report->result, report->plan->cores, observed, core);

	return json_pack(
		"{s:I, s:o, s:I, s:o, s:o}", "made", (json_int_t)sum.made, "counted",
		observed ? json_integer((json_int_t)sum.counted) : json_null(), "elapsed_ns",
		(json_int_t)sum.elapsed_ns, "per_second",
		real_or_null(result__stats(report->result, observed, core, PER_SECOND).median),
		"ns_per_call",
		real_or_null(result__stats(report->result, observed, core, NS_PER_CALL).median));
}

static json_t *summary_json(const struct report *report)
{
	json_t *list = json_array();
	struct row rows[NR_SLOTS];
	double seconds = 0;
	int n = report->result->summary ? rows_of(report->result, rows) : 0;

	for (int i = 0; i < n; i++)
		seconds += rows[i].seconds;
	for (int i = 0; i < n; i++)
		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "syscall", rows[i].name, "calls",
				  (json_int_t)rows[i].calls, "errors", (json_int_t)rows[i].errors,
				  "seconds", rows[i].seconds, "usecs_per_call",
				  rows[i].seconds * 1e6 / (double)rows[i].calls, "percent_time",
				  seconds > 0 ? 100 * rows[i].seconds / seconds : 0.0));
	return list;
}

static json_t *windows_json(const struct report *report)
{
	json_t *list = json_array();

	for (int i = 0; i < report->result->n; i++) {
		const struct window *window = &report->result->windows[i];
		json_t *cores = json_array();

		for (int core = 0; core < report->plan->cores; core++) {
			const struct core_count *count = &window->cores[core];

			json_array_append_new(
				cores, json_pack("{s:i, s:I, s:o, s:I}", "cpu", report->plan->cpus[core],
						 "made", (json_int_t)count->made, "counted",
						 window->counted
							 ? json_integer((json_int_t)count->counted)
							 : json_null(),
						 "elapsed_ns", (json_int_t)count->elapsed_ns));
		}
		json_array_append_new(list, json_pack("{s:b, s:f, s:f, s:o}", "counted", window->counted,
						      "per_second", window->per_second, "ns_per_call",
						      window->ns_per_call, "cores", cores));
	}
	return list;
}

json_t *report__json(const struct report *report)
{
	const struct result *result = report->result;
	const struct seed *seed = report->seed;
	bool observed = result->summary != NULL;
	struct stats rate = result__stats(result, observed, -1, PER_SECOND);
	struct stats base = result__stats(result, false, -1, PER_SECOND);
	json_t *command = json_array(), *cores = json_array(), *json;
	int n = report->plan->cores;

	for (char **argument = report->argv; *argument; argument++)
		json_array_append_new(command, json_string(*argument));
	for (int core = 0; core < n; core++) {
		json_t *row = count_json(report, observed, core);

		json_object_set_new(row, "cpu", json_integer(report->plan->cpus[core]));
		json_array_append_new(cores, row);
	}
	json = json_pack(
		"{s:s, s:s, s:s, s:o, s:s, s:o, s:{s:I, s:I}, s:s, s:s, s:s, s:s, s:i, s:o, s:o}",
		"schema", "toll/1", "program", "syscall-rate", "version", TOLL_VERSION, "command",
		command, "started", report->started, "host", host__describe(), "noise", "steal_ms",
		(json_int_t)result->noise.steal_ms, "involuntary_switches",
		(json_int_t)result->noise.involuntary_switches, "mode", "hammer", "counter",
		report->counter, "driver", "native", "call", report->plan->call->name, "threads",
		report->plan->threads, "cores", cores, "total", count_json(report, observed, -1));
	json_object_set_new(json, "rate", stats_json(rate));
	json_object_set_new(
		json, "baseline",
		json_pack("{s:o, s:o}", "per_second", real_or_null(base.median), "ns_per_call",
			  real_or_null(result__stats(result, false, -1, NS_PER_CALL).median)));
	if (observed)
		json_object_set_new(json, "added_ns", stats_json(result__added(result)));
	json_object_set_new(json, "lost", observed ? json_integer(result->lost) : json_null());
	json_object_set_new(json, "summary", summary_json(report));
	json_object_set_new(
		json, "seed",
		json_pack("{s:i, s:f, s:f, s:o, s:o}", "cores", seed->cores, "per_second",
			  seed->written_up, "per_second_printed", seed->printed, "ratio_total",
			  real_or_null(rate.median / seed->written_up), "ratio_per_core",
			  real_or_null(rate.median / n / (seed->written_up / seed->cores))));
	if (report->project > n)
		json_object_set_new(json, "projected",
				    json_pack("{s:i, s:i, s:o}", "cores", report->project,
					      "from_cores", n, "per_second",
					      real_or_null(rate.median / n * report->project)));
	json_object_set_new(json, "windows", windows_json(report));
	return json;
}
