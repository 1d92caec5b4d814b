/* SPDX-License-Identifier: BSD-2-Clause */
/* A sender and a receiver, and what comes of it. */
#ifndef TOLL_PAIR_H
#define TOLL_PAIR_H

#include <jansson.h>

#include "message/channel.h"

struct watcher;

struct pair_job {
	const struct channel_kind *kind;
	size_t size;	/* bytes a message */
	uint64_t n;	/* messages, or round trips */
	bool look;	/* the receiver adds up all bytes */
	int cpus[2];	/* the sender's, and the receiver's */
	struct watcher *watcher; /* counts the system calls of all; NULL: nobody does */
};

struct pair_result {
	double seconds; /* from before the first is sent to after the last is received */
	uint64_t sent, received, wrong;
	json_t *syscalls; /* with a watcher: all there were, by name; the caller's */
};

/* Sends n messages one way. The receiver is a thread or, if the kind wants, a process. Returns 0; -EILSEQ: not each
 * came once, in order, as it was; -EPIPE or -ECONNRESET: the receiver died; or -errno. result tells how far it came
 * either way. */
int pair__stream(const struct pair_job *job, struct pair_result *result);

/* Sends n messages there and each back. ns: [n], the time of each. Returns as above. */
int pair__ping(const struct pair_job *job, uint64_t *ns, struct pair_result *result);

/* `pairs` of them at once, each in a process of its own, on the two CPUs and these exchanged in turn; sums up, and
 * takes the time from the first start to the last end. job->watcher is not used. Returns as above. */
int pairs__stream(const struct pair_job *job, int pairs, struct pair_result *result);

#endif
