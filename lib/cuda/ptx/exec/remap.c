/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/remap.h"

#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/lanes.h"

/* Where the 128 bytes of a lane's map are; NULL after a fault. */
static unsigned char *map_at(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, const struct gt_ptx_access *base, unsigned lane)
{
	uint64_t address = base->narrow ? ((const uint32_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint32_t)base->offset
					: ((const uint64_t *)gt_ptx_lanes(warp, base->address))[lane] + (uint64_t)base->offset;
	unsigned char *place = gt_ptx_place_at(warp, lane, address + (base->space == GT_PTX_SHARED ? GT_PTX_SHARED_BASE : 0),
					       sizeof(struct gt_tensor_map));

	if (!place || address % sizeof(struct gt_tensor_map) != 0) {
		gt_ptx_fault(warp, op, lane, "at 0x%llx is no room for a tensor map: 128 bytes, at a multiple of that",
			     (unsigned long long)address);
		return NULL;
	}
	return place;
}

/* The type of elements that PTX has the number for. */
static uint8_t type_of(uint64_t value)
{
	static const uint8_t types[] = {GT_TENSOR_U8, GT_TENSOR_U16, GT_TENSOR_U32, GT_TENSOR_S32, GT_TENSOR_U64, GT_TENSOR_S64,
					GT_TENSOR_F16, GT_TENSOR_F32, GT_TENSOR_F32_FTZ, GT_TENSOR_F64, GT_TENSOR_BF16,
					GT_TENSOR_TF32, GT_TENSOR_TF32_FTZ};

	return value < sizeof types ? types[value] : GT_TENSOR_TYPES;
}

/* False if the field cannot have the value, or not in what is modelled. Fields that have to fit each other are looked at when
 * the map is used. */
static bool set(struct gt_tensor_map *map, const struct gt_ptx_remap *remap, uint64_t value)
{
	const unsigned d = remap->dimension;

	switch (remap->field) {
	case GT_TENSOR_FIELD_ADDRESS: map->address = value; return true;
	case GT_TENSOR_FIELD_RANK: map->rank = (uint8_t)(value + 1); return value < GT_TENSOR_RANK_MAX;
	case GT_TENSOR_FIELD_BOX: map->box[d] = (uint16_t)value; return value > 0 && value <= 256;
	case GT_TENSOR_FIELD_EXTENT: map->last[d] = (uint32_t)value - 1; return value > 0;
	case GT_TENSOR_FIELD_STRIDE: map->strides[d] = value; return true;
	case GT_TENSOR_FIELD_STEP: map->steps[d] = (uint8_t)value; return value > 0 && value <= 8;
	case GT_TENSOR_FIELD_TYPE: map->type = type_of(value); return map->type < GT_TENSOR_TYPES;
	case GT_TENSOR_FIELD_SWIZZLE: map->swizzle = (uint8_t)value; return value < GT_SWIZZLES;
	case GT_TENSOR_FIELD_FILL: map->fills_nan = value == 1; return value < 2;
	default: return value == 0; /* interleaved layouts, and other swizzles than of 16 bytes */
	}
}

/* A map of zeros is one that a kernel begins. */
static bool begin(struct gt_tensor_map *map)
{
	static const struct gt_tensor_map nothing;

	if (memcmp(map, &nothing, sizeof nothing) != 0)
		return map->magic == GT_TENSOR_MAGIC;
	*map = (struct gt_tensor_map){.magic = GT_TENSOR_MAGIC, .rank = 1};
	return true;
}

const struct gt_ptx_op *gt_ptx_replace_in_map(GT_STEP_ARGUMENTS)
{
	static const char *const names[] = {
#define NAME(IDENTIFIER, word) word,
		GT_TENSOR_FIELDS(NAME)
#undef NAME
	};
	const struct gt_ptx_remap *remap = (const struct gt_ptx_remap *)op->with.access;

	for (uint32_t m = mask; m; m &= m - 1) {
		const unsigned lane = gt_ptx_lowest(m);
		const uint64_t value = remap->wide ? ((const uint64_t *)gt_ptx_lanes(warp, remap->value))[lane]
						   : ((const uint32_t *)gt_ptx_lanes(warp, remap->value))[lane];
		unsigned char *place = map_at(warp, op, &remap->place, lane);
		struct gt_tensor_map map;
		if (!place)
			return NULL;
		memcpy(&map, place, sizeof map);
		if (!begin(&map))
			return gt_ptx_fault(warp, op, lane, "what is there is no tensor map, nor zeros, of which one is made");
		if (!set(&map, remap, value))
			return gt_ptx_fault(warp, op, lane, "a tensor map with %llu as its %s is not possible, or not modelled",
					    (unsigned long long)value, names[remap->field]);
		memcpy(place, &map, sizeof map);
	}
	return op + 1;
}

/* All lanes name the same two maps. */
const struct gt_ptx_op *gt_ptx_copy_map(GT_STEP_ARGUMENTS)
{
	const struct gt_ptx_remap *remap = (const struct gt_ptx_remap *)op->with.access;
	const unsigned lane = gt_ptx_lowest(mask);
	unsigned char *from = map_at(warp, op, &remap->from, lane), *to = from ? map_at(warp, op, &remap->place, lane) : NULL;

	if (!to)
		return NULL;
	memcpy(to, from, sizeof(struct gt_tensor_map));
	return op + 1;
}
