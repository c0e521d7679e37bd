/* SPDX-License-Identifier: MIT */
/* Taking a trace: importers call what is here for each launch and each access. It finds which launch, block and ordinal an access
 * belongs to, refuses what cannot be, and keeps what is told of the launch. Rows go on to be folded into warp accesses and sorted into
 * logical order (order/fold.h, order/sort.h). */
#include "order/order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grown.h"
#include "base/regex.h"
#include "order/ordering.h"
#include "stream/hint.h"
#include "stream/kernel_name.h"
#include "stream/op.h"
#include "stream/rows.h"
#include "stream/trace.h"

/* ---- skipped records ---- */

static int add_passed(struct gt_passed_list *list, const char *what, uint64_t n, struct gt_error *error)
{
	size_t i = 0;

	while (i < list->n && strncmp(list->kinds[i].what, what, GT_COUNT_NAME - 1) != 0)
		i++;
	if (i == list->n) {
		struct gt_passed_kind *more = gt_grown(list->kinds, list->n, &list->capacity, sizeof *more);

		if (!more)
			return gt_fail_memory(error, "what was passed over");
		list->kinds = more;
		list->kinds[list->n] = (struct gt_passed_kind){.number = 0};
		strncpy(list->kinds[list->n++].what, what, GT_COUNT_NAME - 1);
	}
	list->kinds[i].number += n;
	return 0;
}

static void clear_passed(struct gt_passed_list *list)
{
	free(list->kinds);
	*list = (struct gt_passed_list){.n = 0};
}

static int pass_over(void *context, const char *what, uint64_t n, struct gt_error *error)
{
	struct gt_ordering *order = context;

	if (order->launch && !order->launch->wanted)
		return 0;
	if (add_passed(order->launch ? &order->launch->passed : &order->passed_before, what, n, error) != 0)
		return -1;
	return add_passed(&order->passed, what, n, error);
}

/* ---- what an access may be ---- */

#define WARPS_MAX (GT_BLOCK_THREADS_MAX / GT_WARP_SIZE)

/* The limits of a launch. An unknown shape has CUDA's limits; the highest block number is excluded, so that the number of blocks fits
 * its field. */
static struct gt_order_limits limits_of(const struct gt_kernel *kernel)
{
	uint64_t threads = gt_kernel_threads(kernel);
	unsigned rest = (unsigned)(threads % GT_WARP_SIZE);

	return (struct gt_order_limits){
		.blocks = kernel->grid[0] ? gt_kernel_blocks(kernel) : UINT32_MAX,
		.warps = threads ? gt_kernel_warps(kernel) : WARPS_MAX,
		.absent_lanes = rest ? UINT32_MAX << rest : 0,
	};
}

static inline bool allows(const struct gt_order_limits *limits, const struct gt_trace_access *access)
{
	uint32_t absent = access->warp + 1U == limits->warps ? limits->absent_lanes : 0;

	return access->block < limits->blocks && access->warp < limits->warps && access->mask != 0 &&
	       (access->mask & absent) == 0 && (uint8_t)(access->size - 1) < GT_ACCESS_SIZE_MAX &&
	       gt_op_valid(access->op) && gt_hint_valid(access->hint) && (access->addresses || access->stride != GT_STRIDE_LANES);
}

/* Says why an access is not allowed; returns -1. */
static int refuse(const struct gt_order_limits *limits, const struct gt_kernel *kernel, const struct gt_trace_access *access,
		  struct gt_error *error)
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
	if (access->block >= limits->blocks)
		return gt_fail(error,
			       "block %" PRIu32 ": the grid of launch %" PRIu64 " has %" PRIu64 " blocks",
			       access->block, kernel->id, limits->blocks);
	if (access->warp >= limits->warps)
		return gt_fail(error,
			       "warp %u (from thread %u on): a block of launch %" PRIu64 " has %" PRIu64
			       " warps",
			       access->warp, access->warp * GT_WARP_SIZE, kernel->id, limits->warps);
	return gt_fail(error,
		       "lanes 0x%08" PRIx32 " of warp %u: a block of launch %" PRIu64 " has %" PRIu64
		       " threads",
		       access->mask, access->warp, kernel->id, gt_kernel_threads(kernel));
}

