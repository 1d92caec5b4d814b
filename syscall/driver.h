/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes the calls: machine code of ours, or a program of fib/'s machine, as in 2009. */
#ifndef TOLL_DRIVER_H
#define TOLL_DRIVER_H

#include <stddef.h>

#include "common/crew.h"

enum driver_kind {
	DRIVER_NATIVE, /* the unrolled loop of calls.c */
	DRIVER_INTERP, /* fib/programs/getuid.basm as bytecode */
	DRIVER_JIT,    /* the same as machine code by templates */
	DRIVERS
};
extern const char *const driver_names[DRIVERS];

/* A machine for each member of a crew; for the last two kinds. */
struct driver;

/* Returns 0, or -errno with the reason in why. driver__free takes NULL. */
int driver__new(struct driver **driver, enum driver_kind kind, const struct member *members, int n,
		char *why, size_t why_size);
void driver__free(struct driver *driver);

/* A crew_work: argument is the driver. The program is run for some calls at a time, and says itself
 * how many it made. */
void driver__work(struct member *member, const atomic_bool *stop, void *argument);

#endif
