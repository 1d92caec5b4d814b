/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bpf:tp_btf: typed raw tracepoints; task and registers are read without helpers. */
#include "probes/count.bpf.h"
#include "probes/regs.bpf.h"

/* The fields used, found in the running kernel's types by name (CO-RE). */
struct task_struct {
	int pid, tgid;
} __attribute__((preserve_access_index));

ENTRIES_IN_TASK

#define CURRENT_OR_RETURN()                                                                        \
	struct task_struct *task = (void *)bpf_get_current_task_btf();                             \
	if (!watched(task->tgid, task->pid))                                                       \
	return 0

SEC("?tp_btf/sys_exit")
int count_exit(__u64 *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];

	CURRENT_OR_RETURN();
	count(NR_OF(regs), (long)ctx[1]);
	return 0;
}

SEC("?tp_btf/sys_enter")
int timed_enter(__u64 *ctx)
{
	CURRENT_OR_RETURN();
	time_enter(entry_of(task), ctx[1]);
	return 0;
}

SEC("?tp_btf/sys_exit")
int timed_exit(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct pt_regs *regs = (void *)ctx[0];

	CURRENT_OR_RETURN();
	time_exit(now, entry_of(task), NR_OF(regs));
	return 0;
}
