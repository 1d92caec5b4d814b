/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading ahead: another layer reads large blocks, and small ones are copied out of them. */
#include <errno.h>
#include <string.h>

#include "file/layer.h"

#define AHEAD 65536u /* as Erlang's read_ahead has it */

struct ahead {
	struct layer_file file;
	struct layer_file *under;
	const uint8_t *data; /* of the last block of the layer under it, what is not yet handed out */
	size_t left;
};

static void keep(void *argument, const void *data, size_t n, uint64_t offset)
{
	struct ahead *ahead = argument;

	(void)offset;
	ahead->data = data;
	ahead->left = n;
}

static int open_ahead(struct layer_file **file, const struct layer *layer, const struct layer *under,
		      const struct layer_job *job, char *why, size_t why_size)
{
	int err = layer__new(file, sizeof(struct ahead), layer, job, NULL, why, why_size);
	struct ahead *ahead = (struct ahead *)*file;
	struct layer_job below = *job;

	if (err)
		return err;
	below.block = job->block > AHEAD ? job->block : AHEAD;
	below.seen = keep;
	below.argument = ahead;
	return under->open(&ahead->under, &below, why, why_size);
}

static int open_raw_ahead(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_ahead(file, &layer_ahead, &layer_raw, job, why, why_size);
}

static int open_pool_ahead(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_ahead(file, &layer_pool_ahead, &layer_pool, job, why, why_size);
}

static int move_ahead(struct layer_file *file, bool write, uint64_t offset)
{
	struct ahead *ahead = (struct ahead *)file;
	size_t done = 0;

	(void)write;
	(void)offset;
	while (done < file->job.block) {
		size_t n = file->job.block - done;
		int err;

		if (!ahead->left) {
			if (ahead->under->end)
				break;
			err = ahead->under->layer->move(ahead->under, false, LAYER_NEXT);
			if (err)
				return err;
			continue;
		}
		n = n < ahead->left ? n : ahead->left;
		memcpy(file->buffer + done, ahead->data, n);
		ahead->data += n;
		ahead->left -= n;
		done += n;
	}
	layer__saw(file, file->buffer, done, file->position);
	file->position += done;
	return 0;
}

static void close_ahead(struct layer_file *file)
{
	struct ahead *ahead = (struct ahead *)file;

	if (file && ahead->under)
		ahead->under->layer->close(ahead->under);
	layer__free(file);
}

const struct layer layer_ahead = {"ahead", "raw, 64 KiB at a time, copied out of that in blocks",
				  LAYER_STREAMS | LAYER_LINES, open_raw_ahead, move_ahead, NULL, close_ahead};
const struct layer layer_pool_ahead = {"pool-ahead", "pool, likewise", LAYER_STREAMS | LAYER_LINES, open_pool_ahead,
				       move_ahead, NULL, close_ahead};
