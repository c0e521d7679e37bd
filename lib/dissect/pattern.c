/* SPDX-License-Identifier: MIT */
#include "dissect/pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/scan.h"

#define DATA (1U << GT_VISIT_DATA)
#define TLB1 (1U << GT_VISIT_TLB1)
#define TLB2 (1U << GT_VISIT_TLB2)
#define WINDOW (1U << GT_VISIT_WINDOW)

static const unsigned table3[GT_PATTERNS] = {
	0, TLB1, TLB1 | TLB2, DATA, DATA | TLB1 | TLB2, DATA | TLB1 | TLB2 | WINDOW,
};

int gt_latencies_parse(const char *text, struct gt_latencies *latencies, struct gt_error *error)
{
	const char *at = text;
	uint64_t cycles;

	for (latencies->n = 0; latencies->n < GT_PATTERNS; latencies->n++) {
		if (latencies->n > 0 && !gt_scan_char(&at, ','))
			break;
		if (!gt_scan_upto(&at, UINT32_MAX, &cycles))
			return gt_fail(error, "'%.60s': expected whole numbers of cycles with commas between", text);
		latencies->cycles[latencies->n] = (uint32_t)cycles;
	}
	if (*at != '\0' || (latencies->n != 2 && latencies->n < 5))
		return gt_fail(error, "'%.60s': expected 2 latencies (hit, miss), or the 5 or 6 of the patterns", text);
	return 0;
}

int gt_pattern(const struct gt_latencies *latencies, unsigned missed)
{
	if (latencies->n == 2)
		return missed & DATA ? 2 : 1;
	for (int i = 0; i < latencies->n; i++)
		if (table3[i] == missed)
			return i + 1;
	return 0;
}

const char *gt_pattern_words(unsigned missed, char *buffer, unsigned long bytes)
{
	static const char *const names[GT_VISITS] = {"data", "L1 TLB", "L2 TLB", "window"};
	int used = 0;

	buffer[0] = '\0';
	for (int i = 0; i < GT_VISITS && (unsigned long)used < bytes; i++)
		used += snprintf(buffer + used, bytes - (unsigned long)used, "%s%s %s", i ? ", " : "", names[i],
				 missed >> i & 1 ? "miss" : "hit");
	return buffer;
}
