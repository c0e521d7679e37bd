/* SPDX-License-Identifier: MIT */
/* The coalescer: makes requests, lines and sectors, of warp accesses by the rule of a GPU, and counts them; of accesses to shared
 * memory it counts the passes of the banks. */
#include "coalesce/coalesce.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/wide.h"
#include "coalesce/by_array.h"
#include "coalesce/by_site.h"
#include "coalesce/lines.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/request.h"
#include "stream/rows.h"

/* ---- rules ---- */

const struct gt_coalescing_rule gt_coalescing_rules[] = {
	{
		.name = "default",
		.summary = "Volta and later: a request for each distinct line of the warp",
		.group = {32, 32, 32, 32, 32, 32},
	},
	{
		/* The groups of 4-byte and 8-byte data were counted on a Titan X and a GTX 1080; those of 16 and
		 * 32 bytes are assumed from the same 32 bytes a group. Hits in L2 of the GTX 1080 show that stores
		 * are joined: none for stores of whole lines, half for stores of half lines, and 31 of 32 for a
		 * naive transpose, whose groups share sectors. */
		.name = "pascal",
		.summary = "a request for each distinct line of 8 lanes (8-byte data: 4, 16-byte data: 2)",
		.group = {8, 8, 8, 4, 2, 1},
		.join_stores = true,
	},
	{
		.name = "pascal-apart",
		.summary = "like pascal, but the groups of a store are not joined",
		.group = {8, 8, 8, 4, 2, 1},
	},
	{
		.name = "fermi",
		.summary = "a request for each distinct line of the warp, always the whole line",
		.group = {32, 32, 32, 32, 32, 32},
		.whole_lines = true,
	},
};
const size_t gt_coalescing_rules_n = sizeof gt_coalescing_rules / sizeof gt_coalescing_rules[0];

/* Whether all lanes of a warp are coalesced together, into sectors, as on Volta and later: then requests of a single line are those
 * of gt_single_lines. */
static bool coalesces_whole_warps(const struct gt_coalescing_rule *rule)
{
	for (unsigned k = 0; k < GT_RULE_SIZES; k++)
		if (rule->group[k] != GT_WARP_SIZE)
			return false;
	return !rule->whole_lines;
}

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
	coalescer->least_passes = 0;
	coalescer->counts = (struct gt_coalesce_counts){0};
}

/* ---- requests on their way to the sink ---- */

/* Requests that are not yet written. They are written column by column, which takes half the time of row by
 * row. */
#define REQUESTS_KEPT 512

#define REPEATED 8 /* requests of an access, from which on their fields are repeated and not looked up */

/* How many lines an access touches, their sectors, and of a rule of groups those that are distinct. */
struct access_lines {
	unsigned n, sectors, distinct;
	int64_t pitch; /* from line to line, if all are touched alike: they are a span; else 0 */
};

/* The lines of an access whose rows are at a pitch, or whose groups of lanes are coalesced apart, relative to its first line. Another access of
 * the same strides, lanes, size and place in a line touches the same. Where shapes rarely come again, none is looked for. */
#define SHAPES 16
#define SHAPE_LINES 32	/* more are not kept */
#define SHAPE_MISSES 64 /* misses of the table less its hits, from which on no shape is looked for */

struct shape_key {
	struct gt_affine affine;
	uint64_t rest; /* mask, and from bit 32 on a byte each: place in a line, size, whether it stores. 0: none is kept here */
};

struct shape {
	struct shape_key key;
	struct access_lines lines;
	struct gt_touched touched[SHAPE_LINES];
};

struct requests {
	bool spans; /* some may be written as one */
	unsigned n;
	uint8_t width[REQUESTS_KEPT + GT_TOUCHED_MAX]; /* so many requests; 0: one */
	int64_t pitch[REQUESTS_KEPT + GT_TOUCHED_MAX];
	uint32_t access[REQUESTS_KEPT + GT_TOUCHED_MAX]; /* that the request belongs to; ascending */
	struct gt_touched touched[REQUESTS_KEPT + GT_TOUCHED_MAX];
	unsigned misses; /* of SHAPE_MISSES */
	struct shape shapes[SHAPES];
};

