/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const machine_names[MACHINES] = {
	"switch-plain", "switch-fused", "interp-plain", "interp", "jit", "mixed",
};

/* One engine calls the other; each level is on the stack of C. */
static int call_other(struct vm *vm, int function, const struct machine *machine, bool jit)
{
	int outcome;

	if (vm->depth >= MOST_DEPTH) {
		vm->at = machine->program->functions[function].start;
		return vm->outcome = STACK_OVERFLOW;
	}
	vm->depth++;
	outcome = jit ? jit__run(vm, &machine->jit, function)
		      : interp__run(vm, &machine->code, function);
	vm->depth--;
	return outcome;
}

static int call_interp(struct vm *vm, int function, const void *machine)
{
	return call_other(vm, function, machine, false);
}

static int call_jit(struct vm *vm, int function, const void *machine)
{
	return call_other(vm, function, machine, true);
}

static int split(struct machine *machine)
{
	const struct program *program = machine->program;

	machine->in_jit = calloc((size_t)program->n_functions, sizeof(bool));
	machine->in_interp = calloc((size_t)program->n_functions, sizeof(bool));
	if (!machine->in_jit || !machine->in_interp)
		return -ENOMEM;
	for (int f = 0; f < program->n_functions; f++) {
		machine->in_jit[f] =
			!strcmp(program->functions[f].module, program->functions[0].module);
		machine->in_interp[f] = !machine->in_jit[f];
	}
	return 0;
}

int machine__new(struct machine **out, const struct program *program,
		 const struct machine_options *options, char *why, size_t why_size)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	enum machine_kind kind = options->kind;
	int err = machine ? 0 : -ENOMEM;

	*out = NULL;
	snprintf(why, why_size, "out of memory");
	if (err)
		return err;
	machine->program = program;
	machine->options = *options;
	err = vm__new(&machine->vm, options->stack_words ? options->stack_words : STACK_WORDS);
	if (!err && kind == MACHINE_MIXED)
		err = split(machine);
	if (!err && kind != MACHINE_JIT)
		err = threaded__load(&machine->code, program,
				     &(struct load_options){
					     kind < MACHINE_PLAIN ? DISPATCH_SWITCH : DISPATCH_GOTO,
					     kind == MACHINE_SWITCH_FUSED || kind == MACHINE_FUSED ||
						     kind == MACHINE_MIXED,
					     machine->in_jit, call_jit, machine});
	if (!err && kind >= MACHINE_JIT)
		err = jit__compile(&machine->jit, program,
				   &(struct jit_options){options->checks, options->wx,
							 machine->in_interp, call_interp, machine},
				   why, why_size);
	if (err) {
		machine__free(machine);
		return err;
	}
	if (kind >= MACHINE_JIT)
		machine->gdb = gdb__register(&machine->jit);
	if (options->quantum)
		machine->vm->quantum = options->quantum;
	if (options->most_yields)
		machine->vm->most_yields = options->most_yields;
	*out = machine;
	return 0;
}

int machine__run(struct machine *machine, const value *arguments)
{
	struct vm *vm = machine->vm;

	vm__reset(vm);
	for (int i = 0; i < machine->program->functions[0].arity; i++)
		vm->x[i] = arguments[i];
	return machine->options.kind >= MACHINE_JIT ? jit__run(vm, &machine->jit, 0)
						    : interp__run(vm, &machine->code, 0);
}

void machine__free(struct machine *machine)
{
	if (!machine)
		return;
	gdb__unregister(machine->gdb);
	threaded__free(&machine->code);
	jit__free(&machine->jit);
	vm__free(machine->vm);
	free(machine->in_jit);
	free(machine->in_interp);
	free(machine);
}
