/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/watch-report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/message.h"
#include "common/record.h"
#include "probes/tally.h"
#include "syscall/summary.h"

int watch_report__new(struct watch_report *report, const struct options *options, char **argv)
{
	*report = (struct watch_report){.options = options, .table.fd = -1, .json.fd = -1, .argv = argv};
	report->mode = options->command ? "command" : options->all ? "all" : "pid";
	report->before = calloc(1, sizeof(*report->before));
	report->total = calloc(1, sizeof(*report->total));
	return report->before && report->total ? 0 : -ENOMEM;
}

static struct summary_view view_of(const struct watch_report *report)
{
	return (struct summary_view){.errors = true, .times = report->options->timing != TIMING_NONE,
				     .wall = report->options->wall ||
					     !watcher__sees_switches(report->watcher)};
}

static void summarise(const struct watch_report *report, struct summary *summary, watcher_tallies tallies)
{
	summary__of(summary, tallies[0], tallies[1], view_of(report));
	if (report->options->trace)
		summary__filter(summary, report->options->trace);
	summary__sort(summary, report->options->order);
}

/* Reads into total, and into tallies what came since the last reading. */
static void read_interval(struct watch_report *report, watcher_tallies tallies)
{
	watcher__read(report->watcher, tallies);
	for (int i = 0; i < 2 * NR_SLOTS; i++) {
		struct tally *now = &tallies[i / NR_SLOTS][i % NR_SLOTS], sum = *now;
		struct tally *before = &(*report->before)[i / NR_SLOTS][i % NR_SLOTS];
		struct tally *total = &(*report->total)[i / NR_SLOTS][i % NR_SLOTS];
		struct tally extremes = {.min_ns = total->min_ns, .max_ns = total->max_ns};

		*total = sum;
		tally__add(total, &extremes);
		tally__subtract(now, before);
		*before = sum;
	}
}

int watch_report__interval(struct watch_report *report)
{
	static struct summary summary;
	static watcher_tallies tallies;
	uint64_t now = clock_ns();
	double from = (double)(report->before_ns - report->since_ns) / 1e9;
	double to = (double)(now - report->since_ns) / 1e9;
	FILE *stream = report->table.stream;

	read_interval(report, tallies);
	summarise(report, &summary, tallies);
	report->before_ns = now;
	if (!report->intervals)
		report->intervals = json_array();
	json_array_append_new(report->intervals, json_pack("{s:f, s:f, s:o}", "from_s", from, "to_s", to,
							   "summary", summary__json(&summary)));
	if (!stream)
		return 0;
	fprintf(stream, "from %.3f s to %.3f s:\n", from, to);
	summary__print(&summary, report->options->columns, stream);
	fputc('\n', stream);
	return output__flush(&report->table);
}

/* Calls by number as a line "label: read 3, write 1", and as a JSON object. */
static json_t *tell_calls(const struct watch_report *report, const char *label,
			  const unsigned long long by_nr[2][NR_SLOTS])
{
	FILE *stream = report->table.stream;
	json_t *object = json_object();

	for (int i = 0; i < 2 * NR_SLOTS; i++) {
		unsigned long long calls = by_nr[i / NR_SLOTS][i % NR_SLOTS];
		char name[32];

		if (!calls)
			continue;
		if (i < NR_SLOTS)
			syscall__name(i, name, sizeof(name));
		else
			syscall__name32(i - NR_SLOTS, name, sizeof(name));
		if (report->options->trace && !summary__listed(report->options->trace, name))
			continue;
		if (stream)
			fprintf(stream, "%s%s %llu", json_object_size(object) ? ", " : label, name, calls);
		calls += (unsigned long long)json_integer_value(json_object_get(object, name));
		json_object_set_new(object, name, json_integer((json_int_t)calls));
	}
	if (stream && json_object_size(object))
		fputc('\n', stream);
	return object;
}

/* Begun and not ended, neither by a return nor with their task. */
static int64_t calls_in_flight(const struct watch_report *report)
{
	const struct extras *extras = watcher__extras(report->watcher);
	int64_t sum = 0;

	for (int i = 0; i < 2 * NR_SLOTS; i++) {
		const struct tally *tally = &(*report->total)[i / NR_SLOTS][i % NR_SLOTS];

		sum += (int64_t)(tally->entered - tally->calls -
				 extras->never_returned[i / NR_SLOTS][i % NR_SLOTS]);
	}
	return sum > 0 ? sum : 0;
}

