/* SPDX-License-Identifier: MIT */
/* Whether a level's parameters are compatible: tables of rules, for every level and for a timed one. Each rule lists the parameters that
 * it uses, so that it is checked before anything is read if all of them are on the command line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "cache/config.h"
#include "stream/rows.h"

_Static_assert(GT_PARAMETERS <= 64, "parameters are known by the bits of a number");

#define GT_OF(ID) (UINT64_C(1) << (ID))

struct gt_rule {
	uint64_t looks_at;
	int (*check)(const struct gt_level_config *config, struct gt_error *error);
};

static int check_sector(const struct gt_level_config *config, struct gt_error *error)
{
	char line[32], sector[32];

	if (config->sector > config->line)
		return gt_fail(error, "a sector of %s does not fit into a line of %s",
			       gt_format_size(config->sector, sector), gt_format_size(config->line, line));
	if (config->line / config->sector > GT_LEVEL_SECTORS_MAX)
		return gt_fail(error, "a line of %s has more than %d sectors of %s", gt_format_size(config->line, line),
			       GT_LEVEL_SECTORS_MAX, gt_format_size(config->sector, sector));
	return 0;
}

static int check_fetch(const struct gt_level_config *config, struct gt_error *error)
{
	char buffer[32];

	if (config->fetch < config->sector || config->fetch > config->line)
		return gt_fail(error, "a fetch of %s is not between a sector and a line",
			       gt_format_size(config->fetch, buffer));
	return 0;
}

/* Names the nearest sizes that are a whole number of sets. */
static int fail_sets(const struct gt_level_config *config, uint64_t ways, struct gt_error *error)
{
	uint64_t set = ways * config->line, below = config->size / set * set;
	char size[32], line[32], lower[32] = "", upper[32];

	if (below > 0)
		gt_format_size(below, lower);
	return gt_fail(error, "a size of %s is not a whole number of sets of %" PRIu64 " lines of %s: try %s%s%s",
		       gt_format_size(config->size, size), ways, gt_format_size(config->line, line), lower,
		       below > 0 ? " or " : "", gt_format_size(below + set, upper));
}

static int check_size(const struct gt_level_config *config, struct gt_error *error)
{
	char size[32], line[32];

	if (config->sets_listed > 0)
		return 0;
	uint64_t lines = config->size / config->line, ways = config->ways ? config->ways : lines / config->divided;
	if (config->ways == 0 && lines % config->divided != 0)
		return gt_fail(error, "a size of %s does not divide into %" PRIu64 " equal sets of lines of %s",
			       gt_format_size(config->size, size), config->divided, gt_format_size(config->line, line));
	if (lines == 0 || config->size % config->line != 0 || lines % ways != 0)
		return fail_sets(config, ways ? ways : 1, error);
	if (lines > GT_LEVEL_SLOTS_MAX)
		return gt_fail(error, "a size of %s has more than %u lines of %s", gt_format_size(config->size, size),
			       GT_LEVEL_SLOTS_MAX, gt_format_size(config->line, line));
	return 0;
}

static bool unequal(const struct gt_level_config *config)
{
	uint32_t ways;

	gt_level_sets(config, &ways);
	return ways == 0;
}

static int check_index(const struct gt_level_config *config, struct gt_error *error)
{
	uint32_t ways, sets = gt_level_sets(config, &ways);

	if (gt_level_interleaved(config))
		return 0;
	if (ways == 0)
		return config->index->any_sets ? 0 : gt_fail(error, "index %s does not support unequal sets: expected mod, smod, hash, rotate or golden",
							     config->index->name);
	if (config->index->check)
		return config->index->check(&config->index_argument, sets, config->line, error);
	return 0;
}

/* Banks are at most GT_BANKS_MAX. */
static int check_bank_count(const struct gt_level_config *config, struct gt_error *error)
{
	uint64_t banks = (uint64_t)config->timed.partitions * config->timed.banks;

	return banks <= GT_BANKS_MAX ? 0 : gt_fail(error, "%" PRIu64 " banks are more than %u", banks, GT_BANKS_MAX);
}

/* All banks have the same number of sets. */
static int check_banks(const struct gt_level_config *config, struct gt_error *error)
{
	uint32_t ways, sets = gt_level_sets(config, &ways);
	uint64_t banks = (uint64_t)config->timed.partitions * config->timed.banks;

	if (check_bank_count(config, error) != 0)
		return -1;
	if (banks > sets || sets % banks != 0)
		return gt_fail(error, "%" PRIu64 " banks cannot hold %" PRIu32 " sets evenly: expected a divisor of %" PRIu32,
			       banks, sets, sets);
	return 0;
}

