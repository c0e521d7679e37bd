/* SPDX-License-Identifier: MIT */
/* What must hold between the numbers of a stream (gtrace-cat(1), "Invariants"): between the counters of one stage, and between stages,
 * rows and counters. */
#include "stream/invariants.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- between the counters of a stage ---- */

#define TERMS 8 /* of a sum; fewer end in NULL */

/* left = right, or left <= right: sums of counters of one stage, the right one times a factor. */
static const struct equation {
	const char *left[TERMS];
	bool at_most;
	const char *right[TERMS];
	uint64_t factor;	/* 0: 1 */
	const char *unless; /* not tested if this counter is present */
} equations[] = {
	{{"accesses"}, false, {"loads", "stores", "atomics"}, 1, NULL},
	{{"requests"}, false, {"load_requests", "store_requests", "atomic_requests", "?prefetch_requests",
				"?discard_requests"}, 1, NULL},
	{{"sectors"}, false, {"load_sectors", "store_sectors", "atomic_sectors", "?prefetch_sectors",
			       "?discard_sectors"}, 1, NULL},
	{{"requests"}, true, {"sectors"}, 1, NULL},
	{{"least_sectors", "misaligned_sectors"}, true, {"sectors"}, 1, NULL},
	{{"partial_sectors"}, true, {"sectors"}, 1, NULL},
	{{"least_passes"}, true, {"passes"}, 1, NULL},
	{{"accesses"}, true, {"lanes"}, 1, NULL},
	{{"lanes"}, true, {"bytes"}, 1, NULL},
	{{"unique_read_bytes"}, true, {"unique_read_sectors"}, 32, NULL},
	{{"unique_read_sectors"}, true, {"unique_read_bytes"}, 1, NULL},
	{{"unique_bytes"}, true, {"unique_sectors"}, 32, NULL},
	{{"unique_sectors"}, true, {"unique_bytes"}, 1, NULL},
	{{"unique_read_bytes"}, true, {"unique_bytes"}, 1, NULL},
	{{"unique_read_sectors"}, true, {"unique_sectors"}, 1, NULL},
	{{"bank_passes"}, false, {"shared_load_passes", "shared_store_passes", "shared_atomic_passes"}, 1, NULL},
	{{"modelled_blocks"}, true, {"blocks"}, 1, NULL},
	{{"modelled_launches"}, true, {"launches"}, 1, NULL},
	{{"modelled_sectors"}, true, {"sectors"}, 1, NULL},
	{{"read_hits"}, true, {"reads"}, 1, NULL},
	{{"write_hits"}, true, {"writes"}, 1, NULL},
	{{"atomic_hits"}, true, {"atomics"}, 1, NULL},
	{{"prefetch_hits"}, true, {"prefetches"}, 1, NULL},
	{{"constant_hits"}, true, {"constant_reads"}, 1, NULL},
	{{"gpc_constant_hits"}, true, {"gpc_constant_reads"}, 1, NULL},
	{{"constant_accesses"}, true, {"constant_turns"}, 1, NULL},
	{{"constant_requests"}, true, {"constant_sectors"}, 1, NULL},
	{{"launch_hits"}, true, {"launch_reads"}, 1, NULL},
	{{"bypassed_reads", "bypassed_writes"}, true, {"bypassed"}, 1, NULL},
	{{"pair_misses"}, true, {"sector_misses"}, 1, NULL},
	{{"cleaned"}, true, {"sent_writes"}, 1, NULL},
	{{"found_writes"}, true, {"found_dirty"}, 1, NULL},
	{{"found_writes"}, true, {"sent_writes"}, 1, NULL},
	{{"combined_writes"}, true, {"writes", "?bypassed_writes"}, 1, NULL},
	{{"far_hits"}, true, {"far_reads"}, 1, NULL},
	{{"half_reads"}, false, {"reads", "far_reads"}, 1, NULL},
	{{"half_hits"}, false, {"read_hits"}, 1, NULL},
	{{"mru"}, false, {"read_hits"}, 1, NULL},
	{{"mru_writes"}, false, {"write_hits"}, 1, NULL},
	{{"hit_lookups", "reservations", "merges", "passed_lookups"}, false, {"lookups"}, 1, NULL},
	{{"latency"}, false, {"reservations"}, 1, NULL},
	{{"mshr"}, false, {"reservations"}, 1, NULL},
	{{"load_latency"}, false, {"hit_lookups", "reservations", "merges"}, 1, NULL},
	{{"latency_steps"}, true, {"load_steps"}, 1, NULL},
	{{"latency_misses"}, true, {"line_misses", "sector_misses"}, 1, NULL},
	{{"merged_reads"}, true, {"latency_misses"}, 1, NULL},
	{{"read_hits", "merged_reads"}, true, {"reads"}, 1, NULL},
	{{"stalls"}, true, {"instance_steps"}, 1, NULL},
	{{"row_hits", "row_misses"}, false, {"reads", "writes"}, 1, NULL},
	{{"channel_reads"}, false, {"reads"}, 1, NULL},
	{{"channel_writes"}, false, {"writes"}, 1, NULL},
	{{"channel_row_hits"}, false, {"row_hits"}, 1, NULL},
	{{"distance", "far", "infinite"}, false, {"references"}, 1, NULL},
	{{"infinite"}, true, {"references"}, 1, NULL},
	{{"expected_hits"}, true, {"references"}, 100, NULL},
	{{"hits", "compulsory", "capacity"}, false, {"references"}, 1, "conflict"},
	{{"hits", "compulsory", "capacity", "conflict", "latency_miss", "merged"}, false, {"references"}, 1, NULL},
	{{"compulsory", "capacity", "conflict", "invalidated", "read_hits"}, false, {"reads"}, 1, NULL},
	{{"distance", "compulsory", "invalidated"}, false, {"reads"}, 1, NULL},
	{{"elsewhere"}, true, {"compulsory"}, 1, NULL},
	{{"others_hits"}, true, {"read_hits"}, 1, NULL},
	{{"spared"}, true, {"hits"}, 1, NULL},
	{{"together"}, true, {"references"}, 1, NULL},
	{{"alone", "gained"}, false, {"together", "lost"}, 1, NULL},
};

