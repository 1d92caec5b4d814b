/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct op_info op_infos[OPS] = {
#define OP(name, operands, effect) {#name, operands, effect},
#include "fib/ops.def"
#undef OP
};

static value bif_getuid(value argument)
{
	(void)argument;
	return value__integer(getuid());
}

static value bif_getppid(value argument)
{
	(void)argument;
	return value__integer(getppid());
}

static value bif_is_integer(value argument)
{
	return value__integer(value__is_integer(argument));
}

const struct bif bifs[] = {
	{"getuid", 0, bif_getuid},
	{"getppid", 0, bif_getppid},
	{"is_integer", 1, bif_is_integer},
	{0},
};

int program__read(struct program *program, const char *path, char *why, size_t why_size)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *text = malloc(MOST_TEXT + 1); /* one more tells a longer file */
	size_t size;
	int err = 0;

	*program = (struct program){0};
	if (!file || !text) {
		err = file ? -ENOMEM : -errno;
		snprintf(why, why_size, "%s", strerror(-err));
	} else {
		size = fread(text, 1, MOST_TEXT + 1, file);
		if (ferror(file)) {
			err = errno ? -errno : -EIO;
			snprintf(why, why_size, "%s", strerror(-err));
		} else {
			err = program__assemble(program, text, size, why, why_size);
		}
	}
	if (file && file != stdin)
		fclose(file);
	free(text);
	return err;
}

int program__instrument(struct program *program, int function)
{
	int at = program->functions[function].start;
	struct instruction *more =
		realloc(program->instructions, ((size_t)program->n_instructions + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	program->instructions = more;
	memmove(more + at + 1, more + at, (size_t)(program->n_instructions - at) * sizeof(*more));
	more[at] = (struct instruction){.op = OP_count, .line = program->functions[function].line};
	program->n_instructions++;
	for (int i = 0; i < program->n_functions; i++) {
		program->functions[i].start += program->functions[i].start > at;
		program->functions[i].end += program->functions[i].end > at;
	}
	for (int i = 0; i < program->n_instructions; i++)
		for (int k = 0; k < MOST_OPERANDS; k++)
			if (more[i].operands[k].kind == 'l')
				more[i].operands[k].number += more[i].operands[k].number >= at;
	for (int i = 0; i < program->n_clauses; i++)
		program->clauses[i].target += program->clauses[i].target >= at;
	return 0;
}

void program__free(struct program *program)
{
	free(program->functions);
	free(program->instructions);
	free(program->clauses);
	free(program->atoms);
	*program = (struct program){0};
}
