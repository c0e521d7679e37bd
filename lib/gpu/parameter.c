/* SPDX-License-Identifier: MIT */
/* The parameters of a cache level, one row each: size, ways, replacement and so on. A row is an option of gcache and its --help, and
 * a key of GPU descriptions, such as l1.size; all read the same syntax. Behind the table, a value is read by the type in its row
 * (gpu/parameter.h). What a parameter does is in lib/cache. */
#include "gpu/parameter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "base/random.h"

/* ---- parameters ---- */

#define BYTES_MAX (UINT64_C(1) << 48)
#define LINE_MAX (UINT64_C(1) << 30)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define WORD(FORM) {GT_VALUE_WORD, FORM, 0, 0}
#define ONE_OF(FORM) {GT_VALUE_ONE_OF, FORM, 0, 0}
#define YES_NO {GT_VALUE_YES_NO, "yes|no", 0, 0}
#define COUNT(FORM, MIN) {GT_VALUE_COUNT, FORM, MIN, GT_TIMED_MAX}
#define POWER(FORM) {GT_VALUE_POWER, FORM, 32, LINE_MAX}

const char *const gt_parameter_groups[GT_PARAMETER_GROUPS] = {
	[GT_ABOUT_SHAPE] = "Shape:",
	[GT_ABOUT_REPLACEMENT] = "Replacement:",
	[GT_ABOUT_STORES] = "Stores:",
	[GT_ABOUT_FETCHES] = "Misses, bypasses, and hints of instructions:",
	[GT_ABOUT_LAUNCHES] = "When a kernel begins and ends:",
	[GT_ABOUT_SHARED] = "Requests of several SMs, in a shared level:",
	[GT_ABOUT_RESULTS] = "What is written and counted:",
	[GT_ABOUT_TIMING] = "Any of these makes the level timed:",
};

