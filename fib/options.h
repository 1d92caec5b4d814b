/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of fib-compare. */
#ifndef TOLL_FIB_OPTIONS_H
#define TOLL_FIB_OPTIONS_H

#include "fib/compare.h"

enum dump { DUMP_NOTHING, DUMP_BYTECODE, DUMP_ASM };

struct fib_options {
	struct plan plan;
	const char *engines, *cores, *json, *output; /* as typed; NULL: not given */
	unsigned int checks;			     /* of the JIT */
	enum dump dump;
	bool ablate, list;
	const char *file; /* a program to run instead; NULL: none */
	char **arguments; /* for it, ended by NULL */
};

/* What --without can name, by bit of enum check. */
extern const char *const check_names[4];

/* Parses; on bad usage says why and exits with EXIT_USAGE. Sets message_quiet under -q. */
void fib_options__parse(struct fib_options *options, int argc, char **argv);

#endif
