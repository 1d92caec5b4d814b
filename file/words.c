/* SPDX-License-Identifier: BSD-2-Clause */
/* file-rate words: the ten most frequent words of a text, by ours and by others' programs. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/output.h"
#include "common/record.h"
#include "common/table.h"
#include "file/peer.h"
#include "file/report.h"
#include "file/word-count.h"

#define PART (64u << 20) /* bytes of the part that other programs count, unless --all */
#define PIECE (1u << 20)
#define MOST_TOLD 4096 /* bytes of a word */

static const char whole[] = "", part[] = "part";

/* Words and how often they are, one a line: "COUNT WORD". */
struct peer {
	const char *name, *summary;
	const char *argv[5]; /* the file's path follows */
};

static const struct peer peers[] = {
	{"mawk", "mawk(1)", {"mawk", "{for (i = 1; i <= NF; i++) c[$i]++} END {for (w in c) print c[w], w}"}},
	{"sort", "tr | sort | uniq -c", {"sh", "-c", "tr -s ' \\t\\n\\v\\f\\r' '\\n' <\"$1\" | sort | uniq -c", "sh"}},
	{"python3", "Python's Counter",
	 {"python3", "-c",
	  "import sys, collections\n"
	  "c = collections.Counter()\n"
	  "for line in open(sys.argv[1], 'rb'): c.update(line.split())\n"
	  "for w, n in c.items(): sys.stdout.buffer.write(b'%d %s\\n' % (n, w))"}},
};
#define PEERS (sizeof(peers) / sizeof(*peers))

/* Kept in setting->own. */
struct contest {
	struct setting *setting;
	struct workfile part;	/* the first PART bytes; closed where the whole is not longer */
	struct words found[2];	/* in the whole and in the part; total 0: not yet known */
	struct words truth;	/* of a text that was made: as its maker counted them */
};

static bool equal(const struct words *a, const struct words *b)
{
	if (a->n_top != b->n_top || a->total != b->total || a->distinct != b->distinct)
		return false;
	for (int i = 0; i < a->n_top; i++)
		if (a->top[i].count != b->top[i].count || a->top[i].length != b->top[i].length ||
		    memcmp(a->top[i].text, b->top[i].text, a->top[i].length) != 0)
			return false;
	return true;
}

static const struct workfile *file_of(const struct contest *contest, const struct arm *arm)
{
	return arm->kind == part && contest->part.fd >= 0 ? &contest->part : &contest->setting->work;
}

static int run_ours(struct arm *arm, struct meter *meter)
{
	struct contest *contest = arm->context;
	const struct setting *setting = contest->setting;
	const struct word_options options = {.fold = setting->options->fold, .utf8 = setting->options->utf8};
	struct words *known = &contest->found[arm->kind == part], words;
	int err;

	meter__start(meter);
	err = words__count(&words, file_of(contest, arm)->fd, &options, setting->cpus, arm->readers);
	meter__stop(meter);
	if (err)
		return err;
	meter->sample.bytes = words.bytes;
	meter->sample.calls = words.chunk_reads;
	meter->sample.items = words.total;
	if (!known->storage && !known->total) {
		*known = words;
		if (arm->kind == whole && contest->truth.total && !options.fold && !options.utf8 &&
		    !equal(&words, &contest->truth))
			err = -EILSEQ;
		if (err)
			snprintf(arm->why, sizeof(arm->why), "it found other words than were written");
		return err;
	}
	if (!equal(&words, known)) {
		snprintf(arm->why, sizeof(arm->why), "it found other words than before");
		err = -EILSEQ;
	}
	words__free(&words);
	return err;
}

/* "COUNT WORD" lines. */
static void parse(struct words *words, const char *said, size_t length)
{
	const char *end = said + length;

	*words = (struct words){.total = 0};
	while (said < end) {
		const char *line_end = memchr(said, '\n', (size_t)(end - said)), *word;
		uint64_t count;

		line_end = line_end ? line_end : end;
		count = strtoull(said, (char **)&word, 10);
		if (word < line_end && *word == ' ' && word + 1 < line_end && count) {
			words->total += count;
			words->distinct++;
			words__offer(words, word + 1, (size_t)(line_end - word - 1), count);
		}
		said = line_end + 1;
	}
}

