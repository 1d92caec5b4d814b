/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/options.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#include "build/version.h"
#include "common/arguments.h"
#include "common/message.h"
#include "common/units.h"
#include "syscall/classes.h"

#define DEFAULT_NS 10000000000u

enum { OPT_CORES = 256, OPT_SMT, OPT_CALL, OPT_CALLS, OPT_COUNTER, OPT_DRIVER, OPT_THREADS, OPT_TIMING,
       OPT_COUNT_ONLY, OPT_COST, OPT_PER, OPT_PROGRESS, OPT_PROJECT, OPT_JSON, OPT_LIST, OPT_HOST };

const char *argp_program_version = "syscall-rate " TOLL_VERSION " (" TOLL_COMMIT ")";

static const struct argp_option argp_options[] = {
	{"duration", 'd', "SEC", 0, "Count for SEC (10s; takes 500ms, 2m …); the uncounted baseline "
	 "takes as long again", 0},
	{"interval", 'i', "SEC", 0, "Length of one window (1s, or a sixth of -d); watching: print a table each SEC", 0},
	{"calls", OPT_CALLS, "N", 0, "Make N calls in all instead of -d", 0},
	{"cores", OPT_CORES, "N|LIST", 0, "N cores, or the CPUs of a list (0-2,5; one CPU: \"5,\")", 0},
	{"smt", OPT_SMT, NULL, 0, "All hardware threads, not one a physical core", 0},
	{"threads", OPT_THREADS, "N", 0, "N threads, shared out over the cores (one a core)", 0},
	{"call", OPT_CALL, "NAME", 0, "The call to hammer (getuid)", 0},
	{"counter", OPT_COUNTER, "NAME", 0, "What counts: bpf (the cheapest that works), none, or a name "
	 "that --list shows", 0},
	{"driver", OPT_DRIVER, "NAME", 0, "What makes the calls: native (an unrolled loop), or the getuid loop "
	 "of 2009 as interp (bytecode) or jit", 0},
	{"project", OPT_PROJECT, "N", 0, "Also project the rate to N cores", 0},
	{"progress", OPT_PROGRESS, NULL, 0, "Print #cpu:count after each window, on standard error", 0},
	{"json", OPT_JSON, "FILE", 0, "Write the run as JSON (\"-\": to standard output, alone)", 0},
	{NULL, 'o', "FILE", 0, "Write the table to FILE", 0},
	{NULL, 'q', NULL, 0, "No table, progress or notices", 0},
	{"pid", 'p', "PID[,PID]", 0, "Watch these processes, with all their threads", 1},
	{"follow", 'f', NULL, 0, "... and the children they start", 1},
	{"all", 'a', NULL, 0, "Watch the whole machine", 1},
	{"wall", 'w', NULL, 0, "Seconds are wall time, not time on the CPU", 1},
	{"timing", OPT_TIMING, "WHICH", 0, "Which calls are timed: auto (all of a slow kind, some of a fast "
	 "one), all or none", 1},
	{"count-only", OPT_COUNT_ONLY, NULL, 0, "The same as --timing none", 1},
	{"summary-sort-by", 'S', "ORDER", 0, "Sort by time, calls, errors, name, nothing, or another column of -U", 1},
	{"summary-columns", 'U', "LIST", 0, "Columns: time-percent, total-time, min-time, max-time, avg-time, "
	 "calls, errors, name", 1},
	{"trace", 'e', "trace=CALLS", 0, "Only these calls or classes (%file, %network …), with commas; after "
	 "\"!\", all but these", 1},
	{"per", OPT_PER, "WHAT", 0, "Also a table per process, thread or core", 1},
	{"user", 'u', "USER", 0, "Run the command as USER", 1},
	{"cost", OPT_COST, NULL, 0, "Measure what each observer adds to one call, for about -d (1s) each", 2},
	{"list", OPT_LIST, NULL, 0, "What can be measured here, and why not what can't", 0},
	{"host", OPT_HOST, NULL, 0, "Describe this machine as JSON", 0},
	{0},
};

static uint64_t whole(const char *option, const char *text)
{
	uint64_t count = 0;

	if (units__parse_count(text, &count))
		message__usage("%s '%s': not a whole number of at least 1", option, text);
	return count;
}

