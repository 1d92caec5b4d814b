/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "common/message.h"
#include "file/experiment.h"

bool setting__wants(const struct setting *setting, const char *name)
{
	const char *at = setting->options->modes;
	size_t length = strlen(name);

	if (!at)
		return true;
	while (*at) {
		size_t n = strcspn(at, ",");

		if (n == length && !strncmp(at, name, n))
			return true;
		at += n + (at[n] == ',');
	}
	return false;
}

void setting__check_modes(const struct setting *setting)
{
	for (const char *at = setting->options->modes; at && *at;) {
		size_t n = strcspn(at, ",");
		bool found = false;

		for (int i = 0; i < setting->arms.n; i++)
			found |= strlen(setting->arms.arms[i].mode) == n && !strncmp(setting->arms.arms[i].mode, at, n);
		if (!found)
			message__usage("--modes '%.*s': unknown; --list shows what there is", (int)n, at);
		at += n + (at[n] == ',');
	}
}

int setting__open(struct setting *setting, char *why, size_t why_size)
{
	const struct file_options *options = setting->options;

	if (options->file)
		return workfile__open(&setting->work, options->file, why, why_size);
	return workfile__make(&setting->work, options->dir, options->size, why, why_size);
}
