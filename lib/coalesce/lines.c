/* SPDX-License-Identifier: MIT */
/* Coalescing: the lines of 128 bytes, and their sectors of 32, that the lanes of a warp access touch. Each line becomes a request.
 * First of one access, whatever its lanes do. Then of a run of accesses that touch one line each, as most do in most kernels: many
 * at a time, in loops that the compiler makes into vector instructions (base/wide.h). */
#include "coalesce/lines.h"

#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "base/wide.h"
#include "stream/op.h"
#include "stream/request.h"

#define SECTORS (GT_LINE / GT_SECTOR)
#define SECTOR_LOG 5 /* of GT_SECTOR */

#define VECTOR 64 /* bytes of the widest vectors */

#define PLACES_LOG 6
#define PLACES (1U << PLACES_LOG)

/* ---- one access ---- */

/* Lines found so far, with a bit for every byte touched. */
struct found {
	unsigned n;
	unsigned last;	       /* index of the line looked up last */
	uint8_t place[PLACES]; /* by hash: a line's index + 1; 0: no line of that hash was found yet */
	uint64_t address[GT_TOUCHED_MAX];
	uint32_t bytes[GT_TOUCHED_MAX][SECTORS];
	uint8_t threads[GT_TOUCHED_MAX];
};

static unsigned append(struct found *found, uint64_t address)
{
	unsigned k = found->n++;

	found->address[k] = address;
	for (unsigned s = 0; s < SECTORS; s++)
		found->bytes[k][s] = 0;
	found->threads[k] = 0;
	return k;
}

static unsigned index_of(const struct found *found, uint64_t address)
{
	unsigned k = 0;

	while (k < found->n && found->address[k] != address)
		k++;
	return k;
}

/* The index of a line, found before or new. */
static unsigned find(struct found *found, uint64_t address)
{
	if (found->n > 0 && found->address[found->last] == address)
		return found->last;
	uint8_t *place = &found->place[gt_fibonacci(address) >> (64 - PLACES_LOG)];
	unsigned k = *place ? *place - 1U : found->n;
	if (k < found->n && found->address[k] != address)
		k = index_of(found, address);
	if (k == found->n)
		append(found, address);
	*place = (uint8_t)(k + 1);
	return found->last = k;
}

static void touch(struct found *found, uint64_t address, uint64_t lane_bytes)
{
	uint64_t line = address & ~(uint64_t)(GT_LINE - 1);
	unsigned sector = (unsigned)(address / GT_SECTOR % SECTORS);
	uint64_t bytes = lane_bytes << address % GT_SECTOR; /* of this sector and the next */
	uint32_t beyond = (uint32_t)(bytes >> GT_SECTOR);
	unsigned k = find(found, line);

	found->threads[k]++;
	found->bytes[k][sector] |= (uint32_t)bytes;
	if (!beyond)
		return;
	if (sector + 1 < SECTORS)
		found->bytes[k][sector + 1] |= beyond;
	else
		found->bytes[find(found, line + GT_LINE)][0] |= beyond;
}

static void begin(struct found *found)
{
	found->n = 0;
	found->last = 0;
	memset(found->place, 0, sizeof found->place);
}

static unsigned summarise(const struct found *found, struct gt_touched *touched)
{
	for (unsigned k = 0; k < found->n; k++) {
		unsigned sectors = 0, full = 0;
		for (unsigned s = 0; s < SECTORS; s++) {
			sectors |= (unsigned)(found->bytes[k][s] != 0) << s;
			full |= (unsigned)(found->bytes[k][s] == UINT32_MAX) << s;
		}
		touched[k] = (struct gt_touched){found->address[k], (uint8_t)sectors, (uint8_t)full,
						 found->threads[k]};
	}
	return found->n;
}

static uint64_t bytes_of(unsigned size)
{
	return ((uint64_t)1 << size) - 1;
}

unsigned gt_lines_of_lanes(const uint64_t *addresses, unsigned n, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX])
{
	struct found found;
	uint64_t bytes = bytes_of(size);

	begin(&found);
	for (unsigned i = 0; i < n; i++)
		touch(&found, addresses[i], bytes);
	return summarise(&found, touched);
}

unsigned gt_distinct_addresses(const uint64_t *addresses, unsigned n)
{
	uint64_t found[PLACES];
	bool taken[PLACES] = {false};
	unsigned distinct = 0;

	for (unsigned k = 0; k < n; k++) {
		size_t place = (size_t)(gt_fibonacci(addresses[k]) >> (64 - PLACES_LOG));
		while (taken[place] && found[place] != addresses[k])
			place = (place + 1) % PLACES;
		distinct += !taken[place];
		taken[place] = true;
		found[place] = addresses[k];
	}
	return distinct;
}

