/* SPDX-License-Identifier: BSD-2-Clause */
/* Durations and counts as people type and read them. */
#ifndef TOLL_UNITS_H
#define TOLL_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Parses "10", "10s", "500ms", "20us", "5ns", "2m", "1h" (a bare number is seconds) into *ns.
 * Returns 0, -EINVAL for text that is no duration, -ERANGE for one that is not above 0 or is
 * over 365 days. */
int units__parse_duration(const char *text, uint64_t *ns);

/* Parses a whole number of at least 1 with an optional K, M or G (1024-based) into *count.
 * Returns 0, -EINVAL or -ERANGE. */
int units__parse_count(const char *text, uint64_t *count);

/* Writes a rate a person reads, "10.42 M/s", into buffer; returns buffer. */
char *units__print_rate(char *buffer, size_t size, double per_second);

/* Writes a size as options take it, "4K", "1M", "100", into buffer; returns buffer. */
char *units__print_size(char *buffer, size_t size, uint64_t bytes);

#endif
