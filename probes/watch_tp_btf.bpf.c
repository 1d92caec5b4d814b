/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Watching by typed raw tracepoints: the state is in the task's own storage. User space marks processes
 * there; their threads are found when they make a call, their children at the fork. */
#include "probes/watch.bpf.h"
#include "probes/regs.bpf.h"

struct thread_info {
	unsigned long flags;
	unsigned int status;
} __attribute__((preserve_access_index));

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));

struct pid_namespace {
	struct ns_common ns;
} __attribute__((preserve_access_index));

struct upid {
	int nr;
	struct pid_namespace *ns;
} __attribute__((preserve_access_index));

struct pid {
	unsigned int level;
	struct upid numbers[];
} __attribute__((preserve_access_index));

typedef struct {
	unsigned long sig[1];
} __attribute__((preserve_access_index)) sigset_t;

struct sigpending {
	sigset_t signal;
} __attribute__((preserve_access_index));

struct signal_struct {
	int group_exit_code;
	unsigned int flags;
} __attribute__((preserve_access_index));

struct task_struct {
	struct thread_info thread_info;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	__u64 start_time;
	struct signal_struct *signal;
	struct sigpending pending;
	void *bpf_storage; /* NULL: nothing is kept with the task, and no helper needs to look */
	int pid, tgid;
} __attribute__((preserve_access_index));

/* asm/thread_info.h of arch/x86: the task is in a 32-bit call; of arch/arm64: it makes no others. */
#define TS_COMPAT 2
#define TIF_32BIT 22

/* include/linux/sched/signal.h, include/uapi/asm-generic/signal.h, include/linux/wait.h */
#define SIGNAL_GROUP_EXIT 4
#define SIGKILL 9
#define SIGNAL_OF(code) ((code) & 0x7f)

/* include/linux/pid_namespace.h: MAX_PID_NS_LEVEL. */
#define NAMESPACE_LEVELS 32

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

static __always_inline __u32 compat_of(struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & TS_COMPAT;
#elif defined(__TARGET_ARCH_arm64)
	return task->thread_info.flags >> TIF_32BIT & 1;
#endif
}

/* The task's number in the namespace of user space; the kernel's own where it has none there. */
static __always_inline __u32 number_of(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);

	for (__u32 i = 0; i < NAMESPACE_LEVELS && i <= level; i++) {
		struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
				  i * bpf_core_type_size(struct upid);

		if (BPF_CORE_READ(at, ns, ns.inum) == options.namespace)
			return BPF_CORE_READ(at, nr);
	}
	return task->pid;
}

static __always_inline void identify(struct who *me)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	me->tid = number_of(task);
	me->tgid = number_of(task->group_leader);
	me->process = task->group_leader->start_time;
}

/* A thread that is to end has SIGKILL pending: by SIGKILL itself, another thread's exit_group or execve, or
 * another deadly signal. Of the last, strace sees one thread return from its call and then take the signal: we
 * take the leader for it. */
static __always_inline _Bool is_killed(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	int code;

	if (!task->thread_info.flags || !(task->pending.signal.sig[0] & 1ul << (SIGKILL - 1)))
		return 0;
	if (!(task->signal->flags & SIGNAL_GROUP_EXIT) || task->pid != task->tgid)
		return 1;
	code = SIGNAL_OF(task->signal->group_exit_code);
	return !code || code == SIGKILL;
}

/* A task that is watched from here on, in that call, other than those that user space marks. */
static __always_inline struct task_state *mark(struct task_struct *task, int nr)
{
	struct task_state *state =
		bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (state && !state->watched)
		begin(state, nr);
	if (!state) {
		struct extras *all = extras_of();

		if (all)
			__sync_fetch_and_add(&all->unwatched, 1);
	}
	return state;
}

/* The state of the current task if it is watched, or NULL. A thread is watched if its process is. nr: what
 * it gets where it is found now. */
static __always_inline struct task_state *state_of(struct task_struct *task, int nr)
{
	struct task_state *state =
		task->bpf_storage ? bpf_task_storage_get(&tasks, task, 0, 0) : 0;

	if (state)
		return state->watched ? state : 0;
	if (options.all) {
		if (number_of(task->group_leader) == options.except)
			return 0;
		return mark(task, nr);
	}
	if (task->pid == task->tgid || !task->group_leader->bpf_storage)
		return 0;
	state = bpf_task_storage_get(&tasks, task->group_leader, 0, 0);
	return state && state->watched ? mark(task, nr) : 0;
}

SEC("?tp_btf/sys_enter")
int watch_enter(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct task_state *state = state_of(task, NO_CALL);

	if (state)
		enter(state, ctx[1], compat_of(task));
	return 0;
}

SEC("?tp_btf/sys_exit")
int watch_exit(__u64 *ctx)
{
	struct task_state *state = state_of((void *)bpf_get_current_task_btf(), UNKNOWN_CALL);

	if (state)
		leave_timed(state, (long)ctx[1]);
	return 0;
}

SEC("?tp_btf/sys_exit")
int watch_count(__u64 *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)ctx[0];
	struct task_state *state = state_of(task, UNKNOWN_CALL);

	if (state)
		leave_counted(state, (int)NR_OF(regs), compat_of(task), (long)ctx[1]);
	return 0;
}

SEC("?tp_btf/sched_switch")
int watch_switch(__u64 *ctx)
{
	struct task_struct *from = (void *)ctx[1], *to = (void *)ctx[2];
	struct task_state *state = from->bpf_storage ? bpf_task_storage_get(&tasks, from, 0, 0) : 0;

	if (state)
		go_off(state);
	state = to->bpf_storage ? bpf_task_storage_get(&tasks, to, 0, 0) : 0;
	if (state)
		come_back(state);
	return 0;
}

SEC("?tp_btf/sched_process_fork")
int watch_fork(__u64 *ctx)
{
	struct task_struct *parent = (void *)ctx[0], *child = (void *)ctx[1];
	struct task_state *state = bpf_task_storage_get(&tasks, parent, 0, 0);

	if (state && state->watched && (options.follow || child->tgid == parent->tgid))
		mark(child, NO_CALL);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int watch_end(__u64 *ctx)
{
	struct task_state *state = bpf_task_storage_get(&tasks, (struct task_struct *)ctx[0], 0, 0);

	if (state && state->watched)
		end(state);
	return 0;
}