static unsigned lines_by_lane(uint64_t base, int64_t stride, uint32_t mask, unsigned size,
			      struct gt_touched *touched)
{
	struct found found;
	uint64_t bytes = bytes_of(size);

	begin(&found);
	for (uint32_t rest = mask >> __builtin_ctz(mask); rest; rest >>= 1, base += (uint64_t)stride)
		if (rest & 1)
			touch(&found, base, bytes);
	return summarise(&found, touched);
}

/* All lanes at one address. */
static unsigned lines_of_broadcast(uint64_t address, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	unsigned sector = (unsigned)(address / GT_SECTOR % SECTORS), threads = (unsigned)__builtin_popcount(mask);
	uint64_t bytes = bytes_of(size) << address % GT_SECTOR;
	unsigned reaches = bytes >> GT_SECTOR ? 3 : 1; /* into the next sector? */
	unsigned full = (uint32_t)bytes == UINT32_MAX;
	uint64_t line = address & ~(uint64_t)(GT_LINE - 1);

	touched[0] = (struct gt_touched){line, (uint8_t)(reaches << sector & 0xf), (uint8_t)(full << sector),
					 (uint8_t)threads};
	touched[1] = (struct gt_touched){line + GT_LINE, 1, 0, 0};
	return sector == SECTORS - 1 && reaches > 1 ? 2 : 1;
}

/* `count` consecutive slots of 2^shift bytes from `base`, with a lane in each. */
static unsigned lines_of_run(uint64_t base, unsigned shift, unsigned count, bool filled, struct gt_touched *touched)
{
	unsigned in_sector = GT_SECTOR >> shift, sector_shift = SECTOR_LOG - shift, in_line = GT_LINE >> shift;
	unsigned start = (unsigned)(base % GT_LINE) >> shift, end = start + count, n = 0;
	uint64_t line = base & ~(uint64_t)(GT_LINE - 1);

	for (;; start = 0, end -= in_line, line += GT_LINE) {
		unsigned stop = end < in_line ? end : in_line;
		unsigned sectors = (2U << ((stop - 1) >> sector_shift)) - (1U << (start >> sector_shift));
		unsigned from = (start + in_sector - 1) >> sector_shift, to = stop >> sector_shift;
		unsigned full = filled && to > from ? (1U << to) - (1U << from) : 0;
		touched[n++] = (struct gt_touched){line, (uint8_t)sectors, (uint8_t)full, (uint8_t)(stop - start)};
		if (end <= in_line)
			return n;
	}
}

/* The same with gaps: the mask of lanes, shifted to where the first lies in its sector, is the mask
 * of slots touched. */
static unsigned lines_of_slots(uint64_t base, unsigned shift, uint32_t lanes, bool filled, struct gt_touched *touched)
{
	unsigned slots = GT_SECTOR >> shift; /* in a sector */
	uint64_t sector_slots = ((uint64_t)1 << slots) - 1;
	uint64_t rest = (uint64_t)lanes << (base % GT_SECTOR >> shift);
	uint64_t line = base & ~(uint64_t)(GT_LINE - 1);
	unsigned sector = (unsigned)(base / GT_SECTOR % SECTORS), n = 0;

	for (; rest; line += GT_LINE, sector = 0) {
		unsigned sectors = 0, full = 0, left = (SECTORS - sector) * slots;
		uint64_t here = left < 64 ? rest & (((uint64_t)1 << left) - 1) : rest;
		if (here)
			touched[n].threads = (uint8_t)__builtin_popcountll(here);
		rest = left < 64 ? rest >> left : 0;
		for (; here; here >>= slots, sector++) {
			sectors |= (unsigned)((here & sector_slots) != 0) << sector;
			full |= (unsigned)((here & sector_slots) == sector_slots) << sector;
		}
		touched[n].address = line;
		touched[n].sectors = (uint8_t)sectors;
		touched[n].full = filled ? (uint8_t)full : 0;
		n += sectors != 0;
	}
	return n;
}

/* True if each lane, `stride` bytes from the next, stays within an aligned slot of that size. */
static bool keeps_to_slots(uint64_t base, int64_t stride, unsigned size)
{
	return stride >= (int64_t)size && stride <= GT_SECTOR && (stride & (stride - 1)) == 0 &&
	       (base & (uint64_t)(stride - 1)) + size <= (uint64_t)stride;
}

