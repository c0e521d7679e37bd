/* SPDX-License-Identifier: MIT */
/* The kinds of findings, one after the other: where it holds, its numbers, what the levels would be spared, and its words. A new kind is a
 * finder, a row of gt_finding_kinds and of gt_finding_finders, and its entry in gtrace-findings(7). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/findings/kind.h"
#include "report/format.h"
#include "stream/rows.h"

#define FEW_LANES 8 /* a quarter of a warp */
#define MOST_OF 0.9 /* of capacity misses: a size is named that has so many of them */

/* Writes the words of a finding. */
#define SAY(FINDING, ...) snprintf((FINDING)->text, sizeof(FINDING)->text, __VA_ARGS__)

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

/* A percentage in words. What is neither none nor all is never said to be: it has a digit more, or a bound. */
static const char *percent_words(uint64_t part, uint64_t whole, char words[GT_WORDS])
{
	const double share = percent(part, whole);
	const bool near_an_end = part > 0 && part < whole && (share < 0.5 || share >= 99.5);

	if (near_an_end && share < 0.05)
		return "under 0.1";
	if (near_an_end && share >= 99.95)
		return "over 99.9";
	snprintf(words, GT_WORDS, "%.*f", near_an_end, share);
	return words;
}

static double ratio(uint64_t numerator, uint64_t denominator)
{
	return denominator ? (double)numerator / (double)denominator : 0;
}

static bool in_memory(const struct gt_group *group, enum gt_group_action action)
{
	return group->action == action && !group->shared && !group->local;
}

/* What a level reads from the next for so many sectors that loads miss: more, where it fetches several sectors at a time. Loads that bypass it fetch
 * none. */
static uint64_t fetched(const struct gt_site_level *level, uint64_t missed)
{
	uint64_t misses = level->reads - level->read_hits, sent = level->sent_reads - level->bypassed;

	return misses > 0 && level->sent_reads > level->bypassed && sent > misses ? (uint64_t)((double)missed * (double)sent / (double)misses) : missed;
}

/* ---- coalescing ---- */

/* How many of the sectors that accesses touch in excess go on to L2 as they are: those of stores, atomics, and loads that bypass L1. */
static uint64_t passed_on(const struct gt_group *group, uint64_t excess)
{
	const struct gt_site_level *l1 = &group->level[GT_SITE_L1];

	if (group->action != GT_GROUP_LOADS)
		return excess;
	return l1->bypassed > 0 ? (uint64_t)((double)excess * (double)l1->bypassed / (double)(l1->reads + l1->bypassed)) : 0;
}

/* What L2 and device memory would be spared of accesses that touched so many sectors less. Of loads, what is not passed on can be gained only if L1, or L2, had
 * it before and lost it. */
static void gain_of_packing(struct gt_finding *finding, const struct gt_group *group, uint64_t excess)
{
	const struct gt_site_level *l1 = &group->level[GT_SITE_L1], *l2 = &group->level[GT_SITE_L2];

	const uint64_t passed = passed_on(group, excess);

	gt_finding_gains(finding, GT_TO_L1, excess, GT_GAIN_COMPUTED);
	if (group->action != GT_GROUP_LOADS) {
		gt_finding_gains(finding, GT_TO_L2, passed, GT_GAIN_COMPUTED);
		return;
	}
	gt_finding_gains(finding, GT_TO_L2, passed + fetched(l1, l1->capacity + l1->conflict), l1->reads > 0 ? GT_GAIN_BOUNDED : GT_GAIN_COMPUTED);
	gt_finding_gains(finding, GT_TO_DRAM, fetched(l2, l2->capacity + l2->conflict), GT_GAIN_BOUNDED);
}

static void count_sectors(struct gt_finding *finding, const struct gt_site_access *access)
{
	gt_finding_count(finding, "accesses", "warp accesses", access->accesses);
	gt_finding_ratio(finding, "sectors_per_access", "sectors", (double)access->sectors, (double)access->accesses);
	gt_finding_ratio(finding, "least_sectors_per_access", "sectors", (double)access->least_sectors, (double)access->accesses);
}

/* A stride is the distance from a lane to the next. It is said if most lanes access: where only lanes 0 and 16 do, no two of them are so far apart. */
static void say_stride(struct gt_finding *finding, const struct gt_group *group)
{
	size_t length = strlen(finding->text);
	const bool most = group->access.lanes > (uint64_t)GT_WARP_SIZE / 2 * group->access.accesses;

	if (most && group->stride && strcmp(group->stride, "several") != 0)
		snprintf(finding->text + length, sizeof finding->text - length, "; lanes are %s bytes apart", group->stride);
}

/* Most of the excess is that of accesses without gaps that begin within a sector. */
static bool is_misaligned(const struct gt_site_access *access)
{
	return 2 * access->misaligned_sectors > access->sectors - access->least_sectors;
}

static bool is_uncoalesced(const struct gt_group *group, unsigned action)
{
	return in_memory(group, (enum gt_group_action)action) && 4 * group->access.sectors > 5 * group->access.least_sectors && !is_misaligned(&group->access);
}

