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

static int by_calls(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return (x->calls < y->calls) - (x->calls > y->calls);
}

static int by_errors(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;

	return (x->errors < y->errors) - (x->errors > y->errors);
}

static int by_row_name(const void *a, const void *b)
{
	return strcmp(((const struct summary_row *)a)->name, ((const struct summary_row *)b)->name);
}

static int by_number(const void *a, const void *b)
{
	return ((const struct summary_row *)a)->number - ((const struct summary_row *)b)->number;
}

int summary__order(const char *name)
{
	static const struct {
		const char *name;
		enum summary_order order;
	} names[] = {{"time", BY_TIME},	  {"total-time", BY_TIME}, {"calls", BY_CALLS}, {"count", BY_CALLS},
		     {"errors", BY_ERRORS}, {"error", BY_ERRORS},    {"name", BY_NAME},	  {"syscall", BY_NAME},
		     {"nothing", BY_NOTHING}, {"none", BY_NOTHING}};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i].name, name))
			return (int)names[i].order;
	return -1;
}

void summary__sort(struct summary *summary, enum summary_order order)
{
	static int (*const compare[ORDERS])(const void *, const void *) = {
		[BY_TIME] = by_seconds_then_calls, [BY_CALLS] = by_calls, [BY_ERRORS] = by_errors,
		[BY_NAME] = by_row_name, [BY_NOTHING] = by_number,
	};

	qsort(summary->rows, (size_t)summary->n, sizeof(*summary->rows), compare[order]);
}

/* The total, and each row's share of its time. */
static void add_up(struct summary *summary)
{
	struct summary_row *total = &summary->total;

	total->calls = 0;
	total->errors = total->errors < 0 ? -1 : 0;
	total->seconds *= 0; /* NaN stays */
	for (int i = 0; i < summary->n; i++) {
		total->calls += summary->rows[i].calls;
		total->errors += total->errors < 0 ? 0 : summary->rows[i].errors;
		total->seconds += summary->rows[i].seconds;
	}
	for (int i = 0; i < summary->n; i++)
		summary->rows[i].percent = total->seconds > 0
			? 100 * summary->rows[i].seconds / total->seconds : 0 * total->seconds;
	total->percent = total->seconds > 0 ? 100 : 0 * total->seconds;
}

static bool is_listed(const char *list, const char *name)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (strlen(name) == n && !strncmp(list, name, n))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

void summary__filter(struct summary *summary, const char *list)
{
	bool others = *list == '!';
	int n = 0;

	for (int i = 0; i < summary->n; i++)
		if (is_listed(list + others, summary->rows[i].name) != others)
			summary->rows[n++] = summary->rows[i];
	summary->n = n;
	add_up(summary);
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
		*row = (struct summary_row){"", nr + compat * NR_SLOTS, tally->calls, kind->one_call ? -1 : (int64_t)tally->errors,
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
	summary->n = 0;
	summary->total = (struct summary_row){"total", 0, 0, kind->one_call ? -1 : 0, kind->times ? 0 : NAN, NAN};
	add_calls(summary, by_nr, false, kind);
	if (compat)
		add_calls(summary, compat, true, kind);
	add_up(summary);
	summary__sort(summary, BY_TIME);
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
