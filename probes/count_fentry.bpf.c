/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bpf:fentry: the function of one call, set before loading; no other call pays anything.
 *
 * Exactness: a trampoline leaves preemption on, but the kernel runs a program once at a time on a CPU
 * (prog->active, kernel/bpf/trampoline.c): what another thread would have added meanwhile is skipped
 * and told as a miss, so plain additions never mix. */
#include "probes/count.bpf.h"

struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

ENTRIES_IN_TASK

#define CURRENT_OR_RETURN()                                                                        \
	struct task_struct *task = (void *)bpf_get_current_task_btf();                             \
	if (!watched(task->tgid, task->pid))                                                       \
	return 0

SEC("?fentry")
int count_exit(__u64 *ctx)
{
	(void)ctx;
	CURRENT_OR_RETURN();
	count(target.sampled, 0);
	return 0;
}

SEC("?fentry")
int timed_enter(__u64 *ctx)
{
	(void)ctx;
	CURRENT_OR_RETURN();
	time_enter(entry_of(task), target.sampled);
	return 0;
}

SEC("?fexit")
int timed_exit(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	(void)ctx;
	CURRENT_OR_RETURN();
	time_exit(now, entry_of(task), target.sampled);
	return 0;
}