static int find_uncoalesced(const struct gt_finding_input *input, const struct gt_finding_kind *kind, enum gt_group_action action)
{
	struct gt_group sum, *const group = &sum;
	const struct gt_site_access *access = &sum.access;

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, is_uncoalesced, action, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		uint64_t excess = access->sectors - access->least_sectors;
		gain_of_packing(finding, group, excess);
		count_sectors(finding, access);
		gt_finding_ratio(finding, "excess", "of its sectors", (double)excess, (double)access->sectors);
		SAY(finding, "%.2f sectors an access, %.2f are enough", ratio(access->sectors, access->accesses), ratio(access->least_sectors, access->accesses));
		say_stride(finding, group);
	}
	return 0;
}

static int find_uncoalesced_loads(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_uncoalesced(input, kind, GT_GROUP_LOADS);
}

static int find_uncoalesced_stores(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_uncoalesced(input, kind, GT_GROUP_STORES);
}

static int find_uncoalesced_atomics(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_uncoalesced(input, kind, GT_GROUP_ATOMICS);
}

static bool has_misaligned(const struct gt_group *group, unsigned action)
{
	return in_memory(group, (enum gt_group_action)action) && group->access.misaligned_sectors > 0 && is_misaligned(&group->access);
}

static int find_misaligned(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	static const char *const actions[GT_GROUP_ACTIONS] = {"a load", "a store", "an atomic"}; /* of a line that does several, which one */
	struct gt_group sum, *const group = &sum;
	const struct gt_site_access *access = &sum.access;

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, has_misaligned, input->groups[i].action, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gt_finding_gains(finding, GT_TO_L1, access->misaligned_sectors, GT_GAIN_COMPUTED);
		gt_finding_gains(finding, GT_TO_L2, passed_on(group, access->misaligned_sectors), GT_GAIN_COMPUTED);
		count_sectors(finding, access);
		SAY(finding, "%.2f sectors %s, %.2f are enough: not at a multiple of %d bytes", ratio(access->sectors, access->accesses), actions[group->action],
		    ratio(access->least_sectors, access->accesses), GT_SECTOR);
	}
	return 0;
}

/* Of the kernel: the least sectors that its accesses can touch, beyond those that whole warps need for as many bytes. */
static int find_few_lanes(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t accesses = 0, lanes = 0, at_l1 = 0, at_l2 = 0;

	for (size_t i = 0; i < input->n; i++) {
		const struct gt_group *group = &input->groups[i];
		const uint64_t packed = (group->access.bytes + GT_SECTOR - 1) / GT_SECTOR;
		if (group->shared || group->local)
			continue;
		accesses += group->access.accesses;
		lanes += group->access.lanes;
		if (group->access.least_sectors > packed) {
			at_l1 += group->access.least_sectors - packed;
			at_l2 += passed_on(group, group->access.least_sectors - packed);
		}
	}
	if (lanes >= FEW_LANES * accesses || at_l1 == 0)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	gt_finding_gains(finding, GT_TO_L1, at_l1, GT_GAIN_BOUNDED);
	gt_finding_gains(finding, GT_TO_L2, at_l2, GT_GAIN_BOUNDED);
	gt_finding_count(finding, "accesses", "warp accesses", accesses);
	gt_finding_ratio(finding, "lanes_per_access", "lanes", (double)lanes, (double)accesses);
	SAY(finding, "%.1f lanes of a warp access memory at a time: whole warps would touch fewer sectors for as many bytes", ratio(lanes, accesses));
	return 0;
}

/* The accesses of an array that do the same: the line with most of them, and what levels count of all. NULL: none. */
static const struct gt_group *accesses_of(const struct gt_finding_input *input, const char *array, enum gt_group_action action,
					  struct gt_site_level sums[GT_SITE_LEVELS])
{
	const struct gt_group *most = NULL;
	const bool unnamed = strcmp(array, "-") == 0;
	size_t i = unnamed ? 0 : input->of_array(input->groups_of, array);

	memset(sums, 0, GT_SITE_LEVELS * sizeof *sums);
	for (; i < input->n; i = unnamed ? i + 1 : input->groups[i].next[GT_SAME_ARRAY]) {
		const struct gt_group *group = &input->groups[i];
		if (!in_memory(group, action) || unnamed != (group->n_arrays == 0))
			continue;
		for (size_t at = 0; at < GT_SITE_LEVELS; at++)
			gt_counters_add(&sums[at], &group->level[at], offsetof(struct gt_site_level, distance));
		most = !most || group->access.sectors > most->access.sectors ? group : most;
	}
	return most;
}

/* The array of a counter of this name, such as ".unique_bytes", that was counted for each array. False if it is another counter. */
static bool array_of(const struct gt_report_value *entry, const char *counter, char array[GT_COUNT_NAME])
{
	size_t length;

	if (entry->kind != GT_COUNT_NUMBER || !gt_report_class(entry->name, &length) || strcmp(entry->name + length, counter) != 0)
		return false;
	snprintf(array, GT_COUNT_NAME, "%.*s", (int)length, entry->name);
	return true;
}

/* A part of what L1 read, and of what L2 read of memory, where it may have fetched sectors that no load asked for. L2 reads fewer first than loads ask for
 * if stores have brought the others: the part that is not needed is the same. */
