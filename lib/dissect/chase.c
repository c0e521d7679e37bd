/* SPDX-License-Identifier: MIT */
/* A P-chase: the orders in which it visits its array, the trace that it writes, and that trace read again after it has passed a chain
 * of levels. Its kernel's name describes it, so that no other file is needed to know which element each access is to. */
#include "dissect/chase.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "stream/stream.h"

/* Entries of the TLBs of Fermi and Kepler, [001] table 4. Their L2 TLB has seven sets, so seven pages more than it
 * has entries overflow all sets. */
#define L1_TLB_ENTRIES 16
#define PATTERN_PAGES (65 + 7)

/* ---- orders ---- */

static uint64_t put(uint64_t *offsets, uint64_t n, uint64_t offset)
{
	if (offsets)
		offsets[n] = offset;
	return n + 1;
}

/* [001] listing 3: every s bytes, and from the last back to the first. */
static uint64_t ring(const struct gt_chase *chase, uint64_t *offsets)
{
	uint64_t n = chase->bytes / chase->stride;

	for (uint64_t i = 0; offsets && i < n; i++)
		offsets[i] = i * chase->stride;
	return n;
}

/* Fisher and Yates' shuffle of a ring; the first element stays the first. The same for every chase of so many elements. */
static uint64_t shuffled(const struct gt_chase *chase, uint64_t *offsets)
{
	uint64_t n = ring(chase, offsets), random = gt_random_state(0, n);

	for (uint64_t i = n; offsets && i-- > 2;) {
		uint64_t other = 1 + gt_random(&random) % i, offset = offsets[i];
		offsets[i] = offsets[other];
		offsets[other] = offset;
	}
	return n;
}

/* A ring in whose first half the first line is touched repeatedly, each time at another of its elements. In an array
 * of three times the cache's size, LRU keeps the line while it is touched, FIFO does not, and LFU and RRIP keep it
 * afterwards too. A plain ring does not distinguish them. */
static uint64_t retouch(const struct gt_chase *chase, uint64_t *offsets)
{
	uint64_t lines = chase->bytes / chase->stride, spare = chase->stride / GT_CHASE_ELEMENT - 1;
	uint64_t gap = (lines / 2 + spare - 1) / spare, n = 0, touched = 0;

	for (uint64_t i = 0; i < lines; i++) {
		n = put(offsets, n, i * chase->stride);
		if (i % gap == gap - 1 && touched < spare && i < lines / 2)
			n = put(offsets, n, ++touched * GT_CHASE_ELEMENT);
	}
	return n;
}

static uint64_t spot(const struct gt_chase *chase, uint64_t page)
{
	return page * chase->page + page * chase->stride;
}

/* The hand-written order of [001] 3.2: non-uniform strides, so that one chase has every pattern of table 3. One line
 * of each page is used, and these lines are spread over the sets of the data cache. */
static uint64_t patterns(const struct gt_chase *chase, uint64_t *offsets)
{
	const uint64_t word = GT_CHASE_ELEMENT;
	uint64_t n = put(offsets, 0, 0);				/* all levels miss */

	n = put(offsets, n, PATTERN_PAGES * chase->stride);		/* data miss, page known */
	n = put(offsets, n, word);					/* hit, hit */
	for (uint64_t page = 1; page <= L1_TLB_ENTRIES; page++)
		n = put(offsets, n, spot(chase, page));
	n = put(offsets, n, 2 * word);					/* page 0 was evicted from the L1 TLB */
	for (uint64_t page = L1_TLB_ENTRIES + 1; page < PATTERN_PAGES; page++)
		n = put(offsets, n, spot(chase, page));
	for (uint64_t page = 0; page < PATTERN_PAGES; page++)		/* data hit, all TLBs miss */
		n = put(offsets, n, spot(chase, page) + 3 * word);
	if (chase->bytes > PATTERN_PAGES * chase->page)			/* far away: another 512 MB window */
		n = put(offsets, n, chase->bytes - chase->page);
	return n;
}

static int check_ring(const struct gt_chase *chase, struct gt_error *error)
{
	if (chase->bytes % chase->stride != 0)
		return gt_fail(error, "N = %" PRIu64 ": expected a multiple of the stride, %" PRIu64, chase->bytes,
			       chase->stride);
	return 0;
}

static int check_retouch(const struct gt_chase *chase, struct gt_error *error)
{
	if (chase->stride < 2 * GT_CHASE_ELEMENT)
		return gt_fail(error, "retouch: expected a stride of %d bytes or more: a line", 2 * GT_CHASE_ELEMENT);
	if (chase->bytes / chase->stride < 2)
		return gt_fail(error, "retouch: expected N of two lines or more");
	return check_ring(chase, error);
}

