/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/word-scan.h"

#include <endian.h>
#include <string.h>

/* Where the bits are, one after the other. */
static inline void spread(uint32_t *to, uint64_t bits, uint32_t at)
{
	for (; bits; bits &= bits - 1)
		*to++ = at + (uint32_t)__builtin_ctzll(bits);
}

/* Without vectors: eight bytes in a uint64_t, the answer in the top bit of each, and no carries between. */
#define EACH(c) ((uint64_t)(c)*0x0101010101010101u)

static inline uint64_t eight(const unsigned char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return le64toh(bytes);
}

/* The top bits of eight bytes, side by side. */
static inline uint64_t gather(uint64_t tops)
{
	return (tops >> 7) * 0x0102040810204080u >> 56;
}

static inline uint64_t plain_equal(const unsigned char *p, unsigned c)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t x = eight(p + 8 * i) ^ EACH(c);

		mask |= gather(~(((x & EACH(0x7f)) + EACH(0x7f)) | x) & EACH(0x80)) << 8 * i;
	}
	return mask;
}

/* low and high are both below 0x80 or both not. */
static inline uint64_t plain_between(const unsigned char *p, unsigned low, unsigned high)
{
	uint64_t mask = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t x = eight(p + 8 * i) ^ EACH(low & 0x80), y = x & EACH(0x7f);

		mask |= gather((y + EACH(0x80 - (low & 0x7f))) & ~(y + EACH(0x7f - (high & 0x7f))) & ~x &
			       EACH(0x80))
			<< 8 * i;
	}
	return mask;
}

static inline void plain_fold(unsigned char *p)
{
	for (int i = 0; i < SCAN_BLOCK; i++)
		p[i] |= (unsigned char)(((unsigned)p[i] - 'A' < 26) << 5);
}

static bool always(void)
{
	return true;
}

#define NAME(x) plain_##x##_words
#define TARGET
#define EQUAL(p, c) plain_equal(p, c)
#define BETWEEN(p, low, high) plain_between(p, low, high)
#define FOLD(p) plain_fold(p)
#define SPREAD(to, bits, n, at) spread(to, bits, at)
#include "file/word-scan-body.h"

static const struct scan plain = {"portable", always, plain_begin_words, plain_cut_words};

#ifdef __x86_64__
#include <immintrin.h>

static inline uint64_t sse2_equal(const unsigned char *p, char c)
{
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((const __m128i *)(p + 16 * i));

		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(x, _mm_set1_epi8(c))) << 16 * i;
	}
	return mask;
}

static inline uint64_t sse2_between(const unsigned char *p, char low, char width)
{
	uint64_t mask = 0;

	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), _mm_set1_epi8(low));

		x = _mm_cmpeq_epi8(_mm_min_epu8(x, _mm_set1_epi8(width)), x);
		mask |= (uint64_t)(unsigned)_mm_movemask_epi8(x) << 16 * i;
	}
	return mask;
}

/* Capitals are what is above 101 as a signed byte once 37 is added: 'A' is 65, 'Z' gives 127. */
static inline void sse2_fold(unsigned char *p)
{
	for (int i = 0; i < 4; i++) {
		__m128i x = _mm_loadu_si128((__m128i *)(p + 16 * i));
		__m128i capital = _mm_cmpgt_epi8(_mm_add_epi8(x, _mm_set1_epi8(37)), _mm_set1_epi8(101));

		x = _mm_or_si128(x, _mm_and_si128(capital, _mm_set1_epi8(0x20)));
		_mm_storeu_si128((__m128i *)(p + 16 * i), x);
	}
}

#define NAME(x) sse2_##x##_words
#define TARGET
#define EQUAL(p, c) sse2_equal(p, (char)(c))
#define BETWEEN(p, low, high) sse2_between(p, (char)(low), (char)((high) - (low)))
#define FOLD(p) sse2_fold(p)
#define SPREAD(to, bits, n, at) spread(to, bits, at)
#include "file/word-scan-body.h"

static const struct scan sse2 = {"sse2", always, sse2_begin_words, sse2_cut_words};

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

static inline AVX2 uint64_t avx2_mask(__m256i first, __m256i second)
{
	return (unsigned)_mm256_movemask_epi8(first) | (uint64_t)(unsigned)_mm256_movemask_epi8(second) << 32;
}

static inline AVX2 uint64_t avx2_equal(const unsigned char *p, char c)
{
	__m256i x = _mm256_loadu_si256((const __m256i *)p);
	__m256i y = _mm256_loadu_si256((const __m256i *)(p + 32));

	return avx2_mask(_mm256_cmpeq_epi8(x, _mm256_set1_epi8(c)), _mm256_cmpeq_epi8(y, _mm256_set1_epi8(c)));
}

