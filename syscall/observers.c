/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/observers.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/output.h"
#include "syscall/options.h"

/* Makes the calls in this thread, on the subject's CPU. Returns 0 or -errno. */
static int hammer(const struct subject *subject, uint64_t count, struct member *member)
{
	struct hammer copy = subject->hammer;
	atomic_bool stop = false;
	cpu_set_t before;
	int err;

	*member = (struct member){.cpu = subject->cpu, .limit = count};
	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	err = cpus__pin(subject->cpu);
	if (!err)
		hammer__work(member, &stop, &copy);
	sched_setaffinity(0, sizeof(before), &before);
	return err;
}

static double ns_per_call(const struct member *member)
{
	return (double)(member->end_ns - member->start_ns) / (double)member->made;
}

/* -errno as a reason. */
static int because(int err, char *why, size_t why_size)
{
	if (err)
		snprintf(why, why_size, "%s", strerror(-err));
	return err;
}

static int measure_bare(struct observer *observer, const struct subject *subject, uint64_t count,
			struct sample *sample, char *why, size_t why_size)
{
	struct member member;
	int err = hammer(subject, count, &member);

	(void)observer;
	if (!err)
		*sample = (struct sample){.ns_per_call = ns_per_call(&member)};
	return because(err, why, why_size);
}

static int open_counter(struct observer *observer, const struct subject *subject, char *why, size_t why_size)
{
	struct counter_target target = {getpid(), 0, subject->call->nr};

	return counter__open(observer->kind->name, &target, &observer->counter, why, why_size);
}

static int measure_counter(struct observer *observer, const struct subject *subject, uint64_t count,
			   struct sample *sample, char *why, size_t why_size)
{
	const int nr = subject->call->nr;
	uint64_t before = counter__read(observer->counter, -1, nr).calls;
	struct member member;
	int err = counter__start(observer->counter, observer->mode);

	if (!err)
		err = hammer(subject, count, &member);
	counter__stop(observer->counter);
	if (!err)
		*sample = (struct sample){
			ns_per_call(&member), observer->mode == COUNTING,
			(int64_t)(member.made + before - counter__read(observer->counter, -1, nr).calls)};
	return because(err, why, why_size);
}

static int open_watcher(struct observer *observer, const struct subject *subject, char *why, size_t why_size)
{
	struct watch_options options = {.timing = observer->timing};

	(void)subject;
	return watcher__open(&observer->watcher, NULL, &options, why, why_size);
}

/* Hammers while that process, ours or another, is watched; counted are the calls of ours that it saw. */
static int hammer_watched(struct observer *observer, const struct subject *subject, uint64_t count, pid_t pid,
			  struct member *member, uint64_t *counted)
{
	static watcher_tallies before, after;
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int err = pidfd < 0 ? -errno : watcher__start(observer->watcher);

	if (!err)
		err = watcher__mark(observer->watcher, pidfd, pid, false);
	watcher__read(observer->watcher, before);
	if (!err)
		err = hammer(subject, count, member);
	watcher__read(observer->watcher, after);
	watcher__stop(observer->watcher);
	if (pidfd >= 0)
		close(pidfd);
	*counted = after[0][subject->call->nr].calls - before[0][subject->call->nr].calls;
	return err;
}

static int measure_watched(struct observer *observer, const struct subject *subject, uint64_t count,
			   struct sample *sample, char *why, size_t why_size)
{
	struct member member;
	uint64_t counted;
	int err = hammer_watched(observer, subject, count, getpid(), &member, &counted);

	if (!err)
		*sample = (struct sample){ns_per_call(&member), true, (int64_t)(member.made - counted)};
	return because(err, why, why_size);
}

static int open_bystander(struct observer *observer, const struct subject *subject, char *why, size_t why_size)
{
	int err = open_watcher(observer, subject, why, why_size);

	if (err)
		return err;
	observer->watched = fork();
	if (observer->watched < 0)
		return because(-errno, why, why_size);
	if (!observer->watched) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return 0;
}

