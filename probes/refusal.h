/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the kernel refused BPF, and what helps. */
#ifndef TOLL_REFUSAL_H
#define TOLL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

struct refusal {
	int err;	      /* what loading or attaching returned: -errno */
	bool root;	      /* effective user 0 */
	bool capable;	      /* CAP_SYS_ADMIN, or CAP_BPF and CAP_PERFMON */
	bool btf;	      /* the kernel's types can be read */
	bool one_function;    /* it was to attach to a kernel function, not to a tracepoint */
	bool old;	      /* before Linux 5.11: BPF memory counts against RLIMIT_MEMLOCK */
	char lockdown[32];    /* "none", "integrity", "confidentiality", or "" where unknown */
};

/* Reads all but err and one_function from this process and kernel. */
void refusal__gather(struct refusal *refusal);

/* Writes the one-line reason and remedy for what was gathered. */
void refusal__explain(const struct refusal *refusal, char *why, size_t size);

#endif
