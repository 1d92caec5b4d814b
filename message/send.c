/* SPDX-License-Identifier: BSD-2-Clause */
/* message-rate send: messages from one sender to one receiver, one way and there and back. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/clock.h"
#include "common/message.h"
#include "common/record.h"
#include "common/signals.h"
#include "common/stats.h"
#include "common/table.h"
#include "message/experiment.h"
#include "message/pair.h"
#include "probes/calls.h"

#define FIRST_MESSAGES 256
#define FIRST_BYTES (1u << 20)
#define ROUND_TRIPS 20000 /* at most */
#define PLACES 2

static const char *const places[PLACES] = {"two", "one"}; /* cores that sender and receiver have */

struct row {
	const struct channel_kind *kind;
	int place;
	bool ping;
	bool unavailable, failed;
	char why[160];
	uint64_t n; /* messages a sample, of each pair */
	struct pair_result last;
	double *seconds; /* [rounds] */
	int samples;
	uint64_t *ns; /* ping: [n] of the last round, sorted */
	json_t *syscalls; /* a message, by name; NULL: not counted */
};

struct rows {
	struct row *rows;
	int n;
};

static struct pair_job job_of(const struct run *run, const struct row *row)
{
	return (struct pair_job){.kind = row->kind, .size = run->options->size, .n = row->n, .look = run->options->look,
				 .cpus = {run->cpus[0], run->cpus[row->place == 0 && run->n_cpus > 1]}};
}

static void fail(struct row *row, int err)
{
	row->failed = true;
	if (err == -EPERM || err == -ENOSYS)
		row->unavailable = true, row->failed = false;
	if (err == -EILSEQ)
		snprintf(row->why, sizeof(row->why), "of %llu messages sent, %llu came once and in order, %llu wrong",
			 (unsigned long long)row->last.sent, (unsigned long long)row->last.received,
			 (unsigned long long)row->last.wrong);
	else if (err == -EPIPE || err == -ECONNRESET)
		snprintf(row->why, sizeof(row->why), "the receiver died after %llu of %llu messages (%llu sent): %s",
			 (unsigned long long)row->last.received, (unsigned long long)row->n,
			 (unsigned long long)row->last.sent, strerror(-err));
	else
		snprintf(row->why, sizeof(row->why), "%s%s", row->unavailable ? "refused here: " : "", strerror(-err));
}

/* Once. Returns 0, -EINTR: a signal has come; or -errno, said in the row. */
static int once(const struct run *run, struct row *row, struct watcher *watcher)
{
	struct pair_job job = job_of(run, row);
	int err;

	if (signals__pending())
		return -EINTR;
	job.watcher = watcher;
	if (row->ping)
		err = pair__ping(&job, row->ns, &row->last);
	else if (run->options->pairs > 1)
		err = pairs__stream(&job, run->options->pairs, &row->last);
	else
		err = pair__stream(&job, &row->last);
	if (err)
		fail(row, err);
	if (row->last.syscalls)
		calls__divide(row->last.syscalls, row->n);
	if (watcher && !err)
		row->syscalls = row->last.syscalls;
	else
		json_decref(row->last.syscalls);
	row->last.syscalls = NULL;
	return err;
}

