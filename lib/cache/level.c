/* SPDX-License-Identifier: MIT */
#include "cache/level.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "cache/serve.h"
#include "stream/op.h"

#define SMS 65536	 /* values of the column sm */
#define DROPPED_ROWS 256 /* that a level gathers before it forgets them */

/* Which set each line of a cycle goes to when sets differ: the sets take lines in turn, one each,
 * and one that has had as many as it has ways waits for the next cycle. So a working set as large
 * as the cache fits, and each line more overflows one set more, the large one first: the steps of
 * [001] figure 11. */
static uint32_t *deal_lines(const struct gt_geometry *geometry)
{
	uint32_t *deal = malloc(geometry->slots * sizeof *deal), n = 0;

	for (uint32_t turn = 0; deal && turn < geometry->most_ways; turn++)
		for (uint32_t set = 0; set < geometry->sets; set++)
			if (gt_ways_of(geometry, set) > turn)
				deal[n++] = set;
	return deal;
}

static int open_geometry(struct gt_level *level, struct gt_error *error)
{
	const struct gt_level_config *config = &level->config;
	uint32_t ways, sets = gt_level_sets(config, &ways), *each = NULL;
	bool lru = config->replacement.policy == &gt_policy_lru;

	if (ways) {
		each = malloc(sets * sizeof *each);
		if (!each)
			return gt_fail_memory(error, "a cache's sets");
		for (uint32_t set = 0; set < sets; set++)
			each[set] = ways;
	}
	int result = gt_geometry_open(&level->geometry, each ? each : config->set_ways, sets, level->sectors, lru,
				      error);
	free(each);
	if (result != 0)
		return -1;
	if (!ways && !(level->deal = deal_lines(&level->geometry)))
		return gt_fail_memory(error, "a cache's sets");
	level->interleave = config->interleave;
	level->interleaved = gt_level_interleaved(config);
	if (level->interleaved) {
		if (gt_interleave_open(&level->interleave, config->timed.partitions, config->timed.banks, config->line,
				       error) != 0)
			return -1;
		sets /= level->interleave.banks;
	}
	return gt_index_open(&level->index, config->index, &config->index_argument,
			     ways ? sets : level->geometry.slots, config->line, error);
}

/* What the operator of a load says (PTX ISA, "Cache Operators"): .cg and .cv have no place in the
 * caches of an SM; the lines of .cs, and below an SM of .cv, are the first to leave. Under another
 * policy than LRU they are lines like others. */
static enum gt_class class_of_load(const struct gt_level_config *config, enum gt_operator operation)
{
	bool lru = config->replacement.policy == &gt_policy_lru;

	if (!config->operators)
		return GT_CLASS_READ;
	if (!config->shared && (operation == GT_CG || operation == GT_CV))
		return GT_CLASS_BYPASS;
	return lru && (operation == GT_CS || operation == GT_CV) ? GT_CLASS_STREAM : GT_CLASS_READ;
}

static void choose_classes(struct gt_level *level)
{
	const struct gt_level_config *config = &level->config;
	bool reads = config->bypass == GT_BYPASS_READS || config->bypass == GT_BYPASS_ALL;
	bool writes = config->bypass == GT_BYPASS_WRITES || config->bypass == GT_BYPASS_ALL;
	bool back = config->write == GT_WRITE_BACK;
	const enum gt_class of_action[] = {
		[GT_LOAD] = GT_CLASS_BYPASS,
		[GT_STORE] = writes ? GT_CLASS_BYPASS : GT_CLASS_WRITE,
		[GT_ATOMIC] = writes ? GT_CLASS_BYPASS : GT_CLASS_ATOMIC,
		[GT_REDUCTION] = writes ? GT_CLASS_BYPASS : GT_CLASS_ATOMIC,
	};

	for (unsigned op = 0; op < 256; op++)
		level->class_of[op] = (uint8_t)(gt_op_action((uint8_t)op) == GT_LOAD && !reads
							? class_of_load(config, gt_op_operator((uint8_t)op))
							: of_action[gt_op_action((uint8_t)op)]);
	level->serve[GT_CLASS_READ] = gt_serve_read;
	level->serve[GT_CLASS_STREAM] = gt_serve_stream;
	level->serve[GT_CLASS_WRITE] = back ? gt_serve_write_back : gt_serve_write;
	level->serve[GT_CLASS_ATOMIC] = back ? gt_serve_atomic_back : gt_serve_atomic;
	level->serve[GT_CLASS_BYPASS] = gt_serve_bypass;
	for (unsigned class = 0; config->translate && class <= GT_CLASS_BYPASS; class++)
		level->serve[class] = gt_serve_translation;
}

