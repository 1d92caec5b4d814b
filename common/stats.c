/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The largest k (from 0) for which P(Binomial(n, 1/2) <= k) is at most 2.5 %. */
static size_t tail_rank(size_t n)
{
	double below = 0;
	size_t k = 0;

	for (;; k++) {
		below += exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
			     lgamma((double)(n - k) + 1) - (double)n * M_LN2);
		if (below > 0.025)
			return k ? k - 1 : 0;
	}
}

struct stats stats__of(const double *samples, size_t n)
{
	struct stats s = {0, NAN, NAN, NAN, NAN, NAN};
	double *sorted;
	size_t k;

	if (!n || !(sorted = malloc(n * sizeof(*sorted))))
		return s;
	memcpy(sorted, samples, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	s.n = n;
	s.min = sorted[0];
	s.max = sorted[n - 1];
	s.median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	if (n >= STATS_LEAST) {
		k = tail_rank(n);
		s.low = sorted[k];
		s.high = sorted[n - 1 - k];
	}
	free(sorted);
	return s;
}
