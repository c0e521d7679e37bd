/* SPDX-License-Identifier: MIT */
/* Counts by site and causes of misses against a second implementation, after gcache(1): a list of lines for each set, a flag for each
 * sector, all that was ever given to an instance in arrays, and the order of its lines in one long list. Hundreds of small levels. Then
 * the reuse distances against caches of many sizes. */
#include "base/random.h"
#include "cache/config.h"
#include "cache/level.h"
#include "check.h"
#include "counter/tables.h"
#include "stream/op.h"
#include <stdlib.h>

enum { SECTOR = 32, LINES = 512, SECTORS = 8, SMS = 3, PCS = 4, REQUESTS = 1500 };

static uint64_t random_state = 7;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

/* ---- a cache ---- */

struct line {
	int number;
	bool valid[SECTORS], held[SECTORS]; /* held: a store has written a part */
};

/* Each set is a list, the line that leaves next at the end. */
struct cache {
	int sets, ways;
	bool fifo;
	int n[LINES];
	struct line *lines; /* [set][ways] */
};

static void open_cache(struct cache *cache, int sets, int ways, bool fifo)
{
	*cache = (struct cache){.sets = sets, .ways = ways, .fifo = fifo, .lines = calloc((size_t)(sets * ways), sizeof *cache->lines)};
}

static struct line *of_set(struct cache *cache, int number)
{
	return cache->lines + number % cache->sets * cache->ways;
}

static int place(struct cache *cache, int number)
{
	for (int i = 0; i < cache->n[number % cache->sets]; i++)
		if (of_set(cache, number)[i].number == number)
			return i;
	return -1;
}

static void take_out(struct cache *cache, int number)
{
	struct line *lines = of_set(cache, number);
	int *n = &cache->n[number % cache->sets];

	for (int i = place(cache, number); i >= 0 && i + 1 < *n; i++)
		lines[i] = lines[i + 1];
	--*n;
}

/* The line, at the front of its list; NULL if it is not there and is not to be. */
static struct line *use(struct cache *cache, int number, bool allocate)
{
	struct line *lines = of_set(cache, number), line = {.number = number};
	int *n = &cache->n[number % cache->sets], at = place(cache, number);

	if (at < 0 && !allocate)
		return NULL;
	if (at >= 0 && cache->fifo)
		return &lines[at];
	if (at >= 0) {
		line = lines[at];
		take_out(cache, number);
	} else if (*n == cache->ways)
		--*n;
	for (int i = *n; i > 0; i--)
		lines[i] = lines[i - 1];
	++*n;
	lines[0] = line;
	return &lines[0];
}

/* ---- the reference ---- */

/* What the test draws. */
struct shape {
	bool shared, allocate, fifo;
	int sets, ways, sectors, fetch; /* fetch: in sectors, which have 32 bytes */
	enum gt_write write;
	enum gt_partial partial;
	enum gt_flush flush;
};

struct counts {
	uint64_t reads, read_hits, writes, atomics, compulsory, capacity, conflict, invalidated, partial_reads, elsewhere, others_hits, partial_writes;
	uint64_t distance[GT_DISTANCE_BINS];
};

struct instance {
	struct cache own, full;
	bool given[LINES][SECTORS], dropped[LINES][SECTORS];
	int order[LINES], n; /* lines, the last used first */
	int since[LINES][SECTORS];
};

struct reference {
	struct shape shape;
	struct instance *instances;
	bool everywhere[LINES][SECTORS];
	int brought_by[LINES][SECTORS]; /* SM + 1 */
	int writer[SMS][LINES];		/* pc + 1 */
	struct counts of[PCS];
};

static void empty(struct reference *reference)
{
	const struct shape *shape = &reference->shape;

	for (int i = 0; i < SMS; i++) {
		struct instance *instance = &reference->instances[i];
		free(instance->own.lines);
		free(instance->full.lines);
		memset(instance, 0, sizeof *instance);
		open_cache(&instance->own, shape->sets, shape->ways, shape->fifo);
		open_cache(&instance->full, 1, shape->sets * shape->ways, false);
	}
}

