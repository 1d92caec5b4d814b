/* SPDX-License-Identifier: BSD-2-Clause */
/* An experiment of file-rate: what it measures, and what it makes of that. */
#ifndef TOLL_EXPERIMENT_H
#define TOLL_EXPERIMENT_H

#include <jansson.h>
#include <stdio.h>

#include "file/arm.h"
#include "file/options.h"
#include "file/workfile.h"

struct words;

/* One run of one. */
struct setting {
	const struct file_options *options; /* with the experiment's defaults filled in */
	int *cpus, n_cpus;		    /* chosen; the whole program runs on these */
	struct workfile work;		    /* closed at first */
	struct arms arms;
	void *own; /* the experiment's */
};

struct experiment {
	const char *name, *summary;
	uint64_t size; /* of the file that is made */
	int rounds;
	uint64_t duration_ns;
	size_t blocks[MOST_BLOCKS]; /* ended by 0 */
	/* Opens or makes the file, and adds the arms. Exits on bad usage. Returns 0, -EINTR, or -errno with the
	 * reason in why. */
	int (*prepare)(struct setting *setting, char *why, size_t why_size);
	/* Table and conclusions. Returns 0 or -errno. */
	int (*print)(const struct setting *setting, FILE *stream);
	/* Adds what is its own to the record. */
	void (*tell)(const struct setting *setting, json_t *record);
	/* Frees own. */
	void (*end)(struct setting *setting);
	/* What --modes takes: says it. */
	void (*list)(void);
};

extern const struct experiment read_experiment, rw_experiment, lines_experiment, words_experiment;

/* Exits unless every name in --modes is that of an arm. */
void setting__check_modes(const struct setting *setting);
/* Opens --file, or makes a file of options->size bytes without filling it. Returns 0, or -errno with the reason in
 * why. */
int setting__open(struct setting *setting, char *why, size_t why_size);
/* setting__open; a file that was made gets a text, of which truth (NULL: nobody asks) is told as its maker counted
 * it. Returns 0, -EINTR, or -errno with the reason in why. */
int setting__open_text(struct setting *setting, struct words *truth, char *why, size_t why_size);

/* The published figures, as JSON; the caller owns it. */
json_t *file_seed(void);

#endif
