/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command lines of all programs have: numbers, durations, and lists of names with commas. */
#ifndef TOLL_ARGUMENTS_H
#define TOLL_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole number from 1 to most, with an optional K, M or G, that text is; else says so and exits with
 * EXIT_USAGE. */
uint64_t arguments__whole(const char *option, const char *text, uint64_t most);

/* The duration that text is, in nanoseconds; else likewise. */
uint64_t arguments__duration(const char *option, const char *text);

/* The next name of the list, from *list, into name (cut to size); *list moves on behind it. False: there is none. */
bool names__next(const char **list, char *name, size_t size);

/* Is name in the list? Always, if that is NULL. */
bool names__have(const char *list, const char *name);

#endif
