/* SPDX-License-Identifier: MIT */
/* Reuse distances of random rows, by every granularity and grouping, against the definition. */
#include <stdlib.h>

#include "check.h"
#include "reuse/tables.h"

enum { ROWS = 500, REFERENCES = ROWS * GT_WARP_SIZE };

static struct gt_error error;
static uint64_t random_state = 7;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

static void fill_row(struct gt_rows *rows, size_t i, bool scheduled)
{
	uint64_t addresses[GT_WARP_SIZE];
	static const uint32_t masks[] = {1, 0xffffffff, 0x80000000, 0xf0f0, 0x7};

	rows->block[i] = (uint32_t)random_below(5);
	rows->warp[i] = (uint16_t)random_below(4);
	rows->an[i] = (uint32_t)i;
	rows->pc[i] = (uint32_t)random_below(3) * 16;
	rows->op[i] = gt_op((enum gt_action)random_below(4), random_below(9) ? GT_GLOBAL : GT_SHARED,
			    GT_OPERATOR_NONE);
	if (scheduled) {
		rows->step[i] = i;
		rows->sm[i] = (uint16_t)random_below(3);
	}
	if (rows->kind == GT_REQUESTS) {
		rows->address[i] = random_below(60) * GT_LINE + (random_below(2) << 40);
		rows->sectors[i] = (uint8_t)(1 + random_below(15));
		rows->full[i] = 0;
		rows->threads[i] = 1;
		return;
	}
	uint64_t base = random_below(2000), stride = random_below(9);
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		addresses[lane] = random_below(4) ? base + stride * lane : random_below(3000);
	rows->size[i] = 4;
	CHECK(gt_rows_set_addresses(rows, i, masks[random_below(5)], addresses, &error) == 0);
}

static struct gt_rows *random_rows(enum gt_rows_kind kind, bool scheduled)
{
	struct gt_rows *rows = gt_rows_new(ROWS, &error);

	rows->kind = kind;
	rows->scheduled = scheduled;
	for (size_t i = 0; i < ROWS; i++)
		fill_row(rows, i, scheduled);
	rows->n = ROWS;
	return rows;
}

static const struct gt_reuse_options usual = {.sets = 1, .actions = 15, .bound = 16};

static struct gt_reuse_options options_of(const struct gt_reuse_options *others, const char *granularity)
{
	struct gt_reuse_options options = *others;

	CHECK(gt_reuse_set(&options, "granularity", granularity, &error) == 0);
	return options;
}

/* One measurement, without a pair. */
static void open_one(struct gt_measures *measures, const struct gt_reuse_options *options)
{
	struct gt_plan plan = {.n = 1, .measures = {*options}};
	static struct gt_pair none;

	CHECK(gt_measures_open(measures, &plan, &none, &error) == 0);
}

/* A reference and its distance, as the definition says or as the measurement found. */
struct found {
	size_t row;
	uint64_t unit, distance, stack;
};

struct list {
	struct found found[REFERENCES];
	size_t n;
};

static void append(struct list *list, size_t row, uint64_t unit, uint64_t stack)
{
	list->found[list->n++] = (struct found){.row = row, .unit = unit, .stack = stack};
}

/* The units of row i, by walking over its bytes. */
static void refer(struct list *list, const struct gt_rows *rows, size_t i,
		  const struct gt_reuse_options *options)
{
	uint64_t size = UINT64_C(1) << options->unit.shift, addresses[GT_WARP_SIZE];
	uint64_t sm = rows->scheduled && options->per != GT_PER_GLOBAL ? rows->sm[i] : 0;

	if (options->per == GT_PER_BLOCK || options->per == GT_PER_WARP)
		sm = (uint64_t)rows->block[i] * 8 + (options->per == GT_PER_WARP ? rows->warp[i] : 0);

	if (!(options->actions & 1U << gt_op_action(rows->op[i])) || gt_op_space(rows->op[i]) == GT_SHARED)
		return;
	if (rows->kind == GT_ACCESSES) {
		unsigned n = gt_rows_addresses(rows, i, addresses);
		for (unsigned lane = 0; lane < n; lane++)
			append(list, i, addresses[lane] / size, sm << 32 | addresses[lane] / size % options->sets);
		return;
	}
	uint64_t last = UINT64_MAX;
	for (unsigned sector = 0; sector < 4; sector++) {
		uint64_t unit = (rows->address[i] + sector * 32) / size;
		if ((rows->sectors[i] & 1U << sector) && unit != last)
			append(list, i, last = unit, sm << 32 | unit % options->sets);
	}
}

