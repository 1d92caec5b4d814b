/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic of tallies, and what they say of time. */
#ifndef TOLL_TALLY_H
#define TOLL_TALLY_H

#include "probes/target.h"

/* Adds part to sum; the extremes become those of both. */
void tally__add(struct tally *sum, const struct tally *part);
/* Takes before from now, but for the extremes: they stay now's. */
void tally__subtract(struct tally *now, const struct tally *before);

/* Time on the CPU in all calls, in seconds: that of the calls timed as all of their kind, and for the others
 * the mean of those sampled (or, without any, of those timed) times their number. 0 where none was timed.
 * half_width: of its 95 % interval, 1.96 N s / sqrt(n) * sqrt(1 - n / N) for n of N calls sampled, with their
 * standard deviation s (Cochran, Sampling Techniques, 3rd edition, 2.6); 0 where all were timed; may be NULL. */
double tally__seconds(const struct tally *tally, double *half_width);

#endif
