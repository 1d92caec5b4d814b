/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "common/arguments.h"
#include "common/message.h"
#include "common/signals.h"
#include "file/experiment.h"
#include "file/text.h"

void setting__check_modes(const struct setting *setting)
{
	const char *at = setting->options->modes;
	char name[sizeof(setting->arms.arms->mode)];

	while (at && names__next(&at, name, sizeof(name))) {
		bool found = false;

		for (int i = 0; i < setting->arms.n; i++)
			found |= !strcmp(setting->arms.arms[i].mode, name);
		if (!found)
			message__usage("--modes '%s': unknown; --list shows what there is", name);
	}
}

int setting__open(struct setting *setting, char *why, size_t why_size)
{
	const struct file_options *options = setting->options;

	if (options->file)
		return workfile__open(&setting->work, options->file, why, why_size);
	return workfile__make(&setting->work, options->dir, options->size, why, why_size);
}

static int is_interrupted(uint64_t done, void *argument)
{
	(void)done;
	(void)argument;
	return signals__pending();
}

int setting__open_text(struct setting *setting, struct words *truth, char *why, size_t why_size)
{
	int err = setting__open(setting, why, why_size);

	if (err || !setting->work.made)
		return err;
	setting->work.size = setting->options->size;
	return text__write(setting->work.fd, setting->work.size, truth, is_interrupted, NULL);
}
