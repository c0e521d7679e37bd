/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/native/stretches.h"

#include <stdlib.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/general.h"

struct search {
	struct gt_stretches *stretches;
	struct gt_stretch stretch;
	const struct gt_native_made *made, *made_end; /* segments from here on */
	const struct gt_native_isa *isa;
	struct gt_native_needs *needs;
	struct gt_native_code *native;
	size_t *begins; /* by operation: the code of the stretch that begins with it; 0: none does */
};

static const struct gt_ptx_op *run_stretch(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_entry *entry = op->with.entry;

	if (mask == GT_PTX_FULL)
		return entry->run(warp->arena, warp, entry->at);
	return entry->inner.run(warp, &entry->inner, mask) ? op + entry->n : NULL;
}

/* The point that begins at an operation; false: a stretch ends before it. */
static bool find_point(struct search *search, size_t i, struct gt_stretch_point *point, bool *fast)
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
	point->kind = op->run == gt_ptx_branch ? GT_STRETCH_BRANCH : op->run == gt_ptx_join ? GT_STRETCH_JOIN
		      : gt_stretch_moves(op, fast) ? GT_STRETCH_MOVE : GT_STRETCH_LANES;
	return point->kind != GT_STRETCH_LANES || gt_native_takes(op, &rule);
}

/* Adds the points from operation `first` on that make a stretch; returns where it ends. It is worth it if it has an access, or is on the
 * way to another one: lane operations alone need fewer registers as a segment. */
static size_t collect(struct search *search, size_t first, size_t end, bool *worth)
{
	struct gt_stretch *stretch = &search->stretch;
	uint32_t before = 0;
	size_t i = first;

	stretch->n = 0;
	bool some = false, only_ways = true;

	while (i < end) {
		struct gt_stretch_point *point = &stretch->points[stretch->n];
		bool fast = false;
		if (!find_point(search, i, point, &fast))
			break;
		some |= fast;
		only_ways &= point->kind >= GT_STRETCH_JOIN;
		point->before = before;
		point->entry = &search->stretches->entries[search->stretches->n + stretch->n];
		before += point->counts;
		i += point->n;
		stretch->n++;
	}
	*worth = some || (only_ways && stretch->n > 0);
	return i;
}

static void write(struct search *search)
{
	struct gt_stretches *stretches = search->stretches;
	struct gt_stretch *stretch = &search->stretch;

	stretch->segment = (struct gt_native_segment){.isa = search->isa, .code = search->native, .needs = search->needs, .whole = true, .unrolled = true};
	search->begins[stretch->points[0].op] = gt_stretch_write(stretch, &stretches->shared, stretches->at + stretches->n);
	for (size_t i = 0; i < stretch->n; i++) {
		stretches->ops[stretches->n + i] = stretch->points[i].op;
		stretches->entries[stretches->n + i].n = stretch->points[i].n;
	}
	stretches->n += stretch->n;
}

/* Lets the ways of stretches go on in others. */
static void join_ways(struct search *search)
{
	const struct gt_stretch *stretch = &search->stretch;

	for (size_t i = 0; i < stretch->n_ways; i++) {
		const struct gt_stretch_way *way = &stretch->ways[i];
		if (search->begins[way->op]) {
			gt_general_land_at(search->native, way->jump, search->begins[way->op]);
			continue;
		}
		gt_general_land(search->native, way->jump);
		gt_stretch_write_stop(search->native, &search->stretches->shared, &stretch->code->ops[way->op]);
	}
}

static void write_all(struct search *search, const size_t *starts, size_t n_starts)
{
	gt_stretch_write_shared(search->isa, search->native, &search->stretches->shared);
	for (size_t b = 0; b < n_starts; b++) {
		gt_native_needs_block(search->needs, b, starts[b], starts[b + 1]);
		for (size_t i = starts[b]; i < starts[b + 1];) {
			bool worth;
			size_t end = collect(search, i, starts[b + 1], &worth);
			if (worth)
				write(search);
			i = end > i ? end : i + 1;
		}
	}
	join_ways(search);
}

int gt_stretches_make(struct gt_stretches *stretches, const struct gt_ptx_code *code, const size_t *starts, size_t n_starts,
		      const struct gt_native_made *made, size_t n_made, const struct gt_native_isa *isa, struct gt_native_needs *needs,
		      struct gt_native_code *native, struct gt_error *error)
{
	struct search search = {stretches, {.shared = &stretches->shared, .code = code}, made, made + n_made, isa, needs, native,
				calloc(code->n_ops + 1, sizeof(size_t))};
	size_t most = 1;

	for (size_t b = 0; b < n_starts; b++)
		most = starts[b + 1] - starts[b] > most ? starts[b + 1] - starts[b] : most;
	search.stretch.points = calloc(most + 1, sizeof *search.stretch.points);
	search.stretch.ways = calloc(GT_STRETCH_WAYS * (code->n_ops + 1), sizeof *search.stretch.ways);
	stretches->entries = calloc(code->n_ops + 1, sizeof *stretches->entries);
	stretches->ops = calloc(code->n_ops + 1, sizeof *stretches->ops);
	stretches->at = calloc(code->n_ops + 1, sizeof *stretches->at);
	const bool room = search.begins && search.stretch.points && search.stretch.ways && stretches->entries && stretches->ops &&
			  stretches->at;
	if (room)
		write_all(&search, starts, n_starts);
	free(search.begins);
	free(search.stretch.ways);
	free(search.stretch.points);
	return room && !native->failed ? 0 : gt_fail_memory(error, "machine code");
}

/* An operation that counts no instruction is part of another one, and entered from there only. Branches and joins are known by
 * where they are, so they stay as they are. */
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
		if (op->counts == 0 || op->run == gt_ptx_branch || op->run == gt_ptx_join)
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
