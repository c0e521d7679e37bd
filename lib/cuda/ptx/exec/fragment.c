/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/fragment.h"

#include <string.h>

#include "cuda/ptx/exec/lanes.h"

static const struct {
	const char *name;
	uint8_t bits;  /* of an element */
	uint8_t unit;  /* bits that are one unit of the matrix */
} elements[GT_PTX_ELEMENTS] = {
	[GT_PTX_NO_ELEMENT] = {"", 0, 0},
	[GT_PTX_ELEMENT_F16] = {"f16", 16, 16},
	[GT_PTX_ELEMENT_BF16] = {"bf16", 16, 16},
	[GT_PTX_ELEMENT_E4M3] = {"e4m3", 8, 8},
	[GT_PTX_ELEMENT_E5M2] = {"e5m2", 8, 8},
	[GT_PTX_ELEMENT_TF32] = {"tf32", 32, 32},
	[GT_PTX_ELEMENT_F32] = {"f32", 32, 32},
	[GT_PTX_ELEMENT_F64] = {"f64", 64, 64},
	[GT_PTX_ELEMENT_S8] = {"s8", 8, 8},
	[GT_PTX_ELEMENT_U8] = {"u8", 8, 8},
	[GT_PTX_ELEMENT_S4] = {"s4", 4, 4},
	[GT_PTX_ELEMENT_U4] = {"u4", 4, 4},
	[GT_PTX_ELEMENT_S32] = {"s32", 32, 32},
	[GT_PTX_ELEMENT_B1] = {"b1", 1, 32},
};

unsigned gt_ptx_element_bits(enum gt_ptx_element element)
{
	return elements[element].bits;
}

enum gt_ptx_element gt_ptx_element_named(const char *word)
{
	for (unsigned e = 1; e < GT_PTX_ELEMENTS; e++)
		if (strcmp(elements[e].name, word) == 0)
			return (enum gt_ptx_element)e;
	return GT_PTX_NO_ELEMENT;
}

/* Lane l is thread l % 4 of group l / 4. A register of a block of 8 x 4 registers holds `units` along k (A, B), or
 * along n (C). */
static unsigned place(const struct gt_ptx_fragment *fragment, enum gt_ptx_role role, unsigned r, unsigned lane)
{
	unsigned group = lane / 4, thread = lane % 4, units = fragment->units;
	unsigned deep = fragment->rows / (4 * units), down = fragment->rows / 8;

	switch (role) {
	case GT_PTX_MATRIX_A:
		return (group + 8 * (r % down)) * fragment->columns + (thread + 4 * (r / down)) * units;
	case GT_PTX_MATRIX_B:
		return (thread + 4 * (r % deep)) * units * fragment->columns + group + 8 * (r / deep);
	case GT_PTX_MATRIX_C: break;
	}
	/* Two columns a lane: in one register, or in two. */
	unsigned pair = units == 2 ? r : r / 2, odd = units == 2 ? 0 : r % 2;
	return (group + 8 * (pair % down)) * fragment->columns + 8 * (pair / down) + 2 * thread + odd;
}

/* mma.m8n8k4 of f16: lanes 4q to 4q + 3 and those 16 above them make product q. */
static unsigned place_in_quads(const struct gt_ptx_fragment *fragment, enum gt_ptx_role role, unsigned r,
			       unsigned lane, bool by_columns)
{
	unsigned quad = lane % 16 / 4, thread = lane % 4, high = lane / 16 * 4, i = r * fragment->units;

	switch (role) {
	case GT_PTX_MATRIX_A: return quad * 32 + (by_columns ? (high + i) * 4 + thread : (high + thread) * 4 + i);
	case GT_PTX_MATRIX_B: return quad * 32 + (by_columns ? i * 8 + high + thread : thread * 8 + high + i);
	case GT_PTX_MATRIX_C: break;
	}
	if (fragment->element == GT_PTX_ELEMENT_F16)
		return quad * 64 + (high + thread) * 8 + i;
	return quad * 64 + (high + (thread & 1) + (i & 2)) * 8 + (i & 4) + (thread & 2) + (i & 1);
}

