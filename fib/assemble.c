/* SPDX-License-Identifier: BSD-2-Clause */
/* Text to program. A line is one of
 *   module NAME | function NAME/ARITY | LABEL: | OPCODE OPERAND, ... | nothing
 * and a comment from ";" on. Labels belong to their function. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fib/program.h"

/* A label defined, or a label or function referred to. */
struct name {
	char module[NAME_SIZE], name[NAME_SIZE];
	int arity; /* of a function; 0 for a label */
	int where; /* defined: the instruction or function; referred to: the instruction */
	int slot;  /* referred to: the operand, or MOST_OPERANDS + the clause */
	int line;
};

struct names {
	struct name *all;
	int n;
};

struct assembler {
	struct program *program;
	const char *at, *end; /* the rest of the line */
	int line;
	char module[NAME_SIZE];
	struct names labels, jumps; /* of the function so far */
	struct names functions, calls;
	char *why;
	size_t why_size;
};

static int wrong(struct assembler *a, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int wrong(struct assembler *a, int line, const char *format, ...)
{
	int n = snprintf(a->why, a->why_size, "line %d: ", line);
	va_list args;

	va_start(args, format);
	if (n >= 0 && (size_t)n < a->why_size)
		vsnprintf(a->why + n, a->why_size - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

/* The array with room for one more element after n, or NULL; sizes double. */
static void *grown(void *array, int n, size_t size)
{
	if (n & (n - 1)) /* full only at powers of two, and at 0 */
		return array;
	return realloc(array, (n ? 2 * (size_t)n : 1) * size);
}

/* 0 or -ENOMEM; the array is as it was then. */
#define GROW(array, n)                                                                             \
	({                                                                                         \
		void *more_ = grown((array), (n), sizeof(*(array)));                               \
		if (more_)                                                                         \
			(array) = more_;                                                           \
		more_ ? 0 : -ENOMEM;                                                               \
	})

static int names__add(struct names *names, struct name name)
{
	if (GROW(names->all, names->n))
		return -ENOMEM;
	names->all[names->n++] = name;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int order = strcmp(x->module, y->module);

	order = order ? order : strcmp(x->name, y->name);
	return order ? order : x->arity - y->arity;
}

/* Sorts the definitions; a name defined twice is an error. */
static int names__settle(struct assembler *a, struct names *names, const char *what)
{
	if (names->n)
		qsort(names->all, (size_t)names->n, sizeof(*names->all), by_name);
	for (int i = 1; i < names->n; i++) {
		const struct name *x = &names->all[i - 1], *y = &names->all[i];

		if (!by_name(x, y))
			return wrong(a, x->line > y->line ? x->line : y->line,
				     "%s '%s' is defined twice", what, y->name);
	}
	return 0;
}

static const struct name *names__find(const struct names *names, const struct name *name)
{
	return names->n ? bsearch(name, names->all, (size_t)names->n, sizeof(*name), by_name) : NULL;
}

static void skip_blanks(struct assembler *a)
{
	while (a->at < a->end && (*a->at == ' ' || *a->at == '\t'))
		a->at++;
}

static bool take(struct assembler *a, char c)
{
	skip_blanks(a);
	if (a->at == a->end || *a->at != c)
		return false;
	a->at++;
	return true;
}

/* A name starts with a letter or "_" and goes on with letters, digits and "_". */
static int take_name(struct assembler *a, char name[NAME_SIZE])
{
	size_t n = 0;

	skip_blanks(a);
	while (a->at < a->end && (isalpha((unsigned char)*a->at) || *a->at == '_' ||
				  (n && isdigit((unsigned char)*a->at)))) {
		if (n == NAME_SIZE - 1)
			return wrong(a, a->line, "a name of more than %d characters", NAME_SIZE - 1);
		name[n++] = *a->at++;
	}
	name[n] = '\0';
	return n ? 0 : wrong(a, a->line, a->at == a->end ? "a name is missing"
							 : "a name is expected before '%c'",
			     a->at == a->end ? ' ' : *a->at);
}

static int take_integer(struct assembler *a, int64_t least, int64_t most, int64_t *number)
{
	char text[24], *end;
	size_t n = 0;

	skip_blanks(a);
	while (a->at < a->end && n < sizeof(text) - 1 &&
	       (isdigit((unsigned char)*a->at) || (!n && *a->at == '-')))
		text[n++] = *a->at++;
	text[n] = '\0';
	errno = 0;
	*number = strtoll(text, &end, 10);
	if (end == text || *end)
		return wrong(a, a->line, "a number is expected");
	if (errno || *number < least || *number > most ||
	    (a->at < a->end && isdigit((unsigned char)*a->at)))
		return wrong(a, a->line, "%s: not from %lld to %lld", text, (long long)least,
			     (long long)most);
	return 0;
}

static int atom(struct assembler *a, const char name[NAME_SIZE])
{
	struct program *program = a->program;

	for (int i = 0; i < program->n_atoms; i++)
		if (!strcmp(program->atoms[i], name))
			return i;
	if (program->n_atoms == 256)
		return wrong(a, a->line, "more than 256 atoms");
	if (GROW(program->atoms, program->n_atoms))
		return -ENOMEM;
	memcpy(program->atoms[program->n_atoms], name, NAME_SIZE);
	return program->n_atoms++;
}

/* Is it "x" or "y" and a number? Then that is in *number. */
static bool is_register(const char *name, int64_t *number)
{
	char *end;

	if ((name[0] != 'x' && name[0] != 'y') || !isdigit((unsigned char)name[1]))
		return false;
	*number = strtol(name + 1, &end, 10);
	return !*end;
}

/* A source, or with `destination` only a register. */
static int take_value(struct assembler *a, bool destination, struct operand *operand)
{
	char name[NAME_SIZE] = "";
	int64_t number;
	int err;

	skip_blanks(a);
	if (!destination && a->at < a->end && (isdigit((unsigned char)*a->at) || *a->at == '-')) {
		err = take_integer(a, INTEGER_MIN, INTEGER_MAX, &number);
		*operand = (struct operand){'i', value__integer(number)};
		return err;
	}
	err = take_name(a, name);
	if (err)
		return err;
	if (is_register(name, &number)) {
		if (number >= (name[0] == 'x' ? MOST_X : MOST_Y))
			return wrong(a, a->line, "%s: there are only %d", name,
				     name[0] == 'x' ? MOST_X : MOST_Y);
		*operand = (struct operand){name[0], number};
		return 0;
	}
	if (destination)
		return wrong(a, a->line, "'%s': a register is expected", name);
	err = atom(a, name);
	*operand = (struct operand){'i', value__atom(err)};
	return err < 0 ? err : 0;
}

static int refer_to_label(struct assembler *a, int slot)
{
	struct name name = {.where = a->program->n_instructions - 1, .slot = slot, .line = a->line};
	int err = take_name(a, name.name);

	return err ? err : names__add(&a->jumps, name);
}

/* NAME/ARITY, or MODULE:NAME/ARITY if it may be elsewhere. */
static int take_function(struct assembler *a, bool elsewhere, struct name *name)
{
	int64_t arity;
	int err = take_name(a, name->name);

	memcpy(name->module, a->module, NAME_SIZE);
	if (!err && elsewhere && take(a, ':')) {
		memcpy(name->module, name->name, NAME_SIZE);
		err = take_name(a, name->name);
	}
	if (!err && !take(a, '/'))
		err = wrong(a, a->line, "'%s': an arity is expected, as in %s/1", name->name, name->name);
	if (!err)
		err = take_integer(a, 0, MOST_X, &arity);
	name->arity = err ? 0 : (int)arity;
	name->line = a->line;
	return err;
}

static int take_bif(struct assembler *a, struct operand *operand)
{
	struct name name;
	int err = take_function(a, false, &name);

	if (err)
		return err;
	for (int i = 0; bifs[i].name; i++)
		if (!strcmp(bifs[i].name, name.name) && bifs[i].arity == name.arity) {
			*operand = (struct operand){'b', i};
			return 0;
		}
	return wrong(a, a->line, "no built-in %s/%d", name.name, name.arity);
}

static int take_clauses(struct assembler *a, struct instruction *instruction)
{
	struct program *program = a->program;
	int err;

	instruction->clauses = program->n_clauses;
	do {
		struct operand match;

		err = take_value(a, false, &match);
		if (!err && match.kind != 'i')
			err = wrong(a, a->line, "a clause matches an integer or an atom");
		for (int i = instruction->clauses; !err && i < program->n_clauses; i++)
			if (program->clauses[i].match == match.number)
				err = wrong(a, a->line, "two clauses match the same value");
		if (!err && !take(a, ':'))
			err = wrong(a, a->line, "a clause is value:label");
		if (!err && instruction->n_clauses == 256)
			err = wrong(a, a->line, "more than 256 clauses");
		if (!err)
			err = GROW(program->clauses, program->n_clauses);
		if (err)
			return err;
		program->clauses[program->n_clauses++] = (struct clause){match.number, -1};
		err = refer_to_label(a, MOST_OPERANDS + instruction->n_clauses++);
	} while (!err && take(a, ','));
	return err;
}

static int take_operand(struct assembler *a, char what, int slot)
{
	struct instruction *instruction = &a->program->instructions[a->program->n_instructions - 1];
	struct operand *operand = &instruction->operands[slot];
	struct name name = {.where = a->program->n_instructions - 1, .slot = slot};
	int err;

	switch (what) {
	case 'S':
		return take_value(a, false, operand);
	case 'D':
		return take_value(a, true, operand);
	case 'L':
		operand->kind = 'l';
		return refer_to_label(a, slot);
	case 'N':
		operand->kind = 'n';
		return take_integer(a, 0, MOST_Y, &operand->number);
	case 'B':
		return take_bif(a, operand);
	case 'C':
		return take_clauses(a, instruction);
	default:
		operand->kind = 'f';
		err = take_function(a, true, &name);
		return err ? err : names__add(&a->calls, name);
	}
}

static int take_instruction(struct assembler *a, const char name[NAME_SIZE])
{
	struct program *program = a->program;
	int op = 0, err;

	while (op < OPS && strcmp(op_infos[op].name, name) != 0)
		op++;
	if (op == OPS)
		return wrong(a, a->line, "unknown opcode '%s'", name);
	if (!program->n_functions)
		return wrong(a, a->line, "'%s' stands before the first function", name);
	err = GROW(program->instructions, program->n_instructions);
	if (err)
		return err;
	program->instructions[program->n_instructions++] =
		(struct instruction){.op = (enum op)op, .line = a->line};
	for (int i = 0; op_infos[op].operands[i]; i++) {
		skip_blanks(a);
		if (i && !take(a, ','))
			return wrong(a, a->line, "%s takes %zu operands (%s)", name,
				     strlen(op_infos[op].operands), op_infos[op].operands);
		err = take_operand(a, op_infos[op].operands[i], i);
		if (err)
			return err;
	}
	return 0;
}

/* Ends the function so far: its labels are all known. */
static int end_function(struct assembler *a)
{
	struct program *program = a->program;
	struct function *function;
	int err;

	if (!program->n_functions)
		return 0;
	function = &program->functions[program->n_functions - 1];
	function->end = program->n_instructions;
	if (function->start == function->end)
		return wrong(a, function->line, "%s/%d is empty", function->name, function->arity);
	err = names__settle(a, &a->labels, "label");
	if (err)
		return err;
	for (int i = 0; i < a->jumps.n; i++) {
		const struct name *jump = &a->jumps.all[i];
		const struct name *label = names__find(&a->labels, jump);
		struct instruction *instruction = &program->instructions[jump->where];

		if (!label)
			return wrong(a, jump->line, "no label '%s' in %s/%d", jump->name, function->name,
				     function->arity);
		if (label->where == function->end)
			return wrong(a, label->line, "label '%s' has nothing after it", label->name);
		if (jump->slot < MOST_OPERANDS)
			instruction->operands[jump->slot].number = label->where;
		else
			program->clauses[instruction->clauses + jump->slot - MOST_OPERANDS].target =
				label->where;
	}
	a->labels.n = a->jumps.n = 0;
	return 0;
}

static int begin_function(struct assembler *a)
{
	struct program *program = a->program;
	struct name name = {.where = program->n_functions};
	int err = end_function(a);

	if (!err)
		err = take_function(a, false, &name);
	if (!err)
		err = names__add(&a->functions, name);
	if (!err)
		err = GROW(program->functions, program->n_functions);
	if (err)
		return err;
	struct function *function = &program->functions[program->n_functions++];

	*function = (struct function){.arity = name.arity, .start = program->n_instructions,
				      .line = a->line};
	memcpy(function->module, a->module, NAME_SIZE);
	memcpy(function->name, name.name, NAME_SIZE);
	return 0;
}

static int take_line(struct assembler *a)
{
	char name[NAME_SIZE] = "";
	int err;

	skip_blanks(a);
	if (a->at == a->end)
		return 0;
	err = take_name(a, name);
	if (err)
		return err;
	if (!strcmp(name, "module")) {
		err = take_name(a, a->module);
	} else if (!strcmp(name, "function")) {
		err = begin_function(a);
	} else if (take(a, ':')) {
		struct name label = {.where = a->program->n_instructions, .line = a->line};

		memcpy(label.name, name, NAME_SIZE);
		err = a->program->n_functions ? names__add(&a->labels, label)
					      : wrong(a, a->line, "a label before the first function");
	} else {
		err = take_instruction(a, name);
	}
	skip_blanks(a);
	if (!err && a->at < a->end)
		err = wrong(a, a->line, "'%c' is one thing too many", *a->at);
	return err;
}

/* Every function is known: settles the calls. */
static int end_program(struct assembler *a)
{
	int err = end_function(a);

	if (!err && !a->program->n_functions)
		err = wrong(a, a->line, "no function");
	if (!err)
		err = names__settle(a, &a->functions, "function");
	for (int i = 0; !err && i < a->calls.n; i++) {
		const struct name *call = &a->calls.all[i];
		const struct name *function = names__find(&a->functions, call);

		if (!function)
			return wrong(a, call->line, "no function %s%s%s/%d", call->module,
				     call->module[0] ? ":" : "", call->name, call->arity);
		a->program->instructions[call->where].operands[call->slot].number = function->where;
	}
	return err;
}

int program__assemble(struct program *program, const char *text, size_t size, char *why, size_t why_size)
{
	struct assembler a = {.program = program, .line = 0, .why = why, .why_size = why_size};
	const char *at = text, *end = text + size;
	int err = 0;

	*program = (struct program){0};
	why[0] = '\0';
	if (size > MOST_TEXT)
		err = wrong(&a, 1, "more than %d bytes of text", MOST_TEXT);
	while (!err && at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *comment;
		const char *line_end = newline ? newline : end;

		a.line++;
		a.at = at;
		for (const char *c = at; !err && c < line_end; c++)
			if ((*c < ' ' && *c != '\t' && *c != '\r') || *c > '~')
				err = wrong(&a, a.line, "byte 0x%02x is no text", (unsigned char)*c);
		comment = memchr(at, ';', (size_t)(line_end - at));
		a.end = comment ? comment : line_end;
		while (a.end > at && a.end[-1] == '\r')
			a.end--;
		if (!err)
			err = take_line(&a);
		at = newline ? newline + 1 : end;
	}
	if (!err)
		err = end_program(&a);
	if (err == -ENOMEM)
		snprintf(why, why_size, "out of memory");
	free(a.labels.all);
	free(a.jumps.all);
	free(a.functions.all);
	free(a.calls.all);
	return err;
}
