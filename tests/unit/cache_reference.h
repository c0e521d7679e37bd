/* SPDX-License-Identifier: MIT */
/* A slow, simple cache level: one struct per line, one flag per sector, a scan for every lookup. It shares only the config
 * and the generator with the library. */
#ifndef TESTS_CACHE_REFERENCE_H
#define TESTS_CACHE_REFERENCE_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/random.h"
#include "cache/config.h"
#include "stream/op.h"
#include "stream/rows.h"

#define REF_SECTORS 64
#define REF_WAYS 512
#define REF_SETS 64
#define REF_SMS 3

struct ref_line {
	bool present;
	uint64_t line;
	bool valid[REF_SECTORS], dirty[REF_SECTORS];
	bool written[REF_SECTORS]; /* by a store, since the line came */
	uint64_t filled, touched, uses;
	int interval; /* srrip */
	size_t used_by; /* opt */
};

struct ref_cache {
	uint32_t sets, ways;	/* ways of the set that has most */
	struct ref_line *lines; /* [set][way] */
	/* plru: for the ways lo to hi-1 of a set, whether the right half is to be replaced: [set][the middle] */
	bool *right;
	unsigned replaced[REF_SETS]; /* order: the victims so far */
	uint64_t clock, random;
};

struct ref_counters {
	uint64_t requests, reads, read_hits, writes, write_hits, atomics, atomic_hits, line_misses, sector_misses,
		evictions, dropped, sent_requests, sent_reads, sent_writes, sent_atomics, flushed, bypassed, pair_misses;
};

/* One request, by which the models are compared. */
struct ref_request {
	uint64_t address, step;
	uint32_t block, an, pc;
	uint16_t warp, sm;
	uint8_t op, sectors, full, threads;
	uint8_t status; /* of one that is passed on */
};

struct ref_model {
	const struct gt_level_config *config;
	uint32_t sets, set_ways[REF_SETS];
	struct ref_cache caches[REF_SMS];
	struct ref_counters count;
	struct ref_request *sent;
	size_t n, capacity;
	uint64_t last_step;
	bool lacks; /* the request that is served has not found a sector */
	/* opt: what is served in this kernel, and what is served now. */
	const struct ref_request *order;
	size_t n_order, now;
};

static unsigned ref_sectors(const struct ref_model *model)
{
	return (unsigned)(model->config->line / model->config->sector);
}

static uint64_t ref_bit(uint64_t value, unsigned bit)
{
	return value >> bit & 1;
}

static unsigned ref_log2(uint64_t value)
{
	unsigned bits = 0;

	while (value >>= 1)
		bits++;
	return bits;
}

static uint64_t ref_mod(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)argument, (void)line_bytes;
	return line % sets;
}

static uint64_t ref_smod(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)line_bytes;
	for (unsigned shift = 0; shift < argument->number; shift++)
		line /= 2;
	return line % sets;
}

static bool ref_is_prime(uint64_t number)
{
	for (uint64_t divisor = 2; divisor < number; divisor++)
		if (number % divisor == 0)
			return false;
	return number > 1;
}

static uint64_t ref_prime(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)argument, (void)line_bytes;
	while (sets > 1 && !ref_is_prime(sets))
		sets--;
	return line % sets;
}

static uint64_t ref_xor(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	uint64_t set = 0;

	(void)argument, (void)line_bytes;
	for (unsigned bit = 0; bit < 64 && sets > 1; bit++)
		set ^= ref_bit(line, bit) << bit % ref_log2(sets);
	return set;
}

/* [002] 5.1, in its words: bits of the byte address. */
static uint64_t ref_fermi(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	static const unsigned others[5] = {13, 14, 15, 17, 19};
	uint64_t address = line * line_bytes, set = 0;
	unsigned first = 0;

	(void)argument;
	while (line_bytes >> first != 1)
		first++;
	for (unsigned bit = 0; sets >> bit > 1; bit++)
		set |= (ref_bit(address, first + bit) ^ (bit < 5 ? ref_bit(address, others[bit]) : 0)) << bit;
	return set;
}

static uint64_t ref_texture(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)argument;
	return line * line_bytes / 128 % sets;
}

static uint64_t ref_hash(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)argument, (void)line_bytes;
	return XXH3_64bits(&line, sizeof line) % sets;
}

/* Each turn of `sets` lines is dealt in order, from a set that follows from the number of the turn. */
static uint64_t ref_rotate(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	uint64_t turn = line / sets, first = ref_hash(turn, argument, sets, line_bytes);

	for (line -= turn * sets; line > 0; line--)
		first = first + 1 == sets ? 0 : first + 1;
	return first;
}

