/* SPDX-License-Identifier: BSD-2-Clause */
/* file-rate read: one file through every layer, by block size. */
#include "file/read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/table.h"
#include "common/units.h"
#include "file/checksum.h"
#include "file/peer.h"
#include "file/report.h"

#define PIECE (1u << 20)
#define MOST_READERS 256
#define MOST_FITS 32

/* Kept in setting->own: the sums of the file's first 0, 1, 2 ... pieces. */
struct truth {
	const struct setting *setting;
	uint64_t *sums; /* [pieces] */
	uint64_t pieces; /* summed up so far */
};

/* The sum of the first `bytes` bytes, as plain preads have it. Returns 0 or -errno. */
static int true_sum(struct truth *truth, uint64_t bytes, uint64_t *sum)
{
	const struct workfile *work = &truth->setting->work;
	uint8_t *piece = malloc(PIECE);
	ssize_t n = 0;

	if (!truth->sums)
		truth->sums = calloc(work->size / PIECE + 2, sizeof(*truth->sums));
	if (!piece || !truth->sums) {
		free(piece);
		return -ENOMEM;
	}
	while (truth->pieces < bytes / PIECE) {
		uint64_t offset = truth->pieces * PIECE;

		n = layer__read(work->fd, piece, PIECE, offset);
		if (n < PIECE)
			break;
		truth->sums[truth->pieces + 1] = truth->sums[truth->pieces] + checksum__part(piece, PIECE, offset);
		truth->pieces++;
	}
	*sum = truth->sums[bytes / PIECE];
	if (n >= 0 && bytes % PIECE) {
		n = layer__read(work->fd, piece, bytes % PIECE, bytes - bytes % PIECE);
		*sum += n > 0 ? checksum__part(piece, (size_t)n, bytes - bytes % PIECE) : 0;
	}
	free(piece);
	return n < 0 ? (int)n : 0;
}

/* The parts that several readers have at once are the whole, whatever is whose. */
static int run_layer(struct arm *arm, struct meter *meter)
{
	struct truth *truth = arm->context;
	const struct setting *setting = truth->setting;
	bool look = (arm->touched || meter->purpose == FOR_TRUTH) && arm->layer != &layer_null;
	/* Each on its own cache lines. */
	struct {
		uint64_t sum;
	} __attribute__((aligned(128))) *sums = aligned_alloc(128, sizeof(*sums) * (size_t)arm->readers);
	uint64_t sum = 0, expected;
	int err;

	if (!sums)
		return -ENOMEM;
	memset(sums, 0, sizeof(*sums) * (size_t)arm->readers);
	err = read__through(setting, arm, meter, look ? checksum__add : NULL, sums, sizeof(*sums));
	for (int i = 0; i < arm->readers; i++)
		sum += sums[i].sum;
	free(sums);
	if (err || !look || setting->work.once || !setting->work.size)
		return err;
	err = true_sum(truth, meter->sample.bytes, &expected);
	if (!err && sum != expected) {
		snprintf(arm->why, sizeof(arm->why), "it read other bytes than plain preads do");
		err = -EILSEQ;
	}
	return err;
}

static int run_dd(struct arm *arm, struct meter *meter)
{
	const struct truth *truth = arm->context;
	const struct setting *setting = truth->setting;
	uint64_t size = setting->work.size, bytes = meter->limit < size ? meter->limit : size;
	uint64_t blocks = (bytes + arm->block - 1) / arm->block;
	char in[4200], block[32], count[32], *said, *at;
	const char *argv[] = {"dd", in, "of=/dev/null", block, count, setting->options->direct ? "iflag=direct" : NULL,
			      NULL};
	size_t length;
	int err = setting->options->cold ? workfile__chill(&setting->work) : 0;

	snprintf(in, sizeof(in), "if=%s", setting->work.path);
	snprintf(block, sizeof(block), "bs=%zu", arm->block);
	snprintf(count, sizeof(count), "count=%llu", (unsigned long long)blocks);
	meter__start(meter);
	err = err ? err : peer__run(argv, &said, &length, NULL, arm->why, sizeof(arm->why));
	meter__stop(meter);
	if (err)
		return err;
	/* "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.0871 s, 12.3 GB/s": its own clock, without its start. */
	at = strstr(said, " copied, ");
	meter->sample.seconds = at ? atof(at + strlen(" copied, ")) : 0;
	at = at ? strrchr(said, '\n') : NULL;
	while (at && at > said && at[-1] != '\n')
		at--;
	meter->sample.bytes = at ? strtoull(at, NULL, 10) : 0;
	meter->sample.calls = blocks;
	free(said);
	if (meter->sample.bytes == bytes && meter->sample.seconds > 0)
		return 0;
	snprintf(arm->why, sizeof(arm->why), "what it printed is not understood");
	return -EIO;
}

