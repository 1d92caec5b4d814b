/* SPDX-License-Identifier: BSD-2-Clause */
/* What computes fib: C, our machine in several ways, and real runtimes. A new one is a line in the
 * table of engines.c. */
#ifndef TOLL_ENGINES_H
#define TOLL_ENGINES_H

#include "fib/machine.h"

#define MOST_TIMES 1000

/* One sample: fib(n) computed `times` times in a process of its own. */
struct job {
	int n, times;
	bool count;	     /* the instrumented run: count the calls */
	unsigned int checks; /* of the JIT */
	enum wx wx;
	bool perf_map;
};

/* What the process tells. */
struct answer {
	bool ok;
	int64_t result;
	uint64_t calls;		     /* with job.count */
	uint64_t run_ns[MOST_TIMES]; /* of each time; 0 for real runtimes */
	char note[64];		     /* how it was done, or ... */
	char why[192];		     /* ... why not */
};

struct engine {
	const char *name, *summary;
	/* In a process of its own: fills the answer. NULL: a real runtime. */
	void (*run)(const struct engine *engine, const struct job *job, struct answer *answer);
	unsigned long (*c)(unsigned long), (*c_counted)(unsigned long);
	const char *source; /* bytecode, or the script */
	enum machine_kind machine;
	const char *command; /* a real runtime's program */
	const char *option;  /* for it, or NULL */
};

extern const struct engine engines[]; /* ended by a NULL name; c-O0 is the first */

/* NULL where there is none of that name. */
const struct engine *engine__find(const char *name);

/* The calls that fib(n) makes: 2 fib(n) - 1, with fib(0) = fib(1) = 1. */
double fib__calls(int n);
/* fib(n) itself, for n to 91. */
uint64_t fib__expected(int n);

#endif
