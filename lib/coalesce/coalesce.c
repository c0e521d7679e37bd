/* SPDX-License-Identifier: MIT */
#include "coalesce/coalesce.h"

#include <stdio.h>
#include <string.h>

#include "coalesce/banks.h"
#include "coalesce/lines.h"
#include "coalesce/requests.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/request.h"

static const struct gt_coalescing_rule *rule_named(const char *name)
{
	for (size_t i = 0; i < gt_coalescing_rules_n; i++)
		if (strcmp(gt_coalescing_rules[i].name, name) == 0)
			return &gt_coalescing_rules[i];
	return NULL;
}

static int fail_rule(const char *name, struct gt_error *error)
{
	char names[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < gt_coalescing_rules_n && length < sizeof names; i++)
		length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
					   gt_coalescing_rules[i].name);
	return gt_fail(error, "'%.64s': expected one of %s", name, names);
}

int gt_coalescer_open(struct gt_coalescer *coalescer, const char *rule, struct gt_error *error)
{
	if (!rule)
		rule = "default";
	*coalescer = (struct gt_coalescer){.rule = rule_named(rule), .shared = {.banks = GT_BANKS_DEFAULT}};
	if (!coalescer->rule)
		return fail_rule(rule, error);
	for (unsigned size = 1, k = 0; size <= GT_ACCESS_SIZE_MAX; size++) {
		k += size > 1U << k;
		coalescer->group[size] = coalescer->rule->group[k];
	}
	return 0;
}

int gt_coalescer_resolve(struct gt_coalescer *coalescer, const struct gt_gpu *gpu, const char *rule,
			 const char *banks, struct gt_error *error)
{
	struct gt_error reason;

	if (gt_coalescer_open(coalescer, rule ? rule : gt_gpu_get(gpu, "coalesce"), &reason) != 0)
		return gt_fail(error, "%s%s", rule ? "" : "gpu: coalesce: ", reason.text);
	return gt_shared_resolve(&coalescer->shared, gpu, banks, error);
}

void gt_coalescer_reset(struct gt_coalescer *coalescer)
{
	memset(coalescer->accesses, 0, sizeof coalescer->accesses);
	memset(coalescer->requests, 0, sizeof coalescer->requests);
	memset(coalescer->sectors, 0, sizeof coalescer->sectors);
	coalescer->warp_sectors = 0;
	memset(coalescer->line_accesses, 0, sizeof coalescer->line_accesses);
	memset(coalescer->line_requests, 0, sizeof coalescer->line_requests);
	coalescer->shared_accesses = 0;
	coalescer->bank_passes = 0;
	coalescer->shared_cycles = 0;
}

/* The lines of access i, found separately for each group of lanes. */
static unsigned lines_of_groups(const struct gt_rows *from, size_t i, unsigned group, struct gt_touched *touched)
{
	uint64_t addresses[GT_WARP_SIZE];
	uint32_t lanes = UINT32_MAX >> (GT_WARP_SIZE - group);
	unsigned done = 0, n = 0;

	gt_rows_addresses(from, i, addresses);
	for (unsigned first = 0; first < GT_WARP_SIZE; first += group) {
		uint32_t part = from->mask[i] & lanes << first;
		if (!part)
			continue;
		unsigned m = (unsigned)__builtin_popcount(part);
		n += from->stride[i] == GT_STRIDE_LANES ?
			     gt_lines_of_lanes(addresses + done, m, from->size[i], touched + n) :
			     gt_lines_of_affine(addresses[done], from->stride[i], part, from->size[i], touched + n);
		done += m;
	}
	return n;
}

/* Joins requests to one line that share no sector, into the first of them. */
static unsigned join(struct gt_touched *touched, unsigned n)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < n; k++) {
		unsigned j = 0;
		while (j < kept && (touched[j].address != touched[k].address || touched[j].sectors & touched[k].sectors))
			j++;
		if (j == kept) {
			touched[kept++] = touched[k];
			continue;
		}
		touched[j].sectors |= touched[k].sectors;
		touched[j].full |= touched[k].full;
		touched[j].threads = (uint8_t)(touched[j].threads + touched[k].threads);
	}
	return kept;
}

