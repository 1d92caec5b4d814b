/* SPDX-License-Identifier: BSD-2-Clause */
/* Other people's observers. Each runs this program's hammer as a command, which tells the time of a call and
 * how many it made in all; the tool's own output tells how many it saw. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/tool.h"
#include "syscall/observers.h"

#define MOST_WORDS 24
#define LIMIT_NS 120000000000u
/* Calls of the same name that the command makes beside the hammering (starting up, finding the user behind
 * sudo): a tool may have seen these too. */
#define MOST_OTHERS 8

struct tool {
	const char *name, *command;
	/* Its words before the hammer's; %s is the call's name. An -c of bpftrace takes the hammer as one word. */
	const char *words[6];
	bool one_word;
	/* How many calls it saw: the sum of the field-th word (from 0) of every line that holds a word equal to
	 * mark (%s: the call's name, %d: its number). */
	const char *mark;
	int field;
	const char *separators;
	double ns; /* a call, first guess */
};

static const struct tool tools[] = {
	{"bare, as a command of its own", NULL, {NULL}, false, NULL, 0, NULL, 100},
	{"perf stat", "perf", {"stat", "-x,", "-e", "syscalls:sys_enter_%s", "--"}, false, "syscalls:sys_enter_%s",
	 0, ",\n", 150},
	{"bpftrace, count() by number", "bpftrace",
	 {"-e", "tracepoint:raw_syscalls:sys_exit /pid == cpid/ { @[args->id] = count(); }", "-c"}, true, "@[%d]",
	 1, ": \n", 300},
	{"perf trace -s", "perf", {"trace", "-s", "--"}, false, "%s", 1, " \n", 60000},
	{"strace -f -c", "strace", {"-f", "-c", "--"}, false, "%s", 3, " \n", 200000},
};

/* The call's name or number in place of %s or %d. */
static void fill(char *text, size_t size, const char *format, const struct call *call)
{
	const char *at = strstr(format, "%s");
	const char *number = strstr(format, "%d");

	if (at)
		snprintf(text, size, "%.*s%s%s", (int)(at - format), format, call->name, at + 2);
	else if (number)
		snprintf(text, size, "%.*s%d%s", (int)(number - format), format, call->nr, number + 2);
	else
		snprintf(text, size, "%s", format);
}

/* A file of the folder: what the tool said, or the hammer's JSON. */
static void file_of(char *path, size_t size, const struct subject *subject, const char *name)
{
	snprintf(path, size, "%s/%s", subject->folder, name);
}

static int open_tool(struct observer *observer, const struct subject *subject, char *why, size_t why_size)
{
	char path[PATH_MAX];

	if (!subject->folder[0]) {
		snprintf(why, why_size, "no folder of its own could be made in /tmp");
		return -ENOENT;
	}
	if (observer->tool->command && !tool__find(observer->tool->command, path, sizeof(path))) {
		snprintf(why, why_size, "%s is not installed", observer->tool->command);
		return -ENOENT;
	}
	return 0;
}

/* How many calls the tool saw, by what it said. Returns 0, or -EPROTO where it said nothing of them. */
static int read_counted(const struct tool *tool, const struct subject *subject, uint64_t *counted)
{
	char path[64], mark[64], line[512];
	int err = -EPROTO;
	FILE *file;

	file_of(path, sizeof(path), subject, "said");
	fill(mark, sizeof(mark), tool->mark, subject->call);
	file = fopen(path, "re");
	*counted = 0;
	while (file && fgets(line, sizeof(line), file)) {
		char *rest = NULL, *value = NULL;
		bool marked = false;
		int i = 0;

		for (char *word = strtok_r(line, tool->separators, &rest); word;
		     word = strtok_r(NULL, tool->separators, &rest), i++) {
			marked |= !strcmp(word, mark);
			value = i == tool->field ? word : value;
		}
		if (marked && value) {
			*counted += strtoull(value, NULL, 10);
			err = 0;
		}
	}
	if (file)
		fclose(file);
	return err;
}

/* What the tool said first, as the reason why there is no figure. */
static void first_said(const struct tool *tool, const struct subject *subject, char *why, size_t why_size)
{
	char path[64], line[160] = "";
	FILE *file;

	file_of(path, sizeof(path), subject, "said");
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && line[0] == '\n')
		continue;
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; *at; at++)
		*at = (unsigned char)*at < ' ' ? ' ' : *at;
	snprintf(why, why_size, "%s says: %s", tool->command ? tool->command : "the hammer",
		 line[0] ? line : "nothing");
}

