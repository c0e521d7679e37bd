/* SPDX-License-Identifier: MIT */
#include "coalesce/requests.h"

#include <string.h>

#include "stream/op.h"

/* True if successive requests belong to successive accesses. */
static bool one_each(const uint32_t *access, size_t n)
{
	uint32_t differs = 0;

	for (size_t k = 0; k < n; k++)
		differs |= access[k] ^ (access[0] + (uint32_t)k);
	return differs == 0;
}

#define COPY(COLUMN)                                                                              \
	memcpy(to->COLUMN + to->n, from->COLUMN + access[0], n * sizeof *to->COLUMN)

static void copy_run(struct gt_rows *to, const struct gt_rows *from, const uint32_t *access, size_t n)
{
	COPY(block);
	COPY(warp);
	COPY(an);
	COPY(pc);
	COPY(op);
	if (from->has_hints)
		COPY(hint);
	if (from->has_work)
		COPY(work);
	if (from->scheduled) {
		COPY(step);
		COPY(sm);
	}
}

#define GATHER(TYPE, COLUMN)                                                                      \
	do {                                                                                       \
		TYPE *restrict out = to->COLUMN + to->n;                                           \
		const TYPE *restrict in = from->COLUMN;                                            \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[access[k]];                                                    \
	} while (0)

static void gather(struct gt_rows *to, const struct gt_rows *from, const uint32_t *restrict access, size_t n)
{
	GATHER(uint32_t, block);
	GATHER(uint16_t, warp);
	GATHER(uint32_t, an);
	GATHER(uint32_t, pc);
	GATHER(uint8_t, op);
	if (from->has_hints)
		GATHER(uint16_t, hint);
	if (from->has_work)
		GATHER(uint32_t, work);
	if (from->scheduled) {
		GATHER(uint64_t, step);
		GATHER(uint16_t, sm);
	}
}

static void set_lines(struct gt_rows *to, const struct gt_touched *restrict touched, size_t n,
		      const struct gt_coalescing_rule *rule)
{
	uint64_t *restrict address = to->address + to->n;
	uint8_t *restrict sectors = to->sectors + to->n, *restrict full = to->full + to->n;
	uint8_t *restrict threads = to->threads + to->n;
	const uint8_t *restrict op = to->op + to->n;

	for (size_t k = 0; k < n; k++) {
		address[k] = touched[k].address;
		sectors[k] = gt_rule_whole_lines(rule, op[k]) ? 0xf : touched[k].sectors;
		full[k] = gt_op_action(op[k]) == GT_STORE ? touched[k].full : 0;
		threads[k] = touched[k].threads;
	}
}

int gt_requests_write(struct gt_requests *requests, const struct gt_rows *accesses,
		      const struct gt_coalescing_rule *rule, struct gt_sink *sink, struct gt_error *error)
{
	for (size_t done = 0, n; done < requests->n; done += n) {
		if (gt_sink_room(sink, error) != 0)
			return -1;
		struct gt_rows *to = sink->rows;
		const uint32_t *access = requests->access + done;
		n = requests->n - done < to->capacity - to->n ? requests->n - done : to->capacity - to->n;
		if (one_each(access, n))
			copy_run(to, accesses, access, n);
		else
			gather(to, accesses, access, n);
		set_lines(to, requests->touched + done, n, rule);
		to->n += n;
	}
	requests->n = 0;
	return 0;
}
