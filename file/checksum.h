/* SPDX-License-Identifier: BSD-2-Clause */
/* A sum of a file's bytes that tells a wrong, missing, doubled or displaced one, and can be made from blocks in
 * any order. */
#ifndef TOLL_CHECKSUM_H
#define TOLL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* What the n bytes at that offset of a file add to its sum (mod 2^64): 64-bit little-endian words, each
 * first combined with a key of its 512-byte sector. Not cryptographic. */
uint64_t checksum__part(const void *data, size_t n, uint64_t offset);

/* Adds that to *sum, a uint64_t: a layer_job.seen. */
void checksum__add(void *sum, const void *data, size_t n, uint64_t offset);

#endif
