/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of compiled functions for a debugger (gdb manual, "JIT Compilation Interface"). */
#ifndef TOLL_GDB_H
#define TOLL_GDB_H

#include "fib/jit.h"

struct gdb_code; /* what the debugger was told of */

/* Tells an attached or later debugger of the functions. NULL: out of memory, and it knows nothing. */
struct gdb_code *gdb__register(const struct jit *jit);
/* Takes it back; NULL is taken. */
void gdb__unregister(struct gdb_code *code);

#endif
