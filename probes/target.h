/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What the BPF programs and their user-space side agree on. */
#ifndef TOLL_TARGET_H
#define TOLL_TARGET_H

/* Call numbers from 0 to NR_OTHER - 1 are counted each; all others together at NR_OTHER.
 * Linux 6.18 ends at 470. */
#define NR_SLOTS 512
#define NR_OTHER (NR_SLOTS - 1)

/* The program's read-only data, set before it is loaded. */
struct target {
	unsigned int tgid;    /* the process to count */
	unsigned int except;  /* its thread that is not counted: the one that measures */
	unsigned int sampled; /* timed pass: the call of which one in SAMPLE_EVERY is timed */
};

#define SAMPLE_EVERY 16 /* a power of two */

/* One call's tally on one CPU. The CPU alone writes it. */
struct tally {
	unsigned long long calls;
	unsigned long long errors;	/* returned -4095 to -1 */
	unsigned long long timed;	/* calls with both clock readings, each one of its kind at that time */
	unsigned long long time_ns;	/* between them, without the time off the CPU */
	/* Watching alone: */
	unsigned long long entered;	/* calls that began */
	unsigned long long sampled;	/* calls timed as one in SAMPLE_EVERY, at random; not in timed */
	unsigned long long sampled_ns;
	unsigned long long squares;	/* of their times, in 256 ns^2 */
	unsigned long long off_ns;	/* time off the CPU, of all calls */
	unsigned long long min_ns;	/* the shortest and longest that were timed, since user space put 0 */
	unsigned long long max_ns;	/* here; 0: none */
};

/* The value of the map "counts", one per possible CPU. */
struct cpu_tally {
	struct tally by_nr[NR_SLOTS];
};

#endif