static void begin_requests(struct requests *requests, bool spans)
{
	requests->spans = spans;
	requests->n = 0;
	requests->misses = 0;
	for (size_t i = 0; i < SHAPES; i++)
		requests->shapes[i].key = (struct shape_key){.rest = 0};
}

/* Where the next GT_TOUCHED_MAX may be put. */
static struct gt_touched *next_request(struct requests *requests)
{
	return requests->touched + requests->n;
}

/* Records that `n` were put there, for access i. At most REQUESTS_KEPT may have been there before. */
static void add_requests(struct requests *requests, unsigned n, size_t i)
{
	for (unsigned k = 0; k < n; k++)
		requests->access[requests->n + k] = (uint32_t)i;
	memset(requests->width + requests->n, 0, n);
	requests->n += n;
}

/* The same of n that are a span, of which the first was put there. */
static void add_span(struct requests *requests, const struct access_lines *lines, size_t i)
{
	requests->access[requests->n] = (uint32_t)i;
	requests->width[requests->n] = (uint8_t)lines->n;
	requests->pitch[requests->n++] = lines->pitch;
}

/* True if successive requests belong to successive accesses. */
static bool one_each(const uint32_t *access, size_t n)
{
	uint32_t differs = 0;

	for (size_t k = 0; k < n; k++)
		differs |= access[k] ^ (access[0] + (uint32_t)k);
	return differs == 0;
}

#define COPY(COLUMN)                                                                              \
	memcpy(to->COLUMN + to->n, from->COLUMN + access[0], n * sizeof *to->COLUMN)

static void copy_run(struct gt_rows *to, const struct gt_rows *from, const uint32_t *access, size_t n)
{
	COPY(block);
	COPY(warp);
	COPY(an);
	COPY(pc);
	COPY(op);
	if (from->has_hints)
		COPY(hint);
	if (from->has_work)
		COPY(work);
	if (from->has_shared)
		COPY(shared);
	if (from->scheduled) {
		COPY(step);
		COPY(sm);
	}
}

#define GATHER(TYPE, COLUMN)                                                                      \
	do {                                                                                       \
		TYPE *restrict out = to->COLUMN + to->n;                                           \
		const TYPE *restrict in = from->COLUMN;                                            \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[access[k]];                                                    \
	} while (0)

static void gather(struct gt_rows *to, const struct gt_rows *from, const uint32_t *restrict access, size_t n)
{
	GATHER(uint32_t, block);
	GATHER(uint16_t, warp);
	GATHER(uint32_t, an);
	GATHER(uint32_t, pc);
	GATHER(uint8_t, op);
	if (from->has_hints)
		GATHER(uint16_t, hint);
	if (from->has_work)
		GATHER(uint32_t, work);
	if (from->has_shared)
		GATHER(uint32_t, shared);
	if (from->scheduled) {
		GATHER(uint64_t, step);
		GATHER(uint16_t, sm);
	}
}

/* Few stores of a vector, which may go into the room behind the last element. */
#define REPEAT(TYPE, COLUMN)                                                                      \
	do {                                                                                       \
		typedef TYPE many __attribute__((vector_size(GT_ROWS_SLACK * sizeof(TYPE))));      \
		const many all = (many){0} + from->COLUMN[access];                                 \
		for (size_t k = 0; k < n; k += GT_ROWS_SLACK)                                      \
			memcpy(to->COLUMN + at + k, &all, sizeof all);                             \
	} while (0)

GT_INLINE void repeat(struct gt_rows *to, size_t at, const struct gt_rows *from, uint32_t access, size_t n)
{
	REPEAT(uint32_t, block);
	REPEAT(uint16_t, warp);
	REPEAT(uint32_t, an);
	REPEAT(uint32_t, pc);
	REPEAT(uint8_t, op);
	if (from->has_hints)
		REPEAT(uint16_t, hint);
	if (from->has_work)
		REPEAT(uint32_t, work);
	if (from->has_shared)
		REPEAT(uint32_t, shared);
	if (from->scheduled) {
		REPEAT(uint64_t, step);
		REPEAT(uint16_t, sm);
	}
}

