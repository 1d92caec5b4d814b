/* SPDX-License-Identifier: BSD-2-Clause */
#include <sys/resource.h>

#include "common/clock.h"
#include "file/arm.h"
#include "probes/calls.h"

static uint64_t faults_so_far(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_minflt + usage.ru_majflt);
}

void meter__start(struct meter *meter)
{
	meter->faults = faults_so_far();
	if (meter->purpose == FOR_CALLS)
		calls__start(meter->watcher);
	meter->started_ns = clock_ns();
}

void meter__stop(struct meter *meter)
{
	meter->sample.seconds = (double)(clock_ns() - meter->started_ns) / 1e9;
	if (meter->purpose == FOR_CALLS)
		meter->syscalls = calls__stop(meter->watcher);
	meter->sample.faults = faults_so_far() - meter->faults;
}