static void gain_of_packing_array(struct gt_finding *finding, const struct gt_site_level sums[GT_SITE_LEVELS], uint64_t sectors, uint64_t enough)
{
	const struct gt_site_level *l1 = &sums[GT_SITE_L1], *l2 = &sums[GT_SITE_L2];
	const uint64_t fetched_first = fetched(l2, l2->compulsory), first = fetched_first > sectors ? fetched_first : sectors;

	gt_finding_gains(finding, GT_TO_L2, (uint64_t)((double)l1->sent_reads * (double)(sectors - enough) / (double)sectors), GT_GAIN_BOUNDED);
	gt_finding_gains(finding, GT_TO_DRAM, (uint64_t)((double)l2->sent_reads * (double)(first - enough) / (double)first), GT_GAIN_BOUNDED);
}

/* By array: sectors that loads and atomics read, and the bytes of them that some lane asks for. */
static int find_unused(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	const struct gt_report_stage *stage = gt_report_find_stage(input->kernel, "coalesce");

	for (size_t i = 0; stage && i < stage->n; i++) {
		const struct gt_report_value *entry = &stage->counters[i].value;
		char array[GT_COUNT_NAME], name[GT_COUNT_NAME + sizeof ".unique_read_bytes"], part[GT_WORDS];
		struct gt_site_level sums[GT_SITE_LEVELS];
		uint64_t bytes;
		if (!array_of(entry, ".unique_read_sectors", array))
			continue;
		const struct gt_group *group = accesses_of(input, array, GT_GROUP_LOADS, sums);
		snprintf(name, sizeof name, "%s.unique_read_bytes", array);
		if (!group || !gt_report_number(stage, name, &bytes) || entry->number <= (bytes + GT_SECTOR - 1) / GT_SECTOR)
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gain_of_packing_array(finding, sums, entry->number, (bytes + GT_SECTOR - 1) / GT_SECTOR);
		gt_finding_count(finding, "read_sectors", "distinct sectors", entry->number);
		gt_finding_count(finding, "read_bytes", "distinct bytes", bytes);
		SAY(finding, "%s %% of the bytes in the sectors that are read of it are asked for", percent_words(bytes, entry->number * GT_SECTOR, part));
	}
	return 0;
}

/* ---- misses of L1 and L2 ---- */

static const char *const level_names[GT_SITE_LEVELS] = {"L1", "L2"};

/* The size that has MOST_OF the misses of a cache of `lines` lines, from the distances beyond it, and how many of `misses` those are: some of what is so
 * far away hits by chance, as much of it near as far. */
static uint64_t size_that_keeps(const uint64_t distance[GT_DISTANCE_BINS], uint64_t lines, uint64_t misses, uint64_t *kept)
{
	uint64_t beyond = 0, nearer = 0, end = 0;

	for (unsigned bin = gt_distance_bin(lines); bin < GT_DISTANCE_BINS; bin++)
		beyond += distance[bin];
	for (unsigned bin = gt_distance_bin(lines); bin < GT_DISTANCE_BINS && (double)nearer < MOST_OF * (double)beyond; bin++) {
		nearer += distance[bin];
		end = gt_distance_end(bin);
	}
	*kept = beyond ? (uint64_t)((double)misses * (double)nearer / (double)beyond) : 0;
	return end;
}

static enum gt_boundary behind(enum gt_site_levels level)
{
	return level == GT_SITE_L1 ? GT_TO_L2 : GT_TO_DRAM;
}

static bool has_capacity_misses(const struct gt_group *group, unsigned level)
{
	return group->action == GT_GROUP_LOADS && group->level[level].capacity > 0;
}

/* The size of a level in words. An L2 of two halves, each with lines of its own, has them twice: "2x20 MB". */
static const char *size_words(const struct gt_level_facts *facts, enum gt_site_levels at, uint64_t bytes, char words[2 * GT_WORDS])
{
	char one[GT_WORDS];

	gt_bytes_words((double)bytes, one);
	if (at == GT_SITE_L2 && facts->instances > 1)
		snprintf(words, 2 * GT_WORDS, "%" PRIu64 "x%s", facts->instances, one);
	else
		snprintf(words, 2 * GT_WORDS, "%s", one);
	return words;
}

