/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool message_quiet;

static void say(const char *format, va_list args)
{
	flockfile(stderr);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	funlockfile(stderr);
}

void message__error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void message__notice(const char *format, ...)
{
	va_list args;

	if (message_quiet)
		return;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void message__usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(EXIT_USAGE);
}
