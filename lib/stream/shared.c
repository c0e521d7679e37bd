/* SPDX-License-Identifier: MIT */
/* Shared memory: the passes that its banks take for an access, and the latency by passes. */
#include "stream/shared.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "base/wide.h"
#include "stream/op.h"

/* ---- banks ---- */

/* Pairs of bank and row that a group can touch: three a lane, if unaligned data of 8 bytes cross units of 4. */
#define TOUCHED_MAX (3 * GT_WARP_SIZE)

int gt_banks_check(const struct gt_banks *banks, struct gt_error *error)
{
	bool known = banks->n > 0 && banks->n <= GT_WARP_SIZE && (banks->n & (banks->n - 1)) == 0 &&
		     (banks->width == 4 || banks->width == 8) && (banks->unit == 4 || banks->unit == 8) &&
		     banks->unit <= banks->width;

	return known ? 0 : gt_fail(error, "expected 1, 2, 4, ... or %d banks of 4 or 8 bytes", GT_WARP_SIZE);
}

int gt_banks_parse(const char *text, struct gt_banks *banks, struct gt_error *error)
{
	const char *at = text;
	uint64_t n = 0, width = 0, unit = 0;
	bool read = gt_scan_upto(&at, GT_WARP_SIZE, &n) && gt_scan_char(&at, 'x') && gt_scan_upto(&at, 8, &width);

	unit = width;
	if (read && *at != '\0')
		read = gt_scan_char(&at, ':') && gt_scan_upto(&at, 8, &unit) && *at == '\0';
	*banks = (struct gt_banks){(unsigned)n, (unsigned)width, (unsigned)unit};
	if (!read || gt_banks_check(banks, error) != 0)
		return gt_fail(error, "'%.60s': expected banks x bytes, such as 16x4, 32x4, 32x8 or 32x8:4", text);
	return 0;
}

void gt_banks_format(const struct gt_banks *banks, char *buffer, size_t bytes)
{
	if (banks->unit == banks->width)
		snprintf(buffer, bytes, "%ux%u", banks->n, banks->width);
	else
		snprintf(buffer, bytes, "%ux%u:%u", banks->n, banks->width, banks->unit);
}

/* Distinct rows that a group touches, chained by bank. */
struct touched {
	unsigned n, most;
	uint64_t row[TOUCHED_MAX];
	uint8_t next[TOUCHED_MAX];     /* index + 1 of another row of the bank, 0: none */
	uint8_t first[GT_WARP_SIZE];   /* index + 1 */
	uint8_t length[GT_WARP_SIZE];  /* rows of the bank */
};

static void touch(struct touched *touched, unsigned bank, uint64_t row)
{
	for (unsigned k = touched->first[bank]; k; k = touched->next[k - 1])
		if (touched->row[k - 1] == row)
			return;
	touched->row[touched->n] = row;
	touched->next[touched->n] = touched->first[bank];
	touched->first[bank] = (uint8_t)++touched->n;
	touched->length[bank]++;
	touched->most = touched->length[bank] > touched->most ? touched->length[bank] : touched->most;
}

static unsigned passes_of_lanes(const struct gt_banks *banks, const uint64_t *addresses, unsigned n, unsigned size)
{
	struct touched touched;
	unsigned unit_bits = (unsigned)__builtin_ctz(banks->unit);
	unsigned row_bits = (unsigned)__builtin_ctz(banks->n * banks->width) - unit_bits;

	touched.n = touched.most = 0;
	memset(touched.first, 0, sizeof touched.first);
	memset(touched.length, 0, sizeof touched.length);
	for (unsigned i = 0; i < n; i++) {
		unsigned before = (unsigned)addresses[i] & (banks->unit - 1);
		unsigned count = (before + size + banks->unit - 1) >> unit_bits;
		uint64_t first = addresses[i] >> unit_bits;
		for (unsigned k = 0; k < count; k++) {
			uint64_t unit = (first + k) & (UINT64_MAX >> unit_bits);
			touch(&touched, (unsigned)unit & (banks->n - 1), unit >> row_bits);
		}
	}
	return touched.most;
}

/* Sizes that are no power of two count as the next one. */
static unsigned lanes_together(const struct gt_banks *banks, unsigned size)
{
	unsigned lanes = banks->n;

	while (lanes > 1 && lanes * size > banks->n * banks->width)
		lanes /= 2;
	return lanes;
}

/* Groups of that many lanes in which some lane is active. */
static unsigned groups(uint32_t mask, unsigned together)
{
	uint32_t group = UINT32_MAX >> (GT_WARP_SIZE - together);
	unsigned n = 0;

	for (unsigned first = 0; first < GT_WARP_SIZE; first += together)
		n += (mask >> first & group) != 0;
	return n;
}

/* 32 banks, and lanes `stride` rows of one word apart: lanes share a bank if their distance is a multiple of
 * 32 / gcd(stride, 32), which is true of gcd(stride, 32) lanes if all are active ([001] 4.1). */
