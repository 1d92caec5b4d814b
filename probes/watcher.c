/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/watcher.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "probes/refusal.h"
#include "probes/tally.h"
#include "probes/tracefs.h"
#include "watch_raw_tp.skel.h"
#include "watch_tp_btf.skel.h"

const struct watcher_kind watcher_kinds[] = {
	{"bpf:tp_btf", "typed raw tracepoints (needs BTF)", false, watch_tp_btf__elf_bytes},
	{"bpf:raw_tp", "raw tracepoints (needs no BTF; tracefs for children and time off the CPU)", true,
	 watch_raw_tp__elf_bytes},
	{0},
};

enum { END, COUNT, ENTER, EXEC, EXIT, FORK, SWITCH, PROGRAMS };
static const char *const names[PROGRAMS] = {"watch_end",  "watch_count", "watch_enter", "watch_exec",
					    "watch_exit", "watch_fork",	 "watch_switch"};

struct watcher {
	const struct watcher_kind *kind;
	struct bpf_object *object;
	struct bpf_program *programs[PROGRAMS];
	struct bpf_link *links[PROGRAMS];
	struct cpu_tally *tallies[2];  /* 64-bit and 32-bit calls; one per possible CPU */
	struct cpu_tally *extremes[2]; /* their extremes until the last reading */
	struct extras *extras;
	int tasks, parts, who; /* maps */
	bool used[PROGRAMS];
	int cpus;
	int marked;
};

static int map_fd(const struct watcher *watcher, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(watcher->object, name));
}

static void *map_of(const struct watcher *watcher, const char *name, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd(watcher, name), 0);

	return at == MAP_FAILED ? NULL : at;
}

/* What the programs need to know beyond what the caller said. */
static void complete(struct watcher *watcher, struct watch_options *options)
{
	int child, from, to;
	struct stat at;

	options->namespace = stat("/proc/self/ns/pid", &at) ? 0 : (unsigned int)at.st_ino;
	for (int i = 0; i < PROGRAMS; i++)
		watcher->used[i] = (i == COUNT) == (options->timing == TIMING_NONE);
	watcher->used[END] = watcher->used[FORK] = true;
	watcher->used[EXEC] = watcher->kind->by_number; /* others have no such program */
	if (!watcher->kind->by_number)
		return;
	child = tracefs__field("sched/sched_process_fork", "child_pid");
	from = tracefs__field("sched/sched_switch", "prev_pid");
	to = tracefs__field("sched/sched_switch", "next_pid");
	options->fork_child = (unsigned int)child;
	options->switch_from = (unsigned int)from;
	options->switch_to = (unsigned int)to;
	watcher->used[FORK] = child > 0;
	watcher->used[SWITCH] &= from > 0 && to > 0;
}

static int set_sizes(const struct watcher *watcher, bool parts)
{
	static const char *const per_cpu[] = {"counts", "counts32"}, *const per_task[] = {"parts", "who"};
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(watcher->object, per_cpu[i]),
					       (unsigned int)watcher->cpus);
	for (int i = 0; parts && !err && i < 2; i++)
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(watcher->object, per_task[i]),
					       MOST_PARTS);
	return err;
}

static int load(struct watcher *watcher, const struct watch_options *given)
{
	static const char *const maps[2] = {"counts", "counts32"};
	size_t size = (size_t)watcher->cpus * sizeof(struct cpu_tally);
	struct watch_options options = *given;
	struct bpf_object *object = watcher->object;
	int err;

	complete(watcher, &options);
	for (int i = 0; i < PROGRAMS; i++) {
		watcher->programs[i] = bpf_object__find_program_by_name(object, names[i]);
		if (watcher->programs[i])
			bpf_program__set_autoload(watcher->programs[i], watcher->used[i]);
	}
	err = set_sizes(watcher, options.parts);
	if (!err)
		err = bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.watch"),
						 &options, sizeof(options));
	if (!err)
		err = bpf_object__load(object);
	if (err)
		return err;
	watcher->tasks = map_fd(watcher, "tasks");
	watcher->parts = map_fd(watcher, "parts");
	watcher->who = map_fd(watcher, "who");
	watcher->extras = map_of(watcher, "extras", sizeof(*watcher->extras));
	for (int i = 0; i < 2; i++) {
		watcher->tallies[i] = map_of(watcher, maps[i], size);
		watcher->extremes[i] = calloc(1, size);
		if (!watcher->tallies[i] || !watcher->extremes[i])
			return -ENOMEM;
	}
	return watcher->extras ? 0 : -ENOMEM;
}