#define FAR (INT64_C(1) << 48) /* bytes: 32 lanes at such strides do not meet again, modulo 2^64 */

/* True if each lane has a line of its own, at one place in it. */
static bool keeps_to_lines(uint64_t base, int64_t stride, unsigned size)
{
	return stride % GT_LINE == 0 && stride > -FAR && stride < FAR && base % GT_LINE + size <= GT_LINE;
}

static unsigned lines_apart(uint64_t base, int64_t stride, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	unsigned n = lines_of_broadcast(base, 1, size, touched);
	uint32_t rest = mask >> __builtin_ctz(mask) >> 1;

	for (uint64_t line = touched[0].address; rest; rest >>= 1) {
		line += (uint64_t)stride;
		touched[n] = touched[0];
		touched[n].address = line;
		n += rest & 1;
	}
	return n;
}

bool gt_is_column(uint64_t base, int64_t stride, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const uint32_t lanes = mask >> __builtin_ctz(mask);

	if (stride == 0 || lanes & (lanes + 1) || !keeps_to_lines(base, stride, size))
		return false;
	struct gt_touched lines[2];
	lines_of_broadcast(base, 1, size, lines);
	*touched = lines[0];
	return true;
}

unsigned gt_lines_of_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned size,
			    struct gt_touched touched[GT_TOUCHED_MAX])
{
	if (stride == 0)
		return lines_of_broadcast(base, mask, size, touched);
	if (keeps_to_slots(base, stride, size)) {
		unsigned shift = (unsigned)__builtin_ctz((unsigned)stride);
		uint32_t lanes = mask >> __builtin_ctz(mask);
		bool filled = stride == (int64_t)size;
		if ((lanes & (lanes + 1)) == 0)
			return lines_of_run(base, shift, GT_WARP_SIZE - (unsigned)__builtin_clz(lanes), filled, touched);
		return lines_of_slots(base, shift, lanes, filled, touched);
	}
	if (keeps_to_lines(base, stride, size))
		return lines_apart(base, stride, mask, size, touched);
	return lines_by_lane(base, stride, mask, size, touched);
}

/* Adds lines to n others. Returns how many there are, or 0 if the bytes of both may fill a sector that neither fills. `whole`: bytes of a lane,
 * none of which reaches over the end of its line; 0: one may. */
static unsigned merge(struct gt_touched *touched, unsigned n, const struct gt_touched *more, unsigned more_n, unsigned whole)
{
	unsigned all = n, k = 0;

	for (unsigned m = 0; m < more_n; m++) {
		k = m > 0 && k + 1 < n ? k + 1 : 0; /* rows mostly touch their lines in the same order */
		if (k < n && touched[k].address != more[m].address) {
			k = 0;
			while (k < n && touched[k].address != more[m].address)
				k++;
		}
		if (k == n) {
			touched[all++] = more[m];
			continue;
		}
		const unsigned threads = touched[k].threads + more[m].threads;
		if (touched[k].sectors & ~touched[k].full & more[m].sectors & ~more[m].full && (whole == 0 || threads * whole >= GT_SECTOR))
			return 0;
		touched[k].sectors |= more[m].sectors;
		touched[k].full |= more[m].full;
		touched[k].threads = (uint8_t)threads;
	}
	return all;
}

/* Rows of lanes at one place, each with the same lanes: the lines of the first. */
static unsigned lines_of_same_rows(uint64_t base, int64_t stride, uint32_t row, unsigned rows, unsigned size, struct gt_touched *touched)
{
	const unsigned n = gt_lines_of_affine(base, stride, row, size, touched);

	for (unsigned k = 0; k < n; k++)
		touched[k].threads = (uint8_t)(touched[k].threads * rows);
	return n;
}

/* Row by row, as far as their lines may be joined. */
static unsigned lines_of_rows(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const unsigned width = affine->width, lowest = (unsigned)__builtin_ctz(mask);
	const bool aligned = (size & (size - 1)) == 0 && ((base | (uint64_t)affine->stride | (uint64_t)affine->pitch) & (size - 1)) == 0;
	struct gt_touched more[GT_TOUCHED_MAX];
	unsigned n = 0;

	for (uint32_t rest = mask, row; rest; rest &= ~row) {
		const unsigned first = (unsigned)__builtin_ctz(rest);
		row = ((UINT32_C(1) << width) - 1) << first / width * width;
		const uint64_t begin = base + gt_affine_from(affine, lowest, first);
		const unsigned more_n = gt_lines_of_affine(begin, affine->stride, rest & row, size, more);
		n = merge(touched, n, more, more_n, aligned ? size : 0);
		if (n == 0)
			return 0;
	}
	return n;
}

