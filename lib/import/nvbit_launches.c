/* SPDX-License-Identifier: MIT */
/* Which launch a record belongs to. A launch line's id is one more than the id in the records of the launch, or in some versions
 * equal: the first record tells which, and all others must agree. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grown.h"
#include "import/nvbit.h"
#include "import/place.h"

/* Warps of earlier launches whose slots are remembered. */
#define SLOTS_KEPT (1U << 20)

static struct gt_nvbit_launch *add_launch(struct gt_nvbit *reader)
{
	struct gt_nvbit_launch **launches = gt_grown(reader->launches, reader->n, &reader->capacity, sizeof *launches);

	if (!launches)
		return NULL;
	reader->launches = launches;
	struct gt_nvbit_launch *launch = calloc(1, sizeof *launch);

	if (launch)
		reader->launches[reader->n++] = launch;
	return launch;
}

int gt_nvbit_add_launch(struct gt_nvbit *reader, const char *text, size_t length)
{
	struct gt_kernel kernel = {0};
	const char *expected = gt_nvbit_launch_line_scan(reader->launch_line, text, length, &kernel);
	int fresh = 0;

	if (expected)
		return gt_nvbit_fail(reader, expected);
	uint64_t *place = gt_map_put(&reader->by_id, kernel.id, reader->n, &fresh);
	struct gt_nvbit_launch *launch = place && fresh ? add_launch(reader) : NULL;

	if (place && !fresh)
		return gt_input_fail(reader->input, reader->error,
				     "grid launch id %" PRIu64 " again: expected a new one", kernel.id);
	if (!launch)
		return gt_fail_memory(reader->error, "a launch");
	launch->kernel = kernel;
	if (gt_import_kernel(reader->input, reader->to, &launch->kernel, reader->error) != 0)
		return -1;
	reader->announced = launch;
	return 0;
}

static const uint64_t *place_of(const struct gt_nvbit *reader, uint64_t launch)
{
	return launch < GT_KERNEL_NEXT ? gt_map_get(&reader->by_id, launch) : NULL;
}

/* Prepares the slots of a launch whose records begin or continue. A launch rarely continues after another has
 * begun, so the slots of earlier launches are forgotten when there are many. If such a launch does continue, its
 * warps are found anew, which can differ only where slot modulo n was not the warp. */
static int open_slots(struct gt_nvbit *reader, struct gt_nvbit_launch *launch)
{
	if (reader->current)
		reader->kept += reader->current->slots.warps.used;
	if (reader->kept > SLOTS_KEPT) {
		for (size_t i = 0; i < reader->n; i++)
			if (reader->launches[i] != launch)
				gt_nvbit_forget_warps(reader->launches[i]);
		reader->kept = 0;
	}
	return launch->slots.warps.slots ? 0 : gt_slots_open(&launch->slots, reader->error);
}

int gt_nvbit_select_launch(struct gt_nvbit *reader, uint64_t id)
{
	const uint64_t *place;

	if (reader->current && reader->current == reader->announced && reader->current_id == id)
		return 0;
	if (!reader->settled)
		reader->more = place_of(reader, id + 1) != NULL;
	place = place_of(reader, id + reader->more);
	if (!place)
		return gt_input_fail(reader->input, reader->error,
				     "grid_launch_id %" PRIu64 ": expected a launch line with the id %" PRIu64
				     " before it",
				     id, id + 1 - (reader->settled && !reader->more));
	struct gt_nvbit_launch *launch = reader->launches[*place];

	/* A launch line reports the newest launch; a return to an earlier one is reported here. */
	if (launch != reader->announced &&
	    gt_import_kernel(reader->input, reader->to, &launch->kernel, reader->error) != 0)
		return -1;
	if (open_slots(reader, launch) != 0)
		return -1;
	reader->settled = true;
	reader->announced = reader->current = launch;
	reader->current_id = id;
	return 0;
}

void gt_nvbit_close_launches(struct gt_nvbit *reader)
{
	for (size_t i = 0; i < reader->n; i++) {
		gt_nvbit_forget_warps(reader->launches[i]);
		free(reader->launches[i]);
	}
	free(reader->launches);
	gt_map_close(&reader->by_id);
}