/* The same as gather, where accesses have many requests each. */
GT_WIDE static void repeat_all(struct gt_rows *to, const struct gt_rows *from, const uint32_t *access, size_t n)
{
	for (size_t k = 0, end; k < n; k = end) {
		for (end = k + 1; end < n && access[end] == access[k];)
			end++;
		repeat(to, to->n + k, from, access[k], end - k);
	}
}

GT_WIDE static void set_lines(struct gt_rows *to, const struct gt_touched *restrict touched, size_t n,
		      const struct gt_coalescing_rule *rule)
{
	uint64_t *restrict address = to->address + to->n;
	uint8_t *restrict sectors = to->sectors + to->n, *restrict full = to->full + to->n;
	uint8_t *restrict threads = to->threads + to->n;
	const uint8_t *restrict op = to->op + to->n;

	for (size_t k = 0; k < n; k++) {
		address[k] = touched[k].address;
		sectors[k] = gt_rule_whole_lines(rule, op[k]) ? 0xf : touched[k].sectors;
		full[k] = gt_op_action(op[k]) == GT_STORE ? touched[k].full : 0;
		threads[k] = touched[k].threads;
	}
}

/* Writes all in order, with the fields of their accesses; with all sectors if the rule is of whole lines. Returns
 * 0, or -1 with the sink's error. */
static int write_requests(struct requests *requests, const struct gt_rows *accesses,
			  const struct gt_coalescing_rule *rule, struct gt_sink *sink, struct gt_error *error)
{
	for (size_t done = 0, n; done < requests->n; done += n) {
		if (gt_sink_room(sink, error) != 0)
			return -1;
		struct gt_rows *to = sink->rows;
		const uint32_t *access = requests->access + done;
		n = requests->n - done < to->capacity - to->n ? requests->n - done : to->capacity - to->n;
		if (one_each(access, n))
			copy_run(to, accesses, access, n);
		else if (n / REPEATED > access[n - 1] - access[0])
			repeat_all(to, accesses, access, n);
		else
			gather(to, accesses, access, n);
		set_lines(to, requests->touched + done, n, rule);
		if (to->has_spans) {
			memcpy(to->width + to->n, requests->width + done, n * sizeof *to->width);
			memcpy(to->pitch + to->n, requests->pitch + done, n * sizeof *to->pitch);
		}
		to->n += n;
	}
	requests->n = 0;
	return 0;
}

/* ---- one access ---- */

/* The lines of lanes whose addresses follow from the first. */
static unsigned lines_of_affine(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	return affine->width ? gt_lines_of_pitch(base, affine, mask, size, touched) : gt_lines_of_affine(base, affine->stride, mask, size, touched);
}

/* The lines of access i, found separately for each group of lanes. */
static unsigned lines_of_groups(const struct gt_rows *from, size_t i, unsigned group, struct gt_touched *touched)
{
	const uint32_t mask = from->mask[i], lanes = UINT32_MAX >> (GT_WARP_SIZE - group);
	const struct gt_affine affine = gt_rows_affine(from, i);
	const unsigned lowest = (unsigned)__builtin_ctz(mask);
	unsigned done = 0, n = 0;

	for (unsigned first = 0; first < GT_WARP_SIZE; first += group) {
		uint32_t part = mask & lanes << first;
		if (!part)
			continue;
		if (from->stride[i] == GT_STRIDE_LANES) {
			unsigned m = gt_count_lanes(part);
			n += gt_lines_of_lanes(from->lanes + from->base[i] + done, m, from->size[i], touched + n);
			done += m;
		} else {
			const uint64_t base = from->base[i] + gt_affine_from(&affine, lowest, (unsigned)__builtin_ctz(part));
			n += lines_of_affine(base, &affine, part, from->size[i], touched + n);
		}
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
		sectors += gt_bits_of_4[touched[k].sectors & ~(unsigned)seen];
	}
	return sectors;
}