static int open_kind(struct watcher **out, const struct watcher_kind *kind, const struct watch_options *options)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	const void *image;
	size_t size;
	int err;

	if (!watcher)
		return -ENOMEM;
	watcher->kind = kind;
	watcher->cpus = libbpf_num_possible_cpus();
	image = kind->object(&size);
	watcher->object = bpf_object__open_mem(image, size, NULL);
	err = watcher->object ? load(watcher, options) : -errno;
	if (!err) { /* a program that loads may still not attach: find out now */
		err = watcher__start(watcher);
		watcher__stop(watcher);
	}
	if (err)
		watcher__close(watcher);
	else
		*out = watcher;
	return err;
}

int watcher__open(struct watcher **out, const char *name, const struct watch_options *options, char *why,
		  size_t why_size)
{
	struct refusal refusal = {.err = -ENOENT};
	bool any = !name || !strcmp(name, "bpf"), tried = false;

	*out = NULL;
	why[0] = '\0';
	libbpf_set_print(NULL);
	for (const struct watcher_kind *kind = watcher_kinds; kind->name; kind++) {
		int err;

		if (!any && strcmp(name, kind->name) != 0)
			continue;
		err = open_kind(out, kind, options);
		if (!err)
			return 0;
		if (!tried) {
			refusal.err = err;
			refusal__gather(&refusal);
			refusal__explain(&refusal, why, why_size);
		}
		tried = true;
	}
	if (!tried)
		return -ENOENT;
	return refusal.err == -ENOENT ? -ENODEV : refusal.err;
}

const struct watcher_kind *watcher__kind(const struct watcher *watcher)
{
	return watcher->kind;
}

bool watcher__follows(const struct watcher *watcher)
{
	return watcher->used[FORK];
}

bool watcher__sees_switches(const struct watcher *watcher)
{
	return watcher->used[SWITCH];
}

int watcher__cpus(const struct watcher *watcher)
{
	return watcher->cpus;
}

int watcher__start(struct watcher *watcher)
{
	for (int i = 0; i < PROGRAMS; i++) {
		if (!watcher->used[i])
			continue;
		watcher->links[i] = bpf_program__attach(watcher->programs[i]);
		if (!watcher->links[i]) {
			int err = -errno;

			watcher__stop(watcher);
			return err;
		}
	}
	return 0;
}

int watcher__mark(struct watcher *watcher, int pidfd, pid_t pid, bool held)
{
	struct timespec now;
	struct task_state state = {.watched = 1, .nr = held ? HELD : UNKNOWN_CALL};
	const void *key = watcher->kind->by_number ? (const void *)&pid : &pidfd;

	clock_gettime(CLOCK_MONOTONIC, &now);
	state.random = (unsigned long long)now.tv_nsec << 32;
	if (!bpf_map_update_elem(watcher->tasks, key, &state, BPF_NOEXIST)) {
		watcher->marked++;
		return 0;
	}
	return errno == EEXIST ? 0 : errno == ENOENT ? -ESRCH : -errno;
}

void watcher__stop(struct watcher *watcher)
{
	for (int i = 0; i < PROGRAMS; i++) {
		bpf_link__destroy(watcher->links[i]);
		watcher->links[i] = NULL;
	}
}

int64_t watcher__alive(const struct watcher *watcher)
{
	return watcher->marked + watcher->extras->started - watcher->extras->ended;
}

