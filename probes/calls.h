/* SPDX-License-Identifier: BSD-2-Clause */
/* The system calls of this program and the processes it starts, by the counter of syscall-rate -p. */
#ifndef TOLL_PROBES_CALLS_H
#define TOLL_PROBES_CALLS_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct watcher;

/* Watches this process, its threads, and processes started from now on. NULL, and a notice why, where that
 * can't be; the other functions take it. */
struct watcher *calls__open(void);
/* From here ... */
void calls__start(struct watcher *watcher);
/* ... to here, by name: {"read": 1000}; calls that had not returned are not in it. The caller owns it. */
json_t *calls__stop(struct watcher *watcher);
/* Makes them calls for each of n. */
void calls__divide(json_t *calls, uint64_t n);
/* Writes a row: its label, " read 1.000 write 0.500" of those that are not all but never made, and a newline. Before the
 * first, *heading and a newline, too, and makes it NULL. Nothing where calls is NULL. */
void calls__print(json_t *calls, const char **heading, FILE *stream, const char *label, ...)
	__attribute__((format(printf, 4, 5)));
void calls__close(struct watcher *watcher);

#endif
