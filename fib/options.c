/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "build/version.h"
#include "common/arguments.h"
#include "common/message.h"
#include "common/units.h"

#define MOST_N 91 /* fib(92) has more calls than a 64-bit counter counts */

enum { OPT_ENGINES = 256, OPT_ALL, OPT_CORES, OPT_JSON, OPT_DUMP, OPT_PERF_MAP, OPT_WITHOUT, OPT_ABLATE,
       OPT_WX, OPT_FORCE, OPT_LIST };

const char *const check_names[4] = {"overflow", "tags", "reductions", "stackcheck"};

const char *argp_program_version = "fib-compare " TOLL_VERSION " (" TOLL_COMMIT ")";

static const struct argp_option argp_options[] = {
	{NULL, 'n', "N", 0, "Compute fib(N) (40)", 0},
	{NULL, 'k', "TIMES", 0, "Compute it TIMES times a sample (5)", 0},
	{NULL, 'r', "SAMPLES", 0, "Take SAMPLES samples of each engine, in turn (3)", 0},
	{"engines", OPT_ENGINES, "A,B,C", 0, "These engines; --list shows them (our own, and what is "
	 "installed and takes under half a minute a sample)", 0},
	{"all", OPT_ALL, NULL, 0, "All engines, however slow", 0},
	{"cores", OPT_CORES, "N|LIST", 0, "Run our own engines on the first CPU of the list", 0},
	{"without", OPT_WITHOUT, "CHECK", 0, "The JIT leaves out overflow, tags, reductions or stackcheck "
	 "(several: with commas)", 0},
	{"ablate", OPT_ABLATE, NULL, 0, "Measure what each of these costs in the JIT", 0},
	{"wx", OPT_WX, "MODE", 0, "How the JIT's memory becomes executable: mprotect or dual (mprotect "
	 "where it works)", 0},
	{"dump", OPT_DUMP, "WHAT", 0, "Print the program as bytecode, or as asm: each instruction with its "
	 "machine code", 0},
	{"perf-map", OPT_PERF_MAP, NULL, 0, "Leave /tmp/perf-PID.map for perf report", 0},
	{"force", OPT_FORCE, NULL, 0, "Run even for more than an hour", 0},
	{"json", OPT_JSON, "FILE", 0, "Write the run as JSON (\"-\": to standard output, alone)", 0},
	{NULL, 'o', "FILE", 0, "Write the table to FILE", 0},
	{NULL, 'q', NULL, 0, "No table, progress or notices", 0},
	{"list", OPT_LIST, NULL, 0, "The engines, and why not those that are not here; the opcodes", 0},
	{0},
};

static int parse_n(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 0 || n > MOST_N)
		message__usage("-n '%s': not a whole number from 0 to %d", text, MOST_N);
	return (int)n;
}

static unsigned int parse_checks(const char *text)
{
	unsigned int checks = CHECK_ALL;

	while (*text) {
		size_t n = strcspn(text, ",");
		unsigned int i = 0;

		while (i < 4 && (strlen(check_names[i]) != n || strncmp(check_names[i], text, n) != 0))
			i++;
		if (i == 4)
			message__usage("--without '%.*s': overflow, tags, reductions or stackcheck", (int)n,
				       text);
		checks &= ~(1u << i);
		text += n + (text[n] == ',');
	}
	return checks;
}

/* The index of text in names[n]; usage error otherwise. */
static int choose(const char *option, const char *text, const char *const *names, int n)
{
	for (int i = 1; i < n; i++)
		if (!strcmp(names[i], text))
			return i;
	message__usage("%s '%s': %s or %s", option, text, names[1], names[2]);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	static const char *const dumps[] = {"", "bytecode", "asm"};
	struct fib_options *options = state->input;

	switch (key) {
	case 'n': options->plan.n = parse_n(text); break;
	case 'k': options->plan.times = (int)arguments__whole("-k", text, MOST_TIMES); break;
	case 'r': options->plan.samples = (int)arguments__whole("-r", text, MOST_SAMPLES); break;
	case 'o': options->output = text; break;
	case 'q': message_quiet = true; break;
	case OPT_ENGINES: options->engines = text; break;
	case OPT_ALL: options->plan.all = true; break;
	case OPT_CORES: options->cores = text; break;
	case OPT_JSON: options->json = text; break;
	case OPT_PERF_MAP: options->plan.perf_map = true; break;
	case OPT_ABLATE: options->ablate = true; break;
	case OPT_FORCE: options->plan.force = true; break;
	case OPT_LIST: options->list = true; break;
	case OPT_WITHOUT: options->checks = parse_checks(text); break;
	case OPT_DUMP: options->dump = (enum dump)choose("--dump", text, dumps, 3); break;
	case OPT_WX: options->plan.wx = (enum wx)choose("--wx", text, wx_names, WX_MODES); break;
	case ARGP_KEY_ARGS:
		options->file = state->argv[state->next];
		options->arguments = state->argv + state->next + 1;
		break;
	case ARGP_KEY_NO_ARGS: break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse, "[FILE.basm [INTEGER...]]",
	"Computes fib(40) five times as C, as bytecode and as machine code by templates, beside real "
	"runtimes, with the same work in every row. With FILE, runs that program on all of our engines.\v"
	"Examples:\n"
	"  fib-compare                               the comparison of 2009\n"
	"  fib-compare --engines c-O0,interp,jit -r 6\n"
	"  fib-compare --ablate                      what each check costs\n"
	"  fib-compare --dump asm                    the machine code\n"
	"  fib-compare fib/programs/tak.basm 18 12 6\n\n"
	"Exit status: 0 measured and right, 1 failed or a wrong result, 2 bad usage, 128 + signal when "
	"interrupted (what was measured is printed).",
	NULL, NULL, NULL};

void fib_options__parse(struct fib_options *options, int argc, char **argv)
{
	*options = (struct fib_options){.plan = {.n = 40, .times = 5, .samples = 3}, .checks = CHECK_ALL};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
}
