/* SPDX-License-Identifier: MIT */
#include "stream/invariants.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stream/equations.h"

/* What one stage sends is what the next receives: always in requests, and in sectors if both count them in
 * units of 32 bytes. An atomic that reaches DRAM is a read and a write there. */
static const struct hand_over {
	const char *sent[GT_TERMS], *received[GT_TERMS];
	bool in_sectors;
} hand_overs[] = {
	{{"sent_requests"}, {"requests"}, false},
	{{"sent_reads", "sent_writes", "sent_atomics", "?sent_prefetches", "?sent_discards"},
	 {"reads", "writes", "atomics", "bypassed", "?prefetches", "?discards"}, true},
	{{"sent_reads", "sent_atomics", "?sent_prefetches"}, {"channel_reads"}, true},
	{{"sent_writes", "sent_atomics"}, {"channel_writes"}, true},
};

/* The same with coalesce as the sender. */
static const struct hand_over from_coalesce[] = {
	{{"requests"}, {"requests"}, false},
	{{"sectors"}, {"reads", "writes", "atomics", "bypassed", "?prefetches", "?discards"}, true},
	{{"load_sectors", "atomic_sectors", "?prefetch_sectors"}, {"channel_reads"}, true},
	{{"store_sectors", "atomic_sectors"}, {"channel_writes"}, true},
};

struct gt_invariants {
	uint64_t checked;
	/* The last stage of this kernel that sends: coalesce or a level. */
	struct gt_count sender;
	bool has_sender;
	/* The last row of this kernel. */
	bool has_row;
	uint64_t last[3];
};

struct gt_invariants *gt_invariants_open(struct gt_error *error)
{
	struct gt_invariants *invariants = calloc(1, sizeof *invariants);

	if (!invariants)
		gt_fail_memory(error, "invariants");
	return invariants;
}

void gt_invariants_close(struct gt_invariants *invariants)
{
	if (!invariants)
		return;
	gt_count_clear(&invariants->sender);
	free(invariants);
}

uint64_t gt_invariants_checked(const struct gt_invariants *invariants)
{
	return invariants->checked;
}

/* ---- counts ---- */

/* True if the stage counts sectors of 32 bytes: a level has the counter `sector`, the others always do. */
static bool in_sectors_of_32(const struct gt_count *count)
{
	const struct gt_count_entry *sector = gt_count_find(count, "sector");

	return !sector || (sector->kind == GT_COUNT_NUMBER && sector->number == 32);
}

static int check_hand_over(struct gt_invariants *invariants, const struct gt_count *to, struct gt_error *error)
{
	const struct gt_count *from = &invariants->sender;
	bool coalesce = gt_count_find(from, "load_sectors") != NULL;
	const struct hand_over *table = coalesce ? from_coalesce : hand_overs;
	char sent_text[160], received_text[160];
	uint64_t sent, received;

	for (size_t h = 0; h < sizeof hand_overs / sizeof hand_overs[0]; h++) {
		if (table[h].in_sectors && (!in_sectors_of_32(from) || !in_sectors_of_32(to)))
			continue;
		if (!gt_terms_sum(from, 0, table[h].sent, &sent) || !gt_terms_sum(to, 0, table[h].received, &received))
			continue;
		if (sent != received)
			return gt_fail(error, "kernel %" PRIu64 ": %s: %s is %" PRIu64 ", but %s of %s is %" PRIu64, to->kernel,
				       to->stage, gt_terms_join(table[h].received, received_text, sizeof received_text), received,
				       gt_terms_join(table[h].sent, sent_text, sizeof sent_text), from->stage, sent);
		invariants->checked++;
	}
	return 0;
}

/* True if the stage sends rows on, so that the next one is compared with it. A level has the counter `emit` if
 * it writes anything other than what it sends. */
static bool sends(const struct gt_count *count)
{
	return (gt_count_find(count, "sent_requests") && !gt_count_find(count, "emit")) || gt_count_find(count, "load_sectors");
}

/* False under --emit latency: then a level looks up only the requests that no earlier level served. */
static bool looks_up_all(const struct gt_count *count)
{
	const struct gt_count_entry *emit = gt_count_find(count, "emit");

	return !emit || emit->kind != GT_COUNT_TEXT || strcmp(emit->text, "latency") != 0;
}

