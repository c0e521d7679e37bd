/* SPDX-License-Identifier: MIT */
/* Tensor maps: what cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make, and cp.async.bulk.tensor reads. CUDA leaves their 128 bytes opaque; this
 * is what they are here. */
#ifndef GT_PTX_TENSOR_H
#define GT_PTX_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/text/module.h"

#define GT_TENSOR_RANK_MAX 5
#define GT_TENSOR_SCATTERED 4 /* rows of a copy that gathers or scatters them */
#define GT_TENSOR_MAGIC	   UINT32_C(0x70616d74)

/* CUtensorMapDataType. Of elements of 4 and 6 bits 16 have 8 bytes, or 12; or 16 in shared memory, of which the last are zeros. */
enum gt_tensor_type {
	GT_TENSOR_U8,
	GT_TENSOR_U16,
	GT_TENSOR_U32,
	GT_TENSOR_S32,
	GT_TENSOR_U64,
	GT_TENSOR_S64,
	GT_TENSOR_F16,
	GT_TENSOR_F32,
	GT_TENSOR_F64,
	GT_TENSOR_BF16,
	GT_TENSOR_F32_FTZ,
	GT_TENSOR_TF32,
	GT_TENSOR_TF32_FTZ,
	GT_TENSOR_16U4,
	GT_TENSOR_16U4_APART,
	GT_TENSOR_16U6_APART,
	GT_TENSOR_TYPES
};

/* CUtensorMapSwizzle: pieces of 16 bytes of shared memory change places within rows of so many bytes; or pieces of 32 bytes, within rows
 * of 128. */
enum gt_tensor_swizzle { GT_SWIZZLE_NONE, GT_SWIZZLE_32, GT_SWIZZLE_64, GT_SWIZZLE_128, GT_SWIZZLE_128_BY_32, GT_SWIZZLES };

struct gt_tensor_map {
	uint64_t address;
	uint64_t strides[GT_TENSOR_RANK_MAX - 1]; /* bytes, of the dimensions from the second on */
	uint32_t magic;
	uint32_t last[GT_TENSOR_RANK_MAX]; /* the largest coordinate of each dimension */
	uint16_t box[GT_TENSOR_RANK_MAX];
	uint8_t steps[GT_TENSOR_RANK_MAX]; /* every so manieth element of a box is copied */
	uint8_t rank, type, swizzle, promotion, fills_nan;
	/* im2col: the pixels of a column, 0 for a box. They go through the dimensions between the first and the last, each from lower to
	 * `last` + upper. */
	uint16_t pixels;
	int16_t lower[GT_TENSOR_RANK_MAX - 2], upper[GT_TENSOR_RANK_MAX - 2];
	uint16_t rest[15];
};
_Static_assert(sizeof(struct gt_tensor_map) == 128, "as CUtensorMap");

/* Whether what it says fits together, as cuTensorMapEncodeTiled asks. */
bool gt_tensor_is_sound(const struct gt_tensor_map *map);

/* Elements of a box along a dimension that are copied. */
static inline uint32_t gt_tensor_extent(const struct gt_tensor_map *map, unsigned d)
{
	return d == 0 ? map->box[0] : (map->box[d] + map->steps[d] - 1U) / map->steps[d];
}

/* Where a byte of shared memory goes: its address with bits 4 to 6 changed by bits 7 to 9, as far as the swizzle has them; or bits 5
 * and 6 by bits 7 and 8. */
static inline uint64_t gt_swizzled(uint64_t address, enum gt_tensor_swizzle swizzle)
{
	if (swizzle == GT_SWIZZLE_128_BY_32)
		return address ^ ((address >> 7 & 3) << 5);
	return address ^ ((address >> 7 & ((1U << swizzle) - 1U)) << 4);
}

/* ---- copies ---- */

/* Copies in bulk: of successive bytes, or of a box of a tensor; between global and shared memory, or from shared memory to
 * that of another block of the cluster. */

