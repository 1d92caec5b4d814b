/* SPDX-License-Identifier: BSD-2-Clause */
/* What a broadcast needs of the machine, looked at before anything is started. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "message/broadcast-internal.h"

#define MOST_BACKLOG 1024 /* tcp_max_syn_backlog of small machines */

/* Up to two numbers from a file of /proc. Returns how many. */
static int read_numbers(const char *path, unsigned long long *first, unsigned long long *second)
{
	FILE *file = fopen(path, "re");
	int n = file ? fscanf(file, "%llu %llu", first, second) : 0;

	if (file)
		fclose(file);
	return n;
}

/* Shares the clients out over processes: *processes, if that is not 0, else as many as descriptors need. */
static int share_out(uint64_t clients, int at_least, int *processes, const char *whose, char *why, size_t why_size)
{
	struct rlimit limit;
	uint64_t room, need;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -errno;
	room = limit.rlim_max > SPARE_DESCRIPTORS ? limit.rlim_max - SPARE_DESCRIPTORS : 0;
	need = room ? (clients + room - 1) / room : UINT64_MAX;
	if (!*processes)
		*processes = need > MOST_PROCESSES ? MOST_PROCESSES : need > (uint64_t)at_least ? (int)need : at_least;
	if ((uint64_t)*processes > clients)
		*processes = (int)clients;
	if ((uint64_t)*processes >= need)
		return 0;
	snprintf(why, why_size, "%llu clients in %d %s process%s need %llu descriptors each; "
		 "the limit is %llu (ulimit -Hn)",
		 (unsigned long long)clients, *processes, whose, *processes == 1 ? "" : "es",
		 (unsigned long long)((clients + (uint64_t)*processes - 1) / (uint64_t)*processes + SPARE_DESCRIPTORS),
		 (unsigned long long)limit.rlim_max);
	return -EMFILE;
}

static int check_files(const struct broadcast_plan *plan, char *why, size_t why_size)
{
	uint64_t need = 2 * plan->clients + 16 * (uint64_t)(plan->servers + plan->client_processes);
	unsigned long long used, spare, most;

	if (read_numbers("/proc/sys/fs/file-nr", &used, &spare) < 1 ||
	    read_numbers("/proc/sys/fs/file-max", &most, &spare) < 1 || used + need <= most)
		return 0;
	snprintf(why, why_size, "%llu clients need %llu open files; fs.file-max leaves %llu",
		 (unsigned long long)plan->clients, (unsigned long long)need, most > used ? most - used : 0);
	return -ENFILE;
}

static int check_ports(const struct broadcast_plan *plan, int *ports, char *why, size_t why_size)
{
	uint64_t share = (plan->clients + (uint64_t)plan->client_processes - 1) / (uint64_t)plan->client_processes;
	unsigned long long low = 32768, high = 60999;
	uint64_t usable;

	read_numbers("/proc/sys/net/ipv4/ip_local_port_range", &low, &high);
	*ports = high >= low ? (int)(high - low + 1) : 1;
	usable = (uint64_t)MOST_ADDRESSES * (uint64_t)(*ports > 1 ? *ports / 2 : 1);
	if (share <= usable)
		return 0;
	snprintf(why, why_size, "%llu clients a process need more ports than %d addresses with half of "
		 "net.ipv4.ip_local_port_range have: %llu", (unsigned long long)share, MOST_ADDRESSES,
		 (unsigned long long)usable);
	return -EADDRNOTAVAIL;
}

int broadcast__fit(struct broadcast_plan *plan, int *backlog, int *ports, char *why, size_t why_size)
{
	unsigned long long somaxconn = 128, unused;
	int at_least = plan->n_cpus > 0 ? plan->n_cpus : 1, err = 0;

	if (!plan->clients || plan->clients > UINT32_MAX || plan->stalled > plan->clients) {
		snprintf(why, why_size, "clients are at least one, and no more of them are stalled");
		return -EINVAL;
	}
	if (!plan->size || plan->size > MOST_SIZE) {
		snprintf(why, why_size, "a broadcast has 1 byte to %u MiB", MOST_SIZE >> 20);
		return -EINVAL;
	}
	if (plan->servers < 0 || plan->servers > MOST_PROCESSES || plan->client_processes < 0 ||
	    plan->client_processes > MOST_PROCESSES || plan->threads < 0) {
		snprintf(why, why_size, "a broadcast has up to %d processes of servers, and of clients", MOST_PROCESSES);
		return -EINVAL;
	}
	if (at_least > MOST_PROCESSES)
		at_least = MOST_PROCESSES;
	if (!plan->threads)
		plan->threads = 1;
	read_numbers("/proc/sys/net/core/somaxconn", &somaxconn, &unused);
	*backlog = somaxconn < MOST_BACKLOG ? (int)somaxconn : MOST_BACKLOG;
	err = share_out(plan->clients, at_least, &plan->servers, "server", why, why_size);
	if (!err)
		err = share_out(plan->clients, at_least, &plan->client_processes, "client", why, why_size);
	if (!err)
		err = check_files(plan, why, why_size);
	return err ? err : check_ports(plan, ports, why, why_size);
}
