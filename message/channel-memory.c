/* SPDX-License-Identifier: BSD-2-Clause */
/* Queues in memory: rings with one writer and one reader, each with an index that it alone writes and a copy of the
 * other's, looked up anew only when the ring seems full or empty (Lamport, "Specifying concurrent program modules",
 * 1983; Giacomoni, Moseley and Vachharajani, "FastForward for efficient pipeline parallelism", 2008). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "message/channel.h"

#define MOST_SLOTS 1024u
#define MOST_ROOM (512u << 10) /* bytes of all slots, but at least two */

struct ring {
	/* The sender's: slots filled so far; the last it knows of those emptied. */
	atomic_uint_fast64_t filled __attribute__((aligned(128)));
	uint64_t emptied_then;
	/* The receiver's, told late: when it has nothing to do, and after every `late` slots. */
	atomic_uint_fast64_t emptied __attribute__((aligned(128)));
	uint64_t filled_then;
	/* Of both, never written once it is made. */
	size_t slots __attribute__((aligned(128))); /* a power of two, as late is */
	size_t late;
	size_t stride, size;			     /* of a slot; of it all */
	uint8_t bytes[] __attribute__((aligned(128)));
};

struct reference {
	struct frame *frame;
	uint64_t number;
};
struct copied {
	uint64_t number;
	uint8_t bytes[];
};
/* A byte's cell, in words of 32 and of 64 bits: next is the next one's place + 1, or its address. */
struct cell8 {
	uint32_t next, value;
};
struct cell16 {
	struct cell16 *next;
	uint64_t value;
};
struct list {
	uint64_t number;
	uint64_t unused;
	uint8_t cells[];
};

static int ring__open(struct channel *channel, size_t stride)
{
	size_t slots = MOST_SLOTS, size;
	struct ring *ring;

	while (slots > 2 && slots * stride > MOST_ROOM)
		slots /= 2;
	size = sizeof(*ring) + slots * stride;
	channel->own = ring = shared__new(size);
	if (!ring)
		return -ENOMEM;
	ring->slots = slots;
	ring->late = slots < 8 ? 1 : slots / 8;
	ring->stride = stride;
	ring->size = size;
	return 0;
}

void ring__close(struct channel *channel)
{
	struct ring *ring = channel->own;

	if (ring)
		shared__free(ring, ring->size);
}

static inline void publish(atomic_uint_fast64_t *index, uint64_t i)
{
	atomic_store_explicit(index, i, memory_order_release);
}

/* Slot number i - 1 is done with. */
static inline void empty(struct ring *ring, uint64_t i)
{
	if (!(i & (ring->late - 1)))
		publish(&ring->emptied, i);
}

/* Waits until slot number i may be filled. */
static inline int wait_for_room(const struct channel *channel, struct ring *ring, uint64_t i, void **slot)
{
	for (unsigned int turns = 0; i - ring->emptied_then == ring->slots; turns++) {
		ring->emptied_then = atomic_load_explicit(&ring->emptied, memory_order_acquire);
		if (i - ring->emptied_then == ring->slots && channel__wait(channel, turns))
			return -EPIPE;
	}
	*slot = ring->bytes + (i & (ring->slots - 1)) * ring->stride;
	return 0;
}

/* Waits until slot number i is filled. */
static inline int wait_for_message(const struct channel *channel, struct ring *ring, uint64_t i, void **slot)
{
	for (unsigned int turns = 0; i == ring->filled_then; turns++) {
		if (!turns)
			publish(&ring->emptied, i);
		ring->filled_then = atomic_load_explicit(&ring->filled, memory_order_acquire);
		if (i == ring->filled_then && channel__wait(channel, turns))
			return -EPIPE;
	}
	*slot = ring->bytes + (i & (ring->slots - 1)) * ring->stride;
	return 0;
}

int reference__open(struct channel *channel)
{
	return ring__open(channel, sizeof(struct reference));
}

static inline int send_references(struct channel *channel, uint64_t n, bool atomic)
{
	struct ring *ring = channel->own;
	uint64_t i = channel->next, end = i + n;
	void *slot;
	int err = 0;

	for (; i < end && !(err = wait_for_room(channel, ring, i, &slot)); i++) {
		struct frame *frame = channel__frame(channel, i);

		if (atomic)
			atomic_fetch_add_explicit(&frame->given, 1, memory_order_relaxed);
		else
			atomic_store_explicit(&frame->given, atomic_load_explicit(&frame->given, memory_order_relaxed) + 1,
					      memory_order_relaxed);
		*(struct reference *)slot = (struct reference){frame, i};
		publish(&ring->filled, i + 1);
	}
	channel->next = i;
	return err;
}

static inline int receive_references(struct channel *channel, uint64_t n, struct receipt *receipt, bool atomic)
{
	struct ring *ring = channel->own;
	uint64_t i = channel->due, end = i + n;
	void *slot;
	int err = 0;

	for (; i < end && !(err = wait_for_message(channel, ring, i, &slot)); i++) {
		struct reference reference = *(struct reference *)slot;

		empty(ring, i + 1);
		channel__take(channel, reference.number, reference.frame->bytes, receipt);
		atomic_fetch_sub_explicit(atomic ? &reference.frame->given : &reference.frame->dropped, 1, memory_order_acq_rel);
	}
	receipt->at_ns = clock_ns();
	return err;
}

int reference__send(struct channel *channel, uint64_t n)
{
	return send_references(channel, n, false);
}

int reference__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	return receive_references(channel, n, receipt, false);
}

int reference_atomic__send(struct channel *channel, uint64_t n)
{
	return send_references(channel, n, true);
}

int reference_atomic__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	return receive_references(channel, n, receipt, true);
}

