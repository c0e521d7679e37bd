/* SPDX-License-Identifier: MIT */
/* Takes batches of requests, and ends a kernel. Requests are served in their order, and passed on with their status if --emit asks for it;
 * those that --arrival takes in turns or by their travel, or that a policy looks ahead at, are held until the kernel ends. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/spill.h"
#include "cache/level.h"
#include "cache/state.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- --arrival: requests are taken in turns of the SMs, or when they have travelled ---- */

#define SMS 65536 /* values of the column sm */

static void arrival_close(struct gt_arrivals *arrival)
{
	for (size_t i = 0; i < arrival->n; i++)
		free(arrival->queues[i].requests);
	free(arrival->queues);
	free(arrival->queue_of);
	free(arrival->order);
	gt_rows_free(arrival->rows);
	*arrival = (struct gt_arrivals){0};
}

static struct gt_queue *queue_for(struct gt_arrivals *arrival, uint16_t sm)
{
	if (!arrival->queue_of && !(arrival->queue_of = calloc(SMS, sizeof *arrival->queue_of)))
		return NULL;
	if (arrival->queue_of[sm] == 0) {
		struct gt_queue *queues =
			gt_grown(arrival->queues, arrival->n, &arrival->capacity, sizeof *arrival->queues);
		if (!queues)
			return NULL;
		arrival->queues = queues;
		arrival->queues[arrival->n++] = (struct gt_queue){.sm = sm};
		arrival->queue_of[sm] = (uint32_t)arrival->n;
	}
	return &arrival->queues[arrival->queue_of[sm] - 1];
}

/* Puts a batch of scheduled requests at the ends of their SMs' queues. */
static int arrival_add(struct gt_arrivals *arrival, const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_queue *queue = queue_for(arrival, rows->sm[i]);
		struct gt_request *requests =
			queue ? gt_grown(queue->requests, queue->n, &queue->capacity, sizeof *requests) : NULL;
		if (!requests)
			return gt_fail_memory(error, "requests that wait their SM's turn (--arrival rr)");
		queue->requests = requests;
		requests[queue->n++] = gt_request_of(rows, i);
	}
	arrival->waiting += rows->n;
	arrival->has_hints |= rows->has_hints;
	return 0;
}

static int by_sm(const void *left, const void *right)
{
	return (int)((const struct gt_queue *)left)->sm - (int)((const struct gt_queue *)right)->sm;
}

/* The batch in which requests are taken. */
static int begin_taking(struct gt_arrivals *arrival, struct gt_error *error)
{
	arrival->rows = gt_rows_new(GT_ROWS_BATCH, error);
	if (!arrival->rows)
		return -1;
	arrival->rows->kind = GT_REQUESTS;
	arrival->rows->scheduled = true;
	arrival->rows->has_hints = arrival->has_hints;
	return 0;
}

static int begin_turns(struct gt_arrivals *arrival, struct gt_error *error)
{
	if (begin_taking(arrival, error) != 0)
		return -1;
	qsort(arrival->queues, arrival->n, sizeof *arrival->queues, by_sm);
	return 0;
}

/* A queue for each step up to the longest travel after the present one, and more up to a power of two, so that a request finds its queue
 * without a division. */
static int travel_open(struct gt_arrivals *arrival, const struct gt_spread *spread, struct gt_error *error)
{
	const size_t most = ((size_t)spread->sm + spread->slice) / 2 + 1;
	size_t n = 1;

	if (arrival->queues)
		return 0;
	while (n < most)
		n *= 2;
	arrival->queues = calloc(n, sizeof *arrival->queues);
	arrival->queue_of = calloc(SMS, sizeof *arrival->queue_of);
	if (!arrival->queues || !arrival->queue_of)
		return gt_fail_memory(error, "requests on their way (--arrival travel)");
	arrival->n = n;
	return begin_taking(arrival, error);
}

static int travel_add(struct gt_arrivals *arrival, const struct gt_rows *rows, size_t i, uint64_t step, struct gt_error *error)
{
	struct gt_queue *queue = &arrival->queues[step & (arrival->n - 1)];
	struct gt_request *requests = gt_grown(queue->requests, queue->n, &queue->capacity, sizeof *requests);

	if (!requests)
		return gt_fail_memory(error, "requests on their way (--arrival travel)");
	queue->requests = requests;
	requests[queue->n++] = gt_request_of(rows, i);
	arrival->sms = rows->sm[i] < arrival->sms ? arrival->sms : rows->sm[i] + 1U;
	arrival->waiting++;
	return 0;
}