/* The words of the hammer, in text. */
static int hammer_words(const struct subject *subject, uint64_t count, char words[][PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", words[0], PATH_MAX - 1);

	if (n < 0)
		return -errno;
	words[0][n] = '\0';
	snprintf(words[1], PATH_MAX, "--counter=none");
	snprintf(words[2], PATH_MAX, "--calls=%llu", (unsigned long long)count);
	snprintf(words[3], PATH_MAX, "--cores=%d,", subject->cpu);
	snprintf(words[4], PATH_MAX, "--call=%s", subject->call->name);
	snprintf(words[5], PATH_MAX, "-q");
	snprintf(words[6], PATH_MAX, "--json=%s/json", subject->folder);
	return 7;
}

/* Runs the tool with the hammer. Returns as tool__run does. */
static int run(const struct tool *tool, const struct subject *subject, uint64_t count)
{
	static char hammer[7][PATH_MAX], given[6][160], whole[PATH_MAX];
	char path[PATH_MAX], said[64];
	const char *argv[MOST_WORDS];
	int n = 0, words = hammer_words(subject, count, hammer), out;

	if (words < 0)
		return words;
	file_of(said, sizeof(said), subject, "said");
	out = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out < 0)
		return -errno;
	close(out);
	if (tool->command) {
		if (!tool__find(tool->command, path, sizeof(path)))
			return -ENOENT;
		argv[n++] = tool->command;
	} else {
		snprintf(path, sizeof(path), "%s", hammer[0]);
	}
	for (int i = 0; i < 6 && tool->words[i]; i++) {
		fill(given[i], sizeof(given[i]), tool->words[i], subject->call);
		argv[n++] = given[i];
	}
	if (tool->one_word) {
		/* bpftrace parts it at blanks: the program goes by a name without any. */
		file_of(whole, sizeof(whole), subject, "hammer");
		if (symlink(hammer[0], whole) && errno != EEXIST)
			return -errno;
		for (int i = 1; i < words; i++) {
			strncat(whole, " ", sizeof(whole) - strlen(whole) - 1);
			strncat(whole, hammer[i], sizeof(whole) - strlen(whole) - 1);
		}
		argv[n++] = whole;
	}
	for (int i = 0; i < words && !tool->one_word; i++)
		argv[n++] = hammer[i];
	argv[n] = NULL;
	return tool__run(path, argv, said, LIMIT_NS);
}

static int measure_tool(struct observer *observer, const struct subject *subject, uint64_t count,
			struct sample *sample, char *why, size_t why_size)
{
	char path[64];
	json_int_t made = 0;
	uint64_t counted = 0;
	json_t *json;
	int err;

	file_of(path, sizeof(path), subject, "json");
	unlink(path);
	err = run(observer->tool, subject, count);
	if (err < 0) {
		snprintf(why, why_size, "%s", err == -ETIMEDOUT ? "it took more than two minutes" : strerror(-err));
		return err;
	}
	json = json_load_file(path, 0, NULL);
	if (!json || json_unpack(json, "{s:{s:F}, s:I}", "total", "ns_per_call", &sample->ns_per_call,
				 "made_in_all", &made)) {
		first_said(observer->tool, subject, why, why_size);
		err = -EPROTO;
	} else {
		err = 0;
	}
	json_decref(json);
	sample->counts = observer->tool->mark != NULL;
	if (err || !sample->counts)
		return err;
	if (read_counted(observer->tool, subject, &counted)) {
		first_said(observer->tool, subject, why, why_size);
		return -EPROTO;
	}
	sample->lost = made - (json_int_t)counted;
	if (sample->lost < 0 && sample->lost >= -MOST_OTHERS)
		sample->lost = 0;
	return 0;
}

int observers__list_tools(struct observer *observers, int n)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools) && n < MOST_OBSERVERS; i++) {
		observers[n] = (struct observer){.open = open_tool, .measure = measure_tool, .tool = &tools[i],
						 .ns = tools[i].ns};
		snprintf(observers[n].name, sizeof(observers[n].name), "%s", tools[i].name);
		n++;
	}
	return n;
}
