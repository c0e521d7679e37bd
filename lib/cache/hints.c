/* SPDX-License-Identifier: MIT */
/* Requests with hints of instructions - prefetches, discards, eviction priorities, bytes to fetch - or in the access policy window of a
 * launch: gcache(1) defines their effects. Then the status of a request of any kind, prefetches of
 * what the next requests will need, and what a launch itself reads before the first of them. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/level.h"
#include "cache/state.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- priorities ---- */

/* The priority of a line in a window. A hash chooses the lines with the property `hit`: evenly spread, and the same ones in
 * every run. */
static enum gt_priority in_window(const struct gt_window *window, uint64_t address)
{
	static const enum gt_priority priorities[GT_PROPERTIES] = {
		[GT_PROPERTY_NORMAL] = GT_EVICT_NORMAL, [GT_PROPERTY_STREAMING] = GT_EVICT_FIRST,
		[GT_PROPERTY_PERSISTING] = GT_EVICT_LAST};
	/* The finalizer of SplitMix64. */
	uint64_t mixed = address / GT_LINE;

	if (address - window->base / GT_LINE * GT_LINE >= window->bytes + window->base % GT_LINE)
		return GT_PRIORITY_NONE;
	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	mixed ^= mixed >> 31;
	return priorities[mixed % GT_RATIO_ONE < window->hit_ratio ? window->hit : window->miss];
}

static enum gt_priority priority_of(const struct gt_level *level, const struct gt_request *request)
{
	if (!level->config.shared)
		return gt_hint_l1(request->hint);
	enum gt_priority said = gt_hint_l2(request->hint);
	return said == GT_PRIORITY_NONE && level->window.bytes > 0 ? in_window(&level->window, request->address) : said;
}

/* Called for a piece of a request, whose line is in the slot, or absent (GT_NO_SLOT). */
typedef int visit(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot,
		  enum gt_priority priority);

static inline int visit_pieces(const struct gt_serving *serving, visit *one, enum gt_priority priority)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		uint32_t set = gt_level_set_of(serving->level, pieces[p].line);
		if (one(serving, &pieces[p], set, gt_tags_find(serving->tags, set, pieces[p].line), priority) != 0)
			return -1;
	}
	return 0;
}

/* Ways of a set that are set aside. */
static uint32_t ways_aside(const struct gt_level *level, uint32_t set)
{
	uint64_t size = (uint64_t)level->geometry.slots * level->config.line, ways = gt_ways_of(&level->geometry, set);

	return (uint32_t)(level->aside < size ? (ways * level->aside + size - 1) / size : ways);
}

/* Of the lines of a set that leave last, those used last stay so; there is no room aside for the others. */
static void limit_persisting(const struct gt_serving *serving, uint32_t set)
{
	struct gt_level *level = serving->level;
	uint32_t n = gt_tags_by_recency(serving->tags, set, level->slots), left = ways_aside(level, set);

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *rank = &serving->tags->rank[level->slots[i]];
		if (*rank != GT_RANK_LAST)
			continue;
		if (left > 0)
			left--;
		else
			*rank = GT_RANK_NORMAL;
	}
}

static int rank(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot,
		enum gt_priority priority)
{
	static const uint8_t classes[GT_PRIORITIES] = {
		[GT_EVICT_NORMAL] = GT_RANK_NORMAL, [GT_EVICT_FIRST] = GT_RANK_FIRST, [GT_EVICT_LAST] = GT_RANK_LAST};
	uint8_t class = classes[priority];
	bool by_window = serving->level->config.shared && gt_hint_l2(serving->request.hint) == GT_PRIORITY_NONE;

	(void)piece;
	if (slot == GT_NO_SLOT)
		return 0;
	if (gt_tags_rank(serving->tags, slot, class, serving->error) != 0)
		return -1;
	serving->level->ranked |= class != GT_RANK_NORMAL;
	if (by_window && class == GT_RANK_LAST)
		limit_persisting(serving, set);
	return 0;
}

