/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/engines.h"

#include <string.h>

#include "common/clock.h"

#define EMBED(name, file)                                                                          \
	__asm__(".section .rodata\n"                                                               \
		".global " #name "\n" #name ": .incbin \"" file "\"\n"                             \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char name[]
EMBED(fib_basm, "fib/programs/fib.basm");
EMBED(fib_calls_basm, "fib/programs/fib-calls.basm");
EMBED(fib_erl, "fib/runtimes/fib.erl");
EMBED(fib_lua, "fib/runtimes/fib.lua");
EMBED(fib_js, "fib/runtimes/fib.js");
EMBED(fib_py, "fib/runtimes/fib.py");

unsigned long baseline_O0(unsigned long), baseline_O0_counted(unsigned long);
unsigned long baseline_O2(unsigned long), baseline_O2_counted(unsigned long);
unsigned long baseline_O2_same(unsigned long), baseline_O2_same_counted(unsigned long);

/* The counted ones are compiled with -pg, which has every function call one of these first. */
#if defined(__x86_64__) /* -mfentry too; it may use no register */
uint64_t baseline_calls;
__asm__(".text\n"
	".global __fentry__\n"
	".type __fentry__, @function\n"
	"__fentry__: incq baseline_calls(%rip)\n"
	"	ret\n"
	".size __fentry__, .-__fentry__\n");
#else
static uint64_t baseline_calls;
void _mcount(void *);
void _mcount(void *from)
{
	(void)from;
	baseline_calls++;
}
#endif

static void run_c(const struct engine *engine, const struct job *job, struct answer *answer)
{
	unsigned long (*volatile fib)(unsigned long) = job->count ? engine->c_counted : engine->c;
	volatile unsigned long n = (unsigned long)job->n;

	for (int i = 0; i < job->times; i++) {
		uint64_t start = clock_ns();

		answer->result = (int64_t)fib(n);
		answer->run_ns[i] = clock_ns() - start;
	}
	answer->calls = baseline_calls;
	answer->ok = true;
}

static void run_machine(const struct engine *engine, const struct job *job, struct answer *answer)
{
	struct machine_options options = {.kind = engine->machine, .checks = job->checks, .wx = job->wx};
	struct machine *machine = NULL;
	struct program program;
	value argument = value__integer(job->n);
	int err = program__assemble(&program, engine->source, strlen(engine->source), answer->why,
				    sizeof(answer->why));

	if (!err)
		err = program__verify(&program, answer->why, sizeof(answer->why));
	if (!err && job->count)
		err = program__instrument(&program, 0);
	if (!err)
		err = machine__new(&machine, &program, &options, answer->why, sizeof(answer->why));
	if (!err && job->perf_map && engine->machine >= MACHINE_JIT &&
	    (err = jit__perf_map(&machine->jit)))
		snprintf(answer->why, sizeof(answer->why), "perf map: %s", strerror(-err));
	for (int i = 0; !err && i < job->times; i++) {
		uint64_t start = clock_ns();

		err = machine__run(machine, &argument);
		answer->run_ns[i] = clock_ns() - start;
		if (err)
			snprintf(answer->why, sizeof(answer->why), "%s",
				 outcome__name((enum outcome)err));
		answer->calls += machine->vm->calls;
	}
	if (!err) {
		answer->result = value__number(machine->vm->x[0]);
		answer->ok = value__is_integer(machine->vm->x[0]) || !job->times;
		if (engine->machine >= MACHINE_JIT)
			snprintf(answer->note, sizeof(answer->note), "W^X by %s",
				 wx_names[machine->jit.memory.mode]);
	}
	machine__free(machine);
	program__free(&program);
}

#define C(function) .run = run_c, .c = function, .c_counted = function##_counted
#define BYTECODE(text, kind) .run = run_machine, .source = text, .machine = kind

const struct engine engines[] = {
	{"c-O0", "C, gcc -O0", C(baseline_O0)},
	{"c-O2-same", "C, gcc -O2 kept from inlining and from loops for calls", C(baseline_O2_same)},
	{"c-O2", "C, gcc -O2, which makes fewer calls of it", C(baseline_O2)},
	{"interp-plain", "bytecode, one opcode at a time", BYTECODE(fib_basm, MACHINE_PLAIN)},
	{"interp", "bytecode with superinstructions", BYTECODE(fib_basm, MACHINE_FUSED)},
	{"jit", "machine code by templates", BYTECODE(fib_basm, MACHINE_JIT)},
	{"calls-interp", "fib with a call for each + and -, all bytecode",
	 BYTECODE(fib_calls_basm, MACHINE_FUSED)},
	{"mixed", "the same, fib as machine code, + and - as bytecode",
	 BYTECODE(fib_calls_basm, MACHINE_MIXED)},
	{"calls-jit", "the same, all machine code", BYTECODE(fib_calls_basm, MACHINE_JIT)},
	{"erlang", "Erlang", .source = fib_erl, .command = "erl"},
	{"luajit", "LuaJIT", .source = fib_lua, .command = "luajit"},
	{"luajit-joff", "LuaJIT's interpreter", .source = fib_lua, .command = "luajit", .option = "-joff"},
	{"lua", "Lua 5.4", .source = fib_lua, .command = "lua5.4"},
	{"node", "Node.js", .source = fib_js, .command = "node"},
	{"python3", "Python 3", .source = fib_py, .command = "python3"},
	{0},
};

const struct engine *engine__find(const char *name)
{
	for (const struct engine *engine = engines; engine->name; engine++)
		if (!strcmp(engine->name, name))
			return engine;
	return NULL;
}

uint64_t fib__expected(int n)
{
	uint64_t a = 1, b = 1;

	while (n-- > 1) {
		uint64_t sum = a + b;

		a = b;
		b = sum;
	}
	return b;
}

double fib__calls(int n)
{
	return 2 * (double)fib__expected(n) - 1;
}
