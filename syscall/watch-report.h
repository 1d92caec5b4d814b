/* SPDX-License-Identifier: BSD-2-Clause */
/* The two forms of what was watched: tables a person reads, and JSON. */
#ifndef TOLL_WATCH_REPORT_H
#define TOLL_WATCH_REPORT_H

#include "common/noise.h"
#include "common/output.h"
#include "probes/watcher.h"
#include "syscall/options.h"

struct watch_report {
	const struct options *options;
	struct watcher *watcher;
	struct output table, json;
	const char *mode; /* "pid", "command" or "all" */
	char **argv;
	char started[32];     /* RFC 3339 */
	uint64_t since_ns;    /* when the watching began, by clock_ns() */
	/* Of the reading before: */
	watcher_tallies *before, *total; /* sums; the same with the extremes of all */
	uint64_t before_ns;
	json_t *intervals;    /* NULL: none yet */
};

/* Starts an empty report, its outputs closed. Returns 0 or -ENOMEM. */
int watch_report__new(struct watch_report *report, const struct options *options, char **argv);
/* Ends an interval now, and prints and keeps what it had. Returns 0, or -errno where the table can't be
 * written. */
int watch_report__interval(struct watch_report *report);
/* The rest: the last interval if there were any, the total, the parts, and the JSON. Call it with the
 * programs detached. Returns the exit status; says what failed. */
int watch_report__end(struct watch_report *report, const struct noise *noise);
/* Takes a half-open one. */
void watch_report__free(struct watch_report *report);

#endif
