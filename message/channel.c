/* SPDX-License-Identifier: BSD-2-Clause */
#include "message/channel.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPINS 200		/* before the CPU is yielded */
#define LOOK_EVERY 1024		/* yields between two looks whether the other process lives */
#define MOST_MESSAGES 1024	/* different ones ... */
#define MOST_BYTES (256u << 10) /* ... of so many bytes in all: they stay in the cache of a core */

const struct channel_kind channel_kinds[] = {
	{"reference", "pointers to reference-counted messages through a lock-free queue, between threads", false, false, 0,
	 reference__open, reference__send, reference__receive, NULL, ring__close},
	{"reference-atomic", "the same, sender and receiver changing one count", false, false, 0, reference__open,
	 reference_atomic__send, reference_atomic__receive, NULL, ring__close},
	{"copy", "the bytes copied through the same queue", false, false, 0, copy__open, copy__send, copy__receive, NULL,
	 ring__close},
	{"list8", "copied as a list with a cell of 8 bytes a byte", false, false, 0, list8__open, list8__send, list8__receive,
	 NULL, ring__close},
	{"list16", "copied as a list with a cell of 16 bytes a byte", false, false, 0, list16__open, list16__send,
	 list16__receive, NULL, ring__close},
	{"shm", "copy, in memory that two processes share", true, false, 0, copy__open, copy__send, copy__receive, NULL,
	 ring__close},
	{"pipe", "a write(2) a message to a pipe", true, false, PIPE, stream__open, stream__send_each, stream__receive,
	 stream__divide, stream__close},
	{"pipe-batch", "collected, and written 64 KiB at a time", true, true, PIPE, stream__open, stream__send_batch,
	 stream__receive, stream__divide, stream__close},
	{"pipe-writev", "64 messages a writev(2)", true, true, PIPE, stream__open, stream__send_writev, stream__receive,
	 stream__divide, stream__close},
	{"unix", "a write(2) a message to a Unix socket", true, false, UNIX, stream__open, stream__send_each,
	 stream__receive, stream__divide, stream__close},
	{"unix-batch", "collected, and written 64 KiB at a time", true, true, UNIX, stream__open, stream__send_batch,
	 stream__receive, stream__divide, stream__close},
	{"unix-writev", "64 messages a writev(2)", true, true, UNIX, stream__open, stream__send_writev, stream__receive,
	 stream__divide, stream__close},
	{"tcp", "a write(2) a message to a TCP connection over loopback, TCP_NODELAY", true, false, TCP, stream__open,
	 stream__send_each, stream__receive, stream__divide, stream__close},
	{"tcp-batch", "collected, and written 64 KiB at a time", true, true, TCP, stream__open, stream__send_batch,
	 stream__receive, stream__divide, stream__close},
	{"tcp-writev", "64 messages a writev(2)", true, true, TCP, stream__open, stream__send_writev, stream__receive,
	 stream__divide, stream__close},
	{"tcp-sendmmsg", "64 messages a sendmmsg(2)", true, true, TCP, stream__open, stream__send_sendmmsg, stream__receive,
	 stream__divide, stream__close},
	{"tcp-io_uring", "64 linked sends a submission to io_uring", true, true, TCP, stream__open, stream__send_io_uring,
	 stream__receive, stream__divide, stream__close},
	{0},
};

const struct channel_kind *channel_kind__find(const char *name)
{
	for (const struct channel_kind *kind = channel_kinds; kind->name; kind++)
		if (!strcmp(kind->name, name))
			return kind;
	return NULL;
}

void *shared__new(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void shared__free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, size);
}

__attribute__((optimize("O3"))) uint64_t message__sum(const void *data, size_t n)
{
	const uint8_t *bytes = data;
	uint64_t sum = n, word;

	for (; n >= sizeof(word); n -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		sum += word;
	}
	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)bytes[i] << 8 * i;
	return sum;
}

int channel__open(struct channel *channel, const struct channel_kind *kind, size_t size)
{
	*channel = (struct channel){.kind = kind, .size = size, .messages = MOST_MESSAGES};
	channel->stride = (sizeof(struct frame) + size + 127) / 128 * 128;
	while (channel->messages > 64 && channel->messages * channel->stride > MOST_BYTES)
		channel->messages /= 2;
	while (channel->messages > 2 && channel->messages * channel->stride > 16 * (size_t)MOST_BYTES)
		channel->messages /= 2;
	channel->frames = shared__new(channel->messages * channel->stride);
	if (!channel->frames)
		return -ENOMEM;
	for (uint64_t i = 0; i < channel->messages; i++) {
		struct frame *frame = channel__frame(channel, i);

		for (size_t k = 0; k < size; k++)
			frame->bytes[k] = (uint8_t)(i * 131 + k * 7 + (k >> 8));
		frame->sum = message__sum(frame->bytes, size);
		atomic_store(&frame->given, 1);
	}
	return kind->open(channel);
}

void channel__close(struct channel *channel)
{
	if (channel->kind)
		channel->kind->close(channel);
	shared__free(channel->frames, channel->messages * channel->stride);
	*channel = (struct channel){.kind = NULL};
}

int channel__wait(const struct channel *channel, unsigned int turns)
{
	if (!channel->eager && turns < SPINS) {
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
		return 0;
	}
	/* A dead child is there until it is waited for: what tells is that its parent changed, or that it is a zombie. */
	if (channel->other && turns % LOOK_EVERY == 0) {
		siginfo_t info = {.si_pid = 0};

		if (!waitid(P_PID, (id_t)channel->other, &info, WEXITED | WNOHANG | WNOWAIT) ? info.si_pid != 0
											     : getppid() != channel->other)
			return -EPIPE;
	}
	sched_yield();
	return 0;
}
