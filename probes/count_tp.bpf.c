/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bpf:tp: classic tracepoints; needs tracefs to find them. */
#include "probes/count.bpf.h"

/* /sys/kernel/tracing/events/raw_syscalls/sys_{enter,exit}/format; second is args[0] or ret. */
struct syscall_event {
	__u64 common;
	long id;
	long second;
};

ENTRIES_IN_HASH

#define CURRENT_OR_RETURN()                                                                        \
	__u64 current = bpf_get_current_pid_tgid();                                                \
	if (!watched(current >> 32, (__u32)current))                                               \
	return 0

SEC("?tp/raw_syscalls/sys_exit")
int count_exit(struct syscall_event *ctx)
{
	CURRENT_OR_RETURN();
	count(ctx->id, ctx->second);
	return 0;
}

SEC("?tp/raw_syscalls/sys_enter")
int timed_enter(struct syscall_event *ctx)
{
	CURRENT_OR_RETURN();
	time_enter(entry_of((__u32)current), ctx->id);
	return 0;
}

SEC("?tp/raw_syscalls/sys_exit")
int timed_exit(struct syscall_event *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	CURRENT_OR_RETURN();
	time_exit(now, entry_of((__u32)current), ctx->id);
	return 0;
}
