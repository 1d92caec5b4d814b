/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/host.h"

#include <ctype.h>
#include <dirent.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "build/version.h"

/* The first line of a small file of the kernel's, as a JSON string; null where there is none. */
static json_t *line_of(const char *path)
{
	char line[256];
	FILE *file = fopen(path, "re");
	json_t *value;

	if (!file || !fgets(line, sizeof(line), file)) {
		if (file)
			fclose(file);
		return json_null();
	}
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	value = json_string(line);
	return value ? value : json_null();
}

static json_t *mitigations(void)
{
	static const char folder[] = "/sys/devices/system/cpu/vulnerabilities";
	json_t *all = json_object();
	DIR *dir = opendir(folder);
	char path[512];

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		json_object_set_new(all, entry->d_name, line_of(path));
	}
	if (dir)
		closedir(dir);
	return all;
}

/* The hypervisor's signature (CPUID leaf 0x40000000: Intel and AMD reserve it for that). */
static json_t *virtualization(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;
	char name[13] = "";

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31))
		return json_string("none");
	__cpuid(0x40000000, a, b, c, d);
	memcpy(name, &b, 4);
	memcpy(name + 4, &c, 4);
	memcpy(name + 8, &d, 4);
	for (char *at = name; *at; at++)
		if (!isprint((unsigned char)*at))
			*at = '\0';
	return json_string(name[0] ? name : "unknown");
#else
	return json_null();
#endif
}

char *host__lockdown(char *level, size_t size)
{
	char line[128] = "", *chosen;
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");

	level[0] = '\0';
	if (!file)
		return level;
	/* "none [integrity] confidentiality" */
	if (fgets(line, sizeof(line), file) && (chosen = strchr(line, '['))) {
		chosen[strcspn(chosen, "]")] = '\0';
		snprintf(level, size, "%s", chosen + 1);
	}
	fclose(file);
	return level;
}

json_t *host__describe(void)
{
	json_t *host = json_object();
	struct utsname name;
	hwloc_topology_t topology;
	char level[32];

	uname(&name);
	json_object_set_new(host, "kernel", json_string(name.release));
	json_object_set_new(host, "arch", json_string(name.machine));
	if (!hwloc_topology_init(&topology)) {
		hwloc_bitmap_t bound = hwloc_bitmap_alloc();

		/* Else a container would seem to be the whole machine. */
		hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
		if (!hwloc_topology_load(topology)) {
			hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
			const char *model =
				package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
			int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
			int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);

			json_object_set_new(host, "cpu_model", model ? json_string(model) : json_null());
			json_object_set_new(host, "cpus_online", json_integer(units));
			hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD);
			json_object_set_new(host, "cpus_allowed",
					    json_integer(hwloc_bitmap_weight(bound)));
			json_object_set_new(host, "smt", json_boolean(units > cores));
			json_object_set_new(host, "numa_nodes",
					    json_integer(hwloc_get_nbobjs_by_type(
						    topology, HWLOC_OBJ_NUMANODE)));
		}
		hwloc_bitmap_free(bound);
		hwloc_topology_destroy(topology);
	}
	json_object_set_new(host, "governor",
			    line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
	json_object_set_new(host, "mitigations", mitigations());
	json_object_set_new(host, "virtualization", virtualization());
	json_object_set_new(
		host, "clocksource",
		line_of("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
	json_object_set_new(host, "lockdown",
			    *host__lockdown(level, sizeof(level)) ? json_string(level) : json_null());
	json_object_set_new(host, "compiler", json_string("gcc " __VERSION__));
	json_object_set_new(host, "commit", json_string(TOLL_COMMIT));
	return host;
}
