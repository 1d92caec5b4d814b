/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/tally.h"

#include <math.h>
#include <stddef.h>

void tally__add(struct tally *sum, const struct tally *part)
{
	sum->calls += part->calls;
	sum->errors += part->errors;
	sum->timed += part->timed;
	sum->time_ns += part->time_ns;
	sum->entered += part->entered;
	sum->sampled += part->sampled;
	sum->sampled_ns += part->sampled_ns;
	sum->squares += part->squares;
	sum->off_ns += part->off_ns;
	if (part->min_ns && (!sum->min_ns || part->min_ns < sum->min_ns))
		sum->min_ns = part->min_ns;
	if (part->max_ns > sum->max_ns)
		sum->max_ns = part->max_ns;
}

void tally__subtract(struct tally *now, const struct tally *before)
{
	now->calls -= before->calls;
	now->errors -= before->errors;
	now->timed -= before->timed;
	now->time_ns -= before->time_ns;
	now->entered -= before->entered;
	now->sampled -= before->sampled;
	now->sampled_ns -= before->sampled_ns;
	now->squares -= before->squares;
	now->off_ns -= before->off_ns;
}

double tally__seconds(const struct tally *tally, double *half_width)
{
	double population = (double)tally->calls - (double)tally->timed, n = (double)tally->sampled;
	double mean, variance;

	if (half_width)
		*half_width = 0;
	if (population <= 0)
		return (double)tally->time_ns / 1e9;
	if (!tally->sampled)
		return tally->timed ? (double)tally->time_ns / 1e9 / (double)tally->timed * (double)tally->calls
				    : 0;
	mean = (double)tally->sampled_ns / n;
	if (half_width && n > 1) {
		variance = fmax(0, (256 * (double)tally->squares - n * mean * mean) / (n - 1));
		*half_width = 1.96 * population * sqrt(variance / n * fmax(0, 1 - n / population)) / 1e9;
	}
	return ((double)tally->time_ns + population * mean) / 1e9;
}
