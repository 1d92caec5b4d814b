/* SPDX-License-Identifier: BSD-2-Clause */
/* The BPF back ends: one loader for all, which differ in their compiled object. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/backends.h"
#include "probes/refusal.h"
#include "whoami.skel.h"

/* How the kernel names the function of a call (asm/syscall_wrapper.h). The second is what
 * SYSCALL_DEFINE0 makes an alias of, for calls without arguments: some kernels' BTF has only that. */
#if defined(__x86_64__)
static const char *const functions[] = {"__x64_sys_%s", "__do_sys_%s"};
#elif defined(__aarch64__)
static const char *const functions[] = {"__arm64_sys_%s", "__do_sys_%s"};
#endif

struct bpf_counter {
	struct counter head;
	struct bpf_object *object;
	struct bpf_program *programs[3]; /* count_exit, timed_enter, timed_exit */
	struct bpf_link *links[2];
	struct cpu_tally *tallies; /* the map, one per possible CPU */
	size_t tallies_size;
	int cpus;
};

static int aim_at_function(struct bpf_program *program, int nr)
{
	char name[64], function[128];
	int err = -ESRCH;

	syscall__name(nr, name, sizeof(name));
	for (size_t i = 0; err && i < sizeof(functions) / sizeof(*functions); i++) {
		snprintf(function, sizeof(function), functions[i], name);
		err = bpf_program__set_attach_target(program, 0, function);
	}
	return err;
}

/* In a PID namespace a process does not know the number that the programs see. Returns it, or `own` where the kernel does
 * not tell (before 5.10). Called by the first thread of the process. */
static unsigned int number_seen(unsigned int own)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct whoami *skeleton = whoami__open_and_load();
	unsigned int seen = own;

	if (skeleton && !bpf_prog_test_run_opts(bpf_program__fd(skeleton->progs.whoami), &run) && run.retval)
		seen = run.retval;
	whoami__destroy(skeleton);
	return seen;
}

/* Finds the programs, fills in the target and loads. */
static int load(struct bpf_counter *counter, const struct counter_target *target)
{
	static const char *const names[] = {"count_exit", "timed_enter", "timed_exit"};
	struct target given = {(unsigned int)target->tgid, (unsigned int)target->except,
			       (unsigned int)target->nr};
	struct bpf_map *counts, *rodata;
	int err;

	if (target->tgid == getpid()) {
		given.tgid = number_seen(given.tgid);
		given.except = target->except == target->tgid ? given.tgid : given.except;
	}
	for (int i = 0; i < 3; i++) {
		counter->programs[i] = bpf_object__find_program_by_name(counter->object, names[i]);
		bpf_program__set_autoload(counter->programs[i], true);
		if (counter->head.kind->one_call &&
		    (err = aim_at_function(counter->programs[i], target->nr)))
			return err;
	}
	counts = bpf_object__find_map_by_name(counter->object, "counts");
	rodata = bpf_object__find_map_by_name(counter->object, ".rodata");
	if ((err = bpf_map__set_max_entries(counts, (unsigned int)counter->cpus)) ||
	    (err = bpf_map__set_initial_value(rodata, &given, sizeof(given))) ||
	    (err = bpf_object__load(counter->object)))
		return err;
	counter->tallies_size = (size_t)counter->cpus * sizeof(*counter->tallies);
	counter->tallies = mmap(NULL, counter->tallies_size, PROT_READ, MAP_SHARED,
				bpf_map__fd(counts), 0);
	if (counter->tallies == MAP_FAILED) {
		counter->tallies = NULL;
		return -errno;
	}
	return 0;
}

int bpf__open(const struct counter_kind *kind, const struct counter_target *target,
	      struct counter **out, char *why, size_t why_size)
{
	struct bpf_counter *counter = calloc(1, sizeof(*counter));
	struct refusal refusal = {.one_function = kind->one_call};
	bool loaded;
	size_t size;
	const void *image = kind->object(&size);
	int err;

	if (!counter)
		return -ENOMEM;
	libbpf_set_print(NULL);
	counter->head.kind = kind;
	counter->cpus = libbpf_num_possible_cpus();
	counter->object = bpf_object__open_mem(image, size, NULL);
	err = counter->cpus < 0 ? counter->cpus : counter->object ? load(counter, target) : -errno;
	loaded = !err;
	/* A program that loads may still not attach: find out now, not half-way. */
	for (enum counter_mode mode = COUNTING; !err && mode <= TIMING; mode++) {
		err = bpf__start(&counter->head, mode);
		bpf__stop(&counter->head);
	}
	if (!err) {
		*out = &counter->head;
		return 0;
	}
	if (counter->cpus < 0) {
		snprintf(why, why_size, "/sys, which tells how many CPUs there may be, is not mounted: mount -t sysfs sysfs /sys");
	} else if (loaded && err == -ENOENT) {
		snprintf(why, why_size, "tracefs is not mounted: mount -t tracefs tracefs "
			 "/sys/kernel/tracing");
	} else {
		refusal.err = err;
		refusal__gather(&refusal);
		refusal__explain(&refusal, why, why_size);
	}
	bpf__close(&counter->head);
	return err;
}

int bpf__start(struct counter *head, enum counter_mode mode)
{
	struct bpf_counter *counter = (struct bpf_counter *)head;
	int first = mode == COUNTING ? 0 : 1, n = mode == COUNTING ? 1 : 2;

	for (int i = 0; i < n; i++) {
		counter->links[i] = bpf_program__attach(counter->programs[first + i]);
		if (!counter->links[i]) {
			int err = -errno;

			bpf__stop(head);
			return err;
		}
	}
	return 0;
}

void bpf__stop(struct counter *head)
{
	struct bpf_counter *counter = (struct bpf_counter *)head;

	for (int i = 0; i < 2; i++) {
		bpf_link__destroy(counter->links[i]);
		counter->links[i] = NULL;
	}
}

struct tally bpf__read(const struct counter *head, int cpu, int nr)
{
	const struct bpf_counter *counter = (const struct bpf_counter *)head;
	struct tally sum = {0};

	for (int c = cpu < 0 ? 0 : cpu; c < (cpu < 0 ? counter->cpus : cpu + 1); c++) {
		const struct tally *tally = &counter->tallies[c].by_nr[nr];

		sum.calls += tally->calls;
		sum.errors += tally->errors;
		sum.timed += tally->timed;
		sum.time_ns += tally->time_ns;
	}
	return sum;
}

struct counter_runs bpf__runs(const struct counter *head)
{
	const struct bpf_counter *counter = (const struct bpf_counter *)head;
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(counter->programs[0]), &info, &size))
		return (struct counter_runs){0, 0};
	return (struct counter_runs){info.run_cnt, info.recursion_misses};
}

void bpf__close(struct counter *head)
{
	struct bpf_counter *counter = (struct bpf_counter *)head;

	bpf__stop(head);
	if (counter->tallies)
		munmap(counter->tallies, counter->tallies_size);
	bpf_object__close(counter->object);
	free(counter);
}
