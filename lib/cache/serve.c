/* SPDX-License-Identifier: MIT */
/* How a level serves one request: design section 5, "Cache, functional". */
#include "cache/serve.h"
#include "stream/op.h"

static inline uint64_t count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

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

unsigned gt_level_split(const struct gt_level *level, uint64_t address, unsigned sectors, unsigned full,
			struct gt_piece pieces[GT_PIECES_MAX])
{
	uint64_t bytes = level->config.line;

	sectors &= 15;
	full &= sectors;

	if (level->usual) {
		pieces[0] = (struct gt_piece){.line = address / GT_LINE, .used = sectors, .full = full,
					   .stream_sectors = (uint8_t)sectors, .stream_full = (uint8_t)full};
		return 1;
	}
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

static unsigned split(const struct gt_level *level, const struct gt_rows *rows, size_t i,
		      struct gt_piece pieces[GT_PIECES_MAX])
{
	return gt_level_split(level, rows->address[i], rows->sectors[i], rows->full[i], pieces);
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

/* A line that is present is used. */
static void touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
		  uint64_t used, uint64_t *mru)
{
	unsigned position = gt_tags_touch(tags, set, slot);
	const struct gt_policy *policy = level->config.replacement.policy;

	if (level->geometry.depths && level->plain && mru)
		gt_note_depths_4(tags, slot, position, (uint32_t)hits, (uint32_t)used, mru);
	else if (level->geometry.depths)
		gt_note_depths(tags, slot, position, hits, used, mru);
	if (policy->hit)
		policy->hit(tags, set, slot);
}

/* Takes a slot for a line that is absent: an invalid way, else the policy's victim, whose dirty
 * sectors are sent first. */
static int claim(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint64_t line,
		 const struct gt_cause *cause, uint32_t *slot, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_policy *policy = level->config.replacement.policy;

	*slot = gt_tags_vacant(tags, set);
	if (*slot == GT_NO_SLOT) {
		*slot = policy->victim(tags, set, &level->config.replacement);
		uint64_t dirty = tags->dirty[*slot];
		level->counters.evictions++;
		if (dirty && gt_send_back(level, cause, tags->tag[*slot] - 1, dirty, dirty & tags->valid[*slot],
					  sent, error) != 0)
			return -1;
	}
	gt_tags_fill(tags, set, *slot, line);
	if (policy->fill)
		policy->fill(tags, set, *slot);
	return 0;
}

/* Sectors become valid. */
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

/* Brings in sectors, and those of their groups that are not here or about to be overwritten. */
static int fill(struct gt_level *level, struct gt_tags *tags, uint32_t slot, uint64_t line, uint64_t missing,
		uint64_t overwritten, const struct gt_cause *cause, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t brought = fetch_groups(level, missing) & ~(tags->valid[slot] | overwritten);

	if (brought == 0)
		return 0;
	validate(level, tags, slot, brought);
	return gt_send_fill(level, cause, line, brought, sent, error);
}

/* Reads a piece, whose bytes are all here afterwards. */
static int read_piece(struct gt_level *level, struct gt_tags *tags, const struct gt_piece *piece, uint64_t *hits,
		      uint64_t *mru, uint32_t *at, const struct gt_cause *cause, struct gt_sink *sent,
		      struct gt_error *error)
{
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);
	uint64_t missing = piece->used;

	if (slot == GT_NO_SLOT) {
		level->counters.line_misses += count_bits(missing);
		if (claim(level, tags, set, piece->line, cause, &slot, sent, error) != 0)
			return -1;
	} else {
		missing &= ~tags->valid[slot];
		*hits += count_bits(piece->used & ~missing);
		level->counters.sector_misses += count_bits(missing);
		touch(level, tags, set, slot, piece->used & ~missing, piece->used, mru);
	}
	*at = slot;
	return fill(level, tags, slot, piece->line, missing, 0, cause, sent, error);
}

int gt_serve_read(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		  struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	struct gt_cause cause = gt_cause_of(rows, i);
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->reads += count_bits(pieces[p].used);
		if (read_piece(level, tags, &pieces[p], &counters->read_hits, counters->mru, &slot, &cause, sent,
			       error) != 0)
			return -1;
	}
	return 0;
}

/* Under LRU, a load that streams leaves its lines the least recent. */
int gt_serve_stream(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		    struct gt_sink *sent, struct gt_error *error)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);

	if (gt_serve_read(level, tags, rows, i, sent, error) != 0)
		return -1;
	for (unsigned p = 0; p < n; p++) {
		uint32_t set = gt_level_set_of(level, pieces[p].line), slot = gt_tags_find(tags, set, pieces[p].line);
		if (slot != GT_NO_SLOT)
			gt_tags_demote(tags, set, slot);
	}
	return 0;
}

/* Of the sectors that a store uses, those that hit in a line that is present. */
static uint64_t store_hits(const struct gt_level *level, uint64_t used, uint64_t here)
{
	return level->config.tag_hits ? used : used & here;
}

/* Write through, with or without allocation, and write evict: the store is sent on in any case. */
int gt_serve_write(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		   struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	struct gt_cause cause = gt_cause_of(rows, i);
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);
	bool evict = level->config.write == GT_WRITE_EVICT;

	for (unsigned p = 0; p < n; p++) {
		uint64_t line = pieces[p].line, used = pieces[p].used;
		uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
		uint64_t hits = slot == GT_NO_SLOT ? 0 : store_hits(level, used, tags->valid[slot]);
		counters->writes += count_bits(used);
		counters->write_hits += count_bits(hits);
		*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += count_bits(used & ~hits);
		if (slot != GT_NO_SLOT && evict) {
			if (level->geometry.depths)
				gt_note_depths(tags, slot, gt_tags_touch(tags, set, slot), hits, used,
					       counters->mru_writes);
			counters->dropped += count_bits(tags->valid[slot]);
			gt_tags_drop(tags, set, slot);
		} else if (slot != GT_NO_SLOT) {
			touch(level, tags, set, slot, hits, used, counters->mru_writes);
			validate(level, tags, slot, used);
		} else if (!evict && level->config.allocate) {
			if (claim(level, tags, set, line, &cause, &slot, sent, error) != 0)
				return -1;
			validate(level, tags, slot, used);
		}
	}
	return gt_send_on(level, rows, i, sent, error);
}

