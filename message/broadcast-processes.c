/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of a broadcast as the coordinator has them: starting, looking after and ending them; and what all
 * of them need. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "common/cpus.h"
#include "message/broadcast-internal.h"

int ring__open(struct ring *ring, size_t size)
{
	*ring = (struct ring){.size = size, .bytes = malloc(QUEUE * size)};
	return ring->bytes ? 0 : -ENOMEM;
}

const uint8_t *ring__message(struct ring *ring, uint64_t sequence)
{
	uint8_t *slot = ring__slot(ring, sequence);
	uint64_t word = sequence;

	if (ring->holds[sequence % QUEUE] == sequence)
		return slot;
	for (size_t i = 0; i < ring->size; i++) {
		if (i && i % 8 == 0)
			word = word * 6364136223846793005u + 1442695040888963407u;
		slot[i] = (uint8_t)(word >> i % 8 * 8);
	}
	ring->holds[sequence % QUEUE] = sequence;
	return slot;
}

void place__fail(const struct place *place, int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(place->told->why, sizeof(place->told->why), format, arguments);
	va_end(arguments);
	atomic_store(&place->told->err, err ? err : -EIO);
	_exit(1);
}

/* SCHED_BATCH: whoever is woken lets the one that runs go on. A server that is told to send does not keep the
 * coordinator from telling the next one, and clients take messages by the dozen, not one by one. (Clients of
 * nice 19 would take them all at the end: their median is nearly twice as late, and thousands of delayed
 * acknowledgements, 40 ms on and all at once, overflow the backlog of loopback: some clients then wait 200 ms for
 * a retransmission.) */
static void settle(const struct place *place, pid_t parent)
{
	const struct sched_param parameter = {0};
	const struct broadcast_plan *plan = place->plan;
	struct rlimit limit;
	int err = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (place->line > 3)
		close_range(3, (unsigned int)place->line - 1, 0);
	close_range(place->line >= 0 ? (unsigned int)place->line + 1 : 3, ~0u, 0);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	sched_setscheduler(0, SCHED_BATCH, &parameter);
	if (plan->n_cpus)
		err = cpus__pin(plan->cpus[place->index % plan->n_cpus]);
	if (err)
		place__fail(place, err, "it can't be pinned: %s", strerror(-err));
}

int group__start(struct group *group, struct place place, void (*run)(const struct place *))
{
	pid_t parent = getpid(), pid = fork();

	if (!pid) {
		settle(&place, parent);
		run(&place);
	}
	if (pid < 0)
		return -errno;
	group->pids[place.index] = pid;
	group->started = place.index + 1;
	return 0;
}

int group__reap(struct group *group)
{
	int live = 0;

	for (int i = 0; i < group->started; i++) {
		if (group->pids[i] && waitpid(group->pids[i], NULL, WNOHANG) != 0)
			group->pids[i] = 0;
		live += group->pids[i] != 0;
	}
	return live;
}

bool group__at(const struct group *group, uint64_t number)
{
	for (int i = 0; i < group->started; i++)
		if (group->pids[i] && atomic_load(&group->told[i].at) < number)
			return false;
	return true;
}

int group__failure(const struct group *group, char *why, size_t why_size)
{
	for (int i = 0; i < group->started; i++) {
		int err = atomic_load(&group->told[i].err);

		if (err && why_size)
			snprintf(why, why_size, "%s process %d: %s", group->whose, i, group->told[i].why);
		if (err)
			return err;
	}
	return 0;
}

double group__cpu_ms(struct group *group, bool begin)
{
	double sum = 0;

	for (int i = 0; i < group->n; i++) {
		struct timespec t;
		clockid_t id;
		double now;

		if (!group->pids[i] || clock_getcpuclockid(group->pids[i], &id) || clock_gettime(id, &t))
			continue;
		now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
		sum += now - group->cpu_ms[i];
		if (begin)
			group->cpu_ms[i] = now;
	}
	return sum;
}

void group__kill(const struct group *group)
{
	for (int i = 0; i < group->started; i++)
		if (group->pids[i])
			kill(group->pids[i], SIGKILL);
}

void group__bury(const struct group *group)
{
	for (int i = 0; i < group->started; i++)
		while (group->pids[i] && waitpid(group->pids[i], NULL, 0) < 0 && errno == EINTR)
			;
}
