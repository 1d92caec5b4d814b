/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine of fib-compare: every program on every engine, bad programs, the parts by themselves.
 * A program says in its comments what to expect: "; [stack WORDS] run ARGUMENTS gives VALUE", or
 * "fails OUTCOME[, line N]". */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/mman.h>

#include "common/stats.h"
#include "fib/engines.h"

static char why[256];
static int programs_run, fused_in[CODES]; /* programs that make each superinstruction */

/* What one engine makes of a program. */
struct run {
	int outcome, at;
	value result;
	uint64_t reductions, yields;
};

static struct run run_on(enum machine_kind kind, const struct program *program, const value *arguments,
			 size_t stack_words, int64_t quantum)
{
	struct machine_options options = {.kind = kind, .checks = CHECK_ALL, .stack_words = stack_words,
					  .quantum = quantum};
	struct machine *machine;
	struct run run = {0};

	if (machine__new(&machine, program, &options, why, sizeof(why)))
		fail_msg("%s: %s", machine_names[kind], why);
	run.outcome = machine__run(machine, arguments);
	run.at = machine->vm->at;
	run.result = run.outcome ? 0 : machine->vm->x[0];
	run.reductions = vm__reductions(machine->vm);
	run.yields = machine->vm->yields;
	machine__free(machine);
	return run;
}

/* All engines alike, with few yields and with one at every call and return. Returns what they did. */
static struct run run_everywhere(const char *file, const struct program *program, const value *arguments,
				 size_t stack_words)
{
	struct run first = run_on(MACHINE_SWITCH_PLAIN, program, arguments, stack_words, 0);

	for (int quantum = 0; quantum < 2; quantum++)
		for (int kind = 0; kind < MACHINES; kind++) {
			struct run run = run_on((enum machine_kind)kind, program, arguments, stack_words,
						quantum);
			/* Engines that nest keep more on the stack. */
			bool loose = kind == MACHINE_MIXED && first.outcome == STACK_OVERFLOW;

			if (run.outcome != first.outcome || run.result != first.result ||
			    (!loose && (run.at != first.at || run.reductions != first.reductions)))
				fail_msg("%s on %s, quantum %d: %s at %d with %llu reductions, not %s at %d "
					 "with %llu", file, machine_names[kind], quantum,
					 outcome__name((enum outcome)run.outcome), run.at,
					 (unsigned long long)run.reductions,
					 outcome__name((enum outcome)first.outcome), first.at,
					 (unsigned long long)first.reductions);
			if (quantum)
				assert_int_equal(run.yields, run.reductions);
		}
	return first;
}

/* An integer, or an atom that the program has (or, as an argument, any). */
static value parse_value(const struct program *program, const char *text)
{
	char *end;
	long long number = strtoll(text, &end, 10);

	if (end != text)
		return value__integer(number);
	for (int i = 0; i < program->n_atoms; i++)
		if (!strcmp(program->atoms[i], text))
			return value__atom(i);
	return value__atom(0);
}

static void expect(const char *file, const struct program *program, char *line)
{
	value arguments[MOST_X] = {0};
	size_t stack = 0;
	int n = 0, at_line = 0;
	char *save, *word = strtok_r(line, " ", &save), *rest;
	struct run run;

	if (!strcmp(word, "stack")) {
		stack = strtoul(strtok_r(NULL, " ", &save), NULL, 10);
		strtok_r(NULL, " ", &save);
	}
	while ((word = strtok_r(NULL, " ", &save)) && strcmp(word, "gives") && strcmp(word, "fails"))
		arguments[n++] = parse_value(program, word);
	assert_int_equal(n, program->functions[0].arity);
	run = run_everywhere(file, program, arguments, stack);
	programs_run++;
	rest = save;
	if (!strcmp(word, "gives")) {
		if (run.outcome || run.result != parse_value(program, rest))
			fail_msg("%s: %s %lld, not %s", file, outcome__name((enum outcome)run.outcome),
				 (long long)value__number(run.result), rest);
		return;
	}
	if (strstr(rest, ", line "))
		at_line = atoi(strstr(rest, ", line ") + 7);
	rest[strcspn(rest, ",")] = '\0';
	assert_string_equal(outcome__name((enum outcome)run.outcome), rest);
	if (at_line)
		assert_int_equal(program->instructions[run.at].line, at_line);
}

