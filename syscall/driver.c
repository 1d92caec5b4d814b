/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "fib/machine.h"

#define CALLS_AT_A_TIME 1000 /* between two looks at the stop flag */
#define LOOP_STACK_WORDS 1000

__asm__(".section .rodata\n"
	".global getuid_basm\n"
	"getuid_basm: .incbin \"fib/programs/getuid.basm\"\n"
	".byte 0\n"
	".previous\n");
extern const char getuid_basm[];

const char *const driver_names[DRIVERS] = {"native", "interp", "jit"};

struct driver {
	struct program program;
	const struct member *members;
	int n;
	struct machine *machines[];
};

int driver__new(struct driver **out, enum driver_kind kind, const struct member *members, int n,
		char *why, size_t why_size)
{
	struct machine_options options = {
		.kind = kind == DRIVER_JIT ? MACHINE_JIT : MACHINE_FUSED,
		.checks = CHECK_ALL,
		.stack_words = LOOP_STACK_WORDS,
	};
	struct driver *driver = calloc(1, sizeof(*driver) + (size_t)n * sizeof(driver->machines[0]));
	int err;

	*out = NULL;
	snprintf(why, why_size, "out of memory");
	if (!driver)
		return -ENOMEM;
	driver->members = members;
	driver->n = n;
	err = program__assemble(&driver->program, getuid_basm, strlen(getuid_basm), why, why_size);
	if (!err)
		err = program__verify(&driver->program, why, why_size);
	for (int i = 0; !err && i < n; i++)
		err = machine__new(&driver->machines[i], &driver->program, &options, why, why_size);
	if (err) {
		driver__free(driver);
		return err;
	}
	*out = driver;
	return 0;
}

void driver__free(struct driver *driver)
{
	if (!driver)
		return;
	for (int i = 0; i < driver->n; i++)
		machine__free(driver->machines[i]);
	program__free(&driver->program);
	free(driver);
}

void driver__work(struct member *member, const atomic_bool *stop, void *argument)
{
	struct driver *driver = argument;
	struct machine *machine = driver->machines[member - driver->members];
	const uint64_t limit = member->limit;
	uint64_t made = 0;

	member->start_ns = clock_ns();
	while (made < limit && !atomic_load_explicit(stop, memory_order_relaxed)) {
		uint64_t left = limit - made;
		value n = value__integer((int64_t)(left < CALLS_AT_A_TIME ? left : CALLS_AT_A_TIME));

		if (machine__run(machine, &n))
			break; /* made will differ from counted */
		made += (uint64_t)value__number(machine->vm->x[0]);
	}
	member->end_ns = clock_ns();
	member->made = made;
}
