/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/watcher.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "probes/refusal.h"
#include "watch_tp_btf.skel.h"

enum { FORK, END, COUNT, ENTER, EXIT, SWITCH, PROGRAMS };
static const char *const names[PROGRAMS] = {"watch_fork", "watch_end",	"watch_count",
					    "watch_enter", "watch_exit", "watch_switch"};

struct watcher {
	struct bpf_object *object;
	struct bpf_program *programs[PROGRAMS];
	struct bpf_link *links[PROGRAMS];
	struct cpu_tally *tallies[2]; /* 64-bit and 32-bit calls; one per possible CPU */
	struct never_returned *ended;
	int tasks; /* the map */
	bool used[PROGRAMS];
	bool exits_only; /* nothing is known of calls that have not returned */
	int cpus;
	int marked;
};

static void *map_of(const struct watcher *watcher, const char *name, size_t size, int protection)
{
	struct bpf_map *map = bpf_object__find_map_by_name(watcher->object, name);
	void *at = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

static int load(struct watcher *watcher, const struct watch_options *options)
{
	static const char *const maps[2] = {"counts", "counts32"};
	size_t size = (size_t)watcher->cpus * sizeof(struct cpu_tally);
	struct bpf_object *object = watcher->object;
	int err;

	watcher->exits_only = options->timing == TIMING_NONE;
	for (int i = 0; i < PROGRAMS; i++) {
		watcher->used[i] = i == COUNT	? watcher->exits_only
				   : i <= END	? true
				   : i < SWITCH ? !watcher->exits_only
						: !watcher->exits_only && !options->wall;
		watcher->programs[i] = bpf_object__find_program_by_name(object, names[i]);
		bpf_program__set_autoload(watcher->programs[i], watcher->used[i]);
	}
	for (int i = 0; i < 2; i++) {
		err = bpf_map__set_max_entries(bpf_object__find_map_by_name(object, maps[i]),
					       (unsigned int)watcher->cpus);
		if (err)
			return err;
	}
	err = bpf_map__set_initial_value(bpf_object__find_map_by_name(object, ".rodata.watch"), options,
					 sizeof(*options));
	if (!err)
		err = bpf_object__load(object);
	if (err)
		return err;
	watcher->tasks = bpf_map__fd(bpf_object__find_map_by_name(object, "tasks"));
	watcher->ended = map_of(watcher, "never_returned", sizeof(*watcher->ended), PROT_READ);
	for (int i = 0; i < 2; i++)
		watcher->tallies[i] = map_of(watcher, maps[i], size, PROT_READ);
	return watcher->ended && watcher->tallies[0] && watcher->tallies[1] ? 0 : -ENOMEM;
}

int watcher__open(struct watcher **out, const struct watch_options *options, char *why, size_t why_size)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));
	struct refusal refusal = {0};
	const void *image;
	size_t size;
	int err;

	*out = NULL;
	snprintf(why, why_size, "out of memory");
	if (!watcher)
		return -ENOMEM;
	libbpf_set_print(NULL);
	image = watch_tp_btf__elf_bytes(&size);
	watcher->cpus = libbpf_num_possible_cpus();
	watcher->object = bpf_object__open_mem(image, size, NULL);
	err = watcher->object ? load(watcher, options) : -errno;
	if (!err) {
		err = watcher__start(watcher);
		watcher__stop(watcher);
	}
	if (err) {
		refusal.err = err;
		refusal__gather(&refusal);
		refusal__explain(&refusal, why, why_size);
		watcher__close(watcher);
		return err;
	}
	*out = watcher;
	return 0;
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

int watcher__mark(struct watcher *watcher, int pidfd, bool in_call)
{
	/* Where only exits are counted, -1 leaves out the next one. */
	struct task_state state = {.watched = 1, .nr = watcher->exits_only && !in_call ? 0 : -1};

	if (bpf_map_update_elem(watcher->tasks, &pidfd, &state, BPF_ANY))
		return -errno;
	watcher->marked++;
	return 0;
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
	return watcher->marked + watcher->ended->started - watcher->ended->ended;
}

void watcher__read(const struct watcher *watcher, int compat, struct tally by_nr[NR_SLOTS])
{
	memset(by_nr, 0, NR_SLOTS * sizeof(*by_nr));
	for (int cpu = 0; cpu < watcher->cpus; cpu++)
		for (int nr = 0; nr < NR_SLOTS; nr++) {
			const struct tally *tally = &watcher->tallies[!!compat][cpu].by_nr[nr];

			by_nr[nr].calls += tally->calls;
			by_nr[nr].errors += tally->errors;
			by_nr[nr].timed += tally->timed;
			by_nr[nr].time_ns += tally->time_ns;
			by_nr[nr].entered += tally->entered;
		}
}

const struct never_returned *watcher__never_returned(const struct watcher *watcher)
{
	return watcher->ended;
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
	for (int i = 0; i < 2; i++)
		if (watcher->tallies[i])
			munmap(watcher->tallies[i], size);
	if (watcher->ended)
		munmap(watcher->ended, sizeof(*watcher->ended));
	bpf_object__close(watcher->object);
	free(watcher);
}
