/* SPDX-License-Identifier: MIT */
/* The tables of lane operations, by an instruction's name. A new operation is a row in one of the tables. */
#ifndef GT_PTX_FORMS_H
#define GT_PTX_FORMS_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/ptx/exec/warp.h"
#include "cuda/ptx/text/module.h"

#define GT_PTX_SOURCES 4

/* What every step is compiled for: any processor; on x86 also AVX2 with FMA. */
#if defined __x86_64__
enum gt_ptx_simd { GT_PTX_PLAIN, GT_PTX_AVX2, GT_PTX_VARIANTS };
#else
enum gt_ptx_simd { GT_PTX_PLAIN, GT_PTX_VARIANTS };
#endif

/* How setp combines its result with a predicate: `choice` of the micro-op. */
enum gt_ptx_combination { GT_PTX_ALONE, GT_PTX_AND, GT_PTX_OR, GT_PTX_XOR };

struct gt_ptx_form {
	const char *name; /* opcode and modifiers, except those that every form has: "mad.lo.s32" */
	uint8_t d;	  /* enum gt_ptx_type */
	uint8_t sources[GT_PTX_SOURCES];
	gt_ptx_step *run[GT_PTX_VARIANTS];
};

struct gt_ptx_forms {
	const struct gt_ptx_form *rows;
	size_t n;
};

extern const struct gt_ptx_forms gt_ptx_integer_forms, gt_ptx_wide_forms, gt_ptx_bit_forms,
	gt_ptx_float_forms,
	gt_ptx_compare_forms, gt_ptx_convert_forms, gt_ptx_half_forms, gt_ptx_move_forms, gt_ptx_lane_forms;

/* A form by its name, or NULL. */
const struct gt_ptx_form *gt_ptx_form_named(const char *name);

/* Runs op->with.inner under the rounding mode that op->choice names. */
gt_ptx_step gt_ptx_rounded;

/* The widest variant that this processor has instructions for, and $GTRACE_PTX_LEVEL allows. */
enum gt_ptx_simd gt_ptx_simd_variant(void);
/* Whether machine code is made beside; whether that, and products of matrices, may use AVX-512. */
bool gt_ptx_makes_native(void);
bool gt_ptx_uses_avx512(void);
/* Fails if $GTRACE_PTX_LEVEL is the name of none. */
int gt_ptx_level_check(struct gt_error *error);

/* The step of a form for this processor. */
static inline gt_ptx_step *gt_ptx_form_step(const struct gt_ptx_form *form)
{
	return form->run[gt_ptx_simd_variant()];
}

#endif
