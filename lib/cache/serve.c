/* SPDX-License-Identifier: MIT */
/* How a level serves one request. */
#include "cache/serve.h"
#include "stream/hint.h"
#include "stream/op.h"

/* Reads a piece; all its bytes are valid afterwards. */
static int read_piece(const struct gt_serving *serving, const struct gt_piece *piece, uint64_t *hits, uint64_t *mru,
		      uint32_t *at)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t set = gt_level_set_of(level, piece->line), slot = gt_tags_find(tags, set, piece->line);
	uint64_t missing = piece->used;

	if (slot == GT_NO_SLOT) {
		level->counters.line_misses += gt_count_bits(missing);
		if (gt_level_claim(serving, set, piece->line, &slot) != 0)
			return -1;
	} else {
		missing &= ~gt_tags_valid(tags, slot);
		*hits += gt_count_bits(piece->used & ~missing);
		level->counters.sector_misses += gt_count_bits(missing);
		slot = gt_level_touch(level, tags, set, slot, piece->used & ~missing, piece->used, mru);
	}
	*at = slot;
	return gt_level_fill(serving, slot, piece->line, missing, 0);
}

/* A load that streams makes each of its lines the least recent as soon as it has been used. */
static inline int read_pieces(const struct gt_serving *serving, bool streams)
{
	struct gt_level_counters *counters = &serving->level->counters;
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split(serving->level, &serving->request, pieces);
	uint32_t slot;

	for (unsigned p = 0; p < n; p++) {
		counters->reads += gt_count_bits(pieces[p].used);
		if (read_piece(serving, &pieces[p], &counters->read_hits, counters->mru, &slot) != 0)
			return -1;
		if (streams)
			gt_tags_demote(serving->tags, gt_level_set_of(serving->level, pieces[p].line), slot);
	}
	return 0;
}

int gt_serve_read(const struct gt_serving *serving)
{
	return read_pieces(serving, false);
}

/* Under LRU. */
int gt_serve_stream(const struct gt_serving *serving)
{
	return read_pieces(serving, true);
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
		level->counters.atomics += gt_count_bits(pieces[p].used);
		if (slot == GT_NO_SLOT)
			continue;
		level->counters.dropped += gt_count_bits(gt_tags_valid(tags, slot) & pieces[p].used);
		gt_tags_invalidate(tags, slot, pieces[p].used);
		if (gt_tags_valid(tags, slot) == 0)
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
		counters->atomics += gt_count_bits(pieces[p].used);
		if (read_piece(serving, &pieces[p], &counters->atomic_hits, NULL, &slot) != 0 ||
		    gt_level_change(serving, gt_level_set_of(serving->level, pieces[p].line), slot, pieces[p].used) != 0)
			return -1;
	}
	return 0;
}

int gt_serve_bypass(const struct gt_serving *serving)
{
	const struct gt_request *request = &serving->request;
	const uint64_t sectors = gt_count_bits(request->sectors);
	struct gt_level *level = serving->level;

	level->counters.bypassed += sectors;
	if (gt_hint_action(request->hint) == GT_ACCESS_DATA && gt_op_action(request->op) == GT_LOAD)
		level->bypass.bypassed_reads += sectors;
	else if (gt_hint_action(request->hint) == GT_ACCESS_DATA && gt_op_action(request->op) == GT_STORE)
		level->bypass.bypassed_writes += sectors;
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
		slot = gt_level_touch(level, tags, set, slot, 1, 1, to->mru);
		return 0;
	}
	if (gt_level_claim(serving, set, line, &slot) != 0)
		return -1;
	gt_level_validate(level, tags, slot, 1);
	if (activated) {
		++*to->hits;
		if (level->geometry.depths && to->mru)
			++*to->mru;
		return 0;
	}
	counters->line_misses++;
	return gt_send_on(serving);
}

