/* SPDX-License-Identifier: BSD-2-Clause */
/* The state that all engines share: X registers, the stack of frames, reductions, the outcome. */
#ifndef TOLL_VM_H
#define TOLL_VM_H

#include <stddef.h>

#include "fib/program.h"

enum outcome {
	DONE,
	OVERFLOW,	   /* an integer of more than 60 bits */
	BADARITH,	   /* arithmetic on what is no integer */
	FUNCTION_CLAUSE,   /* no clause matches */
	STACK_OVERFLOW,
	OUT_OF_REDUCTIONS, /* vm->most_yields reached */
	OUTCOMES
};

#define QUANTUM 4000 /* reductions between two yields, as the BEAM's CONTEXT_REDS (erl_vm.h) */

struct vm {
	value x[MOST_X + 1];
	value *sp;	     /* the stack grows down; frames and return addresses */
	value *limit;	     /* no frame reaches below; WORDS_BELOW words more are there */
	int64_t reductions;  /* left until the next yield */
	int64_t quantum;
	uint64_t yields;
	uint64_t most_yields; /* then OUT_OF_REDUCTIONS */
	uint64_t calls;	      /* by count instructions */
	int outcome;	      /* enum outcome */
	int at;		      /* the instruction that failed, an index into the program */
	void *c_sp;	      /* JIT for x86-64: the stack of C while bytecode runs */
	int depth;	      /* engines entered from each other */
	void *mapping;
	size_t mapping_size;
};

/* Below the limit there is room for a return address, the slow paths of the JIT and a signal frame. */
#define WORDS_BELOW 8192
/* Engines that call each other nest on the stack of C. */
#define MOST_DEPTH 1000

/* Makes one with a stack of that many words. Returns 0 or -errno; vm__free takes NULL. */
int vm__new(struct vm **vm, size_t stack_words);
void vm__free(struct vm *vm);

/* Sets the machine back to its start: empty stack, all reductions, no errors; registers are kept. */
void vm__reset(struct vm *vm);

/* Called when the reductions have run out: a scheduler would switch here. True: go on. */
bool vm__yield(struct vm *vm);

/* Reductions counted since the reset. */
uint64_t vm__reductions(const struct vm *vm);

const char *outcome__name(enum outcome outcome);

#endif
