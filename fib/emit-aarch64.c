/* SPDX-License-Identifier: BSD-2-Clause */
/* The templates for aarch64.
 *
 *   x0 to x7        x0 to x7; the other X registers are in struct vm
 *   x19             the stack of the machine: return addresses and Y slots
 *   x20 x21 x22     its limit, the reductions left, struct vm
 *   x30             the return address where there is no frame; a frame has its own above the Y slots
 *   x9 x10 x11      scratch;  x23: an instruction for a slow path;  x24 x25: x30 while C runs
 *   sp x29          C's, as it left them
 *
 * Return addresses are where the interpreter has them, but for a function that has no frame: nothing
 * looks at the stack there. Encodings: Arm ARM (DDI 0487), C6.2. */
#if defined(__aarch64__)

#include <stdlib.h>
#include <string.h>

#include "fib/emit.h"

enum reg {
	X0, X1, X2, X7 = 7, X9 = 9, X10, X11, X19 = 19, X20, X21, X22, X23, X24, X25, X29 = 29, X30,
	XZR = 31, SP = 31, /* which of them is up to the instruction */
};
#define X_REGS 8

/* "op to, a, b"; with an immediate it is op ^ IMMEDIATE, and of the negated one op ^ OPPOSITE as well. */
enum alu { ADD = 0x8B000000, SUB = 0xCB000000, ADDS = 0xAB000000, SUBS = 0xEB000000, ORR = 0xAA000000 };
#define IMMEDIATE 0x1A000000
#define OPPOSITE 0x40000000
#define SHIFTED 0x400000 /* the immediate is of 4096s */

/* With a register and an offset of whole words, scaled. */
enum access { STR = 0xF9000000, LDR = 0xF9400000, STR_W = 0xB9000000 };
/* With the stack pointer moved before or after. */
#define PUSH 0xF81F8C00 /* str x, [base, -8]! */
#define POP 0xF8408400	/* ldr x, [base], 8 */
/* Pairs, with an offset of words from -64 to 63 in bits 15 to 21. */
enum pair { STP = 0xA9000000, LDP = 0xA9400000, STP_BEFORE = 0xA9800000, LDP_AFTER = 0xA8C00000 };

#define MOVZ 0xD2800000u
#define MOVN 0x92800000u
#define MOVK 0xF2800000u
#define B 0x14000000u
#define BL 0x94000000u
#define B_IF 0x54000000u
#define CBZ_W 0x34000000u
#define BLR 0xD63F0000u
#define RET 0xD65F0000u
#define TST_15 0xF2400C1Fu     /* tst x, 15 */
#define TST_W_255 0x72001C1Fu  /* tst w, 255 */
#define ANDS_BUT_ONE 0xF240F800u /* ands x, x, all bits but 63; rotated right by bits 16 to 21 */

enum condition { EQ, NE, LO = 3, VS = 6, GE = 10, LE = 13, ALWAYS };

/* A conditional branch reaches 1 MiB, the others 128 MiB. No text needs more: an instruction has at least 6
 * characters of it, a clause 4, a function 12. */
#define NEAR (1 << 20)
#define FAR (128 << 20)
_Static_assert(MOST_TEXT / 6 * EMIT_MOST_INSTRUCTION < FAR && MOST_TEXT / 4 * EMIT_MOST_CLAUSE < FAR &&
		       MOST_TEXT / 12 * (2 * EMIT_ALIGNMENT) < FAR,
	       "a branch reaches all of the longest program");

static void put(struct emitter *e, uint32_t instruction)
{
	memcpy(e->base + e->at, &instruction, sizeof(instruction));
	e->at += sizeof(instruction);
}

static void alu(struct emitter *e, enum alu op, enum reg to, enum reg a, enum reg b)
{
	put(e, (uint32_t)op | b << 16 | a << 5 | to);
}

static bool is_immediate(int64_t number)
{
	uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;

	return size < 4096 || (size < 4096 << 12 && !(size & 4095));
}

