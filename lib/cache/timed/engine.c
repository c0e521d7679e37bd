/* SPDX-License-Identifier: MIT */
/* What stall and requeue have in common: misses in flight, requests split into lookups, rows that are sent, a miss that takes an MSHR
 * entry, an arrival, counts. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cache/timed/engine.h"
#include "stream/op.h"

/* ---- misses in flight ---- */

void gt_flights_open(struct gt_flights *flights)
{
	*flights = (struct gt_flights){.vacant = GT_NO_FLIGHT};
	memset(flights->chains, 0xff, sizeof flights->chains);
}

void gt_flights_close(struct gt_flights *flights)
{
	free(flights->pool);
	free(flights->order);
}

static int grow(struct gt_flights *flights, struct gt_error *error)
{
	uint32_t capacity = flights->capacity ? 2 * flights->capacity : 64;
	struct gt_flight *pool = capacity < UINT32_MAX / 2 ? gt_resized(flights->pool, capacity, sizeof *pool) : NULL;
	uint32_t *order = pool ? malloc(capacity * sizeof *order) : NULL;

	if (pool)
		flights->pool = pool;
	if (!order)
		return gt_fail_memory(error, "misses in flight");
	for (uint64_t at = flights->head; at < flights->tail; at++)
		order[at & (capacity - 1)] = flights->order[at & (flights->capacity - 1)];
	free(flights->order);
	flights->order = order;
	for (uint32_t at = capacity; at-- > flights->capacity;) {
		pool[at].next = flights->vacant;
		flights->vacant = at;
	}
	flights->capacity = capacity;
	return 0;
}

static bool goes_before(const struct gt_flight *flight, const struct gt_flight *other)
{
	return flight->arrival != other->arrival ? flight->arrival < other->arrival : flight->first && !other->first;
}

int gt_flights_add(struct gt_flights *flights, const struct gt_flight *flight, struct gt_error *error)
{
	if (flights->vacant == GT_NO_FLIGHT && grow(flights, error) != 0)
		return -1;
	uint32_t at = flights->vacant, mask = flights->capacity - 1;
	struct gt_flight *new = &flights->pool[at];

	flights->vacant = new->next;
	*new = *flight;
	if (flight->sectors) {
		uint32_t *chain = gt_flight_chain(flights, flight->line);
		new->next = *chain;
		*chain = at;
	}
	uint64_t place = flights->tail++;
	for (; place > flights->released && goes_before(flight, gt_flight_at(flights, place - 1)); place--)
		flights->order[place & mask] = flights->order[(place - 1) & mask];
	flights->order[place & mask] = at;
	return 0;
}

/* Removes the first. */
static void flights_drop_first(struct gt_flights *flights)
{
	uint32_t at = flights->order[flights->head++ & (flights->capacity - 1)];
	struct gt_flight *flight = &flights->pool[at];

	if (flight->sectors) {
		uint32_t *link = gt_flight_chain(flights, flight->line);
		while (*link != at)
			link = &flights->pool[*link].next;
		*link = flight->next;
	}
	flight->next = flights->vacant;
	flights->vacant = at;
}

/* ---- requests split into lookups ---- */

int gt_engine_take_access(struct gt_engine *engine, const struct gt_warp *warp, struct gt_wave_place *place, struct gt_error *error)
{
	struct gt_queued *queued = &engine->queued;
	const uint32_t an = gt_wave_next(place)->an;

	do {
		struct gt_request *requests = gt_grown(queued->requests, queued->n, &queued->capacity, sizeof *requests);
		if (!requests)
			return gt_fail_memory(error, "the requests of an access");
		queued->requests = requests;
		gt_wave_unpack(warp, place, &requests[queued->n++]);
		gt_wave_go_on(place);
	} while (place->left > 0 && gt_wave_next(place)->an == an);
	return 0;
}

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

/* ---- requests that are sent: instances have clocks of their own, and the rows are put into the order of (step, SM) here ---- */