static uint64_t ref_golden(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	(void)argument, (void)line_bytes;
	return (uint64_t)(fmod((double)line * 0.61803398875, 1.0) * (double)sets);
}

/* Long division of polynomials over GF(2); the divisors are the smallest irreducible ones. */
static uint64_t ref_ipoly(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	static const uint64_t divisors[] = {1, 2, 7, 11, 19, 37, 67};
	uint64_t divisor = divisors[ref_log2(sets)];

	(void)argument, (void)line_bytes;
	for (int bit = 63 - (int)ref_log2(sets); bit >= 0; bit--)
		if (ref_bit(line, (unsigned)bit + ref_log2(sets)))
			line ^= divisor << bit;
	return line;
}

/* Reads the text anew for each line: a sum for each bit of the set, of address bits and their products. */
static uint64_t ref_bits(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	uint64_t address = line * line_bytes, set = 0, term = 1, bit = 0;
	unsigned of_set = 0;

	(void)sets;
	for (const char *at = argument->text;; at++) {
		if (*at >= '0' && *at <= '9') {
			bit = 10 * bit + (uint64_t)(*at - '0');
			continue;
		}
		term &= ref_bit(address, (unsigned)bit);
		bit = 0;
		if (*at == '&')
			continue;
		set ^= term << of_set;
		term = 1;
		of_set += *at == ',';
		if (*at == '\0')
			return set;
	}
}

static uint64_t ref_table(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes)
{
	size_t digits = sets > 256 ? 3 : sets > 16 ? 2 : 1;
	char number[4] = "";

	(void)line_bytes;
	memcpy(number, argument->text + line % (strlen(argument->text) / digits) * digits, digits);
	return strtoul(number, NULL, 16);
}

static const struct {
	const char *name;
	uint64_t (*set)(uint64_t line, const struct gt_index_argument *argument, uint64_t sets, uint64_t line_bytes);
} ref_indexes[] = {{"mod", ref_mod},	 {"smod", ref_smod},	   {"prime", ref_prime}, {"xor", ref_xor},
		   {"fermi", ref_fermi}, {"texture", ref_texture}, {"hash", ref_hash},	 {"golden", ref_golden},
		   {"ipoly", ref_ipoly},   {"rotate", ref_rotate},
		   {"bits", ref_bits},	 {"table", ref_table}};

/* The bank of a line, and its number there: address bits and the words of gcache(1). */
static uint64_t ref_bank_line(const struct gt_level_config *config, uint64_t line, uint64_t *bank)
{
	const char *name = config->interleave.scheme->name;
	uint64_t partitions = config->timed.partitions, banks = partitions * config->timed.banks;
	uint64_t bytes = config->interleave.chunk_bytes, two_level = strcmp(name, "two-level") == 0;
	uint64_t address = line * config->line;

	if (bytes == 0)
		bytes = two_level && config->line < 256 ? 256 : config->line;
	uint64_t chunk = address / bytes, within = address % bytes / config->line, lines = bytes / config->line;
	if (two_level) {
		uint64_t own = chunk / partitions * lines + within;
		*bank = own % config->timed.banks * partitions + chunk % partitions;
		return own / config->timed.banks;
	}
	uint64_t round = chunk / banks;
	if (strcmp(name, "mod") == 0)
		*bank = chunk % banks;
	else if (strcmp(name, "hash") == 0)
		*bank = (chunk % banks + XXH3_64bits(&round, sizeof round) % banks) % banks;
	else
		for (*bank = 0; chunk > 0; chunk /= banks > 1 ? banks : chunk + 1)
			*bank ^= chunk % banks;
	return round * lines + within;
}

static uint32_t ref_set(const struct ref_model *model, uint64_t line)
{
	const struct gt_level_config *config = model->config;
	uint64_t slots = 0, sets = model->sets, banks = 1, bank = 0, value = 0;
	bool unequal = false;

	if (strcmp(config->interleave.scheme->name, "set") != 0) {
		banks = (uint64_t)config->timed.partitions * config->timed.banks;
		line = ref_bank_line(config, line, &bank);
	}

	for (uint32_t set = 0; set < model->sets; set++) {
		slots += model->set_ways[set];
		unequal = unequal || model->set_ways[set] != model->set_ways[0];
	}
	for (size_t i = 0; i < sizeof ref_indexes / sizeof ref_indexes[0]; i++)
		if (strcmp(ref_indexes[i].name, config->index->name) == 0)
			value = ref_indexes[i].set(line, &config->index_argument, unequal ? slots : sets / banks, config->line);
	if (!unequal)
		return (uint32_t)(value * banks + bank);
	/* Deal lines in turn to the sets that have not had all their ways. */
	for (uint32_t turn = 0;; turn++)
		for (uint32_t set = 0; set < model->sets; set++)
			if (model->set_ways[set] > turn && value-- == 0)
				return set;
}

