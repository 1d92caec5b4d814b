/* SPDX-License-Identifier: BSD-2-Clause */
/* The two forms of a hammer run: the table a person reads, and JSON. */
#ifndef TOLL_REPORT_H
#define TOLL_REPORT_H

#include <stdio.h>

#include "syscall/measure.h"
#include "syscall/seed.h"
#include "syscall/summary.h"

struct report {
	const struct plan *plan;
	const struct result *result;
	const struct seed *seed;
	const struct counter_kind *counter; /* NULL: nothing observed */
	int project;	     /* cores to project to; 0: none */
	char **argv;
	char started[32];	 /* RFC 3339 */
	struct summary *summary; /* NULL: nothing observed */
};

/* Returns 0 or -ENOMEM. */
int report__print(const struct report *report, FILE *stream);
/* Schema toll/1; the caller owns it. NULL: out of memory. */
json_t *report__json(const struct report *report);

#endif
