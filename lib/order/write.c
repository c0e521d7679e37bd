/* SPDX-License-Identifier: MIT */
/* What has been ordered, written to a stream: each launch, what is told of it, and its rows, from batches, from the sorter, or from
 * memory in several threads. */
#include "order/write.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipeline.h"
#include "counter/tables.h"
#include "order/ordered.h"
#include "order/ordering.h"
#include "stream/count.h"
#include "stream/counted.h"
#include "stream/program.h"
#include "stream/rebatch.h"

/* ---- what is told of a launch besides its rows ---- */

static int compare_pcs(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* Fills a count from arrays of n elements each. */
static int fill_lines(struct gt_count *count, const uint64_t *pcs, const uint64_t *lines, const uint64_t *files, size_t n,
		      const char *file, struct gt_error *error)
{
	if (gt_count_array(count, "pcs", pcs, n, error) != 0 || gt_count_array(count, "lines", lines, n, error) != 0 ||
	    gt_count_array(count, "files", files, n, error) != 0)
		return -1;
	return gt_count_text(count, "names", file, error);
}

/* Sends the source lines, of one source file, as the count `source` of a launch (stream/sources.h), if there are any. */
static int send_lines(const struct gt_order_lines *lines, uint64_t launch, const char *file,
		      const struct gt_output *output, struct gt_error *error)
{
	size_t n = lines->by_pc.used, found = 0;
	struct gt_count count;

	if (n == 0)
		return 0;
	uint64_t *arrays = calloc(3 * n, sizeof *arrays);
	if (!arrays)
		return gt_fail_memory(error, "source lines");
	for (size_t i = 0; i <= lines->by_pc.mask && found < n; i++)
		if (lines->by_pc.slots[i].key != GT_MAP_EMPTY)
			arrays[found++] = lines->by_pc.slots[i].key;
	qsort(arrays, n, sizeof *arrays, compare_pcs);
	for (size_t i = 0; i < n; i++)
		arrays[n + i] = *gt_map_get(&lines->by_pc, arrays[i]);
	gt_count_begin(&count, GT_SOURCES_STAGE, launch);
	int result = fill_lines(&count, arrays, arrays + n, arrays + 2 * n, n, file, error);
	if (result == 0)
		result = output->count(output->context, &count, error);
	gt_count_clear(&count);
	free(arrays);
	return result;
}

/* Adds what was passed over to a count: "TMA instructions" as tma_instructions. */
static int count_passed(struct gt_count *count, const struct gt_passed_list *list, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	for (size_t i = 0; i < list->n; i++) {
		size_t length = 0;
		for (const char *c = list->kinds[i].what; *c; c++)
			name[length++] = *c == ' ' ? '_' : (char)tolower((unsigned char)*c);
		name[length] = '\0';
		if (gt_count_number(count, name, list->kinds[i].number, error) != 0)
			return -1;
	}
	return 0;
}

/* Sends what was copied to the device before the launch, as the count "copies". */
static int send_copies(const struct gt_order_launch *launch, struct gt_output *output, struct gt_error *error)
{
	struct gt_count count;

	if (launch->copies.n == 0 && !launch->copies.lost)
		return 0;
	gt_count_begin(&count, "copies", launch->kernel.id);
	int result = gt_copies_count(&launch->copies, &count, error);
	if (result == 0)
		return gt_output_count(output, &count, error);
	gt_count_clear(&count);
	return result;
}

/* Sends the counts that a stream has of it. */
static int send_kept(const struct gt_order_launch *launch, struct gt_output *output, struct gt_error *error)
{
	for (size_t i = 0; i < launch->counts_n; i++)
		if (output->count(output->context, &launch->counts[i], error) != 0)
			return -1;
	return 0;
}

static int send_launch(struct gt_ordering *order, struct gt_order_launch *launch, struct gt_output *output,
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
	    send_kept(launch, output, error) != 0 || send_copies(launch, output, error) != 0 ||
	    send_lines(&launch->lines, kernel->id, source, output, error) != 0)
		return -1;
	bool scheduled = launch->accesses > 0 && launch->scheduled == launch->accesses;
	return gt_sink_begin_as(&output->rows, &(struct gt_rows){.kind = GT_ACCESSES, .scheduled = scheduled,
								.has_hints = launch->hinted,
								.has_work = launch->accesses > 0 && launch->timed == launch->accesses,
								.has_shared = launch->shares},
				error);
}