/* Exact is that none of our calls is counted. */
static int measure_bystander(struct observer *observer, const struct subject *subject, uint64_t count,
			     struct sample *sample, char *why, size_t why_size)
{
	struct member member;
	uint64_t counted;
	int err = hammer_watched(observer, subject, count, observer->watched, &member, &counted);

	if (!err)
		*sample = (struct sample){ns_per_call(&member), true, -(int64_t)counted};
	return because(err, why, why_size);
}

/* A filter that allows the call: by its number, which kernels since 5.11 remember, or after a look at its
 * first argument. Returns 0 or -errno. */
static int filter(int nr, bool argument)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
	int err = context ? 0 : -ENOMEM;

	if (!err && argument)
		err = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), nr, 1,
				       SCMP_A0(SCMP_CMP_EQ, 0x706c6c6f74)); /* no descriptor, clock or address */
	else if (!err)
		err = seccomp_rule_add(context, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(kexec_load), 0);
	if (!err)
		err = seccomp_load(context);
	seccomp_release(context);
	return err;
}

/* A filter stays for good: it is loaded in a child. */
static int measure_filter(struct observer *observer, const struct subject *subject, uint64_t count,
			  struct sample *sample, char *why, size_t why_size)
{
	struct told {
		int err;
		struct member member;
	} told = {.err = -EPIPE};
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return because(-errno, why, why_size);
	child = fork();
	if (!child) {
		told.err = filter(subject->call->nr, observer->argument);
		if (!told.err)
			told.err = hammer(subject, count, &told.member);
		_exit(output__write_all(ends[1], &told, sizeof(told)) ? 1 : 0);
	}
	close(ends[1]);
	if (child > 0) {
		if (read(ends[0], &told, sizeof(told)) != sizeof(told))
			told.err = -EPIPE;
		waitpid(child, NULL, 0);
	}
	close(ends[0]);
	if (!told.err)
		*sample = (struct sample){.ns_per_call = ns_per_call(&told.member)};
	return because(told.err, why, why_size);
}

/* Ours but for the counters. */
static const struct observer ours[] = {
	{.name = "watched, --timing none", .open = open_watcher, .measure = measure_watched,
	 .timing = TIMING_NONE},
	{.name = "watched, --timing auto", .open = open_watcher, .measure = measure_watched,
	 .timing = TIMING_AUTO},
	{.name = "watched, --timing all", .open = open_watcher, .measure = measure_watched, .timing = TIMING_ALL},
	{.name = "not watched while another is", .open = open_bystander, .measure = measure_bystander,
	 .timing = TIMING_AUTO},
	{.name = "seccomp, a filter by number", .measure = measure_filter},
	{.name = "seccomp, a look at an argument", .measure = measure_filter, .argument = true},
};

static void append(struct observer *observers, int *n, struct observer observer)
{
	if (*n < MOST_OBSERVERS) {
		observer.ns = observer.ns > 0 ? observer.ns : 150;
		observers[(*n)++] = observer;
	}
}

int observers__list(struct observer *observers)
{
	int n = 0;

	append(observers, &n, (struct observer){.name = "bare", .measure = measure_bare});
	for (const struct counter_kind *kind = counter_kinds; kind->name; kind++) {
		for (enum counter_mode mode = COUNTING; mode <= (kind->times ? TIMING : COUNTING); mode++) {
			struct observer observer = {.open = open_counter, .measure = measure_counter,
						    .kind = kind, .mode = mode};

			snprintf(observer.name, sizeof(observer.name), "%s, %s", kind->name,
				 mode == COUNTING ? "counting" : "timing 1 in 16");
			append(observers, &n, observer);
		}
	}
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		append(observers, &n, ours[i]);
	return observers__list_tools(observers, n);
}

void observer__close(struct observer *observer)
{
	counter__close(observer->counter);
	watcher__close(observer->watcher);
	if (observer->watched > 0) {
		kill(observer->watched, SIGKILL);
		waitpid(observer->watched, NULL, 0);
	}
	observer->counter = NULL;
	observer->watcher = NULL;
	observer->watched = 0;
}