/* ---- which blocks have come ---- */

#define WORD_BITS 64

static void drop_bits(struct gt_order_blocks *blocks, uint64_t *room)
{
	*room += blocks->words * sizeof *blocks->bits;
	free(blocks->bits);
	blocks->bits = NULL;
	blocks->words = 0;
}

/* Makes room for so many words, no more than twice what is needed. */
static int reserve(struct gt_order_blocks *blocks, size_t words, uint64_t *room, struct gt_error *error)
{
	size_t more = words > 2 * blocks->words ? words : 2 * blocks->words;

	if ((more - blocks->words) * sizeof *blocks->bits > *room) {
		drop_bits(blocks, room);
		blocks->lost = true;
		return 0;
	}
	uint64_t *bits = gt_resized(blocks->bits, more, sizeof *bits);
	if (!bits)
		return gt_fail_memory(error, "the blocks of a launch");
	memset(bits + blocks->words, 0, (more - blocks->words) * sizeof *bits);
	*room -= (more - blocks->words) * sizeof *bits;
	blocks->bits = bits;
	blocks->words = more;
	return 0;
}

/* A block has come, of `blocks_n` that the launch has. *room is what the bits of all launches may still take, in bytes. Returns 0, or
 * -1 when memory is short. */
static int add_block(struct gt_order_blocks *blocks, uint32_t block, uint64_t blocks_n, uint64_t *room, struct gt_error *error)
{
	size_t word = block / WORD_BITS;
	uint64_t bit = UINT64_C(1) << block % WORD_BITS;

	blocks->last = block;
	if (blocks->lost || blocks->n == blocks_n)
		return 0;
	if (word >= blocks->words && reserve(blocks, word + 1, room, error) != 0)
		return -1;
	if (blocks->lost || (blocks->bits[word] & bit) != 0)
		return 0;
	blocks->bits[word] |= bit;
	if (++blocks->n == blocks_n)
		drop_bits(blocks, room);
	return 0;
}

static void clear_blocks(struct gt_order_blocks *blocks)
{
	free(blocks->bits);
	*blocks = (struct gt_order_blocks){.last = GT_ORDER_NO_BLOCK};
}

/* ---- source lines ---- */

/* An instruction's line; the first that is said of a pc counts. Returns 0, or -1 when memory is short. */
static int keep_line(struct gt_order_lines *lines, uint32_t pc, uint64_t line, struct gt_error *error)
{
	int fresh;

	if (!lines->by_pc.slots && gt_map_open(&lines->by_pc, 0, error) != 0)
		return -1;
	return gt_map_put(&lines->by_pc, pc, line, &fresh) ? 0 : gt_fail_memory(error, "source lines");
}

static void clear_lines(struct gt_order_lines *lines)
{
	if (lines->by_pc.slots)
		gt_map_close(&lines->by_pc);
	*lines = (struct gt_order_lines){0};
}

static int add_line(void *context, uint32_t pc, uint64_t line, struct gt_error *error)
{
	struct gt_ordering *order = context;

	return order->launch->wanted ? keep_line(&order->launch->lines, pc, line, error) : 0;
}

/* ---- which launch an announcement is of ---- */

static bool same_shape(const uint32_t a[3], const uint32_t b[3])
{
	return a[0] == 0 || b[0] == 0 || memcmp(a, b, 3 * sizeof *a) == 0;
}

static bool same_launch(const struct gt_kernel *a, const struct gt_kernel *b)
{
	return strcmp(a->name, b->name) == 0 && same_shape(a->grid, b->grid) &&
		same_shape(a->block, b->block);
}