/* With an interleave the index function chooses among the sets of a bank. */
static int check_interleave(const struct gt_level_config *config, struct gt_error *error)
{
	struct gt_interleave interleave = config->interleave;
	uint32_t partitions = config->timed.partitions, banks = config->timed.banks, ways;
	uint32_t sets = gt_level_sets(config, &ways);

	if (!gt_level_interleaved(config))
		return 0;
	if (ways == 0 || config->translate)
		return gt_fail(error, "interleave %s does not support %s: expected interleave set", interleave.scheme->name,
			       config->translate ? "a TLB" : "unequal sets");
	if (check_banks(config, error) != 0 || gt_interleave_open(&interleave, partitions, banks, config->line, error) != 0)
		return -1;
	if (config->index->check)
		return config->index->check(&config->index_argument, sets / (partitions * banks), config->line, error);
	return 0;
}

static int check_replace(const struct gt_level_config *config, struct gt_error *error)
{
	const struct gt_policy *policy = config->replacement.policy;
	uint32_t ways, sets = gt_level_sets(config, &ways);

	if (!policy->check)
		return 0;
	for (uint32_t set = 0; unequal(config) && set < sets; set++)
		if (policy->check(&config->replacement, config->set_ways[set], error) != 0)
			return -1;
	return ways ? policy->check(&config->replacement, ways, error) : 0;
}

/* A policy that looks ahead sees up to the end of the kernel. */
static int check_ahead(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->replacement.policy->looks_ahead && config->flush == GT_FLUSH_NEVER)
		return gt_fail(error, "replace %s looks ahead to the end of a kernel: expected flush kernel or between",
			       config->replacement.policy->name);
	return 0;
}

/* Latencies add up along a chain of levels, which must pass each request on with its status. */
static int check_cycles(const struct gt_level_config *config, struct gt_error *error)
{
	bool looks_up = config->translate || config->bypass != GT_BYPASS_ALL;

	if (config->emit != GT_EMIT_LATENCY || !looks_up)
		return 0;
	if (config->hit_cycles.n == 0 || config->miss_cycles.n == 0)
		return gt_fail(error, "emit latency: expected %s-cycles, by option or by the GPU description",
			       config->hit_cycles.n == 0 ? "hit" : "miss");
	if (config->arrival == GT_ARRIVAL_RR || config->replacement.policy->looks_ahead)
		return gt_fail(error, "emit latency keeps the order of requests: expected neither arrival rr nor replace opt");
	return 0;
}

static int check_arrival(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->arrival != GT_ARRIVAL_STEP && !config->shared)
		return gt_fail(error, "arrival rr and travel are for a shared level: a private one serves a single SM");
	return 0;
}

static int check_coalescer(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->coalescer.requests == 0)
		return 0;
	if (!config->shared || config->translate || config->is_timed)
		return gt_fail(error, "coalescer is for a shared data cache that is not timed: expected coalescer none");
	if (config->emit == GT_EMIT_ALL || config->emit == GT_EMIT_LATENCY)
		return gt_fail(error, "with emit all and latency each request is looked up: expected coalescer none");
	if (config->replacement.policy->looks_ahead)
		return gt_fail(error, "replace %s looks ahead to requests that are looked up: expected coalescer none", config->replacement.policy->name);
	return 0;
}

bool gt_level_can_have_constants(const struct gt_level_config *config)
{
	bool passes = config->emit == GT_EMIT_ALL || config->emit == GT_EMIT_LATENCY;

	return !config->translate && !config->is_timed && !(config->shared && (passes || config->replacement.policy->looks_ahead));
}

static int check_constant(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->constant.size == 0)
		return 0;
	if (!gt_level_can_have_constants(config))
		return gt_fail(error, "constant is for a data cache that is not timed and, if it is shared, neither passes on what hits nor looks "
				      "ahead: expected constant none");
	if (config->shared && config->constant.line > GT_CONSTANT_LINE_MAX)
		return gt_fail(error, "constant has lines of %" PRIu64 " bytes: expected %d at most before a shared level", config->constant.line,
			       GT_CONSTANT_LINE_MAX);
	return 0;
}

static int check_launch_reads(const struct gt_level_config *config, struct gt_error *error)
{
	if (gt_launch_reads_any(&config->launch_reads) && (!config->shared || config->translate))
		return gt_fail(error, "launch-reads is for a shared data cache: a launch's code and constants come from the L2");
	return 0;
}

