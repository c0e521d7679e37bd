/* SPDX-License-Identifier: MIT */
/* Requests with hints against a slow, simple cache, on random streams: with each policy for sets of four ways, private and
 * shared, with and without a persisting window, the counts and the requests sent must be equal. */
#include "base/random.h"
#include "cache/config.h"
#include "cache/level.h"
#include "check.h"
#include "stream/hint.h"
#include "stream/op.h"

#define SETS 4
#define WAYS 4
#define LINES 64

static uint64_t random_state = 7;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)((gt_random(&random_state) >> 32) * below >> 32);
}

static unsigned ones(unsigned mask)
{
	return (unsigned)__builtin_popcount(mask);
}

/* ---- the reference: a set is a list of lines, the last used (or filled) first ---- */

enum policy { LRU, FIFO, LFU, SRRIP, PLRU, RANDOM, WEIGHTED, POLICIES };
static const char *const policies[POLICIES] = {"lru", "fifo", "lfu", "srrip", "plru", "random", "weighted:1/2,1/4,1/8,1/8"};

struct line {
	uint64_t number;
	unsigned valid, dirty;
	int rank; /* 0 is evicted first, 2 last */
	int way;
	uint64_t filled, used, uses;
	int interval; /* SRRIP */
};

struct reference {
	struct line sets[SETS][WAYS];
	int n[SETS];
	uint64_t clock, random;
	bool right[SETS][3]; /* PLRU: where the next victim is, of all ways, the lower two, the upper two */
	enum policy policy;
	bool shared;
	uint64_t window, aside; /* lines from 0 on that persist; ways of a set set aside for them */
	uint64_t reads, read_hits, writes, write_hits, line_misses, sector_misses, evictions, bypassed;
	uint64_t prefetches, prefetch_hits, discards, discarded;
	uint64_t sent_reads, sent_writes, sent_prefetches, sent_discards;
};

static struct line *find(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS];

	for (int i = 0; i < ref->n[number % SETS]; i++)
		if (set[i].number == number)
			return &set[i];
	return NULL;
}

/* To the front. */
static struct line *use(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS], *at = find(ref, number), line = *at;

	for (; at > set; at--)
		*at = at[-1];
	*at = line;
	return at;
}

static void erase(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS], *at = find(ref, number);

	ref->n[number % SETS]--;
	for (; at < set + ref->n[number % SETS]; at++)
		*at = at[1];
}

/* What the policy notes of a line that is used or has come in. */
static void note(struct reference *ref, struct line *line, bool comes)
{
	bool *right = ref->right[line->number % SETS];

	line->used = ref->clock++;
	line->uses = comes ? 1 : line->uses + 1;
	line->interval = comes ? 2 : 0;
	right[0] = line->way < 2;
	right[1 + line->way / 2] = line->way % 2 == 0;
}

static struct line *touch(struct reference *ref, uint64_t number)
{
	struct line *line = use(ref, number);

	note(ref, line, false);
	return line;
}

static struct line *in_way(struct line *set, int way)
{
	while (set->way != way)
		set++;
	return set;
}

static struct line *distant(struct line *set)
{
	for (;;) {
		for (int way = 0; way < WAYS; way++)
			if (in_way(set, way)->interval == 3)
				return in_way(set, way);
		for (int i = 0; i < WAYS; i++)
			set[i].interval++;
	}
}

/* That of a full set whose line the policy would replace. */
static struct line *choose(struct reference *ref, struct line *set, const bool *right)
{
	struct line *chosen = &set[WAYS - 1];
	double drawn;

