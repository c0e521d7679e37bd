/* SPDX-License-Identifier: MIT */
#include "stream/equations.h"

#include <inttypes.h>
#include <string.h>

/* left = right, or left <= right: sums of counters of one stage, the right one times a factor. */
static const struct equation {
	const char *left[GT_TERMS];
	bool at_most;
	const char *right[GT_TERMS];
	uint64_t factor;	/* 0: 1 */
	const char *unless; /* not tested if this counter is present */
} equations[] = {
	{{"accesses"}, false, {"loads", "stores", "atomics"}, 1, NULL},
	{{"requests"}, false, {"load_requests", "store_requests", "atomic_requests", "?prefetch_requests",
				"?discard_requests"}, 1, NULL},
	{{"sectors"}, false, {"load_sectors", "store_sectors", "atomic_sectors", "?prefetch_sectors",
			       "?discard_sectors"}, 1, NULL},
	{{"requests"}, true, {"sectors"}, 1, NULL},
	{{"bank_passes"}, false, {"shared_load_passes", "shared_store_passes", "shared_atomic_passes"}, 1, NULL},
	{{"modelled_blocks"}, true, {"blocks"}, 1, NULL},
	{{"read_hits"}, true, {"reads"}, 1, NULL},
	{{"write_hits"}, true, {"writes"}, 1, NULL},
	{{"atomic_hits"}, true, {"atomics"}, 1, NULL},
	{{"prefetch_hits"}, true, {"prefetches"}, 1, NULL},
	{{"launch_hits"}, true, {"launch_reads"}, 1, NULL},
	{{"bypassed_reads", "bypassed_writes"}, true, {"bypassed"}, 1, NULL},
	{{"cleaned"}, true, {"sent_writes"}, 1, NULL},
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
	{{"spared"}, true, {"hits"}, 1, NULL},
	{{"together"}, true, {"references"}, 1, NULL},
	{{"alone", "gained"}, false, {"together", "lost"}, 1, NULL},
};

/* Counters whose values in the classes of a reuse stage ("load.global.hits") add up to the value over all
 * classes ("hits"). If lines are sampled only the first is tested, since it alone is exact. */
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

bool gt_terms_sum(const struct gt_count *count, size_t skip, const char *const names[GT_TERMS], uint64_t *sum)
{
	*sum = 0;
	for (int t = 0; t < GT_TERMS && names[t]; t++) {
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

const char *gt_terms_join(const char *const names[GT_TERMS], char *buffer, size_t bytes)
{
	buffer[0] = '\0';
	for (int t = 0; t < GT_TERMS && names[t]; t++) {
		strncat(buffer, t > 0 ? " + " : "", bytes - strlen(buffer) - 1);
		strncat(buffer, names[t] + (names[t][0] == '?'), bytes - strlen(buffer) - 1);
	}
	return buffer;
}

/* The equations of one class: counters whose names have the same first `skip` bytes. */
static int check_class(const struct gt_count *count, size_t skip, uint64_t *checked, struct gt_error *error)
{
	char left_text[160], right_text[160];
	uint64_t left, right;

	for (size_t e = 0; e < sizeof equations / sizeof equations[0]; e++) {
		const struct equation *equation = &equations[e];
		if (!gt_terms_sum(count, skip, equation->left, &left) ||
		    !gt_terms_sum(count, skip, equation->right, &right) ||
		    (equation->unless && find(count, skip, equation->unless)))
			continue;
		right *= equation->factor;
		if (equation->at_most ? left > right : left != right)
			return gt_fail(error, "kernel %" PRIu64 ": %s: %.*s%s is %" PRIu64 ", but %s%s is %" PRIu64,
				       count->kernel, count->stage, (int)skip, count->entries[0].name,
				       gt_terms_join(equation->left, left_text, sizeof left_text), left,
				       equation->factor == 100 ? "100 * " : "",
				       gt_terms_join(equation->right, right_text, sizeof right_text), right);
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

/* Checks that the counters of a reuse stage's classes add up. */
static int check_sums(const struct gt_count *count, uint64_t *checked, struct gt_error *error)
{
	bool sampled = find(count, 0, "sample_every") != NULL;

	for (size_t s = 0; s < (sampled ? 1 : sizeof summed / sizeof *summed); s++) {
		const struct gt_count_entry *whole = find(count, 0, summed[s]);
		uint64_t sum = 0, classes = 0;
		for (size_t i = 0; whole && whole->kind == GT_COUNT_NUMBER && i < count->n; i++) {
			const struct gt_count_entry *entry = &count->entries[i];
			size_t skip = class_bytes(entry->name);
			if (skip == 0 || entry->kind != GT_COUNT_NUMBER || strcmp(entry->name + skip, summed[s]) != 0)
				continue;
			sum += entry->number;
			classes++;
		}
		if (classes == 0)
			continue;
		if (sum != whole->number)
			return gt_fail(error, "kernel %" PRIu64 ": %s: %s is %" PRIu64 ", but those of its %" PRIu64
				       " classes are %" PRIu64, count->kernel, count->stage, summed[s], whole->number,
				       classes, sum);
		++*checked;
	}
	return 0;
}

int gt_equations_check(const struct gt_count *count, uint64_t *checked, struct gt_error *error)
{
	for (size_t i = 0, n; i < count->n; i += n) {
		n = class_entries(&count->entries[i], count->n - i);
		struct gt_count class = {.kernel = count->kernel, .entries = &count->entries[i], .n = n};
		memcpy(class.stage, count->stage, sizeof class.stage);
		if (check_class(&class, class_bytes(count->entries[i].name), checked, error) != 0)
			return -1;
	}
	return find(count, 0, "granularity") ? check_sums(count, checked, error) : 0;
}