static void note_fused(const struct program *program)
{
	struct load_options options = {DISPATCH_SWITCH, true, NULL, NULL, NULL};
	struct threaded code;

	assert_int_equal(threaded__load(&code, program, &options), 0);
	for (int i = 0; i < CODES; i++)
		fused_in[i] += code.fused[i] > 0;
	threaded__free(&code);
}

/* Text out, and the same program back in. */
static void round_trip(const char *file, const struct program *program)
{
	char *text = NULL, *again_text = NULL;
	size_t size;
	struct program again;
	FILE *stream = open_memstream(&text, &size);

	program__disassemble(program, stream);
	fclose(stream);
	if (program__assemble(&again, text, size, why, sizeof(why)))
		fail_msg("%s: %s", file, why);
	assert_int_equal(again.n_instructions, program->n_instructions);
	stream = open_memstream(&again_text, &size);
	program__disassemble(&again, stream);
	fclose(stream);
	assert_string_equal(text, again_text);
	free(text);
	free(again_text);
	program__free(&again);
}

static void run_programs_in(const char *folder)
{
	DIR *dir = opendir(folder);

	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct program program;
		char path[512], line[256];
		FILE *file;

		if (!strstr(entry->d_name, ".basm"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (program__read(&program, path, why, sizeof(why)) ||
		    program__verify(&program, why, sizeof(why)))
			fail_msg("%s: %s", path, why);
		round_trip(path, &program);
		note_fused(&program);
		file = fopen(path, "r");
		while (fgets(line, sizeof(line), file)) {
			line[strcspn(line, "\n")] = '\0';
			if (!strncmp(line, "; run ", 6) || !strncmp(line, "; stack ", 8))
				expect(path, &program, line + 2);
		}
		fclose(file);
		program__free(&program);
	}
	closedir(dir);
}

static void programs_on_every_engine(void **state)
{
	(void)state;
	run_programs_in("fib/programs");
	run_programs_in("tests/programs");
	assert_true(programs_run >= 70);
	/* No superinstruction is made for one program alone. */
	for (int i = CODE_halt + 1; i < CODES; i++)
		if (fused_in[i] < 2)
			fail_msg("superinstruction %d is made in %d programs", i - CODE_halt, fused_in[i]);
}

static void bad_programs_are_refused(void **state)
{
	DIR *dir = opendir("tests/programs/bad");
	int n = 0;

	(void)state;
	assert_non_null(dir);
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct program program;
		char path[512], expected[256] = "", *dot;
		FILE *file;

		if (!(dot = strstr(entry->d_name, ".basm")))
			continue;
		snprintf(path, sizeof(path), "tests/programs/bad/%.*s.why", (int)(dot - entry->d_name),
			 entry->d_name);
		file = fopen(path, "r");
		assert_non_null(file);
		assert_non_null(fgets(expected, sizeof(expected), file));
		fclose(file);
		expected[strcspn(expected, "\n")] = '\0';
		snprintf(path, sizeof(path), "tests/programs/bad/%s", entry->d_name);
		if (!program__read(&program, path, why, sizeof(why)) &&
		    !program__verify(&program, why, sizeof(why)))
			fail_msg("%s is taken", entry->d_name);
		program__free(&program);
		if (strcmp(why, expected))
			fail_msg("%s: \"%s\", not \"%s\"", entry->d_name, why, expected);
		n++;
	}
	closedir(dir);
	assert_true(n >= 35);
}

static void too_long_a_text(void **state)
{
	char *text = malloc(MOST_TEXT + 1);
	struct program program;

	(void)state;
	memset(text, ' ', MOST_TEXT + 1);
	assert_int_equal(program__assemble(&program, text, MOST_TEXT + 1, why, sizeof(why)), -EINVAL);
	assert_non_null(strstr(why, "more than 1048576 bytes"));
	program__free(&program);
	free(text);
}