unsigned gt_lines_of_pitch(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX])
{
	const unsigned lowest = (unsigned)__builtin_ctz(mask);
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = 0;

	if (affine->pitch == 0 && mask == UINT32_MAX)
		return lines_of_same_rows(base, affine->stride, (UINT32_C(1) << affine->width) - 1, GT_WARP_SIZE / affine->width, size, touched);
	n = lines_of_rows(base, affine, mask, size, touched);
	if (n > 0)
		return n;
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		addresses[n++] = base + gt_affine_from(affine, lowest, (unsigned)__builtin_ctz(rest));
	return gt_lines_of_lanes(addresses, n, size, touched);
}

/* ---- runs of accesses that touch one line each ---- */

/* Lanes that are at most a sector apart leave out no sector between the first and the last that they touch; they cover sectors
 * whole where none is farther from the next than the bytes it accesses. */

/* The sectors of a line that have a byte from `start` up to byte `end`; and those of which every byte is between them. In
 * comparisons of bytes, of which a vector has most. */
static inline uint8_t touched_sectors(uint8_t start, uint8_t end)
{
	uint8_t first = start < GT_SECTOR ? 1 : 0, second = start < 2 * GT_SECTOR ? 2 : 0, third = start < 3 * GT_SECTOR ? 4 : 0;

	second = end > GT_SECTOR ? second : 0;
	third = end > 2 * GT_SECTOR ? third : 0;
	return (uint8_t)(first | second | third | (end > 3 * GT_SECTOR ? 8 : 0));
}

static inline uint8_t whole_sectors(uint8_t start, uint8_t end)
{
	uint8_t first = start == 0 ? 1 : 0, second = start <= GT_SECTOR ? 2 : 0, third = start <= 2 * GT_SECTOR ? 4 : 0;
	uint8_t fourth = start <= 3 * GT_SECTOR ? 8 : 0;

	first = end >= GT_SECTOR ? first : 0;
	second = end >= 2 * GT_SECTOR ? second : 0;
	third = end >= 3 * GT_SECTOR ? third : 0;
	return (uint8_t)(first | second | third | (end >= GT_LINE ? fourth : 0));
}

/* Counts the lanes of each access. Returns false if those of some are not neighbours. */
GT_WIDE static bool find_lanes(const uint32_t *mask, size_t n, uint8_t *restrict lanes)
{
	uint32_t differs = 0, apart = 0;

	for (size_t i = 0; i < n; i++)
		differs |= mask[i] ^ mask[0];
	if (differs == 0) {
		memset(lanes, (int)gt_count_lanes(mask[0]), n);
		return ((mask[0] + (mask[0] & (0 - mask[0]))) & mask[0]) == 0;
	}
	for (size_t i = 0; i < n; i++) {
		lanes[i] = (uint8_t)gt_count_lanes(mask[i]);
		apart |= (mask[i] + (mask[i] & (0 - mask[i]))) & mask[i];
	}
	return apart == 0;
}

/* The part of its line that each access touches, from byte `start` up to byte `end`, if none is of another kind. */
struct parts {
	uint8_t start[GT_SINGLE_ROWS], end[GT_SINGLE_ROWS];
	uint8_t gaps[GT_SINGLE_ROWS]; /* some byte between two lanes is not touched */
};

/* Sets lines and threads of the requests. Returns false if some access is of another kind. */
GT_WIDE static bool find_lines(const struct gt_rows *from, size_t first, size_t n, struct gt_rows *to, struct parts *restrict parts)
{
	const uint64_t *base = from->base + first;
	const int64_t *stride = from->stride + first;
	const uint8_t *size = from->size + first, *op = from->op + first;
	uint64_t *restrict address = to->address + to->n;
	uint8_t *restrict lanes = to->threads + to->n, apart[GT_SINGLE_ROWS];
	uint64_t far = 0;
	uint16_t beyond = 0;
	uint8_t elsewhere = 0;

	for (size_t i = 0; i < n; i++)
		elsewhere |= from->width[first + i];
	if (elsewhere)
		return false;
	if (!find_lanes(from->mask + first, n, lanes))
		return false;
	for (size_t i = 0; i < n; i++)
		address[i] = base[i] & ~(uint64_t)(GT_LINE - 1);
	for (size_t i = 0; i < n; i++)
		parts->start[i] = (uint8_t)(base[i] % GT_LINE);
	for (size_t i = 0; i < n; i++)
		far |= (uint64_t)stride[i] > GT_SECTOR;
	for (size_t i = 0; i < n; i++)
		apart[i] = (uint8_t)stride[i];
	for (size_t i = 0; i < n; i++) {
		uint16_t end = (uint16_t)(parts->start[i] + (uint16_t)((lanes[i] - 1) * apart[i]) + size[i]);
		beyond |= end > GT_LINE;
		parts->end[i] = (uint8_t)end;
	}
	for (size_t i = 0; i < n; i++)
		parts->gaps[i] = apart[i] > size[i];
	for (size_t i = 0; i < n; i++)
		elsewhere |= (op[i] & 0x1c) == GT_SHARED << 2 || (op[i] & 0x1c) == GT_CONSTANT << 2;
	return !(far | beyond | elsewhere);
}

