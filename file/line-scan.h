/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines out of blocks: slices of the block, and only a line that spans blocks is copied. A line ends before a
 * '\n' or, if there is anything after the last one, at the end. */
#ifndef TOLL_LINE_SCAN_H
#define TOLL_LINE_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Called for each line, without its newline; it is gone after the call. */
typedef void (*line_work)(void *argument, const char *line, size_t length);

struct line_scan {
	line_work work; /* NULL: lines are counted only */
	void *argument;
	uint64_t lines;
	char *carried; /* the start of a line that goes on in the next block */
	size_t n, room; /* of carried; without work n only tells that there is one */
};

/* The next block. Linear in n, however many blocks a line spans. Returns 0 or -ENOMEM. */
int line_scan__block(struct line_scan *scan, const void *data, size_t n);
/* The file has ended: a line without a newline counts. Frees. */
void line_scan__end(struct line_scan *scan);

/* How many '\n' are in it. */
uint64_t line_scan__count(const void *data, size_t n);

#endif
