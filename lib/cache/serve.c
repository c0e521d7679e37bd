/* SPDX-License-Identifier: MIT */
/* How a cache level serves one request: which lines and sectors hit, what is evicted, and which requests go on to the next
 * level. First what a request does to a line: it is split by the level's lines, takes a slot, fetches sectors, is used, and sends
 * requests on. Then stores, loads, atomics and translations, which are made of these; requests to one of two L2 partitions; and which
 * of them a request is (gt_level_choose, at the end). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/random.h"
#include "cache/state.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- the instances of a level ---- */

struct gt_tags *gt_level_open_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	const struct gt_replacement *replacement = &level->config.replacement;
	struct gt_tags *tags = level->emptied[n];

	atomic_fetch_add(&level->instances_all->used, 1);
	if (tags) {
		level->emptied[n] = NULL;
		return level->instances[n] = tags;
	}
	uint64_t instances = atomic_fetch_add(&level->instances_all->made, 1) + UINT64_C(1);
	if (instances * level->geometry.slots > GT_LEVEL_LINES_MAX) {
		gt_fail(error, "%" PRIu64 " instances of %" PRIu32 " lines are more than %u lines: expected a smaller size",
			instances, level->geometry.slots, GT_LEVEL_LINES_MAX);
		return NULL;
	}
	tags = calloc(1, sizeof *tags);
	if (!tags) {
		gt_fail_memory(error, "a cache");
		return NULL;
	}
	level->instances[n] = tags;
	if (gt_tags_open(tags, &level->geometry, replacement->policy, gt_random_state(replacement->seed, n), error) == 0) {
		tags->next_mask = level->next_uses - 1;
		level->instances_end = n < level->instances_end ? level->instances_end : n + 1;
		return tags;
	}
	gt_tags_close(tags);
	free(tags);
	level->instances[n] = NULL;
	return NULL;
}

/* ---- requests by line: they are for sectors of GT_SECTOR bytes in lines of GT_LINE; a level may have other sizes ---- */

/* From n stream sectors, the first of which is number `first` of the line, to the level's
 * sectors: those touched, or those of which every byte is in the mask. */
static uint64_t own_sectors(const struct gt_level *level, unsigned mask, unsigned first, bool whole)
{
	unsigned shift = level->sector_shift, group = 1U << shift;
	uint64_t own = 0;

	if (shift == 0)
		return (uint64_t)mask << first;
	if (whole && group > GT_PIECES_MAX)
		return 0;
	unsigned step = group < GT_PIECES_MAX ? group : GT_PIECES_MAX, all = (1U << step) - 1;
	for (unsigned i = 0; i < GT_PIECES_MAX; i += step) {
		unsigned part = mask >> i & all;
		if (whole ? part == all : part != 0)
			own |= UINT64_C(1) << ((first + i) >> shift);
	}
	return own;
}

unsigned gt_level_split_unusual(const struct gt_level *level, const struct gt_request *request,
				struct gt_piece pieces[GT_PIECES_MAX])
{
	unsigned sectors = request->sectors & 15, full = request->full & sectors;
	uint64_t address = request->address, bytes = level->config.line;
	unsigned width = bytes < GT_LINE ? (unsigned)bytes / GT_SECTOR : GT_PIECES_MAX, n = 0;
	unsigned first = (unsigned)((address & (bytes - 1)) / GT_SECTOR);

	for (unsigned at = 0; at < GT_PIECES_MAX; at += width) {
		unsigned all = ((1U << width) - 1) << at;
		if ((sectors & all) == 0)
			continue;
		pieces[n++] = (struct gt_piece){
			.line = (address + at * GT_SECTOR) >> level->line_shift,
			.used = own_sectors(level, (sectors & all) >> at, first, false),
			.full = own_sectors(level, (full & all) >> at, first, true),
			.stream_sectors = (uint8_t)(sectors & all), .stream_full = (uint8_t)(full & all)};
	}
	return n;
}

/* ---- requests that are sent on: for lines of GT_LINE bytes in sectors of GT_SECTOR, whatever the level's own sizes ---- */

static int send(const struct gt_serving *serving, const struct gt_request *request)
{
	struct gt_level_counters *counters = &serving->level->counters;
	enum gt_action action = gt_op_action(request->op);

	if (!serving->sent)
		return 0;
	if (gt_sink_room(serving->sent, serving->error) != 0)
		return -1;
	gt_request_append(serving->sent->rows, request);
	counters->sent_requests++;
	if (gt_hint_action(request->hint) != GT_ACCESS_DATA) {
		bool prefetches = gt_hint_action(request->hint) <= GT_PREFETCH_L2;
		*(prefetches ? &serving->level->hints.sent_prefetches : &serving->level->hints.sent_discards) +=
			gt_bits_of_4[request->sectors & 15];
		return 0;
	}
	*(action == GT_LOAD ? &counters->sent_reads : action == GT_STORE ? &counters->sent_writes : &counters->sent_atomics) +=
		gt_bits_of_4[request->sectors & 15];
	return 0;
}

