/* SPDX-License-Identifier: BSD-2-Clause */
/* What machine this is. */
#ifndef TOLL_HOST_H
#define TOLL_HOST_H

#include <jansson.h>

/* The "host" object of schema toll/1; a fact that can't be read is null. NULL: out of memory.
 * The caller owns it. */
json_t *host__describe(void);

/* The kernel's lockdown level ("none", "integrity", "confidentiality"), or "" where securityfs is not
 * mounted, in level; returns it. */
char *host__lockdown(char *level, size_t size);

#endif
