/* SPDX-License-Identifier: BSD-2-Clause */
/* Values: one word with its type in the low four bits, as in the BEAM (erts/emulator/beam/erl_term.h),
 * but with 0 for integers, so that words add as they are. */
#ifndef TOLL_VALUE_H
#define TOLL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t value;

#define TAG_BITS 4
#define TAG_MASK 15
#define TAG_INTEGER 0 /* 60 bits: the sum of two words overflows where the sum of the integers does */
#define TAG_ATOM 11   /* its number in the program's list of atoms */

#define INTEGER_MAX ((INT64_C(1) << 59) - 1)
#define INTEGER_MIN (-INTEGER_MAX - 1)

static inline value value__integer(int64_t n)
{
	return (value)((uint64_t)n << TAG_BITS);
}

static inline value value__atom(int number)
{
	return (value)((uint64_t)number << TAG_BITS | TAG_ATOM);
}

static inline bool value__is_integer(value v)
{
	return (v & TAG_MASK) == TAG_INTEGER;
}

/* The integer of an integer, or the number of an atom. */
static inline int64_t value__number(value v)
{
	return v >> TAG_BITS;
}

#endif
