/* SPDX-License-Identifier: BSD-2-Clause */
/* A block handed out as a list with a cell a byte, as languages have it whose strings are lists: cells of two
 * 32-bit words, and of two 64-bit words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/layer.h"

struct cell8 {
	uint32_t next, value; /* next: an index, + 1; 0: the list ends */
};
struct cell16 {
	struct cell16 *next;
	uint64_t value;
};

struct bytes {
	struct layer_file file;
	struct layer_job job; /* the caller's */
	void *cells;
};

static void hand_out8(struct bytes *bytes, const uint8_t *data, size_t n, uint64_t offset)
{
	struct cell8 *cells = bytes->cells;
	uint32_t head = 0;
	size_t out = 0;

	for (size_t i = n; i--;) {
		cells[i] = (struct cell8){head, data[i]};
		head = (uint32_t)i + 1;
	}
	__asm__ volatile("" : : "r"(cells) : "memory");
	if (!bytes->job.seen)
		return;
	for (; head; head = cells[head - 1].next)
		bytes->file.buffer[out++] = (uint8_t)cells[head - 1].value;
	bytes->job.seen(bytes->job.argument, bytes->file.buffer, out, offset);
}

static void hand_out16(struct bytes *bytes, const uint8_t *data, size_t n, uint64_t offset)
{
	struct cell16 *cells = bytes->cells, *head = NULL;
	size_t out = 0;

	for (size_t i = n; i--;) {
		cells[i] = (struct cell16){head, data[i]};
		head = &cells[i];
	}
	__asm__ volatile("" : : "r"(cells) : "memory");
	if (!bytes->job.seen)
		return;
	for (; head; head = head->next)
		bytes->file.buffer[out++] = (uint8_t)head->value;
	bytes->job.seen(bytes->job.argument, bytes->file.buffer, out, offset);
}

static void make_list(void *argument, const void *data, size_t n, uint64_t offset)
{
	struct bytes *bytes = argument;

	if (bytes->file.layer == &layer_bytes8)
		hand_out8(bytes, data, n, offset);
	else
		hand_out16(bytes, data, n, offset);
}

static int open_bytes(struct layer_file **file, const struct layer *layer, const struct layer_job *job, char *why,
		      size_t why_size)
{
	size_t room = job->block * (layer == &layer_bytes8 ? sizeof(struct cell8) : sizeof(struct cell16));
	int err = layer__new(file, sizeof(struct bytes), layer, job, job->path, why, why_size);
	struct bytes *bytes = (struct bytes *)*file;

	if (err)
		return err;
	bytes->job = *job;
	bytes->file.job.seen = make_list;
	bytes->file.job.argument = bytes;
	bytes->cells = malloc(room);
	if (!bytes->cells)
		return -ENOMEM;
	memset(bytes->cells, 0, room);
	return 0;
}

static int open_bytes8(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_bytes(file, &layer_bytes8, job, why, why_size);
}

static int open_bytes16(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_bytes(file, &layer_bytes16, job, why, why_size);
}

static void close_bytes(struct layer_file *file)
{
	if (file)
		free(((struct bytes *)file)->cells);
	layer__free(file);
}

const struct layer layer_bytes8 = {"bytes8", "raw, the result made a list with a cell of 8 bytes a byte",
				   LAYER_READS | LAYER_STREAMS, open_bytes8, layer__move, NULL, close_bytes};
const struct layer layer_bytes16 = {"bytes16", "the same with cells of 16 bytes", LAYER_READS | LAYER_STREAMS,
				    open_bytes16, layer__move, NULL, close_bytes};
