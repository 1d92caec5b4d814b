/* SPDX-License-Identifier: BSD-2-Clause */
/* One way from one sender to one receiver. */
#ifndef TOLL_CHANNEL_H
#define TOLL_CHANNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A message, as its sender has it: what streams carry is its number and its bytes. Of messages that go by reference,
 * references are counted in two places, so that no line is written by both sides: its owner adds to one count what it
 * gives away, whoever drops one takes it from the other, and the message is needed while the sum is not 0 (Choi, Shull and
 * Torrellas, "Biased reference counting", 2018). Or, as it is commonly done, in one place, with atomic operations. */
struct frame {
	atomic_int_fast64_t given; /* and the one that its owner keeps */
	atomic_int_fast64_t dropped __attribute__((aligned(64))); /* less than 0 */
	uint64_t sum;						   /* of its bytes */
	uint8_t unused[40];
	uint64_t number; /* as it is sent */
	uint8_t bytes[];
};

/* What a receiver has found; it alone writes it. */
struct receipt {
	uint64_t received; /* in order, each once */
	uint64_t wrong;	   /* not the one that was due, or with other bytes */
	uint64_t at_ns;	   /* when the last one was there */
} __attribute__((aligned(128)));

struct channel {
	const struct channel_kind *kind;
	size_t size;	/* bytes a message */
	bool look;	/* the receiver adds up all bytes; else it looks at the number alone */
	bool eager;	/* sender and receiver share a CPU: who waits gives it up at once */
	pid_t other;	/* the other process, where there is one: who waits looks whether it lives */
	uint64_t next;	/* number of the next message to be sent */
	uint64_t due;	/* ... to be received */
	uint8_t *frames; /* what is sent: `messages` frames, in turn, each in `stride` bytes; in memory of both sides */
	size_t stride, messages; /* messages: a power of two */
	void *own;	/* the kind's */
};

struct channel_kind {
	const char *name, *summary;
	bool processes; /* between two; else between two threads */
	bool collects;	/* sends several with one call: no sense for ping-pong */
	int transport;	/* the kind's own */
	/* Makes it, before threads or processes are started. Returns 0 or -errno. */
	int (*open)(struct channel *channel);
	/* Sends n messages, and whatever was collected. Returns 0, -EPIPE or -ECONNRESET: the receiver is gone, or
	 * -errno. channel->next tells how many were sent. */
	int (*send)(struct channel *channel, uint64_t n);
	/* Receives n. Returns 0, -EPIPE: the sender is gone, or -errno; the receipt tells how many came. */
	int (*receive)(struct channel *channel, uint64_t n, struct receipt *receipt);
	/* This side is the sender's, or the receiver's, alone from here on: the other process has the other. */
	void (*divide)(struct channel *channel, bool sender);
	/* Takes a half-open one. */
	void (*close)(struct channel *channel);
};

/* Ended by a NULL name. */
extern const struct channel_kind channel_kinds[];
/* NULL: there is none. */
const struct channel_kind *channel_kind__find(const char *name);

/* Makes a channel of that kind, with messages of size bytes. Returns 0 or -errno; channel__close takes either. */
int channel__open(struct channel *channel, const struct channel_kind *kind, size_t size);
void channel__close(struct channel *channel);

/* For kinds. */

/* The i-th message. */
static inline struct frame *channel__frame(const struct channel *channel, uint64_t i)
{
	return (struct frame *)(channel->frames + (i & (channel->messages - 1)) * channel->stride);
}

/* The sum that frame.sum is of. */
uint64_t message__sum(const void *data, size_t n);

/* Counts the message that is due, of the number as it came. With channel->look its bytes are data. */
static inline void channel__take(struct channel *channel, uint64_t number, const void *data, struct receipt *receipt)
{
	bool right = number == channel->due;

	if (channel->look)
		right = right && message__sum(data, channel->size) == channel__frame(channel, number)->sum;
	receipt->received += right;
	receipt->wrong += !right;
	channel->due++;
}

/* A moment of one who has waited `turns` times: spins at first, then yields the CPU. Returns 0, or -EPIPE where the
 * other process is dead. */
int channel__wait(const struct channel *channel, unsigned int turns);
/* Memory of both processes, zeroed, and giving it back; NULL: there is none. */
void *shared__new(size_t size);
void shared__free(void *memory, size_t size);

/* The functions of the kinds: channel-memory.c, channel-stream.c. */
int reference__open(struct channel *channel);
int reference__send(struct channel *channel, uint64_t n);
int reference__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
int reference_atomic__send(struct channel *channel, uint64_t n);
int reference_atomic__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
int copy__open(struct channel *channel);
int copy__send(struct channel *channel, uint64_t n);
int copy__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
int list8__open(struct channel *channel);
int list8__send(struct channel *channel, uint64_t n);
int list8__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
int list16__open(struct channel *channel);
int list16__send(struct channel *channel, uint64_t n);
int list16__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
void ring__close(struct channel *channel);

enum transport { PIPE, UNIX, TCP };
int stream__open(struct channel *channel);
int stream__send_each(struct channel *channel, uint64_t n);
int stream__send_batch(struct channel *channel, uint64_t n);
int stream__send_writev(struct channel *channel, uint64_t n);
int stream__send_sendmmsg(struct channel *channel, uint64_t n);
int stream__send_io_uring(struct channel *channel, uint64_t n);
int stream__receive(struct channel *channel, uint64_t n, struct receipt *receipt);
void stream__divide(struct channel *channel, bool sender);
void stream__close(struct channel *channel);

#endif
