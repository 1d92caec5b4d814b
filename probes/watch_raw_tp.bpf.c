/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watching without the kernel's types: raw tracepoints for calls and ends, classic ones (which need
 * tracefs) for forks and switches. The state is in a hash by thread number.
 *
 * What the types would tell is not known here: a 32-bit call of a 64-bit process has a 64-bit name. */
#include "probes/watch.bpf.h"

/* struct pt_regs as arch/x86 and arch/arm64 have it since 2008 and 2017. */
#if defined(__TARGET_ARCH_x86)
#define NR_OFFSET 120 /* orig_ax */
typedef long nr_type;
#define MODE_OFFSET 136 /* cs */
#define IS_MODE_32(mode) ((mode) == 0x23) /* __USER32_CS, arch/x86/include/asm/segment.h */
#elif defined(__TARGET_ARCH_arm64)
#define NR_OFFSET 280 /* syscallno */
typedef int nr_type;
#define MODE_OFFSET 264 /* pstate */
#define IS_MODE_32(mode) (!!((mode) & 0x10)) /* PSR_MODE32_BIT, arch/arm64/include/uapi/asm/ptrace.h */
#endif

#define MOST_TASKS 131072

/* task_state.watched of a task that may be a thread of a watched process, or a child that is not followed. */
#define BORN 2

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, MOST_TASKS);
	__type(key, __u32);
	__type(value, struct task_state);
} tasks SEC(".maps");

static __always_inline void identify(struct who *me)
{
	__u64 id = bpf_get_current_pid_tgid();

	me->tid = (__u32)id;
	me->tgid = id >> 32;
	me->process = me->tgid;
}

static __always_inline __u32 compat_of(__u64 regs)
{
	unsigned short mode = 0;

	bpf_probe_read_kernel(&mode, sizeof(mode), (void *)(regs + MODE_OFFSET));
	return IS_MODE_32(mode);
}

/* That would take the types: such a call is counted. */
static __always_inline _Bool is_killed(void)
{
	return 0;
}

/* A task that is watched from here on, in that call, other than those that user space marks. */
static __always_inline struct task_state *mark(__u32 tid, int nr)
{
	struct task_state fresh = {0}, *state;
	struct extras *all;

	if (!bpf_map_update_elem(&tasks, &tid, &fresh, BPF_NOEXIST) &&
	    (state = bpf_map_lookup_elem(&tasks, &tid))) {
		begin(state, nr);
		return state;
	}
	if ((all = extras_of()))
		__sync_fetch_and_add(&all->unwatched, 1);
	return 0;
}

/* The state of the current task if it is watched, or NULL. A thread is watched if its process is. */
static __always_inline struct task_state *state_of(int nr)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 tid = (__u32)id, tgid = id >> 32;
	struct task_state *state = bpf_map_lookup_elem(&tasks, &tid);

	if (state && state->watched == BORN && tid == tgid && !options.follow) {
		end(state);
		bpf_map_delete_elem(&tasks, &tid);
		return 0;
	}
	if (state) {
		state->watched = 1;
		return state;
	}
	if (options.all)
		return tgid == options.except ? 0 : mark(tid, nr);
	if (tid == tgid || !bpf_map_lookup_elem(&tasks, &tgid))
		return 0;
	return mark(tid, nr);
}

SEC("?raw_tp/sys_enter")
int watch_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_state *state = state_of(NO_CALL);

	if (state)
		enter(state, ctx->args[1], compat_of(ctx->args[0]));
	return 0;
}

SEC("?raw_tp/sys_exit")
int watch_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_state *state = state_of(UNKNOWN_CALL);

	if (state)
		leave_timed(state, (long)ctx->args[1]);
	return 0;
}

SEC("?raw_tp/sys_exit")
int watch_count(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_state *state = state_of(UNKNOWN_CALL);
	nr_type nr = -1;

	if (!state)
		return 0;
	bpf_probe_read_kernel(&nr, sizeof(nr), (void *)(ctx->args[0] + NR_OFFSET));
	leave_counted(state, nr, compat_of(ctx->args[0]), (long)ctx->args[1]);
	return 0;
}

/* A field of type pid_t of a classic tracepoint. */
static __always_inline __u32 field(void *ctx, __u32 offset)
{
	__u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), ctx + offset);
	return value;
}

SEC("?tp/sched/sched_switch")
int watch_switch(void *ctx)
{
	__u32 from = field(ctx, options.switch_from), to = field(ctx, options.switch_to);
	struct task_state *state = bpf_map_lookup_elem(&tasks, &from);

	if (state)
		go_off(state);
	state = bpf_map_lookup_elem(&tasks, &to);
	if (state)
		come_back(state);
	return 0;
}

/* The parent is the current task. Whether the child is a thread shows in its first call. */
SEC("?tp/sched/sched_process_fork")
int watch_fork(void *ctx)
{
	__u32 child = field(ctx, options.fork_child), parent = (__u32)bpf_get_current_pid_tgid();

	struct task_state *state = bpf_map_lookup_elem(&tasks, &parent);

	if (state && (state = mark(child, NO_CALL)))
		state->watched = BORN;
	return 0;
}

/* A thread that is not the leader gets the leader's number by execve; the leader has ended. */
SEC("?raw_tp/sched_process_exec")
int watch_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 before = ctx->args[1], tid = (__u32)bpf_get_current_pid_tgid();
	struct task_state *state = before == tid ? 0 : bpf_map_lookup_elem(&tasks, &before);
	struct task_state moved;

	if (!state)
		return 0;
	moved = *state;
	bpf_map_delete_elem(&tasks, &before);
	bpf_map_update_elem(&tasks, &tid, &moved, BPF_ANY);
	return 0;
}

SEC("?raw_tp/sched_process_exit")
int watch_end(void *ctx __attribute__((unused)))
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct task_state *state = bpf_map_lookup_elem(&tasks, &tid);

	if (!state)
		return 0;
	end(state);
	bpf_map_delete_elem(&tasks, &tid);
	return 0;
}
