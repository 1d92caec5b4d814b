/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of message-rate. */
#ifndef TOLL_MESSAGE_OPTIONS_H
#define TOLL_MESSAGE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOST_CLIENT_NUMBERS 16

struct message_options {
	bool broadcast; /* else send */
	uint64_t n;	/* messages; 0: the default */
	size_t size;	/* bytes each */
	const char *modes; /* a list with commas; NULL: all */
	int rounds;	/* 0: the experiment's default */
	uint64_t duration_ns; /* a sample, at most */
	bool look, calls, list;
	int pairs;
	uint64_t clients[MOST_CLIENT_NUMBERS]; /* numbers of clients, one broadcast each */
	int n_clients;
	uint64_t stalled;
	int threads;
	const char *cores, *json, *output;
};

/* Fills options; exits on --help, --version and errors of usage. */
void message_options__parse(struct message_options *options, int argc, char **argv);

#endif
