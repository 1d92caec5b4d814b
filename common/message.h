/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program says on standard error: one line a message, "PROGRAM: text". */
#ifndef TOLL_MESSAGE_H
#define TOLL_MESSAGE_H

#include <stdbool.h>

/* Exit codes of all programs. */
enum { EXIT_MEASURED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* Silences message__notice (not errors): -q. */
extern bool message_quiet;

/* Something failed or is incomplete. */
void message__error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Something the reader should know; silent under -q. */
void message__notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Bad usage: says it and exits with EXIT_USAGE. */
void message__usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
