/* SPDX-License-Identifier: MIT */
#include "order/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "order/ordering.h"
#include "order/scatter.h"

/* ---- skipped records ---- */

static int pass_over(void *context, const char *what, uint64_t n, struct gt_error *error)
{
	struct gt_ordering *order = context;

	if (order->launch && !order->launch->wanted)
		return 0;
	if (order->launch && gt_passed_add(&order->launch->passed, what, n, error) != 0)
		return -1;
	return gt_passed_add(&order->passed, what, n, error);
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
	int known = gt_order_launches_enter(&order->launches, kernel, order->options.kernel, &index, error);
	if (known < 0)
		return -1;
	order->launch = order->launches.launches[index];
	order->launch_index = index;
	if (!known && order->launch->wanted) {
		order->launch->copies = order->copies;
		order->copies = (struct gt_copies){.n = 0};
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

/* ---- blocks ---- */

static int come(struct gt_ordering *order, uint32_t block, struct gt_error *error)
{
	struct gt_order_launch *launch = order->launch;

	return gt_order_blocks_add(&launch->blocks, block, launch->limits.blocks, &order->blocks_room, error);
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

/* ---- accesses ---- */

static int number(struct gt_ordering *order, const struct gt_trace_access *access, uint32_t *an,
		  struct gt_error *error)
{
	int result;

	*an = access->an;
	if (access->numbering == GT_AN_GIVEN)
		return 0;
	if (access->numbering == GT_AN_OF_WARP)
		result = gt_ordinal_of_warp(&order->ordinals, order->launch_index, access->block,
					    access->warp, an, error);
	else
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
	struct gt_order_launch *launch = order->launch;
	uint32_t an;

	if (!launch)
		return gt_fail(error, "an access before any launch");
	if (!launch->wanted)
		return 0;
	if (!gt_order_allows(&launch->limits, access))
		return gt_order_refuse(&launch->limits, &launch->kernel, access, error);
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
	if (access->block != launch->blocks.last && !launch->whole && come(order, access->block, error) != 0)
		return -1;
	if (access->block > launch->greatest_block)
		launch->greatest_block = access->block;
	if (access->warp > launch->greatest_warp)
		launch->greatest_warp = access->warp;
	struct gt_packed row = {
		.kernel = order->launch_index, .block = access->block, .an = an, .pc = access->pc,
		.mask = access->mask, .warp = (uint8_t)access->warp, .sm = access->sm, .op = access->op,
		.size = access->size, .hint = hint, .work = access->work, .base = access->base, .stride = access->stride,
	};
	return gt_order_keep(order, &row, access->addresses, error);
}

const char *gt_order_passed_over(const struct gt_ordering *order, size_t i, uint64_t *total, const char **remark)
{
	if (i >= order->passed.n)
		return NULL;
	const char *what = order->passed.kinds[i].what;
	*total = order->passed.kinds[i].number;
	*remark = gt_passed_remark(what);
	return what;
}

/* ---- remarks ---- */

/* What a remark counts of a launch, and of how many, if that is to be said. */
struct counted {
	uint64_t n, of;
};

static struct counted count_gone_on(const struct gt_order_launch *launch)
{
	return (struct counted){launch->goes_on, 0};
}

static struct counted count_missing(const struct gt_order_launch *launch)
{
	uint64_t blocks = launch->kernel.grid[0] ? gt_kernel_blocks(&launch->kernel) : 0;

	return launch->whole || launch->blocks.lost ? (struct counted){0, 0} : (struct counted){blocks - launch->blocks.n, blocks};
}

static struct counted count_unlisted(const struct gt_order_launch *launch)
{
	return launch->lists_blocks ? count_missing(launch) : (struct counted){0, 0};
}

static struct counted count_idle(const struct gt_order_launch *launch)
{
	return launch->lists_blocks ? (struct counted){0, 0} : count_missing(launch);
}

static const struct {
	struct counted (*count)(const struct gt_order_launch *launch);
	const char *text;
} remarks[] = {
	{count_gone_on, "launches that go on in another file, as their id, name and shape say"},
	{count_unlisted, "blocks of the grid that the trace lacks"},
	{count_idle, "blocks of the grid without an access, which make none or are missing"},
};

int gt_order_remark(const struct gt_ordering *order, size_t i, char *text, size_t bytes)
{
	const struct gt_order_launch *first = NULL;
	uint64_t n = 0, of = 0, launches = 0;
	char total[32] = "";

	if (i >= sizeof remarks / sizeof *remarks)
		return -1;
	for (size_t l = 0; l < order->launches.n; l++) {
		const struct gt_order_launch *launch = order->launches.launches[l];
		struct counted counted = launch->wanted ? remarks[i].count(launch) : (struct counted){0, 0};
		if (counted.n == 0)
			continue;
		first = launches++ > 0 ? first : launch;
		n += counted.n;
		of += counted.of;
	}
	if (!first)
		return 0;
	if (of > 0)
		snprintf(total, sizeof total, " of %" PRIu64, of);
	snprintf(text, bytes, "%s: %" PRIu64 "%s (%slaunch %" PRIu64 ", %.100s)", remarks[i].text, n, total,
		 launches > 1 ? "the first: " : "", first->kernel.id, first->kernel.name);
	return 1;
}

int gt_order_keep_count(struct gt_ordering *order, const struct gt_count *count, struct gt_error *error)
{
	struct gt_order_launch *launch = gt_order_launches_find(&order->launches, count->kernel);

	if (!launch)
		return 0;
	return launch->wanted && gt_order_launch_keep(launch, count, error) != 0 ? -1 : 1;
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
	if (!order->sorter || gt_ordinals_open(&order->ordinals, error) != 0 || gt_order_launches_open(&order->launches, error) != 0) {
		gt_order_close(order);
		return NULL;
	}
	return order;
}

void gt_order_close(struct gt_ordering *order)
{
	if (!order)
		return;
	gt_order_launches_close(&order->launches);
	gt_passed_clear(&order->passed);
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