/* Says where the runs are, by the places of the first lane. */
static void lay_out_runs(struct gt_ptx_fragment *fragment, enum gt_ptx_role role)
{
	const unsigned unit = elements[fragment->element].unit, columns = fragment->columns;
	const bool by_columns = role == GT_PTX_MATRIX_B;

	fragment->by_columns = by_columns;
	fragment->paired = role == GT_PTX_MATRIX_C && fragment->units == 1;
	fragment->line = (uint16_t)((by_columns ? fragment->rows : columns) * unit / 8);
	for (unsigned r = 0; r < fragment->n; r++) {
		const unsigned row = fragment->at[r][0] / columns, column = fragment->at[r][0] % columns;
		fragment->runs[r].line = (uint16_t)(by_columns ? column : row);
		fragment->runs[r].at = (uint16_t)((by_columns ? row : column) * unit / 8);
	}
}

bool gt_ptx_fragment_lay_out(struct gt_ptx_fragment *fragment, enum gt_ptx_role role, struct gt_ptx_shape shape,
			     enum gt_ptx_element element, unsigned n, bool by_columns)
{
	const unsigned unit = elements[element].unit, in_unit = unit / elements[element].bits;
	const unsigned copies = shape.quads ? 4 : 1;
	unsigned rows = role == GT_PTX_MATRIX_B ? shape.k / in_unit : shape.m;
	unsigned columns = role == GT_PTX_MATRIX_A ? shape.k / in_unit : shape.n;

	fragment->element = element;
	fragment->rows = (uint16_t)rows;
	fragment->columns = (uint16_t)columns;
	fragment->units = (uint8_t)(unit < 32 ? 32 / unit : 1);
	fragment->n = (uint8_t)n;
	bool along_rows = role == GT_PTX_MATRIX_C || (shape.quads ? !by_columns : role == GT_PTX_MATRIX_A);
	fragment->step = (uint16_t)(along_rows ? 1 : columns);
	unsigned needed = copies * rows * columns / fragment->units / GT_WARP_SIZE;
	fragment->distinct = (uint8_t)needed;
	if (needed == 0 || n == 0 || n > GT_PTX_FRAGMENT_REGISTERS || n % needed != 0)
		return false;
	for (unsigned r = 0; r < n; r++)
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			fragment->at[r][lane] =
				(uint16_t)(shape.quads ? place_in_quads(fragment, role, r % needed, lane, by_columns)
						       : place(fragment, role, r % needed, lane));
	if (!shape.quads)
		lay_out_runs(fragment, role);
	fragment->rows = (uint16_t)(rows * copies);
	return true;
}

GT_INLINE void gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits,
		      const unsigned width)
{
	const unsigned units = width < 32 ? 32 / width : 1, step = fragment->step;

	for (unsigned r = 0; r < fragment->distinct; r++) {
		const uint16_t *at = fragment->at[r];
		const uint32_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			for (unsigned i = 0; i < units; i++)
				bits[at[lane] + i * step] =
					width < 32 ? lanes[lane] >> i * width & ((1U << width % 32) - 1) : lanes[lane];
	}
}

GT_INLINE void scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, const uint64_t *bits,
		       const unsigned width)
{
	const unsigned units = width < 32 ? 32 / width : 1, step = fragment->step;

	for (unsigned r = 0; r < fragment->n; r++) {
		const uint16_t *at = fragment->at[r];
		uint32_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++) {
			uint64_t word = 0;
			for (unsigned i = 0; i < units; i++)
				word |= bits[at[lane] + i * step] << i * width;
			lanes[lane] = (uint32_t)word;
		}
	}
}

void gt_ptx_fragment_gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits)
{
	switch (elements[fragment->element].unit) {
	case 4: gather(fragment, warp, bits, 4); return;
	case 8: gather(fragment, warp, bits, 8); return;
	case 16: gather(fragment, warp, bits, 16); return;
	case 32: gather(fragment, warp, bits, 32); return;
	}
	for (unsigned r = 0; r < fragment->distinct; r++) {
		const uint64_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			bits[fragment->at[r][lane]] = lanes[lane];
	}
}

void gt_ptx_fragment_scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
			     const uint64_t *bits)
{
	switch (elements[fragment->element].unit) {
	case 4: scatter(fragment, warp, bits, 4); return;
	case 8: scatter(fragment, warp, bits, 8); return;
	case 16: scatter(fragment, warp, bits, 16); return;
	case 32: scatter(fragment, warp, bits, 32); return;
	}
	for (unsigned r = 0; r < fragment->n; r++) {
		uint64_t *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			lanes[lane] = bits[fragment->at[r][lane]];
	}
}