static unsigned passes_of_stride(uint32_t mask, uint64_t stride)
{
	unsigned common = (unsigned)((stride | GT_WARP_SIZE) & (~(stride | GT_WARP_SIZE) + 1));
	unsigned period = GT_WARP_SIZE / common, most = 0;
	uint32_t every = 1;

	if (common == 1)
		return 1;
	for (unsigned bit = period; bit < GT_WARP_SIZE; bit += period)
		every |= (uint32_t)1 << bit;
	for (unsigned r = 0; r < period; r++) {
		unsigned meet = (unsigned)__builtin_popcount(mask & every << r);
		most = meet > most ? meet : most;
	}
	return most;
}

/* The passes of accesses that need no loop over lanes, or 0: groups that touch each bank once, and strides of whole
 * rows. */
static unsigned passes_of_affine(const struct gt_banks *banks, uint64_t base, int64_t stride, uint32_t mask,
				 unsigned size, unsigned together)
{
	unsigned unit = banks->unit;
	bool aligned = (size & (size - 1)) == 0 && base % size == 0;

	if (!aligned)
		return 0;
	if (stride == 0 && size <= banks->n * unit)
		return groups(mask, together);
	if (stride == (int64_t)size && together * size / unit + (size < unit) <= banks->n)
		return groups(mask, together);
	if (banks->n == GT_WARP_SIZE && size == unit && size == banks->width && stride % (int64_t)size == 0 &&
	    stride > INT32_MIN && stride < INT32_MAX)
		return passes_of_stride(mask, (uint64_t)(stride < 0 ? -stride : stride) / size);
	return 0;
}

/* Whether all that these lanes access, one at least, is in one row of all banks. */
GT_WIDE static bool in_one_row(uint64_t row_bytes, const uint64_t *addresses, unsigned n, unsigned size)
{
	uint64_t differ = 0;

	for (unsigned i = 0; i < n; i++)
		differ |= (addresses[i] ^ addresses[0]) | ((addresses[i] + size - 1) ^ addresses[0]);
	return differ < row_bytes;
}

/* The passes of lanes anywhere, whose addresses are those of the active ones. */
static unsigned passes_of_groups(const struct gt_banks *banks, uint32_t mask, const uint64_t *addresses, unsigned size, unsigned together)
{
	unsigned passes = 0, done = 0;

	for (unsigned first = 0; first < GT_WARP_SIZE; first += together) {
		uint32_t group = mask >> first & UINT32_MAX >> (GT_WARP_SIZE - together);
		unsigned n = (unsigned)__builtin_popcount(group);
		if (n > 0)
			passes += in_one_row(banks->n * banks->width, addresses + done, n, size) ? 1 : passes_of_lanes(banks, addresses + done, n, size);
		done += n;
	}
	return passes;
}

/* ---- the lanes that are served together ---- */

/* Whether the lanes of each pair i and i ^ distance that are both on have one address. */
static bool pairs_agree(uint32_t mask, unsigned distance, const uint64_t *addresses)
{
	uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333;

	for (uint32_t rest = mask & mask >> distance & lower; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctz(rest);
		unsigned of_lane = (unsigned)__builtin_popcount(mask & ((UINT32_C(1) << lane) - 1));
		unsigned between = distance == 2 ? mask >> (lane + 1) & 1 : 0;
		if (addresses[of_lane] != addresses[of_lane + 1 + between])
			return false;
	}
	return true;
}

/* The lanes of a group, see gt_bank_passes. Without addresses of lanes there is a stride. */
static unsigned group_lanes(const struct gt_banks *banks, uint32_t mask, unsigned size, int64_t stride, const uint64_t *addresses, bool loads)
{
	unsigned lanes = lanes_together(banks, size);
	bool agree;

	if (!loads || lanes == GT_WARP_SIZE || banks->n != GT_WARP_SIZE || banks->width != 4)
		return lanes;
	if (stride != GT_STRIDE_LANES)
		agree = stride == 0 || (mask & mask >> 1 & 0x55555555) == 0 || (mask & mask >> 2 & 0x33333333) == 0;
	else
		agree = pairs_agree(mask, 1, addresses) || pairs_agree(mask, 2, addresses);
	return agree ? 2 * lanes : lanes;
}

/* The addresses of an access that has no stride for all lanes; else NULL. */
static const uint64_t *spread(const struct gt_rows *rows, size_t i, uint64_t buffer[GT_WARP_SIZE])
{
	if (gt_rows_one_stride(rows, i))
		return NULL;
	gt_rows_addresses(rows, i, buffer);
	return buffer;
}

static unsigned group_lanes_of(const struct gt_banks *banks, const struct gt_rows *rows, size_t i, const uint64_t *addresses)
{
	return group_lanes(banks, rows->mask[i], rows->size[i], addresses ? GT_STRIDE_LANES : rows->stride[i], addresses,
			   gt_op_action(rows->op[i]) == GT_LOAD);
}

