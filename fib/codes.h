/* SPDX-License-Identifier: BSD-2-Clause */
/* The interpreter's own codes: each opcode once for every kind of its operands, so that nothing is
 * decoded while it runs, and superinstructions. Kinds: R is x0 (a local of the interpreter), X another
 * X register, Y a slot, L a literal. R takes no word of code, the others take one. */
#ifndef TOLL_CODES_H
#define TOLL_CODES_H

#define EACH_DESTINATION(F, ...) F(__VA_ARGS__, R) F(__VA_ARGS__, X) F(__VA_ARGS__, Y)
#define EACH_SOURCE(F, ...) F(__VA_ARGS__, R) F(__VA_ARGS__, X) F(__VA_ARGS__, Y) F(__VA_ARGS__, L)

/* move: source, destination. */
#define MOVES(F)                                                                                   \
	EACH_DESTINATION(F, move, R)                                                               \
	EACH_DESTINATION(F, move, X)                                                               \
	EACH_DESTINATION(F, move, Y)                                                               \
	EACH_DESTINATION(F, move, L)

/* add and sub: source, source, destination. */
#define ARITHMETIC_FROM(F, op, a)                                                                  \
	EACH_DESTINATION(F, op, a, R)                                                              \
	EACH_DESTINATION(F, op, a, X)                                                              \
	EACH_DESTINATION(F, op, a, Y)                                                              \
	EACH_DESTINATION(F, op, a, L)
#define ARITHMETIC(F, op)                                                                          \
	ARITHMETIC_FROM(F, op, R)                                                                  \
	ARITHMETIC_FROM(F, op, X)                                                                  \
	ARITHMETIC_FROM(F, op, Y)                                                                  \
	ARITHMETIC_FROM(F, op, L)

/* is_lt and is_eq: source, source. */
#define TESTS(F, op)                                                                               \
	EACH_SOURCE(F, op, R)                                                                      \
	EACH_SOURCE(F, op, X)                                                                      \
	EACH_SOURCE(F, op, Y)                                                                      \
	EACH_SOURCE(F, op, L)

/* select_val of one, two or any number of clauses: source. */
#define SELECTS(F)                                                                                 \
	EACH_SOURCE(F, select1)                                                                    \
	EACH_SOURCE(F, select2)                                                                    \
	EACH_SOURCE(F, select)

#define PLAIN(F)                                                                                   \
	F(jump) F(allocate) F(deallocate) F(call) F(tail_call) F(return) F(bif0) F(bif1)           \
	F(function_clause) F(count) F(call_native) F(tail_call_native) F(halt)

/* Superinstructions: F(code, then for each part its opcode and the kinds of its operands, "-" being
 * any). Each stands for neighbours that at least two of the programs here have. */
#define FUSED(F)                                                                                   \
	F(add_deallocate_return, add, "YRR", deallocate, "-", return, "")                          \
	F(allocate_move, allocate, "-", move, "RY", OPS, "")                                       \
	F(sub_call_R, sub, "RLR", call, "-", OPS, "")                                              \
	F(sub_call_Y, sub, "YLR", call, "-", OPS, "")                                              \
	F(move_return_L, move, "LR", return, "", OPS, "")                                          \
	F(move_return_X, move, "XR", return, "", OPS, "")                                          \
	F(move_call_Y, move, "YX", call, "-", OPS, "")                                             \
	F(deallocate_return, deallocate, "-", return, "", OPS, "")                                 \
	F(deallocate_tail_call, deallocate, "-", tail_call, "-", OPS, "")

enum code {
#define ONE(name, ...) CODE_##name,
#define KINDS_1(name, a) CODE_##name##_##a,
#define KINDS_2(name, a, b) CODE_##name##_##a##_##b,
#define KINDS_3(name, a, b, c) CODE_##name##_##a##_##b##_##c,
	MOVES(KINDS_2)
	ARITHMETIC(KINDS_3, add)
	ARITHMETIC(KINDS_3, sub)
	TESTS(KINDS_2, is_lt)
	TESTS(KINDS_2, is_eq)
	SELECTS(KINDS_1)
	PLAIN(ONE)
	FUSED(ONE)
#undef ONE
#undef KINDS_1
#undef KINDS_2
#undef KINDS_3
	CODES
};

#endif
