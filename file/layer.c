/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096

const struct layer *const layers[] = {
	&layer_null,  &layer_raw,      &layer_whole, &layer_whole_huge, &layer_whole_reused,
	&layer_mmap,  &layer_stdio,    &layer_io_uring, &layer_pool,	&layer_server,
	&layer_bytes8, &layer_bytes16, &layer_ahead, &layer_pool_ahead, NULL,
};

int layer__open(struct layer_file **file, const struct layer *layer, const struct layer_job *job, char *why,
		size_t why_size)
{
	int err;

	why[0] = '\0';
	*file = NULL;
	err = layer->open(file, job, why, why_size);
	if (!err)
		return 0;
	if (!why[0])
		snprintf(why, why_size, "%s", strerror(-err));
	layer->close(*file);
	*file = NULL;
	return err;
}

int layer__new(struct layer_file **out, size_t size, const struct layer *layer, const struct layer_job *job,
	       const char *path, char *why, size_t why_size)
{
	struct layer_file *file = calloc(1, size);
	size_t room = (job->block + PAGE - 1) / PAGE * PAGE;
	int err = file ? 0 : -ENOMEM;

	*out = NULL;
	if (file) {
		file->layer = layer;
		file->job = *job;
		file->fd = -1;
		file->buffer = room ? aligned_alloc(PAGE, room) : NULL;
		if (room && !file->buffer)
			err = -ENOMEM;
		else if (room)
			memset(file->buffer, 0xa5, room); /* its pages are there before the clock runs */
	}
	if (!err && path) {
		do /* a FIFO may be waited for */
			file->fd = open(path, (job->write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY |
						      (job->direct ? O_DIRECT : 0));
		while (file->fd < 0 && errno == EINTR);
		err = file->fd < 0 ? -errno : 0;
	}
	if (err) {
		snprintf(why, why_size, "%s", err == -EINVAL && job->direct ? "O_DIRECT is refused by the file system"
									      : strerror(-err));
		layer__free(file);
		return err;
	}
	*out = file;
	return 0;
}

void layer__free(struct layer_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file->buffer);
	free(file);
}

void layer__saw(struct layer_file *file, const void *data, size_t n, uint64_t offset)
{
	file->bytes += n;
	if (n < file->job.block)
		file->end = true;
	if (n && file->job.seen)
		file->job.seen(file->job.argument, data, n, offset);
}

void layer__make(struct layer_file *file, void *data, uint64_t offset)
{
	if (file->job.fill)
		file->job.fill(file->job.argument, data, file->job.block, offset);
}

ssize_t layer__read(int fd, void *data, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = offset == LAYER_NEXT ? read(fd, (char *)data + done, n - done)
						   : pread(fd, (char *)data + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		/* With O_DIRECT the rest after a short read is no multiple of a sector: it is the tail. */
		if (got < 0 && errno == EINVAL && done)
			break;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int layer__write(int fd, const void *data, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t put = offset == LAYER_NEXT ? write(fd, (const char *)data + done, n - done)
						   : pwrite(fd, (const char *)data + done, n - done,
							    (off_t)(offset + done));

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put ? -errno : -ENOSPC;
		done += (size_t)put;
	}
	return 0;
}

int layer__move(struct layer_file *file, bool write, uint64_t offset)
{
	size_t block = file->job.block;
	uint64_t at = offset == LAYER_NEXT ? file->position : offset;
	ssize_t n;

	if (write) {
		int err;

		layer__make(file, file->buffer, at);
		err = layer__write(file->fd, file->buffer, block, offset);
		if (err)
			return err;
		file->bytes += block;
		n = (ssize_t)block;
	} else {
		n = layer__read(file->fd, file->buffer, block, offset);
		if (n < 0)
			return (int)n;
		layer__saw(file, file->buffer, (size_t)n, at);
	}
	if (offset == LAYER_NEXT)
		file->position += (uint64_t)n;
	return 0;
}
