/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* bpf:raw_tp: raw tracepoints; needs neither BTF nor tracefs, so no CO-RE here. */
#include <stddef.h>
#include "probes/count.bpf.h"

#if defined(__TARGET_ARCH_x86)
/* arch/x86/include/uapi/asm/ptrace.h: orig_rax is the 16th register. */
#define NR_OFFSET (15 * 8)
typedef __u64 nr_type;
#elif defined(__TARGET_ARCH_arm64)
/* arch/arm64/include/asm/ptrace.h: user_pt_regs (34 registers), orig_x0, then syscallno. */
#define NR_OFFSET (35 * 8)
typedef int nr_type;
#endif

ENTRIES_IN_HASH

#define CURRENT_OR_RETURN()                                                                        \
	__u64 id = bpf_get_current_pid_tgid();                                                     \
	if (!watched(id >> 32, (__u32)id))                                                         \
	return 0

static __always_inline __u64 nr_of(__u64 regs)
{
	nr_type nr = -1;

	bpf_probe_read_kernel(&nr, sizeof(nr), (void *)(regs + NR_OFFSET));
	return (__u64)nr;
}

SEC("?raw_tp/sys_exit")
int count_exit(struct bpf_raw_tracepoint_args *ctx)
{
	CURRENT_OR_RETURN();
	count(nr_of(ctx->args[0]), (long)ctx->args[1]);
	return 0;
}

SEC("?raw_tp/sys_enter")
int timed_enter(struct bpf_raw_tracepoint_args *ctx)
{
	CURRENT_OR_RETURN();
	time_enter(entry_of((__u32)id), ctx->args[1]);
	return 0;
}

SEC("?raw_tp/sys_exit")
int timed_exit(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	CURRENT_OR_RETURN();
	time_exit(now, entry_of((__u32)id), nr_of(ctx->args[0]));
	return 0;
}