static void begin(struct reference *reference)
{
	memset(reference->everywhere, 0, sizeof reference->everywhere);
	memset(reference->brought_by, 0, sizeof reference->brought_by);
	memset(reference->writer, 0, sizeof reference->writer);
	memset(reference->of, 0, sizeof reference->of);
}

/* A request's part in one line. */
struct part {
	int line, sm, pc;
	enum gt_action action;
	bool used[SECTORS], full[SECTORS];
};

static bool in_group_of_missing(const struct shape *shape, const bool *missing, int sector)
{
	for (int other = 0; other < shape->sectors; other++)
		if (missing[other] && other / shape->fetch == sector / shape->fetch)
			return true;
	return false;
}

/* What a load, or an atomic that the level performs, does; missed[] are the sectors that it does not find. */
static void read_part(const struct shape *shape, struct cache *cache, const struct part *part, bool missed[SECTORS])
{
	struct line *line = use(cache, part->line, true);

	for (int s = 0; s < shape->sectors; s++)
		missed[s] = part->used[s] && !line->valid[s];
	for (int s = 0; s < shape->sectors; s++)
		line->valid[s] |= in_group_of_missing(shape, missed, s);
}

static void store_part(const struct shape *shape, struct cache *cache, const struct part *part)
{
	const bool back = shape->write == GT_WRITE_BACK;
	struct line *line;
	bool parts[SECTORS] = {false}, whole[SECTORS] = {false};

	if (shape->write == GT_WRITE_EVICT) {
		if (place(cache, part->line) >= 0)
			take_out(cache, part->line);
		return;
	}
	line = use(cache, part->line, shape->allocate);
	for (int s = 0; line && s < shape->sectors; s++) {
		parts[s] = part->used[s] && !part->full[s] && !line->valid[s];
		whole[s] = part->used[s] && (part->full[s] || shape->partial == GT_PARTIAL_KEEP || (back && shape->partial == GT_PARTIAL_FETCH));
	}
	for (int s = 0; line && s < shape->sectors; s++) {
		line->held[s] |= parts[s];
		line->valid[s] |= whole[s] || (back && shape->partial == GT_PARTIAL_FETCH && in_group_of_missing(shape, parts, s));
	}
}

/* An atomic that a lower level performs. */
static void pass_atomic(const struct shape *shape, struct cache *cache, const struct part *part)
{
	int at = place(cache, part->line);
	struct line *line = at < 0 ? NULL : &of_set(cache, part->line)[at];
	bool any = false;

	for (int s = 0; line && s < shape->sectors; s++) {
		if (part->used[s])
			line->valid[s] = line->held[s] = false;
		any |= line->valid[s];
	}
	if (line && !any)
		take_out(cache, part->line);
}

static void serve_part(const struct shape *shape, struct cache *cache, const struct part *part, bool missed[SECTORS])
{
	if (part->action == GT_STORE)
		store_part(shape, cache, part);
	else if (part->action == GT_LOAD || shape->write == GT_WRITE_BACK)
		read_part(shape, cache, part, missed);
	else
		pass_atomic(shape, cache, part);
}

/* How many lines were used since this one, which is the last used now; -1 if it never was. */
static int line_distance(struct instance *instance, int line)
{
	int at = 0;

	while (at < instance->n && instance->order[at] != line)
		at++;
	const int distance = at == instance->n ? -1 : at;
	if (at == instance->n)
		instance->n++;
	for (; at > 0; at--)
		instance->order[at] = instance->order[at - 1];
	instance->order[0] = line;
	return distance;
}

static void age(const struct shape *shape, struct instance *instance, int line)
{
	const int distance = line_distance(instance, line);

	for (int s = 0; s < shape->sectors; s++)
		if (instance->since[line][s] < distance)
			instance->since[line][s] = distance;
}

