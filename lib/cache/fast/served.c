/* SPDX-License-Identifier: MIT */
/* What stands at the ends of a loop: the rows that it needs not serve, as they repeat the one before, and what those that it served fetch. */
#include "base/grown.h"
#include "base/wide.h"
#include "cache/fast/fast.h"
#include "stream/op.h"
#include "stream/request.h"

/* ---- what reads fetch, which is sent column by column ---- */

int gt_row_list_note(struct gt_row_list *list, const uint32_t *rows, size_t step, size_t end, struct gt_error *error)
{
	uint32_t *origin = gt_grown_to(list->origin, end, &list->capacity, sizeof *origin);

	if (!origin && end > 0)
		return gt_fail_memory(error, "requests that are sent");
	list->origin = origin;
	for (; list->origins < end; rows += step)
		origin[list->origins++] = *rows;
	return 0;
}

#define GATHER(TYPE, COLUMN)                                                                      \
	do {                                                                                       \
		TYPE *restrict out = to->COLUMN + to->n;                                           \
		const TYPE *restrict in = from->COLUMN;                                            \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[row[k]];                                                       \
	} while (0)

/* Appends the rows, with other sectors, to `to`, which has room and no hints. */
static void append(struct gt_rows *to, const struct gt_rows *from, const uint32_t *restrict row, const uint8_t *sectors,
		   size_t n)
{
	GATHER(uint32_t, block);
	GATHER(uint16_t, warp);
	GATHER(uint32_t, an);
	GATHER(uint32_t, pc);
	GATHER(uint8_t, op);
	GATHER(uint64_t, address);
	GATHER(uint8_t, threads);
	if (to->scheduled) {
		GATHER(uint64_t, step);
		GATHER(uint16_t, sm);
	}
	memcpy(to->sectors + to->n, sectors, n);
	memset(to->full + to->n, 0, n);
	to->n += n;
}

int gt_served_send(struct gt_served *served, struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		   struct gt_error *error)
{
	for (size_t done = 0, n; done < served->n; done += n) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t room = sent->rows->capacity - sent->rows->n;
		n = served->n - done < room ? served->n - done : room;
		append(sent->rows, rows, served->row + done, served->sectors + done, n);
	}
	if (served->list && gt_row_list_note(served->list, served->row, 1, sent->rows->n, error) != 0)
		return -1;
	for (size_t k = 0; k < served->n; k++)
		level->counters.sent_reads += gt_bits_of_4[served->sectors[k]];
	level->counters.sent_requests += served->n;
	served->n = 0;
	return 0;
}

/* ---- adjacent duplicates ---- */

/* Everything of an op but its space. */
#define NOT_SPACE 0xe3

#define SUMMED 32 /* rows whose sectors a byte can count */

/* The sectors of n rows that repeat, at most SUMMED. */
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
	for (i = 0; i + SUMMED <= n; i += SUMMED)
		sum += sum_sectors(repeats + i, sectors + i, SUMMED);
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