/* Counters whose values in the classes of the stage coalesce ("0x1a0 in.sectors", "in.unique_read_bytes") add up to those of the
 * kernel. */
static const struct {
	const char *of_class, *whole[TERMS];
} by_site[] = {
	{"accesses", {"load_accesses", "store_accesses", "atomic_accesses", "shared_accesses"}},
	{"sectors", {"load_sectors", "store_sectors", "atomic_sectors"}},
	{"passes", {"bank_passes"}},
	{"unique_read_bytes", {"unique_read_bytes"}},
	{"unique_read_sectors", {"unique_read_sectors"}},
};

/* Counters whose values in the classes of a level ("0x1a0 a.reads") or of a reuse stage ("load.global.hits") add up to the value over all
 * classes ("reads", "hits"). If lines are sampled only the first is tested, since it alone is exact. */
static const char *const summed_of_level[] = {"reads", "read_hits", "writes", "atomics", "bypassed", "compulsory", "capacity", "conflict",
					      "invalidated", "partial_reads", "elsewhere", "others_hits"};
static const char *const summed[] = {"references", "infinite", "hits",	 "compulsory", "capacity", "conflict",
				     "spared",	   "alone",    "together", "gained",	 "lost",   "latency_miss", "merged", "reservation_fail"};

/* The counter that has this name after its first `skip` bytes. */
static const struct gt_count_entry *find(const struct gt_count *count, size_t skip, const char *name)
{
	for (size_t i = 0; i < count->n; i++)
		if (strcmp(count->entries[i].name + skip, name) == 0)
			return &count->entries[i];
	return NULL;
}

/* Adds the counters with these names, numbers and whole arrays; the first `skip` bytes of a counter's name are
 * ignored. False if one is missing, unless a '?' precedes its name: then it is 0. Sums wrap. */
