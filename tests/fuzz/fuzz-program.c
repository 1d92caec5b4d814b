/* SPDX-License-Identifier: BSD-2-Clause */
/* libFuzzer: random programs that pass the verifier, interpreters against JIT. */
#include "tests/fuzz/differential.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	differential__program(data, size);
	return 0;
}
