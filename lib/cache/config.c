/* SPDX-License-Identifier: MIT */
#include "cache/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "stream/rows.h"

#define TIMED_MAX (1U << 20) /* of what the timed model counts */
#define AUTO_SCHEDULERS 0
#define AUTO_DELAY (-1)
#define BYTES_MAX (UINT64_C(1) << 48)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* One of a few words; *value is its place. */
static int parse_word(const char *text, const char *const *words, size_t n, int *value, struct gt_error *error)
{
	char list[128] = "";

	for (size_t i = 0; i < n; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = (int)i;
			return 0;
		}
		size_t length = strlen(list);
		snprintf(list + length, sizeof list - length, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", words[i]);
	}
	return gt_fail(error, "'%s': expected %s", text, list);
}

/* The parser of a field that is one of a few words. */
#define WORDS(FUNCTION, FIELD, TYPE, ...)                                                         \
	static int FUNCTION(struct gt_level_config *config, const char *text, struct gt_error *error) \
	{                                                                                          \
		static const char *const words[] = {__VA_ARGS__};                                  \
		int value = 0;                                                                     \
		if (parse_word(text, words, LENGTH(words), &value, error) != 0)                    \
			return -1;                                                                 \
		config->FIELD = (TYPE)value;                                                       \
		return 0;                                                                          \
	}

WORDS(parse_scope, shared, bool, "private", "shared")
WORDS(parse_write, write, enum gt_write, "back", "through", "evict")
WORDS(parse_allocate, allocate, bool, "no", "yes")
WORDS(parse_partial, partial, enum gt_partial, "keep", "read", "fetch")
WORDS(parse_bypass, bypass, enum gt_bypass, "none", "writes", "reads", "all")
WORDS(parse_operators, operators, bool, "no", "yes")
WORDS(parse_emit, emit, enum gt_emit, "misses", "all", "none", "latency")
WORDS(parse_flush, flush, enum gt_flush, "kernel", "never")
WORDS(parse_write_hits, tag_hits, bool, "sector", "tag")
WORDS(parse_warm, warm, enum gt_warm, "none", "copies", "allocations")
WORDS(parse_arrival, arrival, enum gt_arrival, "step", "rr")
WORDS(parse_on_full, timed.on_full, enum gt_on_full, "stall", "requeue")
WORDS(parse_issue, timed.issue, enum gt_own_issue, "auto", "schedule", "rr", "gto", "fifo-pool")
WORDS(parse_clip, timed.clip, bool, "no", "yes")

/* "none": there is no such level. */
static int parse_size(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->absent = strcmp(text, "none") == 0;
	if (config->absent)
		return 0;
	return gt_parse_size(text, GT_SECTOR, BYTES_MAX, &config->size, error);
}

static int parse_ways(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->ways = 0;
	config->divided = 1;
	if (strcmp(text, "full") == 0 ||
	    (strncmp(text, "full/", 5) == 0 && gt_parse_count(text + 5, 1, GT_LEVEL_SLOTS_MAX, &config->divided, error) == 0) ||
	    gt_parse_count(text, 1, GT_LEVEL_SLOTS_MAX, &config->ways, error) == 0)
		return 0;
	return gt_fail(error, "'%s': expected a number of ways from 1 to %u, full, or full/SETS", text, GT_LEVEL_SLOTS_MAX);
}

static int parse_power(const char *text, uint64_t *value, struct gt_error *error)
{
	uint64_t size;

	if (gt_parse_size(text, 1, BYTES_MAX, &size, error) != 0)
		return -1;
	if (size < GT_SECTOR || size > UINT64_C(1) << 30 || (size & (size - 1)) != 0)
		return gt_fail(error, "'%s': expected a power of two from 32 to 1G", text);
	*value = size;
	return 0;
}

static int parse_line(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return parse_power(text, &config->line, error);
}

/* "line" makes a sector of the whole line. */
static int parse_sector(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->sector = 0;
	return strcmp(text, "line") == 0 ? 0 : parse_power(text, &config->sector, error);
}

static int parse_fetch(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->fetch = 0;
	return strcmp(text, "sector") == 0 ? 0 : parse_power(text, &config->fetch, error);
}

