/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/peer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/tool.h"
#include "file/layer.h"

#define LIMIT_NS 600000000000u

/* What is in the file, with a zero byte after it. */
static int take(int fd, char **said, size_t *length)
{
	struct stat now;
	ssize_t n;

	if (fstat(fd, &now))
		return -errno;
	*said = malloc((size_t)now.st_size + 1);
	if (!*said)
		return -ENOMEM;
	n = layer__read(fd, *said, (size_t)now.st_size, 0);
	*length = n > 0 ? (size_t)n : 0;
	(*said)[*length] = '\0';
	return n < 0 ? (int)n : 0;
}

int peer__run(const char *const *argv, char **said, size_t *length, double *seconds, char *why, size_t why_size)
{
	char path[PATH_MAX], into[64];
	uint64_t started;
	int fd, status, err;

	*said = NULL;
	*length = 0;
	if (!tool__find(argv[0], path, sizeof(path))) {
		snprintf(why, why_size, "not installed");
		return -ENOTSUP;
	}
	fd = memfd_create("said", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(into, sizeof(into), "/proc/%d/fd/%d", getpid(), fd);
	started = clock_ns();
	status = tool__run(path, argv, into, LIMIT_NS);
	if (seconds)
		*seconds = (double)(clock_ns() - started) / 1e9;
	err = take(fd, said, length);
	close(fd);
	if (status < 0)
		return status;
	if (status) {
		snprintf(why, why_size, "it exited with %d: %.*s", status, *said ? (int)strcspn(*said, "\n") : 0,
			 *said ? *said : "");
		return -EIO;
	}
	return err;
}
