/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/code-memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const wx_names[WX_MODES] = {"auto", "mprotect", "dual"};

static uint8_t *map(size_t size, int protection, int fd)
{
	void *at = mmap(NULL, size, protection, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int new_dual(struct code_memory *memory)
{
	int fd = memfd_create("jit", MFD_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)memory->size) ||
	    !(memory->writable = map(memory->size, PROT_READ | PROT_WRITE, fd)) ||
	    !(memory->code = map(memory->size, PROT_READ | PROT_EXEC, fd)))
		err = -errno;
	close(fd);
	return err;
}

/* Finds out whether memory may become executable here, with a page of its own. */
static int try_mprotect(size_t page)
{
	uint8_t *at = map(page, PROT_READ | PROT_WRITE, -1);
	int err;

	if (!at)
		return -errno;
	err = mprotect(at, page, PROT_READ | PROT_EXEC) ? -errno : 0;
	munmap(at, page);
	return err;
}

int code_memory__new(struct code_memory *memory, size_t size, enum wx mode)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err = mode == WX_DUAL ? -ENOTSUP : try_mprotect(page);

	*memory = (struct code_memory){.mode = mode, .size = (size + page - 1) / page * page};
	if (!err) {
		memory->mode = WX_MPROTECT;
		memory->writable = memory->code = map(memory->size, PROT_READ | PROT_WRITE, -1);
		err = memory->code ? 0 : -ENOMEM;
	} else if (mode != WX_MPROTECT) {
		memory->mode = WX_DUAL;
		err = new_dual(memory);
	}
	if (err)
		code_memory__free(memory);
	else
		memset(memory->writable, CODE_MEMORY_FILL, memory->size);
	return err;
}

int code_memory__seal(struct code_memory *memory)
{
	/* Caches of data and of instructions need not agree: out of the one by the mapping that wrote, and
	 * out of the other by the one that will run. */
	__builtin___clear_cache((char *)memory->writable, (char *)memory->writable + memory->size);
	if (memory->mode == WX_DUAL)
		munmap(memory->writable, memory->size);
	else if (mprotect(memory->code, memory->size, PROT_READ | PROT_EXEC))
		return -errno;
	memory->writable = NULL;
	__builtin___clear_cache((char *)memory->code, (char *)memory->code + memory->size);
	return 0;
}

void code_memory__free(struct code_memory *memory)
{
	if (memory->writable && memory->writable != memory->code)
		munmap(memory->writable, memory->size);
	if (memory->code)
		munmap(memory->code, memory->size);
	*memory = (struct code_memory){0};
}
