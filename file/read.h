/* SPDX-License-Identifier: BSD-2-Clause */
/* One run of a layer over a file in sequence: what read and lines measure. */
#ifndef TOLL_READ_H
#define TOLL_READ_H

#include "file/experiment.h"

/* Reads meter->limit bytes (or to the end) through arm->layer, with arm->readers at once if the layer lets
 * several; what it reads, seen sees (NULL: nobody), with that argument: argument[i], size bytes apart, for reader
 * i. Sets meter->sample. Returns 0 or -errno with the reason in arm->why. */
int read__through(const struct setting *setting, struct arm *arm, struct meter *meter,
		  void (*seen)(void *argument, const void *data, size_t n, uint64_t offset), void *argument, size_t size);

#endif
