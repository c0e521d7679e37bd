/* SPDX-License-Identifier: MIT */
#include "order/order.h"
#include "order/lines.h"
#include "order/write.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "order/fold.h"
#include "order/ordinals.h"
#include "order/team.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"

#define PROGRESS_ACCESSES 65536 /* between two reports */
#define WARPS_MAX (GT_BLOCK_THREADS_MAX / GT_WARP_SIZE)

struct passed_over {
	char what[GT_COUNT_NAME];
	uint64_t number;
};

struct passed_list {
	struct passed_over *entries;
	size_t n, capacity;
};

/* A launch: as announced, the limits of its accesses, and their totals. */
struct launch {
	struct gt_kernel kernel;
	bool wanted;
	uint64_t file; /* that announced it first */
	uint64_t blocks;       /* a block must be below */
	uint64_t warps;	       /* a warp must be below */
	uint32_t absent_lanes; /* lanes that the last warp does not have */
	uint32_t greatest_block;
	uint16_t greatest_warp;
	uint64_t accesses, scheduled;
	bool hinted; /* an access has a hint */
	uint64_t timed; /* accesses that say what the warp did before them */
	struct gt_order_lines lines;
	struct passed_list passed;
};

struct gt_ordering {
	struct gt_order_options options;
	struct gt_trace trace;
	struct gt_sorter *sorter;
	struct gt_ordinals ordinals;
	uint64_t ordinals_bytes; /* that the sorter was last told */
	struct gt_fold_in fold;

	struct launch **launches;
	size_t n, capacity;
	struct gt_map by_source; /* from the ids of the sources to launches */
	struct gt_map used;	 /* ids that launches have */
	uint64_t next_id;	 /* no smaller one is free */
	uint64_t file;		 /* files begun */
	struct launch *launch; /* the current one */
	uint32_t launch_index;
	struct passed_list passed;
	uint64_t accesses;
};

/* ---- skipped records ---- */

#define NO_REGISTERS "impossible register counts"
#define NO_SHARED "impossible shared memory"

/* What the user can set in place of what was passed over. */
static const struct {
	const char *what, *option;
} settable[] = {{NO_REGISTERS, "--registers"}, {NO_SHARED, "--shared"}};

static int add_passed(struct passed_list *list, const char *what, uint64_t n, struct gt_error *error)
{
	size_t i = 0;

	while (i < list->n && strncmp(list->entries[i].what, what, GT_COUNT_NAME - 1) != 0)
		i++;
	if (i == list->n) {
		struct passed_over *more = gt_grown(list->entries, list->n, &list->capacity, sizeof *more);

		if (!more)
			return gt_fail_memory(error, "what was passed over");
		list->entries = more;
		list->entries[list->n] = (struct passed_over){.number = 0};
		strncpy(list->entries[list->n++].what, what, GT_COUNT_NAME - 1);
	}
	list->entries[i].number += n;
	return 0;
}

static int pass_over(void *context, const char *what, uint64_t n, struct gt_error *error)
{
	struct gt_ordering *order = context;

	if (order->launch && !order->launch->wanted)
		return 0;
	if (order->launch && add_passed(&order->launch->passed, what, n, error) != 0)
		return -1;
	return add_passed(&order->passed, what, n, error);
}

/* ---- launches ---- */

/* Sets the limits that the accesses of a launch must keep. An unknown shape has CUDA's limits; the highest block
 * number is excluded, so that the number of blocks fits its field. */
static void set_limits(struct launch *launch)
{
	uint64_t threads = gt_kernel_threads(&launch->kernel);
	unsigned rest = (unsigned)(threads % GT_WARP_SIZE);

	launch->blocks = launch->kernel.grid[0] ? gt_kernel_blocks(&launch->kernel) : UINT32_MAX;
	launch->warps = threads ? gt_kernel_warps(&launch->kernel) : WARPS_MAX;
	launch->absent_lanes = rest ? UINT32_MAX << rest : 0;
}

