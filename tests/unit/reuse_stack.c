/* SPDX-License-Identifier: MIT */
/* Stack distances against a plain list, and the worked examples of the papers. */
#include <stdlib.h>

#include "check.h"
#include "reuse/histogram.h"
#include "replace/stack.h"

static struct gt_error error;
static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* The definition: lines in an array, most recent first. */
struct list {
	uint64_t lines[8192];
	size_t n;
};

static uint64_t list_touch(struct list *list, uint64_t line)
{
	size_t at = 0;

	while (at < list->n && list->lines[at] != line)
		at++;
	uint64_t distance = at < list->n ? at : GT_DISTANCE_INFINITE;
	list->n += at == list->n;
	memmove(list->lines + 1, list->lines, at * sizeof *list->lines);
	list->lines[0] = line;
	return distance;
}

static uint64_t touch(struct gt_stack *stack, uint64_t line)
{
	uint64_t distance = 0;

	CHECK(gt_stack_touch(stack, line, gt_stack_hash(line), &distance, &error) == 0);
	return distance;
}

/* `touches` references to lines drawn by `draw` give the list's distances. */
static void compare(uint64_t touches, uint64_t (*draw)(uint64_t time))
{
	struct list *list = calloc(1, sizeof *list);
	struct gt_stack stack;

	CHECK(gt_stack_open(&stack, &error) == 0);
	for (uint64_t time = 0; time < touches; time++) {
		uint64_t line = draw(time);
		uint64_t expected = list_touch(list, line), found = touch(&stack, line);
		CHECK_EQUAL(found, expected);
		if (found != expected)
			break;
	}
	CHECK_EQUAL(stack.live, list->n);
	gt_stack_close(&stack);
	free(list);
}

static uint64_t draw_few(uint64_t time) { (void)time; return random_below(40); }
static uint64_t draw_many(uint64_t time) { (void)time; return random_below(5000) * 0x10001; }
static uint64_t draw_loop(uint64_t time) { return time % 3000; }
static uint64_t draw_pairs(uint64_t time) { return (time / 2 % 2000) << 40; }
static uint64_t draw_new(uint64_t time) { return time; }
static uint64_t draw_near(uint64_t time) { return time / 8 + random_below(64); }
static uint64_t draw_extremes(uint64_t time) { return random_below(3) - (time & 1) * 3; }

static void few_lines(void) { compare(20000, draw_few); }
static void many_lines(void) { compare(40000, draw_many); }
static void a_loop_longer_than_any_cache(void) { compare(20000, draw_loop); }
static void pairs(void) { compare(20000, draw_pairs); }
static void lines_never_reused(void) { compare(8000, draw_new); }
static void a_moving_window(void) { compare(40000, draw_near); }
static void extreme_line_numbers(void) { compare(1000, draw_extremes); }

static bool is_odd(const void *context, uint64_t line)
{
	(void)context;
	return line % 2 != 0;
}

/* Dropping lines leaves the order of the others. */
static void dropped_lines_are_forgotten(void)
{
	struct list *list = calloc(1, sizeof *list);
	struct gt_stack stack;
	uint64_t wrong = 0;

	CHECK(gt_stack_open(&stack, &error) == 0);
	gt_stack_keep(&stack, is_odd, NULL);
	for (uint64_t time = 0; time < 30000; time++) {
		uint64_t line = random_below(700);
		wrong += touch(&stack, line) != list_touch(list, line);
		if (time % 1000 != 999)
			continue;
		size_t kept = 0;
		for (size_t i = 0; i < list->n; i++)
			if (list->lines[i] % 2 != 0)
				list->lines[kept++] = list->lines[i];
		list->n = kept;
		gt_stack_keep(&stack, is_odd, NULL);
		CHECK_EQUAL(stack.live, kept);
	}
	CHECK_EQUAL(wrong, 0);
	gt_stack_close(&stack);
	free(list);
}

/* Many at a time, while the table grows and slots are renumbered, as one by one. */
static void many_at_a_time(void)
{
	enum { SOME = 1500 };
	uint64_t *lines = malloc(SOME * sizeof *lines), *distances = malloc(SOME * sizeof *distances), wrong = 0;
	struct gt_stack stack, same;

	CHECK(gt_stack_open(&stack, &error) == 0 && gt_stack_open(&same, &error) == 0);
	for (uint64_t round = 1; round <= 40; round++) {
		for (size_t i = 0; i < SOME; i++)
			lines[i] = random_below(round * 700);
		CHECK(gt_stack_touch_all(&stack, lines, SOME, distances, &error) == 0);
		for (size_t i = 0; i < SOME; i++)
			wrong += distances[i] != touch(&same, lines[i]);
	}
	CHECK_EQUAL(wrong, 0);
	gt_stack_close(&stack);
	gt_stack_close(&same);
	free(distances);
	free(lines);
}

