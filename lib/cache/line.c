/* SPDX-License-Identifier: MIT */
/* What a request does to a line: it is split by lines, takes a slot, fetches sectors, and is used; and what is sent on for it. */
#include "cache/serve.h"
#include "stream/hint.h"
#include "stream/op.h"

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

int gt_send_on(const struct gt_serving *serving)
{
	return send(serving, &serving->request);
}

int gt_send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full)
{
	struct gt_request part = serving->request;

	part.sectors = sectors;
	part.full = full;
	return send(serving, &part);
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

	if (gt_op_action(load.op) != GT_LOAD) {
		load.op = gt_op(GT_LOAD, gt_op_space(load.op), GT_OPERATOR_NONE);
		load.threads = 0;
	}
	return send_line(serving, &load, line, mask, 0);
}

int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full)
{
	struct gt_request store = serving->request;

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
	uint64_t dirty = tags->dirty[slot], before = level->counters.sent_writes;

	if (gt_send_back(serving, tags->tag[slot] - 1, dirty, dirty & gt_tags_valid(tags, slot)) != 0)
		return -1;
	level->clean.cleaned += level->counters.sent_writes - before;
	tags->dirty[slot] = 0;
	return gt_tags_hold(tags, slot, dirty & ~gt_tags_valid(tags, slot), serving->error);
}

int gt_level_clean(const struct gt_serving *serving, uint32_t set, uint32_t slot)
{
	const struct gt_level *level = serving->level;
	const uint64_t *dirty = serving->tags->dirty;
	uint32_t n = gt_tags_by_recency(serving->tags, set, level->slots), found = 0, oldest = slot;

	for (uint32_t i = 0; i < n; i++) {
		if (!dirty[level->slots[i]])
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
	uint8_t *depth = tags->depth + (size_t)slot * sectors;

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
	unsigned position = 0;

	if (!level->geometry.depths)
		return 0;
	gt_tags_by_recency(tags, set, level->slots);
	while (level->slots[position] != slot)
		position++;
	return position;
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
uint32_t gt_level_touch_stored(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits)
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
int gt_level_claim(const struct gt_serving *serving, uint32_t set, uint64_t line, uint32_t *slot)
{
	const struct gt_replacement *replacement = &serving->level->config.replacement;
	const struct gt_policy *policy = replacement->policy;
	struct gt_tags *tags = serving->tags;

	*slot = gt_tags_vacant(tags, set);
	if (*slot == GT_NO_SLOT) {
		*slot = policy->victim(tags, set, replacement);
		if (tags->rank)
			*slot = gt_tags_lowest(tags, set, *slot, serving->level->slots);
		uint64_t dirty = tags->dirty[*slot];
		serving->level->counters.evictions++;
		if (dirty && gt_send_back(serving, tags->tag[*slot] - 1, dirty, dirty & gt_tags_valid(tags, *slot)) != 0)
			return -1;
	}
	*slot = gt_tags_fill(tags, set, *slot, line);
	if (policy->fill)
		policy->fill(tags, set, *slot);
	return 0;
}

void gt_level_validate(struct gt_level *level, struct gt_tags *tags, uint32_t slot, uint64_t sectors)
{
	if (tags->state) {
		tags->state[slot] &= ~gt_bytes_of_4[sectors];
		return;
	}
	tags->valid[slot] |= sectors;
	if (level->geometry.depths && level->sectors > 4)
		gt_note_depths(tags, slot, 0, 0, sectors, NULL);
	else if (level->geometry.depths)
		for (unsigned sector = 0; sector < level->sectors; sector++)
			tags->depth[(size_t)slot * level->sectors + sector] &= (uint8_t)((sectors >> sector & 1) - 1);
}

uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing)
{
	for (unsigned width = 1; width < level->fetch_sectors; width *= 2) {
		/* Each aligned pair of fields of this width becomes full if either half was. */
		uint64_t lower = UINT64_MAX / ((UINT64_C(1) << width) + 1);
		missing |= (missing & lower) << width | (missing >> width & lower);
	}
	return missing;
}

int gt_level_fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing, uint64_t overwritten)
{
	struct gt_level *level = serving->level;
	uint64_t brought = gt_level_groups(level, missing) & ~(gt_tags_valid(serving->tags, slot) | overwritten);

	if (brought == 0)
		return 0;
	level->fetch.neighbours += gt_count_bits(brought & ~missing);
	gt_level_validate(level, serving->tags, slot, brought);
	return gt_send_fill(serving, line, brought);
}

void gt_level_use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op)
{
	slot = gt_level_touch(level, tags, set, slot, 0, 0, NULL);
	if (level->class_of[op] == GT_CLASS_STREAM)
		gt_tags_demote(tags, set, slot);
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
	else if (gt_level_claim(serving, set, line, slot) != 0)
		return -1;
	gt_level_validate(level, tags, *slot, sectors);
	if (level->class_of[serving->request.op] == GT_CLASS_STREAM)
		*slot = gt_tags_demote(tags, set, *slot);
	return 0;
}
