/* SPDX-License-Identifier: BSD-2-Clause */
/* The templates for x86-64.
 *
 *   rdi rsi rdx rcx r8 r9   x0 to x5; the other X registers are in struct vm
 *   rsp                     the stack of the machine: return addresses and Y slots
 *   r13 r14 r15             its limit, the reductions left, struct vm
 *   rax r10                 scratch;  rbx: rsp while C runs;  r12: an instruction for a slow path
 *
 * Encodings: Intel SDM, volume 2. */
#if defined(__x86_64__)

#include <stdlib.h>
#include <string.h>

#include "fib/emit.h"

enum reg { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
static const enum reg x_regs[] = {RDI, RSI, RDX, RCX, R8, R9};
#define X_REGS ((int)(sizeof(x_regs) / sizeof(*x_regs)))

/* A register, or memory at a base register. */
struct place {
	bool memory;
	enum reg reg;
	int32_t offset;
};

#define REG(r) ((struct place){false, (r), 0})
#define VM(field) ((struct place){true, R15, (int32_t)offsetof(struct vm, field)})

/* "op r/m, r" encodings of arithmetic; "op r, r/m" is 2 more, and /digit of "op r/m, imm" is op / 8. */
enum alu { ADD = 0x01, OR = 0x09, AND = 0x21, SUB = 0x29, XOR = 0x31, CMP = 0x39, MOV = 0x89 };
enum condition { O = 0, B = 2, E = 4, NE = 5, GE = 13, LE = 14 };

static void byte(struct emitter *e, int b)
{
	e->base[e->at++] = (uint8_t)b;
}

static void word32(struct emitter *e, int32_t bits)
{
	memcpy(e->base + e->at, &bits, sizeof(bits));
	e->at += sizeof(bits);
}

static void word64(struct emitter *e, int64_t bits)
{
	memcpy(e->base + e->at, &bits, sizeof(bits));
	e->at += sizeof(bits);
}

static bool fits32(int64_t number)
{
	return number == (int32_t)number;
}

/* REX, opcode and ModRM with `digit` (a register or an opcode extension) and a place. */
static void encode(struct emitter *e, bool wide, int opcode, int digit, struct place p)
{
	int rex = 0x40 | wide << 3 | (digit >> 3 & 1) << 2 | (p.reg >> 3 & 1);
	int low = p.reg & 7, mode = !p.memory ? 3 : !p.offset && low != RBP ? 0
					   : p.offset == (int8_t)p.offset ? 1 : 2;

	/* A byte register of 4 to 7 needs a REX as well (0xF6, 0x84). */
	if (rex != 0x40 || (opcode == 0xF6 && !p.memory))
		byte(e, rex);
	byte(e, opcode);
	byte(e, mode << 6 | (digit & 7) << 3 | low);
	if (p.memory && low == RSP)
		byte(e, 0x24); /* SIB: base alone */
	if (mode == 1)
		byte(e, p.offset);
	else if (mode == 2)
		word32(e, p.offset);
}

/* op to, from; one of them a register. */
static void alu(struct emitter *e, enum alu op, struct place to, struct place from)
{
	if (from.memory)
		encode(e, true, op + 2, to.reg, from);
	else
		encode(e, true, op, from.reg, to);
}

/* op to, imm */
static void alu_immediate(struct emitter *e, enum alu op, struct place to, int32_t imm)
{
	encode(e, true, imm == (int8_t)imm ? 0x83 : 0x81, op / 8, to);
	if (imm == (int8_t)imm)
		byte(e, imm);
	else
		word32(e, imm);
}

/* mov to, from; through rax from memory to memory */
static void move(struct emitter *e, struct place to, struct place from)
{
	if (to.memory == from.memory && to.reg == from.reg && to.offset == from.offset)
		return;
	if (to.memory && from.memory) {
		alu(e, MOV, REG(RAX), from);
		from = REG(RAX);
	}
	alu(e, MOV, to, from);
}

/* mov to, imm */
static void move_immediate(struct emitter *e, struct place to, int64_t imm)
{
	if (to.memory && !fits32(imm)) {
		move_immediate(e, REG(RAX), imm);
		alu(e, MOV, to, REG(RAX));
	} else if (to.memory) {
		encode(e, true, 0xC7, 0, to);
		word32(e, (int32_t)imm);
	} else if (!imm) {
		encode(e, false, XOR, to.reg, to);
	} else if (imm == (int64_t)(uint32_t)imm) {
		if (to.reg > 7)
			byte(e, 0x41);
		byte(e, 0xB8 | (to.reg & 7));
		word32(e, (int32_t)(uint32_t)imm);
	} else if (fits32(imm)) {
		encode(e, true, 0xC7, 0, to);
		word32(e, (int32_t)imm);
	} else {
		byte(e, 0x48 | to.reg >> 3);
		byte(e, 0xB8 | (to.reg & 7));
		word64(e, imm);
	}
}

static void jump_to(struct emitter *e, int opcode, size_t target)
{
	byte(e, opcode);
	word32(e, (int32_t)((int64_t)target - (int64_t)e->at - 4));
}

#define CALL 0xE8
#define JMP 0xE9

static void fix_later(struct emitter *e, enum target target, int index)
{
	e->fixups[e->n_fixups++] = (struct fixup){e->at, target, index};
	word32(e, 0);
}

static void jcc(struct emitter *e, enum condition condition)
{
	byte(e, 0x0F);
	byte(e, 0x80 | condition);
}

static void go_slow(struct emitter *e, int outcome, int instruction)
{
	e->slow[e->n_slow++] = (struct slow){outcome, instruction, e->at, e->at + 4};
	word32(e, 0);
}

static struct place place_of(struct operand operand)
{
	if (operand.kind == 'y')
		return (struct place){true, RSP, (int32_t)operand.number * 8};
	if (operand.number < X_REGS)
		return REG(x_regs[operand.number]);
	return (struct place){true, R15, (int32_t)(offsetof(struct vm, x) + 8 * (size_t)operand.number)};
}

static void load(struct emitter *e, enum reg to, struct operand operand)
{
	if (operand.kind == 'i')
		move_immediate(e, REG(to), operand.number);
	else
		move(e, REG(to), place_of(operand));
}

/* op to, operand; a literal too long goes through r10 */
static void alu_operand(struct emitter *e, enum alu op, struct place to, struct operand operand)
{
	if (operand.kind == 'i' && fits32(operand.number)) {
		alu_immediate(e, op, to, (int32_t)operand.number);
	} else if (operand.kind == 'i') {
		move_immediate(e, REG(R10), operand.number);
		alu(e, op, to, REG(R10));
	} else {
		alu(e, op, to, place_of(operand));
	}
}

/* test place, 15 ; jne badarith */
static void check_tag(struct emitter *e, struct place place, int index)
{
	encode(e, false, 0xF6, 0, place);
	byte(e, TAG_MASK);
	jcc(e, NE);
	go_slow(e, BADARITH, index);
}

static void check_tags(struct emitter *e, struct operand a, struct operand b, int index)
{
	if (!(e->jit->options.checks & CHECK_TAGS))
		return;
	if ((a.kind == 'i' && !value__is_integer(a.number)) ||
	    (b.kind == 'i' && !value__is_integer(b.number))) {
		byte(e, JMP); /* an atom: always an error */
		go_slow(e, BADARITH, index);
	} else if (a.kind != 'i' && b.kind != 'i' && (a.kind != b.kind || a.number != b.number)) {
		/* mov rax, a ; or rax, b ; test al, 15 */
		load(e, RAX, a);
		alu(e, OR, REG(RAX), place_of(b));
		check_tag(e, REG(RAX), index);
	} else if (a.kind != 'i') {
		check_tag(e, place_of(a), index);
	} else if (b.kind != 'i') {
		check_tag(e, place_of(b), index);
	}
}

static bool same(struct place a, struct operand b)
{
	struct place place;

	if (b.kind == 'i')
		return false;
	place = place_of(b);
	return place.memory == a.memory && place.reg == a.reg && place.offset == a.offset;
}

/* to = a op b ; jo overflow */
static void arithmetic(struct emitter *e, enum alu op, const struct operand *o, int index)
{
	struct operand a = o[0], b = o[1];
	struct place to = place_of(o[2]), work = to;

	check_tags(e, a, b, index);
	if (op == ADD && same(to, b)) {
		a = o[1];
		b = o[0];
	}
	if (to.memory || (same(to, b) && !same(to, a)))
		work = REG(RAX);
	if (!same(work, a))
		load(e, work.reg, a);
	alu_operand(e, op, work, b);
	if (e->jit->options.checks & CHECK_OVERFLOW) {
		jcc(e, O);
		go_slow(e, OVERFLOW, index);
	}
	move(e, to, work);
}

/* cmp a, b */
static void compare(struct emitter *e, struct operand a, struct operand b)
{
	struct place left = REG(RAX);

	if (a.kind == 'i' || (place_of(a).memory && b.kind != 'i' && place_of(b).memory))
		load(e, RAX, a);
	else
		left = place_of(a);
	alu_operand(e, CMP, left, b);
}

static void test_and_jump(struct emitter *e, enum condition otherwise, const struct operand *o)
{
	compare(e, o[0], o[1]);
	jcc(e, otherwise);
	fix_later(e, TO_INSTRUCTION, (int)o[2].number);
}

static void select_val(struct emitter *e, const struct instruction *instruction, int index)
{
	const struct clause *clauses = e->jit->program->clauses + instruction->clauses;
	int n = instruction->n_clauses, otherwise = (int)instruction->operands[1].number;
	struct operand source = instruction->operands[0];
	struct place v = REG(RAX);

	if (source.kind == 'i' || place_of(source).memory)
		load(e, RAX, source);
	else
		v = place_of(source);
	if (clauses__are_pair(clauses, n) && fits32(clauses[0].match ^ clauses[1].match) &&
	    fits32(clauses[0].match | clauses[1].match)) {
		int32_t bit = (int32_t)(clauses[0].match ^ clauses[1].match);
		int32_t both = (int32_t)(clauses[0].match | clauses[1].match);

		if (both == bit) { /* test v, ~bit */
			encode(e, true, 0xF7, 0, v);
			word32(e, ~bit);
		} else { /* mov rax, v ; or rax, bit ; cmp rax, both */
			move(e, REG(RAX), v);
			alu_immediate(e, OR, REG(RAX), bit);
			alu_immediate(e, CMP, REG(RAX), both);
		}
		jcc(e, E);
		fix_later(e, TO_INSTRUCTION, clauses[0].target);
		n = 0;
	}
	for (int i = 0; i < n; i++) {
		alu_operand(e, CMP, v, (struct operand){'i', clauses[i].match});
		jcc(e, E);
		fix_later(e, TO_INSTRUCTION, clauses[i].target);
	}
	if (otherwise != index + 1) {
		byte(e, JMP);
		fix_later(e, TO_INSTRUCTION, otherwise);
	}
}

/* dec r14 ; jle yield */
static void reduce(struct emitter *e, int index)
{
	if (!(e->jit->options.checks & CHECK_REDUCTIONS))
		return;
	encode(e, true, 0xFF, 1, REG(R14));
	jcc(e, LE);
	go_slow(e, DONE, index);
}

/* On the stack of C: call a function whose arguments are in place. */
static void call_c(struct emitter *e, const void *function)
{
	move(e, REG(RBX), REG(RSP));
	move(e, REG(RSP), VM(c_sp));
	move_immediate(e, REG(RAX), (int64_t)function);
	encode(e, false, 0xFF, 2, REG(RAX)); /* call rax */
	move(e, REG(RSP), REG(RBX));
}

static void store_x(struct emitter *e)
{
	for (int i = 0; i < X_REGS; i++)
		move(e, (struct place){true, R15, 8 * i}, REG(x_regs[i]));
}

static void load_x(struct emitter *e)
{
	for (int i = 0; i < X_REGS; i++)
		move(e, REG(x_regs[i]), (struct place){true, R15, 8 * i});
}

void emit__instruction(struct emitter *e, int index)
{
	const struct instruction *instruction = &e->jit->program->instructions[index];
	const struct operand *o = instruction->operands;

	switch (instruction->op) {
	case OP_move:
		if (o[0].kind == 'i')
			move_immediate(e, place_of(o[1]), o[0].number);
		else
			move(e, place_of(o[1]), place_of(o[0]));
		break;
	case OP_add:
		arithmetic(e, ADD, o, index);
		break;
	case OP_sub:
		arithmetic(e, SUB, o, index);
		break;
	case OP_is_lt:
		check_tags(e, o[0], o[1], index);
		test_and_jump(e, GE, o);
		break;
	case OP_is_eq:
		test_and_jump(e, NE, o);
		break;
	case OP_select_val:
		select_val(e, instruction, index);
		break;
	case OP_jump:
		if (o[0].number != index + 1) {
			byte(e, JMP);
			fix_later(e, TO_INSTRUCTION, (int)o[0].number);
		}
		break;
	case OP_allocate: /* sub rsp, 8N ; cmp rsp, r13 ; jb stack overflow */
		if (o[0].number)
			alu_immediate(e, SUB, REG(RSP), (int32_t)o[0].number * 8);
		if (e->jit->options.checks & CHECK_STACK) {
			alu(e, CMP, REG(RSP), REG(R13));
			jcc(e, B);
			go_slow(e, STACK_OVERFLOW, index);
		}
		break;
	case OP_deallocate:
		if (o[0].number)
			alu_immediate(e, ADD, REG(RSP), (int32_t)o[0].number * 8);
		break;
	case OP_call:
	case OP_tail_call:
		reduce(e, index);
		byte(e, instruction->op == OP_call ? CALL : JMP);
		fix_later(e, TO_FUNCTION, (int)o[0].number);
		break;
	case OP_return:
		reduce(e, index);
		byte(e, 0xC3);
		break;
	case OP_bif: /* the argument, x0, is where C wants its first */
		call_c(e, (const void *)bifs[o[0].number].call);
		move(e, REG(x_regs[0]), REG(RAX));
		break;
	case OP_function_clause:
		byte(e, JMP);
		go_slow(e, FUNCTION_CLAUSE, index);
		break;
	case OP_count:
		encode(e, true, 0xFF, 0, VM(calls)); /* inc */
		break;
	case OPS:
		break;
	}
}

void emit__slow_paths(struct emitter *e)
{
	for (size_t i = 0; i < e->n_slow; i++) {
		const struct slow *slow = &e->slow[i];
		int32_t distance = (int32_t)((int64_t)e->at - (int64_t)slow->at - 4);

		memcpy(e->base + slow->at, &distance, sizeof(distance));
		move_immediate(e, REG(R12), slow->instruction);
		if (slow->outcome == DONE) {
			jump_to(e, CALL, e->yield);
			jump_to(e, JMP, slow->back);
		} else {
			jump_to(e, JMP, e->errors[slow->outcome]);
		}
	}
	e->n_slow = 0;
}

void emit__foreign(struct emitter *e, int function)
{
	move_immediate(e, REG(R12), function);
	jump_to(e, JMP, e->leave);
}

static void pop_and_return(struct emitter *e)
{
	static const enum reg saved[] = {R15, R14, R13, R12, RBP, RBX};

	alu_immediate(e, ADD, REG(RSP), 8);
	for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
		if (saved[i] > 7)
			byte(e, 0x41);
		byte(e, 0x58 | (saved[i] & 7));
	}
	byte(e, 0xC3);
}

