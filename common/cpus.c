/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"

int cpus__find(struct cpus *cpus)
{
	hwloc_topology_t topology;
	hwloc_bitmap_t bound;
	hwloc_obj_t core, pu;
	int n, allowed, err = -ENOMEM;

	*cpus = (struct cpus){0};
	if (hwloc_topology_init(&topology))
		return -ENOMEM;
	bound = hwloc_bitmap_alloc();
	if (!bound || hwloc_topology_load(topology) ||
	    hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD))
		goto out;
	n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	if (n < 1)
		goto out;
	cpus->ids = calloc((size_t)n, sizeof(*cpus->ids));
	if (!cpus->ids)
		goto out;
	/* Turn t takes the t-th allowed hardware thread of every core. */
	for (int turn = 0; turn < n; turn++) {
		size_t before = cpus->n;

		for (core = NULL; (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core));) {
			allowed = 0;
			for (pu = NULL; (pu = hwloc_get_next_obj_inside_cpuset_by_type(
						 topology, core->cpuset, HWLOC_OBJ_PU, pu));) {
				if (!hwloc_bitmap_isset(bound, pu->os_index) || allowed++ != turn)
					continue;
				cpus->ids[cpus->n++] = (int)pu->os_index;
				break;
			}
		}
		if (!turn)
			cpus->cores = cpus->n;
		if (cpus->n == before)
			break;
	}
	/* A virtual machine or container may show processing units without cores. */
	if (!cpus->n) {
		for (pu = NULL; (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu));)
			if (hwloc_bitmap_isset(bound, pu->os_index))
				cpus->ids[cpus->n++] = (int)pu->os_index;
		cpus->cores = cpus->n;
	}
	err = cpus->n ? 0 : -ENODEV;
out:
	hwloc_bitmap_free(bound);
	hwloc_topology_destroy(topology);
	return err;
}

static bool contains(const int *ids, size_t n, long id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* A decimal number of at most 6 digits at *text, which moves behind it; -1 if there is none. */
static long number(const char **text)
{
	long value = 0;
	int digits = 0;

	while (isdigit((unsigned char)**text) && digits++ < 6)
		value = value * 10 + *(*text)++ - '0';
	return digits && !isdigit((unsigned char)**text) ? value : -1;
}

int cpus__choose(const struct cpus *all, const char *text, bool smt, int *chosen, bool *repeated,
		 char *why, size_t why_size)
{
	size_t n = smt ? all->n : all->cores;
	const char *at = text;
	long first, last;
	int count = 0;

	*repeated = false;
	if (!text || !strpbrk(text, ",-")) {
		if (text) {
			first = number(&at);
			if (first < 1 || *at) {
				snprintf(why, why_size, "'%s' is neither a number of cores nor a list "
					 "such as 0-2,5", text);
				return -EINVAL;
			}
			n = (size_t)first;
		}
		if (n > all->n) {
			snprintf(why, why_size, "%zu asked for, but this process may run on %zu",
				 n, all->n);
			return -EINVAL;
		}
		memcpy(chosen, all->ids, n * sizeof(*chosen));
		return (int)n;
	}
	do {
		first = last = number(&at);
		if (*at == '-') {
			at++;
			last = number(&at);
		}
		if (first < 0 || last < first || (*at && *at != ',')) {
			snprintf(why, why_size, "'%s' is not a list of CPUs such as 0-2,5", text);
			return -EINVAL;
		}
		for (long id = first; id <= last; id++) {
			if (!contains(all->ids, all->n, id)) {
				snprintf(why, why_size, "CPU %ld is not among those this process may "
					 "run on", id);
				return -EINVAL;
			}
			if (contains(chosen, (size_t)count, id))
				*repeated = true;
			else
				chosen[count++] = (int)id;
		}
		if (*at == ',')
			at++;
	} while (*at);
	return count;
}

void cpus__free(struct cpus *cpus)
{
	free(cpus->ids);
	*cpus = (struct cpus){0};
}

int cpus__pin(int cpu)
{
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = -errno;
	CPU_FREE(set);
	if (!err && sched_getcpu() != cpu)
		err = -EXDEV;
	return err;
}

int cpus__must_choose(const char *text, bool smt, int **chosen)
{
	struct cpus all;
	bool repeated;
	char why[256];
	int n, err = cpus__find(&all);

	*chosen = NULL;
	if (!err && !(*chosen = calloc(all.n, sizeof(**chosen))))
		err = -ENOMEM;
	if (err) {
		message__error("can't tell which CPUs there are: %s", strerror(-err));
		exit(EXIT_FAILED);
	}
	n = cpus__choose(&all, text, smt, *chosen, &repeated, why, sizeof(why));
	if (n < 0)
		message__usage("--cores: %s", why);
	if (repeated)
		message__notice("--cores: a CPU is named twice; it is used once");
	cpus__free(&all);
	return n;
}
