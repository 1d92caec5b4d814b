/* SPDX-License-Identifier: BSD-2-Clause */
/* The command that is watched: found, started, held before its execve, and reaped. */
#ifndef TOLL_COMMAND_H
#define TOLL_COMMAND_H

#include <sys/types.h>

struct command {
	char **argv;	 /* ended by NULL; borrowed */
	const char *user; /* as whom it runs; NULL: as we do */
	char path[4096];
	pid_t pid;	 /* 0: not started */
	int pidfd;
	int gate;	 /* closing it lets the command go on to its execve; -1: open */
	int status;	 /* its exit status, 128 + the signal that ended it, or -1: not known yet */
};

/* Finds what argv names where execve will: by one call of it, as strace makes. Says what is wrong and exits:
 * with 127 where it is not there, 126 where it can't be run, EXIT_FAILED or EXIT_USAGE for the user. */
void command__find(struct command *command, char **argv, const char *user);
/* Starts it up to its execve, which waits for the gate. Returns 0 or -errno. */
int command__start(struct command *command);
/* Lets it go on; takes one that was let go, or never started. */
void command__release(struct command *command);
/* Sets status if it has ended. */
void command__reap(struct command *command);

#endif
