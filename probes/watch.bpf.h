/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The watching that both back ends share: what happens at the entry and exit of a call, and when a task
 * leaves the CPU or ends. They differ in where a task's state is kept and how it is found.
 *
 * A call's number is taken at entry: at exit it may be another's (rt_sigreturn, execve) or none (seccomp). */
#ifndef TOLL_WATCH_BPF_H
#define TOLL_WATCH_BPF_H

#include "probes/count.bpf.h"
#include "probes/watch.h"

#if defined(__TARGET_ARCH_x86)
#define NR_RT_SIGRETURN 15 /* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_EXECVE 59
/* What an execve into a 32-bit program has become when it returns (arch/x86/kernel/process_64.c,
 * __set_personality_ia32). */
#define IS_EXECVE32(nr, compat) ((compat) && (nr) == 11)
#elif defined(__TARGET_ARCH_arm64)
#define NR_RT_SIGRETURN 139 /* include/uapi/asm-generic/unistd.h */
#define NR_EXECVE 221
#define IS_EXECVE32(nr, compat) 0
#endif

/* include/linux/errno.h: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK. */
#define IS_RESTART(result) ((result) == -512 || (result) == -513 || (result) == -514 || (result) == -516)
#define IS_ERROR(result) ((unsigned long)(result) >= (unsigned long)-4095L)

const volatile struct watch_options options SEC(".rodata.watch");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set to the possible CPUs before loading */
	__type(key, __u32);
	__type(value, struct cpu_tally);
} counts32 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct extras);
} extras SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set to MOST_PARTS where parts are wanted */
	__type(key, struct part_key);
	__type(value, struct tally);
} parts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct who);
} who SEC(".maps");

static __always_inline struct extras *extras_of(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&extras, &zero);
}

static __always_inline struct tally *tally_for(const struct task_state *state)
{
	__u32 cpu = bpf_get_smp_processor_id(), nr = state->nr;
	struct cpu_tally *mine = state->compat ? bpf_map_lookup_elem(&counts32, &cpu)
					       : bpf_map_lookup_elem(&counts, &cpu);

	if (!mine)
		return 0;
	return &mine->by_nr[nr < NR_OTHER ? nr : NR_OTHER];
}

/* Tells who the current task is: all but its name. Each back end has its own. */
static __always_inline void identify(struct who *me);

/* Does the current task end before it is back from its call, so that strace does not see it return? Each back
 * end has its own. */
static __always_inline _Bool is_killed(void);

/* The part of the current task, in the call of its state; or NULL. */
static __always_inline struct tally *part_for(struct task_state *state)
{
	__u32 nr = state->nr;
	struct part_key key = {0, (nr < NR_OTHER ? nr : NR_OTHER) + !!state->compat * NR_SLOTS};
	struct tally fresh = {0}, *part;
	struct extras *all;

	if (!state->serial && (all = extras_of())) {
		struct who me = {0};

		identify(&me);
		state->serial = __sync_fetch_and_add(&all->serials, 1) + 1;
		key.serial = state->serial;
		bpf_map_update_elem(&who, &key.serial, &me, BPF_ANY);
	}
	key.serial = state->serial;
	part = bpf_map_lookup_elem(&parts, &key);
	if (part)
		return part;
	bpf_map_update_elem(&parts, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&parts, &key);
}

/* One in SAMPLE_EVERY at random: a fixed step would fall in with the rhythm of a loop. The generator is
 * Knuth's MMIX (The Art of Computer Programming 2, 3.3.4). */
static __always_inline _Bool is_sampled(struct task_state *state)
{
	state->random = state->random * 6364136223846793005ull + 1442695040888963407ull;
	return (state->random >> 32) % SAMPLE_EVERY == 0;
}

static __always_inline enum timed how_timed(struct task_state *state, const struct tally *tally)
{
	if (options.timing == TIMING_ALL)
		return TIMED;
	if (options.timing == TIMING_NONE)
		return UNTIMED;
	if (tally->timed < SAMPLE_EVERY ||
	    tally->time_ns + tally->sampled_ns * SAMPLE_EVERY >
		    (tally->timed + tally->sampled * SAMPLE_EVERY) * SLOW_NS)
		return TIMED;
	return is_sampled(state) ? SAMPLED : UNTIMED;
}

static __always_inline void enter(struct task_state *state, long nr, __u32 compat)
{
	struct tally *tally;

	if (state->nr == HELD && nr != NR_EXECVE)
		return;
	state->nr = (int)nr < 0 ? NO_CALL : (int)nr; /* a tracer made it no call */
	if (state->nr < 0)
		return;
	state->compat = compat;
	tally = tally_for(state);
	if (!tally)
		return;
	tally->entered++;
	state->timed = how_timed(state, tally);
	state->off_ns = 0;
	if (state->timed != UNTIMED)
		state->since_ns = bpf_ktime_get_ns();
}

