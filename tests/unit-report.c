/* SPDX-License-Identifier: BSD-2-Clause */
/* What results look like: tables, the strace -c summary and JSON. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <sys/syscall.h>

#include "common/record.h"
#include "common/table.h"
#include "syscall/summary.h"

static char *text;
static size_t text_size;

static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &text_size);
}

static const struct column columns[] = {{"n", 4, false}, {"name", 5, true}, {"x", 1, false}};

static void table_is_as_wide_as_its_cells(void **state)
{
	struct table *table = table__new(columns, 3);
	FILE *stream = begin();

	(void)state;
	table__rule(table);
	table__cell(table, "%d", 12345678);
	table__cell(table, "a");
	table__cell(table, "%s", "");
	table__cell(table, "1");
	table__cell(table, "longer");
	table__cell(table, "22");
	assert_int_equal(table__print(table, stream, "> "), 0);
	fclose(stream);
	table__free(table);
	assert_string_equal(text, ">        n name    x\n"
				  "> -------- ------ --\n"
				  "> 12345678 a        \n"
				  ">        1 longer 22\n");
}

static void table_without_memory(void **state)
{
	(void)state;
	table__cell(NULL, "x");
	table__rule(NULL);
	assert_int_equal(table__print(NULL, stdout, ""), -ENOMEM);
	table__free(NULL);
}

static struct tally by_nr[NR_SLOTS];
static struct summary summary;
static const struct summary_view everything = {.errors = true, .times = true};

static void summary_is_strace_s(void **state)
{
	FILE *stream = begin();

	(void)state;
	memset(by_nr, 0, sizeof(by_nr));
	by_nr[SYS_getuid] = (struct tally){.calls = 1234567890, .timed = 1000, .time_ns = 81000};
	by_nr[SYS_read] = (struct tally){.calls = 4, .errors = 1, .timed = 4, .time_ns = 8000};
	by_nr[SYS_write] = (struct tally){.calls = 2};
	summary__of(&summary, by_nr, NULL, everything);
	assert_int_equal(summary__print(&summary, summary_default, stream), 0);
	fclose(stream);
	assert_string_equal(
		text, "% time     seconds  usecs/call      calls    errors syscall\n"
		      "------ ----------- ----------- ---------- --------- ----------------\n"
		      "100.00   99.999999           0 1234567890           getuid\n"
		      "  0.00    0.000008           2          4         1 read\n"
		      "  0.00    0.000000           0          2           write\n"
		      "------ ----------- ----------- ---------- --------- ----------------\n"
		      "100.00  100.000007           0 1234567896         1 total\n");
}

static void summary_sorts_and_filters(void **state)
{
	static const struct {
		const char *order, *first, *last;
	} orders[] = {{"time", "getuid", "write"}, {"calls", "getuid", "write"}, {"errors", "read", NULL},
		      {"name", "getuid", "write"}, {"nothing", "read", "getuid"}};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		summary__of(&summary, by_nr, NULL, everything);
		summary__sort(&summary, (enum summary_column)summary__column(orders[i].order));
		assert_string_equal(summary.rows[0].name, orders[i].first);
		if (orders[i].last)
			assert_string_equal(summary.rows[2].name, orders[i].last);
	}
	assert_int_equal(summary__column("nosuch"), -1);
	summary__filter(&summary, "read,write");
	assert_int_equal(summary.n, 2);
	assert_int_equal(summary.total.calls, 6);
	assert_int_equal(summary.total.errors, 1);
	summary__filter(&summary, "!read");
	assert_int_equal(summary.n, 1);
	assert_string_equal(summary.rows[0].name, "write");
	assert_true(syscall__known("getuid") && syscall__known("mseal") && !syscall__known("nosuch"));
}

static void summary_says_what_it_does_not_know(void **state)
{
	FILE *stream = begin();
	json_t *json;

	(void)state;
	memset(by_nr, 0, sizeof(by_nr));
	by_nr[SYS_getuid].calls = 3;
	summary__of(&summary, by_nr, NULL, (struct summary_view){0});
	summary__print(&summary, summary_default, stream);
	fclose(stream);
	assert_non_null(strstr(text, "     -           -           -         3         - getuid\n"));
	json = summary__json(&summary);
	assert_true(json_is_null(json_object_get(json_array_get(json, 0), "errors")));
	assert_true(json_is_null(json_object_get(json_array_get(json, 0), "seconds")));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(json, 0), "calls")), 3);
	json_decref(json);
}

static void names_of_calls(void **state)
{
	char name[32];

	(void)state;
	assert_string_equal(syscall__name(SYS_getuid, name, sizeof(name)), "getuid");
	assert_string_equal(syscall__name(467, name, sizeof(name)), "open_tree_attr");
	assert_string_equal(syscall__name(510, name, sizeof(name)), "syscall_510");
}

static void record_has_what_the_schema_names(void **state)
{
	static const char *const keys[] = {"schema", "program", "version", "command", "started", "host",
					   "noise"};
	char *command[] = {"prog", "\xff", NULL};
	struct noise noise = {.migrations = -1, .other_probes = 2};
	json_t *record = record__new("prog", command, "2009-01-01T00:00:00Z", &noise);

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_non_null(json_object_get(record, keys[i]));
	assert_string_equal(json_string_value(json_object_get(record, "schema")), "toll/1");
	assert_string_equal(json_string_value(json_array_get(json_object_get(record, "command"), 1)),
			    "?");
	assert_true(json_is_null(json_object_get(json_object_get(record, "noise"), "migrations")));
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(record, "noise"), "other_probes")), 2);
	json_decref(record);
}

static void record_has_no_numbers_that_are_none(void **state)
{
	FILE *stream = begin();
	json_t *json = record__stats((struct stats){1, 2.5, 2.5, 2.5, NAN, INFINITY});

	(void)state;
	assert_int_equal(record__write(json, stream), 0);
	fclose(stream);
	assert_non_null(strstr(text, "\"median\": 2.5"));
	assert_non_null(strstr(text, "null,\n    null\n"));
	assert_int_equal(record__write(NULL, stdout), -EIO);
	json_decref(json);
}

/* A warning a figure, and none for a quiet run. */
static void noise_warns(void **state)
{
	struct noise quiet = {.elapsed_ms = 1000, .migrations = 0};
	struct noise loud = {.elapsed_ms = 1000, .steal_ms = 900000, .other_load_ms = 200, .migrations = 3,
			     .other_probes = 1, .audit = 1, .seccomp = 2, .governor = "powersave"};
	static const char *const said[] = {"time was stolen", "used 0.20 CPUs", "were moved",
					   "1 BPF program of others", "audits", "seccomp", "powersave"};
	FILE *stream = begin();

	(void)state;
	noise__print(&quiet, stream);
	fclose(stream);
	assert_null(strstr(text, "warning"));
	stream = begin();
	noise__print(&loud, stream);
	fclose(stream);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
		assert_non_null(strstr(text, said[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_as_wide_as_its_cells),
		cmocka_unit_test(table_without_memory),
		cmocka_unit_test(summary_is_strace_s),
		cmocka_unit_test(summary_sorts_and_filters),
		cmocka_unit_test(summary_says_what_it_does_not_know),
		cmocka_unit_test(names_of_calls),
		cmocka_unit_test(record_has_what_the_schema_names),
		cmocka_unit_test(record_has_no_numbers_that_are_none),
		cmocka_unit_test(noise_warns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