/* int enter(struct vm *rdi, const void *rsi): 0, or an outcome */
static void emit_enter(struct emitter *e)
{
	static const enum reg saved[] = {RBX, RBP, R12, R13, R14, R15};

	e->jit->enter = e->at;
	for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++) {
		if (saved[i] > 7)
			byte(e, 0x41);
		byte(e, 0x50 | (saved[i] & 7));
	}
	alu_immediate(e, SUB, REG(RSP), 8); /* a multiple of 16 again */
	move(e, REG(R15), REG(RDI));
	move(e, REG(RAX), REG(RSI));
	move(e, VM(c_sp), REG(RSP));
	move(e, REG(R13), VM(limit));
	move(e, REG(R14), VM(reductions));
	load_x(e);
	move(e, REG(RSP), VM(sp));
	encode(e, false, 0xFF, 2, REG(RAX)); /* call rax */
	move(e, VM(sp), REG(RSP));
	move(e, VM(x), REG(x_regs[0]));
	move(e, VM(reductions), REG(R14));
	move(e, REG(RSP), VM(c_sp));
	move_immediate(e, REG(RAX), 0);
	pop_and_return(e);
}

static void emit_error(struct emitter *e, int outcome)
{
	e->errors[outcome] = e->at;
	encode(e, false, MOV, R12, VM(at));
	encode(e, false, 0xC7, 0, VM(outcome));
	word32(e, outcome);
	move(e, VM(reductions), REG(R14));
	move(e, REG(RSP), VM(c_sp));
	move_immediate(e, REG(RAX), outcome);
	pop_and_return(e);
}

