/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/cpus.h"
#include "common/output.h"
#include "common/signals.h"

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* In the child: never returns. */
static void work(const struct engine *engine, const struct job *job, const struct runtime_files *files,
		 int cpu, int out)
{
	static struct answer answer;
	sigset_t none;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (engine->run) {
		cpus__pin(cpu);
		engine->run(engine, job, &answer);
		_exit(output__write_all(out, &answer, sizeof(answer)) ? 1 : 0);
	}
	dup2(out, STDOUT_FILENO);
	dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
	err = runtime__become(engine, job, files);
	_exit(err == -ENOENT ? 127 : 126);
}

/* Reads until the end, or an ending signal: then -EINTR and its number. */
static int collect(int in, int signals, char *text, size_t room, size_t *size, int *signal)
{
	struct pollfd fds[] = {{.fd = in, .events = POLLIN}, {.fd = signals, .events = POLLIN}};

	*size = 0;
	for (;;) {
		ssize_t n;

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents) {
			struct signalfd_siginfo info;

			if (read(signals, &info, sizeof(info)) == sizeof(info))
				*signal = (int)info.ssi_signo;
			return -EINTR;
		}
		if (!fds[0].revents)
			continue;
		n = read(in, text + *size, room - *size);
		if (n <= 0)
			return n ? -errno : 0;
		*size += (size_t)n;
		if (*size == room)
			return -EMSGSIZE;
	}
}

/* What a real runtime printed: its result, and perhaps a word about itself. */
static void read_answer(struct answer *answer, const char *text)
{
	char *end;

	*answer = (struct answer){0};
	answer->result = strtoll(text, &end, 10);
	answer->ok = end != text;
	while (*end == ' ')
		end++;
	snprintf(answer->note, sizeof(answer->note), "%.*s", (int)strcspn(end, "\n"), end);
	if (!answer->ok)
		snprintf(answer->why, sizeof(answer->why), "it printed no number");
}

int sample__take(const struct engine *engine, const struct job *job, const struct runtime_files *files,
		 int cpu, struct sample *sample, int *signal)
{
	static char text[sizeof(struct answer) + 1];
	int ends[2], signals, status, err;
	uint64_t start = clock_ns();
	struct rusage usage;
	sigset_t ending;
	size_t size = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!child)
		work(engine, job, files, cpu, ends[1]);
	close(ends[1]);
	signals__ending(&ending);
	signals = signalfd(-1, &ending, SFD_CLOEXEC);
	err = signals < 0 ? -errno
			  : collect(ends[0], signals, text, sizeof(text), &size, signal);
	if (err)
		kill(child, SIGKILL);
	close(ends[0]);
	close(signals);
	if (wait4(child, &status, 0, &usage) < 0)
		return -errno;
	sample->real_s = (double)(clock_ns() - start) / 1e9;
	sample->user_s = seconds(usage.ru_utime);
	sample->sys_s = seconds(usage.ru_stime);
	if (err)
		return err;
	if (engine->run && size == sizeof(struct answer)) {
		memcpy(&sample->answer, text, sizeof(struct answer));
		return 0;
	}
	text[size] = '\0';
	read_answer(&sample->answer, text);
	if (engine->run || !WIFEXITED(status) || WEXITSTATUS(status)) {
		sample->answer.ok = false;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
			strcpy(sample->answer.why, "not installed");
		else
			snprintf(sample->answer.why, sizeof(sample->answer.why), "it ended with %s %d",
				 WIFSIGNALED(status) ? "signal" : "status",
				 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return 0;
}
