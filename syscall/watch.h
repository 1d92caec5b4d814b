/* SPDX-License-Identifier: BSD-2-Clause */
/* Watching: the table of strace -c for processes that are not ours. */
#ifndef TOLL_SYSCALL_WATCH_H
#define TOLL_SYSCALL_WATCH_H

#include "syscall/options.h"

/* Watches what options->pids, options->command or options->all say until it ends, options->duration_ns
 * is over (if given) or an ending signal comes, and reports. Returns the exit status: the command's own,
 * 128 + the signal that ended it or us, 127 or 126 for a command that is not there or can't be run. */
int watch(const struct options *options, char **argv);

#endif
