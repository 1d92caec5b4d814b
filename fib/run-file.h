/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of the user's, on all of our engines. */
#ifndef TOLL_RUN_FILE_H
#define TOLL_RUN_FILE_H

#include "fib/options.h"

/* Runs options->file (or dumps it) and prints a row an engine. Returns an exit code: EXIT_FAILED where
 * the engines differ or the program ends with an error; exits with EXIT_USAGE for a bad program. */
int run_file(const struct fib_options *options);

/* Prints a program as options->dump says. Returns 0 or -errno, with the reason said. */
int dump_program(const struct program *program, const struct fib_options *options);

#endif
