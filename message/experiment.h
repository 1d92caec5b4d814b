/* SPDX-License-Identifier: BSD-2-Clause */
/* The two experiments of message-rate. */
#ifndef TOLL_MESSAGE_EXPERIMENT_H
#define TOLL_MESSAGE_EXPERIMENT_H

#include <jansson.h>
#include <stdio.h>

#include "common/noise.h"
#include "message/options.h"

struct run {
	const struct message_options *options;
	int *cpus, n_cpus;
	bool progress;
	struct noise noise;
	int signal; /* that ended it early, or 0 */
	void *own;  /* the experiment's */
};

struct message_experiment {
	const char *name, *summary;
	/* Exits unless every one of --modes is known. Nothing is measured yet. */
	void (*check)(const struct message_options *options);
	/* Measures; ending signals are blocked, and end it early. Says what failed. Returns the exit status. */
	int (*measure)(struct run *run);
	/* The table. Returns 0 or -errno. */
	int (*print)(const struct run *run, FILE *stream);
	/* Adds rows and what else it has to the record. */
	void (*tell)(const struct run *run, json_t *record);
	void (*end)(struct run *run);
	void (*list)(void);
};

extern const struct message_experiment send_experiment, broadcast_experiment;

/* Of results/seed/message-rate.json, what is the experiment's; the caller owns it. */
json_t *message_seed(const char *experiment);

#endif
