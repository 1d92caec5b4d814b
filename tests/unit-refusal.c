/* SPDX-License-Identifier: BSD-2-Clause */
/* Each reason for which BPF is refused has its own message: what is missing, how to get it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "probes/refusal.h"

static void each_reason_has_its_message(void **state)
{
	static const struct {
		struct refusal refusal;
		const char *says;
	} cases[] = {
		{{.err = -EPERM, .btf = true}, "use sudo"},
		{{.err = -EPERM, .root = true, .btf = true}, "root without CAP_BPF and CAP_PERFMON"},
		{{.err = -EPERM, .root = true, .capable = true, .btf = true,
		  .lockdown = "confidentiality"}, "boot with lockdown=integrity"},
		{{.err = -ESRCH, .root = true, .capable = true}, "no BTF"},
		{{.err = -EPERM, .capable = true, .btf = true, .old = true}, "ulimit -l unlimited"},
		{{.err = -ENOMEM, .capable = true, .btf = true, .old = true}, "RLIMIT_MEMLOCK"},
		{{.err = -EPERM, .capable = true, .btf = true, .one_function = true},
		 "refuses programs on its functions (Operation not permitted)"},
		{{.err = -EINVAL, .capable = true, .btf = true, .lockdown = "integrity"},
		 "the kernel refuses it (Invalid argument)"},
	};
	char why[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		refusal__explain(&cases[i].refusal, why, sizeof(why));
		assert_null(strchr(why, '\n'));
		if (!strstr(why, cases[i].says))
			fail_msg("case %zu: \"%s\" lacks \"%s\"", i, why, cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_reason_has_its_message)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