/* The lines of access i, if each lane accesses that many bytes. */
static unsigned lines_of_warp(const struct gt_rows *from, size_t i, unsigned size, struct gt_touched *touched)
{
	if (from->stride[i] == GT_STRIDE_LANES)
		return gt_lines_of_lanes(from->lanes + from->base[i], gt_count_lanes(from->mask[i]), size, touched);
	const struct gt_affine affine = gt_rows_affine(from, i);
	return lines_of_affine(from->base[i], &affine, from->mask[i], size, touched);
}

static void count_shared(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i)
{
	unsigned passes = gt_bank_passes(&coalescer->shared.banks, from, i);
	unsigned least = gt_bank_least_passes(&coalescer->shared.banks, from, i);
	enum gt_action action = gt_op_action(from->op[i]);
	struct gt_coalesce_counts *counts = &coalescer->counts;

	counts->shared_accesses++;
	counts->bank_passes += passes;
	coalescer->least_passes += least;
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
			   struct requests *requests)
{
	struct gt_touched *touched = next_request(requests);
	bool prefetches = gt_hint_action(from->hint[i]) <= GT_PREFETCH_L2;
	unsigned n = lines_of_warp(from, i, 1, touched);

	for (unsigned k = 0; k < n; k++)
		touched[k].sectors = (1U << GT_LINE / GT_SECTOR) - 1;
	add_requests(requests, n, i);
	*(prefetches ? &coalescer->counts.prefetch_accesses : &coalescer->counts.discard_accesses) += 1;
	*(prefetches ? &coalescer->counts.prefetch_requests : &coalescer->counts.discard_requests) += n;
}

/* An access that takes its turn in a schedule, and requests nothing. */
static void add_turn(struct requests *requests, size_t i)
{
	*next_request(requests) = (struct gt_touched){0};
	add_requests(requests, 1, i);
}

/* Loads of constant memory, which has a port of its own: a turn for each distinct address of the warp. */
static void coalesce_constant(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, struct requests *requests)
{
	struct gt_touched *touched = next_request(requests);
	unsigned n = lines_of_warp(from, i, from->size[i], touched);
	uint64_t addresses[GT_WARP_SIZE];
	unsigned lanes = gt_rows_addresses(from, i, addresses);

	add_requests(requests, n, i);
	coalescer->counts.constant_accesses++;
	coalescer->counts.constant_turns += gt_distinct_addresses(addresses, lanes);
	coalescer->counts.constant_requests += n;
	for (unsigned k = 0; k < n; k++)
		coalescer->counts.constant_sectors += gt_bits_of_4[touched[k].sectors];
}

/* The distance between lines that are touched alike, if it is one and they are enough for a span; else 0. */
static int64_t pitch_of(const struct gt_touched *touched, unsigned n)
{
	const uint64_t pitch = n >= GT_SPAN_LEAST ? touched[1].address - touched[0].address : 0;
	unsigned k = 1;

	while (k < n && touched[k].address - touched[k - 1].address == pitch && touched[k].sectors == touched[0].sectors &&
	       touched[k].full == touched[0].full && touched[k].threads == touched[0].threads)
		k++;
	return k == n ? (int64_t)pitch : 0;
}

/* The lines of access i by the rule. */
static struct access_lines find_touched(const struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, struct gt_touched *touched)
{
	const unsigned group = coalescer->group[from->size[i]];
	const bool joined = coalescer->rule->join_stores && gt_op_action(from->op[i]) == GT_STORE;
	unsigned n = group == GT_WARP_SIZE ? lines_of_warp(from, i, from->size[i], touched) : lines_of_groups(from, i, group, touched);

	n = joined ? join(touched, n) : n;
	struct access_lines lines = {.n = n, .pitch = pitch_of(touched, n)};
	for (unsigned k = 0; k < n; k++)
		lines.sectors += gt_bits_of_4[touched[k].sectors];
	lines.distinct = group == GT_WARP_SIZE ? lines.sectors : distinct_sectors(touched, n);
	return lines;
}