static int send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full)
{
	struct gt_request part = serving->request;

	part.sectors = sectors;
	part.full = full;
	return send(serving, &part);
}

/* A store goes through the queue before the crossbar, if there is one. */
static int send_on(const struct gt_serving *serving)
{
	const struct gt_request *request = &serving->request;
	uint8_t left = request->sectors;

	if (!serving->level->write_queues || left == 0 || gt_op_action(request->op) != GT_STORE || gt_hint_action(request->hint) != GT_ACCESS_DATA)
		return send(serving, request);
	if (gt_combine_store(serving->level, request, &left, serving->error) != 0)
		return -1;
	return left == 0 ? 0 : send_part(serving, left, request->full & left);
}

/* The part of a mask of the level's sectors that lies in `n` stream sectors from number `first`. */
static uint8_t stream_sectors(const struct gt_level *level, uint64_t mask, uint64_t first, unsigned n)
{
	unsigned sectors = 0;

	if (level->sector_shift == 0)
		return (uint8_t)(mask >> first & ((1U << n) - 1));
	for (unsigned i = 0; i < n; i++)
		sectors |= (unsigned)(mask >> ((first + i) >> level->sector_shift) & 1) << i;
	return (uint8_t)sectors;
}

/* `request` has the op and threads; its address and sectors become those of the line's parts. */
static int send_line(const struct gt_serving *serving, struct gt_request *request, uint64_t line, uint64_t mask,
		     uint64_t full)
{
	const struct gt_level *level = serving->level;
	uint64_t start = line << level->line_shift, bytes = level->config.line;

	if (level->fast_path) {
		request->address = start;
		request->sectors = (uint8_t)mask;
		request->full = (uint8_t)full;
		return send(serving, request);
	}
	unsigned n = bytes < GT_LINE ? (unsigned)bytes / GT_SECTOR : GT_LINE / GT_SECTOR;

	for (uint64_t at = 0; at < bytes; at += GT_LINE) {
		uint8_t sectors = stream_sectors(level, mask, at / GT_SECTOR, n);
		unsigned shift = (unsigned)(start % GT_LINE) / GT_SECTOR;
		if (sectors == 0)
			continue;
		request->address = (start + at) & ~(uint64_t)(GT_LINE - 1);
		request->sectors = (uint8_t)(sectors << shift);
		request->full = (uint8_t)(stream_sectors(level, full, at / GT_SECTOR, n) << shift);
		if (send(serving, request) != 0)
			return -1;
	}
	return 0;
}

int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask)
{
	struct gt_request load = serving->request;

	if (serving->level->unsent)
		return 0;
	if (gt_op_action(load.op) != GT_LOAD) {
		load.op = gt_op(GT_LOAD, gt_op_space(load.op), GT_OPERATOR_NONE);
		load.threads = 0;
	}
	return send_line(serving, &load, line, mask, 0);
}

int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full)
{
	struct gt_level *level = serving->level;
	struct gt_request store = serving->request;

	if (gt_is_found(level, line))
		level->found.found_writes += (uint64_t)__builtin_popcountll(mask) << level->sector_shift;
	store.op = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	store.hint = 0;
	store.threads = 0;
	return send_line(serving, &store, line, mask, full);
}

/* ---- the bound on the lines of a set that are dirty: the least recently used of them is written back, and stays ---- */

static int write_back(const struct gt_serving *serving, uint32_t slot)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint64_t dirty = *gt_slot_dirty(tags, slot), before = level->counters.sent_writes;

	if (gt_send_back(serving, *gt_slot_tag(tags, slot) - 1, dirty, dirty & gt_tags_valid(tags, slot)) != 0)
		return -1;
	level->clean.cleaned += level->counters.sent_writes - before;
	*gt_slot_dirty(tags, slot) = 0;
	return gt_tags_hold(tags, slot, dirty & ~gt_tags_valid(tags, slot), serving->error);
}

static int clean(const struct gt_serving *serving, uint32_t set, uint32_t slot)
{
	const struct gt_level *level = serving->level;
	uint32_t n = gt_tags_by_recency(serving->tags, set, level->slots), found = 0, oldest = slot;

	for (uint32_t i = 0; i < n; i++) {
		if (!*gt_slot_dirty(serving->tags, level->slots[i]))
			continue;
		found++;
		if (level->slots[i] != slot)
			oldest = level->slots[i];
	}
	return found > level->config.dirty_ways ? write_back(serving, oldest) : 0;
}

/* ---- a line ---- */

void gt_note_depths(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used,
		    uint64_t *mru)
{
	unsigned sectors = tags->geometry->sectors;
	uint8_t *depth = gt_slot_depth(tags, slot);

	for (unsigned sector = 0; sector < sectors; sector++) {
		if (depth[sector] < position)
			depth[sector] = (uint8_t)position;
		if (mru && hits >> sector & 1)
			mru[depth[sector]]++;
		if (used >> sector & 1)
			depth[sector] = 0;
	}
}

