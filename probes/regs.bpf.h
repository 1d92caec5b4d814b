/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The number of the call in the registers at sys_exit, found by name in the running kernel's types. */
#ifndef TOLL_REGS_BPF_H
#define TOLL_REGS_BPF_H

struct pt_regs {
#if defined(__TARGET_ARCH_x86)
	unsigned long orig_ax;
#elif defined(__TARGET_ARCH_arm64)
	int syscallno;
#endif
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
#define NR_OF(regs) ((__u64)(regs)->orig_ax)
#elif defined(__TARGET_ARCH_arm64)
#define NR_OF(regs) ((__u64)(regs)->syscallno)
#endif

#endif
