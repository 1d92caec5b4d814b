/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file in memory, which has the symbols of the code and not the code itself. */
#include "fib/gdb.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* The names and layouts below are gdb's. */
struct jit_code_entry {
	struct jit_code_entry *next_entry, *prev_entry;
	const char *symfile_addr;
	uint64_t symfile_size;
};

enum { JIT_NOACTION, JIT_REGISTER_FN, JIT_UNREGISTER_FN };

struct jit_descriptor {
	uint32_t version, action_flag;
	struct jit_code_entry *relevant_entry, *first_entry;
};

void __jit_debug_register_code(void);
struct jit_descriptor __jit_debug_descriptor = {1, JIT_NOACTION, NULL, NULL};

/* The debugger has a breakpoint here. */
__attribute__((noinline)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

enum { SECTION_NULL, SECTION_TEXT, SECTION_SYMBOLS, SECTION_STRINGS, SECTION_NAMES, SECTIONS };
static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

struct gdb_code {
	struct jit_code_entry entry;
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	char names[sizeof(section_names)];
	/* symbols, then strings */
	Elf64_Sym symbols[];
};

static void fill_sections(struct gdb_code *code, const struct jit *jit, size_t symbols, size_t strings)
{
	size_t base = offsetof(struct gdb_code, header);
	size_t at = offsetof(struct gdb_code, symbols) - base;

	code->sections[SECTION_TEXT] = (Elf64_Shdr){
		.sh_name = 1, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = (uintptr_t)jit->memory.code, .sh_size = jit->size, .sh_addralign = 16};
	code->sections[SECTION_SYMBOLS] = (Elf64_Shdr){
		.sh_name = 7, .sh_type = SHT_SYMTAB, .sh_offset = at, .sh_size = symbols * sizeof(Elf64_Sym),
		.sh_link = SECTION_STRINGS, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym),
		.sh_addralign = 8};
	code->sections[SECTION_STRINGS] = (Elf64_Shdr){
		.sh_name = 15, .sh_type = SHT_STRTAB, .sh_offset = at + symbols * sizeof(Elf64_Sym),
		.sh_size = strings, .sh_addralign = 1};
	code->sections[SECTION_NAMES] = (Elf64_Shdr){
		.sh_name = 23, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct gdb_code, names) - base,
		.sh_size = sizeof(section_names), .sh_addralign = 1};
}

static void fill_header(struct gdb_code *code)
{
	code->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_REL,
#if defined(__x86_64__)
		.e_machine = EM_X86_64,
#elif defined(__aarch64__)
		.e_machine = EM_AARCH64,
#endif
		.e_version = EV_CURRENT, .e_ehsize = sizeof(Elf64_Ehdr),
		.e_shoff = offsetof(struct gdb_code, sections) - offsetof(struct gdb_code, header),
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = SECTION_NAMES};
	memcpy(code->names, section_names, sizeof(section_names));
}

struct gdb_code *gdb__register(const struct jit *jit)
{
	const struct program *program = jit->program;
	size_t n = (size_t)program->n_functions, used = 1;
	size_t strings = 1 + n * (2 * NAME_SIZE + 8);
	struct gdb_code *code =
		calloc(1, sizeof(*code) + (n + 1) * sizeof(Elf64_Sym) + strings);
	char *string;

	if (!code)
		return NULL;
	string = (char *)&code->symbols[n + 1];
	for (size_t f = 0; f < n; f++) {
		const struct function *function = &program->functions[f];
		size_t end = f + 1 < n ? jit->functions[f + 1] : jit->size;

		code->symbols[f + 1] = (Elf64_Sym){
			.st_name = (Elf64_Word)used, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = SECTION_TEXT, .st_value = jit->functions[f],
			.st_size = end - jit->functions[f]};
		used += (size_t)snprintf(string + used, strings - used, "%s:%s/%d", function->module,
					 function->name, function->arity) + 1;
	}
	fill_header(code);
	fill_sections(code, jit, n + 1, strings);
	code->entry.symfile_addr = (const char *)&code->header;
	code->entry.symfile_size = (uint64_t)(string + strings - (char *)&code->header);
	code->entry.next_entry = __jit_debug_descriptor.first_entry;
	if (code->entry.next_entry)
		code->entry.next_entry->prev_entry = &code->entry;
	__jit_debug_descriptor.first_entry = __jit_debug_descriptor.relevant_entry = &code->entry;
	__jit_debug_descriptor.action_flag = JIT_REGISTER_FN;
	__jit_debug_register_code();
	return code;
}

void gdb__unregister(struct gdb_code *code)
{
	if (!code)
		return;
	if (code->entry.prev_entry)
		code->entry.prev_entry->next_entry = code->entry.next_entry;
	else
		__jit_debug_descriptor.first_entry = code->entry.next_entry;
	if (code->entry.next_entry)
		code->entry.next_entry->prev_entry = code->entry.prev_entry;
	__jit_debug_descriptor.relevant_entry = &code->entry;
	__jit_debug_descriptor.action_flag = JIT_UNREGISTER_FN;
	__jit_debug_register_code();
	free(code);
}
