/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/message.h"
#include "common/units.h"

#define MOST_NAME 64

uint64_t arguments__whole(const char *option, const char *text, uint64_t most)
{
	uint64_t count = 0;

	if (units__parse_count(text, &count) || count > most)
		message__usage("%s '%s': not a whole number from 1 to %llu", option, text, (unsigned long long)most);
	return count;
}

uint64_t arguments__duration(const char *option, const char *text)
{
	uint64_t ns = 0;
	int err = units__parse_duration(text, &ns);

	if (err == -ERANGE)
		message__usage("%s %s: must be above 0 and at most 365 days", option, text);
	if (err)
		message__usage("%s '%s': not a duration such as 10s, 500ms or 2m", option, text);
	return ns;
}

bool names__next(const char **list, char *name, size_t size)
{
	size_t n = strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(name, size, "%.*s", (int)n, *list);
	*list += n + ((*list)[n] == ',');
	return true;
}

bool names__have(const char *list, const char *name)
{
	char one[MOST_NAME];

	if (!list)
		return true;
	while (names__next(&list, one, sizeof(one)))
		if (!strcmp(one, name))
			return true;
	return false;
}