	switch (ref->policy) {
	case LRU: return chosen;
	case SRRIP: return distant(set);
	case PLRU: return in_way(set, 2 * right[0] + right[1 + right[0]]);
	case RANDOM: return in_way(set, (int)((gt_random(&ref->random) >> 32) * WAYS >> 32));
	case WEIGHTED:
		drawn = (double)(gt_random(&ref->random) >> 11) / 9007199254740992.0;
		return in_way(set, drawn < 0.5 ? 0 : drawn < 0.75 ? 1 : drawn < 0.875 ? 2 : 3);
	default: break;
	}
	for (int i = 0; i < WAYS; i++)
		if (ref->policy == FIFO ? set[i].filled < chosen->filled
					: set[i].uses < chosen->uses || (set[i].uses == chosen->uses && set[i].used < chosen->used))
			chosen = &set[i];
	return chosen;
}

/* The policy's victim, if it has the lowest rank; else the least recent line that has it. */
static struct line *victim(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS], *chosen = choose(ref, set, ref->right[number % SETS]);
	int lowest = 2;

	for (int i = 0; i < WAYS; i++)
		lowest = set[i].rank < lowest ? set[i].rank : lowest;
	for (int i = WAYS; i-- > 0 && chosen->rank > lowest;)
		if (set[i].rank == lowest)
			chosen = &set[i];
	return chosen;
}

/* The lowest way that no line of the set has. */
static int vacant_way(const struct line *set, int n)
{
	int way = 0;

	for (int i = 0; i < n; i++)
		if (set[i].way == way) {
			way++;
			i = -1;
		}
	return way;
}

static struct line *add(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS], *line;
	int *n = &ref->n[number % SETS];

	if (*n == WAYS) {
		struct line *out = victim(ref, number);
		ref->evictions++;
		ref->sent_writes += ones(out->dirty);
		erase(ref, out->number);
	}
	set[*n] = (struct line){.number = number, .rank = 1, .way = vacant_way(set, *n), .filled = ref->clock++};
	++*n;
	line = use(ref, number);
	note(ref, line, true);
	return line;
}

static void bring(struct reference *ref, uint64_t number, unsigned wanted, uint64_t *hits, uint64_t *sent)
{
	struct line *line = find(ref, number);

	*hits += line ? ones(line->valid & wanted) : 0;
	line = line ? touch(ref, number) : add(ref, number);
	*sent += ones(wanted & ~line->valid);
	line->valid |= wanted;
}

/* Returns whether it missed. */
static bool access_line(struct reference *ref, uint64_t number, unsigned sectors, bool stores, enum gt_priority priority,
			unsigned fetch)
{
	struct line *line = find(ref, number);
	unsigned hits = line ? sectors & (stores ? line->valid | line->dirty : line->valid) : 0, missing = sectors & ~hits;

	*(stores ? &ref->writes : &ref->reads) += ones(sectors);
	*(stores ? &ref->write_hits : &ref->read_hits) += ones(hits);
	*(line ? &ref->sector_misses : &ref->line_misses) += ones(missing);
	if (!stores && priority == GT_NO_ALLOCATE) {
		if (line)
			touch(ref, number);
		ref->sent_reads += ones(missing);
		return false;
	}
	if (!line)
		line = add(ref, number);
	else if (priority != GT_EVICT_UNCHANGED)
		line = touch(ref, number);
	if (stores) {
		line->valid |= sectors;
		line->dirty |= sectors;
		return missing != 0;
	}
	unsigned brought = missing;
	for (unsigned s = 0; s < 4; s++)
		if (missing >> s & 1)
			brought |= fetch >= 128 ? 15U : fetch == 64 ? 3U << (s & 2) : 1U << s;
	brought &= ~line->valid;
	ref->sent_reads += ones(brought);
	line->valid |= brought;
	return missing != 0;
}

static void rank(struct reference *ref, uint64_t number, enum gt_priority priority)
{
	struct line *line = find(ref, number);

	if (line && priority >= GT_EVICT_NORMAL && priority <= GT_EVICT_LAST && priority != GT_EVICT_UNCHANGED)
		line->rank = priority == GT_EVICT_FIRST ? 0 : priority == GT_EVICT_LAST ? 2 : 1;
}