static const uint64_t *find_index(const struct gt_order_launches *launches, uint64_t id)
{
	const uint64_t *known = id == GT_KERNEL_NEXT ? NULL : gt_map_get(&launches->by_source, id);

	return known && *known >= launches->since ? known : NULL;
}

/* The launch that an id of the source means now; NULL: none has begun. */
static struct gt_order_launch *find_by_id(const struct gt_order_launches *launches, uint64_t id)
{
	const uint64_t *known = find_index(launches, id);

	return known ? launches->launches[*known] : NULL;
}

/* Keeps a copy of a count of a launch, which gets the launch's id. Returns 0, or -1 when memory is short. */
static int keep_count(struct gt_order_launch *launch, const struct gt_count *count, struct gt_error *error)
{
	struct gt_count *counts = gt_grown(launch->counts, launch->counts_n, &launch->counts_capacity, sizeof *counts);

	if (!counts)
		return gt_fail_memory(error, "the counts of a launch");
	launch->counts = counts;
	gt_count_begin(&counts[launch->counts_n], count->stage, launch->kernel.id);
	return gt_count_copy(&counts[launch->counts_n++], count, error);
}

/* Looks for the launch that an announcement continues. Returns 1, 0 if it is a new one, or -1 if the same file
 * has given its id to another launch. */
static int find_launch(const struct gt_order_launches *launches, const struct gt_kernel *kernel, uint32_t *index,
		       struct gt_error *error)
{
	const uint64_t *known = find_index(launches, kernel->id);

	if (!known)
		return 0;
	struct gt_order_launch *launch = launches->launches[*known];
	*index = (uint32_t)*known;
	if (same_launch(&launch->kernel, kernel)) {
		launch->goes_on |= launch->file != launches->file;
		return 1;
	}
	if (launch->file != launches->file)
		return 0;
	return gt_fail(error,
		       "launch %" PRIu64 " is announced as kernel '%.100s', but before as '%.100s' or with "
		       "another grid or block", kernel->id, kernel->name, launch->kernel.name);
}

/* The id that a new launch gets: its own if no other has it. */
static int choose_id(struct gt_order_launches *launches, uint64_t wanted, uint64_t *id, struct gt_error *error)
{
	int fresh;

	*id = wanted;
	if (wanted == GT_KERNEL_NEXT || gt_map_get(&launches->used, wanted)) {
		while (gt_map_get(&launches->used, launches->next_id))
			launches->next_id++;
		*id = launches->next_id;
	}
	return gt_map_put(&launches->used, *id, 0, &fresh) ? 0 : gt_fail_memory(error, "the ids of launches");
}

#define LAUNCHES_MAX (UINT32_C(1) << 26) /* launches that can be told apart */

static struct gt_order_launch *add_launch(struct gt_order_launches *launches, struct gt_error *error)
{
	struct gt_order_launch **more = gt_grown(launches->launches, launches->n, &launches->capacity, sizeof *more);

	if (!more)
		goto no_memory;
	launches->launches = more;
	if (launches->n == LAUNCHES_MAX) {
		gt_fail(error, "expected at most %" PRIu32 " launches", LAUNCHES_MAX);
		return NULL;
	}
	struct gt_order_launch *launch = calloc(1, sizeof *launch);
	if (!launch)
		goto no_memory;
	launches->launches[launches->n++] = launch;
	return launch;
no_memory:
	gt_fail_memory(error, "a launch");
	return NULL;
}

static int new_launch(struct gt_order_launches *launches, const struct gt_kernel *kernel, struct gt_regex *wanted,
		      struct gt_error *error)
{
	char words[GT_KERNEL_NAME];
	int fresh, matches = wanted ? gt_unmatched_match(&launches->unmatched, wanted, kernel->name, gt_name_words(kernel->name, words), error) : 1;
	uint64_t id;

