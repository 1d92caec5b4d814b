/* SPDX-License-Identifier: BSD-2-Clause */
/* The same pseudo-random numbers each time, on every machine. */
#ifndef TOLL_RANDOM_H
#define TOLL_RANDOM_H

#include <stdint.h>

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
static inline uint64_t random__next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif
