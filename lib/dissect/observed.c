/* SPDX-License-Identifier: MIT */
#include "dissect/observed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dissect/chase.h"
#include "stream/stream.h"

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
