/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/others.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* "sys_enter" and "sys_exit"; BTF has them as types named btf_trace_sys_enter and …_exit. */
static bool is_syscall_tracepoint(const char *name)
{
	static const char prefix[] = "btf_trace_";

	if (!strncmp(name, prefix, strlen(prefix)))
		name += strlen(prefix);
	return !strcmp(name, "sys_enter") || !strcmp(name, "sys_exit");
}

/* *types is loaded when the first link needs it: that takes milliseconds. */
static bool link_watches(int fd, struct btf **types)
{
	char name[64] = "";
	struct bpf_link_info info = {0};
	unsigned int size = sizeof(info);
	const struct btf_type *type;

	info.raw_tracepoint.tp_name = (uintptr_t)name;
	info.raw_tracepoint.tp_name_len = sizeof(name);
	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return false;
	if (info.type == BPF_LINK_TYPE_RAW_TRACEPOINT && name[0])
		return is_syscall_tracepoint(name);
	if (info.type != BPF_LINK_TYPE_TRACING)
		return false;
	if (!*types && !(*types = btf__load_vmlinux_btf()))
		return false;
	type = btf__type_by_id(*types, info.tracing.target_btf_id);
	return type && is_syscall_tracepoint(btf__name_by_offset(*types, type->name_off));
}

static int links(void)
{
	struct btf *types = NULL;
	int n = 0, err;
	unsigned int id = 0;

	while (!(err = bpf_link_get_next_id(id, &id))) {
		int fd = bpf_link_get_fd_by_id(id);

		if (fd < 0)
			continue; /* gone meanwhile */
		n += link_watches(fd, &types);
		close(fd);
	}
	btf__free(types);
	return err == -ENOENT ? n : err;
}

static int classic_programs(void)
{
	int n = 0, err;
	unsigned int id = 0;

	while (!(err = bpf_prog_get_next_id(id, &id))) {
		struct bpf_prog_info info = {0};
		unsigned int size = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &size))
			n += info.type == BPF_PROG_TYPE_TRACEPOINT;
		close(fd);
	}
	return err == -ENOENT ? n : err;
}

int others__attached(void)
{
	int linked = links(), loaded = linked < 0 ? 0 : classic_programs();

	return linked < 0 ? linked : loaded < 0 ? loaded : linked + loaded;
}
