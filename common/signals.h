/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a run early, after what was measured is printed. */
#ifndef TOLL_SIGNALS_H
#define TOLL_SIGNALS_H

#include <signal.h>

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

/* One of them that has come, and stays pending; or 0. */
static inline int signals__pending(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t pending;

	sigpending(&pending);
	for (unsigned int i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (sigismember(&pending, ending[i]) > 0)
			return ending[i];
	return 0;
}

#endif
