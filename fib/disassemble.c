/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fib/program.h"

void value__print(const struct program *program, value v, FILE *stream)
{
	if (value__is_integer(v))
		fprintf(stream, "%" PRId64, value__number(v));
	else
		fputs(program->atoms[value__number(v)], stream);
}

static void print_operand(const struct program *program, struct operand operand, FILE *stream)
{
	const struct function *function;

	switch (operand.kind) {
	case 'i':
		value__print(program, operand.number, stream);
		break;
	case 'l':
		fprintf(stream, "L%" PRId64, operand.number);
		break;
	case 'n':
		fprintf(stream, "%" PRId64, operand.number);
		break;
	case 'b':
		fprintf(stream, "%s/%d", bifs[operand.number].name, bifs[operand.number].arity);
		break;
	case 'f':
		function = &program->functions[operand.number];
		fprintf(stream, "%s%s%s/%d", function->module, function->module[0] ? ":" : "",
			function->name, function->arity);
		break;
	default:
		fprintf(stream, "%c%" PRId64, operand.kind, operand.number);
	}
}

void instruction__print(const struct program *program, int index, FILE *stream)
{
	const struct instruction *instruction = &program->instructions[index];
	const struct op_info *info = &op_infos[instruction->op];

	fputs(info->name, stream);
	for (int i = 0; info->operands[i] && info->operands[i] != 'C'; i++) {
		fputs(i ? ", " : " ", stream);
		print_operand(program, instruction->operands[i], stream);
	}
	for (int i = 0; i < instruction->n_clauses; i++) {
		const struct clause *clause = &program->clauses[instruction->clauses + i];

		fputs(", ", stream);
		value__print(program, clause->match, stream);
		fprintf(stream, ":L%d", clause->target);
	}
}

void program__disassemble(const struct program *program, FILE *stream)
{
	bool *labelled = calloc((size_t)program->n_instructions, sizeof(*labelled));
	const char *module = "";

	if (!labelled)
		return;
	for (int i = 0; i < program->n_instructions; i++)
		for (int k = 0; k < MOST_OPERANDS; k++)
			if (program->instructions[i].operands[k].kind == 'l')
				labelled[program->instructions[i].operands[k].number] = true;
	for (int i = 0; i < program->n_clauses; i++)
		labelled[program->clauses[i].target] = true;
	for (int f = 0; f < program->n_functions; f++) {
		const struct function *function = &program->functions[f];

		if (strcmp(function->module, module))
			fprintf(stream, "module %s\n", function->module);
		module = function->module;
		fprintf(stream, "function %s/%d\n", function->name, function->arity);
		for (int i = function->start; i < function->end; i++) {
			if (labelled[i])
				fprintf(stream, "L%d:\n", i);
			fputs("\t", stream);
			instruction__print(program, i, stream);
			fputc('\n', stream);
		}
	}
	free(labelled);
}
