/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/workfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/output.h"
#include "common/signals.h"
#include "file/random.h"

#define PIECE (1u << 20)

int workfile__open(struct workfile *file, const char *path, char *why, size_t why_size)
{
	struct stat now;
	int err = 0;

	*file = (struct workfile){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)};
	if (file->fd < 0 || fstat(file->fd, &now))
		err = -errno;
	else if (S_ISDIR(now.st_mode))
		err = -EISDIR;
	else if (strlen(path) >= sizeof(file->path))
		err = -ENAMETOOLONG;
	if (err) {
		snprintf(why, why_size, "%s: %s", path, strerror(-err));
		workfile__close(file);
		return err;
	}
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->once = lseek(file->fd, 0, SEEK_CUR) < 0;
	file->size = S_ISREG(now.st_mode) ? (uint64_t)now.st_size : 0;
	if (S_ISBLK(now.st_mode)) {
		off_t end = lseek(file->fd, 0, SEEK_END);

		file->size = end > 0 ? (uint64_t)end : 0;
		lseek(file->fd, 0, SEEK_SET);
	}
	file->sparse = S_ISREG(now.st_mode) && (uint64_t)now.st_blocks * 512 + 4096 < (uint64_t)now.st_size;
	/* A FIFO would lose what it holds if all who have it open closed it: its layer takes this descriptor. */
	if (file->once)
		snprintf(file->path, sizeof(file->path), "/proc/%d/fd/%d", getpid(), file->fd);
	return 0;
}

/* Where the file system can't make a file without a name: one whose name is gone at once. */
static int make_and_unlink(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/file-rate.XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

int workfile__make(struct workfile *file, const char *dir, uint64_t size, char *why, size_t why_size)
{
	struct statvfs disk;
	uint64_t room;
	int err;

	*file = (struct workfile){.fd = -1, .made = true};
	if (!dir)
		dir = getenv("TMPDIR");
	if (!dir || !*dir)
		dir = "/var/tmp";
	if (statvfs(dir, &disk)) {
		err = -errno;
		snprintf(why, why_size, "%s: %s; --dir says where the work file goes", dir, strerror(-err));
		return err;
	}
	room = (uint64_t)disk.f_bavail * disk.f_frsize;
	if (room < size) {
		snprintf(why, why_size, "%s has room for %llu MB, and the work file wants %llu MB: --dir or --size", dir,
			 (unsigned long long)(room / 1000000), (unsigned long long)(size / 1000000));
		return -ENOSPC;
	}
	file->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		file->fd = make_and_unlink(dir);
	if (file->fd < 0) {
		err = -errno;
		snprintf(why, why_size, "%s: no work file can be made there: %s; --dir says where", dir, strerror(-err));
		return err;
	}
	snprintf(file->path, sizeof(file->path), "/proc/%d/fd/%d", getpid(), file->fd);
	return 0;
}

int workfile__fill(struct workfile *file, uint64_t size)
{
	uint64_t *piece = malloc(PIECE), state = 0;
	int err = piece ? 0 : -ENOMEM;

	for (uint64_t done = 0; !err && done < size;) {
		size_t n = size - done < PIECE ? (size_t)(size - done) : PIECE;

		for (size_t i = 0; i < PIECE / sizeof(*piece); i++)
			piece[i] = random__next(&state);
		err = signals__pending() ? -EINTR : output__write_all(file->fd, piece, n);
		done += n;
	}
	free(piece);
	file->size = size;
	return err;
}

int workfile__chill(const struct workfile *file)
{
	if (file->made && fdatasync(file->fd))
		return -errno;
	return -posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void workfile__close(struct workfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
