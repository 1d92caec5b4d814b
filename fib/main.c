/* SPDX-License-Identifier: BSD-2-Clause */
/* fib-compare: what does interpretation cost, and how much does a template JIT win back? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "common/signals.h"
#include "common/tool.h"
#include "fib/report.h"
#include "fib/run-file.h"

static int list(void)
{
	char path[256];

	puts("engines:");
	for (const struct engine *engine = engines; engine->name; engine++)
		printf("  %-14s %s%s\n", engine->name, engine->summary,
		       engine->run || tool__find(engine->command, path, sizeof(path))
			       ? "" : ": not installed");
	puts("opcodes of a .basm file, with their operands (S source, D destination, L label, C clauses,\n"
	     "F function, B built-in, N number of Y slots):");
	for (int op = 0; op < OPS; op++)
		printf("  %-15s %-3s  %s\n", op_infos[op].name, op_infos[op].operands, op_infos[op].effect);
	puts("built-ins:");
	for (const struct bif *bif = bifs; bif->name; bif++)
		printf("  %s/%d\n", bif->name, bif->arity);
	return fflush(stdout) ? EXIT_FAILED : EXIT_MEASURED;
}

static void add_row(struct comparison *comparison, const struct engine *engine, unsigned int checks)
{
	struct row *row = &comparison->rows[comparison->n_rows++];

	row->engine = engine;
	row->checks = checks;
	snprintf(row->name, sizeof(row->name), "%s", engine->name);
	for (unsigned int i = 0; i < 4; i++)
		if (engine->machine >= MACHINE_JIT && !(checks >> i & 1))
			snprintf(row->name + strlen(row->name), sizeof(row->name) - strlen(row->name), "-%s",
				 check_names[i]);
}

/* The rows that the options ask for; exits on a name that is none, or comes twice. */
static void choose_rows(struct comparison *comparison, const struct fib_options *options)
{
	const char *at = options->engines;

	if (options->ablate) {
		add_row(comparison, engine__find("jit"), CHECK_ALL);
		for (unsigned int i = 0; i < 4; i++)
			add_row(comparison, engine__find("jit"), CHECK_ALL & ~(1u << i));
		add_row(comparison, engine__find("jit"), 0);
		return;
	}
	if (!at) {
		for (const struct engine *engine = engines; engine->name; engine++)
			add_row(comparison, engine, options->checks);
		return;
	}
	while (*at || at == options->engines) {
		char name[32];
		size_t n = strcspn(at, ",");
		const struct engine *engine;

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		engine = engine__find(name);
		if (!engine)
			message__usage("--engines '%s': unknown; --list shows what there is", name);
		for (int i = 0; i < comparison->n_rows; i++)
			if (comparison->rows[i].engine == engine)
				message__usage("--engines: %s is named twice", name);
		add_row(comparison, engine, options->checks);
		at += n + (at[n] == ',');
	}
}

static int choose_cpu(const char *text)
{
	struct cpus cpus;
	bool repeated;
	char why[256];
	int *chosen, cpu = 0;

	if (cpus__find(&cpus) || !(chosen = calloc(cpus.n, sizeof(*chosen))))
		return 0;
	if (cpus__choose(&cpus, text, false, chosen, &repeated, why, sizeof(why)) < 0)
		message__usage("--cores: %s", why);
	cpu = chosen[0];
	free(chosen);
	cpus__free(&cpus);
	return cpu;
}

static int report(const struct fib_report *told, struct output *table, struct output *json, int status)
{
	if (table->stream && fib_report__print(told, table->stream))
		status = status ? status : EXIT_FAILED;
	if (json->stream) {
		json_t *record = fib_report__json(told);

		if (record__write(record, json->stream))
			status = status ? status : EXIT_FAILED;
		json_decref(record);
	}
	if (output__finish(table) | output__finish(json))
		status = status ? status : EXIT_FAILED;
	return status;
}

/* A wrong result is an error; an engine that is not here is a row that says so. */
static int check(const struct comparison *comparison)
{
	int status = EXIT_MEASURED;

	for (int i = 0; i < comparison->n_rows; i++) {
		const struct row *row = &comparison->rows[i];

		if (row->status != ROW_FAILED)
			continue;
		message__error("%s: %s", row->name, row->why);
		status = EXIT_FAILED;
	}

	return status;
}

int main(int argc, char **argv)
{
	static struct row rows[MOST_ROWS];
	struct comparison comparison = {.rows = rows};
	struct fib_options options;
	struct runtime_files files = {""};
	struct output table = {.fd = -1}, json = {.fd = -1};
	struct fib_report told = {.plan = &options.plan, .comparison = &comparison, .argv = argv};
	int err, status;

	output__hold_standard();
	fib_options__parse(&options, argc, argv);
	if (options.list)
		return list();
	if (options.file)
		return run_file(&options);
	if (options.dump) {
		struct program program;
		const char *source = engine__find("jit")->source;
		char why[256];

		err = program__assemble(&program, source, strlen(source), why, sizeof(why));
		err = err ? err : dump_program(&program, &options);
		program__free(&program);
		return err ? EXIT_FAILED : EXIT_MEASURED;
	}
	choose_rows(&comparison, &options);
	options.plan.cpu = choose_cpu(options.cores);
	options.plan.progress = !message_quiet && isatty(STDERR_FILENO);
	told.ablate = options.ablate;
	output__must_open_both(&table, &json, options.output, options.json, "-");
	record__now(told.started);
	signals__block();

	err = compare__prepare(&comparison, &options.plan, &files);
	if (err == -ETIME)
		message__error("fib(%d) %d times would take about %.3g hours (%.3g calls each): --force does "
			       "it", options.plan.n, options.plan.times, comparison.estimate_s / 3600,
			       fib__calls(options.plan.n));
	else if (!err)
		err = compare__run(&comparison, &options.plan, &files);
	runtime__clean(&files);
	if (err && err != -ETIME && err != -EINTR)
		message__error("the run failed: %s", strerror(-err));
	status = err == -ETIME ? EXIT_USAGE : err ? EXIT_FAILED : check(&comparison);
	if (comparison.signal)
		status = 128 + comparison.signal;
	if (err != -ETIME)
		status = report(&told, &table, &json, status);
	output__close(&table);
	output__close(&json);
	return status;
}