static int find_capacity(const struct gt_finding_input *input, const struct gt_finding_kind *kind, enum gt_site_levels at)
{
	const struct gt_level_facts *facts = &input->level[at];
	struct gt_group sum, *const group = &sum;
	const struct gt_site_level *counts = &sum.level[at];

	for (size_t i = 0; i < input->n && facts->line > 0; i++) {
		char need[2 * GT_WORDS], has[2 * GT_WORDS], part[GT_WORDS];
		uint64_t kept;
		if (!gt_finding_gather(input, i, has_capacity_misses, at, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		uint64_t size = facts->line * size_that_keeps(group->distance[at], facts->size / facts->line, counts->capacity, &kept);
		const bool early = size == 0; /* all reuse is nearer than the cache is large */
		gt_finding_gains(finding, behind(at), fetched(counts, early ? counts->capacity : kept), early ? GT_GAIN_BOUNDED : GT_GAIN_COMPUTED);
		gt_finding_count(finding, "reads", "sectors", counts->reads);
		gt_finding_count(finding, "capacity_misses", "sectors", counts->capacity);
		gt_finding_count(finding, "size", "bytes", facts->size);
		gt_finding_count(finding, "size_that_keeps_90_percent", "bytes", early ? facts->size : size);
		size_words(facts, at, facts->size, has);
		if (early)
			SAY(finding, "%s %% of its reads were in %s before, and %s would keep them, did not operators or hints such as .cs have lines replaced early",
			    percent_words(counts->capacity, counts->reads, part), level_names[at], has);
		else
			SAY(finding, "%s %% of its reads were in %s before: %s would keep them, %s has %s", percent_words(counts->capacity, counts->reads, part),
			    level_names[at], size_words(facts, at, size, need), level_names[at], has);
	}
	return 0;
}

static int find_l1_capacity(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_capacity(input, kind, GT_SITE_L1);
}

static int find_l2_capacity(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_capacity(input, kind, GT_SITE_L2);
}

static bool has_conflict_misses(const struct gt_group *group, unsigned level)
{
	return group->action == GT_GROUP_LOADS && group->level[level].conflict > 0;
}

/* Hits that a fully associative cache of `lines` lines does not have: of what is read again after as many others, all that is no capacity miss. Where the
 * lines end within a bin of distances, that bin is left out. */
static uint64_t hits_by_sets(const struct gt_group *group, enum gt_site_levels at, uint64_t lines)
{
	unsigned bin = gt_distance_bin(lines);
	uint64_t beyond = 0, capacity = group->level[at].capacity;

	for (bin += lines > 0 && gt_distance_bin(lines - 1) == bin; bin < GT_DISTANCE_BINS; bin++)
		beyond += group->distance[at][bin];
	return beyond > capacity ? beyond - capacity : 0;
}

static int find_conflict(const struct gt_finding_input *input, const struct gt_finding_kind *kind, enum gt_site_levels at)
{
	const struct gt_level_facts *facts = &input->level[at];
	struct gt_group sum, *const group = &sum;
	const struct gt_site_level *counts = &sum.level[at];
	char part[GT_WORDS];

	for (size_t i = 0; i < input->n && facts->line > 0; i++) {
		if (!gt_finding_gather(input, i, has_conflict_misses, at, GT_SAME_LINE, &sum))
			continue;
		uint64_t hits = hits_by_sets(&sum, at, facts->size / facts->line);
		if (hits >= counts->conflict)
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gt_finding_gains(finding, behind(at), fetched(counts, counts->conflict - hits), GT_GAIN_COMPUTED);
		gt_finding_count(finding, "reads", "sectors", counts->reads);
		gt_finding_count(finding, "conflict_misses", "sectors", counts->conflict);
		gt_finding_count(finding, "hits_by_sets", "sectors", hits);
		SAY(finding, "%s %% of its reads miss %s, and would not if it were fully associative",
		    percent_words(counts->conflict - hits, counts->reads, part), level_names[at]);
	}
	return 0;
}

static int find_l1_conflict(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_conflict(input, kind, GT_SITE_L1);
}

static int find_l2_conflict(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	return find_conflict(input, kind, GT_SITE_L2);
}

static bool has_dropped(const struct gt_group *group, unsigned level)
{
	return group->action == GT_GROUP_LOADS && group->level[level].invalidated > 0;
}

static int find_dropped(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	struct gt_group sum, *const group = &sum;
	const struct gt_site_level *counts = &sum.level[GT_SITE_L1];
	char part[GT_WORDS];

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, has_dropped, GT_SITE_L1, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gt_finding_gains(finding, GT_TO_L2, counts->invalidated, GT_GAIN_BOUNDED);
		gt_finding_count(finding, "invalidated", "sectors", counts->invalidated);
		SAY(finding, "%s %% of its reads were in L1 until a store or an atomic of the SM",
		    percent_words(counts->invalidated, counts->reads, part));
	}
	return 0;
}

static bool has_elsewhere(const struct gt_group *group, unsigned level)
{
	return group->action == GT_GROUP_LOADS && group->level[level].elsewhere > 0;
}

/* By array, since blocks of several SMs share data, whichever line reads it: the place is the line that has most of these misses. */
static int find_elsewhere(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	struct gt_group sum;
	const struct gt_site_level *counts = &sum.level[GT_SITE_L1];

	for (size_t i = 0; i < input->n; i++) {
		const struct gt_group *most = &input->groups[i];
		if (!gt_finding_gather(input, i, has_elsewhere, GT_SITE_L1, GT_SAME_ARRAY, &sum))
			continue;
		for (size_t k = most->next[GT_SAME_ARRAY]; k != GT_LAST_GROUP; k = input->groups[k].next[GT_SAME_ARRAY])
			if (input->groups[k].level[GT_SITE_L1].elsewhere > most->level[GT_SITE_L1].elsewhere)
				most = &input->groups[k];
		sum.place = most->place;
		struct gt_finding *finding = gt_finding_add(input, kind, &sum);
		if (!finding)
			return -1;
		uint64_t misses = counts->reads - counts->read_hits;
		gt_finding_gains(finding, GT_TO_L2, counts->elsewhere, GT_GAIN_BOUNDED);
		gt_finding_count(finding, "misses", "sectors", misses);
		gt_finding_count(finding, "elsewhere", "sectors", counts->elsewhere);
		SAY(finding, "%.0f %% of its L1 misses are of sectors that another SM had read",
		    percent(counts->elsewhere, misses));
	}
	return 0;
}

static bool has_partial_reads(const struct gt_group *group, unsigned level)
{
	return group->level[level].partial_reads > 0;
}

static int find_partial_stores(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	struct gt_group sum, *const group = &sum;
	const struct gt_site_level *counts = &sum.level[GT_SITE_L2];

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, has_partial_reads, GT_SITE_L2, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gt_finding_gains(finding, GT_TO_DRAM, counts->partial_reads, GT_GAIN_COMPUTED);
		gt_finding_count(finding, "partial_writes", "sectors", counts->partial_writes);
		gt_finding_count(finding, "partial_reads", "sectors", counts->partial_reads);
		gt_finding_ratio(finding, "bytes_per_sector", "bytes", (double)group->access.bytes, (double)group->access.sectors);
		SAY(finding, "L2 reads %.0f %% of the sectors from memory, since stores write %.1f of their %d bytes", percent(counts->partial_reads, counts->writes),
		    ratio(group->access.bytes, group->access.sectors), GT_SECTOR);
	}
	return 0;
}

