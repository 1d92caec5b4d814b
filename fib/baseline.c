/* SPDX-License-Identifier: BSD-2-Clause */
/* The recursion of 2009 in C, compiled three times with the flags that the table shows, and once more
 * each with a counter at the entry of every function (FIB names the result). */
unsigned long FIB(unsigned long n);

unsigned long FIB(unsigned long n)
{
	if (n == 0 || n == 1)
		return 1;
	return FIB(n - 1) + FIB(n - 2);
}