static const char fib_text[] = "function fib/1\n"
			       "	select_val x0, more, 0:one, 1:one\n"
			       "more:\n	allocate 2\n	move x0, y0\n	sub x0, 1, x0\n	call fib/1\n"
			       "	move x0, y1\n	sub y0, 2, x0\n	call fib/1\n	add y1, x0, x0\n"
			       "	deallocate 2\n	return\n"
			       "one:\n	move 1, x0\n	return\n";

static void instrumented_runs_count_every_call(void **state)
{
	struct program program;
	value n = value__integer(20);

	(void)state;
	assert_int_equal(program__assemble(&program, fib_text, sizeof(fib_text) - 1, why, sizeof(why)), 0);
	assert_int_equal(program__instrument(&program, 0), 0);
	assert_int_equal(program__verify(&program, why, sizeof(why)), 0);
	for (int kind = 0; kind < MACHINES; kind++) {
		struct machine *machine;

		assert_int_equal(machine__new(&machine, &program,
					      &(struct machine_options){.kind = (enum machine_kind)kind,
									.checks = CHECK_ALL},
					      why, sizeof(why)), 0);
		assert_int_equal(machine__run(machine, &n), DONE);
		assert_int_equal(machine->vm->calls, 21891);
		assert_int_equal(machine->vm->calls, (uint64_t)fib__calls(20));
		assert_int_equal(value__number(machine->vm->x[0]), fib__expected(20));
		machine__free(machine);
	}
	program__free(&program);
}

static void reductions_can_run_out(void **state)
{
	static const char text[] = "function f/0\n	tail_call f/0\n";
	struct program program;

	(void)state;
	program__assemble(&program, text, sizeof(text) - 1, why, sizeof(why));
	for (int kind = 0; kind < MACHINES; kind++) {
		struct machine *machine;
		struct machine_options options = {.kind = (enum machine_kind)kind, .checks = CHECK_ALL,
						  .quantum = 10, .most_yields = 7};

		assert_int_equal(machine__new(&machine, &program, &options, why, sizeof(why)), 0);
		assert_int_equal(machine__run(machine, NULL), OUT_OF_REDUCTIONS);
		assert_int_equal(machine->vm->at, 0);
		assert_int_equal(vm__reductions(machine->vm), 70);
		machine__free(machine);
	}
	program__free(&program);
}

/* Leaving a check out leaves its code out, and nothing else. */
static void jit_without_checks(void **state)
{
	struct program program;
	struct jit all, less;
	value n = value__integer(15);

	(void)state;
	program__assemble(&program, fib_text, sizeof(fib_text) - 1, why, sizeof(why));
	assert_int_equal(jit__compile(&all, &program, &(struct jit_options){.checks = CHECK_ALL}, why,
				      sizeof(why)), 0);
	for (unsigned int without = 1; without < CHECK_ALL + 1; without <<= 1) {
		struct machine *machine;

		assert_int_equal(jit__compile(&less, &program,
					      &(struct jit_options){.checks = CHECK_ALL & ~without}, why,
					      sizeof(why)), 0);
		assert_true(less.size < all.size);
		jit__free(&less);
		assert_int_equal(machine__new(&machine, &program,
					      &(struct machine_options){.kind = MACHINE_JIT,
									.checks = CHECK_ALL & ~without},
					      why, sizeof(why)), 0);
		assert_int_equal(machine__run(machine, &n), DONE);
		assert_int_equal(value__number(machine->vm->x[0]), 987);
		assert_int_equal(vm__reductions(machine->vm),
				 without == CHECK_REDUCTIONS ? 0 : 2 * 1973 - 1);
		machine__free(machine);
	}
	jit__free(&all);
	program__free(&program);
}

/* From an instruction to its slow path it is more than 1 MiB, as far as a conditional branch reaches on
 * aarch64. */
