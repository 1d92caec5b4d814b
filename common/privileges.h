/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities: which are held, and giving up those that are not needed. */
#ifndef TOLL_PRIVILEGES_H
#define TOLL_PRIVILEGES_H

#include <stdbool.h>

/* May this process use BPF tracing: CAP_SYS_ADMIN, or (since Linux 5.8) CAP_BPF and CAP_PERFMON? */
bool privileges__bpf(void);

/* Gives up, for this thread and those it starts from now on, every capability but those for BPF
 * tracing, CAP_DAC_OVERRIDE (root writes results into the folder of the user behind sudo) and, if
 * admin, CAP_SYS_ADMIN. Returns 0 or -errno. */
int privileges__drop(bool admin);

#endif