/* Live slots before a slot, by counting, at sizes on both sides of every level of the tree. */
static void slots_count_what_precedes(void)
{
	static const uint32_t sizes[] = {1, 63, 64, 65, 2047, 2048, 2049, 32767, 32768, 32769, 70000, 600000};

	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
		uint32_t size = sizes[s];
		struct gt_timeline slots = {0};
		unsigned char *live = calloc(size, 1);
		CHECK(gt_timeline_open(&slots, size, 0, &error) == 0);
		for (uint32_t i = 0; i < size; i++) {
			live[i] = 1;
			gt_timeline_set(&slots, i);
			uint32_t any = (uint32_t)random_below(i + 1); /* so sums are made of earlier ones that have changed */
			if (live[any])
				gt_timeline_unset(&slots, any);
			live[any] = 0;
		}
		for (uint32_t i = 0; i < size; i += 7)
			if (live[i]) {
				live[i] = 0;
				gt_timeline_unset(&slots, i);
			}
		uint32_t wrong = 0;
		for (uint32_t i = 0, before = 0; i < size; before += live[i++])
			wrong += gt_timeline_before(&slots, i) != before;
		CHECK_EQUAL(wrong, 0);
		uint32_t *ranks = gt_timeline_ranks(&slots, &error);
		for (uint32_t i = 0, before = 0; i < size; before += live[i++])
			wrong += gt_timeline_rank(&slots, ranks, i) != before;
		CHECK_EQUAL(wrong, 0);
		free(ranks);
		free(live);
		gt_timeline_close(&slots);
	}
}

static void filled_slots_are_the_first(void)
{
	struct gt_timeline slots = {0};

	for (uint32_t live = 0; live <= 3000; live += 59) {
		CHECK(gt_timeline_open(&slots, 3000, live, &error) == 0);
		for (uint32_t i = 0; i < 3000; i += 13)
			CHECK_EQUAL(gt_timeline_before(&slots, i), i < live ? i : live);
	}
	gt_timeline_close(&slots);
}

/* The memory limit: under 32 bytes a distinct line, at every size of a large stack. */
static void memory_per_line(void)
{
	struct gt_stack stack;
	uint64_t worst = 0;

	CHECK(gt_stack_open(&stack, &error) == 0);
	for (uint64_t line = 0; line < 1500000; line++) {
		touch(&stack, line * 3);
		if (line > 10000 && gt_stack_bytes(&stack) * 100 / stack.live > worst)
			worst = gt_stack_bytes(&stack) * 100 / stack.live;
	}
	CHECK(worst < 3200);
	CHECK_EQUAL(touch(&stack, 0), 1499999);
	gt_stack_close(&stack);
}

/* A row of references and the distances that a paper prints under it; -1 is infinity. */
static void worked_example(size_t n, const int *lines, const int *distances)
{
	struct gt_stack stack;

	CHECK(gt_stack_open(&stack, &error) == 0);
	for (size_t i = 0; i < n; i++)
		CHECK_EQUAL(touch(&stack, (uint64_t)lines[i]), distances[i]);
	gt_stack_close(&stack);
}

static void rdgc_table_1(void) /* [000] */
{
	worked_example(8, (int[]){'A', 'B', 'C', 'D', 'A', 'A', 'D', 'C'}, (int[]){-1, -1, -1, -1, 3, 0, 1, 2});
}

static void nugteren_table_1(void) /* [002] */
{
	worked_example(7, (int[]){0, 5, 3, 9, 3, 3, 5}, (int[]){-1, -1, -1, -1, 1, 0, 2});
	worked_example(7, (int[]){0, 1, 0, 2, 0, 0, 1}, (int[]){-1, -1, 1, -1, 1, 0, 2});
}

static void nugteren_table_2(void) /* [002] */
{
	worked_example(8, (int[]){0, 0, 1, 1, 0, 0, 1, 1}, (int[]){-1, 0, -1, 0, 1, 0, 1, 0});
}

static void sdcm_table_1(void) /* [004] */
{
	worked_example(6, (int[]){1, 2, 3, 1, 1, 3}, (int[]){-1, -1, -1, 2, 0, 1});
}

