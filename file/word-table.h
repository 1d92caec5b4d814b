/* SPDX-License-Identifier: BSD-2-Clause */
/* Words and how often each was seen: one thread's table, open addressing with linear probing. */
#ifndef TOLL_FILE_WORD_TABLE_H
#define TOLL_FILE_WORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "file/word-count.h"

#define WORD_SHORT 15	 /* bytes of the longest word that is its own key */
#define WORD_READABLE 16 /* bytes that must be readable from a short word's first on */

/* Half a cache line. The key's byte 15 tells what it is: 0, the slot is empty; 1 to 15, the key is a word
 * of that length, filled with zeros; 255, `low` is a longer word's hash, bytes 8 to 14 its length. */
struct word_slot {
	uint64_t low, high;
	uint64_t count;
	const unsigned char *text; /* of a longer word; else NULL */
};

struct word_table {
	struct word_slot *slots;
	size_t n_slots; /* a power of two */
	size_t used;	/* slots; at most three quarters */
	uint64_t total; /* words counted */
	void *mapping;	/* slots are in here, aligned to a huge page */
	size_t mapped;
	struct word_arena *arena; /* texts of longer words */
};

/* Asks for huge pages in what was allocated, if it is large: the first touch of a small page can cost more than
 * all that is done with its bytes. */
void huge_pages__ask(void *memory, size_t size);

/* Returns 0 or -ENOMEM. */
int word_table__new(struct word_table *table);

/* Counts n words, at most SCAN_WORDS: word i is from base + starts[i] to before base + ends[i], none is
 * empty. Returns 0 or -ENOMEM. */
int word_table__add(struct word_table *table, const unsigned char *base, const uint32_t *starts,
		    const uint32_t *ends, size_t n);
/* One word, of any length above 0. */
int word_table__add_one(struct word_table *table, const unsigned char *text, size_t length);

/* Adds what `from` has counted; borrows its texts. Returns 0 or -ENOMEM. */
int word_table__merge(struct word_table *table, const struct word_table *from);

/* Sets total, distinct and the top; its texts are borrowed from the table. */
void word_table__report(const struct word_table *table, struct words *words);

/* Takes an empty one ({0}), too. */
void word_table__free(struct word_table *table);

#endif