/* With priorities the policy opt would be neither what a program asks for nor the bound that it is. */
static int check_priority(const struct gt_serving *serving, enum gt_priority priority)
{
	bool shared = serving->level->config.shared;
	char text[GT_HINT_TEXT];

	if (!serving->level->lookahead || priority == GT_PRIORITY_NONE || priority == GT_EVICT_NORMAL)
		return 0;
	return gt_fail(serving->error, "a request asks for %s, but the policy opt honours no priority: expected --hints ignore",
		       gt_hint_format(gt_hint(shared ? GT_PRIORITY_NONE : priority, shared ? priority : GT_PRIORITY_NONE,
					      GT_FETCH_NONE, GT_ACCESS_DATA), text));
}

/* The lines of the request that are present get its priority. */
static int set_priorities(const struct gt_serving *serving, enum gt_priority priority)
{
	if (priority != GT_EVICT_NORMAL && priority != GT_EVICT_FIRST && priority != GT_EVICT_LAST)
		return 0;
	return visit_pieces(serving, rank, priority);
}

static int prefetch(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		level->hints.prefetches += gt_count_bits(pieces[p].used);
		if (level->config.hints != GT_HINTS_IGNORE &&
		    gt_level_bring(serving, pieces[p].line, pieces[p].used, &level->hints.prefetch_hits) != 0)
			return -1;
	}
	return 0;
}

/* Drops the sectors of the line without writing them back. */
static int discard(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot,
		   enum gt_priority priority)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;

	(void)priority;
	level->hints.discards += gt_count_bits(piece->used);
	if (level->config.hints == GT_HINTS_IGNORE || gt_hint_action(serving->request.hint) != GT_DISCARD_L2)
		return 0;
	if (gt_level_look(serving, piece, GT_LOOKUP_DROP) != 0)
		return -1;
	if (slot == GT_NO_SLOT)
		return 0;
	level->hints.discarded += gt_count_bits(*gt_slot_dirty(tags, slot) & piece->used);
	*gt_slot_dirty(tags, slot) &= ~piece->used;
	gt_tags_invalidate(tags, slot, piece->used);
	if (gt_tags_held(tags, slot) == 0)
		gt_tags_drop(tags, set, slot);
	return 0;
}

/* Serves a row that is not an access. Rows for L2 bypass a private level. A TLB looks up the page of a prefetch, and drops
 * the others. */
static int serve_lines(const struct gt_serving *serving)
{
	const struct gt_level_config *config = &serving->level->config;
	enum gt_line_action action = gt_hint_action(serving->request.hint);
	bool prefetches = action <= GT_PREFETCH_L2;

	if (config->translate)
		return prefetches ? serving->level->serve[GT_CLASS_READ](serving) : 0; /* a translation, as of all classes */
	bool passes = !config->shared && (action != GT_PREFETCH_L1 || config->hints != GT_HINTS_HONOUR);
	if (passes || config->bypass == GT_BYPASS_ALL || (prefetches && config->bypass == GT_BYPASS_READS))
		return serving->level->serve[GT_CLASS_BYPASS](serving);
	if (prefetches && prefetch(serving) != 0)
		return -1;
	enum gt_priority priority = priority_of(serving->level, &serving->request);
	if (!prefetches && visit_pieces(serving, discard, priority) != 0)
		return -1;
	if (config->hints == GT_HINTS_IGNORE)
		return 0;
	return check_priority(serving, priority) == 0 ? set_priorities(serving, priority) : -1;
}

/* A load that allocates nothing: neither an absent line, nor absent sectors of a line that is present. */
static int read_without_place(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot,
			      enum gt_priority priority)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint64_t hits = slot == GT_NO_SLOT ? 0 : piece->used & gt_tags_valid(tags, slot), missing = piece->used & ~hits;

	(void)priority;
	if (gt_level_look(serving, piece, GT_LOOKUP_PASSING) != 0)
		return -1;
	level->counters.reads += gt_count_bits(piece->used);
	level->counters.read_hits += gt_count_bits(hits);
	*(slot == GT_NO_SLOT ? &level->counters.line_misses : &level->counters.sector_misses) += gt_count_bits(missing);
	gt_level_pair(level, true, piece->used, missing);
	if (slot != GT_NO_SLOT) {
		slot = gt_level_touch(level, tags, set, slot, hits, 0, level->counters.mru);
		if (level->class_of[serving->request.op] == GT_CLASS_STREAM)
			gt_tags_demote(tags, set, slot);
	}
	return missing != 0 ? gt_send_fill(serving, piece->line, missing) : 0;
}

