/* SPDX-License-Identifier: MIT */
/* How a level serves one request. */
#include "cache/serve.h"
#include "stream/op.h"

static inline uint64_t count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

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

/* Records the use of a line that is present. */
static void touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
		  uint64_t used, uint64_t *mru)
{
	unsigned position = level->unchanged ? position_of(level, tags, set, slot) : gt_tags_touch(tags, set, slot);
	const struct gt_policy *policy = level->config.replacement.policy;

	if (level->geometry.depths && level->usual && mru)
		gt_note_depths_4(tags, slot, position, (uint32_t)hits, (uint32_t)used, mru);
	else if (level->geometry.depths)
		gt_note_depths(tags, slot, position, hits, used, mru);
	if (policy->hit && !level->unchanged)
		policy->hit(tags, set, slot);
}

/* Takes a slot for a line that is absent: an invalid way, else the policy's victim, whose dirty
 * sectors are sent first. */
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
		uint64_t dirty = tags->dirty[*slot];
		serving->level->counters.evictions++;
		if (dirty && gt_send_back(serving, tags->tag[*slot] - 1, dirty, dirty & tags->valid[*slot]) != 0)
			return -1;
	}
	gt_tags_fill(tags, set, *slot, line);
	if (policy->fill)
		policy->fill(tags, set, *slot);
	return 0;
}

/* Makes sectors valid. */
static void validate(struct gt_level *level, struct gt_tags *tags, uint32_t slot, uint64_t sectors)
{
	tags->valid[slot] |= sectors;
	if (level->geometry.depths && level->sectors > 4)
		gt_note_depths(tags, slot, 0, 0, sectors, NULL);
	else if (level->geometry.depths)
		for (unsigned sector = 0; sector < level->sectors; sector++)
			tags->depth[(size_t)slot * level->sectors + sector] &= (uint8_t)((sectors >> sector & 1) - 1);
}

/* The aligned groups of --fetch that have a sector in the mask. */
static uint64_t fetch_groups(const struct gt_level *level, uint64_t mask)
{
	for (unsigned width = 1; width < level->fetch_sectors; width *= 2) {
		/* Each aligned pair of fields of this width becomes full if either half was. */
		uint64_t lower = UINT64_MAX / ((UINT64_C(1) << width) + 1);
		mask |= (mask & lower) << width | (mask >> width & lower);
	}
	return mask;
}

/* Fetches sectors, and the others of their groups that are neither valid nor about to be overwritten. */
static int fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing, uint64_t overwritten)
{
	uint64_t brought = fetch_groups(serving->level, missing) & ~(serving->tags->valid[slot] | overwritten);

	if (brought == 0)
		return 0;
	serving->level->fetch.neighbours += count_bits(brought & ~missing);
	validate(serving->level, serving->tags, slot, brought);
	return gt_send_fill(serving, line, brought);
}

int gt_level_claim(const struct gt_serving *serving, uint32_t set, uint64_t line, uint32_t *slot)
{
	return claim(serving, set, line, slot);
}

int gt_level_fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing)
{
	return fill(serving, slot, line, missing, 0);
}

/* Reads a piece; all its bytes are valid afterwards. */
static int read_piece(const struct gt_serving *serving, const struct gt_piece *piece, uint64_t *hits, uint64_t *mru,
		      uint32_t *at)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);
	uint64_t missing = piece->used;

	if (slot == GT_NO_SLOT) {
		level->counters.line_misses += count_bits(missing);
		if (claim(serving, set, piece->line, &slot) != 0)
			return -1;
	} else {
		missing &= ~tags->valid[slot];
		*hits += count_bits(piece->used & ~missing);
		level->counters.sector_misses += count_bits(missing);
		touch(level, tags, set, slot, piece->used & ~missing, piece->used, mru);
	}
	*at = slot;
	return fill(serving, slot, piece->line, missing, 0);
}

int gt_serve_read(const struct gt_serving *serving)
{
	struct gt_level_counters *counters = &serving->level->counters;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->reads += count_bits(pieces[p].used);
		if (read_piece(serving, &pieces[p], &counters->read_hits, counters->mru, &slot) != 0)
			return -1;
	}
	return 0;
}

/* Under LRU, a streaming load makes its lines the least recent. */
int gt_serve_stream(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	if (gt_serve_read(serving) != 0)
		return -1;
	for (unsigned p = 0; p < n; p++) {
		uint32_t set = gt_level_set_of(serving->level, pieces[p].line);
		uint32_t slot = gt_tags_find(serving->tags, set, pieces[p].line);
		if (slot != GT_NO_SLOT)
			gt_tags_demote(serving->tags, set, slot);
	}
	return 0;
}

/* Of the sectors that a store uses, those that hit in a line that is present. */
static uint64_t store_hits(const struct gt_level *level, uint64_t used, uint64_t here)
{
	return level->config.tag_hits ? used : used & here;
}

/* A piece of a store that is sent on in any case. */
static int write_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint64_t line = piece->line, used = piece->used;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	uint64_t hits = slot == GT_NO_SLOT ? 0 : store_hits(level, used, tags->valid[slot]);
	bool evict = level->config.write == GT_WRITE_EVICT;

	counters->writes += count_bits(used);
	counters->write_hits += count_bits(hits);
	*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += count_bits(used & ~hits);
	if (slot != GT_NO_SLOT && evict) {
		if (level->geometry.depths)
			gt_note_depths(tags, slot, gt_tags_touch(tags, set, slot), hits, used, counters->mru_writes);
		counters->dropped += count_bits(tags->valid[slot]);
		gt_tags_drop(tags, set, slot);
	} else if (slot != GT_NO_SLOT) {
		touch(level, tags, set, slot, hits, used, counters->mru_writes);
		validate(level, tags, slot, used);
	} else if (!evict && level->config.allocate) {
		if (claim(serving, set, line, &slot) != 0)
			return -1;
		validate(level, tags, slot, used);
	}
	return 0;
}

