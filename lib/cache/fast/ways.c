/* SPDX-License-Identifier: MIT */
/* Serves reads in sets of few ways that stand in the order of their last use (cache/replace/ways.h). Whether such a read hits,
 * and in which way, is hard to foresee for the machine, so nothing here branches on it: each read does the same work and notes
 * what it found, and sums are made of the notes. */
#include "base/wide.h"
#include "cache/fast/fast.h"

#define AT_ONCE 32 /* requests whose sets are prefetched before the first of them is served */
#define SUMMED 32  /* reads whose bytes are counted at once: a byte holds their number */

/* The variant of the loop: constants at each call of serve_some, so that each variant is compiled separately. */
struct shape {
	uint32_t ways; /* 0: those of the level */
	bool plain;    /* nothing is written back, and sectors are fetched alone */
};

/* A request, and its set. */
struct place {
	struct gt_tags *tags;
	uint64_t *tag;
	uint32_t *state;
	uint64_t line;
	uint32_t bytes; /* of the sectors that are read; 0: it is no read */
};

/* What reads have found. */
struct notes {
	uint32_t hits[GT_DEDUPLICATED_ROWS + SUMMED]; /* a byte for each sector: its depth if it hits, else GT_SECTOR_INVALID */
	uint16_t misses[GT_DEDUPLICATED_ROWS]; /* bits 0-3: sectors that miss; 4-7: the same if their line is absent; 8-11: brought */
};

GT_INLINE uint32_t ways_of(const struct gt_level *level, struct shape shape)
{
	return shape.ways ? shape.ways : level->geometry.ways;
}

/* Finds the sets of n rows. */
GT_INLINE int find_places(const struct gt_reading *reads, const uint32_t *row, size_t n, struct place *restrict places,
			  struct shape shape)
{
	struct gt_level *level = reads->serving.level;
	struct gt_tags *const *const instances = level->instances;
	const uint64_t *const address = reads->rows->address;
	const uint8_t *const op = reads->rows->op, *const sectors = reads->rows->sectors;
	const uint16_t *const sm = reads->sm;
	const uint32_t ways = ways_of(level, shape), mask = level->set_mask;

	for (size_t k = 0; k < n; k++) {
		size_t i = row[k], of = sm ? sm[i] : 0;
		struct gt_tags *tags = instances[of];
		if (!tags && !(tags = gt_level_open_instance(level, of, reads->serving.error)))
			return -1;
		uint64_t line = address[i] / GT_LINE;
		size_t first = (size_t)(mask ? (uint32_t)line & mask : gt_level_set_of(level, line)) * ways;
		bool read = level->class_of[op[i]] == GT_CLASS_READ;
		places[k] = (struct place){tags, tags->tag + first, tags->state + first, line,
					   read ? gt_bytes_of_4[sectors[i] & 15] : 0};
		__builtin_prefetch(places[k].tag, 1);
		__builtin_prefetch(places[k].state, 1);
	}
	return 0;
}

/* Reads sectors of a line. Returns false, having changed nothing, if it takes a set that is not full, or a line that has to be
 * written back. */
GT_INLINE bool read_line(const struct gt_level *level, const struct place *place, struct notes *restrict notes, size_t n,
			 struct shape shape)
{
	const uint32_t ways = ways_of(level, shape), last = ways - 1;
	uint64_t *tag = place->tag, *dirty = place->tags->dirty + (tag - place->tags->tag);
	uint32_t match = gt_tags_match(tag, ways, place->line), absent = match == 0, kept = absent - 1;
	uint32_t way = (uint32_t)__builtin_ctz(match | UINT32_C(1) << last);

	if ((absent & (uint32_t)(tag[last] == 0)) || (!shape.plain && (absent & (uint32_t)(dirty[last] != 0))))
		return false;
	uint32_t state = place->state[way] | ~kept, used = place->bytes, missing = gt_state_invalid(state & used);
	uint32_t brought = missing;
	if (!shape.plain) {
		brought = level->brings[missing] & gt_state_invalid(state);
		gt_ways_put_words(dirty, ways, way, dirty[way] & kept);
	}
	state = gt_state_deepen(state, way);
	notes->hits[n] = state | ~used;
	notes->misses[n] = (uint16_t)(missing | (missing & ~kept) << 4 | brought << 8);
	used |= shape.plain ? 0 : gt_bytes_of_4[brought];
	gt_ways_put_words(tag, ways, way, place->line + 1);
	gt_ways_put_states(place->state, ways, way, state & ~used);
	return true;
}

