/* SPDX-License-Identifier: MIT */
/* Requests that are served as one: loads that repeat the one before them, loads of the SMs of a GPC that ask a shared level for the same, and
 * stores of an SM to sectors that still wait before the crossbar. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/wide.h"
#include "cache/state.h"
#include "stream/hint.h"
#include "stream/op.h"

/* ---- adjacent duplicates ---- */

/* Everything of an op but its space, unless that is constant memory, whose bit is of no other. */
#define NOT_SPACE 0xf3

/* The sectors of n rows that repeat, at most GT_SUMMED. */
static inline uint8_t sum_sectors(const uint8_t *repeats, const uint8_t *sectors, size_t n)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum = (uint8_t)(sum + (gt_count_4(sectors[i]) & (uint8_t)-repeats[i]));
	return sum;
}

/* Sets repeats[i] to 1 if row first + i repeats the one before it, else to 0, and repeats[n] to either; returns the sectors of
 * those that do. Each loop compares n rows with the ones behind them, not n - 1: whole vectors. Behind the last row is room. */
GT_WIDE static uint64_t find_repeats(const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
				     uint8_t *restrict repeats)
{
	const uint64_t *address = rows->address + first;
	const uint8_t *op = rows->op + first, *sectors = rows->sectors + first;
	const uint8_t plain = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
	uint8_t *restrict next = repeats + 1;
	uint64_t sum = 0;
	size_t i;

	repeats[0] = 0;
	for (i = 0; i < n; i++)
		next[i] = address[i + 1] == address[i];
	for (i = 0; i < n; i++)
		next[i] = op[i + 1] == op[i] ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(op[i] & NOT_SPACE) == plain ? next[i] : 0;
	for (i = 0; i < n; i++)
		next[i] = (uint8_t)(sectors[i + 1] & ~sectors[i] & 15) == 0 ? next[i] : 0;
	sm = sm ? sm + first : NULL;
	if (sm)
		for (i = 0; i < n; i++)
			next[i] &= sm[i + 1] == sm[i];
	for (i = 0; i + GT_SUMMED <= n; i += GT_SUMMED)
		sum += sum_sectors(repeats + i, sectors + i, GT_SUMMED);
	return sum + sum_sectors(repeats + i, sectors + i, n - i);
}

void gt_deduplicate(struct gt_deduplicated *deduplicated, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		    bool repeats_hit)
{
	uint8_t repeats[GT_DEDUPLICATED_ROWS + 1] = {0};

	deduplicated->n = 0;
	deduplicated->repeated = repeats_hit ? find_repeats(rows, sm, first, n, repeats) : 0;
	for (size_t i = 0; i < n; i++) {
		deduplicated->row[deduplicated->n] = (uint32_t)(first + i);
		deduplicated->n += !repeats[i];
	}
}

/* ---- the request coalescer: a load that asks for what another SM of its GPC, or its own, has asked for is served with that one, whose
 * data go to both, until these are back ---- */

#define COALESCER_BITS 10 /* of the entries at first */

void gt_request_coalescer_begin(struct gt_request_coalescer *coalescer)
{
	if (coalescer->used > 0)
		memset(coalescer->asked, 0, sizeof *coalescer->asked << coalescer->bits);
	coalescer->used = 0;
}

uint32_t gt_level_gpc_of(const struct gt_level_config *config, uint16_t sm)
{
	const struct gt_gpcs *gpcs = &config->coalescer.gpcs;
	uint32_t gpc = 0;

	if (gpcs->n > 0) {
		while (gpc + 1 < gpcs->n && sm >= gpcs->end[gpc])
			gpc++;
		return gpc;
	}
	uint64_t pairs = (config->spread.sms + 1) / 2;

	return pairs == 0 ? 0 : (uint32_t)(sm / 2 % pairs * config->launch_reads.gpcs / pairs);
}

/* Whether what was asked for may still be shared at this step. */
static bool is_open(const struct gt_asked *asked, uint64_t step)
{
	return asked->requests > 0 && step <= asked->until;
}

/* Where the table has what is alike: the sectors, their line and the GPC. */
static size_t place_of(const struct gt_request_coalescer *coalescer, const struct gt_asked *alike)
{
	const uint64_t key[] = {alike->line, (uint64_t)alike->gpc << 8 | alike->sectors};

	return (size_t)(XXH3_64bits(key, sizeof key) >> (64 - coalescer->bits));
}

