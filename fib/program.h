/* SPDX-License-Identifier: BSD-2-Clause */
/* A program: the functions and instructions that text is assembled into, and that engines load. */
#ifndef TOLL_PROGRAM_H
#define TOLL_PROGRAM_H

#include <stddef.h>
#include <stdio.h>

#include "fib/value.h"

enum op {
#define OP(name, operands, effect) OP_##name,
#include "fib/ops.def"
#undef OP
	OPS
};

struct op_info {
	const char *name, *operands, *effect;
};
extern const struct op_info op_infos[OPS];

#define MOST_OPERANDS 3
#define MOST_X 255	/* registers x0 to x254 */
#define MOST_Y 255	/* slots of a frame */
#define NAME_SIZE 32
#define MOST_TEXT (1 << 20) /* bytes of source */

/* kind: 'x', 'y' (number is the index), 'i' (number is a value, literal), 'l' (an instruction's index),
 * 'f' (a function's index), 'b' (a built-in's index), 'n' (a count). */
struct operand {
	char kind;
	int64_t number;
};

struct clause {
	value match;
	int target; /* an instruction's index */
};

struct instruction {
	enum op op;
	int line;
	struct operand operands[MOST_OPERANDS];
	int clauses, n_clauses; /* select_val: where they start in program.clauses, and how many */
};

struct function {
	char module[NAME_SIZE], name[NAME_SIZE];
	int arity;
	int start, end; /* instructions [start, end) */
	int line;
};

/* The first function is the one to run. */
struct program {
	struct function *functions;
	int n_functions;
	struct instruction *instructions;
	int n_instructions;
	struct clause *clauses;
	int n_clauses;
	char (*atoms)[NAME_SIZE];
	int n_atoms;
};

/* A function of C that bytecode can call. */
struct bif {
	const char *name;
	int arity; /* 0 or 1 */
	value (*call)(value argument);
};
extern const struct bif bifs[]; /* ended by a NULL name */

/* Assembles size bytes of text. Returns 0, or -EINVAL (-ENOMEM) with "line N: reason" in why. Free the
 * program either way. */
int program__assemble(struct program *program, const char *text, size_t size, char *why, size_t why_size);
/* Reads and assembles a file ("-": standard input); errors as above, or -errno with the reason. */
int program__read(struct program *program, const char *path, char *why, size_t why_size);

/* Proves what the engines rely on: jumps go down and stay in their function, no path runs off its
 * end, every instruction is reached, frames match, registers and slots are set before they are read,
 * calls have a frame to come back to. Returns 0, or -EINVAL with "line N: reason" in why. */
int program__verify(const struct program *program, char *why, size_t why_size);

/* Writes text that assembles to the same program. */
void program__disassemble(const struct program *program, FILE *stream);
/* One instruction, without its label or a newline. */
void instruction__print(const struct program *program, int index, FILE *stream);
/* An integer, or an atom by its name. */
void value__print(const struct program *program, value v, FILE *stream);

/* Puts a count instruction at the entry of a function. Returns 0 or -ENOMEM. */
int program__instrument(struct program *program, int function);

void program__free(struct program *program);

#endif
