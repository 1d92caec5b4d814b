/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/cost.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "common/signals.h"
#include "common/table.h"
#include "probes/others.h"
#include "syscall/observers.h"

#define ROUNDS STATS_LEAST
#define DEFAULT_NS 1000000000u /* each observer, all rounds together */
#define LEAST_CALLS 1000

struct row {
	struct observer observer;
	bool open;
	char why[256]; /* it is not measured; "": it is */
	double samples[ROUNDS], added[ROUNDS]; /* ns a call; that - the bare one of its round */
	int n;
	bool counts;
	int64_t lost; /* of all rounds, the most that one lost */
};

struct costing {
	struct subject subject;
	struct row rows[MOST_OBSERVERS];
	int n;
	uint64_t sample_ns;
	int signal; /* that ended it early, or 0 */
	char started[32];
	char **argv;
	struct noise noise;
};

static void prepare(struct costing *costing)
{
	static struct observer observers[MOST_OBSERVERS];
	struct subject *subject = &costing->subject;
	char folder[] = "/tmp/toll-cost.XXXXXX";

	if (mkdtemp(folder))
		strcpy(subject->folder, folder);
	costing->n = observers__list(observers);
	for (int i = 0; i < costing->n; i++) {
		struct row *row = &costing->rows[i];

		row->observer = observers[i];
		row->open = !row->observer.open ||
			    !row->observer.open(&row->observer, subject, row->why, sizeof(row->why));
		if (row->open)
			row->why[0] = '\0'; /* a notice of a back end that is not used */
	}
}

/* One sample of a row; what fails once is left out from there on. */
static void measure(struct costing *costing, struct row *row)
{
	struct observer *observer = &row->observer;
	uint64_t count = (uint64_t)((double)costing->sample_ns / observer->ns);
	struct sample sample = {0};
	int err;

	if (!row->open || row->why[0])
		return;
	count = count < LEAST_CALLS ? LEAST_CALLS : count;
	err = observer->measure(observer, &costing->subject, count, &sample, row->why, sizeof(row->why));
	costing->signal = signals__pending();
	if (err == -EINTR) {
		row->why[0] = '\0';
	} else if (!err) {
		observer->ns = sample.ns_per_call > 1 ? sample.ns_per_call : 1;
		row->samples[row->n] = sample.ns_per_call;
		row->added[row->n] = sample.ns_per_call - costing->rows[0].samples[row->n];
		row->n++;
		row->counts = sample.counts;
		if (sample.counts && llabs(sample.lost) > llabs(row->lost))
			row->lost = sample.lost;
	}
}

static void measure_all(struct costing *costing)
{
	bool bar = !message_quiet && isatty(STDERR_FILENO);
	int all = ROUNDS * costing->n;

	for (int done = 0; !costing->signal && !costing->rows[0].why[0] && done < all; done++) {
		struct row *row = &costing->rows[done % costing->n];

		if (bar)
			fprintf(stderr, "\r%3d %%  %-40s\033[K", 100 * done / all, row->observer.name);
		measure(costing, row);
	}
	if (bar)
		fputs("\r\033[K", stderr);
}

static void finish(struct costing *costing)
{
	static const char *const files[] = {"said", "json", "hammer"};
	char path[64];

	for (int i = 0; i < costing->n; i++)
		observer__close(&costing->rows[i].observer);
	for (size_t i = 0; costing->subject.folder[0] && i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", costing->subject.folder, files[i]);
		unlink(path);
	}
	if (costing->subject.folder[0])
		rmdir(costing->subject.folder);
	call__close(&costing->subject.hammer);
}

static struct ratio slowdown(const struct costing *costing, const struct row *row)
{
	return stats__ratio(row->samples, costing->rows[0].samples, (size_t)row->n);
}

static void print_row(const struct costing *costing, const struct row *row, struct table *table)
{
	struct stats ns = stats__of(row->samples, (size_t)row->n), added = stats__of(row->added, (size_t)row->n);
	bool bare = row == costing->rows;

	table__cell(table, "%s", row->observer.name);
	if (!row->n) {
		for (int i = 0; i < 5; i++)
			table__cell(table, "-");
		table__cell(table, "%s", row->why[0] ? row->why : "not measured");
		return;
	}
	table__cell(table, "%.1f", ns.median);
	table__cell(table, bare ? "-" : "%+.1f", added.median);
	if (bare || isnan(added.low))
		table__cell(table, "-");
	else
		table__cell(table, "%+.1f to %+.1f", added.low, added.high);
	table__cell(table, slowdown(costing, row).ratio < 100 ? "%.2f x" : "%.0f x",
		    slowdown(costing, row).ratio);
	table__cell(table, "%s", !row->counts ? "-" : row->lost ? "no" : "yes");
	if (row->why[0])
		table__cell(table, "then: %s", row->why);
	else if (row->lost)
		table__cell(table, "%lld %s in a round", llabs(row->lost),
			    row->lost > 0 ? "lost" : "too many");
	else
		table__cell(table, "%s", "");
}

