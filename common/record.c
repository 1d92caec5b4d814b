/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/record.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "build/version.h"
#include "common/host.h"
#include "common/message.h"

char *record__now(char buffer[32])
{
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(buffer, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
	return buffer;
}

/* Arguments are bytes; what is no UTF-8 becomes "?", as JSON has no other way. */
static json_t *argument(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("?");
}

json_t *record__new(const char *program, char *const *command, const char *started,
		    const struct noise *noise)
{
	json_t *arguments = json_array();

	for (; *command; command++)
		json_array_append_new(arguments, argument(*command));
	return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o}", "schema", "toll/1", "program", program,
			 "version", TOLL_VERSION, "command", arguments, "started", started, "host",
			 host__describe(), "noise", noise__json(noise));
}

json_t *record__real(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *record__stats(struct stats stats)
{
	return json_pack("{s:o, s:o, s:o, s:[o,o], s:I}", "median", record__real(stats.median), "min",
			 record__real(stats.min), "max", record__real(stats.max), "ci95",
			 record__real(stats.low), record__real(stats.high), "windows",
			 (json_int_t)stats.n);
}

int record__write(const json_t *record, FILE *stream)
{
	if (!record || json_dumpf(record, stream, JSON_INDENT(2)) || fputc('\n', stream) == EOF)
		return -EIO;
	return 0;
}

int record__report(json_t *record, int err, struct output *table, struct output *json)
{
	if (record)
		err = record__write(record, json->stream) ? -EIO : err;
	json_decref(record);
	if (output__finish(table) | output__finish(json))
		return EXIT_FAILED;
	if (err)
		message__error("the report is incomplete: %s", strerror(-err));
	return err ? EXIT_FAILED : EXIT_MEASURED;
}
