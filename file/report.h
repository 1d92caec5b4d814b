/* SPDX-License-Identifier: BSD-2-Clause */
/* What all experiments of file-rate report. */
#ifndef TOLL_FILE_REPORT_H
#define TOLL_FILE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "file/arm.h"
#include "file/experiment.h"

/* A mode's price: ns a call and ns a byte, through its block sizes. */
struct fit {
	const char *mode, *kind;
	struct line line;   /* ns a call against bytes a call */
	int points;
	size_t close_from;  /* the block size from which on it is within 10 % of the base; 0: none */
};

/* A fit for each mode that has two block sizes or more, of arms of that kind, into fits[most]; base is the mode
 * that the others are held against. Returns how many. */
int fits__of(const struct arms *arms, const char *kind, const char *base, struct fit *fits, int most);
/* The table of them. Returns 0 or -errno. */
int fits__print(const struct fit *fits, int n, const char *base, FILE *stream);
json_t *fits__json(const struct fit *fits, int n);

/* The row of an arm, as JSON. */
json_t *arm__json(const struct arm *arm);
/* Why an arm has no figures, or what there is to say of it. */
const char *arm__remark(const struct arm *arm);
/* The arm of that kind, mode and block; NULL: there is none. */
const struct arm *arms__find(const struct arms *arms, const char *kind, const char *mode, size_t block);
/* System calls a call, one line an arm that has them. */
void arms__print_calls(const struct arms *arms, FILE *stream);

/* The whole table of a run, and the whole record. */
int file_report__print(const struct experiment *experiment, const struct setting *setting, FILE *stream);
json_t *file_report__json(const struct experiment *experiment, const struct setting *setting, char *const *argv,
			  const char *started);

#endif