const struct gt_parameter gt_parameters[GT_PARAMETERS] = {
	[GT_LEVEL_SCOPE] = {"scope", ONE_OF("private|shared"), "shared", GT_ABOUT_SHAPE, "one instance for each SM, or one for all", NULL},
	[GT_LEVEL_SIZE] = {"size", {GT_VALUE_SIZE, "BYTES|none", 32, BYTES_MAX}, "32K", GT_ABOUT_SHAPE,
			   "bytes of an instance, such as 32K or 4.5M; none: all requests bypass it", NULL},
	[GT_LEVEL_WAYS] = {"ways", {GT_VALUE_WAYS, "N|full[/SETS]", 1, GT_LEVEL_SLOTS_MAX}, "4", GT_ABOUT_SHAPE,
			   "lines of a set; full: all lines in one set, or in SETS sets", NULL},
	[GT_LEVEL_LINE] = {"line", POWER("BYTES"), "128", GT_ABOUT_SHAPE, "bytes of a line: a power of two, 32 or more", NULL},
	[GT_LEVEL_SECTOR] = {"sector", POWER("BYTES|line"), "32", GT_ABOUT_SHAPE, "the unit of validity: a power of two, 32 or more", NULL},
	[GT_LEVEL_SETS] = {"sets", WORD("LIST|none"), "none", GT_ABOUT_SHAPE,
			   "ways of each set, such as 17,8x6, instead of size and ways", NULL},
	[GT_LEVEL_INDEX] = {"index", WORD("FUNCTION"), "mod", GT_ABOUT_SHAPE,
			    "the set of a line",
			    "mod, smod:N, prime, xor, fermi, texture, hash, rotate, golden, ipoly, "
			    "bits:SUM,... (of address bits: 7^13,8^14&15), table:DIGITS"},
	[GT_LEVEL_INTERLEAVE] = {"interleave", WORD("SCHEME[:BYTES]"), "set", GT_ABOUT_SHAPE,
				 "the bank of a line", "set, mod, xor, hash, two-level"},
	[GT_LEVEL_SEED] = {"seed", {GT_VALUE_COUNT, "N", 0, UINT64_MAX}, "1", GT_ABOUT_REPLACEMENT, "seed of the policies random, tail and weighted", NULL},
	[GT_LEVEL_REPLACE] = {"replace", WORD("POLICY"), "lru", GT_ABOUT_REPLACEMENT, "the line that leaves a full set",
			      "lru, tail:N[,SEED], fifo, lfu, lfu:way, random[:SEED], weighted:W,W,..., order:WAY,WAY,..., plru, srrip, opt"},
	[GT_LEVEL_WRITE] = {"write", ONE_OF("back|through|evict"), "back", GT_ABOUT_STORES, "what a store does", NULL},
	[GT_LEVEL_ALLOCATE] = {"allocate", YES_NO, "yes", GT_ABOUT_STORES, "whether a store that misses allocates a line", NULL},
	[GT_LEVEL_PARTIAL] = {"partial", ONE_OF("keep|read|fetch"), "read", GT_ABOUT_STORES,
			      "what a store to part of an absent sector leaves", NULL},
	[GT_LEVEL_WRITE_HITS] = {"write-hits", ONE_OF("sector|tag"), "sector", GT_ABOUT_STORES,
				 "whether a store hits if its sectors are valid, or if its line is present", NULL},
	[GT_LEVEL_READ_MISSES] = {"read-misses", ONE_OF("all|pair"), "all", GT_ABOUT_RESULTS,
				  "whether misses of loads are counted that a profiler leaves out: beside a hit of their pair of sectors", NULL},
	[GT_LEVEL_FETCH] = {"fetch", POWER("BYTES|sector"), "sector", GT_ABOUT_FETCHES, "bytes that a miss fetches, aligned", NULL},
	[GT_LEVEL_BYPASS] = {"bypass", ONE_OF("none|writes|reads|all"), "none", GT_ABOUT_FETCHES, "which requests bypass the cache", NULL},
	[GT_LEVEL_OPERATORS] = {"operators", ONE_OF("no|yes|drop"), "yes", GT_ABOUT_FETCHES,
				"whether cache operators of loads count: .cg and .cv bypass a private level; drop: so does .lu, and what they load leaves it", NULL},
	[GT_LEVEL_HINTS] = {"hints", ONE_OF("honour|no-prefetch|ignore"), "honour", GT_ABOUT_FETCHES,
			    "whether priorities, prefetches, discards and fetch sizes of instructions count; no-prefetch: prefetches bring nothing into a private level", NULL},
	[GT_LEVEL_FLUSH] = {"flush", ONE_OF("kernel|never|between"), "kernel", GT_ABOUT_LAUNCHES,
			   "whether a kernel's end empties the level, or a profiler does so between kernels and counts no writes", NULL},
	[GT_LEVEL_WARM] = {"warm", ONE_OF("none|copies|allocations"), "none", GT_ABOUT_LAUNCHES,
			   "what a shared level holds when a kernel begins", NULL},
	[GT_LEVEL_ARRIVAL] = {"arrival", ONE_OF("step|rr|travel"), "step", GT_ABOUT_SHARED,
			      "order of requests: by step; one of each SM in turn; or by step and how far the SM is from the line, --spread (a shared level)", NULL},
	[GT_LEVEL_COALESCER] = {"coalescer", WORD("REQUESTS[,CYCLES]|none"), "none", GT_ABOUT_SHARED,
				"loads of the SMs of one GPC that are served as one if they are alike and come together, at most REQUESTS; and by how many CYCLES they may "
				"come apart, if steps are cycles (a shared level)", NULL},
	[GT_LEVEL_CONSTANT] = {"constant", WORD("SIZE,WAYS,LINE|none"), "none", GT_ABOUT_SHAPE,
			       "the cache beside a private level that loads of constant memory go to; or of each GPC, before a shared one; none: they go to the level",
			       NULL},
	[GT_LEVEL_LAUNCH_READS] = {"launch-reads", WORD("CODE,READS,BYTES[,MEMORY]|none"), "none", GT_ABOUT_LAUNCHES,
				   "what a launch reads by itself: each GPC CODE bytes, and once READS sectors out of BYTES; MEMORY of these are read from the next level (a shared level)",
				   NULL},
	[GT_LEVEL_SPREAD] = {"spread", WORD("LIST|none"), "none", GT_ABOUT_SHARED,
			     "cycles by which latencies of a shared level differ by place: sm:N,slice:N,far:N; far: it is two halves that copy "
			     "each other's lines", NULL},
	[GT_LEVEL_DIRTY_WAYS] = {"dirty-ways", {GT_VALUE_COUNT, "N|all", 1, GT_LEVEL_SLOTS_MAX}, "all", GT_ABOUT_STORES,
				 "lines of a set that may be dirty, with write back: one more writes the least recently used of them back", NULL},
	[GT_LEVEL_FOUND_DIRTY] = {"found-dirty", COUNT("SECTORS", 0), "0", GT_ABOUT_LAUNCHES,
				  "sectors that a kernel finds dirty behind a profiler that empties the level, with flush between (a shared level, write back)", NULL},
	[GT_LEVEL_COMBINE] = {"combine", WORD("LINES,CYCLES|none"), "none", GT_ABOUT_STORES,
			      "lines that wait for their turn to be sent, each for CYCLES or more: a store to sectors that wait is sent with them, if steps are "
			      "cycles (a private level, write through)", NULL},
	[GT_LEVEL_EMIT] = {"emit", ONE_OF("misses|all|none|latency"), "misses", GT_ABOUT_RESULTS,
			   "what to write: the requests sent on, all requests, counts only, or all "
			   "requests with their latency: the cycles added by each level of a chain", NULL},
	[GT_LEVEL_BY] = {"by", ONE_OF("none|pc|site"), "none", GT_ABOUT_RESULTS,
			 "count reads and their hits by instruction, too, or more by instruction and array", NULL},
	[GT_LEVEL_HIT_CYCLES] = {"hit-cycles", WORD("LIST"), "unknown", GT_ABOUT_RESULTS,
				 "cycles that the level adds to the latency of a hit: CYCLES[,FROM:CYCLES]...", NULL},
	[GT_LEVEL_MISS_CYCLES] = {"miss-cycles", WORD("LIST"), "unknown", GT_ABOUT_RESULTS, "the same for a miss", NULL},

	[GT_LEVEL_PARTITIONS] = {"partitions", COUNT("N", 1), "1", GT_ABOUT_TIMING, "parts of the level, each with its own banks", NULL},
	[GT_LEVEL_BANKS] = {"banks", COUNT("N", 1), "1", GT_ABOUT_TIMING, "banks of each partition", NULL},
	[GT_LEVEL_PORTS] = {"ports", COUNT("N|unlimited", 1), "unlimited", GT_ABOUT_TIMING, "ports of each bank", NULL},
	[GT_LEVEL_MSHR] = {"mshr", WORD("SETSxENTRIES|unlimited"), "unlimited", GT_ABOUT_TIMING, "misses in flight", NULL},
	[GT_LEVEL_MERGES] = {"merges", COUNT("N|unlimited", 0), "unlimited", GT_ABOUT_TIMING, "misses that may join one in flight", NULL},
	[GT_LEVEL_PER_WARP] = {"per-warp-mshr", COUNT("N|unlimited", 1), "unlimited", GT_ABOUT_TIMING, "misses in flight of one warp", NULL},
	[GT_LEVEL_LATENCY] = {"latency", WORD("MODEL"), "fixed:1", GT_ABOUT_TIMING,
			      "steps until a miss is served: fixed:N, adaptive:K1,K2, half-normal:MIN,SIGMA,SEED", NULL},
	[GT_LEVEL_HIT_LATENCY] = {"hit-latency", COUNT("N", 0), "0", GT_ABOUT_TIMING, "steps until a hit has its data", NULL},
	[GT_LEVEL_ON_FULL] = {"on-full", ONE_OF("stall|requeue"), "stall", GT_ABOUT_TIMING, "what a warp does if no MSHR is free", NULL},
	[GT_LEVEL_UNIT] = {"requeue-unit", ONE_OF("access|first-lane|line"), "line", GT_ABOUT_TIMING,
			   "what requeue serves in a step: an access if all its misses find an MSHR, or if its first "
			   "one does, or a line", NULL},
	[GT_LEVEL_ISSUE] = {"issue", ONE_OF("auto|schedule|rr|gto|fifo-pool"), "auto", GT_ABOUT_TIMING,
			    "which warps issue: those of the schedule's steps, or by a policy of this level", NULL},
	[GT_LEVEL_SCHEDULERS] = {"schedulers", COUNT("N|auto", 1), "auto", GT_ABOUT_TIMING, "schedulers of an SM, if the level issues", NULL},
	[GT_LEVEL_FILL] = {"fill", ONE_OF("same|next"), "same", GT_ABOUT_TIMING,
			   "with requeue: what arrives in a step is there for the accesses of the same step, or from the next on", NULL},
	[GT_LEVEL_CLIP] = {"clip", YES_NO, "yes", GT_ABOUT_TIMING, "whether a request that joins a miss is served with it", NULL},
	[GT_LEVEL_DELAY] = {"delay", {GT_VALUE_REAL, "FACTOR|auto", 0, 1024}, "auto", GT_ABOUT_TIMING,
			    "how long a warp waits for its data, as a multiple of its access's latency", NULL},
};

