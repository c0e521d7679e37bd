/* SPDX-License-Identifier: MIT */
#include "stream/status.h"

#include <string.h>

const char *const gt_status_names[GT_STATUSES] = {
	[GT_STATUS_NONE] = "none",
	[GT_STATUS_HIT] = "hit",
	[GT_STATUS_MISS] = "miss",
	[GT_STATUS_RESERVATION_FAIL] = "reservation_fail",
	[GT_STATUS_MERGED] = "merged",
	[GT_STATUS_LATENCY_MISS] = "latency_miss",
	[GT_STATUS_TLB_HIT] = "tlb_hit",
	[GT_STATUS_TLB_MISS] = "tlb_miss",
};

int gt_status_parse(const char *text, uint8_t *status)
{
	for (uint8_t s = 0; s < GT_STATUSES; s++) {
		if (strcmp(text, gt_status_names[s]) != 0)
			continue;
		*status = s;
		return 0;
	}
	return -1;
}
