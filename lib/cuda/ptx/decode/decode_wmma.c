/* SPDX-License-Identifier: MIT */
/* wmma.load, wmma.store, wmma.mma. */
#include "cuda/ptx/decode/access.h"
#include "cuda/ptx/decode/matrix.h"
#include "cuda/ptx/exec/matrix.h"
#include "stream/op.h"

/* Which matrix wmma.load and wmma.store name. */
static bool read_role(const struct gt_ptx_instruction *instruction, bool stores, enum gt_ptx_role *role)
{
	static const struct {
		const char *word;
		enum gt_ptx_role role;
		bool stores;
	} roles[] = {{"a", GT_PTX_MATRIX_A, false},
		     {"b", GT_PTX_MATRIX_B, false},
		     {"c", GT_PTX_MATRIX_C, false},
		     {"d", GT_PTX_MATRIX_C, true}};

	for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
		if (roles[i].stores == stores && gt_ptx_has(instruction, roles[i].word)) {
			*role = roles[i].role;
			return true;
		}
	return false;
}

bool gt_ptx_lay_out_tile(const struct gt_ptx_instruction *instruction, struct gt_ptx_tile *tile, bool stores, size_t n)
{
	enum gt_ptx_element element = GT_PTX_NO_ELEMENT;
	struct gt_ptx_shape shape = {0};
	enum gt_ptx_role role;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		enum gt_ptx_element named = gt_ptx_element_named(instruction->modifiers[i]);
		element = named ? named : element;
		gt_ptx_read_shape(instruction->modifiers[i], &shape);
	}
	tile->by_columns = gt_ptx_has(instruction, "col");
	if (!element || !shape.m || !read_role(instruction, stores, &role) || n > GT_PTX_FRAGMENT_REGISTERS ||
	    tile->by_columns == gt_ptx_has(instruction, "row"))
		return false;
	/* Lines of less than a byte an element have whole words of a register: A's rows, and B's columns. */
	if (gt_ptx_element_bits(element) < 8 && tile->by_columns != (role == GT_PTX_MATRIX_B))
		return false;
	return gt_ptx_is_wmma(shape, role, element) &&
	       gt_ptx_fragment_lay_out(&tile->fragment, role, shape, element, (unsigned)n, false);
}

unsigned gt_ptx_tile_stride(const struct gt_ptx_tile *tile)
{
	const struct gt_ptx_fragment *fragment = &tile->fragment;
	unsigned line = tile->by_columns ? fragment->rows : fragment->columns;

	return fragment->element == GT_PTX_ELEMENT_B1 ? 32 * line : line;
}

static uint32_t read_stride(struct gt_ptx_decoder *decoder, const struct gt_ptx_tile *tile)
{
	if (decoder->instruction->n_operands == 3)
		return gt_ptx_source(decoder, &decoder->instruction->operands[2], GT_PTX_U64);
	return gt_ptx_constant_slot(decoder, gt_ptx_tile_stride(tile), 8);
}

/* wmma.load.R.sync.aligned.LAYOUT.SHAPE(.SPACE).TYPE {r, ...}, [address](, stride); wmma.store.d... [address],
 * {r, ...}(, stride) */
static int decode_tile(struct gt_ptx_decoder *decoder, bool stores)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result results[GT_PTX_FRAGMENT_REGISTERS];
	struct gt_ptx_tile *tile = gt_ptx_own(decoder, sizeof *tile);
	struct gt_ptx_access *said;
	enum gt_ptx_type type;
	size_t n;
	int read = gt_ptx_new_access(decoder, &said, &type);

	if (!tile || read != 0)
		return tile ? gt_ptx_refused(read) : -1;
	if (instruction->n_operands < 2 || instruction->n_operands > 3)
		return gt_ptx_refuse(decoder, "is not known in this form");
	const struct gt_ptx_operand *registers = &instruction->operands[stores ? 1 : 0];
	gt_ptx_elements(registers, &n);
	if (!gt_ptx_lay_out_tile(instruction, tile, stores, n))
		return gt_ptx_refuse(decoder, "is not known in this form");
	if (gt_ptx_read_address(decoder, said, &instruction->operands[stores ? 0 : 1]) != 0)
		return -1;
	tile->base = *said;
	tile->stride = read_stride(decoder, tile);
	read = gt_ptx_read_fragment(decoder, &tile->fragment, registers, stores ? NULL : results);
	if (!tile->stride || read != 0)
		return tile->stride ? gt_ptx_refused(read) : -1;
	tile->access = (struct gt_ptx_access){.space = said->space, .low = 1, .n = 1, .size = 1,
					      .action = stores ? GT_STORE : GT_LOAD,
					      .address = gt_ptx_temporary_slot(decoder, GT_PTX_U64)};
	if (!tile->access.address ||
	    !gt_ptx_emit_access(decoder, &tile->access, gt_ptx_tile_step(stores)))
		return -1;
	return stores ? 0 : gt_ptx_finish_fragment(decoder, &tile->fragment, results);
}

int gt_ptx_decode_wmma(struct gt_ptx_decoder *decoder)
{
	bool stores = gt_ptx_says(decoder, "store");

	return stores || gt_ptx_says(decoder, "load") ? decode_tile(decoder, stores) : gt_ptx_decode_wmma_product(decoder);
}
