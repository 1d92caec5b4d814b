/* SPDX-License-Identifier: BSD-2-Clause */
/* Other people's programs: where they are, and running them. */
#ifndef TOLL_TOOL_H
#define TOLL_TOOL_H

#include <stddef.h>
#include <stdint.h>

/* Where root looks: PATH may be another user's. */
#define TOOL_SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"

/* Finds a program: in PATH, or, for root, only in the system's folders. Returns path, or NULL. */
const char *tool__find(const char *command, char *path, size_t size);

/* Runs path with argv in a process group of its own, without input, its standard output and error in the file
 * said (an absolute path that exists, or /dev/null), with PATH=TOOL_SYSTEM_PATH and LC_ALL=C alone. Kills it
 * after limit_ns, or when an ending signal (common/signals.h, blocked) is pending. Returns its exit status,
 * 128 + the signal that ended it, or -errno (-ETIMEDOUT, -EINTR: killed, for those reasons). */
int tool__run(const char *path, const char *const *argv, const char *said, uint64_t limit_ns);

#endif
