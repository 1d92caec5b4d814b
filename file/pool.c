/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/pool.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct call {
	void (*run)(void *argument);
	void *argument;
	sem_t done;
	struct call *next;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t wanted;
	struct call *first, **last; /* under lock: not yet taken */
	bool quit;		    /* under lock */
	int started;
	pthread_t *threads;
};

static void *serve(void *argument)
{
	struct pool *pool = argument;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		struct call *call;

		while (!pool->first && !pool->quit)
			pthread_cond_wait(&pool->wanted, &pool->lock);
		call = pool->first;
		if (!call)
			break;
		pool->first = call->next;
		if (!pool->first)
			pool->last = &pool->first;
		pthread_mutex_unlock(&pool->lock);
		call->run(call->argument);
		sem_post(&call->done);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int pool__new(struct pool **out, int n)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	sigset_t all, before;
	int err = 0;

	*out = NULL;
	if (!pool)
		return -ENOMEM;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->wanted, NULL);
	pool->last = &pool->first;
	pool->threads = calloc((size_t)n, sizeof(*pool->threads));
	if (!pool->threads)
		err = -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (!err && pool->started < n) {
		err = -pthread_create(&pool->threads[pool->started], NULL, serve, pool);
		pool->started += !err;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		pool__free(pool);
		return err;
	}
	*out = pool;
	return 0;
}

void pool__call(struct pool *pool, void (*run)(void *argument), void *argument)
{
	struct call call = {.run = run, .argument = argument};

	sem_init(&call.done, 0, 0);
	pthread_mutex_lock(&pool->lock);
	*pool->last = &call;
	pool->last = &call.next;
	pthread_mutex_unlock(&pool->lock);
	pthread_cond_signal(&pool->wanted); /* unlocked, lest who wakes meets the lock */
	while (sem_wait(&call.done)) /* EINTR */
		;
	sem_destroy(&call.done);
}

void pool__free(struct pool *pool)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->wanted);
	pthread_mutex_unlock(&pool->lock);
	for (int i = 0; i < pool->started; i++)
		pthread_join(pool->threads[i], NULL);
	pthread_cond_destroy(&pool->wanted);
	pthread_mutex_destroy(&pool->lock);
	free(pool->threads);
	free(pool);
}
