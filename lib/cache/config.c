/* SPDX-License-Identifier: MIT */
/* The configuration of a level: what --help says of its parameters, where the value of each goes, and which source decides it. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "base/random.h"
#include "base/scan.h"
#include "cache/config.h"
#include "stream/rows.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* ---- help ---- */

void gt_parameter_help(enum gt_parameter_id id, char option[GT_OPTION_HELP], char text[GT_LEVEL_HELP])
{
	const struct gt_parameter *parameter = &gt_parameters[id];
	const char *separator = "; ";

	snprintf(option, GT_OPTION_HELP, "--%s %s", parameter->name, parameter->type.form);
	size_t used = (size_t)snprintf(text, GT_LEVEL_HELP, "%s%s%s [%s", parameter->help, parameter->choices ? ": " : "",
				       parameter->choices ? parameter->choices : "", parameter->otherwise);
	for (size_t i = 0; i < gt_roles_n && used < GT_LEVEL_HELP; i++) {
		const char *value = gt_roles[i].values[id];
		if (!value || strcmp(value, parameter->otherwise) == 0)
			continue;
		used += (size_t)snprintf(text + used, GT_LEVEL_HELP - used, "%s%s %s", separator, gt_roles[i].option, value);
		separator = ", ";
	}
	if (used < GT_LEVEL_HELP)
		snprintf(text + used, GT_LEVEL_HELP - used, "]");
}

void gt_role_help(const struct gt_role *role, char option[GT_OPTION_HELP])
{
	snprintf(option, GT_OPTION_HELP, "--%s%s", role->option, role->name ? "" : " NAME");
}

/* The first step has no FROM, as it is from 0. */
static bool parse_step(const char **at, struct gt_cycles *cycles)
{
	uint64_t from = 0, added, last = cycles->n > 0 ? cycles->step[cycles->n - 1].from : 0;
	bool first = cycles->n == 0;

	if (cycles->n == GT_CYCLES_STEPS)
		return false;
	if (!first && !(gt_scan_upto(at, UINT32_MAX, &from) && gt_scan_char(at, ':') && from > last))
		return false;
	if (!gt_scan_upto(at, UINT32_MAX, &added))
		return false;
	cycles->step[cycles->n].from = (uint32_t)from;
	cycles->step[cycles->n++].added = (uint32_t)added;
	return true;
}

int gt_cycles_parse(const char *text, struct gt_cycles *cycles, struct gt_error *error)
{
	const char *at = text;
	bool good;

	*cycles = (struct gt_cycles){0};
	if (strcmp(text, "unknown") == 0)
		return 0;
	do
		good = parse_step(&at, cycles);
	while (good && gt_scan_char(&at, ','));
	if (!good || *at != '\0')
		return gt_fail(error, "'%.60s': expected cycles, then FROM:CYCLES with rising FROM, such as 84 or 84,666:579",
			       text);
	return 0;
}

/* ---- the latency of a miss ---- */

/* Reads n real numbers separated by commas. */
static int parse_reals(const char *text, double *const *values, size_t n, struct gt_error *error)
{
	char item[32];

	for (size_t i = 0; i < n; i++) {
		size_t length = strcspn(text, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), text);
		if (length >= sizeof item || (text[length] == ',') != (i + 1 < n) ||
		    gt_parse_real(item, 0, GT_LATENCY_MAX, values[i], error) != 0)
			return -1;
		text += length + (i + 1 < n);
	}
	return 0;
}

static int parse_fixed(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	uint64_t steps;

	if (gt_parse_count(text, 0, GT_LATENCY_MAX, &steps, error) != 0)
		return -1;
	latency->first = (double)steps;
	return 0;
}

static int parse_adaptive(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	return parse_reals(text, (double *const[]){&latency->first, &latency->second}, 2, error);
}

/* MIN,SIGMA,SEED */
static int parse_half_normal(struct gt_latency *latency, const char *text, struct gt_error *error)
{
	const char *comma = strrchr(text, ',');
	char head[80];

	if (!comma || (size_t)(comma - text) >= sizeof head)
		return -1;
	snprintf(head, sizeof head, "%.*s", (int)(comma - text), text);
	if (gt_parse_count(comma + 1, 0, UINT64_MAX, &latency->seed, error) != 0)
		return -1;
	return parse_reals(head, (double *const[]){&latency->first, &latency->second}, 2, error);
}

