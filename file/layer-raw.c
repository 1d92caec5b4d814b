/* SPDX-License-Identifier: BSD-2-Clause */
/* The thinnest layers: no call at all, and one call a block. */
#include "file/layer.h"

static int open_null(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return layer__new(file, sizeof(**file), &layer_null, job, NULL, why, why_size);
}

/* What the harness itself costs. It has no data that anyone could look at. */
static int move_null(struct layer_file *file, bool write, uint64_t offset)
{
	(void)write;
	(void)offset;
	file->bytes += file->job.block;
	return 0;
}

static int open_raw(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return layer__new(file, sizeof(**file), &layer_raw, job, job->path, why, why_size);
}

const struct layer layer_null = {"null", "no input or output: the harness itself", LAYER_READS, open_null, move_null,
				 NULL, layer__free};
const struct layer layer_raw = {
	"raw", "read(2) or write(2) with one reused block",
	LAYER_READS | LAYER_WRITES | LAYER_STREAMS | LAYER_DIRECT | LAYER_LINES,
	open_raw, layer__move, NULL, layer__free};
