/* SPDX-License-Identifier: BSD-2-Clause */
/* message-rate: what does it cost to hand a message to someone else? */
#include <stdio.h>
#include <stdlib.h>
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

static json_t *as_json(const struct message_experiment *experiment, const struct run *run, char *const *argv,
		       const char *started)
{
	json_t *record = record__new("message-rate", argv, started, &run->noise);

	json_object_set_new(record, "experiment", json_string(experiment->name));
	experiment->tell(run, record);
	json_object_set_new(record, "seed", message_seed(experiment->name));
	return record;
}

static int report(const struct message_experiment *experiment, const struct run *run, struct output *table,
		  struct output *json, char *const *argv, const char *started)
{
	int err = 0;

	if (table->stream) {
		err = experiment->print(run, table->stream);
		noise__print(&run->noise, table->stream);
	}
	return record__report(json->stream ? as_json(experiment, run, argv, started) : NULL, err, table, json);
}

int main(int argc, char **argv)
{
	struct message_options options;
	struct run run = {.options = &options};
	struct output table = {.fd = -1}, json = {.fd = -1};
	const struct message_experiment *experiment;
	struct noise_reading before, after;
	char started[32];
	int status, told;

	output__hold_standard();
	message_options__parse(&options, argc, argv);
	if (options.list)
		return list();
	experiment = options.broadcast ? &broadcast_experiment : &send_experiment;
	experiment->check(&options);
	run.n_cpus = cpus__must_choose(options.cores, false, &run.cpus);
	run.progress = !message_quiet && isatty(STDERR_FILENO);
	output__must_open_both(&table, &json, options.output, options.json, "-");
	record__now(started);
	signals__block();

	before = noise__read();
	status = experiment->measure(&run);
	after = noise__read();
	run.noise = noise__between(&before, &after);
	run.signal = signals__pending();
	told = report(experiment, &run, &table, &json, argv, started);
	status = status ? status : told;
	experiment->end(&run);
	output__close(&table);
	output__close(&json);
	free(run.cpus);
	return run.signal ? 128 + run.signal : status;
}