/* The same where lines have states. Sectors that hit are valid; of those that are used the others keep no depth. */
static void note_state(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used, uint64_t *mru)
{
	uint32_t state = gt_state_deepen(tags->state[slot], position);
	uint64_t valid = ~(uint64_t)gt_state_invalid(state);

	for (uint64_t rest = mru ? hits : 0; rest; rest &= rest - 1)
		mru[state >> 8 * (unsigned)__builtin_ctzll(rest) & 255]++;
	tags->state[slot] = state & ~gt_bytes_of_4[used & valid];
}

/* The recency position of a line in its set, 0 for the most recent, if that is counted. */
static unsigned position_of(const struct gt_level *level, const struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	return level->geometry.depths ? gt_tags_position(tags, set, slot) : 0;
}

/* Makes a line the most recent, unless the request changes no order. Returns the recency position that it had. */
static inline unsigned move_up(const struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t *slot)
{
	return level->unchanged ? position_of(level, tags, set, *slot) : gt_tags_touch(tags, set, slot);
}

static inline void note(const struct gt_level *level, struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits,
			uint64_t used, uint64_t *mru)
{
	if (tags->state)
		note_state(tags, slot, position, hits, used, mru);
	else if (level->geometry.depths && level->usual && mru)
		gt_note_depths_4(tags, slot, position, (uint32_t)hits, (uint32_t)used, mru);
	else if (level->geometry.depths)
		gt_note_depths(tags, slot, position, hits, used, mru);
}

static inline void tell_policy(const struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot)
{
	const struct gt_policy *policy = level->config.replacement.policy;

	if (policy->hit && !level->unchanged)
		policy->hit(tags, set, slot);
}

uint32_t gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
			uint64_t used, uint64_t *mru)
{
	unsigned position = move_up(level, tags, set, &slot);

	note(level, tags, slot, position, hits, used, mru);
	tell_policy(level, tags, set, slot);
	return slot;
}

/* A hit by tag needs the line alone, which a cache of more ways than the position has. So does, nearly, that of a sector which
 * was only written in part. */
static uint32_t touch_stored(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits)
{
	uint64_t of_line = level->config.tag_hits ? hits : hits & ~gt_tags_valid(tags, slot);

	if (of_line == 0)
		return gt_level_touch(level, tags, set, slot, hits, 0, level->counters.mru_writes);
	unsigned position = move_up(level, tags, set, &slot);
	if (level->geometry.depths)
		level->counters.mru_writes[position] += gt_count_bits(of_line);
	note(level, tags, slot, position, hits & ~of_line, 0, level->counters.mru_writes);
	tell_policy(level, tags, set, slot);
	return slot;
}

/* An invalid way, else the policy's victim. */
static int claim(const struct gt_serving *serving, uint32_t set, uint64_t line, uint32_t *slot)
{
	const struct gt_replacement *replacement = &serving->level->config.replacement;
	const struct gt_policy *policy = replacement->policy;
	struct gt_tags *tags = serving->tags;

	*slot = gt_tags_vacant(tags, set);
	if (*slot == GT_NO_SLOT) {
		*slot = policy->victim(tags, set, replacement);
		if (tags->rank)
			*slot = gt_tags_lowest(tags, set, *slot, serving->level->slots);
		uint64_t dirty = *gt_slot_dirty(tags, *slot);
		serving->level->counters.evictions++;
		if (tags->finder.heads && tags->geometry->ways > 0 && policy == &gt_policy_lru)
			gt_tags_prepare_next(tags, set, *slot, tags->geometry->recency);
		if (dirty && gt_send_back(serving, *gt_slot_tag(tags, *slot) - 1, dirty, dirty & gt_tags_valid(tags, *slot)) != 0)
			return -1;
	}
	*slot = gt_tags_fill(tags, set, *slot, line);
	if (policy->fill)
		policy->fill(tags, set, *slot);
	return 0;
}

static void validate(struct gt_level *level, struct gt_tags *tags, uint32_t slot, uint64_t sectors)
{
	if (tags->state) {
		tags->state[slot] &= ~gt_bytes_of_4[sectors];
		return;
	}
	*gt_slot_valid(tags, slot) |= sectors;
	if (level->geometry.depths && level->sectors > 4)
		gt_note_depths(tags, slot, 0, 0, sectors, NULL);
	else if (level->geometry.depths)
		for (unsigned sector = 0; sector < level->sectors; sector++)
			gt_slot_depth(tags, slot)[sector] &= (uint8_t)((sectors >> sector & 1) - 1);
}

static int fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing, uint64_t overwritten)
{
	struct gt_level *level = serving->level;
	uint64_t brought = gt_level_groups(level, missing) & ~(gt_tags_valid(serving->tags, slot) | overwritten);

	if (brought == 0)
		return 0;
	level->fetch.neighbours += gt_count_bits(brought & ~missing);
	validate(level, serving->tags, slot, brought);
	return gt_send_fill(serving, line, brought);
}

