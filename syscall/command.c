/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/command.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/message.h"

/* Where execve will find the command. */
static void find(const char *name, char *path, size_t size)
{
	const char *folders = strchr(name, '/') ? "" : getenv("PATH");
	int err = ENOENT;

	snprintf(path, size, "%s", name);
	if (!folders)
		folders = "/usr/bin:/bin";
	else if (!*folders && (!access(path, X_OK) || (err = errno) == 0))
		return;
	while (*folders) {
		size_t n = strcspn(folders, ":");
		struct stat what;

		snprintf(path, size, "%.*s%s%s", (int)n, folders, n ? "/" : "", name);
		if (!stat(path, &what) && S_ISREG(what.st_mode)) {
			if (!access(path, X_OK))
				return;
			err = EACCES;
		}
		folders += n + (folders[n] == ':');
	}
	message__error("%s: %s", name, strerror(err));
	exit(err == ENOENT || err == ENOTDIR ? 127 : 126);
}

void command__find(struct command *command, char **argv, const char *user)
{
	command->argv = argv;
	command->user = user;
	if (user && geteuid()) {
		message__error("-u: only root can run a command as another user");
		exit(EXIT_FAILED);
	}
	if (user && !getpwnam(user))
		message__usage("-u '%s': no such user", user);
	find(argv[0], command->path, sizeof(command->path));
}

/* Becomes that user, for good. */
static int become(const char *user)
{
	const struct passwd *entry = getpwnam(user);

	if (!entry)
		return -ENOENT;
	if (initgroups(user, entry->pw_gid) || setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) ||
	    setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid))
		return -errno;
	return 0;
}

static void __attribute__((noreturn)) run(const struct command *command, int gate)
{
	sigset_t none;
	char go;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	err = command->user ? become(command->user) : 0;
	if (!err) {
		while (read(gate, &go, 1) < 0)
			;
		execv(command->path, command->argv);
		err = -errno;
	}
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, command->argv[0], strerror(-err));
	_exit(err == -ENOENT ? 127 : 126);
}

int command__start(struct command *command)
{
	int gate[2];

	command->status = -1;
	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	command->pid = fork();
	if (command->pid < 0) {
		close(gate[0]);
		close(gate[1]);
		command->pid = 0;
		return -errno;
	}
	if (!command->pid) {
		close(gate[1]);
		run(command, gate[0]);
	}
	close(gate[0]);
	command->gate = gate[1];
	command->pidfd = (int)syscall(SYS_pidfd_open, command->pid, 0);
	return command->pidfd < 0 ? -errno : 0;
}

void command__release(struct command *command)
{
	if (command->gate >= 0)
		close(command->gate);
	command->gate = -1;
}

void command__reap(struct command *command)
{
	int status;

	if (command->pid && command->status < 0 && waitpid(command->pid, &status, WNOHANG) == command->pid)
		command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