/* A line of the window: those beyond the ways aside, the least recent ones, become normal. */
static void persist(struct reference *ref, uint64_t number)
{
	struct line *set = ref->sets[number % SETS];
	uint64_t last = 0;

	rank(ref, number, GT_EVICT_LAST);
	for (int i = 0; find(ref, number) && i < ref->n[number % SETS]; i++)
		if (set[i].rank == 2 && ++last > ref->aside)
			set[i].rank = 1;
}

static void serve(struct reference *ref, uint64_t number, unsigned sectors, bool stores, uint16_t hint)
{
	enum gt_line_action action = gt_hint_action(hint);
	enum gt_priority priority = ref->shared ? gt_hint_l2(hint) : gt_hint_l1(hint);
	bool persists = ref->shared && priority == GT_PRIORITY_NONE && number < ref->window;
	uint64_t ignored = 0;

	if (action != GT_ACCESS_DATA && !ref->shared && action != GT_PREFETCH_L1) {
		ref->bypassed += ones(sectors);
		*(action == GT_PREFETCH_L2 ? &ref->sent_prefetches : &ref->sent_discards) += ones(sectors);
		return;
	}
	if (action == GT_PREFETCH_L1 || action == GT_PREFETCH_L2) {
		ref->prefetches += ones(sectors);
		bring(ref, number, sectors, &ref->prefetch_hits, &ref->sent_prefetches);
	} else if (action != GT_ACCESS_DATA) {
		struct line *line = find(ref, number);
		ref->discards += ones(sectors);
		if (line && action == GT_DISCARD_L2) {
			ref->discarded += ones(line->dirty & sectors);
			line->dirty &= ~sectors;
			line->valid &= ~sectors;
			if (!(line->valid | line->dirty))
				erase(ref, number);
		}
	} else {
		unsigned fetch = ref->shared ? gt_hint_fetch(hint) : 0;
		if (access_line(ref, number, sectors, stores, priority, fetch) && fetch == 256)
			bring(ref, number ^ 1, 15, &ignored, &ref->sent_reads);
	}
	if (persists)
		persist(ref, number);
	else
		rank(ref, number, priority);
}

/* ---- the level ---- */

static uint64_t sent_sectors[2]; /* as accesses; as lines */

static int gather(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context, (void)error;
	for (size_t i = 0; i < rows->n; i++)
		sent_sectors[gt_hint_action(gt_rows_hint(rows, i)) != GT_ACCESS_DATA] += ones(rows->sectors[i]);
	rows->n = 0;
	return 0;
}