static int send_counts(const struct gt_order_launch *launch, const struct gt_fold_counts *counts,
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

/* ---- by several threads ---- */

/* Rows in memory (order/ordered.h) put in order, folded and packed in several threads, some blocks in each; the same batches as a
 * sink makes of them in one. */

#define PART_ROWS ((size_t)GT_ROWS_BATCH) /* at least */
#define GROUP_ROWS_MAX ((size_t)64 * GT_ROWS_BATCH) /* of one high word, which are not divided: some megabytes */

struct part {
	size_t first, n; /* of what is listed by high words */
	struct gt_ordered ordered;
	struct gt_chunk *made; /* the rows */
	struct gt_sink sink;   /* which puts them there */
	struct gt_fold_out *fold;
	struct gt_fold_counts counts;
	struct gt_batch_records records;
};

struct team {
	struct gt_ordered whole; /* what it lists by high words, and the next that is sent off */
	struct gt_writer *writer;
	struct gt_chunks chunks;
	struct gt_rebatch rebatch;
	struct gt_rows shape; /* of the launch that is under way: the columns, and no rows */
	struct gt_fold_counts counts; /* of it */
	struct part *parts;
	size_t parts_n;
	struct gt_pipeline *pipeline;
};

static int fold_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct team *team = context;
	struct part *part = item;
	const struct gt_packed *row;
	const uint64_t *lanes;

	(void)lane;
	part->made = gt_chunk_take(&team->chunks, error);
	if (!part->made || gt_ordered_begin_part(&part->ordered, &team->whole, part->first, part->n, error) != 0)
		return -1;
	gt_rows_shape(part->made->rows, &team->shape);
	part->sink = gt_sink_that_grows(part->made->rows);
	while (gt_ordered_next(&part->ordered, &row, &lanes))
		if (gt_fold_out_add(part->fold, row, lanes, error) != 0)
			return -1;
	return gt_fold_out_flush(part->fold, &part->counts, error);
}

static int rebatch_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct team *team = context;
	struct part *part = item;

	(void)lane;
	gt_counters_add(&team->counts, &part->counts, sizeof part->counts);
	return gt_rebatch_add(&team->rebatch, &team->chunks, part->made, &part->records.batches, error);
}

static int pack_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct team *team = context;
	struct part *part = item;

	(void)lane;
	return gt_batch_records_pack(&part->records, &team->chunks, &part->made, error);
}

static int write_part(void *context, void *item, unsigned lane, struct gt_error *error)
{
	struct team *team = context;
	const struct part *part = item;

	(void)lane;
	return gt_writer_put(team->writer, part->records.bytes.data, part->records.bytes.n, part->records.rows, error);
}

static void close_team(struct team *team)
{
	if (!team)
		return;
	gt_pipeline_close(team->pipeline);
	for (size_t i = 0; team->parts && i < team->parts_n; i++) {
		struct part *part = &team->parts[i];
		gt_ordered_end(&part->ordered);
		gt_fold_out_close(part->fold);
		gt_chunk_release(&team->chunks, part->made);
		gt_batch_records_close(&part->records, &team->chunks);
	}
	gt_chunk_release(&team->chunks, team->rebatch.chunk);
	gt_chunks_close(&team->chunks);
	gt_ordered_end(&team->whole);
	free(team->parts);
	free(team);
}

static int open_parts(struct team *team, unsigned jobs, struct gt_error *error)
{
	const struct gt_step steps[] = {{fold_part, 0}, {rebatch_part, 1}, {pack_part, 0}, {write_part, 1}};

	/* One that each thread works on, as many that wait, and one that is sent off. */
	team->parts_n = 2 * (size_t)jobs + 1;
	team->parts = calloc(team->parts_n, sizeof *team->parts);
	if (!team->parts)
		return gt_fail_memory(error, "threads");
	for (size_t i = 0; i < team->parts_n; i++)
		if (!(team->parts[i].fold = gt_fold_out_open(&team->parts[i].sink, error)))
			return -1;
	team->pipeline = gt_pipeline_open(jobs, steps, sizeof steps / sizeof *steps, team,
					  (struct gt_pipeline_items){team->parts, sizeof *team->parts, team->parts_n}, error);
	return team->pipeline ? 0 : -1;
}

static int set_up_team(struct team *team, const struct gt_kept *kept, unsigned jobs, struct gt_error *error)
{
	size_t largest;

	if (kept->n < PART_ROWS)
		return 0;
	if (gt_ordered_begin_parts(&team->whole, kept, &largest, error) != 0)
		return -1;
	if (largest > GROUP_ROWS_MAX)
		return 0;
	return open_parts(team, jobs, error) == 0 ? 1 : -1;
}

/* For rows that stay as they are. Returns 1 with a team, 0 if there are too few rows for it, or a block has too many to be
 * divided, or -1. */
static int open_team(struct team **team, const struct gt_kept *kept, unsigned jobs, struct gt_writer *writer,
		     struct gt_error *error)
{
	struct team *opened = calloc(1, sizeof *opened);

	*team = NULL;
	if (!opened)
		return gt_fail_memory(error, "threads");
	opened->writer = writer;
	gt_chunks_open(&opened->chunks);
	int result = set_up_team(opened, kept, jobs, error);
	if (result == 1)
		*team = opened;
	else
		close_team(opened);
	return result;
}

/* Writes the rows of a launch, after those of the launches before it, with the columns of `shape`; and counts what was folded into
 * them. */
static int write_by_team(struct team *team, uint32_t kernel, const struct gt_rows *shape, struct gt_fold_counts *counts,
			 struct gt_error *error)
{
	size_t first = team->whole.by_high.next, n;

