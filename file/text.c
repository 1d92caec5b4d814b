/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/output.h"
#include "file/random.h"

enum {
	CELL = 16,	   /* bytes of a vocabulary entry: up to 14 of text, zeros, its length last */
	LINE = 62,	   /* a line ends with the word that reaches this column */
	BATCH = 256,	   /* words drawn before they are written: their cache misses overlap */
	BUFFER = 1 << 20,
	SLOTS = 1 << 19,   /* to find words made twice */
};

/* A column of the alias method (Walker; Vose): its own rank below the threshold, else the alias. */
struct column {
	uint32_t threshold; /* of 2^32 */
	uint32_t alias;
};

struct text {
	uint64_t seed;
	char words[TEXT_WORDS][CELL]; /* by rank, the most frequent first */
	struct column columns[TEXT_WORDS];
	uint64_t counts[TEXT_WORDS];
	char buffer[BUFFER + BATCH * CELL];
};

/* A number below n. */
static inline unsigned draw_below(uint64_t *seed, unsigned n)
{
	return (unsigned)((random__next(seed) >> 32) * n >> 32);
}

/* Consonants and vowels in turn. Frequent words are short, so that the text's mean is that of English. */
static size_t make_word(uint64_t *seed, unsigned rank, char word[CELL])
{
	static const char consonants[] = "ttttnnnsssrrrhhhdddlllccmmffppgwybvkjxzq";
	static const char vowels[] = "eeeeeaaaaoooiiiiuuy";
	static const struct {
		unsigned ranks, least, spread;
	} lengths[] = {{4, 1, 3}, {30, 2, 2}, {150, 2, 4}, {1500, 3, 5}, {15000, 4, 6}, {TEXT_WORDS, 5, 8}};
	unsigned kind, length, turn = draw_below(seed, 3) == 0;
	int i = 0;

	while (rank >= lengths[i].ranks)
		i++;
	length = lengths[i].least + draw_below(seed, lengths[i].spread);
	memset(word, 0, CELL);
	for (unsigned at = 0; at < length; at++)
		word[at] = (at + turn) % 2 ? vowels[draw_below(seed, sizeof(vowels) - 1)]
					   : consonants[draw_below(seed, sizeof(consonants) - 1)];
	kind = draw_below(seed, 100);
	if (kind < 8)
		word[0] = (char)(word[0] - 'a' + 'A');
	if (rank >= 30 && kind >= 4 && kind < 18) /* some are capitals, too */
		word[length++] = ",,,....;:?!"[draw_below(seed, 11)];
	word[CELL - 1] = (char)length;
	return length;
}

static int make_words(struct text *text)
{
	uint32_t *slots = calloc(SLOTS, sizeof(*slots)); /* rank + 1 */

	if (!slots)
		return -ENOMEM;
	for (unsigned rank = 0; rank < TEXT_WORDS;) {
		char *word = text->words[rank];
		size_t length = make_word(&text->seed, rank, word);
		uint64_t hash = 0;

		for (size_t i = 0; i < length; i++)
			hash = (hash ^ (unsigned char)word[i]) * 0x9e3779b97f4a7c15u;
		for (hash >>= 45; slots[hash]; hash = (hash + 1) % SLOTS)
			if (!memcmp(text->words[slots[hash] - 1], word, CELL))
				break;
		if (slots[hash])
			continue; /* made before: another try */
		slots[hash] = ++rank;
	}
	free(slots);
	return 0;
}

/* The weight of rank r is 2^40 / (r + 1); a column holds the mean weight. Each column that has less is
 * filled from one that has more, which becomes its alias. */
