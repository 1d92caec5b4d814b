/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/privileges.h"
#include "common/record.h"
#include "common/signals.h"
#include "probes/watcher.h"
#include "syscall/command.h"
#include "syscall/watch-report.h"

#define MOST_PIDS 1024
#define LOOK_NS 10000000u   /* between two looks for descendants that live on */
#define AGAIN_NS 100000000u /* after which what was marked is marked again: see watcher__mark */

const char *const timing_names[TIMINGS] = {"auto", "all", "none"};
const char *const per_names[PERS] = {"nothing", "process", "thread", "core"};

struct watching {
	const struct options *options;
	struct watch_report report;
	struct pollfd fds[MOST_PIDS + 1]; /* pidfds, then the signals */
	pid_t pids[MOST_PIDS];
	int n; /* of pids */
	struct command command;
	int signal; /* that ended the watching, or 0 */
};

/* proc(5): the ninth field of stat, which follows the name in parentheses; PF_KTHREAD of linux/sched.h. */
static bool is_kernel_thread(long pid)
{
	char path[64], line[512] = "", *name_end;
	unsigned long flags = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(line, sizeof(line), file) && (name_end = strrchr(line, ')')))
		sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %lu", &flags);
	fclose(file);
	return flags & 0x200000;
}

/* Opens a pidfd for each number of a list; exits on what is no process that can be watched. */
static void find_pids(struct watching *w, const char *text)
{
	while (*text) {
		char *end;
		long pid = strtol(text, &end, 10);

		if (end == text || (*end && *end != ',') || pid < 1 || pid > INT32_MAX)
			message__usage("-p '%s': not a list of process numbers such as 12 or 12,345",
				       w->options->pids);
		if (w->n == MOST_PIDS)
			message__usage("-p: at most %d processes", MOST_PIDS);
		w->pids[w->n] = (pid_t)pid;
		w->fds[w->n].fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (w->fds[w->n].fd < 0) {
			message__error("-p %ld: %s", pid, errno == ESRCH ? "no such process"
					  : errno == EINVAL ? "a thread, not a process" : strerror(errno));
			exit(EXIT_FAILED);
		}
		if (is_kernel_thread(pid)) {
			message__error("-p %ld: a kernel thread, which makes no system calls", pid);
			exit(EXIT_FAILED);
		}
		w->fds[w->n++].events = POLLIN;
		text = end + (*end == ',');
	}
}

/* Is any process of the list, or the command, still there? */
static bool any_runs(const struct watching *w)
{
	for (int i = 0; i < w->n; i++)
		if (w->fds[i].fd >= 0)
			return true;
	return false;
}

/* Has everything that is watched ended? */
static bool is_over(const struct watching *w)
{
	if (w->options->all || any_runs(w))
		return false;
	return !w->options->follow || watcher__alive(w->report.watcher) <= 0;
}

/* Marks all processes. Returns 0 or -errno. */
static int mark(struct watching *w)
{
	int err = 0;

	for (int i = 0; !err && i < w->n; i++)
		if (w->fds[i].fd >= 0)
			err = watcher__mark(w->report.watcher, w->fds[i].fd, w->pids[i], w->command.pid);
	return err;
}

