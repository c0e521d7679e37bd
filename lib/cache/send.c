/* SPDX-License-Identifier: MIT */
/* The requests that a level sends on: for lines of GT_LINE bytes in sectors of GT_SECTOR, whatever its own sizes. */
#include "cache/serve.h"
#include "stream/hint.h"
#include "stream/op.h"

static int send(const struct gt_serving *serving, const struct gt_request *request)
{
	struct gt_level_counters *counters = &serving->level->counters;
	enum gt_action action = gt_op_action(request->op);

	if (gt_sink_room(serving->sent, serving->error) != 0)
		return -1;
	gt_request_append(serving->sent->rows, request);
	counters->sent_requests++;
	if (gt_hint_action(request->hint) != GT_ACCESS_DATA) {
		bool prefetches = gt_hint_action(request->hint) <= GT_PREFETCH_L2;
		*(prefetches ? &serving->level->hints.sent_prefetches : &serving->level->hints.sent_discards) +=
			gt_bits_of_4[request->sectors & 15];
		return 0;
	}
	*(action == GT_LOAD ? &counters->sent_reads : action == GT_STORE ? &counters->sent_writes : &counters->sent_atomics) +=
		gt_bits_of_4[request->sectors & 15];
	return 0;
}

int gt_send_on(const struct gt_serving *serving)
{
	return send(serving, &serving->request);
}

int gt_send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full)
{
	struct gt_request part = serving->request;

	part.sectors = sectors;
	part.full = full;
	return send(serving, &part);
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

/* `request` has the op and threads; its address and sectors become those of the line's parts. */
static int send_line(const struct gt_serving *serving, struct gt_request *request, uint64_t line, uint64_t mask,
		     uint64_t full)
{
	const struct gt_level *level = serving->level;
	uint64_t start = line << level->line_shift, bytes = level->config.line;

	if (level->fast_path) {
		request->address = start;
		request->sectors = (uint8_t)mask;
		request->full = (uint8_t)full;
		return send(serving, request);
	}
	unsigned n = bytes < GT_LINE ? (unsigned)bytes / GT_SECTOR : GT_LINE / GT_SECTOR;

	for (uint64_t at = 0; at < bytes; at += GT_LINE) {
		uint8_t sectors = stream_sectors(level, mask, at / GT_SECTOR, n);
		unsigned shift = (unsigned)(start % GT_LINE) / GT_SECTOR;
		if (sectors == 0)
			continue;
		request->address = (start + at) & ~(uint64_t)(GT_LINE - 1);
		request->sectors = (uint8_t)(sectors << shift);
		request->full = (uint8_t)(stream_sectors(level, full, at / GT_SECTOR, n) << shift);
		if (send(serving, request) != 0)
			return -1;
	}
	return 0;
}

int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask)
{
	struct gt_request load = serving->request;

	if (gt_op_action(load.op) != GT_LOAD) {
		load.op = gt_op(GT_LOAD, gt_op_space(load.op), GT_OPERATOR_NONE);
		load.threads = 0;
	}
	return send_line(serving, &load, line, mask, 0);
}

int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full)
{
	struct gt_request store = serving->request;

	store.op = gt_op(GT_STORE, GT_GLOBAL, GT_OPERATOR_NONE);
	store.hint = 0;
	store.threads = 0;
	return send_line(serving, &store, line, mask, full);
}
