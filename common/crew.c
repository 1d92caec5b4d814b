/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/crew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cpus.h"

struct crew {
	int n, started;
	struct member *members;
	pthread_t *threads;
	pthread_mutex_t lock;
	pthread_cond_t gate, all_back;
	uint64_t round; /* under lock */
	int running;	/* under lock: members not yet back from the round */
	int failed;	/* under lock: a member that could not pin itself, as -errno */
	bool quit;	/* under lock */
	crew_work work;
	void *argument;
	atomic_bool stop;
};

struct start {
	struct crew *crew;
	int index;
};

static void *member__run(void *argument)
{
	struct start start = *(struct start *)argument;
	struct crew *crew = start.crew;
	struct member *member = &crew->members[start.index];
	uint64_t seen = 0;
	int err = cpus__pin(member->cpu);

	free(argument);
	pthread_mutex_lock(&crew->lock);
	member->tid = (pid_t)syscall(SYS_gettid);
	if (err)
		crew->failed = err;
	for (;;) {
		if (!--crew->running)
			pthread_cond_signal(&crew->all_back);
		while (crew->round == seen && !crew->quit)
			pthread_cond_wait(&crew->gate, &crew->lock);
		if (crew->quit)
			break;
		seen = crew->round;
		pthread_mutex_unlock(&crew->lock);
		crew->work(member, &crew->stop, crew->argument);
		member->moved = sched_getcpu() != member->cpu;
		pthread_mutex_lock(&crew->lock);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static void wait_for_all(struct crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	while (crew->running)
		pthread_cond_wait(&crew->all_back, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

int crew__new(struct crew **out, const int *cpus, int n)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	sigset_t all, before;
	int err = 0;

	*out = NULL;
	if (!crew)
		return -ENOMEM;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->gate, NULL);
	pthread_cond_init(&crew->all_back, NULL);
	crew->n = crew->running = n;
	crew->members = aligned_alloc(_Alignof(struct member), (size_t)n * sizeof(*crew->members));
	crew->threads = calloc((size_t)n, sizeof(*crew->threads));
	if (!crew->members || !crew->threads) {
		crew__free(crew);
		return -ENOMEM;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < n && !err; i++) {
		struct start *start = malloc(sizeof(*start));

		crew->members[i] = (struct member){.cpu = cpus[i]};
		if (!start) {
			err = -ENOMEM;
			break;
		}
		*start = (struct start){crew, i};
		err = -pthread_create(&crew->threads[i], NULL, member__run, start);
		if (err)
			free(start);
		else
			crew->started++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_mutex_lock(&crew->lock);
	crew->running -= n - crew->started;
	pthread_mutex_unlock(&crew->lock);
	wait_for_all(crew);
	if (!err)
		err = crew->failed;
	if (err) {
		crew__free(crew);
		return err;
	}
	*out = crew;
	return 0;
}

struct member *crew__members(struct crew *crew)
{
	return crew->members;
}

void crew__start(struct crew *crew, crew_work work, void *argument)
{
	pthread_mutex_lock(&crew->lock);
	atomic_store(&crew->stop, false);
	crew->work = work;
	crew->argument = argument;
	crew->running = crew->n;
	crew->round++;
	pthread_cond_broadcast(&crew->gate);
	pthread_mutex_unlock(&crew->lock);
}

bool crew__finished(struct crew *crew)
{
	bool finished;

	pthread_mutex_lock(&crew->lock);
	finished = !crew->running;
	pthread_mutex_unlock(&crew->lock);
	return finished;
}

void crew__stop(struct crew *crew)
{
	atomic_store(&crew->stop, true);
	wait_for_all(crew);
}

void crew__free(struct crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->quit = true;
	pthread_cond_broadcast(&crew->gate);
	pthread_mutex_unlock(&crew->lock);
	for (int i = 0; i < crew->started; i++)
		pthread_join(crew->threads[i], NULL);
	pthread_cond_destroy(&crew->all_back);
	pthread_cond_destroy(&crew->gate);
	pthread_mutex_destroy(&crew->lock);
	free(crew->threads);
	free(crew->members);
	free(crew);
}