static bool same_shape(const uint32_t a[3], const uint32_t b[3])
{
	return a[0] == 0 || b[0] == 0 || memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool same_launch(const struct gt_kernel *a, const struct gt_kernel *b)
{
	return strcmp(a->name, b->name) == 0 && same_shape(a->grid, b->grid) &&
		same_shape(a->block, b->block);
}

/* Looks for the launch that an announcement continues. Returns 1, 0 if it is a new one, or -1 if the same file
 * has given its id to another launch. */
static int find_launch(const struct gt_ordering *order, const struct gt_kernel *kernel, uint32_t *index,
		       struct gt_error *error)
{
	const uint64_t *known = NULL;

	if (kernel->id != GT_KERNEL_NEXT)
		known = gt_map_get(&order->by_source, kernel->id);
	if (!known)
		return 0;
	const struct launch *launch = order->launches[*known];
	*index = (uint32_t)*known;
	if (same_launch(&launch->kernel, kernel))
		return 1;
	if (launch->file != order->file)
		return 0;
	return gt_fail(error,
		       "launch %" PRIu64 " is announced as kernel '%.100s', but before as '%.100s' or with "
		       "another grid or block", kernel->id, kernel->name, launch->kernel.name);
}

/* The id that a new launch gets: its own if no other has it. */
static int choose_id(struct gt_ordering *order, uint64_t wanted, uint64_t *id, struct gt_error *error)
{
	int fresh;

	*id = wanted;
	if (wanted == GT_KERNEL_NEXT || gt_map_get(&order->used, wanted)) {
		while (gt_map_get(&order->used, order->next_id))
			order->next_id++;
		*id = order->next_id;
	}
	return gt_map_put(&order->used, *id, 0, &fresh) ? 0 : gt_fail_memory(error, "the ids of launches");
}

static struct launch *add_launch(struct gt_ordering *order, struct gt_error *error)
{
	struct launch **more = gt_grown(order->launches, order->n, &order->capacity, sizeof *more);

	if (!more)
		goto no_memory;
	order->launches = more;
	if (order->n == GT_ORDINAL_KERNELS) {
		gt_fail(error, "expected at most %" PRIu32 " launches", GT_ORDINAL_KERNELS);
		return NULL;
	}
	struct launch *launch = calloc(1, sizeof *launch);
	if (!launch)
		goto no_memory;
	order->launches[order->n++] = launch;
	return launch;
no_memory:
	gt_fail_memory(error, "a launch");
	return NULL;
}

static int new_launch(struct gt_ordering *order, const struct gt_kernel *kernel, struct gt_error *error)
{
	int fresh, wanted = 1;
	uint64_t id;

	if (order->options.kernel) {
		wanted = gt_regex_match(order->options.kernel, kernel->name, strlen(kernel->name), error);
		if (wanted < 0)
			return -1;
	}
	if (choose_id(order, kernel->id, &id, error) != 0)
		return -1;
	if (kernel->id != GT_KERNEL_NEXT) {
		uint64_t *index = gt_map_put(&order->by_source, kernel->id, 0, &fresh);
		if (!index)
			return gt_fail_memory(error, "the ids of launches");
		*index = order->n;
	}
	struct launch *launch = add_launch(order, error);
	if (!launch || gt_kernel_copy(&launch->kernel, kernel, error) != 0)
		return -1;
	launch->kernel.id = id;
	launch->file = order->file;
	launch->wanted = wanted;
	set_limits(launch);
	return 0;
}

/* The registers and shared memory of a new launch, by options or the trace. Tracers may write values of uninitialized
 * memory, with which no block would be resident. */
static int settle_resources(struct gt_ordering *order, struct gt_error *error)
{
	const struct gt_order_options *options = &order->options;
	struct gt_kernel *kernel = &order->launch->kernel;

	if (options->sets_registers)
		kernel->registers = options->registers;
	if (options->sets_shared)
		kernel->shared_bytes = options->shared_bytes;
	if (kernel->registers > GT_THREAD_REGISTERS_MAX) {
		kernel->registers = 0;
		if (pass_over(order, NO_REGISTERS, 1, error) != 0)
			return -1;
	}
	if (kernel->shared_bytes <= GT_BLOCK_SHARED_MAX)
		return 0;
	kernel->shared_bytes = 0;
	return pass_over(order, NO_SHARED, 1, error);
}

static int begin_launch(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_ordering *order = context;
	uint32_t index;

	order->launch = NULL;
	if (gt_kernel_check(kernel, error) != 0)
		return -1;
	int known = find_launch(order, kernel, &index, error);
	if (known < 0)
		return -1;
	if (!known) {
		index = (uint32_t)order->n;
		if (new_launch(order, kernel, error) != 0)
			return -1;
	}
	order->launch = order->launches[index];
	order->launch_index = index;
	return known ? 0 : settle_resources(order, error);
}

void gt_order_next_file(struct gt_ordering *order)
{
	order->file++;
	order->launch = NULL;
}

/* ---- accesses ---- */

static int reject(const struct launch *launch, const struct gt_trace_access *access, struct gt_error *error)
{
	if (access->mask == 0)
		return gt_fail(error, "an access without an active lane");
	if (access->size == 0 || access->size > GT_ACCESS_SIZE_MAX)
		return gt_fail(error, "size %u: expected 1 to %d bytes a lane", access->size,
			       GT_ACCESS_SIZE_MAX);
	if (!gt_op_valid(access->op))
		return gt_fail(error, "op 0x%02x: no such operation", access->op);
	if (!gt_hint_valid(access->hint))
		return gt_fail(error, "hint 0x%04x: no such hint", access->hint);
	if (!access->addresses && access->stride == GT_STRIDE_LANES)
		return gt_fail(error, "an access without addresses");
	if (access->block >= launch->blocks)
		return gt_fail(error,
			       "block %" PRIu32 ": the grid of launch %" PRIu64 " has %" PRIu64 " blocks",
			       access->block, launch->kernel.id, launch->blocks);
	if (access->warp >= launch->warps)
		return gt_fail(error,
			       "warp %u (from thread %u on): a block of launch %" PRIu64 " has %" PRIu64
			       " warps",
			       access->warp, access->warp * GT_WARP_SIZE, launch->kernel.id, launch->warps);
	return gt_fail(error,
		       "lanes 0x%08" PRIx32 " of warp %u: a block of launch %" PRIu64 " has %" PRIu64
		       " threads",
		       access->mask, access->warp, launch->kernel.id, gt_kernel_threads(&launch->kernel));
}

static bool is_sound(const struct launch *launch, const struct gt_trace_access *access)
{
	uint32_t absent = access->warp + 1U == launch->warps ? launch->absent_lanes : 0;

	return access->block < launch->blocks && access->warp < launch->warps && access->mask != 0 &&
	       (access->mask & absent) == 0 && (uint8_t)(access->size - 1) < GT_ACCESS_SIZE_MAX &&
	       gt_op_valid(access->op) && gt_hint_valid(access->hint) && (access->addresses || access->stride != GT_STRIDE_LANES);
}

static int number(struct gt_ordering *order, const struct gt_trace_access *access, uint32_t *an,
		  struct gt_error *error)
{
	int result = 0;

	*an = access->an;
	if (access->numbering == GT_AN_OF_WARP)
		result = gt_ordinal_of_warp(&order->ordinals, order->launch_index, access->block,
					    access->warp, an, error);
	else if (access->numbering == GT_AN_OF_THREAD)
		result = gt_ordinal_of_thread(&order->ordinals, order->launch_index, access->block,
					      access->warp, (unsigned)__builtin_ctz(access->mask), an, error);
	uint64_t bytes = gt_ordinals_bytes(&order->ordinals);
	if (bytes != order->ordinals_bytes)
		gt_sorter_yield(order->sorter, order->ordinals_bytes = bytes);
	return result;
}

static int add_access(void *context, const struct gt_trace_access *access, struct gt_error *error)
{
	struct gt_ordering *order = context;
	struct launch *launch = order->launch;
	uint32_t an;

	if (!launch)
		return gt_fail(error, "an access before any launch");
	if (!launch->wanted)
		return 0;
	if (!is_sound(launch, access))
		return reject(launch, access, error);
	if (order->options.work && !access->has_work)
		return gt_fail(error, "expected a trace with all instructions of each warp, as Accel-Sim's, or a stream with the column work");
	if (number(order, access, &an, error) != 0)
		return -1;
	if ((++order->accesses & (PROGRESS_ACCESSES - 1)) == 0 && order->options.progress)
		order->options.progress(order->options.context, order->accesses);
	launch->accesses++;
	launch->scheduled += access->scheduled;
	launch->timed += access->has_work;
	uint16_t hint = gt_op_space(access->op) == GT_SHARED ? 0 : access->hint; /* shared memory has no cache */
	launch->hinted |= hint != 0;
	if (access->block > launch->greatest_block)
		launch->greatest_block = access->block;
	if (access->warp > launch->greatest_warp)
		launch->greatest_warp = access->warp;
	struct gt_packed row = {
		.kernel = order->launch_index, .block = access->block, .an = an, .pc = access->pc,
		.mask = access->mask, .warp = (uint8_t)access->warp, .sm = access->sm, .op = access->op,
		.size = access->size, .hint = hint, .work = access->work, .base = access->base, .stride = access->stride,
	};
	if ((access->mask & (access->mask - 1)) == 0) {
		row.base = access->addresses ? access->addresses[0] : access->base;
		return gt_fold_in_add(&order->fold, &row, order->sorter, error);
	}
	if (access->addresses)
		gt_pack_addresses(&row, access->addresses);
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	return gt_sorter_add(order->sorter, &row, access->addresses, error);
}

const char *gt_order_passed_over(const struct gt_ordering *order, size_t i, uint64_t *total, const char **option)
{
	if (i >= order->passed.n)
		return NULL;
	const char *what = order->passed.entries[i].what;
	*total = order->passed.entries[i].number;
	*option = NULL;
	for (size_t k = 0; k < sizeof settable / sizeof *settable; k++)
		if (strcmp(settable[k].what, what) == 0)
			*option = settable[k].option;
	return what;
}

uint64_t gt_order_accesses(const struct gt_ordering *order)
{
	return order->accesses;
}

static int add_line(void *context, uint32_t pc, uint64_t line, struct gt_error *error)
{
	struct gt_ordering *order = context;

	return order->launch->wanted ? gt_order_lines_add(&order->launch->lines, pc, line, error) : 0;
}

/* ---- output ---- */

static int send_launch(struct gt_ordering *order, struct launch *launch, struct gt_output *output,
		       struct gt_error *error)
{
	struct gt_kernel *kernel = &launch->kernel;

	kernel->order = order->options.by_an ? GT_ORDER_AN : GT_ORDER_BLOCK;
	if (kernel->grid[0] == 0 && launch->accesses > 0) {
		kernel->grid[0] = launch->greatest_block + 1;
		kernel->grid[1] = kernel->grid[2] = 1;
	}
	if (kernel->block[0] == 0 && launch->accesses > 0) {
		kernel->block[0] = (launch->greatest_warp + 1U) * GT_WARP_SIZE;
		kernel->block[1] = kernel->block[2] = 1;
	}
	const char *source = order->options.source ? order->options.source : "???";
	if (output->kernel(output->context, kernel, error) != 0 ||
	    gt_order_lines_send(&launch->lines, kernel->id, source, output, error) != 0)
		return -1;
	bool scheduled = launch->accesses > 0 && launch->scheduled == launch->accesses;
	return gt_sink_begin_as(&output->rows, &(struct gt_rows){.kind = GT_ACCESSES, .scheduled = scheduled,
								.has_hints = launch->hinted,
								.has_work = launch->accesses > 0 && launch->timed == launch->accesses},
				error);
}

/* "TMA instructions" is counted as tma_instructions. */
static int count_passed(struct gt_count *count, const struct passed_list *passed, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	for (size_t i = 0; i < passed->n; i++) {
		size_t length = 0;
		for (const char *c = passed->entries[i].what; *c; c++)
			name[length++] = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
		name[length] = '\0';
		if (gt_count_number(count, name, passed->entries[i].number, error) != 0)
			return -1;
	}
	return 0;
}

static int send_counts(const struct launch *launch, const struct gt_fold_counts *counts,
		       struct gt_output *output, struct gt_error *error)
{
	struct gt_count count;
	int result = -1;

	gt_count_begin(&count, "order", launch->kernel.id);
	if (gt_count_numbers(&count, &gt_counters_order, counts, sizeof *counts, error) == 0 &&
	    count_passed(&count, &launch->passed, error) == 0)
		result = output->count(output->context, &count, error);
	gt_count_clear(&count);
	return result;
}

/* Sends all launches; `row` is the next row of the sorter while `more` > 0. */
static int send_all(struct gt_ordering *order, struct gt_output *output, struct gt_fold_out *fold,
		    struct gt_error *error)
{
	struct gt_fold_counts counts;
	const struct gt_packed *row;
	const uint64_t *lanes;
	int more = gt_sorter_next(order->sorter, &row, &lanes, error);

	for (size_t i = 0; i < order->n && more >= 0; i++) {
		struct launch *launch = order->launches[i];
		if (!launch->wanted)
			continue;
		if (send_launch(order, launch, output, error) != 0)
			return -1;
		for (; more > 0 && row->kernel == i; more = gt_sorter_next(order->sorter, &row, &lanes, error))
			if (gt_fold_out_add(fold, row, lanes, error) != 0)
				return -1;
		if (more < 0 || gt_fold_out_flush(fold, &counts, error) != 0 ||
		    send_counts(launch, &counts, output, error) != 0)
			return -1;
	}
	return more;
}

/* The same by a team. */
static int send_by_team(struct gt_ordering *order, struct gt_order_team *team, struct gt_output *output, struct gt_error *error)
{
	struct gt_fold_counts counts;

	for (size_t i = 0; i < order->n; i++) {
		struct launch *launch = order->launches[i];
		if (launch->wanted && (send_launch(order, launch, output, error) != 0 ||
				       gt_order_team_write(team, (uint32_t)i, output->rows.rows, &counts, error) != 0 ||
				       send_counts(launch, &counts, output, error) != 0))
			return -1;
	}
	return 0;
}

/* Sends all if a team can. Returns 1, 0 if it cannot, or -1. */
static int try_team(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	const struct gt_kept *kept = gt_sorter_kept(order->sorter);
	struct gt_order_team *team;

	if (!kept || order->options.jobs <= 1)
		return 0;
	int opened = gt_order_team_open(&team, kept, order->options.jobs, writer, error);
	if (opened == 1 && send_by_team(order, team, gt_writer_output(writer), error) != 0)
		opened = -1;
	gt_order_team_close(team);
	return opened;
}

int gt_order_write(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	gt_ordinals_close(&order->ordinals);
	int sent = try_team(order, writer, error);
	return sent == 0 ? gt_order_finish(order, gt_writer_output(writer), error) : sent < 0 ? -1 : 0;
}

int gt_order_finish(struct gt_ordering *order, struct gt_output *output, struct gt_error *error)
{
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	gt_ordinals_close(&order->ordinals);
	if (gt_sorter_finish(order->sorter, error) != 0)
		return -1;
	struct gt_fold_out *fold = gt_fold_out_open(&output->rows, error);
	int result = fold ? send_all(order, output, fold, error) : -1;
	gt_fold_out_close(fold);
	return result;
}

struct gt_ordering *gt_order_open(const struct gt_order_options *options, struct gt_error *error)
{
	struct gt_ordering *order = calloc(1, sizeof *order);

	if (!order) {
		gt_fail_memory(error, "ordering");
		return NULL;
	}
	order->options = *options;
	order->next_id = 1;
	order->trace = (struct gt_trace){order, begin_launch, add_access, pass_over, add_line, options->work, options->jobs};
	order->sorter = gt_sorter_open(options->memory, options->directory, options->by_an, error);
	if (!order->sorter || gt_ordinals_open(&order->ordinals, error) != 0 ||
	    gt_map_open(&order->by_source, 0, error) != 0 || gt_map_open(&order->used, 0, error) != 0) {
		gt_order_close(order);
		return NULL;
	}
	return order;
}

void gt_order_close(struct gt_ordering *order)
{
	if (!order)
		return;
	for (size_t i = 0; i < order->n; i++) {
		gt_kernel_clear(&order->launches[i]->kernel);
		free(order->launches[i]->passed.entries);
		gt_order_lines_clear(&order->launches[i]->lines);
		free(order->launches[i]);
	}
	free(order->launches);
	free(order->passed.entries);
	gt_map_close(&order->by_source);
	gt_map_close(&order->used);
	gt_ordinals_close(&order->ordinals);
	gt_sorter_close(order->sorter);
	free(order);
}

struct gt_trace *gt_order_trace(struct gt_ordering *order)
{
	return &order->trace;
}
