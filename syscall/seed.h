/* SPDX-License-Identifier: BSD-2-Clause */
/* The published figures of 2009, from results/seed/syscall-rate.json (compiled in). */
#ifndef TOLL_SEED_H
#define TOLL_SEED_H

struct seed {
	int cores;
	double written_up; /* calls a second as the write-up multiplies: 222.1 M x 8 / 60 s */
	double printed;	   /* calls a second as the counts it printed add up */
	double claimed;	   /* the headline: 30 M/s */
};

/* Returns 0, or -EINVAL for a file that is not what it should be. */
int seed__read(struct seed *seed);

#endif