static uint64_t whole_steps(double steps)
{
	return steps < GT_LATENCY_MAX ? (uint64_t)(steps + 0.5) : GT_LATENCY_MAX;
}

static uint64_t fixed_steps(const struct gt_latency *latency, const struct gt_level_traffic *traffic, uint64_t *random)
{
	(void)traffic, (void)random;
	return (uint64_t)latency->first;
}

/* [000] 4.4.1: K1 + K2 * busy MSHRs * active SMs / parallelism of the level below. */
static uint64_t adaptive_steps(const struct gt_latency *latency, const struct gt_level_traffic *traffic, uint64_t *random)
{
	(void)random;
	double load = (double)traffic->busy * (double)traffic->active / (double)traffic->parallelism;
	return whole_steps(latency->first + latency->second * load);
}

/* In (0, 1]. */
static double uniform(uint64_t *random)
{
	return (double)((gt_random(random) >> 11) + 1) * 0x1p-53;
}

/* [002] 4.2: the minimum plus the magnitude of a normal deviate, by the method of Box and Muller. */
static uint64_t half_normal_steps(const struct gt_latency *latency, const struct gt_level_traffic *traffic, uint64_t *random)
{
	double radius = sqrt(-2 * log(uniform(random))), angle = 6.283185307179586 * uniform(random);

	(void)traffic;
	return whole_steps(latency->first + latency->second * fabs(radius * cos(angle)));
}

static const struct gt_latency_model models[] = {
	{"fixed", parse_fixed, fixed_steps},
	{"adaptive", parse_adaptive, adaptive_steps},
	{"half-normal", parse_half_normal, half_normal_steps},
};

/* Reads "NAME:ARGUMENTS". Returns 0, or -1 with what is accepted. */
static int latency_parse(const char *text, struct gt_latency *latency, struct gt_error *error)
{
	for (size_t i = 0; i < LENGTH(models); i++) {
		size_t length = strlen(models[i].name);
		if (strncmp(text, models[i].name, length) != 0 || text[length] != ':')
			continue;
		latency->model = &models[i];
		if (models[i].parse(latency, text + length + 1, error) == 0)
			return 0;
	}
	return gt_fail(error, "'%.100s': expected fixed:N, adaptive:K1,K2 or half-normal:MIN,SIGMA,SEED, of at most %u steps",
		       text, GT_LATENCY_MAX);
}

/* ---- where the value of a parameter goes ---- */

/* In the place of a number until gt_level_resolve decides it. */
#define GT_AUTO_SCHEDULERS 0
#define GT_AUTO_DELAY (-1)

static int take_size(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->absent = value->word;
	if (!value->word)
		config->size = value->number;
	return 0;
}

static int take_ways(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->ways = value->word ? 0 : value->number;
	config->divided = value->word ? value->number : 1;
	return 0;
}