/* How many messages take the time of a sample. */
static int fit(const struct run *run, struct row *row)
{
	uint64_t most = row->ping && run->options->n > ROUND_TRIPS ? ROUND_TRIPS : run->options->n;
	uint64_t first = FIRST_BYTES / (run->options->size + 1) < FIRST_MESSAGES ? FIRST_BYTES / (run->options->size + 1) + 1
										  : FIRST_MESSAGES;
	double wanted = (double)run->options->duration_ns / 1e9;
	int err = 0;

	if (row->ping && !(row->ns = calloc(most, sizeof(*row->ns))))
		return -ENOMEM;
	for (row->n = most < first ? most : first; row->n < most && !err;) {
		double growth;

		err = once(run, row, NULL);
		growth = wanted / fmax(row->last.seconds, 1e-9);
		if (err || growth < 1.5)
			break;
		row->n = fmin(growth, 16) * (double)row->n < (double)most ? (uint64_t)(fmin(growth, 16) * (double)row->n) : most;
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void tell_progress(const struct run *run, double done, uint64_t started)
{
	static uint64_t told;
	uint64_t now = clock_ns();

	if (!run->progress || now - told < 200000000)
		return;
	told = now;
	if (done > 0)
		fprintf(stderr, "\rmeasuring: %3.0f %%, %.0f s left \033[K", done * 100,
			(double)(now - started) / 1e9 * (1 - done) / done);
	else
		fputs("\rtrying \033[K", stderr);
}

/* Everything in turn. Returns 0 or -EINTR. */
static int measure_rows(const struct run *run, struct rows *rows)
{
	struct watcher *watcher = run->options->calls ? calls__open() : NULL;
	uint64_t started;
	int err = 0;

	for (int i = 0; i < rows->n && err != -EINTR; i++) {
		struct row *row = &rows->rows[i];

		tell_progress(run, 0, 0);
		if (row->unavailable)
			continue;
		err = fit(run, row);
		if (!err && watcher && !row->ping && run->options->pairs == 1)
			err = once(run, row, watcher);
	}
	calls__close(watcher);
	started = clock_ns();
	for (int round = 0; round < run->options->rounds && err != -EINTR; round++)
		for (int i = 0; i < rows->n && err != -EINTR; i++) {
			struct row *row = &rows->rows[i];

			tell_progress(run, ((double)round * rows->n + i) / ((double)run->options->rounds * rows->n), started);
			if (row->unavailable || row->failed)
				continue;
			err = once(run, row, NULL);
			if (err)
				continue;
			row->seconds[row->samples++] = row->last.seconds;
			if (row->ping)
				qsort(row->ns, row->n, sizeof(*row->ns), by_value);
		}
	if (run->progress)
		fputs("\r\033[K", stderr);
	return err == -EINTR ? err : 0;
}

static void check(const struct message_options *options)
{
	const char *at = options->modes;
	char name[32];

	while (at && names__next(&at, name, sizeof(name)))
		if (!channel_kind__find(name))
			message__usage("--modes '%s': unknown; --list shows what there is", name);
}

static int add_rows(struct run *run, struct rows *rows)
{
	int kinds = 0;

	while (channel_kinds[kinds].name)
		kinds++;
	rows->rows = calloc((size_t)(2 * PLACES * kinds), sizeof(*rows->rows));
	if (!rows->rows)
		return -ENOMEM;
	for (int ping = 0; ping < 2; ping++)
		for (int i = 0; i < kinds; i++)
			for (int place = 0; place < PLACES; place++) {
				struct row *row = &rows->rows[rows->n];

				if (!names__have(run->options->modes, channel_kinds[i].name) ||
				    (ping && (channel_kinds[i].collects || run->options->pairs > 1)))
					continue;
				*row = (struct row){.kind = &channel_kinds[i], .place = place, .ping = ping,
						    .unavailable = place == 0 && run->n_cpus < 2,
						    .seconds = calloc((size_t)run->options->rounds, sizeof(double))};
				if (!row->seconds)
					return -ENOMEM;
				if (row->unavailable)
					snprintf(row->why, sizeof(row->why), "there is one CPU");
				rows->n++;
			}
	return 0;
}

static int measure(struct run *run)
{
	struct rows *rows = run->own = calloc(1, sizeof(*rows));
	int err = rows ? add_rows(run, rows) : -ENOMEM, status = EXIT_MEASURED;

	if (err) {
		message__error("%s", strerror(-err));
		return EXIT_FAILED;
	}
	measure_rows(run, rows);
	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i];

		if (!row->failed)
			continue;
		message__error("%s%s, on %s core%s: %s", row->kind->name, row->ping ? ", there and back" : "",
			       places[row->place], row->place ? "" : "s", row->why);
		status = EXIT_FAILED;
	}
	return status;
}

/* ns a message, over the samples. */
static struct stats ns_of(const struct run *run, const struct row *row)
{
	double *ns = calloc((size_t)row->samples + 1, sizeof(*ns));
	struct stats stats;

	for (int i = 0; ns && i < row->samples; i++)
		ns[i] = row->seconds[i] * 1e9 / (double)row->n / run->options->pairs;
	stats = stats__of(ns, ns ? (size_t)row->samples : 0);
	free(ns);
	return stats;
}

