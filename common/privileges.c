/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/privileges.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (1ull << (capability))
#define FOR_BPF (BIT(CAP_BPF) | BIT(CAP_PERFMON))

static int get(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};

	return syscall(SYS_capget, &header, data) ? -errno : 0;
}

bool privileges__bpf(void)
{
	struct __user_cap_data_struct data[2] = {{0}};
	uint64_t held;

	if (get(data))
		return false;
	held = (uint64_t)data[1].effective << 32 | data[0].effective;
	return held & BIT(CAP_SYS_ADMIN) || (held & FOR_BPF) == FOR_BPF;
}

int privileges__drop(bool admin)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};
	uint64_t keep = FOR_BPF | BIT(CAP_DAC_OVERRIDE), held;
	int err = get(data);

	if (err)
		return err;
	held = (uint64_t)data[1].effective << 32 | data[0].effective;
	/* A kernel without CAP_BPF, or a container that grants CAP_SYS_ADMIN instead. */
	if (admin || prctl(PR_CAPBSET_READ, CAP_BPF) < 0 || (held & FOR_BPF) != FOR_BPF)
		keep |= BIT(CAP_SYS_ADMIN);
	for (int i = 0; i < 2; i++) {
		uint32_t part = (uint32_t)(keep >> (32 * i));

		data[i].effective &= part;
		data[i].permitted &= part;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}
