/* SPDX-License-Identifier: BSD-2-Clause */
/* A crew: pinned threads that wait behind a gate and run one round at a time together. */
#ifndef TOLL_CREW_H
#define TOLL_CREW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What one thread knows and tells. Only its own thread writes it during a round, and it fills its
 * own 128 bytes (two cache lines: adjacent lines are prefetched in pairs). */
struct member {
	int cpu;	   /* where it is pinned */
	pid_t tid;
	uint64_t limit;	   /* in: calls to make this round; UINT64_MAX is "until stopped" */
	uint64_t made;	   /* out: calls made this round */
	uint64_t start_ns; /* out: clock_ns() around the loop */
	uint64_t end_ns;
	bool moved;	   /* out: it found itself on another CPU: its own went away */
} __attribute__((aligned(128)));

/* The work of a round: loops until member->limit or *stop, then sets made, start_ns and end_ns. */
typedef void (*crew_work)(struct member *member, const atomic_bool *stop, void *argument);

struct crew;

/* Starts n threads, thread i pinned to cpus[i] (repeats allowed) and verified to be there, signals
 * blocked. Returns 0 or -errno; on failure *crew is NULL. */
int crew__new(struct crew **crew, const int *cpus, int n);

/* The n members, for reading between rounds and for setting limit. */
struct member *crew__members(struct crew *crew);

/* Opens the gate: all run work(member, stop, argument). Returns at once. */
void crew__start(struct crew *crew, crew_work work, void *argument);
/* Has every member finished the round? */
bool crew__finished(struct crew *crew);
/* Tells the members to stop, and waits until all have. */
void crew__stop(struct crew *crew);

/* Ends the threads. NULL is taken. */
void crew__free(struct crew *crew);

#endif