/* Adds the loads of the line and array of a store: what it stores is read again, as by y[i] += x. */
static void add_reread(const struct gt_finding_input *input, const struct gt_group *store, uint64_t *looked_up, uint64_t *sent)
{
	for (size_t i = store->first[GT_SAME_ARRAY]; store->n_arrays > 0 && i != GT_LAST_GROUP; i = input->groups[i].next[GT_SAME_ARRAY]) {
		const struct gt_group *group = &input->groups[i];
		if (!in_memory(group, GT_GROUP_LOADS) || strcmp(group->place, store->place) != 0)
			continue;
		*looked_up += group->access.sectors;
		*sent += group->level[GT_SITE_L1].sent_reads;
	}
}

/* How many bytes a kernel stores to at the most: as many as it touches, without what it reads of arrays that it does not store to, and as L2 writes. */
static uint64_t most_stored_to(const struct gt_finding_input *input, uint64_t written)
{
	const struct gt_report_stage *stage = gt_report_find_stage(input->kernel, "coalesce");
	uint64_t bytes = gt_finding_number(input, "coalesce", "unique_bytes"), others = 0;

	for (size_t i = 0; stage && i < stage->n; i++) {
		char array[GT_COUNT_NAME];
		struct gt_site_level sums[GT_SITE_LEVELS];
		if (array_of(&stage->counters[i].value, ".unique_read_bytes", array) && !accesses_of(input, array, GT_GROUP_STORES, sums))
			others += stage->counters[i].value.number;
	}
	bytes = bytes > others ? bytes - others : 0;
	return bytes < GT_SECTOR * written ? bytes : GT_SECTOR * written;
}

/* Stores of the kernel that are coalesced, against what L2 writes to memory of them. Where several stores fill a sector, as of blocks that each store a word, no
 * byte may be stored again: only the part of the stores is spared that is beyond one for each byte. The place is the line that stores most. */
static int find_repeated_stores(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t stored = 0, bytes = 0, written = gt_finding_number(input, "l2", "sent_writes"), looked_up = 0, sent = 0;
	const struct gt_group *most = NULL;

	for (size_t i = 0; i < input->n; i++) {
		const struct gt_group *group = &input->groups[i];
		if (!in_memory(group, GT_GROUP_STORES))
			continue;
		stored += group->access.least_sectors;
		bytes += group->access.bytes;
		add_reread(input, group, &looked_up, &sent);
		most = !most || group->access.least_sectors > most->access.least_sectors ? group : most;
	}
	const uint64_t distinct = most ? most_stored_to(input, written) : 0;
	if (!most || stored <= 2 * written || bytes <= 2 * distinct || gt_finding_number(input, "l2", "flushed") == 0)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, most);
	if (!finding)
		return -1;
	const uint64_t once = (uint64_t)((double)stored * (double)distinct / (double)bytes), kept = once > written ? once : written;
	gt_finding_gains(finding, GT_TO_L1, stored - kept + looked_up, GT_GAIN_BOUNDED);
	gt_finding_gains(finding, GT_TO_L2, stored - kept + sent, GT_GAIN_BOUNDED);
	gt_finding_count(finding, "stored", "sectors", stored);
	gt_finding_count(finding, "written", "sectors", written);
	SAY(finding, "a sector is stored %.1f times before memory gets it", ratio(stored, written));
	return 0;
}

