/* SPDX-License-Identifier: BSD-2-Clause */
/* Each call handed to a thread pool, and its result back. */
#include "file/layer.h"
#include "file/pool.h"

struct pooled {
	struct layer_file file;
	struct pool *pool;
	bool write;
	uint64_t offset;
	int err;
};

static void move_there(void *argument)
{
	struct pooled *pooled = argument;

	pooled->err = layer__move(&pooled->file, pooled->write, pooled->offset);
}

static int open_pooled(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	int err = layer__new(file, sizeof(struct pooled), &layer_pool, job, job->path, why, why_size);

	return err ? err : pool__new(&((struct pooled *)*file)->pool, job->pool);
}

static int move_pooled(struct layer_file *file, bool write, uint64_t offset)
{
	struct pooled *pooled = (struct pooled *)file;

	pooled->write = write;
	pooled->offset = offset;
	pool__call(pooled->pool, move_there, pooled);
	return pooled->err;
}

static void close_pooled(struct layer_file *file)
{
	if (file)
		pool__free(((struct pooled *)file)->pool);
	layer__free(file);
}

const struct layer layer_pool = {
	"pool", "raw, each call handed to a thread of a pool and back",
	LAYER_READS | LAYER_WRITES | LAYER_STREAMS | LAYER_DIRECT | LAYER_LINES,
	open_pooled, move_pooled, NULL, close_pooled};
