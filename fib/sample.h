/* SPDX-License-Identifier: BSD-2-Clause */
/* One sample: an engine in a process of its own, timed as time(1) does. */
#ifndef TOLL_SAMPLE_H
#define TOLL_SAMPLE_H

#include "fib/runtime.h"

struct sample {
	double real_s, user_s, sys_s;
	struct answer answer;
};

/* Runs the job and waits for it; our own engines are pinned to cpu. The ending signals (common/signals.h)
 * must be blocked: one of them kills the process and returns -EINTR with its number in *signal. Returns
 * 0 (the answer may still not be ok) or -errno. */
int sample__take(const struct engine *engine, const struct job *job, const struct runtime_files *files,
		 int cpu, struct sample *sample, int *signal);

#endif
