/* SPDX-License-Identifier: BSD-2-Clause */
/* Where words start and end: 64 bytes at a time, by what vectors the machine has. */
#ifndef TOLL_FILE_WORD_SCAN_H
#define TOLL_FILE_WORD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCAN_BLOCK 64 /* bytes: a bit of a uint64_t each */
/* Blocks scanned before their words are counted: keeps the lists and the text between in the L1 cache. */
#define SCAN_BLOCKS 16
/* Words that may start or end in them, with one begun before; room behind the last for a whole SPREAD. */
#define SCAN_WORDS (SCAN_BLOCKS * SCAN_BLOCK / 2 + 1)
#define SCAN_ROOM (SCAN_WORDS + 32)

struct scan_state {
	bool fold, utf8;
	bool skip;	/* the word that runs into the next block is not to be listed */
	uint64_t white; /* 1: the byte before the next block is white space */
	uint64_t over;	/* bytes of the next block that end a space begun before, a bit each */
	size_t n_starts, n_ends;
	/* Offsets from base: of the i-th word's first byte and of the byte behind its last. */
	uint32_t starts[SCAN_ROOM], ends[SCAN_ROOM];
};

struct scan {
	const char *name;
	bool (*works)(void); /* on this machine? */
	/* Sets white and over by the block at text, the one before the first to be cut. */
	void (*begin)(struct scan_state *state, const unsigned char *text);
	/* Appends the starts and ends in `blocks` blocks at base + from, at most SCAN_BLOCKS and below
	 * 4 GiB from base, and folds them in place. Two bytes behind the last must be readable and
	 * right: a space may begin in the last block. */
	void (*cut)(struct scan_state *state, unsigned char *base, size_t from, size_t blocks);
};

/* All that were compiled in, the best first; NULL ends the list. */
extern const struct scan *const scans[];

/* By name, or with NULL the best. Returns NULL if this machine can't. */
const struct scan *scan__find(const char *name);

#endif
