/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a run early, after what was measured is printed. */
#ifndef TOLL_SIGNALS_H
#define TOLL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* SIGINT, SIGTERM and SIGHUP. */
static inline void signals__ending(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

/* Blocks them, for sigtimedwait or signalfd; a reader of our output that leaves is an error of the
 * write, no signal. */
static inline void signals__block(void)
{
	sigset_t ends;

	signals__ending(&ends);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Has one of them come? It stays pending. */
static inline bool signals__pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) > 0 || sigismember(&pending, SIGTERM) > 0 ||
	       sigismember(&pending, SIGHUP) > 0;
}

#endif
