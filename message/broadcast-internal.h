/* SPDX-License-Identifier: BSD-2-Clause */
/* What the coordinator (the caller's process), the servers and the client processes of a broadcast share. */
#ifndef TOLL_BROADCAST_INTERNAL_H
#define TOLL_BROADCAST_INTERNAL_H

#include <liburing.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "common/crew.h"
#include "message/broadcast.h"

#define QUEUE 8		      /* broadcasts a client may be behind: those that are kept */
#define SPARE_DESCRIPTORS 64  /* a process, beside its connections */
#define MOST_PROCESSES 64     /* of servers, and of clients */
#define MOST_ADDRESSES 250    /* 127.x.x.1 and on: that a client process connects from */
#define MOST_SIZE (16u << 20) /* bytes a message */
#define FIRST_BROADCAST 2     /* its sequence: 1 is what a process tells when it is ready */
#define EVENTS 512	      /* of epoll, at once */
#define SMALL_BUFFER 2048     /* bytes: of a stalled client, and to it; the kernel makes it its least */

/* What a process tells; it alone writes it, on lines of its own. */
struct told {
	_Atomic uint64_t at;	     /* server: the last command it has done. Clients: the last broadcast that all
				      * who live have; UINT64_MAX: nobody lives */
	_Atomic uint64_t pass_ended; /* server: clock_ns() */
	_Atomic uint64_t sent;	     /* server: clients that the pass has sent all to */
	_Atomic uint64_t evicted, dropped; /* server: clients so far */
	_Atomic uint64_t accepted;   /* server */
	_Atomic uint64_t wrong;	     /* clients: pieces that were not what was due */
	_Atomic int port;	     /* server: where it listens */
	_Atomic int err;	     /* 0, or why it could not go on, as -errno; with a reason in why */
	char why[160];
} __attribute__((aligned(128)));

struct shared {
	_Atomic uint32_t news __attribute__((aligned(128))); /* futex: grows whenever something was told */
	_Atomic uint32_t turn __attribute__((aligned(128))); /* futex, STRATEGY_EACH: servers up to it may send */
	_Atomic uint64_t sequence __attribute__((aligned(128))); /* of the latest broadcast */
	struct told servers[MOST_PROCESSES], clients[MOST_PROCESSES];
	struct {
		_Atomic uint64_t n; /* connections that were begun to this server */
	} __attribute__((aligned(128))) begun[MOST_PROCESSES];
	_Atomic uint64_t received_ns[] __attribute__((aligned(128))); /* by client; 0: not yet */
};

/* What a process of the broadcast is given. */
struct place {
	const struct broadcast_plan *plan; /* its servers and client_processes are set */
	struct shared *shared;
	struct told *told;
	int index;	   /* among the servers, or the client processes */
	uint64_t first, n; /* its clients */
	int line;	   /* server: from the coordinator */
	int backlog;	   /* of a listening socket */
	int ports;	   /* ephemeral ones */
};

/* The coordinator's commands to a server. */
enum command_kind {
	COMMAND_PREPARE, /* all that comes before the clock starts */
	COMMAND_SEND,	 /* STRATEGY_TREE: the message follows */
	COMMAND_REST	 /* the round is over */
};
struct command {
	uint64_t number; /* from 2 (1 is being ready): told as `at` when it is done */
	uint64_t sequence;
	enum command_kind kind;
	enum strategy strategy;
};

/* Run in their own processes. */
void server__run(const struct place *place) __attribute__((noreturn));
void clients__run(const struct place *place) __attribute__((noreturn));

/* Client i of the plan: which share is it in, and is it stalled? */
static inline uint64_t share__first(uint64_t clients, int shares, int share)
{
	return clients * (uint64_t)share / (uint64_t)shares;
}
static inline int share__of(uint64_t clients, int shares, uint64_t i)
{
	return (int)(((i + 1) * (uint64_t)shares - 1) / clients);
}
static inline bool client__stalled(const struct broadcast_plan *plan, uint64_t i)
{
	return (i + 1) * plan->stalled / plan->clients != i * plan->stalled / plan->clients;
}

