/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPUs to measure on: the inherited affinity mask, ordered physical cores first. */
#ifndef TOLL_CPUS_H
#define TOLL_CPUS_H

#include <stdbool.h>
#include <stddef.h>

struct cpus {
	int *ids;     /* operating-system numbers, physical cores first, then SMT siblings */
	size_t n;     /* CPUs this process may run on */
	size_t cores; /* physical cores among them: the first `cores` of ids */
};

/* Reads topology (hwloc) and affinity. Returns 0, or -errno; cpus__free takes either. */
int cpus__find(struct cpus *cpus);

/* Chooses from `all` into chosen (room for all->n), by text: "N" is the first N of ids, a list such
 * as "0-2,5" (or "5," for one) is those CPUs; NULL is one a physical core, or all with smt.
 * Returns how many, or -EINVAL with a one-line reason in why. *repeated tells of a CPU named twice
 * (it is used once). */
int cpus__choose(const struct cpus *all, const char *text, bool smt, int *chosen, bool *repeated,
		 char *why, size_t why_size);

void cpus__free(struct cpus *cpus);

/* cpus__choose among those that this process may run on, into *chosen, which the caller frees; says what is wrong
 * with the option --cores, and exits. Returns how many. */
int cpus__must_choose(const char *text, bool smt, int **chosen);

/* Keeps the calling thread on one CPU, and verifies that it is there. Returns 0 or -errno (-EXDEV: it is
 * elsewhere). */
int cpus__pin(int cpu);

#endif
