/* SPDX-License-Identifier: MIT */
#include "ptx/native/stretches.h"

#include <stdlib.h>

#include "ptx/exec/access.h"

struct search {
	struct gt_stretches *stretches;
	struct gt_stretch stretch;
	const struct gt_native_made *made, *made_end; /* segments from here on */
	struct gt_native_code *native;
};

static const struct gt_ptx_op *run_stretch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_entry *entry = op->with.entry;

	if (mask == GT_PTX_FULL)
		return entry->run(warp->arena, warp, entry->at);
	return entry->inner.run(warp, &entry->inner, mask) ? op + entry->n : NULL;
}

/* The point that begins at an operation; false: a stretch ends before it. */
static bool find_point(struct search *search, size_t i, size_t end, struct gt_stretch_point *point, bool *fast)
{
	const struct gt_ptx_op *op = &search->stretch.code->ops[i];
	const struct gt_native_rule *rule;

	while (search->made < search->made_end && search->made->op < i)
		search->made++;
	*point = (struct gt_stretch_point){.op = i, .n = 1, .counts = op->counts};
	if (search->made < search->made_end && search->made->op == i) {
		point->n = search->made->n;
		point->counts = (uint32_t)search->made->instructions;
		return true;
	}
	point->moves = i < end && gt_stretch_moves(op, fast);
	return i < end && (point->moves || gt_native_takes(op, &rule));
}

/* Adds the points from operation `first` on that make a stretch; returns where it ends. */
static size_t collect(struct search *search, size_t first, size_t end, bool *worth)
{
	struct gt_stretch *stretch = &search->stretch;
	uint32_t before = 0;
	size_t i = first;

	stretch->n = 0;
	*worth = false;
	while (i < end) {
		struct gt_stretch_point *point = &stretch->points[stretch->n];
		bool fast = false;
		if (!find_point(search, i, end, point, &fast))
			break;
		*worth |= fast;
		point->before = before;
		point->entry = &search->stretches->entries[search->stretches->n + stretch->n];
		before += point->counts;
		i += point->n;
		stretch->n++;
	}
	return i;
}

static void write(struct search *search)
{
	struct gt_stretches *stretches = search->stretches;
	struct gt_stretch *stretch = &search->stretch;

	stretch->segment = (struct gt_native_segment){.isa = &gt_native_avx512, .code = search->native, .whole = true, .halves = true};
	gt_stretch_write(stretch, &stretches->shared, stretches->at + stretches->n);
	for (size_t i = 0; i < stretch->n; i++) {
		stretches->ops[stretches->n + i] = stretch->points[i].op;
		stretches->entries[stretches->n + i].n = stretch->points[i].n;
	}
	stretches->n += stretch->n;
}

int gt_stretches_make(struct gt_stretches *stretches, const struct gt_ptx_code *code, const size_t *starts, size_t n_starts,
		      const struct gt_native_made *made, size_t n_made, struct gt_native_code *native, struct gt_error *error)
{
	struct search search = {stretches, {.code = code}, made, made + n_made, native};
	size_t most = 1;

	for (size_t b = 0; b < n_starts; b++)
		most = starts[b + 1] - starts[b] > most ? starts[b + 1] - starts[b] : most;
	search.stretch.points = calloc(most + 1, sizeof *search.stretch.points);
	stretches->entries = calloc(code->n_ops + 1, sizeof *stretches->entries);
	stretches->ops = calloc(code->n_ops + 1, sizeof *stretches->ops);
	stretches->at = calloc(code->n_ops + 1, sizeof *stretches->at);
	const bool room = search.stretch.points && stretches->entries && stretches->ops && stretches->at;
	if (room)
		gt_stretch_write_shared(native, &stretches->shared);
	for (size_t b = 0; room && b < n_starts; b++)
		for (size_t i = starts[b]; i < starts[b + 1];) {
			bool worth;
			size_t end = collect(&search, i, starts[b + 1], &worth);
			if (worth)
				write(&search);
			i = end > i ? end : i + 1;
		}
	free(search.stretch.points);
	return room && !native->failed ? 0 : gt_fail_memory(error, "machine code");
}

/* An operation that counts no instruction is part of another one, and entered from there only. */
void gt_stretches_use(struct gt_stretches *stretches, struct gt_ptx_code *code)
{
	const unsigned char *begin = code->native + stretches->shared.begin;

	for (size_t i = 0; i < stretches->n; i++) {
		struct gt_ptx_entry *entry = &stretches->entries[i];
		struct gt_ptx_op *op = &code->ops[stretches->ops[i]];
		bool fast;
		if (gt_stretch_moves(op, &fast))
			entry->row = gt_ptx_row_of(op);
		entry->inner = *op;
		entry->at = code->native + stretches->at[i];
		memcpy(&entry->run, &begin, sizeof begin);
		if (op->counts == 0)
			continue;
		op->run = run_stretch;
		op->with.entry = entry;
	}
	code->entries = stretches->entries;
	stretches->entries = NULL;
}

void gt_stretches_free(struct gt_stretches *stretches)
{
	free(stretches->entries);
	free(stretches->ops);
	free(stretches->at);
}