/* A copy is of sectors of one line, and a request for one line. */
static int check_spread(const struct gt_level_config *config, struct gt_error *error)
{
	const struct gt_spread *spread = &config->spread;

	if ((spread->sm || spread->slice || spread->partitions) && (!config->shared || config->translate))
		return gt_fail(error, "spread is of a shared data cache: expected spread none");
	if (config->l2_partitions && config->replacement.policy->looks_ahead)
		return gt_fail(error, "replace %s looks ahead: expected spread without far", config->replacement.policy->name);
	if (config->l2_partitions && config->pairs)
		return gt_fail(error, "read-misses pair: a load looks into two halves with spread far: expected read-misses all, or spread without far");
	if (config->l2_partitions && (config->line != GT_LINE || config->sector != GT_SECTOR))
		return gt_fail(error, "spread far: two halves hold lines of %d bytes in sectors of %d: expected these, or spread without far", GT_LINE,
			       GT_SECTOR);
	return 0;
}

static int check_dirty(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->dirty_ways < GT_LEVEL_SLOTS_MAX && (config->write != GT_WRITE_BACK || config->translate))
		return gt_fail(error, "dirty-ways is of a data cache with write back, others have no dirty lines: expected dirty-ways all");
	return 0;
}

bool gt_level_can_find_dirty(const struct gt_level_config *config)
{
	bool data = config->shared && !config->translate && !config->absent && !config->is_timed;

	return data && config->write == GT_WRITE_BACK && config->allocate && config->flush == GT_FLUSH_BETWEEN &&
	       (config->bypass == GT_BYPASS_NONE || config->bypass == GT_BYPASS_READS);
}

static int check_found(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->found_dirty > 0 && !gt_level_can_find_dirty(config))
		return gt_fail(error, "found-dirty is of a shared data cache with write back and flush between, in the functional model");
	return 0;
}

static int check_combine(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->combining.lines > 0 && (config->shared || config->translate || config->is_timed || config->write == GT_WRITE_BACK))
		return gt_fail(error, "combine is for a private data cache with write through or evict that is not timed: expected combine none");
	return 0;
}

static int check_warm(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->warm != GT_WARM_NONE && (!config->shared || config->translate || config->replacement.policy->looks_ahead))
		return gt_fail(error, "warm is for a shared data cache whose policy does not look ahead");
	return 0;
}

static int check_causes(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->causes && config->is_timed)
		return gt_fail(error, "causes is for the functional model: leave out timing options");
	if (config->causes && config->translate)
		return gt_fail(error, "causes is for data caches: a TLB has pages");
	return 0;
}

static const struct gt_rule rules[] = {
	{0, check_causes},
	{GT_OF(GT_LEVEL_LINE) | GT_OF(GT_LEVEL_SECTOR), check_sector},
	{GT_OF(GT_LEVEL_FETCH) | GT_OF(GT_LEVEL_LINE) | GT_OF(GT_LEVEL_SECTOR), check_fetch},
	{GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE), check_size},
	{GT_OF(GT_LEVEL_INDEX) | GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE), check_index},
	{GT_OF(GT_LEVEL_INTERLEAVE) | GT_OF(GT_LEVEL_PARTITIONS) | GT_OF(GT_LEVEL_BANKS) | GT_OF(GT_LEVEL_INDEX) | GT_OF(GT_LEVEL_SIZE) |
		 GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE), check_interleave},
	{GT_OF(GT_LEVEL_REPLACE) | GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE), check_replace},
	{GT_OF(GT_LEVEL_ARRIVAL) | GT_OF(GT_LEVEL_SCOPE), check_arrival},
	{GT_OF(GT_LEVEL_REPLACE) | GT_OF(GT_LEVEL_FLUSH), check_ahead},
	{GT_OF(GT_LEVEL_EMIT) | GT_OF(GT_LEVEL_BYPASS) | GT_OF(GT_LEVEL_HIT_CYCLES) | GT_OF(GT_LEVEL_MISS_CYCLES), check_cycles},
	{GT_OF(GT_LEVEL_WARM) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_REPLACE), check_warm},
	{GT_OF(GT_LEVEL_COALESCER) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_EMIT) | GT_OF(GT_LEVEL_REPLACE), check_coalescer},
	{GT_OF(GT_LEVEL_CONSTANT) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_EMIT) | GT_OF(GT_LEVEL_REPLACE), check_constant},
	{GT_OF(GT_LEVEL_LAUNCH_READS) | GT_OF(GT_LEVEL_SCOPE), check_launch_reads},
	{GT_OF(GT_LEVEL_SPREAD) | GT_OF(GT_LEVEL_READ_MISSES) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_REPLACE) | GT_OF(GT_LEVEL_LINE) | GT_OF(GT_LEVEL_SECTOR), check_spread},
	{GT_OF(GT_LEVEL_DIRTY_WAYS) | GT_OF(GT_LEVEL_WRITE), check_dirty},
	{GT_OF(GT_LEVEL_FOUND_DIRTY) | GT_OF(GT_LEVEL_FLUSH) | GT_OF(GT_LEVEL_WRITE) | GT_OF(GT_LEVEL_SCOPE), check_found},
	{GT_OF(GT_LEVEL_COMBINE) | GT_OF(GT_LEVEL_WRITE) | GT_OF(GT_LEVEL_SCOPE), check_combine},
};