static double of_mode(const struct run *run, const char *mode, int place)
{
	const struct rows *rows = run->own;

	for (int i = 0; i < rows->n; i++)
		if (!rows->rows[i].ping && rows->rows[i].place == place && !strcmp(rows->rows[i].kind->name, mode))
			return ns_of(run, &rows->rows[i]).median;
	return NAN;
}

static void add_row(const struct run *run, const struct row *row, struct table *table)
{
	struct stats ns = ns_of(run, row);

	table__cell(table, "%s", row->kind->name);
	table__cell(table, "%s", places[row->place]);
	table__number(table, "%.0f", row->samples ? (double)row->n * run->options->pairs : NAN);
	table__number(table, "%.1f", ns.median);
	if (isnan(ns.low))
		table__cell(table, "-");
	else
		table__cell(table, "%.1f to %.1f", ns.low, ns.high);
	table__number(table, "%.3f", 1e3 / ns.median);
	table__number(table, "%.0f", (double)run->options->size * 1e3 / ns.median);
	table__cell(table, "%s", row->why);
}

static void add_seed(struct table *table)
{
	json_t *seed = message_seed("send"), *row;
	double n = json_number_value(json_object_get(seed, "messages"));
	double size = json_number_value(json_object_get(seed, "bytes_each"));
	size_t i;

	json_array_foreach(json_object_get(seed, "rows"), i, row)
	{
		double us = json_number_value(json_object_get(row, "us"));

		table__cell(table, "2009");
		table__cell(table, "one");
		table__number(table, "%.0f", n);
		table__number(table, "%.1f", us * 1e3 / n);
		table__cell(table, "-");
		table__number(table, "%.3f", n / us);
		table__number(table, "%.0f", n * size / us);
		table__cell(table, "published: %s", json_string_value(json_object_get(row, "mode")));
	}
	json_decref(seed);
}

static void print_ratio(const struct run *run, const char *what, const char *slow, const char *fast, const char *then,
			FILE *stream)
{
	fprintf(stream, "%-46s", what);
	for (int place = 0; place < PLACES; place++) {
		double ratio = of_mode(run, slow, place) / of_mode(run, fast, place);

		if (isnan(ratio))
			fprintf(stream, " %10s", "-");
		else
			fprintf(stream, " %8.1f x", ratio);
	}
	fprintf(stream, "  %s\n", then);
}

static int print_pings(const struct run *run, FILE *stream)
{
	static const struct column columns[] = {{"there and back", 14, true}, {"cores", 5, true}, {"round trips", 11, false},
						{"p50 us", 8, false}, {"p99 us", 8, false}, {"max us", 9, false}, {"", 0, true}};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	const struct rows *rows = run->own;
	int err;

	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i];

		if (!row->ping)
			continue;
		table__cell(table, "%s", row->kind->name);
		table__cell(table, "%s", places[row->place]);
		table__number(table, "%.0f", row->samples ? (double)row->n : NAN);
		table__number(table, "%.2f", row->samples ? (double)row->ns[row->n / 2] / 1e3 : NAN);
		table__number(table, "%.2f", row->samples ? (double)row->ns[row->n * 99 / 100] / 1e3 : NAN);
		table__number(table, "%.2f", row->samples ? (double)row->ns[row->n - 1] / 1e3 : NAN);
		table__cell(table, "%s", row->why);
	}
	fputc('\n', stream);
	err = table__print(table, stream, "");
	table__free(table);
	return err;
}

static void print_calls(const struct rows *rows, FILE *stream)
{
	const char *heading = "system calls a message, of sender and receiver, counted in a run apart:";

	for (int i = 0; i < rows->n; i++)
		calls__print(rows->rows[i].syscalls, &heading, stream, "  %-14s %-4s", rows->rows[i].kind->name,
			     places[rows->rows[i].place]);
}

