/* SPDX-License-Identifier: MIT */
/* A trace in parts, which several threads read and which are passed on in their order, so that nothing depends on the threads: what an
 * importer reports of a part is kept in memory, and the text of an input is cut into parts. */
#include "import/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/piece.h"
#include "base/pipeline.h"

/* ---- what is kept of a part ---- */

#define BYTES_MAX ((size_t)64 << 20) /* of a part's records */

enum kind { KERNEL, ACCESS, PASSED_OVER, LINE, BLOCK };

/* A report; what it says stands behind it. */
struct record {
	uint64_t line;	/* of the input */
	uint32_t bytes; /* of all */
	uint32_t kind;	/* enum kind */
};

/* An access, in less room than struct gt_trace_access takes. */
struct access {
	uint64_t base;
	int64_t stride;
	uint32_t block, an, pc, mask, work, shared;
	uint16_t warp, hint, sm;
	uint8_t op, size;
	uint8_t numbering;
	bool listed : 1, has_work : 1, scheduled : 1; /* its addresses stand behind it; it says its work, and its SM */
};

struct passed_over {
	const char *what; /* a constant of the importer */
	uint64_t number;
};

struct source_line {
	uint32_t pc;
	uint64_t line;
};

static int report_kernel(const void *said, struct gt_input *input, const struct gt_trace *to, struct gt_error *error)
{
	return gt_import_kernel(input, to, said, error);
}

static int report_access(const void *said, struct gt_input *input, const struct gt_trace *to, struct gt_error *error)
{
	const struct access *from = said;
	const struct gt_trace_access access = {
		.block = from->block, .warp = from->warp, .numbering = (enum gt_numbering)from->numbering, .an = from->an, .pc = from->pc,
		.op = from->op, .size = from->size, .hint = from->hint, .mask = from->mask,
		.addresses = from->listed ? (const void *)(from + 1) : NULL, .base = from->base, .stride = from->stride,
		.scheduled = from->scheduled, .sm = from->sm, .has_work = from->has_work, .work = from->work, .shared = from->shared,
	};

	return gt_import_access(input, to, &access, error);
}

static int report_passed_over(const void *said, struct gt_input *input, const struct gt_trace *to, struct gt_error *error)
{
	const struct passed_over *passed = said;

	(void)input;
	return to->passed_over(to->context, passed->what, passed->number, error);
}

static int report_line(const void *said, struct gt_input *input, const struct gt_trace *to, struct gt_error *error)
{
	const struct source_line *line = said;

	(void)input;
	return to->line(to->context, line->pc, line->line, error);
}

static int report_block(const void *said, const struct gt_trace *to, struct gt_error *error)
{
	const uint32_t *block = said;

	return to->block(to->context, *block, error);
}

static int report(const struct record *record, struct gt_input *input, const struct gt_trace *to, struct gt_error *error)
{
	switch ((enum kind)record->kind) {
	case KERNEL: return report_kernel(record + 1, input, to, error);
	case PASSED_OVER: return report_passed_over(record + 1, input, to, error);
	case LINE: return report_line(record + 1, input, to, error);
	case BLOCK: return report_block(record + 1, to, error);
	case ACCESS: break;
	}
	return report_access(record + 1, input, to, error);
}

int gt_recorded_report(const struct gt_recorded *recorded, struct gt_input *input, uint64_t before, const struct gt_trace *to,
		       struct gt_error *error)
{
	for (size_t at = 0; at < recorded->n;) {
		const struct record *record = (const void *)(recorded->bytes + at);
		gt_piece_note_line(input, before + record->line);
		if (report(record, input, to, error) != 0)
			return -1;
		at += record->bytes;
	}
	return 0;
}

/* Adds a record with room for so many bytes. Returns the room, or NULL. */
static void *add(struct gt_recorded *recorded, size_t bytes, enum kind kind, struct gt_error *error)
{
	size_t all = sizeof(struct record) + (bytes + 7) / 8 * 8;

	if (recorded->n + all > BYTES_MAX) {
		recorded->full = true;
		return NULL;
	}
	unsigned char *larger = gt_grown_to(recorded->bytes, recorded->n + all, &recorded->capacity, 1);
	if (!larger) {
		gt_fail_memory(error, "a part of a trace");
		return NULL;
	}
	recorded->bytes = larger;
	struct record *record = (void *)(recorded->bytes + recorded->n);
	*record = (struct record){.line = gt_input_line_number(recorded->input), .bytes = (uint32_t)all, .kind = kind};
	recorded->n += all;
	return record + 1;
}

static int record_kernel(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_kernel *said = add(context, sizeof *said, KERNEL, error);

	if (!said)
		return -1;
	*said = *kernel; /* no text format has fields that the kernel owns */
	return 0;
}

