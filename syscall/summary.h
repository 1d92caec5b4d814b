/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of strace -c: which calls were made, how often, how long they took. */
#ifndef TOLL_SUMMARY_H
#define TOLL_SUMMARY_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "probes/counter.h"

struct summary_row {
	char name[32];
	int number; /* where BY_NOTHING has it */
	uint64_t calls;
	int64_t errors; /* -1: not seen */
	double seconds; /* NaN: not timed */
	double percent; /* of the time of all; NaN likewise */
};

struct summary {
	struct summary_row rows[2 * NR_SLOTS], total; /* 64-bit and 32-bit calls */
	int n;
};

/* Of by_nr[NR_SLOTS], as seen by a counter of that kind, and of 32-bit calls likewise (NULL: none);
 * sorted by time, then by calls. A call's seconds are its mean over the calls timed, times its calls. */
void summary__of(struct summary *summary, const struct tally *by_nr, const struct tally *compat,
		 const struct counter_kind *kind);

enum summary_order { BY_TIME, BY_CALLS, BY_ERRORS, BY_NAME, BY_NOTHING, ORDERS };

/* The order that strace -S gives that name (time, total-time, calls, count, errors, error, name, syscall,
 * nothing, none), or -1. */
int summary__order(const char *name);
/* Sorts again; BY_NOTHING is by number. summary__of has sorted BY_TIME. */
void summary__sort(struct summary *summary, enum summary_order order);

/* Keeps the rows that strace -e trace=LIST would: names with commas, or all but them after "!". The
 * totals follow. */
void summary__filter(struct summary *summary, const char *list);

/* strace's columns, widths and order. Returns 0 or -ENOMEM. */
int summary__print(const struct summary *summary, FILE *stream);
/* The "summary" array of schema toll/1; what is not known is null. */
json_t *summary__json(const struct summary *summary);

#endif
