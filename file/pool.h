/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread pool to which blocking calls are handed. */
#ifndef TOLL_POOL_H
#define TOLL_POOL_H

struct pool;

/* Starts n threads, signals blocked. Returns 0 or -errno, with *pool NULL then. */
int pool__new(struct pool **pool, int n);
/* Has one of them call run(argument), and waits until it has. */
void pool__call(struct pool *pool, void (*run)(void *argument), void *argument);
/* Ends the threads. NULL is taken. */
void pool__free(struct pool *pool);

#endif
