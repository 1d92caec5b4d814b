/* SPDX-License-Identifier: BSD-2-Clause */
/* file-rate rw: blocks read and written, in sequence and at random. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/arguments.h"
#include "common/clock.h"
#include "common/message.h"
#include "common/table.h"
#include "common/units.h"
#include "file/checksum.h"
#include "file/report.h"

#define KINDS 4
#define VERIFIED (16u << 20) /* bytes a row, at most */
#define MOST_FITS 16
#define PAGE 4096

static const char *const kinds[KINDS] = {"sequential read", "sequential write", "random read", "random write"};

struct rw {
	const struct setting *setting;
	struct workfile written; /* what the writers write; setting->work is read */
};

/* Where the moves of a run go: the same places each time. */
struct places {
	bool random;
	uint64_t at, most, unit; /* the last place there is; places are multiples of unit */
	uint64_t state;
};

static uint64_t next_place(struct places *places, size_t block)
{
	uint64_t at = places->at;

	if (!places->random) {
		places->at += block;
		return at;
	}
	/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003). */
	places->state ^= places->state << 13;
	places->state ^= places->state >> 7;
	places->state ^= places->state << 17;
	return places->state % (places->most / places->unit + 1) * places->unit;
}

static struct places places_of(const struct setting *setting, const struct arm *arm)
{
	uint64_t size = setting->options->size;

	return (struct places){.random = !strncmp(arm->kind, "random", 6), .most = size > arm->block ? size - arm->block : 0,
			       .unit = setting->options->direct ? PAGE : 1, .state = 0x9e3779b97f4a7c15u};
}

/* A file of which each byte tells where it is; none is 0. */
static void make_bytes(void *argument, void *data, size_t n, uint64_t offset)
{
	uint8_t *bytes = data;

	(void)argument;
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)((((offset + i) / 8 + 1) * 0x9e3779b97f4a7c15u >> (offset + i) % 8 * 8) | 1);
}

/* Reads the same places again, plainly: for a read, `sum` must be theirs; what was written must be there. */
static int verify(struct arm *arm, const struct rw *rw, bool write, uint64_t moves, uint64_t sum)
{
	struct places places = places_of(rw->setting, arm);
	uint8_t *found = malloc(arm->block), *expected = malloc(arm->block);
	uint64_t true_sum = 0;
	int err = found && expected ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < moves && !err; i++) {
		uint64_t at = next_place(&places, arm->block);
		ssize_t n = layer__read(write ? rw->written.fd : rw->setting->work.fd, found, arm->block, at);

		if (n < 0) {
			err = (int)n;
		} else if (!write) {
			checksum__add(&true_sum, found, (size_t)n, at);
		} else {
			make_bytes(NULL, expected, arm->block, at);
			if ((size_t)n < arm->block || memcmp(found, expected, arm->block) != 0)
				err = -EILSEQ;
		}
	}
	free(found);
	free(expected);
	if (!err && !write && sum != true_sum)
		err = -EILSEQ;
	if (err == -EILSEQ)
		snprintf(arm->why, sizeof(arm->why), write ? "what was written is not in the file"
								: "it read other bytes than plain preads do");
	return err;
}

/* An empty file, or for random places one of holes. */
static int clear(const struct rw *rw, const struct arm *arm)
{
	if (ftruncate(rw->written.fd, 0) ||
	    (!strcmp(arm->kind, "random write") && ftruncate(rw->written.fd, (off_t)rw->setting->options->size)))
		return -errno;
	return 0;
}

