/* SPDX-License-Identifier: BSD-2-Clause */
/* Order statistics of repeated windows. */
#ifndef TOLL_STATS_H
#define TOLL_STATS_H

#include <stddef.h>

struct stats {
	size_t n;
	double median, min, max; /* NaN where n is 0 */
	double low, high;	 /* 95 % interval of the median; NaN below STATS_LEAST samples */
};

/* Fewer samples than this have no distribution-free 95 % interval of the median:
 * 1 - 2 * 0.5^n first reaches 0.95 at n = 6. */
#define STATS_LEAST 6

/* The order of two doubles, for qsort(3). */
int stats__by_value(const void *a, const void *b);

/* Summarises n samples; the array is left as it is. The interval is between order statistics, by
 * the binomial distribution with p = 1/2 (Le Boudec, Performance Evaluation of Computer and
 * Communication Systems, theorem 2.1): it assumes independent samples, and no distribution.
 * Out of memory gives n = 0. */
struct stats stats__of(const double *samples, size_t n);

/* A ratio of two arms, from n pairs measured one after the other. */
struct ratio {
	double ratio;	  /* geometric mean of the pairs' ratios; NaN where n is 0 */
	double low, high; /* 95 % interval, by Student's t on their logarithms; NaN below two pairs */
};

/* Of times[i] / base[i], all above 0. For few pairs, where order statistics have no interval: it takes
 * the logarithms for normal. */
struct ratio stats__ratio(const double *times, const double *base, size_t n);

/* y = constant + slope * x, with standard errors. */
struct line {
	double constant, constant_error;
	double slope, slope_error; /* errors are NaN below three points, all is NaN below two */
};

/* Through n points with y above 0, by least squares of the relative residuals (weights 1 / y^2): what is
 * measured of a call has an error in proportion to it, be the call short or long (Press et al., Numerical
 * Recipes, 15.2). The errors are from the residuals themselves. */
struct line stats__line(const double *x, const double *y, size_t n);

#endif