/* How many sectors of SUMMED reads hit at a depth. */
GT_INLINE uint8_t count_hits(const uint8_t *hits, uint32_t depth)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < SUMMED * sizeof(uint32_t); i++)
		sum = (uint8_t)(sum + (hits[i] == (uint8_t)depth));
	return sum;
}

/* Adds to `served` those of n reads of these rows that fetch, and counts what all of them have found. */
GT_INLINE void count(struct gt_level *level, struct gt_served *served, struct notes *notes, const uint32_t *row, size_t n,
		     uint32_t ways)
{
	struct gt_level_counters *counters = &level->counters;
	uint64_t missed = 0, lost = 0, lines = 0, brought = 0;
	size_t before = served->n;

	memset(notes->hits + n, GT_SECTOR_INVALID, SUMMED * sizeof *notes->hits);
	for (uint32_t depth = 0; depth < ways; depth++) {
		uint64_t hits = 0;
		for (size_t i = 0; i < n; i += SUMMED)
			hits += count_hits((const uint8_t *)(notes->hits + i), depth);
		counters->mru[depth] += hits;
		served->hits += hits;
	}
	for (size_t i = 0; i < n; i++) {
		uint16_t misses = notes->misses[i];
		notes->misses[served->n - before] = misses;
		gt_served_add(served, row[i], misses >> 8);
		served->n -= misses == 0;
	}
	for (size_t i = 0; i < served->n - before; i++) {
		uint32_t misses = notes->misses[i];
		missed += gt_bits_of_4[misses & 15];
		lost += gt_bits_of_4[misses >> 4 & 15];
		brought += gt_bits_of_4[misses >> 8];
		lines += (misses >> 4 & 15) != 0;
	}
	counters->reads += missed;
	counters->line_misses += lost;
	counters->sector_misses += missed - lost;
	counters->evictions += lines;
	level->fetch.neighbours += brought - missed;
}

GT_INLINE int serve_some(struct gt_reading *reads, const uint32_t *row, size_t n, struct shape shape)
{
	struct gt_level *level = reads->serving.level;
	struct place places[AT_ONCE];
	struct notes notes;
	size_t noted = 0; /* notes of rows before this one are counted */

	for (size_t first = 0, some; first < n; first += some) {
		some = n - first < AT_ONCE ? n - first : AT_ONCE;
		if (find_places(reads, row + first, some, places, shape) != 0)
			return -1;
		for (size_t k = first; k < first + some; k++) {
			const struct place *place = &places[k - first];
			if (place->bytes != 0 && read_line(level, place, &notes, k - noted, shape))
				continue;
			count(level, &reads->served, &notes, row + noted, k - noted, ways_of(level, shape));
			noted = k + 1;
			if (gt_reads_serve_other(reads, &row[k]) != 0)
				return -1;
		}
	}
	count(level, &reads->served, &notes, row + noted, n - noted, ways_of(level, shape));
	return 0;
}

#define VARIANT(NAME, WAYS, PLAIN)                                                        \
	GT_WIDE static int NAME(struct gt_reading *reads, const uint32_t *row, size_t n)    \
	{                                                                                 \
		return serve_some(reads, row, n, (struct shape){WAYS, PLAIN});            \
	}
VARIANT(four_plain, 4, true)
VARIANT(four, 4, false)
VARIANT(eight_plain, 8, true)
VARIANT(eight, 8, false)
VARIANT(any_plain, 0, true)
VARIANT(any, 0, false)

gt_serve_some *gt_reads_in_ways(const struct gt_level *level)
{
	bool plain = level->config.write != GT_WRITE_BACK && level->fetch_sectors == 1;

	switch (level->geometry.ways) {
	case 4: return plain ? four_plain : four;
	case 8: return plain ? eight_plain : eight;
	default: return plain ? any_plain : any;
	}
}
