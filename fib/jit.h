/* SPDX-License-Identifier: BSD-2-Clause */
/* The template JIT: one template of machine code for each instruction. */
#ifndef TOLL_JIT_H
#define TOLL_JIT_H

#include "fib/code-memory.h"
#include "fib/interp.h"

/* What the templates may leave out, to see what it costs. */
enum check { CHECK_OVERFLOW = 1, CHECK_TAGS = 2, CHECK_REDUCTIONS = 4, CHECK_STACK = 8, CHECK_ALL = 15 };

struct jit_options {
	unsigned int checks; /* of enum check: those made */
	enum wx wx;
	const bool *foreign; /* of each function: is it another engine's? NULL: none is */
	native_call call_native;
	const void *engine;
};

struct jit {
	const struct program *program;
	struct jit_options options;
	struct code_memory memory;
	size_t size;	   /* bytes of code */
	size_t *functions; /* of each function: the offset of its entry */
	size_t *offsets;   /* of each instruction: the offset of its code */
	size_t enter;	   /* int enter(struct vm *, const void *entry), in C's convention */
};

/* Compiles a verified program, which must outlive the code. Returns 0, or -errno (-ENOTSUP: no
 * templates for this architecture) with the reason in why; free either way. */
int jit__compile(struct jit *jit, const struct program *program, const struct jit_options *options,
		 char *why, size_t why_size);
void jit__free(struct jit *jit);

/* As interp__run. */
int jit__run(struct vm *vm, const struct jit *jit, int function);

/* Writes /tmp/perf-PID.map, by which perf names the functions; never through a link and never over
 * what is there; it stays for perf report. Returns 0 or -errno. */
int jit__perf_map(const struct jit *jit);

/* The program with each instruction's machine code beside it (capstone). Returns 0 or -errno. */
int jit__dump(const struct jit *jit, FILE *stream);

#endif