static inline AVX2 uint64_t avx2_between(const unsigned char *p, char low, char width)
{
	__m256i x = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)p), _mm256_set1_epi8(low));
	__m256i y = _mm256_sub_epi8(_mm256_loadu_si256((const __m256i *)(p + 32)), _mm256_set1_epi8(low));

	return avx2_mask(_mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(width)), x),
			 _mm256_cmpeq_epi8(_mm256_min_epu8(y, _mm256_set1_epi8(width)), y));
}

static inline AVX2 void avx2_fold(unsigned char *p)
{
	for (int i = 0; i < 2; i++) {
		__m256i x = _mm256_loadu_si256((__m256i *)(p + 32 * i));
		__m256i capital = _mm256_cmpgt_epi8(_mm256_add_epi8(x, _mm256_set1_epi8(37)),
						    _mm256_set1_epi8(101));

		x = _mm256_or_si256(x, _mm256_and_si256(capital, _mm256_set1_epi8(0x20)));
		_mm256_storeu_si256((__m256i *)(p + 32 * i), x);
	}
}

/* Eight at a time, past the last bit: a loop that ends at the last one is mispredicted in each block. */
static inline AVX2 void avx2_spread(uint32_t *to, uint64_t bits, size_t n, uint32_t at)
{
	for (size_t i = 0; i < n; i += 8)
		for (int j = 0; j < 8; j++) {
			to[i + (size_t)j] = at + (uint32_t)_tzcnt_u64(bits);
			bits = _blsr_u64(bits);
		}
}

static bool avx2_works(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

#define NAME(x) avx2_##x##_words
#define TARGET AVX2
#define EQUAL(p, c) avx2_equal(p, (char)(c))
#define BETWEEN(p, low, high) avx2_between(p, (char)(low), (char)((high) - (low)))
#define FOLD(p) avx2_fold(p)
#define SPREAD(to, bits, n, at) avx2_spread(to, bits, n, at)
#include "file/word-scan-body.h"

static const struct scan avx2 = {"avx2", avx2_works, avx2_begin_words, avx2_cut_words};

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi2,avx2,bmi,bmi2,popcnt")))

static inline AVX512 uint64_t avx512_equal(const unsigned char *p, char c)
{
	return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), _mm512_set1_epi8(c));
}

static inline AVX512 uint64_t avx512_between(const unsigned char *p, char low, char width)
{
	return _mm512_cmple_epu8_mask(_mm512_sub_epi8(_mm512_loadu_si512(p), _mm512_set1_epi8(low)),
				      _mm512_set1_epi8(width));
}

static inline AVX512 void avx512_fold(unsigned char *p)
{
	__m512i x = _mm512_loadu_si512(p);

	_mm512_storeu_si512(p, _mm512_mask_add_epi8(x, avx512_between(p, 'A', 25), x, _mm512_set1_epi8(0x20)));
}

/* 16 bytes as numbers of 32 bits, each from base on. */
static inline AVX512 void avx512_widen(uint32_t *to, __m128i bytes, __m512i base)
{
	_mm512_storeu_si512(to, _mm512_add_epi32(_mm512_cvtepu8_epi32(bytes), base));
}

/* The numbers 0 to 63 as bytes, those of the bits moved together. */
static inline AVX512 void avx512_spread(uint32_t *to, uint64_t bits, size_t n, uint32_t at)
{
	const __m512i numbers = _mm512_set_epi64(0x3f3e3d3c3b3a3938, 0x3736353433323130, 0x2f2e2d2c2b2a2928,
						 0x2726252423222120, 0x1f1e1d1c1b1a1918, 0x1716151413121110,
						 0x0f0e0d0c0b0a0908, 0x0706050403020100);
	__m512i packed = _mm512_maskz_compress_epi8(bits, numbers), base = _mm512_set1_epi32((int)at);

	avx512_widen(to, _mm512_castsi512_si128(packed), base);
	if (__builtin_expect(n > 16, 0)) /* at most 32 words start in 64 bytes */
		avx512_widen(to + 16, _mm512_extracti32x4_epi32(packed, 1), base);
}

static bool avx512_works(void)
{
	return avx2_works() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}

#define NAME(x) avx512_##x##_words
#define TARGET AVX512
#define EQUAL(p, c) avx512_equal(p, (char)(c))
#define BETWEEN(p, low, high) avx512_between(p, (char)(low), (char)((high) - (low)))
#define FOLD(p) avx512_fold(p)
#define SPREAD(to, bits, n, at) avx512_spread(to, bits, n, at)
#include "file/word-scan-body.h"

static const struct scan avx512 = {"avx512", avx512_works, avx512_begin_words, avx512_cut_words};
#endif

const struct scan *const scans[] = {
#ifdef __x86_64__
	&avx512, &avx2, &sse2,
#endif
	&plain, NULL,
};

const struct scan *scan__find(const char *name)
{
	for (const struct scan *const *scan = scans; *scan; scan++)
		if ((!name || !strcmp(name, (*scan)->name)) && (*scan)->works())
			return *scan;
	return NULL;
}
