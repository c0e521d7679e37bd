/* SPDX-License-Identifier: MIT */
/* The outcome of a request at a cache level: the column `status` of gtrace(5). */
#ifndef GT_STREAM_STATUS_H
#define GT_STREAM_STATUS_H

#include <stdint.h>

#include "base/public.h"

GT_PUBLIC_BEGIN

enum gt_status {
	GT_STATUS_NONE,		    /* it was not looked up: it bypassed the level */
	GT_STATUS_HIT,		    /* every sector was there */
	GT_STATUS_MISS,		    /* some sector was not */
	GT_STATUS_RESERVATION_FAIL, /* no MSHR was left: it is tried again ([000] 4.4.2) */
	GT_STATUS_MERGED,	    /* it joined a miss in flight, whose MSHR it shares ([000] 4.4.2) */
	GT_STATUS_LATENCY_MISS,	    /* its line was in flight ([002] 4.2) */
	GT_STATUS_TLB_HIT,	    /* a TLB translated it: no further one looks it up */
	GT_STATUS_TLB_MISS,	    /* no TLB has translated it yet */
	GT_STATUSES
};
extern const char *const gt_status_names[GT_STATUSES];

/* The inverse of the names. Returns 0, or -1 if the text is none of them. */
int gt_status_parse(const char *text, uint8_t *status);

GT_PUBLIC_END

#endif