/* Puts the requests of a step in order by SM, those of one in the order in which they came: `order` gets their places. Counts them by SM
 * in queue_of, unless they are few, which are inserted one by one. */
static int order_by_sm(struct gt_arrivals *arrival, const struct gt_queue *queue, struct gt_error *error)
{
	uint32_t *order = gt_grown_to(arrival->order, queue->n, &arrival->order_capacity, sizeof *order), before = 0;

	if (!order)
		return gt_fail_memory(error, "requests on their way (--arrival travel)");
	arrival->order = order;
	if (queue->n * queue->n < arrival->sms) {
		for (uint32_t i = 0, at; i < queue->n; order[at] = i++)
			for (at = i; at > 0 && queue->requests[order[at - 1]].sm > queue->requests[i].sm; at--)
				order[at] = order[at - 1];
		return 0;
	}
	memset(arrival->queue_of, 0, arrival->sms * sizeof *arrival->queue_of);
	for (size_t i = 0; i < queue->n; i++)
		arrival->queue_of[queue->requests[i].sm]++;
	for (uint32_t sm = 0; sm < arrival->sms; sm++) {
		uint32_t n = arrival->queue_of[sm];
		arrival->queue_of[sm] = before;
		before += n;
	}
	for (size_t i = 0; i < queue->n; i++)
		order[arrival->queue_of[queue->requests[i].sm]++] = (uint32_t)i;
	return 0;
}

/* Takes a request from the current queue, if it has one. */
static void take_turn(struct gt_arrivals *arrival)
{
	struct gt_queue *queue = &arrival->queues[arrival->at];

	if (queue->taken < queue->n) {
		struct gt_request *request = &queue->requests[queue->taken++];
		request->step = arrival->turn;
		gt_request_append(arrival->rows, request);
		arrival->waiting--;
	}
	if (++arrival->at == arrival->n) {
		arrival->at = 0;
		arrival->turn++;
	}
}

/* The next batch, in rounds of ascending SM; the step of a request is its round, from 0. `rows` is valid until the next
 * call. Returns 1; 0 when no request is left, and requests can be added again; or -1. */
static int arrival_next(struct gt_arrivals *arrival, const struct gt_rows **rows, struct gt_error *error)
{
	if (arrival->waiting == 0) {
		arrival_close(arrival);
		return 0;
	}
	if (!arrival->rows && begin_turns(arrival, error) != 0)
		return -1;
	arrival->rows->n = 0;
	while (arrival->waiting > 0 && arrival->rows->n < arrival->rows->capacity)
		take_turn(arrival);
	*rows = arrival->rows;
	return 1;
}

/* ---- lookahead ----
 *
 * Requests are held until the end of their kernel, for a policy that looks ahead; then each is served with the next use of its lines. A
 * use is a request that would fetch the line if it were absent. A line that a store or an atomic invalidates before has none. They use
 * the memory of the level's config, and then a file in its directory. */

/* A batch of requests, in one piece of the store. */
struct chunk {
	struct chunk *before, *after;
	struct gt_segment *segment;
	size_t n;
	struct gt_request requests[GT_ROWS_BATCH];
	uint32_t latency[GT_ROWS_BATCH];
	uint64_t next_use[]; /* of each line of each request */
};

struct gt_lookahead {
	const struct gt_level *level;
	unsigned lines;
	bool scheduled, has_latency, has_hints;
	struct gt_store store;
	struct chunk *first, *last;
	size_t sms;	      /* above every SM of the requests that wait */
	struct gt_rows *rows; /* the batch returned last; NULL before the first */
	bool begun;	      /* batches are returned; else requests are added */
};

/* Lines of this level that a request can touch: a power of two. */
static unsigned lookahead_lines(const struct gt_level *level)
{
	return level->config.translate || level->config.line >= GT_LINE ? 1 : (unsigned)(GT_LINE / level->config.line);
}

/* NULL on error. */
static struct gt_lookahead *lookahead_open(const struct gt_level *level, struct gt_error *error)
{
	struct gt_lookahead *lookahead = calloc(1, sizeof *lookahead);

	if (!lookahead) {
		gt_fail_memory(error, "requests that wait for the end of a kernel");
		return NULL;
	}
	lookahead->level = level;
	lookahead->lines = lookahead_lines(level);
	gt_store_open(&lookahead->store, level->config.memory, level->config.directory);
	return lookahead;
}

