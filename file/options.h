/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of file-rate. */
#ifndef TOLL_FILE_OPTIONS_H
#define TOLL_FILE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_BLOCKS 32
#define MOST_ROUNDS 1000

enum experiment_id { EXPERIMENT_READ, EXPERIMENT_RW, EXPERIMENT_LINES, EXPERIMENT_WORDS, EXPERIMENTS };
extern const char *const experiment_names[EXPERIMENTS];

struct file_options {
	enum experiment_id experiment;
	const char *file; /* NULL: one is made */
	const char *dir;  /* ... here */
	uint64_t size;	  /* ... of so many bytes; 0: the experiment's default */
	const char *modes; /* a list with commas; NULL: all */
	size_t blocks[MOST_BLOCKS];
	int n_blocks; /* 0: the experiment's default */
	int rounds;   /* 0: likewise */
	uint64_t duration_ns; /* a sample, at most; 0: likewise */
	bool touch, cold, direct, calls, fold, utf8, all, list;
	int depth, pool;
	const char *cores, *json, *output;
};

/* Fills options; exits on --help, --version and errors of usage. */
void file_options__parse(struct file_options *options, int argc, char **argv);

#endif