void watcher__read(struct watcher *watcher, watcher_tallies tallies)
{
	memset(tallies, 0, sizeof(watcher_tallies));
	for (int i = 0; i < 2 * watcher->cpus; i++)
		for (int nr = 0; nr < NR_SLOTS; nr++) {
			struct tally *tally = &watcher->tallies[i % 2][i / 2].by_nr[nr], part = *tally;

			/* The program writes on: take the extremes and begin anew in one step. */
			if (part.min_ns)
				part.min_ns = __atomic_exchange_n(&tally->min_ns, 0, __ATOMIC_RELAXED);
			if (part.max_ns)
				part.max_ns = __atomic_exchange_n(&tally->max_ns, 0, __ATOMIC_RELAXED);
			tally__add(&tallies[i % 2][nr], &part);
			part = (struct tally){.min_ns = part.min_ns, .max_ns = part.max_ns};
			tally__add(&watcher->extremes[i % 2][i / 2].by_nr[nr], &part);
		}
}

void watcher__read_cpu(const struct watcher *watcher, int cpu, watcher_tallies tallies)
{
	for (int compat = 0; compat < 2; compat++) {
		memcpy(tallies[compat], watcher->tallies[compat][cpu].by_nr, sizeof(tallies[compat]));
		for (int nr = 0; nr < NR_SLOTS; nr++)
			tally__add(&tallies[compat][nr], &watcher->extremes[compat][cpu].by_nr[nr]);
	}
}

static int by_key(const void *a, const void *b)
{
	const struct part_key *x = &((const struct part *)a)->key, *y = &((const struct part *)b)->key;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return (x->nr > y->nr) - (x->nr < y->nr);
}

int watcher__parts(const struct watcher *watcher, struct part **out, size_t *n)
{
	struct part_key key, *before = NULL;
	size_t room = 0;

	*out = NULL;
	*n = 0;
	while (!bpf_map_get_next_key(watcher->parts, before, &key)) {
		if (*n == room) {
			struct part *more = realloc(*out, (room = room ? 2 * room : 1024) * sizeof(*more));

			if (!more) {
				free(*out);
				return -ENOMEM;
			}
			*out = more;
		}
		if (!bpf_map_lookup_elem(watcher->parts, &key, &(*out)[*n].tally))
			(*out)[(*n)++].key = key;
		before = &key;
	}
	if (*n)
		qsort(*out, *n, sizeof(**out), by_key);
	return 0;
}

int watcher__who(const struct watcher *watcher, unsigned int serial, struct who *who)
{
	char path[64];
	FILE *file;

	if (bpf_map_lookup_elem(watcher->who, &serial, who))
		return -errno;
	if (who->name[0])
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", who->tgid, who->tid);
	file = fopen(path, "re");
	if (!file || !fgets(who->name, sizeof(who->name), file))
		snprintf(who->name, sizeof(who->name), "?");
	who->name[strcspn(who->name, "\n")] = '\0';
	if (file)
		fclose(file);
	return 0;
}

const struct extras *watcher__extras(const struct watcher *watcher)
{
	return watcher->extras;
}

uint64_t watcher__misses(const struct watcher *watcher)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROGRAMS; i++) {
		struct bpf_prog_info info = {0};
		unsigned int size = sizeof(info);

		if (watcher->used[i] &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(watcher->programs[i]), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

void watcher__close(struct watcher *watcher)
{
	size_t size;

	if (!watcher)
		return;
	size = (size_t)watcher->cpus * sizeof(struct cpu_tally);
	watcher__stop(watcher);
	for (int i = 0; i < 2; i++) {
		if (watcher->tallies[i])
			munmap(watcher->tallies[i], size);
		free(watcher->extremes[i]);
	}
	if (watcher->extras)
		munmap(watcher->extras, sizeof(*watcher->extras));
	bpf_object__close(watcher->object);
	free(watcher);
}