static int print(const struct run *run, FILE *stream)
{
	static const struct column columns[] = {
		{"mode", 14, true}, {"cores", 5, true}, {"messages", 8, false}, {"ns each", 8, false},
		{"95 % interval", 13, false}, {"M/s", 8, false}, {"MB/s", 6, false}, {"", 0, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	const struct rows *rows = run->own;
	int err;

	fprintf(stream, "messages of %zu bytes, %d sender%s; the receiver %s; medians of %d rounds, rows in turn\n\n",
		run->options->size, run->options->pairs, run->options->pairs > 1 ? "s, each with its receiver" : "",
		run->options->look ? "adds up all bytes" : "checks the number of each", run->options->rounds);
	for (int i = 0; i < rows->n; i++)
		if (!rows->rows[i].ping)
			add_row(run, &rows->rows[i], table);
	if (run->options->size == 1024 && run->options->pairs == 1) {
		table__rule(table);
		add_seed(table);
	}
	err = table__print(table, stream, "");
	table__free(table);
	fprintf(stream, "\n%-46s %10s %10s\n", "so many times as fast", "two cores", "one core");
	print_ratio(run, "by reference as by a copied list (16 bytes)", "list16", "reference", "2009: 31 x (cells of 8 bytes)",
		    stream);
	print_ratio(run, "by reference as by a copied list (8 bytes)", "list8", "reference", "", stream);
	print_ratio(run, "by reference as over TCP", "tcp", "reference", "2009: 40 x", stream);
	print_ratio(run, "over TCP collected as one send a message", "tcp", "tcp-batch",
		    "2009: a send takes 30 us, a message 1", stream);
	if (!err && run->options->pairs == 1)
		err = print_pings(run, stream);
	print_calls(rows, stream);
	return err;
}

static void tell(const struct run *run, json_t *record)
{
	const struct rows *rows = run->own;
	json_t *list = json_array(), *pings = json_array();

	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i];
		struct stats ns = ns_of(run, row);
		json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I}", "mode", row->kind->name, "cores", places[row->place],
					 "status", row->failed ? "failed" : row->unavailable ? "unavailable" : "ok", "note",
					 row->why, "bytes_each", (json_int_t)run->options->size);
		json_t *samples = json_array();

		for (int k = 0; k < row->samples; k++)
			json_array_append_new(samples, record__real(row->seconds[k]));
		json_object_set_new(json, "samples_s", samples);
		if (row->ping) {
			json_object_update_new(
				json, json_pack("{s:I, s:o, s:o, s:o}", "round_trips", (json_int_t)row->n, "p50_ns",
						row->samples ? json_integer((json_int_t)row->ns[row->n / 2]) : json_null(), "p99_ns",
						row->samples ? json_integer((json_int_t)row->ns[row->n * 99 / 100]) : json_null(),
						"max_ns", row->samples ? json_integer((json_int_t)row->ns[row->n - 1]) : json_null()));
			json_array_append_new(pings, json);
			continue;
		}
		json_object_update_new(
			json, json_pack("{s:I, s:o, s:o, s:o, s:[o,o], s:I, s:I, s:I, s:b}", "messages",
					(json_int_t)row->n * run->options->pairs, "seconds",
					record__real(ns.median * (double)row->n * run->options->pairs / 1e9), "per_second",
					record__real(1e9 / ns.median), "ns_per_message", record__real(ns.median),
					"ns_per_message_ci95", record__real(ns.low), record__real(ns.high), "sent",
					(json_int_t)row->last.sent, "received", (json_int_t)row->last.received, "wrong",
					(json_int_t)row->last.wrong, "touched", run->options->look));
		if (row->syscalls)
			json_object_set(json, "syscalls_per_message", row->syscalls);
		json_array_append_new(list, json);
	}
	json_object_update_new(record, json_pack("{s:i, s:o, s:o}", "pairs", run->options->pairs, "rows", list, "round_trips",
						 pings));
}

static void end(struct run *run)
{
	struct rows *rows = run->own;

	for (int i = 0; rows && i < rows->n; i++) {
		free(rows->rows[i].seconds);
		free(rows->rows[i].ns);
		json_decref(rows->rows[i].syscalls);
	}
	if (rows)
		free(rows->rows);
	free(rows);
}

static void list(void)
{
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++) {
		struct channel channel;
		int err = channel__open(&channel, kind, 64);

		printf("  %-14s %s%s%s\n", kind->name, kind->summary, err ? ": not here: " : "", err ? strerror(-err) : "");
		channel__close(&channel);
	}
}

const struct message_experiment send_experiment = {
	"send", "messages from one sender to one receiver", check, measure, print, tell, end, list};
