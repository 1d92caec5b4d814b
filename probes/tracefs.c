/* SPDX-License-Identifier: BSD-2-Clause */
#include "probes/tracefs.h"

#include <errno.h>
#include <string.h>

int tracefs__open(FILE **file, const char *event, const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int err = -ENOENT;

	for (int i = 0; i < 2; i++) {
		char path[256];

		snprintf(path, sizeof(path), "%s/events/%s/%s", roots[i], event, name);
		*file = fopen(path, "re");
		if (*file)
			return 0;
		err = errno == EACCES ? -EACCES : err;
	}
	return err;
}

int tracefs__field(const char *event, const char *field)
{
	char line[512], wanted[64];
	int offset = -ENOENT, err;
	const char *at;
	FILE *file;

	err = tracefs__open(&file, event, "format");
	if (err)
		return err;
	snprintf(wanted, sizeof(wanted), " %s;", field);
	while (offset < 0 && fgets(line, sizeof(line), file))
		if (strstr(line, wanted) && (at = strstr(line, "offset:")))
			sscanf(at, "offset:%d", &offset);
	fclose(file);
	return offset;
}
