/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/fuzz/differential.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fib/machine.h"

#define FUNCTIONS 4
#define LABELS 6
#define REGISTERS 9 /* the last of them are in memory, in the JIT */
#define SLOTS 3

struct run {
	int outcome, at;
	value result;
	uint64_t reductions;
};

static struct run run_on(enum machine_kind kind, const struct program *program, const value *arguments)
{
	struct machine_options options = {.kind = kind, .checks = CHECK_ALL, .stack_words = 200,
					  .quantum = 7, .most_yields = 300};
	struct machine *machine;
	struct run run = {0};
	char why[256];

	if (machine__new(&machine, program, &options, why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		abort();
	}
	run.outcome = machine__run(machine, arguments);
	run.at = machine->vm->at;
	run.result = run.outcome ? 0 : machine->vm->x[0];
	run.reductions = vm__reductions(machine->vm);
	machine__free(machine);
	return run;
}

static void compare(const struct program *program)
{
	static const int64_t numbers[] = {3, INTEGER_MAX - 1, -1, 0, 1, 2, INTEGER_MIN, 7};
	value arguments[MOST_X];
	struct run first;

	for (int i = 0; i < MOST_X; i++)
		arguments[i] = value__integer(numbers[i % 8]);
	first = run_on(MACHINE_SWITCH_PLAIN, program, arguments);
	for (int kind = 1; kind < MACHINES; kind++) {
		struct run run = run_on((enum machine_kind)kind, program, arguments);

		/* Engines that nest use more of the stack, so with the smallest they may differ. */
		if (kind == MACHINE_MIXED &&
		    (first.outcome == STACK_OVERFLOW || run.outcome == STACK_OVERFLOW))
			continue;
		if (run.outcome == first.outcome && run.at == first.at && run.result == first.result &&
		    run.reductions == first.reductions)
			continue;
		fprintf(stderr, "%s: %s at %d, %llx, %llu reductions; %s: %s at %d, %llx, %llu\n",
			machine_names[0], outcome__name((enum outcome)first.outcome), first.at,
			(unsigned long long)first.result, (unsigned long long)first.reductions,
			machine_names[kind], outcome__name((enum outcome)run.outcome), run.at,
			(unsigned long long)run.result, (unsigned long long)run.reductions);
		program__disassemble(program, stderr);
		abort();
	}
}

int differential__text(const char *text, size_t size)
{
	struct program program;
	char why[256];
	int ran = 0;

	if (!program__assemble(&program, text, size, why, sizeof(why)) &&
	    !program__verify(&program, why, sizeof(why))) {
		for (int i = 0; i < program.n_instructions; i++)
			if (program.instructions[i].op == OP_bif &&
			    !strcmp(bifs[program.instructions[i].operands[0].number].name, "getppid"))
				goto out; /* may change between two runs */
		compare(&program);
		ran = 1;
	} else if (strncmp(why, "line ", 5) != 0 && strcmp(why, "out of memory") != 0) {
		fprintf(stderr, "an error without a line: %s\n", why);
		abort();
	}
out:
	program__free(&program);
	return ran;
}

/* The program as it grows: what the verifier will know at this place. */
struct maker {
	const uint8_t *data;
	size_t left;
	FILE *out;
	int selects; /* so far, for names of labels */
	bool x[REGISTERS], y[SLOTS];
	int frame; /* -1: none */
	int label_frames[LABELS]; /* -2: not used */
};

static unsigned int pick(struct maker *m, unsigned int n)
{
	if (!m->left)
		return 0;
	m->left--;
	return *m->data++ % n;
}

static int arity_of(int function)
{
	return function % 3 + 1;
}

static void literal(struct maker *m)
{
	static const char *const literals[] = {
		"0", "1", "2", "-1", "576460752303423487", "-576460752303423488", "2147483648",
		"-2147483649", "134217727", "134217728", "ok", "error", "17", "576460752303423486", "3", "4",
	};

	fputs(literals[pick(m, 16)], m->out);
}

static void source(struct maker *m)
{
	unsigned int kind = pick(m, 8), i = pick(m, REGISTERS);

	if (kind < 5 && m->x[i])
		fprintf(m->out, "x%u", i);
	else if (kind < 7 && (int)(i % SLOTS) < m->frame && m->y[i % SLOTS])
		fprintf(m->out, "y%u", i % SLOTS);
	else
		literal(m);
}

static void destination(struct maker *m)
{
	unsigned int kind = pick(m, 4), i = pick(m, REGISTERS);

	if (kind == 3 && (int)(i % SLOTS) < m->frame) {
		fprintf(m->out, "y%u", i % SLOTS);
		m->y[i % SLOTS] = true;
	} else {
		i = kind == 2 ? 0 : i;
		fprintf(m->out, "x%u", i);
		m->x[i] = true;
	}
}

/* A label that other ways reach with the same frame: two for each of none, no slots and SLOTS. */
static void label(struct maker *m)
{
	unsigned int i = (m->frame < 0 ? 0 : m->frame ? 4 : 2) + pick(m, 2);

	m->label_frames[i] = m->frame;
	fprintf(m->out, "l%u", i);
}

static void arguments(struct maker *m, int n)
{
	for (int i = 0; i < n; i++) {
		if (m->x[i] && pick(m, 2))
			continue;
		fputs("\tmove ", m->out);
		source(m);
		fprintf(m->out, ", x%d\n", i);
		m->x[i] = true;
	}
}

static void after_call(struct maker *m)
{
	memset(m->x, 0, sizeof(m->x));
	m->x[0] = true;
}

static void function_name(struct maker *m, int f)
{
	fprintf(m->out, "m%d:f%d/%d\n", f / 2, f, arity_of(f));
}

static void instruction(struct maker *m)
{
	static const char *const tests[] = {"is_lt", "is_eq"};
	unsigned int what = pick(m, 12), n;
	int f;

	if (what < 2) {
		fputs("\tmove ", m->out);
		source(m);
	} else if (what < 6) {
		fputs(what < 4 ? "\tadd " : "\tsub ", m->out);
		source(m);
		fputs(", ", m->out);
		source(m);
	}
	switch (what) {
	case 0 ... 5:
		fputs(", ", m->out);
		destination(m);
		fputs("\n", m->out);
		break;
	case 6:
	case 7:
		fprintf(m->out, "\t%s ", tests[what - 6]);
		source(m);
		fputs(", ", m->out);
		source(m);
		fputs(", ", m->out);
		label(m);
		fputs("\n", m->out);
		break;
	case 8:
		if (m->frame < 0) {
			m->frame = (int)pick(m, 2) * SLOTS;
			memset(m->y, 0, sizeof(m->y));
			fprintf(m->out, "\tallocate %d\n", m->frame);
		} else {
			fprintf(m->out, "\tdeallocate %d\n", m->frame);
			m->frame = -1;
		}
		break;
	case 9:
		if (m->frame < 0)
			break;
		f = (int)pick(m, FUNCTIONS);
		arguments(m, arity_of(f));
		fputs("\tcall ", m->out);
		function_name(m, f);
		after_call(m);
		break;
	case 10:
		arguments(m, 1);
		fputs(pick(m, 2) ? "\tbif is_integer/1\n" : "\tbif getuid/0\n", m->out);
		after_call(m);
		break;
	default:
		/* values one bit apart, with one label, have a template of their own */
		n = pick(m, 3);
		fprintf(m->out, "\tselect_val ");
		source(m);
		fprintf(m->out, ", s%d, ", ++m->selects);
		fputs(n == 0 ? "1:" : n == 1 ? "4:" : "576460752303423487:", m->out);
		label(m);
		if (n) {
			fputs(n == 1 ? ", 5:" : ", -1:", m->out);
			label(m);
		}
		fprintf(m->out, "\ns%d:\n", m->selects);
	}
}

static void end(struct maker *m, int frame)
{
	int f = (int)pick(m, FUNCTIONS);

	if (frame >= 0)
		fprintf(m->out, "\tdeallocate %d\n", frame);
	m->frame = -1;
	switch (pick(m, 4)) {
	case 0:
		fputs("\tfunction_clause\n", m->out);
		break;
	case 1:
		arguments(m, arity_of(f));
		fputs("\ttail_call ", m->out);
		function_name(m, f);
		break;
	default:
		arguments(m, 1);
		fputs("\treturn\n", m->out);
	}
}

static void function(struct maker *m, int f)
{
	unsigned int n = 2 + pick(m, 12);

	m->frame = -1;
	memset(m->x, 0, sizeof(m->x));
	for (int i = 0; i < arity_of(f); i++)
		m->x[i] = true;
	for (int i = 0; i < LABELS; i++)
		m->label_frames[i] = -2;
	if (f % 2 == 0)
		fprintf(m->out, "module m%d\n", f / 2);
	fprintf(m->out, "function f%d/%d\n", f, arity_of(f));
	while (n--)
		instruction(m);
	end(m, m->frame);
	for (int i = 0; i < LABELS; i++) {
		if (m->label_frames[i] == -2)
			continue;
		fprintf(m->out, "l%d:\n", i);
		memset(m->x, 0, sizeof(m->x)); /* set on every way here? not known */
		end(m, m->label_frames[i]);
	}
}

void differential__program(const uint8_t *data, size_t size)
{
	struct maker maker = {.data = data, .left = size};
	char *text = NULL;
	size_t text_size;

	maker.out = open_memstream(&text, &text_size);
	if (!maker.out)
		return;
	for (int f = 0; f < FUNCTIONS; f++)
		function(&maker, f);
	fclose(maker.out);
	if (!differential__text(text, text_size)) {
		struct program program;
		char why[256] = "";

		if (!program__assemble(&program, text, text_size, why, sizeof(why)))
			program__verify(&program, why, sizeof(why));
		fprintf(stderr, "a made program is refused: %s\n%s", why, text);
		abort();
	}
	free(text);
}
