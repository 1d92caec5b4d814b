/* SPDX-License-Identifier: BSD-2-Clause */
/* Program to threaded code: picks a code for each instruction by the kinds of its operands, and a
 * superinstruction for neighbours where one fits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fib/interp.h"

#define MOST_PARTS 3

struct rule {
	enum code code;
	struct {
		int op; /* OPS: no more parts */
		const char *kinds;
	} parts[MOST_PARTS];
};

#define RULE(code, op1, kinds1, op2, kinds2, op3, kinds3)                                          \
	{CODE_##code, {{OP_##op1, kinds1}, {OP_##op2, kinds2}, {OP_##op3, kinds3}}},
#define OP_OPS OPS
static const struct rule rules[] = {FUSED(RULE)};
#define RULES ((int)(sizeof(rules) / sizeof(*rules)))

struct loader {
	struct threaded *code;
	const struct program *program;
	const struct load_options *options;
	int *starts;   /* of each instruction: its first word; -1: inside a superinstruction */
	bool *targets; /* of each instruction: is it jumped to? */
	bool emit;     /* second pass: places are known, write */
	int at;	       /* word */
	int instruction;
};

static void word(struct loader *l, uint64_t bits)
{
	if (l->emit) {
		l->code->words[l->at] = bits;
		l->code->owners[l->at] = l->instruction;
	}
	l->at++;
}

static void code_word(struct loader *l, int code)
{
	word(l, l->options->dispatch == DISPATCH_GOTO ? (uint64_t)interp__handlers()[code]
						      : (uint64_t)code);
}

static void place(struct loader *l, int instruction)
{
	word(l, l->emit ? (uint64_t)(l->code->words + l->starts[instruction]) : 0);
}

/* 0 to 3: R, X, Y, L, in the order in which codes.h lists them. */
static int kind_of(struct operand operand)
{
	if (operand.kind == 'x')
		return operand.number ? 1 : 0;
	return operand.kind == 'y' ? 2 : 3;
}

static bool is_native(const struct loader *l, int function)
{
	return l->options->native && l->options->native[function];
}

/* The words of an instruction's operands. */
static void operand_words(struct loader *l, const struct instruction *instruction)
{
	const char *operands = op_infos[instruction->op].operands;

	for (int i = 0; operands[i]; i++) {
		struct operand operand = instruction->operands[i];

		switch (operands[i]) {
		case 'S':
		case 'D':
			if (kind_of(operand))
				word(l, (uint64_t)operand.number);
			break;
		case 'L':
			place(l, (int)operand.number);
			break;
		case 'F':
			if (is_native(l, (int)operand.number))
				word(l, (uint64_t)operand.number);
			else
				place(l, l->program->functions[operand.number].start);
			break;
		case 'B':
			word(l, (uint64_t)bifs[operand.number].call);
			break;
		case 'C':
			word(l, (uint64_t)instruction->n_clauses);
			for (int c = 0; c < instruction->n_clauses; c++) {
				const struct clause *clause =
					&l->program->clauses[instruction->clauses + c];

				word(l, (uint64_t)clause->match);
				place(l, clause->target);
			}
			break;
		default:
			word(l, (uint64_t)operand.number);
		}
	}
}

static int code_of(const struct loader *l, const struct instruction *instruction)
{
	const struct operand *o = instruction->operands;
	int a = kind_of(o[0]), b = kind_of(o[1]), c = kind_of(o[2]);

	switch (instruction->op) {
	case OP_move:
		return CODE_move_R_R + 3 * a + b;
	case OP_add:
		return CODE_add_R_R_R + 12 * a + 3 * b + c;
	case OP_sub:
		return CODE_sub_R_R_R + 12 * a + 3 * b + c;
	case OP_is_lt:
		return CODE_is_lt_R_R + 4 * a + b;
	case OP_is_eq:
		return CODE_is_eq_R_R + 4 * a + b;
	case OP_select_val:
		return (instruction->n_clauses == 1   ? CODE_select1_R
			: instruction->n_clauses == 2 ? CODE_select2_R
						      : CODE_select_R) + a;
	case OP_jump:
		return CODE_jump;
	case OP_allocate:
		return CODE_allocate;
	case OP_deallocate:
		return CODE_deallocate;
	case OP_call:
		return is_native(l, (int)o[0].number) ? CODE_call_native : CODE_call;
	case OP_tail_call:
		return is_native(l, (int)o[0].number) ? CODE_tail_call_native : CODE_tail_call;
	case OP_return:
		return CODE_return;
	case OP_bif:
		return bifs[o[0].number].arity ? CODE_bif1 : CODE_bif0;
	case OP_function_clause:
		return CODE_function_clause;
	case OP_count:
		return CODE_count;
	case OPS:
		break;
	}
	return CODES;
}

/* Does a part of a rule stand for this instruction? */
static bool fits(const struct loader *l, const struct instruction *instruction, int op, const char *kinds)
{
	if (instruction->op != (enum op)op)
		return false;
	for (int i = 0; kinds[i]; i++) {
		if (kinds[i] != '-' && kinds[i] != "RXYL"[kind_of(instruction->operands[i])])
			return false;
		if (instruction->operands[i].kind == 'f' &&
		    is_native(l, (int)instruction->operands[i].number))
			return false;
	}
	return true;
}

/* The number of instructions from here on that the rule stands for, or 0. */
static int matches(const struct loader *l, const struct rule *rule, int end)
{
	int n = 0;

	while (n < MOST_PARTS && rule->parts[n].op != OPS) {
		int i = l->instruction + n;

		if (i >= end || (n && l->targets[i]) ||
		    !fits(l, &l->program->instructions[i], rule->parts[n].op, rule->parts[n].kinds))
			return 0;
		n++;
	}
	return n;
}

static const struct rule *find_rule(const struct loader *l, int end, int *n)
{
	for (int i = 0; l->options->fuse && i < RULES; i++)
		if ((*n = matches(l, &rules[i], end)))
			return &rules[i];
	return NULL;
}

static void load_function(struct loader *l, int start, int end)
{
	for (l->instruction = start; l->instruction < end; l->instruction++) {
		const struct instruction *instruction = &l->program->instructions[l->instruction];
		int n, last;
		const struct rule *rule = find_rule(l, end, &n);

		l->starts[l->instruction] = l->at;
		if (!rule) {
			code_word(l, code_of(l, instruction));
			operand_words(l, instruction);
			continue;
		}
		code_word(l, (int)rule->code);
		l->code->fused[rule->code] += l->emit;
		operand_words(l, instruction);
		for (last = l->instruction + n - 1; l->instruction < last;) {
			int before = l->at;

			instruction = &l->program->instructions[++l->instruction];
			l->starts[l->instruction] = -1;
			operand_words(l, instruction);
			if (l->at == before) /* every part owns a word, which tells where it failed */
				word(l, 0);
		}
	}
}

static void find_targets(struct loader *l)
{
	const struct program *program = l->program;

	for (int i = 0; i < program->n_instructions; i++)
		for (int k = 0; k < MOST_OPERANDS; k++)
			if (program->instructions[i].operands[k].kind == 'l')
				l->targets[program->instructions[i].operands[k].number] = true;
	for (int i = 0; i < program->n_clauses; i++)
		l->targets[program->clauses[i].target] = true;
}

int threaded__load(struct threaded *code, const struct program *program,
		   const struct load_options *options)
{
	struct loader l = {.code = code, .program = program, .options = options};
	int err = -ENOMEM;

	*code = (struct threaded){.program = program, .dispatch = options->dispatch,
				  .call_native = options->call_native, .engine = options->engine};
	l.starts = calloc((size_t)program->n_instructions, sizeof(*l.starts));
	l.targets = calloc((size_t)program->n_instructions, sizeof(*l.targets));
	code->entries = calloc((size_t)program->n_functions, sizeof(*code->entries));
	if (!l.starts || !l.targets || !code->entries)
		goto out;
	find_targets(&l);
	for (int pass = 0; pass < 2; pass++) {
		l.emit = pass;
		l.at = 0;
		for (int f = 0; f < program->n_functions; f++) {
			code->entries[f] = is_native(&l, f) ? -1 : l.at;
			if (!is_native(&l, f))
				load_function(&l, program->functions[f].start,
					      program->functions[f].end);
		}
		if (pass)
			break;
		code->n_words = l.at;
		code->words = calloc((size_t)l.at + 1, sizeof(*code->words));
		code->owners = calloc((size_t)l.at + 1, sizeof(*code->owners));
		if (!code->words || !code->owners)
			goto out;
	}
	err = 0;
out:
	free(l.starts);
	free(l.targets);
	return err;
}

void threaded__free(struct threaded *code)
{
	free(code->words);
	free(code->owners);
	free(code->entries);
	*code = (struct threaded){0};
}