static int run_peer(struct arm *arm, struct meter *meter)
{
	const struct contest *contest = arm->context;
	const struct words *known = &contest->found[arm->kind == part];
	const struct peer *peer = peers;
	const char *argv[8];
	struct words words;
	double seconds = 0;
	size_t length;
	char *said;
	int n = 0, err;

	while (strcmp(peer->name, arm->mode) != 0)
		peer++;
	while (peer->argv[n]) {
		argv[n] = peer->argv[n];
		n++;
	}
	argv[n++] = file_of(contest, arm)->path;
	argv[n] = NULL;
	meter__start(meter);
	err = peer__run(argv, &said, &length, &seconds, arm->why, sizeof(arm->why));
	meter__stop(meter);
	meter->sample.seconds = seconds;
	meter->sample.bytes = file_of(contest, arm)->size;
	if (!err) {
		parse(&words, said, length);
		meter->sample.items = words.total;
		if (known->total && !equal(&words, known))
			snprintf(arm->note, sizeof(arm->note), "finds other words than ours");
	}
	free(said);
	return err;
}

static struct arm *add_arm(struct contest *contest, const char *kind, const char *mode)
{
	struct arm *arm = arms__add(&contest->setting->arms);

	snprintf(arm->mode, sizeof(arm->mode), "%s", mode);
	arm->kind = kind;
	arm->context = contest;
	arm->fixed = arm->touched = true;
	return arm;
}

static void add_ours(struct contest *contest, const char *kind, int threads)
{
	char mode[24];
	struct arm *arm;

	snprintf(mode, sizeof(mode), "words-%d", threads);
	if (!names__have(contest->setting->options->modes, mode))
		return;
	arm = add_arm(contest, kind, mode);
	arm->run = run_ours;
	arm->readers = threads;
	if (threads > 1 && contest->setting->work.once) {
		arm->status = ARM_UNAVAILABLE;
		snprintf(arm->why, sizeof(arm->why), "the file has no offsets");
	}
}

static void add_peers(struct contest *contest, const char *kind)
{
	const struct file_options *options = contest->setting->options;

	for (size_t i = 0; i < PEERS; i++) {
		struct arm *arm;

		if (!names__have(contest->setting->options->modes, peers[i].name))
			continue;
		arm = add_arm(contest, kind, peers[i].name);
		arm->run = run_peer;
		if (options->fold || options->utf8 || !contest->setting->work.size) {
			arm->status = ARM_UNAVAILABLE;
			snprintf(arm->why, sizeof(arm->why), "%s", options->fold || options->utf8
				 ? "not with --fold or --utf8" : "the file has no size");
		}
	}
}

/* Copies the beginning of the file. Returns 0 or -errno. */
static int make_part(struct contest *contest, char *why, size_t why_size)
{
	char *piece = malloc(PIECE);
	int err = piece ? workfile__make(&contest->part, contest->setting->options->dir, PART, why, why_size) : -ENOMEM;

	for (uint64_t at = 0; at < PART && !err; at += PIECE) {
		ssize_t n = layer__read(contest->setting->work.fd, piece, PIECE, at);

		err = n < 0 ? (int)n : output__write_all(contest->part.fd, piece, (size_t)n);
	}
	contest->part.size = PART;
	free(piece);
	return err;
}

static int prepare(struct setting *setting, char *why, size_t why_size)
{
	struct contest *contest = calloc(1, sizeof(*contest));
	const char *kind;
	int err;

	setting->own = contest;
	if (!contest)
		return -ENOMEM;
	contest->setting = setting;
	contest->part.fd = -1;
	err = setting__open_text(setting, &contest->truth, why, why_size);
	if (err)
		return err;
	kind = setting->options->all || setting->work.size <= PART ? whole : part;
	if (kind == part)
		err = make_part(contest, why, why_size);
	add_ours(contest, whole, 1);
	if (setting->n_cpus > 1)
		add_ours(contest, whole, setting->n_cpus);
	if (kind == part)
		add_ours(contest, part, 1);
	add_peers(contest, kind);
	return err;
}