const char *const gt_gpu_levels[] = {"l1", "l2", "texture", "readonly", "l1tlb", "l2tlb", "window"};
const size_t gt_gpu_levels_n = LENGTH(gt_gpu_levels);

const char *gt_parameter_key(const char *level, enum gt_parameter_id id, char buffer[GT_KEY_BYTES])
{
	snprintf(buffer, GT_KEY_BYTES, "%s.%s", level, gt_parameters[id].name);
	for (char *at = strchr(buffer, '-'); at; at = strchr(at, '-'))
		*at = '_';
	return buffer;
}

/* ---- values ---- */

#define WORDS_BYTES 160
#define ITEM_BYTES 256

/* The word at this index among a form's alternatives; false after the last. */
static bool word_at(const char *form, size_t at, const char **word, size_t *length)
{
	for (const char *next = form; next && *next;) {
		size_t bytes = strcspn(next, "|");
		bool plain = islower((unsigned char)next[0]) && !memchr(next, '[', bytes);
		if (plain && at-- == 0) {
			*word = next;
			*length = bytes;
			return true;
		}
		next += bytes + (next[bytes] == '|');
	}
	return false;
}

/* The index of a text among the words of a form, or SIZE_MAX. */
static size_t place_of(const char *form, const char *text)
{
	const char *word;
	size_t length;

	for (size_t i = 0; word_at(form, i, &word, &length); i++)
		if (strlen(text) == length && memcmp(text, word, length) == 0)
			return i;
	return SIZE_MAX;
}