	if (matches < 0 || choose_id(launches, kernel->id, &id, error) != 0)
		return -1;
	if (kernel->id != GT_KERNEL_NEXT) {
		uint64_t *index = gt_map_put(&launches->by_source, kernel->id, 0, &fresh);
		if (!index)
			return gt_fail_memory(error, "the ids of launches");
		*index = launches->n;
	}
	struct gt_order_launch *launch = add_launch(launches, error);
	if (!launch || gt_kernel_copy(&launch->kernel, kernel, error) != 0)
		return -1;
	launch->kernel.id = id;
	launch->file = launches->file;
	launch->blocks.last = GT_ORDER_NO_BLOCK;
	launch->wanted = matches;
	launch->limits = limits_of(kernel);
	return 0;
}

/* The place of the launch that is announced, among those seen. A new one is wanted if the expression, unless it is NULL, matches
 * the kernel's name. Returns 1 if the launch goes on, 0 if it is new, or -1. */
static int enter_launch(struct gt_order_launches *launches, const struct gt_kernel *kernel, struct gt_regex *wanted,
			uint32_t *index, struct gt_error *error)
{
	int known = find_launch(launches, kernel, index, error);

	if (known != 0)
		return known;
	*index = (uint32_t)launches->n;
	return new_launch(launches, kernel, wanted, error);
}

/* Returns 0, or -1 when memory is short; closed in either case, also if all is zero. */
static int open_launches(struct gt_order_launches *launches, struct gt_error *error)
{
	launches->next_id = 1;
	return gt_map_open(&launches->by_source, 0, error) != 0 ? -1 : gt_map_open(&launches->used, 0, error);
}

static void close_launches(struct gt_order_launches *launches)
{
	for (size_t i = 0; i < launches->n; i++) {
		gt_kernel_clear(&launches->launches[i]->kernel);
		clear_passed(&launches->launches[i]->passed);
		clear_lines(&launches->launches[i]->lines);
		clear_blocks(&launches->launches[i]->blocks);
		gt_copies_clear(&launches->launches[i]->copies);
		for (size_t c = 0; c < launches->launches[i]->counts_n; c++)
			gt_count_clear(&launches->launches[i]->counts[c]);
		free(launches->launches[i]->counts);
		free(launches->launches[i]);
	}
	free(launches->launches);
	gt_map_close(&launches->by_source);
	gt_map_close(&launches->used);
	gt_unmatched_clear(&launches->unmatched);
}

/* ---- launches ---- */

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
		if (pass_over(order, GT_PASSED_REGISTERS, 1, error) != 0)
			return -1;
	}
	if (kernel->shared_bytes <= GT_BLOCK_SHARED_MAX)
		return 0;
	kernel->shared_bytes = 0;
	return pass_over(order, GT_PASSED_SHARED, 1, error);
}

static int begin_launch(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_ordering *order = context;
	uint32_t index;

	order->launch = NULL;
	if (gt_kernel_check(kernel, error) != 0)
		return -1;
	int known = enter_launch(&order->launches, kernel, order->options.kernel, &index, error);
	if (known < 0)
		return -1;
	order->launch = order->launches.launches[index];
	order->launch_index = index;
	if (!known && order->launch->wanted) {
		order->launch->copies = order->copies;
		order->copies = (struct gt_copies){.n = 0};
		order->launch->passed = order->passed_before;
		order->passed_before = (struct gt_passed_list){.n = 0};
	}
	return known ? 0 : settle_resources(order, error);
}

void gt_order_next_file(struct gt_ordering *order)
{
	order->launches.file++;
	order->launch = NULL;
	gt_copies_clear(&order->copies);
}

static void begin_ids(void *context)
{
	struct gt_ordering *order = context;

	order->launches.since = order->launches.n;
}

static void add_copy(void *context, uint64_t address, uint64_t bytes)
{
	struct gt_ordering *order = context;

	gt_copies_add(&order->copies, address, bytes);
}