static int drop(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context, (void)error;
	rows->n = rows->n_lanes = 0;
	return 0;
}

struct gt_level *gt_level_open(const struct gt_level_config *config, struct gt_error *error)
{
	struct gt_level *level = calloc(1, sizeof *level);

	if (!level) {
		gt_fail_memory(error, "a cache level");
		return NULL;
	}
	level->config = *config;
	level->line_shift = (unsigned)__builtin_ctzll(config->line);
	level->sector_shift = (unsigned)__builtin_ctzll(config->sector / GT_SECTOR);
	level->sectors = (unsigned)(config->line / config->sector);
	level->fetch_sectors = (unsigned)(config->fetch / config->sector);
	choose_classes(level);
	level->instances_n = config->shared ? 1 : SMS;
	level->instances = calloc(level->instances_n, sizeof *level->instances);
	if (!level->instances)
		gt_fail_memory(error, "a cache level");
	if (!level->instances || open_geometry(level, error) != 0)
		goto failed;
	level->slots = malloc(level->geometry.most_ways * sizeof *level->slots);
	if (!level->slots) {
		gt_fail_memory(error, "a cache level");
		goto failed;
	}
	level->dropped = (struct gt_sink){gt_rows_new(DROPPED_ROWS, error), drop, NULL};
	if (!level->dropped.rows)
		goto failed;
	if (config->replacement.policy->looks_ahead && !(level->ahead = gt_ahead_open(level, error)))
		goto failed;
	level->next_uses = gt_ahead_lines(level);
	if (!level->interleaved && strcmp(config->index->name, "mod") == 0 && (level->geometry.sets & (level->geometry.sets - 1)) == 0)
		level->set_mask = level->geometry.sets - 1;
	level->usual = config->line == GT_LINE && config->sector == GT_SECTOR && !config->translate;
	level->plain = level->usual && level->geometry.ways > 0 &&
		       level->geometry.recency == GT_RECENCY_NIBBLES;
	return level;
failed:
	gt_level_close(level);
	return NULL;
}

void gt_level_close(struct gt_level *level)
{
	if (!level)
		return;
	for (size_t i = 0; level->instances && i < level->instances_n; i++) {
		if (level->instances[i])
			gt_tags_close(level->instances[i]);
		free(level->instances[i]);
	}
	free(level->instances);
	free(level->slots);
	gt_rows_free(level->dropped.rows);
	free(level->deal);
	gt_index_close(&level->index);
	gt_geometry_close(&level->geometry);
	gt_arrival_close(&level->arrival);
	gt_ahead_close(level->ahead);
	free(level);
}

void gt_level_begin(struct gt_level *level)
{
	memset(&level->counters, 0, sizeof level->counters);
	level->last_step = 0;
}

static struct gt_tags *open_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	const struct gt_replacement *replacement = &level->config.replacement;
	struct gt_tags *tags = calloc(1, sizeof *tags);

	if (!tags) {
		gt_fail_memory(error, "a cache");
		return NULL;
	}
	level->instances[n] = tags;
	if (gt_tags_open(tags, &level->geometry, replacement->policy->slot_bytes * level->geometry.slots,
			 gt_random_state(replacement->seed, n), error) == 0) {
		tags->next_mask = level->next_uses - 1;
		level->instances_used++;
		return tags;
	}
	gt_tags_close(tags);
	free(tags);
	level->instances[n] = NULL;
	return NULL;
}

