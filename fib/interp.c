/* SPDX-License-Identifier: BSD-2-Clause */
#include "fib/interp.h"


/* Of the loop with computed goto; the two loops share their body. */
static const void *const *handlers;

int interp__goto(struct vm *vm, const struct threaded *code, int function)
{
	static const void *const table[CODES] = {
#define ONE(name, ...) &&L_##name,
#define KINDS_1(name, a) &&L_##name##_##a,
#define KINDS_2(name, a, b) &&L_##name##_##a##_##b,
#define KINDS_3(name, a, b, c) &&L_##name##_##a##_##b##_##c,
		MOVES(KINDS_2) ARITHMETIC(KINDS_3, add) ARITHMETIC(KINDS_3, sub)
		TESTS(KINDS_2, is_lt) TESTS(KINDS_2, is_eq) SELECTS(KINDS_1) PLAIN(ONE) FUSED(ONE)
#undef ONE
#undef KINDS_1
#undef KINDS_2
#undef KINDS_3
	};
	const uint64_t *ip, *counted_by;
	uint64_t halt[1];
	value *sp, *limit, *x, x0;
	int64_t reductions;

	if (!vm) {
		handlers = table;
		return 0;
	}
	halt[0] = (uint64_t)&&L_halt;
	x = vm->x;
	x0 = x[0];
	sp = vm->sp;
	limit = vm->limit;
	reductions = vm->reductions;
	*--sp = (value)halt;
	ip = code->words + code->entries[function];
#define BEGIN NEXT;
#define CASE(name) L_##name:
#define NEXT goto *(const void *)*ip
#define END
#include "fib/interp-body.h"
#undef BEGIN
#undef CASE
#undef NEXT
#undef END
}

int interp__switch(struct vm *vm, const struct threaded *code, int function)
{
	const uint64_t *ip, *counted_by;
	const uint64_t halt[1] = {CODE_halt};
	value *sp = vm->sp, *limit = vm->limit, *x = vm->x, x0 = x[0];
	int64_t reductions = vm->reductions;

	*--sp = (value)halt;
	ip = code->words + code->entries[function];
#define BEGIN                                                                                      \
	next:                                                                                      \
	switch (*ip) {
#define CASE(name) case CODE_##name:
#define NEXT goto next
#define END                                                                                        \
	default:                                                                                   \
		__builtin_unreachable();                                                           \
		}
#include "fib/interp-body.h"
}

const void *const *interp__handlers(void)
{
	if (!handlers)
		interp__goto(NULL, NULL, 0);
	return handlers;
}

int interp__run(struct vm *vm, const struct threaded *code, int function)
{
	return code->dispatch == DISPATCH_GOTO ? interp__goto(vm, code, function)
					       : interp__switch(vm, code, function);
}
