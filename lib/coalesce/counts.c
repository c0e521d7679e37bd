/* SPDX-License-Identifier: MIT */
/* What a coalescer has counted, as a count of the stream. */
#include <stddef.h>

#include "coalesce/banks.h"
#include "coalesce/by_array.h"
#include "coalesce/coalesce.h"
#include "coalesce/single.h"
#include "stream/counted.h"
#include "stream/op.h"

/* All that was counted. Reductions are atomics; they are counted apart besides, as profilers do. */
static struct gt_coalesce_counts sum(const struct gt_coalescer *coalescer)
{
	struct gt_coalesce_counts counts = coalescer->counts;
	const uint64_t *accesses = coalescer->accesses, *requests = coalescer->requests, *sectors = coalescer->sectors;

	counts.prefetch_sectors = counts.prefetch_requests * (GT_LINE / GT_SECTOR);
	counts.discard_sectors = counts.discard_requests * (GT_LINE / GT_SECTOR);
	counts.load_accesses = accesses[GT_LOAD];
	counts.store_accesses = accesses[GT_STORE];
	counts.reduction_accesses = accesses[GT_REDUCTION];
	counts.atomic_accesses = accesses[GT_ATOMIC] + accesses[GT_REDUCTION];
	counts.accesses = counts.load_accesses + counts.store_accesses + counts.atomic_accesses + counts.shared_accesses +
			  counts.prefetch_accesses + counts.discard_accesses;
	counts.load_requests = requests[GT_LOAD];
	counts.store_requests = requests[GT_STORE];
	counts.reduction_requests = requests[GT_REDUCTION];
	counts.atomic_requests = requests[GT_ATOMIC] + requests[GT_REDUCTION];
	counts.requests = counts.load_requests + counts.store_requests + counts.atomic_requests + counts.prefetch_requests +
			  counts.discard_requests;
	counts.load_sectors = sectors[GT_LOAD];
	counts.store_sectors = sectors[GT_STORE];
	counts.reduction_sectors = sectors[GT_REDUCTION];
	counts.atomic_sectors = sectors[GT_ATOMIC] + sectors[GT_REDUCTION];
	counts.sectors = counts.load_sectors + counts.store_sectors + counts.atomic_sectors + counts.prefetch_sectors +
			 counts.discard_sectors;
	return counts;
}

void gt_coalescer_add(struct gt_coalescer *coalescer, const struct gt_coalescer *other)
{
	for (unsigned action = 0; action < GT_ACTIONS; action++) {
		coalescer->accesses[action] += other->accesses[action];
		coalescer->requests[action] += other->requests[action];
		coalescer->sectors[action] += other->sectors[action];
	}
	gt_counters_add(&coalescer->counts, &other->counts, sizeof other->counts);
}

#define AT(NAME) offsetof(struct gt_coalesce_counts, NAME)

/* Counters of prefetches, discards and shared memory only if there were some. */
int gt_coalescer_count(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	const struct gt_coalesce_counts counts = sum(coalescer);
	const struct {
		bool there;
		size_t from, to;
	} parts[] = {
		{true, 0, AT(repeated_sectors)},
		{coalescer->accesses[GT_ATOMIC] > 0 && gt_rule_whole_warps(coalescer->rule), AT(repeated_sectors), AT(prefetch_accesses)},
		{counts.prefetch_accesses > 0, AT(prefetch_accesses), AT(discard_accesses)},
		{counts.discard_accesses > 0, AT(discard_accesses), AT(load_warp_sectors)},
		{true, AT(load_warp_sectors), AT(shared_load_passes)},
		{counts.shared_accesses > 0, AT(shared_load_passes), AT(shared_cycles)},
	};
	char banks[32];

	if (gt_count_text(count, "rule", coalescer->rule->name, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].there &&
		    gt_count_some(count, &gt_counters_coalesce, &counts, parts[i].from, parts[i].to, error) != 0)
			return -1;
	if (counts.shared_accesses == 0)
		return 0;
	gt_banks_format(&coalescer->shared.banks, banks, sizeof banks);
	if (gt_count_text(count, "banks", banks, error) != 0)
		return -1;
	if (coalescer->shared.latency.n > 0 &&
	    gt_count_some(count, &gt_counters_coalesce, &counts, AT(shared_cycles), sizeof counts, error) != 0)
		return -1;
	return coalescer->by_array ? gt_by_array_count(coalescer->by_array, count, error) : 0;
}

int gt_coalescer_write(const struct gt_coalescer *coalescer, uint64_t kernel, const struct gt_output *output,
		       struct gt_error *error)
{
	struct gt_count count;

	gt_count_begin(&count, GT_COALESCE_STAGE, kernel);
	if (gt_coalescer_count(coalescer, &count, error) == 0)
		return gt_output_count(output, &count, error);
	gt_count_clear(&count);
	return -1;
}
