/* SPDX-License-Identifier: BSD-2-Clause */
/* What machine this is, and what may have spoiled a run on it. */
#ifndef TOLL_HOST_H
#define TOLL_HOST_H

#include <jansson.h>
#include <stdint.h>

/* The "host" object of schema toll/1; a fact that can't be read is null. NULL: out of memory.
 * The caller owns it. */
json_t *host__describe(void);

struct noise {
	uint64_t steal_ms;		/* time the hypervisor gave to others, all CPUs */
	uint64_t involuntary_switches;	/* of this process */
};

/* What has accumulated so far; subtract two readings. */
struct noise noise__read(void);

#endif