void emit__stubs(struct emitter *e)
{
	emit_enter(e);
	for (int outcome = DONE + 1; outcome < OUTCOMES; outcome++)
		emit_error(e, outcome);

	/* yield: r12 is the instruction; all registers are kept */
	e->yield = e->at;
	store_x(e);
	move(e, VM(reductions), REG(R14));
	move(e, REG(RDI), REG(R15));
	call_c(e, (const void *)vm__yield);
	move(e, REG(R14), VM(reductions));
	encode(e, false, 0x84, RAX, REG(RAX)); /* test al, al */
	jcc(e, E);
	word32(e, (int32_t)((int64_t)e->errors[OUT_OF_REDUCTIONS] - (int64_t)e->at - 4));
	load_x(e);
	byte(e, 0xC3);

	/* leave: calls function r12 of another engine, which counts its return; returns to the caller */
	e->leave = e->at;
	store_x(e);
	move(e, VM(reductions), REG(R14));
	move(e, VM(sp), REG(RSP));
	move(e, REG(RDI), REG(R15));
	move(e, REG(RSI), REG(R12));
	move_immediate(e, REG(RDX), (int64_t)e->jit->options.engine);
	call_c(e, (const void *)e->jit->options.call_native);
	/* An outcome other than DONE is in struct vm already: test eax, eax ; je on */
	encode(e, false, 0x85, RAX, REG(RAX));
	byte(e, 0x74);
	size_t skip = e->at;
	byte(e, 0);
	move(e, REG(RSP), VM(c_sp));
	pop_and_return(e);
	e->base[skip] = (uint8_t)(e->at - skip - 1);
	move(e, REG(R14), VM(reductions));
	move(e, REG(x_regs[0]), VM(x));
	byte(e, 0xC3);
}

void emit__fix(struct emitter *e, const struct fixup *fixup, size_t target)
{
	int32_t distance = (int32_t)((int64_t)target - (int64_t)fixup->at - 4);

	memcpy(e->base + fixup->at, &distance, sizeof(distance));
}

#endif