static void lookahead_close(struct gt_lookahead *lookahead)
{
	if (!lookahead)
		return;
	gt_store_close(&lookahead->store);
	gt_rows_free(lookahead->rows);
	free(lookahead);
}

/* Appends an empty chunk. */
static int add_chunk(struct gt_lookahead *lookahead, struct gt_error *error)
{
	struct gt_segment *segment;
	struct chunk *chunk = gt_store_take(&lookahead->store,
					    sizeof *chunk + GT_ROWS_BATCH * lookahead->lines * sizeof *chunk->next_use,
					    &segment, error);

	if (!chunk)
		return -1;
	chunk->before = lookahead->last;
	chunk->after = NULL;
	chunk->segment = segment;
	chunk->n = 0;
	*(lookahead->last ? &lookahead->last->after : &lookahead->first) = chunk;
	lookahead->last = chunk;
	return 0;
}

/* Appends a batch of requests. */
static int lookahead_add(struct gt_lookahead *lookahead, const struct gt_rows *rows, struct gt_error *error)
{
	lookahead->scheduled = rows->scheduled;
	lookahead->has_latency = rows->has_latency;
	lookahead->has_hints |= rows->has_hints;
	for (size_t i = 0; i < rows->n; i++) {
		if ((!lookahead->last || lookahead->last->n == GT_ROWS_BATCH) && add_chunk(lookahead, error) != 0)
			return -1;
		struct chunk *chunk = lookahead->last;
		chunk->latency[chunk->n] = rows->has_latency ? rows->latency[i] : 0;
		chunk->requests[chunk->n] = gt_request_of(rows, i);
		size_t sm = chunk->requests[chunk->n++].sm;
		lookahead->sms = sm < lookahead->sms ? lookahead->sms : sm + 1;
	}
	return 0;
}

/* The effect of a request on the next use of its lines. */
enum use { USE, NONE, END };

/* Of a row that is not an access, as gt_serve_hinted serves it. */
static enum use use_of_action(const struct gt_level_config *config, enum gt_line_action action)
{
	bool prefetches = action <= GT_PREFETCH_L2;

	if (config->translate)
		return prefetches ? USE : NONE;
	bool passes = !config->shared && (action != GT_PREFETCH_L1 || config->hints != GT_HINTS_HONOUR);
	if (passes || config->hints == GT_HINTS_IGNORE || config->bypass == GT_BYPASS_ALL || (prefetches && config->bypass == GT_BYPASS_READS))
		return NONE;
	return prefetches ? USE : action == GT_DISCARD_L2 ? END : NONE;
}

static enum use use_of(const struct gt_level *level, const struct gt_request *request)
{
	const struct gt_level_config *config = &level->config;
	bool back = config->write == GT_WRITE_BACK, evict = config->write == GT_WRITE_EVICT;
	enum gt_op_class class = (enum gt_op_class)level->class_of[request->op];

	if (gt_hint_action(request->hint) != GT_ACCESS_DATA)
		return use_of_action(config, gt_hint_action(request->hint));

	if (config->translate || class == GT_CLASS_READ || (class == GT_CLASS_CONSTANT && config->shared))
		return USE;
	if (class == GT_CLASS_ATOMIC)
		return back ? USE : END;
	if (class == GT_CLASS_DROP)
		return END;
	if (class == GT_CLASS_WRITE)
		return evict ? END : config->allocate ? USE : NONE;
	return NONE;
}

/* The lines that a request looks up, by ascending address. */
static unsigned lines_of(const struct gt_level *level, const struct gt_request *request, uint64_t lines[GT_PIECES_MAX])
{
	struct gt_piece pieces[GT_PIECES_MAX];
	unsigned n;

	if (level->config.translate) {
		lines[0] = request->address >> level->line_shift;
		return 1;
	}
	n = gt_level_split(level, request, pieces);
	for (unsigned p = 0; p < n; p++)
		lines[p] = pieces[p].line;
	return n;
}