static int check_patterns(const struct gt_chase *chase, struct gt_error *error)
{
	if (chase->stride < 4 * GT_CHASE_ELEMENT || chase->stride > chase->page / (2 * PATTERN_PAGES))
		return gt_fail(error, "patterns: expected a stride from %d bytes to 1/%d of a page: a line",
			       4 * GT_CHASE_ELEMENT, 2 * PATTERN_PAGES);
	if (chase->page > UINT64_MAX / (2 * PATTERN_PAGES) || chase->bytes < PATTERN_PAGES * chase->page)
		return gt_fail(error, "patterns: expected N of %d pages or more", PATTERN_PAGES);
	if (chase->rounds != 1)
		return gt_fail(error, "patterns: expected one round (-k 1)");
	return 0;
}

const struct gt_chase_order gt_chase_orders[] = {
	{"ring", "each element s bytes after the last, around the array", ring, check_ring},
	{"random", "the elements of a ring in random order", shuffled, check_ring},
	{"retouch", "a ring that comes back to its first line on the way: tells LRU from FIFO", retouch, check_retouch},
	{"patterns", "all latency patterns of data cache and TLBs in one chase", patterns, check_patterns},
};
const size_t gt_chase_orders_n = sizeof gt_chase_orders / sizeof gt_chase_orders[0];

const struct gt_chase_order *gt_chase_order_find(const char *name, struct gt_error *error)
{
	for (size_t i = 0; i < gt_chase_orders_n; i++)
		if (strcmp(gt_chase_orders[i].name, name) == 0)
			return &gt_chase_orders[i];
	gt_fail(error, "'%.60s': expected ring, random, retouch or patterns", name);
	return NULL;
}

int gt_chase_check(const struct gt_chase *chase, struct gt_error *error)
{
	if (chase->stride == 0 || chase->stride % GT_CHASE_ELEMENT != 0)
		return gt_fail(error, "stride %" PRIu64 ": expected a multiple of %d bytes", chase->stride,
			       GT_CHASE_ELEMENT);
	if (chase->bytes < chase->stride)
		return gt_fail(error, "N = %" PRIu64 ": expected the stride, %" PRIu64 ", or more", chase->bytes,
			       chase->stride);
	if (chase->bytes / chase->stride > GT_CHASE_STEPS_MAX / 2)
		return gt_fail(error, "expected at most %" PRIu64 " accesses a round", GT_CHASE_STEPS_MAX / 2);
	if (chase->base > UINT64_MAX - chase->bytes)
		return gt_fail(error, "the array reaches over the end of the address space");
	if (chase->order->check(chase, error) != 0)
		return -1;
	if (chase->rounds == 0 || chase->order->round(chase, NULL) > UINT32_MAX / chase->rounds)
		return gt_fail(error, "expected 1 round or more, and at most 2^32 - 1 accesses");
	return 0;
}

/* ---- the trace ---- */

void gt_chase_kernel(const struct gt_chase *chase, uint64_t id, struct gt_kernel *kernel)
{
	memset(kernel, 0, sizeof *kernel);
	kernel->id = id;
	snprintf(kernel->name, sizeof kernel->name, "pchase N=%" PRIu64 " s=%" PRIu64 " k=%" PRIu64 " base=0x%" PRIx64
		 " order=%s page=%" PRIu64, chase->bytes, chase->stride, chase->rounds, chase->base, chase->order->name,
		 chase->page);
	for (int i = 0; i < 3; i++)
		kernel->grid[i] = kernel->block[i] = 1;
	kernel->order = GT_ORDER_BLOCK;
}

int gt_chase_parse(const char *name, struct gt_chase *chase, struct gt_error *error)
{
	char order[16];
	int taken = 0;

	*chase = (struct gt_chase){0};
	if (sscanf(name, "pchase N=%" SCNu64 " s=%" SCNu64 " k=%" SCNu64 " base=0x%" SCNx64 " order=%15s page=%" SCNu64 "%n",
		   &chase->bytes, &chase->stride, &chase->rounds, &chase->base, order, &chase->page, &taken) != 6 ||
	    name[taken] != '\0')
		return gt_fail(error, "expected a kernel that gpchase trace wrote");
	chase->order = gt_chase_order_find(order, error);
	return chase->order ? gt_chase_check(chase, error) : -1;
}

uint64_t *gt_chase_round(const struct gt_chase *chase, uint64_t *n, struct gt_error *error)
{
	*n = chase->order->round(chase, NULL);
	uint64_t *offsets = malloc((size_t)*n * sizeof *offsets);

	if (!offsets)
		gt_fail_memory(error, "the elements of a chase");
	else
		chase->order->round(chase, offsets);
	return offsets;
}