/* Before the caches are asked. */
static void count_distances(const struct shape *shape, struct instance *instance, const struct part *part, struct counts *counts)
{
	const bool reads = part->action == GT_LOAD || (part->action != GT_STORE && shape->write == GT_WRITE_BACK);
	const bool allocates = part->action == GT_STORE && shape->write != GT_WRITE_EVICT && shape->allocate;

	if (reads || allocates)
		age(shape, instance, part->line);
	for (int s = 0; s < shape->sectors; s++)
		if (part->used[s] && part->action == GT_LOAD && instance->given[part->line][s] && !instance->dropped[part->line][s])
			counts->distance[gt_distance_bin((uint64_t)instance->since[part->line][s])]++;
	for (int s = 0; s < shape->sectors; s++) {
		const bool whole = part->full[s] || shape->partial == GT_PARTIAL_KEEP || (shape->write == GT_WRITE_BACK && shape->partial == GT_PARTIAL_FETCH);
		if (part->used[s] && (reads || (part->action == GT_STORE && shape->write != GT_WRITE_EVICT && whole)))
			instance->since[part->line][s] = 0;
	}
}

static void count_cause(const struct reference *reference, const struct instance *instance, const struct part *part, int sector, bool in_full,
			struct counts *counts)
{
	if (!instance->given[part->line][sector]) {
		counts->compulsory++;
		counts->elsewhere += !reference->shape.shared && reference->everywhere[part->line][sector];
	} else if (instance->dropped[part->line][sector])
		counts->invalidated++;
	else
		++*(in_full ? &counts->conflict : &counts->capacity);
}

static void serve(struct reference *reference, const struct part *part)
{
	const struct shape *shape = &reference->shape;
	const int of = shape->shared ? 0 : part->sm, at_line = part->line;
	struct instance *instance = &reference->instances[of];
	struct counts *counts = &reference->of[part->pc];
	bool missed[SECTORS] = {false}, missed_in_full[SECTORS] = {false};
	const bool here = place(&instance->own, at_line) >= 0;
	const struct line none = {.number = -1}, before = here ? of_set(&instance->own, at_line)[place(&instance->own, at_line)] : none;
	const bool places = here || (part->action == GT_STORE && shape->allocate && shape->write != GT_WRITE_EVICT);

	count_distances(shape, instance, part, counts);
	serve_part(shape, &instance->own, part, missed);
	serve_part(shape, &instance->full, part, missed_in_full);
	for (int s = 0; s < shape->sectors; s++) {
		if (!part->used[s])
			continue;
		*(part->action == GT_LOAD ? &counts->reads : part->action == GT_STORE ? &counts->writes : &counts->atomics) += 1;
		if (part->action == GT_LOAD && !missed[s]) {
			counts->read_hits++;
			counts->others_hits += shape->shared && reference->brought_by[at_line][s] && reference->brought_by[at_line][s] != part->sm + 1;
		}
		if (part->action == GT_LOAD && missed[s])
			count_cause(reference, instance, part, s, !missed_in_full[s], counts);
		const int writer = reference->writer[of][at_line];
		if (missed[s] && before.held[s])
			reference->of[writer ? writer - 1 : part->pc].partial_reads++;
		if (part->action == GT_STORE && places && !part->full[s] && !before.valid[s] && shape->write != GT_WRITE_EVICT) {
			reference->writer[of][at_line] = part->pc + 1;
			counts->partial_reads += shape->write == GT_WRITE_BACK && shape->partial == GT_PARTIAL_FETCH;
		}
	}
	const int at = place(&instance->own, at_line);
	for (int s = 0; s < shape->sectors; s++) {
		const bool now = at >= 0 && of_set(&instance->own, at_line)[at].valid[s];
		if (now && !before.valid[s]) {
			instance->given[at_line][s] = reference->everywhere[at_line][s] = true;
			instance->dropped[at_line][s] = false;
			reference->brought_by[at_line][s] = part->sm + 1;
		}
		if ((part->action == GT_STORE && shape->write == GT_WRITE_EVICT) ||
		    (part->action != GT_STORE && part->action != GT_LOAD && shape->write != GT_WRITE_BACK && part->used[s]))
			instance->dropped[at_line][s] = instance->given[at_line][s];
	}
}

