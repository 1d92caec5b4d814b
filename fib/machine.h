/* SPDX-License-Identifier: BSD-2-Clause */
/* A program made ready to run by one engine or another. */
#ifndef TOLL_MACHINE_H
#define TOLL_MACHINE_H

#include "fib/gdb.h"

enum machine_kind {
	MACHINE_SWITCH_PLAIN, /* interpreter, dispatched by a switch, one opcode at a time */
	MACHINE_SWITCH_FUSED, /* with superinstructions */
	MACHINE_PLAIN,	      /* interpreter, direct threading, one opcode at a time */
	MACHINE_FUSED,
	MACHINE_JIT,
	MACHINE_MIXED, /* the first function's module as machine code, all others as bytecode */
	MACHINES
};
extern const char *const machine_names[MACHINES];

struct machine_options {
	enum machine_kind kind;
	unsigned int checks;  /* JIT; CHECK_ALL */
	enum wx wx;	      /* JIT */
	size_t stack_words;   /* 0: STACK_WORDS */
	int64_t quantum;      /* 0: QUANTUM */
	uint64_t most_yields; /* 0: any number */
};

#define STACK_WORDS (8 << 20) /* 64 MiB, of which only what is touched is used */

struct machine {
	const struct program *program;
	struct machine_options options;
	bool *in_jit, *in_interp; /* of each function, for MACHINE_MIXED */
	struct threaded code;
	struct jit jit;
	struct gdb_code *gdb;
	struct vm *vm;
};

/* Makes one for a verified program, which must outlive it. Returns 0, or -errno with the reason in
 * why. */
int machine__new(struct machine **machine, const struct program *program,
		 const struct machine_options *options, char *why, size_t why_size);
/* Runs the program's first function from a fresh start. Its arguments, as many as its arity, are
 * values. Returns an outcome; the result is machine->vm->x[0]. */
int machine__run(struct machine *machine, const value *arguments);
/* NULL is taken. */
void machine__free(struct machine *machine);

#endif
