/* SPDX-License-Identifier: BSD-2-Clause */
/* Result files: written beside their place and renamed, so that a failure leaves the old one. */
#ifndef TOLL_OUTPUT_H
#define TOLL_OUTPUT_H

#include <stdio.h>

struct output {
	FILE *stream;	  /* write here, into memory; NULL where there is no output */
	const char *path; /* as typed; borrowed */
	char *temporary;  /* renamed to path on commit; NULL: path is written directly */
	char *text;	  /* what was written */
	size_t size, flushed; /* of text; of that, already written */
	int fd;
};

/* Call first in main: a standard stream that was closed by the caller is taken by a descriptor that
 * can't be used for it, lest a result file get its number. */
void output__hold_standard(void);

/* As a path: the standard error, as it is open. */
extern const char output_stderr[];

/* Opens path for writing ("-" is standard output, NULL is none). A regular or absent file gets a
 * temporary beside it; a device, FIFO or symbolic link is opened itself. Under sudo the file belongs
 * to the user who typed sudo. Returns 0 or -errno. */
int output__open(struct output *output, const char *path);

/* Writes what the stream was given until now, for a reader who waits; a file is still renamed by
 * output__commit alone. Returns 0 or -errno. */
int output__flush(struct output *output);

/* Writes what the stream was given, all at once so that no error is lost, and renames. Returns 0, or
 * -errno with the old file left as it was. */
int output__commit(struct output *output);

/* output__open, or says why not and exits: EXIT_USAGE where the folder is missing, else EXIT_FAILED. */
void output__must_open(struct output *output, const char *path);

/* The two that every program has, likewise: json_path, and path or otherwise. Without path there is no table under -q,
 * nor where the JSON is on standard output. */
void output__must_open_both(struct output *table, struct output *json, const char *path, const char *json_path,
			    const char *otherwise);

/* output__commit, and says what failed. Returns 0 or -errno. */
int output__finish(struct output *output);

/* Writes it all. Returns 0 or -errno. */
int output__write_all(int fd, const void *data, size_t size);

/* Drops what was not committed; takes one that was, or never opened. */
void output__close(struct output *output);

#endif