static bool same(const struct found *a, const struct found *b)
{
	return a->stack == b->stack && a->unit == b->unit;
}

/* [002] 3.3: the unique units of the same stack between this reference and the last to the same. */
static void measure(struct list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct found *now = &list->found[i];
		uint64_t unique = 0;
		size_t j = i;
		while (j-- > 0 && !same(now, &list->found[j])) {
			if (list->found[j].stack != now->stack)
				continue;
			size_t k = j + 1;
			while (k < i && !same(&list->found[k], &list->found[j]))
				k++;
			unique += k == i;
		}
		now->distance = j == SIZE_MAX ? GT_DISTANCE_INFINITE : unique;
	}
}

static int watch(void *context, const struct gt_rows *rows, size_t i, uint64_t unit, uint64_t distance,
		 struct gt_error *unused)
{
	struct list *list = context;

	(void)rows;
	(void)unused;
	list->found[list->n++] = (struct found){.row = i, .unit = unit, .distance = distance};
	return 0;
}

static void check_profile(const struct gt_profile *profile, const struct list *expected)
{
	uint64_t references = 0, infinite = 0, sum = profile->all.infinite;

	for (size_t i = 0; i < expected->n; i++)
		infinite += expected->found[i].distance == GT_DISTANCE_INFINITE;
	CHECK_EQUAL(profile->all.references, expected->n);
	CHECK_EQUAL(profile->all.infinite, infinite);
	for (uint64_t distance = 0; distance < gt_histogram_end(&profile->all); distance++)
		sum += gt_histogram_at(&profile->all, distance);
	for (size_t bin = 0; bin < GT_HISTOGRAM_FAR; bin++)
		sum += profile->all.far[bin];
	CHECK_EQUAL(sum, expected->n);
	for (size_t i = 0; i < profile->classes.n; i++) {
		const struct gt_reuse_class *class = &profile->classes.classes[i];
		CHECK(i == 0 || class[-1].key < class->key);
		references += ((const struct gt_histogram *)class->counted)->references;
	}
	CHECK_EQUAL(references, profile->classes.split ? expected->n : 0);
}

/* Without a watcher, references may be measured by stack. */
static void compare_unwatched(const struct gt_reuse_options *asked, const struct gt_rows *rows, const struct gt_profile *expected)
{
	struct gt_reuse_options options = *asked;
	struct gt_measures measures;
	const struct gt_profile *profile = &measures.reuses[0].profile;

	options.watch = NULL;
	open_one(&measures, &options);
	CHECK(gt_measures_rows(&measures, rows, &error) == 0);
	CHECK(gt_measures_finish(&measures, &error) == 0);
	uint64_t differ = 0, end = gt_histogram_end(&profile->all);
	CHECK_EQUAL(end, gt_histogram_end(&expected->all));
	for (uint64_t distance = 0; distance < end; distance++)
		differ += gt_histogram_at(&profile->all, distance) != gt_histogram_at(&expected->all, distance);
	CHECK_EQUAL(differ, 0);
	CHECK_EQUAL(profile->all.infinite, expected->all.infinite);
	CHECK_EQUAL(profile->all.references, expected->all.references);
	CHECK_EQUAL(profile->classes.n, expected->classes.n);
	gt_measures_close(&measures);
}

