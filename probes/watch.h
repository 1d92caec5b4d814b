/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the watching BPF programs and their user-space side agree on. */
#ifndef TOLL_WATCH_H
#define TOLL_WATCH_H

#include "probes/target.h"

enum timing {
	TIMING_AUTO, /* every call of a kind that is slow, one in SAMPLE_EVERY of one that is fast */
	TIMING_ALL,
	TIMING_NONE,
	TIMINGS
};

/* A kind of call is slow if its mean is above this. */
#define SLOW_NS 2000

/* Read-only data, set before loading. */
struct watch_options {
	unsigned int all;    /* every task of the machine ... */
	unsigned int except; /* ... but this process */
	unsigned int follow; /* children of what is watched, too */
	unsigned int timing; /* enum timing */
	unsigned int wall;   /* seconds are wall time, not time on the CPU */
};

/* Kept with each task, in its local storage. */
struct task_state {
	int watched;
	int nr;			   /* of the call it is in; -1: none, or one it was in when found */
	unsigned int compat;	   /* that call is a 32-bit one */
	unsigned int weight;	   /* calls that its time stands for; 0: it is not timed */
	unsigned long long since_ns, off_ns; /* entry; time off the CPU since then */
	unsigned long long out_ns; /* when it left the CPU; 0: it is there */
	unsigned long long tick;
};

/* The value of the map "never_returned". */
struct never_returned {
	unsigned long long by_nr[NR_SLOTS];
	long long started, ended; /* tasks watched but not marked by user space, and watched tasks that ended */
};

#endif