static struct ref_line *ref_lines(struct ref_cache *cache, uint32_t set)
{
	return cache->lines + (size_t)set * cache->ways;
}

static struct ref_line *ref_find(struct ref_model *model, struct ref_cache *cache, uint64_t line)
{
	uint32_t set = ref_set(model, line);

	for (uint32_t way = 0; way < model->set_ways[set]; way++)
		if (ref_lines(cache, set)[way].present && ref_lines(cache, set)[way].line == line)
			return &ref_lines(cache, set)[way];
	return NULL;
}

static void ref_send(struct ref_model *model, struct ref_request request)
{
	uint64_t sectors = (uint64_t)__builtin_popcount(request.sectors);

	if (model->n == model->capacity) {
		model->capacity = model->capacity ? 2 * model->capacity : 1024;
		model->sent = realloc(model->sent, model->capacity * sizeof *model->sent);
	}
	model->sent[model->n++] = request;
	model->count.sent_requests++;
	if (gt_op_action(request.op) == GT_LOAD)
		model->count.sent_reads += sectors;
	else if (gt_op_action(request.op) == GT_STORE)
		model->count.sent_writes += sectors;
	else
		model->count.sent_atomics += sectors;
}

/* Sends the marked sectors of a line, 128 bytes a request. */
static void ref_send_line(struct ref_model *model, struct ref_request request, uint64_t line,
			  const bool *mark, const bool *whole)
{
	uint64_t start = line * model->config->line, end = start + model->config->line;

	for (uint64_t chunk = start / 128 * 128; chunk < end; chunk += 128) {
		request.address = chunk;
		request.sectors = request.full = 0;
		for (unsigned i = 0; i < 4; i++) {
			uint64_t address = chunk + 32 * i;
			if (address < start || address >= end)
				continue;
			uint64_t sector = (address - start) / model->config->sector;
			if (mark[sector])
				request.sectors |= (uint8_t)(1U << i);
			if (mark[sector] && whole && whole[sector])
				request.full |= (uint8_t)(1U << i);
		}
		if (request.sectors)
			ref_send(model, request);
	}
}

static void ref_send_back(struct ref_model *model, struct ref_request cause, const struct ref_line *line)
{
	bool whole[REF_SECTORS];

	for (unsigned s = 0; s < REF_SECTORS; s++)
		whole[s] = line->dirty[s] && line->valid[s];
	cause.op = 1;
	cause.threads = 0;
	ref_send_line(model, cause, line->line, line->dirty, whole);
}

static void ref_send_fill(struct ref_model *model, struct ref_request cause, uint64_t line, const bool *mark)
{
	if (gt_op_action(cause.op) != GT_LOAD) {
		cause.op = (uint8_t)(gt_op_space(cause.op) << 2);
		cause.threads = 0;
	}
	ref_send_line(model, cause, line, mark, NULL);
}

/* plru: the node of the ways lo to hi-1, and which way it leads to. */
static bool *ref_node(struct ref_cache *cache, uint32_t set, uint32_t lo, uint32_t hi)
{
	return &cache->right[(size_t)set * cache->ways + (lo + hi) / 2]; /* the middles of all nodes differ */
}

static void ref_plru_touch(struct ref_cache *cache, uint32_t set, uint32_t ways, uint32_t way)
{
	uint32_t lo = 0, hi = ways;

	while (hi - lo > 1) {
		uint32_t middle = (lo + hi) / 2;
		*ref_node(cache, set, lo, hi) = way < middle;
		if (way < middle)
			hi = middle;
		else
			lo = middle;
	}
}

