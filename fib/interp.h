/* SPDX-License-Identifier: BSD-2-Clause */
/* The interpreter: threaded code, loaded from a program, and the loop that runs it. */
#ifndef TOLL_INTERP_H
#define TOLL_INTERP_H

#include "fib/codes.h"
#include "fib/vm.h"

enum dispatch {
	DISPATCH_GOTO,	 /* direct threading: a word of code is the address of its handler */
	DISPATCH_SWITCH, /* a word of code is its number */
};

/* A function in another engine. Returns an outcome; x and sp as the interpreter's. */
typedef int (*native_call)(struct vm *vm, int function, const void *engine);

struct threaded {
	const struct program *program;
	enum dispatch dispatch;
	uint64_t *words;
	int n_words;
	int *owners;	/* of each word: the instruction */
	int *entries;	/* of each function: its first word; -1: it is native */
	int fused[CODES]; /* superinstructions made, by code */
	native_call call_native;
	const void *engine; /* call_native's */
};

struct load_options {
	enum dispatch dispatch;
	bool fuse;
	const bool *native; /* of each function: is it another engine's? NULL: none is */
	native_call call_native;
	const void *engine;
};

/* Loads a verified program, which must outlive the code. Returns 0 or -ENOMEM; free either way. */
int threaded__load(struct threaded *code, const struct program *program,
		   const struct load_options *options);
void threaded__free(struct threaded *code);

/* Runs a function with its arguments in vm->x; the result is in vm->x[0]. Returns vm->outcome. */
int interp__run(struct vm *vm, const struct threaded *code, int function);

/* The two loops, and the handlers of the one with computed goto, by enum code. */
int interp__goto(struct vm *vm, const struct threaded *code, int function);
int interp__switch(struct vm *vm, const struct threaded *code, int function);
const void *const *interp__handlers(void);

#endif
