/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/word-count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/crew.h"
#include "file/word-scan.h"
#include "file/word-table.h"

enum {
	CHUNK = 256 << 10, /* stays in the L2 cache between being read and being counted */
	BEFORE = 3,	   /* bytes before a chunk that tell whether its first is of a space: one of UTF-8 */
	BEHIND = 512,	   /* bytes read behind a chunk at once, for its last word's end */
	PADDING = 3 * SCAN_BLOCK, /* behind all that was read: what is scanned or loaded beyond */
};

/* Part of the file, in memory. The block before `at` is there for its last bytes. */
struct window {
	unsigned char *bytes;
	size_t capacity;
	size_t at, fill; /* of bytes: the next chunk; the end of what was read */
	uint64_t offset; /* of the file: what is read next */
	bool ended;	 /* there is no more; white space follows fill */
};

struct worker {
	struct word_table table;
	struct window window;
	struct scan_state state;
	uint64_t bytes, reads;
} __attribute__((aligned(128)));

struct job {
	int fd;
	bool stream; /* without positions */
	const struct scan *scan;
	size_t chunk;
	atomic_uint_fast64_t next; /* chunk to be taken */
	atomic_int err;
	struct crew *crew;
	struct worker *workers;
};

static int window__resize(struct window *window, size_t capacity)
{
	unsigned char *bytes = aligned_alloc(SCAN_BLOCK, capacity / SCAN_BLOCK * SCAN_BLOCK + SCAN_BLOCK);

	if (!bytes)
		return -ENOMEM;
	huge_pages__ask(bytes, capacity);
	if (window->fill)
		memcpy(bytes, window->bytes, window->fill);
	free(window->bytes);
	window->bytes = bytes;
	window->capacity = capacity;
	return 0;
}