	team->counts = (struct gt_fold_counts){0};
	gt_rows_shape(&team->shape, shape);
	while ((n = gt_ordered_next_listed(&team->whole, kernel, PART_ROWS)) > 0) {
		struct part *part = gt_pipeline_next(team->pipeline, error);
		if (!part)
			return -1;
		part->first = first;
		part->n = n;
		gt_pipeline_put(team->pipeline, part);
		first += n;
	}
	if (gt_pipeline_drain(team->pipeline, error) != 0)
		return -1;
	*counts = team->counts;
	return gt_rebatch_give(&team->rebatch, &team->chunks, gt_writer_sink(team->writer), error);
}

/* ---- all launches ---- */

/* Sends all launches; `row` is the next row of the sorter while `more` > 0. */
static int send_all(struct gt_ordering *order, struct gt_output *output, struct gt_fold_out *fold,
		    struct gt_error *error)
{
	struct gt_fold_counts counts;
	const struct gt_packed *row;
	const uint64_t *lanes;
	int more = gt_sorter_next(order->sorter, &row, &lanes, error);

	for (size_t i = 0; i < order->launches.n && more >= 0; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
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

/* The same of batches. */
static int send_batches(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	struct gt_output *output = gt_writer_output(writer);
	size_t batch = 0;

	for (size_t i = 0; i < order->launches.n; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
		if (launch->wanted && (send_launch(order, launch, output, error) != 0 ||
				       gt_order_batches_write(&order->batches, (uint32_t)i, &batch, writer, error) != 0 ||
				       send_counts(launch, &launch->held, output, error) != 0))
			return -1;
	}
	return 0;
}

/* The same by a team. */
static int send_by_team(struct gt_ordering *order, struct team *team, struct gt_output *output, struct gt_error *error)
{
	struct gt_fold_counts counts;

	for (size_t i = 0; i < order->launches.n; i++) {
		struct gt_order_launch *launch = order->launches.launches[i];
		if (launch->wanted && (send_launch(order, launch, output, error) != 0 ||
				       write_by_team(team, (uint32_t)i, output->rows.rows, &counts, error) != 0 ||
				       send_counts(launch, &counts, output, error) != 0))
			return -1;
	}
	return 0;
}

/* Sends all if a team can. Returns 1, 0 if it cannot, or -1. */
static int try_team(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	const struct gt_kept *kept = gt_sorter_kept(order->sorter);
	struct team *team;

	if (!kept || order->options.jobs <= 1)
		return 0;
	int opened = open_team(&team, kept, order->options.jobs, writer, error);
	if (opened == 1 && send_by_team(order, team, gt_writer_output(writer), error) != 0)
		opened = -1;
	close_team(team);
	return opened;
}

int gt_order_write(struct gt_ordering *order, struct gt_writer *writer, struct gt_error *error)
{
	if (gt_unmatched_check(&order->launches.unmatched, order->options.kernel, error) != 0)
		return -1;
	if (gt_order_batches_any(&order->batches))
		return send_batches(order, writer, error);
	if (gt_fold_in_flush(&order->fold, order->sorter, error) != 0)
		return -1;
	gt_ordinals_close(&order->ordinals);
	int sent = try_team(order, writer, error);
	return sent == 0 ? gt_order_finish(order, gt_writer_output(writer), error) : sent < 0 ? -1 : 0;
}

int gt_order_finish(struct gt_ordering *order, struct gt_output *output, struct gt_error *error)
{
	if (gt_unmatched_check(&order->launches.unmatched, order->options.kernel, error) != 0 || gt_order_scatter(order, error) != 0)
		return -1;
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

/* ---- remarks ---- */

static const struct {
	const char *what, *remark;
} advice[] = {
	{GT_PASSED_REGISTERS, "--registers sets it"},
	{GT_PASSED_SHARED, "--shared sets it"},
	{GT_PASSED_VERSIONS, "read as version 6"},
	{GT_PASSED_STREAMS, "launches follow one another, in the order of the trace"},
};

/* What the user can do about what was passed over, or what was done; NULL: nothing is to be said. */
static const char *advice_on(const char *what)
{
	for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
		if (strcmp(advice[i].what, what) == 0)
			return advice[i].remark;
	return NULL;
}

const char *gt_order_passed_over(const struct gt_ordering *order, size_t i, uint64_t *total, const char **remark)
{
	if (i >= order->passed.n)
		return NULL;
	const char *what = order->passed.kinds[i].what;
	*total = order->passed.kinds[i].number;
	*remark = advice_on(what);
	return what;
}

/* What a remark counts of a launch, and of how many, if that is to be said. */
struct counted {
	uint64_t n, all;
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
	uint64_t n = 0, all = 0, launches = 0;
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
		all += counted.all;
	}
	if (!first)
		return 0;
	if (all > 0)
		snprintf(total, sizeof total, " of %" PRIu64, all);
	snprintf(text, bytes, "%s: %" PRIu64 "%s (%slaunch %" PRIu64 ", %.100s)", remarks[i].text, n, total,
		 launches > 1 ? "the first: " : "", first->kernel.id, first->kernel.name);
	return 1;
}
