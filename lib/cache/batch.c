/* SPDX-License-Identifier: MIT */
/* Serves a batch of requests in its order. */
#include "cache/serve.h"
#include "stream/op.h"
#include "stream/status.h"

/* The variant of the loop: constants at each call of serve_rows, so that each variant is compiled separately. */
struct path {
	bool fast_path; /* reads whose sectors are all valid take the fast path */
	bool mod;   /* the index is mod, of a power of two */
	bool four;  /* ways */
	bool depths; /* depths are kept: the policy is LRU, which records nothing else for a hit */
	bool future; /* the policy looks ahead */
};

/* Where a request is served. */
struct place {
	struct gt_tags *tags;
	uint32_t set;
};

#define PREFETCH_DISTANCE 32 /* requests whose sets are found and prefetched before the first of them is served */
#define STATUS_ROWS 256 /* that are served before they are emitted */

/* The fast path: a read whose sectors are all valid. Returns false, and changes nothing, if this is not such a read. */
static inline __attribute__((always_inline)) bool read_hits(struct gt_level *level, struct place place,
							     uint64_t line, uint32_t sectors,
							     struct path path)
{
	struct gt_tags *tags = place.tags;
	uint32_t ways = path.four ? 4 : level->geometry.ways, first = place.set * ways;
	uint32_t found = gt_tags_match(tags->tag + first, ways, line);
	uint32_t way = (uint32_t)__builtin_ctz(found | 1U << 31), slot = first + way;

	if (found == 0 || (sectors & ~tags->valid[slot]) != 0)
		return false;
	unsigned position = gt_nibbles_touch(&tags->nibbles[place.set], way);
	if (path.depths)
		gt_note_depths_4(tags, slot, position, sectors, sectors, level->counters.mru);
	else if (level->config.replacement.policy->hit)
		level->config.replacement.policy->hit(tags, place.set, slot);
	return true;
}

/* The general path. */
static int serve_row(struct gt_serving *serving, struct gt_tags *tags, const struct gt_rows *rows, size_t i)
{
	serving->tags = tags;
	serving->request = gt_request_of(rows, i);
	return serving->level->serve[serving->level->class_of[serving->request.op]](serving);
}

/* Whether requests of the batch have hints that apply. */
static bool hinted(const struct gt_level *level, const struct gt_rows *rows)
{
	return rows->has_hints || level->window.bytes > 0;
}

static int serve_hinted(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};

	for (size_t i = 0; i < rows->n; i++) {
		serving.tags = gt_level_instance(level, level->config.shared || !rows->scheduled ? 0 : rows->sm[i], error);
		if (!serving.tags)
			return -1;
		if (level->future)
			gt_level_foresee(level, serving.tags, i);
		serving.request = gt_request_of(rows, i);
		if (gt_serve_hinted(&serving) != 0)
			return -1;
	}
	return 0;
}

/* The place of a line in a level with a fast path. Many small caches together exceed the machine's own cache, so their
 * state is prefetched. */
static inline __attribute__((always_inline)) struct place find_place(const struct gt_level *level,
								       struct gt_tags *tags, uint64_t line,
								       struct path path)
{
	uint32_t set = path.mod ? (uint32_t)line & level->set_mask : gt_level_set_of(level, line);
	size_t first = set * (size_t)(path.four ? 4 : level->geometry.ways);

	__builtin_prefetch(&tags->tag[first], 1);
	__builtin_prefetch(&tags->valid[first], 1);
	__builtin_prefetch(&tags->nibbles[set], 1);
	if (path.depths)
		__builtin_prefetch(&tags->depth[4 * first], 1);
	return (struct place){tags, set};
}

static inline __attribute__((always_inline)) int serve_rows(struct gt_level *level, const struct gt_rows *rows,
							     struct path path, struct gt_sink *sent,
							     struct gt_error *error)
{
	const uint8_t *op = rows->op, *sectors = rows->sectors;
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	const uint64_t *address = rows->address;
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};
	struct place places[PREFETCH_DISTANCE];
	uint64_t hits = 0;

	for (size_t start = 0, n = rows->n; start < n; start += PREFETCH_DISTANCE) {
		size_t end = n - start < PREFETCH_DISTANCE ? n : start + PREFETCH_DISTANCE;
		for (size_t i = start; i < end; i++) {
			size_t instance = sm ? sm[i] : 0;
			struct gt_tags *tags = level->instances[instance];
			if (!tags && !(tags = gt_level_open_instance(level, instance, error)))
				return -1;
			places[i - start] = path.fast_path ? find_place(level, tags, address[i] / GT_LINE, path)
							  : (struct place){tags, 0};
		}
		for (size_t i = start; i < end; i++) {
			struct place place = places[i - start];
			unsigned class = level->class_of[op[i]];
			if (path.future)
				gt_level_foresee(level, place.tags, i);
			if (path.fast_path && class == GT_CLASS_READ &&
			    read_hits(level, place, address[i] / GT_LINE, sectors[i], path))
				hits += gt_bits_of_4[sectors[i] & 15];
			else if (serve_row(&serving, place.tags, rows, i) != 0)
				return -1;
		}
	}
	level->counters.reads += hits;
	level->counters.read_hits += hits;
	return 0;
}

