/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory for machine code that is never writable and executable at once. */
#ifndef TOLL_CODE_MEMORY_H
#define TOLL_CODE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum wx {
	WX_AUTO,     /* the first of the others that works */
	WX_MPROTECT, /* written, then made executable (and no longer writable) */
	WX_DUAL,     /* two mappings of one memory file; the writable one goes before code runs */
	WX_MODES
};
extern const char *const wx_names[WX_MODES];

/* What traps when it is executed: int3; udf 0. */
#if defined(__aarch64__)
#define CODE_MEMORY_FILL 0
#else
#define CODE_MEMORY_FILL 0xCC
#endif

struct code_memory {
	enum wx mode;	   /* as used */
	size_t size;	   /* whole pages */
	uint8_t *writable; /* NULL once sealed */
	uint8_t *code;	   /* where it will run; to be executed after sealing only */
};

/* Reserves at least size bytes, filled with CODE_MEMORY_FILL. Returns 0 or -errno. */
int code_memory__new(struct code_memory *memory, size_t size, enum wx mode);
/* Makes it executable and not writable. Returns 0 or -errno. */
int code_memory__seal(struct code_memory *memory);
/* Takes a half-made one. */
void code_memory__free(struct code_memory *memory);

#endif