static void make_requests(struct gt_rows *rows, bool shared)
{
	static const enum gt_line_action actions[] = {GT_ACCESS_DATA, GT_ACCESS_DATA, GT_ACCESS_DATA, GT_ACCESS_DATA,
						      GT_PREFETCH_L1, GT_PREFETCH_L2, GT_DISCARD_L2, GT_APPLY_PRIORITY_L2};

	rows->kind = GT_REQUESTS;
	rows->has_hints = true;
	rows->n = rows->capacity;
	for (size_t i = 0; i < rows->n; i++) {
		enum gt_line_action action = actions[draw(8)];
		bool stores = action == GT_ACCESS_DATA && draw(3) == 0;
		rows->op[i] = gt_op(stores ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
		rows->address[i] = (uint64_t)draw(draw(2) ? LINES : LINES / 4) * GT_LINE;
		rows->sectors[i] = action != GT_ACCESS_DATA || draw(2) ? 15 : (uint8_t)(1 + draw(15));
		rows->full[i] = stores ? rows->sectors[i] : 0;
		rows->threads[i] = 1;
		rows->hint[i] = gt_hint((enum gt_priority)draw(shared || stores ? GT_NO_ALLOCATE : GT_PRIORITIES),
					(enum gt_priority)draw(GT_NO_ALLOCATE), (enum gt_fetch_size)draw(4), action);
	}
}

static uint64_t counted(const struct gt_count *count, const char *name)
{
	return gt_count_value(count, name, 0);
}

static void compare(const struct gt_count *count, const struct reference *ref)
{
#define SAME(NAME) CHECK_EQUAL(counted(count, #NAME), ref->NAME)
	SAME(reads);
	SAME(read_hits);
	SAME(writes);
	SAME(write_hits);
	SAME(line_misses);
	SAME(sector_misses);
	SAME(evictions);
	SAME(bypassed);
	SAME(prefetches);
	SAME(prefetch_hits);
	SAME(discards);
	SAME(discarded);
	SAME(sent_reads);
	SAME(sent_writes);
	SAME(sent_prefetches);
	SAME(sent_discards);
	/* The requests sent are those counted. */
	CHECK_EQUAL(sent_sectors[0], ref->sent_reads + ref->sent_writes);
	CHECK_EQUAL(sent_sectors[1], ref->sent_prefetches + ref->sent_discards);
}

static const struct gt_role *role_of(const char *option)
{
	for (size_t i = 0; i < gt_roles_n; i++)
		if (strcmp(gt_roles[i].option, option) == 0)
			return &gt_roles[i];
	return NULL;
}

static struct gt_level *open_level(bool shared, enum policy policy, const char *hints)
{
	static struct gt_level_config config;
	struct gt_level_settings settings = {.role = role_of(shared ? "l2" : "l1"), .name = "level"};
	struct gt_error error = {""};
	const struct {
		enum gt_parameter_id id;
		const char *text;
	} given[] = {{GT_LEVEL_SIZE, "2K"}, {GT_LEVEL_WAYS, "4"}, {GT_LEVEL_INDEX, "mod"}, {GT_LEVEL_WRITE, "back"},
		     {GT_LEVEL_PARTIAL, "keep"}, {GT_LEVEL_ALLOCATE, "yes"}, {GT_LEVEL_FLUSH, "never"}, {GT_LEVEL_LINE, "128"},
		     {GT_LEVEL_SECTOR, "32"}, {GT_LEVEL_FETCH, "sector"}, {GT_LEVEL_BYPASS, "none"}, {GT_LEVEL_HINTS, hints},
		     {GT_LEVEL_REPLACE, policies[policy]}};

	for (size_t i = 0; i < sizeof given / sizeof given[0]; i++)
		CHECK_EQUAL(gt_level_set(&settings, given[i].id, given[i].text, &error), 0);
	CHECK_EQUAL(gt_level_resolve(&settings, NULL, NULL, &config, &error), 0);
	CHECK_TEXT(error.text, "");
	return gt_level_open(&config, &error);
}

static void hints_agree_with_the_reference(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(64, &error);
	struct gt_sink sink = {gt_rows_new(32, &error), gather, NULL};

	for (int round = 0; round < 200 * POLICIES; round++) {
		bool shared = round & 1;
		enum policy policy = (enum policy)(round / 2 % POLICIES);
		struct gt_level *level = open_level(shared, policy, "honour");
		struct reference ref = {.shared = shared, .policy = policy, .window = draw(2) ? draw(LINES) : 0, .aside = draw(WAYS + 2)};
		struct gt_count count;

		sent_sectors[0] = sent_sectors[1] = 0;
		/* Seed 1 is the default; the set-aside is rounded up to ways. */
		ref.random = gt_random_state(1, 0);
		gt_level_begin(level);
		gt_level_window(level, &(struct gt_window){.bytes = ref.window * GT_LINE, .hit_ratio = GT_RATIO_ONE,
							   .hit = GT_PROPERTY_PERSISTING},
				ref.aside ? ref.aside * SETS * GT_LINE - draw(SETS * GT_LINE) : 0);
		for (int batch = 0; batch < 6; batch++) {
			make_requests(rows, shared);
			CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
			for (size_t i = 0; i < rows->n; i++)
				serve(&ref, rows->address[i] / GT_LINE, rows->sectors[i], gt_op_action(rows->op[i]) == GT_STORE,
				      rows->hint[i]);
		}
		CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
		gather(NULL, sink.rows, &error);
		CHECK_EQUAL(gt_level_count(level, "level", 1, &count, &error), 0);
		compare(&count, &ref);
		gt_count_clear(&count);
		gt_level_close(level);
	}
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

/* A working set of twice the cache, half of it in a window that persists: that half stays if there
 * is room set aside for it. */
static void windows_persist(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(16, &error);
	struct gt_sink sink = {gt_rows_new(32, &error), gather, NULL};
	const uint64_t window_hits[] = {0, 0, 7 * 12 * 4}, aside[] = {2048, 0, 1536};

	for (int with = 0; with < 3; with++) {
		struct gt_level *level = open_level(true, LRU, "honour");
		struct gt_window window = {.base = 0, .bytes = with ? 12 * GT_LINE : 0, .hit_ratio = GT_RATIO_ONE,
					   .hit = GT_PROPERTY_PERSISTING};
		struct gt_count count;

		gt_level_begin(level);
		gt_level_window(level, &window, aside[with]);
		for (int turn = 0; turn < 8; turn++)
			for (int half = 0; half < 2; half++) {
				rows->kind = GT_REQUESTS;
				rows->has_hints = false;
				rows->n = half ? 16 : 12;
				for (size_t i = 0; i < rows->n; i++) {
					rows->op[i] = gt_op(GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
					rows->address[i] = (i + (half ? 16 : 0)) * GT_LINE;
					rows->sectors[i] = 15;
					rows->full[i] = 0;
				}
				CHECK_EQUAL(gt_level_take(level, rows, &sink, &error), 0);
			}
		CHECK_EQUAL(gt_level_finish(level, &sink, &error), 0);
		CHECK_EQUAL(gt_level_count(level, "level", 1, &count, &error), 0);
		CHECK_EQUAL(counted(&count, "read_hits"), window_hits[with]);
		gt_count_clear(&count);
		gt_level_close(level);
	}
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

/* With --hints ignore, a level serves accesses as if they had no hint, and prefetches nothing. */
static void ignored_hints_change_nothing(void)
{
	struct gt_error error = {""};
	struct gt_rows *rows = gt_rows_new(64, &error);
	struct gt_sink sink = {gt_rows_new(32, &error), gather, NULL};
	struct gt_level *levels[2] = {open_level(true, LRU, "ignore"), open_level(true, LRU, "honour")};
	struct gt_count counts[2];
	static const char *const names[] = {"reads", "read_hits", "writes", "write_hits", "line_misses", "evictions", "sent_reads",
					    "sent_writes"};

	for (int l = 0; l < 2; l++)
		gt_level_begin(levels[l]);
	for (int batch = 0; batch < 50; batch++) {
		make_requests(rows, true);
		CHECK_EQUAL(gt_level_take(levels[0], rows, &sink, &error), 0);
		for (size_t i = rows->n; i-- > 0;)
			rows->hint[i] = gt_hint_action(rows->hint[i]) == GT_ACCESS_DATA ? 0 : gt_hint(0, 0, 0, GT_APPLY_PRIORITY_L2);
		CHECK_EQUAL(gt_level_take(levels[1], rows, &sink, &error), 0);
	}
	for (int l = 0; l < 2; l++)
		CHECK_EQUAL(gt_level_count(levels[l], "level", 1, &counts[l], &error), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK_EQUAL(counted(&counts[0], names[i]), counted(&counts[1], names[i]));
	CHECK_EQUAL(counted(&counts[0], "prefetch_hits"), 0);
	for (int l = 0; l < 2; l++) {
		gt_count_clear(&counts[l]);
		gt_level_close(levels[l]);
	}
	gt_rows_free(rows);
	gt_rows_free(sink.rows);
}

int main(void)
{
	RUN(hints_agree_with_the_reference);
	RUN(windows_persist);
	RUN(ignored_hints_change_nothing);
	return check_report();
}
