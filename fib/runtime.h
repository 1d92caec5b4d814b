/* SPDX-License-Identifier: BSD-2-Clause */
/* Real runtimes: where they are, and what to type. */
#ifndef TOLL_RUNTIME_H
#define TOLL_RUNTIME_H

#include "fib/engines.h"

/* A folder of its own with the sources; Erlang's is compiled there. */
struct runtime_files {
	char folder[32]; /* "": none */
};
/* Returns 0 or -errno. */
int runtime__prepare(struct runtime_files *files);
void runtime__clean(struct runtime_files *files);

/* In a process of its own: becomes the runtime, its result on standard output. Returns only if that
 * fails: -errno. */
int runtime__become(const struct engine *engine, const struct job *job,
		    const struct runtime_files *files);

#endif
