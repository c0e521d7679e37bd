/* SPDX-License-Identifier: MIT */
#include "stream/site.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grown.h"

int gt_sites_open(struct gt_sites *sites, struct gt_error *error)
{
	*sites = (struct gt_sites){.n = 0};
	if (gt_arrays_open(&sites->arrays[false], GT_ARRAYS_STAGE, error) == 0 &&
	    gt_arrays_open(&sites->arrays[true], GT_SHARED_ARRAYS_STAGE, error) == 0 && gt_map_open(&sites->index, 0, error) == 0)
		return 0;
	gt_sites_close(sites);
	return -1;
}

void gt_sites_close(struct gt_sites *sites)
{
	gt_arrays_close(&sites->arrays[false]);
	gt_arrays_close(&sites->arrays[true]);
	if (sites->index.slots)
		gt_map_close(&sites->index);
	free(sites->sites);
	*sites = (struct gt_sites){.n = 0};
}

void gt_sites_begin(struct gt_sites *sites)
{
	gt_map_clear(&sites->index);
	sites->n = 0;
	sites->arrays[true].n = 0; /* each kernel has its own */
}

int gt_sites_note(struct gt_sites *sites, const struct gt_count *count, struct gt_error *error)
{
	return gt_arrays_take(&sites->arrays[false], count, error) != 0 ? -1 : gt_arrays_take(&sites->arrays[true], count, error);
}

static size_t add(struct gt_sites *sites, struct gt_site site)
{
	struct gt_site *bigger = gt_grown(sites->sites, sites->n, &sites->capacity, sizeof *bigger);

	if (!bigger) {
		sites->short_of_memory = true;
		return GT_SITE_NONE;
	}
	sites->sites = bigger;
	bigger[sites->n] = site;
	return sites->n++;
}

/* A key is a pc, the memory, and the number of a name, of which there are fewer than 2^31. */
size_t gt_sites_number(struct gt_sites *sites, uint32_t pc, bool shared, uint64_t address)
{
	uint64_t array = gt_arrays_find(&sites->arrays[shared], address);
	uint64_t *place;
	int fresh;

	place = gt_map_put(&sites->index, (uint64_t)pc << 32 | (uint64_t)shared << 31 | array, sites->n, &fresh);
	if (!place) {
		sites->short_of_memory = true;
		return GT_SITE_NONE;
	}
	return fresh ? add(sites, (struct gt_site){pc, shared, array}) : *place;
}

const char *gt_site_format(const struct gt_sites *sites, size_t site, char name[GT_SITE_NAME])
{
	const struct gt_site *is = &sites->sites[site];

	snprintf(name, GT_SITE_NAME, "0x%" PRIx32 " %.*s", is->pc, GT_ARRAY_NAME - 1, sites->arrays[is->shared].names.names[is->array]);
	return name;
}
