/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables a person reads: columns as wide as their widest cell. */
#ifndef TOLL_TABLE_H
#define TOLL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct column {
	const char *title;
	size_t width; /* at least; longer cells widen the column */
	bool left;    /* aligned; else right */
};

struct table;

/* A table of n columns; the array is borrowed until table__free. NULL: out of memory. */
struct table *table__new(const struct column *columns, size_t n);
/* Appends the next cell, from left to right and then down. */
void table__cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The next cell: a number, by a format for one double; "-" for one that is not known (NaN). */
void table__number(struct table *table, const char *format, double known);
/* Appends a row of dashes; the row before must be complete. */
void table__rule(struct table *table);
/* Titles and rows, columns one space apart, no blanks after a last column that is
 * aligned left, each line after indent. Returns 0 or -ENOMEM if a cell was lost. Takes NULL (-ENOMEM). */
int table__print(const struct table *table, FILE *stream, const char *indent);
/* NULL is taken. */
void table__free(struct table *table);

#endif