static void refuse(struct arm *arm, const char *why)
{
	arm->status = ARM_UNAVAILABLE;
	snprintf(arm->why, sizeof(arm->why), "%s", why);
}

static struct arm *add_arm(struct setting *setting, const char *mode, size_t block, const struct layer *layer)
{
	struct arm *arm = arms__add(&setting->arms);
	const struct workfile *work = &setting->work;

	snprintf(arm->mode, sizeof(arm->mode), "%s", mode);
	arm->block = block;
	arm->layer = layer;
	arm->context = setting->own;
	arm->run = layer ? run_layer : run_dd;
	arm->touched = layer && layer != &layer_null && setting->options->touch;
	if (layer && setting->options->direct && !(layer->can & LAYER_DIRECT))
		refuse(arm, "not with O_DIRECT");
	else if (!work->size && (!layer || !(layer->can & LAYER_STREAMS)))
		refuse(arm, work->once ? "the file has no offsets" : "the kernel tells no size of the file");
	return arm;
}

/* "pread-N": N readers. Exits on an N that is none. */
static void add_readers(struct setting *setting, const char *mode)
{
	char *end;
	long n = strtol(mode + strlen("pread-"), &end, 10);

	if (*end || n < 1 || n > MOST_READERS)
		message__usage("--modes %s: pread-N, with N from 1 to %d", mode, MOST_READERS);
	for (int i = 0; i < setting->options->n_blocks; i++) {
		struct arm *arm = add_arm(setting, mode, setting->options->blocks[i], &layer_raw);

		arm->readers = (int)n;
		if (!setting->work.size)
			refuse(arm, "shares need a file with a size");
	}
}

static void add_all_readers(struct setting *setting)
{
	const char *at = setting->options->modes;
	char mode[24];

	snprintf(mode, sizeof(mode), "pread-%d", setting->n_cpus);
	if (!at)
		add_readers(setting, mode);
	while (at && names__next(&at, mode, sizeof(mode)))
		if (!strncmp(mode, "pread-", strlen("pread-")))
			add_readers(setting, mode);
}

static int prepare(struct setting *setting, char *why, size_t why_size)
{
	struct truth *truth = calloc(1, sizeof(*truth));
	int err = truth ? setting__open(setting, why, why_size) : -ENOMEM;

	setting->own = truth;
	if (err)
		return err;
	truth->setting = setting;
	if (setting->work.made)
		err = workfile__fill(&setting->work, setting->options->size);
	if (err)
		return err;
	for (int i = 0; layers[i]; i++) {
		if (!(layers[i]->can & LAYER_READS) || !names__have(setting->options->modes, layers[i]->name))
			continue;
		if (layers[i]->can & LAYER_WHOLE)
			add_arm(setting, layers[i]->name, (size_t)setting->work.size, layers[i])->fixed = true;
		else
			for (int j = 0; j < setting->options->n_blocks; j++)
				add_arm(setting, layers[i]->name, setting->options->blocks[j], layers[i]);
	}
	add_all_readers(setting);
	if (names__have(setting->options->modes, "dd"))
		for (int j = 0; j < setting->options->n_blocks; j++)
			add_arm(setting, "dd", setting->options->blocks[j], NULL);
	return 0;
}

static void print_rows(const struct setting *setting, struct table *table)
{
	char size[32];

	for (int i = 0; i < setting->arms.n; i++) {
		const struct arm *arm = &setting->arms.arms[i];
		struct stats ns = arm__ns_per_call(arm);
		const struct sample *last = arm->n ? &arm->samples[arm->n - 1] : NULL;

		table__cell(table, "%s", arm->mode);
		table__cell(table, "%s", arm->block ? units__print_size(size, sizeof(size), arm->block) : "-");
		table__number(table, "%.6f", arm__seconds(arm).median);
		table__number(table, "%.0f", last ? (double)last->calls : NAN);
		table__number(table, "%.1f", ns.median);
		if (isnan(ns.low))
			table__cell(table, "-");
		else
			table__cell(table, "%.1f to %.1f", ns.low, ns.high);
		table__number(table, "%.0f", arm__bytes_per_second(arm) / 1e6);
		table__cell(table, "%s", !last ? "-" : arm->touched ? "yes" : "no");
		table__cell(table, "%s", arm__remark(arm));
	}
}

