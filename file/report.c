/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/report.h"

#include <math.h>
#include <string.h>

#include "common/record.h"
#include "common/table.h"
#include "common/units.h"
#include "probes/calls.h"

#define CLOSE 1.10 /* a layer that takes no more than this times the base's time no longer matters */

__asm__(".section .rodata\n"
	".global file_seed_text\n"
	"file_seed_text: .incbin \"results/seed/file-rate.json\"\n"
	".byte 0\n"
	".previous\n");
extern const char file_seed_text[];

json_t *file_seed(void)
{
	return json_loads(file_seed_text, 0, NULL);
}

const struct arm *arms__find(const struct arms *arms, const char *kind, const char *mode, size_t block)
{
	for (int i = 0; i < arms->n; i++) {
		const struct arm *arm = &arms->arms[i];

		if (!strcmp(arm->kind, kind) && !strcmp(arm->mode, mode) && arm->block == block)
			return arm;
	}
	return NULL;
}

/* The smallest block size from which on every one is within 10 % of the base's time. */
static size_t close_from(const struct arms *arms, const struct fit *fit, const char *base)
{
	size_t from = 0;

	for (int i = 0; i < arms->n; i++) {
		const struct arm *arm = &arms->arms[i], *other;
		double ns;

		if (strcmp(arm->kind, fit->kind) != 0 || strcmp(arm->mode, fit->mode) != 0 || !arm->n)
			continue;
		other = arms__find(arms, arm->kind, base, arm->block);
		ns = arm__ns_per_call(arm).median;
		if (!other || !other->n || ns > CLOSE * arm__ns_per_call(other).median)
			from = 0;
		else if (!from)
			from = arm->block;
	}
	return from;
}

int fits__of(const struct arms *arms, const char *kind, const char *base, struct fit *fits, int most)
{
	int n = 0;

	for (int i = 0; i < arms->n && n < most; i++) {
		struct fit *fit = &fits[n];
		double x[MOST_BLOCKS], y[MOST_BLOCKS];
		int j = 0;

		if (strcmp(arms->arms[i].kind, kind) != 0 || !arms->arms[i].block)
			continue;
		while (j < n && strcmp(fits[j].mode, arms->arms[i].mode) != 0)
			j++;
		if (j < n)
			continue;
		*fit = (struct fit){.mode = arms->arms[i].mode, .kind = kind};
		for (j = i; j < arms->n && fit->points < MOST_BLOCKS; j++) {
			const struct arm *arm = &arms->arms[j];

			if (strcmp(arm->kind, kind) != 0 || strcmp(arm->mode, fit->mode) != 0 || !arm->n || !arm->block)
				continue;
			x[fit->points] = (double)arm->block;
			y[fit->points++] = arm__ns_per_call(arm).median;
		}
		if (fit->points < 2)
			continue;
		fit->line = stats__line(x, y, (size_t)fit->points);
		fit->close_from = close_from(arms, fit, base);
		n++;
	}
	return n;
}

int fits__print(const struct fit *fits, int n, const char *base, FILE *stream)
{
	const struct column columns[] = {
		{"mode", 12, true}, {"ns a call", 9, false}, {"+-", 7, false}, {"ns a byte", 9, false}, {"+-", 7, false},
		{"as raw from", 11, false},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	char size[32];
	int err;

	fprintf(stream, "\nwhat a layer costs: time of a call = ns a call + bytes x ns a byte, by least squares of the relative\n"
		"residuals; and the block size from which on it takes at most 1.1 times as long as %s\n\n", base);
	for (int i = 0; i < n; i++) {
		const struct fit *fit = &fits[i];

		table__cell(table, "%s", fit->mode);
		table__number(table, "%.1f", fit->line.constant);
		table__number(table, "%.1f", fit->line.constant_error);
		table__number(table, "%.5f", fit->line.slope);
		table__number(table, "%.5f", fit->line.slope_error);
		if (!strcmp(fit->mode, base))
			table__cell(table, "-");
		else
			table__cell(table, "%s", fit->close_from ? units__print_size(size, sizeof(size), fit->close_from)
								  : "never");
	}
	err = table__print(table, stream, "");
	table__free(table);
	return err;
}

json_t *fits__json(const struct fit *fits, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++) {
		const struct line *line = &fits[i].line;
		json_t *fit = json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:o}", "mode", fits[i].mode, "ns_per_call",
					record__real(line->constant), "ns_per_call_error",
					record__real(line->constant_error), "ns_per_byte", record__real(line->slope),
					"ns_per_byte_error", record__real(line->slope_error), "points", fits[i].points,
					"close_from", fits[i].close_from ? json_integer((json_int_t)fits[i].close_from)
									 : json_null());

		if (fits[i].kind[0])
			json_object_set_new(fit, "kind", json_string(fits[i].kind));
		json_array_append_new(list, fit);
	}
	return list;
}

