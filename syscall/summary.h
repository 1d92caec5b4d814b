/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of strace -c: which calls were made, how often, how long they took. */
#ifndef TOLL_SUMMARY_H
#define TOLL_SUMMARY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "probes/counter.h"

struct summary_row {
	char name[32];
	int number; /* where BY_NOTHING has it */
	uint64_t calls;
	int64_t errors; /* -1: not seen */
	/* NaN where not timed: */
	double seconds, half_width; /* and of the 95 % interval of what was sampled: 0 where all was timed */
	double percent; /* of the time of all */
	double shortest, longest; /* s */
};

struct summary {
	struct summary_row rows[2 * NR_SLOTS], total; /* 64-bit and 32-bit calls */
	int n;
};

/* What a summary shows of its tallies. */
struct summary_view {
	bool errors, times; /* were seen */
	bool wall;	    /* seconds include the time off the CPU */
};

/* Of native[NR_SLOTS], and of 32-bit calls likewise (NULL: none); sorted by time, then by calls. Seconds are
 * tally__seconds. */
void summary__of(struct summary *summary, const struct tally *native, const struct tally *compat,
		 struct summary_view view);

/* The columns of strace -U, and the orders of strace -S: a column, or no order (by number). */
enum summary_column { PERCENT, SECONDS, SHORTEST, LONGEST, USECS, CALLS, ERRORS, NAME, COLUMNS, BY_NOTHING = COLUMNS };

/* The column that strace calls so (time-percent, total-time, min-time, max-time, avg-time, calls, errors,
 * name, or one of their other names), BY_NOTHING for nothing and none, or -1. */
int summary__column(const char *name);
/* Reads "time-percent,calls": chosen columns, in order, ended by COLUMNS; the name is added at the end where
 * it is not chosen. Returns 0, or -EINVAL with the word that is no column, or twice there, in why. */
int summary__columns(const char *text, enum summary_column chosen[COLUMNS + 1], char *why, size_t size);
/* strace's default: time-percent,total-time,avg-time,calls,errors,name. */
extern const enum summary_column summary_default[];

/* Sorts again, most first but names; BY_NOTHING is by number. summary__of has sorted by SECONDS. */
void summary__sort(struct summary *summary, enum summary_column order);

/* Would strace -e trace=LIST show that call? Names and classes (%file, or file) with commas, "all", "none";
 * after "!", all but them. */
bool summary__listed(const char *list, const char *name);
/* Keeps the rows that are listed. The totals follow. */
void summary__filter(struct summary *summary, const char *list);

/* strace's columns, widths and order. Returns 0 or -ENOMEM. */
int summary__print(const struct summary *summary, const enum summary_column *columns, FILE *stream);
/* The "summary" array of schema toll/1; what is not known is null. */
json_t *summary__json(const struct summary *summary);

#endif