/* A store into a line that has a slot. */
static int store(struct gt_level *level, struct gt_tags *tags, uint32_t slot, const struct gt_piece *piece,
		 const struct gt_cause *cause, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t partial = piece->used & ~piece->full & ~tags->valid[slot], whole = piece->used & ~partial;

	tags->dirty[slot] |= piece->used;
	if (level->config.partial == GT_PARTIAL_FETCH && partial &&
	    fill(level, tags, slot, piece->line, partial, whole, cause, sent, error) != 0)
		return -1;
	validate(level, tags, slot, level->config.partial == GT_PARTIAL_KEEP ? piece->used : whole);
	return 0;
}

int gt_serve_write_back(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
			struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	struct gt_cause cause = gt_cause_of(rows, i);
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);

	for (unsigned p = 0; p < n; p++) {
		const struct gt_piece *piece = &pieces[p];
		uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);
		counters->writes += count_bits(piece->used);
		if (slot != GT_NO_SLOT) {
			uint64_t hits = store_hits(level, piece->used, tags->valid[slot] | tags->dirty[slot]);
			counters->write_hits += count_bits(hits);
			counters->sector_misses += count_bits(piece->used & ~hits);
			touch(level, tags, set, slot, hits, piece->used, counters->mru_writes);
		} else {
			counters->line_misses += count_bits(piece->used);
			if (!level->config.allocate) {
				if (gt_send(level, &cause, rows->address[i], piece->stream_sectors,
					    piece->stream_full, sent, error) != 0)
					return -1;
				continue;
			}
			if (claim(level, tags, set, piece->line, &cause, &slot, sent, error) != 0)
				return -1;
		}
		if (store(level, tags, slot, piece, &cause, sent, error) != 0)
			return -1;
	}
	return 0;
}

/* Atomics and reductions are done below: what is here of their sectors is stale. */
int gt_serve_atomic(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		    struct gt_sink *sent, struct gt_error *error)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);

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
	return gt_send_on(level, rows, i, sent, error);
}

/* Atomics and reductions are done here, on sectors that must be here. */
int gt_serve_atomic_back(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
			 struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	struct gt_cause cause = gt_cause_of(rows, i);
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = split(level, rows, i, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->atomics += count_bits(pieces[p].used);
		if (read_piece(level, tags, &pieces[p], &counters->atomic_hits, NULL, &slot, &cause, sent, error) != 0)
			return -1;
		tags->dirty[slot] |= pieces[p].used;
	}
	return 0;
}

int gt_serve_bypass(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		    struct gt_sink *sent, struct gt_error *error)
{
	(void)tags;
	level->counters.bypassed += count_bits(rows->sectors[i]);
	return gt_send_on(level, rows, i, sent, error);
}

/* A TLB: one lookup a request, of the page it lies in; a miss sends the request itself on. */
int gt_serve_translation(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
			 struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	uint64_t line = rows->address[i] >> level->line_shift;
	uint32_t set = gt_level_set_of(level, line), slot = gt_tags_find(tags, set, line);
	const struct {
		uint64_t *lookups, *hits, *mru;
	} of_action[] = {
		[GT_LOAD] = {&counters->reads, &counters->read_hits, counters->mru},
		[GT_STORE] = {&counters->writes, &counters->write_hits, counters->mru_writes},
		[GT_ATOMIC] = {&counters->atomics, &counters->atomic_hits, NULL},
		[GT_REDUCTION] = {&counters->atomics, &counters->atomic_hits, NULL},
	}, *to = &of_action[gt_op_action(rows->op[i])];

	bool activated = level->config.activated && counters->reads + counters->writes + counters->atomics == 0;

	++*to->lookups;
	if (slot != GT_NO_SLOT) {
		++*to->hits;
		touch(level, tags, set, slot, 1, 1, to->mru);
		return 0;
	}
	struct gt_cause cause = gt_cause_of(rows, i);
	if (claim(level, tags, set, line, &cause, &slot, sent, error) != 0)
		return -1;
	validate(level, tags, slot, 1);
	if (activated) {
		++*to->hits;
		if (level->geometry.depths && to->mru)
			++*to->mru;
		return 0;
	}
	counters->line_misses++;
	return gt_send_on(level, rows, i, sent, error);
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

int gt_level_arrive(struct gt_level *level, struct gt_tags *tags, uint64_t line, uint64_t sectors,
		    const struct gt_cause *cause, uint32_t *slot, struct gt_sink *sent, struct gt_error *error)
{
	uint32_t set = gt_level_set_of(level, line);

	*slot = gt_tags_find(tags, set, line);
	if (*slot != GT_NO_SLOT)
		touch(level, tags, set, *slot, 0, 0, NULL);
	else if (claim(level, tags, set, line, cause, slot, sent, error) != 0)
		return -1;
	validate(level, tags, *slot, sectors);
	if (level->class_of[cause->op] == GT_CLASS_STREAM)
		gt_tags_demote(tags, set, *slot);
	return 0;
}