int copy__open(struct channel *channel)
{
	return ring__open(channel, (sizeof(struct copied) + channel->size + 63) / 64 * 64);
}

int copy__send(struct channel *channel, uint64_t n)
{
	struct ring *ring = channel->own;
	uint64_t i = channel->next, end = i + n;
	void *slot;
	int err = 0;

	for (; i < end && !(err = wait_for_room(channel, ring, i, &slot)); i++) {
		struct copied *copied = slot;

		copied->number = i;
		memcpy(copied->bytes, channel__frame(channel, i)->bytes, channel->size);
		publish(&ring->filled, i + 1);
	}
	channel->next = i;
	return err;
}

int copy__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	struct ring *ring = channel->own;
	uint64_t i = channel->due, end = i + n;
	void *slot;
	int err = 0;

	for (; i < end && !(err = wait_for_message(channel, ring, i, &slot)); i++) {
		const struct copied *copied = slot;

		channel__take(channel, copied->number, copied->bytes, receipt);
		empty(ring, i + 1);
	}
	receipt->at_ns = clock_ns();
	return err;
}

int list8__open(struct channel *channel)
{
	return ring__open(channel, (sizeof(struct list) + channel->size * sizeof(struct cell8) + 63) / 64 * 64);
}

int list16__open(struct channel *channel)
{
	return ring__open(channel, (sizeof(struct list) + channel->size * sizeof(struct cell16) + 63) / 64 * 64);
}

/* A message as its sender has it, a list of cells, made once a sending: what is copied is walked. */
static void make_list(const struct channel *channel, void *cells, const uint8_t *bytes)
{
	size_t n = channel->size;

	if (channel->kind->send == list8__send)
		for (size_t i = 0; i < n; i++)
			((struct cell8 *)cells)[i] = (struct cell8){i + 1 < n ? (uint32_t)i + 2 : 0, bytes[i]};
	else
		for (size_t i = 0; i < n; i++)
			((struct cell16 *)cells)[i] =
				(struct cell16){i + 1 < n ? (struct cell16 *)cells + i + 1 : NULL, bytes[i]};
}

static void copy_list8(void *to, const void *from, size_t n)
{
	struct cell8 *out = to;
	const struct cell8 *cells = from;
	uint32_t at = n != 0;

	while (at) {
		const struct cell8 *cell = &cells[at - 1];

		*out = (struct cell8){cell->next ? (uint32_t)(out - (struct cell8 *)to) + 2 : 0, cell->value};
		out++;
		at = cell->next;
	}
}

static void copy_list16(void *to, const void *from, size_t n)
{
	struct cell16 *out = to;

	for (const struct cell16 *cell = n ? from : NULL; cell; cell = cell->next) {
		*out = (struct cell16){cell->next ? out + 1 : NULL, cell->value};
		out++;
	}
}

static int send_lists(struct channel *channel, uint64_t n, size_t cell, void (*copy)(void *, const void *, size_t))
{
	struct ring *ring = channel->own;
	uint64_t i = channel->next, end = i + n;
	size_t kept = channel->messages < 16 ? channel->messages : 16;
	uint8_t *lists = malloc(kept * channel->size * cell + 1);
	int err = lists ? 0 : -ENOMEM;
	void *slot;

	for (size_t k = 0; k < kept && !err; k++)
		make_list(channel, lists + k * channel->size * cell, channel__frame(channel, k)->bytes);
	for (; i < end && !err && !(err = wait_for_room(channel, ring, i, &slot)); i++) {
		struct list *list = slot;

		list->number = i;
		copy(list->cells, lists + i % kept * channel->size * cell, channel->size);
		publish(&ring->filled, i + 1);
	}
	channel->next = i;
	free(lists);
	return err;
}

int list8__send(struct channel *channel, uint64_t n)
{
	return send_lists(channel, n, sizeof(struct cell8), copy_list8);
}

int list16__send(struct channel *channel, uint64_t n)
{
	return send_lists(channel, n, sizeof(struct cell16), copy_list16);
}

/* With look, back to bytes. */
static int receive_lists(struct channel *channel, uint64_t n, struct receipt *receipt, bool wide)
{
	struct ring *ring = channel->own;
	uint64_t i = channel->due, end = i + n;
	size_t kept = channel->messages < 16 ? channel->messages : 16;
	uint8_t *bytes = malloc(channel->size + 1);
	int err = bytes ? 0 : -ENOMEM;
	bool look = channel->look;
	void *slot;

	channel->look = false; /* the sender has fewer different lists than messages: the sums are looked up here */
	for (; i < end && !err && !(err = wait_for_message(channel, ring, i, &slot)); i++) {
		const struct list *list = slot;
		uint64_t number = list->number;

		if (look) {
			size_t out = 0;

			for (const struct cell16 *cell = wide && channel->size ? (const void *)list->cells : NULL; cell; cell = cell->next)
				bytes[out++] = (uint8_t)cell->value;
			for (uint32_t at = !wide && channel->size; at; at = ((const struct cell8 *)list->cells)[at - 1].next)
				bytes[out++] = (uint8_t)((const struct cell8 *)list->cells)[at - 1].value;
			if (message__sum(bytes, out) != channel__frame(channel, number % kept)->sum)
				number = UINT64_MAX;
		}
		channel__take(channel, number, NULL, receipt);
		empty(ring, i + 1);
	}
	channel->look = look;
	receipt->at_ns = clock_ns();
	free(bytes);
	return err;
}

int list8__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	return receive_lists(channel, n, receipt, false);
}

int list16__receive(struct channel *channel, uint64_t n, struct receipt *receipt)
{
	return receive_lists(channel, n, receipt, true);
}
