/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/record.h"
#include "common/table.h"
#include "probes/tally.h"
#include "syscall/classes.h"

/* Titles, least widths and names of strace 6.1, count.c. */
static const struct {
	struct column column;
	const char *names[3];
} known[COLUMNS] = {
	[PERCENT] = {{"% time", 6, false}, {"time-percent", "time"}},
	[SECONDS] = {{"seconds", 11, false}, {"total-time", "time-total"}},
	[SHORTEST] = {{"shortest", 8, false}, {"min-time", "time-min", "shortest"}},
	[LONGEST] = {{"longest", 8, false}, {"max-time", "time-max", "longest"}},
	[USECS] = {{"usecs/call", 11, false}, {"avg-time", "time-avg"}},
	[CALLS] = {{"calls", 9, false}, {"calls", "count"}},
	[ERRORS] = {{"errors", 9, false}, {"errors", "error"}},
	[NAME] = {{"syscall", 16, true}, {"name", "syscall", "syscall-name"}},
};

const enum summary_column summary_default[] = {PERCENT, SECONDS, USECS, CALLS, ERRORS, NAME, COLUMNS};

int summary__column(const char *given)
{
	char name[32];

	snprintf(name, sizeof(name), "%s", given);
	for (char *at = name; *at; at++)
		*at = *at == '_' ? '-' : *at; /* strace takes both */
	if (!strcmp(name, "nothing") || !strcmp(name, "none"))
		return BY_NOTHING;
	for (int column = 0; column < COLUMNS; column++)
		for (int i = 0; i < 3 && known[column].names[i]; i++)
			if (!strcmp(known[column].names[i], name))
				return column;
	return -1;
}

int summary__columns(const char *text, enum summary_column chosen[COLUMNS + 1], char *why, size_t size)
{
	bool used[COLUMNS] = {false};
	int n = 0;

	do {
		size_t length = strcspn(text, ",");
		int column;

		snprintf(why, size, "%.*s", (int)length, text);
		column = summary__column(why);
		if (column < 0 || column == BY_NOTHING || used[column])
			return -EINVAL;
		used[column] = true;
		chosen[n++] = (enum summary_column)column;
		text += length;
	} while (*text++);
	if (!used[NAME])
		chosen[n++] = NAME;
	chosen[n] = COLUMNS;
	return 0;
}

static double avg(const struct summary_row *row)
{
	return row->calls ? row->seconds / (double)row->calls : 0 * row->seconds;
}

/* Below 0 where x comes first: the greater, and what is no number last. */
static int greater_first(double x, double y)
{
	return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x < y) - (x > y);
}

static enum summary_column order_wanted;

static int compare(const void *a, const void *b)
{
	const struct summary_row *x = a, *y = b;
	int order = 0;

	switch (order_wanted) {
	case PERCENT:
	case SECONDS: order = greater_first(x->seconds, y->seconds); break;
	case SHORTEST: order = greater_first(x->shortest, y->shortest); break;
	case LONGEST: order = greater_first(x->longest, y->longest); break;
	case USECS: order = greater_first(avg(x), avg(y)); break;
	case ERRORS: order = (x->errors < y->errors) - (x->errors > y->errors); break;
	case NAME: order = strcmp(x->name, y->name); break;
	case BY_NOTHING: return x->number - y->number;
	case CALLS: break;
	}
	if (!order)
		order = (x->calls < y->calls) - (x->calls > y->calls);
	return order ? order : x->number - y->number;
}

void summary__sort(struct summary *summary, enum summary_column order)
{
	order_wanted = order;
	qsort(summary->rows, (size_t)summary->n, sizeof(*summary->rows), compare);
}

/* The total, and each row's share of its time. */
static void add_up(struct summary *summary)
{
	struct summary_row *total = &summary->total;

	*total = (struct summary_row){.name = "total", .shortest = NAN, .longest = NAN};
	for (int i = 0; i < summary->n; i++) {
		const struct summary_row *row = &summary->rows[i];

		total->calls += row->calls;
		total->errors += row->errors < 0 ? -total->errors - 1 : row->errors;
		total->seconds += row->seconds;
		total->half_width = hypot(total->half_width, row->half_width);
		total->shortest = fmin(total->shortest, row->shortest); /* these leave out NaN */
		total->longest = fmax(total->longest, row->longest);
	}
	for (int i = 0; i < summary->n; i++)
		summary->rows[i].percent = total->seconds > 0
			? 100 * summary->rows[i].seconds / total->seconds : 0 * total->seconds;
	total->percent = total->seconds > 0 ? 100 : 0 * total->seconds;
}

