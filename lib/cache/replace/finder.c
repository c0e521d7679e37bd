/* SPDX-License-Identifier: MIT */
#include "cache/replace/finder.h"

#include <stdlib.h>
#include <string.h>

/* At least twice as many chains as slots: most have one slot or none. */
int gt_finder_open(struct gt_finder *finder, uint32_t slots, struct gt_error *error)
{
	unsigned bits = 1;

	while (bits < 31 && UINT32_C(1) << bits < 2 * slots)
		bits++;
	*finder = (struct gt_finder){.shift = 64 - bits, .slots = slots};
	finder->heads = calloc(UINT32_C(1) << bits, sizeof *finder->heads);
	finder->next = calloc(slots, sizeof *finder->next);
	return finder->heads && finder->next ? 0 : gt_fail_memory(error, "a cache's lines");
}

void gt_finder_close(struct gt_finder *finder)
{
	free(finder->heads);
	free(finder->next);
}

void gt_finder_clear(struct gt_finder *finder)
{
	memset(finder->heads, 0, (UINT64_C(1) << (64 - finder->shift)) * sizeof *finder->heads);
}

void gt_finder_add(struct gt_finder *finder, uint64_t line, uint32_t slot)
{
	uint32_t *head = gt_finder_chain(finder, line);

	finder->next[slot] = *head;
	*head = slot + 1;
}

void gt_finder_remove(struct gt_finder *finder, uint64_t line, uint32_t slot)
{
	uint32_t *link = gt_finder_chain(finder, line);

	while (*link != slot + 1)
		link = &finder->next[*link - 1];
	*link = finder->next[slot];
}
