/* SPDX-License-Identifier: BSD-2-Clause */
/* The C library's buffered streams, as they come. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <stdio.h>

#include "file/layer.h"

struct stdio {
	struct layer_file file;
	FILE *stream;
};

static int open_stdio(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	int err = layer__new(file, sizeof(struct stdio), &layer_stdio, job, job->path, why, why_size);
	struct stdio *stdio = (struct stdio *)*file;

	if (err)
		return err;
	stdio->stream = fdopen(stdio->file.fd, job->write ? "r+" : "r");
	if (!stdio->stream)
		return -errno;
	return 0;
}

static int move_stdio(struct layer_file *file, bool write, uint64_t offset)
{
	FILE *stream = ((struct stdio *)file)->stream;
	size_t block = file->job.block, done = 0;
	uint64_t at = offset == LAYER_NEXT ? file->position : offset;

	if (offset != LAYER_NEXT && fseeko(stream, (off_t)offset, SEEK_SET))
		return -errno;
	if (write)
		layer__make(file, file->buffer, at);
	while (done < block) {
		size_t n = write ? fwrite(file->buffer + done, 1, block - done, stream)
				 : fread(file->buffer + done, 1, block - done, stream);

		done += n;
		if (done < block && ferror(stream)) {
			if (errno != EINTR)
				return -errno;
			clearerr(stream);
		} else if (done < block && (!n || feof(stream))) {
			break;
		}
	}
	if (write)
		file->bytes += done;
	else
		layer__saw(file, file->buffer, done, at);
	if (offset == LAYER_NEXT)
		file->position += done;
	return 0;
}

static int finish_stdio(struct layer_file *file)
{
	return file->job.write && fflush(((struct stdio *)file)->stream) ? -errno : 0;
}

static void close_stdio(struct layer_file *file)
{
	struct stdio *stdio = (struct stdio *)file;

	if (file && stdio->stream) {
		fclose(stdio->stream);
		file->fd = -1;
	}
	layer__free(file);
}

const struct layer layer_stdio = {"stdio", "fread(3) or fwrite(3)", LAYER_READS | LAYER_WRITES | LAYER_STREAMS, open_stdio,
				  move_stdio, finish_stdio, close_stdio};
