/* SPDX-License-Identifier: MIT */
/* Impossible values that profilers print nevertheless: they run a kernel several times with a few counters each, so for
 * tiny kernels hits of one run may be divided by lookups of another. */
#include "report/compare/reference.h"

#include <string.h>

#define TERMS 2
#define L1 "l1tex__t_sectors_pipe_lsu_mem_global_op_"
#define L2 "lts__t_sectors_op_"
#define TEX "lts__t_sectors_srcunit_tex_op_"

/* A rate, and the counts whose quotient it is. Of several rows for one rate, the first whose counts are present and
 * possible is used. */
static const struct rate {
	const char *rate, *hits[TERMS], *lookups[TERMS];
} rates[] = {
	{"l1tex__t_sector_hit_rate.pct", {L1 "ld_lookup_hit.sum", L1 "st_lookup_hit.sum"}, {L1 "ld.sum", L1 "st.sum"}},
	{"lts__t_sector_op_read_hit_rate.pct", {L2 "read_lookup_hit.sum"}, {L2 "read.sum"}},
	{"lts__t_sector_op_read_hit_rate.pct", {TEX "read_lookup_hit.sum"}, {TEX "read.sum"}},
	{"lts__t_sector_op_write_hit_rate.pct", {L2 "write_lookup_hit.sum"}, {L2 "write.sum"}},
	{"lts__t_sector_op_write_hit_rate.pct", {TEX "write_lookup_hit.sum"}, {TEX "write.sum"}},
	{"lts__t_sector_hit_rate.pct", {L2 "read_lookup_hit.sum", L2 "write_lookup_hit.sum"}, {L2 "read.sum", L2 "write.sum"}},
	{"lts__t_sector_hit_rate.pct", {TEX "read_lookup_hit.sum", TEX "write_lookup_hit.sum"}, {TEX "read.sum", TEX "write.sum"}},
};

/* The sum of the named counts. False if one is absent. */
static bool sum_of(const struct gt_reference_launch *launch, const char *const names[TERMS], double *sum)
{
	*sum = 0;
	for (int i = 0; i < TERMS && names[i]; i++) {
		const struct gt_reference_value *value = gt_reference_find(launch, names[i]);
		if (!value || value->flag != GT_REFERENCE_SOUND)
			return false;
		*sum += value->value;
	}
	return true;
}

/* Checks a count of hits against its count of lookups. */
static void check_hits(const struct gt_reference_launch *launch, const char *hits, const char *lookups)
{
	struct gt_reference_value *part = gt_reference_find(launch, hits), *whole = gt_reference_find(launch, lookups);

	if (part && whole && part->value > whole->value)
		part->flag = GT_REFERENCE_IMPOSSIBLE;
}

static void mend_rate(const struct gt_reference_launch *launch, struct gt_reference_value *value)
{
	double hits, lookups;

	if (strcmp(value->metric->unit, "%") != 0 || value->value <= 100)
		return;
	value->flag = GT_REFERENCE_IMPOSSIBLE;
	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		if (strcmp(rates[i].rate, value->metric->name) != 0 || !sum_of(launch, rates[i].hits, &hits) ||
		    !sum_of(launch, rates[i].lookups, &lookups) || !(lookups > 0) || hits > lookups)
			continue;
		value->value = 100 * hits / lookups;
		value->flag = GT_REFERENCE_RECOMPUTED;
		return;
	}
}

void gt_reference_mend(struct gt_reference *reference)
{
	for (size_t i = 0; i < reference->n; i++) {
		struct gt_reference_launch *launch = &reference->launches[i];
		for (size_t k = 0; k < launch->n; k++)
			if (launch->values[k].value < 0)
				launch->values[k].flag = GT_REFERENCE_IMPOSSIBLE;
		for (size_t k = 0; k < sizeof rates / sizeof *rates; k++)
			for (int t = 0; t < TERMS && rates[k].hits[t]; t++)
				check_hits(launch, rates[k].hits[t], rates[k].lookups[t]);
		for (size_t k = 0; k < launch->n; k++)
			if (launch->values[k].flag == GT_REFERENCE_SOUND)
				mend_rate(launch, &launch->values[k]);
	}
}