unsigned gt_bank_passes(const struct gt_banks *banks, const struct gt_rows *rows, size_t i)
{
	uint64_t buffer[GT_WARP_SIZE];
	const uint64_t *addresses = spread(rows, i, buffer);
	unsigned together = group_lanes_of(banks, rows, i, addresses), passes = 0;

	if (!addresses)
		passes = passes_of_affine(banks, rows->base[i], rows->stride[i], rows->mask[i], rows->size[i], together);
	if (passes > 0)
		return passes;
	if (!addresses)
		gt_rows_addresses(rows, i, buffer);
	return passes_of_groups(banks, rows->mask[i], buffer, rows->size[i], together);
}

unsigned gt_bank_passes_usual(uint32_t mask, unsigned size, uint64_t base, int64_t stride, const uint64_t *addresses, bool loads)
{
	static const struct gt_banks banks = GT_BANKS_DEFAULT;
	uint64_t of_stride[GT_WARP_SIZE];
	unsigned together = group_lanes(&banks, mask, size, stride, addresses, loads), passes, n = 0;

	if (stride == GT_STRIDE_LANES)
		return passes_of_groups(&banks, mask, addresses, size, together);
	passes = passes_of_affine(&banks, base, stride, mask, size, together);
	if (passes > 0)
		return passes;
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		of_stride[n++] = base + (uint64_t)stride * (unsigned)(__builtin_ctz(rest) - __builtin_ctz(mask));
	return passes_of_groups(&banks, mask, of_stride, size, together);
}

unsigned gt_bank_least_passes(const struct gt_banks *banks, const struct gt_rows *rows, size_t i)
{
	uint64_t buffer[GT_WARP_SIZE];
	const uint64_t *addresses = lanes_together(banks, rows->size[i]) < GT_WARP_SIZE ? spread(rows, i, buffer) : NULL;

	return groups(rows->mask[i], group_lanes_of(banks, rows, i, addresses));
}

/* ---- latency, and what a description says ---- */

int gt_shared_latency_parse(const char *text, struct gt_shared_latency *latency, struct gt_error *error)
{
	const char *at = text;
	uint64_t passes, cycles, last_passes = 0, last_cycles = 0;
	bool good = true;

	latency->n = 0;
	do {
		good = latency->n < GT_SHARED_POINTS && gt_scan_upto(&at, UINT16_MAX, &passes) &&
		       gt_scan_char(&at, ':') && gt_scan_upto(&at, UINT32_MAX, &cycles) && passes > last_passes &&
		       cycles >= last_cycles;
		if (!good)
			break;
		latency->point[latency->n].passes = (uint32_t)(last_passes = passes);
		latency->point[latency->n++].cycles = (uint32_t)(last_cycles = cycles);
	} while (gt_scan_char(&at, ','));
	if (!good || *at != '\0')
		return gt_fail(error, "'%.60s': expected passes:cycles, rising, such as 1:50,2:88,32:1210", text);
	return 0;
}

uint64_t gt_shared_cycles(const struct gt_shared_latency *latency, unsigned passes)
{
	unsigned i = 0;

	if (latency->n == 1)
		return latency->point[0].cycles;
	while (i + 2 < latency->n && latency->point[i + 1].passes < passes)
		i++;
	int64_t from = latency->point[i].passes, to = latency->point[i + 1].passes;
	int64_t low = latency->point[i].cycles, high = latency->point[i + 1].cycles;
	int64_t cycles = low + ((high - low) * ((int64_t)passes - from) + (to - from) / 2) / (to - from);
	return cycles > 0 ? (uint64_t)cycles : 0;
}

static int figure(const struct gt_gpu *gpu, const char *key, unsigned *value, struct gt_error *error)
{
	uint64_t number = *value;

	if (gt_gpu_count(gpu, key, number, &number, error) != 0)
		return -1;
	*value = number > UINT16_MAX ? UINT16_MAX : (unsigned)number;
	return 0;
}

/* A bank's unit is its width unless the description has a smaller one. */
static int banks_of(const struct gt_gpu *gpu, struct gt_banks *banks, struct gt_error *error)
{
	struct gt_error reason;

	if (figure(gpu, "shared_banks", &banks->n, error) != 0 ||
	    figure(gpu, "shared_bank_bytes", &banks->width, error) != 0)
		return -1;
	banks->unit = banks->width;
	if (figure(gpu, "shared_bank_unit", &banks->unit, error) != 0)
		return -1;
	if (gt_banks_check(banks, &reason) != 0)
		return gt_fail(error, "gpu: shared_banks, shared_bank_bytes, shared_bank_unit: %s", reason.text);
	return 0;
}

int gt_shared_resolve(struct gt_shared *shared, const struct gt_gpu *gpu, const char *banks, struct gt_error *error)
{
	const char *latency = gt_gpu_get(gpu, "shared_latency");
	struct gt_error reason;

	*shared = (struct gt_shared){.banks = GT_BANKS_DEFAULT};
	if (banks ? gt_banks_parse(banks, &shared->banks, error) : banks_of(gpu, &shared->banks, error))
		return -1;
	if (latency && gt_shared_latency_parse(latency, &shared->latency, &reason) != 0)
		return gt_fail(error, "gpu: shared_latency: %s", reason.text);
	return 0;
}
