/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/host.h"
#include "common/privileges.h"

void refusal__gather(struct refusal *refusal)
{
	struct utsname kernel;
	int major = 0, minor = 0;

	refusal->root = !geteuid();
	refusal->capable = privileges__bpf();
	refusal->btf = !access("/sys/kernel/btf/vmlinux", R_OK);
	refusal->old = !uname(&kernel) && sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
		       (major < 5 || (major == 5 && minor < 11));
	host__lockdown(refusal->lockdown, sizeof(refusal->lockdown));
}

void refusal__explain(const struct refusal *refusal, char *why, size_t size)
{
	int err = refusal->err;

	if (!refusal->capable && !refusal->root)
		snprintf(why, size, "BPF needs root, or CAP_BPF and CAP_PERFMON: use sudo");
	else if (!refusal->capable)
		snprintf(why, size, "root without CAP_BPF and CAP_PERFMON (a container?): grant both");
	else if (!strcmp(refusal->lockdown, "confidentiality"))
		snprintf(why, size, "kernel lockdown is \"confidentiality\", which refuses programs that read the kernel's memory: "
			 "bpf:tp_btf reads none, or boot with lockdown=integrity");
	else if ((err == -ESRCH || err == -ENOENT) && !refusal->btf)
		snprintf(why, size, "this kernel has no BTF (/sys/kernel/btf/vmlinux): only bpf:raw_tp "
			 "does without, and kernels with CONFIG_DEBUG_INFO_BTF have it");
	else if ((err == -EPERM || err == -ENOMEM) && refusal->old)
		snprintf(why, size, "BPF memory counts against RLIMIT_MEMLOCK on this kernel: raise it "
			 "(ulimit -l unlimited)");
	else if (refusal->one_function)
		snprintf(why, size, "the kernel refuses programs on its functions (%s): use --counter "
			 "bpf, which takes the tracepoint", strerror(-err));
	else
		snprintf(why, size, "the kernel refuses it (%s)", strerror(-err));
}
