/* SPDX-License-Identifier: BSD-2-Clause */
/* What may have spoiled a run. */
#ifndef TOLL_NOISE_H
#define TOLL_NOISE_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

/* What has accumulated so far. */
struct noise_reading {
	uint64_t at_ns;
	uint64_t steal_ms;	       /* time the hypervisor gave to others, all CPUs */
	uint64_t busy_ms;	       /* all CPUs, everything that runs */
	uint64_t own_ms;	       /* this process and the children it waited for */
	uint64_t involuntary_switches; /* likewise */
	int64_t migrations;	       /* its threads but the first; -1: the kernel doesn't tell */
};

/* During a run, and what held all the while. Unknown is -1. */
struct noise {
	uint64_t elapsed_ms;
	uint64_t steal_ms, other_load_ms, involuntary_switches;
	int64_t migrations;
	int other_probes; /* BPF programs of others on the same tracepoints; the caller's to fill in */
	int audit;	  /* 1: the kernel audits system calls */
	int seccomp;	  /* 1 strict, 2 filter: each call of this process passes it */
	char governor[32]; /* of CPU 0; "" where there is none */
};

struct noise_reading noise__read(void);
/* From two readings; the state of audit, seccomp and governor is read now. */
struct noise noise__between(const struct noise_reading *before, const struct noise_reading *after);

/* The line that says it all, then a warning for each figure that can have spoiled the run:
 * more than 1 % stolen, others busy for more than 10 % of one CPU, and so on. */
void noise__print(const struct noise *noise, FILE *stream);
/* The "noise" object of schema toll/1; unknown is null. The caller owns it. */
json_t *noise__json(const struct noise *noise);

#endif
