/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The counting that all BPF back ends share.
 *
 * Exactness: one CPU writes its own tally with plain additions. The kernel runs programs on the
 * system-call tracepoints with preemption off (__DO_TRACE and, since 6.13, the guard in
 * __BPF_DECLARE_TRACE_SYSCALL), so no other thread can come between load and store. */
#ifndef TOLL_COUNT_BPF_H
#define TOLL_COUNT_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "probes/target.h"

const volatile struct target target SEC(".rodata");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set to the possible CPUs before loading */
	__type(key, __u32);
	__type(value, struct cpu_tally);
} counts SEC(".maps");

struct entry {
	__u64 since_ns; /* 0: this call is not timed */
	__u64 tick;
};

/* Where a thread's entry is kept, and entry_of() to find or make it (NULL where there is no room):
 * in the task itself, or in a hash keyed by thread number for back ends that have no task. */
#define ENTRIES_IN_TASK                                                                            \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_TASK_STORAGE);                                           \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, int);                                                                  \
		__type(value, struct entry);                                                       \
	} entries SEC(".maps");                                                                    \
	static __always_inline struct entry *entry_of(struct task_struct *task)                    \
	{                                                                                          \
		return bpf_task_storage_get(&entries, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);    \
	}

#define ENTRIES_IN_HASH                                                                            \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, 4096);                                                         \
		__type(key, __u32);                                                                \
		__type(value, struct entry);                                                       \
	} entries SEC(".maps");                                                                    \
	static __always_inline struct entry *entry_of(__u32 tid)                                   \
	{                                                                                          \
		struct entry fresh = {0}, *entry = bpf_map_lookup_elem(&entries, &tid);            \
                                                                                                   \
		if (entry)                                                                         \
			return entry;                                                              \
		bpf_map_update_elem(&entries, &tid, &fresh, BPF_ANY);                              \
		return bpf_map_lookup_elem(&entries, &tid);                                        \
	}

static __always_inline _Bool watched(__u32 tgid, __u32 tid)
{
	return tgid == target.tgid && tid != target.except;
}

static __always_inline struct tally *tally_of(__u64 nr)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_tally *mine = bpf_map_lookup_elem(&counts, &cpu);

	if (!mine)
		return 0;
	return &mine->by_nr[nr < NR_OTHER ? nr : NR_OTHER];
}

static __always_inline void count(__u64 nr, long result)
{
	struct tally *tally = tally_of(nr);

	if (!tally)
		return;
	tally->calls++;
	if ((unsigned long)result >= (unsigned long)-4095L)
		tally->errors++;
}

/* The timed pass: the clock is read last at entry and first at exit (now). */
static __always_inline void time_enter(struct entry *entry, __u64 nr)
{
	if (!entry)
		return;
	if (nr == target.sampled && (entry->tick++ & (SAMPLE_EVERY - 1))) {
		entry->since_ns = 0;
		return;
	}
	entry->since_ns = bpf_ktime_get_ns();
}

static __always_inline void time_exit(__u64 now, struct entry *entry, __u64 nr)
{
	struct tally *tally;

	if (!entry || !entry->since_ns)
		return;
	tally = tally_of(nr);
	if (tally) {
		tally->timed++;
		tally->time_ns += now - entry->since_ns;
	}
	entry->since_ns = 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#endif
