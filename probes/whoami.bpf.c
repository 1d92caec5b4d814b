/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The number of the calling process as BPF programs see it: that of the first PID namespace. Run, not attached. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("raw_tp/sys_enter")
int whoami(void *ctx)
{
	(void)ctx;
	return (int)(bpf_get_current_pid_tgid() >> 32);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
