/* SPDX-License-Identifier: BSD-2-Clause */
/* What fuzzing checks: any text is refused or runs alike on every engine. */
#ifndef TOLL_DIFFERENTIAL_H
#define TOLL_DIFFERENTIAL_H

#include <stddef.h>
#include <stdint.h>

/* Assembles and verifies text; a program that passes runs on every engine with small stacks and few
 * reductions, and they must agree. Aborts, with the program on standard error, where they do not.
 * Returns 1 if it ran, 0 if it was refused. */
int differential__text(const char *text, size_t size);

/* Makes a program of arbitrary bytes, which passes the verifier, and checks it in the same way. */
void differential__program(const uint8_t *data, size_t size);

#endif