/* Where the shape with a key is kept, if it is. */
static struct shape *shape_at(struct requests *requests, const struct shape_key *key)
{
	const uint64_t all = (uint64_t)key->affine.stride << 16 ^ (uint64_t)key->affine.pitch << 24 ^ (uint64_t)key->affine.width << 56 ^ key->rest << 7 ^ key->rest >> 32;

	return &requests->shapes[all * UINT64_C(0x9e3779b97f4a7c15) >> 60];
}

static bool is_same(const struct shape_key *a, const struct shape_key *b)
{
	return a->affine.stride == b->affine.stride && a->affine.pitch == b->affine.pitch && a->affine.width == b->affine.width && a->rest == b->rest;
}

/* Keeps what an access that begins in this line touches. */
static void keep_shape(struct shape *shape, const struct shape_key *key, uint64_t line, const struct gt_touched *touched,
		       const struct access_lines *lines)
{
	if (lines->n > SHAPE_LINES)
		return;
	shape->key = *key;
	shape->lines = *lines;
	for (unsigned k = 0; k < lines->n; k++) {
		shape->touched[k] = touched[k];
		shape->touched[k].address -= line;
	}
}

/* The same as find_touched, by the shape of the access if that is known: then of a span the first line alone. */
static struct access_lines lines_by_shape(const struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, const struct gt_affine *affine,
					  struct requests *requests)
{
	struct gt_touched *touched = next_request(requests);
	const uint64_t offset = from->base[i] % GT_LINE, line = from->base[i] - offset, stores = gt_op_action(from->op[i]) == GT_STORE;
	const struct shape_key key = {*affine, from->mask[i] | offset << 32 | (uint64_t)from->size[i] << 40 | stores << 48};
	struct shape *shape = shape_at(requests, &key);

	if (!is_same(&shape->key, &key)) {
		const struct access_lines lines = find_touched(coalescer, from, i, touched);
		keep_shape(shape, &key, line, touched, &lines);
		requests->misses++;
		return lines;
	}
	requests->misses -= requests->misses > 0;
	const unsigned n = requests->spans && shape->lines.pitch ? 1 : shape->lines.n;
	for (unsigned k = 0; k < n; k++) {
		touched[k] = shape->touched[k];
		touched[k].address += line;
	}
	return shape->lines;
}

/* The same, in the way that takes least. */
static struct access_lines lines_of_access(const struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, struct requests *requests)
{
	struct gt_touched *touched = next_request(requests);
	const struct gt_affine affine = gt_rows_affine(from, i);
	const bool whole_warp = coalescer->group[from->size[i]] == GT_WARP_SIZE;

	if (affine.stride == GT_STRIDE_LANES)
		return find_touched(coalescer, from, i, touched);
	if (requests->spans && whole_warp) {
		const unsigned n = gt_column_lines(from->base[i], &affine, from->mask[i], from->size[i], touched);
		if (n >= GT_SPAN_LEAST) {
			const unsigned sectors = n * gt_bits_of_4[touched->sectors];
			return (struct access_lines){n, sectors, sectors, from->stride[i]};
		}
	}
	if (whole_warp && (affine.width == 0 || requests->misses >= SHAPE_MISSES))
		return find_touched(coalescer, from, i, touched);
	return lines_by_shape(coalescer, from, i, &affine, requests);
}

/* Counts a data access of so many requests; of a load also the sectors that a rule of groups counts once. */
static inline void count_access(struct gt_coalescer *coalescer, unsigned action, unsigned requests, unsigned sectors, unsigned distinct)
{
	if (action == GT_LOAD)
		coalescer->counts.load_warp_sectors += distinct;
	coalescer->accesses[action]++;
	coalescer->requests[action] += requests;
	coalescer->sectors[action] += sectors;
}