int gt_order_keep_count(struct gt_ordering *order, const struct gt_count *count, struct gt_error *error)
{
	struct gt_order_launch *launch = find_by_id(&order->launches, count->kernel);

	if (!launch)
		return 0;
	return launch->wanted && keep_count(launch, count, error) != 0 ? -1 : 1;
}

/* ---- blocks ---- */

static int come(struct gt_ordering *order, uint32_t block, struct gt_error *error)
{
	struct gt_order_launch *launch = order->launch;

	return add_block(&launch->blocks, block, launch->limits.blocks, &order->blocks_room, error);
}

static int note_block(void *context, uint32_t block, struct gt_error *error)
{
	struct gt_ordering *order = context;

	order->launch->lists_blocks = true;
	return order->launch->wanted ? come(order, block, error) : 0;
}

static void note_whole(void *context)
{
	struct gt_ordering *order = context;

	order->launch->whole = true;
}

/* ---- ordinals ---- */

static int open_ordinals(struct gt_ordinals *ordinals, struct gt_error *error)
{
	*ordinals = (struct gt_ordinals){.last = GT_MAP_EMPTY};
	return gt_map_open(&ordinals->pages, 0, error);
}

static int add_page(struct gt_ordinals *ordinals, struct gt_error *error)
{
	if (ordinals->n == ordinals->capacity) {
		size_t capacity = ordinals->capacity ? ordinals->capacity + ordinals->capacity / 2 : 64;
		void *counters = gt_resized(ordinals->counters, capacity, sizeof *ordinals->counters);
		if (!counters)
			return gt_fail_memory(error, "the ordinals of threads");
		ordinals->counters = counters;
		ordinals->capacity = capacity;
	}
	memset(ordinals->counters[ordinals->n++], 0, sizeof *ordinals->counters);
	return 0;
}

static int count_one(struct gt_ordinals *ordinals, uint64_t what, unsigned which, uint32_t *ordinal,
		     struct gt_error *error)
{
	int fresh;

	if (what != ordinals->last) {
		uint64_t *page = gt_map_put(&ordinals->pages, what, ordinals->n, &fresh);
		if (!page)
			return gt_fail_memory(error, "the ordinals of threads");
		if (fresh && add_page(ordinals, error) != 0)
			return -1;
		ordinals->last = what;
		ordinals->last_page = (size_t)*page;
	}
	*ordinal = ordinals->counters[ordinals->last_page][which];
	if (*ordinal == UINT32_MAX)
		return gt_fail(error, "expected at most 2^32 - 1 accesses of a thread or warp");
	ordinals->counters[ordinals->last_page][which]++;
	return 0;
}

/* The next ordinal of warp `warp` (below 32) of a block; the same of a thread, which is a lane. */
static int ordinal_of_warp(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
			   uint32_t *ordinal, struct gt_error *error)
{
	return count_one(ordinals, (uint64_t)kernel << 38 | block, warp, ordinal, error);
}

static int ordinal_of_thread(struct gt_ordinals *ordinals, uint32_t kernel, uint32_t block, unsigned warp,
			     unsigned lane, uint32_t *ordinal, struct gt_error *error)
{
	uint64_t what = (uint64_t)kernel << 38 | UINT64_C(1) << 37 | (uint64_t)block << 5 | warp;

	return count_one(ordinals, what, lane, ordinal, error);
}

/* Bytes of memory in use. */
static uint64_t ordinals_bytes(const struct gt_ordinals *ordinals)
{
	return ordinals->capacity * sizeof *ordinals->counters + (ordinals->pages.mask + 1) * sizeof *ordinals->pages.slots;
}

/* ---- accesses ---- */

static int number(struct gt_ordering *order, const struct gt_trace_access *access, uint32_t *an,
		  struct gt_error *error)
{
	int result;

