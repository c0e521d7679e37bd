/* SPDX-License-Identifier: MIT */
#include "coalesce/coalesce.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "coalesce/banks.h"
#include "coalesce/lines.h"
#include "stream/op.h"

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
	*coalescer = (struct gt_coalescer){.rule = rule_named(rule)};
	if (!coalescer->rule)
		return fail_rule(rule, error);
	for (unsigned size = 1, k = 0; size <= GT_ACCESS_SIZE_MAX; size++) {
		k += size > 1U << k;
		coalescer->group[size] = coalescer->rule->group[k];
	}
	return 0;
}

void gt_coalescer_reset(struct gt_coalescer *coalescer)
{
	memset(coalescer->accesses, 0, sizeof coalescer->accesses);
	memset(coalescer->requests, 0, sizeof coalescer->requests);
	memset(coalescer->sectors, 0, sizeof coalescer->sectors);
	coalescer->shared_accesses = 0;
	coalescer->bank_passes = 0;
}

static enum gt_coalesced class_of(uint8_t op)
{
	enum gt_action action = gt_op_action(op);

	return action == GT_LOAD ? GT_COALESCED_LOADS :
	       action == GT_STORE ? GT_COALESCED_STORES : GT_COALESCED_ATOMICS;
}

/* Bits set in a mask of sectors. */
static unsigned sectors_in(unsigned mask)
{
	static const uint8_t bits[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

	return bits[mask];
}

/* Writes the requests that access i makes for these lines. */
static int emit(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i,
		const struct gt_touched *touched, unsigned n, struct gt_sink *sink, struct gt_error *error)
{
	enum gt_coalesced class = class_of(from->op[i]);
	uint8_t whole = coalescer->rule->whole_lines ? 0xf : 0;
	uint8_t written = class == GT_COALESCED_STORES ? 0xf : 0;
	unsigned sectors = 0;

	for (unsigned k = 0; k < n; k++) {
		if (gt_sink_room(sink, error) != 0)
			return -1;
		struct gt_rows *to = sink->rows;
		size_t at = to->n++;
		to->block[at] = from->block[i];
		to->warp[at] = from->warp[i];
		to->an[at] = from->an[i];
		to->pc[at] = from->pc[i];
		to->op[at] = from->op[i];
		to->address[at] = touched[k].address;
		to->sectors[at] = touched[k].sectors | whole;
		to->full[at] = touched[k].full & written;
		to->threads[at] = touched[k].threads;
		if (from->scheduled) {
			to->step[at] = from->step[i];
			to->sm[at] = from->sm[i];
		}
		sectors += sectors_in(to->sectors[at]);
	}
	coalescer->requests[class] += n;
	coalescer->sectors[class] += sectors;
	return 0;
}

/* Each group of lanes apart. */
static int coalesce_groups(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, unsigned group,
			   struct gt_sink *sink, struct gt_error *error)
{
	struct gt_touched touched[GT_TOUCHED_MAX];
	uint64_t addresses[GT_WARP_SIZE];
	uint32_t lanes = UINT32_MAX >> (GT_WARP_SIZE - group);
	unsigned done = 0;

	gt_rows_addresses(from, i, addresses);
	for (unsigned first = 0; first < GT_WARP_SIZE; first += group) {
		uint32_t part = from->mask[i] & lanes << first;
		if (!part)
			continue;
		unsigned m = (unsigned)__builtin_popcount(part);
		unsigned n = from->stride[i] == GT_STRIDE_LANES ?
			gt_lines_of_lanes(addresses + done, m, from->size[i], touched) :
			gt_lines_of_affine(addresses[done], from->stride[i], part, from->size[i], touched);
		if (emit(coalescer, from, i, touched, n, sink, error) != 0)
			return -1;
		done += m;
	}
	return 0;
}

static int coalesce_warp(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i,
			 struct gt_sink *sink, struct gt_error *error)
{
	struct gt_touched touched[GT_TOUCHED_MAX];
	unsigned n;

	if (from->stride[i] == GT_STRIDE_LANES)
		n = gt_lines_of_lanes(from->lanes + from->base[i], (unsigned)__builtin_popcount(from->mask[i]),
				      from->size[i], touched);
	else
		n = gt_lines_of_affine(from->base[i], from->stride[i], from->mask[i], from->size[i], touched);
	return emit(coalescer, from, i, touched, n, sink, error);
}

int gt_coalesce(struct gt_coalescer *coalescer, const struct gt_rows *accesses, struct gt_sink *requests,
		struct gt_error *error)
{
	if (gt_sink_begin(requests, GT_REQUESTS, accesses->scheduled, error) != 0)
		return -1;
	for (size_t i = 0; i < accesses->n; i++) {
		unsigned group = coalescer->group[accesses->size[i]];
		if (gt_op_space(accesses->op[i]) == GT_SHARED) {
			coalescer->shared_accesses++;
			coalescer->bank_passes += gt_bank_passes(accesses, i);
			continue;
		}
		coalescer->accesses[class_of(accesses->op[i])]++;
		int result = group == GT_WARP_SIZE ? coalesce_warp(coalescer, accesses, i, requests, error) :
						     coalesce_groups(coalescer, accesses, i, group, requests, error);
		if (result != 0)
			return -1;
	}
	return 0;
}

static uint64_t sum(const uint64_t numbers[GT_COALESCED_N])
{
	return numbers[GT_COALESCED_LOADS] + numbers[GT_COALESCED_STORES] + numbers[GT_COALESCED_ATOMICS];
}

int gt_coalescer_count(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	const struct {
		const char *name;
		uint64_t value;
	} counters[] = {
		{"accesses", sum(coalescer->accesses) + coalescer->shared_accesses},
		{"requests", sum(coalescer->requests)},
		{"sectors", sum(coalescer->sectors)},
		{"load_accesses", coalescer->accesses[GT_COALESCED_LOADS]},
		{"load_requests", coalescer->requests[GT_COALESCED_LOADS]},
		{"load_sectors", coalescer->sectors[GT_COALESCED_LOADS]},
		{"store_accesses", coalescer->accesses[GT_COALESCED_STORES]},
		{"store_requests", coalescer->requests[GT_COALESCED_STORES]},
		{"store_sectors", coalescer->sectors[GT_COALESCED_STORES]},
		{"atomic_accesses", coalescer->accesses[GT_COALESCED_ATOMICS]},
		{"atomic_requests", coalescer->requests[GT_COALESCED_ATOMICS]},
		{"atomic_sectors", coalescer->sectors[GT_COALESCED_ATOMICS]},
		{"shared_accesses", coalescer->shared_accesses},
		{"bank_passes", coalescer->bank_passes},
	};

	for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++)
		if (gt_count_number(count, counters[i].name, counters[i].value, error) != 0)
			return -1;
	return 0;
}