/* The entry of what is alike, or the free one where it belongs. */
static struct gt_asked *asked_for(const struct gt_request_coalescer *coalescer, const struct gt_asked *alike)
{
	size_t at = place_of(coalescer, alike);
	struct gt_asked *asked = &coalescer->asked[at];

	while (asked->requests > 0 && (asked->line != alike->line || asked->gpc != alike->gpc || asked->sectors != alike->sectors)) {
		at = (at + 1) & (((size_t)1 << coalescer->bits) - 1);
		asked = &coalescer->asked[at];
	}
	return asked;
}

/* Leaves out the entries that are open no more at this step, in a table of twice the size if many are left. */
static int coalescer_renew(struct gt_request_coalescer *coalescer, uint64_t step, struct gt_error *error)
{
	struct gt_request_coalescer old = *coalescer;
	size_t n = old.asked ? (size_t)1 << old.bits : 0, left = 0;

	for (size_t i = 0; i < n; i++)
		left += is_open(&old.asked[i], step);
	coalescer->bits = n == 0 ? COALESCER_BITS : old.bits + (left > n / 4);
	coalescer->asked = calloc((size_t)1 << coalescer->bits, sizeof *coalescer->asked);
	coalescer->used = left;
	if (!coalescer->asked) {
		*coalescer = old;
		return gt_fail_memory(error, "requests that the coalescer compares");
	}
	for (size_t i = 0; i < n; i++)
		if (is_open(&old.asked[i], step))
			*asked_for(coalescer, &old.asked[i]) = old.asked[i];
	free(old.asked);
	return 0;
}

static bool may_coalesce(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	enum gt_op_class class = level->class_of[rows->op[i]];

	if (level->config.coalescer.requests == 0 || !rows->scheduled || (class != GT_CLASS_READ && class != GT_CLASS_STREAM))
		return false;
	return !rows->has_hints || gt_hint_action(rows->hint[i]) == GT_ACCESS_DATA;
}

/* What row i asks for, open at its step alone. */
static struct gt_asked asked_by(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	return (struct gt_asked){.line = rows->address[i] / GT_LINE, .until = rows->step[i], .gpc = gt_level_gpc_of(&level->config, rows->sm[i]),
				 .requests = 1, .sectors = rows->sectors[i]};
}

void gt_coalesce_prefetch(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (i % GT_AHEAD != 0 || !level->coalescer.asked)
		return;
	for (size_t end = rows->n - i < GT_AHEAD ? rows->n : i + GT_AHEAD; i < end; i++) {
		if (!may_coalesce(level, rows, i))
			continue;
		const struct gt_asked asked = asked_by(level, rows, i);
		__builtin_prefetch(&level->coalescer.asked[place_of(&level->coalescer, &asked)]);
	}
}

int gt_coalesce_load(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_first *first, struct gt_error *error)
{
	struct gt_request_coalescer *coalescer = &level->coalescer;

	first->asked = NULL;
	if (!may_coalesce(level, rows, i))
		return 0;
	const struct gt_asked fresh = asked_by(level, rows, i);
	const uint64_t step = fresh.until;
	if ((!coalescer->asked || coalescer->used > (size_t)1 << (coalescer->bits - 1)) && coalescer_renew(coalescer, step, error) != 0)
		return -1;
	struct gt_asked *asked = asked_for(coalescer, &fresh);
	if (is_open(asked, step) && asked->requests < level->config.coalescer.requests) {
		asked->requests++;
		level->counters.requests--;
		level->coalesced.coalesced_requests++;
		level->coalesced.coalesced_reads += gt_count_bits(fresh.sectors);
		return 1;
	}
	coalescer->used += asked->requests == 0;
	*asked = fresh;
	*first = (struct gt_first){asked, gt_level_missed(level), level->l2_partitions.far_reads};
	return 0;
}

/* What a miss takes more than a hit. */
static uint64_t miss_adds(const struct gt_level_config *config)
{
	const struct gt_cycles *hit = &config->hit_cycles, *miss = &config->miss_cycles;

	if (hit->n == 0 || miss->n == 0 || miss->step[0].added < hit->step[0].added)
		return 0;
	return miss->step[0].added - hit->step[0].added;
}