struct gt_tags *gt_level_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	return level->instances[n] ? level->instances[n] : open_instance(level, n, error);
}

/* How a level is served: constant where serve_rows is called, so that each has its own loop. */
struct way_through {
	bool plain; /* reads whose sectors are all here take the short way */
	bool mod;   /* the index is mod, of a power of two */
	bool four;  /* ways */
	bool depths; /* they are kept: the policy is LRU, which notes nothing else of a hit */
	bool ahead;  /* the policy looks ahead */
};

/* Where a request will be served. */
struct place {
	struct gt_tags *tags;
	uint32_t set;
};

#define AHEAD 32 /* requests whose places are found before the first of them is served */

/* The short way: a read whose sectors are all here. False, and nothing is changed, if this is not
 * such a read. */
static inline __attribute__((always_inline)) bool read_hits(struct gt_level *level, struct place place,
							     uint64_t line, uint32_t sectors,
							     struct way_through through)
{
	struct gt_tags *tags = place.tags;
	uint32_t ways = through.four ? 4 : level->geometry.ways, first = place.set * ways;
	uint32_t found = gt_tags_match(tags->tag + first, ways, line);
	uint32_t way = (uint32_t)__builtin_ctz(found | 1U << 31), slot = first + way;

	if (found == 0 || (sectors & ~tags->valid[slot]) != 0)
		return false;
	unsigned position = gt_nibbles_touch(&tags->nibbles[place.set], way);
	if (through.depths)
		gt_note_depths_4(tags, slot, position, sectors, sectors, level->counters.mru);
	else if (level->config.replacement.policy->hit)
		level->config.replacement.policy->hit(tags, place.set, slot);
	return true;
}

/* The place of a line in a plain level. Many small caches together are larger than the machine's
 * own: what will be read there is asked for now. */
static inline __attribute__((always_inline)) struct place find_place(const struct gt_level *level,
								       struct gt_tags *tags, uint64_t line,
								       struct way_through through)
{
	uint32_t set = through.mod ? (uint32_t)line & level->set_mask : gt_level_set_of(level, line);
	size_t first = set * (size_t)(through.four ? 4 : level->geometry.ways);

	__builtin_prefetch(&tags->tag[first], 1);
	__builtin_prefetch(&tags->valid[first], 1);
	__builtin_prefetch(&tags->nibbles[set], 1);
	if (through.depths)
		__builtin_prefetch(&tags->depth[4 * first], 1);
	return (struct place){tags, set};
}

static inline __attribute__((always_inline)) int serve_rows(struct gt_level *level, const struct gt_rows *rows,
							     struct way_through through, struct gt_sink *sent,
							     struct gt_error *error)
{
	const uint8_t *op = rows->op, *sectors = rows->sectors;
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	const uint64_t *address = rows->address;
	struct place places[AHEAD];
	uint64_t hits = 0;

	for (size_t start = 0, n = rows->n; start < n; start += AHEAD) {
		size_t end = n - start < AHEAD ? n : start + AHEAD;
		for (size_t i = start; i < end; i++) {
			size_t instance = sm ? sm[i] : 0;
			struct gt_tags *tags = level->instances[instance];
			if (!tags && !(tags = open_instance(level, instance, error)))
				return -1;
			places[i - start] = through.plain ? find_place(level, tags, address[i] / GT_LINE, through)
							  : (struct place){tags, 0};
		}
		for (size_t i = start; i < end; i++) {
			struct place place = places[i - start];
			unsigned class = level->class_of[op[i]];
			if (through.ahead)
				gt_level_foresee(level, place.tags, i);
			if (through.plain && class == GT_CLASS_READ &&
			    read_hits(level, place, address[i] / GT_LINE, sectors[i], through))
				hits += gt_bits_of_4[sectors[i] & 15];
			else if (level->serve[class](level, place.tags, rows, i, sent, error) != 0)
				return -1;
		}
	}
	level->counters.reads += hits;
	level->counters.read_hits += hits;
	return 0;
}