static int write_access(const struct gt_chase *chase, uint64_t an, uint64_t offset, struct gt_sink *sink,
			struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;
	size_t i;

	if (gt_sink_room(sink, error) != 0)
		return -1;
	i = rows->n++;
	rows->block[i] = 0;
	rows->warp[i] = 0;
	rows->an[i] = (uint32_t)an;
	rows->pc[i] = 0;
	rows->op[i] = chase->op;
	rows->size[i] = GT_CHASE_ELEMENT;
	rows->mask[i] = 1;
	rows->base[i] = chase->base + offset;
	rows->stride[i] = 0;
	return 0;
}

int gt_chase_write(const struct gt_chase *chase, struct gt_sink *sink, struct gt_error *error)
{
	uint64_t n, an = 0;
	uint64_t *offsets = gt_chase_round(chase, &n, error);
	int result = offsets ? gt_sink_begin(sink, GT_ACCESSES, false, error) : -1;

	for (uint64_t round = 0; result == 0 && round < chase->rounds; round++)
		for (uint64_t i = 0; result == 0 && i < n; i++)
			result = write_access(chase, an++, offsets[i], sink, error);
	free(offsets);
	return result;
}

/* ---- the trace after a chain of levels ---- */

static const char magic[] = "\x93\xa6gtrace"; /* an array of three elements, the first its name */

int gt_observed_is_stream(struct gt_input *input, struct gt_error *error)
{
	const char *head;
	size_t bytes;

	if (gt_input_peek(input, &head, &bytes, error) != 0)
		return -1;
	return bytes >= sizeof magic - 1 && memcmp(head, magic, sizeof magic - 1) == 0;
}

struct observed {
	gt_observed_take *take;
	void *context;
	/* Of the current kernel. */
	uint64_t kernel;
	struct gt_chase chase;
	uint64_t *round, elements; /* the offsets of a round */
	uint64_t next;		   /* number of the next access */
};

/* At the end of a kernel, all its accesses must have been read. */
static int end_kernel(struct observed *observed, struct gt_error *error)
{
	uint64_t expected = observed->elements * observed->chase.rounds;

	free(observed->round);
	observed->round = NULL;
	if (observed->next < expected)
		return gt_fail(error, "kernel %" PRIu64 ": it ends with access %" PRIu64 " of %" PRIu64 ": expected all (gcache --emit latency)",
			       observed->kernel, observed->next, expected);
	return 0;
}

static int begin_kernel(struct observed *observed, const struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_error reason;

	if (end_kernel(observed, error) != 0)
		return -1;
	observed->next = 0;
	observed->kernel = kernel->id;
	if (gt_chase_parse(kernel->name, &observed->chase, &reason) != 0)
		return gt_fail(error, "kernel %" PRIu64 ", '%.60s': %s", kernel->id, kernel->name, reason.text);
	observed->round = gt_chase_round(&observed->chase, &observed->elements, error);
	return observed->round ? 0 : -1;
}

static int take_row(struct observed *observed, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	const struct gt_chase *chase = &observed->chase;
	uint64_t offset = observed->round[observed->next % observed->elements];

	if (rows->an[i] != observed->next || observed->next >= observed->elements * chase->rounds ||
	    rows->address[i] != (chase->base + offset) / GT_LINE * GT_LINE)
		return gt_fail(error, "kernel %" PRIu64 ", access %" PRIu32 ": expected access %" PRIu64 ", and all of them in order (gcache --emit latency)",
			       observed->kernel, rows->an[i], observed->next);
	const struct gt_observation access = {chase->bytes, observed->next++, offset, rows->latency[i]};
	return observed->take(observed->context, &access, error);
}

static int take_rows(struct observed *observed, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind != GT_REQUESTS || !rows->has_latency)
		return gt_fail(error, "kernel %" PRIu64 ": expected latencies (gcache --emit latency)", observed->kernel);
	for (size_t i = 0; i < rows->n; i++)
		if (take_row(observed, rows, i, error) != 0)
			return -1;
	return 0;
}

int gt_observed_read(struct gt_input *input, gt_observed_take *take, void *context, struct gt_error *error)
{
	struct observed observed = {.take = take, .context = context};
	enum gt_event event = GT_FAILED;
	const char *head;
	size_t bytes;
	int descriptor = gt_input_hand_over(input, &head, &bytes);
	struct gt_reader *reader = gt_reader_open(descriptor, gt_input_name(input), head, bytes, error);
	int result = reader ? 0 : -1;

	while (result == 0 && (event = gt_read(reader, error)) != GT_END) {
		result = event == GT_FAILED ? -1 : 0;
		if (event == GT_KERNEL)
			result = begin_kernel(&observed, gt_reader_kernel(reader), error);
		else if (event == GT_ROWS)
			result = take_rows(&observed, gt_reader_rows(reader), error);
	}
	if (result == 0)
		result = end_kernel(&observed, error);
	free(observed.round);
	gt_reader_close(reader);
	return result;
}
