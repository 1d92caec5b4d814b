/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "common/cpus.h"
#include "common/stats.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_of_an_even_number), cmocka_unit_test(stats_interval_by_rank),
		cmocka_unit_test(stats_of_nothing),	   cmocka_unit_test(durations),
		cmocka_unit_test(counts),		   cmocka_unit_test(rates),
		cmocka_unit_test(cpus_chosen),		   cmocka_unit_test(cpus_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
