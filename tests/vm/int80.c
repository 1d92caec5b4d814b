/* SPDX-License-Identifier: BSD-2-Clause */
/* 32-bit calls of a 64-bit process: 20 is getpid for them, and writev for others. */
static long call(long nr)
{
	long result;
	__asm__ volatile("int $0x80" : "=a"(result) : "0"(nr), "b"(0L) : "memory");
	return result;
}
int main(void)
{
	for (int i = 0; i < 20; i++)
		call(20);
	return 0;
}
