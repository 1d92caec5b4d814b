/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/report.h"

#include <errno.h>
#include <math.h>

#include "common/record.h"
#include "common/table.h"
#include "common/units.h"

static const char *counter_name(const struct report *report)
{
	return report->counter ? report->counter->name : "none";
}

static int print_summary(const struct report *report, FILE *stream)
{
	const struct counter_kind *counter = report->counter;
	int err;

	fputc('\n', stream);
	err = summary__print(report->summary, summary_default, stream);
	if (counter->one_call)
		fprintf(stream, "%s sees %s alone, and not its errors", counter->name,
			report->plan->call->name);
	else
		fputs("calls and errors are exact", stream);
	if (counter->times)
		fprintf(stream, "; seconds come from a separate timed pass (one %s in %d, scaled up)\n",
			report->plan->call->name, SAMPLE_EVERY);
	else
		fputs(" or times\n", stream);
	return err;
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

static int print_cores(const struct report *report, FILE *stream, bool observed)
{
	static const struct column columns[] = {
		{"cpu", 5, false}, {"made", 15, false}, {"counted", 15, false},
		{"calls/s", 14, false}, {"ns/call", 9, false},
	};
	const struct plan *plan = report->plan;
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	int err;

	for (int i = 0; i <= plan->cores; i++) {
		int core = i < plan->cores ? i : -1;
		struct core_count sum = result__sum(report->result, plan->cores, observed, core);

		if (core >= 0)
			table__cell(table, "%d", plan->cpus[core]);
		else
			table__cell(table, "all");
		table__cell(table, "%llu", (unsigned long long)sum.made);
		if (observed)
			table__cell(table, "%llu", (unsigned long long)sum.counted);
		else
			table__cell(table, "-");
		table__cell(table, "%.0f",
			    result__stats(report->result, observed, core, PER_SECOND).median);
		table__cell(table, "%.2f",
			    result__stats(report->result, observed, core, NS_PER_CALL).median);
	}
	err = table__print(table, stream, "");
	table__free(table);
	return err;
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

int report__print(const struct report *report, FILE *stream)
{
	const struct result *result = report->result;
	bool observed = result->summary != NULL;
	struct stats rate = result__stats(result, observed, -1, PER_SECOND);
	int err;

	fprintf(stream, "%s from %d thread%s on %d core%s, counter %s", report->plan->call->name,
		report->plan->threads, report->plan->threads == 1 ? "" : "s", report->plan->cores,
		report->plan->cores == 1 ? "" : "s", counter_name(report));
	if (report->plan->driver)
		fprintf(stream, ", driver %s", driver_names[report->plan->driver]);
	fputs("\n\n", stream);
	err = print_cores(report, stream, observed);
	if (observed)
		err = print_summary(report, stream) ? -ENOMEM : err;
	fputc('\n', stream);
	print_stats(stream, observed ? "counted" : "own count", rate, "M/s", 1e6);
	if (observed) {
		print_stats(stream, "uncounted baseline", result__stats(result, false, -1, PER_SECOND),
			    "M/s", 1e6);
		print_stats(stream, "the counter adds", result__added(result), "ns a call", 1);
	}
	print_seed(report, stream, rate.median);
	noise__print(&result->noise, stream);
	return err;
}

/* {made, counted, elapsed_ns, per_second, ns_per_call} of one core, or all with core -1. */
static json_t *count_json(const struct report *report, bool observed, int core)
{
	struct core_count sum = result__sum(report->result, report->plan->cores, observed, core);

	return json_pack(
		"{s:I, s:o, s:I, s:o, s:o}", "made", (json_int_t)sum.made, "counted",
		observed ? json_integer((json_int_t)sum.counted) : json_null(), "elapsed_ns",
		(json_int_t)sum.elapsed_ns, "per_second",
		record__real(result__stats(report->result, observed, core, PER_SECOND).median),
		"ns_per_call",
		record__real(result__stats(report->result, observed, core, NS_PER_CALL).median));
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
	json_t *json = record__new("syscall-rate", report->argv, report->started, &result->noise);
	json_t *cores = json_array();
	int n = report->plan->cores;

	for (int core = 0; core < n; core++) {
		json_t *row = count_json(report, observed, core);

		json_object_set_new(row, "cpu", json_integer(report->plan->cpus[core]));
		json_array_append_new(cores, row);
	}
	json_object_update_new(
		json, json_pack("{s:s, s:s, s:s, s:s, s:i, s:o, s:o}", "mode", "hammer", "counter",
				counter_name(report), "driver",
				driver_names[report->plan->driver], "call",
				report->plan->call->name, "threads", report->plan->threads, "cores",
				cores, "total", count_json(report, observed, -1)));
	json_object_set_new(json, "rate", record__stats(rate));
	json_object_set_new(
		json, "baseline",
		json_pack("{s:o, s:o}", "per_second", record__real(base.median), "ns_per_call",
			  record__real(result__stats(result, false, -1, NS_PER_CALL).median)));
	if (observed)
		json_object_set_new(json, "added_ns", record__stats(result__added(result)));
	json_object_set_new(json, "made_in_all", json_integer((json_int_t)result->made_in_all));
	json_object_set_new(json, "lost", observed ? json_integer(result->lost) : json_null());
	json_object_set_new(json, "program_runs", result->runs.made ? json_integer((json_int_t)result->runs.made) : json_null());
	json_object_set_new(json, "summary",
			    observed ? summary__json(report->summary) : json_array());
	json_object_set_new(
		json, "seed",
		json_pack("{s:i, s:f, s:f, s:o, s:o}", "cores", seed->cores, "per_second",
			  seed->written_up, "per_second_printed", seed->printed, "ratio_total",
			  record__real(rate.median / seed->written_up), "ratio_per_core",
			  record__real(rate.median / n / (seed->written_up / seed->cores))));
	if (report->project > n)
		json_object_set_new(json, "projected",
				    json_pack("{s:i, s:i, s:o}", "cores", report->project,
					      "from_cores", n, "per_second",
					      record__real(rate.median / n * report->project)));
	json_object_set_new(json, "windows", windows_json(report));
	return json;
}
