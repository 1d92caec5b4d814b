/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/counter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "count_fentry.skel.h"
#include "count_raw_tp.skel.h"
#include "count_tp.skel.h"
#include "count_tp_btf.skel.h"
#include "probes/backends.h"

#define BPF_BACKEND(elf)                                                                           \
	.open = bpf__open, .start = bpf__start, .stop = bpf__stop, .read = bpf__read,              \
	.runs = bpf__runs, .close = bpf__close, .times = true, .object = elf

const struct counter_kind counter_kinds[] = {
	{"bpf:tp_btf", "eBPF on the typed raw tracepoint (needs BTF)",
	 BPF_BACKEND(count_tp_btf__elf_bytes)},
	{"bpf:raw_tp", "eBPF on the raw tracepoint (needs neither BTF nor tracefs)",
	 BPF_BACKEND(count_raw_tp__elf_bytes)},
	{"bpf:tp", "eBPF on the classic tracepoint (needs tracefs)",
	 BPF_BACKEND(count_tp__elf_bytes),
	 /* Attaching opens a perf event, which Debian's kernels allow CAP_SYS_ADMIN alone. */
	 .admin = true},
	{"bpf:fentry", "eBPF at the entry of the one call's function (needs BTF and the trampoline)",
	 BPF_BACKEND(count_fentry__elf_bytes), .one_call = true},
	{"perf", "perf_event_open on the one call's tracepoint (needs tracefs)", .one_call = true,
	 .open = perf__open, .start = perf__start, .stop = perf__stop, .read = perf__read,
	 .close = perf__close},
	{0},
};

int counter__open(const char *name, const struct counter_target *target, struct counter **counter,
		  char *why, size_t why_size)
{
	bool any = !strcmp(name, "bpf");
	char first[256] = "";
	int err = -ENOENT;

	*counter = NULL;
	for (const struct counter_kind *kind = counter_kinds; kind->name; kind++) {
		if (any ? kind->one_call : strcmp(name, kind->name) != 0)
			continue;
		why[0] = '\0';
		err = kind->open(kind, target, counter, why, why_size);
		if (!err)
			return 0;
		if (!first[0])
			snprintf(first, sizeof(first), "%s", why[0] ? why : strerror(-err));
	}
	snprintf(why, why_size, "%s", first[0] ? first : "no such counter");
	return err == -ENOENT && first[0] ? -ENODEV : err;
}

int counter__start(struct counter *counter, enum counter_mode mode)
{
	return counter->kind->start(counter, mode);
}

void counter__stop(struct counter *counter)
{
	counter->kind->stop(counter);
}

struct tally counter__read(const struct counter *counter, int cpu, int nr)
{
	return counter->kind->read(counter, cpu, nr);
}

struct counter_runs counter__runs(const struct counter *counter)
{
	return counter->kind->runs ? counter->kind->runs(counter) : (struct counter_runs){0, 0};
}

void counter__close(struct counter *counter)
{
	if (counter)
		counter->kind->close(counter);
}
