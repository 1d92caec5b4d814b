/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/noise.h"

#include <dirent.h>
#include <linux/audit.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"

#define STEAL_PERCENT 1
#define OTHER_LOAD_PERCENT 10
#define AUDIT_WAIT_MS 100

static uint64_t timeval_ms(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_usec / 1000;
}

/* The value of a line that starts with key in a file of the kernel's; -1 where there is none. */
static int64_t value_in(const char *path, const char *key)
{
	char line[256];
	long long value = -1;
	FILE *file = fopen(path, "re");

	while (file && value < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), "%*[ :\t]%lld", &value);
	if (file)
		fclose(file);
	return value;
}

/* Summed over the threads of this process but the first, which is not pinned and only waits (kernels
 * with CONFIG_SCHED_DEBUG). */
static int64_t migrations(void)
{
	DIR *dir = opendir("/proc/self/task");
	int64_t sum = dir ? 0 : -1;
	char path[300];

	for (struct dirent *entry; sum >= 0 && (entry = readdir(dir));) {
		int64_t one;

		if (entry->d_name[0] == '.' || atoi(entry->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/sched", entry->d_name);
		one = value_in(path, "se.nr_migrations");
		sum = one < 0 ? -1 : sum + one;
	}
	if (dir)
		closedir(dir);
	return sum;
}

struct noise_reading noise__read(void)
{
	struct noise_reading reading = {.at_ns = clock_ns(), .migrations = migrations()};
	/* proc(5), "cpu" line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks. */
	unsigned long long t[8] = {0};
	uint64_t ticks = (uint64_t)sysconf(_SC_CLK_TCK);
	struct rusage usage;
	FILE *file = fopen("/proc/stat", "re");

	if (file) {
		if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
			   &t[3], &t[4], &t[5], &t[6], &t[7]) == 8) {
			reading.busy_ms = (t[0] + t[1] + t[2] + t[5] + t[6]) * 1000 / ticks;
			reading.steal_ms = t[7] * 1000 / ticks;
		}
		fclose(file);
	}
	if (!getrusage(RUSAGE_SELF, &usage)) {
		reading.own_ms = timeval_ms(usage.ru_utime) + timeval_ms(usage.ru_stime);
		reading.involuntary_switches = (uint64_t)usage.ru_nivcsw;
	}
	if (!getrusage(RUSAGE_CHILDREN, &usage)) {
		reading.own_ms += timeval_ms(usage.ru_utime) + timeval_ms(usage.ru_stime);
		reading.involuntary_switches += (uint64_t)usage.ru_nivcsw;
	}
	return reading;
}

/* Asks the kernel over netlink. 1: on, 0: off or not built in, -1: it won't say. */
static int audit_on(void)
{
	struct nlmsghdr request = {.nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = AUDIT_GET,
				   .nlmsg_flags = NLM_F_REQUEST};
	struct {
		struct nlmsghdr head;
		struct audit_status status;
	} answer = {0};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT), on = -1;
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	if (fd < 0)
		return access("/proc/self/loginuid", F_OK) ? 0 : -1;
	if (send(fd, &request, sizeof(request), 0) > 0 && poll(&wait, 1, AUDIT_WAIT_MS) == 1 &&
	    recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) > (ssize_t)sizeof(answer.head) &&
	    answer.head.nlmsg_type == AUDIT_GET)
		on = answer.status.enabled != 0;
	close(fd);
	return on;
}

struct noise noise__between(const struct noise_reading *before, const struct noise_reading *after)
{
	uint64_t busy = after->busy_ms - before->busy_ms, own = after->own_ms - before->own_ms;
	struct noise noise = {
		.elapsed_ms = (after->at_ns - before->at_ns) / 1000000u,
		.steal_ms = after->steal_ms - before->steal_ms,
		.other_load_ms = busy > own ? busy - own : 0,
		.involuntary_switches = after->involuntary_switches - before->involuntary_switches,
		.migrations = before->migrations < 0 || after->migrations < before->migrations
				      ? -1
				      : after->migrations - before->migrations,
		.other_probes = -1,
		.audit = audit_on(),
		.seccomp = (int)value_in("/proc/self/status", "Seccomp"),
	};
	FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");

	if (file) {
		if (fgets(noise.governor, sizeof(noise.governor), file))
			noise.governor[strcspn(noise.governor, "\n")] = '\0';
		fclose(file);
	}
	return noise;
}

void noise__print(const struct noise *noise, FILE *stream)
{
	uint64_t all_ms = noise->elapsed_ms * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	char moves[32] = "an unknown number of";

	if (noise->migrations >= 0)
		snprintf(moves, sizeof(moves), "%lld", (long long)noise->migrations);
	fprintf(stream, "noise: %llu ms stolen by the hypervisor, %llu ms of CPU used by others, "
		"%llu involuntary switches, %s migrations\n", (unsigned long long)noise->steal_ms,
		(unsigned long long)noise->other_load_ms,
		(unsigned long long)noise->involuntary_switches, moves);
	if (noise->steal_ms * 100 > all_ms * STEAL_PERCENT)
		fprintf(stream, "warning: more than %d %% of the time was stolen; measure on a quieter "
			"host\n", STEAL_PERCENT);
	if (noise->other_load_ms * 100 > noise->elapsed_ms * OTHER_LOAD_PERCENT)
		fprintf(stream, "warning: other processes used %.2f CPUs meanwhile; stop them\n",
			(double)noise->other_load_ms / (double)noise->elapsed_ms);
	if (noise->migrations > 0)
		fprintf(stream, "warning: pinned threads were moved between CPUs\n");
	if (noise->other_probes > 0)
		fprintf(stream, "warning: %d BPF program%s of others on the system-call tracepoints "
			"slowed every call\n", noise->other_probes, noise->other_probes == 1 ? "" : "s");
	if (noise->audit > 0)
		fprintf(stream, "warning: the kernel audits system calls (auditctl -e 0 stops it)\n");
	if (noise->seccomp > 0)
		fprintf(stream, "warning: every call of this process passed a seccomp filter\n");
	if (noise->governor[0] && strcmp(noise->governor, "performance") != 0)
		fprintf(stream, "warning: frequency governor \"%s\", not \"performance\"\n",
			noise->governor);
}

static json_t *known(int64_t value)
{
	return value < 0 ? json_null() : json_integer(value);
}

json_t *noise__json(const struct noise *noise)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "elapsed_ms",
			 (json_int_t)noise->elapsed_ms, "steal_ms", (json_int_t)noise->steal_ms,
			 "other_load_ms", (json_int_t)noise->other_load_ms, "involuntary_switches",
			 (json_int_t)noise->involuntary_switches, "migrations", known(noise->migrations),
			 "other_probes", known(noise->other_probes), "audit", known(noise->audit),
			 "seccomp", known(noise->seccomp));
}
