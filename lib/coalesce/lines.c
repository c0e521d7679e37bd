/* SPDX-License-Identifier: MIT */
/* Coalescing: the lines of 128 bytes, and their sectors of 32, that the lanes of a warp access touch. Each line becomes a request.
 * First of one access, whatever its lanes do. Then of a run of accesses that touch one line each, as most do in most kernels: many
 * at a time, in loops that the compiler makes into vector instructions (base/wide.h). */
#include "coalesce/lines.h"

#include <stdbool.h>
#include <string.h>

#include "base/map.h"
#include "base/wide.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/request.h"

#define SECTORS (GT_LINE / GT_SECTOR)
#define SECTOR_LOG 5 /* of GT_SECTOR */

#define VECTOR 64 /* bytes of the widest vectors */

#define PLACES_LOG 6
#define PLACES (1U << PLACES_LOG)

/* ---- one access, lane by lane ---- */

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

/* ---- lanes at any addresses, all at once ---- */

/* Each lane is compared with all of them, by vectors: that takes a third of the time of looking lines up, or .6 with AVX2, and the same wherever they
 * are. Only bytes of words, lanes over the end of a line, and those that are very far from each other are left to the above. */

#define WORD 4		    /* bytes, for which a lane has a bit */
#define NEAR_LOG 36	    /* how far from the first, in bytes, lanes may be */
#define APART UINT32_C(0x80000000) /* the number of a line that no lane has, and those above it */
#define FEW 8		    /* lanes that are sooner told one by one */
#define JOINED 4	    /* lanes at once */

/* A bit for each word of a line that `size` bytes from byte `at` on touch. */
static inline uint32_t words_of(uint32_t at, uint32_t size)
{
	const uint32_t first = at / WORD, last = (at + size - 1) / WORD;

	return ((UINT32_C(2) << (last - first)) - 1) << first;
}

/* Bits 0 to 3: whether bits 0, 8, 16 and 24 are set. */
static inline uint32_t gather_bits(uint32_t bits)
{
	bits &= 0x01010101;
	return (bits | bits >> 7 | bits >> 14 | bits >> 21) & 0xf;
}

/* The sectors of which some of these words are, and those of which all are. */
static inline uint32_t sectors_with(uint32_t words)
{
	words |= words >> 4;
	words |= words >> 2;
	return gather_bits(words | words >> 1);
}

static inline uint32_t sectors_of(uint32_t words)
{
	words &= words >> 4;
	words &= words >> 2;
	return gather_bits(words & words >> 1);
}

/* Lanes, for vectors. */
struct lanes {
	_Alignas(64) uint32_t line[GT_WARP_SIZE]; /* its line's number; of a lane that is off, one of its own */
	uint32_t words[GT_WARP_SIZE]; /* a bit for each word of its line that it touches; then that any lane touches */
	uint32_t peers[GT_WARP_SIZE]; /* a bit for each lane of the same line */
	uint64_t from;		      /* address of the line of number 0 */
	bool whole;		      /* lanes touch words whole */
};

/* A bit for each lane, by itself. */
static const uint32_t own_bit[GT_WARP_SIZE] = {
	1U << 0, 1U << 1, 1U << 2, 1U << 3, 1U << 4, 1U << 5, 1U << 6, 1U << 7, 1U << 8, 1U << 9, 1U << 10, 1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15,
	1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21, 1U << 22, 1U << 23, 1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31,
};

