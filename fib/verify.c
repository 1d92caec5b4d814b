/* SPDX-License-Identifier: BSD-2-Clause */
/* One pass down each function: jumps only go down, so what holds at a label is known when it is
 * reached. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fib/program.h"

/* What holds before an instruction. */
struct state {
	bool reached;
	int frame;		     /* Y slots; -1: no frame */
	unsigned char x[MOST_X / 8 + 1]; /* bits: set on every way here */
	unsigned char y[MOST_Y / 8 + 1];
};

struct verifier {
	const struct program *program;
	const struct function *function;
	struct state *states; /* of labels of this function, by instruction */
	struct state now;
	int at; /* instruction */
	char *why;
	size_t why_size;
};

static int wrong(struct verifier *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int wrong(struct verifier *v, const char *format, ...)
{
	int n = snprintf(v->why, v->why_size, "line %d: ", v->program->instructions[v->at].line);
	va_list args;

	va_start(args, format);
	if (n >= 0 && (size_t)n < v->why_size)
		vsnprintf(v->why + n, v->why_size - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_set(const unsigned char *bits, int64_t index)
{
	size_t i = (size_t)index;

	return bits[i / 8] >> (i % 8) & 1;
}

static void set(unsigned char *bits, int64_t i)
{
	bits[i / 8] = (unsigned char)(bits[i / 8] | 1 << (i % 8));
}

/* Joins the state here into that at a label. */
static int flow_to(struct verifier *v, int64_t target)
{
	struct state *there = &v->states[target - v->function->start];

	if (target <= v->at)
		return wrong(v, "a jump up: a loop must be a call, where reductions are counted");
	if (!there->reached) {
		*there = v->now;
		return 0;
	}
	if (there->frame != v->now.frame)
		return wrong(v, "the label is reached with another frame from elsewhere");
	for (size_t i = 0; i < sizeof(there->x); i++)
		there->x[i] &= v->now.x[i];
	for (size_t i = 0; i < sizeof(there->y); i++)
		there->y[i] &= v->now.y[i];
	return 0;
}

static int check_source(struct verifier *v, struct operand operand)
{
	if (operand.kind == 'x' && !is_set(v->now.x, operand.number))
		return wrong(v, "x%d is read before it is set", (int)operand.number);
	if (operand.kind != 'y')
		return 0;
	if (operand.number >= v->now.frame)
		return wrong(v, "y%d is not in the frame", (int)operand.number);
	if (!is_set(v->now.y, operand.number))
		return wrong(v, "y%d is read before it is set", (int)operand.number);
	return 0;
}

static int set_destination(struct verifier *v, struct operand operand)
{
	if (operand.kind == 'y' && operand.number >= v->now.frame)
		return wrong(v, "y%d is not in the frame", (int)operand.number);
	set(operand.kind == 'x' ? v->now.x : v->now.y, operand.number);
	return 0;
}

/* The arguments of a call are set; afterwards x0 alone is, if it comes back. */
static int check_call(struct verifier *v, int arity)
{
	for (int i = 0; i < arity; i++)
		if (!is_set(v->now.x, i))
			return wrong(v, "argument x%d is not set", i);
	memset(v->now.x, 0, sizeof(v->now.x));
	set(v->now.x, 0);
	return 0;
}

static int check_frame(struct verifier *v, const struct instruction *instruction)
{
	int n = (int)instruction->operands[0].number;

	switch (instruction->op) {
	case OP_allocate:
		if (v->now.frame >= 0)
			return wrong(v, "there is a frame already");
		v->now.frame = n;
		memset(v->now.y, 0, sizeof(v->now.y));
		return 0;
	case OP_deallocate:
		if (v->now.frame != n)
			return wrong(v, v->now.frame < 0 ? "there is no frame"
							 : "the frame has %d slots", v->now.frame);
		v->now.frame = -1;
		return 0;
	case OP_call:
		return v->now.frame < 0 ? wrong(v, "a call needs a frame: allocate first") : 0;
	case OP_return:
	case OP_tail_call:
		if (v->now.frame >= 0)
			return wrong(v, "the frame must be deallocated before");
		if (instruction->op == OP_return && !is_set(v->now.x, 0))
			return wrong(v, "x0 is not set");
		return 0;
	default:
		return 0;
	}
}

/* Checks the instruction at v->at and moves the state past it. */
static int step(struct verifier *v)
{
	const struct program *program = v->program;
	const struct instruction *instruction = &program->instructions[v->at];
	const char *operands = op_infos[instruction->op].operands;
	int err = check_frame(v, instruction);

	for (int i = 0; !err && operands[i]; i++)
		if (operands[i] == 'S')
			err = check_source(v, instruction->operands[i]);
	for (int i = 0; !err && operands[i]; i++) {
		struct operand operand = instruction->operands[i];

		if (operands[i] == 'D')
			err = set_destination(v, operand);
		else if (operands[i] == 'L')
			err = flow_to(v, operand.number);
		else if (operands[i] == 'F')
			err = check_call(v, program->functions[operand.number].arity);
		else if (operands[i] == 'B')
			err = check_call(v, bifs[operand.number].arity);
	}
	for (int i = 0; !err && i < instruction->n_clauses; i++)
		err = flow_to(v, program->clauses[instruction->clauses + i].target);
	switch (instruction->op) {
	case OP_jump:
	case OP_select_val:
	case OP_return:
	case OP_tail_call:
	case OP_function_clause:
		v->now.reached = false;
		break;
	default:
		break;
	}
	return err;
}

static int verify_function(struct verifier *v)
{
	const struct function *function = v->function;
	int err = 0;

	v->now = (struct state){.reached = true, .frame = -1};
	for (int i = 0; i < function->arity; i++)
		set(v->now.x, i);
	for (v->at = function->start; !err && v->at < function->end; v->at++) {
		struct state *label = &v->states[v->at - function->start];

		if (label->reached && v->now.reached) {
			v->at--; /* the way from above joins as a jump from there would */
			err = flow_to(v, v->at + 1);
			v->at++;
		}
		if (err)
			break;
		if (label->reached)
			v->now = *label;
		if (!v->now.reached)
			return wrong(v, "this is never reached");
		err = step(v);
	}
	v->at = function->end - 1;
	return !err && v->now.reached ? wrong(v, "%s/%d runs off its end", function->name,
					      function->arity)
				      : err;
}

int program__verify(const struct program *program, char *why, size_t why_size)
{
	struct verifier v = {.program = program, .why = why, .why_size = why_size};
	int err = 0;

	for (int f = 0; !err && f < program->n_functions; f++) {
		v.function = &program->functions[f];
		v.states = calloc((size_t)(v.function->end - v.function->start), sizeof(*v.states));
		if (!v.states) {
			snprintf(why, why_size, "out of memory");
			return -ENOMEM;
		}
		err = verify_function(&v);
		free(v.states);
	}
	return err;
}
