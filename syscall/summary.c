/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/record.h"
#include "common/table.h"

static int by_seconds_then_calls(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	if (x->seconds != y->seconds && !isnan(x->seconds))
		return x->seconds < y->seconds ? 1 : -1;
	return (x->calls < y->calls) - (x->calls > y->calls);
}

/* Adds a row for each call that was made. */
static void add_calls(struct summary *summary, const struct tally *by_nr, bool compat,
		      const struct counter_kind *kind)
{
	for (int nr = 0; nr < NR_SLOTS; nr++) {
		const struct tally *tally = &by_nr[nr];
		struct summary_row *row = &summary->rows[summary->n];

		if (!tally->calls)
			continue;
		*row = (struct summary_row){"", tally->calls, kind->one_call ? -1 : (int64_t)tally->errors,
					    kind->times ? 0 : NAN, NAN};
		if (tally->timed)
			row->seconds = (double)tally->time_ns / (double)tally->timed *
				       (double)tally->calls / 1e9;
		if (compat)
			syscall__name32(nr, row->name, sizeof(row->name));
		else
			syscall__name(nr, row->name, sizeof(row->name));
		summary->n++;
	}
}

void summary__of(struct summary *summary, const struct tally *by_nr, const struct tally *compat,
		 const struct counter_kind *kind)
{
	struct summary_row *total = &summary->total;

	summary->n = 0;
	*total = (struct summary_row){"total", 0, kind->one_call ? -1 : 0, kind->times ? 0 : NAN, NAN};
	add_calls(summary, by_nr, false, kind);
	if (compat)
		add_calls(summary, compat, true, kind);
	for (int i = 0; i < summary->n; i++) {
		total->calls += summary->rows[i].calls;
		total->errors += kind->one_call ? 0 : summary->rows[i].errors;
		total->seconds += summary->rows[i].seconds;
	}
	for (int i = 0; i < summary->n; i++)
		summary->rows[i].percent = total->seconds > 0
			? 100 * summary->rows[i].seconds / total->seconds : 0 * total->seconds;
	total->percent = total->seconds > 0 ? 100 : 0 * total->seconds;
	qsort(summary->rows, (size_t)summary->n, sizeof(*summary->rows), by_seconds_then_calls);
}

static void add_row(struct table *table, const struct summary_row *row)
{
	if (isnan(row->seconds)) {
		for (int i = 0; i < 3; i++)
			table__cell(table, "-");
	} else {
		table__cell(table, "%.2f", row->percent);
		table__cell(table, "%.6f", row->seconds);
		table__cell(table, "%.0f",
			    row->calls ? floor(row->seconds * 1e6 / (double)row->calls) : 0);
	}
	table__cell(table, "%llu", (unsigned long long)row->calls);
	if (row->errors < 0)
		table__cell(table, "-");
	else if (row->errors)
		table__cell(table, "%lld", (long long)row->errors);
	else
		table__cell(table, "%s", "");
	table__cell(table, "%s", row->name);
}

int summary__print(const struct summary *summary, FILE *stream)
{
	/* Titles and least widths of strace 6.1, count.c. */
	static const struct column columns[] = {
		{"% time", 6, false}, {"seconds", 11, false}, {"usecs/call", 11, false},
		{"calls", 9, false},  {"errors", 9, false},   {"syscall", 16, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	int err;

	table__rule(table);
	for (int i = 0; i < summary->n; i++)
		add_row(table, &summary->rows[i]);
	table__rule(table);
	add_row(table, &summary->total);
	err = table__print(table, stream, "");
	table__free(table);
	return err;
}

json_t *summary__json(const struct summary *summary)
{
	json_t *list = json_array();

	for (int i = 0; i < summary->n; i++) {
		const struct summary_row *row = &summary->rows[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:I, s:o, s:o, s:o, s:o}", "syscall", row->name, "calls",
				  (json_int_t)row->calls, "errors",
				  row->errors < 0 ? json_null() : json_integer(row->errors), "seconds",
				  record__real(row->seconds), "usecs_per_call",
				  record__real(row->seconds * 1e6 / (double)row->calls), "percent_time",
				  record__real(row->percent)));
	}
	return list;
}