static void compare(const char *granularity, const struct gt_reuse_options *others, bool scheduled)
{
	struct list *expected = calloc(1, sizeof *expected), *found = calloc(1, sizeof *found);
	struct gt_reuse_options options = options_of(others, granularity);
	struct gt_measures measures;

	struct gt_rows *rows = random_rows(options.unit.granularity->kind, scheduled);
	if (rows->kind == GT_ACCESSES)
		rows->n = ROWS / 4; /* an access makes many references, and the definition is slow */
	options.watch = watch;
	options.watch_context = found;
	open_one(&measures, &options);
	CHECK(gt_measures_rows(&measures, rows, &error) == 0);
	for (size_t i = 0; i < rows->n; i++)
		refer(expected, rows, i, &options);
	measure(expected);
	CHECK_EQUAL(found->n, expected->n);
	CHECK(expected->n > 0);
	size_t wrong = 0;
	for (size_t i = 0; i < expected->n && i < found->n; i++)
		wrong += found->found[i].row != expected->found[i].row ||
			 found->found[i].unit != expected->found[i].unit ||
			 found->found[i].distance != expected->found[i].distance;
	CHECK_EQUAL(wrong, 0);
	CHECK(gt_measures_finish(&measures, &error) == 0);
	check_profile(&measures.reuses[0].profile, expected);
	compare_unwatched(&options, rows, &measures.reuses[0].profile);
	gt_measures_close(&measures);
	gt_rows_free(rows);
	free(expected);
	free(found);
}

static const char *const granularities[] = {"line", "sector", "line:64", "line:256", "line:4K", "line:32",
					    "address", "address:16", "address:1K"};

static void every_granularity(void)
{
	for (size_t i = 0; i < sizeof granularities / sizeof *granularities; i++)
		compare(granularities[i], &usual, false);
}

static void every_grouping(void)
{
	for (size_t i = 0; i < sizeof granularities / sizeof *granularities; i++)
		for (int per = 0; per < 5; per++)
			for (uint64_t sets = 1; sets <= 7; sets += 3) {
				struct gt_reuse_options options = usual;
				options.per = (enum gt_reuse_per)per;
				options.sets = sets;
				compare(granularities[i], &options, true);
			}
}

static void every_action_and_split(void)
{
	struct gt_launch launch;

	CHECK(gt_launch_open(&launch, &error) == 0);
	CHECK(gt_launch_begin(&launch, "kernel", &error) == 0);
	for (unsigned actions = 1; actions <= 15; actions++) {
		struct gt_reuse_options options = usual;
		options.launch = &launch;
		options.actions = actions;
		CHECK(gt_reuse_set(&options, "by", actions & 1 ? "pc" : "op", &error) == 0);
		compare("sector", &options, false);
	}
	gt_launch_close(&launch);
}

static uint32_t all_in_set_3(const void *context, uint64_t unit)
{
	(void)unit;
	return *(const uint32_t *)context;
}

static void set_function_is_asked(void)
{
	static const uint32_t three = 3;
	struct gt_reuse_options options = options_of(&usual, "line");
	struct gt_measures measures;

	options.sets = 8;
	options.set_of = all_in_set_3;
	options.set_context = &three;
	open_one(&measures, &options);
	struct gt_rows *rows = random_rows(GT_REQUESTS, false);
	CHECK(gt_measures_rows(&measures, rows, &error) == 0);
	CHECK_EQUAL(measures.reuses[0].n_stacks, 1);
	gt_measures_close(&measures);
	gt_rows_free(rows);
}

/* After a flush every line is new again, and the profile goes on. */
static void flush_forgets_lines(void)
{
	struct gt_reuse_options options = options_of(&usual, "line");
	struct gt_rows *rows = random_rows(GT_REQUESTS, false);
	uint64_t infinite = 0, references = 0;

	for (unsigned times = 1; times <= 3; times++) {
		struct gt_measures measures;
		const struct gt_histogram *all = &measures.reuses[0].profile.all;
		open_one(&measures, &options);
		for (unsigned i = 0; i < times; i++) {
			if (i == 2)
				CHECK(gt_measures_end_kernel(&measures, true, &error) == 0);
			CHECK(gt_measures_rows(&measures, rows, &error) == 0);
		}
		CHECK(gt_measures_finish(&measures, &error) == 0);
		infinite = times == 1 ? all->infinite : infinite;
		references = times == 1 ? all->references : references;
		CHECK_EQUAL(all->infinite, times < 3 ? infinite : 2 * infinite);
		CHECK_EQUAL(all->references, times * references);
		gt_measures_clear(&measures);
		CHECK_EQUAL(all->references, 0);
		gt_measures_close(&measures);
	}
	CHECK(infinite > 0);
	gt_rows_free(rows);
}