static void tell_count(FILE *stream, const char *label, uint64_t n, const char *after)
{
	if (stream && n)
		fprintf(stream, "%s%" PRIu64 "%s\n", label, n, after);
}

/* What is extra to strace's table: a line each where there is something to say, and JSON. */
static json_t *tell_extras(const struct watch_report *report, const struct summary *summary)
{
	const struct extras *extras = watcher__extras(report->watcher);
	bool timed = report->options->timing != TIMING_NONE;
	uint64_t misses = watcher__misses(report->watcher);
	uint64_t in_flight = (uint64_t)calls_in_flight(report);
	FILE *stream = report->table.stream;
	json_t *never, *restarted;
	double low, high;

	tell_count(stream, "in flight at attach: ", timed ? extras->in_flight_at_attach : 0, " (not counted)");
	tell_count(stream, "in flight at the end: ", timed ? in_flight : 0, "");
	never = tell_calls(report, "never returned: ", extras->never_returned);
	restarted = tell_calls(report, "interrupted and restarted (among the errors): ", extras->restarted);
	tell_count(stream, "lost: the kernel skipped ", misses, " runs of the counting program");
	tell_count(stream, "lost: ", extras->unwatched, " tasks could not be watched, as the kernel had no room");
	if (stream && timed && !view_of(report).wall != !report->options->wall)
		fputs("seconds are wall time: without BTF and tracefs, time off the CPU is not seen\n", stream);
	if (stream && report->options->timing == TIMING_AUTO) {
		low = fmax(0, summary->total.seconds - summary->total.half_width);
		high = summary->total.seconds + summary->total.half_width;
		fprintf(stream, "seconds: 95 %% interval %.6f to %.6f (every call of a kind above %d us, one in "
			"%d of the others); calls and errors are exact\n", low, high, SLOW_NS / 1000,
			SAMPLE_EVERY);
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:I, s:I}", "never_returned", never, "restarted", restarted,
			 "in_flight_at_attach",
			 timed ? json_integer((json_int_t)extras->in_flight_at_attach) : json_null(),
			 "in_flight", timed ? json_integer((json_int_t)in_flight) : json_null(), "lost",
			 (json_int_t)(misses + extras->unwatched), "unplaced", (json_int_t)extras->unplaced);
}

/* One part of the whole: its table under a title, and JSON. */
static void tell_part(const struct watch_report *report, json_t *list, const char *title, json_t *head,
		      watcher_tallies tallies)
{
	static struct summary summary;
	FILE *stream = report->table.stream;

	summarise(report, &summary, tallies);
	if (!summary.n) {
		json_decref(head);
		return;
	}
	if (stream) {
		fprintf(stream, "\n%s:\n", title);
		summary__print(&summary, report->options->columns, stream);
	}
	json_object_set_new(head, "summary", summary__json(&summary));
	json_array_append_new(list, head);
}

static void tell_cores(const struct watch_report *report, json_t *list)
{
	static watcher_tallies tallies;
	char title[32];

	for (int cpu = 0; cpu < watcher__cpus(report->watcher); cpu++) {
		watcher__read_cpu(report->watcher, cpu, tallies);
		snprintf(title, sizeof(title), "CPU %d", cpu);
		tell_part(report, list, title, json_pack("{s:i}", "cpu", cpu), tallies);
	}
}

/* A task with its parts. */
struct owner {
	struct who who;
	const struct part *parts;
	size_t n;
};

static int by_process(const void *a, const void *b)
{
	const struct who *x = &((const struct owner *)a)->who, *y = &((const struct owner *)b)->who;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if ((x->tid == x->tgid) != (y->tid == y->tgid)) /* the leader first: its name is the process's */
		return x->tid == x->tgid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Groups the parts, which are sorted by serial, into their tasks. Returns how many, or -errno. */
static ssize_t find_owners(const struct watch_report *report, struct owner **out, const struct part *parts, size_t n)
{
	struct owner *owners = calloc(n ? n : 1, sizeof(*owners));
	size_t count = 0;

	if (!owners)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!i || parts[i].key.serial != parts[i - 1].key.serial) {
			owners[count].parts = &parts[i];
			watcher__who(report->watcher, parts[i].key.serial, &owners[count++].who);
		}
		owners[count - 1].n++;
	}
	qsort(owners, count, sizeof(*owners), by_process);
	*out = owners;
	return (ssize_t)count;
}

