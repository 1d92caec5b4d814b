/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of syscall-rate. */
#ifndef TOLL_OPTIONS_H
#define TOLL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "probes/watch.h"
#include "syscall/summary.h"

/* What has a table of its own. */
enum per { PER_NOTHING, PER_PROCESS, PER_THREAD, PER_CORE, PERS };

struct options {
	const char *cores, *call, *counter, *driver; /* as typed; NULL: not given */
	const char *json, *output;	    /* files; NULL: none */
	uint64_t duration_ns;
	uint64_t interval_ns;			/* 0: not given */
	uint64_t calls, threads, project;	/* 0: not given */
	bool smt, progress, list, host;
	/* Watching; mode is the hammer's where none of the first three is given. */
	const char *pids;     /* -p, as typed */
	char **command;	      /* ended by NULL */
	bool all, follow, wall;
	bool bounded;	      /* -d was given */
	const char *user;     /* who runs the command; NULL: the caller */
	enum timing timing;
	enum per per;
	const char *trace; /* the list of -e trace=; NULL: all calls */
	enum summary_column order, columns[COLUMNS + 1];
	bool cost;
};

/* What --timing and --per can name. */
extern const char *const timing_names[TIMINGS], *const per_names[PERS];

/* Parses; on bad usage says why and exits with EXIT_USAGE. Sets message_quiet under -q. */
void options__parse(struct options *options, int argc, char **argv);

#endif
