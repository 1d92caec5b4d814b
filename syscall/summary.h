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

/* strace's columns, widths and order. Returns 0 or -ENOMEM. */
int summary__print(const struct summary *summary, FILE *stream);
/* The "summary" array of schema toll/1; what is not known is null. */
json_t *summary__json(const struct summary *summary);

#endif
