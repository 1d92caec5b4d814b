/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int output__open(struct output *output, const char *path)
{
	struct stat was;
	bool exists;
	mode_t mask;
	int fd;

	*output = (struct output){.path = path};
	if (!path)
		return 0;
	if (!strcmp(path, "-")) {
		output->stream = stdout;
		return 0;
	}
	exists = !lstat(path, &was);
	if (exists && S_ISDIR(was.st_mode))
		return -EISDIR;
	if (exists && !S_ISREG(was.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC);
	} else {
		if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
			output->temporary = NULL;
			return -ENOMEM;
		}
		fd = mkostemp(output->temporary, O_CLOEXEC);
		if (fd >= 0) {
			umask(mask = umask(0));
			fchmod(fd, exists ? was.st_mode & 07777 : 0666 & ~mask);
			give_to_sudo_user(fd);
		} else {
			int err = -errno;

			free(output->temporary);
			output->temporary = NULL;
			return err;
		}
	}
	if (fd < 0)
		return -errno;
	output->stream = fdopen(fd, "w");
	return output->stream ? 0 : -errno;
}

int output__commit(struct output *output)
{
	int err = 0;

	if (!output->stream)
		return 0;
	errno = 0;
	if (fflush(output->stream) || ferror(output->stream))
		err = errno ? -errno : -EIO;
	if (output->stream == stdout) {
		output->stream = NULL;
		return err;
	}
	if (fclose(output->stream) && !err)
		err = -errno;
	output->stream = NULL;
	if (output->temporary && !err) {
		if (rename(output->temporary, output->path))
			err = -errno;
		else
			output->temporary[0] = '\0';
	}
	output__close(output);
	return err;
}

void output__close(struct output *output)
{
	if (output->stream && output->stream != stdout)
		fclose(output->stream);
	if (output->temporary && output->temporary[0])
		unlink(output->temporary);
	free(output->temporary);
	*output = (struct output){0};
}