static int tell_tasks(const struct watch_report *report, json_t *list)
{
	static watcher_tallies tallies;
	bool threads = report->options->per == PER_THREAD;
	struct owner *owners = NULL;
	struct part *parts;
	size_t n;
	ssize_t count;
	int err = watcher__parts(report->watcher, &parts, &n);

	if (err)
		return err;
	count = find_owners(report, &owners, parts, n);
	for (ssize_t i = 0; i < count;) {
		const struct who *who = &owners[i].who;
		char title[64];
		json_t *head = json_pack("{s:I, s:o}", "process", (json_int_t)who->tgid, "name",
					 json_string(who->name) ?: json_string("?"));

		snprintf(title, sizeof(title), threads ? "%s, process %u, thread %u" : "%s, process %u",
			 who->name, who->tgid, who->tid);
		if (threads)
			json_object_set_new(head, "thread", json_integer((json_int_t)who->tid));
		memset(tallies, 0, sizeof(tallies));
		do {
			for (size_t j = 0; j < owners[i].n; j++) {
				unsigned int nr = owners[i].parts[j].key.nr;

				tally__add(&tallies[nr / NR_SLOTS][nr % NR_SLOTS], &owners[i].parts[j].tally);
			}
			i++;
		} while (!threads && i < count && owners[i].who.process == who->process &&
			 owners[i].who.tgid == who->tgid);
		tell_part(report, list, title, head, tallies);
	}
	free(owners);
	free(parts);
	return count < 0 ? (int)count : 0;
}

/* Tables per process, thread or core, and their JSON. Returns 0 or -errno. */
static int tell_parts(const struct watch_report *report, json_t **list)
{
	int err = 0;

	*list = json_array();
	if (report->options->per == PER_CORE)
		tell_cores(report, *list);
	else if (report->options->per != PER_NOTHING)
		err = tell_tasks(report, *list);
	tell_count(report->table.stream, "calls in none of these tables, which were full: ",
		   watcher__extras(report->watcher)->unplaced, "");
	return err;
}

int watch_report__end(struct watch_report *report, const struct noise *noise)
{
	static struct summary summary;
	static watcher_tallies rest;
	const struct extras *extras = watcher__extras(report->watcher);
	uint64_t lost = watcher__misses(report->watcher) + extras->unwatched;
	json_t *extra, *parts = NULL, *record;
	int err = 0;

	if (report->intervals)
		watch_report__interval(report);
	else
		read_interval(report, rest);
	summarise(report, &summary, *report->total);
	if (report->intervals && report->table.stream)
		fprintf(report->table.stream, "in all, %.3f s:\n",
			(double)(report->before_ns - report->since_ns) / 1e9);
	if (report->table.stream)
		err = summary__print(&summary, report->options->columns, report->table.stream);
	extra = tell_extras(report, &summary);
	err = tell_parts(report, &parts) ?: err;
	record = record__new("syscall-rate", report->argv, report->started, noise);
	json_object_update_new(
		record, json_pack("{s:s, s:s, s:s, s:b, s:o}", "mode", report->mode, "counter",
				  watcher__kind(report->watcher)->name, "timing",
				  timing_names[report->options->timing], "wall", view_of(report).wall, "summary",
				  summary__json(&summary)));
	json_object_update_new(record, extra);
	if (report->options->timing == TIMING_AUTO)
		json_object_set_new(record, "seconds_ci95",
				    json_pack("[f,f]", fmax(0, summary.total.seconds - summary.total.half_width),
					      summary.total.seconds + summary.total.half_width));
	if (report->intervals)
		json_object_set(record, "intervals", report->intervals);
	if (report->options->per != PER_NOTHING)
		json_object_set(record, per_names[report->options->per], parts);
	json_decref(parts);
	if (report->json.stream)
		err = record__write(record, report->json.stream) ? -EIO : err;
	json_decref(record);
	if (err)
		message__error("the report is incomplete: %s", strerror(-err));
	if (output__finish(&report->table) | output__finish(&report->json))
		err = -EIO;
	if (lost)
		message__error("%" PRIu64 " calls or tasks may be lost", lost);
	return err || lost ? EXIT_FAILED : EXIT_MEASURED;
}

void watch_report__free(struct watch_report *report)
{
	output__close(&report->table);
	output__close(&report->json);
	json_decref(report->intervals);
	free(report->before);
	free(report->total);
}