/* Puts a row into the outbox. */
static int engine_send(struct gt_timed *timed, struct gt_engine *engine, const struct gt_outgoing *row, struct gt_error *error)
{
	struct gt_outbox *outbox = &engine->outbox;

	if (!outbox->last || outbox->end == GT_OUTBOX_CHUNK) {
		struct gt_warp_chunk *more = gt_warp_chunks_take(&timed->outboxes);
		if (!more)
			return gt_fail_memory(error, "requests of SMs that are ahead of others");
		*(outbox->last ? &outbox->last->next : &outbox->first) = more;
		outbox->last = more;
		outbox->end = 0;
	}
	((struct gt_outgoing *)(void *)outbox->last->data)[outbox->end++] = *row;
	timed->waiting++;
	return 0;
}

/* The first row of an outbox, or NULL. */
static const struct gt_outgoing *first_row(const struct gt_outbox *outbox)
{
	if (outbox->first == outbox->last && outbox->at == outbox->end)
		return NULL;
	return (const struct gt_outgoing *)(const void *)outbox->first->data + outbox->at;
}

/* Removes the first row. */
static void drop_row(struct gt_outbox *outbox, struct gt_warp_chunks *chunks)
{
	struct gt_warp_chunk *first = outbox->first;

	outbox->at++;
	if (first == outbox->last && outbox->at == outbox->end)
		outbox->at = outbox->end = 0;
	if (first == outbox->last || outbox->at < GT_OUTBOX_CHUNK)
		return;
	outbox->first = first->next;
	outbox->at = 0;
	gt_warp_chunks_return(chunks, first, first);
}

int gt_timed_collect(void *context, struct gt_rows *rows, struct gt_error *error)
{
	struct gt_timed *timed = context;

	for (size_t i = 0; i < rows->n && timed->config.emit == GT_EMIT_MISSES; i++) {
		const struct gt_outgoing sent = {.request = gt_request_of(rows, i)};
		if (engine_send(timed, timed->sender, &sent, error) != 0)
			return -1;
	}
	rows->n = 0;
	return 0;
}

/* An instance whose outbox is not empty, and the step of its first row. */
struct sender {
	uint64_t step;
	uint32_t number;
};

static bool before(const struct sender *left, const struct sender *right)
{
	return left->step != right->step ? left->step < right->step : left->number < right->number;
}

