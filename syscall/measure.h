/* SPDX-License-Identifier: BSD-2-Clause */
/* A hammer run: warm-up, then counted and uncounted windows in turn, then the timed pass. */
#ifndef TOLL_MEASURE_H
#define TOLL_MEASURE_H

#include "common/noise.h"
#include "common/stats.h"
#include "probes/counter.h"
#include "syscall/calls.h"
#include "syscall/driver.h"

struct plan {
	const struct call *call;
	enum driver_kind driver; /* what makes them; but for the native one, the call is getuid */
	const int *cpus; /* where to hammer */
	int cores;
	int threads;	    /* at least cores: shared out over them in turn */
	uint64_t window_ns; /* length of one window */
	int windows;	    /* of each arm */
	uint64_t calls;	    /* in all counted windows together; 0: by time */
	bool progress_lines; /* "#core:count" after each counted window, on standard error */
	bool progress_bar;
};

/* What one core did, in one window or in all of an arm. */
struct core_count {
	uint64_t made, counted;
	uint64_t elapsed_ns; /* summed over windows; from first start to last end within one */
};

struct window {
	bool counted;		  /* the arm: was the counter attached? */
	struct core_count *cores; /* [plan.cores] */
	double per_second;	  /* all cores: calls made / (last end - first start) */
	double ns_per_call;	  /* time of a call on one core: sum of elapsed / sum of made */
};

struct result {
	struct window *windows; /* in the order measured */
	int n;
	struct tally *summary;	/* [NR_SLOTS] what the observer saw; NULL without one */
	uint64_t made_in_all;	/* also the warm-up's, the timed pass's and the one that proves that it works */
	int64_t lost;		/* made - counted: below 0 where too many were counted */
	struct counter_runs runs;
	struct noise noise;	/* during the run */
	bool moved;		/* a CPU went away */
	int signal;		/* that ended the run early, or 0 */
};

/* Runs the plan; counter may be NULL (nothing observes, one arm). The ending signals
 * (common/signals.h) must be blocked; one of them ends the run after the current window, whose calls are kept. Returns 0 or
 * -errno; free the result either way. */
int measure__run(const struct plan *plan, struct counter *counter, struct result *result);
void result__free(struct result *result);

/* Sums one core (or all, core -1) over the windows of an arm. */
struct core_count result__sum(const struct result *result, int cores, bool counted, int core);

enum measure { PER_SECOND, NS_PER_CALL };
/* The distribution of a measure over the windows of an arm, for one core or for all (core -1). */
struct stats result__stats(const struct result *result, bool counted, int core, enum measure measure);
/* The distribution of counted - uncounted ns a call, neighbouring windows paired. */
struct stats result__added(const struct result *result);

#endif
