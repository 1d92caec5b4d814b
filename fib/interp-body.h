/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of the interpreter, included by interp.c once for each way to dispatch. It expects
 * BEGIN, CASE(code), NEXT and END.
 *
 * ip points to the word of the code that runs; its operands follow. GET and SET take an operand's
 * place, counted in words from ip. */
#define WORDS_R 0
#define WORDS_X 1
#define WORDS_Y 1
#define WORDS_L 1

#define GET_R(o) x0
#define GET_X(o) x[ip[o]]
#define GET_Y(o) sp[ip[o]]
#define GET_L(o) ((value)ip[o])

#define SET_R(o, v) (x0 = (v))
#define SET_X(o, v) (x[ip[o]] = (v))
#define SET_Y(o, v) (sp[ip[o]] = (v))

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* An error of the part whose last word is at place o - 1. */
#define RAISE(what, o)                                                                             \
	do {                                                                                       \
		ip += (o) - 1;                                                                     \
		vm->outcome = (what);                                                              \
		goto failed;                                                                       \
	} while (0)

/* Counts a reduction and goes on at the new ip; `from` is the last word of what counted it. */
#define REDUCE_AND_GO(from)                                                                        \
	do {                                                                                       \
		if (unlikely(--reductions <= 0)) {                                                 \
			counted_by = (from);                                                       \
			goto yield;                                                                \
		}                                                                                  \
		NEXT;                                                                              \
	} while (0)

/* The parts, each with the place of its first operand. */
#define DO_move(o, a, d) SET_##d((o) + WORDS_##a, GET_##a(o))

