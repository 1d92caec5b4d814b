/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts and times the calls of processes that are not ours. */
#ifndef TOLL_WATCHER_H
#define TOLL_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/watch.h"

struct watcher;

/* A back end. Their table is ended by a NULL name, the best first. */
struct watcher_kind {
	const char *name, *summary;
	bool by_number; /* keeps tasks by their number, not in themselves: no PID namespaces */
	const void *(*object)(size_t *size);
};
extern const struct watcher_kind watcher_kinds[];

/* Loads the back end of that name, or with NULL or "bpf" the first that works; nothing stays attached.
 * options->namespace and where fields are is filled in here. Returns 0, with
 * the reason in why where the best does not work; -ENOENT for an unknown name; or -errno with the reason. */
int watcher__open(struct watcher **watcher, const char *name, const struct watch_options *options, char *why,
		  size_t why_size);
const struct watcher_kind *watcher__kind(const struct watcher *watcher);
/* Are children seen at their birth, and switches of the scheduler? Not by every back end without tracefs;
 * then children are not watched, and the time of a call includes the time off the CPU. */
bool watcher__follows(const struct watcher *watcher);
bool watcher__sees_switches(const struct watcher *watcher);

/* Attaches; tasks are watched once they are marked. Returns 0 or -errno. */
int watcher__start(struct watcher *watcher);
/* Marks a process: it and all its threads are watched from here on, or with held from its next execve on.
 * Marking it again does no harm, and is wanted some time after: while it was marked the
 * first time, another of its threads may have become its leader by execve(2). Returns 0 or -errno (-ESRCH:
 * it has ended). */
int watcher__mark(struct watcher *watcher, int pidfd, pid_t pid, bool held);
/* Detaches. */
void watcher__stop(struct watcher *watcher);

/* Tasks that are watched and have not ended: those marked, their children, and their threads as far as
 * these were seen in a call. */
int64_t watcher__alive(const struct watcher *watcher);

/* Both kinds of calls: [0] 64-bit and [1] 32-bit ones, by number. */
typedef struct tally watcher_tallies[2][NR_SLOTS];

/* Sums up over CPUs since the start; the extremes alone are since the last reading. */
void watcher__read(struct watcher *watcher, watcher_tallies tallies);
/* The tallies of one CPU since the start, as of the last reading. */
void watcher__read_cpu(const struct watcher *watcher, int cpu, watcher_tallies tallies);
/* The possible CPUs are 0 to this - 1. */
int watcher__cpus(const struct watcher *watcher);

/* One kind of call of one task. */
struct part {
	struct part_key key;
	struct tally tally;
};
/* All parts, sorted by key, where options.parts was set; the caller frees them. Returns 0 or -errno. */
int watcher__parts(const struct watcher *watcher, struct part **parts, size_t *n);
/* Who the task of that serial is; its name is from /proc while it lives. Returns 0 or -errno. */
int watcher__who(const struct watcher *watcher, unsigned int serial, struct who *who);

/* What is not in the tallies. */
const struct extras *watcher__extras(const struct watcher *watcher);
/* Runs the kernel skipped: calls lost. */
uint64_t watcher__misses(const struct watcher *watcher);

/* NULL is taken. */
void watcher__close(struct watcher *watcher);

#endif