/* Sets the next uses of a request, whose index in the kernel is `place`; `known` holds those of the later requests. */
static int look_back(const struct gt_lookahead *lookahead, struct gt_map *known, const struct gt_request *request,
		     uint64_t place, uint64_t *next_use, struct gt_error *error)
{
	enum use use = use_of(lookahead->level, request);
	uint64_t lines[GT_PIECES_MAX];
	unsigned n = lines_of(lookahead->level, request, lines);

	if (!known->slots && gt_map_open(known, 64, error) != 0)
		return -1;
	for (unsigned p = n; p-- > 0;) {
		int fresh;
		uint64_t *at = gt_map_put(known, lines[p], NO_USE, &fresh);
		if (!at)
			return gt_fail_memory(error, "the next uses of lines");
		next_use[lines[p] & (lookahead->lines - 1)] = *at;
		if (use != NONE)
			*at = use == USE ? place * GT_PIECES_MAX + p : NO_USE;
	}
	return 0;
}

/* Finds all next uses, from the last request to the first; `known` has a map for each instance. */
static int look_back_on_all(struct gt_lookahead *lookahead, struct gt_map *known, struct gt_error *error)
{
	bool shared = lookahead->level->config.shared;
	uint64_t place = UINT64_MAX / GT_PIECES_MAX;

	for (struct chunk *chunk = lookahead->last; chunk; chunk = chunk->before)
		for (size_t i = chunk->n; i-- > 0;) {
			const struct gt_request *request = &chunk->requests[i];
			if (look_back(lookahead, &known[shared ? 0 : request->sm], request, --place,
				      chunk->next_use + i * lookahead->lines, error) != 0)
				return -1;
		}
	return 0;
}

static int find_uses(struct gt_lookahead *lookahead, struct gt_error *error)
{
	size_t instances = lookahead->level->config.shared ? 1 : lookahead->sms;
	struct gt_map *known = calloc(instances, sizeof *known);
	int result = known ? look_back_on_all(lookahead, known, error) : gt_fail_memory(error, "the next uses of lines");

	for (size_t i = 0; known && i < instances; i++)
		gt_map_close(&known[i]);
	free(known);
	return result;
}