/* Blocks on an SM share its L1: how many of them would have their working set there. */
static int find_blocks(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	const struct gt_level_facts *l1 = &input->level[GT_SITE_L1];
	uint64_t distance[GT_DISTANCE_BINS] = {0}, capacity = 0, kept, blocks = gt_finding_number(input, "schedule", "resident_blocks");
	const struct gt_report_stage *schedule = gt_report_find_stage(input->kernel, "schedule");
	const char *limit = schedule ? gt_report_word(schedule, "limited_by") : NULL;
	char need[GT_WORDS], has[GT_WORDS];

	for (size_t i = 0; i < input->n; i++) {
		capacity += input->groups[i].level[GT_SITE_L1].capacity;
		for (unsigned bin = 0; bin < GT_DISTANCE_BINS; bin++)
			distance[bin] += input->groups[i].distance[GT_SITE_L1][bin];
	}
	if (capacity == 0 || blocks < 2 || l1->line == 0)
		return 0;
	uint64_t size = l1->line * size_that_keeps(distance, l1->size / l1->line, capacity, &kept);
	uint64_t fit = size ? (uint64_t)((double)blocks * (double)l1->size / (double)size) : 0;
	if (fit == 0 || fit >= blocks)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	gt_finding_gains(finding, GT_TO_L2, kept, GT_GAIN_BOUNDED);
	gt_finding_count(finding, "resident_blocks", "blocks an SM", blocks);
	gt_finding_count(finding, "blocks_that_fit", "blocks an SM", fit);
	gt_finding_count(finding, "working_set", "bytes", size);
	SAY(finding, "%" PRIu64 " blocks of an SM (limit: %s) reuse %s, L1 has %s: enough for %" PRIu64, blocks, limit ? limit : "differs",
	    gt_bytes_words((double)size, need), gt_bytes_words((double)l1->size, has), fit);
	return 0;
}

/* ---- other memories ---- */

static bool has_bank_conflicts(const struct gt_group *group, unsigned unused)
{
	(void)unused;
	return group->shared && 10 * group->access.passes > 11 * group->access.least_passes;
}

static int find_bank_conflicts(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t all = gt_finding_number(input, "coalesce", "bank_passes");
	struct gt_group sum, *const group = &sum;
	const struct gt_site_access *access = &sum.access;

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, has_bank_conflicts, 0, GT_SAME_SHARED_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		finding->passes = access->passes - access->least_passes;
		finding->share = ratio(finding->passes, all);
		gt_finding_count(finding, "accesses", "warp accesses", access->accesses);
		gt_finding_ratio(finding, "passes_per_access", "passes", (double)access->passes, (double)access->accesses);
		gt_finding_ratio(finding, "least_passes_per_access", "passes", (double)access->least_passes, (double)access->accesses);
		SAY(finding, "%.2f passes an access of shared memory, %.2f are enough", ratio(access->passes, access->accesses),
		    ratio(access->least_passes, access->accesses));
		say_stride(finding, group);
	}
	return 0;
}

static int find_local(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	const struct gt_group *most = NULL;
	uint64_t sectors = 0, behind_l1 = 0, registers = input->kernel->kernel.registers;

	for (size_t i = 0; i < input->n; i++) {
		const struct gt_group *group = &input->groups[i];
		const struct gt_site_level *l1 = &group->level[GT_SITE_L1];
		if (!group->local)
			continue;
		sectors += group->access.sectors;
		behind_l1 += l1->reads - l1->read_hits + l1->writes;
		most = !most || group->access.sectors > most->access.sectors ? group : most;
	}
	if (!most)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, most);
	if (!finding)
		return -1;
	gt_finding_gains(finding, GT_TO_L1, sectors, GT_GAIN_COMPUTED);
	gt_finding_gains(finding, GT_TO_L2, behind_l1, GT_GAIN_BOUNDED);
	gt_finding_count(finding, "local_sectors", "sectors", sectors);
	gt_finding_count(finding, "registers", "registers a thread", registers);
	SAY(finding, "spilled registers or arrays of threads are %.0f %% of L1's sectors; a thread has %" PRIu64 " registers",
	    percent(sectors, input->traffic->sectors[GT_TO_L1]), registers);
	return 0;
}

/* Of the kernel, since constants are counted by no site: turns beyond one for each access, of the turns of its constants and its other accesses. */
static int find_constants(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t accesses = gt_finding_number(input, "coalesce", "constant_accesses"), turns = gt_finding_number(input, "coalesce", "constant_turns");
	uint64_t others = gt_finding_number(input, "coalesce", "accesses") - accesses, hits = gt_finding_number(input, "l1", "constant_hits");
	uint64_t missed = gt_finding_number(input, "l1", "constant_reads") - hits, in_gpc = gt_finding_number(input, "l2", "gpc_constant_hits");

	if (accesses == 0 || turns < 2 * accesses)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	gt_finding_gains(finding, GT_TO_L2, missed > in_gpc ? missed - in_gpc : 0, GT_GAIN_BOUNDED);
	finding->share = ratio(turns - accesses, turns + others);
	gt_finding_count(finding, "accesses", "warp accesses", accesses);
	gt_finding_ratio(finding, "addresses_per_access", "addresses", (double)turns, (double)accesses);
	SAY(finding, "%.2f constants an access, each in its turn: constant memory is for what all lanes of a warp read alike", ratio(turns, accesses));
	return 0;
}

static bool shares_addresses(const struct gt_group *group, unsigned lanes)
{
	return in_memory(group, GT_GROUP_ATOMICS) && group->access.addresses > 0 && group->access.lanes >= lanes * group->access.addresses;
}

