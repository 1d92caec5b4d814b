/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/crew.h"
#include "file/read.h"

/* One of several that read a file at once: a share of its blocks. */
struct reader {
	struct layer_file *file;
	uint64_t from, to; /* blocks */
	int err;
};

struct readers {
	struct reader *list;
	struct member *first;
};

static struct layer_job job_of(const struct setting *setting, const struct arm *arm)
{
	struct layer_job job = {.path = setting->work.path, .block = arm->block, .direct = setting->options->direct,
				.depth = setting->options->depth, .pool = setting->options->pool};

	if (arm->layer->can & LAYER_WHOLE)
		job.block = setting->work.once ? 0 : (size_t)setting->work.size;
	return job;
}

static int read_alone(struct arm *arm, struct meter *meter, const struct layer_job *job)
{
	uint64_t most = meter->limit == UINT64_MAX ? UINT64_MAX : job->block ? (meter->limit + job->block - 1) / job->block : 1;
	uint64_t moves = 0;
	struct layer_file *file;
	int err = layer__open(&file, arm->layer, job, arm->why, sizeof(arm->why));

	if (err)
		return err;
	meter__start(meter);
	while (moves < most && !file->end && !err) {
		err = arm->layer->move(file, false, LAYER_NEXT);
		moves++;
	}
	if (!err && arm->layer->finish)
		err = arm->layer->finish(file);
	meter__stop(meter);
	meter->sample.bytes = file->bytes;
	meter->sample.calls = moves;
	arm->layer->close(file);
	return err;
}

static void read_share(struct member *member, const atomic_bool *stop, void *argument)
{
	struct readers *readers = argument;
	struct reader *reader = &readers->list[member - readers->first];
	struct layer_file *file = reader->file;
	size_t block = file->job.block;

	(void)stop;
	member->start_ns = clock_ns();
	for (uint64_t i = reader->from; i < reader->to && !file->end && !reader->err; i++)
		reader->err = file->layer->move(file, false, i * block);
	member->end_ns = clock_ns();
}

/* From the first reader's start to the last one's end. */
static void read_together(struct crew *crew, struct readers *readers, int n, struct meter *meter)
{
	uint64_t start = UINT64_MAX, end = 0;

	meter__start(meter);
	crew__start(crew, read_share, readers);
	crew__stop(crew);
	meter__stop(meter);
	for (int i = 0; i < n; i++) {
		start = readers->first[i].start_ns < start ? readers->first[i].start_ns : start;
		end = readers->first[i].end_ns > end ? readers->first[i].end_ns : end;
		meter->sample.bytes += readers->list[i].file->bytes;
		meter->sample.calls += readers->list[i].to - readers->list[i].from;
	}
	meter->sample.seconds = (double)(end - start) / 1e9;
}

static int read_shared(const struct setting *setting, struct arm *arm, struct meter *meter, const struct layer_job *job,
		       size_t size)
{
	uint64_t bytes = meter->limit < setting->work.size ? meter->limit : setting->work.size;
	uint64_t blocks = (bytes + job->block - 1) / job->block;
	int n = arm->readers, err = 0;
	struct readers readers = {.list = calloc((size_t)n, sizeof(*readers.list))};
	int *cpus = calloc((size_t)n, sizeof(*cpus));
	struct crew *crew = NULL;

	if (!readers.list || !cpus)
		err = -ENOMEM;
	for (int i = 0; i < n && !err; i++) {
		struct layer_job own = *job;

		own.argument = job->argument ? (char *)job->argument + size * (size_t)i : NULL;
		cpus[i] = setting->cpus[i % setting->n_cpus];
		readers.list[i].from = blocks * (uint64_t)i / (uint64_t)n;
		readers.list[i].to = blocks * (uint64_t)(i + 1) / (uint64_t)n;
		err = layer__open(&readers.list[i].file, arm->layer, &own, arm->why, sizeof(arm->why));
	}
	if (!err)
		err = crew__new(&crew, cpus, n);
	if (!err) {
		readers.first = crew__members(crew);
		read_together(crew, &readers, n, meter);
	}
	crew__free(crew);
	for (int i = 0; readers.list && i < n; i++) {
		err = err ? err : readers.list[i].err;
		if (readers.list[i].file)
			arm->layer->close(readers.list[i].file);
	}
	free(readers.list);
	free(cpus);
	return err;
}

/* A file that was longer or shorter at the end than at the start: said, and shorter is a failure. */
static int check_size(const struct setting *setting, struct arm *arm, const struct meter *meter)
{
	const struct workfile *work = &setting->work;
	uint64_t expected = meter->limit < work->size ? meter->limit : work->size;
	struct stat now;

	if (work->once || !work->size || arm->layer == &layer_null)
		return 0;
	if (meter->sample.bytes < expected) {
		snprintf(arm->why, sizeof(arm->why), "the file shrank while it was read: %llu of %llu bytes",
			 (unsigned long long)meter->sample.bytes, (unsigned long long)expected);
		return -EIO;
	}
	if (!fstat(work->fd, &now) && S_ISREG(now.st_mode) && (uint64_t)now.st_size > work->size)
		snprintf(arm->note, sizeof(arm->note), "the file grew while it was read");
	return 0;
}

int read__through(const struct setting *setting, struct arm *arm, struct meter *meter,
		  void (*seen)(void *argument, const void *data, size_t n, uint64_t offset), void *argument, size_t size)
{
	struct layer_job job = job_of(setting, arm);
	int err = 0;

	job.seen = seen;
	job.argument = argument;
	if (setting->options->cold)
		err = workfile__chill(&setting->work);
	if (!err)
		err = arm->readers > 1 ? read_shared(setting, arm, meter, &job, size)
				       : read_alone(arm, meter, &job);
	return err ? err : check_size(setting, arm, meter);
}
