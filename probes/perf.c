/* SPDX-License-Identifier: BSD-2-Clause */
/* The perf back end: the kernel's own event counter on syscalls:sys_enter_NAME, one event a CPU,
 * inherited by the threads started after the opening (perf_event_open(2)). */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/backends.h"
#include "probes/tracefs.h"

struct perf_counter {
	struct counter head;
	int nr;
	int cpus;
	int fds[]; /* one per configured CPU; -1 where that is offline */
};

/* The tracepoint's number. Returns it, or -errno. */
static int event_id(const char *name)
{
	char event[128];
	FILE *file;
	int err, id;

	snprintf(event, sizeof(event), "syscalls/sys_enter_%s", name);
	err = tracefs__open(&file, event, "id");
	if (err)
		return err;
	if (fscanf(file, "%d", &id) != 1)
		id = -EIO;
	fclose(file);
	return id;
}

static int refuse(int err, char *why, size_t size)
{
	if (err == -EACCES || err == -EPERM)
		snprintf(why, size, "perf tracepoints need root, or CAP_PERFMON and a readable tracefs: "
			 "use sudo");
	else if (err == -ENOENT)
		snprintf(why, size, "tracefs is not mounted, or has no such event: mount -t tracefs "
			 "tracefs /sys/kernel/tracing");
	else
		snprintf(why, size, "perf_event_open: %s", strerror(-err));
	return err;
}

int perf__open(const struct counter_kind *kind, const struct counter_target *target,
	       struct counter **out, char *why, size_t why_size)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
				       .disabled = 1, .inherit = 1};
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF), opened = 0, err = -ENODEV;
	struct perf_counter *counter;
	char name[64];
	int id = event_id(syscall__name(target->nr, name, sizeof(name)));

	if (id < 0)
		return refuse(id, why, why_size);
	attr.config = (uint64_t)id;
	counter = malloc(sizeof(*counter) + (size_t)cpus * sizeof(counter->fds[0]));
	if (!counter)
		return -ENOMEM;
	counter->head.kind = kind;
	counter->nr = target->nr;
	counter->cpus = cpus;
	for (int cpu = 0; cpu < cpus; cpu++) {
		counter->fds[cpu] = (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1,
						 PERF_FLAG_FD_CLOEXEC);
		if (counter->fds[cpu] >= 0)
			opened++;
		else
			err = -errno;
	}
	if (!opened) {
		perf__close(&counter->head);
		return refuse(err, why, why_size);
	}
	*out = &counter->head;
	return 0;
}

static int each(const struct perf_counter *counter, unsigned long request)
{
	int err = 0;

	for (int cpu = 0; cpu < counter->cpus; cpu++)
		if (counter->fds[cpu] >= 0 && ioctl(counter->fds[cpu], request, 0))
			err = -errno;
	return err;
}

int perf__start(struct counter *head, enum counter_mode mode)
{
	if (mode != COUNTING)
		return -ENOTSUP;
	return each((struct perf_counter *)head, PERF_EVENT_IOC_ENABLE);
}

void perf__stop(struct counter *head)
{
	each((struct perf_counter *)head, PERF_EVENT_IOC_DISABLE);
}

struct tally perf__read(const struct counter *head, int cpu, int nr)
{
	const struct perf_counter *counter = (const struct perf_counter *)head;
	struct tally sum = {0};

	if (nr != counter->nr)
		return sum;
	for (int c = cpu < 0 ? 0 : cpu; c < (cpu < 0 ? counter->cpus : cpu + 1); c++) {
		uint64_t value;

		if (counter->fds[c] >= 0 && read(counter->fds[c], &value, sizeof(value)) == sizeof(value))
			sum.calls += value;
	}
	return sum;
}

void perf__close(struct counter *head)
{
	struct perf_counter *counter = (struct perf_counter *)head;

	for (int cpu = 0; cpu < counter->cpus; cpu++)
		if (counter->fds[cpu] >= 0)
			close(counter->fds[cpu]);
	free(counter);
}