/* A request of a row is served line by line. */
static void serve_row(struct reference *reference, const struct gt_rows *rows, size_t i)
{
	const struct shape *shape = &reference->shape;
	const uint64_t line_bytes = (uint64_t)shape->sectors * SECTOR;
	struct part part = {.line = -1, .sm = rows->sm[i], .pc = (int)rows->pc[i], .action = gt_op_action(rows->op[i])};

	for (uint64_t s = 0; s <= 4; s++) {
		const uint64_t address = rows->address[i] + 32 * s;
		const int line = s < 4 && rows->sectors[i] >> s & 1 ? (int)(address / line_bytes) : s < 4 ? part.line : -1;
		if (part.line >= 0 && line != part.line) {
			serve(reference, &part);
			memset(part.used, 0, sizeof part.used);
			memset(part.full, 0, sizeof part.full);
		}
		part.line = line;
		if (s == 4 || !(rows->sectors[i] >> s & 1))
			continue;
		part.used[address % line_bytes / SECTOR] = true;
		part.full[address % line_bytes / SECTOR] = rows->full[i] >> s & 1;
		reference->of[rows->pc[i]].partial_writes += part.action == GT_STORE && !(rows->full[i] >> s & 1);
	}
}

/* ---- the level ---- */

static void make_rows(struct gt_rows *rows, int lines, bool stores, bool atomics)
{
	static uint64_t step;

	rows->kind = GT_REQUESTS;
	rows->scheduled = true;
	rows->n = REQUESTS;
	for (size_t i = 0; i < REQUESTS; i++) {
		const uint32_t what = draw(8);
		const enum gt_action action = what < 2 && stores ? GT_STORE : what == 2 && atomics ? GT_ATOMIC : GT_LOAD;
		rows->block[i] = rows->an[i] = 0;
		rows->warp[i] = 0;
		rows->pc[i] = draw(PCS);
		rows->op[i] = gt_op(action, GT_GLOBAL, GT_OPERATOR_NONE);
		rows->address[i] = (uint64_t)draw(draw(2) ? (uint32_t)lines : (uint32_t)lines / 4 + 1) * GT_LINE;
		rows->sectors[i] = (uint8_t)(draw(2) ? 15 : 1 + draw(15));
		rows->full[i] = action != GT_STORE ? 0 : (uint8_t)(rows->sectors[i] & (draw(2) ? 15 : draw(16)));
		rows->threads[i] = 32;
		rows->step[i] = step += draw(2);
		rows->sm[i] = (uint16_t)draw(SMS);
	}
}

static int drop(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context, (void)error;
	rows->n = 0;
	return 0;
}

static struct gt_level *open_level(const struct shape *shape)
{
	static const char *const writes[] = {[GT_WRITE_BACK] = "back", [GT_WRITE_THROUGH] = "through", [GT_WRITE_EVICT] = "evict"};
	static const char *const partials[] = {[GT_PARTIAL_KEEP] = "keep", [GT_PARTIAL_READ] = "read", [GT_PARTIAL_FETCH] = "fetch"};
	static const char *const flushes[] = {[GT_FLUSH_KERNEL] = "kernel", [GT_FLUSH_NEVER] = "never", [GT_FLUSH_BETWEEN] = "between"};
	char size[24], ways[24], line[24], fetch[24];
	const char *const parameters[] = {"scope", shape->shared ? "shared" : "private", "size", size, "ways", ways, "line", line, "sector", "32",
					  "fetch", fetch, "write", writes[shape->write], "allocate", shape->allocate ? "yes" : "no", "partial",
					  partials[shape->partial], "flush", flushes[shape->flush], "replace", shape->fifo ? "fifo" : "lru", "by", "site", NULL};
	struct gt_level_config config;
	struct gt_error error = {""};
	struct gt_level *level = NULL;

	snprintf(line, sizeof line, "%d", shape->sectors * SECTOR);
	snprintf(size, sizeof size, "%d", shape->sets * shape->ways * shape->sectors * SECTOR);
	snprintf(ways, sizeof ways, "%d", shape->ways);
	snprintf(fetch, sizeof fetch, "%d", shape->fetch * SECTOR);
	if (gt_level_configure("l2", parameters, NULL, NULL, &config, &error) == 0) {
		config.causes = true;
		level = gt_level_open(&config, &error);
	}
	if (!level)
		printf("# %s\n", error.text);
	return level;
}