/* After the last request: finds the next uses. */
static int lookahead_begin(struct gt_lookahead *lookahead, struct gt_error *error)
{
	if (!lookahead->rows && !(lookahead->rows = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	lookahead->begun = true;
	lookahead->rows->kind = GT_REQUESTS;
	lookahead->rows->scheduled = lookahead->scheduled;
	lookahead->rows->has_latency = lookahead->has_latency;
	return find_uses(lookahead, error);
}

static void drop_first(struct gt_lookahead *lookahead)
{
	struct chunk *first = lookahead->first;

	lookahead->first = first->after;
	gt_store_release(&lookahead->store, first->segment);
}

/* The next batch, unchanged; valid until the next call. next_use has a word for each line that a request can touch
 * (lookahead_lines of them): for line L of request i, the word i * lines + L modulo lines. A larger word is a later use.
 * Returns 1; 0 when no request is left, and requests can be added again; or -1. */
static int lookahead_next(struct gt_lookahead *lookahead, const struct gt_rows **rows, const uint64_t **next_use,
		      struct gt_error *error)
{
	if (lookahead->begun)
		drop_first(lookahead);
	else if (lookahead->first && lookahead_begin(lookahead, error) != 0)
		return -1;
	if (!lookahead->first) {
		lookahead->last = NULL;
		lookahead->has_hints = lookahead->begun = false;
		lookahead->sms = 0;
		return 0;
	}
	lookahead->rows->n = 0;
	lookahead->rows->has_hints = lookahead->has_hints;
	for (size_t i = 0; i < lookahead->first->n; i++)
		gt_request_append(lookahead->rows, &lookahead->first->requests[i]);
	if (lookahead->has_latency)
		memcpy(lookahead->rows->latency, lookahead->first->latency, lookahead->first->n * sizeof *lookahead->rows->latency);
	*rows = lookahead->rows;
	*next_use = lookahead->first->next_use;
	return 1;
}

int gt_waiting_open(struct gt_level *level, struct gt_error *error)
{
	level->next_uses = lookahead_lines(level);
	if (!level->config.replacement.policy->looks_ahead)
		return 0;
	level->lookahead = lookahead_open(level, error);
	return level->lookahead ? 0 : -1;
}

void gt_waiting_close(struct gt_level *level)
{
	arrival_close(&level->arrival);
	lookahead_close(level->lookahead);
}

/* ---- --emit all and latency: every request is passed on in the order of service, with its status ---- */

/* Prepares the rows that --emit all and latency write for a batch. */
static int emit_begin(const struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		      struct gt_error *error)
{
	struct gt_rows shape = {.kind = GT_REQUESTS, .scheduled = rows->scheduled, .has_status = true,
				.has_latency = rows->has_latency || level->config.emit == GT_EMIT_LATENCY,
				.has_hints = rows->has_hints};

	return gt_sink_begin_as(sent, &shape, error);
}

#define FAR 0x80 /* beside a status: the other partition had some of the sectors */

/* Adds the level's cycles; none for a request that was not looked up, or that an earlier level served. */
static void add_latency(const struct gt_level *level, struct gt_rows *rows, size_t i, uint8_t found)
{
	const struct gt_level_config *config = &level->config;
	uint8_t status = found & (uint8_t)~FAR;
	bool hit = status == GT_STATUS_HIT;

	if (status == GT_STATUS_NONE)
		return;
	int64_t latency = gt_cycles_add(hit ? &config->hit_cycles : &config->miss_cycles, rows->latency[i]);
	if (rows->scheduled)
		latency += gt_spread_cycles(&config->spread, rows->sm[i], rows->address[i] / GT_LINE);
	latency += found & FAR ? config->spread.far : 0;
	rows->latency[i] = latency < rows->latency[i] ? rows->latency[i] : latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
	rows->status[i] = !config->translate ? status : hit ? GT_STATUS_TLB_HIT : GT_STATUS_TLB_MISS;
}

/* Writes rows [first, first + n) with their status. */
static int emit_rows(const struct gt_level *level, const struct gt_rows *rows, size_t first, size_t n, const uint8_t *status,
		     struct gt_sink *sent, struct gt_error *error)
{
	for (size_t done = 0, some; done < n; done += some) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		struct gt_rows *to = sent->rows;
		size_t at = to->n, room = to->capacity - at;
		some = n - done < room ? n - done : room;
		gt_rows_append(to, rows, first + done, some);
		if (level->config.emit == GT_EMIT_ALL) {
			memcpy(to->status + at, status + done, some);
			continue;
		}
		/* Without latencies this is the first level of a chain: the status is from another kind of level. */
		if (!rows->has_latency)
			memset(to->status + at, GT_STATUS_NONE, some);
		for (size_t i = 0; i < some; i++)
			add_latency(level, to, at + i, status[done + i]);
	}
	return 0;
}

/* ---- a batch in its order ---- */

#define STATUS_ROWS 256 /* that are served before they are emitted */

/* Whether requests of the batch have hints that apply. */
static bool hinted(const struct gt_level *level, const struct gt_rows *rows)
{
	return rows->has_hints || level->window.bytes > 0;
}

/* The level has these counts now: what they have grown by since the last look is the instruction's. Returns 0, or -1 when memory is
 * short. */
static int by_pc_add(struct gt_by_pc *by, uint32_t pc, uint64_t reads, uint64_t hits, struct gt_error *error)
{
	const uint64_t more = reads - by->reads, hit = hits - by->hits;
	int fresh = 0;

	by->reads = reads;
	by->hits = hits;
	if (more == 0)
		return 0;
	uint64_t *place = gt_map_put(&by->index, pc, by->n, &fresh);
	struct gt_pc_reads *pcs = place ? gt_grown(by->pcs, by->n, &by->capacity, sizeof *pcs) : NULL;
	if (!pcs)
		return gt_fail_memory(error, "counts by instruction");
	by->pcs = pcs;
	if (fresh)
		pcs[by->n++] = (struct gt_pc_reads){.pc = pc};
	pcs[*place].reads += more;
	pcs[*place].hits += hit;
	return 0;
}

/* Before row i is served. */
static inline int note_before(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	return level->notes ? gt_notes_before(level, rows, i, error) : 0;
}

/* The full level serves row i, and sends nothing. */
static int serve_full(struct gt_level *full, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_serving serving = {.level = full, .sent = &full->dropped, .error = error, .request = gt_request_of(rows, i),
				     .tags = gt_level_instance(full, gt_level_instance_of(full, rows, i), error)};
	uint8_t status;

	return serving.tags ? gt_level_find(&serving, &status) : -1;
}

/* Counts what row i has done, by instruction or by site, and finds why it missed, if these are asked for. */
static inline int note_after(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	if (level->config.by == GT_BY_PC &&
	    by_pc_add(&level->by_pc, rows->pc[i], level->counters.reads, level->counters.read_hits, error) != 0)
		return -1;
	if (!level->notes)
		return 0;
	if (level->full && serve_full(level->full, rows, i, error) != 0)
		return -1;
	gt_notes_after(level, rows, i);
	return 0;
}

static int begin_full(struct gt_level *full, const struct gt_rows *rows, struct gt_error *error)
{
	full->scheduled = rows->scheduled;
	return gt_sink_begin_as(&full->dropped, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = rows->scheduled,
								  .has_hints = rows->has_hints}, error);
}

