/* SPDX-License-Identifier: BSD-2-Clause */
#include "message/options.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "build/version.h"
#include "common/arguments.h"
#include "common/message.h"

#define MOST_BYTES (256u << 20)
#define MOST_ROUNDS 1000
#define MOST_PAIRS 256
#define MOST_CLIENTS 1000000

enum { OPT_MODES = 256, OPT_TOUCH, OPT_CALLS, OPT_PAIRS, OPT_CLIENTS, OPT_STALLED, OPT_THREADS, OPT_CORES, OPT_JSON,
       OPT_LIST };

const char *argp_program_version = "message-rate " TOLL_VERSION " (" TOLL_COMMIT ")";

static const struct argp_option argp_options[] = {
	{NULL, 'n', "N", 0, "send: at most N messages a sample (1M)", 0},
	{"size", 's', "SIZE", 0, "Bytes a message (1024)", 0},
	{"modes", OPT_MODES, "A,B,C", 0, "These modes or strategies; --list shows them (all)", 0},
	{"rounds", 'r', "N", 0, "Take N samples of each row, in turn (send: 5; broadcast: 6)", 0},
	{"duration", 'd', "SEC", 0, "send: a sample is as many messages as take SEC (250ms), or all", 0},
	{"touch", OPT_TOUCH, NULL, 0, "send: the receiver adds up all bytes, not the numbers alone", 0},
	{"pairs", OPT_PAIRS, "N", 0, "send: N senders, each with its receiver, at once (1)", 0},
	{"calls", OPT_CALLS, NULL, 0, "Count the system calls of a message or client, in a run apart (needs root)", 0},
	{"clients", OPT_CLIENTS, "N,N", 0, "broadcast: to N clients (20000); several: one after the other", 0},
	{"stalled", OPT_STALLED, "K", 0, "broadcast: K of them never read (0)", 0},
	{"threads", OPT_THREADS, "N", 0, "broadcast: threads of a server process for the strategy threads (2)", 0},
	{"cores", OPT_CORES, "N|LIST", 0, "Run on the first N CPUs, or those of a list; send takes two", 0},
	{"json", OPT_JSON, "FILE", 0, "Write the run as JSON (\"-\": to standard output, alone)", 0},
	{NULL, 'o', "FILE", 0, "Write the table to FILE", 0},
	{NULL, 'q', NULL, 0, "No table, progress or notices", 0},
	{"list", OPT_LIST, NULL, 0, "What can be measured here, and why not what can't", 0},
	{0},
};

/* Nothing is a number, too. */
static uint64_t whole_or_none(const char *option, const char *text, uint64_t most)
{
	return strcmp(text, "0") ? arguments__whole(option, text, most) : 0;
}

static void parse_clients(struct message_options *options, const char *text)
{
	char one[32];

	for (options->n_clients = 0; names__next(&text, one, sizeof(one));) {
		if (options->n_clients == MOST_CLIENT_NUMBERS)
			message__usage("--clients: at most %d numbers", MOST_CLIENT_NUMBERS);
		options->clients[options->n_clients++] = arguments__whole("--clients", one, MOST_CLIENTS);
	}
	if (!options->n_clients)
		message__usage("--clients: no number given");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct message_options *options = state->input;

	switch (key) {
	case 'n': options->n = arguments__whole("-n", text, 1ull << 40); break;
	case 's': options->size = (size_t)whole_or_none("-s", text, MOST_BYTES); break;
	case OPT_MODES: options->modes = text; break;
	case 'r': options->rounds = (int)arguments__whole("-r", text, MOST_ROUNDS); break;
	case 'd': options->duration_ns = arguments__duration("-d", text); break;
	case OPT_TOUCH: options->look = true; break;
	case OPT_CALLS: options->calls = true; break;
	case OPT_PAIRS: options->pairs = (int)arguments__whole("--pairs", text, MOST_PAIRS); break;
	case OPT_CLIENTS: parse_clients(options, text); break;
	case OPT_STALLED: options->stalled = whole_or_none("--stalled", text, MOST_CLIENTS); break;
	case OPT_THREADS: options->threads = (int)arguments__whole("--threads", text, 64); break;
	case OPT_CORES: options->cores = text; break;
	case OPT_JSON: options->json = text; break;
	case 'o': options->output = text; break;
	case 'q': message_quiet = true; break;
	case OPT_LIST: options->list = true; break;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			message__usage("'%s': one experiment at a time", text);
		options->broadcast = !strcmp(text, "broadcast");
		if (!options->broadcast && strcmp(text, "send") != 0)
			message__usage("'%s': no experiment; there are send and broadcast", text);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	argp_options, parse, "[send|broadcast]",
	"Measures what it costs to hand a message to someone else. send (the default) hands messages from one sender to "
	"one receiver, by reference, by copy and through the kernel; broadcast sends one message to many TCP clients, and "
	"tells when the last has it.\v"
	"Examples:\n"
	"  message-rate                              every mode, on two cores and on one\n"
	"  message-rate --modes tcp,tcp-batch -s 64  what collecting saves\n"
	"  message-rate broadcast                    20,000 clients, every strategy\n"
	"  message-rate broadcast --stalled 200      ... of which 200 never read\n"
	"  message-rate broadcast --clients 1000,5000,20000 --modes tree\n\n"
	"K, M and G are powers of 1024. Exit status: 0 measured, every message received once and in order; 1 failed or "
	"incomplete; 2 bad usage; 128 + signal when interrupted (what was measured is printed).",
	NULL, NULL, NULL};

/* Options that the experiment has no use for are mistakes. */
static void check(const struct message_options *options)
{
	if (options->broadcast && (options->n || options->look || options->pairs > 1 || options->duration_ns))
		message__usage("broadcast: -n, -d, --touch and --pairs are of send");
	if (!options->broadcast && (options->n_clients || options->stalled || options->threads))
		message__usage("send: --clients, --stalled and --threads are of broadcast");
	for (int i = 0; i < options->n_clients; i++)
		if (options->stalled >= options->clients[i])
			message__usage("--stalled: fewer than there are clients");
	if (options->broadcast && !options->size)
		message__usage("broadcast: a message has at least one byte");
}

void message_options__parse(struct message_options *options, int argc, char **argv)
{
	*options = (struct message_options){.size = 1024, .pairs = 1};
	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, options);
	check(options);
	if (!options->n_clients)
		options->clients[options->n_clients++] = 20000;
	options->n = options->n ? options->n : 1u << 20;
	options->threads = options->threads ? options->threads : 2;
	options->duration_ns = options->duration_ns ? options->duration_ns : 250000000;
	options->rounds = options->rounds ? options->rounds : options->broadcast ? 6 : 5;
}