static void print_seed(struct table *table)
{
	json_t *all = file_seed(), *seed = json_object_get(all, "read"), *row;
	double bytes = json_number_value(json_object_get(seed, "bytes"));
	size_t i;

	json_array_foreach(json_object_get(seed, "rows"), i, row)
	{
		double seconds = json_number_value(json_object_get(row, "seconds"));
		double calls = json_number_value(json_object_get(row, "calls"));
		char size[32];

		table__cell(table, "2013");
		table__cell(table, "%s", units__print_size(size, sizeof(size),
							   (uint64_t)json_integer_value(json_object_get(row, "block"))));
		table__number(table, "%.6f", seconds);
		table__number(table, "%.0f", calls);
		table__number(table, "%.1f", seconds * 1e9 / calls);
		table__cell(table, "-");
		table__number(table, "%.0f", bytes / seconds / 1e6);
		table__cell(table, "-");
		table__cell(table, "published: %s", json_string_value(json_object_get(row, "mode")));
	}
	json_decref(all);
}

/* What of the whole file's time is the page faults of its fresh buffer. */
static void print_faults(const struct setting *setting, FILE *stream)
{
	size_t size = (size_t)setting->work.size;
	const struct arm *fresh = arms__find(&setting->arms, "", "whole", size);
	const struct arm *reused = arms__find(&setting->arms, "", "whole-reused", size);
	const struct arm *huge = arms__find(&setting->arms, "", "whole-huge", size);
	double whole;

	if (!fresh || !reused || !fresh->n || !reused->n)
		return;
	whole = arm__seconds(fresh).median;
	fprintf(stream, "\nwhole: %.0f %% of its time is its buffer, fresh each time (%llu page faults); of a reused one it takes "
		"%.2f of the\ntime", 100 * (1 - arm__seconds(reused).median / whole),
		(unsigned long long)fresh->samples[fresh->n - 1].faults, arm__seconds(reused).median / whole);
	if (huge && huge->n)
		fprintf(stream, ", of huge pages %.2f (%llu page faults)", arm__seconds(huge).median / whole,
			(unsigned long long)huge->samples[huge->n - 1].faults);
	fputc('\n', stream);
}

static int print(const struct setting *setting, FILE *stream)
{
	static const struct column columns[] = {
		{"mode", 12, true}, {"block", 5, false}, {"seconds", 8, false}, {"calls", 7, false}, {"ns/call", 9, false},
		{"95 % interval", 13, false}, {"MB/s", 6, false}, {"touched", 7, false}, {"", 0, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	const struct workfile *work = &setting->work;
	struct fit fits[MOST_FITS];
	int n, err;

	fprintf(stream, "%s, %.1f MB%s, read in sequence, %s; medians of %d rounds, rows in turn%s\n\n",
		work->made ? "random bytes" : setting->options->file, (double)work->size / 1e6,
		work->sparse ? ", with holes (which are not on the disk)" : "",
		setting->options->direct ? "past the page cache"
		: setting->options->cold ? "not in the page cache" : "in the page cache",
		setting->options->rounds, setting->options->touch ? "" : "; nobody looks at the bytes");
	print_rows(setting, table);
	if (work->made && work->size == 1u << 30) {
		table__rule(table);
		print_seed(table);
	}
	err = table__print(table, stream, "");
	table__free(table);
	n = fits__of(&setting->arms, "", "raw", fits, MOST_FITS);
	if (n && !err)
		err = fits__print(fits, n, "raw", stream);
	print_faults(setting, stream);
	return err;
}

static void tell(const struct setting *setting, json_t *record)
{
	struct fit fits[MOST_FITS];
	int n = fits__of(&setting->arms, "", "raw", fits, MOST_FITS);

	json_object_set_new(record, "fit", fits__json(fits, n));
}

static void end(struct setting *setting)
{
	struct truth *truth = setting->own;

	if (truth)
		free(truth->sums);
	free(truth);
}

static void list(void)
{
	printf("  %-14s %s\n  %-14s %s\n", "pread-N", "raw by N readers at once, a share each", "dd", "dd(1), by its own clock");
}

const struct experiment read_experiment = {
	"read", "a file in sequence, by block size", 1u << 30, 5, 250000000,
	{512, 1024, 4096, 16384, 65536, 262144, 1048576}, prepare, print, tell, end, list};