/* Sets sectors of the requests, and those that a store covers. */
GT_WIDE static void find_sectors(const struct parts *parts, const uint8_t *op, size_t n, uint8_t *restrict sectors,
				 uint8_t *restrict full)
{
	uint8_t stores = 0;

	for (size_t i = 0; i < n; i++)
		sectors[i] = touched_sectors(parts->start[i], parts->end[i]);
	for (size_t i = 0; i < n; i++)
		stores |= (op[i] & 3) == GT_STORE;
	memset(full, 0, n);
	for (size_t i = 0; stores && i < n; i++)
		full[i] = (op[i] & 3) == GT_STORE && !parts->gaps[i] ? whole_sectors(parts->start[i], parts->end[i]) : 0;
}

/* Counts the requests of an action, and their sectors: by place in a vector, which adds up at the end. */
GT_INLINE void count_action(const uint8_t *op, const uint8_t *sectors, size_t n, unsigned action, struct gt_single_counts *counts)
{
	uint8_t accesses[VECTOR] = {0}, touched[VECTOR] = {0};
	size_t i = 0;

	for (; i + VECTOR <= n; i += VECTOR)
		for (size_t k = 0; k < VECTOR; k++) {
			const uint8_t here = (op[i + k] & 3) == action ? 0xff : 0;
			accesses[k] = (uint8_t)(accesses[k] + (here & 1));
			touched[k] = (uint8_t)(touched[k] + (here & gt_count_4(sectors[i + k])));
		}
	for (; i < n; i++) {
		const bool here = (op[i] & 3) == action;
		counts->accesses[action] += here;
		counts->sectors[action] += here ? gt_count_4(sectors[i]) : 0;
	}
	uint16_t accesses_n = 0, touched_n = 0;
	for (size_t k = 0; k < VECTOR; k++)
		accesses_n = (uint16_t)(accesses_n + accesses[k]);
	for (size_t k = 0; k < VECTOR; k++)
		touched_n = (uint16_t)(touched_n + touched[k]);
	counts->accesses[action] += accesses_n;
	counts->sectors[action] += touched_n;
}

/* Counts n requests. */
GT_WIDE static void count(const uint8_t *op, const uint8_t *sectors, size_t n, struct gt_single_counts *counts)
{
	uint8_t differs = 0, atomic = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (uint8_t)((op[i] ^ op[0]) & 3);
	for (size_t i = 0; i < n; i++)
		atomic |= (op[i] & 3) != GT_LOAD && (op[i] & 3) != GT_STORE;
	for (unsigned action = 0; action < 4; action++)
		if (action == (op[0] & 3U) || (differs && (atomic || action == GT_LOAD || action == GT_STORE)))
			count_action(op, sectors, n, action, counts);
}

/* Copies the columns that a request has from its access. */
static void copy_columns(const struct gt_rows *from, size_t first, size_t n, struct gt_rows *to)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (gt_column_present(from, column) && gt_column_present(to, column))
			memcpy((char *)gt_column_of(to, column) + to->n * column->width,
			       (const char *)gt_column_of(from, column) + first * column->width, n * column->width);
	}
}

bool gt_single_lines(const struct gt_rows *accesses, size_t first, size_t n, struct gt_rows *requests,
		     struct gt_single_counts *counts)
{
	struct parts parts;

	if (accesses->has_hints || !find_lines(accesses, first, n, requests, &parts))
		return false;
	find_sectors(&parts, accesses->op + first, n, requests->sectors + requests->n, requests->full + requests->n);
	copy_columns(accesses, first, n, requests);
	count(accesses->op + first, requests->sectors + requests->n, n, counts);
	if (requests->has_spans)
		memset(requests->width + requests->n, 0, n);
	requests->n += n;
	return true;
}
