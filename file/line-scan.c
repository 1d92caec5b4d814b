/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/line-scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static int carry(struct line_scan *scan, const char *data, size_t n)
{
	if (scan->room - scan->n < n) {
		size_t room = 2 * scan->room > scan->n + n ? 2 * scan->room : scan->n + n;
		char *more = realloc(scan->carried, room);

		if (!more)
			return -ENOMEM;
		scan->carried = more;
		scan->room = room;
	}
	if (n)
		memcpy(scan->carried + scan->n, data, n);
	scan->n += n;
	return 0;
}

/* A line of which the start is carried. */
static int finish_carried(struct line_scan *scan, const char *data, size_t n)
{
	int err = carry(scan, data, n);

	if (err)
		return err;
	scan->work(scan->argument, scan->carried, scan->n);
	scan->n = 0;
	return 0;
}

/* One newline at a time, by the C library's memchr: the end of a block, and machines without AVX2. Returns
 * where the next line starts. */
static const char *some_lines(struct line_scan *scan, const char *start, const char *from, const char *end)
{
	const char *newline;

	while ((newline = memchr(from, '\n', (size_t)(end - from)))) {
		scan->work(scan->argument, start, (size_t)(newline - start));
		scan->lines++;
		start = from = newline + 1;
	}
	return start;
}

static uint64_t plain_count(const char *data, size_t n)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < n; i++)
		lines += data[i] == '\n';
	return lines;
}

#if defined(__x86_64__)
/* 64 bytes at a time: a bit for each newline. */
__attribute__((target("avx2"))) static inline uint64_t newlines(const char *at)
{
	__m256i newline = _mm256_set1_epi8('\n');
	__m256i low = _mm256_loadu_si256((const __m256i *)at);
	__m256i high = _mm256_loadu_si256((const __m256i *)(at + 32));

	return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, newline)) |
	       (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, newline)) << 32;
}

__attribute__((target("avx2,bmi"))) static const char *many_lines(struct line_scan *scan, const char *start,
								  const char *end)
{
	const char *at = start;
	uint64_t lines = 0;

	for (; end - at >= 64; at += 64)
		for (uint64_t mask = newlines(at); mask; mask &= mask - 1) {
			const char *newline = at + __builtin_ctzll(mask);

			scan->work(scan->argument, start, (size_t)(newline - start));
			lines++;
			start = newline + 1;
		}
	scan->lines += lines;
	return some_lines(scan, start, at > start ? at : start, end);
}

/* Each byte of a vector counts its own newlines, 255 at most, before they are summed up. */
__attribute__((target("avx2"))) static uint64_t vector_count(const char *data, size_t n)
{
	const __m256i newline = _mm256_set1_epi8('\n');
	__m256i total = _mm256_setzero_si256();
	size_t i = 0;

	while (n - i >= 128) {
		size_t rounds = (n - i) / 128 < 63 ? (n - i) / 128 : 63;
		__m256i counts[4] = {total, total, total, total}, sum;

		for (int k = 0; k < 4; k++)
			counts[k] = _mm256_setzero_si256();
		for (; rounds--; i += 128)
			for (int k = 0; k < 4; k++) /* equal is -1 */
				counts[k] = _mm256_sub_epi8(counts[k], _mm256_cmpeq_epi8(
					newline, _mm256_loadu_si256((const __m256i *)(data + i + 32 * k))));
		sum = _mm256_add_epi8(_mm256_add_epi8(counts[0], counts[1]), _mm256_add_epi8(counts[2], counts[3]));
		total = _mm256_add_epi64(total, _mm256_sad_epu8(sum, _mm256_setzero_si256()));
	}
	return (uint64_t)(_mm256_extract_epi64(total, 0) + _mm256_extract_epi64(total, 1) +
			  _mm256_extract_epi64(total, 2) + _mm256_extract_epi64(total, 3)) +
	       plain_count(data + i, n - i);
}
#endif

uint64_t line_scan__count(const void *data, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return vector_count(data, n);
#endif
	return plain_count(data, n);
}

int line_scan__block(struct line_scan *scan, const void *data, size_t n)
{
	const char *start = data, *end = start + n, *newline;
	int err;

	if (!n)
		return 0;
	if (!scan->work) {
		scan->lines += line_scan__count(data, n);
		scan->n = end[-1] != '\n';
		return 0;
	}
	if (scan->n) {
		newline = memchr(start, '\n', n);
		if (!newline)
			return carry(scan, start, n);
		err = finish_carried(scan, start, (size_t)(newline - start));
		if (err)
			return err;
		scan->lines++;
		start = newline + 1;
	}
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		start = many_lines(scan, start, end);
	else
#endif
		start = some_lines(scan, start, start, end);
	return start < end ? carry(scan, start, (size_t)(end - start)) : 0;
}

void line_scan__end(struct line_scan *scan)
{
	if (scan->n) {
		scan->lines++;
		if (scan->work)
			scan->work(scan->argument, scan->carried, scan->n);
	}
	free(scan->carried);
	scan->carried = NULL;
	scan->n = scan->room = 0;
}