static int print(const struct costing *costing, FILE *stream)
{
	static const struct column columns[] = {
		{"observer", 8, true}, {"ns/call", 9, false}, {"added", 9, false}, {"95 % interval", 13, false},
		{"slowdown", 8, false}, {"exact", 5, false}, {"", 0, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	int err;

	fprintf(stream, "%s on CPU %d under each observer, %d rounds, observers in turn; medians\n\n",
		costing->subject.call->name, costing->subject.cpu, ROUNDS);
	for (int i = 0; i < costing->n; i++)
		print_row(costing, &costing->rows[i], table);
	err = table__print(table, stream, "");
	table__free(table);
	fputs("\nexact: it counted every call that was made, and no other (a tool: within the few that a command "
	      "makes besides)\n", stream);
	noise__print(&costing->noise, stream);
	return err;
}

static json_t *row_json(const struct costing *costing, const struct row *row)
{
	struct stats ns = stats__of(row->samples, (size_t)row->n), added = stats__of(row->added, (size_t)row->n);
	struct ratio ratio = slowdown(costing, row);
	json_t *samples = json_array();

	for (int i = 0; i < row->n; i++)
		json_array_append_new(samples, record__real(row->samples[i]));
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "observer", row->observer.name,
			 "status", row->why[0] ? row->why : row->n ? "measured" : "not measured", "ns_per_call",
			 record__real(ns.median), "added_ns", record__real(added.median), "added_ns_ci95",
			 json_pack("[o, o]", record__real(added.low), record__real(added.high)), "slowdown",
			 record__real(ratio.ratio), "slowdown_ci95",
			 json_pack("[o, o]", record__real(ratio.low), record__real(ratio.high)), "exact",
			 row->n && row->counts ? json_boolean(!row->lost) : json_null(), "lost",
			 row->n && row->counts ? json_integer(row->lost) : json_null(), "samples_ns", samples);
}

static json_t *as_json(const struct costing *costing)
{
	json_t *json = record__new("syscall-rate", costing->argv, costing->started, &costing->noise);
	json_t *observers = json_array();

	for (int i = 0; i < costing->n; i++)
		json_array_append_new(observers, row_json(costing, &costing->rows[i]));
	json_object_update_new(json, json_pack("{s:s, s:s, s:i, s:o}", "mode", "cost", "call",
					       costing->subject.call->name, "cpu", costing->subject.cpu,
					       "observers", observers));
	return json;
}

/* Writes both forms. Returns the exit status. */
static int report(const struct costing *costing, struct output *table, struct output *json)
{
	int err = table->stream ? print(costing, table->stream) : 0;

	return record__report(json->stream ? as_json(costing) : NULL, err, table, json);
}

/* Ours that lost calls, or nothing measured at all. */
static int check(const struct costing *costing)
{
	int status = EXIT_MEASURED;

	if (costing->rows[0].why[0]) {
		message__error("the run failed: %s", costing->rows[0].why);
		return EXIT_FAILED;
	}
	for (int i = 0; i < costing->n; i++) {
		const struct row *row = &costing->rows[i];

		if (row->lost && !row->observer.tool) {
			message__error("%s: made and counted differ by %lld calls", row->observer.name,
				       (long long)row->lost);
			status = EXIT_FAILED;
		}
	}
	return status;
}

int cost(const struct options *options, const struct call *call, int cpu, char **argv)
{
	static struct costing costing;
	struct output table = {.fd = -1}, json = {.fd = -1};
	struct noise_reading before, after;
	int others = others__attached(), err, status, checked; /* before ours are loaded */

	if (call->nr < 0)
		message__usage("--cost: %s makes no system calls to observe", call->name);
	costing = (struct costing){.subject = {.call = call, .cpu = cpu}, .argv = argv};
	costing.sample_ns = (options->bounded ? options->duration_ns : DEFAULT_NS) / ROUNDS;
	err = call__prepare(&costing.subject.hammer, call);
	if (err) {
		message__error("--call %s: %s", call->name, strerror(-err));
		return EXIT_FAILED;
	}
	output__must_open_both(&table, &json, options->output, options->json, "-");
	signals__block();
	record__now(costing.started);
	prepare(&costing);
	before = noise__read();
	measure_all(&costing);
	after = noise__read();
	costing.noise = noise__between(&before, &after);
	costing.noise.other_probes = others < 0 ? -1 : others;
	finish(&costing);
	checked = check(&costing);
	status = costing.rows[0].n ? report(&costing, &table, &json) : EXIT_FAILED;
	output__close(&table);
	output__close(&json);
	return costing.signal ? 128 + costing.signal : checked ? checked : status;
}