/* The line of sectors that arrive becomes the most recent. If their lookup has used it, this is not another use, which
 * some policies count. */
static uint32_t use_at_arrival(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, bool used)
{
	unsigned position = move_up(level, tags, set, &slot);

	note(level, tags, slot, position, 0, 0, NULL);
	if (!used || !level->config.replacement.policy->counts_uses)
		tell_policy(level, tags, set, slot);
	return slot;
}

int gt_level_arrive(const struct gt_serving *serving, uint64_t line, uint64_t sectors, bool used, uint32_t *slot)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, line);

	*slot = gt_tags_find(tags, set, line);
	if (*slot != GT_NO_SLOT)
		*slot = use_at_arrival(level, tags, set, *slot, used);
	else if (claim(serving, set, line, slot) != 0)
		return -1;
	validate(level, tags, *slot, sectors);
	if (level->class_of[serving->request.op] == GT_CLASS_STREAM)
		*slot = gt_tags_demote(tags, set, *slot);
	return 0;
}

int gt_level_bring(const struct gt_serving *serving, uint64_t line, uint64_t wanted, uint64_t *hits)
{
	struct gt_level *level = serving->level;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(serving->tags, set, line);

	if (gt_level_look(serving, &(struct gt_piece){.line = line, .used = wanted}, GT_LOOKUP_BRING) != 0)
		return -1;
	if (slot == GT_NO_SLOT) {
		if (claim(serving, set, line, &slot) != 0)
			return -1;
	} else {
		*hits += gt_count_bits(wanted & gt_tags_valid(serving->tags, slot));
		slot = gt_level_touch(level, serving->tags, set, slot, 0, wanted, NULL);
	}
	return fill(serving, slot, line, wanted & ~gt_tags_valid(serving->tags, slot), 0);
}

/* ---- stores ---- */

/* Of the sectors that a store uses, those that hit in a line that is present. */
static uint64_t store_hits(struct gt_level *level, uint64_t used, uint64_t here)
{
	if (!level->config.tag_hits)
		return used & here;
	level->hits_by_tag += gt_count_bits(used & ~here);
	return used;
}

int gt_level_write_through(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint64_t line = piece->line, used = piece->used;
	uint64_t hits = slot == GT_NO_SLOT ? 0 : store_hits(level, used, gt_tags_held(tags, slot));
	bool evict = level->config.write == GT_WRITE_EVICT;

	counters->writes += gt_count_bits(used);
	counters->write_hits += gt_count_bits(hits);
	*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += gt_count_bits(used & ~hits);
	if (slot != GT_NO_SLOT && evict) {
		if (level->geometry.depths)
			slot = touch_stored(level, tags, set, slot, hits);
		counters->dropped += gt_count_bits(gt_tags_valid(tags, slot));
		gt_tags_drop(tags, set, slot);
		return 0;
	}
	if (slot != GT_NO_SLOT)
		slot = touch_stored(level, tags, set, slot, hits);
	else if (evict || !level->config.allocate)
		return 0;
	else if (claim(serving, set, line, &slot) != 0)
		return -1;
	validate(level, tags, slot, level->config.partial == GT_PARTIAL_KEEP ? used : piece->full);
	uint64_t parts = used & ~gt_tags_valid(tags, slot);
	return parts ? gt_tags_hold(tags, slot, parts, serving->error) : 0;
}

/* Write through, with or without allocation, and write evict. */
GT_INLINE int write_pieces(const struct gt_serving *serving, bool looks)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		uint32_t set = gt_level_set_of(serving->level, pieces[p].line);
		if ((looks && gt_level_look(serving, &pieces[p], GT_LOOKUP_STORE) != 0) ||
		    gt_level_write_through(serving, &pieces[p], set, gt_tags_find(serving->tags, set, pieces[p].line)) != 0)
			return -1;
	}
	return send_on(serving);
}

static int serve_write(const struct gt_serving *serving)
{
	return write_pieces(serving, false);
}

static int look_and_write(const struct gt_serving *serving)
{
	return write_pieces(serving, true);
}

/* Sectors of a line become dirty. */
static int level_change(const struct gt_serving *serving, uint32_t set, uint32_t slot, uint64_t sectors)
{
	uint64_t *dirty = gt_slot_dirty(serving->tags, slot), before = *dirty;

	*dirty |= sectors;
	return before || serving->level->config.dirty_ways == GT_LEVEL_SLOTS_MAX ? 0 : clean(serving, set, slot);
}

/* A store into a line that has a slot. */
static int store(const struct gt_serving *serving, uint32_t set, uint32_t slot, const struct gt_piece *piece)
{
	struct gt_tags *tags = serving->tags;
	enum gt_partial rule = serving->level->config.partial;
	uint64_t partial = piece->used & ~piece->full & ~gt_tags_valid(tags, slot), whole = piece->used & ~partial;

	if (level_change(serving, set, slot, piece->used) != 0)
		return -1;
	if (rule == GT_PARTIAL_FETCH && partial && fill(serving, slot, piece->line, partial, whole) != 0)
		return -1;
	validate(serving->level, tags, slot, rule == GT_PARTIAL_READ ? piece->used & piece->full : piece->used);
	return 0;
}