bool summary__listed(const char *list, const char *name)
{
	bool others = *list == '!';
	char word[64];

	list += others;
	while (*list) {
		size_t n = strcspn(list, ",");

		snprintf(word, sizeof(word), "%.*s", (int)n, list);
		if (!strcmp(word, name) || class__has(word, name))
			return !others;
		list += n + (list[n] == ',');
	}
	return others;
}

void summary__filter(struct summary *summary, const char *list)
{
	int n = 0;

	for (int i = 0; i < summary->n; i++)
		if (summary__listed(list, summary->rows[i].name))
			summary->rows[n++] = summary->rows[i];
	summary->n = n;
	add_up(summary);
}

/* Adds a row for each call that was made. */
static void add_calls(struct summary *summary, const struct tally *by_nr, bool compat, struct summary_view view)
{
	for (int nr = 0; nr < NR_SLOTS; nr++) {
		const struct tally *tally = &by_nr[nr];
		struct summary_row *row = &summary->rows[summary->n];

		if (!tally->calls)
			continue;
		*row = (struct summary_row){.number = nr + compat * NR_SLOTS, .calls = tally->calls,
					    .errors = view.errors ? (int64_t)tally->errors : -1,
					    .seconds = NAN, .half_width = NAN, .shortest = NAN, .longest = NAN};
		if (view.times) {
			row->seconds = tally__seconds(tally, &row->half_width);
			row->seconds += view.wall ? (double)tally->off_ns / 1e9 : 0;
			row->shortest = tally->min_ns ? (double)tally->min_ns / 1e9 : NAN;
			row->longest = tally->max_ns ? (double)tally->max_ns / 1e9 : NAN;
		}
		if (compat)
			syscall__name32(nr, row->name, sizeof(row->name));
		else
			syscall__name(nr, row->name, sizeof(row->name));
		summary->n++;
	}
}

void summary__of(struct summary *summary, const struct tally *native, const struct tally *compat,
		 struct summary_view view)
{
	summary->n = 0;
	add_calls(summary, native, false, view);
	if (compat)
		add_calls(summary, compat, true, view);
	add_up(summary);
	summary__sort(summary, SECONDS);
}

static void add_number(struct table *table, const char *format, double value)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	table__cell(table, "%s", isnan(value) ? "-" : text);
}

static void add_row(struct table *table, const enum summary_column *columns, const struct summary_row *row)
{
	for (; *columns != COLUMNS; columns++)
		switch (*columns) {
		case PERCENT: add_number(table, "%.2f", row->percent); break;
		case SECONDS: add_number(table, "%.6f", row->seconds); break;
		case SHORTEST: add_number(table, "%.6f", row->shortest); break;
		case LONGEST: add_number(table, "%.6f", row->longest); break;
		case USECS: add_number(table, "%.0f", floor(avg(row) * 1e6)); break;
		case CALLS: table__cell(table, "%llu", (unsigned long long)row->calls); break;
		case ERRORS:
			if (row->errors < 0)
				table__cell(table, "-");
			else if (row->errors)
				table__cell(table, "%lld", (long long)row->errors);
			else
				table__cell(table, "%s", "");
			break;
		default: table__cell(table, "%s", row->name);
		}
}

int summary__print(const struct summary *summary, const enum summary_column *columns, FILE *stream)
{
	struct column chosen[COLUMNS];
	struct table *table;
	size_t n = 0;
	int err;

	for (; columns[n] != COLUMNS; n++)
		chosen[n] = known[columns[n]].column;
	table = table__new(chosen, n);
	table__rule(table);
	for (int i = 0; i < summary->n; i++)
		add_row(table, columns, &summary->rows[i]);
	table__rule(table);
	add_row(table, columns, &summary->total);
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
			json_pack("{s:s, s:I, s:o, s:o, s:[o,o], s:o, s:o, s:o, s:o}", "syscall", row->name,
				  "calls", (json_int_t)row->calls, "errors",
				  row->errors < 0 ? json_null() : json_integer(row->errors), "seconds",
				  record__real(row->seconds), "seconds_ci95",
				  record__real(fmax(0, row->seconds - row->half_width) + 0 * row->seconds),
				  record__real(row->seconds + row->half_width), "shortest",
				  record__real(row->shortest), "longest", record__real(row->longest),
				  "usecs_per_call", record__real(avg(row) * 1e6), "percent_time",
				  record__real(row->percent)));
	}
	return list;
}