static bool sum_terms(const struct gt_count *count, size_t skip, const char *const names[TERMS], uint64_t *sum)
{
	*sum = 0;
	for (int t = 0; t < TERMS && names[t]; t++) {
		bool optional = names[t][0] == '?';
		const struct gt_count_entry *entry = find(count, skip, names[t] + optional);
		if (!entry && optional)
			continue;
		if (!entry || entry->kind == GT_COUNT_TEXT)
			return false;
		if (entry->kind == GT_COUNT_NUMBER)
			*sum += entry->number;
		for (size_t i = 0; entry->kind == GT_COUNT_ARRAY && i < entry->n; i++)
			*sum += entry->array[i];
	}
	return true;
}

/* "a + b" into a buffer. */
static const char *join_terms(const char *const names[TERMS], char *buffer, size_t bytes)
{
	buffer[0] = '\0';
	for (int t = 0; t < TERMS && names[t]; t++) {
		strncat(buffer, t > 0 ? " + " : "", bytes - strlen(buffer) - 1);
		strncat(buffer, names[t] + (names[t][0] == '?'), bytes - strlen(buffer) - 1);
	}
	return buffer;
}

static int fail_equation(const struct gt_count *count, size_t skip, const struct equation *equation, uint64_t left, uint64_t right,
			 struct gt_error *error)
{
	char left_text[160], right_text[160], times[24] = "";

	if (equation->factor > 1)
		snprintf(times, sizeof times, "%" PRIu64 " * ", equation->factor);
	return gt_fail(error, "kernel %" PRIu64 ": %s: %.*s%s is %" PRIu64 ", but %s%s is %" PRIu64, count->kernel, count->stage,
		       (int)skip, count->entries[0].name, join_terms(equation->left, left_text, sizeof left_text), left, times,
		       join_terms(equation->right, right_text, sizeof right_text), right);
}

/* The equations of one class: counters whose names have the same first `skip` bytes. */
static int check_class(const struct gt_count *count, size_t skip, uint64_t *checked, struct gt_error *error)
{
	uint64_t left, right;

	for (size_t e = 0; e < sizeof equations / sizeof equations[0]; e++) {
		const struct equation *equation = &equations[e];
		if (!sum_terms(count, skip, equation->left, &left) ||
		    !sum_terms(count, skip, equation->right, &right) ||
		    (equation->unless && find(count, skip, equation->unless)))
			continue;
		right *= equation->factor;
		if (equation->at_most ? left > right : left != right)
			return fail_equation(count, skip, equation, left, right, error);
		++*checked;
	}
	return 0;
}

/* The bytes of a counter's name that name its class: up to and with the last '.', or 0. */
static size_t class_bytes(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? (size_t)(dot - name) + 1 : 0;
}

/* The number of entries at the front that are of one class. */
static size_t class_entries(const struct gt_count_entry *entries, size_t n)
{
	size_t bytes = class_bytes(entries[0].name), i = 1;

	while (i < n && class_bytes(entries[i].name) == bytes && memcmp(entries[i].name, entries[0].name, bytes) == 0)
		i++;
	return i;
}

/* The sum of a counter over all classes, of which there are *classes. */
static uint64_t sum_of_classes(const struct gt_count *count, const char *name, uint64_t *classes)
{
	uint64_t sum = 0;

	*classes = 0;
	for (size_t i = 0; i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		size_t skip = class_bytes(entry->name);
		if (skip == 0 || entry->kind != GT_COUNT_NUMBER || strcmp(entry->name + skip, name) != 0)
			continue;
		sum += entry->number;
		++*classes;
	}
	return sum;
}

static int fail_sum(const struct gt_count *count, const char *const names[TERMS], uint64_t whole, uint64_t classes, uint64_t sum,
		    struct gt_error *error)
{
	char text[160];

	return gt_fail(error, "kernel %" PRIu64 ": %s: %s is %" PRIu64 ", but those of its %" PRIu64 " classes are %" PRIu64,
		       count->kernel, count->stage, join_terms(names, text, sizeof text), whole, classes, sum);
}

