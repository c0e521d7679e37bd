/* SPDX-License-Identifier: MIT */
/* A pipeline: each item goes through all steps, lanes see items in order, and the first item that fails says why, whatever the
 * number of threads. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/pipeline.h"
#include "check.h"

#define ITEMS 20
#define LANES 3
#define NUMBERS 3000

struct item {
	unsigned number;
	unsigned seen[LANES]; /* by the lanes: 1 more than the number */
	uint64_t made;
};

static struct item items[ITEMS];

/* What the steps share: each lane has its own, as a step in lanes may. */
static struct {
	unsigned next[LANES], written;
	unsigned out_of_order[LANES + 1]; /* seen by each lane, and by the last step */
	uint64_t sum;
} state;

static unsigned out_of_order(void)
{
	unsigned sum = 0;

	for (unsigned l = 0; l <= LANES; l++)
		sum += state.out_of_order[l];
	return sum;
}

/* The items that fail, in each step; 0: none. */
static unsigned fails_in_any, fails_in_lane, fails_in_order;

static int make(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct item *item = of;

	(void)context, (void)lane;
	item->made = 1;
	for (unsigned i = 0; i < item->number % 500; i++)
		item->made = item->made * 31 + i;
	errno = EDOM;
	/* Every later item fails too. */
	return fails_in_any && item->number >= fails_in_any ? gt_fail(error, "any %u", item->number) : 0;
}

static int serve(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct item *item = of;

	(void)context;
	state.out_of_order[lane] += item->number != state.next[lane]++;
	item->seen[lane] = item->number + 1;
	errno = ERANGE;
	return fails_in_lane && item->number >= fails_in_lane && lane > 0 ? gt_fail(error, "lane %u: %u", lane, item->number) : 0;
}

static int add(void *context, void *of, unsigned lane, struct gt_error *error)
{
	struct item *item = of;

	(void)context, (void)lane;
	for (unsigned l = 0; l < LANES; l++)
		state.out_of_order[LANES] += item->seen[l] != item->number + 1;
	state.out_of_order[LANES] += item->number != state.written++;
	state.sum = state.sum * 7 + item->made;
	errno = EPIPE;
	return fails_in_order && item->number == fails_in_order ? gt_fail(error, "in order %u", item->number) : 0;
}

static const struct gt_step steps[] = {{make, 0}, {serve, LANES}, {add, 1}};

static struct gt_pipeline *open_pipeline(unsigned jobs, size_t items_n)
{
	struct gt_error error;

	memset(&state, 0, sizeof state);
	struct gt_pipeline *pipeline = gt_pipeline_open(jobs, steps, 3, NULL, (struct gt_pipeline_items){items, sizeof *items, items_n}, &error);
	CHECK(pipeline != NULL);
	return pipeline;
}

/* Puts numbers until one fails. Returns 0, or the errno. */
static int put_all(struct gt_pipeline *pipeline, struct gt_error *error)
{
	for (unsigned i = 0; i < NUMBERS; i++) {
		struct item *item = gt_pipeline_next(pipeline, error);
		if (!item)
			return errno;
		*item = (struct item){.number = i};
		gt_pipeline_put(pipeline, item);
	}
	return gt_pipeline_drain(pipeline, error) == 0 ? 0 : errno;
}

static void every_number_of_threads_makes_the_same(void)
{
	static const unsigned jobs[] = {1, 2, 3, 8};
	uint64_t first = 0;
	struct gt_error error;

	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		struct gt_pipeline *pipeline = open_pipeline(jobs[i], ITEMS);
		CHECK_EQUAL(put_all(pipeline, &error), 0);
		CHECK_EQUAL(state.written, NUMBERS);
		CHECK_EQUAL(out_of_order(), 0);
		first = i == 0 ? state.sum : first;
		CHECK(state.sum == first);
		gt_pipeline_close(pipeline);
	}
}

static void one_item_is_enough(void)
{
	struct gt_error error;
	struct gt_pipeline *pipeline = open_pipeline(3, 1);

	CHECK_EQUAL(put_all(pipeline, &error), 0);
	CHECK_EQUAL(state.written, NUMBERS);
	CHECK_EQUAL(out_of_order(), 0);
	gt_pipeline_close(pipeline);
}

