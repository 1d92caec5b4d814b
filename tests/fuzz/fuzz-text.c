/* SPDX-License-Identifier: BSD-2-Clause */
/* libFuzzer: any text is refused with a line and a reason, or runs alike on every engine. */
#include "tests/fuzz/differential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	differential__text((const char *)data, size);
	return 0;
}
