/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fib/emit.h"

#if defined(EMIT_TEMPLATES)

static bool is_foreign(const struct jit *jit, int function)
{
	return jit->options.foreign && jit->options.foreign[function];
}

static void align(struct emitter *e)
{
	e->at = (e->at + EMIT_ALIGNMENT - 1) / EMIT_ALIGNMENT * EMIT_ALIGNMENT;
}

static void compile(struct emitter *e)
{
	struct jit *jit = e->jit;
	const struct program *program = jit->program;

	emit__stubs(e);
	for (int f = 0; f < program->n_functions; f++) {
		align(e);
		jit->functions[f] = e->at;
		if (is_foreign(jit, f)) {
			emit__foreign(e, f);
			continue;
		}
		for (int i = program->functions[f].start; i < program->functions[f].end; i++) {
			jit->offsets[i] = e->at;
			emit__instruction(e, i);
		}
		emit__slow_paths(e);
	}
	for (size_t i = 0; i < e->n_fixups; i++) {
		const struct fixup *fixup = &e->fixups[i];

		emit__fix(e, fixup,
			  fixup->target == TO_FUNCTION ? jit->functions[fixup->index]
						       : jit->offsets[fixup->index]);
	}
	jit->size = e->at;
}

int jit__compile(struct jit *jit, const struct program *program, const struct jit_options *options,
		 char *why, size_t why_size)
{
	size_t n = (size_t)program->n_instructions, functions = (size_t)program->n_functions;
	size_t clauses = (size_t)program->n_clauses;
	size_t most = EMIT_MOST_STUBS + n * EMIT_MOST_INSTRUCTION + clauses * EMIT_MOST_CLAUSE +
		      functions * 2 * EMIT_ALIGNMENT;
	struct emitter e = {.jit = jit};
	int err = -ENOMEM;

	*jit = (struct jit){.program = program, .options = *options};
	jit->functions = calloc(functions, sizeof(*jit->functions));
	jit->offsets = calloc(n, sizeof(*jit->offsets));
	e.fixups = calloc(n + clauses, sizeof(*e.fixups));
	e.slow = calloc(2 * n, sizeof(*e.slow));
	if (jit->functions && jit->offsets && e.fixups && e.slow)
		err = code_memory__new(&jit->memory, most, options->wx);
	if (!err) {
		e.base = jit->memory.writable;
		compile(&e);
		err = code_memory__seal(&jit->memory);
	}
	if (err)
		snprintf(why, why_size, "no executable memory (%s): %s", wx_names[options->wx],
			 strerror(-err));
	free(e.fixups);
	free(e.slow);
	return err;
}

int jit__run(struct vm *vm, const struct jit *jit, int function)
{
	int (*enter)(struct vm *, const void *) =
		(int (*)(struct vm *, const void *))(uintptr_t)(jit->memory.code + jit->enter);
	void *outer = vm->c_sp;
	int outcome = enter(vm, jit->memory.code + jit->functions[function]);

	vm->c_sp = outer;
	return outcome;
}

#else

int jit__compile(struct jit *jit, const struct program *program, const struct jit_options *options,
		 char *why, size_t why_size)
{
	*jit = (struct jit){.program = program, .options = *options};
	snprintf(why, why_size, "no templates for this architecture");
	return -ENOTSUP;
}

int jit__run(struct vm *vm, const struct jit *jit, int function)
{
	(void)jit, (void)function;
	return vm->outcome;
}

#endif

void jit__free(struct jit *jit)
{
	code_memory__free(&jit->memory);
	free(jit->functions);
	free(jit->offsets);
	*jit = (struct jit){0};
}

int jit__perf_map(const struct jit *jit)
{
	const struct program *program = jit->program;
	char path[64];
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		return -ENOMEM;
	}
	fprintf(file, "%lx %zx toll_enter\n", (unsigned long)(jit->memory.code + jit->enter),
		jit->functions[0] - jit->enter);
	for (int f = 0; f < program->n_functions; f++) {
		size_t end = f + 1 < program->n_functions ? jit->functions[f + 1] : jit->size;

		fprintf(file, "%lx %zx %s:%s/%d\n", (unsigned long)(jit->memory.code + jit->functions[f]),
			end - jit->functions[f], program->functions[f].module,
			program->functions[f].name, program->functions[f].arity);
	}
	return fclose(file) ? -errno : 0;
}
