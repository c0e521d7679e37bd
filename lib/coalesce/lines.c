/* SPDX-License-Identifier: MIT */
#include "coalesce/lines.h"

#include <stdbool.h>
#include <string.h>

#include "base/hash.h"

#define SECTORS (GT_LINE / GT_SECTOR)
#define SECTOR_LOG 5 /* of GT_SECTOR */

#define PLACES_LOG 6
#define PLACES (1U << PLACES_LOG)

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
	return lines_by_lane(base, stride, mask, size, touched);
}
