/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/run-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/table.h"

/* What an engine made of the program, in comparable form. */
struct run {
	int outcome, at;
	value result;
	uint64_t reductions;
};

int dump_program(const struct program *program, const struct fib_options *options)
{
	struct jit_options jit_options = {.checks = options->checks, .wx = options->plan.wx};
	struct jit jit;
	char why[256];
	int err;

	if (options->dump == DUMP_BYTECODE) {
		program__disassemble(program, stdout);
		return fflush(stdout) ? -errno : 0;
	}
	err = jit__compile(&jit, program, &jit_options, why, sizeof(why));
	if (err)
		message__error("--dump asm: %s", why);
	else if ((err = jit__dump(&jit, stdout)) || fflush(stdout))
		message__error("--dump asm: %s", strerror(err ? -err : errno));
	jit__free(&jit);
	return err;
}

static void parse_arguments(const struct fib_options *options, const struct program *program,
			    value *arguments)
{
	int n = 0;

	for (; options->arguments[n]; n++) {
		char *end;
		long long number;

		errno = 0;
		number = strtoll(options->arguments[n], &end, 10);
		if (end == options->arguments[n] || *end || errno || number < INTEGER_MIN ||
		    number > INTEGER_MAX)
			message__usage("'%s': not an integer of 60 bits", options->arguments[n]);
		if (n < MOST_X)
			arguments[n] = value__integer(number);
	}
	if (n != program->functions[0].arity)
		message__usage("%s: %s/%d takes %d argument%s, not %d", options->file,
			       program->functions[0].name, program->functions[0].arity,
			       program->functions[0].arity, program->functions[0].arity == 1 ? "" : "s", n);
}

static void add_row(struct table *table, const struct program *program, const char *name,
		    const struct run *run, double s)
{
	char text[64] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	if (stream) {
		if (run->outcome)
			fprintf(stream, "%s, line %d", outcome__name((enum outcome)run->outcome),
				program->instructions[run->at].line);
		else
			value__print(program, run->result, stream);
		fclose(stream);
	}
	table__cell(table, "%s", name);
	table__cell(table, "%llu", (unsigned long long)run->reductions);
	table__cell(table, "%.6f", s);
	table__cell(table, "%s", text);
}

static bool differ(const struct run *a, const struct run *b)
{
	return a->outcome != b->outcome || a->at != b->at || a->reductions != b->reductions ||
	       (!a->outcome && a->result != b->result);
}

/* Runs it on each engine; the rows go into the table. Returns an exit code. */
static int run_all(const struct fib_options *options, const struct program *program,
		   const value *arguments, struct table *table)
{
	struct run first = {0};
	bool have_first = false;
	int status = EXIT_MEASURED;

	for (int kind = 0; kind < MACHINES; kind++) {
		struct machine *machine;
		struct run run;
		uint64_t start;
		char why[256];

		if (machine__new(&machine, program,
				 &(struct machine_options){.kind = (enum machine_kind)kind,
							   .checks = CHECK_ALL,
							   .wx = options->plan.wx},
				 why, sizeof(why))) {
			message__notice("%s: unavailable: %s", machine_names[kind], why);
			continue;
		}
		start = clock_ns();
		run.outcome = machine__run(machine, arguments);
		start = clock_ns() - start;
		run.at = machine->vm->at;
		run.result = machine->vm->x[0];
		run.reductions = vm__reductions(machine->vm);
		machine__free(machine);
		add_row(table, program, machine_names[kind], &run, (double)start / 1e9);
		/* Nested engines use the stack a little differently: mixed may overflow elsewhere. */
		if (have_first && kind != MACHINE_MIXED && differ(&first, &run)) {
			message__error("%s differs from %s", machine_names[kind], machine_names[0]);
			status = EXIT_FAILED;
		}
		if (run.outcome)
			status = EXIT_FAILED;
		first = have_first ? first : run;
		have_first = true;
	}
	return status;
}

int run_file(const struct fib_options *options)
{
	static const struct column columns[] = {
		{"engine", 12, true}, {"reductions", 12, false}, {"seconds", 10, false}, {"result", 6, true},
	};
	struct table *table;
	struct program program;
	value arguments[MOST_X];
	char why[256];
	int err = program__read(&program, options->file, why, sizeof(why)), status;

	if (!err)
		err = program__verify(&program, why, sizeof(why));
	if (err) {
		program__free(&program);
		message__usage("%s: %s", options->file, why);
	}
	if (options->dump) {
		status = dump_program(&program, options) ? EXIT_FAILED : EXIT_MEASURED;
		program__free(&program);
		return status;
	}
	parse_arguments(options, &program, arguments);
	table = table__new(columns, sizeof(columns) / sizeof(*columns));
	status = run_all(options, &program, arguments, table);
	if (table__print(table, stdout, "") || fflush(stdout)) {
		message__error("standard output: %s", strerror(errno));
		status = EXIT_FAILED;
	}
	table__free(table);
	program__free(&program);
	return status;
}
