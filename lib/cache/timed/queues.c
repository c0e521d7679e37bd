/* SPDX-License-Identifier: MIT */
#include "cache/timed/queues.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

void gt_queues_close(struct gt_queues *queues)
{
	if (!queues)
		return;
	free(queues->ends);
	free(queues->next);
	free(queues->chosen);
	free(queues);
}

/* Room for n items. */
static int make_room(struct gt_timed *timed, size_t n, struct gt_error *error)
{
	struct gt_queues *queues = timed->queues ? timed->queues : calloc(1, sizeof *queues);

	if (!queues)
		return gt_fail_memory(error, "lookups that wait for a port");
	timed->queues = queues;
	uint32_t *next = gt_grown_to(queues->next, n, &queues->next_capacity, sizeof *next);
	queues->next = next ? next : queues->next;
	uint32_t *chosen = gt_grown_to(queues->chosen, n, &queues->chosen_capacity, sizeof *chosen);
	queues->chosen = chosen ? chosen : queues->chosen;
	if (!queues->ends)
		queues->ends = malloc(timed->banks * sizeof *queues->ends);
	return next && chosen && queues->ends ? 0 : gt_fail_memory(error, "lookups that wait for a port");
}

int gt_queues_fill(struct gt_timed *timed, const struct gt_item *items, size_t n, struct gt_error *error)
{
	if (make_room(timed, n, error) != 0)
		return -1;
	struct gt_queues *queues = timed->queues;
	memset(queues->ends, 0, timed->banks * sizeof *queues->ends);
	for (size_t i = 0; i < n; i++) {
		struct gt_ends *ends = &queues->ends[items[i].bank];
		*(ends->last ? &queues->next[ends->last - 1] : &ends->first) = (uint32_t)i + 1;
		ends->last = (uint32_t)i + 1;
		queues->next[i] = 0;
	}
	return 0;
}

static int by_index(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

size_t gt_queues_choose(const struct gt_timed *timed)
{
	struct gt_queues *queues = timed->queues;
	size_t n = 0;

	for (uint32_t bank = 0; bank < timed->banks; bank++) {
		struct gt_ends *ends = &queues->ends[bank];
		for (uint32_t port = 0; port < timed->config.timed.ports && ends->first; port++) {
			queues->chosen[n++] = ends->first - 1;
			ends->first = queues->next[ends->first - 1];
		}
		if (!ends->first)
			ends->last = 0;
	}
	if (n > 1)
		qsort(queues->chosen, n, sizeof *queues->chosen, by_index);
	return n;
}

void gt_queues_return(const struct gt_timed *timed, const struct gt_item *items, const uint32_t *indices, size_t n)
{
	struct gt_queues *queues = timed->queues;

	for (size_t k = n; k-- > 0;) {
		struct gt_ends *ends = &queues->ends[items[indices[k]].bank];
		queues->next[indices[k]] = ends->first;
		ends->first = indices[k] + 1;
		if (!ends->last)
			ends->last = ends->first;
	}
}
