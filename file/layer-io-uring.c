/* SPDX-License-Identifier: BSD-2-Clause */
/* io_uring: several moves in flight, submitted and waited for in batches of half the depth. */
#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/layer.h"

struct flight {
	uint64_t offset;
	size_t done; /* of the block */
	uint8_t *buffer;
	bool write;
};

struct uring {
	struct layer_file file;
	struct io_uring ring;
	bool open;
	int depth, flying, unsubmitted;
	struct flight *flights; /* [depth] */
	struct flight **idle;	/* those not in flight: idle[0 .. depth - flying - 1] */
	uint8_t *buffers;	/* [depth] blocks */
};

static int open_uring(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	int err = layer__new(file, sizeof(struct uring), &layer_io_uring, job, job->path, why, why_size);
	struct uring *uring = (struct uring *)*file;
	size_t room = (job->block + 4095) / 4096 * 4096;

	if (err)
		return err;
	err = io_uring_queue_init((unsigned int)job->depth, &uring->ring, 0);
	if (err) {
		snprintf(why, why_size, "the kernel refuses io_uring (%s)%s", strerror(-err),
			 err == -EPERM ? ": kernel.io_uring_disabled, or a seccomp filter" : "");
		return err;
	}
	uring->open = true;
	uring->depth = job->depth;
	uring->flights = calloc((size_t)job->depth, sizeof(*uring->flights));
	uring->idle = calloc((size_t)job->depth, sizeof(struct flight *));
	uring->buffers = aligned_alloc(4096, room * (size_t)job->depth);
	if (!uring->flights || !uring->idle || !uring->buffers)
		return -ENOMEM;
	memset(uring->buffers, 0xa5, room * (size_t)job->depth);
	for (int i = 0; i < job->depth; i++) {
		uring->flights[i].buffer = uring->buffers + room * (size_t)i;
		uring->idle[i] = &uring->flights[i];
	}
	return 0;
}

static void prepare(struct uring *uring, struct flight *flight)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring); /* there is one: at most depth are in flight */
	uint8_t *data = flight->buffer + flight->done;
	unsigned int rest = (unsigned int)(uring->file.job.block - flight->done);
	uint64_t at = flight->offset + flight->done;

	if (flight->write)
		io_uring_prep_write(sqe, uring->file.fd, data, rest, at);
	else
		io_uring_prep_read(sqe, uring->file.fd, data, rest, at);
	io_uring_sqe_set_data(sqe, flight);
	uring->unsubmitted++;
}

/* What is done with a completion. Returns 0 or -errno. */
static int land(struct uring *uring, struct flight *flight, int result)
{
	size_t block = uring->file.job.block;
	bool tail = result == -EINVAL && flight->done && uring->file.job.direct;

	if (result == -EINTR || result == -EAGAIN) {
		prepare(uring, flight);
		return 0;
	}
	if (result > 0)
		flight->done += (size_t)result;
	if (result > 0 && flight->done < block) { /* short: the rest, or the end */
		prepare(uring, flight);
		return 0;
	}
	uring->idle[uring->depth - uring->flying--] = flight;
	if (result < 0 && !tail)
		return result;
	if (flight->write && flight->done < block)
		return -ENOSPC;
	if (flight->write)
		uring->file.bytes += block;
	else
		layer__saw(&uring->file, flight->buffer, flight->done, flight->offset);
	return 0;
}

/* Submits what is prepared, waits for `least` completions and lands all there are. */
static int turn(struct uring *uring, int least)
{
	struct io_uring_cqe *cqe;
	int err = 0, n;

	n = io_uring_submit_and_wait(&uring->ring, (unsigned int)least);
	if (n < 0 && n != -EINTR)
		return n;
	if (n > 0)
		uring->unsubmitted -= n;
	while (!io_uring_peek_cqe(&uring->ring, &cqe)) {
		struct flight *flight = io_uring_cqe_get_data(cqe);
		int result = cqe->res;

		io_uring_cqe_seen(&uring->ring, cqe);
		result = land(uring, flight, result);
		err = err ? err : result;
	}
	return err;
}

static int move_uring(struct layer_file *file, bool write, uint64_t offset)
{
	struct uring *uring = (struct uring *)file;
	int half = uring->depth / 2 ? uring->depth / 2 : 1, err = 0;
	struct flight *flight;

	while (!err && uring->flying == uring->depth)
		err = turn(uring, half);
	if (err)
		return err;
	flight = uring->idle[uring->depth - ++uring->flying];
	flight->write = write;
	flight->offset = offset == LAYER_NEXT ? file->position : offset;
	flight->done = 0;
	if (offset == LAYER_NEXT)
		file->position += file->job.block;
	if (write)
		layer__make(file, flight->buffer, flight->offset);
	prepare(uring, flight);
	return uring->unsubmitted >= half ? turn(uring, 0) : 0;
}

static int finish_uring(struct layer_file *file)
{
	struct uring *uring = (struct uring *)file;
	int err = 0;

	while (uring->flying) {
		int one = turn(uring, 1);

		err = err ? err : one;
		if (one && one == -EBADF)
			break;
	}
	return err;
}

static void close_uring(struct layer_file *file)
{
	struct uring *uring = (struct uring *)file;

	if (!file)
		return;
	if (uring->open) {
		if (uring->flights && uring->idle && uring->buffers)
			finish_uring(file);
		io_uring_queue_exit(&uring->ring);
	}
	free(uring->flights);
	free(uring->idle);
	free(uring->buffers);
	layer__free(file);
}

const struct layer layer_io_uring = {"io_uring", "io_uring, --depth moves in flight",
				     LAYER_READS | LAYER_WRITES | LAYER_DIRECT, open_uring, move_uring, finish_uring,
				     close_uring};
