/* SPDX-License-Identifier: BSD-2-Clause */
/* A text to count words in: 200,000 made-up words with a Zipf distribution, from a fixed seed. */
#ifndef TOLL_FILE_TEXT_H
#define TOLL_FILE_TEXT_H

#include <stdint.h>

#include "file/word-count.h"

#define TEXT_WORDS 200000

/* Writes `size` bytes to fd: lines of 60 to 80 characters (the last may be shorter and is filled with
 * spaces), the last byte a newline. The word of rank r is drawn with probability proportional to 1/r. The
 * same on every machine: all is integer arithmetic. progress (may be NULL) is called now and then with the
 * bytes written; if it returns nonzero, that is the end (-EINTR). truth (may be NULL) receives total,
 * distinct, bytes and top as drawn; the caller frees it. Returns 0 or -errno. */
int text__write(int fd, uint64_t size, struct words *truth, int (*progress)(uint64_t done, void *argument),
		void *argument);

#endif
