/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole file with one call: into a fresh buffer, a fresh one of huge pages, or one that was used before. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "file/layer.h"

#define FIRST_ROOM 65536
#define HUGE_PAGE (2u << 20)

struct whole {
	struct layer_file file;
	uint8_t *data;
	size_t room;
};

static void drop(struct whole *whole)
{
	if (whole->data)
		munmap(whole->data, whole->room);
	whole->data = NULL;
	whole->room = 0;
}

/* Room for size bytes that nobody has touched yet. The kernel starts a large mapping at a huge page. */
static int take(struct whole *whole, size_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		return -errno;
	if (whole->file.layer == &layer_whole_huge)
		madvise(data, size, MADV_HUGEPAGE);
	else
		madvise(data, size, MADV_NOHUGEPAGE);
	whole->data = data;
	whole->room = size;
	return 0;
}

static int open_whole(struct layer_file **file, const struct layer *layer, const struct layer_job *job, char *why,
		      size_t why_size)
{
	struct layer_job own = *job;
	size_t room = (job->block + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE;
	int err;

	own.block = 0;
	err = layer__new(file, sizeof(struct whole), layer, &own, job->path, why, why_size);
	if (err)
		return err;
	(*file)->job.block = job->block;
	if (layer == &layer_whole_reused && job->block) {
		err = take((struct whole *)*file, room);
		if (!err)
			memset(((struct whole *)*file)->data, 0xa5, room);
	}
	return err;
}

static int open_fresh(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_whole(file, &layer_whole, job, why, why_size);
}

static int open_huge(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_whole(file, &layer_whole_huge, job, why, why_size);
}

static int open_reused(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	return open_whole(file, &layer_whole_reused, job, why, why_size);
}

/* A file whose size is unknown (in /proc, a FIFO): the buffer doubles until the end. */
static int grow(struct whole *whole, size_t *done)
{
	for (*done = 0;;) {
		ssize_t n;

		if (*done == whole->room) {
			size_t room = whole->room ? 2 * whole->room : FIRST_ROOM;
			void *data = whole->data ? mremap(whole->data, whole->room, room, MREMAP_MAYMOVE) : NULL;
			int err = whole->data ? (data == MAP_FAILED ? -errno : 0) : take(whole, room);

			if (err)
				return err;
			if (data) {
				whole->data = data;
				whole->room = room;
			}
		}
		n = layer__read(whole->file.fd, whole->data + *done, whole->room - *done, LAYER_NEXT);
		if (n <= 0)
			return (int)n;
		*done += (size_t)n;
	}
}

static int move_whole(struct layer_file *file, bool write, uint64_t offset)
{
	struct whole *whole = (struct whole *)file;
	size_t size = file->job.block, done = 0;
	int err = 0;
	ssize_t n;

	(void)write;
	(void)offset;
	if (!size) {
		err = grow(whole, &done);
	} else {
		if (!whole->data)
			err = take(whole, size);
		n = err ? err : layer__read(file->fd, whole->data, size, LAYER_NEXT);
		err = n < 0 ? (int)n : 0;
		done = n > 0 ? (size_t)n : 0;
	}
	if (err)
		return err;
	layer__saw(file, whole->data, done, 0);
	file->end = true;
	return 0;
}

/* Giving the buffer back is part of what a fresh one costs. */
static int finish_whole(struct layer_file *file)
{
	if (file->layer != &layer_whole_reused)
		drop((struct whole *)file);
	return 0;
}

static void close_whole(struct layer_file *file)
{
	if (file)
		drop((struct whole *)file);
	layer__free(file);
}

const struct layer layer_whole = {"whole", "one read(2) into a fresh buffer of the file's size",
				  LAYER_READS | LAYER_STREAMS | LAYER_WHOLE, open_fresh, move_whole, finish_whole,
				  close_whole};
const struct layer layer_whole_huge = {"whole-huge", "the same, of transparent huge pages",
				       LAYER_READS | LAYER_STREAMS | LAYER_WHOLE, open_huge, move_whole, finish_whole,
				       close_whole};
const struct layer layer_whole_reused = {"whole-reused", "the same, of pages that are there already",
					 LAYER_READS | LAYER_WHOLE, open_reused, move_whole, finish_whole, close_whole};