/* "17,8x6": a set of 17 ways, then six of 8. "none" leaves it to size and ways. */
static int parse_sets(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	const char *at = text;
	uint64_t slots = 0;

	config->sets_listed = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	do {
		char item[32], *times;
		uint64_t ways, repeat = 1;
		size_t length = strcspn(at, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
		if ((times = strchr(item, 'x')) != NULL)
			*times++ = '\0';
		if (length >= sizeof item || gt_parse_count(item, 1, GT_LEVEL_SLOTS_MAX, &ways, error) != 0 ||
		    (times && gt_parse_count(times, 1, GT_LEVEL_SETS_MAX, &repeat, error) != 0) ||
		    config->sets_listed + repeat > GT_LEVEL_SETS_MAX || (slots += ways * repeat) > GT_LEVEL_SLOTS_MAX)
			return gt_fail(error, "'%s': expected the ways of each set, such as 17,8x6 (at most %u sets, %u lines)",
				       text, GT_LEVEL_SETS_MAX, GT_LEVEL_SLOTS_MAX);
		while (repeat-- > 0)
			config->set_ways[config->sets_listed++] = (uint32_t)ways;
		at += length;
	} while (*at++ == ',');
	return 0;
}

static int parse_index(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_index_parse(text, &config->index, &config->index_argument, error);
}

static int parse_interleave(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_interleave_parse(text, &config->interleave, error);
}

static int parse_seed(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_parse_count(text, 0, UINT64_MAX, &config->replacement.seed, error);
}

static int parse_replace(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_replacement_parse(text, &config->replacement, error);
}

/* A number from min, or "unlimited" where that makes sense. */
static int parse_limit(const char *text, uint64_t min, bool open, uint32_t *value, struct gt_error *error)
{
	uint64_t number;

	*value = GT_UNLIMITED;
	if (open && strcmp(text, "unlimited") == 0)
		return 0;
	if (gt_parse_count(text, min, TIMED_MAX, &number, error) != 0)
		return gt_fail(error, "'%.100s': expected a number from %" PRIu64 " to %u%s", text, min, TIMED_MAX,
			       open ? ", or unlimited" : "");
	*value = (uint32_t)number;
	return 0;
}

/* The parser of a field that is a number. */
#define LIMIT(FUNCTION, FIELD, MIN, OPEN)                                                          \
	static int FUNCTION(struct gt_level_config *config, const char *text, struct gt_error *error) \
	{                                                                                          \
		return parse_limit(text, MIN, OPEN, &config->timed.FIELD, error);                  \
	}

LIMIT(parse_partitions, partitions, 1, false)
LIMIT(parse_banks, banks, 1, false)
LIMIT(parse_ports, ports, 1, true)
LIMIT(parse_merges, merges, 0, true)
LIMIT(parse_per_warp, per_warp, 1, true)
LIMIT(parse_hit_latency, hit_latency, 0, false)

/* "4x32": four sets of 32. */
static int parse_mshr(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	const char *times = strchr(text, 'x');
	uint64_t sets, entries;
	char head[32];

	config->timed.mshr_sets = 1;
	config->timed.mshr_entries = GT_UNLIMITED;
	if (strcmp(text, "unlimited") == 0)
		return 0;
	snprintf(head, sizeof head, "%.*s", times ? (int)(times - text < 31 ? times - text : 31) : 0, text);
	if (!times || times - text > 31 || gt_parse_count(head, 1, GT_BANKS_MAX, &sets, error) != 0 ||
	    gt_parse_count(times + 1, 1, TIMED_MAX, &entries, error) != 0)
		return gt_fail(error, "'%.100s': expected SETSxENTRIES, such as 4x32, of at most %u sets of %u, or unlimited",
			       text, GT_BANKS_MAX, TIMED_MAX);
	config->timed.mshr_sets = (uint32_t)sets;
	config->timed.mshr_entries = (uint32_t)entries;
	return 0;
}

static int parse_latency(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_latency_parse(text, &config->timed.latency, error);
}

static int parse_hit_cycles(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_cycles_parse(text, &config->hit_cycles, error);
}

static int parse_miss_cycles(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	return gt_cycles_parse(text, &config->miss_cycles, error);
}

/* "auto": of the mode, or of the GPU. */
static int parse_schedulers(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->timed.schedulers = AUTO_SCHEDULERS;
	return strcmp(text, "auto") == 0 ? 0 : parse_limit(text, 1, false, &config->timed.schedulers, error);
}

static int parse_delay(struct gt_level_config *config, const char *text, struct gt_error *error)
{
	config->timed.delay = AUTO_DELAY;
	return strcmp(text, "auto") == 0 ? 0 : gt_parse_real(text, 0, 1024, &config->timed.delay, error);
}

const struct gt_parameter gt_parameters[GT_PARAMETERS] = {
	[GT_LEVEL_SCOPE] = {"scope", "private|shared", "shared", parse_scope},
	[GT_LEVEL_SIZE] = {"size", "BYTES|none", "32K", parse_size},
	[GT_LEVEL_WAYS] = {"ways", "N|full[/SETS]", "4", parse_ways},
	[GT_LEVEL_LINE] = {"line", "BYTES", "128", parse_line},
	[GT_LEVEL_SECTOR] = {"sector", "BYTES|line", "32", parse_sector},
	[GT_LEVEL_SETS] = {"sets", "WAYS[xN],...", "none", parse_sets},
	[GT_LEVEL_INDEX] = {"index", "FUNCTION", "mod", parse_index},
	/* Before GT_LEVEL_REPLACE's turn, whose text may hold a seed of its own. */
	[GT_LEVEL_SEED] = {"seed", "N", "1", parse_seed},
	[GT_LEVEL_REPLACE] = {"replace", "POLICY", "lru", parse_replace},
	[GT_LEVEL_WRITE] = {"write", "back|through|evict", "back", parse_write},
	[GT_LEVEL_ALLOCATE] = {"allocate", "yes|no", "yes", parse_allocate},
	[GT_LEVEL_PARTIAL] = {"partial", "keep|read|fetch", "keep", parse_partial},
	[GT_LEVEL_FETCH] = {"fetch", "BYTES|sector", "sector", parse_fetch},
	[GT_LEVEL_BYPASS] = {"bypass", "none|writes|reads|all", "none", parse_bypass},
	[GT_LEVEL_OPERATORS] = {"operators", "yes|no", "yes", parse_operators},
	[GT_LEVEL_EMIT] = {"emit", "misses|all|none|latency", "misses", parse_emit},
	[GT_LEVEL_FLUSH] = {"flush", "kernel|never", "kernel", parse_flush},
	[GT_LEVEL_ARRIVAL] = {"arrival", "step|rr", "step", parse_arrival},
	[GT_LEVEL_HIT_CYCLES] = {"hit-cycles", "CYCLES[,FROM:CYCLES]...", "unknown", parse_hit_cycles},
	[GT_LEVEL_MISS_CYCLES] = {"miss-cycles", "CYCLES[,FROM:CYCLES]...", "unknown", parse_miss_cycles},
	[GT_LEVEL_INTERLEAVE] = {"interleave", "SCHEME[:BYTES]", "set", parse_interleave},
	[GT_LEVEL_WRITE_HITS] = {"write-hits", "sector|tag", "sector", parse_write_hits},
	[GT_LEVEL_WARM] = {"warm", "none|copies|allocations", "none", parse_warm},
	[GT_LEVEL_PARTITIONS] = {"partitions", "N", "1", parse_partitions},
	[GT_LEVEL_BANKS] = {"banks", "N", "1", parse_banks},
	[GT_LEVEL_PORTS] = {"ports", "N|unlimited", "unlimited", parse_ports},
	[GT_LEVEL_MSHR] = {"mshr", "SETSxENTRIES|unlimited", "unlimited", parse_mshr},
	[GT_LEVEL_MERGES] = {"merges", "N|unlimited", "unlimited", parse_merges},
	[GT_LEVEL_PER_WARP] = {"per-warp-mshr", "N|unlimited", "unlimited", parse_per_warp},
	[GT_LEVEL_LATENCY] = {"latency", "MODEL", "fixed:1", parse_latency},
	[GT_LEVEL_HIT_LATENCY] = {"hit-latency", "N", "0", parse_hit_latency},
	[GT_LEVEL_ON_FULL] = {"on-full", "stall|requeue", "stall", parse_on_full},
	[GT_LEVEL_ISSUE] = {"issue", "auto|schedule|rr|gto|fifo-pool", "auto", parse_issue},
	[GT_LEVEL_SCHEDULERS] = {"schedulers", "N|auto", "auto", parse_schedulers},
	[GT_LEVEL_CLIP] = {"clip", "yes|no", "yes", parse_clip},
	[GT_LEVEL_DELAY] = {"delay", "FACTOR|auto", "auto", parse_delay},
};

const struct gt_role gt_roles[] = {
	{"l1", "a data cache in each SM", "l1", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	{"l2", "the data cache that all SMs share", "l2", false, false, {[GT_LEVEL_SIZE] = "2M", [GT_LEVEL_WAYS] = "16"}},
	/* [001] table 4 and figure 12. */
	{"texture", "a texture L1 in each SM [001]", "texture", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "12K", [GT_LEVEL_WAYS] = "96", [GT_LEVEL_LINE] = "32", [GT_LEVEL_INDEX] = "texture",
	  [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	{"readonly", "a read-only data cache in each SM", "readonly", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "48K", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	/* [001] 4.2: on Kepler page entries of 512 MB are active at a time. */
	{"window", "the page entries that are active at a time [001]", "window", true, true,
	 {[GT_LEVEL_SIZE] = "512M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "512M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	/* [001] 4.2: 16 entries of 2 MB, fully associative, outside the SMs. */
	{"tlb", "a translation buffer of that name", NULL, true, false,
	 {[GT_LEVEL_SIZE] = "32M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "2M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	{"name", "a level of that name", NULL, false, false, {0}},
};
const size_t gt_roles_n = LENGTH(gt_roles);

int gt_level_name(struct gt_level_settings *settings, const char *name, struct gt_error *error)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

	if (name[0] < 'a' || name[0] > 'z' || name[strspn(name, accepted)] != '\0' ||
	    strlen(name) >= sizeof settings->name)
		return gt_fail(error, "'%s': expected a name of lower-case letters, digits and _", name);
	snprintf(settings->name, sizeof settings->name, "%s", name);
	return 0;
}

bool gt_level_timed(const struct gt_level_settings *settings)
{
	for (int id = GT_LEVEL_PARTITIONS; id < GT_PARAMETERS; id++)
		if (settings->option[id])
			return true;
	return false;
}

int gt_level_set(struct gt_level_settings *settings, enum gt_parameter_id id, const char *text,
		 struct gt_error *error)
{
	struct gt_level_config scratch = {0};

	settings->option[id] = text;
	return gt_parameters[id].parse(&scratch, text, error);
}

/* The ways of listed sets and size and ways say the same thing: an option wins over the other
 * key of the description. */
static bool outranked(const struct gt_level_settings *settings, enum gt_parameter_id id)
{
	return id == GT_LEVEL_SETS && (settings->option[GT_LEVEL_SIZE] || settings->option[GT_LEVEL_WAYS]);
}

const char *gt_level_text(const struct gt_level_settings *settings, enum gt_parameter_id id,
			  const struct gt_gpu *gpu, const struct gt_kernel *kernel, char *buffer)
{
	char key[2 * GT_COUNT_NAME];

	if (settings->option[id])
		return settings->option[id];
	if (id == GT_LEVEL_SIZE && kernel && kernel->l1_bytes > 0 && strcmp(settings->name, "l1") == 0) {
		snprintf(buffer, 32, "%" PRIu64, kernel->l1_bytes);
		return buffer;
	}
	snprintf(key, sizeof key, "%s.%s", settings->name, gt_parameters[id].name);
	for (char *at = strchr(key, '-'); at; at = strchr(at, '-')) /* --hit-cycles is LEVEL.hit_cycles */
		*at = '_';
	const char *text = outranked(settings, id) ? NULL : gt_gpu_get(gpu, key);
	if (!text)
		text = settings->role->values[id];
	return text ? text : gt_parameters[id].otherwise;
}

/* A level that is not there is one that all requests bypass; its shape must make sense, and is not told. */
static int resolve_absent(const struct gt_level_settings *settings, struct gt_level_config *config,
			  struct gt_error *error)
{
	const char *size = settings->role->values[GT_LEVEL_SIZE];

	if (config->translate)
		return gt_fail(error, "%s.size: none: expected the size of a TLB; one that is absent is left out of the pipe",
			       settings->name);
	config->bypass = GT_BYPASS_ALL;
	return gt_parse_size(size ? size : gt_parameters[GT_LEVEL_SIZE].otherwise, GT_SECTOR, BYTES_MAX, &config->size,
			     error);
}

/* The banks of the L2 that a private level sends to. */
static int resolve_below(const struct gt_gpu *gpu, struct gt_level_config *config, struct gt_error *error)
{
	uint64_t partitions, banks;

	if (gt_gpu_count(gpu, "l2.partitions", 1, &partitions, error) != 0 ||
	    gt_gpu_count(gpu, "l2.banks", 1, &banks, error) != 0)
		return -1;
	if (config->shared) {
		partitions = config->timed.partitions;
		banks = config->timed.banks;
	}
	config->timed.below = (uint32_t)(partitions * banks < GT_BANKS_MAX ? partitions * banks : GT_BANKS_MAX);
	return 0;
}

/* What "auto" means: the models as their papers have them. In [000] accesses issue together for all
 * schedulers of an SM, and no warp waits for its data; in [002] one request is served in a step, and
 * a warp waits for all of its access. */
static int resolve_issue(const struct gt_gpu *gpu, struct gt_timed_config *timed, struct gt_error *error)
{
	bool requeue = timed->on_full == GT_FULL_REQUEUE;
	uint64_t schedulers = 1;

	if (timed->issue == GT_OWN_AUTO)
		timed->issue = requeue ? GT_OWN_FIFO_POOL : GT_OWN_SCHEDULE;
	if (timed->issue == GT_OWN_SCHEDULE && (timed->delay >= 0 || timed->schedulers != AUTO_SCHEDULERS))
		return gt_fail(error, "delay and schedulers are of warps that the level issues itself: expected issue rr, gto or fifo-pool with them");
	if (timed->delay < 0)
		timed->delay = requeue ? 1 : 0;
	if (timed->schedulers != AUTO_SCHEDULERS)
		return 0;
	if (!requeue && gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	timed->schedulers = (uint32_t)(schedulers < TIMED_MAX ? schedulers : TIMED_MAX);
	return 0;
}

int gt_level_resolve(const struct gt_level_settings *settings, const struct gt_gpu *gpu,
		     const struct gt_kernel *kernel, struct gt_level_config *config, struct gt_error *error)
{
	memset(config, 0, sizeof *config);
	config->translate = settings->role->translate;
	config->activated = settings->role->activated;
	config->memory = settings->memory ? settings->memory : GT_LEVEL_MEMORY;
	config->directory = settings->directory ? settings->directory : "/tmp";
	for (int id = 0; id < GT_PARAMETERS; id++) {
		char buffer[32];
		const char *text = gt_level_text(settings, (enum gt_parameter_id)id, gpu, kernel, buffer);
		if (gt_parameters[id].parse(config, text, error) != 0) {
			struct gt_error why = *error;
			return gt_fail(error, "%s.%s in the GPU description: %s", settings->name,
				       gt_parameters[id].name, why.text);
		}
	}
	if (resolve_below(gpu, config, error) != 0 || resolve_issue(gpu, &config->timed, error) != 0)
		return -1;
	if (config->absent && resolve_absent(settings, config, error) != 0)
		return -1;
	if (config->sector == 0 || config->translate)
		config->sector = config->line;
	if (config->fetch == 0)
		config->fetch = config->sector;
	/* In time, requests arrive when they are sent: what a description says is for the functional model. */
	if (gt_level_timed(settings) && !settings->option[GT_LEVEL_ARRIVAL])
		config->arrival = GT_ARRIVAL_STEP;
	return 0;
}