struct gt_ptx_bulk {
	/* Accesses of pieces, whose address slots are temporary: `outer` is that of global memory, or of another block's
	 * shared memory; `inner` is in shared memory. */
	struct gt_ptx_access outer, inner;
	struct gt_ptx_access outer_base, inner_base; /* addresses of the first bytes; outer_base of the tensor map if rank > 0 */
	struct gt_ptx_access mbarrier; /* address slot 0: none */
	bool stores;	   /* from inner to outer */
	bool prefetches;   /* global memory into L2: there is no inner */
	uint8_t rank;	   /* of a tensor; 0: successive bytes */
	uint16_t hint;	   /* that is written; a tensor map can add one */
	bool pairs;	   /* .cta_group::2: of the blocks' pairs those mbarriers hear of it whose block is even, or odd, as that of the
			    * mbarrier's address */
	bool declines;	   /* clusterlaunchcontrol.try_cancel: it writes zeros, and there is no outer */
	uint32_t bytes;	   /* slot: of successive bytes */
	uint32_t blocks;   /* slot: the blocks of the cluster that get a copy each; 0: the one of the address */
	bool columns; /* .im2col: of pixels, not a box */
	bool scattered; /* .tile::gather4 and .tile::scatter4: of four rows, each with a coordinate of its own behind the first */
	uint32_t coordinates[GT_TENSOR_RANK_MAX], offsets[GT_TENSOR_RANK_MAX - 2]; /* slots; offsets: 0 if there are none */
	const struct gt_ptx_instruction *reduces; /* whose operation is done with what is there; NULL: it is overwritten */
	enum gt_ptx_type type;			  /* of its elements; of a tensor its map says it */
};

/* ---- changes ---- */

/* Changes of tensor maps by kernels: tensormap.replace, and tensormap.cp_fenceproxy, which copies a map to global memory. */

/* The fields, by their names in PTX; those from GT_TENSOR_BOX to GT_TENSOR_STEP are of a dimension each. */
#define GT_TENSOR_FIELDS(ROW)                                                                                             \
	ROW(ADDRESS, "global_address") ROW(RANK, "rank") ROW(BOX, "box_dim") ROW(EXTENT, "global_dim")                    \
	ROW(STRIDE, "global_stride") ROW(STEP, "element_stride") ROW(TYPE, "elemtype") ROW(INTERLEAVE, "interleave_layout") \
	ROW(SWIZZLE, "swizzle_mode") ROW(ATOMICITY, "swizzle_atomicity") ROW(FILL, "fill_mode")
enum gt_tensor_field {
#define GT_TENSOR_FIELD(NAME, word) GT_TENSOR_FIELD_##NAME,
	GT_TENSOR_FIELDS(GT_TENSOR_FIELD)
#undef GT_TENSOR_FIELD
	GT_TENSOR_FIELD_COUNT
};

struct gt_ptx_remap {
	struct gt_ptx_access place; /* of the map; of cp_fenceproxy: where it goes */
	struct gt_ptx_access from;
	enum gt_tensor_field field;
	unsigned dimension;
	uint32_t value; /* slot */
	bool wide;	/* it has 64 bits */
};

/* ---- barriers in shared memory ---- */

/* Barriers that are objects in shared memory: mbarrier.
 *
 * PTX leaves the 64 bits of an mbarrier opaque. Here they are, from the lowest: pending arrivals and expected arrivals,
 * 20 bits each; bytes that are still to come, plus 2^20, 21 bits; the number of the phase, modulo 8. The state that an
 * arrival returns is these bits. */
#define GT_PTX_MBARRIER_COUNT_MAX ((UINT64_C(1) << 20) - 1)

/* What is done with an mbarrier: `choice` of the micro-op. */
enum gt_ptx_mbarrier_action {
	GT_PTX_MBARRIER_INIT,
	GT_PTX_MBARRIER_INVALIDATE,
	GT_PTX_MBARRIER_ARRIVE,
	GT_PTX_MBARRIER_DROP, /* arrives, and is not expected any more */
	GT_PTX_MBARRIER_EXPECT,
	GT_PTX_MBARRIER_ARRIVE_EXPECTING, /* expects bytes, then arrives once */
	GT_PTX_MBARRIER_COMPLETE,
	GT_PTX_MBARRIER_LOOK, /* arrives for copies that are done, and is expected once more */
	GT_PTX_MBARRIER_TEST,
	GT_PTX_MBARRIER_TEST_PARITY,
};

/* ---- steps ---- */

/* op->with.access: of bulk, `outer` of a struct gt_ptx_bulk, as of arrive, which arrives at its mbarrier in its blocks; of the changes of maps, `place` of a struct gt_ptx_remap; of mbarrier,
 * where the mbarriers of the lanes are; op->a: the count, bytes, state or parity, 0: the count is 1;
 * op->d: the state, or the predicate, 0: none. */
extern const struct gt_ptx_async_steps {
	gt_ptx_step *bulk, *arrive, *mbarrier, *replace_in_map, *copy_map;
} gt_ptx_async_steps;

#endif