/* A piece of a store that a write-back level keeps. */
GT_INLINE int write_back_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	bool known = serving->place.tags == tags && serving->place.line == piece->line;
	uint32_t set = known ? serving->place.set : gt_level_set_of(level, piece->line);
	uint32_t slot = known ? serving->place.slot : gt_tags_find(tags, set, piece->line);

	counters->writes += gt_count_bits(piece->used);
	if (slot != GT_NO_SLOT) {
		uint64_t hits = store_hits(level, piece->used, gt_tags_held(tags, slot));
		counters->write_hits += gt_count_bits(hits);
		counters->sector_misses += gt_count_bits(piece->used & ~hits);
		slot = touch_stored(level, tags, set, slot, hits);
	} else {
		counters->line_misses += gt_count_bits(piece->used);
		if (!level->config.allocate)
			return send_part(serving, piece->stream_sectors, piece->stream_full);
		if (claim(serving, set, piece->line, &slot) != 0)
			return -1;
	}
	return store(serving, set, slot, piece);
}

GT_INLINE int write_back_pieces(const struct gt_serving *serving, bool looks)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++)
		if ((looks && gt_level_look(serving, &pieces[p], GT_LOOKUP_STORE) != 0) || write_back_piece(serving, &pieces[p]) != 0)
			return -1;
	return 0;
}

static int serve_write_back(const struct gt_serving *serving)
{
	return write_back_pieces(serving, false);
}

static int look_and_write_back(const struct gt_serving *serving)
{
	return write_back_pieces(serving, true);
}

/* ---- loads and atomics; translations ---- */

/* Reads a piece; all its bytes are valid afterwards. */
GT_INLINE int read_piece(const struct gt_serving *serving, const struct gt_piece *piece, uint64_t *hits, uint64_t *mru,
			 uint32_t *at)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);
	uint64_t missing = piece->used;

	if (slot == GT_NO_SLOT) {
		level->counters.line_misses += gt_count_bits(missing);
		if (claim(serving, set, piece->line, &slot) != 0)
			return -1;
	} else {
		missing &= ~gt_tags_valid(tags, slot);
		*hits += gt_count_bits(piece->used & ~missing);
		level->counters.sector_misses += gt_count_bits(missing);
		gt_level_pair(level, hits == &level->counters.read_hits, piece->used, missing);
		slot = gt_level_touch(level, tags, set, slot, piece->used & ~missing, piece->used, mru);
	}
	*at = slot;
	return fill(serving, slot, piece->line, missing, 0);
}

/* A load that streams makes each of its lines the least recent as soon as it has been used. */
GT_INLINE int read_pieces(const struct gt_serving *serving, bool streams, bool looks)
{
	struct gt_level_counters *counters = &serving->level->counters;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->reads += gt_count_bits(pieces[p].used);
		if ((looks && gt_level_look(serving, &pieces[p], GT_LOOKUP_LOAD) != 0) ||
		    read_piece(serving, &pieces[p], &counters->read_hits, counters->mru, &slot) != 0)
			return -1;
		if (streams)
			gt_tags_demote(serving->tags, gt_level_set_of(serving->level, pieces[p].line), slot);
	}
	return 0;
}

static int serve_read(const struct gt_serving *serving)
{
	return read_pieces(serving, false, false);
}

static int look_and_read(const struct gt_serving *serving)
{
	return read_pieces(serving, false, true);
}

/* Under LRU. */
static int serve_stream(const struct gt_serving *serving)
{
	return read_pieces(serving, true, false);
}

static int look_and_stream(const struct gt_serving *serving)
{
	return read_pieces(serving, true, true);
}

/* The sectors of a piece become invalid here; what is dirty is sent first. */
GT_INLINE int drop_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);

	if (slot == GT_NO_SLOT)
		return 0;
	uint64_t valid = gt_tags_valid(tags, slot), dirty = *gt_slot_dirty(tags, slot) & piece->used;
	if (dirty && gt_send_back(serving, piece->line, dirty, dirty & valid) != 0)
		return -1;
	*gt_slot_dirty(tags, slot) &= ~dirty;
	level->counters.dropped += gt_count_bits(valid & piece->used);
	gt_tags_invalidate(tags, slot, piece->used);
	if ((gt_tags_valid(tags, slot) | *gt_slot_dirty(tags, slot)) == 0)
		gt_tags_drop(tags, set, slot);
	return 0;
}

/* Atomics and reductions are executed in a lower level. */
GT_INLINE int pass_atomic(const struct gt_serving *serving, bool looks)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		if (looks && gt_level_look(serving, &pieces[p], GT_LOOKUP_DROP) != 0)
			return -1;
		serving->level->counters.atomics += gt_count_bits(pieces[p].used);
		if (drop_piece(serving, &pieces[p]) != 0)
			return -1;
	}
	return send_on(serving);
}