/* Makes the request of access i, which is the k-th of these and touches one line. */
static inline void coalesce_single(struct gt_coalescer *coalescer, uint8_t op, size_t i, const struct gt_singles *singles, size_t k,
				   struct requests *requests)
{
	const unsigned sectors = gt_bits_of_4[singles->sectors[k]];

	*next_request(requests) = (struct gt_touched){singles->address[k], singles->sectors[k], singles->full[k], singles->threads[k]};
	requests->access[requests->n] = (uint32_t)i;
	requests->width[requests->n++] = 0;
	count_access(coalescer, gt_op_action(op), 1, sectors, sectors);
}

/* Makes the requests of access i, which is the k-th of these. Accesses to shared memory make none: their passes are counted. */
static inline void coalesce(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, const struct gt_singles *singles, size_t k,
			    struct requests *requests)
{
	uint8_t op = from->op[i];
	const bool whole_warp = coalescer->group[from->size[i]] == GT_WARP_SIZE;

	if (singles->single[k]) {
		coalesce_single(coalescer, op, i, singles, k, requests);
		return;
	}
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
	if (gt_op_is_constant(op)) {
		coalesce_constant(coalescer, from, i, requests);
		return;
	}
	const struct access_lines lines = lines_of_access(coalescer, from, i, requests);
	if (requests->spans && lines.pitch)
		add_span(requests, &lines, i);
	else
		add_requests(requests, lines.n, i);
	const unsigned sectors = gt_rule_whole_lines(coalescer->rule, op) ? lines.n * GT_LINE / GT_SECTOR : lines.sectors;
	count_access(coalescer, gt_op_action(op), lines.n, sectors, whole_warp ? sectors : lines.distinct);
}

/* An RTX 3070's counter of sectors that atomicExch requests is 4 for 32 lanes on 32 words of a line, 8 for 4 words of a sector with
 * 8 lanes each, and 32 for one word: lanes with one address take turns, and each turn touches its sectors once more
 * (l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_atom as posted by a user of Nsight Compute). Returns the sectors
 * of all turns but those that the first touches. */
static unsigned repeated_sectors(const struct gt_rows *from, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE], sectors[GT_WARP_SIZE]; /* of a turn: the first sector of each lane */
	unsigned turn[GT_WARP_SIZE], n = gt_count_lanes(from->mask[i]), repeated = 0;

	if (gt_rows_one_stride(from, i) && from->stride[i] != 0)
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

/* ---- a batch ---- */

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

/* Finds the accesses that touch one line each, if they are coalesced by whole warps. */
static void find_singles(const struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n, struct gt_singles *singles)
{
	if (coalesces_whole_warps(coalescer->rule))
		gt_find_singles(accesses, first, n, singles);
	else
		memset(singles->single, 0, n);
}

/* Makes the requests of the accesses [first, first + n). */
static int coalesce_each(struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n,
			 struct gt_sink *sink, struct gt_error *error)
{
	struct requests requests;
	struct gt_singles singles;

	find_singles(coalescer, accesses, first, n, &singles);
	begin_requests(&requests, coalescer->spans);
	for (size_t k = 0; k < n; k++) {
		coalesce(coalescer, accesses, first + k, &singles, k, &requests);
		if (requests.n >= REQUESTS_KEPT &&
		    write_requests(&requests, accesses, coalescer->rule, sink, error) != 0)
			return -1;
	}
	return write_requests(&requests, accesses, coalescer->rule, sink, error);
}

/* Makes the requests of access i, and counts it by site. */
static int coalesce_by_site(struct gt_coalescer *coalescer, const struct gt_rows *from, size_t i, const struct gt_singles *singles, size_t k,
			    struct requests *requests, struct gt_error *error)
{
	const bool shared = gt_op_space(from->op[i]) == GT_SHARED;
	const uint64_t *sectors = &coalescer->sectors[gt_op_action(from->op[i])], *passes = &coalescer->counts.bank_passes;
	const uint64_t sectors_before = *sectors, passes_before = *passes, least_before = coalescer->least_passes;
	const unsigned first = requests->n;
	struct gt_access_cost cost = {.full = 0};

