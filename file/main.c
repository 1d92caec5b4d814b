/* SPDX-License-Identifier: BSD-2-Clause */
/* file-rate: what does a layer over read and write cost? */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "common/signals.h"
#include "file/experiment.h"
#include "file/report.h"

static const struct experiment *const experiments[EXPERIMENTS] = {&read_experiment, &rw_experiment, &lines_experiment,
								  &words_experiment};

/* What can be opened here, of an empty file. */
static int list(void)
{
	struct workfile work;
	struct layer_job job = {.block = 4096, .depth = 1, .pool = 1};
	char why[256];
	int err = workfile__make(&work, NULL, 0, why, sizeof(why));

	for (int i = 0; i < EXPERIMENTS; i++) {
		printf("%s: %s\n", experiments[i]->name, experiments[i]->summary);
		for (int j = 0; layers[j]; j++) {
			static const unsigned int of[EXPERIMENTS] = {LAYER_READS, LAYER_WRITES, LAYER_LINES, 0};
			struct layer_file *file;
			int refused;

			if (!(layers[j]->can & of[i]))
				continue;
			job.path = work.path;
			refused = err ? err : layer__open(&file, layers[j], &job, why, sizeof(why));
			printf("  %-14s %s%s%s\n", layers[j]->name, layers[j]->summary, refused ? ": not here: " : "",
			       refused ? why : "");
			if (!refused)
				layers[j]->close(file);
		}
		experiments[i]->list();
	}
	workfile__close(&work);
	return fflush(stdout) ? EXIT_FAILED : EXIT_MEASURED;
}

/* The CPUs to run on; the whole program, and what it starts, stays there. */
static void choose_cpus(struct setting *setting)
{
	cpu_set_t set;

	setting->n_cpus = cpus__must_choose(setting->options->cores, false, &setting->cpus);
	if (!setting->options->cores)
		return;
	CPU_ZERO(&set);
	for (int i = 0; i < setting->n_cpus; i++)
		CPU_SET(setting->cpus[i], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		message__notice("--cores: %s", strerror(errno));
}

static void fill_in(struct file_options *options, const struct experiment *experiment)
{
	options->size = options->size ? options->size : experiment->size;
	options->rounds = options->rounds ? options->rounds : experiment->rounds;
	options->duration_ns = options->duration_ns ? options->duration_ns : experiment->duration_ns;
	while (!options->blocks[0] && experiment->blocks[options->n_blocks])
		options->n_blocks++;
	if (!options->blocks[0])
		memcpy(options->blocks, experiment->blocks, sizeof(options->blocks));
}

/* A file that can be read but once is measured once. */
static void check_once(const struct setting *setting)
{
	int usable = 0;

	for (int i = 0; i < setting->arms.n; i++)
		usable += setting->arms.arms[i].status == ARM_OK;
	if (setting->work.once && usable > 1)
		message__usage("%s can be read only once, for one row: choose it with --modes and --blocks",
			       setting->options->file);
}

static int report(const struct experiment *experiment, const struct setting *setting, struct output *table,
		  struct output *json, char *const *argv, const char *started)
{
	int err = table->stream ? file_report__print(experiment, setting, table->stream) : 0;

	return record__report(json->stream ? file_report__json(experiment, setting, argv, started) : NULL, err, table, json);
}

int main(int argc, char **argv)
{
	struct file_options options;
	struct setting setting = {.options = &options, .work = {.fd = -1}};
	struct output table = {.fd = -1}, json = {.fd = -1};
	const struct experiment *experiment;
	struct arms_plan plan;
	char started[32], why[256] = "";
	int err, status = EXIT_FAILED, told;

	output__hold_standard();
	file_options__parse(&options, argc, argv);
	if (options.list)
		return list();
	experiment = experiments[options.experiment];
	fill_in(&options, experiment);
	choose_cpus(&setting);
	record__now(started);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error of the write */
	/* A FIFO may be waited for, and nothing is lost yet. */
	if (!options.file)
		signals__block();

	err = experiment->prepare(&setting, why, sizeof(why));
	if (err && err != -EINTR)
		message__error("%s", why[0] ? why : strerror(-err));
	if (!err) {
		setting__check_modes(&setting);
		check_once(&setting);
		output__must_open_both(&table, &json, options.output, options.json, "-");
		if (!setting.work.once)
			signals__block();
		plan = (struct arms_plan){.rounds = setting.work.once ? 1 : options.rounds, .duration_ns = options.duration_ns,
					  .size = setting.work.size ? setting.work.size : UINT64_MAX,
					  .once = setting.work.once, .calls = options.calls,
					  .progress = !message_quiet && isatty(STDERR_FILENO)};
		err = arms__run(&setting.arms, &plan);
		if (err)
			message__error("the run failed: %s", strerror(-err));
		status = err ? EXIT_FAILED : arms__status(&setting.arms);
		told = report(experiment, &setting, &table, &json, argv, started);
		status = status ? status : told;
	} else if (err == -EINTR) {
		status = 128 + signals__pending();
	}
	experiment->end(&setting);
	arms__free(&setting.arms);
	workfile__close(&setting.work);
	free(setting.cpus);
	output__close(&table);
	output__close(&json);
	return status;
}
