/* SPDX-License-Identifier: BSD-2-Clause */
/* The file that is measured on. */
#ifndef TOLL_WORKFILE_H
#define TOLL_WORKFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct workfile {
	int fd; /* -1: closed */
	char path[4096]; /* opens it again: of one that was made, in /proc/PID/fd */
	uint64_t size; /* in bytes; 0 where the kernel tells none, as in /proc */
	bool made;
	bool once;   /* it has no offsets: a FIFO, a terminal */
	bool sparse; /* it has holes */
};

/* Opens a file of the user's. Returns 0, or -errno with the reason in why. */
int workfile__open(struct workfile *file, const char *path, char *why, size_t why_size);

/* Makes an empty file without a name, in dir (NULL: $TMPDIR, or /var/tmp), which goes away with the last who
 * has it open; checks first that the disk has room for size bytes. Returns 0, or -errno with the reason in why
 * (-ENOSPC: no room). */
int workfile__make(struct workfile *file, const char *dir, uint64_t size, char *why, size_t why_size);

/* Writes size pseudo-random bytes, the same ones each time. Stops when an ending signal is pending
 * (-EINTR). Returns 0 or -errno; sets size. */
int workfile__fill(struct workfile *file, uint64_t size);

/* Drops the file's clean pages from the page cache. Returns 0 or -errno. */
int workfile__chill(const struct workfile *file);

/* Takes one that is closed. */
void workfile__close(struct workfile *file);

#endif
