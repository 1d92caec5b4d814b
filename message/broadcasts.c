/* SPDX-License-Identifier: BSD-2-Clause */
/* message-rate broadcast: one message to many TCP clients, by strategy and number of clients. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/record.h"
#include "common/signals.h"
#include "common/stats.h"
#include "common/table.h"
#include "message/broadcast.h"
#include "message/experiment.h"
#include "probes/calls.h"

struct row {
	enum strategy strategy;
	uint64_t clients;
	double setup_s;
	struct broadcast_round *rounds; /* [options->rounds] */
	int n;
	json_t *syscalls; /* a client, by name, of all processes in the round before the first; NULL: not counted */
	bool unavailable, failed;
	char why[256];
};

struct rows {
	struct row *rows;
	int n;
};

static void check(const struct message_options *options)
{
	const char *at = options->modes;
	char name[32];

	while (at && names__next(&at, name, sizeof(name))) {
		int i = 0;

		while (i < STRATEGIES && strcmp(strategy_names[i], name) != 0)
			i++;
		if (i == STRATEGIES)
			message__usage("--modes '%s': unknown; --list shows what there is", name);
	}
}

/* One round of a row; round less than 0: it does not count, but its system calls are counted. */
static void measure_one(const struct run *run, struct broadcast *broadcast, struct row *row, int round,
			struct watcher *watcher)
{
	struct broadcast_round done;
	int err;

	if (run->progress)
		fprintf(stderr, "\r%llu clients, round %d, %s \033[K", (unsigned long long)row->clients, round + 1,
			strategy_names[row->strategy]);
	calls__start(watcher);
	err = broadcast__round(broadcast, row->strategy, &done, row->why, sizeof(row->why));
	if (watcher) {
		row->syscalls = calls__stop(watcher);
		calls__divide(row->syscalls, row->clients);
	}
	row->unavailable = err == -ENOTSUP;
	row->failed = !row->unavailable && (err || done.received < row->clients - run->options->stalled);
	if (row->failed && !row->why[0])
		snprintf(row->why, sizeof(row->why), "%s", err ? strerror(-err) : "not all have received it");
	if (!err && round >= 0)
		row->rounds[row->n++] = done;
}

/* All strategies with one number of clients, which stay connected: rows[n]. Returns 0 or -EINTR. */
static int measure_some(struct run *run, struct row *rows, int n)
{
	const struct broadcast_plan plan = {.clients = rows->clients, .stalled = run->options->stalled,
					    .size = run->options->size, .threads = run->options->threads, .cpus = run->cpus,
					    .n_cpus = run->n_cpus};
	struct watcher *watcher = run->options->calls ? calls__open() : NULL; /* sees what is started from now on */
	struct broadcast *broadcast = NULL;
	double setup_s = NAN;
	char why[256] = "";
	int err = broadcast__open(&broadcast, &plan, &setup_s, why, sizeof(why));

	for (int i = 0; i < n; i++) {
		rows[i].setup_s = setup_s;
		rows[i].failed = err;
		if (err)
			snprintf(rows[i].why, sizeof(rows[i].why), "%s", why[0] ? why : strerror(-err));
	}
	for (int round = -1; round < run->options->rounds && !err; round++) {
		for (int i = 0; i < n && !err; i++)
			if (signals__pending())
				err = -EINTR;
			else if (!rows[i].unavailable && !rows[i].failed)
				measure_one(run, broadcast, &rows[i], round, watcher);
		calls__close(watcher);
		watcher = NULL;
	}
	calls__close(watcher);
	broadcast__close(broadcast);
	if (run->progress)
		fputs("\r\033[K", stderr);
	return err == -EINTR ? err : 0;
}

static int measure(struct run *run)
{
	const struct message_options *options = run->options;
	struct rows *rows = run->own = calloc(1, sizeof(*rows));
	int status = EXIT_MEASURED, err = 0, n = 0;

	if (rows)
		rows->rows = calloc((size_t)options->n_clients * STRATEGIES, sizeof(*rows->rows));
	if (!rows || !rows->rows) {
		message__error("%s", strerror(ENOMEM));
		return EXIT_FAILED;
	}
	for (int k = 0; k < options->n_clients && !err; k++) {
		n = rows->n;
		for (int i = 0; i < STRATEGIES; i++)
			if (names__have(options->modes, strategy_names[i]))
				rows->rows[rows->n++] =
					(struct row){.strategy = (enum strategy)i, .clients = options->clients[k],
						     .rounds = calloc((size_t)options->rounds, sizeof(struct broadcast_round))};
		for (int i = n; i < rows->n; i++)
			if (!rows->rows[i].rounds)
				err = -ENOMEM;
		err = err ? err : measure_some(run, rows->rows + n, rows->n - n);
	}
	for (int i = 0; i < rows->n; i++)
		if (rows->rows[i].failed) {
			message__error("%s, %llu clients: %s", strategy_names[rows->rows[i].strategy],
				       (unsigned long long)rows->rows[i].clients, rows->rows[i].why);
			status = EXIT_FAILED;
		}
	return err && err != -EINTR ? EXIT_FAILED : status;
}

/* A figure of the rounds: the double at that place of each. */
static struct stats over(const struct row *row, size_t place)
{
	double *figures = calloc((size_t)row->n + 1, sizeof(*figures));
	struct stats stats;

	for (int i = 0; figures && i < row->n; i++)
		figures[i] = *(const double *)((const char *)&row->rounds[i] + place);
	stats = stats__of(figures, figures ? (size_t)row->n : 0);
	free(figures);
	return stats;
}
#define OVER(row, figure) over(row, offsetof(struct broadcast_round, figure))