static int run(struct arm *arm, struct meter *meter)
{
	const struct rw *rw = arm->context;
	bool write = strstr(arm->kind, "write"), look = meter->purpose == FOR_TRUTH;
	uint64_t moves = meter->limit > arm->block ? meter->limit / arm->block : 1, sum = 0, synced;
	struct places places = places_of(rw->setting, arm);
	const struct layer_job job = {.path = write ? rw->written.path : rw->setting->work.path, .block = arm->block,
				      .write = write, .direct = rw->setting->options->direct,
				      .depth = rw->setting->options->depth, .pool = rw->setting->options->pool,
				      .seen = look ? checksum__add : NULL, .fill = look ? make_bytes : NULL, .argument = &sum};
	struct layer_file *file;
	int err = write ? clear(rw, arm) : 0;

	err = err ? err : layer__open(&file, arm->layer, &job, arm->why, sizeof(arm->why));
	if (err)
		return err;
	meter__start(meter);
	for (uint64_t i = 0; i < moves && !err; i++) {
		uint64_t at = next_place(&places, arm->block);

		err = arm->layer->move(file, write, places.random ? at : LAYER_NEXT);
	}
	if (!err && arm->layer->finish)
		err = arm->layer->finish(file);
	meter__stop(meter);
	meter->sample.bytes = file->bytes;
	meter->sample.calls = moves;
	synced = clock_ns();
	if (!err && write && fsync(rw->written.fd))
		err = -errno;
	if (write)
		meter->sample.sync_seconds = (double)(clock_ns() - synced) / 1e9;
	arm->layer->close(file);
	return err || !look ? err : verify(arm, rw, write, moves, sum);
}

static int prepare(struct setting *setting, char *why, size_t why_size)
{
	struct rw *rw = calloc(1, sizeof(*rw));
	const struct file_options *options = setting->options;
	int err;

	setting->own = rw;
	if (!rw)
		return -ENOMEM;
	rw->setting = setting;
	rw->written.fd = -1;
	for (int i = 0; i < options->n_blocks; i++)
		if (options->blocks[i] > options->size)
			message__usage("--blocks: a block of %zu bytes is more than the file (--size)", options->blocks[i]);
	/* Both files at once must find room. */
	err = workfile__make(&setting->work, options->dir, 2 * options->size, why, why_size);
	if (!err)
		err = workfile__make(&rw->written, options->dir, options->size, why, why_size);
	if (!err)
		err = workfile__fill(&setting->work, options->size);
	if (err)
		return err;
	for (int kind = 0; kind < KINDS; kind++)
		for (int i = 0; i < options->n_blocks; i++)
			for (int j = 0; layers[j]; j++) {
				struct arm *arm;

				if (!(layers[j]->can & LAYER_WRITES) || !names__have(setting->options->modes, layers[j]->name))
					continue;
				arm = arms__add(&setting->arms);
				snprintf(arm->mode, sizeof(arm->mode), "%s", layers[j]->name);
				arm->kind = kinds[kind];
				arm->block = options->blocks[i];
				arm->layer = layers[j];
				arm->context = rw;
				arm->run = run;
				arm->verified = VERIFIED;
				if (options->direct && !(layers[j]->can & LAYER_DIRECT)) {
					arm->status = ARM_UNAVAILABLE;
					snprintf(arm->why, sizeof(arm->why), "not with O_DIRECT");
				}
			}
	return 0;
}

/* MB a second by block size and layer. */
static int print_kind(const struct setting *setting, const char *kind, FILE *stream)
{
	struct column columns[2 + 8] = {{"block", 6, false}};
	const struct layer *shown[8];
	struct table *table;
	char size[32];
	int n = 0, err;

	for (int j = 0; layers[j] && n < 8; j++)
		if ((layers[j]->can & LAYER_WRITES) && names__have(setting->options->modes, layers[j]->name)) {
			shown[n] = layers[j];
			columns[++n] = (struct column){layers[j]->name, 8, false};
		}
	table = table__new(columns, (size_t)n + 1);
	fprintf(stream, "\n%s, MB/s:\n", kind);
	for (int i = 0; i < setting->options->n_blocks; i++) {
		table__cell(table, "%s", units__print_size(size, sizeof(size), setting->options->blocks[i]));
		for (int j = 0; j < n; j++) {
			const struct arm *arm = arms__find(&setting->arms, kind, shown[j]->name, setting->options->blocks[i]);

			table__number(table, "%.0f", arm && arm->n ? arm__bytes_per_second(arm) / 1e6 : NAN);
		}
	}
	err = table__print(table, stream, "");
	table__free(table);
	return err;
}

/* Nanoseconds a byte in all block sizes together, each with the same bytes; NaN unless all were measured. With
 * sync that of the fsync after. */