/* "17,8x6": a set of 17 ways, then six of 8. "none": size and ways decide. */
static int take_sets(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *at = text;
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

static int take_index(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_index_parse(value->text, &config->index, &config->index_argument, error);
}

static int take_interleave(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_interleave_parse(value->text, &config->interleave, error);
}

static int take_replace(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_replacement_parse(value->text, &config->replacement, error);
}

/* "4x32": four sets of 32. */
static int take_mshr(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *times = strchr(text, 'x');
	uint64_t sets, entries;
	char head[32];

	config->timed.mshr_sets = 1;
	config->timed.mshr_entries = GT_UNLIMITED;
	if (strcmp(text, "unlimited") == 0)
		return 0;
	snprintf(head, sizeof head, "%.*s", times ? (int)(times - text < 31 ? times - text : 31) : 0, text);
	if (!times || times - text > 31 || gt_parse_count(head, 1, GT_BANKS_MAX, &sets, error) != 0 ||
	    gt_parse_count(times + 1, 1, GT_TIMED_MAX, &entries, error) != 0)
		return gt_fail(error, "'%.100s': expected SETSxENTRIES, such as 4x32, of at most %u sets of %u, or unlimited",
			       text, GT_BANKS_MAX, GT_TIMED_MAX);
	config->timed.mshr_sets = (uint32_t)sets;
	config->timed.mshr_entries = (uint32_t)entries;
	return 0;
}

static int take_latency(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	struct gt_latency *latency = &config->timed.latency;

	if (latency_parse(value->text, latency, error) != 0)
		return -1;
	config->timed.instant = latency->model->steps == fixed_steps && latency->first == 0;
	return 0;
}

#define PART_MAX (UINT64_C(1) << 20) /* bytes, and sectors */
#define PARTS_MAX 4

/* "A,B,C": so many sizes. Returns 0, or -1, having changed none. */
static int parse_parts(const char *text, uint64_t *const numbers[], int n)
{
	struct gt_error ignored;
	uint64_t read[PARTS_MAX];

	for (int i = 0; i < n; i++) {
		char part[32];
		size_t length = strcspn(text, ",");
		snprintf(part, sizeof part, "%.*s", (int)(length < sizeof part ? length : sizeof part - 1), text);
		if (length >= sizeof part || gt_parse_size(part, 0, PART_MAX, &read[i], &ignored) != 0 ||
		    text[length] != (i < n - 1 ? ',' : '\0'))
			return -1;
		text += length + 1;
	}
	for (int i = 0; i < n; i++)
		*numbers[i] = read[i];
	return 0;
}

/* "CODE,READS,BYTES[,MEMORY]" or "none"; the GPCs are left as they are. */
static int parse_launch_reads(const char *text, struct gt_launch_reads *reads, struct gt_error *error)
{
	uint64_t *const numbers[] = {&reads->code, &reads->reads, &reads->bytes, &reads->memory};

	reads->code = reads->reads = reads->bytes = 0;
	reads->memory = UINT64_MAX;
	if (strcmp(text, "none") == 0)
		return 0;
	if (parse_parts(text, numbers, LENGTH(numbers)) != 0 && parse_parts(text, numbers, LENGTH(numbers) - 1) != 0)
		return gt_fail(error, "'%.100s': expected CODE,READS,BYTES[,MEMORY] of at most 1M each, such as 512,13,416, or none", text);
	if (reads->code % GT_SECTOR != 0 || reads->bytes % GT_SECTOR != 0 || (reads->reads == 0) != (reads->bytes == 0) ||
	    reads->bytes / GT_SECTOR > reads->reads)
		return gt_fail(error, "'%.100s': expected whole sectors of %d bytes, each of them read", text, GT_SECTOR);
	return 0;
}

/* "SIZE,WAYS,LINE" or "none". */
static int take_constant(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	struct gt_constant_shape *shape = &config->constant;
	uint64_t *const numbers[] = {&shape->size, &shape->ways, &shape->line};
	const char *text = value->text;

	*shape = (struct gt_constant_shape){.size = 0};
	if (strcmp(text, "none") == 0)
		return 0;
	if (parse_parts(text, numbers, LENGTH(numbers)) != 0 || shape->size == 0 || shape->ways == 0 || shape->line < GT_SECTOR ||
	    (shape->line & (shape->line - 1)) != 0 || shape->size % (shape->ways * shape->line) != 0)
		return gt_fail(error, "'%.100s': expected SIZE,WAYS,LINE, such as 2K,4,64: whole sets of at most 1M in all, whose lines are a power of "
				      "two from %d bytes on; or none", text, GT_SECTOR);
	return 0;
}

/* "REQUESTS[,CYCLES]" or "none". */
static int take_coalescer(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	struct gt_coalescing *coalescer = &config->coalescer;
	uint64_t *const numbers[] = {&coalescer->requests, &coalescer->cycles};

	coalescer->requests = coalescer->cycles = 0;
	if (strcmp(value->text, "none") == 0)
		return 0;
	if ((parse_parts(value->text, numbers, LENGTH(numbers)) != 0 && parse_parts(value->text, numbers, 1) != 0) || coalescer->requests < 2)
		return gt_fail(error, "'%.100s': expected REQUESTS[,CYCLES], such as 4,57: 2 requests or more, and at most 1M of each; or none", value->text);
	return 0;
}

/* "LINES,CYCLES" or "none". */
static int take_combine(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	struct gt_combining *combining = &config->combining;
	uint64_t *const numbers[] = {&combining->lines, &combining->cycles};

	*combining = (struct gt_combining){.lines = 0};
	if (strcmp(value->text, "none") == 0)
		return 0;
	if (parse_parts(value->text, numbers, LENGTH(numbers)) != 0 || combining->lines == 0 || combining->lines > GT_COMBINING_LINES_MAX)
		return gt_fail(error, "'%.100s': expected LINES,CYCLES, such as 16,8: at most %d lines, and 1M cycles; or none", value->text, GT_COMBINING_LINES_MAX);
	return 0;
}

static int take_launch_reads(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return parse_launch_reads(value->text, &config->launch_reads, error);
}

static int take_hit_cycles(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_cycles_parse(value->text, &config->hit_cycles, error);
}

static int take_miss_cycles(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	return gt_cycles_parse(value->text, &config->miss_cycles, error);
}

static int take_spread(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	if (gt_spread_parse(&config->spread, value->text, error) != 0)
		return -1;
	config->l2_partitions = config->spread.partitions;
	return 0;
}

static int take_delay(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error)
{
	(void)error;
	config->timed.delay = value->word ? GT_AUTO_DELAY : value->real;
	return 0;
}

/* A value is a field of the config with this number of bytes, in which a word is stored as `word`; or `take` reads it. */
struct place {
	size_t offset, bytes;
	uint64_t word;
	int (*take)(struct gt_level_config *config, const struct gt_value *value, struct gt_error *error);
};

#define FIELD(NAME, WORD) {offsetof(struct gt_level_config, NAME), sizeof((struct gt_level_config *)NULL)->NAME, WORD, NULL}
#define TAKEN(FUNCTION) {0, 0, 0, FUNCTION}

/* Words have the order of the enums in config.h. */
static const struct place places[GT_PARAMETERS] = {
	[GT_LEVEL_SCOPE] = FIELD(shared, 0),
	[GT_LEVEL_SIZE] = TAKEN(take_size),
	[GT_LEVEL_WAYS] = TAKEN(take_ways),
	[GT_LEVEL_LINE] = FIELD(line, 0),
	[GT_LEVEL_SECTOR] = FIELD(sector, 0),
	[GT_LEVEL_SETS] = TAKEN(take_sets),
	[GT_LEVEL_INDEX] = TAKEN(take_index),
	[GT_LEVEL_INTERLEAVE] = TAKEN(take_interleave),
	[GT_LEVEL_SEED] = FIELD(replacement.seed, 0),
	[GT_LEVEL_REPLACE] = TAKEN(take_replace),
	[GT_LEVEL_WRITE] = FIELD(write, 0),
	[GT_LEVEL_ALLOCATE] = FIELD(allocate, 0),
	[GT_LEVEL_PARTIAL] = FIELD(partial, 0),
	[GT_LEVEL_WRITE_HITS] = FIELD(tag_hits, 0),
	[GT_LEVEL_READ_MISSES] = FIELD(pairs, 0),
	[GT_LEVEL_FETCH] = FIELD(fetch, 0),
	[GT_LEVEL_BYPASS] = FIELD(bypass, 0),
	[GT_LEVEL_OPERATORS] = FIELD(operators, 0),
	[GT_LEVEL_HINTS] = FIELD(hints, 0),
	[GT_LEVEL_FLUSH] = FIELD(flush, 0),
	[GT_LEVEL_WARM] = FIELD(warm, 0),
	[GT_LEVEL_ARRIVAL] = FIELD(arrival, 0),
	[GT_LEVEL_COALESCER] = TAKEN(take_coalescer),
	[GT_LEVEL_CONSTANT] = TAKEN(take_constant),
	[GT_LEVEL_LAUNCH_READS] = TAKEN(take_launch_reads),
	[GT_LEVEL_SPREAD] = TAKEN(take_spread),
	[GT_LEVEL_DIRTY_WAYS] = FIELD(dirty_ways, GT_LEVEL_SLOTS_MAX),
	[GT_LEVEL_FOUND_DIRTY] = FIELD(found_dirty, 0),
	[GT_LEVEL_COMBINE] = TAKEN(take_combine),
	[GT_LEVEL_EMIT] = FIELD(emit, 0),
	[GT_LEVEL_BY] = FIELD(by, 0),
	[GT_LEVEL_HIT_CYCLES] = TAKEN(take_hit_cycles),
	[GT_LEVEL_MISS_CYCLES] = TAKEN(take_miss_cycles),
	[GT_LEVEL_PARTITIONS] = FIELD(timed.partitions, 0),
	[GT_LEVEL_BANKS] = FIELD(timed.banks, 0),
	[GT_LEVEL_PORTS] = FIELD(timed.ports, GT_UNLIMITED),
	[GT_LEVEL_MSHR] = TAKEN(take_mshr),
	[GT_LEVEL_MERGES] = FIELD(timed.merges, GT_UNLIMITED),
	[GT_LEVEL_PER_WARP] = FIELD(timed.per_warp, GT_UNLIMITED),
	[GT_LEVEL_LATENCY] = TAKEN(take_latency),
	[GT_LEVEL_HIT_LATENCY] = FIELD(timed.hit_latency, 0),
	[GT_LEVEL_ON_FULL] = FIELD(timed.on_full, 0),
	[GT_LEVEL_UNIT] = FIELD(timed.unit, 0),
	[GT_LEVEL_ISSUE] = FIELD(timed.issue, 0),
	[GT_LEVEL_SCHEDULERS] = FIELD(timed.schedulers, GT_AUTO_SCHEDULERS),
	[GT_LEVEL_FILL] = FIELD(timed.fill_next, 0),
	[GT_LEVEL_CLIP] = FIELD(timed.clip, 0),
	[GT_LEVEL_DELAY] = TAKEN(take_delay),
};

static void store(void *field, size_t bytes, uint64_t number)
{
	bool flag = number != 0;
	uint32_t narrow = (uint32_t)number;

	if (bytes == sizeof flag)
		memcpy(field, &flag, bytes);
	else if (bytes == sizeof narrow)
		memcpy(field, &narrow, bytes);
	else
		memcpy(field, &number, bytes);
}

/* Stores what the text says. Returns 0, or -1 if the parameter does not take it. */
static int level_store(struct gt_level_config *config, enum gt_parameter_id id, const char *text, struct gt_error *error)
{
	const struct place *place = &places[id];
	struct gt_value value;

	if (gt_value_read(&gt_parameters[id].type, text, &value, error) != 0)
		return -1;
	if (place->take)
		return place->take(config, &value, error);
	store((char *)config + place->offset, place->bytes, value.word ? place->word : value.number);
	return 0;
}

#define BYTES_MAX (UINT64_C(1) << 48)

const struct gt_role gt_roles[] = {
	{"l1", "a data cache in each SM", "l1", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no", [GT_LEVEL_CONSTANT] = "2K,4,64"}},
	{"l2", "the data cache that all SMs share", "l2", false, false, {[GT_LEVEL_SIZE] = "2M", [GT_LEVEL_WAYS] = "16"}},
	/* [001] table 4 and figure 12. */
	{"texture", "a texture L1 in each SM", "texture", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "12K", [GT_LEVEL_WAYS] = "96", [GT_LEVEL_LINE] = "32", [GT_LEVEL_INDEX] = "texture",
	  [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	{"readonly", "a read-only data cache in each SM", "readonly", false, false,
	 {[GT_LEVEL_SCOPE] = "private", [GT_LEVEL_SIZE] = "48K", [GT_LEVEL_WRITE] = "through", [GT_LEVEL_ALLOCATE] = "no"}},
	/* [001] 4.2: on Kepler page entries of 512 MB are active at a time. */
	{"window", "the page entries that are active at a time", "window", true, true,
	 {[GT_LEVEL_SIZE] = "512M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "512M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	/* [001] 4.2: 16 entries of 2 MB, fully associative, outside the SMs. */
	{"tlb", "a translation buffer of that name; l1 and l2 are l1tlb and l2tlb", NULL, true, false,
	 {[GT_LEVEL_SIZE] = "32M", [GT_LEVEL_WAYS] = "full", [GT_LEVEL_LINE] = "2M", [GT_LEVEL_SECTOR] = "line", [GT_LEVEL_HIT_CYCLES] = "0"}},
	{"name", "a level of that name, or another name for one of those above", NULL, false, false, {0}},
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

/* Whether an option asks for the timed model. */
static bool asks_for_time(const struct gt_level_settings *settings)
{
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (gt_parameters[id].group == GT_ABOUT_TIMING && settings->option[id])
			return true;
	return false;
}

int gt_level_set(struct gt_level_settings *settings, enum gt_parameter_id id, const char *text,
		 struct gt_error *error)
{
	struct gt_level_config scratch = {0};

	settings->option[id] = text;
	return level_store(&scratch, id, text, error);
}

/* An option for one overrides the description's key for the other: `sets` excludes `size` and `ways`, and another `write` than
 * the description's may leave no dirty lines. */
static bool outranked(const struct gt_level_settings *settings, enum gt_parameter_id id)
{
	return (id == GT_LEVEL_SETS && (settings->option[GT_LEVEL_SIZE] || settings->option[GT_LEVEL_WAYS])) ||
	       (id == GT_LEVEL_DIRTY_WAYS && settings->option[GT_LEVEL_WRITE]);
}

/* Whether the kernel names the fetch size. */
static bool fetch_by_kernel(const struct gt_level_settings *settings, const struct gt_kernel *kernel)
{
	return !settings->option[GT_LEVEL_FETCH] && kernel && kernel->prefers.l2_fetch_bytes >= GT_SECTOR &&
	       strcmp(settings->name, "l2") == 0;
}

/* The text of a parameter by precedence: option; kernel (l1_bytes, the size of the level named l1, and l2_fetch_bytes, the
 * fetch size of that named l2, written into `buffer` of 32 bytes); GPU description; role; table. gpu and kernel may be
 * NULL. */
static const char *parameter_text(const struct gt_level_settings *settings, enum gt_parameter_id id,
				  const struct gt_gpu *gpu, const struct gt_kernel *kernel, char *buffer)
{
	char key[GT_KEY_BYTES];

	if (settings->option[id])
		return settings->option[id];
	if (id == GT_LEVEL_SIZE && kernel && kernel->l1_bytes > 0 && strcmp(settings->name, "l1") == 0) {
		snprintf(buffer, 32, "%" PRIu64, kernel->l1_bytes);
		return buffer;
	}
	if (id == GT_LEVEL_FETCH && fetch_by_kernel(settings, kernel)) {
		uint64_t most = kernel->prefers.l2_fetch_bytes < 128 ? kernel->prefers.l2_fetch_bytes : 128;
		snprintf(buffer, 32, "%u", 1U << (31 - __builtin_clz((unsigned)most)));
		return buffer;
	}
	const char *text = outranked(settings, id) ? NULL : gt_gpu_get(gpu, gt_parameter_key(settings->name, id, key));
	if (!text)
		text = settings->role->values[id];
	return text ? text : gt_parameters[id].otherwise;
}

/* A cache of constants is beside a functional level of an SM, or before one of all SMs, which counts them apart. What is meant for a level
 * of an SM is not for one that is shared. */
static void resolve_constants(const struct gt_level_settings *settings, struct gt_level_config *config)
{
	const char *scope = settings->role->values[GT_LEVEL_SCOPE];
	bool made_shared = config->shared && scope && strcmp(scope, "private") == 0;

	if (!settings->option[GT_LEVEL_CONSTANT] && (made_shared || !gt_level_can_have_constants(config)))
		config->constant.size = 0;
	config->constants = config->constant.size > 0 ? (config->shared ? GT_CONSTANTS_BEFORE : GT_CONSTANTS_BESIDE)
			    : config->shared && !config->translate && !config->is_timed ? GT_CONSTANTS_APART
										     : GT_CONSTANTS_LOADS;
}

/* All requests bypass an absent level; its shape must be valid, and is not counted. */
static int resolve_absent(const struct gt_level_settings *settings, struct gt_level_config *config,
			  struct gt_error *error)
{
	const char *size = settings->role->values[GT_LEVEL_SIZE];

	if (config->translate)
		return gt_fail(error, "%s.size: none: expected the size of a TLB; leave an absent TLB out of the pipe",
			       settings->name);
	config->bypass = GT_BYPASS_ALL;
	return gt_parse_size(size ? size : gt_parameters[GT_LEVEL_SIZE].otherwise, GT_SECTOR, BYTES_MAX, &config->size,
			     error);
}

/* The banks of the L2 that a private level sends to; and its distances, if the level has latencies of its own. */
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
	const char *spread = gt_gpu_get(gpu, "l2.spread");
	if (!config->shared && !config->translate && config->is_timed && spread) {
		struct gt_error why;
		config->timed.spread.slices = config->spread.slices;
		if (gt_spread_parse(&config->timed.spread, spread, &why) != 0)
			return gt_fail(error, "l2.spread in the GPU description: %s", why.text);
	}
	config->timed.below = (uint32_t)(partitions * banks < GT_BANKS_MAX ? partitions * banks : GT_BANKS_MAX);
	return 0;
}

/* The values of "auto", as in the models of the papers. In [000] all schedulers of an SM issue together, and no warp waits
 * for its data; in [002] one request is served in a step, and a warp waits for its whole access. */
static int resolve_issue(const struct gt_gpu *gpu, struct gt_timed_config *timed, struct gt_error *error)
{
	bool requeue = timed->on_full == GT_FULL_REQUEUE;
	uint64_t schedulers = 1;

	if (timed->issue == GT_OWN_AUTO)
		timed->issue = requeue ? GT_OWN_FIFO_POOL : GT_OWN_SCHEDULE;
	if (timed->issue == GT_OWN_SCHEDULE && (timed->delay >= 0 || timed->schedulers != GT_AUTO_SCHEDULERS))
		return gt_fail(error, "delay and schedulers apply if the level decides which warps issue: expected issue rr, gto or fifo-pool too");
	if (timed->delay < 0)
		timed->delay = requeue ? 1 : 0;
	if (timed->schedulers != GT_AUTO_SCHEDULERS)
		return 0;
	if (!requeue && gt_gpu_count(gpu, "schedulers", 1, &schedulers, error) != 0)
		return -1;
	timed->schedulers = (uint32_t)(schedulers < GT_TIMED_MAX ? schedulers : GT_TIMED_MAX);
	return 0;
}

int gt_level_resolve(const struct gt_level_settings *settings, const struct gt_gpu *gpu,
		     const struct gt_kernel *kernel, struct gt_level_config *config, struct gt_error *error)
{
	memset(config, 0, sizeof *config);
	config->translate = settings->role->translate;
	config->is_timed = asks_for_time(settings);
	config->activated = settings->role->activated;
	config->causes = settings->causes;
	config->l1_bytes = kernel ? kernel->l1_bytes : 0;
	config->l2_fetch_bytes = kernel ? kernel->prefers.l2_fetch_bytes : 0;
	config->memory = settings->memory ? settings->memory : GT_LEVEL_MEMORY;
	config->directory = settings->directory ? settings->directory : "/tmp";
	for (int id = 0; id < GT_PARAMETERS; id++) {
		char buffer[32];
		const char *text = parameter_text(settings, (enum gt_parameter_id)id, gpu, kernel, buffer);
		if (level_store(config, (enum gt_parameter_id)id, text, error) != 0) {
			struct gt_error why = *error;
			return gt_fail(error, "%s.%s in the GPU description: %s", settings->name,
				       gt_parameters[id].name, why.text);
		}
	}
	if (gt_gpu_count(gpu, "gpcs", 1, &config->launch_reads.gpcs, error) != 0 ||
	    gt_gpu_count(gpu, "dram.channels", 1, &config->spread.slices, error) != 0 || gt_gpu_count(gpu, "sms", 0, &config->spread.sms, error) != 0 ||
	    gt_gpu_gpcs(gpu, config->spread.sms, &config->coalescer.gpcs, error) != 0 || resolve_below(gpu, config, error) != 0 ||
	    resolve_issue(gpu, &config->timed, error) != 0)
		return -1;
	if (config->absent && resolve_absent(settings, config, error) != 0)
		return -1;
	if (config->sector == 0 || config->translate)
		config->sector = config->line;
	if (config->fetch == 0)
		config->fetch = config->sector;
	if (fetch_by_kernel(settings, kernel) && config->fetch < config->sector)
		config->fetch = config->sector;
	if (fetch_by_kernel(settings, kernel) && config->fetch > config->line)
		config->fetch = config->line;
	/* In the timed model requests arrive at their steps, so a description's value applies to the functional model only. */
	if (config->is_timed && !settings->option[GT_LEVEL_ARRIVAL])
		config->arrival = GT_ARRIVAL_STEP;
	if ((config->is_timed || config->emit == GT_EMIT_ALL || config->emit == GT_EMIT_LATENCY || config->replacement.policy->looks_ahead) &&
	    !settings->option[GT_LEVEL_COALESCER])
		config->coalescer.requests = 0;
	if ((config->is_timed || config->write == GT_WRITE_BACK || !settings->cycles) && !settings->option[GT_LEVEL_COMBINE])
		config->combining.lines = 0;
	if (config->is_timed && !settings->option[GT_LEVEL_SPREAD])
		config->l2_partitions = false;
	if (config->is_timed && !settings->option[GT_LEVEL_DIRTY_WAYS])
		config->dirty_ways = GT_LEVEL_SLOTS_MAX;
	if (!settings->option[GT_LEVEL_FOUND_DIRTY] && !gt_level_can_find_dirty(config))
		config->found_dirty = 0;
	if (config->l2_partitions)
		config->size /= GT_L2_PARTITIONS;
	resolve_constants(settings, config);
	return 0;
}

char *gt_level_said(const struct gt_level_settings *settings, const struct gt_gpu *gpu, const struct gt_kernel *kernel,
		    const struct gt_level_config *config, struct gt_error *error)
{
	/* The further keys that gt_level_resolve and its parts use. */
	static const char *const keys[] = {"schedulers", "gpcs", "gpc_sms", "sms", "l2.partitions", "l2.banks", "l2.spread", "dram.channels"};
	struct gt_memory_file said;
	char buffer[32];

	if (gt_memory_file_open(&said, error) != 0)
		return NULL;
	/* What a kernel may say in other words: 32 and sector are one fetch size. */
	fprintf(said.file, "%" PRIu64 "\n%d\n%" PRIu64 "\n", config->size, config->absent, config->fetch);
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (id != GT_LEVEL_SIZE && id != GT_LEVEL_FETCH)
			fprintf(said.file, "%s\n", parameter_text(settings, (enum gt_parameter_id)id, gpu, kernel, buffer));
	for (size_t i = 0; i < LENGTH(keys); i++)
		fprintf(said.file, "%s\n", gt_gpu_get(gpu, keys[i]) ? gt_gpu_get(gpu, keys[i]) : "");
	return gt_memory_file_take(&said, NULL, "a level", error);
}

/* ---- from texts ---- */

static const struct gt_role *find_role(const char *name)
{
	for (size_t i = 0; i < gt_roles_n; i++)
		if (gt_roles[i].name && strcmp(gt_roles[i].name, name) == 0)
			return &gt_roles[i];
	return NULL;
}

static int set_by_name(struct gt_level_settings *settings, const char *name, const char *value, struct gt_error *error)
{
	struct gt_error wrong;

	if (!value)
		return gt_fail(error, "%s: expected a value", name);
	for (int id = 0; id < GT_PARAMETERS; id++)
		if (strcmp(gt_parameters[id].name, name) == 0)
			return gt_level_set(settings, (enum gt_parameter_id)id, value, &wrong) == 0
				       ? 0 : gt_fail(error, "%s: %s", name, wrong.text);
	return gt_fail(error, "no parameter '%s'", name);
}

int gt_level_configure(const char *role, const char *const *parameters, const struct gt_gpu *gpu, const struct gt_kernel *kernel,
		       struct gt_level_config *config, struct gt_error *error)
{
	struct gt_level_settings settings = {.role = find_role(role)};

	if (!settings.role)
		return gt_fail(error, "no role '%s'", role);
	if (gt_level_name(&settings, settings.role->name, error) != 0)
		return -1;
	for (; parameters && parameters[0]; parameters += 2)
		if (set_by_name(&settings, parameters[0], parameters[1], error) != 0)
			return -1;
	if (asks_for_time(&settings))
		return gt_fail(error, "expected parameters of the functional model only");
	return gt_level_resolve(&settings, gpu, kernel, config, error) == 0 ? gt_level_check(config, ~UINT64_C(0), error) : -1;
}
