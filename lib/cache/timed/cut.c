/* SPDX-License-Identifier: MIT */
/* Splits requests into lookups. */
#include "base/grown.h"
#include "cache/timed/engine.h"

int gt_items_reserve(struct gt_items *items, size_t more, struct gt_error *error)
{
	struct gt_item *larger = gt_grown_to(items->items, items->n + more, &items->capacity, sizeof *larger);

	if (!larger)
		return gt_fail_memory(error, "requests that wait to issue");
	items->items = larger;
	return 0;
}

/* Completes a lookup whose line and sectors are known. */
static void complete(struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal, struct gt_item *item)
{
	uint8_t class = timed->level->class_of[request->op];

	item->request = request;
	item->ordinal = ordinal;
	item->class = class == GT_CLASS_STREAM ? GT_CLASS_READ : class;
	item->recent = gt_recent_place(item->piece.line);
	item->set = gt_recent_set(timed->recent, item->recent, timed->level, item->piece.line);
	item->bank = timed->banks > 1 ? item->set % timed->banks : 0;
	item->mshr = timed->mshr_of[item->bank];
}

/* A request for a line of a level of other lines or sectors. */
static unsigned cut_unusual(struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal, struct gt_item *items)
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n = gt_level_split_unusual(timed->level, request, pieces);

	for (unsigned p = 0; p < n; p++) {
		items[p].piece = pieces[p];
		complete(timed, request, ordinal, &items[p]);
	}
	return gt_engine_waits(timed, &items[0]) ? n : 1;
}

unsigned gt_engine_cut(struct gt_timed *timed, const struct gt_request *request, uint32_t ordinal,
		       struct gt_item items[GT_PIECES_MAX])
{
	if (!timed->level->usual)
		return cut_unusual(timed, request, ordinal, items);
	items->piece = gt_usual_piece(request);
	complete(timed, request, ordinal, items);
	return 1;
}
