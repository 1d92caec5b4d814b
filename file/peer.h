/* SPDX-License-Identifier: BSD-2-Clause */
/* Other people's programs on the same file. */
#ifndef TOLL_PEER_H
#define TOLL_PEER_H

#include <stddef.h>
#include <stdint.h>

/* Runs a command with its standard output and error into memory. argv[0] is its name, looked up as
 * common/tool.h says. *said is what it printed, ended by a zero byte; the caller frees it, also after a
 * failure. seconds, which may be NULL: from its start to its end. Returns 0; -ENOTSUP: not installed; -EINTR;
 * or -errno. The reason goes to why. */
int peer__run(const char *const *argv, char **said, size_t *length, double *seconds, char *why, size_t why_size);

#endif