void gt_coalesce_until(const struct gt_level *level, const struct gt_first *first)
{
	const struct gt_level_config *config = &level->config;

	if (!first->asked || config->arrival != GT_ARRIVAL_TRAVEL)
		return;
	first->asked->until += config->coalescer.cycles;
	if (level->l2_partitions.far_reads > first->far)
		first->asked->until += config->spread.far;
	if (gt_level_missed(level) > first->missed)
		first->asked->until += miss_adds(config);
}

/* ---- write combining: stores that a private level sends on wait in a queue of lines before the crossbar, and a store to a sector that
 * waits there is one with it ---- */

static struct gt_write_queue *write_queue_of(struct gt_level *level, uint16_t sm, struct gt_error *error)
{
	struct gt_write_queue **queue = &level->write_queues[sm];

	if (!*queue && !(*queue = calloc(1, sizeof **queue + level->config.combining.lines * sizeof *(*queue)->waiting)))
		gt_fail_memory(error, "stores that wait (--combine)");
	return *queue;
}

static struct gt_waiting_store *waiting_at(const struct gt_level *level, struct gt_write_queue *queue, uint32_t i)
{
	uint64_t at = queue->first + i;

	return &queue->waiting[at < level->config.combining.lines ? at : at - level->config.combining.lines];
}

/* The cycle from which on the first that waits may leave. */
static uint64_t first_leaves(const struct gt_level *level, struct gt_write_queue *queue)
{
	uint64_t waited = waiting_at(level, queue, 0)->since + level->config.combining.cycles;

	return waited > queue->free ? waited : queue->free;
}

/* It leaves at this cycle; the crossbar takes one for the line and one for each sector. */
static void leave_queue(const struct gt_level *level, struct gt_write_queue *queue, uint64_t cycle)
{
	queue->free = cycle + 1 + gt_count_bits(waiting_at(level, queue, 0)->sectors);
	queue->first = queue->first + 1 < level->config.combining.lines ? queue->first + 1 : 0;
	queue->n--;
}

/* Those leave that can before this cycle: in one in which no store comes. */
static void leave_before(const struct gt_level *level, struct gt_write_queue *queue, uint64_t cycle)
{
	while (queue->n > 0) {
		uint64_t leaves = first_leaves(level, queue);
		leaves = leaves > queue->next ? leaves : queue->next;
		if (leaves >= cycle)
			return;
		leave_queue(level, queue, leaves);
	}
}

/* Sectors of a store wait from this cycle on, with others of their line if there are some; the first leaves if there is no room. */
static void wait_with(const struct gt_level *level, struct gt_write_queue *queue, struct gt_waiting_store *others, struct gt_waiting_store store)
{
	if (others) {
		others->sectors |= store.sectors;
		others->full |= store.full;
		return;
	}
	if (queue->n == level->config.combining.lines)
		leave_queue(level, queue, first_leaves(level, queue));
	*waiting_at(level, queue, queue->n++) = store;
}

int gt_combine_store(struct gt_level *level, const struct gt_request *store, uint8_t *left, struct gt_error *error)
{
	struct gt_write_queue *queue = write_queue_of(level, store->sm, error);
	struct gt_waiting_store *others = NULL;
	const uint64_t line = store->address / GT_LINE;

	if (!queue)
		return -1;
	const uint64_t cycle = store->step > queue->next ? store->step : queue->next;
	leave_before(level, queue, cycle);
	queue->next = cycle + 1;
	for (uint32_t i = queue->n; i-- > 0 && !others;)
		if (waiting_at(level, queue, i)->line == line)
			others = waiting_at(level, queue, i);
	/* What is overwritten whole is sent if that is not known of what waits. */
	uint8_t waits = others ? store->sectors & others->sectors & (uint8_t)~(store->full & ~others->full) : 0;
	*left = store->sectors & (uint8_t)~waits;
	level->combined.combined_writes += gt_count_bits(waits);
	level->combined.combined_requests += *left == 0;
	if (*left)
		wait_with(level, queue, others, (struct gt_waiting_store){line, cycle, *left, store->full & *left});
	return 0;
}

void gt_combine_begin(struct gt_level *level)
{
	for (size_t sm = 0; level->write_queues && sm < level->instances_n; sm++)
		if (level->write_queues[sm])
			*level->write_queues[sm] = (struct gt_write_queue){.n = 0};
}

void gt_combine_close(struct gt_level *level)
{
	for (size_t sm = 0; level->write_queues && sm < level->instances_n; sm++)
		free(level->write_queues[sm]);
	free(level->write_queues);
}