/* Whether the request asks for a sector of the aligned bytes around an address, whose number is a power of two. */
static bool asks(const struct gt_request *request, uint64_t address, uint64_t bytes)
{
	for (unsigned sector = 0; sector < GT_LINE / GT_SECTOR; sector++)
		if ((request->sectors >> sector & 1) && (request->address + sector * GT_SECTOR) / bytes == address / bytes)
			return true;
	return false;
}

/* Fetches the lines that the request does not ask for, of each aligned block in which it asks for some. */
static int bring_block(const struct gt_serving *serving, uint64_t block)
{
	struct gt_level *level = serving->level;
	uint64_t line = level->config.line, bytes = block > GT_LINE ? block : GT_LINE;
	uint64_t first = serving->request.address & ~(bytes - 1), all = UINT64_MAX >> (64 - level->sectors), looked_up = 0, hits = 0;

	level->unchanged = false; /* applies to the request's own lines only */
	/* A policy that looks ahead has no next uses for these lines. */
	for (uint64_t other = first; other < first + bytes && !level->lookahead; other += line) {
		if (!asks(&serving->request, other, block) || asks(&serving->request, other, line))
			continue;
		struct gt_serving at_home = *serving;
		if (level->config.l2_partitions)
			at_home.tags = level->instances[gt_home_partition(other)];
		looked_up += level->sectors;
		if (gt_level_bring(&at_home, other >> level->line_shift, all, &hits) != 0)
			return -1;
	}
	level->fetch.neighbours += looked_up - hits;
	return 0;
}

/* Serves a request as without a hint, except for the bytes that a miss fetches. */
static int serve_fetching(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	gt_serve *serve = level->serve[level->class_of[serving->request.op]];
	uint64_t fetch = level->config.shared && !level->config.translate ? gt_hint_fetch(serving->request.hint) : 0;
	uint64_t before = gt_level_missed(level);
	unsigned usual = level->fetch_sectors, asked = (unsigned)(fetch / level->config.sector);

	if (asked > level->sectors)
		asked = level->sectors;
	if (asked > usual)
		level->fetch_sectors = asked;
	int result = serve(serving);
	level->fetch_sectors = usual;
	if (result != 0 || fetch <= level->config.line || gt_level_missed(level) == before)
		return result;
	return bring_block(serving, fetch);
}

int gt_serve_hinted(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	const struct gt_level_config *config = &level->config;
	enum gt_op_class class = (enum gt_op_class)level->class_of[serving->request.op];

	if (gt_hint_action(serving->request.hint) != GT_ACCESS_DATA)
		return serve_lines(serving);
	if (config->hints == GT_HINTS_IGNORE || config->translate || class == GT_CLASS_BYPASS || class == GT_CLASS_DROP || class == GT_CLASS_CONSTANT)
		return level->serve[class](serving);
	enum gt_priority priority = priority_of(level, &serving->request);
	bool reads = class == GT_CLASS_READ || class == GT_CLASS_STREAM;
	if (check_priority(serving, priority) != 0)
		return -1;
	if (priority == GT_NO_ALLOCATE && reads)
		return visit_pieces(serving, read_without_place, priority);
	level->unchanged = priority == GT_EVICT_UNCHANGED;
	int result = serve_fetching(serving);
	level->unchanged = false;
	return result == 0 ? set_priorities(serving, priority) : -1;
}

/* ---- a request of any kind, and its status ---- */

/* Prefetches that are ignored are counted, but not looked up. */
static uint64_t misses(const struct gt_level *level)
{
	const struct gt_hint_counters *hints = &level->hints;

	return gt_level_missed(level) + level->constants.constant_reads - level->constants.constant_hits +
	       (level->config.hints != GT_HINTS_IGNORE ? hints->prefetches - hints->prefetch_hits : 0);
}

static uint64_t hits(const struct gt_level *level)
{
	const struct gt_level_counters *counters = &level->counters;

	return counters->read_hits + counters->write_hits + counters->atomic_hits + level->hints.prefetch_hits +
	       level->constants.constant_hits;
}

int gt_level_find(const struct gt_serving *serving, uint8_t *status)
{
	const struct gt_level *level = serving->level;
	uint64_t missed = misses(level), hit = hits(level);
	bool hinted = serving->request.hint != 0 || level->window.bytes > 0;

	if ((hinted ? gt_serve_hinted : level->serve[level->class_of[serving->request.op]])(serving) != 0)
		return -1;
	*status = misses(level) > missed ? GT_STATUS_MISS : hits(level) > hit ? GT_STATUS_HIT : GT_STATUS_NONE;
	return 0;
}