/* Reads on until `want` bytes are in the window, or the file ends. */
static int window__fill(const struct job *job, struct worker *worker, size_t want)
{
	struct window *window = &worker->window;
	int err = 0;

	if (want + PADDING > window->capacity)
		err = window__resize(window, 2 * (want + PADDING));
	if (err)
		return err;
	while (window->fill < want && !window->ended) {
		unsigned char *to = window->bytes + window->fill;
		ssize_t n = job->stream ? read(job->fd, to, want - window->fill)
					: pread(job->fd, to, want - window->fill, (off_t)window->offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		worker->reads++;
		if (!n) {
			window->ended = true;
			memset(to, ' ', PADDING);
		}
		window->fill += (size_t)n;
		window->offset += (size_t)n;
	}
	return 0;
}

/* Reads chunk number `index`, with the bytes before and behind. */
static int window__seek(const struct job *job, struct worker *worker, uint64_t index)
{
	struct window *window = &worker->window;
	size_t before = index ? BEFORE : 0, want = SCAN_BLOCK + job->chunk + BEHIND;
	int err = 0;

	/* A word longer than a chunk has made it large: once it is counted, that is given back. */
	window->fill = 0;
	if (!window->bytes || window->capacity > 4 * (want + PADDING))
		err = window__resize(window, 2 * (want + PADDING));
	if (err)
		return err;
	memset(window->bytes, ' ', SCAN_BLOCK);
	window->at = SCAN_BLOCK;
	window->fill = SCAN_BLOCK - before;
	window->offset = index * job->chunk - before;
	window->ended = false;
	return window__fill(job, worker, want);
}

/* Goes on behind a chunk of `size` bytes; what is left moves to the front if it is less than a chunk. */
static int window__advance(const struct job *job, struct worker *worker, size_t size)
{
	struct window *window = &worker->window;
	size_t left, want = job->chunk + BEHIND;

	window->at += size;
	left = window->fill - window->at;
	if (left >= want || window->ended)
		return 0;
	memmove(window->bytes, window->bytes + window->at - SCAN_BLOCK, SCAN_BLOCK + left);
	window->at = SCAN_BLOCK;
	window->fill = SCAN_BLOCK + left;
	return window__fill(job, worker, SCAN_BLOCK + want);
}

/* Counts the word that starts at `start` of the window and doesn't end before `scanned`. */
static int count_open_word(const struct job *job, struct worker *worker, size_t start, size_t scanned)
{
	struct window *window = &worker->window;
	struct scan_state *state = &worker->state;

	for (size_t more = BEHIND;; scanned += SCAN_BLOCK) {
		while (window->fill < scanned + SCAN_BLOCK + BEFORE && !window->ended) {
			int err = window__fill(job, worker, scanned + more);

			if (err)
				return err;
			more *= 2;
		}
		state->n_starts = 0;
		job->scan->cut(state, window->bytes + scanned, 0, 1);
		if (state->n_ends)
			break;
	}
	return word_table__add_one(&worker->table, window->bytes + start, scanned + state->ends[0] - start);
}

/* Counts the words that start in the next `size` bytes of the window. */
static int count_chunk(const struct job *job, struct worker *worker, size_t size)
{
	struct scan_state *state = &worker->state;
	unsigned char *base = worker->window.bytes + worker->window.at;
	size_t scanned = 0;

	job->scan->begin(state, base - SCAN_BLOCK);
	state->skip = !state->white; /* the chunk of its first byte counts it */
	state->n_starts = state->n_ends = 0;
	while (scanned < size) {
		size_t blocks = (size - scanned + SCAN_BLOCK - 1) / SCAN_BLOCK;
		int err;

		if (blocks > SCAN_BLOCKS)
			blocks = SCAN_BLOCKS;
		job->scan->cut(state, base, scanned, blocks);
		err = word_table__add(&worker->table, base, state->starts, state->ends, state->n_ends);
		if (err)
			return err;
		/* At most one word has started and not ended. */
		state->starts[0] = state->starts[state->n_ends];
		state->n_starts -= state->n_ends;
		state->n_ends = 0;
		scanned += blocks * SCAN_BLOCK;
	}
	worker->bytes += size;
	if (!state->n_starts)
		return 0;
	return count_open_word(job, worker, worker->window.at + state->starts[0], worker->window.at + scanned);
}

static int count(struct job *job, struct worker *worker)
{
	int err = word_table__new(&worker->table);
	bool first = true;

	while (!err && !atomic_load_explicit(&job->err, memory_order_relaxed)) {
		struct window *window = &worker->window;
		size_t size;

		if (!job->stream || first)
			err = window__seek(job, worker, job->stream ? 0 : atomic_fetch_add(&job->next, 1));
		first = false;
		if (err || window->fill <= window->at)
			break;
		size = window->fill - window->at;
		if (size > job->chunk)
			size = job->chunk;
		err = count_chunk(job, worker, size);
		if (!err && job->stream)
			err = window__advance(job, worker, size);
	}
	return err;
}

static void work(struct member *member, const atomic_bool *stop, void *argument)
{
	struct job *job = argument;
	struct worker *worker = &job->workers[member - crew__members(job->crew)];
	int err, none = 0;

	(void)stop; /* ends with the file */
	member->start_ns = clock_ns();
	err = count(job, worker);
	if (err)
		atomic_compare_exchange_strong(&job->err, &none, err);
	member->made = worker->table.total;
	member->end_ns = clock_ns();
}

/* All into the largest table, whose words move least, and from there into words. */
static int gather(struct words *words, struct worker *workers, int n)
{
	struct word_table *all = &workers[0].table;
	int err = 0;

	for (int i = 1; i < n; i++)
		if (workers[i].table.used > all->used)
			all = &workers[i].table;
	for (int i = 0; i < n && !err; i++) {
		if (&workers[i].table != all)
			err = word_table__merge(all, &workers[i].table);
		words->bytes += workers[i].bytes;
		words->chunk_reads += workers[i].reads;
	}
	if (err)
		return err;
	word_table__report(all, words);
	return words__keep(words);
}

int words__count(struct words *words, int fd, const struct word_options *options, const int *cpus, int n)
{
	uint64_t start = clock_ns();
	struct job job = {.fd = fd, .scan = scan__find(options->scan), .chunk = CHUNK};
	unsigned char byte;
	int err;

	*words = (struct words){0};
	if (!job.scan)
		return -ENOTSUP;
	if (options->chunk)
		job.chunk = (options->chunk + SCAN_BLOCK - 1) / SCAN_BLOCK * SCAN_BLOCK;
	if (job.chunk > 1 << 30) /* offsets in a chunk have 32 bits */
		return -EINVAL;
	job.stream = pread(fd, &byte, 1, 0) < 0 && errno == ESPIPE;
	if (job.stream)
		n = 1;
	job.workers = aligned_alloc(_Alignof(struct worker), (size_t)n * sizeof(*job.workers));
	if (!job.workers)
		return -ENOMEM;
	for (int i = 0; i < n; i++)
		job.workers[i] = (struct worker){.state = {.fold = options->fold, .utf8 = options->utf8}};
	err = crew__new(&job.crew, cpus, n);
	if (!err) {
		crew__start(job.crew, work, &job);
		crew__stop(job.crew);
		crew__free(job.crew);
		err = job.err;
	}
	if (!err)
		err = gather(words, job.workers, n);
	for (int i = 0; i < n; i++) {
		word_table__free(&job.workers[i].table);
		free(job.workers[i].window.bytes);
	}
	free(job.workers);
	if (err)
		*words = (struct words){0};
	words->elapsed_ns = clock_ns() - start;
	return err;
}

/* Which comes first in a list. */
static bool precedes(const struct word *a, const struct word *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order;

	if (a->count != b->count)
		return a->count > b->count;
	order = memcmp(a->text, b->text, shorter);
	return order ? order < 0 : a->length < b->length;
}

void words__offer(struct words *words, const char *text, size_t length, uint64_t count)
{
	const struct word word = {text, length, count};
	int i = words->n_top;

	if (i == WORDS_TOP && !precedes(&word, &words->top[--i]))
		return;
	for (; i && precedes(&word, &words->top[i - 1]); i--)
		words->top[i] = words->top[i - 1];
	words->top[i] = word;
	if (words->n_top < WORDS_TOP)
		words->n_top++;
}

int words__keep(struct words *words)
{
	size_t size = 1;
	char *to;

	for (int i = 0; i < words->n_top; i++)
		size += words->top[i].length;
	to = words->storage = malloc(size);
	if (!to) {
		words->n_top = 0;
		return -ENOMEM;
	}
	huge_pages__ask(to, size);
	for (int i = 0; i < words->n_top; i++) {
		words->top[i].text = memcpy(to, words->top[i].text, words->top[i].length);
		to += words->top[i].length;
	}
	return 0;
}

void words__free(struct words *words)
{
	free(words->storage);
	*words = (struct words){0};
}
