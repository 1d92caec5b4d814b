/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls that can be hammered. A new one is a line in the table of calls.c. */
#ifndef TOLL_CALLS_H
#define TOLL_CALLS_H

#include "common/crew.h"

struct call {
	const char *name, *summary;
	int nr;		  /* -1: no system call at all */
	const char *file; /* opened for the first argument, or NULL */
	int flags;	  /* for opening it */
	long first, second, third;
};

extern const struct call calls[]; /* ended by a NULL name */

/* The call of that name, or NULL. */
const struct call *call__find(const char *name);

/* What a round of hammering takes. Fill with call__prepare, free with call__close. */
struct hammer {
	const struct call *call;
	int fd;
	long args[3];
	char room[64]; /* what a call reads or writes: shared by the threads, its content unused */
};

/* Opens what the call needs and proves, with one call, that it works. Returns 0 or -errno. */
int call__prepare(struct hammer *hammer, const struct call *call);
void call__close(struct hammer *hammer);

/* A crew_work: hammers argument (a struct hammer) until the limit or the stop. */
void hammer__work(struct member *member, const atomic_bool *stop, void *argument);

#endif