/* Restores the order of a heap of senders from position `at` down. */
static void sink_down(struct sender *heap, size_t n, size_t at)
{
	const struct sender moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && before(&heap[child + 1], &heap[child]);
		if (!before(&heap[child], &moved))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

static int pass(const struct gt_outgoing *sent, struct gt_sink *sink, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (gt_sink_room(sink, error) != 0)
		return -1;
	rows->status[rows->n] = sent->status;
	gt_request_append(rows, &sent->request);
	return 0;
}

/* Makes a heap of the instances that have sent anything, and returns their number. */
static size_t gather(const struct gt_timed *timed, struct sender *heap)
{
	size_t n = 0;

	for (size_t i = 0; i < timed->active; i++) {
		const struct gt_outgoing *first = first_row(&timed->engines[timed->active_list[i]]->outbox);
		if (first)
			heap[n++] = (struct sender){first->request.step, timed->active_list[i]};
	}
	for (size_t at = n; at-- > 0;)
		sink_down(heap, n, at);
	return n;
}

/* Passes on what an instance has sent in the step of its first row. */
static int pass_step(struct gt_timed *timed, struct gt_outbox *outbox, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_outgoing *row = first_row(outbox);
	const uint64_t step = row->request.step;

	do {
		if (pass(row, sent, error) != 0)
			return -1;
		drop_row(outbox, &timed->outboxes);
		timed->waiting--;
	} while ((row = first_row(outbox)) && row->request.step == step);
	if (row && outbox->at + 2 < GT_OUTBOX_CHUNK) { /* the rows of other instances drive them out of the nearest cache */
		__builtin_prefetch(row + 1);
		__builtin_prefetch(row + 2);
	}
	return 0;
}

static int release(struct gt_timed *timed, struct sender *heap, uint64_t bound, struct gt_sink *sent, struct gt_error *error)
{
	size_t n = gather(timed, heap);

	while (n > 0 && heap[0].step < bound) {
		struct gt_outbox *outbox = &timed->engines[heap[0].number]->outbox;
		if (pass_step(timed, outbox, sent, error) != 0)
			return -1;
		const struct gt_outgoing *first = first_row(outbox);
		if (first)
			heap[0].step = first->request.step;
		else
			heap[0] = heap[--n];
		sink_down(heap, n, 0);
	}
	return 0;
}

int gt_timed_release(struct gt_timed *timed, bool all, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t bound = UINT64_MAX;

	if (timed->waiting == 0)
		return 0;
	for (size_t i = 0; !all && i < timed->active; i++)
		if (timed->engines[timed->active_list[i]]->floor < bound)
			bound = timed->engines[timed->active_list[i]]->floor;
	if (!all && bound > timed->released)
		timed->released = bound;
	struct sender *heap = malloc(timed->active * sizeof *heap);
	if (!heap)
		return gt_fail_memory(error, "an order of SMs");
	int result = release(timed, heap, bound, sent, error);
	free(heap);
	return result;
}

static uint64_t count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

/* [002] has a separate class for the merges of [000]. */
static uint8_t status_of(const struct gt_timed *timed, const struct gt_outcome *outcome)
{
	switch (outcome->status) {
	case GT_TIMED_HIT: return GT_STATUS_HIT;
	case GT_TIMED_MISS: return GT_STATUS_MISS;
	case GT_TIMED_FAIL: return GT_STATUS_RESERVATION_FAIL;
	case GT_TIMED_MERGED:
		return timed->config.timed.on_full == GT_FULL_STALL ? GT_STATUS_MERGED : GT_STATUS_LATENCY_MISS;
	default: return outcome->found;
	}
}

static void watch_lookup(const struct gt_timed *timed, const struct gt_item *item, const struct gt_outcome *outcome)
{
	const struct gt_request *request = item->request;

	timed->watch(timed->watch_context,
		     &(struct gt_timed_event){.status = outcome->status, .step = outcome->step, .line = item->piece.line,
					      .latency = outcome->latency, .effect = outcome->effect, .busy = outcome->busy,
					      .busy_after = outcome->busy_after, .block = request->block, .an = request->an,
					      .bank = item->bank, .port = outcome->port, .position = outcome->position,
					      .warp = request->warp, .sm = request->sm, .found = outcome->found});
}

int gt_engine_show(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		   const struct gt_outcome *outcome, struct gt_error *error)
{
	if (timed->watch)
		watch_lookup(timed, item, outcome);
	if (timed->config.emit != GT_EMIT_ALL)
		return 0;
	struct gt_outgoing row = {gt_engine_request(timed, item), status_of(timed, outcome)};
	row.request.step = outcome->step;
	return engine_send(timed, engine, &row, error);
}

static void watch_effect(const struct gt_timed *timed, const struct gt_flight *flight)
{
	timed->watch(timed->watch_context,
		     &(struct gt_timed_event){.status = GT_TIMED_EFFECT, .step = flight->arrival, .line = flight->line,
					      .effect = flight->arrival, .block = flight->request.block,
					      .an = flight->request.an, .position = UINT32_MAX, .warp = flight->request.warp,
					      .sm = flight->request.sm});
}

/* Applies the first flight to the cache. */
static int take_effect(struct gt_timed *timed, struct gt_engine *engine, struct gt_error *error)
{
	struct gt_flight flight = *gt_flight_at(&engine->flights, engine->flights.head);
	uint32_t slot;

	flights_drop_first(&engine->flights);
	flight.request.step = flight.arrival;
	const struct gt_serving serving = {.level = timed->level, .tags = engine->tags, .request = flight.request, .sent = &timed->collected, .error = error};
	if (gt_level_arrive(&serving, flight.line, flight.sectors | flight.uses, flight.used, &slot) != 0)
		return -1;
	*gt_slot_dirty(engine->tags, slot) |= flight.dirty;
	gt_flights_present(&engine->flights, flight.line);
	if (timed->watch)
		watch_effect(timed, &flight);
	return 0;
}

int gt_engine_advance(struct gt_timed *timed, struct gt_engine *engine, uint64_t step, struct gt_error *error)
{
	struct gt_flights *flights = &engine->flights;

	if (timed->limited)
		memset(engine->ports, 0, timed->banks * sizeof *engine->ports);
	for (; flights->released < flights->tail; flights->released++) {
		const struct gt_flight *flight = gt_flight_at(flights, flights->released);
		if (flight->arrival + timed->config.timed.fill_next > step)
			break;
		engine->busy[flight->mshr_set] -= flight->holds;
		engine->held -= flight->holds;
	}
	while (flights->head < flights->tail && gt_flight_at(flights, flights->head)->arrival < step)
		if (take_effect(timed, engine, error) != 0)
			return -1;
	return 0;
}

int gt_engine_serve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item,
		    struct gt_outcome *outcome, struct gt_error *error)
{
	struct gt_serving serving = {.level = timed->level, .tags = engine->tags, .request = gt_engine_request(timed, item), .sent = &timed->collected, .error = error};