static int serve_hinted(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};
	struct gt_first first;

	for (size_t i = 0; i < rows->n; i++) {
		int served = gt_coalesce_load(level, rows, i, &first, error);
		if (served > 0)
			continue;
		serving.tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), error);
		if (served < 0 || !serving.tags)
			return -1;
		if (level->lookahead)
			gt_level_foresee(level, serving.tags, i);
		serving.request = gt_request_of(rows, i);
		if (note_before(level, rows, i, error) != 0 || gt_serve_hinted(&serving) != 0 || note_after(level, rows, i, error) != 0)
			return -1;
		gt_coalesce_until(level, &first);
	}
	return 0;
}

/* Serves requests one by one; `noted`: the level notes what each does. */
GT_INLINE int serve_each(struct gt_level *level, const struct gt_rows *rows, bool noted, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = sent, .error = error};
	struct gt_first first;

	for (size_t i = 0; i < rows->n; i++) {
		gt_level_prefetch(level, rows, i);
		gt_coalesce_prefetch(level, rows, i);
		int served = gt_coalesce_load(level, rows, i, &first, error);
		if (served > 0)
			continue;
		struct gt_tags *tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), error);
		if (served < 0 || !tags)
			return -1;
		if (level->lookahead)
			gt_level_foresee(level, tags, i);
		if ((noted && note_before(level, rows, i, error) != 0) || gt_level_serve_row(&serving, tags, rows, i) != 0 ||
		    (noted && note_after(level, rows, i, error) != 0))
			return -1;
		gt_coalesce_until(level, &first);
	}
	return 0;
}

static int serve_rows(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return serve_each(level, rows, false, sent, error);
}

static int serve_and_note(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return serve_each(level, rows, true, sent, error);
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
	gt_level_prefetch(level, rows, i);
	if (found_before(level, rows, i))
		return 0;
	level->counters.requests++;
	serving->tags = gt_level_instance(level, gt_level_instance_of(level, rows, i), serving->error);
	if (!serving->tags)
		return -1;
	if (level->lookahead)
		gt_level_foresee(level, serving->tags, i);
	serving->request = gt_request_of(rows, i);
	uint64_t far = level->l2_partitions.far_reads;
	if (note_before(level, rows, i, serving->error) != 0 || gt_level_find(serving, status) != 0)
		return -1;
	if (level->config.emit == GT_EMIT_LATENCY && level->l2_partitions.far_reads > far)
		*status |= FAR;
	return note_after(level, rows, i, serving->error);
}

/* Passes each request on with its status; requests sent to the next level are not written. */
static int serve_and_emit(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			  struct gt_error *error)
{
	struct gt_serving serving = {.level = level, .sent = &level->dropped, .error = error};
	uint8_t status[STATUS_ROWS];

	if (emit_begin(level, rows, sent, error) != 0 ||
	    gt_sink_begin(&level->dropped, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	for (size_t first = 0, n; first < rows->n; first += n) {
		n = rows->n - first < STATUS_ROWS ? rows->n - first : STATUS_ROWS;
		for (size_t i = 0; i < n; i++)
			if (find_row(&serving, rows, first + i, &status[i]) != 0)
				return -1;
		if (emit_rows(level, rows, first, n, status, sent, error) != 0)
			return -1;
	}
	return 0;
}

/* Whether the fast wing serves a batch. */
static bool goes_fast(const struct gt_level *level, const struct gt_rows *rows)
{
	const bool noted = level->notes || level->config.by != GT_BY_NONE, emits = level->config.emit == GT_EMIT_ALL || level->config.emit == GT_EMIT_LATENCY;

	return level->fast && !noted && !emits && !level->full && level->config.coalescer.requests == 0 && !hinted(level, rows);
}

static uint64_t requests_of(const struct gt_rows *rows)
{
	uint64_t requests = 0;

	for (size_t i = 0; rows->has_spans && i < rows->n; i++)
		requests += gt_rows_span(rows, i);
	return rows->has_spans ? requests : rows->n;
}

/* Serves a batch in its order. */
static int serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		       struct gt_error *error)
{
	const bool noted = level->notes || level->config.by != GT_BY_NONE, coalesces = level->config.coalescer.requests > 0;

	note_steps(level, rows);
	if (level->full && begin_full(level->full, rows, error) != 0)
		return -1;
	if (level->config.emit == GT_EMIT_ALL || level->config.emit == GT_EMIT_LATENCY)
		return serve_and_emit(level, rows, sent, error);
	level->counters.requests += requests_of(rows);
	if (level->config.emit == GT_EMIT_NONE)
		sent = &level->dropped;
	if (gt_sink_begin_as(sent, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = rows->scheduled,
						     .has_hints = rows->has_hints}, error) != 0)
		return -1;
	if (goes_fast(level, rows))
		return level->fast(level, rows, sent, error);
	if (hinted(level, rows))
		return serve_hinted(level, rows, sent, error);
	if (level->full && level->config.by != GT_BY_PC && !coalesces)
		return gt_notes_serve(level, rows, sent, error);
	return (noted ? serve_and_note : serve_rows)(level, rows, sent, error);
}

