/* SPDX-License-Identifier: MIT */
/* Appends micro-ops to the code of a function. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/decode/decoder.h"

struct gt_ptx_op *gt_ptx_emit(struct gt_ptx_decoder *decoder, gt_ptx_step *run)
{
	struct gt_ptx_code *code = decoder->code;

	struct gt_ptx_op *ops = gt_grown(code->ops, code->n_ops, &decoder->ops_capacity, sizeof *ops);
	if (!ops) {
		gt_fail_memory(decoder->error, "decoded instructions");
		return NULL;
	}
	code->ops = ops;
	struct gt_ptx_op *op = &code->ops[code->n_ops++];
	memset(op, 0, sizeof *op);
	op->run = run;
	op->guard = decoder->guard;
	op->guarded = decoder->guarded;
	op->counts = decoder->first;
	op->line = decoder->instruction ? decoder->instruction->line : decoder->function->line;
	decoder->first = false;
	return op;
}

struct gt_ptx_op *gt_ptx_emit_form(struct gt_ptx_decoder *decoder, const char *name, uint32_t d, uint32_t a,
				   uint32_t b, uint32_t c)
{
	const struct gt_ptx_form *form = gt_ptx_form_named(name);

	if (!form) {
		gt_fail(decoder->error, "PTX line %u: no operation '%s'", decoder->instruction->line, name);
		return NULL;
	}
	struct gt_ptx_op *op = gt_ptx_emit(decoder, gt_ptx_form_step(form));
	if (op) {
		op->d = d;
		op->a = a;
		op->b = b;
		op->c = c;
	}
	return op;
}

void *gt_ptx_own(struct gt_ptx_decoder *decoder, size_t bytes)
{
	struct gt_ptx_code *code = decoder->code;
	void **grown = gt_grown(code->owned, code->n_owned, &decoder->owned_capacity, sizeof *grown);
	void *kept = grown ? calloc(1, bytes) : NULL;

	if (grown)
		code->owned = grown;
	if (kept)
		code->owned[code->n_owned++] = kept;
	else
		gt_fail_memory(decoder->error, "decoded instructions");
	return kept;
}

int gt_ptx_emit_unknown(struct gt_ptx_decoder *decoder, const char *format, ...)
{
	char *text = gt_ptx_own(decoder, 160);
	struct gt_ptx_op *op = text ? gt_ptx_emit(decoder, gt_ptx_unknown) : NULL;
	va_list arguments;

	if (!op)
		return -1;
	va_start(arguments, format);
	vsnprintf(text, 160, format, arguments);
	va_end(arguments);
	op->with.text = text;
	return 0;
}
