/* SPDX-License-Identifier: BSD-2-Clause */
/* file-rate lines: a text split at newlines, by buffer size, with and without reading ahead and a pool. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/table.h"
#include "common/units.h"
#include "file/checksum.h"
#include "file/line-scan.h"
#include "file/peer.h"
#include "file/read.h"
#include "file/report.h"

#define VERIFIED (32u << 20) /* bytes a row, at most */
#define MOST_FITS 16

static const char count_only[] = "count", iterate[] = "iterate";

/* What a run finds: lines, and with iterate their length, or when verifying a sum over their bytes. */
struct found {
	struct line_scan scan;
	uint64_t length, sum;
	int err;
};

static void add_length(void *argument, const char *line, size_t length)
{
	(void)line;
	((struct found *)argument)->length += length;
}

static void add_sum(void *argument, const char *line, size_t length)
{
	struct found *found = argument;

	found->sum += checksum__part(line, length, found->length);
	found->length += length;
}

static void take_block(void *argument, const void *data, size_t n, uint64_t offset)
{
	struct found *found = argument;
	int err = line_scan__block(&found->scan, data, n);

	(void)offset;
	found->err = found->err ? found->err : err;
}

/* The lines of the first `bytes` bytes, byte by byte. Returns 0 or -errno. */
static int true_lines(const struct workfile *work, uint64_t bytes, struct found *truth)
{
	size_t n = (size_t)bytes, start = 0;
	char *text = malloc(n + 1);
	ssize_t got = text ? layer__read(work->fd, text, n, 0) : -ENOMEM;

	*truth = (struct found){.err = 0};
	for (size_t i = 0; got >= 0 && i <= (size_t)got; i++) {
		if (i < (size_t)got ? text[i] != '\n' : i == start)
			continue;
		truth->scan.lines++;
		add_sum(truth, text + start, i - start);
		start = i + 1;
	}
	free(text);
	return got < 0 ? (int)got : 0;
}

static int run_layer(struct arm *arm, struct meter *meter)
{
	const struct setting *setting = arm->context;
	bool look = meter->purpose == FOR_TRUTH, iterates = arm->kind == iterate;
	struct found found = {.scan = {.work = !iterates ? NULL : look ? add_sum : add_length}}, truth;
	int err;

	found.scan.argument = &found;
	err = read__through(setting, arm, meter, take_block, &found, 0);
	line_scan__end(&found.scan);
	meter->sample.items = found.scan.lines;
	err = err ? err : found.err;
	if (err || !look)
		return err;
	err = true_lines(&setting->work, meter->sample.bytes, &truth);
	if (err || (truth.scan.lines == found.scan.lines && (!iterates || truth.sum == found.sum)))
		return err;
	snprintf(arm->why, sizeof(arm->why), "it found other lines than a look at each byte does");
	return -EILSEQ;
}

/* The C library's own: what a program that reads lines does without us. */
static int run_getline(struct arm *arm, struct meter *meter)
{
	const struct setting *setting = arm->context;
	FILE *file = fopen(setting->work.path, "re");
	uint64_t length = 0;
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	if (!file)
		return -errno;
	meter__start(meter);
	while (meter->sample.bytes < meter->limit && (n = getline(&line, &room, file)) >= 0) {
		meter->sample.items++;
		meter->sample.bytes += (uint64_t)n;
		length += (uint64_t)n;
		__asm__ volatile("" : : "r"(line), "r"(length));
	}
	meter__stop(meter);
	free(line);
	fclose(file);
	return 0;
}

static int run_program(struct arm *arm, struct meter *meter)
{
	const struct setting *setting = arm->context;
	const char *const wc[] = {"wc", "-l", setting->work.path, NULL};
	const char *const mawk[] = {"mawk", "{n += length($0)} END {print NR}", setting->work.path, NULL};
	double seconds = 0;
	char *said = NULL;
	size_t length;
	int err;

	meter__start(meter);
	err = peer__run(!strcmp(arm->mode, "wc -l") ? wc : mawk, &said, &length, &seconds, arm->why, sizeof(arm->why));
	meter__stop(meter);
	meter->sample.seconds = seconds;
	meter->sample.bytes = setting->work.size;
	meter->sample.items = err ? 0 : strtoull(said, NULL, 10);
	free(said);
	return err;
}

static struct arm *add_arm(struct setting *setting, const char *kind, const char *mode)
{
	struct arm *arm = arms__add(&setting->arms);

	arm->kind = kind;
	arm->context = setting;
	arm->touched = true;
	snprintf(arm->mode, sizeof(arm->mode), "%s", mode);
	return arm;
}

static void add_others(struct setting *setting)
{
	static const struct {
		const char *kind, *mode;
		int (*run)(struct arm *arm, struct meter *meter);
	} others[] = {{count_only, "wc -l", run_program}, {iterate, "getline", run_getline}, {iterate, "mawk", run_program}};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		struct arm *arm;

		if (!names__have(setting->options->modes, others[i].mode))
			continue;
		arm = add_arm(setting, others[i].kind, others[i].mode);
		arm->run = others[i].run;
		arm->fixed = arm->run == run_program;
		if (!setting->work.size) {
			arm->status = ARM_UNAVAILABLE;
			snprintf(arm->why, sizeof(arm->why), "the file has no size");
		}
	}
}