/* The distinct sectors that the groups of a warp touch. */
static unsigned distinct_sectors(const struct gt_touched *touched, unsigned n)
{
	unsigned sectors = 0;

	for (unsigned k = 0; k < n; k++) {
		uint8_t seen = 0;
		for (unsigned j = 0; j < k; j++)
			seen |= touched[j].address == touched[k].address ? touched[j].sectors : 0;
		sectors += (unsigned)__builtin_popcount(touched[k].sectors & ~(unsigned)seen);
	}
	return sectors;
}

static unsigned lines_of_warp(const struct gt_rows *from, size_t i, struct gt_touched *touched)
{
	if (from->stride[i] == GT_STRIDE_LANES)
		return gt_lines_of_lanes(from->lanes + from->base[i], (unsigned)__builtin_popcount(from->mask[i]),
					 from->size[i], touched);
	return gt_lines_of_affine(from->base[i], from->stride[i], from->mask[i], from->size[i], touched);
}

static void count_shared(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i)
{
	unsigned passes = gt_bank_passes(&coalescer->shared.banks, from, i);

	coalescer->shared_accesses++;
	coalescer->bank_passes += passes;
	if (coalescer->shared.latency.n > 0)
		coalescer->shared_cycles += gt_shared_cycles(&coalescer->shared.latency, passes);
}

/* Prefetches, discards and priorities: a request for each distinct line, with all its sectors. */
static void coalesce_lines(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i,
			   struct gt_requests *requests)
{
	struct gt_touched *touched = gt_requests_next(requests);
	bool prefetches = gt_hint_action(from->hint[i]) <= GT_PREFETCH_L2;
	unsigned n = lines_of_warp(from, i, touched);

	for (unsigned k = 0; k < n; k++)
		touched[k].sectors = (1U << GT_LINE / GT_SECTOR) - 1;
	gt_requests_add(requests, n, i);
	coalescer->line_accesses[!prefetches]++;
	coalescer->line_requests[!prefetches] += n;
}

/* Makes the requests of access i. Accesses to shared memory make none: their passes are counted. */
static void coalesce(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i,
		     struct gt_requests *requests)
{
	uint8_t op = from->op[i];
	struct gt_touched *touched = gt_requests_next(requests);
	unsigned group = coalescer->group[from->size[i]], sectors = 0, n;

	if (gt_op_space(op) == GT_SHARED) {
		count_shared(coalescer, from, i);
		return;
	}
	if (gt_hint_action(gt_rows_hint(from, i)) != GT_ACCESS_DATA) {
		coalesce_lines(coalescer, from, i, requests);
		return;
	}
	if (group == GT_WARP_SIZE)
		n = lines_of_warp(from, i, touched);
	else
		n = lines_of_groups(from, i, group, touched);
	if (coalescer->rule->join_stores && gt_op_action(op) == GT_STORE)
		n = join(touched, n);
	gt_requests_add(requests, n, i);
	for (unsigned k = 0; k < n; k++)
		sectors += gt_bits_of_4[touched[k].sectors];
	if (gt_rule_whole_lines(coalescer->rule, op))
		sectors = n * GT_LINE / GT_SECTOR;
	if (gt_op_action(op) == GT_LOAD)
		coalescer->warp_sectors += group == GT_WARP_SIZE ? sectors : distinct_sectors(touched, n);
	coalescer->accesses[gt_op_action(op)]++;
	coalescer->requests[gt_op_action(op)] += n;
	coalescer->sectors[gt_op_action(op)] += sectors;
}

int gt_coalesce(struct gt_coalescer *coalescer, const struct gt_rows *accesses, struct gt_sink *sink,
		struct gt_error *error)
{
	struct gt_requests requests;