static void long_programs(void **state)
{
	enum { ADDS = 70000 };
	const value arguments[] = {value__integer(0), value__integer(7), value__integer(8), value__atom(0),
				   value__integer(INTEGER_MAX), value__integer(INTEGER_MAX - ADDS + 1)};
	const struct {
		int outcome, at;
		value result;
	} expected[] = {{DONE, -1, value__integer(ADDS)}, {DONE, -1, value__integer(7)},
			{DONE, -1, value__integer(8)}, {BADARITH, 3, 0}, {OVERFLOW, 3, 0},
			{OVERFLOW, ADDS + 2, 0}};
	struct program program;
	struct jit jit;
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	fputs("function f/1\n	is_eq x0,8,go\n	return\ngo:\n	select_val x0,adds,7:end\nadds:\n", stream);
	for (int i = 0; i < ADDS; i++)
		fputs("	add x0,1,x0\n", stream);
	fputs("end:\n	return\n", stream);
	fclose(stream);
	if (program__assemble(&program, text, size, why, sizeof(why)) ||
	    program__verify(&program, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(jit__compile(&jit, &program, &(struct jit_options){.checks = CHECK_ALL}, why,
				      sizeof(why)), 0);
	assert_true(jit.size > 2 << 20);
	jit__free(&jit);
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
		struct run run = run_everywhere("a long program", &program, &arguments[i], 0);

		assert_int_equal(run.outcome, expected[i].outcome);
		assert_int_equal(run.at, expected[i].at);
		assert_int_equal(run.result, expected[i].result);
	}
	program__free(&program);
	free(text);
}

/* Is any part of [code, code + size) writable in this process, by whatever mapping? */
static bool any_writable(const struct code_memory *memory)
{
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");
	bool writable = false, seen = false;

	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char mode[5];

		assert_int_equal(sscanf(line, "%lx-%lx %4s", &from, &to, mode), 3);
		if (strstr(line, "memfd:jit"))
			writable |= mode[1] == 'w';
		if ((unsigned long)memory->code < from || (unsigned long)memory->code >= to)
			continue;
		seen = true;
		writable |= mode[1] == 'w';
		assert_int_equal(mode[2], 'x');
	}
	fclose(maps);
	assert_true(seen);
	return writable;
}

static void code_is_never_writable_and_executable(void **state)
{
	(void)state;
	for (enum wx mode = WX_MPROTECT; mode < WX_MODES; mode++) {
		struct code_memory memory;

		assert_int_equal(code_memory__new(&memory, 100, mode), 0);
		assert_int_equal(memory.mode, mode);
		assert_int_equal(memory.writable[99], CODE_MEMORY_FILL);
		assert_int_equal(code_memory__seal(&memory), 0);
		assert_false(any_writable(&memory));
		code_memory__free(&memory);
		code_memory__free(&memory);
	}
}

static void ratios(void **state)
{
	const double times[] = {2, 8}, base[] = {1, 1};
	struct ratio r = stats__ratio(times, base, 2);

	(void)state;
	/* Logarithms ln 2 and ln 8: mean ln 4, standard error ln 2; t with one degree of freedom 12.706. */
	assert_true(fabs(r.ratio - 4) < 1e-9);
	assert_true(fabs(log(r.high / 4) / log(2) - 12.706) < 1e-6);
	assert_true(fabs(r.low * r.high - 16) < 1e-6);
	assert_true(isnan(stats__ratio(times, base, 1).low));
	assert_true(isnan(stats__ratio(times, base, 0).ratio));
}

static void figures_of_fib(void **state)
{
	(void)state;
	assert_int_equal(fib__expected(0), 1);
	assert_int_equal(fib__expected(1), 1);
	assert_int_equal(fib__expected(40), 165580141);
	assert_true(fib__calls(40) == 331160281);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_on_every_engine),
		cmocka_unit_test(bad_programs_are_refused),
		cmocka_unit_test(too_long_a_text),
		cmocka_unit_test(instrumented_runs_count_every_call),
		cmocka_unit_test(reductions_can_run_out),
		cmocka_unit_test(jit_without_checks),
		cmocka_unit_test(long_programs),
		cmocka_unit_test(code_is_never_writable_and_executable),
		cmocka_unit_test(ratios),
		cmocka_unit_test(figures_of_fib),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
