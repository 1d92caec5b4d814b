/* SPDX-License-Identifier: BSD-2-Clause */
/* What watching computes: estimated seconds, classes and columns of strace, fields of events. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "probes/tally.h"
#include "probes/tracefs.h"
#include "syscall/classes.h"
#include "syscall/summary.h"

static void seconds_of_what_was_timed_are_exact(void **state)
{
	struct tally all = {.calls = 3, .timed = 3, .time_ns = 1500};
	double half = 1;

	(void)state;
	assert_true(fabs(tally__seconds(&all, &half) - 1.5e-6) < 1e-15);
	assert_true(half == 0);
}

static void seconds_of_what_was_sampled_are_scaled(void **state)
{
	/* Two calls timed at 1000 ns together; of 160 others, ten sampled: five of 128 ns, five of 384. */
	struct tally tally = {.calls = 162, .timed = 2, .time_ns = 1000, .sampled = 10, .sampled_ns = 2560,
			      .squares = 5 * (128 * 128 + 384 * 384) / 256};
	double half;

	(void)state;
	assert_true(fabs(tally__seconds(&tally, &half) - (1000 + 160 * 256) / 1e9) < 1e-15);
	/* Variance 5 * 2 * 128^2 / 9; 1.96 * 160 * sqrt(variance / 10 * (1 - 10/160)). */
	assert_true(fabs(half - 1.96 * 160 * sqrt(5 * 2 * 128.0 * 128.0 / 9 / 10 * (1 - 10.0 / 160)) / 1e9) < 1e-12);
	tally.sampled = 0;
	assert_true(fabs(tally__seconds(&tally, NULL) - 500e-9 * 162) < 1e-12); /* the mean of those timed */
	tally = (struct tally){.calls = 5};
	assert_true(tally__seconds(&tally, &half) == 0);
}

static void tallies_add_and_subtract(void **state)
{
	struct tally sum = {.calls = 1, .min_ns = 0, .max_ns = 5};
	const struct tally part = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	struct tally now;

	(void)state;
	tally__add(&sum, &part);
	assert_int_equal(sum.calls, 2);
	assert_int_equal(sum.off_ns, 9);
	assert_int_equal(sum.min_ns, 10); /* 0 is none */
	assert_int_equal(sum.max_ns, 11);
	now = sum;
	tally__subtract(&now, &part);
	assert_int_equal(now.calls, 1);
	assert_int_equal(now.errors + now.timed + now.time_ns + now.entered + now.sampled + now.sampled_ns +
				 now.squares + now.off_ns,
			 0);
}

static void columns_have_strace_s_names(void **state)
{
	enum summary_column chosen[COLUMNS + 1];
	char why[64];

	(void)state;
	assert_int_equal(summary__columns("calls,min-time", chosen, why, sizeof(why)), 0);
	assert_int_equal(chosen[0], CALLS);
	assert_int_equal(chosen[1], SHORTEST);
	assert_int_equal(chosen[2], NAME); /* added, as strace does */
	assert_int_equal(chosen[3], COLUMNS);
	assert_int_equal(summary__columns("name,calls", chosen, why, sizeof(why)), 0);
	assert_int_equal(chosen[1], CALLS);
	assert_int_equal(chosen[2], COLUMNS);
	assert_int_equal(summary__columns("calls,nosuch", chosen, why, sizeof(why)), -EINVAL);
	assert_string_equal(why, "nosuch");
	assert_int_equal(summary__columns("calls,calls", chosen, why, sizeof(why)), -EINVAL);
	assert_int_equal(summary__column("nothing"), BY_NOTHING);
	assert_int_equal(summary__column("time_percent"), summary__column("time-percent"));
	assert_int_equal(summary__column("nosuch"), -1);
}

static void classes_are_strace_s(void **state)
{
	(void)state;
	assert_true(class__has("%file", "openat"));
	assert_true(class__has("file", "openat"));
	assert_false(class__has("%file", "read"));
	assert_false(class__has("%file", "open_by_handle_at")); /* not by a part of a name */
	assert_true(class__has("%net", "accept4"));
	assert_true(class__has("all", "read"));
	assert_false(class__has("none", "read"));
	assert_true(class__known("%pure"));
	assert_false(class__known("pure")); /* this one needs its % */
	assert_false(class__known("%nosuch"));
	assert_true(summary__listed("!%file,read", "write"));
	assert_false(summary__listed("!%file,read", "read"));
	assert_false(summary__listed("!%file,read", "openat"));
	assert_true(summary__listed("%file,read", "read"));
}

static void events_that_are_not_there(void **state)
{
	(void)state;
	assert_int_equal(tracefs__field("nosuch/event", "field"), -ENOENT);
	assert_int_equal(tracefs__field("../../../etc", "passwd"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_of_what_was_timed_are_exact),
		cmocka_unit_test(seconds_of_what_was_sampled_are_scaled),
		cmocka_unit_test(tallies_add_and_subtract),
		cmocka_unit_test(columns_have_strace_s_names),
		cmocka_unit_test(classes_are_strace_s),
		cmocka_unit_test(events_that_are_not_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
