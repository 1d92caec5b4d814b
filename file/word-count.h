/* SPDX-License-Identifier: BSD-2-Clause */
/* The most frequent words of a file. A word is a maximal run of bytes that are not white space. */
#ifndef TOLL_FILE_WORD_COUNT_H
#define TOLL_FILE_WORD_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_TOP 10

struct word {
	const char *text; /* not terminated; a NUL is a byte like others */
	size_t length;
	uint64_t count;
};

struct word_options {
	bool fold; /* ASCII capitals count as small letters */
	bool utf8; /* Unicode's spaces separate too, wherever their bytes stand; invalid UTF-8 is words */
	size_t chunk;	  /* bytes a thread takes at a time, rounded up to 64; 0: the default */
	const char *scan; /* a name of word-scan.h; NULL: the best of this machine */
};

struct words {
	uint64_t total;	      /* words */
	uint64_t distinct;    /* different ones */
	uint64_t bytes;	      /* of the file */
	uint64_t chunk_reads; /* calls of pread or read */
	uint64_t elapsed_ns;  /* the whole of words__count: threads started, counted, merged and ended */
	struct word top[WORDS_TOP]; /* by count, the highest first; then in byte order */
	int n_top;
	char *storage; /* of the texts, once words__keep has made them its own */
};

/* Counts the words of the open file fd, from its beginning, on n threads pinned to cpus[0..n-1]. A file
 * without positions (a pipe, a terminal) is read by one thread, from where it is. Returns 0 or -errno:
 * -ENOTSUP, this machine has not that scan; else what reading or starting threads failed with. On failure
 * *words is empty. */
int words__count(struct words *words, int fd, const struct word_options *options, const int *cpus, int n);

/* Takes what failed, too. */
void words__free(struct words *words);

/* For those who fill a struct words: takes one word into the top, if it belongs there; text is borrowed
 * until words__keep, which copies all. */
void words__offer(struct words *words, const char *text, size_t length, uint64_t count);
/* Returns 0 or -ENOMEM, and then the top is empty. */
int words__keep(struct words *words);

#endif