/* True if the stage writes another number of rows than it reads: a schedule of some of the blocks drops the
 * rows of the others; a level may write none, or one for each attempt. */
static bool changes_rows(const struct gt_count *count)
{
	const struct gt_count_entry *emit = gt_count_find(count, "emit");

	return (emit && emit->kind == GT_COUNT_TEXT &&
		(strcmp(emit->text, "none") == 0 || gt_count_value(count, "reservation_fails", 0) > 0)) ||
	       gt_count_value(count, "modelled_blocks", 0) != gt_count_value(count, "blocks", 0);
}

static int take_count(struct gt_invariants *invariants, const struct gt_count *count, struct gt_error *error)
{
	struct gt_count copy;

	if (gt_equations_check(count, &invariants->checked, error) != 0)
		return -1;
	if (invariants->has_sender && invariants->sender.kernel != count->kernel)
		invariants->has_sender = false;
	bool receives = gt_count_find(count, "read_hits") || gt_count_find(count, "channel_reads");
	if (invariants->has_sender && receives && looks_up_all(count) && check_hand_over(invariants, count, error) != 0)
		return -1;
	if (changes_rows(count))
		invariants->has_sender = false;
	if (!sends(count))
		return 0;
	gt_count_clear(&invariants->sender);
	invariants->has_sender = false;
	gt_count_begin(&copy, count->stage, count->kernel);
	for (size_t i = 0; i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		int result = entry->kind == GT_COUNT_NUMBER ? gt_count_number(&copy, entry->name, entry->number, error)
			     : entry->kind == GT_COUNT_TEXT ? gt_count_text(&copy, entry->name, entry->text, error)
							    : 0;
		if (result != 0) {
			gt_count_clear(&copy);
			return -1;
		}
	}
	invariants->sender = copy;
	invariants->has_sender = true;
	return 0;
}

/* ---- rows ---- */

static void key_of(const struct gt_rows *rows, size_t i, enum gt_order order, uint64_t key[3])
{
	if (rows->scheduled) {
		key[0] = rows->step[i];
		key[1] = rows->sm[i];
		key[2] = 0;
	} else {
		key[0] = order == GT_ORDER_BLOCK ? rows->block[i] : rows->an[i];
		key[1] = order == GT_ORDER_BLOCK ? rows->an[i] : rows->block[i];
		key[2] = rows->warp[i];
	}
}

/* Checks the order of rows: scheduled rows by step and SM; accesses in the order that their kernel names.
 * (Requests without a step may come from a cache that flushed at the end.) */
static int take_rows(struct gt_invariants *invariants, const struct gt_rows *rows,
		     const struct gt_kernel *kernel, struct gt_error *error)
{
	uint64_t key[3];

	if (!rows->scheduled && (rows->kind == GT_REQUESTS || kernel->order == GT_ORDER_NONE))
		return 0;
	for (size_t i = 0; i < rows->n; i++) {
		const uint64_t *last = invariants->last;
		key_of(rows, i, kernel->order, key);
		if (invariants->has_row &&
		    (key[0] < last[0] || (key[0] == last[0] && (key[1] < last[1] || (key[1] == last[1] && key[2] < last[2])))))
			return gt_fail(error, "kernel %" PRIu64 ": a row out of order: %s (%" PRIu64 ", %" PRIu64 ") after (%" PRIu64
					      ", %" PRIu64 ")",
				       kernel->id, rows->scheduled ? "step, SM" : "block, an", key[0], key[1], last[0], last[1]);
		memcpy(invariants->last, key, sizeof key);
		invariants->has_row = true;
	}
	invariants->checked++;
	return 0;
}

int gt_invariants_take(struct gt_invariants *invariants, struct gt_reader *reader, enum gt_event event,
		       struct gt_error *error)
{
	if (event == GT_KERNEL)
		invariants->has_row = false;
	if (event == GT_COUNT)
		return take_count(invariants, gt_reader_count(reader), error);
	if (event == GT_ROWS)
		return take_rows(invariants, gt_reader_rows(reader), gt_reader_kernel(reader), error);
	return 0;
}
