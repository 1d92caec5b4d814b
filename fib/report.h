/* SPDX-License-Identifier: BSD-2-Clause */
/* The two forms of a comparison: the table a person reads, and JSON. */
#ifndef TOLL_FIB_REPORT_H
#define TOLL_FIB_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "fib/compare.h"

struct fib_report {
	const struct plan *plan;
	const struct comparison *comparison;
	bool ablate; /* rows are the JIT with one cost left out each: say what each costs */
	char **argv;
	char started[32]; /* RFC 3339 */
};

/* Returns 0 or -errno. */
int fib_report__print(const struct fib_report *report, FILE *stream);
/* Schema toll/1; the caller owns it. NULL: out of memory. */
json_t *fib_report__json(const struct fib_report *report);

#endif
