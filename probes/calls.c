/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/calls.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/message.h"
#include "probes/counter.h"
#include "probes/tally.h"
#include "probes/watcher.h"

static watcher_tallies before, after;

struct watcher *calls__open(void)
{
	const struct watch_options options = {.follow = 1, .timing = TIMING_NONE};
	struct watcher *watcher = NULL;
	char why[256] = "";
	int pidfd = -1, err = watcher__open(&watcher, NULL, &options, why, sizeof(why));

	if (!err)
		err = watcher__start(watcher);
	if (!err && (pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0)) < 0)
		err = -errno;
	if (!err)
		err = watcher__mark(watcher, pidfd, getpid(), false);
	if (pidfd >= 0)
		close(pidfd);
	if (!err)
		return watcher;
	message__notice("--calls: system calls are not counted: %s", why[0] ? why : strerror(-err));
	calls__close(watcher);
	return NULL;
}

void calls__start(struct watcher *watcher)
{
	if (watcher)
		watcher__read(watcher, before);
}

json_t *calls__stop(struct watcher *watcher)
{
	json_t *calls;

	if (watcher)
		watcher__read(watcher, after);
	calls = json_object(); /* makes system calls itself, the first time */
	if (!watcher)
		return calls;
	for (unsigned int i = 0; i < NR_SLOTS; i++) {
		char name[32];

		tally__subtract(&after[0][i], &before[0][i]);
		syscall__name(i, name, sizeof(name));
		if (after[0][i].calls && strcmp(name, "bpf") != 0) /* bpf: the reading of the counter itself */
			json_object_set_new(calls, name, json_integer((json_int_t)after[0][i].calls));
	}
	return calls;
}

void calls__divide(json_t *calls, uint64_t n)
{
	const char *name;
	json_t *count;
	void *next;

	json_object_foreach_safe(calls, next, name, count)
		json_object_set_new(calls, name, json_real(json_number_value(count) / (double)(n ? n : 1)));
}

void calls__print(json_t *calls, const char **heading, FILE *stream, const char *label, ...)
{
	const char *name;
	json_t *count;
	va_list values;

	if (!calls)
		return;
	if (*heading)
		fprintf(stream, "\n%s\n", *heading);
	*heading = NULL;
	va_start(values, label);
	vfprintf(stream, label, values);
	va_end(values);
	json_object_foreach(calls, name, count)
		if (json_number_value(count) >= 0.0005)
			fprintf(stream, " %s %.3f", name, json_number_value(count));
	fputc('\n', stream);
}

void calls__close(struct watcher *watcher)
{
	if (watcher)
		watcher__stop(watcher);
	watcher__close(watcher);
}