static int find_atomics(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t blocks = gt_finding_number(input, "schedule", "blocks");
	struct gt_group sum, *const group = &sum;
	const struct gt_site_access *access = &sum.access;

	for (size_t i = 0; i < input->n; i++) {
		if (!gt_finding_gather(input, i, shares_addresses, 4, GT_SAME_LINE, &sum))
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, group);
		if (!finding)
			return -1;
		gt_finding_gains(finding, GT_TO_L2, access->sectors > blocks ? access->sectors - blocks : 0, GT_GAIN_BOUNDED);
		gt_finding_count(finding, "accesses", "warp accesses", access->accesses);
		gt_finding_ratio(finding, "lanes_per_address", "lanes", (double)access->lanes, (double)access->addresses);
		SAY(finding, "%.1f lanes of a warp update one address, in turn: one a block would do",
		    ratio(access->lanes, access->addresses));
	}
	return 0;
}

/* ---- launches, device memory, and what cannot be counted ---- */

static int find_launches(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t launched = gt_finding_number(input, "l2", "launch_reads"), reads = gt_finding_number(input, "l2", "reads");
	uint64_t launches = input->kernel->launches ? input->kernel->launches : 1, missed = launched - gt_finding_number(input, "l2", "launch_hits");
	uint64_t sent = gt_finding_number(input, "l2", "sent_reads");
	char sectors[GT_WORDS];

	launches = gt_report_launches(input->kernel) > launches ? gt_report_launches(input->kernel) : launches;
	if (launches < 2 || 5 * launched <= launched + reads)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	gt_finding_gains(finding, GT_TO_L2, launched, GT_GAIN_BOUNDED);
	for (size_t i = 0; i < input->n; i++) /* what L2 reads for no site it reads for launches */
		sent -= input->groups[i].level[GT_SITE_L2].sent_reads;
	gt_finding_gains(finding, GT_TO_DRAM, input->traffic->by_site ? sent : missed, GT_GAIN_BOUNDED);
	gt_finding_count(finding, "launch_reads", "sectors", launched);
	gt_finding_count(finding, "launches", "launches", launches);
	SAY(finding, "%s sectors of code and constants for %" PRIu64 " launches: %.0f %% of L2's reads", gt_number_words(launched, sectors), launches,
	    percent(launched, launched + reads));
	return 0;
}

static int find_rows(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t hits = gt_finding_number(input, "dram", "row_hits"), all = hits + gt_finding_number(input, "dram", "row_misses");

	if (10 * hits >= 7 * all)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	finding->share = 1 - ratio(hits, all);
	gt_finding_ratio(finding, "row_hits", "of sectors", (double)hits, (double)all);
	SAY(finding, "%.0f %% of the sectors find their DRAM row open; each of the others opens one", percent(hits, all));
	return 0;
}

#define FEW_SECTORS 100 /* a channel and launch: with fewer, an uneven share says nothing, however often it comes */

static int find_channels(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	static const char *const names[] = {"channel_reads", "channel_writes"};
	const struct gt_report_stage *stage = gt_report_find_stage(input->kernel, "dram");
	uint64_t sums[256] = {0}, most = 0, all = 0;
	size_t n = 0;

	for (size_t i = 0; stage && i < stage->n; i++) {
		const struct gt_report_value *entry = &stage->counters[i].value;
		if (entry->kind != GT_COUNT_ARRAY || (strcmp(entry->name, names[0]) != 0 && strcmp(entry->name, names[1]) != 0))
			continue;
		n = entry->n < 256 ? entry->n : 256;
		for (size_t k = 0; k < n; k++)
			sums[k] += entry->array[k];
	}
	for (size_t k = 0; k < n; k++) {
		most = sums[k] > most ? sums[k] : most;
		all += sums[k];
	}
	if (all < FEW_SECTORS * n * gt_report_launches(input->kernel) || n == 0 || (double)most * (double)n <= 1.5 * (double)all)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	finding->share = 1 - (double)all / ((double)most * (double)n);
	finding->beyond_mean = most - all / n;
	gt_finding_count(finding, "channels", "channels", n);
	gt_finding_ratio(finding, "busiest_over_mean", "of the mean", (double)most * (double)n, (double)all);
	SAY(finding, "the busiest of %zu DRAM channels moves %.1f times the mean", n, (double)most * (double)n / (double)all);
	return 0;
}

static int find_tlb(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	for (size_t i = 0; i < input->kernel->n; i++) {
		const struct gt_report_stage *stage = &input->kernel->stages[i];
		uint64_t reads = 0, hits = 0, evictions = 0, size = 0;
		char reach[GT_WORDS];
		if (!strstr(stage->plain, "tlb") || !gt_report_number(stage, "reads", &reads) || !gt_report_number(stage, "read_hits", &hits))
			continue;
		gt_report_number(stage, "evictions", &evictions);
		if (reads == hits || evictions == 0)
			continue;
		struct gt_finding *finding = gt_finding_add(input, kind, NULL);
		if (!finding)
			return -1;
		gt_report_number(stage, "size", &size);
		finding->share = ratio(reads - hits, reads);
		gt_finding_count(finding, "lookups", "lookups", reads);
		gt_finding_count(finding, "misses", "lookups", reads - hits);
		SAY(finding, "%.0f %% of the loads' lookups of %s miss: it reaches %s", percent(reads - hits, reads), stage->name, gt_bytes_words((double)size, reach));
	}
	return 0;
}

