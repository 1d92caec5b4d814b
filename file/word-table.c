/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/word-table.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "file/word-scan.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

enum { SLOTS_A_LINE = 2, FIRST_SLOTS = 256, ARENA_BLOCK = 1 << 20, HUGE_PAGE = 2 << 20 };

#define TAG_LONG 255
/* A tag in byte 15 of a key, as it is in memory. */
#define TAG(tag) htole64((uint64_t)(tag) << 56)

struct word_arena {
	struct word_arena *next;
	size_t used, size;
	unsigned char text[];
};

struct key {
	uint64_t low, high, hash;
};

static inline uint64_t load(const unsigned char *p)
{
	uint64_t bytes;

	memcpy(&bytes, p, sizeof(bytes));
	return bytes;
}

/* Each bit of the product's halves hangs on many of both factors; the constants are digits of pi. */
static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ 0x243f6a8885a308d3u) * (b ^ 0x13198a2e03707345u);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of more than 15 bytes; the last eight may overlap those before. */
static uint64_t hash_long(const unsigned char *text, size_t length)
{
	uint64_t hash = length;

	for (size_t i = 0; i + 8 < length; i += 8)
		hash = mix(hash ^ load(text + i), 0xa4093822299f31d0u);
	return mix(hash ^ load(text + length - 8), 0x082efa98ec4e6c89u);
}

static inline struct key key__short(const unsigned char *text, size_t length)
{
	/* From 15 - length on: length times ff, then zeros. */
	static const unsigned char keep[32] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	const unsigned char *mask = keep + WORD_SHORT - length;
	struct key key = {.low = load(text) & load(mask),
			  .high = (load(text + 8) & load(mask + 8)) | TAG(length)};

	key.hash = mix(key.low, key.high);
	return key;
}

static inline struct key key__long(const unsigned char *text, size_t length)
{
	struct key key = {.low = hash_long(text, length), .high = TAG(TAG_LONG) | htole64(length)};

	key.hash = key.low;
	return key;
}

static inline bool slot__is(const struct word_slot *slot, const struct key *key)
{
	return !((slot->low ^ key->low) | (slot->high ^ key->high));
}

static inline unsigned slot__tag(const struct word_slot *slot)
{
	return (unsigned)(le64toh(slot->high) >> 56);
}

static inline uint64_t slot__hash(const struct word_slot *slot)
{
	return slot__tag(slot) == TAG_LONG ? slot->low : mix(slot->low, slot->high);
}

static inline size_t slot__length(const struct word_slot *slot)
{
	unsigned tag = slot__tag(slot);

	return tag == TAG_LONG ? le64toh(slot->high) & 0xffffffffffffffu : tag;
}

static inline const unsigned char *slot__text(const struct word_slot *slot)
{
	return slot__tag(slot) == TAG_LONG ? slot->text : (const unsigned char *)slot;
}

/* Where a word is looked for first: the two slots of a cache line. */
static inline struct word_slot *slot__home(const struct word_table *table, uint64_t hash)
{
	return &table->slots[hash & (table->n_slots - SLOTS_A_LINE)];
}

void huge_pages__ask(void *memory, size_t size)
{
	size_t before = -(uintptr_t)memory & (HUGE_PAGE - 1);

	if (size >= before + HUGE_PAGE)
		madvise((char *)memory + before, (size - before) & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
}

/* Maps n empty slots. Huge pages where the system has them: a table is read all over. */
static int map(struct word_table *table, size_t n)
{
	size_t size = n * sizeof(struct word_slot), slack = size >= HUGE_PAGE ? HUGE_PAGE : 0;
	unsigned char *mapping;

	if (n > SIZE_MAX / 4 / sizeof(struct word_slot))
		return -ENOMEM;
	mapping = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping == MAP_FAILED)
		return -ENOMEM;
	table->mapping = mapping;
	table->mapped = size + slack;
	table->n_slots = n;
	if (slack) {
		mapping += -(uintptr_t)mapping & (HUGE_PAGE - 1);
		huge_pages__ask(mapping, size);
	}
	table->slots = (struct word_slot *)mapping;
	return 0;
}

int word_table__new(struct word_table *table)
{
	*table = (struct word_table){0};
	return map(table, FIRST_SLOTS);
}

static int grow(struct word_table *table)
{
	struct word_table old = *table;
	size_t mask = 2 * old.n_slots - 1;
	int err = map(table, 2 * old.n_slots);

	if (err)
		return err;
	for (const struct word_slot *slot = old.slots; slot < old.slots + old.n_slots; slot++) {
		size_t i;

		if (!slot->high)
			continue;
		for (i = slot__hash(slot) & (mask - 1); table->slots[i].high; i = (i + 1) & mask)
			;
		table->slots[i] = *slot;
	}
	munmap(old.mapping, old.mapped);
	return 0;
}