static int make_columns(struct text *text)
{
	uint64_t *weights = calloc(TEXT_WORDS, sizeof(*weights)), total = 0;
	uint32_t *stack = calloc(TEXT_WORDS, sizeof(*stack)); /* small from the bottom, large from the top */
	size_t small = 0, large = TEXT_WORDS;
	int err = weights && stack ? 0 : -ENOMEM;

	for (unsigned i = 0; i < TEXT_WORDS && !err; i++)
		total += weights[i] = ((uint64_t)1 << 40) / (i + 1);
	/* All times TEXT_WORDS: a column then holds `total`, below 2^44; the first weight is below 2^58. */
	for (unsigned i = 0; i < TEXT_WORDS && !err; i++) {
		weights[i] *= TEXT_WORDS;
		text->columns[i] = (struct column){UINT32_MAX, i};
		if (weights[i] < total)
			stack[small++] = i;
		else
			stack[--large] = i;
	}
	while (!err && small && large < TEXT_WORDS) {
		uint32_t under = stack[--small], over = stack[large];

		text->columns[under].threshold = (uint32_t)(((unsigned __int128)weights[under] << 32) / total);
		text->columns[under].alias = over;
		weights[over] -= total - weights[under];
		if (weights[over] < total) {
			large++;
			stack[small++] = over;
		}
	}
	free(weights);
	free(stack);
	return err;
}

/* BATCH ranks; each is one multiplication's upper half, a column, and lower half, where in it. */
static void draw_ranks(struct text *text, uint32_t *ranks)
{
	uint32_t withins[BATCH];

	for (int i = 0; i < BATCH; i++) {
		unsigned __int128 product = (unsigned __int128)random__next(&text->seed) * TEXT_WORDS;

		ranks[i] = (uint32_t)(product >> 64);
		withins[i] = (uint32_t)((uint64_t)product >> 32);
		__builtin_prefetch(&text->columns[ranks[i]]);
	}
	for (int i = 0; i < BATCH; i++) {
		const struct column *column = &text->columns[ranks[i]];
		/* All ones or zeros: a branch could only be guessed. */
		uint32_t other = -(uint32_t)(withins[i] >= column->threshold);

		ranks[i] ^= (ranks[i] ^ column->alias) & other;
		__builtin_prefetch(text->words[ranks[i]]);
	}
}

static int truth__set(struct words *truth, const struct text *text, uint64_t size)
{
	*truth = (struct words){.bytes = size};
	for (unsigned i = 0; i < TEXT_WORDS; i++) {
		if (!text->counts[i])
			continue;
		truth->total += text->counts[i];
		truth->distinct++;
		words__offer(truth, text->words[i], (size_t)text->words[i][CELL - 1], text->counts[i]);
	}
	return words__keep(truth);
}

/* Fills the buffer with whole words, at most `left` bytes; *column is that of the line. Returns its size. */
static size_t write_words(struct text *text, uint64_t left, unsigned *column)
{
	unsigned at_column = *column;
	char *to = text->buffer;

	while (to < text->buffer + BUFFER) {
		uint32_t ranks[BATCH];
		uint64_t room = left - (uint64_t)(to - text->buffer);

		draw_ranks(text, ranks);
		for (int i = 0; i < BATCH; i++) {
			const char *word = text->words[ranks[i]];
			unsigned length = (unsigned char)word[CELL - 1];

			if (__builtin_expect(room <= length, 0)) {
				/* The last word doesn't fit. */
				memset(to, ' ', room);
				if (room)
					to[room - 1] = '\n';
				return (size_t)(to + room - text->buffer);
			}
			memcpy(to, word, CELL);
			text->counts[ranks[i]]++;
			at_column += length + 1;
			to[length] = at_column > LINE ? '\n' : ' ';
			at_column = at_column > LINE ? 0 : at_column;
			to += length + 1;
			room -= length + 1;
		}
	}
	*column = at_column;
	return (size_t)(to - text->buffer);
}

int text__write(int fd, uint64_t size, struct words *truth, int (*progress)(uint64_t done, void *argument),
		void *argument)
{
	struct text *text = calloc(1, sizeof(*text));
	unsigned column = 0;
	uint64_t done = 0;
	int err;

	if (truth)
		*truth = (struct words){0};
	if (!text)
		return -ENOMEM;
	text->seed = 1952; /* fixed */
	err = make_words(text);
	if (!err)
		err = make_columns(text);
	while (!err && done < size) {
		size_t n = write_words(text, size - done, &column);

		if (done + n == size)
			text->buffer[n - 1] = '\n';
		err = output__write_all(fd, text->buffer, n);
		done += n;
		if (!err && progress && progress(done, argument))
			err = -EINTR;
	}
	if (!err && truth)
		err = truth__set(truth, text, size);
	free(text);
	return err;
}