/* Waits until *word is no longer `seen`, or for ns; it may also return early. */
static inline void futex__wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec limit = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}
static inline void futex__wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static inline void shared__tell(struct shared *shared, _Atomic uint64_t *what, uint64_t value)
{
	atomic_store(what, value);
	atomic_fetch_add(&shared->news, 1);
	futex__wake(&shared->news);
}

/* Tells why this process can't go on, and ends it. */
void place__fail(const struct place *place, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));

/* The servers, or the client processes, as the coordinator has them. */
struct group {
	const char *whose;
	struct told *told;
	int n, started;
	pid_t pids[MOST_PROCESSES]; /* 0: not started, or dead */
	double cpu_ms[MOST_PROCESSES];
};

/* Starts process place.index, at its place, which runs `run`; they are started in turn. Returns 0 or -errno. */
int group__start(struct group *group, struct place place, void (*run)(const struct place *));
/* Forgets those that have ended. Returns how many live. */
int group__reap(struct group *group);
/* Have all that live told `number`, or one after it? */
bool group__at(const struct group *group, uint64_t number);
/* 0, or what one of them has failed with, with a reason in why. */
int group__failure(const struct group *group, char *why, size_t why_size);
/* Processor time since `begin` was last given. */
double group__cpu_ms(struct group *group, bool begin);
void group__kill(const struct group *group);
/* Waits until the killed are gone, and with them their connections. */
void group__bury(const struct group *group);

/* The latest QUEUE messages. A message is its sequence number, 8 bytes little-endian, and bytes that depend on
 * it; a short one is cut off. */
struct ring {
	size_t size;
	uint8_t *bytes;
	uint64_t holds[QUEUE]; /* which is in the slot; 0: none */
};

int ring__open(struct ring *ring, size_t size);
/* Where the message is or will be. */
static inline uint8_t *ring__slot(struct ring *ring, uint64_t sequence)
{
	return ring->bytes + sequence % QUEUE * ring->size;
}
/* The message, made when it is first asked for. */
const uint8_t *ring__message(struct ring *ring, uint64_t sequence);

/* A server's client. Its queue is the ring, from `next` on. */
struct reader {
	int fd;	       /* -1: evicted or dropped */
	bool blocked;  /* its connection is full: the server's epoll will tell when it no longer is */
	bool listed;   /* it is known to that epoll */
	size_t offset; /* of message `next`, what is sent already */
	uint64_t next; /* sequence of the broadcast to be sent next */
};

struct server {
	const struct place *place;
	struct told *told;
	struct ring ring;
	struct reader *readers;
	uint64_t n;
	uint64_t newest; /* sequence of the latest broadcast to be sent */
	int epoll;
	int armed;		/* STRATEGY_EPOLL: another epoll, of this round; or -1 */
	struct io_uring *uring; /* from the first STRATEGY_IO_URING on */
	struct crew *crew;	/* from the first STRATEGY_THREADS on */
};

/* Is there something to be sent to it, and may there be room? */
static inline bool reader__due(const struct server *server, const struct reader *reader)
{
	return reader->fd >= 0 && !reader->blocked && reader->next <= server->newest;
}
/* Sends what is due, as far as there is room. */
void reader__push(struct server *server, struct reader *reader);
/* Takes the result of a send of the rest of message `next`: bytes, or -errno. Is something still due? */
bool reader__sent(struct server *server, struct reader *reader, ssize_t result);

/* Before the clock starts. Returns 0, or -errno with a reason in why. */
int strategy__prepare(struct server *server, enum strategy strategy, char *why, size_t why_size);
/* Sends the newest message to every reader that has room. Returns 0 or -errno. */
int strategy__pass(struct server *server, enum strategy strategy);
/* Once the round is over. */
void strategy__rest(struct server *server);

/* Sets the plan's processes, backlog and ports, and checks that the machine can do it. Returns 0, or -errno with
 * a reason in why. */
int broadcast__fit(struct broadcast_plan *plan, int *backlog, int *ports, char *why, size_t why_size);

#endif