	coalesce(coalescer, from, i, singles, k, requests);
	if (gt_op_is_constant(from->op[i]) || (!shared && gt_hint_action(gt_rows_hint(from, i)) != GT_ACCESS_DATA))
		return 0;
	cost.sectors = (unsigned)(*sectors - sectors_before);
	cost.passes = (unsigned)(*passes - passes_before);
	cost.least_passes = (unsigned)(coalescer->least_passes - least_before);
	for (unsigned r = first; r < requests->n; r++)
		cost.full += gt_bits_of_4[requests->touched[r].full] * (requests->width[r] ? requests->width[r] : 1U);
	return gt_by_site_add(coalescer->by_site, from, i, &cost, error);
}

/* The same as coalesce_each. */
static int coalesce_each_by_site(struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n,
				 struct gt_sink *sink, struct gt_error *error)
{
	struct requests requests;
	struct gt_singles singles;

	find_singles(coalescer, accesses, first, n, &singles);
	begin_requests(&requests, coalescer->spans);
	for (size_t k = 0; k < n; k++)
		if (coalesce_by_site(coalescer, accesses, first + k, &singles, k, &requests, error) != 0 ||
		    (requests.n >= REQUESTS_KEPT && write_requests(&requests, accesses, coalescer->rule, sink, error) != 0))
			return -1;
	return write_requests(&requests, accesses, coalescer->rule, sink, error);
}

/* Counts the accesses [first, first + n) by site, whose requests, one of each, were appended last. */
static int count_singles_by_site(const struct gt_coalescer *coalescer, const struct gt_rows *accesses, size_t first, size_t n,
				 const struct gt_rows *requests, struct gt_error *error)
{
	const uint8_t *sectors = requests->sectors + requests->n - n, *full = requests->full + requests->n - n;

	for (size_t k = 0; k < n; k++) {
		const struct gt_access_cost cost = {.sectors = gt_bits_of_4[sectors[k]], .full = gt_bits_of_4[full[k]]};
		if (gt_by_site_add(coalescer->by_site, accesses, first + k, &cost, error) != 0)
			return -1;
	}
	return 0;
}

int gt_coalesce(struct gt_coalescer *coalescer, const struct gt_rows *accesses, struct gt_sink *sink,
		struct gt_error *error)
{
	const bool whole = coalesces_whole_warps(coalescer->rule);
	struct gt_single_counts counts = {{0}, {0}};

	if (gt_sink_begin_as(sink, &(struct gt_rows){.kind = GT_REQUESTS, .scheduled = accesses->scheduled,
						     .has_hints = accesses->has_hints, .has_work = accesses->has_work, .has_shared = accesses->has_shared,
						     .has_spans = coalescer->spans}, error) != 0)
		return -1;
	for (size_t i = 0, n; i < accesses->n; i += n) {
		if (gt_sink_room(sink, error) != 0)
			return -1;
		size_t room = sink->rows->capacity - sink->rows->n, left = accesses->n - i;
		n = left < GT_SINGLE_ROWS ? left : GT_SINGLE_ROWS;
		n = n < room ? n : room;
		uint64_t atomics = counts.accesses[GT_ATOMIC] + coalescer->accesses[GT_ATOMIC];
		const bool single = whole && gt_single_lines(accesses, i, n, sink->rows, &counts);
		if (!single && (coalescer->by_site ? coalesce_each_by_site : coalesce_each)(coalescer, accesses, i, n, sink, error) != 0)
			return -1;
		if (single && coalescer->by_site && count_singles_by_site(coalescer, accesses, i, n, sink->rows, error) != 0)
			return -1;
		if (whole && counts.accesses[GT_ATOMIC] + coalescer->accesses[GT_ATOMIC] > atomics)
			count_turns(coalescer, accesses, i, n);
	}
	count_singles(coalescer, &counts);
	return 0;
}

/* ---- what was counted ---- */