	*an = access->an;
	if (access->numbering == GT_AN_GIVEN)
		return 0;
	if (access->numbering == GT_AN_OF_WARP)
		result = ordinal_of_warp(&order->ordinals, order->launch_index, access->block,
					    access->warp, an, error);
	else
		result = ordinal_of_thread(&order->ordinals, order->launch_index, access->block,
					      access->warp, (unsigned)__builtin_ctz(access->mask), an, error);
	uint64_t bytes = ordinals_bytes(&order->ordinals);
	if (bytes != order->ordinals_bytes)
		gt_sorter_yield(order->sorter, order->ordinals_bytes = bytes);
	return result;
}

static int add_access(void *context, const struct gt_trace_access *access, struct gt_error *error)
{
	struct gt_ordering *order = context;
	struct gt_order_launch *launch = order->launch;
	uint32_t an;

	if (!launch)
		return gt_fail(error, "an access before any launch");
	if (!launch->wanted)
		return 0;
	if (!allows(&launch->limits, access))
		return refuse(&launch->limits, &launch->kernel, access, error);
	if (order->options.work && !access->has_work)
		return gt_fail(error, "expected a trace with all instructions of each warp, as Accel-Sim's, or a stream with the column work");
	if (number(order, access, &an, error) != 0)
		return -1;
	if (!order->scattered && gt_order_scatter(order, error) != 0)
		return -1;
	gt_order_count(order, 1);
	launch->accesses++;
	launch->scheduled += access->scheduled;
	launch->timed += access->has_work;
	uint16_t hint = gt_op_space(access->op) == GT_SHARED ? 0 : access->hint; /* shared memory has no cache */
	launch->hinted |= hint != 0;
	launch->shares |= access->shared != 0;
	if (access->block != launch->blocks.last && !launch->whole && come(order, access->block, error) != 0)
		return -1;
	if (access->block > launch->greatest_block)
		launch->greatest_block = access->block;
	if (access->warp > launch->greatest_warp)
		launch->greatest_warp = access->warp;
	struct gt_packed row = {
		.kernel = order->launch_index, .block = access->block, .an = an, .pc = access->pc,
		.mask = access->mask, .warp = (uint8_t)access->warp, .sm = access->sm, .op = access->op,
		.size = access->size, .hint = hint, .work = access->work, .shared = access->shared, .base = access->base, .affine = {.stride = access->stride},
	};
	return gt_order_keep(order, &row, access->addresses, error);
}

uint64_t gt_order_accesses(const struct gt_ordering *order)
{
	return order->accesses;
}

/* ---- the whole ---- */

struct gt_ordering *gt_order_open(const struct gt_order_options *options, struct gt_error *error)
{
	struct gt_ordering *order = calloc(1, sizeof *order);

	if (!order) {
		gt_fail_memory(error, "ordering");
		return NULL;
	}
	order->options = *options;
	order->trace = (struct gt_trace){.context = order, .kernel = begin_launch, .access = add_access, .passed_over = pass_over,
					 .line = add_line, .new_ids = begin_ids, .copy = add_copy, .block = note_block,
					 .whole = note_whole, .wants_work = options->work, .jobs = options->jobs};
	order->blocks_room = options->memory / 8;
	order->sorter = gt_sorter_open(options->memory, options->directory, options->by_an, error);
	if (!order->sorter || open_ordinals(&order->ordinals, error) != 0 || open_launches(&order->launches, error) != 0) {
		gt_order_close(order);
		return NULL;
	}
	return order;
}

void gt_order_close(struct gt_ordering *order)
{
	if (!order)
		return;
	close_launches(&order->launches);
	clear_passed(&order->passed);
	clear_passed(&order->passed_before);
	gt_copies_clear(&order->copies);
	gt_order_batches_close(&order->batches);
	gt_ordinals_close(&order->ordinals);
	gt_sorter_close(order->sorter);
	free(order);
}

struct gt_trace *gt_order_trace(struct gt_ordering *order)
{
	return &order->trace;
}