/* "back, through or evict", with `before` in front if there are any, as in ", or none". */
static const char *list_words(const char *form, const char *before, char list[WORDS_BYTES])
{
	const char *word, *after;
	size_t length, used = 0, unused;

	list[0] = '\0';
	for (size_t i = 0; word_at(form, i, &word, &length) && used < WORDS_BYTES; i++) {
		bool last = !word_at(form, i + 1, &after, &unused);
		used += (size_t)snprintf(list + used, WORDS_BYTES - used, "%s%.*s",
					 i == 0 ? before : last ? " or " : ", ", (int)length, word);
	}
	return list;
}

static int read_text(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	return value->text[0] == '\0' ? gt_fail(error, "expected a text") : 0;
}

static int read_word(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	if (value->text[0] == '\0' || strpbrk(value->text, " \t"))
		return gt_fail(error, "'%.100s': expected one word", value->text);
	return 0;
}

static int read_one_of(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char list[WORDS_BYTES];
	size_t place = place_of(type->form, value->text);

	value->number = place;
	if (place == SIZE_MAX)
		return gt_fail(error, "'%.100s': expected %s", value->text, list_words(type->form, "", list));
	return 0;
}

static int read_yes_no(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	(void)type;
	value->number = strcmp(value->text, "yes") == 0;
	return value->number || strcmp(value->text, "no") == 0 ? 0 : gt_fail(error, "'%.100s': expected yes or no", value->text);
}

static int read_count(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_count(value->text, type->min, type->max, &value->number, error);
}

static int read_size(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_size(value->text, type->min, type->max, &value->number, error);
}

static int read_power(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char low[32], high[32];
	uint64_t size = 0;

	if (gt_parse_size(value->text, type->min, type->max, &size, error) != 0 || (size & (size - 1)) != 0)
		return gt_fail(error, "'%.100s': expected a power of two from %s to %s", value->text,
			       gt_format_size(type->min, low), gt_format_size(type->max, high));
	value->number = size;
	return 0;
}

static int read_sizes(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	char item[ITEM_BYTES];
	const char *at = value->text;
	uint64_t size, last = 0;

	for (size_t n = 0;; n++) {
		size_t length = strcspn(at, ",");
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
		if (gt_parse_size(item, type->min, type->max, &size, error) != 0)
			return -1;
		if (n > 0 && size <= last)
			return gt_fail(error, "'%s': expected sizes in rising order, such as 0,8K,16K", item);
		last = size;
		at += length;
		if (*at++ == '\0')
			return 0;
	}
}

