/* SPDX-License-Identifier: BSD-2-Clause */
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/counter.h"

/* Newer than Debian 12's libseccomp; the same on every architecture since 424
 * (scripts/syscall.tbl of Linux 6.18). */
static const struct {
	int nr;
	const char *name;
} newer[] = {
	{457, "statmount"},	   {458, "listmount"},	  {459, "lsm_get_self_attr"},
	{460, "lsm_set_self_attr"}, {461, "lsm_list_modules"}, {462, "mseal"},
	{463, "setxattrat"},	   {464, "getxattrat"},	  {465, "listxattrat"},
	{466, "removexattrat"},	   {467, "open_tree_attr"}, {468, "file_getattr"},
	{469, "file_setattr"},
#if defined(__x86_64__)
	{335, "uretprobe"},
#endif
};

/* What a 64-bit kernel runs as 32-bit calls. */
#if defined(__x86_64__)
#define ARCH_32 SCMP_ARCH_X86
#else
#define ARCH_32 SCMP_ARCH_ARM
#endif

char *syscall__name32(int nr, char *buffer, size_t size)
{
	char *known = seccomp_syscall_resolve_num_arch(ARCH_32, nr);

	if (known)
		snprintf(buffer, size, "%s", known);
	else if (nr >= 424) /* the same numbers everywhere */
		return syscall__name(nr, buffer, size);
	else
		snprintf(buffer, size, "syscall_%d", nr);
	free(known);
	return buffer;
}

char *syscall__name(int nr, char *buffer, size_t size)
{
	char *known = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

	if (known) {
		snprintf(buffer, size, "%s", known);
		free(known);
		return buffer;
	}
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
		if (newer[i].nr == nr) {
			snprintf(buffer, size, "%s", newer[i].name);
			return buffer;
		}
	snprintf(buffer, size, "syscall_%d", nr);
	return buffer;
}

bool syscall__known(const char *name)
{
	for (size_t i = 0; i < sizeof(newer) / sizeof(*newer); i++)
		if (!strcmp(newer[i].name, name))
			return true;
	return seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR ||
	       seccomp_syscall_resolve_name_arch(ARCH_32, name) != __NR_SCMP_ERROR;
}
