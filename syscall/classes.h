/* SPDX-License-Identifier: BSD-2-Clause */
/* The classes of calls that strace -e trace= knows: %file, %process, %network and others. */
#ifndef TOLL_CLASSES_H
#define TOLL_CLASSES_H

#include <stdbool.h>

/* Is word a class (the older ones need no %), or "all" or "none"? */
bool class__known(const char *word);
/* Is that call in it? */
bool class__has(const char *word, const char *call);

#endif