/* ---- what the next requests will need of many small caches, which together exceed the machine's own ---- */

#define MANY_LINES 65536 /* whose state exceeds the machine's cache; fewer gain nothing */

/* A line that will be looked up. */
struct ahead {
	const struct gt_tags *tags;
	const uint32_t *chain; /* of the finder; NULL: there is none, and what is known of the line has been prefetched */
};

static struct ahead look_ahead(const struct gt_level *level, const struct gt_tags *tags, uint64_t line)
{
	struct ahead ahead = {.tags = tags};

	if (level->geometry.recency > GT_RECENCY_NIBBLES) {
		ahead.chain = gt_finder_chain(&tags->finder, line);
		__builtin_prefetch(ahead.chain);
		return ahead;
	}
	gt_level_prefetch_set(level, tags, line);
	return ahead;
}

GT_INLINE void follow_ahead(const struct ahead *ahead)
{
	const struct gt_tags *tags = ahead->tags;
	uint32_t slot = *ahead->chain - 1;

	if (slot != GT_NO_SLOT)
		gt_slot_prefetch(tags, slot, tags->geometry->recency == GT_RECENCY_LIST);
}

void gt_level_prefetch_from(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	const size_t end = rows->n - i < GT_AHEAD ? rows->n : i + GT_AHEAD;
	const unsigned width = level->config.line < GT_LINE ? (unsigned)level->config.line / GT_SECTOR : GT_PIECES_MAX;
	const unsigned all = (1U << width) - 1;
	struct ahead ahead[GT_AHEAD * GT_PIECES_MAX];
	size_t n = 0;

	if ((uint64_t)level->instances_all->made * level->geometry.slots < MANY_LINES)
		return;
	for (; i < end; i++) {
		const struct gt_tags *tags = level->instances[gt_level_instance_of(level, rows, i)];
		for (unsigned at = 0; tags && at < GT_PIECES_MAX; at += width)
			if ((unsigned)rows->sectors[i] >> at & all)
				ahead[n++] = look_ahead(level, tags, (rows->address[i] + at * GT_SECTOR) >> level->line_shift);
	}
	for (size_t k = 0; k < n; k++)
		if (ahead[k].chain)
			follow_ahead(&ahead[k]);
}

/* ---- before the first request of a kernel, which no trace has: what a profiler has left dirty; and what a launch reads by itself: each
 * GPC that gets a block fetches the kernel's code, and the launch its constants ---- */

#define CONSTANTS (UINT64_C(1) << 60)
#define CODE (UINT64_C(1) << 61)
#define CODE_SLOT_SHIFT 9 /* kernels begin at multiples of 512 bytes */

/* Where a kernel's code is: a function of its name, so that a kernel launched again finds it. A pass that gtrace-record
 * --replay adds has the name of its kernel and " pass" and a number. */
static uint64_t code_of(const char *name)
{
	const char *pass = strstr(name, " pass ");

	return CODE + ((XXH3_64bits(name, pass ? (size_t)(pass - name) : strlen(name)) & UINT32_MAX) << CODE_SLOT_SHIFT);
}

void gt_level_launch(struct gt_level *level, const struct gt_kernel *kernel)
{
	const struct gt_launch_reads *reads = &level->config.launch_reads;
	uint64_t blocks = gt_kernel_blocks(kernel);

	level->to_find = level->config.found_dirty;
	if (gt_launch_reads_any(reads)) {
		level->launch_reads_code = code_of(kernel->name);
		level->launch_reads_gpcs = blocks > 0 && blocks < reads->gpcs ? blocks : reads->gpcs;
	}
	if (level->full)
		gt_level_launch(level->full, kernel);
}

/* Serves the request, of no SM, as one with this op. */
static int serve_apart(struct gt_serving *serving, uint8_t op)
{
	struct gt_level *level = serving->level;
	gt_serve *const *of_class = level->config.l2_partitions ? level->in_partition : level->serve; /* GPCs are of no partition */

	if (level->config.l2_partitions &&
	    !(serving->tags = gt_level_instance(level, gt_home_partition(serving->request.address), serving->error)))
		return -1;
	return of_class[level->class_of[op]](serving);
}