/* ---- what a level takes, and the end of a kernel ---- */

static int serve_or_keep(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return level->lookahead ? lookahead_add(level->lookahead, rows, error) : serve_batch(level, rows, sent, error);
}

/* Serves what has been taken. */
static int serve_taken(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_rows *rows = level->arrival.rows;

	if (!rows || rows->n == 0)
		return 0;
	rows->has_hints = level->arrival.has_hints;
	int result = serve_or_keep(level, rows, sent, error);
	rows->n = 0;
	return result;
}

/* Takes the requests that come before a step; those of one step by SM, as all rows come. */
static int travel_to(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_arrivals *arrival = &level->arrival;

	for (; arrival->step < step && arrival->waiting > 0; arrival->step++) {
		struct gt_queue *queue = &arrival->queues[arrival->step & (arrival->n - 1)];
		if (queue->n > 0 && order_by_sm(arrival, queue, error) != 0)
			return -1;
		for (size_t i = 0; i < queue->n; i++) {
			struct gt_request *request = &queue->requests[arrival->order[i]];
			request->step = arrival->step;
			if (arrival->rows->n == arrival->rows->capacity && serve_taken(level, sent, error) != 0)
				return -1;
			gt_request_append(arrival->rows, request);
		}
		arrival->waiting -= queue->n;
		queue->n = 0;
	}
	arrival->step = step > arrival->step ? step : arrival->step;
	return 0;
}

/* They come when they have travelled, but not before those that have been served. */
static int take_travelling(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_arrivals *arrival = &level->arrival;

	if (rows->has_hints && !arrival->has_hints && serve_taken(level, sent, error) != 0)
		return -1;
	arrival->has_hints |= rows->has_hints;
	if (travel_open(arrival, &level->config.spread, error) != 0)
		return -1;
	arrival->rows->has_hints = arrival->has_hints;
	for (size_t i = 0; i < rows->n; i++) {
		if (travel_to(level, rows->step[i], sent, error) != 0)
			return -1;
		uint64_t late = rows->step[i] < arrival->step ? arrival->step - rows->step[i] : 0;
		uint32_t way = gt_spread_way(&level->config.spread, rows->sm[i], rows->address[i] / GT_LINE);
		if (travel_add(arrival, rows, i, rows->step[i] + (way > late ? way : late), error) != 0)
			return -1;
	}
	return serve_taken(level, sent, error);
}

/* The rows as the level takes them: request by request, unless it takes those that are several. NULL when memory is short. */
static const struct gt_rows *find_requests(struct gt_level *level, const struct gt_rows *rows, struct gt_error *error)
{
	if (!rows->has_spans || (level->takes_spans && goes_fast(level, rows) && level->config.arrival == GT_ARRIVAL_STEP))
		return rows;
	return gt_rows_expand(&level->singly, rows, 0, rows->n, error) == 0 ? level->singly : NULL;
}