static uint32_t ref_plru_victim(struct ref_cache *cache, uint32_t set, uint32_t ways)
{
	uint32_t lo = 0, hi = ways;

	while (hi - lo > 1) {
		uint32_t middle = (lo + hi) / 2;
		if (*ref_node(cache, set, lo, hi))
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

static uint32_t ref_srrip_victim(struct ref_line *lines, uint32_t ways)
{
	for (;;) {
		for (uint32_t way = 0; way < ways; way++)
			if (lines[way].interval == 3)
				return way;
		for (uint32_t way = 0; way < ways; way++)
			lines[way].interval++;
	}
}

/* The way whose field is least. */
#define REF_LEAST(LINES, WAYS, BELOW)                                                             \
	uint32_t least = 0;                                                                        \
	for (uint32_t way = 1; way < (WAYS); way++) {                                              \
		const struct ref_line *a = &(LINES)[way], *b = &(LINES)[least];                    \
		if (BELOW)                                                                         \
			least = way;                                                               \
	}                                                                                          \
	return least

static uint32_t ref_lru_victim(const struct ref_line *lines, uint32_t ways)
{
	REF_LEAST(lines, ways, (int64_t)a->touched < (int64_t)b->touched);
}

static uint32_t ref_fifo_victim(const struct ref_line *lines, uint32_t ways)
{
	REF_LEAST(lines, ways, a->filled < b->filled);
}

static uint32_t ref_lfu_victim(const struct ref_line *lines, uint32_t ways)
{
	REF_LEAST(lines, ways, a->uses < b->uses || (a->uses == b->uses && a->touched < b->touched));
}

static uint32_t ref_lfu_lowest_way(const struct ref_line *lines, uint32_t ways)
{
	uint32_t victim = ways - 1;

	for (uint32_t way = ways; way-- > 0;)
		if (lines[way].uses <= lines[victim].uses)
			victim = way;
	return victim;
}

static uint32_t ref_weighted_victim(const struct ref_model *model, struct ref_cache *cache, uint32_t ways)
{
	double drawn = (double)(gt_random(&cache->random) >> 11) / 9007199254740992.0;

	for (uint32_t way = 0; way + 1 < ways; way++)
		if (drawn < model->config->replacement.cumulative[way])
			return way;
	return ways - 1;
}

/* Whether a request looks a line up; a TLB looks its first page up. */
static bool ref_looks_up(const struct ref_model *model, const struct ref_request *request, uint64_t line)
{
	if (model->config->translate)
		return request->address / model->config->line == line;
	for (unsigned i = 0; i < 4; i++)
		if (ref_bit(request->sectors, i) && (request->address + 32 * i) / model->config->line == line)
			return true;
	return false;
}

static bool ref_bypasses_reads(const struct gt_level_config *config)
{
	return config->bypass == GT_BYPASS_READS || config->bypass == GT_BYPASS_ALL;
}

/* Whether a load takes its sectors out of the level that it bypasses. */
static bool ref_dropping(const struct gt_level_config *config, uint8_t op)
{
	enum gt_operator operation = gt_op_operator(op);

	return config->operators == GT_OPERATORS_DROP && !config->shared && gt_op_action(op) == GT_LOAD && !ref_bypasses_reads(config) &&
	       (operation == GT_CG || operation == GT_CV || operation == GT_LU);
}

static bool ref_bypassed(const struct gt_level_config *config, uint8_t op)
{
	enum gt_action action = gt_op_action(op);
	enum gt_operator operation = gt_op_operator(op);

	if (ref_dropping(config, op))
		return true;
	if (action == GT_LOAD && config->operators != GT_OPERATORS_IGNORE && !config->shared && (operation == GT_CG || operation == GT_CV))
		return true;
	if (action == GT_LOAD)
		return ref_bypasses_reads(config);
	return config->bypass == GT_BYPASS_WRITES || config->bypass == GT_BYPASS_ALL;
}

/* opt: the request after the one that used a line last that would bring it in again, SIZE_MAX if there
 * is none, or one before it makes sectors of the line invalid. */
static size_t ref_next_use(const struct ref_model *model, const struct ref_cache *cache, const struct ref_line *line)
{
	const struct gt_level_config *config = model->config;

	for (size_t i = line->used_by + 1; i < model->n_order; i++) {
		const struct ref_request *request = &model->order[i];
		enum gt_action action = gt_op_action(request->op);
		bool atomic = action != GT_LOAD && action != GT_STORE, back = config->write == GT_WRITE_BACK;
		if (!config->shared && cache != &model->caches[request->sm])
			continue;
		if (!ref_looks_up(model, request, line->line))
			continue;
		if (!config->translate && ref_dropping(config, request->op))
			return SIZE_MAX;
		if (!config->translate && ref_bypassed(config, request->op))
			continue;
		if (config->translate || action == GT_LOAD)
			return i;
		if ((atomic && !back) || (action == GT_STORE && config->write == GT_WRITE_EVICT))
			return SIZE_MAX;
		if (atomic || config->allocate)
			return i;
	}
	return SIZE_MAX;
}

/* Later lines of one request are used later. */
static uint32_t ref_opt_victim(const struct ref_model *model, const struct ref_cache *cache,
			       const struct ref_line *lines, uint32_t ways)
{
	uint32_t farthest = 0;
	size_t latest = 0;

	for (uint32_t way = 0; way < ways; way++) {
		size_t next = ref_next_use(model, cache, &lines[way]);
		bool later = next == latest && next != SIZE_MAX && lines[way].line > lines[farthest].line;
		if (way == 0 || next > latest || later) {
			farthest = way;
			latest = next;
		}
	}
	return farthest;
}

/* The n-th line from the one that was used longest ago. */
static uint32_t ref_tail_victim(const struct ref_line *lines, uint32_t ways, uint32_t n)
{
	for (uint32_t way = 0; way < ways; way++) {
		uint32_t before = 0;
		for (uint32_t other = 0; other < ways; other++)
			before += (int64_t)lines[other].touched < (int64_t)lines[way].touched;
		if (before == n)
			return way;
	}
	abort();
}

static uint32_t ref_victim(struct ref_model *model, struct ref_cache *cache, uint32_t set)
{
	const char *name = model->config->replacement.policy->name;
	struct ref_line *lines = ref_lines(cache, set);
	uint32_t ways = model->set_ways[set];

	if (strcmp(name, "lru") == 0)
		return ref_lru_victim(lines, ways);
	if (strcmp(name, "tail") == 0) {
		uint64_t n = model->config->replacement.tail < ways ? model->config->replacement.tail : ways;
		return ref_tail_victim(lines, ways, (uint32_t)((gt_random(&cache->random) >> 32) * n >> 32));
	}
	if (strcmp(name, "fifo") == 0)
		return ref_fifo_victim(lines, ways);
	if (strcmp(name, "lfu") == 0)
		return model->config->replacement.lowest_way ? ref_lfu_lowest_way(lines, ways) : ref_lfu_victim(lines, ways);
	if (strcmp(name, "random") == 0)
		return (uint32_t)((gt_random(&cache->random) >> 32) * ways >> 32);
	if (strcmp(name, "weighted") == 0)
		return ref_weighted_victim(model, cache, ways);
	if (strcmp(name, "order") == 0)
		return model->config->replacement.order[cache->replaced[set]++ % model->config->replacement.turns];
	if (strcmp(name, "plru") == 0)
		return ref_plru_victim(cache, set, ways);
	if (strcmp(name, "opt") == 0)
		return ref_opt_victim(model, cache, lines, ways);
	return ref_srrip_victim(lines, ways);
}

static void ref_touch(struct ref_model *model, struct ref_cache *cache, struct ref_line *line)
{
	uint32_t set = ref_set(model, line->line);

	line->touched = ++cache->clock;
	line->used_by = model->now;
	line->uses++;
	line->interval = 0;
	ref_plru_touch(cache, set, model->set_ways[set], (uint32_t)(line - ref_lines(cache, set)));
}

/* Room for an absent line. */
static struct ref_line *ref_claim(struct ref_model *model, struct ref_cache *cache, uint64_t line,
				  struct ref_request cause)
{
	uint32_t set = ref_set(model, line), way = 0, ways = model->set_ways[set];
	struct ref_line *lines = ref_lines(cache, set);

	while (way < ways && lines[way].present)
		way++;
	if (way == ways) {
		way = ref_victim(model, cache, set);
		model->count.evictions++;
		ref_send_back(model, cause, &lines[way]);
	}
	lines[way] = (struct ref_line){.present = true, .line = line};
	ref_touch(model, cache, &lines[way]);
	lines[way].filled = lines[way].touched;
	lines[way].interval = 2;
	return &lines[way];
}

/* Fetches missing sectors, in groups of --fetch. */
static void ref_fill(struct ref_model *model, struct ref_line *line, const bool *missing, const bool *overwritten,
		     struct ref_request cause)
{
	uint64_t sector = model->config->sector, fetch = model->config->fetch;
	bool brought[REF_SECTORS] = {false};

	for (unsigned m = 0; m < ref_sectors(model); m++)
		for (unsigned s = 0; s < ref_sectors(model); s++)
			if (missing[m] && m * sector / fetch == s * sector / fetch && !line->valid[s] &&
			    !(overwritten && overwritten[s]))
				brought[s] = true;
	for (unsigned s = 0; s < ref_sectors(model); s++)
		line->valid[s] = line->valid[s] || brought[s];
	ref_send_fill(model, cause, line->line, brought);
}

/* Makes a line the next victim of LRU. */
static void ref_demote(struct ref_model *model, struct ref_cache *cache, struct ref_line *line)
{
	struct ref_line *lines = ref_lines(cache, ref_set(model, line->line));

	for (uint32_t way = 0; way < model->set_ways[ref_set(model, line->line)]; way++)
		if (lines[way].present && (int64_t)lines[way].touched <= (int64_t)line->touched)
			line->touched = lines[way].touched - 1;
}

static void ref_read(struct ref_model *model, struct ref_cache *cache, uint64_t number, const bool *used,
		     struct ref_request cause, uint64_t *lookups, uint64_t *hits)
{
	struct ref_line *line = ref_find(model, cache, number);
	bool absent = !line, missing[REF_SECTORS] = {false};

	if (absent)
		line = ref_claim(model, cache, number, cause);
	else
		ref_touch(model, cache, line);
	for (unsigned s = 0; s < ref_sectors(model); s++) {
		missing[s] = used[s] && !line->valid[s];
		*lookups += used[s];
		*hits += used[s] && !missing[s];
		model->lacks = model->lacks || missing[s];
		*(absent ? &model->count.line_misses : &model->count.sector_misses) += missing[s];
	}
	for (unsigned s = 0; model->config->pairs && hits == &model->count.read_hits && s < ref_sectors(model); s++)
		model->count.pair_misses += missing[s] && used[s ^ 1] && !missing[s ^ 1];
	ref_fill(model, line, missing, NULL, cause);
}

static bool ref_is_dirty(const struct ref_line *line)
{
	for (unsigned s = 0; s < REF_SECTORS; s++)
		if (line->present && line->dirty[s])
			return true;
	return false;
}

/* --dirty-ways: while too many lines of the set are dirty, the one that was touched longest ago is written back. */
static void ref_clean(struct ref_model *model, struct ref_cache *cache, uint32_t set, struct ref_request cause)
{
	struct ref_line *lines = ref_lines(cache, set), *oldest = NULL;
	uint64_t dirty = 0;

	for (uint32_t way = 0; way < model->set_ways[set]; way++) {
		if (!ref_is_dirty(&lines[way]))
			continue;
		dirty++;
		if (!oldest || (int64_t)lines[way].touched < (int64_t)oldest->touched)
			oldest = &lines[way];
	}
	if (dirty <= model->config->dirty_ways)
		return;
	ref_send_back(model, cause, oldest);
	memset(oldest->dirty, 0, sizeof oldest->dirty);
}

static void ref_write_here(struct ref_model *model, struct ref_cache *cache, struct ref_line *line, const bool *used, const bool *full,
			   struct ref_request cause)
{
	enum gt_partial partial = model->config->partial;
	bool missing[REF_SECTORS] = {false}, whole[REF_SECTORS] = {false};

	for (unsigned s = 0; s < ref_sectors(model); s++) {
		if (!used[s])
			continue;
		whole[s] = full[s] || line->valid[s];
		missing[s] = !whole[s];
		line->dirty[s] = line->written[s] = true;
	}
	ref_clean(model, cache, ref_set(model, line->line), cause);
	if (partial == GT_PARTIAL_FETCH)
		ref_fill(model, line, missing, whole, cause);
	for (unsigned s = 0; s < ref_sectors(model); s++)
		if (whole[s] || (used[s] && partial == GT_PARTIAL_KEEP))
			line->valid[s] = true;
}

static void ref_write(struct ref_model *model, struct ref_cache *cache, uint64_t number, const bool *used,
		      const bool *full, const struct ref_request *part)
{
	struct ref_line *line = ref_find(model, cache, number);
	enum gt_write mode = model->config->write;
	bool absent = !line;

	for (unsigned s = 0; s < ref_sectors(model); s++) {
		bool there = line && (line->valid[s] || line->written[s]);
		bool hit = used[s] && (model->config->tag_hits ? line != NULL : there);
		if (used[s] && !there)
			model->lacks = true;
		model->count.writes += used[s];
		model->count.write_hits += hit;
		*(absent ? &model->count.line_misses : &model->count.sector_misses) += used[s] && !hit;
	}
	if (line && mode == GT_WRITE_EVICT) {
		for (unsigned s = 0; s < ref_sectors(model); s++)
			model->count.dropped += line->valid[s];
		line->present = false;
		return;
	}
	if (line)
		ref_touch(model, cache, line);
	else if (model->config->allocate && mode != GT_WRITE_EVICT)
		line = ref_claim(model, cache, number, *part);
	if (mode == GT_WRITE_BACK && !line)
		ref_send(model, *part);
	else if (mode == GT_WRITE_BACK)
		ref_write_here(model, cache, line, used, full, *part);
	else if (line)
		for (unsigned s = 0; s < ref_sectors(model); s++)
			line->written[s] |= used[s], line->valid[s] |= full[s] || (used[s] && model->config->partial == GT_PARTIAL_KEEP);
}

/* Sectors of a line leave; those that are dirty are sent. */
static void ref_drop(struct ref_model *model, struct ref_line *line, const bool *used, struct ref_request cause)
{
	struct ref_line leaving = line ? *line : (struct ref_line){0};
	bool any = false, dirty = false;

	if (!line)
		return;
	for (unsigned s = 0; s < ref_sectors(model); s++) {
		leaving.dirty[s] = line->dirty[s] && used[s];
		dirty = dirty || leaving.dirty[s];
		model->count.dropped += used[s] && line->valid[s];
		line->valid[s] = line->valid[s] && !used[s];
		line->written[s] = line->written[s] && !used[s];
		line->dirty[s] = line->dirty[s] && !used[s];
		any = any || line->valid[s] || line->dirty[s];
	}
	line->present = any;
	if (dirty)
		ref_send_back(model, cause, &leaving);
}

static void ref_atomic(struct ref_model *model, struct ref_cache *cache, uint64_t number, const bool *used,
		       struct ref_request cause)
{
	struct ref_line *line;

	if (model->config->write == GT_WRITE_BACK) {
		ref_read(model, cache, number, used, cause, &model->count.atomics, &model->count.atomic_hits);
		line = ref_find(model, cache, number);
		for (unsigned s = 0; s < ref_sectors(model); s++)
			line->dirty[s] = line->dirty[s] || used[s];
		ref_clean(model, cache, ref_set(model, number), cause);
		return;
	}
	for (unsigned s = 0; s < ref_sectors(model); s++)
		model->count.atomics += used[s];
	ref_drop(model, ref_find(model, cache, number), used, cause);
}

/* A TLB: the page is there, or the request goes on. */
static void ref_translate(struct ref_model *model, struct ref_cache *cache, struct ref_request request)
{
	struct ref_line *line = ref_find(model, cache, request.address / model->config->line);
	struct ref_counters *count = &model->count;
	enum gt_action action = gt_op_action(request.op);
	uint64_t *lookups = action == GT_LOAD ? &count->reads : action == GT_STORE ? &count->writes : &count->atomics;
	uint64_t *hits = action == GT_LOAD    ? &count->read_hits
			 : action == GT_STORE ? &count->write_hits
					      : &count->atomic_hits;

	++*lookups;
	if (line) {
		++*hits;
		ref_touch(model, cache, line);
		return;
	}
	count->line_misses++;
	model->lacks = true;
	ref_claim(model, cache, request.address / model->config->line, request)->valid[0] = true;
	ref_send(model, request);
}

/* A line that a streaming load has used is the next to leave, or the first of those that may be. */
static void ref_load(struct ref_model *model, struct ref_cache *cache, uint64_t number, const bool *used, struct ref_request part)
{
	const struct gt_level_config *config = model->config;
	enum gt_operator operation = gt_op_operator(part.op);
	const bool oldest = config->replacement.policy == &gt_policy_lru || config->replacement.policy == &gt_policy_tail;

	ref_read(model, cache, number, used, part, &model->count.reads, &model->count.read_hits);
	if (config->operators != GT_OPERATORS_IGNORE && oldest &&
	    (operation == GT_CS || operation == GT_CV || operation == GT_LU))
		ref_demote(model, cache, ref_find(model, cache, number));
}

static void ref_serve(struct ref_model *model, struct ref_request request)
{
	const struct gt_level_config *config = model->config;
	struct ref_cache *cache = &model->caches[config->shared ? 0 : request.sm];
	enum gt_action action = gt_op_action(request.op);

	model->count.requests++;
	model->last_step = request.step > model->last_step ? request.step : model->last_step;
	if (config->translate) {
		ref_translate(model, cache, request);
		return;
	}
	if (ref_bypassed(config, request.op)) {
		model->count.bypassed += (uint64_t)__builtin_popcount(request.sectors);
		if (!ref_dropping(config, request.op)) {
			ref_send(model, request);
			return;
		}
	}
	for (unsigned first = 0; first < 4; first++) {
		uint64_t number = (request.address + 32 * first) / config->line;
		bool used[REF_SECTORS] = {false}, full[REF_SECTORS] = {false}, any = false;
		uint64_t covered[REF_SECTORS] = {0};
		struct ref_request part = request;
		if (first > 0 && number == (request.address + 32 * (first - 1)) / config->line)
			continue;
		part.sectors = part.full = 0;
		for (unsigned i = 0; i < 4; i++) {
			uint64_t address = request.address + 32 * i, s = address % config->line / config->sector;
			if (address / config->line != number || !ref_bit(request.sectors, i))
				continue;
			any = used[s] = true;
			part.sectors |= (uint8_t)(1U << i);
			part.full |= (uint8_t)(request.full & 1U << i);
			covered[s] += 32 * ref_bit(request.full, i);
			full[s] = covered[s] == config->sector;
		}
		if (any && ref_dropping(config, request.op))
			ref_drop(model, ref_find(model, cache, number), used, part);
		else if (any && action == GT_LOAD)
			ref_load(model, cache, number, used, part);
		else if (any && action == GT_STORE)
			ref_write(model, cache, number, used, full, &part);
		else if (any)
			ref_atomic(model, cache, number, used, part);
	}
	if ((action != GT_LOAD && config->write != GT_WRITE_BACK) || ref_dropping(config, request.op))
		ref_send(model, request);
}

/* By gcache(1), --emit all. */
static uint8_t ref_status(const struct ref_model *model, const struct ref_request *request)
{
	const struct gt_level_config *config = model->config;
	enum gt_action action = gt_op_action(request->op);
	bool performed_below = action != GT_LOAD && action != GT_STORE && config->write != GT_WRITE_BACK;

	if (!config->translate && (ref_bypassed(config, request->op) || performed_below))
		return GT_STATUS_NONE;
	return model->lacks ? GT_STATUS_MISS : GT_STATUS_HIT;
}

/* The whole of a kernel, in the order of arrival. `kept`, if not NULL, gets
 * the requests in this order with their status. */
static void ref_serve_all(struct ref_model *model, const struct ref_request *requests, size_t n, struct ref_request *kept)
{
	struct ref_request *order = malloc((n + !n) * sizeof *order);
	size_t next[REF_SMS] = {0}, served = 0;

	for (size_t i = 0; i < n && model->config->arrival == GT_ARRIVAL_STEP; i++)
		order[i] = requests[i];
	for (uint64_t turn = 0; served < n && model->config->arrival == GT_ARRIVAL_RR; turn++) {
		for (uint16_t sm = 0; sm < REF_SMS; sm++) {
			while (next[sm] < n && requests[next[sm]].sm != sm)
				next[sm]++;
			if (next[sm] == n)
				continue;
			order[served] = requests[next[sm]++];
			order[served++].step = turn;
		}
	}
	model->order = order;
	model->n_order = n;
	for (size_t i = 0; i < n; i++) {
		model->now = i;
		model->lacks = false;
		ref_serve(model, order[i]);
		order[i].status = ref_status(model, &order[i]);
	}
	if (kept)
		memcpy(kept, order, n * sizeof *kept);
	free(order);
}

static void ref_flush_cache(struct ref_model *model, struct ref_cache *cache, uint16_t sm)
{
	struct ref_request cause = {.step = model->last_step + 1, .sm = sm};

	for (uint32_t set = 0; set < model->sets; set++) {
		struct ref_line *lines = ref_lines(cache, set), *newest;
		do {
			newest = NULL;
			for (uint32_t way = 0; way < model->set_ways[set]; way++)
				if (lines[way].present && (!newest || (int64_t)lines[way].touched > (int64_t)newest->touched))
					newest = &lines[way];
			if (newest) {
				ref_send_back(model, cause, newest);
				newest->present = false;
			}
		} while (newest);
	}
	memset(cache->right, 0, (size_t)cache->sets * cache->ways * sizeof *cache->right);
	memset(cache->replaced, 0, sizeof cache->replaced);
}

static void ref_flush(struct ref_model *model)
{
	uint64_t before = model->count.sent_writes;

	for (uint16_t sm = 0; sm < REF_SMS && model->config->flush == GT_FLUSH_KERNEL; sm++)
		ref_flush_cache(model, &model->caches[sm], sm);
	model->count.flushed += model->count.sent_writes - before;
}

static struct ref_model *ref_open(const struct gt_level_config *config)
{
	struct ref_model *model = calloc(1, sizeof *model);
	uint32_t ways, most = 0;

	model->config = config;
	model->sets = gt_level_sets(config, &ways);
	for (uint32_t set = 0; set < model->sets; set++) {
		model->set_ways[set] = config->sets_listed ? config->set_ways[set] : ways;
		most = model->set_ways[set] > most ? model->set_ways[set] : most;
	}
	for (uint64_t sm = 0; sm < REF_SMS; sm++) {
		struct ref_cache *cache = &model->caches[sm];
		cache->sets = model->sets;
		cache->ways = most;
		cache->lines = calloc((size_t)model->sets * most, sizeof *cache->lines);
		cache->right = calloc((size_t)model->sets * most, sizeof *cache->right);
		cache->random = gt_random_state(config->replacement.seed, sm);
	}
	return model;
}

static void ref_close(struct ref_model *model)
{
	for (unsigned sm = 0; sm < REF_SMS; sm++) {
		free(model->caches[sm].lines);
		free(model->caches[sm].right);
	}
	free(model->sent);
	free(model);
}

#endif
