/* SPDX-License-Identifier: BSD-2-Clause */
/* What machine this is. */
#ifndef TOLL_HOST_H
#define TOLL_HOST_H

#include <jansson.h>

/* The "host" object of schema toll/1; a fact that can't be read is null. NULL: out of memory.
 * The caller owns it. */
json_t *host__describe(void);

#endif
