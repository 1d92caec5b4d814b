/* SPDX-License-Identifier: BSD-2-Clause */
/* A 32-bit program, without a C library. */
static long call(long nr, long a)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "0"(nr), "b"(a) : "memory");
	return result;
}
void _start(void)
{
	for (int i = 0; i < 7; i++)
		call(20, 0); /* getpid */
	call(6, 99);	     /* close */
	call(24, 0);	     /* getuid */
	call(199, 0);	     /* getuid32 */
	call(64, 0);	     /* getppid */
	call(1, 0);
}