	serving.request.step = outcome->step;
	uint64_t first = serving.request.address, last = first + GT_LINE - 1;
	unsigned shift = timed->level->line_shift;
	for (uint64_t line = first >> shift; line <= last >> shift; line++)
		gt_flights_present(&engine->flights, line);
	return gt_level_find(&serving, &outcome->found);
}

uint32_t gt_engine_held_by(const struct gt_engine *engine, const struct gt_request *request)
{
	const struct gt_flights *flights = &engine->flights;
	uint32_t held = 0;

	for (uint64_t at = flights->released; at < flights->tail; at++) {
		const struct gt_flight *flight = gt_flight_at(flights, at);
		held += flight->holds && flight->request.block == request->block && flight->request.warp == request->warp &&
			flight->request.sm == request->sm;
	}
	return held;
}

/* Whether there is an entry for a miss: in its set, and for its warp. */
static bool has_entry(const struct gt_timed *timed, const struct gt_engine *engine, const struct gt_item *item, uint32_t busy)
{
	const struct gt_timed_config *config = &timed->config.timed;

	return engine->admitted ||
	       (busy < config->mshr_entries &&
		(config->per_warp == GT_UNLIMITED || gt_engine_held_by(engine, item->request) < config->per_warp));
}

static void count_miss(struct gt_timed *timed, const struct gt_item *item, uint32_t slot, uint64_t missing,
		       uint64_t covered)
{
	struct gt_level_counters *counters = &timed->level->counters;
	bool read = item->class == GT_CLASS_READ;

	*(read ? &counters->reads : &counters->atomics) += count_bits(item->piece.used);
	*(read ? &counters->read_hits : &counters->atomic_hits) += count_bits(item->piece.used & ~missing);
	*(slot == GT_NO_SLOT ? &counters->line_misses : &counters->sector_misses) += count_bits(missing);
	gt_level_pair(timed->level, read, item->piece.used, missing);
	timed->counters.latency_misses += count_bits(missing & covered);
	timed->counters.merged_reads += read ? count_bits(missing & covered) : 0;
}

