/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/noise.h"
#include "common/output.h"
#include "common/privileges.h"
#include "common/record.h"
#include "common/signals.h"
#include "probes/watcher.h"
#include "syscall/summary.h"

#define MOST_PIDS 1024
#define LOOK_MS 10 /* between two looks for descendants that live on */

const char *const timing_names[TIMINGS] = {"auto", "all", "none"};

struct watching {
	const struct options *options;
	struct watcher *watcher;
	struct pollfd fds[MOST_PIDS + 1]; /* pidfds, then the signals */
	int n;				  /* pidfds */
	pid_t child;			  /* the command; 0: none */
	char path[4096];		  /* of the command */
	int gate;			  /* closing it lets the child go on to its execve */
	int status;			  /* the command's, as an exit status; -1: not known yet */
	int signal;			  /* that ended the watching, or 0 */
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

/* Where execve will find the command: one call of it, as strace makes. Exits with 127 where it is not
 * there, 126 where it can't be run. */
static void find_command(const char *name, char *path, size_t size)
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

/* Starts the command up to its execve, which waits for the gate. */
static int start_command(struct watching *w)
{
	int gate[2];
	sigset_t none;

	if (pipe2(gate, O_CLOEXEC))
		return -errno;
	w->child = fork();
	if (w->child < 0) {
		close(gate[0]);
		close(gate[1]);
		return -errno;
	}
	if (!w->child) {
		char go;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		signal(SIGPIPE, SIG_DFL);
		close(gate[1]);
		while (read(gate[0], &go, 1) < 0)
			;
		execv(w->path, w->options->command);
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, w->options->command[0],
			strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	close(gate[0]);
	w->gate = gate[1];
	w->fds[0].fd = (int)syscall(SYS_pidfd_open, w->child, 0);
	w->fds[0].events = POLLIN;
	w->n = 1;
	return w->fds[0].fd < 0 ? -errno : 0;
}

static void reap(struct watching *w)
{
	int status;

	if (w->child && w->status < 0 && waitpid(w->child, &status, WNOHANG) == w->child)
		w->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
static bool is_over(struct watching *w)
{
	if (w->options->all || any_runs(w))
		return false;
	return !w->options->follow || watcher__alive(w->watcher) <= 0;
}

/* Until the end of what is watched, of the duration, or a signal. */
static void wait_for_end(struct watching *w)
{
	uint64_t end = w->options->bounded ? clock_ns() + w->options->duration_ns : UINT64_MAX;

	while (!is_over(w)) {
		uint64_t now = clock_ns();
		int timeout = -1;

		if (now >= end)
			return;
		if (end != UINT64_MAX)
			timeout = (int)((end - now) / 1000000u < 1000000u ? (end - now) / 1000000u + 1 : 1000000u);
		if (!any_runs(w) && !w->options->all && (timeout < 0 || timeout > LOOK_MS))
			timeout = LOOK_MS;
		if (poll(w->fds, (nfds_t)w->n + 1, timeout) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < w->n; i++)
			if (w->fds[i].fd >= 0 && w->fds[i].revents) {
				close(w->fds[i].fd);
				w->fds[i].fd = -1; /* poll leaves it out */
			}
		reap(w);
		if (w->fds[w->n].revents) {
			struct signalfd_siginfo info;

			if (read(w->fds[w->n].fd, &info, sizeof(info)) != sizeof(info))
				continue;
			/* The terminal's SIGINT reaches the command as well: its end is ours. */
			if (w->child && info.ssi_signo == SIGINT)
				continue;
			w->signal = (int)info.ssi_signo;
			return;
		}
	}
}

/* What is extra to strace's table: a line each, and only where there is something to say. */
static void print_extras(const struct watching *w, FILE *stream, uint64_t misses)
{
	const struct never_returned *ended = watcher__never_returned(w->watcher);
	bool any = false;
	char name[32];

	for (int nr = 0; nr < NR_SLOTS; nr++) {
		if (!ended->by_nr[nr])
			continue;
		fprintf(stream, "%s %s %llu", any ? "," : "never returned:",
			syscall__name(nr, name, sizeof(name)), ended->by_nr[nr]);
		any = true;
	}
	if (any)
		fputc('\n', stream);
	if (misses)
		fprintf(stream, "lost: the kernel skipped %" PRIu64 " runs of the counting program\n", misses);
	if (w->options->timing == TIMING_AUTO)
		fprintf(stream, "seconds: every call of a kind above %d us, one in %d of the others, scaled up; "
			"calls and errors are exact\n", SLOW_NS / 1000, SAMPLE_EVERY);
}

static json_t *extras_json(const struct watching *w)
{
	const struct never_returned *ended = watcher__never_returned(w->watcher);
	json_t *list = json_object();
	char name[32];

	for (int nr = 0; nr < NR_SLOTS; nr++)
		if (ended->by_nr[nr])
			json_object_set_new(list, syscall__name(nr, name, sizeof(name)),
					    json_integer((json_int_t)ended->by_nr[nr]));
	return list;
}

/* Begun and not ended by a return, */
static int64_t calls_in_flight(const struct tally *by_nr)
{
	int64_t sum = 0;

	for (int nr = 0; nr < NR_SLOTS; nr++)
		sum += (int64_t)(by_nr[nr].entered - by_nr[nr].calls);
	return sum;
}

/* ... of which these ended with their task. */
static int64_t ended_calls(const struct watching *w)
{
	const struct never_returned *ended = watcher__never_returned(w->watcher);
	int64_t sum = 0;

	for (int nr = 0; nr < NR_SLOTS; nr++)
		sum += (int64_t)ended->by_nr[nr];
	return sum;
}

static int report(const struct watching *w, char **argv, const char *started, const struct noise *noise,
		  struct output *table, struct output *json)
{
	struct counter_kind kind = {.name = "bpf:tp_btf", .times = w->options->timing != TIMING_NONE};
	static struct tally native[NR_SLOTS], compat[NR_SLOTS];
	static struct summary summary;
	uint64_t misses = watcher__misses(w->watcher);
	int64_t in_flight;
	int err = 0;

	watcher__read(w->watcher, false, native);
	watcher__read(w->watcher, true, compat);
	summary__of(&summary, native, compat, &kind);
	if (w->options->trace)
		summary__filter(&summary, w->options->trace);
	summary__sort(&summary, (enum summary_order)w->options->order);
	in_flight = calls_in_flight(native) + calls_in_flight(compat) - ended_calls(w);
	if (table->stream) {
		err = summary__print(&summary, table->stream);
		if (in_flight > 0)
			fprintf(table->stream, "in flight at the end: %" PRId64 "\n", in_flight);
		print_extras(w, table->stream, misses);
	}
	if (json->stream) {
		json_t *record = record__new("syscall-rate", argv, started, noise);

		json_object_update_new(
			record, json_pack("{s:s, s:s, s:s, s:b, s:o, s:o, s:o, s:I}", "mode",
					  w->child ? "command" : w->options->all ? "all" : "pid", "counter",
					  kind.name, "timing", timing_names[w->options->timing], "wall",
					  w->options->wall, "summary", summary__json(&summary),
					  "never_returned", extras_json(w), "in_flight",
					  kind.times ? json_integer(in_flight) : json_null(), "lost", (json_int_t)misses));
		err = record__write(record, json->stream) ? -EIO : err;
		json_decref(record);
	}
	if (output__finish(table) | output__finish(json))
		err = err ? err : -EIO;
	if (misses)
		message__error("%" PRIu64 " calls may be lost", misses);
	return err || misses ? EXIT_FAILED : EXIT_MEASURED;
}

/* Opens what is watched, and the outputs; exits where that can't be. */
static void prepare(struct watching *w, struct output *table, struct output *json)
{
	const struct options *options = w->options;
	struct watch_options given = {options->all, (unsigned int)getpid(), options->follow,
				      (unsigned int)options->timing, options->wall};
	char why[256];
	int err;

	if (options->pids)
		find_pids(w, options->pids);
	if (options->command)
		find_command(options->command[0], w->path, sizeof(w->path));
	err = watcher__open(&w->watcher, &given, why, sizeof(why));
	if (err) {
		message__error("watching: %s (strace -c needs none of it, but is slower)", why);
		exit(EXIT_FAILED);
	}
	output__must_open(json, options->json);
	if (options->output || !message_quiet)
		output__must_open(table, options->output		    ? options->output
					 : json->fd == STDOUT_FILENO ? NULL
					 : options->command	    ? output_stderr
								    : "-");
}

int watch(const struct options *options, char **argv)
{
	static struct watching w;
	struct output table = {.fd = -1}, json = {.fd = -1};
	struct noise_reading before, after;
	struct noise noise;
	char started[32];
	sigset_t ends;
	int err = 0, status;

	w = (struct watching){.options = options, .gate = -1, .status = -1};
	prepare(&w, &table, &json);
	signals__block();
	signals__ending(&ends);
	if (options->command)
		err = start_command(&w); /* it keeps the privileges that we give up */
	w.fds[w.n] = (struct pollfd){.fd = signalfd(-1, &ends, SFD_CLOEXEC), .events = POLLIN};
	record__now(started);
	before = noise__read();
	if (!err)
		err = watcher__start(w.watcher);
	for (int i = 0; !err && i < w.n; i++)
		err = watcher__mark(w.watcher, w.fds[i].fd, options->command);
	if (err && w.child)
		kill(w.child, SIGKILL);
	if (w.gate >= 0)
		close(w.gate);
	privileges__drop(false);
	if (err)
		message__error("watching: %s", err == -ESRCH ? "the process has ended" : strerror(-err));
	else
		wait_for_end(&w);
	watcher__stop(w.watcher);
	after = noise__read();
	noise = noise__between(&before, &after);
	if (w.child && w.signal) {
		kill(w.child, SIGTERM); /* as strace ends what it started */
		kill(w.child, SIGCONT);
	}
	reap(&w);
	status = err ? EXIT_FAILED : report(&w, argv, started, &noise, &table, &json);
	output__close(&table);
	output__close(&json);
	watcher__close(w.watcher);
	if (w.signal)
		return 128 + w.signal;
	return w.child && w.status > 0 ? w.status : status;
}