static int serve_atomic(const struct gt_serving *serving)
{
	return pass_atomic(serving, false);
}

static int look_and_pass_atomic(const struct gt_serving *serving)
{
	return pass_atomic(serving, true);
}

/* Atomics and reductions are executed here, on sectors that must be valid. */
GT_INLINE int perform_atomic(const struct gt_serving *serving, bool looks)
{
	struct gt_level_counters *counters = &serving->level->counters;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->atomics += gt_count_bits(pieces[p].used);
		if ((looks && gt_level_look(serving, &pieces[p], GT_LOOKUP_BRING) != 0) ||
		    read_piece(serving, &pieces[p], &counters->atomic_hits, NULL, &slot) != 0 ||
		    level_change(serving, gt_level_set_of(serving->level, pieces[p].line), slot, pieces[p].used) != 0)
			return -1;
	}
	return 0;
}

static int serve_atomic_back(const struct gt_serving *serving)
{
	return perform_atomic(serving, false);
}

static int look_and_perform_atomic(const struct gt_serving *serving)
{
	return perform_atomic(serving, true);
}

static int serve_bypass(const struct gt_serving *serving)
{
	const struct gt_request *request = &serving->request;
	const uint64_t sectors = gt_count_bits(request->sectors);
	struct gt_level *level = serving->level;

	level->counters.bypassed += sectors;
	if (gt_hint_action(request->hint) == GT_ACCESS_DATA && gt_op_action(request->op) == GT_LOAD)
		level->bypass.bypassed_reads += sectors;
	else if (gt_hint_action(request->hint) == GT_ACCESS_DATA && gt_op_action(request->op) == GT_STORE)
		level->bypass.bypassed_writes += sectors;
	return send_on(serving);
}

/* A load whose sectors leave the level that it bypasses. */
static int serve_drop(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		if ((serving->level->look && gt_level_look(serving, &pieces[p], GT_LOOKUP_DROP) != 0) || drop_piece(serving, &pieces[p]) != 0)
			return -1;
	}
	return serve_bypass(serving);
}

/* A TLB: one lookup per request, of its page; a miss sends the request itself on. */
static int serve_translation(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint64_t line = serving->request.address >> level->line_shift;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	const struct {
		uint64_t *lookups, *hits, *mru;
	} of_action[] = {
		[GT_LOAD] = {&counters->reads, &counters->read_hits, counters->mru},
		[GT_STORE] = {&counters->writes, &counters->write_hits, counters->mru_writes},
		[GT_ATOMIC] = {&counters->atomics, &counters->atomic_hits, NULL},
		[GT_REDUCTION] = {&counters->atomics, &counters->atomic_hits, NULL},
	}, *to = &of_action[gt_op_action(serving->request.op)];

	bool activated = level->config.activated && counters->reads + counters->writes + counters->atomics == 0;

	++*to->lookups;
	if (slot != GT_NO_SLOT) {
		++*to->hits;
		slot = gt_level_touch(level, tags, set, slot, 1, 1, to->mru);
		return 0;
	}
	if (claim(serving, set, line, &slot) != 0)
		return -1;
	validate(level, tags, slot, 1);
	if (activated) {
		++*to->hits;
		if (level->geometry.depths && to->mru)
			++*to->mru;
		return 0;
	}
	counters->line_misses++;
	return send_on(serving);
}

/* ---- loads of constant memory ---- */

static int serve_constant_apart(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_apart apart;

	if (level->look)
		level->look->counts = false;
	gt_level_set_apart(level, &apart);
	if (level->serve[GT_CLASS_READ](serving) != 0)
		return -1;
	gt_level_take_apart(level, &apart, &level->constants.constant_reads, &level->constants.constant_hits);
	return 0;
}

/* Reads from a cache of constants, and counts what was read and what hit. */
static int read_constant(const struct gt_serving *serving, size_t instance, struct gt_sink *sent, uint64_t *reads, uint64_t *hits)
{
	struct gt_level *beside = serving->level->beside;
	const struct gt_level_counters *counters = &beside->counters;
	const uint64_t reads_before = counters->reads, hits_before = counters->read_hits;
	struct gt_serving there = *serving;

	there.level = beside;
	there.sent = sent;
	there.tags = gt_level_instance(beside, instance, serving->error);
	if (!there.tags || serve_read(&there) != 0)
		return -1;
	*reads += counters->reads - reads_before;
	*hits += counters->read_hits - hits_before;
	return 0;
}

/* The cache of constants of the SM. The level sends what it sends; the full level of one that has it does without. */
static int serve_constant_beside(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;

	if (!level->beside)
		return 0;
	const struct gt_level_counters *sent = &level->beside->counters;
	const uint64_t requests = sent->sent_requests, sectors = sent->sent_reads;
	if (read_constant(serving, serving->request.sm, serving->sent, &level->constants.constant_reads, &level->constants.constant_hits) != 0)
		return -1;
	level->counters.sent_requests += sent->sent_requests - requests;
	level->counters.sent_reads += sent->sent_reads - sectors;
	return 0;
}

