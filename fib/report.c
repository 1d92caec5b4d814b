/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/record.h"
#include "common/table.h"

__asm__(".section .rodata\n"
	".global fib_seed_text\n"
	"fib_seed_text: .incbin \"results/seed/fib-compare.json\"\n"
	".byte 0\n"
	".previous\n");
extern const char fib_seed_text[];

static double median(const double *samples, int n)
{
	return stats__of(samples, (size_t)n).median;
}

/* What to say beside a row. */
static void remark(char *text, size_t size, const struct row *row, const struct plan *plan)
{
	double expected = fib__calls(plan->n);

	if (row->status != ROW_OK)
		snprintf(text, size, "%s%s", row->status == ROW_UNAVAILABLE &&
			 strcmp(row->why, "not installed") ? "unavailable: " : "", row->why);
	else if (row->calls && (double)row->calls != expected)
		snprintf(text, size, "makes %.3f of the calls", (double)row->calls / expected);
	else if (row->uneven)
		snprintf(text, size, "one of the %d times took under half the median one", plan->times);
	else
		snprintf(text, size, "%s%s%s", row->engine->run ? row->engine->summary : row->note,
			 row->engine->run && row->note[0] ? ", " : "",
			 row->engine->run ? row->note : "");
}

static void add_row(struct table *table, const struct fib_report *report, const struct row *row)
{
	struct ratio ratio = row__ratio(report->comparison, row);
	char text[256];

	table__cell(table, "%s", row->name);
	table__number(table, "%.3f", median(row->real_s, row->n));
	table__number(table, "%.3f", median(row->user_s, row->n));
	table__number(table, "%.3f", median(row->sys_s, row->n));
	table__number(table, "%.3f", row__ns_per_call(row, report->plan));
	table__number(table, "%.3f", ratio.ratio);
	if (isnan(ratio.low) || row->engine == engines)
		table__cell(table, "-");
	else
		table__cell(table, "%.3f to %.3f", ratio.low, ratio.high);
	if (row->calls)
		table__cell(table, "%llu", (unsigned long long)row->calls);
	else
		table__cell(table, "-");
	table__number(table, "%.3f", row->n ? row->startup_s : NAN);
	remark(text, sizeof(text), row, report->plan);
	table__cell(table, "%s", text);
}

static void add_seed(struct table *table)
{
	json_t *seed = json_loads(fib_seed_text, 0, NULL);
	double n = 0, times = 0, base = NAN;
	json_t *list = json_object_get(seed, "engines"), *engine;
	size_t i;

	n = json_number_value(json_object_get(seed, "n"));
	times = json_number_value(json_object_get(seed, "times"));
	json_array_foreach(list, i, engine)
	{
		double real = json_number_value(json_object_get(engine, "real_s"));

		base = i ? base : real;
		table__cell(table, "%s", "2009");
		table__number(table, "%.2f", real);
		table__number(table, "%.2f", json_number_value(json_object_get(engine, "user_s")));
		table__number(table, "%.2f", json_number_value(json_object_get(engine, "sys_s")));
		table__number(table, "%.1f", real * 1e9 / times / fib__calls((int)n));
		table__number(table, "%.2f", real / base);
		table__cell(table, "-");
		table__cell(table, "-");
		table__cell(table, "-");
		table__cell(table, "published: %s", json_string_value(json_object_get(engine, "engine")));
	}
	json_decref(seed);
}

static void print_costs(const struct fib_report *report, FILE *stream)
{
	const struct comparison *comparison = report->comparison;
	double whole = row__ns_per_call(&comparison->rows[0], report->plan);

	fputs("\nwhat each check costs, by leaving it out (ns a call):\n", stream);
	for (int i = 1; i < comparison->n_rows; i++)
		fprintf(stream, "  %-28s %+.3f\n", comparison->rows[i].name,
			whole - row__ns_per_call(&comparison->rows[i], report->plan));
}

int fib_report__print(const struct fib_report *report, FILE *stream)
{
	static const struct column columns[] = {
		{"engine", 12, true},	{"real s", 7, false},  {"user s", 7, false},
		{"sys s", 6, false},	{"ns/call", 7, false}, {"to c-O0", 7, false},
		{"95 % interval", 14, false}, {"calls", 11, false}, {"start s", 7, false},
		{"", 1, true},
	};
	const struct plan *plan = report->plan;
	const struct comparison *comparison = report->comparison;
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	int err;

	fprintf(stream, "fib(%d) %d time%s a sample, %d sample%s, engines in turn; medians\n\n", plan->n,
		plan->times, plan->times == 1 ? "" : "s", plan->samples, plan->samples == 1 ? "" : "s");
	for (int i = 0; i < comparison->n_rows; i++)
		add_row(table, report, &comparison->rows[i]);
	if (plan->n == 40 && plan->times == 5 && !report->ablate) {
		table__rule(table);
		add_seed(table);
	}
	err = table__print(table, stream, "");
	table__free(table);
	fprintf(stream, "\nfib(%d) = %llu in %.0f calls; \"calls\" were counted in an instrumented run of "
		"each of our engines\nns/call and the ratio leave out start s, the time of a process "
		"that computes nothing\n", plan->n, (unsigned long long)fib__expected(plan->n),
		fib__calls(plan->n));
	if (report->ablate)
		print_costs(report, stream);
	noise__print(&comparison->noise, stream);
	return err;
}

static json_t *row_json(const struct fib_report *report, const struct row *row)
{
	static const char *const statuses[] = {"ok", "unavailable", "left out", "failed"};
	struct ratio ratio = row__ratio(report->comparison, row);
	json_t *samples = json_array();
	json_t *json;

	for (int i = 0; i < row->n; i++)
		json_array_append_new(samples, json_real(row->real_s[i]));
	json = json_pack("{s:s, s:s, s:s, s:s}", "engine", row->name, "status", statuses[row->status],
			 "reason", row->why, "note", row->note);
	json_object_set_new(json, "uneven", json_boolean(row->uneven));
	json_object_update_new(
		json, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:o}", "result",
				row->n ? json_integer(row->result) : json_null(), "calls",
				row->calls ? json_integer((json_int_t)row->calls) : json_null(), "real_s",
				record__real(median(row->real_s, row->n)), "user_s",
				record__real(median(row->user_s, row->n)), "sys_s",
				record__real(median(row->sys_s, row->n)), "ns_per_call",
				record__real(row__ns_per_call(row, report->plan)), "ratio",
				record__real(ratio.ratio), "ratio_ci95", record__real(ratio.low),
				record__real(ratio.high), "startup_s", record__real(row->startup_s),
				"samples_s", samples));
	return json;
}

json_t *fib_report__json(const struct fib_report *report)
{
	const struct comparison *comparison = report->comparison;
	json_t *json = record__new("fib-compare", report->argv, report->started, &comparison->noise);
	json_t *rows = json_array();

	for (int i = 0; i < comparison->n_rows; i++)
		json_array_append_new(rows, row_json(report, &comparison->rows[i]));
	json_object_update_new(json, json_pack("{s:i, s:i, s:i, s:o, s:o}", "n", report->plan->n, "times",
					       report->plan->times, "samples", report->plan->samples,
					       "engines", rows, "seed", json_loads(fib_seed_text, 0, NULL)));
	return json;
}
