/* SPDX-License-Identifier: MIT */
#include "cache/by_pc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

int gt_by_pc_open(struct gt_by_pc *by, struct gt_error *error)
{
	return gt_map_open(&by->index, 64, error);
}

void gt_by_pc_close(struct gt_by_pc *by)
{
	gt_map_close(&by->index);
	free(by->pcs);
	by->pcs = NULL;
}

void gt_by_pc_begin(struct gt_by_pc *by)
{
	if (by->n > 0)
		gt_map_clear(&by->index);
	by->n = 0;
	by->reads = by->hits = 0;
}

int gt_by_pc_add(struct gt_by_pc *by, uint32_t pc, uint64_t reads, uint64_t hits, struct gt_error *error)
{
	const uint64_t more = reads - by->reads, hit = hits - by->hits;
	int fresh = 0;

	by->reads = reads;
	by->hits = hits;
	if (more == 0)
		return 0;
	uint64_t *place = gt_map_put(&by->index, pc, by->n, &fresh);
	struct gt_pc_reads *pcs = place ? gt_grown(by->pcs, by->n, &by->capacity, sizeof *pcs) : NULL;
	if (!pcs)
		return gt_fail_memory(error, "counts by instruction");
	by->pcs = pcs;
	if (fresh)
		pcs[by->n++] = (struct gt_pc_reads){.pc = pc};
	pcs[*place].reads += more;
	pcs[*place].hits += hit;
	return 0;
}

static int compare_pcs(const void *left, const void *right)
{
	uint64_t a = ((const struct gt_pc_reads *)left)->pc, b = ((const struct gt_pc_reads *)right)->pc;

	return (a > b) - (a < b);
}

static int count_pc(struct gt_count *count, const struct gt_pc_reads *one, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "0x%" PRIx64 ".reads", one->pc);
	if (gt_count_number(count, name, one->reads, error) != 0)
		return -1;
	snprintf(name, sizeof name, "0x%" PRIx64 ".read_hits", one->pc);
	return gt_count_number(count, name, one->hits, error);
}

int gt_by_pc_count(const struct gt_by_pc *by, struct gt_count *count, struct gt_error *error)
{
	struct gt_pc_reads *sorted = by->n > 0 ? malloc(by->n * sizeof *sorted) : NULL;
	int result = 0;

	if (by->n == 0)
		return 0;
	if (!sorted)
		return gt_fail_memory(error, "counts by instruction");
	memcpy(sorted, by->pcs, by->n * sizeof *sorted);
	qsort(sorted, by->n, sizeof *sorted, compare_pcs);
	for (size_t i = 0; i < by->n && result == 0; i++)
		result = count_pc(count, &sorted[i], error);
	free(sorted);
	return result;
}
