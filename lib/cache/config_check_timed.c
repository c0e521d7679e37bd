/* SPDX-License-Identifier: MIT */
#include "cache/config_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int check_kind(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->translate)
		return gt_fail(error, "a TLB has no timed model: leave out timing options");
	return 0;
}

static int check_order(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->arrival == GT_ARRIVAL_RR)
		return gt_fail(error, "the timed model takes requests by their step, not by arrival rr");
	return 0;
}

static int check_future(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->replacement.policy->looks_ahead)
		return gt_fail(error, "replace %s is for the functional model: leave out timing options",
			       config->replacement.policy->name);
	return 0;
}

static int check_untimed(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->emit == GT_EMIT_LATENCY)
		return gt_fail(error, "emit latency is for the functional model: leave out timing options");
	return 0;
}

static int check_halves_timed(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->halves)
		return gt_fail(error, "halves are for the functional model: leave out timing options");
	return 0;
}

static int check_dirty_timed(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->dirty_ways < GT_LEVEL_SLOTS_MAX)
		return gt_fail(error, "dirty-ways is for the functional model: leave out timing options");
	return 0;
}

static int check_by(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->by_pc)
		return gt_fail(error, "by pc is for the functional model: leave out timing options");
	return 0;
}

static int check_warm_timed(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->warm != GT_WARM_NONE)
		return gt_fail(error, "warm is for the functional model: leave out timing options");
	return 0;
}

/* All MSHR sets serve the same number of neighbouring partitions, except the last, which may serve fewer. */
static int check_mshr(const struct gt_level_config *config, struct gt_error *error)
{
	struct gt_timed_config timed = config->timed;
	char fitting[256] = "";

	if (gt_mshr_set(&timed, timed.partitions - 1) + 1 == timed.mshr_sets)
		return 0;
	for (timed.mshr_sets = 1; timed.mshr_sets <= timed.partitions && strlen(fitting) < 200; timed.mshr_sets++) {
		size_t length = strlen(fitting);
		if (gt_mshr_set(&timed, timed.partitions - 1) + 1 == timed.mshr_sets)
			snprintf(fitting + length, sizeof fitting - length, "%s%" PRIu32, length ? ", " : "", timed.mshr_sets);
	}
	return gt_fail(error, "%" PRIu32 " sets of MSHRs for %" PRIu32 " partitions: expected one of %s",
		       config->timed.mshr_sets, config->timed.partitions, fitting);
}

static int check_requeue(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.on_full == GT_FULL_REQUEUE && config->shared)
		return gt_fail(error, "on-full requeue is for a private level: its warps are those of one SM");
	return 0;
}

static int check_unit(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.on_full == GT_FULL_STALL && config->timed.unit != GT_UNIT_LINE)
		return gt_fail(error, "requeue-unit is for on-full requeue: with stall each line waits for itself");
	return 0;
}

static int check_fill(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.on_full == GT_FULL_STALL && config->timed.fill_next)
		return gt_fail(error, "fill next is for on-full requeue: with stall a block arrives at the end of a step ([000] 4.4)");
	return 0;
}

static int check_unit_ports(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.unit != GT_UNIT_LINE && config->timed.ports != GT_UNLIMITED)
		return gt_fail(error, "requeue-unit access and first-lane serve an access in one step, whatever the ports: expected requeue-unit line");
	return 0;
}

static int check_unit_merges(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.unit != GT_UNIT_LINE && config->timed.merges != GT_UNLIMITED)
		return gt_fail(error, "requeue-unit access and first-lane merge without limit ([002] 4.4): expected requeue-unit line");
	return 0;
}

static int check_clip(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.on_full == GT_FULL_STALL && !config->timed.clip)
		return gt_fail(error, "clip no is for on-full requeue ([002] 4.2): with stall a request that joins a miss is served with it ([000] 4.4)");
	return 0;
}

static int check_issue(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->timed.issue == GT_OWN_SCHEDULE && config->timed.on_full == GT_FULL_REQUEUE)
		return gt_fail(error, "on-full requeue has a queue of warps of its own ([002] 4.2): expected another issue than schedule");
	if (config->timed.issue != GT_OWN_SCHEDULE && config->shared)
		return gt_fail(error, "a shared level serves requests of many SMs, not warps: expected issue schedule");
	return 0;
}

static const struct gt_rule timed_rules[] = {
	{0, check_kind},
	{GT_OF(GT_LEVEL_EMIT), check_untimed},
	{GT_OF(GT_LEVEL_BY), check_by},
	{GT_OF(GT_LEVEL_ARRIVAL), check_order},
	{GT_OF(GT_LEVEL_REPLACE), check_future},
	{GT_OF(GT_LEVEL_WARM), check_warm_timed},
	{GT_OF(GT_LEVEL_HALVES), check_halves_timed},
	{GT_OF(GT_LEVEL_DIRTY_WAYS), check_dirty_timed},
	{GT_OF(GT_LEVEL_PARTITIONS) | GT_OF(GT_LEVEL_BANKS), gt_check_bank_count},
	{GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE) | GT_OF(GT_LEVEL_PARTITIONS) | GT_OF(GT_LEVEL_BANKS), gt_check_banks},
	{GT_OF(GT_LEVEL_MSHR) | GT_OF(GT_LEVEL_PARTITIONS), check_mshr},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_SCOPE), check_requeue},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_UNIT), check_unit},
	{GT_OF(GT_LEVEL_UNIT) | GT_OF(GT_LEVEL_PORTS), check_unit_ports},
	{GT_OF(GT_LEVEL_UNIT) | GT_OF(GT_LEVEL_MERGES), check_unit_merges},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_CLIP), check_clip},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_FILL), check_fill},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_ISSUE), check_issue},
};

int gt_timed_check(const struct gt_level_config *config, uint64_t known, struct gt_error *error)
{
	return gt_check_rules(timed_rules, sizeof timed_rules / sizeof timed_rules[0], config, known, error);
}