static int find_polling(const struct gt_finding_input *input, const struct gt_finding_kind *kind)
{
	uint64_t polls = gt_finding_number(input, "ptx", "polls");
	char turns[GT_WORDS];

	if (polls == 0)
		return 0;
	struct gt_finding *finding = gt_finding_add(input, kind, NULL);
	if (!finding)
		return -1;
	finding->share = 1;
	finding->cost = input->to->cost;
	gt_finding_count(finding, "polls", "turns", polls);
	SAY(finding, "warps waited by polling, %s times: how often follows from the order of turns, so these counts are not the kernel's alone",
	    gt_number_words(polls, turns));
	return 0;
}

/* ---- the table ---- */

/* The finder, the identifier, the title, the command that shows more, and where it holds. */
#define KINDS(ROW) \
	ROW(find_uncoalesced_loads, uncoalesced_load, "uncoalesced load", "lines", "loads of a line touch over 1.25 times the sectors that their bytes need") \
	ROW(find_uncoalesced_stores, uncoalesced_store, "uncoalesced store", "lines", "the same of stores") \
	ROW(find_uncoalesced_atomics, uncoalesced_atomic, "uncoalesced atomic", "lines", "the same of atomics and reductions") \
	ROW(find_misaligned, misaligned, "misaligned access", "lines", "most of the sectors that could be spared are those of accesses without gaps that do not begin at a sector") \
	ROW(find_few_lanes, few_lanes, "few active lanes", "lines", "fewer than 8 lanes of a warp are active in the kernel's accesses to memory, on average") \
	ROW(find_unused, unused_bytes, "bytes never used", "report", "no lane asks for some bytes of the sectors that are read of an array") \
	ROW(find_l1_capacity, l1_capacity, "L1 too small", "sizes", "loads of a line have capacity misses in L1") \
	ROW(find_l1_conflict, l1_conflict, "L1 conflicts", "lines", "loads of a line have conflict misses in L1") \
	ROW(find_dropped, l1_dropped, "dropped by stores", "lines", "loads of a line miss sectors that a store or an atomic dropped from L1") \
	ROW(find_elsewhere, read_by_many_sms, "read by several SMs", "lines", "loads of a line have compulsory misses in L1 of sectors that another SM had read") \
	ROW(find_l2_capacity, l2_capacity, "L2 too small", "sizes", "loads of a line have capacity misses in L2") \
	ROW(find_l2_conflict, l2_conflict, "L2 conflicts", "lines", "loads of a line have conflict misses in L2") \
	ROW(find_partial_stores, partial_store, "partial store", "lines", "L2 reads sectors because stores of a line wrote them in part") \
	ROW(find_repeated_stores, repeated_store, "repeated store", "lines", "coalesced stores of a kernel write twice the sectors that memory gets, or more") \
	ROW(find_blocks, resident_blocks, "blocks share L1", "sizes", "L1 has capacity misses, and would hold what fewer resident blocks reuse") \
	ROW(find_bank_conflicts, bank_conflict, "shared-memory bank conflicts", "lines", "accesses of a line to shared memory take over 1.1 times the passes that their width takes") \
	ROW(find_local, local_memory, "local memory", "lines", "threads access local memory") \
	ROW(find_constants, constant_turns, "constants in turn", "lines", "lanes of a warp read two addresses of constant memory or more at a time, on average") \
	ROW(find_atomics, same_address_atomic, "atomics on one address", "lines", "four lanes or more of the atomics of a line share an address, on average") \
	ROW(find_launches, launch_traffic, "launches outweigh the kernel", "kernels", "a kernel is launched more than once, and launches read over 20 % of what L2 reads") \
	ROW(find_rows, dram_rows, "DRAM rows", "run --all", "under 70 % of the sectors of device memory find their row open") \
	ROW(find_channels, dram_channels, "DRAM channels", "run --all", "a channel moves over 1.5 times the mean, which is 100 sectors or more a launch") \
	ROW(find_tlb, tlb_reach, "TLB reach", NULL, "loads miss in a TLB that is in the pipe, and pages are evicted") \
	ROW(find_polling, polling, "polling", NULL, "warps waited for others by reading again and again")

#define KIND(FINDER, ID, TITLE, COMMAND, HOLDS) static const struct gt_finding_kind kind_##ID = {#ID, TITLE, COMMAND, HOLDS};
KINDS(KIND)

#define POINTER(FINDER, ID, TITLE, COMMAND, HOLDS) &kind_##ID,
const struct gt_finding_kind *const gt_finding_kinds[] = {KINDS(POINTER)};
const size_t gt_finding_kinds_n = sizeof gt_finding_kinds / sizeof *gt_finding_kinds;

#define FINDER_OF(FINDER, ID, TITLE, COMMAND, HOLDS) FINDER,
gt_find *const gt_finding_finders[] = {KINDS(FINDER_OF)};
