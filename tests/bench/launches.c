/* SPDX-License-Identifier: MIT */
/* A stream of LAUNCHES launches with one warp access each: what a launch costs in a stage.
 *   launches LAUNCHES [KERNELS]     KERNELS: different names, 1 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stream/stream.h"

static int write_launch(struct gt_writer *writer, uint64_t id, uint64_t kernels, struct gt_error *error)
{
	struct gt_kernel kernel = {.id = id, .grid = {1, 1, 1}, .block = {32, 1, 1},
				   .order = GT_ORDER_BLOCK};
	struct gt_sink *sink = gt_writer_sink(writer);

	if (kernels > 1)
		snprintf(kernel.name, sizeof kernel.name, "tiny%" PRIu64, id % kernels);
	else
		snprintf(kernel.name, sizeof kernel.name, "tiny");
	if (gt_write_kernel(writer, &kernel, error) != 0 || gt_sink_begin(sink, GT_ACCESSES, false, error) != 0 ||
	    gt_sink_room(sink, error) != 0)
		return -1;
	size_t r = sink->rows->n++;
	sink->rows->block[r] = sink->rows->an[r] = sink->rows->pc[r] = 0;
	sink->rows->warp[r] = 0;
	sink->rows->op[r] = 0;
	sink->rows->size[r] = 4;
	sink->rows->mask[r] = UINT32_MAX;
	sink->rows->base[r] = GT_LINE * id;
	sink->rows->stride[r] = 4;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t launches = argc > 1 && argc < 4 ? strtoull(argv[1], NULL, 10) : 0, kernels = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct gt_error error;

	if (launches == 0) {
		fputs("usage: launches LAUNCHES [KERNELS]\n", stderr);
		return 2;
	}
	struct gt_writer *writer = gt_writer_open(STDOUT_FILENO, NULL, "launches", "1", argv + 1, &error);
	for (uint64_t id = 1; writer && id <= launches; id++)
		if (write_launch(writer, id, kernels, &error) != 0)
			goto failed;
	if (writer && gt_writer_finish(writer, &error) == 0) {
		gt_writer_close(writer);
		return 0;
	}
failed:
	fprintf(stderr, "launches: %s\n", error.text);
	gt_writer_close(writer);
	return 1;
}
