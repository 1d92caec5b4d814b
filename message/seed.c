/* SPDX-License-Identifier: BSD-2-Clause */
#include "message/experiment.h"

__asm__(".section .rodata\n"
	".global message_seed_text\n"
	"message_seed_text: .incbin \"results/seed/message-rate.json\"\n"
	".byte 0\n"
	".previous\n");
extern const char message_seed_text[];

json_t *message_seed(const char *experiment)
{
	json_t *all = json_loads(message_seed_text, 0, NULL), *one = json_incref(json_object_get(all, experiment));

	json_decref(all);
	return one;
}