/* Sets line and words of so many lanes, of which the first `known` have addresses. False if a lane is too far, or reaches over the end of its line. */
GT_INLINE bool find_words(struct lanes *lanes, const uint64_t *addresses, unsigned known, uint32_t mask, unsigned size, unsigned n)
{
	uint32_t at[GT_WARP_SIZE], beyond = 0, parts = 0;
	uint64_t far = 0;

	lanes->from = (addresses[0] & ~(uint64_t)(GT_LINE - 1)) - (UINT64_C(1) << NEAR_LOG);
	for (unsigned i = 0; i < n; i++) {
		const uint64_t distance = (i < known ? addresses[i] : addresses[0]) - lanes->from;
		far |= distance >> (NEAR_LOG + 1);
		at[i] = (uint32_t)distance % GT_LINE;
		lanes->line[i] = (uint32_t)(distance / GT_LINE);
	}
	for (unsigned i = 0; i < n; i++) {
		const uint32_t on = 0 - (mask >> i & 1);
		beyond |= (at[i] + size - 1) & on;
		parts |= at[i] & on;
		lanes->words[i] = words_of(at[i], size) & on;
		lanes->line[i] = (lanes->line[i] & on) | ((APART + i) & ~on);
	}
	lanes->whole = (parts | size) % WORD == 0;
	return far == 0 && beyond < GT_LINE;
}

/* Joins the words of lanes [j, j + JOINED) to those of their peers among the first n lanes. The compiler makes vectors of the lanes, of whatever width
 * the machine has. */
GT_INLINE void join_some(const struct lanes *lanes, unsigned j, unsigned n, uint32_t *restrict words, uint32_t *restrict peers)
{
	const uint32_t *line = lanes->line, *of = lanes->words;

	for (unsigned i = 0; i < n; i++) {
		const uint32_t a = 0U - (line[i] == line[j]), b = 0U - (line[i] == line[j + 1]);
		const uint32_t c = 0U - (line[i] == line[j + 2]), d = 0U - (line[i] == line[j + 3]);
		words[i] |= (a & of[j]) | (b & of[j + 1]) | (c & of[j + 2]) | (d & of[j + 3]);
		peers[i] |= (a & own_bit[j]) | (b & own_bit[j + 1]) | (c & own_bit[j + 2]) | (d & own_bit[j + 3]);
	}
}

/* Finds the peers of n lanes, of which those from `end` on are off, and joins their words. */
GT_INLINE void join_lanes(struct lanes *lanes, unsigned end, unsigned n)
{
	uint32_t words[GT_WARP_SIZE] = {0};

	memset(lanes->peers, 0, sizeof lanes->peers);
	for (unsigned j = 0; j < end; j += JOINED)
		join_some(lanes, j, n, words, lanes->peers);
	memcpy(lanes->words, words, sizeof words);
}

/* The lines of the lanes that are on, of the first lanes_n. Returns 0 if it takes bytes to tell them. */
GT_INLINE unsigned lines_of_first(const uint64_t *addresses, unsigned known, uint32_t mask, unsigned size, struct gt_touched *touched, unsigned lanes_n)
{
	struct lanes lanes;
	uint32_t sectors[GT_WARP_SIZE], full[GT_WARP_SIZE], threads[GT_WARP_SIZE], most = 0, firsts = 0;
	unsigned n = 0;

	if (!find_words(&lanes, addresses, known, mask, size, lanes_n))
		return 0;
	join_lanes(&lanes, GT_WARP_SIZE - (unsigned)__builtin_clz(mask), lanes_n);
	for (unsigned i = 0; i < lanes_n; i++) {
		threads[i] = gt_count_lanes(lanes.peers[i]);
		most = threads[i] > most ? threads[i] : most;
		firsts |= lanes.peers[i] & (own_bit[i] - 1) ? 0 : own_bit[i];
	}
	if (!lanes.whole && most * size >= GT_SECTOR)
		return 0;
	const uint32_t whole = lanes.whole ? 0xf : 0;
	for (unsigned i = 0; i < lanes_n; i++) {
		sectors[i] = sectors_with(lanes.words[i]);
		full[i] = sectors_of(lanes.words[i]) & whole;
	}
	for (uint32_t rest = firsts & mask; rest; rest &= rest - 1) {
		const unsigned i = (unsigned)__builtin_ctz(rest);
		touched[n++] = (struct gt_touched){lanes.from + (uint64_t)lanes.line[i] * GT_LINE, (uint8_t)sectors[i], (uint8_t)full[i], (uint8_t)threads[i]};
	}
	return n;
}

