/* SPDX-License-Identifier: BSD-2-Clause */
/* The file mapped: a read is the touch of its pages. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "file/layer.h"

#define PAGE 4096

struct mapping {
	struct layer_file file;
	const uint8_t *data;
	size_t size; /* of the file when it was opened */
	struct sigaction before;
	bool handles;
};

/* Where a touch beyond the end of a file that shrank comes back to. */
static __thread sigjmp_buf *beyond;

static void on_bus_error(int number)
{
	if (beyond)
		siglongjmp(*beyond, 1);
	signal(number, SIG_DFL); /* none of ours: it comes again, and ends the program as it should */
}

static int open_mapping(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size)
{
	/* Not masked while it runs: it leaves by a jump. */
	struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = SA_NODEFER};
	struct layer_job own = *job;
	struct mapping *mapping;
	struct stat now;
	int err;

	own.block = 0;
	err = layer__new(file, sizeof(*mapping), &layer_mmap, &own, job->path, why, why_size);
	if (err)
		return err;
	mapping = (struct mapping *)*file;
	mapping->file.job.block = job->block;
	if (fstat(mapping->file.fd, &now))
		return -errno;
	mapping->size = (size_t)now.st_size;
	sigaction(SIGBUS, &action, &mapping->before);
	mapping->handles = true;
	return 0;
}

static void touch(const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i += PAGE)
		(void)*(const volatile uint8_t *)(data + i);
}

static int move_mapped(struct layer_file *file, bool write, uint64_t offset)
{
	struct mapping *mapping = (struct mapping *)file;
	uint64_t at = offset == LAYER_NEXT ? file->position : offset;
	size_t n;
	sigjmp_buf here;

	(void)write;
	/* Mapping it is part of reading it. */
	if (!mapping->data && mapping->size) {
		void *data = mmap(NULL, mapping->size, PROT_READ, MAP_SHARED, file->fd, 0);

		if (data == MAP_FAILED)
			return -errno;
		mapping->data = data;
	}
	n = at < mapping->size ? mapping->size - at : 0;
	n = n < file->job.block ? n : file->job.block;
	if (sigsetjmp(here, 0)) {
		beyond = NULL;
		file->end = true; /* the caller finds fewer bytes than there were */
		return 0;
	}
	beyond = &here;
	touch(mapping->data + at, n);
	layer__saw(file, mapping->data + at, n, at);
	beyond = NULL;
	if (offset == LAYER_NEXT)
		file->position += n;
	return 0;
}

static int finish_mapping(struct layer_file *file)
{
	struct mapping *mapping = (struct mapping *)file;

	if (mapping->data)
		munmap((void *)mapping->data, mapping->size);
	mapping->data = NULL;
	return 0;
}

static void close_mapping(struct layer_file *file)
{
	struct mapping *mapping = (struct mapping *)file;

	if (!file)
		return;
	finish_mapping(file);
	if (mapping->handles)
		sigaction(SIGBUS, &mapping->before, NULL);
	layer__free(file);
}

const struct layer layer_mmap = {"mmap", "mmap(2), a byte of each page touched", LAYER_READS, open_mapping, move_mapped,
				 finish_mapping, close_mapping};