static void print_rows(const struct setting *setting, struct table *table)
{
	json_t *all = file_seed(), *row;
	double bytes = json_number_value(json_object_get(json_object_get(all, "words"), "bytes"));
	size_t i;

	for (int k = 0; k < setting->arms.n; k++) {
		const struct arm *arm = &setting->arms.arms[k];

		table__cell(table, "%s", arm->mode);
		table__number(table, "%.3f", arm__seconds(arm).median);
		table__number(table, "%.0f", arm__bytes_per_second(arm) / 1e6);
		if (arm->n)
			table__cell(table, "%.1f", (double)arm->samples[arm->n - 1].bytes / 1e6);
		else
			table__cell(table, "-");
		table__cell(table, "%s", arm__remark(arm));
	}
	if (setting->work.made) {
		table__rule(table);
		json_array_foreach(json_object_get(json_object_get(all, "words"), "rows"), i, row)
		{
			double seconds = json_number_value(json_object_get(row, "seconds"));

			table__cell(table, "2013");
			table__number(table, "%.3f", seconds);
			table__number(table, "%.0f", bytes / seconds / 1e6);
			table__number(table, "%.1f", bytes / 1e6);
			table__cell(table, "published: %s, 16 cores", json_string_value(json_object_get(row, "mode")));
		}
	}
	json_decref(all);
}

/* The words found: of the whole or, where only that was measured, of the part. */
static const struct words *found_in(const struct setting *setting)
{
	const struct contest *contest = setting->own;

	return &contest->found[contest->found[0].total || !contest->found[1].total ? 0 : 1];
}

/* A word as a terminal takes it: what is not printable ASCII or a part of UTF-8 is shown as \x00. */
static void print_word(const struct word *word, FILE *stream)
{
	for (size_t i = 0; i < word->length && i < 64; i++) {
		uint8_t c = (uint8_t)word->text[i];

		if (c < 32 || c == 127)
			fprintf(stream, "\\x%02x", c);
		else
			fputc(c, stream);
	}
	fputs(word->length > 64 ? "...\n" : "\n", stream);
}

static int print(const struct setting *setting, FILE *stream)
{
	static const struct column columns[] = {
		{"mode", 12, true}, {"seconds", 8, false}, {"MB/s", 6, false}, {"MB", 8, false}, {"", 0, true},
	};
	struct table *table = table__new(columns, sizeof(columns) / sizeof(*columns));
	const struct words *found = found_in(setting);
	int err;

	fprintf(stream, "the ten most frequent words of %s, %.1f MB%s; medians of %d rounds, rows in turn\n\n",
		setting->work.made ? "a made text" : setting->options->file, (double)setting->work.size / 1e6,
		setting->work.sparse ? ", with holes (which are not on the disk)" : "", setting->options->rounds);
	print_rows(setting, table);
	err = table__print(table, stream, "");
	table__free(table);
	fprintf(stream, "\n%llu words, %llu different ones\n", (unsigned long long)found->total,
		(unsigned long long)found->distinct);
	for (int i = 0; i < found->n_top; i++) {
		fprintf(stream, "%10llu ", (unsigned long long)found->top[i].count);
		print_word(&found->top[i], stream);
	}
	return err;
}

/* A word as JSON has strings; bytes that are not UTF-8 as an array of numbers. */
static json_t *word_json(const struct word *word)
{
	size_t n = word->length < MOST_TOLD ? word->length : MOST_TOLD;
	json_t *text = json_stringn(word->text, n);

	if (text)
		return text;
	text = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(text, json_integer((uint8_t)word->text[i]));
	return text;
}

static void tell(const struct setting *setting, json_t *record)
{
	const struct words *found = found_in(setting);
	json_t *words = json_array();

	for (int i = 0; i < found->n_top; i++)
		json_array_append_new(words, json_pack("{s:o, s:I, s:I}", "word", word_json(&found->top[i]), "length",
						       (json_int_t)found->top[i].length, "count",
						       (json_int_t)found->top[i].count));
	json_object_update_new(record, json_pack("{s:I, s:I, s:o}", "total", (json_int_t)found->total, "distinct",
						 (json_int_t)found->distinct, "words", words));
}

static void end(struct setting *setting)
{
	struct contest *contest = setting->own;

	if (!contest)
		return;
	words__free(&contest->found[0]);
	words__free(&contest->found[1]);
	words__free(&contest->truth);
	workfile__close(&contest->part);
	free(contest);
}

static void list(void)
{
	printf("  %-14s %s\n", "words-N", "ours, with one thread and with one a core");
	for (size_t i = 0; i < PEERS; i++)
		printf("  %-14s %s\n", peers[i].name, peers[i].summary);
}

const struct experiment words_experiment = {"words", "the ten most frequent words of a text", 1100000000, 3, 1, {0},
					    prepare, print, tell, end, list};
