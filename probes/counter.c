/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/counter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "count_raw_tp.skel.h"
#include "count_tp.skel.h"
#include "count_tp_btf.skel.h"

/* Not in older kernel headers: linux/capability.h of 5.8. */
#define BIT_PERFMON 38
#define BIT_BPF 39
#define BIT_SYS_ADMIN 21

struct counter {
	const struct counter_kind *kind;
	struct bpf_object *object;
	struct bpf_program *programs[3]; /* count_exit, timed_enter, timed_exit */
	struct bpf_link *links[2];
	struct cpu_tally *tallies; /* the map, one per possible CPU */
	size_t tallies_size;
	int cpus;
};

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static bool may_use_bpf(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};
	uint64_t held;

	if (syscall(SYS_capget, &header, data))
		return false;
	held = (uint64_t)data[1].effective << 32 | data[0].effective;
	return held >> BIT_SYS_ADMIN & 1 || (held >> BIT_BPF & 1 && held >> BIT_PERFMON & 1);
}

/* The lockdown level chosen, e.g. "integrity", or "" where it can't be read. */
static const char *lockdown(void)
{
	static char line[128];
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char *chosen;

	if (!file)
		return "";
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	chosen = strchr(line, '[');
	if (!chosen)
		return "";
	chosen[strcspn(chosen, "]")] = '\0';
	return chosen + 1;
}

static void explain(int err, char *why, size_t size)
{
	if (!may_use_bpf())
		snprintf(why, size, geteuid() ? "BPF needs root, or CAP_BPF and CAP_PERFMON: use sudo"
					      : "root without CAP_BPF and CAP_PERFMON (a container?): "
						"grant both");
	else if (!strcmp(lockdown(), "confidentiality"))
		snprintf(why, size, "kernel lockdown is \"confidentiality\", which refuses BPF tracing: "
			 "boot with lockdown=integrity or none");
	else if ((err == -ESRCH || err == -ENOENT) && access("/sys/kernel/btf/vmlinux", R_OK))
		snprintf(why, size, "this kernel has no BTF (/sys/kernel/btf/vmlinux): use --counter "
			 "bpf:raw_tp, or a kernel with CONFIG_DEBUG_INFO_BTF");
	else if (err == -ENOMEM || err == -EPERM)
		snprintf(why, size, "the kernel refuses it (%s): if it is older than 5.11, raise "
			 "RLIMIT_MEMLOCK (ulimit -l unlimited)", strerror(-err));
	else
		snprintf(why, size, "the kernel refuses it (%s)", strerror(-err));
}

static int open_bpf(const struct counter_kind *kind, const struct counter_target *target,
		    struct counter **out, char *why, size_t why_size)
{
	static const char *const names[] = {"count_exit", "timed_enter", "timed_exit"};
	struct target given = {(unsigned int)target->tgid, (unsigned int)target->except,
			       (unsigned int)target->nr};
	struct counter *counter = calloc(1, sizeof(*counter));
	struct bpf_map *counts, *rodata;
	size_t size;
	const void *image = kind->object(&size);
	int err;

	if (!counter)
		return -ENOMEM;
	libbpf_set_print(quiet);
	counter->kind = kind;
	counter->cpus = libbpf_num_possible_cpus();
	counter->object = bpf_object__open_mem(image, size, NULL);
	if (!counter->object) {
		err = -errno;
		goto fail;
	}
	for (int i = 0; i < 3; i++) {
		counter->programs[i] = bpf_object__find_program_by_name(counter->object, names[i]);
		bpf_program__set_autoload(counter->programs[i], true);
	}
	counts = bpf_object__find_map_by_name(counter->object, "counts");
	rodata = bpf_object__find_map_by_name(counter->object, ".rodata");
	if ((err = bpf_map__set_max_entries(counts, (unsigned int)counter->cpus)) ||
	    (err = bpf_map__set_initial_value(rodata, &given, sizeof(given))) ||
	    (err = bpf_object__load(counter->object)))
		goto fail;
	counter->tallies_size = (size_t)counter->cpus * sizeof(*counter->tallies);
	counter->tallies = mmap(NULL, counter->tallies_size, PROT_READ, MAP_SHARED,
				bpf_map__fd(counts), 0);
	if (counter->tallies == MAP_FAILED) {
		counter->tallies = NULL;
		err = -errno;
		goto fail;
	}
	/* A program that loads may still not attach: find out now, not half-way. */
	err = counter__start(counter, COUNTING);
	counter__stop(counter);
	if (err == -ENOENT && !strcmp(kind->name, "bpf:tp")) {
		snprintf(why, why_size, "tracefs is not mounted: mount -t tracefs tracefs "
			 "/sys/kernel/tracing");
		counter__close(counter);
		return err;
	}
	if (err)
		goto fail;
	memset(why, 0, why_size);
	*out = counter;
	return 0;
fail:
	explain(err, why, why_size);
	counter__close(counter);
	return err;
}

const struct counter_kind counter_kinds[] = {
	{"bpf:tp_btf", "eBPF on the typed raw tracepoint (needs BTF)", open_bpf,
	 count_tp_btf__elf_bytes},
	{"bpf:raw_tp", "eBPF on the raw tracepoint (needs neither BTF nor tracefs)", open_bpf,
	 count_raw_tp__elf_bytes},
	{"bpf:tp", "eBPF on the classic tracepoint (needs tracefs)", open_bpf, count_tp__elf_bytes},
	{NULL, NULL, NULL, NULL},
};

int counter__open(const char *name, const struct counter_target *target, struct counter **counter,
		  char *why, size_t why_size)
{
	bool any = !strcmp(name, "bpf");
	char first[256] = "";
	int err = -ENOENT;

	*counter = NULL;
	for (const struct counter_kind *kind = counter_kinds; kind->name; kind++) {
		if (!any && strcmp(name, kind->name))
			continue;
		err = kind->open(kind, target, counter, why, why_size);
		if (!err)
			return 0;
		if (!first[0])
			snprintf(first, sizeof(first), "%s", why);
	}
	if (first[0])
		snprintf(why, why_size, "%s", first);
	else
		snprintf(why, why_size, "no such counter");
	return err == -ENOENT && first[0] ? -ENODEV : err;
}

const char *counter__name(const struct counter *counter)
{
	return counter->kind->name;
}

int counter__start(struct counter *counter, enum counter_mode mode)
{
	int first = mode == COUNTING ? 0 : 1, n = mode == COUNTING ? 1 : 2;

	for (int i = 0; i < n; i++) {
		counter->links[i] = bpf_program__attach(counter->programs[first + i]);
		if (!counter->links[i]) {
			int err = -errno;

			counter__stop(counter);
			return err;
		}
	}
	return 0;
}

void counter__stop(struct counter *counter)
{
	for (int i = 0; i < 2; i++) {
		bpf_link__destroy(counter->links[i]);
		counter->links[i] = NULL;
	}
}

struct tally counter__read(const struct counter *counter, int cpu, int nr)
{
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

uint64_t counter__misses(const struct counter *counter)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(counter->programs[0]), &info, &size))
		return 0;
	return info.recursion_misses;
}

void counter__close(struct counter *counter)
{
	if (!counter)
		return;
	counter__stop(counter);
	if (counter->tallies)
		munmap(counter->tallies, counter->tallies_size);
	bpf_object__close(counter->object);
	free(counter);
}