/* Checks that the counters of sites and arrays add up. */
static int check_sites(const struct gt_count *count, uint64_t *checked, struct gt_error *error)
{
	uint64_t whole, classes;

	for (size_t s = 0; s < sizeof by_site / sizeof *by_site; s++) {
		uint64_t sum = sum_of_classes(count, by_site[s].of_class, &classes);
		if (!sum_terms(count, 0, by_site[s].whole, &whole))
			continue;
		if (sum != whole)
			return fail_sum(count, by_site[s].whole, whole, classes, sum, error);
		++*checked;
	}
	return 0;
}

/* Checks that counters of the stage's classes add up. */
static int check_sums(const struct gt_count *count, const char *const *names, size_t n, uint64_t *checked, struct gt_error *error)
{
	for (size_t s = 0; s < n; s++) {
		const struct gt_count_entry *whole = find(count, 0, names[s]);
		uint64_t classes, sum = sum_of_classes(count, names[s], &classes);
		if (classes == 0 || !whole || whole->kind != GT_COUNT_NUMBER)
			continue;
		if (sum != whole->number)
			return fail_sum(count, (const char *const[TERMS]){names[s]}, whole->number, classes, sum, error);
		++*checked;
	}
	return 0;
}

/* Tests every equation whose counters are present, and adds their number to *checked. Returns 0, or -1
 * naming the equation that does not hold. */
static int check_equations(const struct gt_count *count, uint64_t *checked, struct gt_error *error)
{
	for (size_t i = 0, n; i < count->n; i += n) {
		n = class_entries(&count->entries[i], count->n - i);
		struct gt_count class = {.kernel = count->kernel, .entries = &count->entries[i], .n = n};
		memcpy(class.stage, count->stage, sizeof class.stage);
		if (check_class(&class, class_bytes(count->entries[i].name), checked, error) != 0)
			return -1;
	}
	if (find(count, 0, "unique_bytes"))
		return check_sites(count, checked, error);
	if (find(count, 0, "granularity"))
		return check_sums(count, summed, find(count, 0, "sample_every") ? 1 : sizeof summed / sizeof *summed, checked, error);
	if (find(count, 0, "read_hits"))
		return check_sums(count, summed_of_level, sizeof summed_of_level / sizeof *summed_of_level, checked, error);
	return 0;
}

/* ---- between stages, rows and counters ---- */

/* What one stage sends is what the next receives: always in requests, and in sectors if both count them in
 * units of 32 bytes. An atomic that reaches DRAM is a read and a write there. */
static const struct hand_over {
	const char *sent[TERMS], *received[TERMS];
	bool in_sectors;
} hand_overs[] = {
	{{"sent_requests"}, {"requests", "?coalesced_requests"}, false},
	{{"sent_reads", "sent_writes", "sent_atomics", "?sent_prefetches", "?sent_discards"},
	 {"reads", "writes", "atomics", "bypassed", "?prefetches", "?discards", "?constant_reads", "?coalesced_reads"}, true},
	{{"sent_reads", "sent_atomics", "?sent_prefetches"}, {"channel_reads"}, true},
	{{"sent_writes", "sent_atomics"}, {"channel_writes"}, true},
};

/* The same with coalesce as the sender. */
static const struct hand_over from_coalesce[] = {
	{{"requests", "?constant_requests"}, {"requests", "?coalesced_requests"}, false},
	{{"sectors", "?constant_sectors"}, {"reads", "writes", "atomics", "bypassed", "?prefetches", "?discards", "?constant_reads", "?coalesced_reads"}, true},
	{{"load_sectors", "atomic_sectors", "?prefetch_sectors", "?constant_sectors"}, {"channel_reads"}, true},
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
		if (!sum_terms(from, 0, table[h].sent, &sent) || !sum_terms(to, 0, table[h].received, &received))
			continue;
		if (sent != received)
			return gt_fail(error, "kernel %" PRIu64 ": %s: %s is %" PRIu64 ", but %s of %s is %" PRIu64, to->kernel,
				       to->stage, join_terms(table[h].received, received_text, sizeof received_text), received,
				       join_terms(table[h].sent, sent_text, sizeof sent_text), from->stage, sent);
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

	if (check_equations(count, &invariants->checked, error) != 0)
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
