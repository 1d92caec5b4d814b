/* SPDX-License-Identifier: BSD-2-Clause */
/* One message to each of many clients on TCP connections of their own, over loopback: how long until the last
 * one has it? Clients and servers are sharded over processes, each within its limit of descriptors. */
#ifndef TOLL_BROADCAST_H
#define TOLL_BROADCAST_H

#include <stddef.h>
#include <stdint.h>

/* How the servers send it. */
enum strategy {
	STRATEGY_EACH,
	STRATEGY_EPOLL,
	STRATEGY_IO_URING,
	STRATEGY_THREADS,
	STRATEGY_TREE,
	STRATEGIES
};

extern const char *const strategy_names[STRATEGIES];
extern const char *const strategy_summaries[STRATEGIES];

struct broadcast_plan {
	uint64_t clients;     /* at least 1 */
	uint64_t stalled;     /* of them, spread evenly: they never read, and their connections are full from the start */
	size_t size;	      /* bytes a message, 1 to 16 MiB */
	int threads;	      /* of STRATEGY_THREADS, in each server process; 0: one */
	int servers;	      /* processes; 0: as many as descriptors need, at least one a CPU */
	int client_processes; /* likewise */
	const int *cpus;      /* where processes and threads are pinned, in turn; used by broadcast__open alone */
	int n_cpus;	      /* 0: nothing is pinned */
};

/* Times are from before the first send to a client's receipt of the whole message. */
struct broadcast_round {
	uint64_t clients, received;
	double min_ms, p50_ms, p99_ms, last_ms; /* of those that received it; NaN if none did */
	double sends_per_second; /* sent by the servers' first pass over their clients, until the last has ended it */
	double server_cpu_ms, client_cpu_ms; /* of all their processes, until the round was over */
	uint64_t evicted, dropped; /* clients so far: too slow; gone */
};

struct broadcast;

/* Starts the processes and connects the clients, which takes *setup_s seconds. The calling thread must outlive
 * what it opened: the processes end with it. Returns 0 or -errno with a reason in why: -EMFILE, -ENFILE and
 * -EADDRNOTAVAIL where descriptors or ports can't do for so many. */
int broadcast__open(struct broadcast **broadcast, const struct broadcast_plan *plan, double *setup_s, char *why,
		    size_t why_size);

/* One broadcast. Over when all clients that are not stalled have it, or are gone, or after 10 s: then 0 is
 * returned, with what was measured, and why is not empty. Returns 0, or -errno with a reason in why: -ENOTSUP,
 * the kernel refuses io_uring; -EILSEQ, a client received what was not sent; -ECHILD, the servers or the
 * clients have all died. */
int broadcast__round(struct broadcast *broadcast, enum strategy strategy, struct broadcast_round *round, char *why,
		     size_t why_size);

/* Ends the processes; connections are reset, so that no port stays in TIME_WAIT. Takes NULL. */
void broadcast__close(struct broadcast *broadcast);

#endif
