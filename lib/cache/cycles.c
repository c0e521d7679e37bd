/* SPDX-License-Identifier: MIT */
#include "cache/cycles.h"

#include <stdbool.h>
#include <string.h>

#include "base/scan.h"

/* The first step has no FROM, as it is from 0. */
static bool parse_step(const char **at, struct gt_cycles *cycles)
{
	uint64_t from = 0, added, last = cycles->n > 0 ? cycles->step[cycles->n - 1].from : 0;
	bool first = cycles->n == 0;

	if (cycles->n == GT_CYCLES_STEPS)
		return false;
	if (!first && !(gt_scan_upto(at, UINT32_MAX, &from) && gt_scan_char(at, ':') && from > last))
		return false;
	if (!gt_scan_upto(at, UINT32_MAX, &added))
		return false;
	cycles->step[cycles->n].from = (uint32_t)from;
	cycles->step[cycles->n++].added = (uint32_t)added;
	return true;
}

int gt_cycles_parse(const char *text, struct gt_cycles *cycles, struct gt_error *error)
{
	const char *at = text;
	bool good;

	*cycles = (struct gt_cycles){0};
	if (strcmp(text, "unknown") == 0)
		return 0;
	do
		good = parse_step(&at, cycles);
	while (good && gt_scan_char(&at, ','));
	if (!good || *at != '\0')
		return gt_fail(error, "'%.60s': expected cycles, then FROM:CYCLES with rising FROM, such as 84 or 84,666:579",
			       text);
	return 0;
}

uint32_t gt_cycles_add(const struct gt_cycles *cycles, uint32_t latency)
{
	unsigned i = cycles->n - 1;

	while (i > 0 && cycles->step[i].from > latency)
		i--;
	uint64_t sum = (uint64_t)latency + cycles->step[i].added;
	return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}
