/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/checksum.h"

#include <endian.h>
#include <string.h>

#define SECTOR 512

static uint64_t key_of(uint64_t offset)
{
	return (offset / SECTOR + 1) * 0x9e3779b97f4a7c15u; /* 2^64 over the golden ratio */
}

/* A whole sector; the compiler makes vectors of it. */
__attribute__((optimize("O3"))) static uint64_t whole_sector(const uint8_t *data, uint64_t key)
{
	uint64_t sum = 0, word;

	for (size_t i = 0; i < SECTOR; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		sum += le64toh(word) ^ key;
	}
	return sum;
}

/* Bytes of one sector: each stands where it stands in its word. */
static uint64_t some_bytes(const uint8_t *data, size_t n, uint64_t offset)
{
	uint64_t key = key_of(offset), sum = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int shift = (unsigned int)((offset + i) % 8 * 8);

		sum += (uint64_t)(data[i] ^ (uint8_t)(key >> shift)) << shift;
	}
	return sum;
}

uint64_t checksum__part(const void *data, size_t n, uint64_t offset)
{
	const uint8_t *at = data;
	uint64_t sum = 0;

	while (n) {
		size_t here = SECTOR - offset % SECTOR;

		here = here < n ? here : n;
		sum += here == SECTOR ? whole_sector(at, key_of(offset)) : some_bytes(at, here, offset);
		at += here;
		offset += here;
		n -= here;
	}
	return sum;
}

void checksum__add(void *sum, const void *data, size_t n, uint64_t offset)
{
	*(uint64_t *)sum += checksum__part(data, n, offset);
}
