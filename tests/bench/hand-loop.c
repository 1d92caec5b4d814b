/* SPDX-License-Identifier: BSD-2-Clause */
/* The hand-written loop that the hammer is held against: N getppid calls; prints ns a call. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 5000000, i;
	unsigned long long start = clock_ns();

	for (i = 0; i < n; i++) {
#if defined(__x86_64__)
		long result;

		__asm__ volatile("syscall"
				 : "=a"(result)
				 : "0"((long)SYS_getppid)
				 : "rcx", "r11", "memory");
#else
		syscall(SYS_getppid);
#endif
	}
	printf("%.3f\n", (double)(clock_ns() - start) / (double)n);
	return 0;
}