/* The sectors that may be dirty at a time. */
static uint64_t most_dirty(const struct gt_level *level)
{
	uint64_t lines = level->geometry.slots, bound = (uint64_t)level->geometry.sets * level->config.dirty_ways;

	return (bound < lines ? bound : lines) * (level->config.line / GT_SECTOR) * (level->config.l2_partitions ? GT_L2_PARTITIONS : 1);
}

/* Whole lines are stored to that follow each other, which are then the least recently used ones. */
static int find_dirty(const struct gt_serving *launch)
{
	struct gt_serving serving = *launch;
	struct gt_level *level = launch->level;
	const uint64_t whole = level->config.line / GT_SECTOR, most = most_dirty(level), lines = (level->to_find + whole - 1) / whole;
	const uint64_t n = lines * whole < most ? lines * whole : most;
	struct gt_apart apart;
	uint64_t none = 0;

	gt_level_set_apart(level, &apart);
	serving.request.op = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	for (uint64_t i = 0; i < n; i += GT_LINE / GT_SECTOR) {
		unsigned sectors = n - i < GT_LINE / GT_SECTOR ? (unsigned)(n - i) : GT_LINE / GT_SECTOR;
		serving.request.address = GT_FOUND + i * GT_SECTOR;
		serving.request.sectors = serving.request.full = (uint8_t)((1U << sectors) - 1);
		if (serve_apart(&serving, serving.request.op) != 0)
			return -1;
	}
	gt_level_take_apart(level, &apart, &none, &none);
	level->found.found_dirty += n;
	level->to_find = 0;
	return 0;
}

/* Reads `n` sectors, one a request, that follow each other from `first` on; after `bytes` they begin again. `sent`: the sectors that the
 * level had read from the next one before the launch. */
static int read_sectors(struct gt_serving *serving, uint64_t first, uint64_t bytes, uint64_t n, uint64_t sent)
{
	struct gt_level *level = serving->level;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = first + i * GT_SECTOR % bytes;
		level->unsent = level->counters.sent_reads - sent >= level->config.launch_reads.memory;
		serving->request.address = at / GT_LINE * GT_LINE;
		serving->request.sectors = (uint8_t)(1U << at % GT_LINE / GT_SECTOR);
		if (serve_apart(serving, gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE)) != 0)
			return -1;
	}
	return 0;
}

/* They go the way of loads, and are then taken out of the counters of loads. */
static int serve_reads(struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	const struct gt_launch_reads *reads = &level->config.launch_reads;
	const uint64_t sent = level->counters.sent_reads;
	struct gt_apart apart;

	gt_level_set_apart(level, &apart);
	for (; level->launch_reads_gpcs > 0; level->launch_reads_gpcs--)
		if (reads->code > 0 && read_sectors(serving, level->launch_reads_code, reads->code, reads->code / GT_SECTOR, sent) != 0)
			return -1;
	if (reads->reads > 0 && read_sectors(serving, CONSTANTS, reads->bytes, reads->reads, sent) != 0)
		return -1;
	level->unsent = false;
	gt_level_take_apart(level, &apart, &level->launch_reads.launch_reads, &level->launch_reads.launch_hits);
	return 0;
}

int gt_level_serve_launch_reads(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error)
{
	static const uint64_t never[GT_LINE / GT_SECTOR] = {NO_USE, NO_USE, NO_USE, NO_USE};

	if (!gt_level_launches(level))
		return 0;
	struct gt_serving serving = {
		.level = level, .tags = gt_level_instance(level, 0, error), .error = error,
		.sent = level->config.emit == GT_EMIT_MISSES ? sent : &level->dropped,
		.request = {.step = step, .op = gt_op(GT_LOAD, GT_CONSTANT, GT_OPERATOR_NONE)}};

	if (!serving.tags || gt_sink_begin(serving.sent, GT_REQUESTS, level->scheduled, error) != 0)
		return -1;
	serving.tags->next_use = never; /* a policy that looks ahead sees the rows only */
	if ((level->to_find > 0 && find_dirty(&serving) != 0) || serve_reads(&serving) != 0)
		return -1;
	gt_notes_skip(level);
	return level->full ? gt_level_serve_launch_reads(level->full, step, sent, error) : 0;
}
