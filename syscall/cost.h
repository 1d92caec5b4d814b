/* SPDX-License-Identifier: BSD-2-Clause */
/* --cost: what each observer adds to one call, in one run. */
#ifndef TOLL_COST_H
#define TOLL_COST_H

#include "syscall/calls.h"
#include "syscall/options.h"

/* Makes the call on that CPU, bare and under each observer in turn, and prints the table. Returns the exit
 * status. */
int cost(const struct options *options, const struct call *call, int cpu, char **argv);

#endif
