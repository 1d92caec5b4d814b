/* SPDX-License-Identifier: BSD-2-Clause */
/* What every record of schema toll/1 has. */
#ifndef TOLL_RECORD_H
#define TOLL_RECORD_H

#include <jansson.h>
#include <stdio.h>

#include "common/noise.h"
#include "common/output.h"
#include "common/stats.h"

/* Writes the time as RFC 3339 in UTC; returns buffer. */
char *record__now(char buffer[32]);

/* schema, program, version, command, started, host and noise. The caller owns it; NULL: out of
 * memory. */
json_t *record__new(const char *program, char *const *command, const char *started,
		    const struct noise *noise);

/* A number, or null for what is not finite. */
json_t *record__real(double value);
/* {median, min, max, ci95: [low, high], windows}. */
json_t *record__stats(struct stats stats);

/* Writes the record, which it takes over (NULL: no JSON is wanted), and finishes both outputs; err is what the table's
 * printing came to. Says what failed. Returns the exit status. */
int record__report(json_t *record, int err, struct output *table, struct output *json);

/* Writes the record and a newline. Returns 0, or -EIO (the stream tells more). */
int record__write(const json_t *record, FILE *stream);

#endif
