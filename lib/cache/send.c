/* SPDX-License-Identifier: MIT */
/* What a level sends on: requests of GT_LINE bytes in sectors of GT_SECTOR, whatever its own are. */
#include "cache/serve.h"
#include "stream/op.h"

struct gt_cause gt_cause_of(const struct gt_rows *rows, size_t i)
{
	return (struct gt_cause){
		.step = rows->scheduled ? rows->step[i] : 0, .block = rows->block[i], .an = rows->an[i],
		.pc = rows->pc[i], .warp = rows->warp[i], .sm = rows->scheduled ? rows->sm[i] : 0,
		.op = rows->op[i], .threads = rows->threads[i]};
}

int gt_send(struct gt_level *level, const struct gt_cause *cause, uint64_t address, uint8_t sectors,
	    uint8_t full, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_level_counters *counters = &level->counters;
	enum gt_action action = gt_op_action(cause->op);
	struct gt_rows *rows = sent->rows;

	if (gt_sink_room(sent, error) != 0)
		return -1;
	size_t at = rows->n++;
	rows->block[at] = cause->block;
	rows->warp[at] = cause->warp;
	rows->an[at] = cause->an;
	rows->pc[at] = cause->pc;
	rows->op[at] = cause->op;
	rows->address[at] = address;
	rows->sectors[at] = sectors;
	rows->full[at] = full;
	rows->threads[at] = cause->threads;
	if (rows->scheduled) {
		rows->step[at] = cause->step;
		rows->sm[at] = cause->sm;
	}
	counters->sent_requests++;
	*(action == GT_LOAD ? &counters->sent_reads : action == GT_STORE ? &counters->sent_writes : &counters->sent_atomics) +=
		gt_bits_of_4[sectors & 15];
	return 0;
}

int gt_send_on(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_sink *sent,
	       struct gt_error *error)
{
	struct gt_cause cause = gt_cause_of(rows, i);

	return gt_send(level, &cause, rows->address[i], rows->sectors[i], rows->full[i], sent, error);
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

static int send_line(struct gt_level *level, const struct gt_cause *cause, uint64_t line, uint64_t mask,
		     uint64_t full, struct gt_sink *sent, struct gt_error *error)
{
	uint64_t start = line << level->line_shift, bytes = level->config.line;

	if (level->plain)
		return gt_send(level, cause, start, (uint8_t)mask, (uint8_t)full, sent, error);
	unsigned n = bytes < GT_LINE ? (unsigned)bytes / GT_SECTOR : GT_LINE / GT_SECTOR;

	for (uint64_t at = 0; at < bytes; at += GT_LINE) {
		uint8_t sectors = stream_sectors(level, mask, at / GT_SECTOR, n);
		unsigned shift = (unsigned)(start % GT_LINE) / GT_SECTOR;
		if (sectors == 0)
			continue;
		uint8_t whole = stream_sectors(level, full, at / GT_SECTOR, n);
		if (gt_send(level, cause, (start + at) & ~(uint64_t)(GT_LINE - 1), (uint8_t)(sectors << shift),
			    (uint8_t)(whole << shift), sent, error) != 0)
			return -1;
	}
	return 0;
}

int gt_send_fill(struct gt_level *level, const struct gt_cause *cause, uint64_t line, uint64_t mask,
		 struct gt_sink *sent, struct gt_error *error)
{
	struct gt_cause load = *cause;

	if (gt_op_action(cause->op) != GT_LOAD) {
		load.op = gt_op(GT_LOAD, gt_op_space(cause->op), GT_OPERATOR_NONE);
		load.threads = 0;
	}
	return send_line(level, &load, line, mask, 0, sent, error);
}

int gt_send_back(struct gt_level *level, const struct gt_cause *cause, uint64_t line, uint64_t mask,
		 uint64_t full, struct gt_sink *sent, struct gt_error *error)
{
	struct gt_cause store = *cause;

	store.op = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	store.threads = 0;
	return send_line(level, &store, line, mask, full, sent, error);
}
