/* SPDX-License-Identifier: BSD-2-Clause */
/* A layer over read and write: how a block gets from a file to the caller, or back. */
#ifndef TOLL_LAYER_H
#define TOLL_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* As an offset: where the last move ended; for files that have no offsets, too. */
#define LAYER_NEXT UINT64_MAX

/* What a layer is opened for. */
struct layer_job {
	const char *path;
	size_t block; /* bytes a move */
	bool write;   /* moves go both ways */
	bool direct;  /* O_DIRECT: blocks and offsets must be multiples of the device's */
	int depth;    /* of io_uring: moves in flight */
	int pool;     /* threads of the pool */
	/* Sees each block that was read, before the next comes in its place; NULL: nobody looks. Offsets are
	 * the file's own. */
	void (*seen)(void *argument, const void *data, size_t n, uint64_t offset);
	/* Makes each block that is to be written; NULL: it is the same bytes all the time. */
	void (*fill)(void *argument, void *data, size_t n, uint64_t offset);
	void *argument;
};

/* An open file; a layer's own fields follow. */
struct layer_file {
	const struct layer *layer;
	struct layer_job job;
	int fd;		   /* -1 where the layer has none */
	uint8_t *buffer;   /* a block, page-aligned: read into, or written from */
	uint64_t position; /* of the next LAYER_NEXT */
	uint64_t bytes;	   /* moved, as far as is known before finish */
	bool end;	   /* a read met the end of the file, or less than it had at first */
};

enum layer_can {
	LAYER_WRITES = 1,   /* and moves to any offset: a layer of file-rate rw */
	LAYER_STREAMS = 2,  /* reads what has no offsets and no size: FIFOs, /proc */
	LAYER_DIRECT = 4,   /* takes O_DIRECT */
	LAYER_WHOLE = 8,    /* one move is the whole file: job.block is its size, or 0 where that is unknown */
	LAYER_LINES = 16,   /* a layer of file-rate lines */
	LAYER_READS = 32,   /* a layer of file-rate read */
};

struct layer {
	const char *name, *summary;
	unsigned int can;
	/* Opens job->path; nothing is moved yet. Returns 0, or -errno, with the reason in why if it has more to
	 * say, and in *file what there is to close, or NULL. */
	int (*open)(struct layer_file **file, const struct layer_job *job, char *why, size_t why_size);
	/* One block at offset, or less at the end of the file; may return before it is there. Short transfers
	 * and EINTR are gone on with. Returns 0 or -errno (also of an earlier move). */
	int (*move)(struct layer_file *file, bool write, uint64_t offset);
	/* Waits for all moves; NULL: nothing to wait for. Returns 0 or -errno. */
	int (*finish)(struct layer_file *file);
	/* Takes a half-open one. */
	void (*close)(struct layer_file *file);
};

extern const struct layer layer_null, layer_raw, layer_whole, layer_whole_huge, layer_whole_reused, layer_mmap,
	layer_stdio, layer_io_uring, layer_pool, layer_server, layer_bytes8, layer_bytes16, layer_ahead,
	layer_pool_ahead;
/* All of them, ended by NULL. */
extern const struct layer *const layers[];

/* layer->open, but on failure nothing is left open, and why is filled. */
int layer__open(struct layer_file **file, const struct layer *layer, const struct layer_job *job, char *why,
		size_t why_size);

/* For layers. */

/* A zeroed layer_file of that size, with a buffer of job->block bytes (none for 0), and for a path opened;
 * without path fd is -1. Returns 0, or -errno with the reason in why. */
int layer__new(struct layer_file **file, size_t size, const struct layer *layer, const struct layer_job *job,
	       const char *path, char *why, size_t why_size);
/* Buffer, descriptor and file; NULL is taken. */
void layer__free(struct layer_file *file);
/* What the job's caller must know of n bytes that were read at offset: counts, the end, seen. */
void layer__saw(struct layer_file *file, const void *data, size_t n, uint64_t offset);
/* What is to be written at offset is in data after it. */
void layer__make(struct layer_file *file, void *data, uint64_t offset);
/* Reads n bytes at offset or, with LAYER_NEXT, where fd is, unless the file ends before. Returns how many, or
 * -errno. */
ssize_t layer__read(int fd, void *data, size_t n, uint64_t offset);
/* Writes them all. Returns 0 or -errno. */
int layer__write(int fd, const void *data, size_t n, uint64_t offset);
/* The plain move by file->fd, as raw does it. */
int layer__move(struct layer_file *file, bool write, uint64_t offset);

#endif
