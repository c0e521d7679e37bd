/* SPDX-License-Identifier: MIT */
#include "order/launches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "order/ordinals.h"
#include "stream/trace.h"

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

struct gt_order_launch *gt_order_launches_find(const struct gt_order_launches *launches, uint64_t id)
{
	const uint64_t *known = find_index(launches, id);

	return known ? launches->launches[*known] : NULL;
}

int gt_order_launch_keep(struct gt_order_launch *launch, const struct gt_count *count, struct gt_error *error)
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

static struct gt_order_launch *add_launch(struct gt_order_launches *launches, struct gt_error *error)
{
	struct gt_order_launch **more = gt_grown(launches->launches, launches->n, &launches->capacity, sizeof *more);

	if (!more)
		goto no_memory;
	launches->launches = more;
	if (launches->n == GT_ORDINAL_KERNELS) {
		gt_fail(error, "expected at most %" PRIu32 " launches", GT_ORDINAL_KERNELS);
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
	int fresh, matches = wanted ? gt_regex_match(wanted, kernel->name, strlen(kernel->name), error) : 1;
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
	launch->limits = gt_order_limits_of(kernel);
	return 0;
}

int gt_order_launches_enter(struct gt_order_launches *launches, const struct gt_kernel *kernel, struct gt_regex *wanted,
			    uint32_t *index, struct gt_error *error)
{
	int known = find_launch(launches, kernel, index, error);

	if (known != 0)
		return known;
	*index = (uint32_t)launches->n;
	return new_launch(launches, kernel, wanted, error);
}

int gt_order_launches_open(struct gt_order_launches *launches, struct gt_error *error)
{
	launches->next_id = 1;
	return gt_map_open(&launches->by_source, 0, error) != 0 ? -1 : gt_map_open(&launches->used, 0, error);
}

void gt_order_launches_close(struct gt_order_launches *launches)
{
	for (size_t i = 0; i < launches->n; i++) {
		gt_kernel_clear(&launches->launches[i]->kernel);
		gt_passed_clear(&launches->launches[i]->passed);
		gt_order_lines_clear(&launches->launches[i]->lines);
		gt_order_blocks_clear(&launches->launches[i]->blocks);
		gt_copies_clear(&launches->launches[i]->copies);
		for (size_t c = 0; c < launches->launches[i]->counts_n; c++)
			gt_count_clear(&launches->launches[i]->counts[c]);
		free(launches->launches[i]->counts);
		free(launches->launches[i]);
	}
	free(launches->launches);
	gt_map_close(&launches->by_source);
	gt_map_close(&launches->used);
}