/* A read whose sectors are all here, of the usual lines in sets of many ways: as read_hits. */
static bool wide_read_hits(struct gt_level *level, struct place place, uint64_t line, uint64_t sectors)
{
	uint32_t slot = gt_tags_find(place.tags, place.set, line);

	if (slot == GT_NO_SLOT || (sectors & ~place.tags->valid[slot]) != 0)
		return false;
	gt_level_touch(level, place.tags, place.set, slot, sectors, sectors, level->counters.mru);
	return true;
}

/* Requests for the usual lines in sets of many ways. What will be read is asked for ahead in two
 * rounds, for where a line is stands in a chain that has to be here first. */
static int serve_wide(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	struct place places[AHEAD];

	for (size_t start = 0, n = rows->n; start < n; start += AHEAD) {
		size_t end = n - start < AHEAD ? n : start + AHEAD;
		for (size_t i = start; i < end; i++) {
			struct gt_tags *tags = gt_level_instance(level, sm ? sm[i] : 0, error);
			if (!tags)
				return -1;
			uint64_t line = rows->address[i] / GT_LINE;
			places[i - start] = (struct place){tags, gt_level_set_of(level, line)};
			__builtin_prefetch(gt_finder_chain(&tags->finder, line));
			__builtin_prefetch(gt_tags_order(tags, places[i - start].set), 1);
		}
		for (size_t i = start; i < end; i++) {
			const struct gt_tags *tags = places[i - start].tags;
			uint32_t slot = *gt_finder_chain(&tags->finder, rows->address[i] / GT_LINE) - 1;
			if (slot == GT_NO_SLOT)
				continue;
			__builtin_prefetch(&tags->tag[slot]);
			__builtin_prefetch(&tags->valid[slot]);
			if (level->geometry.depths)
				__builtin_prefetch(&tags->depth[4 * (size_t)slot], 1);
		}
		for (size_t i = start; i < end; i++) {
			struct place place = places[i - start];
			unsigned class = level->class_of[rows->op[i]], sectors = rows->sectors[i] & 15;
			if (class == GT_CLASS_READ && wide_read_hits(level, place, rows->address[i] / GT_LINE, sectors)) {
				level->counters.reads += gt_bits_of_4[sectors];
				level->counters.read_hits += gt_bits_of_4[sectors];
			} else if (level->serve[class](level, place.tags, rows, i, sent, error) != 0)
				return -1;
		}
	}
	return 0;
}

/* When the flush is: steps matter where it can send something. */
static void note_steps(struct gt_level *level, const struct gt_rows *rows)
{
	level->scheduled = rows->scheduled;
	if (!rows->scheduled || level->config.write != GT_WRITE_BACK)
		return;
	for (size_t i = 0; i < rows->n; i++)
		level->last_step = rows->step[i] > level->last_step ? rows->step[i] : level->last_step;
}