/* As read_hits, for the usual lines in sets of many ways. */
static bool wide_read_hits(struct gt_level *level, struct place place, uint64_t line, uint64_t sectors)
{
	uint32_t slot = gt_tags_find(place.tags, place.set, line);

	if (slot == GT_NO_SLOT || (sectors & ~place.tags->valid[slot]) != 0)
		return false;
	gt_level_touch(level, place.tags, place.set, slot, sectors, sectors, level->counters.mru);
	return true;
}

/* Serves requests for the usual lines in sets of many ways. Prefetches in two rounds: first the hash chain, and then the
 * line that it leads to. */
static int serve_wide(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	const uint16_t *sm = level->config.shared || !rows->scheduled ? NULL : rows->sm;
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};
	struct place places[PREFETCH_DISTANCE];

	for (size_t start = 0, n = rows->n; start < n; start += PREFETCH_DISTANCE) {
		size_t end = n - start < PREFETCH_DISTANCE ? n : start + PREFETCH_DISTANCE;
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
			} else if (serve_row(&serving, place.tags, rows, i) != 0)
				return -1;
		}
	}
	return 0;
}

/* Records the last step, which a flush needs if it can send something. */
static void note_steps(struct gt_level *level, const struct gt_rows *rows)
{
	level->scheduled = rows->scheduled;
	if (!rows->scheduled || level->config.write != GT_WRITE_BACK)
		return;
	for (size_t i = 0; i < rows->n; i++)
		level->last_step = rows->step[i] > level->last_step ? rows->step[i] : level->last_step;
}

/* Whether an earlier level has served the request. */
static bool found_before(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.emit != GT_EMIT_LATENCY || !rows->has_latency || !rows->has_status)
		return false;
	return rows->status[i] == (level->config.translate ? GT_STATUS_TLB_HIT : GT_STATUS_HIT);
}

/* Serves row i and returns its status. */
static int find_row(struct gt_serving *serving, const struct gt_rows *rows, size_t i, uint8_t *status)
{
	struct gt_level *level = serving->level;

	*status = GT_STATUS_NONE;
	if (found_before(level, rows, i))
		return 0;
	level->counters.requests++;
	serving->tags = gt_level_instance(level, level->config.shared || !rows->scheduled ? 0 : rows->sm[i],
					  serving->error);
	if (!serving->tags)
		return -1;
	if (level->future)
		gt_level_foresee(level, serving->tags, i);
	serving->request = gt_request_of(rows, i);
	return gt_level_find(serving, status);
}

/* Passes each request on with its status; requests sent to the next level are not written. */
static int serve_and_emit(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			  struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = &level->dropped, .error = error};
	uint8_t status[STATUS_ROWS];

	if (gt_emit_begin(level, rows, sent, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t first = 0, n; first < rows->n; first += n) {
		n = rows->n - first < STATUS_ROWS ? rows->n - first : STATUS_ROWS;
		for (size_t i = 0; i < n; i++)
			if (find_row(&serving, rows, first + i, &status[i]) != 0)
				return -1;
		if (gt_emit_rows(level, rows, first, n, status, sent, error) != 0)
			return -1;
	}
	return 0;
}

int gt_level_serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			 struct gt_error *error)
{
	bool mod = level->set_mask != 0, lru = level->geometry.depths, four = level->geometry.ways == 4;

	note_steps(level, rows);
	if (level->config.emit == GT_EMIT_ALL || level->config.emit == GT_EMIT_LATENCY)
		return serve_and_emit(level, rows, sent, error);
	level->counters.requests += rows->n;
	if (level->config.emit == GT_EMIT_NONE)
		sent = &level->dropped;
	if (gt_sink_begin_as(sent, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = rows->scheduled,
						     .has_hints = rows->has_hints}, error) != 0)
		return -1;
	if (hinted(level, rows))
		return serve_hinted(level, rows, sent, error);
	if (level->future)
		return serve_rows(level, rows, (struct path){.future = true}, sent, error);
	if (level->usual && level->geometry.recency != GT_RECENCY_NIBBLES)
		return serve_wide(level, rows, sent, error);
	if (!level->fast_path)
		return serve_rows(level, rows, (struct path){.fast_path = false}, sent, error);
	if (lru && four && mod)
		return serve_rows(level, rows, (struct path){true, true, true, true, false}, sent, error);
	if (lru && four)
		return serve_rows(level, rows, (struct path){true, false, true, true, false}, sent, error);
	if (lru)
		return serve_rows(level, rows, (struct path){true, false, false, true, false}, sent, error);
	return serve_rows(level, rows, (struct path){.fast_path = true}, sent, error);
}

