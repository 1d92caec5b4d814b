/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int stats__by_value(const void *a, const void *b)
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
	qsort(sorted, n, sizeof(*sorted), stats__by_value);
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

/* The 97.5 % quantile of Student's t with 1 to 30 degrees of freedom (Abramowitz and Stegun, table
 * 26.10), above that of the normal distribution. */
static double t_quantile(size_t degrees)
{
	static const double table[] = {
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201,	2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080,	2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	};

	return degrees <= sizeof(table) / sizeof(*table) ? table[degrees - 1] : 1.960;
}

struct ratio stats__ratio(const double *times, const double *base, size_t n)
{
	double sum = 0, squares = 0, mean, half;

	if (!n)
		return (struct ratio){NAN, NAN, NAN};
	for (size_t i = 0; i < n; i++)
		sum += log(times[i] / base[i]);
	mean = sum / (double)n;
	if (n < 2)
		return (struct ratio){exp(mean), NAN, NAN};
	for (size_t i = 0; i < n; i++)
		squares += (log(times[i] / base[i]) - mean) * (log(times[i] / base[i]) - mean);
	half = t_quantile(n - 1) * sqrt(squares / (double)(n - 1) / (double)n);
	return (struct ratio){exp(mean), exp(mean - half), exp(mean + half)};
}

struct line stats__line(const double *x, const double *y, size_t n)
{
	struct line line = {NAN, NAN, NAN, NAN};
	double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0, residuals = 0, determinant;

	for (size_t i = 0; i < n; i++) {
		double weight = 1 / (y[i] * y[i]);

		w += weight;
		wx += weight * x[i];
		wy += weight * y[i];
		wxx += weight * x[i] * x[i];
		wxy += weight * x[i] * y[i];
	}
	determinant = w * wxx - wx * wx;
	if (n < 2 || !(determinant > 1e-12 * w * wxx)) /* all x the same, but for rounding */
		return line;
	line.constant = (wxx * wy - wx * wxy) / determinant;
	line.slope = (w * wxy - wx * wy) / determinant;
	if (n < 3)
		return line;
	for (size_t i = 0; i < n; i++) {
		double residual = (line.constant + line.slope * x[i] - y[i]) / y[i];

		residuals += residual * residual;
	}
	line.constant_error = sqrt(residuals / (double)(n - 2) * wxx / determinant);
	line.slope_error = sqrt(residuals / (double)(n - 2) * w / determinant);
	return line;
}
