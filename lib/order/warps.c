/* SPDX-License-Identifier: MIT */
#include "order/warps.h"

#define NONE UINT64_MAX

void gt_warps_begin(struct gt_warps *warps, bool by_an)
{
	warps->by_an = by_an;
	warps->n = warps->at = 0;
	warps->second = 0;
	warps->following = NONE;
}

static void look_at_next(const struct gt_warps *warps, struct gt_warps_rest *rest)
{
	const struct gt_record *record = (const void *)rest->at;

	rest->second = warps->by_an ? gt_record_block(record) : record->an;
}

void gt_warps_add(struct gt_warps *warps, const struct gt_span *span)
{
	struct gt_warps_rest rest = {.at = span->records, .left = span->n, .warp = ((const struct gt_record *)(const void *)span->records)->warp};
	size_t at = warps->n++;

	look_at_next(warps, &rest);
	for (; at > 0 && warps->spans[at - 1].warp > rest.warp; at--)
		warps->spans[at] = warps->spans[at - 1];
	warps->spans[at] = rest;
}

const struct gt_record *gt_warps_next(struct gt_warps *warps)
{
	for (;;) {
		for (; warps->at < warps->n; warps->at++) {
			struct gt_warps_rest *rest = &warps->spans[warps->at];
			if (rest->left == 0)
				continue;
			if (rest->second == warps->second) {
				const struct gt_record *record = (const void *)rest->at;
				rest->at += gt_record_bytes(record);
				if (--rest->left > 0)
					look_at_next(warps, rest);
				return record;
			}
			if (rest->second < warps->following)
				warps->following = rest->second;
		}
		if (warps->following == NONE)
			return NULL;
		warps->second = (uint32_t)warps->following;
		warps->following = NONE;
		warps->at = 0;
	}
}
