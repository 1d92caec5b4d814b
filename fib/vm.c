/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int vm__new(struct vm **out, size_t stack_words)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (stack_words + WORDS_BELOW) * sizeof(value);
	struct vm *vm = calloc(1, sizeof(*vm));

	*out = NULL;
	if (!vm)
		return -ENOMEM;
	/* The lowest page stays closed: what runs past all limits stops there. */
	vm->mapping_size = (size + 2 * page - 1) / page * page;
	vm->mapping = mmap(NULL, vm->mapping_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vm->mapping == MAP_FAILED) {
		free(vm);
		return -ENOMEM;
	}
	if (mprotect(vm->mapping, page, PROT_NONE)) {
		vm__free(vm);
		return -errno;
	}
	vm->limit = (value *)((char *)vm->mapping + vm->mapping_size) - stack_words;
	vm->quantum = QUANTUM;
	vm->most_yields = UINT64_MAX;
	vm__reset(vm);
	*out = vm;
	return 0;
}

void vm__free(struct vm *vm)
{
	if (!vm)
		return;
	munmap(vm->mapping, vm->mapping_size);
	free(vm);
}

void vm__reset(struct vm *vm)
{
	vm->sp = (value *)((char *)vm->mapping + vm->mapping_size);
	vm->reductions = vm->quantum;
	vm->yields = vm->calls = 0;
	vm->outcome = DONE;
	vm->at = -1;
	vm->depth = 0;
}

bool vm__yield(struct vm *vm)
{
	vm->yields++;
	vm->reductions = vm->quantum;
	return vm->yields < vm->most_yields;
}

uint64_t vm__reductions(const struct vm *vm)
{
	return vm->yields * (uint64_t)vm->quantum + (uint64_t)(vm->quantum - vm->reductions);
}

const char *outcome__name(enum outcome outcome)
{
	static const char *const names[OUTCOMES] = {
		[DONE] = "done",
		[OVERFLOW] = "overflow",
		[BADARITH] = "badarith",
		[FUNCTION_CLAUSE] = "function_clause",
		[STACK_OVERFLOW] = "stack overflow",
		[OUT_OF_REDUCTIONS] = "out of reductions",
	};

	return names[outcome];
}