const char *arm__remark(const struct arm *arm)
{
	return arm->status != ARM_OK ? arm->why : arm->note;
}

static json_t *samples_json(const struct arm *arm, bool sync)
{
	json_t *samples = json_array();

	for (int i = 0; i < arm->n; i++)
		json_array_append_new(samples, record__real(sync ? arm->samples[i].sync_seconds : arm->samples[i].seconds));
	return samples;
}

json_t *arm__json(const struct arm *arm)
{
	static const char *const statuses[] = {"ok", "unavailable", "failed"};
	struct stats ns = arm__ns_per_call(arm);
	const struct sample *last = arm->n ? &arm->samples[arm->n - 1] : NULL;
	json_t *json = json_pack("{s:s, s:s, s:s}", "mode", arm->mode, "status", statuses[arm->status], "note",
				 arm__remark(arm));

	if (arm->kind[0])
		json_object_set_new(json, "kind", json_string(arm->kind));
	json_object_set_new(json, "block", arm->block ? json_integer((json_int_t)arm->block) : json_null());
	json_object_update_new(
		json, json_pack("{s:b, s:o, s:o, s:o, s:o, s:[o,o], s:o, s:o, s:o}", "touched", arm->touched, "seconds",
				record__real(arm__seconds(arm).median), "bytes",
				last ? json_integer((json_int_t)last->bytes) : json_null(), "calls",
				last && last->calls ? json_integer((json_int_t)last->calls) : json_null(), "ns_per_call",
				record__real(ns.median), "ns_per_call_ci95", record__real(ns.low), record__real(ns.high),
				"bytes_per_second", record__real(arm__bytes_per_second(arm)), "page_faults",
				last ? json_integer((json_int_t)last->faults) : json_null(), "samples_s",
				samples_json(arm, false)));
	if (last && !isnan(last->sync_seconds))
		json_object_set_new(json, "fsync_s", samples_json(arm, true));
	if (last && last->items)
		json_object_set_new(json, "items", json_integer((json_int_t)last->items));
	if (arm->syscalls)
		json_object_set(json, "syscalls_per_call", arm->syscalls);
	return json;
}

void arms__print_calls(const struct arms *arms, FILE *stream)
{
	const char *heading = "system calls for each call of a layer, counted in a run apart:";

	for (int i = 0; i < arms->n; i++) {
		const struct arm *arm = &arms->arms[i];
		char size[32];

		calls__print(arm->syscalls, &heading, stream, "  %-12s %5s ", arm->mode,
			     arm->block ? units__print_size(size, sizeof(size), arm->block) : "");
	}
}

int file_report__print(const struct experiment *experiment, const struct setting *setting, FILE *stream)
{
	int err = experiment->print(setting, stream);

	arms__print_calls(&setting->arms, stream);
	noise__print(&setting->arms.noise, stream);
	return err;
}

json_t *file_report__json(const struct experiment *experiment, const struct setting *setting, char *const *argv,
			  const char *started)
{
	json_t *record = record__new("file-rate", argv, started, &setting->arms.noise);
	json_t *rows = json_array(), *seed = file_seed();

	for (int i = 0; i < setting->arms.n; i++)
		json_array_append_new(rows, arm__json(&setting->arms.arms[i]));
	json_object_update_new(record, json_pack("{s:s, s:b, s:I, s:b, s:o}", "experiment", experiment->name, "made",
						 setting->work.made, "file_bytes", (json_int_t)setting->work.size, "sparse",
						 setting->work.sparse, "rows", rows));
	experiment->tell(setting, record);
	json_object_set(record, "seed", json_object_get(seed, experiment->name));
	json_decref(seed);
	return record;
}