/* op to, a, imm */
static void alu_immediate(struct emitter *e, enum alu op, enum reg to, enum reg a, int64_t imm)
{
	uint32_t bits = (uint32_t)op ^ IMMEDIATE ^ (imm < 0 ? OPPOSITE : 0);
	uint32_t size = (uint32_t)(imm < 0 ? -imm : imm);

	put(e, bits | (size < 4096 ? size << 10 : SHIFTED | size >> 12 << 10) | a << 5 | to);
}

static void access(struct emitter *e, enum access how, enum reg reg, enum reg base, size_t offset)
{
	put(e, (uint32_t)how | (uint32_t)(offset / (how == STR_W ? 4 : 8)) << 10 | base << 5 | reg);
}

#define VM(field) X22, offsetof(struct vm, field)

static void pair(struct emitter *e, enum pair how, enum reg a, enum reg b, enum reg base, int offset)
{
	put(e, (uint32_t)how | ((uint32_t)(offset / 8) & 127) << 15 | b << 10 | base << 5 | a);
}

static void move(struct emitter *e, enum reg to, enum reg from)
{
	if (to != from)
		alu(e, ORR, to, XZR, from);
}

/* mov to, imm, by its four parts: the first makes the others all zeros or all ones */
static void move_immediate(struct emitter *e, enum reg to, int64_t imm)
{
	uint16_t parts[4], others;
	int ones = 0, zeros = 0;

	for (int i = 0; i < 4; i++) {
		parts[i] = (uint16_t)(imm >> 16 * i);
		ones += parts[i] == 0xFFFF;
		zeros += !parts[i];
	}
	others = ones > zeros ? 0xFFFF : 0;
	put(e, (others ? MOVN : MOVZ) | (uint32_t)(parts[0] ^ others) << 5 | to);
	for (int i = 1; i < 4; i++)
		if (parts[i] != others)
			put(e, MOVK | (uint32_t)i << 21 | (uint32_t)parts[i] << 5 | to);
}

/* The branch at `at` goes to target. */
static void aim(struct emitter *e, size_t at, size_t target)
{
	uint32_t distance = (uint32_t)(((int64_t)target - (int64_t)at) / 4), instruction;

	memcpy(&instruction, e->base + at, sizeof(instruction));
	if ((instruction & ~(BL ^ B)) == B)
		instruction |= distance & 0x3FFFFFF;
	else
		instruction |= (distance & 0x7FFFF) << 5;
	memcpy(e->base + at, &instruction, sizeof(instruction));
}

/* A branch that is aimed later; returns where it is. In code that is too long for a conditional one it
 * skips an unconditional one. */
static size_t branch(struct emitter *e, enum condition condition)
{
	if (condition != ALWAYS && e->jit->memory.size > NEAR) {
		put(e, B_IF | 2 << 5 | (condition ^ 1));
		condition = ALWAYS;
	}
	put(e, condition == ALWAYS ? B : B_IF | condition);
	return e->at - 4;
}

static void jump_to(struct emitter *e, uint32_t opcode, size_t target)
{
	put(e, opcode);
	aim(e, e->at - 4, target);
}

static void fix_later(struct emitter *e, size_t at, enum target target, int index)
{
	e->fixups[e->n_fixups++] = (struct fixup){at, target, index};
}

static void go_slow(struct emitter *e, enum condition condition, int outcome, int instruction)
{
	size_t at = branch(e, condition);

	e->slow[e->n_slow++] = (struct slow){outcome, instruction, at, e->at};
}

static bool is_register(struct operand operand)
{
	return operand.kind == 'x' && operand.number < X_REGS;
}

/* Of an operand in memory: an access to it. */
static void access_operand(struct emitter *e, enum access how, enum reg reg, struct operand operand)
{
	access(e, how, reg, operand.kind == 'y' ? X19 : X22, (size_t)operand.number * 8);
}

