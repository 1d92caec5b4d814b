/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of many clients: each has its connection, on which it receives broadcast after broadcast. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "message/broadcast-internal.h"

/* One receive takes all that is there when it is not more: a message of the usual size then costs one call. */
#define BUFFER 65536

struct client {
	int fd;
	bool gone;     /* its server has hung up */
	size_t offset; /* of message `next`, what is here already */
	uint64_t next; /* sequence of the broadcast that is due */
};

struct clients {
	const struct place *place;
	struct ring ring; /* as the messages should be */
	struct client *clients;
	uint64_t live;	   /* not stalled, not gone */
	uint64_t sequence; /* of the broadcast that `have` is about */
	uint64_t have;	   /* of those who live */
	uint64_t told;	   /* sequence that was told to be complete */
	int epoll;
	uint8_t buffer[BUFFER];
};

/* The address to connect from: each has but so many ports. Half of them, as a search for a free one takes the
 * longer the fewer there are. */
static struct sockaddr_in source(const struct place *place, uint64_t i, bool stalled)
{
	uint64_t ports = place->ports > 1 ? (uint64_t)place->ports / 2 : 1;
	uint32_t address = 127u << 24 | (stalled ? 2u : 1u) << 16 | (uint32_t)place->index << 8;

	address |= (uint32_t)(i / ports) + 1;
	return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
}

/* Until the server listens; and so paced that its backlog never overflows: a connection would then wait for a
 * second until its next try. */
static void await_room(const struct place *place, int server)
{
	const struct timespec pause = {0, 100000};
	uint64_t window = place->backlog > 1 ? (uint64_t)place->backlog / 2 : 1;
	_Atomic uint64_t *begun = &place->shared->begun[server].n;
	struct told *told = &place->shared->servers[server];

	while (!atomic_load(&told->port) || atomic_load(begun) - atomic_load(&told->accepted) >= window)
		nanosleep(&pause, NULL);
	atomic_fetch_add(begun, 1);
}

static int connect_one(const struct place *place, uint64_t i, bool stalled)
{
	const struct broadcast_plan *plan = place->plan;
	int server = share__of(plan->clients, plan->servers, place->first + i), one = 1, small = SMALL_BUFFER;
	struct sockaddr_in from = source(place, i, stalled), to = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct linger reset = {1, 0};

	await_room(place, server);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((uint16_t)atomic_load(&place->shared->servers[server].port));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) ||
	    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one)) ||
	    (stalled && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small))) ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)) || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		place__fail(place, -errno, "client %llu can't connect: %s", (unsigned long long)(place->first + i),
			    strerror(errno));
	return fd;
}

static void connect_all(struct clients *clients)
{
	const struct place *place = clients->place;

	for (uint64_t i = 0; i < place->n; i++) {
		struct client *client = &clients->clients[i];
		bool stalled = client__stalled(place->plan, place->first + i);
		/* Edge-triggered: what was received is not looked at a second time. */
		struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.ptr = client};

		*client = (struct client){.fd = connect_one(place, i, stalled), .next = FIRST_BROADCAST};
		if (stalled)
			continue;
		clients->live++;
		if (epoll_ctl(clients->epoll, EPOLL_CTL_ADD, client->fd, &event))
			place__fail(place, -errno, "epoll refuses a client: %s", strerror(errno));
	}
}

static void complete(struct clients *clients, struct client *client)
{
	struct shared *shared = clients->place->shared;
	uint64_t sequence = atomic_load_explicit(&shared->sequence, memory_order_acquire);

	if (client->next == sequence) {
		uint64_t i = clients->place->first + (uint64_t)(client - clients->clients);

		atomic_store_explicit(&shared->received_ns[i], clock_ns(), memory_order_release);
		if (clients->sequence != sequence) {
			clients->sequence = sequence;
			clients->have = 0;
		}
		clients->have++;
	}
	client->next++;
	client->offset = 0;
}

/* n bytes that came are those that were due, or it is told. */
static void check(struct clients *clients, struct client *client, size_t n)
{
	size_t size = clients->ring.size;

	for (size_t at = 0; at < n;) {
		size_t part = n - at < size - client->offset ? n - at : size - client->offset;
		const uint8_t *message = ring__message(&clients->ring, client->next);

		if (memcmp(clients->buffer + at, message + client->offset, part))
			atomic_fetch_add(&clients->place->told->wrong, 1);
		at += part;
		client->offset += part;
		if (client->offset == size)
			complete(clients, client);
	}
}

static void leave(struct clients *clients, struct client *client)
{
	client->gone = true;
	epoll_ctl(clients->epoll, EPOLL_CTL_DEL, client->fd, NULL);
	clients->live--;
	if (client->next > clients->sequence && clients->have)
		clients->have--;
}

/* All there is. A receive that is short has left no bytes behind; but it may have left the end of the stream, of
 * which there is no second event. */
static void receive(struct clients *clients, struct client *client, uint32_t events)
{
	bool ended = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
	ssize_t n;

	do {
		n = recv(client->fd, clients->buffer, BUFFER, MSG_DONTWAIT);
		if (n > 0)
			check(clients, client, (size_t)n);
	} while (n == BUFFER || (n > 0 && ended) || (n < 0 && errno == EINTR));
	if (!n || (n < 0 && errno != EAGAIN))
		leave(clients, client);
}

/* Has everybody the latest? */
static void look(struct clients *clients)
{
	const struct place *place = clients->place;
	uint64_t told = clients->live ? clients->sequence : UINT64_MAX;

	if (clients->have < clients->live || told == clients->told)
		return;
	clients->told = told;
	shared__tell(place->shared, &place->told->at, told);
}

void clients__run(const struct place *place)
{
	static struct clients clients;
	static struct epoll_event events[EVENTS];

	clients.place = place;
	clients.epoll = epoll_create1(EPOLL_CLOEXEC);
	clients.clients = calloc(place->n, sizeof(*clients.clients));
	if (clients.epoll < 0 || !clients.clients || ring__open(&clients.ring, place->plan->size))
		place__fail(place, -ENOMEM, "out of memory");
	connect_all(&clients);
	clients.have = clients.live;
	clients.sequence = FIRST_BROADCAST - 1;
	look(&clients);
	for (;;) {
		int n = epoll_wait(clients.epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++)
			receive(&clients, events[i].data.ptr, events[i].events);
		look(&clients);
	}
}