/* Checks each of n rules whose parameters are all in `known`. */
static int check_rules(const struct gt_rule *table, size_t n, const struct gt_level_config *config, uint64_t known,
		       struct gt_error *error)
{
	/* Listed sets replace size and ways. */
	if (config->sets_listed > 0 && known & GT_OF(GT_LEVEL_SETS))
		known |= GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS);
	for (size_t i = 0; i < n; i++)
		if ((table[i].looks_at & ~known) == 0 && table[i].check(config, error) != 0)
			return -1;
	return 0;
}

uint32_t gt_level_sets(const struct gt_level_config *config, uint32_t *ways)
{
	if (config->sets_listed == 0) {
		uint64_t lines = config->size / config->line;
		*ways = (uint32_t)(config->ways ? config->ways : lines / config->divided);
		return (uint32_t)(lines / *ways);
	}
	*ways = config->set_ways[0];
	for (uint32_t set = 1; set < config->sets_listed; set++)
		if (config->set_ways[set] != config->set_ways[0])
			*ways = 0;
	return config->sets_listed;
}

static int check_kind(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->translate)
		return gt_fail(error, "a TLB has no timed model: leave out timing options");
	return 0;
}

static int check_order(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->arrival != GT_ARRIVAL_STEP)
		return gt_fail(error, "the timed model takes requests by their step, not by arrival rr or travel");
	return 0;
}

static int check_lookahead(const struct gt_level_config *config, struct gt_error *error)
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

static int check_spread_timed(const struct gt_level_config *config, struct gt_error *error)
{
	if (config->l2_partitions)
		return gt_fail(error, "spread far is for the functional model: leave out timing options");
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
	if (config->by != GT_BY_NONE)
		return gt_fail(error, "by %s is for the functional model: leave out timing options", config->by == GT_BY_PC ? "pc" : "site");
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
	{GT_OF(GT_LEVEL_REPLACE), check_lookahead},
	{GT_OF(GT_LEVEL_WARM), check_warm_timed},
	{GT_OF(GT_LEVEL_SPREAD), check_spread_timed},
	{GT_OF(GT_LEVEL_DIRTY_WAYS), check_dirty_timed},
	{GT_OF(GT_LEVEL_PARTITIONS) | GT_OF(GT_LEVEL_BANKS), check_bank_count},
	{GT_OF(GT_LEVEL_SIZE) | GT_OF(GT_LEVEL_WAYS) | GT_OF(GT_LEVEL_LINE) | GT_OF(GT_LEVEL_PARTITIONS) | GT_OF(GT_LEVEL_BANKS), check_banks},
	{GT_OF(GT_LEVEL_MSHR) | GT_OF(GT_LEVEL_PARTITIONS), check_mshr},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_SCOPE), check_requeue},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_UNIT), check_unit},
	{GT_OF(GT_LEVEL_UNIT) | GT_OF(GT_LEVEL_PORTS), check_unit_ports},
	{GT_OF(GT_LEVEL_UNIT) | GT_OF(GT_LEVEL_MERGES), check_unit_merges},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_CLIP), check_clip},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_FILL), check_fill},
	{GT_OF(GT_LEVEL_ON_FULL) | GT_OF(GT_LEVEL_SCOPE) | GT_OF(GT_LEVEL_ISSUE), check_issue},
};

int gt_level_check(const struct gt_level_config *config, uint64_t known, struct gt_error *error)
{
	if (check_rules(rules, sizeof rules / sizeof rules[0], config, known, error) != 0)
		return -1;
	return config->is_timed ? check_rules(timed_rules, sizeof timed_rules / sizeof timed_rules[0], config, known, error) : 0;
}