/* The lines of the lanes that are on, of `known` whose addresses are there. Returns 0 if it takes bytes to tell them. */
GT_WIDE static unsigned lines_at_once(const uint64_t *addresses, unsigned known, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	if (known <= GT_WARP_SIZE / 2)
		return lines_of_first(addresses, known, mask, size, touched, GT_WARP_SIZE / 2);
	return lines_of_first(addresses, known, mask, size, touched, GT_WARP_SIZE);
}

static unsigned lines_one_by_one(const uint64_t *addresses, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	struct found found;
	uint64_t bytes = bytes_of(size);

	begin(&found);
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		touch(&found, addresses[__builtin_ctz(rest)], bytes);
	return summarise(&found, touched);
}

/* The same of few lanes, all of them on. */
static unsigned lines_of_few(const uint64_t *addresses, unsigned known, unsigned size, struct gt_touched *touched)
{
	uint32_t words[FEW];
	unsigned n = 0, parts = size;

	for (unsigned i = 0; i < known; i++) {
		const unsigned at = (unsigned)(addresses[i] % GT_LINE);
		const uint64_t line = addresses[i] - at;
		unsigned k = 0;
		if (at + size > GT_LINE)
			return 0;
		parts |= at;
		while (k < n && touched[k].address != line)
			k++;
		if (k == n) {
			touched[n] = (struct gt_touched){.address = line};
			words[n++] = 0;
		}
		touched[k].threads++;
		words[k] |= words_of(at, size);
	}
	if (parts % WORD != 0 && known * size >= GT_SECTOR)
		return 0;
	for (unsigned k = 0; k < n; k++) {
		touched[k].sectors = (uint8_t)sectors_with(words[k]);
		touched[k].full = parts % WORD == 0 ? (uint8_t)sectors_of(words[k]) : 0;
	}
	return n;
}

static unsigned lines_of_some(const uint64_t *addresses, unsigned known, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const unsigned n = known <= FEW ? lines_of_few(addresses, known, size, touched) : lines_at_once(addresses, known, mask, size, touched);

	return n > 0 ? n : lines_one_by_one(addresses, mask, size, touched);
}

unsigned gt_lines_of_lanes(const uint64_t *addresses, unsigned n, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX])
{
	return lines_of_some(addresses, n, UINT32_MAX >> (GT_WARP_SIZE - n), size, touched);
}