static int record_access(void *context, const struct gt_trace_access *access, struct gt_error *error)
{
	size_t addresses = access->addresses ? (size_t)__builtin_popcount(access->mask) * sizeof *access->addresses : 0;
	struct access *said = add(context, sizeof *said + addresses, ACCESS, error);

	if (!said)
		return -1;
	*said = (struct access){.base = access->base, .stride = access->stride, .block = access->block, .an = access->an, .pc = access->pc,
				.mask = access->mask, .work = access->work, .shared = access->shared, .warp = access->warp, .hint = access->hint, .op = access->op,
				.size = access->size, .numbering = (uint8_t)access->numbering, .listed = access->addresses != NULL,
				.has_work = access->has_work, .scheduled = access->scheduled, .sm = access->sm};
	if (access->addresses)
		memcpy(said + 1, access->addresses, addresses);
	return 0;
}

static int record_passed_over(void *context, const char *what, uint64_t number, struct gt_error *error)
{
	struct passed_over *said = add(context, sizeof *said, PASSED_OVER, error);

	if (!said)
		return -1;
	*said = (struct passed_over){what, number};
	return 0;
}

static int record_line(void *context, uint32_t pc, uint64_t line, struct gt_error *error)
{
	struct source_line *said = add(context, sizeof *said, LINE, error);

	if (!said)
		return -1;
	*said = (struct source_line){pc, line};
	return 0;
}

static int record_block(void *context, uint32_t block, struct gt_error *error)
{
	uint32_t *said = add(context, sizeof *said, BLOCK, error);

	if (!said)
		return -1;
	*said = block;
	return 0;
}

void gt_recorded_begin(struct gt_recorded *recorded, const struct gt_input *input, const struct gt_trace *to)
{
	recorded->trace = (struct gt_trace){.context = recorded, .kernel = record_kernel, .access = record_access,
					    .passed_over = record_passed_over, .line = to->line ? record_line : NULL,
					    .block = to->block ? record_block : NULL, .wants_work = to->wants_work};
	recorded->input = input;
	recorded->n = 0;
	recorded->full = false;
}

void gt_recorded_close(struct gt_recorded *recorded)
{
	free(recorded->bytes);
	*recorded = (struct gt_recorded){.n = 0};
}

/* ---- the text in parts ---- */

#define PART_BYTES ((size_t)256 << 10) /* of text, at least: with what is read from it, it fits into a core's cache */

static struct gt_textpart *part_at(const struct gt_textparts *parts, void *first, size_t i)
{
	return (void *)((char *)first + i * parts->part_bytes);
}

/* Sends parts off until the input ends, or they are to end. */
static int send_parts(const struct gt_textparts *parts, struct gt_input *whole, struct gt_pipeline *pipeline, struct gt_error *error)
{
	int got = 1;

	while (got > 0 && !(parts->ended && parts->ended(parts->context))) {
		struct gt_textpart *part = gt_pipeline_next(pipeline, error);
		if (!part)
			return -1;
		got = gt_piece_cut(part->text, whole, parts->mark, PART_BYTES, error);
		if (got == 0)
			break;
		if (parts->begin)
			parts->begin(parts->context, part);
		gt_pipeline_put(pipeline, part);
	}
	return got < 0 ? -1 : 0;
}

static int read_in(const struct gt_textparts *parts, struct gt_input *whole, struct gt_pipeline *pipeline, struct gt_error *error)
{
	struct gt_error input_error;
	int sent = send_parts(parts, whole, pipeline, &input_error), result = gt_pipeline_drain(pipeline, error);

	if (result == 0 && sent != 0) {
		*error = input_error;
		result = -1;
	}
	return result;
}

int gt_textparts_read(const struct gt_textparts *parts, struct gt_input *whole, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{parts->read, 0}, {parts->pass_on, 1}};
	/* One that each thread works on, as many that wait, and one that is cut. */
	size_t n = 2 * (size_t)jobs + 1, opened = 0;
	void *items = calloc(n, parts->part_bytes);
	struct gt_pipeline *pipeline = NULL;
	struct gt_error ignored;

	if (!items)
		return gt_fail_memory(error, "threads");
	while (opened < n && (part_at(parts, items, opened)->text = gt_piece_open(whole, error)))
		opened++;
	if (opened == n)
		pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, parts->context,
					    (struct gt_pipeline_items){items, parts->part_bytes, n}, error);
	int result = pipeline ? read_in(parts, whole, pipeline, error) : -1;
	gt_pipeline_close(pipeline);
	for (size_t i = 0; i < opened; i++) {
		gt_input_close(part_at(parts, items, i)->text, &ignored);
		parts->close(part_at(parts, items, i));
	}
	free(items);
	return result;
}
