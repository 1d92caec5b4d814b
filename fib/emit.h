/* SPDX-License-Identifier: BSD-2-Clause */
/* What jit.c needs of an architecture; emit-x86_64.c and emit-aarch64.c have it. */
#ifndef TOLL_EMIT_H
#define TOLL_EMIT_H

#include "fib/jit.h"

/* There are templates. */
#if defined(__x86_64__) || defined(__aarch64__)
#define EMIT_TEMPLATES
#endif

enum target {
	TO_INSTRUCTION, /* index */
	TO_FUNCTION,	/* index */
};

/* A jump whose distance is filled in later. */
struct fixup {
	size_t at; /* as the architecture likes it */
	enum target target;
	int index;
};

/* A way out of line: what happens when a check fails, or the reductions run out. */
struct slow {
	int outcome;	 /* the error; DONE: yield and go on at `back` */
	int instruction;
	size_t at, back;
};

struct emitter {
	struct jit *jit;
	uint8_t *base; /* writable */
	size_t at;
	struct fixup *fixups;
	size_t n_fixups;
	struct slow *slow; /* of the function so far */
	size_t n_slow;
	size_t yield, errors[OUTCOMES], leave; /* offsets of the stubs */
};

/* Upper bounds of the code for a program, in bytes. */
#define EMIT_MOST_STUBS 2048
#define EMIT_MOST_INSTRUCTION 160 /* its slow path included */
#define EMIT_MOST_CLAUSE 32
#define EMIT_ALIGNMENT 64 /* of functions: a cache line */

/* Two clauses with one label whose values differ in one bit: that bit does not matter. */
static inline bool clauses__are_pair(const struct clause *c, int n)
{
	uint64_t difference = n == 2 ? (uint64_t)(c[0].match ^ c[1].match) : 0;

	return difference && !(difference & (difference - 1)) && c[0].target == c[1].target;
}

/* The stubs: enter, yield, errors, leave for another engine. */
void emit__stubs(struct emitter *e);
/* One instruction of the program. */
void emit__instruction(struct emitter *e, int index);
/* The slow paths of the function so far. */
void emit__slow_paths(struct emitter *e);
/* The body of a function that is another engine's. */
void emit__foreign(struct emitter *e, int function);
/* Fills in a fixup. */
void emit__fix(struct emitter *e, const struct fixup *fixup, size_t target);

#endif