static int check_count(void *context, const struct gt_count *count, struct gt_error *unused)
{
	static const char *const names[] = {"load.global.references", "store.global.references",
					    "atomic.global.references", "reduction.global.references"};
	const struct gt_count_entry *distance = gt_count_find(count, "distance");
	uint64_t sum = 0;

	(void)unused;
	for (size_t i = 0; i < 4; i++)
		sum += gt_count_value(count, names[i], 0);
	CHECK_EQUAL(sum, gt_count_value(count, "references", 0));
	CHECK(sum > 0);
	CHECK_TEXT(count->stage, "here");
	CHECK(distance && distance->kind == GT_COUNT_ARRAY && distance->n <= usual.bound);
	CHECK(gt_count_find(count, "load.global.far") != NULL);
	++*(int *)context;
	return 0;
}

static void counts_name_their_class(void)
{
	struct gt_reuse_options options = options_of(&usual, "line");
	struct gt_measures measures;
	struct gt_reuse_text text = {0};
	int taken = 0;
	struct gt_output output = {.count = check_count, .context = &taken};

	CHECK(gt_reuse_set(&options, "by", "op", &error) == 0);
	open_one(&measures, &options);
	struct gt_rows *rows = random_rows(GT_REQUESTS, false);
	CHECK(gt_measures_rows(&measures, rows, &error) == 0);
	CHECK(gt_measures_finish(&measures, &error) == 0);
	CHECK(gt_counts_give(&measures, &text, "here", 1, &output, &error) == 0);
	CHECK_EQUAL(taken, 1);
	gt_measures_close(&measures);
	gt_rows_free(rows);
}

static void wrong_rows_are_refused(void)
{
	struct gt_reuse_options options = options_of(&usual, "line");
	struct gt_measures measures;
	struct gt_rows *rows = random_rows(GT_ACCESSES, false);

	open_one(&measures, &options);
	CHECK(gt_measures_rows(&measures, rows, &error) == -1);
	CHECK_TEXT(error.text, "reuse by line is of requests, but these rows are accesses");
	gt_measures_close(&measures);
	options = options_of(&usual, "address");
	options.per = GT_PER_SM;
	open_one(&measures, &options);
	CHECK(gt_measures_rows(&measures, rows, &error) == -1);
	CHECK(strstr(error.text, "these have no SM") != NULL);
	gt_measures_close(&measures);
	gt_rows_free(rows);
}

static void bad_units_are_refused(void)
{
	static const char *const bad[] = {"", "lines", "line:", "line:0", "line:16", "line:96",
					  "sector:64", "address:3", "address:-1", "line:1e3",
					  "address:18446744073709551616", "line:2T"};
	struct gt_reuse_options options = usual;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		CHECK(gt_reuse_set(&options, "granularity", bad[i], &error) == -1);
	CHECK_EQUAL(options_of(&usual, "line:2M").unit.shift, 21);
	CHECK_EQUAL(options_of(&usual, "sector:32").unit.shift, 5);
	CHECK(gt_reuse_set(&options, "by", "warp", &error) == -1);
}

int main(void)
{
	RUN(every_granularity);
	RUN(every_grouping);
	RUN(every_action_and_split);
	RUN(set_function_is_asked);
	RUN(flush_forgets_lines);
	RUN(counts_name_their_class);
	RUN(wrong_rows_are_refused);
	RUN(bad_units_are_refused);
	return check_report();
}
