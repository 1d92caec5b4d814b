/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/arguments.h"
#include "common/cpus.h"
#include "common/output.h"
#include "common/stats.h"
#include "common/table.h"
#include "common/tool.h"
#include "common/units.h"

static void stats_of_an_even_number(void **state)
{
	const double samples[] = {4, 1, 3, 2};
	struct stats s = stats__of(samples, 4);

	(void)state;
	assert_true(s.median == 2.5 && s.min == 1 && s.max == 4);
	assert_true(isnan(s.low) && isnan(s.high));
	assert_true(samples[0] == 4);
}

static void stats_interval_by_rank(void **state)
{
	double samples[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		samples[i] = 20 - i;
	/* Le Boudec's table: n = 6 gives ranks 1 and 6, n = 10 ranks 2 and 9, n = 20 ranks 6 and 15. */
	assert_true(stats__of(samples + 14, 6).low == 1 && stats__of(samples + 14, 6).high == 6);
	assert_true(stats__of(samples + 10, 10).low == 2 && stats__of(samples + 10, 10).high == 9);
	assert_true(stats__of(samples, 20).low == 6 && stats__of(samples, 20).high == 15);
}

static void stats_of_nothing(void **state)
{
	(void)state;
	assert_int_equal(stats__of(NULL, 0).n, 0);
	assert_true(isnan(stats__of(NULL, 0).median));
}

static void durations(void **state)
{
	uint64_t ns;

	(void)state;
	assert_int_equal(units__parse_duration("10", &ns), 0);
	assert_int_equal(ns, 10000000000u);
	assert_int_equal(units__parse_duration("500ms", &ns), 0);
	assert_int_equal(ns, 500000000u);
	assert_int_equal(units__parse_duration("1.5m", &ns), 0);
	assert_int_equal(ns, 90000000000u);
	assert_int_equal(units__parse_duration("0", &ns), -ERANGE);
	assert_int_equal(units__parse_duration("-1", &ns), -ERANGE);
	assert_int_equal(units__parse_duration("1e99", &ns), -ERANGE);
	assert_int_equal(units__parse_duration("5parsecs", &ns), -EINVAL);
	assert_int_equal(units__parse_duration("", &ns), -EINVAL);
	assert_int_equal(units__parse_duration("nan", &ns), -EINVAL);
	assert_int_equal(units__parse_duration("0x10", &ns), -EINVAL);
}

static void counts(void **state)
{
	uint64_t n;

	(void)state;
	assert_int_equal(units__parse_count("4K", &n), 0);
	assert_int_equal(n, 4096);
	assert_int_equal(units__parse_count("0", &n), -ERANGE);
	assert_int_equal(units__parse_count("99999999999999999999", &n), -ERANGE);
	assert_int_equal(units__parse_count("-1", &n), -EINVAL);
	assert_int_equal(units__parse_count("1.5", &n), -EINVAL);
}

static void rates(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(units__print_rate(text, sizeof(text), 29600000), "29.60 M/s");
	assert_string_equal(units__print_rate(text, sizeof(text), 5), "5.00 /s");
}

/* Four cores with two threads each, as cpus__find orders them. */
static int ids[] = {0, 2, 4, 6, 1, 3, 5, 7};
static const struct cpus machine = {ids, 8, 4};

static int choose(const char *text, int smt, int *chosen, bool *repeated)
{
	char why[128];

	return cpus__choose(&machine, text, smt, chosen, repeated, why, sizeof(why));
}

static void cpus_chosen(void **state)
{
	int chosen[8];
	bool repeated;

	(void)state;
	assert_int_equal(choose(NULL, 0, chosen, &repeated), 4);
	assert_int_equal(choose(NULL, 1, chosen, &repeated), 8);
	assert_int_equal(choose("5", 0, chosen, &repeated), 5);
	assert_int_equal(chosen[4], 1);
	assert_int_equal(choose("1-3,7", 0, chosen, &repeated), 4);
	assert_true(chosen[0] == 1 && chosen[2] == 3 && chosen[3] == 7 && !repeated);
	assert_int_equal(choose("5,", 0, chosen, &repeated), 1);
	assert_int_equal(choose("1,1", 0, chosen, &repeated), 1);
	assert_true(repeated);
}

static void cpus_refused(void **state)
{
	static const char *const bad[] = {"99", "0-", "5-2", "", "0", "-1", "1-2-3", "a", "1,,2", "8,",
					  "0-9", "99999999999999999999,"};
	int chosen[8];
	bool repeated;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(choose(bad[i], 0, chosen, &repeated), -EINVAL);
}

static char folder[] = "/tmp/toll-unit.XXXXXX";

/* The content of a file below the folder; "" where it is absent. */
static const char *content(const char *name)
{
	static char text[64];
	char path[64];
	FILE *file;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (file) {
		n = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	text[n] = '\0';
	return text;
}

static void output_flushed_and_committed(void **state)
{
	struct output output;
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/result", folder);
	assert_int_equal(output__open(&output, path), 0);
	fputs("one ", output.stream);
	assert_int_equal(output__flush(&output), 0);
	assert_string_equal(content("result"), ""); /* not before it is complete */
	fputs("two", output.stream);
	assert_int_equal(output__commit(&output), 0);
	assert_string_equal(content("result"), "one two");
	output__close(&output);
	assert_int_equal(output__open(&output, path), 0);
	fputs("three", output.stream);
	output__close(&output); /* dropped */
	assert_string_equal(content("result"), "one two");
	assert_int_equal(output__open(&output, "/dev/full"), 0);
	fputs("x", output.stream);
	assert_int_equal(output__flush(&output), -ENOSPC);
	output__close(&output);
}

static void tools_found_and_run(void **state)
{
	const char *const fails[] = {"sh", "-c", "echo said; echo $PATH >&2; exit 7", NULL};
	const char *const dies[] = {"sh", "-c", "kill -9 $$", NULL};
	const char *const stays[] = {"sleep", "60", NULL};
	char path[64], said[64], expected[128];
	FILE *file;

	(void)state;
	assert_null(tool__find("no-such-tool", path, sizeof(path)));
	assert_non_null(tool__find("sh", path, sizeof(path)));
	snprintf(said, sizeof(said), "%s/said", folder);
	file = fopen(said, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(tool__run(path, fails, said, 10000000000u), 7);
	snprintf(expected, sizeof(expected), "said\n%s\n", TOOL_SYSTEM_PATH);
	assert_memory_equal(content("said"), expected, strlen(content("said")));
	assert_int_equal(strlen(content("said")), strlen(expected));
	assert_int_equal(tool__run(path, dies, "/dev/null", 10000000000u), 128 + 9);
	assert_int_equal(tool__run("/no/such", fails, "/dev/null", 10000000000u), 127);
	assert_int_equal(tool__run("/bin/sleep", stays, "/dev/null", 50000000u), -ETIMEDOUT);
	unlink(said);
	snprintf(said, sizeof(said), "%s/result", folder);
	unlink(said);
	assert_int_equal(rmdir(folder), 0); /* nothing else was left there */
}

static void a_line_through_points(void **state)
{
	const double x[] = {512, 1024, 4096, 65536}, exact[] = {1000 + 51.2, 1000 + 102.4, 1000 + 409.6, 1000 + 6553.6};
	/* Least squares of the relative residuals, found by trying. */
	const double two_x[] = {1, 3, 5}, two_y[] = {1.1, 2.7, 5.5};
	struct line line = stats__line(x, exact, 4);

	(void)state;
	assert_true(fabs(line.constant - 1000) < 1e-6 && fabs(line.slope - 0.1) < 1e-9);
	assert_true(line.constant_error < 1e-6 && line.slope_error < 1e-9);
	line = stats__line(two_x, two_y, 3);
	assert_true(fabs(line.slope - 0.956285) < 1e-5 && fabs(line.constant - 0.119762) < 1e-5);
	assert_true(fabs(line.slope_error - 0.161411) < 1e-5);
	line = stats__line(x, exact, 2);
	assert_true(fabs(line.slope - 0.1) < 1e-9 && isnan(line.slope_error) && isnan(line.constant_error));
	assert_true(isnan(stats__line(x, exact, 1).slope) && isnan(stats__line(x, exact, 0).constant));
	line = stats__line((const double[]){7, 7, 7}, exact, 3); /* no line through one x */
	assert_true(isnan(line.slope));
}

static void sizes(void **state)
{
	char text[16];

	(void)state;
	assert_string_equal(units__print_size(text, sizeof(text), 512), "512");
	assert_string_equal(units__print_size(text, sizeof(text), 1024), "1K");
	assert_string_equal(units__print_size(text, sizeof(text), 65536), "64K");
	assert_string_equal(units__print_size(text, sizeof(text), 1048576), "1M");
	assert_string_equal(units__print_size(text, sizeof(text), 1100000000), "1100000000");
	assert_string_equal(units__print_size(text, sizeof(text), 0), "0");
	assert_string_equal(units__print_size(text, sizeof(text), 5ull << 40), "5120G");
}

static void tables_with_unknown_numbers(void **state)
{
	static const struct column columns[] = {{"a", 1, true}, {"b", 6, false}};
	struct table *table = table__new(columns, 2);
	char *text;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	table__cell(table, "x");
	table__number(table, "%.2f", NAN);
	table__cell(table, "y");
	table__number(table, "%.2f", 1.005e3);
	assert_int_equal(table__print(table, stream, ""), 0);
	fclose(stream);
	assert_string_equal(text, "a       b\nx       -\ny 1005.00\n");
	free(text);
	table__free(table);
}

static void names_of_a_list(void **state)
{
	const char *list = "a,bc,,d";
	char name[3];

	(void)state;
	assert_true(names__next(&list, name, sizeof(name)));
	assert_string_equal(name, "a");
	assert_true(names__next(&list, name, sizeof(name)));
	assert_string_equal(name, "bc");
	assert_true(names__next(&list, name, sizeof(name)));
	assert_string_equal(name, "");
	assert_true(names__next(&list, name, sizeof(name)));
	assert_string_equal(name, "d");
	assert_false(names__next(&list, name, sizeof(name)));
	list = "long,";
	assert_true(names__next(&list, name, sizeof(name)));
	assert_string_equal(name, "lo");
	assert_false(names__next(&list, name, sizeof(name)));
	assert_true(names__have("a,bc", "bc") && names__have(NULL, "x"));
	assert_false(names__have("a,bc", "b") || names__have("a,bc", "bcd") || names__have("", "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_of_an_even_number), cmocka_unit_test(stats_interval_by_rank),
		cmocka_unit_test(stats_of_nothing),	   cmocka_unit_test(durations),
		cmocka_unit_test(counts),		   cmocka_unit_test(rates),
		cmocka_unit_test(output_flushed_and_committed),
		cmocka_unit_test(tools_found_and_run),
		cmocka_unit_test(a_line_through_points),   cmocka_unit_test(sizes),
		cmocka_unit_test(tables_with_unknown_numbers), cmocka_unit_test(names_of_a_list),
		cmocka_unit_test(cpus_chosen),		   cmocka_unit_test(cpus_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
