/* SPDX-License-Identifier: BSD-2-Clause */
/* A comparison: every engine's samples in turn, then one instrumented run each. */
#ifndef TOLL_COMPARE_H
#define TOLL_COMPARE_H

#include "common/noise.h"
#include "common/stats.h"
#include "fib/sample.h"

#define MOST_ROWS 32
#define MOST_SAMPLES 1000
#define LONGEST_SAMPLE_S 30   /* a real runtime slower than that is left out unless asked for */
#define LONGEST_RUN_S 3600    /* refused unless forced */

enum row_status { ROW_OK, ROW_UNAVAILABLE, ROW_LEFT_OUT, ROW_FAILED };

struct row {
	const struct engine *engine;
	char name[48];	     /* the engine's, and what it goes without */
	unsigned int checks; /* of the JIT */
	enum row_status status;
	char why[192];	     /* ... it is not ROW_OK */
	char note[64];
	int64_t result;
	double startup_s;    /* a process that computes nothing */
	double estimate_s;   /* a sample, from a small n */
	double real_s[MOST_SAMPLES], user_s[MOST_SAMPLES], sys_s[MOST_SAMPLES];
	int n;		     /* samples */
	uint64_t calls;	     /* counted, of one fib(n); 0: not counted */
	bool uneven;	     /* one time of a sample took under half as long as the median one */
};

struct plan {
	int n, times, samples;
	enum wx wx;
	bool all, force, perf_map, progress;
	int cpu; /* our engines run there */
};

struct comparison {
	struct row *rows; /* [MOST_ROWS] */
	int n_rows;
	struct noise noise;
	int signal; /* that ended the run early, or 0 */
	double estimate_s; /* of the whole run */
};

/* Finds out what each row can do, and how long it will take. Returns 0; -ETIME for more than
 * LONGEST_RUN_S without plan->force; or -errno. The ending signals must be blocked from here on. */
int compare__prepare(struct comparison *comparison, const struct plan *plan,
		     struct runtime_files *files);
/* Takes the samples. Returns 0 or -errno; what was measured is in the rows either way. */
int compare__run(struct comparison *comparison, const struct plan *plan,
		 const struct runtime_files *files);

/* The time of a sample without start-up. */
double row__seconds(const struct row *row, int sample);
/* Nanoseconds for each call that fib(n) has, median of the samples; NaN without samples. */
double row__ns_per_call(const struct row *row, const struct plan *plan);
/* To c-O0, samples of one round paired; NaN where either is missing. */
struct ratio row__ratio(const struct comparison *comparison, const struct row *row);

#endif