uint64_t gt_engine_latency(struct gt_timed *timed, struct gt_engine *engine, uint64_t line)
{
	const struct gt_level_config *config = &timed->config;
	struct gt_level_traffic traffic = {engine->held, config->shared ? 1 : timed->active, config->timed.below};
	uint64_t steps = gt_latency_steps(&config->timed.latency, &traffic, &engine->random);

	if (steps > 0) {
		int64_t placed = (int64_t)steps + gt_spread_cycles(&config->timed.spread, (uint32_t)engine->number, line * config->line / GT_LINE);
		steps = placed > 0 ? (uint64_t)placed : 1;
	}
	return steps == 0 && config->timed.on_full == GT_FULL_STALL ? 1 : steps;
}

/* Sends the request for sectors of a lookup's line. */
static int send_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, uint64_t step, uint64_t sectors,
		     struct gt_error *error)
{
	struct gt_serving serving = {.level = timed->level, .tags = engine->tags, .request = gt_engine_request(timed, item), .sent = &timed->collected, .error = error};
	struct gt_outgoing row = {.request = serving.request};

	row.request.step = serving.request.step = step;
	if (!timed->direct || item->class != GT_CLASS_READ || timed->config.emit != GT_EMIT_MISSES)
		return gt_send_fill(&serving, item->piece.line, sectors);
	row.request.sectors = (uint8_t)sectors;
	row.request.full = 0;
	timed->level->counters.sent_requests++;
	timed->level->counters.sent_reads += count_bits(sectors);
	return gt_timed_collect(timed, timed->collected.rows, error) != 0 ? -1 : engine_send(timed, engine, &row, error);
}

/* Sends a request for the missing sectors that are not in flight. An entry is free. */
static int reserve(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, const struct gt_view *view,
		   struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	bool absent = view->slot == GT_NO_SLOT;
	uint64_t here = view->away.sectors | (absent ? 0 : *gt_slot_valid(engine->tags, view->slot));
	uint64_t asked = view->missing & ~view->away.sectors, brought = gt_level_groups(timed->level, asked) & ~here;
	uint64_t latency = gt_engine_latency(timed, engine, item->piece.line);

	outcome->status = GT_TIMED_MISS;
	outcome->latency = latency;
	outcome->effect = outcome->step + latency - (config->on_full == GT_FULL_STALL);
	outcome->busy_after = ++engine->busy[item->mshr];
	engine->held++;
	gt_engine_count_miss(timed, outcome);
	timed->level->fetch.neighbours += count_bits(brought & ~asked);
	if (send_miss(timed, engine, item, outcome->step, brought, error) != 0)
		return -1;
	return gt_flights_add(&engine->flights,
			      &(struct gt_flight){.arrival = outcome->effect, .line = item->piece.line, .sectors = brought,
						  .dirty = item->class == GT_CLASS_ATOMIC ? item->piece.used : 0,
						  .mshr_set = item->mshr, .holds = true, .absent = absent,
						  .used = !absent && config->on_full == GT_FULL_STALL,
						  .request = gt_engine_request(timed, item)},
			      error);
}

int gt_engine_miss(struct gt_timed *timed, struct gt_engine *engine, const struct gt_item *item, const struct gt_view *view,
		   struct gt_outcome *outcome, struct gt_error *error)
{
	const struct gt_timed_config *config = &timed->config.timed;
	const struct gt_coming away = view->away;
	uint64_t missing = view->missing;

	outcome->status = GT_TIMED_FAIL;
	if ((missing & ~away.sectors) == 0) {
		if (away.entry->merges >= config->merges) {
			timed->counters.reservation_fails++;
			return 0;
		}
		away.entry->merges++;
		if (item->class == GT_CLASS_ATOMIC)
			away.entry->dirty |= item->piece.used;
		outcome->status = GT_TIMED_MERGED;
		outcome->effect = away.latest;
		outcome->latency = away.latest - outcome->step;
		timed->counters.merges++;
		count_miss(timed, item, view->slot, missing, missing);
		return 0;
	}
	if (!has_entry(timed, engine, item, outcome->busy)) {
		timed->counters.reservation_fails++;
		return 0;
	}
	count_miss(timed, item, view->slot, missing, away.sectors);
	return reserve(timed, engine, item, view, outcome, error);
}