/* "trace=a,b", "trace=!a" or, as in strace, the list alone. Returns the list. */
static const char *parse_trace(const char *text)
{
	const char *list = strncmp(text, "trace=", 6) ? text : text + 6, *at;
	char name[64];

	for (at = list + (*list == '!'); *at || at == list;) {
		size_t n = strcspn(at, ",");

		snprintf(name, sizeof(name), "%.*s", (int)n, at);
		if (!syscall__known(name) && !class__known(name))
			message__usage("-e trace='%s': no such system call or class", name);
		at += n + (at[n] == ',');
	}
	return list;
}

/* Where text is in a list of names. */
static int choose(const char *option, const char *text, const char *const *names, int n, const char *known)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], text))
			return i;
	message__usage("%s '%s': %s", option, text, known);
}

static void parse_columns(struct options *options, const char *text)
{
	char why[64];

	if (summary__columns(text, options->columns, why, sizeof(why)))
		message__usage("-U '%s': no column, or there twice; see --help", why);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'd':
		options->duration_ns = arguments__duration("-d", text);
		options->bounded = true;
		break;
	case 'p': options->pids = text; break;
	case 'f': options->follow = true; break;
	case 'a': options->all = true; break;
	case 'w': options->wall = true; break;
	case 'S':
		if (summary__column(text) < 0)
			message__usage("-S '%s': time, calls, errors, name, nothing or a column of -U", text);
		options->order = (enum summary_column)summary__column(text);
		break;
	case 'U': parse_columns(options, text); break;
	case 'u': options->user = text; break;
	case 'e': options->trace = parse_trace(text); break;
	case OPT_TIMING:
		options->timing = (enum timing)choose("--timing", text, timing_names, TIMINGS, "auto, all or none");
		break;
	case OPT_COUNT_ONLY: options->timing = TIMING_NONE; break;
	case OPT_PER:
		options->per = (enum per)choose("--per", text, per_names, PERS, "process, thread or core");
		break;
	case OPT_COST: options->cost = true; break;
	case 'o': options->output = text; break;
	case 'q': message_quiet = true; break;
	case 'i': options->interval_ns = arguments__duration("-i", text); break;
	case OPT_CALLS: options->calls = whole("--calls", text); break;
	case OPT_CORES: options->cores = text; break;
	case OPT_SMT: options->smt = true; break;
	case OPT_THREADS: options->threads = whole("--threads", text); break;
	case OPT_CALL: options->call = text; break;
	case OPT_COUNTER: options->counter = text; break;
	case OPT_DRIVER: options->driver = text; break;
	case OPT_PROJECT: options->project = whole("--project", text); break;
	case OPT_PROGRESS: options->progress = true; break;
	case OPT_JSON: options->json = text; break;
	case OPT_LIST: options->list = true; break;
	case OPT_HOST: options->host = true; break;
	case ARGP_KEY_ARGS:
		if (strcmp(state->argv[state->next - 1], "--") != 0)
			message__usage("extra argument '%s' (a command comes after --)",
				       state->argv[state->next]);
		options->command = state->argv + state->next;
		options->follow = true;
		break;
	case ARGP_KEY_NO_ARGS: break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse, "[-- COMMAND [ARG...]]",
	"Hammers a system call from one pinned thread a core, counts the calls with eBPF, and compares "
	"with 2009. With -p, -a or a command, prints the table of strace -c for that instead.\vExamples:\n"
	"  sudo syscall-rate                    ten seconds of getuid on every core\n"
	"  sudo syscall-rate -d 3s --cores 1    one core\n"
	"  syscall-rate --counter none          without privileges\n"
	"  sudo syscall-rate --json - -q | jq   the JSON alone\n"
	"  sudo syscall-rate -p 123 -d 10s      a process, for ten seconds\n"
	"  sudo syscall-rate -a -i 1            the machine, a table a second\n"
	"  sudo syscall-rate -- make -j8        a command and all it starts\n"
	"  sudo syscall-rate --cost             what each observer costs\n\n"
	"Exit status: 0 measured and complete, 1 failed or incomplete, 2 bad usage, 128 + signal when "
	"interrupted (what was measured is printed). After --, the command's own.",
	NULL, NULL, NULL};

void options__parse(struct options *options, int argc, char **argv)
{
	*options = (struct options){.duration_ns = DEFAULT_NS, .call = "getuid", .order = SECONDS};
	for (int i = 0; !i || summary_default[i - 1] != COLUMNS; i++)
		options->columns[i] = summary_default[i];
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
	if (!!options->pids + !!options->command + options->all + options->cost > 1)
		message__usage("-p, -a, --cost and a command exclude each other");
	if (options->user && !options->command)
		message__usage("-u %s: needs a command, after --", options->user);
}