/* Write through, with or without allocation, and write evict. */
int gt_serve_write(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++)
		if (write_piece(serving, &pieces[p]) != 0)
			return -1;
	return gt_send_on(serving);
}

/* Sectors of a line change. */
static int change(const struct gt_serving *serving, uint32_t set, uint32_t slot, uint64_t sectors)
{
	uint64_t *dirty = &serving->tags->dirty[slot], before = *dirty;

	*dirty |= sectors;
	return before || serving->level->config.dirty_ways == GT_LEVEL_SLOTS_MAX ? 0 : gt_level_clean(serving, set, slot);
}

/* A store into a line that has a slot. */
static int store(const struct gt_serving *serving, uint32_t set, uint32_t slot, const struct gt_piece *piece)
{
	struct gt_tags *tags = serving->tags;
	enum gt_partial rule = serving->level->config.partial;
	uint64_t partial = piece->used & ~piece->full & ~tags->valid[slot], whole = piece->used & ~partial;

	if (change(serving, set, slot, piece->used) != 0)
		return -1;
	if (rule == GT_PARTIAL_FETCH && partial && fill(serving, slot, piece->line, partial, whole) != 0)
		return -1;
	validate(serving->level, tags, slot, rule == GT_PARTIAL_KEEP ? piece->used : whole);
	return 0;
}

/* A piece of a store that a write-back level keeps. */
static int write_back_piece(const struct gt_serving *serving, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	struct gt_level_counters *counters = &level->counters;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);

	counters->writes += count_bits(piece->used);
	if (slot != GT_NO_SLOT) {
		uint64_t hits = store_hits(level, piece->used, tags->valid[slot] | tags->dirty[slot]);
		counters->write_hits += count_bits(hits);
		counters->sector_misses += count_bits(piece->used & ~hits);
		touch(level, tags, set, slot, hits, piece->used, counters->mru_writes);
	} else {
		counters->line_misses += count_bits(piece->used);
		if (!level->config.allocate)
			return gt_send_part(serving, piece->stream_sectors, piece->stream_full);
		if (claim(serving, set, piece->line, &slot) != 0)
			return -1;
	}
	return store(serving, set, slot, piece);
}

int gt_serve_write_back(const struct gt_serving *serving)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++)
		if (write_back_piece(serving, &pieces[p]) != 0)
			return -1;
	return 0;
}

/* Atomics and reductions are executed in a lower level, so their sectors here become invalid. */
int gt_serve_atomic(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(level, &serving->request, pieces);

	for (unsigned p = 0; p < n; p++) {
		uint32_t set = gt_level_set_of(level, pieces[p].line), slot = gt_tags_find(tags, set, pieces[p].line);
		level->counters.atomics += count_bits(pieces[p].used);
		if (slot == GT_NO_SLOT)
			continue;
		level->counters.dropped += count_bits(tags->valid[slot] & pieces[p].used);
		tags->valid[slot] &= ~pieces[p].used;
		if (tags->valid[slot] == 0)
			gt_tags_drop(tags, set, slot);
	}
	return gt_send_on(serving);
}

/* Atomics and reductions are executed here, on sectors that must be valid. */
int gt_serve_atomic_back(const struct gt_serving *serving)
{
	struct gt_level_counters *counters = &serving->level->counters;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->atomics += count_bits(pieces[p].used);
		if (read_piece(serving, &pieces[p], &counters->atomic_hits, NULL, &slot) != 0 ||
		    change(serving, gt_level_set_of(serving->level, pieces[p].line), slot, pieces[p].used) != 0)
			return -1;
	}
	return 0;
}

int gt_serve_bypass(const struct gt_serving *serving)
{
	serving->level->counters.bypassed += count_bits(serving->request.sectors);
	return gt_send_on(serving);
}

/* A TLB: one lookup per request, of its page; a miss sends the request itself on. */
int gt_serve_translation(const struct gt_serving *serving)
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
		touch(level, tags, set, slot, 1, 1, to->mru);
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
	return gt_send_on(serving);
}

uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing)
{
	return fetch_groups(level, missing);
}

void gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
		    uint64_t used, uint64_t *mru)
{
	touch(level, tags, set, slot, hits, used, mru);
}

void gt_level_use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op)
{
	touch(level, tags, set, slot, 0, 0, NULL);
	if (level->class_of[op] == GT_CLASS_STREAM)
		gt_tags_demote(tags, set, slot);
}

int gt_level_arrive(const struct gt_serving *serving, uint64_t line, uint64_t sectors, uint32_t *slot)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, line);

	*slot = gt_tags_find(tags, set, line);
	if (*slot != GT_NO_SLOT)
		touch(level, tags, set, *slot, 0, 0, NULL);
	else if (claim(serving, set, line, slot) != 0)
		return -1;
	validate(level, tags, *slot, sectors);
	if (level->class_of[serving->request.op] == GT_CLASS_STREAM)
		gt_tags_demote(tags, set, *slot);
	return 0;
}