static int read_ways(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	const char *text = value->text, *sets = strncmp(text, "full/", 5) == 0 ? text + 5 : NULL;

	value->number = 1;
	value->word = sets || strcmp(text, "full") == 0;
	if ((value->word && !sets) || gt_parse_count(sets ? sets : text, type->min, type->max, &value->number, error) == 0)
		return 0;
	return gt_fail(error, "'%.100s': expected a number of ways from %" PRIu64 " to %" PRIu64 ", full, or full/SETS", text,
		       type->min, type->max);
}

static int read_real(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error)
{
	return gt_parse_real(value->text, (double)type->min, (double)type->max, &value->real, error);
}

int gt_value_read(const struct gt_value_type *type, const char *text, struct gt_value *value, struct gt_error *error)
{
	static int (*const readers[])(const struct gt_value_type *type, struct gt_value *value, struct gt_error *error) = {
		[GT_VALUE_TEXT] = read_text,   [GT_VALUE_WORD] = read_word,   [GT_VALUE_ONE_OF] = read_one_of,
		[GT_VALUE_YES_NO] = read_yes_no, [GT_VALUE_COUNT] = read_count, [GT_VALUE_SIZE] = read_size,
		[GT_VALUE_POWER] = read_power, [GT_VALUE_SIZES] = read_sizes, [GT_VALUE_WAYS] = read_ways,
		[GT_VALUE_REAL] = read_real,
	};
	bool numeric = type->kind >= GT_VALUE_COUNT && type->kind != GT_VALUE_WAYS;
	char list[WORDS_BYTES];
	struct gt_error reason;

	*value = (struct gt_value){.text = text};
	value->word = numeric && place_of(type->form, text) != SIZE_MAX;
	if (value->word)
		return 0;
	if (!numeric)
		return readers[type->kind](type, value, error);
	if (readers[type->kind](type, value, &reason) != 0)
		return gt_fail(error, "%s%s", reason.text, list_words(type->form, ", or ", list));
	return 0;
}

/* ---- how far an SM is from a line ---- */

int gt_spread_parse(struct gt_spread *spread, const char *text, struct gt_error *error)
{
	uint32_t *const cycles[] = {&spread->sm, &spread->slice, &spread->far};
	static const char *const names[] = {"sm:", "slice:", "far:"};
	unsigned given = 0;

	*spread = (struct gt_spread){.slices = spread->slices, .sms = spread->sms};
	for (const char *at = text; strcmp(text, "none") != 0; at++) {
		char item[ITEM_BYTES];
		size_t length = strcspn(at, ","), which = 0;
		uint64_t number;
		snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1), at);
		while (which < LENGTH(names) && strncmp(item, names[which], strlen(names[which])) != 0)
			which++;
		if (which == LENGTH(names) || (given & 1U << which) ||
		    gt_parse_count(item + strlen(names[which]), 0, GT_SPREAD_MAX, &number, error) != 0)
			return gt_fail(error, "'%.100s': expected sm:N, slice:N and far:N, each at most once and of at most %d cycles, or none",
				       text, GT_SPREAD_MAX);
		given |= 1U << which;
		*cycles[which] = (uint32_t)number;
		at += length;
		if (*at == '\0')
			break;
	}
	spread->partitions = given & 1U << 2;
	return 0;
}

/* Even over the SMs, from the multiples of the golden ratio, where SM 0 has the middle; over SMs and slices, from a hash of both. Of neither
 * more is known than how far apart the ends are. */
int64_t gt_spread_cycles(const struct gt_spread *spread, uint32_t sm, uint64_t line)
{
	uint32_t turned = sm * UINT32_C(0x9e3779b9) + UINT32_C(0x80000000);
	int64_t cycles = (int64_t)((spread->sm + 1) / 2) - (int64_t)((uint64_t)turned * (spread->sm + 1) >> 32);

	if (spread->slice == 0)
		return cycles;
	uint64_t slices = spread->slices ? spread->slices : 1, slice = gt_random_state(0, line) % slices;
	return cycles + spread->slice / 2 - (int64_t)(gt_random_state(1, sm * slices + slice) % (spread->slice + 1));
}