/* Distances on both sides of a bound that is no power of two, and of every bin's edge. */
static void histogram_bins(void)
{
	struct gt_histogram histogram;
	static const uint64_t distances[] = {0, 0, 9, 10, 19, 20, 39, 40, UINT32_MAX, GT_DISTANCE_INFINITE};

	histogram = (struct gt_histogram){.bound = 10};
	for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
		CHECK(gt_histogram_add(&histogram, distances[i], 1, 1, &error) == 0);
	CHECK_EQUAL(gt_histogram_at(&histogram, 0), 2);
	CHECK_EQUAL(gt_histogram_at(&histogram, 9), 1);
	CHECK_EQUAL(gt_histogram_end(&histogram), 10);
	CHECK_EQUAL(histogram.far[0], 2);
	CHECK_EQUAL(histogram.far[1], 2);
	CHECK_EQUAL(histogram.far[2], 1);
	CHECK_EQUAL(histogram.far[28], 1);
	CHECK_EQUAL(gt_histogram_far_end(&histogram), 29);
	CHECK_EQUAL(histogram.infinite, 1);
	CHECK_EQUAL(histogram.references, 10);
	CHECK_EQUAL(gt_histogram_below(&histogram, 0), 0);
	CHECK_EQUAL(gt_histogram_below(&histogram, 9), 2);
	CHECK_EQUAL(gt_histogram_below(&histogram, 10), 3);
	gt_histogram_clear(&histogram);
	CHECK_EQUAL(histogram.references, 0);
	CHECK_EQUAL(gt_histogram_end(&histogram), 0);
	CHECK_EQUAL(gt_histogram_far_end(&histogram), 0);
}

/* Every bound's bins by the definition: bound * 2^k <= distance < bound * 2^(k + 1). */
static void histogram_far_bins(void)
{
	struct gt_histogram histogram;

	for (uint64_t bound = 1; bound < 100; bound += 3)
		for (unsigned shift = 0; shift < 57; shift++)
			for (int edge = -1; edge <= 1; edge++) {
				uint64_t distance = (bound << shift) + (uint64_t)(int64_t)edge;
				if (distance < bound)
					continue;
				histogram = (struct gt_histogram){.bound = bound};
				CHECK(gt_histogram_add(&histogram, distance, 1, 3, &error) == 0);
				unsigned bin = edge < 0 ? shift - 1 : shift;
				CHECK_EQUAL(histogram.far[bound == 1 && shift == 0 && edge == 1 ? 1 : bin], 3);
				gt_histogram_clear(&histogram);
			}
}

/* The counts of a sample are corrected at the shortest distances to add up to the references. */
static void histogram_settles(void)
{
	struct gt_histogram histogram;

	histogram = (struct gt_histogram){.bound = 10};
	for (uint64_t distance = 0; distance < 4; distance++)
		CHECK(gt_histogram_add(&histogram, distance, 1, 10, &error) == 0);
	CHECK(gt_histogram_add(&histogram, 100, 1, 10, &error) == 0);
	CHECK(gt_histogram_add(&histogram, GT_DISTANCE_INFINITE, 1, 10, &error) == 0);
	histogram.references = 35;
	CHECK(gt_histogram_settle(&histogram, &error) == 0);
	CHECK_EQUAL(gt_histogram_at(&histogram, 1), 0);
	CHECK_EQUAL(gt_histogram_at(&histogram, 2), 5);
	CHECK_EQUAL(gt_histogram_below(&histogram, 10), 15);
	CHECK_EQUAL(histogram.far[3], 10);
	histogram.references = 3;
	CHECK(gt_histogram_settle(&histogram, &error) == 0);
	CHECK_EQUAL(histogram.infinite, 3);
	histogram.references = 9;
	CHECK(gt_histogram_settle(&histogram, &error) == 0);
	CHECK_EQUAL(gt_histogram_at(&histogram, 0), 6);
	gt_histogram_clear(&histogram);
}

static void histogram_grows_by_pages(void)
{
	struct gt_histogram histogram;

	histogram = (struct gt_histogram){.bound = GT_HISTOGRAM_BOUND_MAX};
	for (uint64_t distance = 0; distance < 20000; distance += 3)
		CHECK(gt_histogram_add(&histogram, distance, 1, 1, &error) == 0);
	CHECK(gt_histogram_add(&histogram, 1000000, 1, 1, &error) == 0);
	CHECK(histogram.n_pages < 5000);
	uint64_t end = gt_histogram_end(&histogram), sum = 0;
	CHECK_EQUAL(end, 1000001);
	for (uint64_t distance = 0; distance < end; distance++) {
		uint64_t count = gt_histogram_at(&histogram, distance);
		CHECK_EQUAL(count, (distance < 20000 && distance % 3 == 0) || distance == 1000000);
		sum += count;
	}
	CHECK_EQUAL(sum, histogram.references);
	gt_histogram_clear(&histogram);
}

int main(void)
{
	RUN(few_lines);
	RUN(many_lines);
	RUN(a_loop_longer_than_any_cache);
	RUN(pairs);
	RUN(lines_never_reused);
	RUN(a_moving_window);
	RUN(extreme_line_numbers);
	RUN(many_at_a_time);
	RUN(dropped_lines_are_forgotten);
	RUN(slots_count_what_precedes);
	RUN(filled_slots_are_the_first);
	RUN(memory_per_line);
	RUN(rdgc_table_1);
	RUN(nugteren_table_1);
	RUN(nugteren_table_2);
	RUN(sdcm_table_1);
	RUN(histogram_bins);
	RUN(histogram_far_bins);
	RUN(histogram_settles);
	RUN(histogram_grows_by_pages);
	return check_report();
}