/* Where to compute what goes to a destination, and to put it there. */
static enum reg work_for(struct operand to)
{
	return is_register(to) ? (enum reg)to.number : X9;
}

static void store(struct emitter *e, struct operand to, enum reg from)
{
	if (is_register(to))
		move(e, (enum reg)to.number, from);
	else
		access_operand(e, STR, from, to);
}

/* The register that has the operand: its own, or scratch, which it is loaded into. */
static enum reg load(struct emitter *e, struct operand operand, enum reg scratch)
{
	if (is_register(operand))
		return (enum reg)operand.number;
	if (operand.kind == 'i')
		move_immediate(e, scratch, operand.number);
	else
		access_operand(e, LDR, scratch, operand);
	return scratch;
}

/* orr x11, a, b ; tst x11, 15 ; b.ne badarith */
static void check_tags(struct emitter *e, const struct operand *o, enum reg a, enum reg b, int index)
{
	bool literal_a = o[0].kind == 'i', literal_b = o[1].kind == 'i';
	enum reg either = literal_a ? b : a;

	if (!(e->jit->options.checks & CHECK_TAGS))
		return;
	if ((literal_a && !value__is_integer(o[0].number)) || (literal_b && !value__is_integer(o[1].number))) {
		go_slow(e, ALWAYS, BADARITH, index); /* an atom: always an error */
		return;
	}
	if (literal_a && literal_b)
		return;
	if (!literal_a && !literal_b && a != b) {
		alu(e, ORR, X11, a, b);
		either = X11;
	}
	put(e, TST_15 | either << 5);
	go_slow(e, NE, BADARITH, index);
}

/* to = o[0] op o[1], with the flags; XZR: only these */
static void combine(struct emitter *e, enum alu op, enum reg to, const struct operand *o, bool integers, int index)
{
	bool immediate = o[1].kind == 'i' && is_immediate(o[1].number);
	enum reg a = load(e, o[0], X9), b = immediate ? XZR : load(e, o[1], X10);

	if (integers)
		check_tags(e, o, a, b, index);
	if (immediate)
		alu_immediate(e, op, to, a, o[1].number);
	else
		alu(e, op, to, a, b);
}

/* to = a op b ; b.vs overflow */
static void arithmetic(struct emitter *e, enum alu op, const struct operand *o, int index)
{
	enum reg to = work_for(o[2]);

	combine(e, op, to, o, true, index);
	if (e->jit->options.checks & CHECK_OVERFLOW)
		go_slow(e, VS, OVERFLOW, index);
	store(e, o[2], to);
}

/* cmp a, b */
static void test_and_jump(struct emitter *e, enum condition otherwise, const struct operand *o, int index)
{
	combine(e, SUBS, XZR, o, otherwise == GE, index);
	fix_later(e, branch(e, otherwise), TO_INSTRUCTION, (int)o[2].number);
}

/* cmp v, match ; b.eq target */
static void clause(struct emitter *e, enum reg v, value match, int target)
{
	const struct operand match_operand = {'i', match};

	if (is_immediate(match))
		alu_immediate(e, SUBS, XZR, v, match);
	else
		alu(e, SUBS, XZR, v, load(e, match_operand, X10));
	fix_later(e, branch(e, EQ), TO_INSTRUCTION, target);
}

static void select_val(struct emitter *e, const struct instruction *instruction, int index)
{
	const struct clause *clauses = e->jit->program->clauses + instruction->clauses;
	int n = instruction->n_clauses, otherwise = (int)instruction->operands[1].number;
	enum reg v = load(e, instruction->operands[0], X9);

	if (clauses__are_pair(clauses, n)) {
		value common = clauses[0].match & clauses[1].match;
		int bit = __builtin_ctzll((uint64_t)(clauses[0].match ^ clauses[1].match));

		put(e, ANDS_BUT_ONE | (uint32_t)(63 - bit) << 16 | v << 5 | X11);
		if (common)
			clause(e, X11, common, clauses[0].target);
		else
			fix_later(e, branch(e, EQ), TO_INSTRUCTION, clauses[0].target);
		n = 0;
	}
	for (int i = 0; i < n; i++)
		clause(e, v, clauses[i].match, clauses[i].target);
	if (otherwise != index + 1)
		fix_later(e, branch(e, ALWAYS), TO_INSTRUCTION, otherwise);
}

