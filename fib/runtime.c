/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/tool.h"

static const struct {
	const char *engine, *name;
} files_of[] = {{"erlang", "fib.erl"}, {"lua", "fib.lua"}, {"node", "fib.js"}, {"python3", "fib.py"}};
#define FILES (sizeof(files_of) / sizeof(*files_of))

static int write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "wex");
	int err;

	if (!file)
		return -errno;
	err = fputs(text, file) < 0 ? -EIO : 0;
	if (fclose(file))
		err = -errno;
	return err ? err : chmod(path, 0644) ? -errno : 0;
}

/* erlc -o FOLDER FOLDER/fib.erl, in a child. No erlc is no error: Erlang's row will say it. */
static void compile_erlang(const struct runtime_files *files)
{
	char erlc[256], source[64];
	pid_t child;

	if (!tool__find("erlc", erlc, sizeof(erlc)))
		return;
	snprintf(source, sizeof(source), "%s/fib.erl", files->folder);
	child = fork();
	if (!child) {
		int null = open("/dev/null", O_RDWR);
		char *const environment[] = {"PATH=" TOOL_SYSTEM_PATH, "HOME=/nonexistent", NULL};

		dup2(null, 1);
		dup2(null, 2);
		execle(erlc, "erlc", "-o", files->folder, source, NULL, environment);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

int runtime__prepare(struct runtime_files *files)
{
	int err = 0;

	strcpy(files->folder, "/tmp/toll-fib.XXXXXX");
	if (!mkdtemp(files->folder)) {
		files->folder[0] = '\0';
		return -errno;
	}
	chmod(files->folder, 0755); /* the runtimes may be another user's: behind sudo */
	for (size_t i = 0; !err && i < FILES; i++) {
		char path[64];

		snprintf(path, sizeof(path), "%s/%s", files->folder, files_of[i].name);
		err = write_file(path, engine__find(files_of[i].engine)->source);
	}
	if (!err)
		compile_erlang(files);
	return err;
}

void runtime__clean(struct runtime_files *files)
{
	char path[64];

	if (!files->folder[0])
		return;
	for (size_t i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", files->folder, files_of[i].name);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/fib.beam", files->folder);
	unlink(path);
	rmdir(files->folder);
	files->folder[0] = '\0';
}

/* Behind sudo, the runtimes run as the user who typed it. */
static int drop_to_sudo_user(void)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	gid_t group;

	if (geteuid() || !uid || !gid)
		return 0;
	group = (gid_t)atol(gid);
	return setgroups(1, &group) || setgid(group) || setuid((uid_t)atol(uid)) ? -errno : 0;
}

int runtime__become(const struct engine *engine, const struct job *job,
		    const struct runtime_files *files)
{
	char path[256], script[64], n[16], times[16];
	char home[48], search[4096];
	/* Settings of the user's (LUA_INIT, NODE_OPTIONS, ~/.erlang) are not what is measured. */
	const char *environment[] = {home, search, "LC_ALL=C", NULL};
	const char *argv[12], **next = argv;
	int err = drop_to_sudo_user();

	if (err)
		return err;
	if (!tool__find(engine->command, path, sizeof(path)))
		return -ENOENT;
	snprintf(n, sizeof(n), "%d", job->n);
	snprintf(times, sizeof(times), "%d", job->times);
	*next++ = engine->command;
	if (engine->option)
		*next++ = engine->option;
	if (!strcmp(engine->name, "erlang")) {
		*next++ = "-noinput";
		*next++ = "-pa";
		*next++ = files->folder;
		*next++ = "-run";
		*next++ = "fib";
		*next++ = "main";
	} else {
		const char *name = "";

		for (size_t i = 0; i < FILES; i++)
			if (engine__find(files_of[i].engine)->source == engine->source)
				name = files_of[i].name;
		snprintf(script, sizeof(script), "%s/%s", files->folder, name);
		*next++ = script;
	}
	*next++ = n;
	*next++ = times;
	*next = NULL;
	snprintf(home, sizeof(home), "HOME=%s", files->folder);
	snprintf(search, sizeof(search), "PATH=%s", geteuid() && getenv("PATH") ? getenv("PATH")
										: TOOL_SYSTEM_PATH);
	execve(path, (char *const *)argv, (char *const *)environment);
	return -errno;
}
