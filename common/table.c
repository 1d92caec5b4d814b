/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/table.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct table {
	const struct column *columns;
	size_t n;
	char **cells; /* row after row; NULL: part of a rule */
	size_t used, room;
	bool lost;
};

static const char dashes[] = "----------------------------------------------------------------";

struct table *table__new(const struct column *columns, size_t n)
{
	struct table *table = calloc(1, sizeof(*table));

	if (table) /* the caller's array has at least one column */
		*table = (struct table){.columns = columns, .n = n};
	return table;
}

/* Takes over text. */
static void append(struct table *table, char *text)
{
	if (table->used == table->room) {
		size_t room = table->room ? 2 * table->room : 64;
		char **cells = realloc(table->cells, room * sizeof(*cells));

		if (!cells) {
			table->lost = true;
			free(text);
			return;
		}
		table->cells = cells;
		table->room = room;
	}
	table->cells[table->used++] = text;
}

void table__cell(struct table *table, const char *format, ...)
{
	va_list args;
	char *text;

	if (!table)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		table->lost = true;
		text = NULL;
	}
	va_end(args);
	append(table, text);
}

void table__number(struct table *table, const char *format, double known)
{
	char text[48];

	snprintf(text, sizeof(text), format, known);
	table__cell(table, "%s", isnan(known) ? "-" : text);
}

void table__rule(struct table *table)
{
	for (size_t i = 0; table && i < table->n; i++)
		append(table, NULL);
}

static size_t width_of(const struct table *table, size_t column)
{
	size_t width = table->columns[column].width, length = strlen(table->columns[column].title);

	width = length > width ? length : width;
	for (size_t i = column; i < table->used; i += table->n)
		if (table->cells[i] && (length = strlen(table->cells[i])) > width)
			width = length;
	return width;
}

static void print_cell(const struct table *table, FILE *stream, size_t column, const char *text)
{
	int width = (int)width_of(table, column);
	bool last = column + 1 == table->n;

	if (!text)
		fprintf(stream, "%.*s", width, dashes);
	else if (table->columns[column].left)
		fprintf(stream, "%-*s", last ? 0 : width, text);
	else
		fprintf(stream, "%*s", width, text);
	fputc(last ? '\n' : ' ', stream);
}

int table__print(const struct table *table, FILE *stream, const char *indent)
{
	if (!table || table->lost)
		return -ENOMEM;
	fputs(indent, stream);
	for (size_t i = 0; i < table->n; i++)
		print_cell(table, stream, i, table->columns[i].title);
	for (size_t row = 0; row + table->n <= table->used; row += table->n) {
		fputs(indent, stream);
		for (size_t i = 0; i < table->n; i++)
			print_cell(table, stream, i, table->cells[row + i]);
	}
	return 0;
}

void table__free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->used; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}