/* subs x21, x21, 1 ; b.le yield */
static void reduce(struct emitter *e, int index)
{
	if (!(e->jit->options.checks & CHECK_REDUCTIONS))
		return;
	alu_immediate(e, SUBS, X21, X21, 1);
	go_slow(e, LE, DONE, index);
}

/* Call a function of C whose arguments are in place. */
static void call_c(struct emitter *e, const void *function)
{
	move_immediate(e, X9, (int64_t)function);
	put(e, BLR | X9 << 5);
}

static void access_x(struct emitter *e, enum pair how)
{
	for (int i = 0; i < X_REGS; i += 2)
		pair(e, how, (enum reg)i, (enum reg)(i + 1), X22, 8 * i);
}

void emit__instruction(struct emitter *e, int index)
{
	const struct instruction *instruction = &e->jit->program->instructions[index];
	const struct operand *o = instruction->operands;
	size_t slots = (size_t)o[0].number * 8;

	switch (instruction->op) {
	case OP_move:
		store(e, o[1], load(e, o[0], work_for(o[1])));
		break;
	case OP_add:
		arithmetic(e, ADDS, o, index);
		break;
	case OP_sub:
		arithmetic(e, SUBS, o, index);
		break;
	case OP_is_lt:
		test_and_jump(e, GE, o, index);
		break;
	case OP_is_eq:
		test_and_jump(e, NE, o, index);
		break;
	case OP_select_val:
		select_val(e, instruction, index);
		break;
	case OP_jump:
		if (o[0].number != index + 1)
			fix_later(e, branch(e, ALWAYS), TO_INSTRUCTION, (int)o[0].number);
		break;
	case OP_allocate: /* sub x19, x19, 8N + 8 ; cmp x19, x20 ; b.lo stack overflow ; str x30, [x19, 8N] */
		alu_immediate(e, SUB, X19, X19, (int64_t)slots + 8);
		if (e->jit->options.checks & CHECK_STACK) {
			alu(e, SUBS, XZR, X19, X20);
			go_slow(e, LO, STACK_OVERFLOW, index);
		}
		access(e, STR, X30, X19, slots);
		break;
	case OP_deallocate:
		access(e, LDR, X30, X19, slots);
		alu_immediate(e, ADD, X19, X19, (int64_t)slots + 8);
		break;
	case OP_call:
	case OP_tail_call:
		reduce(e, index);
		put(e, instruction->op == OP_call ? BL : B);
		fix_later(e, e->at - 4, TO_FUNCTION, (int)o[0].number);
		break;
	case OP_return:
		reduce(e, index);
		put(e, RET | X30 << 5);
		break;
	case OP_bif: /* argument and result, x0, are where C wants them */
		move(e, X24, X30);
		call_c(e, (const void *)bifs[o[0].number].call);
		move(e, X30, X24);
		break;
	case OP_function_clause:
		go_slow(e, ALWAYS, FUNCTION_CLAUSE, index);
		break;
	case OP_count:
		access(e, LDR, X9, VM(calls));
		alu_immediate(e, ADD, X9, X9, 1);
		access(e, STR, X9, VM(calls));
		break;
	case OPS:
		break;
	}
}

void emit__slow_paths(struct emitter *e)
{
	for (size_t i = 0; i < e->n_slow; i++) {
		const struct slow *slow = &e->slow[i];

		aim(e, slow->at, e->at);
		move_immediate(e, X23, slow->instruction);
		if (slow->outcome == DONE) {
			move(e, X24, X30);
			jump_to(e, BL, e->yield);
			jump_to(e, B, slow->back);
		} else {
			jump_to(e, B, e->errors[slow->outcome]);
		}
	}
	e->n_slow = 0;
}

