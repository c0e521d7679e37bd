/* SPDX-License-Identifier: MIT */
#include "cache/served.h"

#include "base/grown.h"

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