static __always_inline void add(struct tally *tally, long result, enum timed timed, __u64 on, __u64 off)
{
	__u64 span = on + (options.wall ? off : 0);

	tally->calls++;
	if (IS_ERROR(result))
		tally->errors++;
	if (options.timing == TIMING_NONE)
		return;
	if (off)
		tally->off_ns += off;
	if (timed == TIMED) {
		tally->timed++;
		tally->time_ns += on;
	} else if (timed == SAMPLED) {
		tally->sampled++;
		tally->sampled_ns += on;
		tally->squares += (on * on + 128) >> 8;
	}
	if (timed != UNTIMED && (!tally->min_ns || span < tally->min_ns))
		tally->min_ns = span;
	if (span > tally->max_ns) /* of a call that is not timed, what is known of it */
		tally->max_ns = span;
}

static __always_inline void never_return(struct extras *all, const struct task_state *state)
{
	__u64 nr = (__u32)state->nr;

	barrier_var(nr); /* so that the verifier sees the bound on what is used */
	if (nr > NR_OTHER)
		nr = NR_OTHER;
	__sync_fetch_and_add(&all->never_returned[!!state->compat][nr], 1);
}

static __always_inline void leave(struct task_state *state, long result)
{
	__u64 off = state->off_ns, on = 0;
	struct tally *tally = tally_for(state);
	struct extras *all;

	if (is_killed() && (all = extras_of())) {
		never_return(all, state);
		return;
	}
	if (options.timing != TIMING_NONE && state->timed != UNTIMED)
		on = bpf_ktime_get_ns() - state->since_ns - off;
	if (tally)
		add(tally, result, state->timed, on, off);
	if (options.parts) {
		tally = part_for(state);
		if (tally)
			add(tally, result, state->timed, on, off);
		else if ((all = extras_of()))
			__sync_fetch_and_add(&all->unplaced, 1);
	}
	if (IS_RESTART(result) && (all = extras_of())) {
		__u64 nr = (__u32)state->nr;

		barrier_var(nr);
		if (nr > NR_OTHER)
			nr = NR_OTHER;
		__sync_fetch_and_add(&all->restarted[!!state->compat][nr], 1);
	}
}

/* Time off the CPU is no time of the call. */
static __always_inline void go_off(struct task_state *state)
{
	if (state->watched && state->nr >= 0)
		state->out_ns = bpf_ktime_get_ns();
}

static __always_inline void come_back(struct task_state *state)
{
	if (!state->out_ns)
		return;
	if (state->nr >= 0)
		state->off_ns += bpf_ktime_get_ns() - state->out_ns;
	state->out_ns = 0;
}

/* At the exit of a call whose entry was watched, or not. */
static __always_inline void leave_timed(struct task_state *state, long result)
{
	struct extras *all;

	if (state->nr == HELD)
		return;
	come_back(state); /* where the switch to it was not seen, for the kernel may skip a program */
	if (state->nr >= 0)
		leave(state, result);
	else if (state->nr == UNKNOWN_CALL && (all = extras_of()))
		__sync_fetch_and_add(&all->in_flight_at_attach, 1);
	state->nr = NO_CALL;
}

/* Where exits alone are counted: the number is in the registers then, but for rt_sigreturn, which has set
 * them anew (no call, so nothing is restarted). A child's first exit is not of a call of its own: it has
 * NO_CALL. */
static __always_inline void leave_counted(struct task_state *state, long nr, __u32 compat, long result)
{
	if (state->nr == HELD && nr != NR_EXECVE && !IS_EXECVE32(nr, compat))
		return;
	if (state->nr == NO_CALL) {
		state->nr = UNKNOWN_CALL;
		return;
	}
	state->nr = (int)nr < 0 ? NR_RT_SIGRETURN : (int)nr;
	state->compat = compat;
	leave(state, result);
}

static __always_inline void end(struct task_state *state)
{
	struct extras *all = extras_of();
	struct who *me;

	if (!all)
		return;
	__sync_fetch_and_add(&all->ended, 1);
	if (options.parts && (me = bpf_map_lookup_elem(&who, &state->serial)))
		bpf_get_current_comm(me->name, sizeof(me->name));
	if (state->nr >= 0 && options.timing != TIMING_NONE)
		never_return(all, state);
	state->nr = NO_CALL;
}

/* Fills the state of a task that is watched from here on, other than those that user space marks. */
static __always_inline void begin(struct task_state *state, int nr)
{
	struct extras *all = extras_of();

	state->nr = nr;
	state->random = (__u64)bpf_get_prandom_u32() << 32;
	state->watched = 1;
	if (all)
		__sync_fetch_and_add(&all->started, 1);
}

#endif