static struct shape draw_shape(void)
{
	struct shape shape = {.shared = draw(2), .allocate = draw(2), .fifo = draw(4) == 0, .sets = 1 + (int)draw(6), .ways = 1 + (int)draw(6),
			      .sectors = 1 << draw(4), .fetch = 1, .write = (enum gt_write)draw(3),
			      .partial = (enum gt_partial)draw(3), .flush = (enum gt_flush)draw(3)};

	while (draw(3) == 0 && shape.fetch < shape.sectors)
		shape.fetch *= 2;
	return shape;
}

static bool same_count(const struct gt_count *count, int pc, const char *name, uint64_t expected)
{
	char full[GT_COUNT_NAME];

	snprintf(full, sizeof full, "0x%x -.%s", (unsigned)pc, name);
	const uint64_t found = gt_count_value(count, full, 0);
	if (found != expected)
		printf("# %s is %" PRIu64 ", expected %" PRIu64 "\n", full, found, expected);
	return found == expected;
}

static bool same_distances(const struct gt_count *count, int pc, const struct counts *expected)
{
	char full[GT_COUNT_NAME];
	bool same = true;

	snprintf(full, sizeof full, "0x%x -.distance", (unsigned)pc);
	const struct gt_count_entry *entry = gt_count_find(count, full);
	for (size_t bin = 0; bin < GT_DISTANCE_BINS; bin++)
		same &= (entry && bin < entry->n ? entry->array[bin] : 0) == expected->distance[bin];
	if (!same)
		printf("# %s differs\n", full);
	return same;
}

static bool same_counts(const struct reference *reference, const struct gt_count *count)
{
	bool same = true;

	for (int pc = 0; pc < PCS; pc++) {
		const struct counts *of = &reference->of[pc];
#define SAME(NAME) same &= same_count(count, pc, #NAME, of->NAME);
		SAME(reads) SAME(read_hits) SAME(writes) SAME(atomics) SAME(compulsory) SAME(capacity) SAME(conflict) SAME(invalidated)
		SAME(partial_reads) SAME(elsewhere) SAME(others_hits) SAME(partial_writes)
#undef SAME
		/* What a fetch brings beside a sector is as near, too: caches of many sizes test that. */
		if (reference->shape.fetch == 1)
			same &= same_distances(count, pc, of);
	}
	return same;
}

/* Three kernels through both. */
static bool agree(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(REQUESTS, &error), *out = gt_rows_new(64, &error);
	struct gt_sink sink = {out, drop, NULL};
	struct reference *reference = calloc(1, sizeof *reference);
	struct gt_count count;
	const int lines = 4 + (int)draw(60);
	const bool stores = draw(4), atomics = draw(2);

	reference->shape = draw_shape();
	reference->instances = calloc(SMS, sizeof *reference->instances);
	empty(reference);
	struct gt_level *level = open_level(&reference->shape);
	bool same = level != NULL;
	for (int kernel = 0; same && kernel < 3; kernel++) {
		make_rows(rows, lines, stores, atomics);
		gt_level_begin(level);
		begin(reference);
		for (size_t i = 0; i < rows->n; i++)
			serve_row(reference, rows, i);
		same = gt_level_take(level, rows, &sink, &error) == 0 && gt_level_finish(level, &sink, &error) == 0 &&
		       gt_level_count(level, "x", 1, &count, &error) == 0;
		if (same)
			same = same_counts(reference, &count);
		gt_count_clear(&count);
		if (reference->shape.flush != GT_FLUSH_NEVER)
			empty(reference);
	}
	if (!same)
		printf("# shared %d allocate %d fifo %d sets %d ways %d sectors %d fetch %d write %d partial %d flush %d; %s\n", reference->shape.shared,
		       reference->shape.allocate, reference->shape.fifo, reference->shape.sets, reference->shape.ways, reference->shape.sectors,
		       reference->shape.fetch, reference->shape.write, reference->shape.partial, reference->shape.flush, error.text);
	gt_level_close(level);
	for (int i = 0; i < SMS; i++) {
		free(reference->instances[i].own.lines);
		free(reference->instances[i].full.lines);
	}
	free(reference->instances);
	free(reference);
	gt_rows_free(rows);
	gt_rows_free(out);
	return same;
}

