/* SPDX-License-Identifier: MIT */
#include "coalesce/shared.h"

#include <stdbool.h>

#include "base/scan.h"

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