static int serve(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	bool mod = level->set_mask != 0, lru = level->geometry.depths, four = level->geometry.ways == 4;

	note_steps(level, rows);
	level->counters.requests += level->config.emit == GT_EMIT_LATENCY ? 0 : rows->n; /* which counts what it looks up */
	if (level->config.emit == GT_EMIT_ALL || level->config.emit == GT_EMIT_LATENCY)
		return gt_level_emit_all(level, rows, sent, error);
	if (level->config.emit == GT_EMIT_NONE)
		sent = &level->dropped;
	if (gt_sink_begin(sent, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	if (level->ahead)
		return serve_rows(level, rows, (struct way_through){.ahead = true}, sent, error);
	if (level->usual && level->geometry.recency != GT_RECENCY_NIBBLES)
		return serve_wide(level, rows, sent, error);
	if (!level->plain)
		return serve_rows(level, rows, (struct way_through){.plain = false}, sent, error);
	if (lru && four && mod)
		return serve_rows(level, rows, (struct way_through){true, true, true, true, false}, sent, error);
	if (lru && four)
		return serve_rows(level, rows, (struct way_through){true, false, true, true, false}, sent, error);
	if (lru)
		return serve_rows(level, rows, (struct way_through){true, false, false, true, false}, sent, error);
	return serve_rows(level, rows, (struct way_through){.plain = true}, sent, error);
}

/* Requests in the order of their arrival. */
static int serve_or_keep(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
			 struct gt_error *error)
{
	return level->ahead ? gt_ahead_add(level->ahead, requests, error) : serve(level, requests, sent, error);
}

int gt_level_take(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
		  struct gt_error *error)
{
	if (level->config.arrival == GT_ARRIVAL_RR && requests->scheduled)
		return gt_arrival_add(&level->arrival, requests, error);
	return serve_or_keep(level, requests, sent, error);
}

/* Dirty sectors leave, by set, then from the most to the least recent; all becomes invalid. */
static int flush(struct gt_level *level, struct gt_tags *tags, const struct gt_cause *cause,
		 struct gt_sink *sent, struct gt_error *error)
{
	uint32_t sets = level->config.write == GT_WRITE_BACK ? level->geometry.sets : 0;

	for (uint32_t set = 0; set < sets; set++) {
		uint32_t n = gt_tags_by_recency(tags, set, level->slots);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t slot = level->slots[i];
			uint64_t dirty = tags->dirty[slot];
			if (dirty && gt_send_back(level, cause, tags->tag[slot] - 1, dirty,
						  dirty & tags->valid[slot], sent, error) != 0)
				return -1;
		}
	}
	gt_tags_clear(tags);
	return 0;
}

struct waiting {
	struct gt_level *level;
	struct gt_sink *sent;
};

static int serve_waiting(void *context, const struct gt_rows *rows, struct gt_error *error)
{
	const struct waiting *waiting = context;

	return serve_or_keep(waiting->level, rows, waiting->sent, error);
}

static int serve_known(void *context, const struct gt_rows *rows, const uint64_t *next_use, struct gt_error *error)
{
	const struct waiting *waiting = context;

	waiting->level->next_use = next_use;
	return serve(waiting->level, rows, waiting->sent, error);
}

int gt_level_finish(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	struct waiting waiting = {level, sent};
	uint64_t before;

	if (level->arrival.n > 0 && gt_arrival_drain(&level->arrival, serve_waiting, &waiting, error) != 0)
		return -1;
	if (level->ahead && gt_ahead_drain(level->ahead, serve_known, &waiting, error) != 0)
		return -1;
	if (level->config.flush != GT_FLUSH_KERNEL)
		return 0;
	if (level->config.emit != GT_EMIT_MISSES)
		sent = &level->dropped;
	if (gt_sink_begin(sent, GT_REQUESTS, level->scheduled, error) != 0)
		return -1;
	before = level->counters.sent_writes;
	for (size_t i = 0; i < level->instances_n; i++) {
		struct gt_cause cause = {.step = level->last_step + (level->last_step < UINT64_MAX),
					 .sm = (uint16_t)i};
		if (level->instances[i] && flush(level, level->instances[i], &cause, sent, error) != 0)
			return -1;
	}
	level->counters.flushed += level->counters.sent_writes - before;
	return 0;
}

int gt_level_count(const struct gt_level *level, const char *stage, uint64_t kernel, struct gt_count *count,
		   struct gt_error *error)
{
	gt_count_begin(count, stage, kernel);
	return gt_level_describe(level, count, error);
}
