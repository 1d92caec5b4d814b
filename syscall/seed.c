/* SPDX-License-Identifier: BSD-2-Clause */
#include "syscall/seed.h"

#include <errno.h>
#include <jansson.h>

__asm__(".section .rodata\n"
	".global seed_text\n"
	"seed_text: .incbin \"results/seed/syscall-rate.json\"\n"
	".byte 0\n"
	".previous\n");
extern const char seed_text[];

int seed__read(struct seed *seed)
{
	json_t *file = json_loads(seed_text, 0, NULL);
	json_t *counts, *count;
	double seconds, one, sum = 0;
	size_t i;
	int err = json_unpack(file, "{s:F, s:i, s:F, s:F, s:o}", "seconds", &seconds, "cores",
			      &seed->cores, "written_up_millions", &one, "claimed_per_second",
			      &seed->claimed, "calls_millions", &counts);

	if (!err) {
		json_array_foreach(counts, i, count)
			sum += json_number_value(count);
		seed->written_up = one * 1e6 * seed->cores / seconds;
		seed->printed = sum * 1e6 / seconds;
	}
	json_decref(file);
	return err ? -EINVAL : 0;
}
