/* SPDX-License-Identifier: BSD-2-Clause */
/* message-rate: what does it cost to hand a message to someone else? */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "common/signals.h"
#include "message/experiment.h"

static int list(void)
{
	const struct message_experiment *const all[] = {&send_experiment, &broadcast_experiment};

	for (int i = 0; i < 2; i++) {
		printf("%s: %s\n", all[i]->name, all[i]->summary);
		all[i]->list();
	}
	return fflush(stdout) ? EXIT_FAILED : EXIT_MEASURED;
}

static void choose_cpus(struct run *run)
{
	struct cpus cpus;
	bool repeated;
	char why[256];

	if (cpus__find(&cpus) || !(run->cpus = calloc(cpus.n, sizeof(*run->cpus)))) {
		message__error("can't tell which CPUs there are");
		exit(EXIT_FAILED);
	}
	run->n_cpus = cpus__choose(&cpus, run->options->cores, false, run->cpus, &repeated, why, sizeof(why));
	if (run->n_cpus < 0)
		message__usage("--cores: %s", why);
	cpus__free(&cpus);
}

static int report(const struct message_experiment *experiment, const struct run *run, struct output *table,
		  struct output *json, char *const *argv, const char *started)
{
	int err = 0;

	if (table->stream) {
		err = experiment->print(run, table->stream);
		noise__print(&run->noise, table->stream);
	}
	if (json->stream) {
		json_t *record = record__new("message-rate", argv, started, &run->noise);

		json_object_set_new(record, "experiment", json_string(experiment->name));
		experiment->tell(run, record);
		json_object_set_new(record, "seed", message_seed(experiment->name));
		err = record__write(record, json->stream) ? -EIO : err;
		json_decref(record);
	}
	if (output__finish(table) | output__finish(json))
		return EXIT_FAILED;
	if (err)
		message__error("the report is incomplete: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_MEASURED;
}

int main(int argc, char **argv)
{
	struct message_options options;
	struct run run = {.options = &options};
	struct output table = {.fd = -1}, json = {.fd = -1};
	const struct message_experiment *experiment;
	struct noise_reading before, after;
	const struct timespec now = {0, 0};
	char started[32];
	sigset_t ends;
	int status, told;

	output__hold_standard();
	message_options__parse(&options, argc, argv);
	if (options.list)
		return list();
	experiment = options.broadcast ? &broadcast_experiment : &send_experiment;
	experiment->check(&options);
	choose_cpus(&run);
	run.progress = !message_quiet && isatty(STDERR_FILENO);
	output__must_open(&json, options.json);
	if (!message_quiet || options.output)
		output__must_open(&table, options.output ? options.output : json.fd == STDOUT_FILENO ? NULL : "-");
	record__now(started);
	signals__block();

	before = noise__read();
	status = experiment->measure(&run);
	after = noise__read();
	run.noise = noise__between(&before, &after);
	run.noise.other_probes = -1;
	signals__ending(&ends);
	if (signals__pending())
		run.signal = sigtimedwait(&ends, NULL, &now);
	told = report(experiment, &run, &table, &json, argv, started);
	status = status ? status : told;
	experiment->end(&run);
	output__close(&table);
	output__close(&json);
	free(run.cpus);
	return run.signal > 0 ? 128 + run.signal : status;
}
