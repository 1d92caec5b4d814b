/* SPDX-License-Identifier: BSD-2-Clause */
/* A short run of the fuzzers with a fixed seed: make fuzz goes on for longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/fuzz/differential.h"

#define PROGRAMS 20000
#define TEXTS 10000

static uint64_t state = 2009;

/* xorshift64 (Marsaglia, 2003) */
static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void programs_run_alike(void **unused)
{
	uint8_t data[512];

	(void)unused;
	for (int i = 0; i < PROGRAMS; i++) {
		for (size_t k = 0; k < sizeof(data); k++)
			data[k] = (uint8_t)(next() >> 32);
		differential__program(data, sizeof(data));
	}
}

/* A real program with a few bytes changed: most are refused, some still run. */
static void changed_texts_are_refused_or_run_alike(void **unused)
{
	static const char characters[] = "xy0123456789,:/ \n\tabcdef_-;";
	char text[4096], changed[4096];
	FILE *file = fopen("tests/programs/binomial.basm", "r");
	size_t size;
	int ran = 0;

	(void)unused;
	assert_non_null(file);
	size = fread(text, 1, sizeof(text), file);
	fclose(file);
	for (int i = 0; i < TEXTS; i++) {
		memcpy(changed, text, size);
		for (int k = 0; k < 2; k++)
			changed[(next() >> 8) % size] =
				characters[(next() >> 8) % (sizeof(characters) - 1)];
		ran += differential__text(changed, size);
	}
	assert_in_range(ran, TEXTS / 20, TEXTS - TEXTS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_run_alike),
		cmocka_unit_test(changed_texts_are_refused_or_run_alike),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
