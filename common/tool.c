/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/signals.h"

const char *tool__find(const char *command, char *path, size_t size)
{
	const char *folders = geteuid() ? getenv("PATH") : TOOL_SYSTEM_PATH;

	while (folders && *folders) {
		size_t n = strcspn(folders, ":");

		snprintf(path, size, "%.*s/%s", (int)n, folders, command);
		if (n && !access(path, X_OK))
			return path;
		folders += n + (folders[n] == ':');
	}
	return NULL;
}

static void __attribute__((noreturn)) become(const char *path, const char *const *argv, const char *said)
{
	const char *const environment[] = {"PATH=" TOOL_SYSTEM_PATH, "LC_ALL=C", "HOME=/nonexistent", NULL};
	int null = open("/dev/null", O_RDONLY), out = open(said, O_WRONLY | O_TRUNC | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null >= 0 && out >= 0 && dup2(null, 0) >= 0 && dup2(out, 1) >= 0 && dup2(out, 2) >= 0)
		execve(path, (char *const *)argv, (char *const *)environment);
	_exit(127);
}

/* Waits a moment, or until the child has ended. */
static void wait_some(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN}; /* -1: a kernel without pidfds just waits */

	poll(&fd, 1, 5);
}

int tool__run(const char *path, const char *const *argv, const char *said, uint64_t limit_ns)
{
	uint64_t end = clock_ns() + limit_ns;
	pid_t child = fork();
	int status, err = 0, pidfd;

	if (child < 0)
		return -errno;
	if (!child)
		become(path, argv, said);
	setpgid(child, child);
	pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	while (!waitpid(child, &status, WNOHANG)) {
		err = signals__pending() ? -EINTR : clock_ns() > end ? -ETIMEDOUT : 0;
		if (err) {
			kill(-child, SIGKILL);
			waitpid(child, &status, 0);
			break;
		}
		wait_some(pidfd);
	}
	if (pidfd >= 0)
		close(pidfd);
	if (err)
		return err;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
