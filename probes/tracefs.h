/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracefs tells about an event: files below events/SYSTEM/EVENT. */
#ifndef TOLL_TRACEFS_H
#define TOLL_TRACEFS_H

#include <stdio.h>

/* Opens a file of an event ("sched/sched_switch", "format") for reading. Returns 0, -ENOENT (tracefs is
 * not mounted, or has no such event) or -errno. */
int tracefs__open(FILE **file, const char *event, const char *name);

/* The offset in bytes of a field in the event's record, or -errno (-ENOENT: no such event or field). */
int tracefs__field(const char *event, const char *field);

#endif
