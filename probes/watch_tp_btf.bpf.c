/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watches tasks that user space marked, their threads, and their children if asked to. The call's
 * number is taken at entry: at exit it may be another's (rt_sigreturn, execve) or none (seccomp). */
#include "probes/count.bpf.h"
#include "probes/regs.bpf.h"
#include "probes/watch.h"

struct thread_info {
	unsigned int status;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_info thread_info;
	struct task_struct *group_leader;
	void *bpf_storage; /* NULL: nothing is kept with the task, and no helper needs to look */
	int pid, tgid;
} __attribute__((preserve_access_index));

#if defined(__TARGET_ARCH_x86)
#define NR_RT_SIGRETURN 15 /* arch/x86/entry/syscalls/syscall_64.tbl */
#elif defined(__TARGET_ARCH_arm64)
#define NR_RT_SIGRETURN 139 /* include/uapi/asm-generic/unistd.h */
#endif

/* arch/x86/include/asm/thread_info.h: the task is in a 32-bit call. */
#define TS_COMPAT 2

const volatile struct watch_options options SEC(".rodata.watch");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set to the possible CPUs before loading */
	__type(key, __u32);
	__type(value, struct cpu_tally);
} counts32 SEC(".maps");

/* Calls that ended with their task. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct never_returned);
} never_returned SEC(".maps");

/* A task that is watched from here on, other than those that user space marks. */
static __always_inline struct task_state *mark(struct task_struct *task)
{
	__u32 zero = 0;
	struct never_returned *all = bpf_map_lookup_elem(&never_returned, &zero);
	struct task_state *state =
		bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (state && !state->watched) {
		state->nr = -1;
		state->watched = 1;
		if (all)
			__sync_fetch_and_add(&all->started, 1);
	}
	return state;
}

/* The state of a task that is watched, or NULL. A thread is watched if its process is. */
static __always_inline struct task_state *state_of(struct task_struct *task)
{
	struct task_state *state =
		task->bpf_storage ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;

	if (state)
		return state->watched ? state : 0;
	if (options.all)
		return (__u32)task->tgid == options.except ? 0 : mark(task);
	if (task->pid == task->tgid)
		return 0;
	state = bpf_task_storage_get(&tasks, task->group_leader, 0, 0);
	return state && state->watched ? mark(task) : 0;
}

static __always_inline struct tally *tally_for(struct task_state *state)
{
	__u32 cpu = bpf_get_smp_processor_id(), nr = state->nr;
	struct cpu_tally *mine = state->compat ? bpf_map_lookup_elem(&counts32, &cpu)
					       : bpf_map_lookup_elem(&counts, &cpu);

	if (!mine)
		return 0;
	return &mine->by_nr[nr < NR_OTHER ? nr : NR_OTHER];
}

/* How many calls the time of this one stands for; 0: it is not timed. */
static __always_inline __u32 weight_of(struct task_state *state, const struct tally *tally)
{
	if (options.timing == TIMING_ALL)
		return 1;
	if (options.timing == TIMING_NONE)
		return 0;
	if (tally->timed < SAMPLE_EVERY || tally->time_ns > tally->timed * SLOW_NS)
		return 1;
	return state->tick++ & (SAMPLE_EVERY - 1) ? 0 : SAMPLE_EVERY;
}

SEC("?tp_btf/sys_enter")
int watch_enter(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct task_state *state = state_of(task);
	struct tally *tally;

	if (!state)
		return 0;
	state->nr = (int)ctx[1];
	if (state->nr < 0) /* a tracer made it no call */
		return 0;
#if defined(__TARGET_ARCH_x86)
	state->compat = task->thread_info.status & TS_COMPAT;
#endif
	tally = tally_for(state);
	if (!tally)
		return 0;
	tally->entered++;
	state->weight = weight_of(state, tally);
	if (state->weight) {
		state->off_ns = 0;
		state->since_ns = bpf_ktime_get_ns();
	}
	return 0;
}

SEC("?tp_btf/sys_exit")
int watch_exit(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct task_state *state =
		task->bpf_storage ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;
	struct tally *tally;
	long result = (long)ctx[1];

	if (!state || !state->watched || state->nr < 0)
		return 0;
	tally = tally_for(state);
	if (tally) {
		tally->calls++;
		if ((unsigned long)result >= (unsigned long)-4095L)
			tally->errors++;
		if (state->weight) {
			tally->timed += state->weight;
			tally->time_ns += (bpf_ktime_get_ns() - state->since_ns - state->off_ns) *
					  state->weight;
		}
	}
	state->nr = -1;
	return 0;
}

/* Without times, the exit alone is counted. The number is in the registers then, but for rt_sigreturn,
 * which has set them anew (no call, so nothing is restarted). A child's first exit is not of a call of
 * its own: mark() has left -1. */
SEC("?tp_btf/sys_exit")
int watch_count(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[0];
	struct task_state *state =
		task->bpf_storage ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;
	struct tally *tally;
	long result = (long)ctx[1];
	int nr;

	if (!state) {
		state = state_of(task);
		if (!state)
			return 0;
		state->nr = 0; /* found in a call of its own */
	}
	if (state->nr < 0) {
		state->nr = 0;
		return 0;
	}
	nr = (int)NR_OF(regs);
	state->nr = nr < 0 ? NR_RT_SIGRETURN : nr;
#if defined(__TARGET_ARCH_x86)
	state->compat = task->thread_info.status & TS_COMPAT;
#endif
	tally = tally_for(state);
	if (!tally)
		return 0;
	tally->calls++;
	if ((unsigned long)result >= (unsigned long)-4095L)
		tally->errors++;
	return 0;
}

/* Time off the CPU is no time of the call. */
SEC("?tp_btf/sched_switch")
int watch_switch(__u64 *ctx)
{
	struct task_struct *before = (void *)ctx[1], *after = (void *)ctx[2];
	struct task_state *state = bpf_task_storage_get(&tasks, before, 0, 0);
	__u64 now = 0;

	if (state && state->nr >= 0 && state->weight)
		state->out_ns = now = bpf_ktime_get_ns();
	state = bpf_task_storage_get(&tasks, after, 0, 0);
	if (state && state->out_ns) {
		if (state->nr >= 0)
			state->off_ns += (now ? now : bpf_ktime_get_ns()) - state->out_ns;
		state->out_ns = 0;
	}
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int watch_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct task_state *state = bpf_task_storage_get(&tasks, parent, 0, 0);

	if (state && state->watched && (options.follow || child->tgid == parent->tgid))
		mark(child);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int watch_end(__u64 *ctx)
{
	struct task_state *state = bpf_task_storage_get(&tasks, (struct task_struct *)ctx[0], 0, 0);
	__u32 zero = 0;
	__u64 nr;
	struct never_returned *all = bpf_map_lookup_elem(&never_returned, &zero);

	if (!state || !state->watched || !all)
		return 0;
	__sync_fetch_and_add(&all->ended, 1);
	if (state->nr < 0 || options.timing == TIMING_NONE)
		return 0;
	nr = (__u64)state->nr;
	barrier_var(nr); /* so that the verifier sees the bound on what is used */
	if (nr > NR_OTHER)
		nr = NR_OTHER;
	__sync_fetch_and_add(&all->by_nr[nr], 1);
	state->nr = -1;
	return 0;
}
