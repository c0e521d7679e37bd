/* SPDX-License-Identifier: MIT */
#include "coalesce/lines.h"

#include <stdbool.h>

#define SECTORS (GT_LINE / GT_SECTOR)

/* Lines found so far, with a bit for every byte touched. */
struct found {
	unsigned n;
	unsigned last;		 /* the line found last */
	uint64_t lowest, highest; /* addresses of lines; lowest > highest while there are none */
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
	found->lowest = address < found->lowest ? address : found->lowest;
	found->highest = address > found->highest ? address : found->highest;
	return found->last = k;
}

/* The index of a line. Only lines among those found have to be looked for, so rising and falling
 * addresses never are. */
static unsigned find(struct found *found, uint64_t address)
{
	if (found->n > 0 && found->address[found->last] == address)
		return found->last;
	if (address >= found->lowest && address <= found->highest)
		for (unsigned k = 0; k < found->n; k++)
			if (found->address[k] == address)
				return found->last = k;
	return append(found, address);
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
	found->lowest = UINT64_MAX;
	found->highest = 0;
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
	struct found found;

	begin(&found);
	touch(&found, address, bytes_of(size));
	unsigned n = summarise(&found, touched);
	touched[0].threads = (uint8_t)__builtin_popcount(mask);
	return n;
}

/* Lanes 2^shift bytes apart that each keep to a slot of that many bytes within a sector: the lane
 * mask, shifted to where the first lane lies in its sector, is the mask of slots touched. */
static unsigned lines_of_slots(uint64_t base, unsigned shift, uint32_t mask, bool filled, struct gt_touched *touched)
{
	unsigned slots = GT_SECTOR >> shift; /* in a sector */
	uint64_t sector_slots = ((uint64_t)1 << slots) - 1;
	uint64_t rest = (uint64_t)(mask >> __builtin_ctz(mask)) << (base % GT_SECTOR >> shift);
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

unsigned gt_lines_of_affine(uint64_t base, int64_t stride, uint32_t mask, unsigned size,
			    struct gt_touched touched[GT_TOUCHED_MAX])
{
	if (stride == 0)
		return lines_of_broadcast(base, mask, size, touched);
	if (stride >= (int64_t)size && stride <= GT_SECTOR && (stride & (stride - 1)) == 0 &&
	    (base & (uint64_t)(stride - 1)) + size <= (uint64_t)stride)
		return lines_of_slots(base, (unsigned)__builtin_ctzll((uint64_t)stride), mask, stride == (int64_t)size,
				      touched);
	return lines_by_lane(base, stride, mask, size, touched);
}
