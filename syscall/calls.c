/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

/* In an argument: the address of hammer->room. */
#define ROOM (-1)

const struct call calls[] = {
	{"getuid", "the seed's call: reads one credential", SYS_getuid, NULL, 0, 0, 0, 0},
	{"getppid", "what perf bench syscall basic calls", SYS_getppid, NULL, 0, 0, 0, 0},
	{"getpid", "reads the process's own number", SYS_getpid, NULL, 0, 0, 0, 0},
	{"gettid", "reads the thread's own number", SYS_gettid, NULL, 0, 0, 0, 0},
	{"read", "1 byte from /dev/zero", SYS_read, "/dev/zero", O_RDONLY, 0, ROOM, 1},
	{"write", "1 byte to /dev/null", SYS_write, "/dev/null", O_WRONLY, 0, ROOM, 1},
	{"sched_yield", "enters the scheduler", SYS_sched_yield, NULL, 0, 0, 0, 0},
	{"clock_gettime", "CLOCK_MONOTONIC as a real system call, not the vDSO's", SYS_clock_gettime,
	 NULL, 0, CLOCK_MONOTONIC, ROOM, 0},
	{"null", "no call: the empty loop, which bounds the harness", -1, NULL, 0, 0, 0, 0},
	{0},
};

const struct call *call__find(const char *name)
{
	for (const struct call *call = calls; call->name; call++)
		if (!strcmp(call->name, name))
			return call;
	return NULL;
}

/* One bare system call: libc's wrapper, with its errno and its cancellation point, is not what is
 * measured. */
static inline __attribute__((always_inline)) long enter(long nr, long a, long b, long c)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
#else
#error "the system-call instruction of this architecture is not known here"
#endif
}

/* What enter() is without its instruction. */
static inline __attribute__((always_inline)) void enter_nothing(long nr)
{
	__asm__ volatile("" : "+r"(nr) : : "memory");
}

int call__prepare(struct hammer *hammer, const struct call *call)
{
	const long given[] = {call->first, call->second, call->third};

	memset(hammer, 0, sizeof(*hammer));
	hammer->call = call;
	hammer->fd = -1;
	for (int i = 0; i < 3; i++)
		hammer->args[i] = given[i] == ROOM ? (long)hammer->room : given[i];
	if (call->file) {
		hammer->fd = open(call->file, call->flags | O_CLOEXEC);
		if (hammer->fd < 0)
			return -errno;
		hammer->args[0] = hammer->fd;
	}
	if (call->nr >= 0) {
		long result = enter(call->nr, hammer->args[0], hammer->args[1], hammer->args[2]);

		if (result < 0 && result >= -4095)
			return (int)result;
		if (call->third && result != call->third)
			return -EIO;
	}
	return 0;
}

void call__close(struct hammer *hammer)
{
	if (hammer->fd >= 0)
		close(hammer->fd);
	hammer->fd = -1;
}

#define FOUR(x) x x x x
#define BATCH 64 /* calls between two looks at the stop flag */

void hammer__work(struct member *member, const atomic_bool *stop, void *argument)
{
	const struct hammer *hammer = argument;
	const long nr = hammer->call->nr;
	const long a = hammer->args[0], b = hammer->args[1], c = hammer->args[2];
	const uint64_t limit = member->limit;
	uint64_t made = 0;

	member->start_ns = clock_ns();
	if (nr >= 0) {
		while (limit - made >= BATCH && !atomic_load_explicit(stop, memory_order_relaxed)) {
			FOUR(FOUR(FOUR(enter(nr, a, b, c);)))
			made += BATCH;
		}
		while (made < limit && !atomic_load_explicit(stop, memory_order_relaxed)) {
			enter(nr, a, b, c);
			made++;
		}
	} else {
		while (made < limit && !atomic_load_explicit(stop, memory_order_relaxed)) {
			FOUR(FOUR(FOUR(enter_nothing(nr);)))
			made += limit - made < BATCH ? limit - made : BATCH;
		}
	}
	member->end_ns = clock_ns();
	member->made = made;
}