/* All that was counted. Reductions are atomics; they are counted apart besides, as profilers do. */
static struct gt_coalesce_counts sum(const struct gt_coalescer *coalescer)
{
	struct gt_coalesce_counts counts = coalescer->counts;
	const uint64_t *accesses = coalescer->accesses, *requests = coalescer->requests, *sectors = coalescer->sectors;

	counts.prefetch_sectors = counts.prefetch_requests * (GT_LINE / GT_SECTOR);
	counts.discard_sectors = counts.discard_requests * (GT_LINE / GT_SECTOR);
	counts.load_accesses = accesses[GT_LOAD];
	counts.store_accesses = accesses[GT_STORE];
	counts.reduction_accesses = accesses[GT_REDUCTION];
	counts.atomic_accesses = accesses[GT_ATOMIC] + accesses[GT_REDUCTION];
	counts.accesses = counts.load_accesses + counts.store_accesses + counts.atomic_accesses + counts.shared_accesses +
			  counts.prefetch_accesses + counts.discard_accesses + counts.constant_accesses;
	counts.load_requests = requests[GT_LOAD];
	counts.store_requests = requests[GT_STORE];
	counts.reduction_requests = requests[GT_REDUCTION];
	counts.atomic_requests = requests[GT_ATOMIC] + requests[GT_REDUCTION];
	counts.requests = counts.load_requests + counts.store_requests + counts.atomic_requests + counts.prefetch_requests +
			  counts.discard_requests;
	counts.load_sectors = sectors[GT_LOAD];
	counts.store_sectors = sectors[GT_STORE];
	counts.reduction_sectors = sectors[GT_REDUCTION];
	counts.atomic_sectors = sectors[GT_ATOMIC] + sectors[GT_REDUCTION];
	counts.sectors = counts.load_sectors + counts.store_sectors + counts.atomic_sectors + counts.prefetch_sectors +
			 counts.discard_sectors;
	return counts;
}

void gt_coalescer_add(struct gt_coalescer *coalescer, const struct gt_coalescer *other)
{
	for (unsigned action = 0; action < GT_ACTIONS; action++) {
		coalescer->accesses[action] += other->accesses[action];
		coalescer->requests[action] += other->requests[action];
		coalescer->sectors[action] += other->sectors[action];
	}
	coalescer->least_passes += other->least_passes;
	gt_counters_add(&coalescer->counts, &other->counts, sizeof other->counts);
}

#define AT(NAME) offsetof(struct gt_coalesce_counts, NAME)

/* Counters of prefetches, discards, constant and shared memory only if there were some. */
int gt_coalescer_count(const struct gt_coalescer *coalescer, struct gt_count *count, struct gt_error *error)
{
	const struct gt_coalesce_counts counts = sum(coalescer);
	const struct {
		bool there;
		size_t from, to;
	} parts[] = {
		{true, 0, AT(repeated_sectors)},
		{coalescer->accesses[GT_ATOMIC] > 0 && coalesces_whole_warps(coalescer->rule), AT(repeated_sectors), AT(prefetch_accesses)},
		{counts.prefetch_accesses > 0, AT(prefetch_accesses), AT(discard_accesses)},
		{counts.discard_accesses > 0, AT(discard_accesses), AT(constant_accesses)},
		{counts.constant_accesses > 0, AT(constant_accesses), AT(load_warp_sectors)},
		{true, AT(load_warp_sectors), AT(shared_load_passes)},
		{counts.shared_accesses > 0, AT(shared_load_passes), AT(shared_cycles)},
	};
	char banks[32];

	if (gt_count_text(count, "rule", coalescer->rule->name, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].there &&
		    gt_count_some(count, &gt_counters_coalesce, &counts, parts[i].from, parts[i].to, error) != 0)
			return -1;
	if (counts.shared_accesses == 0)
		return 0;
	gt_banks_format(&coalescer->shared.banks, banks, sizeof banks);
	if (gt_count_text(count, "banks", banks, error) != 0)
		return -1;
	if (coalescer->shared.latency.n == 0)
		return 0;
	return gt_count_some(count, &gt_counters_coalesce, &counts, AT(shared_cycles), sizeof counts, error);
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