/* Runs with items that fail; the text, the errno and the number of items written must be these. */
static void expect_failure(const char *text, int reason, unsigned written)
{
	static const unsigned jobs[] = {1, 2, 3, 8};
	struct gt_error error;

	for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
		struct gt_pipeline *pipeline = open_pipeline(jobs[i], ITEMS);
		CHECK_EQUAL(put_all(pipeline, &error), reason);
		CHECK_TEXT(error.text, text);
		CHECK_EQUAL(state.written, written);
		CHECK(gt_pipeline_next(pipeline, &error) == NULL);
		CHECK_TEXT(error.text, text);
		gt_pipeline_close(pipeline);
	}
}

static void the_first_item_that_fails_says_why(void)
{
	fails_in_any = 700;
	expect_failure("any 700", EDOM, 700);
	fails_in_lane = 690;
	expect_failure("lane 1: 690", ERANGE, 690);
	fails_in_order = 680;
	expect_failure("in order 680", EPIPE, 681);
	fails_in_any = fails_in_lane = fails_in_order = 0;
}

static void a_pipeline_may_be_closed_at_any_time(void)
{
	struct gt_error error;

	for (unsigned n = 0; n < 50; n++) {
		struct gt_pipeline *pipeline = open_pipeline(4, ITEMS);
		for (unsigned i = 0; i < n; i++) {
			struct item *item = gt_pipeline_next(pipeline, &error);
			*item = (struct item){.number = i};
			gt_pipeline_put(pipeline, item);
		}
		gt_pipeline_close(pipeline);
	}
}

/* A program that is started while threads run. */
static void programs_can_be_started(void)
{
	char *const argv[] = {"echo", "started", NULL};
	struct gt_child_output output;
	struct gt_error error;
	struct gt_pipeline *pipeline = open_pipeline(4, ITEMS);

	for (unsigned i = 0; i < 200; i++) {
		struct item *item = gt_pipeline_next(pipeline, &error);
		*item = (struct item){.number = i};
		gt_pipeline_put(pipeline, item);
		if (i % 20 != 0)
			continue;
		CHECK_EQUAL(gt_child_run(argv, NULL, 0, 64, &output, &error), 0);
		CHECK_TEXT(output.text, "started\n");
		free(output.text);
	}
	CHECK_EQUAL(gt_pipeline_drain(pipeline, &error), 0);
	CHECK_EQUAL(state.written, 200);
	gt_pipeline_close(pipeline);
}

/* Signals go to the thread that opened the pipeline. */
static pthread_t handled_by;

static void handle(int signal_number)
{
	(void)signal_number;
	handled_by = pthread_self();
}

static void signals_go_to_the_caller(void)
{
	struct sigaction action = {.sa_handler = handle};
	struct gt_pipeline *pipeline = open_pipeline(4, ITEMS);

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	CHECK(pthread_equal(handled_by, pthread_self()));
	gt_pipeline_close(pipeline);
}

static void jobs_are_a_number_or_all_processors(void)
{
	static const char *const wrong[] = {"", "-1", "257", "1000000000", "2x"};
	struct gt_error error;
	unsigned jobs = 7;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		CHECK_EQUAL(gt_parse_jobs(wrong[i], &jobs, &error), -1);
	CHECK_EQUAL(jobs, 7);
	CHECK_EQUAL(gt_parse_jobs("3", &jobs, &error), 0);
	CHECK_EQUAL(jobs, 3);
	CHECK_EQUAL(gt_parse_jobs("0", &jobs, &error), 0);
	CHECK_EQUAL(jobs, sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	RUN(every_number_of_threads_makes_the_same);
	RUN(one_item_is_enough);
	RUN(the_first_item_that_fails_says_why);
	RUN(a_pipeline_may_be_closed_at_any_time);
	RUN(programs_can_be_started);
	RUN(signals_go_to_the_caller);
	RUN(jobs_are_a_number_or_all_processors);
	return check_report();
}