/* The cache of constants of the GPC. What it lacks is read from the level; in one of two partitions a line has its home as a whole. */
static int serve_constant_before(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	const bool bypassed = level->config.bypass == GT_BYPASS_READS || level->config.bypass == GT_BYPASS_ALL;
	struct gt_gpc_constant_counters *counters = &level->gpc_constants;
	struct gt_serving there = *serving;

	if (!level->beside)
		return 0; /* the full level of one that has them */
	struct gt_sink *lacking = &level->beside->dropped;
	lacking->rows->n = 0;
	if (gt_sink_begin(lacking, GT_REQUESTS, level->scheduled, serving->error) != 0 ||
	    read_constant(serving, gt_level_gpc_of(&level->config, serving->request.sm), lacking, &counters->gpc_constant_reads,
			  &counters->gpc_constant_hits) != 0)
		return -1;
	for (size_t i = 0; i < lacking->rows->n; i++) {
		there.request = gt_request_of(lacking->rows, i);
		if ((bypassed ? level->serve[GT_CLASS_BYPASS](&there) : serve_constant_apart(&there)) != 0)
			return -1;
	}
	return 0;
}

/* ---- loads, atomics and stores to one of two L2 partitions ---- */

/* As a level of one part does. */
static int serve_in_partition(const struct gt_serving *serving)
{
	const struct gt_level *level = serving->level;

	return level->in_partition[level->class_of[serving->request.op]](serving);
}

static int serve_partitions_read(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_l2_partition_counters *counters = &level->l2_partitions;
	unsigned home = gt_home_partition(serving->request.address), partition = gt_spread_side(&level->config.spread, serving->request.sm);
	struct gt_serving at_home = *serving, near = *serving;
	uint64_t line = serving->request.address >> level->line_shift, used = serving->request.sectors & 15, hits = 0;
	uint32_t set = gt_level_set_of(level, line), slot = GT_NO_SLOT;
	bool streams = level->class_of[serving->request.op] == GT_CLASS_STREAM;

	if (partition != home) {
		near.tags = level->instances[partition];
		if (gt_level_look(&near, &(struct gt_piece){.line = line, .used = used}, GT_LOOKUP_NEAR) != 0)
			return -1;
		slot = gt_tags_find(near.tags, set, line);
		if (slot != GT_NO_SLOT) {
			hits = used & gt_tags_valid(near.tags, slot);
			slot = gt_level_touch(level, near.tags, set, slot, hits, used, level->counters.mru);
			if (streams)
				gt_tags_demote(near.tags, set, slot);
		}
		level->counters.reads += gt_bits_of_4[hits];
		level->counters.read_hits += gt_bits_of_4[hits];
		counters->half_reads[partition] += gt_bits_of_4[used];
		counters->half_hits[partition] += gt_bits_of_4[hits];
		used &= ~hits;
		if (used == 0)
			return 0;
		counters->far_reads += gt_bits_of_4[used];
		at_home.request.sectors = (uint8_t)used;
	}
	uint64_t before = level->counters.read_hits;
	if (serve_in_partition(&at_home) != 0)
		return -1;
	hits = level->counters.read_hits - before;
	counters->half_reads[home] += gt_bits_of_4[used];
	counters->half_hits[home] += hits;
	if (partition == home)
		return 0;
	counters->far_hits += hits;
	uint64_t asked = gt_level_groups(level, used) & ~(slot == GT_NO_SLOT ? 0 : gt_tags_valid(near.tags, slot));
	uint32_t there = gt_tags_find(at_home.tags, set, line);
	uint64_t copied = there == GT_NO_SLOT ? 0 : asked & gt_tags_valid(at_home.tags, there);
	counters->far_neighbours += gt_bits_of_4[asked & ~used];
	return copied ? gt_level_arrive(&near, line, copied, slot != GT_NO_SLOT, &slot) : 0;
}

/* Makes the sectors of the request invalid in the partition that is not their home. */
static int drop_copy(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = level->instances[1 - gt_home_partition(serving->request.address)];
	uint64_t line = serving->request.address >> level->line_shift, used = serving->request.sectors & 15;
	struct gt_serving there = *serving;

	there.tags = tags;
	if (gt_level_look(&there, &(struct gt_piece){.line = line, .used = used}, GT_LOOKUP_DROP) != 0)
		return -1;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	if (slot == GT_NO_SLOT)
		return 0;
	level->l2_partitions.dropped_copies += gt_bits_of_4[gt_tags_valid(tags, slot) & used];
	gt_tags_invalidate(tags, slot, used);
	if (gt_tags_valid(tags, slot) == 0)
		gt_tags_drop(tags, set, slot);
	return 0;
}