	requests.n = 0;
	if (gt_sink_begin_as(sink, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = accesses->scheduled,
						     .has_hints = accesses->has_hints}, error) != 0)
		return -1;
	for (size_t i = 0; i < accesses->n; i++) {
		coalesce(coalescer, accesses, i, &requests);
		if (requests.n >= GT_REQUESTS_KEPT &&
		    gt_requests_write(&requests, accesses, coalescer->rule, sink, error) != 0)
			return -1;
	}
	return gt_requests_write(&requests, accesses, coalescer->rule, sink, error);
}

static int count_number(struct gt_count *count, const char *kind, const char *what, uint64_t value,
			struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%s%s", kind, what);
	return gt_count_number(count, name, value, error);
}

/* Reductions count as atomics and also by themselves, as in profilers. */
static int count_kinds(const uint64_t by_action[GT_ACTIONS], const char *what, uint64_t more, struct gt_count *count,
		       struct gt_error *error)
{
	uint64_t atomics = by_action[GT_ATOMIC] + by_action[GT_REDUCTION];
	const struct {
		const char *kind;
		uint64_t value;
	} counters[] = {
		{"", by_action[GT_LOAD] + by_action[GT_STORE] + atomics + more},
		{"load_", by_action[GT_LOAD]},
		{"store_", by_action[GT_STORE]},
		{"atomic_", atomics},
		{"reduction_", by_action[GT_REDUCTION]},
	};

	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		if (count_number(count, counters[i].kind, what, counters[i].value, error) != 0)
			return -1;
	return 0;
}

static int count_shared_memory(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	char banks[32];

	gt_banks_format(&coalescer->shared.banks, banks, sizeof banks);
	if (gt_count_number(count, "shared_accesses", coalescer->shared_accesses, error) != 0 ||
	    gt_count_number(count, "bank_passes", coalescer->bank_passes, error) != 0)
		return -1;
	if (coalescer->shared_accesses > 0 && gt_count_text(count, "banks", banks, error) != 0)
		return -1;
	if (coalescer->shared_accesses == 0 || coalescer->shared.latency.n == 0)
		return 0;
	return gt_count_number(count, "shared_cycles", coalescer->shared_cycles, error);
}

/* Counters of prefetches, and of discards and priorities; written only if there were any. */
static int count_lines(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	static const char *const kinds[2] = {"prefetch_", "discard_"};

	for (size_t i = 0; i < 2; i++) {
		if (coalescer->line_accesses[i] == 0)
			continue;
		if (count_number(count, kinds[i], "accesses", coalescer->line_accesses[i], error) != 0 ||
		    count_number(count, kinds[i], "requests", coalescer->line_requests[i], error) != 0 ||
		    count_number(count, kinds[i], "sectors", coalescer->line_requests[i] * (GT_LINE / GT_SECTOR), error) != 0)
			return -1;
	}
	return 0;
}

int gt_coalescer_count(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	uint64_t line_accesses = coalescer->line_accesses[0] + coalescer->line_accesses[1];
	uint64_t line_requests = coalescer->line_requests[0] + coalescer->line_requests[1];

	if (gt_count_text(count, "rule", coalescer->rule->name, error) != 0 ||
	    count_kinds(coalescer->accesses, "accesses", coalescer->shared_accesses + line_accesses, count, error) != 0 ||
	    count_kinds(coalescer->requests, "requests", line_requests, count, error) != 0 ||
	    count_kinds(coalescer->sectors, "sectors", line_requests * (GT_LINE / GT_SECTOR), count, error) != 0 ||
	    count_lines(coalescer, count, error) != 0 ||
	    gt_count_number(count, "load_warp_sectors", coalescer->warp_sectors, error) != 0 ||
	    count_shared_memory(coalescer, count, error) != 0)
		return -1;
	return 0;
}

int gt_coalescer_write(const struct gt_coalescer *coalescer, uint64_t kernel, const struct gt_output *output,
		       struct gt_error *error)
{
	struct gt_count count;

	gt_count_begin(&count, GT_COALESCE_STAGE, kernel);
	if (gt_coalescer_count(coalescer, &count, error) == 0)
		return gt_output_count(output, &count, error);
	gt_count_clear(&count);
	return -1;
}
