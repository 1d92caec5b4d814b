/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALIBRATE_N 27 /* 635,621 calls: a millisecond as machine code, some more as bytecode */
#define STARTS 3

static void fail(struct row *row, enum row_status status, const char *why)
{
	row->status = status;
	snprintf(row->why, sizeof(row->why), "%s", why);
}

static int take(struct comparison *comparison, const struct plan *plan, const struct runtime_files *files,
		const struct row *row, struct job job, struct sample *sample)
{
	job.checks = row->checks;
	job.wx = plan->wx;
	return sample__take(row->engine, &job, files, plan->cpu, sample, &comparison->signal);
}

/* A run of nothing tells whether the engine is there, a small one how fast it is. */
static int prepare_row(struct comparison *comparison, const struct plan *plan,
		       const struct runtime_files *files, struct row *row)
{
	int n = plan->n < CALIBRATE_N ? plan->n : CALIBRATE_N, err;
	struct sample *sample = calloc(1, sizeof(*sample));

	if (!sample)
		return -ENOMEM;
	/* The first start finds cold files; the quickest of the others is the least disturbed. */
	err = take(comparison, plan, files, row, (struct job){.n = n}, sample);
	row->startup_s = sample->real_s;
	for (int i = 0; !err && sample->answer.ok && i < STARTS; i++) {
		err = take(comparison, plan, files, row, (struct job){.n = n}, sample);
		if (!i || sample->real_s < row->startup_s)
			row->startup_s = sample->real_s;
	}
	if (!err && !sample->answer.ok) {
		fail(row, ROW_UNAVAILABLE, sample->answer.why);
		free(sample);
		return 0;
	}
	if (!err)
		err = take(comparison, plan, files, row, (struct job){.n = n, .times = 1}, sample);
	row->estimate_s = row->startup_s + fmax(sample->real_s - row->startup_s, 1e-6) *
						   fib__calls(plan->n) / fib__calls(n) * plan->times;
	snprintf(row->note, sizeof(row->note), "%s", sample->answer.note);
	if (!err && !sample->answer.ok)
		fail(row, ROW_FAILED, sample->answer.why);
	if (!err && !plan->all && !row->engine->run && row->estimate_s > LONGEST_SAMPLE_S) {
		char why[64];

		snprintf(why, sizeof(why), "left out: about %.0f s a sample (--all has it)",
			 row->estimate_s);
		fail(row, ROW_LEFT_OUT, why);
	}
	free(sample);
	return err;
}

int compare__prepare(struct comparison *comparison, const struct plan *plan,
		     struct runtime_files *files)
{
	bool runtimes = false;
	int err = 0;

	for (int i = 0; i < comparison->n_rows; i++)
		runtimes |= !comparison->rows[i].engine->run;
	if (runtimes)
		err = runtime__prepare(files);
	for (int i = 0; !err && i < comparison->n_rows; i++) {
		struct row *row = &comparison->rows[i];

		err = prepare_row(comparison, plan, files, row);
		/* the samples, and an instrumented run of one time */
		if (row->status == ROW_OK)
			comparison->estimate_s +=
				row->estimate_s * (plan->samples + (row->engine->run ? 1.0 / plan->times : 0));
	}
	if (!err && comparison->estimate_s > LONGEST_RUN_S && !plan->force)
		return -ETIME;
	return err;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* k times must take k times one: a time that is far below the others was not computed. */
static bool is_uneven(const struct answer *answer, int times)
{
	uint64_t sorted[MOST_TIMES];

	memcpy(sorted, answer->run_ns, sizeof(sorted));
	qsort(sorted, (size_t)times, sizeof(*sorted), by_time);
	return sorted[0] < sorted[times / 2] / 2;
}

static void check(struct row *row, const struct plan *plan, const struct answer *answer)
{
	char why[96];

	if (!answer->ok) {
		fail(row, ROW_FAILED, answer->why);
	} else if (answer->result != (int64_t)fib__expected(plan->n)) {
		snprintf(why, sizeof(why), "wrong result: %lld, not %llu", (long long)answer->result,
			 (unsigned long long)fib__expected(plan->n));
		fail(row, ROW_FAILED, why);
	}
}

static void show_progress(const struct plan *plan, const struct comparison *comparison, double done_s,
			  const struct row *row)
{
	double part = done_s / comparison->estimate_s;

	if (plan->progress)
		fprintf(stderr, "\r%3.0f %%  %-16s %.0f s left\033[K", 100 * fmin(part, 1), row->name,
			fmax(comparison->estimate_s - done_s, 0));
}

int compare__run(struct comparison *comparison, const struct plan *plan,
		 const struct runtime_files *files)
{
	struct sample *sample = calloc(1, sizeof(*sample));
	struct noise_reading before = noise__read(), after;
	double done_s = 0;
	int err = sample ? 0 : -ENOMEM;

	/* The last round is the instrumented one. */
	for (int round = 0; !err && round <= plan->samples; round++) {
		bool count = round == plan->samples;

		for (int i = 0; !err && i < comparison->n_rows; i++) {
			struct row *row = &comparison->rows[i];
			int k = row->n;

			if (row->status != ROW_OK || (count && !row->engine->run))
				continue;
			show_progress(plan, comparison, done_s, row);
			err = take(comparison, plan, files, row,
				   (struct job){.n = plan->n, .times = count ? 1 : plan->times,
						.count = count,
						.perf_map = plan->perf_map && !round}, sample);
			if (err)
				break;
			done_s += sample->real_s;
			check(row, plan, &sample->answer);
			row->result = sample->answer.result;
			if (count) {
				row->calls = sample->answer.calls;
				continue;
			}
			row->real_s[k] = sample->real_s;
			row->user_s[k] = sample->user_s;
			row->sys_s[k] = sample->sys_s;
			row->n++;
			row->uneven |= row->engine->run && is_uneven(&sample->answer, plan->times);
		}
	}
	if (plan->progress)
		fputs("\r\033[K", stderr);
	after = noise__read();
	comparison->noise = noise__between(&before, &after);
	free(sample);
	return err;
}

double row__seconds(const struct row *row, int sample)
{
	return fmax(row->real_s[sample] - row->startup_s, 1e-9);
}

double row__ns_per_call(const struct row *row, const struct plan *plan)
{
	double seconds[MOST_SAMPLES];

	for (int i = 0; i < row->n; i++)
		seconds[i] = row__seconds(row, i);
	return stats__of(seconds, (size_t)row->n).median * 1e9 / plan->times / fib__calls(plan->n);
}

struct ratio row__ratio(const struct comparison *comparison, const struct row *row)
{
	const struct row *base = NULL;
	double times[MOST_SAMPLES], to[MOST_SAMPLES];
	int n = 0;

	for (int i = 0; i < comparison->n_rows; i++)
		if (comparison->rows[i].engine == engines)
			base = &comparison->rows[i];
	for (; base && n < row->n && n < base->n; n++) {
		times[n] = row__seconds(row, n);
		to[n] = row__seconds(base, n);
	}
	return stats__ratio(times, to, (size_t)n);
}
