/* SPDX-License-Identifier: MIT */
#include "stream/work.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"

const char *gt_work_format(uint32_t work, char buffer[GT_WORK_TEXT])
{
	snprintf(buffer, GT_WORK_TEXT, "%" PRIu32 ",%" PRIu32 "%s", gt_work_instructions(work), gt_work_barriers(work),
		 gt_work_waits(work) ? ",waits" : "");
	return buffer;
}

int gt_work_parse(const char *text, uint32_t *work)
{
	uint64_t instructions, barriers;

	if (!gt_scan_upto(&text, GT_WORK_INSTRUCTIONS, &instructions) || !gt_scan_char(&text, ',') ||
	    !gt_scan_upto(&text, GT_WORK_BARRIERS, &barriers))
		return -1;
	bool waits = strcmp(text, ",waits") == 0;
	if (*text && !waits)
		return -1;
	*work = gt_work(instructions, (uint32_t)barriers, waits);
	return 0;
}
