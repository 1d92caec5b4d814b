/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/message.h"

const char output_stderr[] = "standard error";

/* Gives a file made by root under sudo to the user behind it. */
static void give_to_sudo_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (!geteuid() && uid && gid && fchown(fd, (uid_t)atol(uid), (gid_t)atol(gid)))
		return; /* the file stays root's, which is no reason to lose the result */
}

void output__hold_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* A file beside path, to be renamed; mode as the old file has, or as umask leaves. Returns an open
 * descriptor or -errno. */
static int open_temporary(struct output *output, const struct stat *was)
{
	mode_t mask;
	int fd;

	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
		free(output->temporary);
		output->temporary = NULL;
		return fd;
	}
	umask(mask = umask(0));
	fchmod(fd, was ? was->st_mode & 07777 : 0666 & ~mask);
	give_to_sudo_user(fd);
	return fd;
}

int output__open(struct output *output, const char *path)
{
	struct stat was;
	bool exists;

	*output = (struct output){.path = path, .fd = -1};
	if (!path)
		return 0;
	exists = !lstat(path, &was);
	if (path == output_stderr)
		output->fd = STDERR_FILENO;
	else if (!strcmp(path, "-"))
		output->fd = STDOUT_FILENO;
	else if (exists && S_ISDIR(was.st_mode))
		return -EISDIR;
	else if (exists && !S_ISREG(was.st_mode))
		output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC);
	else if ((output->fd = open_temporary(output, exists ? &was : NULL)) < 0)
		return output->fd;
	if (output->fd < 0)
		return -errno;
	output->stream = open_memstream(&output->text, &output->size);
	return output->stream ? 0 : -errno;
}

int output__write_all(int fd, const void *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		data = (const char *)data + n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_rest(struct output *output)
{
	int err = output__write_all(output->fd, output->text + output->flushed, output->size - output->flushed);

	output->flushed = output->size;
	return err;
}

int output__flush(struct output *output)
{
	if (!output->stream)
		return 0;
	return fflush(output->stream) ? -errno : write_rest(output);
}

int output__commit(struct output *output)
{
	int err;

	if (!output->stream)
		return 0;
	err = fclose(output->stream) ? -errno : 0;
	output->stream = NULL;
	if (!err)
		err = write_rest(output);
	if (output->fd > STDERR_FILENO && close(output->fd) && !err)
		err = -errno;
	output->fd = -1;
	if (output->temporary && !err) {
		if (rename(output->temporary, output->path))
			err = -errno;
		else
			output->temporary[0] = '\0';
	}
	output__close(output);
	return err;
}

void output__must_open(struct output *output, const char *path)
{
	int err = output__open(output, path);

	if (err == -ENOENT || err == -ENOTDIR || err == -EISDIR)
		message__usage("%s: %s", path, strerror(-err));
	if (err) {
		message__error("%s: %s", path, strerror(-err));
		exit(EXIT_FAILED);
	}
}

void output__must_open_both(struct output *table, struct output *json, const char *path, const char *json_path,
			    const char *otherwise)
{
	output__must_open(json, json_path);
	if (path || !message_quiet)
		output__must_open(table, path ? path : json->fd == STDOUT_FILENO ? NULL : otherwise);
}

int output__finish(struct output *output)
{
	const char *path = output->path;
	int err = output__commit(output);

	if (err)
		message__error("%s: %s", strcmp(path, "-") ? path : "standard output", strerror(-err));
	return err;
}

void output__close(struct output *output)
{
	if (output->stream)
		fclose(output->stream);
	if (output->fd > STDERR_FILENO)
		close(output->fd);
	if (output->temporary && output->temporary[0])
		unlink(output->temporary);
	free(output->temporary);
	free(output->text);
	*output = (struct output){.fd = -1};
}
