/* SPDX-License-Identifier: BSD-2-Clause */
/* The observers: what counts the system calls of the hammering threads. A new one is a line in the
 * table of counter.c; for BPF, a *.bpf.c with count_exit, timed_enter and timed_exit as well. */
#ifndef TOLL_COUNTER_H
#define TOLL_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "probes/target.h"

struct counter_target {
	pid_t tgid;   /* count all threads of this process … */
	pid_t except; /* … but this one, which opens the counter and makes no such calls meanwhile */
	int nr;	      /* the call hammered */
};

enum counter_mode {
	COUNTING, /* calls, and errors where they are seen */
	TIMING,	  /* the clock at entry and exit, for a sample of the calls */
};

struct counter_runs {
	uint64_t made;	  /* by whomever: where kernel.bpf_stats_enabled is 1, else 0 */
	uint64_t skipped; /* because the program was already running on that CPU */
};

/* The head of every open counter; the back ends have their own fields behind it. */
struct counter {
	const struct counter_kind *kind;
};

struct counter_kind {
	const char *name, *summary;
	bool one_call; /* sees the hammered call alone, and not whether it failed */
	bool times;    /* has a TIMING mode */
	bool admin;    /* starting needs CAP_SYS_ADMIN, beyond what BPF needs */
	/* Opens a counter ready to start; nothing is attached yet. Returns 0, or -errno with a
	 * one-line reason and remedy in why. */
	int (*open)(const struct counter_kind *kind, const struct counter_target *target,
		    struct counter **counter, char *why, size_t why_size);
	int (*start)(struct counter *counter, enum counter_mode mode);
	void (*stop)(struct counter *counter);
	struct tally (*read)(const struct counter *counter, int cpu, int nr);
	struct counter_runs (*runs)(const struct counter *counter);
	void (*close)(struct counter *counter); /* takes a half-open one */
	const void *(*object)(size_t *size);	/* BPF: the compiled program */
};

/* The table, ended by a NULL name; cheapest first. "none" is not in it: it is no observer. */
extern const struct counter_kind counter_kinds[];

/* Opens by name: "bpf" is the first of its kind that works and sees every call. Opening must come
 * before the threads to be counted are started. Returns 0; -ENOENT where no such name is known; else
 * -errno with the reason in why. */
int counter__open(const char *name, const struct counter_target *target, struct counter **counter,
		  char *why, size_t why_size);

/* Attaches. Returns 0 or -errno. */
int counter__start(struct counter *counter, enum counter_mode mode);
/* Detaches: from its return on, nothing of ours slows a system call. */
void counter__stop(struct counter *counter);

/* Sums up call number nr (NR_OTHER: all that have no slot) on one CPU, or on all with cpu -1,
 * since the opening. */
struct tally counter__read(const struct counter *counter, int cpu, int nr);
/* Of the program that counts; nothing where the counter is no program. */
struct counter_runs counter__runs(const struct counter *counter);

/* Detaches and frees; NULL is taken. */
void counter__close(struct counter *counter);

/* The name of call number nr on this architecture, or "syscall_N", in buffer; returns buffer. */
char *syscall__name(int nr, char *buffer, size_t size);
/* The same for a 32-bit call. */
char *syscall__name32(int nr, char *buffer, size_t size);
/* Is there a call of that name, here or for 32-bit programs? */
bool syscall__known(const char *name);

#endif
