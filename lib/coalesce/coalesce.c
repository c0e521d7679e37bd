/* SPDX-License-Identifier: MIT */
#include "coalesce/coalesce.h"

#include <stdio.h>
#include <string.h>

#include "coalesce/banks.h"
#include "coalesce/by_array.h"
#include "coalesce/lines.h"
#include "coalesce/requests.h"
#include "coalesce/single.h"
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
	coalescer->counts = (struct gt_coalesce_counts){0};
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

/* The lines of access i, if each lane accesses that many bytes. */
static unsigned lines_of_warp(const struct gt_rows *from, size_t i, unsigned size, struct gt_touched *touched)
{
	if (from->stride[i] == GT_STRIDE_LANES)
		return gt_lines_of_lanes(from->lanes + from->base[i], (unsigned)__builtin_popcount(from->mask[i]), size, touched);
	return gt_lines_of_affine(from->base[i], from->stride[i], from->mask[i], size, touched);
}

static void count_shared(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i)
{
	unsigned passes = gt_bank_passes(&coalescer->shared.banks, from, i);
	unsigned least = gt_bank_least_passes(&coalescer->shared.banks, from->mask[i], from->size[i]);
	enum gt_action action = gt_op_action(from->op[i]);
	struct gt_coalesce_counts *counts = &coalescer->counts;

	counts->shared_accesses++;
	counts->bank_passes += passes;
	*(action == GT_LOAD ? &counts->shared_load_passes : action == GT_STORE ? &counts->shared_store_passes
									      : &counts->shared_atomic_passes) += passes;
	*(action == GT_LOAD ? &counts->load_bank_conflicts : action == GT_STORE ? &counts->store_bank_conflicts
									       : &counts->atomic_bank_conflicts) += passes - least;
	if (coalescer->shared.latency.n > 0)
		counts->shared_cycles += gt_shared_cycles(&coalescer->shared.latency, passes);
	if (coalescer->by_array)
		gt_by_array_add(coalescer->by_array, from, i, passes);
}

/* Prefetches, discards and priorities: a request for each distinct line that an address is in, with all its sectors. What is
 * behind the address does not count: PTX's prefetch "brings the cache line containing the specified address". */
static void coalesce_lines(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i,
			   struct gt_requests *requests)
{
	struct gt_touched *touched = gt_requests_next(requests);
	bool prefetches = gt_hint_action(from->hint[i]) <= GT_PREFETCH_L2;
	unsigned n = lines_of_warp(from, i, 1, touched);

	for (unsigned k = 0; k < n; k++)
		touched[k].sectors = (1U << GT_LINE / GT_SECTOR) - 1;
	gt_requests_add(requests, n, i);
	*(prefetches ? &coalescer->counts.prefetch_accesses : &coalescer->counts.discard_accesses) += 1;
	*(prefetches ? &coalescer->counts.prefetch_requests : &coalescer->counts.discard_requests) += n;
}

/* An access that takes its turn in a schedule, and requests nothing. */
static void add_turn(struct gt_requests *requests, size_t i)
{
	*gt_requests_next(requests) = (struct gt_touched){0};
	gt_requests_add(requests, 1, i);
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
		if (coalescer->turns)
			add_turn(requests, i);
		return;
	}
	if (gt_hint_action(gt_rows_hint(from, i)) != GT_ACCESS_DATA) {
		coalesce_lines(coalescer, from, i, requests);
		return;
	}
	if (group == GT_WARP_SIZE)
		n = lines_of_warp(from, i, from->size[i], touched);
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
		coalescer->counts.load_warp_sectors += group == GT_WARP_SIZE ? sectors : distinct_sectors(touched, n);
	coalescer->accesses[gt_op_action(op)]++;
	coalescer->requests[gt_op_action(op)] += n;
	coalescer->sectors[gt_op_action(op)] += sectors;
}

