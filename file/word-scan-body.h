/* SPDX-License-Identifier: BSD-2-Clause */
/* Included by word-scan.c once for each kind of vectors. It expects NAME(x), TARGET (an attribute), and, of
 * 64 bytes at p:
 *   EQUAL(p, c)           a bit for each byte that is c
 *   BETWEEN(p, low, high) a bit for each byte from low to high
 *   FOLD(p)               ASCII capitals to small letters, in place
 *   SPREAD(to, bits, n, at)  to[i] = at + the number of the i-th of the n bits; n is at most 32, and
 *                            32 numbers may be written */

/* The bytes of Unicode's white space beyond ASCII, a bit each: U+0085 and U+00A0 are two bytes, U+1680,
 * U+2000 to 200A, 2028, 2029, 202F, 205F and 3000 three. Those that reach into the next block are left in
 * state->over. */
static TARGET uint64_t NAME(wide)(struct scan_state *state, const unsigned char *p)
{
	uint64_t e2 = EQUAL(p, 0xe2);
	uint64_t second80 = EQUAL(p + 1, 0x80), third80 = EQUAL(p + 2, 0x80);
	uint64_t two = EQUAL(p, 0xc2) & (EQUAL(p + 1, 0x85) | EQUAL(p + 1, 0xa0));
	uint64_t three = (EQUAL(p, 0xe1) & EQUAL(p + 1, 0x9a) & third80) |
			 (EQUAL(p, 0xe3) & second80 & third80) |
			 (e2 & EQUAL(p + 1, 0x81) & EQUAL(p + 2, 0x9f)) |
			 (e2 & second80 &
			  (BETWEEN(p + 2, 0x80, 0x8a) | BETWEEN(p + 2, 0xa8, 0xa9) | EQUAL(p + 2, 0xaf)));

	state->over = (two | three) >> 63 | three >> 62;
	return two | two << 1 | three | three << 1 | three << 2;
}

/* The bytes that are white space, a bit each. */
static inline TARGET uint64_t NAME(white)(struct scan_state *state, const unsigned char *p)
{
	uint64_t white = BETWEEN(p, '\t', '\r') | EQUAL(p, ' ');

	if (!state->utf8)
		return white;
	white |= state->over;
	state->over = 0;
	if (BETWEEN(p, 0xe1, 0xe3) | EQUAL(p, 0xc2))
		white |= NAME(wide)(state, p);
	return white;
}

static TARGET void NAME(begin)(struct scan_state *state, const unsigned char *text)
{
	state->over = 0;
	state->white = NAME(white)(state, text) >> 63;
}

static TARGET void NAME(cut)(struct scan_state *state, unsigned char *base, size_t from, size_t blocks)
{
	for (size_t at = from; blocks--; at += SCAN_BLOCK) {
		uint64_t white = NAME(white)(state, base + at);
		uint64_t after = white << 1 | state->white; /* bytes that white space precedes */
		uint64_t starts = ~white & after, ends = white & ~after;
		size_t n = (size_t)__builtin_popcountll(starts), m;

		if (state->fold)
			FOLD(base + at);
		if (__builtin_expect(state->skip, 0) && ends) {
			ends &= ends - 1;
			state->skip = false;
		}
		m = (size_t)__builtin_popcountll(ends);
		state->white = white >> 63;
		SPREAD(state->starts + state->n_starts, starts, n, (uint32_t)at);
		SPREAD(state->ends + state->n_ends, ends, m, (uint32_t)at);
		state->n_starts += n;
		state->n_ends += m;
	}
}

#undef NAME
#undef TARGET
#undef EQUAL
#undef BETWEEN
#undef FOLD
#undef SPREAD