static double ns_per_byte(const struct setting *setting, const char *kind, const char *mode, bool sync)
{
	double sum = 0;

	for (int i = 0; i < setting->options->n_blocks; i++) {
		const struct arm *arm = arms__find(&setting->arms, kind, mode, setting->options->blocks[i]);
		double synced = 0;

		if (!arm || !arm->n)
			return NAN;
		for (int j = 0; j < arm->n; j++)
			synced += arm->samples[j].sync_seconds / (double)arm->samples[j].bytes / arm->n;
		sum += sync ? synced * 1e9 : 1e9 / arm__bytes_per_second(arm);
	}
	return sum / setting->options->n_blocks;
}

static int print_percent(const struct setting *setting, FILE *stream)
{
	struct column columns[16] = {{"", 16, true}};
	json_t *all = file_seed(), *seed = json_object_get(all, "rw"), *seeds = json_object_get(seed, "rows"), *name;
	struct table *table;
	int n = 1, err;
	size_t k;

	for (int j = 0; layers[j]; j++)
		if (layers[j]->can & LAYER_WRITES)
			columns[n++] = (struct column){layers[j]->name, 8, false};
	json_array_foreach(json_object_get(seed, "columns"), k, name)
		columns[n++] = (struct column){json_string_value(name), 8, false};
	fprintf(stream, "\nspeed of C (here stdio) as a percentage of each layer's, all block sizes together; beside it the figures\n"
		"published in 2008 for C against Erlang (thick: a file-server process; tuned: with a thread pool):\n");
	table = table__new(columns, (size_t)n);
	for (int kind = 0; kind < KINDS; kind++) {
		double base = ns_per_byte(setting, kinds[kind], "stdio", false);

		table__cell(table, "%s", kinds[kind]);
		for (int j = 0; layers[j]; j++)
			if (layers[j]->can & LAYER_WRITES)
				table__number(table, "%.0f",
					      100 * ns_per_byte(setting, kinds[kind], layers[j]->name, false) / base);
		json_array_foreach(json_object_get(json_array_get(seeds, (size_t)kind), "percent"), k, name)
			table__number(table, "%.0f", json_number_value(name));
	}
	err = table__print(table, stream, "");
	table__free(table);
	json_decref(all);
	return err;
}

static int print(const struct setting *setting, FILE *stream)
{
	struct fit fits[MOST_FITS];
	int err = 0;

	fprintf(stream, "a file of %.1f MB, %s; medians of %d rounds, rows in turn\n", (double)setting->options->size / 1e6,
		setting->options->direct ? "past the page cache" : "in the page cache", setting->options->rounds);
	for (int kind = 0; kind < KINDS && !err; kind++)
		err = print_kind(setting, kinds[kind], stream);
	if (!err)
		err = print_percent(setting, stream);
	for (int kind = 0; kind < KINDS && !err; kind++) {
		int n = fits__of(&setting->arms, kinds[kind], "raw", fits, MOST_FITS);

		if (!n)
			continue;
		fprintf(stream, "\n%s:", kinds[kind]);
		err = fits__print(fits, n, "raw", stream);
	}
	fputs("\nfsync(2) after writing, apart from the above, ns a byte:\n", stream);
	for (int j = 0; layers[j]; j++)
		if ((layers[j]->can & LAYER_WRITES) && names__have(setting->options->modes, layers[j]->name))
			fprintf(stream, "  %-12s sequential %.2f, random %.2f\n", layers[j]->name,
				ns_per_byte(setting, kinds[1], layers[j]->name, true),
				ns_per_byte(setting, kinds[3], layers[j]->name, true));
	return err;
}

static void tell(const struct setting *setting, json_t *record)
{
	json_t *list = json_array();

	for (int kind = 0; kind < KINDS; kind++) {
		struct fit fits[MOST_FITS];
		json_t *some = fits__json(fits, fits__of(&setting->arms, kinds[kind], "raw", fits, MOST_FITS));

		json_array_extend(list, some);
		json_decref(some);
	}
	json_object_set_new(record, "fit", list);
}

static void end(struct setting *setting)
{
	struct rw *rw = setting->own;

	if (rw)
		workfile__close(&rw->written);
	free(rw);
}

static void list(void)
{
}

const struct experiment rw_experiment = {
	"rw", "blocks read and written, in sequence and at random", 100u << 20, 3, 60000000,
	{1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576}, prepare, print, tell, end, list};