static int prepare(struct setting *setting, char *why, size_t why_size)
{
	const struct file_options *options = setting->options;
	int err = setting__open_text(setting, NULL, why, why_size);

	if (err)
		return err;
	for (int kind = setting->work.once; kind < 2; kind++) /* what can be read once is not only counted */
		for (int i = 0; layers[i]; i++) {
			if (!(layers[i]->can & LAYER_LINES) || !names__have(setting->options->modes, layers[i]->name))
				continue;
			for (int j = 0; j < options->n_blocks; j++) {
				struct arm *arm = add_arm(setting, kind ? iterate : count_only, layers[i]->name);

				arm->layer = layers[i];
				arm->block = options->blocks[j];
				arm->run = run_layer;
				arm->verified = VERIFIED;
			}
		}
	add_others(setting);
	return 0;
}

/* MB a second, by layer and buffer. */
static int print_kind(const struct setting *setting, const char *kind, FILE *stream)
{
	struct column columns[MOST_BLOCKS + 1] = {{"mode", 12, true}};
	static char sizes[MOST_BLOCKS][16];
	int n = setting->options->n_blocks, err;
	struct table *table;

	for (int i = 0; i < n; i++)
		columns[i + 1] = (struct column){units__print_size(sizes[i], sizeof(sizes[i]), setting->options->blocks[i]), 6,
						 false};
	table = table__new(columns, (size_t)n + 1);
	for (int j = 0; layers[j]; j++) {
		if (!(layers[j]->can & LAYER_LINES) || !names__have(setting->options->modes, layers[j]->name))
			continue;
		table__cell(table, "%s", layers[j]->name);
		for (int i = 0; i < n; i++) {
			const struct arm *arm = arms__find(&setting->arms, kind, layers[j]->name, setting->options->blocks[i]);

			table__number(table, "%.0f", arm && arm->n ? arm__bytes_per_second(arm) / 1e6 : NAN);
		}
	}
	fprintf(stream, "\n%s, MB/s by buffer size:\n", kind == iterate ? "each line handed out" : "lines counted");
	err = table__print(table, stream, "");
	table__free(table);
	for (int i = 0; i < setting->arms.n; i++) {
		const struct arm *arm = &setting->arms.arms[i];

		if (arm->kind != kind || arm->layer)
			continue;
		if (arm->n)
			fprintf(stream, "%-12s %6.0f\n", arm->mode, arm__bytes_per_second(arm) / 1e6);
		else
			fprintf(stream, "%-12s %6s %s\n", arm->mode, "-", arm__remark(arm));
	}
	return err;
}

static void print_seed(FILE *stream)
{
	json_t *all = file_seed(), *seed = json_object_get(all, "lines"), *row, *one;
	double bytes = json_number_value(json_object_get(seed, "bytes"));
	size_t i, j;

	fputs("\npublished in 2009 (G5 at 1.9 GHz), MB/s, and microseconds a call:\n                 256   1024   4096   8192  16384"
	      "  a call\n", stream);
	json_array_foreach(json_object_get(seed, "rows"), i, row)
	{
		fprintf(stream, "%-10s      ", json_string_value(json_object_get(row, "ours")));
		json_array_foreach(json_object_get(row, "seconds"), j, one)
			fprintf(stream, "%s%5.1f", j ? "  " : "", bytes / 1e6 / json_number_value(one));
		fprintf(stream, "  %5.1f  %s\n", json_number_value(json_object_get(row, "us_per_call")),
			json_string_value(json_object_get(row, "mode")));
	}
	json_decref(all);
}

static int print(const struct setting *setting, FILE *stream)
{
	struct fit fits[MOST_FITS];
	int err = 0, n;

	fprintf(stream, "lines of %s, %.1f MB%s; medians of %d rounds, rows in turn\n",
		setting->work.made ? "a made text" : setting->options->file, (double)setting->work.size / 1e6,
		setting->work.sparse ? ", with holes (which are not on the disk)" : "", setting->options->rounds);
	for (int kind = 0; kind < 2 && !err; kind++)
		err = print_kind(setting, kind ? iterate : count_only, stream);
	print_seed(stream);
	n = fits__of(&setting->arms, iterate, "raw", fits, MOST_FITS);
	return err || !n ? err : fits__print(fits, n, "raw", stream);
}

static void tell(const struct setting *setting, json_t *record)
{
	json_t *list = json_array();

	for (int kind = 0; kind < 2; kind++) {
		struct fit fits[MOST_FITS];
		json_t *some = fits__json(fits, fits__of(&setting->arms, kind ? iterate : count_only, "raw", fits, MOST_FITS));

		json_array_extend(list, some);
		json_decref(some);
	}
	json_object_set_new(record, "fit", list);
}

static void end(struct setting *setting)
{
	(void)setting;
}

static void list(void)
{
	printf("  %-14s %s\n  %-14s %s\n  %-14s %s\n", "wc -l", "wc(1), as a process", "getline", "getline(3)", "mawk",
	       "mawk(1), as a process");
}

const struct experiment lines_experiment = {
	"lines", "a text split at newlines, by buffer size", 821000000, 5, 250000000,
	{256, 1024, 4096, 8192, 16384, 65536, 1048576}, prepare, print, tell, end, list};