static void print_calls(const struct rows *rows, FILE *stream)
{
	const char *heading = "system calls a client, of all processes, counted in a round apart:";

	for (int i = 0; i < rows->n; i++)
		calls__print(rows->rows[i].syscalls, &heading, stream, "  %-9s %7llu", strategy_names[rows->rows[i].strategy],
			     (unsigned long long)rows->rows[i].clients);
}

static int print(const struct run *run, FILE *stream)
{
	static const struct column columns[] = {
		{"strategy", 9, true}, {"clients", 7, false}, {"received", 8, false}, {"min ms", 7, false}, {"p50 ms", 7, false},
		{"p99 ms", 7, false}, {"last ms", 7, false}, {"95 % interval", 13, false}, {"sends/s", 8, false},
		{"server CPU", 10, false}, {"client CPU", 10, false}, {"evicted", 7, false}, {"dropped", 7, false}, {"", 0, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	json_t *seed = message_seed("broadcast"), *one;
	const struct rows *rows = run->own;
	size_t k;
	int err;

	fprintf(stream, "one message of %zu bytes to each client over TCP on loopback, %llu of them stalled; medians of %d rounds,\n"
		"strategies in turn; times from the start to a client's receipt, CPU in ms\n\n", run->options->size,
		(unsigned long long)run->options->stalled, run->options->rounds);
	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i];
		const struct broadcast_round *last = row->n ? &row->rounds[row->n - 1] : NULL;
		struct stats ms = OVER(row, last_ms);

		table__cell(table, "%s", strategy_names[row->strategy]);
		table__cell(table, "%llu", (unsigned long long)row->clients);
		table__number(table, "%.0f", last ? (double)last->received : NAN);
		table__number(table, "%.2f", OVER(row, min_ms).median);
		table__number(table, "%.2f", OVER(row, p50_ms).median);
		table__number(table, "%.2f", OVER(row, p99_ms).median);
		table__number(table, "%.2f", ms.median);
		if (isnan(ms.low))
			table__cell(table, "-");
		else
			table__cell(table, "%.1f to %.1f", ms.low, ms.high);
		table__number(table, "%.0f", OVER(row, sends_per_second).median);
		table__number(table, "%.1f", OVER(row, server_cpu_ms).median);
		table__number(table, "%.1f", OVER(row, client_cpu_ms).median);
		table__number(table, "%.0f", last ? (double)last->evicted : NAN);
		table__number(table, "%.0f", last ? (double)last->dropped : NAN);
		table__cell(table, "%s", row->why);
	}
	err = table__print(table, stream, "");
	table__free(table);
	print_calls(rows, stream);
	fprintf(stream, "\n%s\n", json_string_value(json_object_get(seed, "published")));
	json_array_foreach(json_object_get(seed, "rows"), k, one)
		fprintf(stream, "  %-42s %6.0f ms\n", json_string_value(json_object_get(one, "mode")),
			json_number_value(json_object_get(one, "last_ms")));
	json_decref(seed);
	if (rows->n)
		fprintf(stream, "set-up: %.2f s for the last number of clients\n", rows->rows[rows->n - 1].setup_s);
	return err;
}

static void tell(const struct run *run, json_t *record)
{
	const struct rows *rows = run->own;
	json_t *list = json_array();

	for (int i = 0; i < rows->n; i++) {
		const struct row *row = &rows->rows[i];
		const struct broadcast_round *last = row->n ? &row->rounds[row->n - 1] : NULL;
		json_t *samples = json_array(), *json;

		for (int k = 0; k < row->n; k++)
			json_array_append_new(samples, record__real(row->rounds[k].last_ms));
		json = json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "mode", strategy_names[row->strategy], "status",
				 row->failed ? "failed" : row->unavailable ? "unavailable" : "ok", "note", row->why, "clients",
				 (json_int_t)row->clients, "setup_s", record__real(row->setup_s), "samples_last_ms", samples);
		json_object_update_new(
			json, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "received",
					last ? json_integer((json_int_t)last->received) : json_null(), "min_ms",
					record__real(OVER(row, min_ms).median), "p50_ms", record__real(OVER(row, p50_ms).median),
					"p99_ms", record__real(OVER(row, p99_ms).median), "last_ms",
					record__real(OVER(row, last_ms).median), "sends_per_second",
					record__real(OVER(row, sends_per_second).median), "server_cpu_ms",
					record__real(OVER(row, server_cpu_ms).median), "client_cpu_ms",
					record__real(OVER(row, client_cpu_ms).median), "evicted",
					last ? json_integer((json_int_t)last->evicted) : json_null(), "dropped",
					last ? json_integer((json_int_t)last->dropped) : json_null()));
		if (row->syscalls)
			json_object_set(json, "syscalls_per_client", row->syscalls);
		json_array_append_new(list, json);
	}
	json_object_update_new(record, json_pack("{s:I, s:I, s:o}", "bytes_each", (json_int_t)run->options->size, "stalled",
						 (json_int_t)run->options->stalled, "rows", list));
}

static void end(struct run *run)
{
	struct rows *rows = run->own;

	for (int i = 0; rows && i < rows->n; i++) {
		free(rows->rows[i].rounds);
		json_decref(rows->rows[i].syscalls);
	}
	if (rows)
		free(rows->rows);
	free(rows);
}

static void list(void)
{
	for (int i = 0; i < STRATEGIES; i++)
		printf("  %-14s %s\n", strategy_names[i], strategy_summaries[i]);
}

const struct message_experiment broadcast_experiment = {
	"broadcast", "one message to many TCP clients", check, measure, print, tell, end, list};