/* A store passes through the partition of its SM, whose copy it changes as it does the home. */
static int serve_partitions_write(const struct gt_serving *serving)
{
	struct gt_l2_partition_counters *counters = &serving->level->l2_partitions;
	enum gt_action action = gt_op_action(serving->request.op);
	bool far = gt_spread_side(&serving->level->config.spread, serving->request.sm) != gt_home_partition(serving->request.address);
	uint64_t *counter = action == GT_STORE ? &counters->far_writes : action == GT_REDUCTION ? &counters->far_reductions : &counters->far_atomics;

	*counter += far ? gt_bits_of_4[serving->request.sectors & 15] : 0;
	if (!(far && action == GT_STORE) && drop_copy(serving) != 0)
		return -1;
	return serve_in_partition(serving);
}

/* ---- the class of a request, and how it is served ---- */

/* The effect of a load's operator (PTX ISA, "Cache Operators"): .cg and .cv bypass the caches of an SM, and .lu where such loads drop
 * what they find there. Lines of .cs and .lu, and in shared levels of .cv, are evicted first where a policy replaces what was used longest
 * ago, LRU or the tail of its order, and treated like others under other policies. */
static enum gt_op_class class_of_load(const struct gt_level_config *config, enum gt_operator operation)
{
	bool oldest = config->replacement.policy == &gt_policy_lru || config->replacement.policy == &gt_policy_tail;

	if (config->operators == GT_OPERATORS_IGNORE)
		return GT_CLASS_READ;
	if (!config->shared && config->operators == GT_OPERATORS_DROP && (operation == GT_CG || operation == GT_CV || operation == GT_LU))
		return GT_CLASS_DROP;
	if (!config->shared && (operation == GT_CG || operation == GT_CV))
		return GT_CLASS_BYPASS;
	return oldest && (operation == GT_CS || operation == GT_CV || operation == GT_LU) ? GT_CLASS_STREAM : GT_CLASS_READ;
}

/* Loads of constant memory that bypass a level of all SMs are bypassed as others; a cache beside or before a level serves them in any case. */
static bool is_constant(const struct gt_level_config *config, uint8_t op, bool bypassed)
{
	return gt_op_is_constant(op) && (config->constants == GT_CONSTANTS_BESIDE || config->constants == GT_CONSTANTS_BEFORE ||
					    (config->constants == GT_CONSTANTS_APART && !bypassed));
}

void gt_level_choose(struct gt_level *level)
{
	const struct gt_level_config *config = &level->config;
	bool reads = config->bypass == GT_BYPASS_READS || config->bypass == GT_BYPASS_ALL;
	bool writes = config->bypass == GT_BYPASS_WRITES || config->bypass == GT_BYPASS_ALL;
	bool back = config->write == GT_WRITE_BACK;
	const enum gt_op_class of_action[] = {
		[GT_LOAD] = GT_CLASS_BYPASS,
		[GT_STORE] = writes ? GT_CLASS_BYPASS : GT_CLASS_WRITE,
		[GT_ATOMIC] = writes ? GT_CLASS_BYPASS : GT_CLASS_ATOMIC,
		[GT_REDUCTION] = writes ? GT_CLASS_BYPASS : GT_CLASS_ATOMIC,
	};

	for (unsigned op = 0; op < 256; op++)
		level->class_of[op] = (uint8_t)(is_constant(config, (uint8_t)op, reads) ? GT_CLASS_CONSTANT
						: gt_op_action((uint8_t)op) == GT_LOAD && !reads
							? class_of_load(config, gt_op_operator((uint8_t)op))
							: of_action[gt_op_action((uint8_t)op)]);
	level->serve[GT_CLASS_READ] = level->look ? look_and_read : serve_read;
	level->serve[GT_CLASS_STREAM] = level->look ? look_and_stream : serve_stream;
	level->serve[GT_CLASS_WRITE] = back ? serve_write_back : serve_write;
	level->serve[GT_CLASS_ATOMIC] = back ? serve_atomic_back : serve_atomic;
	level->writes_through = !back && !level->look && config->combining.lines == 0;
	level->serve[GT_CLASS_CONSTANT] = config->constants == GT_CONSTANTS_APART    ? serve_constant_apart
					  : config->constants == GT_CONSTANTS_BEFORE ? serve_constant_before
										     : serve_constant_beside;
	level->serve[GT_CLASS_DROP] = serve_drop;
	level->serve[GT_CLASS_BYPASS] = serve_bypass;
	if (level->look) {
		level->serve[GT_CLASS_WRITE] = back ? look_and_write_back : look_and_write;
		level->serve[GT_CLASS_ATOMIC] = back ? look_and_perform_atomic : look_and_pass_atomic;
	}
	if (config->l2_partitions) {
		memcpy(level->in_partition, level->serve, sizeof level->in_partition);
		level->in_partition[GT_CLASS_CONSTANT] = level->serve[GT_CLASS_READ];
		level->serve[GT_CLASS_READ] = level->serve[GT_CLASS_STREAM] = serve_partitions_read;
		level->serve[GT_CLASS_WRITE] = level->serve[GT_CLASS_ATOMIC] = serve_partitions_write;
	}
	for (unsigned class = 0; config->translate && class <= GT_CLASS_BYPASS; class++)
		level->serve[class] = serve_translation;
}
