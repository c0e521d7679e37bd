/* SPDX-License-Identifier: MIT */
#include "reuse/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"

/* A request refers once to each unit that holds one of its sectors, lowest first. */
static unsigned units_of_request(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units)
{
	unsigned n = 0, step = shift >= 7 ? GT_LINE / GT_SECTOR : 1U << (shift - 5);
	unsigned sectors = rows->sectors[i], ones = (1U << step) - 1;

	for (unsigned sector = 0; sector < GT_LINE / GT_SECTOR; sector += step)
		if (sectors >> sector & ones)
			units[n++] = (rows->address[i] + sector * GT_SECTOR) >> shift;
	return n;
}

/* An access refers to the address of each active lane, lowest first. */
static unsigned addresses_of_access(const struct gt_rows *rows, size_t i, unsigned shift, uint64_t *units)
{
	unsigned n = gt_rows_addresses(rows, i, units);

	for (unsigned lane = 0; lane < n; lane++)
		units[lane] >>= shift;
	return n;
}

const struct gt_granularity gt_granularity_line = {"line",   GT_REQUESTS,	    GT_LINE,
						   GT_SECTOR, GT_UNIT_SIZE_MAX, units_of_request};
static const struct gt_granularity sector = {"sector",  GT_REQUESTS, GT_SECTOR,
					     GT_SECTOR, GT_SECTOR,   units_of_request};
static const struct gt_granularity address = {"address", GT_ACCESSES,	  1,
					      1,	 GT_UNIT_SIZE_MAX, addresses_of_access};

static const struct gt_granularity *const granularities[] = {&gt_granularity_line, &sector, &address};

static int set_size(struct gt_unit *unit, const char *text, struct gt_error *error)
{
	const struct gt_granularity *granularity = unit->granularity;
	struct gt_error inner;
	uint64_t size;

	if (gt_parse_size(text, granularity->smallest, granularity->largest, &size, &inner) != 0 ||
	    (size & (size - 1)) != 0) {
		char low[32], high[32];
		return gt_fail(error, "'%s': the bytes of a unit of '%s' are a power of two from %s to %s", text,
			       granularity->name, gt_format_size(granularity->smallest, low),
			       gt_format_size(granularity->largest, high));
	}
	for (unit->shift = 0; size >> unit->shift != 1; unit->shift++)
		;
	return 0;
}

int gt_unit_parse(const char *text, struct gt_unit *unit, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	char usual[32];

	for (size_t i = 0; i < sizeof granularities / sizeof *granularities; i++) {
		unit->granularity = granularities[i];
		if (strlen(unit->granularity->name) != length || strncmp(unit->granularity->name, text, length) != 0)
			continue;
		snprintf(usual, sizeof usual, "%llu", (unsigned long long)unit->granularity->usual);
		return set_size(unit, text[length] == ':' ? text + length + 1 : usual, error);
	}
	return gt_fail(error, "'%s': expected line, line:SIZE, sector, address or address:SIZE", text);
}
