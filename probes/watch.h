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

/* A kind of call is slow if its mean on the CPU is above this. */
#define SLOW_NS 2000

/* Read-only data, set before loading. */
struct watch_options {
	unsigned int all;    /* every task of the machine ... */
	unsigned int except; /* ... but this process */
	unsigned int follow; /* children of what is watched, too */
	unsigned int timing; /* enum timing */
	unsigned int wall;   /* seconds are wall time, not time on the CPU */
	unsigned int parts;  /* a tally for each task, too */
	unsigned int namespace; /* process numbers are those of the PID namespace with this inode */
	/* Where the classic tracepoints of the scheduler have their fields (raw_tp only). */
	unsigned int fork_child, switch_from, switch_to;
};

/* task_state.nr of a task that is in no call, of one that user space marked wherever it was, and of one of
 * which nothing is counted before its first execve. */
#define NO_CALL (-1)
#define UNKNOWN_CALL (-2)
#define HELD (-3)

enum timed { UNTIMED, TIMED, SAMPLED };

/* Kept with each task. */
struct task_state {
	int watched;
	int nr;			   /* of the call it is in, or NO_CALL, UNKNOWN_CALL, HELD */
	unsigned int compat;	   /* that call is a 32-bit one */
	unsigned int timed;	   /* enum timed */
	unsigned long long since_ns, off_ns; /* entry; time off the CPU since then */
	unsigned long long out_ns; /* when it left the CPU; 0: it is there */
	unsigned long long random;
	unsigned int serial;	   /* number of the task among those watched, from 1; 0: none yet */
	unsigned int unused;
};

/* The value of the map "extras": what strace's table does not show. */
struct extras {
	unsigned long long never_returned[2][NR_SLOTS]; /* calls that ended with their task; 64 and 32 bit */
	unsigned long long restarted[2][NR_SLOTS];	/* interrupted, and made again by the kernel */
	unsigned long long in_flight_at_attach;		/* calls that returned, but began before */
	unsigned long long unplaced;			/* calls in no part: the map was full */
	long long started, ended; /* tasks watched but not marked by user space, and watched tasks that ended */
	unsigned int serials;	  /* given out */
	unsigned int unwatched;	  /* tasks that could not be watched: no room */
};

/* Key and value of the map "parts": one kind of call of one task. Its task alone writes it. */
struct part_key {
	unsigned int serial;
	unsigned int nr; /* plus NR_SLOTS for a 32-bit call */
};

/* Value of the map "who", by serial. */
struct who {
	unsigned int tid, tgid;
	unsigned long long process; /* the same for all tasks of a process, and no other */
	char name[16];		    /* at its end; empty: it lives */
};

#define MOST_PARTS (1u << 20)

#endif