/* A copy that lasts as long as the table, or NULL. */
static const unsigned char *keep_text(struct word_table *table, const unsigned char *text, size_t length)
{
	struct word_arena *arena = table->arena;
	unsigned char *copy;

	if (!arena || arena->size - arena->used < length) {
		size_t size = length > ARENA_BLOCK / 8 ? length : ARENA_BLOCK;

		arena = malloc(sizeof(*arena) + size);
		if (!arena)
			return NULL;
		huge_pages__ask(arena, size);
		*arena = (struct word_arena){.size = size};
		/* A block of one word's own is full: the one before stays first. */
		if (table->arena && size == length) {
			arena->next = table->arena->next;
			table->arena->next = arena;
		} else {
			arena->next = table->arena;
			table->arena = arena;
		}
	}
	copy = memcpy(arena->text + arena->used, text, length);
	arena->used += length;
	return copy;
}

/* Adds count to a word's slot wherever it is; text is NULL for a short word. An unknown longer word is
 * copied if own, else borrowed. */
static int add(struct word_table *table, struct key key, const unsigned char *text, size_t length, bool own,
	       uint64_t count)
{
	size_t mask = table->n_slots - 1, i;
	struct word_slot *home = slot__home(table, key.hash), *slot;

	for (i = (size_t)(home - table->slots); slot = &table->slots[i], slot->high; i = (i + 1) & mask) {
		if (!slot__is(slot, &key) || (text && memcmp(slot->text, text, length)))
			continue;
		slot->count += count;
		/* The most frequent move home. All slots from there to here stay taken, so that both are
		 * still found. */
		if (slot == home || slot == home + 1)
			return 0;
		home += home[1].count < home[0].count;
		if (home->count < slot->count) {
			struct word_slot swapped = *home;

			*home = *slot;
			*slot = swapped;
		}
		return 0;
	}
	if (table->used >= table->n_slots / 4 * 3) {
		int err = grow(table);

		return err ? err : add(table, key, text, length, own, count);
	}
	if (text && own) {
		text = keep_text(table, text, length);
		if (!text)
			return -ENOMEM;
	}
	*slot = (struct word_slot){key.low, key.high, count, text};
	table->used++;
	return 0;
}

int word_table__add_one(struct word_table *table, const unsigned char *text, size_t length)
{
	table->total++;
	if (length <= WORD_SHORT)
		return add(table, key__short(text, length), NULL, 0, false, 1);
	return add(table, key__long(text, length), text, length, true, 1);
}

int word_table__add(struct word_table *table, const unsigned char *base, const uint32_t *starts,
		    const uint32_t *ends, size_t n)
{
	struct key keys[SCAN_WORDS], *end = keys;
	struct word_slot *slots = table->slots;
	size_t mask = table->n_slots - SLOTS_A_LINE;
	int err;

	/* All slots are asked for before the first is looked at: their cache misses overlap. */
	for (size_t i = 0; i < n; i++) {
		size_t length = ends[i] - starts[i];

		if (unlikely(length > WORD_SHORT)) {
			err = word_table__add_one(table, base + starts[i], length);
			if (err)
				return err;
			slots = table->slots;
			mask = table->n_slots - SLOTS_A_LINE;
			continue;
		}
		*end = key__short(base + starts[i], length);
		__builtin_prefetch(&slots[end->hash & mask]);
		end++;
	}
	table->total += (uint64_t)(end - keys);
	slots = table->slots;
	mask = table->n_slots - SLOTS_A_LINE;
	for (const struct key *key = keys; key < end; key++) {
		struct word_slot *slot = &slots[key->hash & mask];

		/* Which of the two it is decides no branch: that would be a guess. */
		slot += slot__is(&slot[1], key);
		if (likely(slot__is(slot, key))) {
			slot->count++;
			continue;
		}
		err = add(table, *key, NULL, 0, false, 1);
		if (err)
			return err;
		slots = table->slots; /* it may have grown */
		mask = table->n_slots - SLOTS_A_LINE;
	}
	return 0;
}

int word_table__merge(struct word_table *table, const struct word_table *from)
{
	enum { AHEAD = 16 };
	const struct word_slot *end = from->slots + from->n_slots;
	int err = 0;

	for (const struct word_slot *slot = from->slots; slot < end && !err; slot++) {
		struct key key = {slot->low, slot->high, slot__hash(slot)};

		if (end - slot > AHEAD)
			__builtin_prefetch(slot__home(table, slot__hash(slot + AHEAD)));
		if (slot->high)
			err = add(table, key, slot->text, slot__length(slot), false, slot->count);
	}
	table->total += from->total;
	return err;
}

void word_table__report(const struct word_table *table, struct words *words)
{
	words->total = table->total;
	words->distinct = table->used;
	words->n_top = 0;
	for (const struct word_slot *slot = table->slots; slot < table->slots + table->n_slots; slot++)
		if (slot->high)
			words__offer(words, (const char *)slot__text(slot), slot__length(slot), slot->count);
}

void word_table__free(struct word_table *table)
{
	while (table->arena) {
		struct word_arena *next = table->arena->next;

		free(table->arena);
		table->arena = next;
	}
	if (table->mapping)
		munmap(table->mapping, table->mapped);
	*table = (struct word_table){0};
}