/* Takes a signal: an ending one, or SIGUSR1. Returns 0 or -errno, where a table can't be written. */
static int take_signal(struct watching *w)
{
	struct signalfd_siginfo info;

	if (read(w->fds[w->n].fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	if (info.ssi_signo == SIGUSR1)
		return watch_report__interval(&w->report);
	/* The terminal's SIGINT reaches the command as well: its end is ours. */
	if (!w->command.pid || info.ssi_signo != SIGINT)
		w->signal = (int)info.ssi_signo;
	return 0;
}

/* Until the end of what is watched, of the duration, or a signal. Returns 0, or -errno where a table can't
 * be written. */
static int wait_for_end(struct watching *w)
{
	uint64_t now = clock_ns(), interval = w->options->interval_ns;
	uint64_t end = w->options->bounded ? now + w->options->duration_ns : UINT64_MAX;
	uint64_t next = interval ? now + interval : UINT64_MAX, again = now + AGAIN_NS;
	int err = 0;

	for (; !err && !w->signal && !is_over(w) && now < end; now = clock_ns()) {
		uint64_t until = now + (any_runs(w) || w->options->all ? 1000000000u : LOOK_NS);
		struct timespec timeout;

		until = end < until ? end : until;
		until = next < until ? next : until;
		until = again < until ? again : until;
		until = until > now ? until - now : 0;
		timeout = (struct timespec){(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
		if (ppoll(w->fds, (nfds_t)w->n + 1, &timeout, NULL) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < w->n; i++)
			if (w->fds[i].fd >= 0 && w->fds[i].revents) {
				close(w->fds[i].fd);
				w->fds[i].fd = -1; /* ppoll leaves it out */
			}
		command__reap(&w->command);
		if (w->fds[w->n].revents)
			err = take_signal(w);
		now = clock_ns();
		if (now >= again) {
			mark(w);
			again = UINT64_MAX;
		}
		if (!err && now >= next) {
			err = watch_report__interval(&w->report);
			next += interval * ((now - next) / interval + 1);
		}
	}
	return err;
}

/* Says what this back end can't see. */
static void warn(const struct watching *w, const char *why)
{
	if (why[0])
		message__notice("watching with %s: %s", watcher__kind(w->report.watcher)->name, why);
	if (w->options->follow && !watcher__follows(w->report.watcher))
		message__notice("children are not watched: that needs BTF, or tracefs (mount -t tracefs "
				"tracefs /sys/kernel/tracing)");
}

/* Opens what is watched, and the outputs; exits where that can't be. */
static void prepare(struct watching *w)
{
	const struct options *options = w->options;
	struct watch_options given = {.all = options->all, .except = (unsigned int)getpid(),
				      .follow = options->follow, .timing = options->timing,
				      .wall = options->wall,
				      .parts = options->per == PER_PROCESS || options->per == PER_THREAD};
	char why[256];
	int err;

	if (options->pids)
		find_pids(w, options->pids);
	if (options->command)
		command__find(&w->command, options->command, options->user);
	err = watcher__open(&w->report.watcher, options->counter, &given, why, sizeof(why));
	if (err == -ENOENT)
		message__usage("--counter '%s': watching knows bpf, bpf:tp_btf and bpf:raw_tp", options->counter);
	if (err) {
		message__error("watching: %s (strace -c needs none of it, but is slower)", why);
		exit(EXIT_FAILED);
	}
	warn(w, why);
	output__must_open_both(&w->report.table, &w->report.json, options->output, options->json,
			       options->command ? output_stderr : "-");
}

/* Starts the command, which keeps the privileges that we give up, and the watching. Returns 0 or -errno. */
static int start(struct watching *w)
{
	sigset_t taken;
	int err = 0;

	signals__block();
	signals__ending(&taken);
	sigaddset(&taken, SIGUSR1);
	sigprocmask(SIG_BLOCK, &taken, NULL);
	if (w->options->command) {
		err = command__start(&w->command);
		w->fds[0] = (struct pollfd){.fd = w->command.pidfd, .events = POLLIN};
		w->pids[0] = w->command.pid;
		w->n = 1;
	}
	w->fds[w->n] = (struct pollfd){.fd = signalfd(-1, &taken, SFD_CLOEXEC), .events = POLLIN};
	if (!err)
		err = watcher__start(w->report.watcher);
	if (!err)
		err = mark(w);
	w->report.since_ns = w->report.before_ns = clock_ns();
	if (err && w->command.pid)
		kill(w->command.pid, SIGKILL);
	command__release(&w->command);
	privileges__drop(false);
	return err;
}

int watch(const struct options *options, char **argv)
{
	static struct watching w;
	struct noise_reading before, after;
	struct noise noise;
	int err, status;

	w = (struct watching){.options = options, .command = {.gate = -1, .status = -1}};
	err = watch_report__new(&w.report, options, argv);
	if (!err)
		prepare(&w);
	record__now(w.report.started);
	before = noise__read();
	if (!err)
		err = start(&w);
	if (err)
		message__error("watching: %s", err == -ESRCH ? "the process has ended" : strerror(-err));
	else
		err = wait_for_end(&w);
	if (w.report.watcher)
		watcher__stop(w.report.watcher);
	after = noise__read();
	noise = noise__between(&before, &after);
	if (w.command.pid && w.signal) {
		kill(w.command.pid, SIGTERM); /* as strace ends what it started */
		kill(w.command.pid, SIGCONT);
	}
	command__reap(&w.command);
	status = w.report.since_ns && w.report.watcher ? watch_report__end(&w.report, &noise) : EXIT_FAILED;
	watcher__close(w.report.watcher);
	watch_report__free(&w.report);
	if (w.signal)
		return 128 + w.signal;
	return w.command.pid && w.command.status > 0 ? w.command.status : err ? EXIT_FAILED : status;
}
