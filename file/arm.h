/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of an experiment, measured in turn: each once a round. */
#ifndef TOLL_ARM_H
#define TOLL_ARM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/noise.h"
#include "common/stats.h"
#include "file/layer.h"
#include "file/options.h"

struct watcher;

/* What one sample of an arm took. */
struct sample {
	double seconds;
	uint64_t bytes, calls; /* calls of the layer */
	uint64_t faults;       /* page faults of this process */
	uint64_t items;	       /* lines or words that were in it; 0: it has none */
	double sync_seconds;   /* of an fsync(2) after; NaN: there was none */
};

enum purpose {
	FOR_SIZE,  /* how much fits the time */
	FOR_TRUTH, /* what was read or written is verified; its time counts for nothing */
	FOR_CALLS, /* system calls are counted */
	FOR_TIME,
};

/* Goes around what is measured. */
struct meter {
	enum purpose purpose;
	uint64_t limit;		 /* bytes, at most */
	struct watcher *watcher; /* FOR_CALLS */
	json_t *syscalls;	 /* told by meter__stop FOR_CALLS; the arm's */
	uint64_t started_ns;
	uint64_t faults;
	struct sample sample;
};

void meter__start(struct meter *meter);
/* Takes the time and what else there is between. */
void meter__stop(struct meter *meter);

enum arm_status { ARM_OK, ARM_UNAVAILABLE, ARM_FAILED };

struct arm {
	char mode[24];
	const char *kind; /* of work, where an experiment has several; else "" */
	size_t block;	  /* bytes a call; 0: the row has none */
	const struct layer *layer; /* NULL: another's program */
	int readers;		   /* at once */
	/* Does it once, at most meter->limit bytes, and sets meter->sample. Returns 0; -EILSEQ: what it did was
	 * wrong; -ENOTSUP: it can't be had here; -EINTR; or -errno. The reason goes to why. */
	int (*run)(struct arm *arm, struct meter *meter);
	void *context; /* the experiment's */
	bool touched;  /* all bytes are looked at while the clock runs */
	uint64_t limit; /* bytes a sample */
	uint64_t verified; /* bytes that are verified, at most; 0: as many as a sample has */
	bool fixed;	/* limit is not to be adapted to the time */

	enum arm_status status;
	char why[192];	/* ... it is not ARM_OK */
	char note[96];	/* what else there is to say */
	struct sample *samples; /* [rounds] */
	int n;
	json_t *syscalls; /* a call of the layer, by name; or NULL */
};

/* A row's arm, zeroed, added to the list. */
struct arms {
	struct arm *arms;
	int n, room;
	bool lost; /* out of memory: some are missing */
	struct noise noise;
	int signal; /* that ended the run early, or 0 */
};
/* Never NULL: one that is lost is not in the list. */
struct arm *arms__add(struct arms *arms);

struct arms_plan {
	int rounds;
	uint64_t duration_ns; /* a sample */
	uint64_t size;	      /* of the file, to which limits grow; UINT64_MAX: unknown */
	bool once;	      /* the file can be read once: no trying, verifying or counting before */
	bool calls, progress;
};

/* Finds each arm's limit, verifies it once, counts its system calls if asked, and takes the samples. Ending
 * signals must be blocked; they end it early. Returns 0 or -errno; what was measured is in the arms either
 * way. */
int arms__run(struct arms *arms, const struct arms_plan *plan);
/* For EXIT_FAILED: says which arms failed. Returns the exit status. */
int arms__status(const struct arms *arms);
void arms__free(struct arms *arms);

/* Over the samples: of seconds, of ns a call, or of bytes a second. */
struct stats arm__seconds(const struct arm *arm);
struct stats arm__ns_per_call(const struct arm *arm);
double arm__bytes_per_second(const struct arm *arm);

#endif
