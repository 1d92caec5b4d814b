/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts and times the calls of processes that are not ours. */
#ifndef TOLL_WATCHER_H
#define TOLL_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probes/watch.h"

struct watcher;

/* Loads; nothing is attached yet. Returns 0, or -errno with the reason in why. */
int watcher__open(struct watcher **watcher, const struct watch_options *options, char *why,
		  size_t why_size);
/* Attaches; tasks are watched once they are marked. Returns 0 or -errno. */
int watcher__start(struct watcher *watcher);
/* Marks a process: it and all its threads are watched from here on; in_call: it is in a call that is
 * not to be counted. Returns 0 or -errno (-ESRCH: it has ended). */
int watcher__mark(struct watcher *watcher, int pidfd, bool in_call);
/* Detaches. */
void watcher__stop(struct watcher *watcher);

/* Tasks that are watched and have not ended: those marked, their children, and their threads as far as
 * these were seen in a call. */
int64_t watcher__alive(const struct watcher *watcher);
/* Sums up over CPUs, by call number: 64-bit calls, or 32-bit ones with compat. */
void watcher__read(const struct watcher *watcher, int compat, struct tally by_nr[NR_SLOTS]);
/* Calls that ended with their task, by number. */
const struct never_returned *watcher__never_returned(const struct watcher *watcher);
/* Runs the kernel skipped: calls lost. */
uint64_t watcher__misses(const struct watcher *watcher);

/* NULL is taken. */
void watcher__close(struct watcher *watcher);

#endif