/* An RTX 3070's counter of sectors that atomicExch requests is 4 for 32 lanes on 32 words of a line, 8 for 4 words of a sector with
 * 8 lanes each, and 32 for one word: lanes with one address take turns, and each turn touches its sectors once more
 * (l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_atom as posted by a user of Nsight Compute). Returns the sectors
 * of all turns but those that the first touches. */
static unsigned repeated_sectors(const struct gt_rows *from, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE], sectors[GT_WARP_SIZE]; /* of a turn: the first sector of each lane */
	unsigned turn[GT_WARP_SIZE], n = (unsigned)__builtin_popcount(from->mask[i]), repeated = 0;

	if (from->stride[i] != GT_STRIDE_LANES && from->stride[i] != 0)
		return 0;
	gt_rows_addresses(from, i, addresses);
	for (unsigned j = 0; j < n; j++) {
		bool met = false;
		sectors[j] = addresses[j] / GT_SECTOR;
		turn[j] = 0;
		for (unsigned k = j; k-- > 0 && turn[j] == 0;)
			turn[j] = addresses[k] == addresses[j] ? turn[k] + 1 : 0;
		for (unsigned k = 0; k < j && !met; k++)
			met = turn[k] == turn[j] && sectors[k] == sectors[j];
		repeated += turn[j] > 0 && !met;
	}
	return repeated;
}

static void count_turns(struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++)
		if (gt_op_action(accesses->op[i]) == GT_ATOMIC && gt_op_space(accesses->op[i]) != GT_SHARED &&
		    gt_hint_action(gt_rows_hint(accesses, i)) == GT_ACCESS_DATA)
			coalescer->counts.repeated_sectors += repeated_sectors(accesses, i);
}

static void count_singles(struct gt_coalescer *coalescer, const struct gt_single_counts *counts)
{
	coalescer->counts.load_warp_sectors += counts->sectors[GT_LOAD];
	for (unsigned action = 0; action < GT_ACTIONS; action++) {
		coalescer->accesses[action] += counts->accesses[action];
		coalescer->requests[action] += counts->accesses[action];
		coalescer->sectors[action] += counts->sectors[action];
	}
}

/* Makes the requests of the accesses [first, first + n). */
static int coalesce_each(struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n,
			 struct gt_sink *sink, struct gt_error *error)
{
	struct gt_requests requests;

	requests.n = 0;
	for (size_t i = first; i < first + n; i++) {
		coalesce(coalescer, accesses, i, &requests);
		if (requests.n >= GT_REQUESTS_KEPT &&
		    gt_requests_write(&requests, accesses, coalescer->rule, sink, error) != 0)
			return -1;
	}
	return gt_requests_write(&requests, accesses, coalescer->rule, sink, error);
}

int gt_coalesce(struct gt_coalescer *coalescer, const struct gt_rows *accesses, struct gt_sink *sink,
		struct gt_error *error)
{
	bool whole = gt_rule_whole_warps(coalescer->rule);
	struct gt_single_counts counts = {{0}, {0}};

	if (gt_sink_begin_as(sink, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = accesses->scheduled,
						     .has_hints = accesses->has_hints, .has_work = accesses->has_work}, error) != 0)
		return -1;
	for (size_t i = 0, n; i < accesses->n; i += n) {
		if (gt_sink_room(sink, error) != 0)
			return -1;
		size_t room = sink->rows->capacity - sink->rows->n, left = accesses->n - i;
		n = left < GT_SINGLE_ROWS ? left : GT_SINGLE_ROWS;
		n = n < room ? n : room;
		uint64_t atomics = counts.accesses[GT_ATOMIC] + coalescer->accesses[GT_ATOMIC];
		if (!(whole && gt_single_lines(accesses, i, n, sink->rows, &counts)) &&
		    coalesce_each(coalescer, accesses, i, n, sink, error) != 0)
			return -1;
		if (whole && counts.accesses[GT_ATOMIC] + coalescer->accesses[GT_ATOMIC] > atomics)
			count_turns(coalescer, accesses, i, n);
	}
	count_singles(coalescer, &counts);
	return 0;
}
