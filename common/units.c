/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double factor;
};

/* The longest duration taken: past it, a typing error is likelier than a wish. */
#define LONGEST_NS (365.0 * 86400e9)

static const struct unit durations[] = {
	{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 60e9}, {"h", 3600e9},
};
static const struct unit counts[] = {{"", 1}, {"K", 1024}, {"M", 1048576}, {"G", 1073741824}};

static const struct unit *find(const struct unit *units, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(units[i].name, name))
			return &units[i];
	return NULL;
}

int units__parse_duration(const char *text, uint64_t *ns)
{
	const struct unit *unit;
	double value;
	char *end;

	/* strtod also takes white space, "inf", "nan" and hexadecimal: not durations. */
	if (!isdigit((unsigned char)text[0]) && text[0] != '-' && text[0] != '.')
		return -EINVAL;
	if (strpbrk(text, "xX"))
		return -EINVAL;
	value = strtod(text, &end);
	unit = find(durations, sizeof(durations) / sizeof(*durations), end);
	if (end == text || !unit || !isfinite(value * unit->factor))
		return end != text && unit ? -ERANGE : -EINVAL;
	value *= unit->factor;
	if (value < 1 || value > LONGEST_NS)
		return -ERANGE;
	*ns = (uint64_t)value;
	return 0;
}

int units__parse_count(const char *text, uint64_t *count)
{
	const struct unit *unit;
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	unit = find(counts, sizeof(counts) / sizeof(*counts), end);
	if (!unit)
		return -EINVAL;
	if (errno || !value || value > (1ull << 62) / (uint64_t)unit->factor)
		return -ERANGE;
	*count = value * (uint64_t)unit->factor;
	return 0;
}

char *units__print_rate(char *buffer, size_t size, double per_second)
{
	static const char prefixes[] = " kMG";
	int i = 0;

	while (per_second >= 1000 && i < 3) {
		per_second /= 1000;
		i++;
	}
	if (i)
		snprintf(buffer, size, "%.2f %c/s", per_second, prefixes[i]);
	else
		snprintf(buffer, size, "%.2f /s", per_second);
	return buffer;
}

char *units__print_size(char *buffer, size_t size, uint64_t bytes)
{
	static const char prefixes[] = " KMG";
	int i = 0;

	while (bytes && bytes % 1024 == 0 && i < 3) {
		bytes /= 1024;
		i++;
	}
	snprintf(buffer, size, "%llu%.*s", (unsigned long long)bytes, i ? 1 : 0, &prefixes[i]);
	return buffer;
}