void emit__foreign(struct emitter *e, int function)
{
	move_immediate(e, X23, function);
	jump_to(e, B, e->leave);
}

#define SAVED 80 /* bytes: x29 and x30, x19 to x25 */

static void pop_and_return(struct emitter *e)
{
	pair(e, LDP, X19, X20, SP, 16);
	pair(e, LDP, X21, X22, SP, 32);
	pair(e, LDP, X23, X24, SP, 48);
	access(e, LDR, X25, SP, 64);
	pair(e, LDP_AFTER, X29, X30, SP, SAVED);
	put(e, RET | X30 << 5);
}

/* int enter(struct vm *x0, const void *x1): 0, or an outcome */
static void emit_enter(struct emitter *e)
{
	e->jit->enter = e->at;
	pair(e, STP_BEFORE, X29, X30, SP, -SAVED);
	pair(e, STP, X19, X20, SP, 16);
	pair(e, STP, X21, X22, SP, 32);
	pair(e, STP, X23, X24, SP, 48);
	access(e, STR, X25, SP, 64);
	alu_immediate(e, ADD, X29, SP, 0);
	move(e, X22, X0);
	move(e, X9, X1);
	access(e, LDR, X19, VM(sp));
	access(e, LDR, X20, VM(limit));
	access(e, LDR, X21, VM(reductions));
	access_x(e, LDP);
	put(e, BLR | X9 << 5);
	access(e, STR, X19, VM(sp));
	access(e, STR, X0, VM(x));
	access(e, STR, X21, VM(reductions));
	move_immediate(e, X0, DONE);
	pop_and_return(e);
}

static void emit_error(struct emitter *e, int outcome)
{
	e->errors[outcome] = e->at;
	access(e, STR_W, X23, VM(at));
	move_immediate(e, X0, outcome);
	access(e, STR_W, X0, VM(outcome));
	access(e, STR, X21, VM(reductions));
	pop_and_return(e);
}

void emit__stubs(struct emitter *e)
{
	size_t skip;

	emit_enter(e);
	for (int outcome = DONE + 1; outcome < OUTCOMES; outcome++)
		emit_error(e, outcome);

	/* yield: x23 is the instruction, x24 what x30 is to be again; all X registers are kept */
	e->yield = e->at;
	move(e, X25, X30);
	access_x(e, STP);
	access(e, STR, X21, VM(reductions));
	move(e, X0, X22);
	call_c(e, (const void *)vm__yield);
	access(e, LDR, X21, VM(reductions));
	put(e, TST_W_255 | X0 << 5);
	aim(e, branch(e, EQ), e->errors[OUT_OF_REDUCTIONS]);
	access_x(e, LDP);
	move(e, X30, X24);
	put(e, RET | X25 << 5);

	/* leave: calls function x23 of another engine, which counts its return; returns to the caller */
	e->leave = e->at;
	access_x(e, STP);
	access(e, STR, X21, VM(reductions));
	put(e, PUSH | X19 << 5 | X30);
	access(e, STR, X19, VM(sp));
	move(e, X0, X22);
	move(e, X1, X23);
	move_immediate(e, X2, (int64_t)e->jit->options.engine);
	call_c(e, (const void *)e->jit->options.call_native);
	/* An outcome other than DONE is in struct vm already. */
	skip = e->at;
	put(e, CBZ_W | X0);
	pop_and_return(e);
	aim(e, skip, e->at);
	put(e, POP | X19 << 5 | X30);
	access(e, LDR, X21, VM(reductions));
	access(e, LDR, X0, VM(x));
	put(e, RET | X30 << 5);
}

void emit__fix(struct emitter *e, const struct fixup *fixup, size_t target)
{
	aim(e, fixup->at, target);
}

#endif