int gt_level_take(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_rows *requests = find_requests(level, rows, error);

	if (!requests)
		return -1;
	if (requests->n == 0)
		return 0;
	bool in_turns = level->config.arrival == GT_ARRIVAL_RR && requests->scheduled;
	level->scheduled = requests->scheduled;
	if (gt_level_serve_launch_reads(level, in_turns || !requests->scheduled ? 0 : requests->step[0], sent, error) != 0)
		return -1;
	if (in_turns)
		return arrival_add(&level->arrival, requests, error);
	if (level->config.arrival == GT_ARRIVAL_TRAVEL && requests->scheduled)
		return take_travelling(level, requests, sent, error);
	return serve_or_keep(level, requests, sent, error);
}

/* Serves the requests that wait for the arrival order, and then those that wait for a policy that looks ahead. */
static int serve_waiting(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	const struct gt_rows *rows;
	int more;

	if (level->config.arrival == GT_ARRIVAL_TRAVEL && (travel_to(level, UINT64_MAX, sent, error) != 0 || serve_taken(level, sent, error) != 0))
		return -1;
	while ((more = arrival_next(&level->arrival, &rows, error)) > 0)
		if (serve_or_keep(level, rows, sent, error) != 0)
			return -1;
	if (more < 0 || !level->lookahead)
		return more;
	while ((more = lookahead_next(level->lookahead, &rows, &level->next_use, error)) > 0)
		if (serve_batch(level, rows, sent, error) != 0)
			return -1;
	return more;
}

/* Counts what was written of an instance, and empties it. */
static void leave_instance(struct gt_level *level, struct gt_tags *tags)
{
	const uint32_t sets = level->geometry.sets;

	for (uint32_t set = gt_tags_used(tags, 0); set < sets; set = gt_tags_used(tags, set + 1)) {
		const uint32_t n = gt_tags_by_recency(tags, set, level->slots);
		for (uint32_t i = 0; i < n; i++)
			if (!gt_is_found(level, *gt_slot_tag(tags, level->slots[i]) - 1))
				level->between.left_dirty += (uint64_t)__builtin_popcountll(*gt_slot_dirty(tags, level->slots[i])) << level->sector_shift;
	}
	gt_tags_clear(tags);
}

/* Empties every instance; what was written is counted, and not sent. */
static void leave(struct gt_level *level)
{
	for (size_t i = 0; i < level->instances_end; i++)
		if (level->instances[i])
			leave_instance(level, level->instances[i]);
}

/* Sends dirty sectors, by set, then from the most to the least recent; all lines become invalid. */
static int flush(const struct gt_serving *serving)
{
	struct gt_level *level = serving->level;
	struct gt_tags *tags = serving->tags;
	uint32_t sets = level->config.write == GT_WRITE_BACK ? level->geometry.sets : 0;

	for (uint32_t set = gt_tags_used(tags, 0); set < sets; set = gt_tags_used(tags, set + 1)) {
		uint32_t n = gt_tags_by_recency(tags, set, level->slots);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t slot = level->slots[i];
			uint64_t dirty = *gt_slot_dirty(tags, slot);
			if (dirty && gt_send_back(serving, *gt_slot_tag(tags, slot) - 1, dirty, dirty & gt_tags_valid(tags, slot)) != 0)
				return -1;
		}
	}
	gt_tags_clear(tags);
	return 0;
}

int gt_level_finish(struct gt_level *level, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t before;

	if (gt_level_serve_launch_reads(level, 0, sent, error) != 0 || serve_waiting(level, sent, error) != 0)
		return -1;
	if ((level->full && gt_level_finish(level->full, sent, error) != 0) ||
	    (level->beside && gt_level_finish(level->beside, &level->beside->dropped, error) != 0))
		return -1;
	if (level->config.flush != GT_FLUSH_NEVER)
		gt_notes_forget(level);
	if (level->config.flush == GT_FLUSH_BETWEEN)
		leave(level);
	if (level->config.flush != GT_FLUSH_KERNEL)
		return 0;
	if (level->config.emit != GT_EMIT_MISSES)
		sent = &level->dropped;
	if (gt_sink_begin(sent, GT_REQUESTS, level->scheduled, error) != 0)
		return -1;
	before = level->counters.sent_writes;
	for (size_t i = 0; i < level->instances_end; i++) {
		if (!level->instances[i])
			continue;
		const struct gt_serving serving = {
			.level = level, .tags = level->instances[i], .sent = sent, .error = error,
			.request = {.step = level->last_step + (level->last_step < UINT64_MAX), .sm = (uint16_t)i}};
		if (flush(&serving) != 0)
			return -1;
	}
	level->counters.flushed += level->counters.sent_writes - before;
	return 0;
}