static void levels_agree(void)
{
	for (int i = 0; i < 400; i++)
		if (!agree()) {
			CHECK(false);
			return;
		}
}

/* The hits of loads in a cache of one set of so many lines. */
static uint64_t hits_in(const struct shape *shape, int lines, const struct gt_rows *rows)
{
	struct reference *alone = calloc(1, sizeof *alone);
	uint64_t hits = 0;

	alone->shape = *shape;
	alone->shape.sets = 1;
	alone->shape.ways = lines;
	alone->shape.fifo = false;
	alone->instances = calloc(SMS, sizeof *alone->instances);
	empty(alone);
	for (size_t i = 0; i < rows->n; i++)
		serve_row(alone, rows, i);
	for (int pc = 0; pc < PCS; pc++)
		hits += alone->of[pc].read_hits;
	for (int i = 0; i < SMS; i++) {
		free(alone->instances[i].own.lines);
		free(alone->instances[i].full.lines);
	}
	free(alone->instances);
	free(alone);
	return hits;
}

/* All stores allocate and nothing is dropped: a cache of any number of lines hits the nearer sectors. With stores a miss fetches one
 * sector. */
static bool agree_on_sizes(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(REQUESTS, &error), *out = gt_rows_new(64, &error);
	struct gt_sink sink = {out, drop, NULL};
	struct gt_count count;
	struct shape shape = draw_shape();
	const bool stores = draw(2);
	bool same = true;

	shape.shared = shape.allocate = true;
	if (shape.write == GT_WRITE_EVICT)
		shape.write = GT_WRITE_BACK;
	if (stores)
		shape.fetch = 1;
	make_rows(rows, 4 + (int)draw(60), stores, stores && shape.write == GT_WRITE_BACK);
	struct gt_level *level = open_level(&shape);
	CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
	CHECK_EQUAL(gt_level_count(level, "x", 1, &count, &error), 0);
	const struct gt_count_entry *entry = gt_count_find(&count, "distance");
	uint64_t nearer = 0;
	for (unsigned bin = 0; same && entry && bin < entry->n; bin++) {
		nearer += entry->array[bin];
		if (bin > 0 && gt_distance_end(bin) == gt_distance_end(bin - 1))
			continue;
		const uint64_t hits = hits_in(&shape, (int)gt_distance_end(bin), rows);
		same = bin + 1 < entry->n && gt_distance_end(bin + 1) == gt_distance_end(bin) ? true : hits == nearer;
		if (!same)
			printf("# %d lines: %" PRIu64 " sectors are nearer, %" PRIu64 " hit\n", (int)gt_distance_end(bin), nearer, hits);
	}
	gt_count_clear(&count);
	gt_level_close(level);
	gt_rows_free(rows);
	gt_rows_free(out);
	return same;
}

static void caches_of_any_size_agree(void)
{
	for (int i = 0; i < 40; i++)
		if (!agree_on_sizes()) {
			CHECK(false);
			return;
		}
}

/* Each distance is in one bin, whose ends hold it; a bin is a quarter of a doubling at most. */
static void bins_are_in_order(void)
{
	for (uint64_t distance = 0; distance < 100000; distance++) {
		const unsigned bin = gt_distance_bin(distance);
		CHECK(distance < gt_distance_end(bin));
		CHECK(bin == 0 || distance >= gt_distance_end(bin - 1));
	}
	CHECK_EQUAL(gt_distance_bin(UINT32_MAX), GT_DISTANCE_BINS - 1);
	CHECK_EQUAL(gt_distance_end(GT_DISTANCE_BINS - 1), (int64_t)1 << 32);
	CHECK_EQUAL(gt_distance_bin(9), gt_distance_bin(8));
	CHECK_EQUAL(gt_distance_end(gt_distance_bin(8)), 10);
}

int main(void)
{
	RUN(bins_are_in_order);
	RUN(caches_of_any_size_agree);
	RUN(levels_agree);
	return check_report();
}