/* Lanes whose addresses follow from the lowest one's. */
static unsigned lines_of_each(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const unsigned lowest = (unsigned)__builtin_ctz(mask);
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = 0;

	if (gt_count_lanes(mask) <= FEW) {
		for (uint32_t rest = mask; rest; rest &= rest - 1)
			addresses[n++] = base + gt_affine_from(affine, lowest, (unsigned)__builtin_ctz(rest));
		return gt_lines_of_lanes(addresses, n, size, touched);
	}
	for (unsigned i = 0; i < GT_WARP_SIZE; i++)
		addresses[i] = base + gt_affine_from(affine, lowest, i);
	return lines_of_some(addresses, GT_WARP_SIZE, mask, size, touched);
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

/* ---- lanes at one address, at a stride, or at a stride and a pitch ---- */

/* All lanes at one address. */
static unsigned lines_of_broadcast(uint64_t address, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	unsigned sector = (unsigned)(address / GT_SECTOR % SECTORS), threads = gt_count_lanes(mask);
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
			touched[n].threads = (uint8_t)(gt_count_lanes((uint32_t)here) + gt_count_lanes((uint32_t)(here >> 32)));
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
	return lines_of_each(base, &(struct gt_affine){stride, 0, 0}, mask, size, touched);
}

/* Adds lines, which may lie behind them, to n others. Returns how many there are, or 0 if the bytes of both may fill a sector that neither fills.
 * `whole`: bytes of a lane, none of which reaches over the end of its line; 0: one may. */
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

/* Row by row, as far as their lines may be joined, of a stride of at most a sector. */
static unsigned lines_of_rows(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const unsigned width = affine->width, lowest = (unsigned)__builtin_ctz(mask);
	const bool aligned = (size & (size - 1)) == 0 && ((base | (uint64_t)affine->stride | (uint64_t)affine->pitch) & (size - 1)) == 0;
	const bool apart = affine->pitch > -FAR && affine->pitch < FAR &&
			   (affine->pitch < 0 ? -affine->pitch : affine->pitch) >= GT_LINE + (int64_t)(width - 1) * affine->stride + size;
	const uint32_t row = (UINT32_C(1) << width) - 1;
	unsigned n = 0;

	for (unsigned first = 0; first < GT_WARP_SIZE; first += width) {
		const uint32_t lanes = mask & row << first;
		if (!lanes)
			continue;
		const uint64_t begin = base + gt_affine_from(affine, lowest, (unsigned)__builtin_ctz(lanes));
		const unsigned more_n = gt_lines_of_affine(begin, affine->stride, lanes, size, touched + n);
		n = apart || n == 0 ? n + more_n : merge(touched, n, touched + n, more_n, aligned ? size : 0);
		if (n == 0)
			return 0;
	}
	return n;
}

unsigned gt_column_lines(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size, struct gt_touched *touched)
{
	const uint32_t lanes = mask >> __builtin_ctz(mask);
	struct gt_touched lines[GT_TOUCHED_MAX];

	if (affine->stride == 0 || !keeps_to_lines(base, affine->stride, size) || lanes & (lanes + 1))
		return 0;
	if (affine->width == 0) {
		lines_of_broadcast(base, 1, size, lines);
		*touched = lines[0];
		return gt_count_lanes(lanes);
	}
	if (mask != UINT32_MAX || affine->pitch >= GT_LINE || affine->pitch <= -GT_LINE)
		return 0;
	const unsigned rows = GT_WARP_SIZE / affine->width;
	const int64_t last = (int64_t)(base % GT_LINE) + affine->pitch * (int64_t)(rows - 1);
	if (last < 0 || last + size > GT_LINE)
		return 0;
	gt_lines_of_affine(base, affine->pitch, UINT32_MAX >> (GT_WARP_SIZE - rows), size, lines);
	*touched = lines[0];
	return affine->width;
}

/* Rows of a whole warp of which each lane has a line of its own, in which those of the other rows below it follow closely. Returns 0 if it is
 * not so. */
static unsigned lines_of_columns(uint64_t base, const struct gt_affine *affine, unsigned size, struct gt_touched *touched)
{
	const unsigned rows = GT_WARP_SIZE / affine->width;
	const bool distinct = affine->stride > -FAR && affine->stride < FAR && (affine->stride >= GT_LINE || affine->stride <= -GT_LINE);

	if (!distinct || (uint64_t)affine->pitch > GT_SECTOR)
		return 0;
	const unsigned reach = (rows - 1) * (unsigned)affine->pitch + size;
	const bool filled = affine->pitch <= (int64_t)size;
	for (unsigned k = 0; k < affine->width; k++, base += (uint64_t)affine->stride) {
		const unsigned start = (unsigned)(base % GT_LINE), end = start + reach;
		const unsigned from = (start + GT_SECTOR - 1) / GT_SECTOR, to = end / GT_SECTOR;
		if (end > GT_LINE)
			return 0;
		touched[k] = (struct gt_touched){base - start, (uint8_t)((2U << (end - 1) / GT_SECTOR) - (1U << start / GT_SECTOR)),
						 (uint8_t)(filled && to > from ? (1U << to) - (1U << from) : 0), (uint8_t)rows};
	}
	return affine->width;
}

unsigned gt_lines_of_pitch(uint64_t base, const struct gt_affine *affine, uint32_t mask, unsigned size,
			   struct gt_touched touched[GT_TOUCHED_MAX])
{
	const unsigned lowest = (unsigned)__builtin_ctz(mask), row = lowest / affine->width * affine->width;

	if (mask >> row >> affine->width == 0)
		return gt_lines_of_affine(base, affine->stride, mask, size, touched);
	unsigned n = mask == UINT32_MAX ? lines_of_columns(base, affine, size, touched) : 0;
	if (n == 0 && affine->pitch == 0 && mask == UINT32_MAX)
		n = lines_of_same_rows(base, affine->stride, (UINT32_C(1) << affine->width) - 1, GT_WARP_SIZE / affine->width, size, touched);
	if (n == 0 && affine->width >= GT_WARP_SIZE / 4 && (uint64_t)affine->stride <= GT_SECTOR)
		n = lines_of_rows(base, affine, mask, size, touched);
	return n > 0 ? n : lines_of_each(base, affine, mask, size, touched);
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

/* The same for accesses of which some may be of another kind: says which, and sets the lines of the others. An answer for each takes longer than
 * find_lines, by a twelfth on a trace where all touch one line. */
GT_WIDE static void find_some(const struct gt_rows *from, size_t first, size_t n, struct gt_singles *restrict singles, struct parts *restrict parts)
{
	const uint64_t *base = from->base + first;
	const int64_t *stride = from->stride + first;
	const uint32_t *mask = from->mask + first;
	const uint8_t *size = from->size + first, *op = from->op + first, *width = from->width + first;
	uint8_t near[GT_SINGLE_ROWS], apart[GT_SINGLE_ROWS], gaps[GT_SINGLE_ROWS], lanes[GT_SINGLE_ROWS];

	for (size_t i = 0; i < n; i++)
		lanes[i] = (uint8_t)gt_count_lanes(mask[i]);
	for (size_t i = 0; i < n; i++)
		gaps[i] = ((mask[i] + (mask[i] & (0 - mask[i]))) & mask[i]) != 0;
	for (size_t i = 0; i < n; i++)
		near[i] = (uint64_t)stride[i] <= GT_SECTOR;
	for (size_t i = 0; i < n; i++)
		apart[i] = (uint8_t)stride[i];
	for (size_t i = 0; i < n; i++)
		singles->address[i] = base[i] & ~(uint64_t)(GT_LINE - 1);
	for (size_t i = 0; i < n; i++)
		parts->start[i] = (uint8_t)(base[i] % GT_LINE);
	for (size_t i = 0; i < n; i++) {
		const uint16_t end = (uint16_t)(parts->start[i] + (uint16_t)((lanes[i] - 1) * apart[i]) + size[i]);
		near[i] &= end <= GT_LINE && (op[i] & 0x1c) != GT_SHARED << 2 && (op[i] & 0x1c) != GT_CONSTANT << 2;
		parts->end[i] = (uint8_t)end;
	}
	for (size_t i = 0; i < n; i++)
		singles->single[i] = near[i] & (width[i] == 0) & (!gaps[i] | (apart[i] == 0));
	for (size_t i = 0; i < n; i++)
		parts->gaps[i] = apart[i] > size[i];
	memcpy(singles->threads, lanes, n);
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

void gt_find_singles(const struct gt_rows *accesses, size_t first, size_t n, struct gt_singles *singles)
{
	struct parts parts;
	uint8_t straight = 0;

	for (size_t i = 0; i < n; i++)
		straight |= accesses->width[first + i] == 0;
	memset(singles->single, 0, n);
	if (!straight)
		return;
	find_some(accesses, first, n, singles, &parts);
	find_sectors(&parts, accesses->op + first, n, singles->sectors, singles->full);
	for (size_t i = 0; accesses->has_hints && i < n; i++)
		singles->single[i] &= gt_hint_action(accesses->hint[first + i]) == GT_ACCESS_DATA;
}
