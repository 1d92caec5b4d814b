/* SPDX-License-Identifier: BSD-2-Clause */
/* What counter.c's table is made of; each function does what counter.h says of the field it fills. */
#ifndef TOLL_BACKENDS_H
#define TOLL_BACKENDS_H

#include "probes/counter.h"

/* bpf.c: all back ends named bpf:…, which differ in kind->object. */
int bpf__open(const struct counter_kind *kind, const struct counter_target *target,
	      struct counter **counter, char *why, size_t why_size);
int bpf__start(struct counter *counter, enum counter_mode mode);
void bpf__stop(struct counter *counter);
struct tally bpf__read(const struct counter *counter, int cpu, int nr);
struct counter_runs bpf__runs(const struct counter *counter);
void bpf__close(struct counter *counter);

/* perf.c: the kernel's own event counter on syscalls:sys_enter_NAME. */
int perf__open(const struct counter_kind *kind, const struct counter_target *target,
	       struct counter **counter, char *why, size_t why_size);
int perf__start(struct counter *counter, enum counter_mode mode);
void perf__stop(struct counter *counter);
struct tally perf__read(const struct counter *counter, int cpu, int nr);
void perf__close(struct counter *counter);

#endif