#define DO_arithmetic(builtin, o, a, b, d)                                                         \
	do {                                                                                       \
		value left = GET_##a(o), right = GET_##b((o) + WORDS_##a), result;                 \
                                                                                                   \
		if (unlikely((left | right) & TAG_MASK))                                           \
			RAISE(BADARITH, (o) + WORDS_##a + WORDS_##b + WORDS_##d);                  \
		if (unlikely(builtin(left, right, &result)))                                       \
			RAISE(OVERFLOW, (o) + WORDS_##a + WORDS_##b + WORDS_##d);                  \
		SET_##d((o) + WORDS_##a + WORDS_##b, result);                                      \
	} while (0)
#define DO_add(o, a, b, d) DO_arithmetic(__builtin_add_overflow, o, a, b, d)
#define DO_sub(o, a, b, d) DO_arithmetic(__builtin_sub_overflow, o, a, b, d)

#define DO_allocate(o)                                                                             \
	do {                                                                                       \
		value *frame = sp - ip[o];                                                         \
                                                                                                   \
		if (unlikely(frame < limit))                                                       \
			RAISE(STACK_OVERFLOW, (o) + 1);                                            \
		sp = frame;                                                                        \
	} while (0)
#define DO_deallocate(o) (sp += ip[o])

/* These three end a code; `after` is the place after its last word. */
#define DO_call(o, after)                                                                          \
	do {                                                                                       \
		const uint64_t *from = ip + (after) - 1;                                           \
                                                                                                   \
		*--sp = (value)(from + 1);                                                         \
		ip = (const uint64_t *)ip[o];                                                      \
		REDUCE_AND_GO(from);                                                               \
	} while (0)
#define DO_tail_call(o, after)                                                                     \
	do {                                                                                       \
		const uint64_t *from = ip + (after) - 1;                                           \
                                                                                                   \
		ip = (const uint64_t *)ip[o];                                                      \
		REDUCE_AND_GO(from);                                                               \
	} while (0)
#define DO_return(after)                                                                           \
	do {                                                                                       \
		const uint64_t *from = ip + (after) - 1;                                           \
                                                                                                   \
		ip = (const uint64_t *)*sp++;                                                      \
		REDUCE_AND_GO(from);                                                               \
	} while (0)

/* Registers and stack as another engine sees them, and back. */
#define LEAVE()                                                                                    \
	do {                                                                                       \
		x[0] = x0;                                                                         \
		vm->sp = sp;                                                                       \
		vm->reductions = reductions;                                                       \
	} while (0)
#define COME_BACK()                                                                                \
	do {                                                                                       \
		x0 = x[0];                                                                         \
		sp = vm->sp;                                                                       \
		reductions = vm->reductions;                                                       \
	} while (0)

/* A call of a function of another engine, which is the operand. */
#define DO_call_native(o)                                                                          \
	do {                                                                                       \
		if (unlikely(--reductions <= 0)) {                                                 \
			vm->reductions = reductions;                                               \
			if (!vm__yield(vm))                                                        \
				RAISE(OUT_OF_REDUCTIONS, (o) + 1);                                 \
			reductions = vm->reductions;                                               \
		}                                                                                  \
		LEAVE();                                                                           \
		if (code->call_native(vm, (int)ip[o], code->engine))                               \
			return vm->outcome;                                                        \
		COME_BACK();                                                                       \
	} while (0)

#define GO(n)                                                                                      \
	do {                                                                                       \
		ip += (n);                                                                         \
		NEXT;                                                                              \
	} while (0)
#define JUMP(o)                                                                                    \
	do {                                                                                       \
		ip = (const uint64_t *)ip[o];                                                      \
		NEXT;                                                                              \
	} while (0)

BEGIN

#define HANDLE_MOVE(op, a, d)                                                                      \
	CASE(op##_##a##_##d)                                                                       \
	{                                                                                          \
		DO_move(1, a, d);                                                                  \
		GO(1 + WORDS_##a + WORDS_##d);                                                     \
	}
MOVES(HANDLE_MOVE)

#define HANDLE_ARITHMETIC(op, a, b, d)                                                             \
	CASE(op##_##a##_##b##_##d)                                                                 \
	{                                                                                          \
		DO_##op(1, a, b, d);                                                               \
		GO(1 + WORDS_##a + WORDS_##b + WORDS_##d);                                         \
	}
ARITHMETIC(HANDLE_ARITHMETIC, add)
ARITHMETIC(HANDLE_ARITHMETIC, sub)

#define HANDLE_LESS(op, a, b)                                                                      \
	CASE(op##_##a##_##b)                                                                       \
	{                                                                                          \
		value left = GET_##a(1), right = GET_##b(1 + WORDS_##a);                           \
                                                                                                   \
		if (unlikely((left | right) & TAG_MASK))                                           \
			RAISE(BADARITH, 2 + WORDS_##a + WORDS_##b);                                \
		if (left < right)                                                                  \
			GO(2 + WORDS_##a + WORDS_##b);                                             \
		JUMP(1 + WORDS_##a + WORDS_##b);                                                   \
	}
TESTS(HANDLE_LESS, is_lt)

#define HANDLE_EQUAL(op, a, b)                                                                     \
	CASE(op##_##a##_##b)                                                                       \
	{                                                                                          \
		if (GET_##a(1) == GET_##b(1 + WORDS_##a))                                          \
			GO(2 + WORDS_##a + WORDS_##b);                                             \
		JUMP(1 + WORDS_##a + WORDS_##b);                                                   \
	}
TESTS(HANDLE_EQUAL, is_eq)

/* Words: the source, the label where nothing matches, the number of clauses, value and label each. */
#define HANDLE_SELECT(op, a)                                                                       \
	CASE(op##_##a)                                                                             \
	{                                                                                          \
		value v = GET_##a(1);                                                              \
		const uint64_t *clause = ip + WORDS_##a + 3;                                       \
		uint64_t n = clause[-1];                                                           \
                                                                                                   \
		if (CODE_##op##_##a >= CODE_select_R) {                                            \
			for (; n; n--, clause += 2)                                                \
				if (v == (value)clause[0])                                         \
					break;                                                     \
		} else if (v == (value)clause[0]) {                                                \
			n = 1;                                                                     \
		} else if (CODE_##op##_##a >= CODE_select2_R && v == (value)clause[2]) {           \
			clause += 2;                                                               \
			n = 1;                                                                     \
		} else {                                                                           \
			n = 0;                                                                     \
		}                                                                                  \
		if (n)                                                                             \
			ip = (const uint64_t *)clause[1];                                          \
		else                                                                               \
			ip = (const uint64_t *)ip[1 + WORDS_##a];                                  \
		NEXT;                                                                              \
	}
SELECTS(HANDLE_SELECT)

CASE(jump)
{
	JUMP(1);
}
CASE(allocate)
{
	DO_allocate(1);
	GO(2);
}
CASE(deallocate)
{
	DO_deallocate(1);
	GO(2);
}
CASE(call)
{
	DO_call(1, 2);
}
CASE(tail_call)
{
	DO_tail_call(1, 2);
}
CASE(return)
{
	DO_return(1);
}
CASE(bif0)
{
	x0 = ((value(*)(value))ip[1])(0);
	GO(2);
}
CASE(bif1)
{
	x0 = ((value(*)(value))ip[1])(x0);
	GO(2);
}
CASE(function_clause)
{
	RAISE(FUNCTION_CLAUSE, 1);
}
CASE(count)
{
	vm->calls++;
	GO(1);
}
CASE(call_native)
{
	DO_call_native(1);
	GO(2);
}
CASE(tail_call_native)
{
	DO_call_native(1);
	/* The other engine has counted the return. */
	ip = (const uint64_t *)*sp++;
	NEXT;
}
CASE(halt)
{
	LEAVE();
	return DONE;
}

CASE(add_deallocate_return)
{
	DO_add(1, Y, R, R);
	DO_deallocate(2);
	DO_return(4);
}
CASE(allocate_move)
{
	DO_allocate(1);
	DO_move(2, R, Y);
	GO(3);
}
CASE(sub_call_R)
{
	DO_sub(1, R, L, R);
	DO_call(2, 3);
}
CASE(sub_call_Y)
{
	DO_sub(1, Y, L, R);
	DO_call(3, 4);
}
CASE(move_return_L)
{
	DO_move(1, L, R);
	DO_return(3);
}
CASE(move_return_X)
{
	DO_move(1, X, R);
	DO_return(3);
}
CASE(move_call_Y)
{
	DO_move(1, Y, X);
	DO_call(3, 4);
}
CASE(deallocate_return)
{
	DO_deallocate(1);
	DO_return(3);
}
CASE(deallocate_tail_call)
{
	DO_deallocate(1);
	DO_tail_call(2, 3);
}

END

yield:
	vm->reductions = reductions;
	if (vm__yield(vm)) {
		reductions = vm->reductions;
		NEXT;
	}
	reductions = vm->reductions;
	vm->outcome = OUT_OF_REDUCTIONS;
	ip = counted_by;
failed:
	vm->at = code->owners[ip - code->words];
	vm->reductions = reductions;
	return vm->outcome;

#undef WORDS_R
#undef WORDS_X
#undef WORDS_Y
#undef WORDS_L
#undef GET_R
#undef GET_X
#undef GET_Y
#undef GET_L
#undef SET_R
#undef SET_X
#undef SET_Y
#undef RAISE
#undef REDUCE_AND_GO
#undef DO_move
#undef DO_arithmetic
#undef DO_add
#undef DO_sub
#undef DO_allocate
#undef DO_deallocate
#undef DO_call
#undef DO_tail_call
#undef DO_return
#undef DO_call_native
#undef LEAVE
#undef COME_BACK
#undef GO
#undef JUMP
#undef HANDLE_MOVE
#undef HANDLE_ARITHMETIC
#undef HANDLE_LESS
#undef HANDLE_EQUAL
#undef HANDLE_SELECT
#undef likely
#undef unlikely
