/* SPDX-License-Identifier: BSD-2-Clause */
#include "file/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "build/version.h"
#include "common/arguments.h"
#include "common/message.h"

#define MOST_BLOCK (1u << 30)
#define MOST_DEPTH 4096
#define MOST_POOL 256

enum { OPT_FILE = 256, OPT_SIZE, OPT_DIR, OPT_MODES, OPT_BLOCKS, OPT_TOUCH, OPT_COLD, OPT_DIRECT, OPT_DEPTH, OPT_POOL,
       OPT_CALLS, OPT_CORES, OPT_FOLD, OPT_UTF8, OPT_ALL, OPT_JSON, OPT_LIST };

const char *const experiment_names[EXPERIMENTS] = {"read", "rw", "lines", "words"};

const char *argp_program_version = "file-rate " TOLL_VERSION " (" TOLL_COMMIT ")";

static const struct argp_option argp_options[] = {
	{"file", OPT_FILE, "FILE", 0, "Read FILE (one is made, without a name, and gone at the end)", 0},
	{"size", OPT_SIZE, "SIZE", 0, "Make it SIZE long (read: 1G, rw: 100M, lines: 821M, words: 1100000000)", 0},
	{"dir", OPT_DIR, "DIR", 0, "Make it in DIR ($TMPDIR, or /var/tmp)", 0},
	{"modes", OPT_MODES, "A,B,C", 0, "These modes; --list shows them (all)", 0},
	{"blocks", OPT_BLOCKS, "SIZE,SIZE", 0, "These block sizes", 0},
	{"rounds", 'r', "N", 0, "Take N samples of each row, in turn (5; rw and words: 3)", 0},
	{"duration", 'd', "SEC", 0, "A sample is as much of the file as takes SEC (250ms; rw: 60ms; words: all)", 0},
	{"touch", OPT_TOUCH, NULL, 0, "read: add up all bytes while the clock runs", 0},
	{"cold", OPT_COLD, NULL, 0, "read: drop the file from the page cache before each sample", 0},
	{"direct", OPT_DIRECT, NULL, 0, "read and rw: past the page cache (O_DIRECT)", 0},
	{"depth", OPT_DEPTH, "N", 0, "io_uring: N moves in flight (8)", 0},
	{"pool", OPT_POOL, "N", 0, "pool: N threads (4)", 0},
	{"calls", OPT_CALLS, NULL, 0, "Count the system calls of each row, in a run apart (needs root)", 0},
	{"cores", OPT_CORES, "N|LIST", 0, "Run on the first N CPUs, or those of a list", 0},
	{"fold", OPT_FOLD, NULL, 0, "words: A to Z are a to z", 0},
	{"utf8", OPT_UTF8, NULL, 0, "words: also split at Unicode white space", 0},
	{"all", OPT_ALL, NULL, 0, "words: the other programs count the whole text too, however slow", 0},
	{"json", OPT_JSON, "FILE", 0, "Write the run as JSON (\"-\": to standard output, alone)", 0},
	{NULL, 'o', "FILE", 0, "Write the table to FILE", 0},
	{NULL, 'q', NULL, 0, "No table, progress or notices", 0},
	{"list", OPT_LIST, NULL, 0, "What can be measured here, and why not what can't", 0},
	{0},
};

static void parse_blocks(struct file_options *options, const char *text)
{
	char one[32];

	for (options->n_blocks = 0; names__next(&text, one, sizeof(one));) {
		if (options->n_blocks == MOST_BLOCKS)
			message__usage("--blocks: at most %d sizes", MOST_BLOCKS);
		options->blocks[options->n_blocks++] = (size_t)arguments__whole("--blocks", one, MOST_BLOCK);
	}
	if (!options->n_blocks)
		message__usage("--blocks: no size given");
}

static void parse_experiment(struct file_options *options, const struct argp_state *state, const char *text)
{
	int i = 0;

	if (state->arg_num)
		message__usage("'%s': one experiment at a time", text);
	while (i < EXPERIMENTS && strcmp(experiment_names[i], text) != 0)
		i++;
	if (i == EXPERIMENTS)
		message__usage("'%s': no experiment; there are read, rw, lines and words", text);
	options->experiment = (enum experiment_id)i;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct file_options *options = state->input;

	switch (key) {
	case OPT_FILE: options->file = text; break;
	case OPT_SIZE: options->size = arguments__whole("--size", text, 1ull << 60); break;
	case OPT_DIR: options->dir = text; break;
	case OPT_MODES: options->modes = text; break;
	case OPT_BLOCKS: parse_blocks(options, text); break;
	case 'r': options->rounds = (int)arguments__whole("-r", text, MOST_ROUNDS); break;
	case 'd': options->duration_ns = arguments__duration("-d", text); break;
	case OPT_TOUCH: options->touch = true; break;
	case OPT_COLD: options->cold = true; break;
	case OPT_DIRECT: options->direct = true; break;
	case OPT_DEPTH: options->depth = (int)arguments__whole("--depth", text, MOST_DEPTH); break;
	case OPT_POOL: options->pool = (int)arguments__whole("--pool", text, MOST_POOL); break;
	case OPT_CALLS: options->calls = true; break;
	case OPT_CORES: options->cores = text; break;
	case OPT_FOLD: options->fold = true; break;
	case OPT_UTF8: options->utf8 = true; break;
	case OPT_ALL: options->all = true; break;
	case OPT_JSON: options->json = text; break;
	case 'o': options->output = text; break;
	case 'q': message_quiet = true; break;
	case OPT_LIST: options->list = true; break;
	case ARGP_KEY_ARG: parse_experiment(options, state, text); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse, "[read|rw|lines|words]",
	"Measures what layers over read and write cost: ns a call and ns a byte. read (the default) reads a file in "
	"blocks, rw reads and writes in sequence and at random, lines splits a text at newlines, words finds its ten "
	"most frequent words.\v"
	"Examples:\n"
	"  file-rate                                 all layers, 512 bytes to 1 MiB\n"
	"  file-rate --modes raw,server --blocks 4K  two of them\n"
	"  file-rate --file disk.img --direct --modes raw,io_uring --depth 32\n"
	"  file-rate rw                              the table of 2008\n"
	"  file-rate words --file book.txt --fold    its ten most frequent words\n\n"
	"K, M and G are powers of 1024. Exit status: 0 measured and right, 1 failed or incomplete, 2 bad usage, 128 + "
	"signal when interrupted (what was measured is printed).",
	NULL, NULL, NULL};

/* Options that the experiment has no use for are mistakes. */
static void check(const struct file_options *options)
{
	bool reads = options->experiment == EXPERIMENT_READ, words = options->experiment == EXPERIMENT_WORDS;
	const char *name = experiment_names[options->experiment];

	if (options->file && options->size)
		message__usage("--file and --size: FILE has a size");
	if (options->file && options->experiment == EXPERIMENT_RW)
		message__usage("--file: rw makes its own file, lest it write into yours (--dir says where)");
	if ((options->touch || options->cold) && !reads)
		message__usage("%s: --touch and --cold are of read", name);
	if (options->direct && !reads && options->experiment != EXPERIMENT_RW)
		message__usage("%s: --direct is of read and rw", name);
	if ((options->fold || options->utf8 || options->all) && !words)
		message__usage("%s: --fold, --utf8 and --all are of words", name);
	if (words && (options->n_blocks || options->duration_ns))
		message__usage("words: takes neither --blocks nor -d");
}

void file_options__parse(struct file_options *options, int argc, char **argv)
{
	*options = (struct file_options){.depth = 8, .pool = 4};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
	check(options);
}
