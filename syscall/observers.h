/* SPDX-License-Identifier: BSD-2-Clause */
/* What can observe a hammered core, for --cost: our counters and watchers, seccomp filters, other people's
 * tools. A new tool is a line in the table of observer-tools.c, one of ours in that of observers.c; counters
 * (probes/counter.h) come by themselves. */
#ifndef TOLL_OBSERVERS_H
#define TOLL_OBSERVERS_H

#include <stdint.h>

#include "probes/counter.h"
#include "probes/watcher.h"
#include "syscall/calls.h"

/* Where it is measured, the same for all. */
struct subject {
	const struct call *call;
	int cpu;
	struct hammer hammer;
	char folder[32]; /* private, for what tools write; "": none */
};

struct sample {
	double ns_per_call;
	bool counts;	/* it is an observer that counts */
	int64_t lost;	/* made - counted, if so */
};

struct observer {
	char name[40];
	/* Readies it for several measurements; nothing is attached yet. Returns 0, or -errno with a one-line
	 * reason in why. NULL: nothing to do. */
	int (*open)(struct observer *observer, const struct subject *subject, char *why, size_t why_size);
	/* Makes that many calls under it. Returns 0, or -errno with the reason in why (-EINTR: an ending signal,
	 * blocked, is pending). */
	int (*measure)(struct observer *observer, const struct subject *subject, uint64_t count,
		       struct sample *sample, char *why, size_t why_size);
	double ns; /* a call, roughly, for choosing how many */
	/* Whichever of these it uses: */
	const struct counter_kind *kind;
	enum counter_mode mode;
	struct counter *counter;
	enum timing timing;
	struct watcher *watcher;
	pid_t watched; /* of the bystander: the process that is */
	bool argument; /* the filter looks at one */
	const struct tool *tool;
};

/* The first is bare: nothing observes. */
#define MOST_OBSERVERS 32
/* Lists all into observers; returns how many. Nothing is opened. */
int observers__list(struct observer *observers);
/* Takes one that is not open. */
void observer__close(struct observer *observer);

/* The part of observer-tools.c: appends its observers at n and returns how many there are then. */
int observers__list_tools(struct observer *observers, int n);

#endif
