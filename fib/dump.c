/* SPDX-License-Identifier: BSD-2-Clause */
#include <capstone/capstone.h>
#include <errno.h>
#include <inttypes.h>

#include "fib/jit.h"

#if defined(__x86_64__)
#define ARCHITECTURE CS_ARCH_X86, CS_MODE_64
#elif defined(__aarch64__)
#define ARCHITECTURE CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN
#endif

static bool is_filling(const cs_insn *instruction)
{
	for (int i = 0; i < instruction->size; i++)
		if (instruction->bytes[i] != CODE_MEMORY_FILL)
			return false;
	return true;
}

/* The machine code of [from, to), each line after what is at its left. */
static void print_code(csh handle, const struct jit *jit, size_t from, size_t to, FILE *stream)
{
	cs_insn *instructions;
	size_t n = cs_disasm(handle, jit->memory.code + from, to - from, from, 0, &instructions);

	for (size_t i = 0; i < n; i++) {
		if (is_filling(&instructions[i]))
			break; /* between functions */
		fprintf(stream, "%*s%6" PRIx64 "  %-7s %s\n", 36, "", instructions[i].address,
			instructions[i].mnemonic, instructions[i].op_str);
	}
	if (n)
		cs_free(instructions, n);
}

int jit__dump(const struct jit *jit, FILE *stream)
{
	const struct program *program = jit->program;
	csh handle;

	if (cs_open(ARCHITECTURE, &handle) != CS_ERR_OK)
		return -ENOTSUP;
	for (int f = 0; f < program->n_functions; f++) {
		const struct function *function = &program->functions[f];
		size_t end = f + 1 < program->n_functions ? jit->functions[f + 1] : jit->size;

		fprintf(stream, "%s:%s/%d\n", function->module, function->name, function->arity);
		for (int i = function->start; i < function->end; i++) {
			fprintf(stream, "  line %3d  L%-4d ", program->instructions[i].line, i);
			instruction__print(program, i, stream);
			fputc('\n', stream);
			print_code(handle, jit, jit->offsets[i],
				   i + 1 < function->end ? jit->offsets[i + 1] : end, stream);
		}
	}
	cs_close(&handle);
	return 0;
}
