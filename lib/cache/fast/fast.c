/* SPDX-License-Identifier: MIT */
/* Serves a batch by the loops that most requests of most models take: reads of the usual lines, in sets of equal size. What is no such
 * read is served in the general way.
 *
 * A loop gets some rows at a time, without those that repeat the row before them, and notes what the others fetch, which is sent column
 * by column. There are two: for lines that keep their slot, and for sets of few ways that stand in the order of their last use. Each is
 * compiled for several shapes of level. At the end stands what chooses a loop. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/wide.h"
#include "cache/fast/fast.h"
#include "cache/level.h"
#include "stream/op.h"
#include "stream/request.h"

#define AT_ONCE 32 /* requests whose state is prefetched before the first of them is served */

/* ---- what is sent, column by column: what reads fetch, and stores ---- */

/* Notes that what was sent up to request `end` is of rows[0], rows[step], rows[2 * step] ... Returns 0, or -1 when memory is
 * short. */
static int row_list_note(struct gt_row_list *list, const uint32_t *rows, size_t step, size_t end, struct gt_error *error)
{
	uint32_t *origin = gt_grown_to(list->origin, end, &list->capacity, sizeof *origin);

	if (!origin && end > 0)
		return gt_fail_memory(error, "requests that are sent");
	list->origin = origin;
	for (; list->origins < end; rows += step)
		origin[list->origins++] = *rows;
	return 0;
}

#define SERVED_MAX 256

struct served {
	struct gt_row_list *list; /* NULL: the whole batch is served */
	uint64_t hits; /* sectors */
	uint64_t written; /* sectors of the stores below */
	size_t n;
	uint32_t row[SERVED_MAX]; /* that fetches, or stores */
	uint8_t sectors[SERVED_MAX], full[SERVED_MAX];
};

/* Row i fetches or stores sectors; there must be room. */
static inline void served_add(struct served *served, size_t i, uint32_t sectors, uint32_t full)
{
	served->row[served->n] = (uint32_t)i;
	served->sectors[served->n] = (uint8_t)sectors;
	served->full[served->n++] = (uint8_t)full;
}

/* Appends n rows from one that was added, with their sectors, to `to`, which has room and no hints. */
static void append(struct gt_rows *to, const struct gt_rows *from, const struct served *served, size_t first, size_t n)
{
	const size_t at = to->n;

	gt_requests_append(to, from, served->row + first, n);
	memcpy(to->sectors + at, served->sectors + first, n);
	memcpy(to->full + at, served->full + first, n);
}

/* Sends what was added, and forgets it. Returns 0, or -1 with the sink's error. */
static int served_send(struct served *served, struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		   struct gt_error *error)
{
	for (size_t done = 0, n; done < served->n; done += n) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t room = sent->rows->capacity - sent->rows->n;
		n = served->n - done < room ? served->n - done : room;
		append(sent->rows, rows, served, done, n);
	}
	if (served->list && row_list_note(served->list, served->row, 1, sent->rows->n, error) != 0)
		return -1;
	uint64_t sectors = 0;
	for (size_t k = 0; k < served->n; k++)
		sectors += gt_bits_of_4[served->sectors[k]];
	level->counters.sent_reads += sectors - served->written;
	level->counters.sent_writes += served->written;
	level->counters.sent_requests += served->n;
	served->written = served->n = 0;
	return 0;
}

/* ---- what the loops share ---- */

struct reading {
	struct gt_serving serving;
	const struct gt_rows *rows;
	const uint16_t *sm; /* of the rows; NULL if one instance serves all */
	struct served served;
	bool in_columns;      /* columns are looked for: even[] says of each row from `first` on whether it is inside of one */
	size_t first;
	uint8_t even[GT_DEDUPLICATED_ROWS + sizeof(uint64_t)];
	int (*serve_some)(struct reading *reads, const uint32_t *row, size_t n); /* a serve_some_rows */
};

/* Serves n rows, at most GT_DEDUPLICATED_ROWS, of which none repeats the one before, and adds what they fetch to `served`. There is
 * room for all of them. */
typedef int serve_some_rows(struct reading *reads, const uint32_t *row, size_t n);

/* The instance of a row. NULL on error. */
static inline struct gt_tags *reads_instance(const struct reading *reads, size_t row)
{
	return gt_level_instance(reads->serving.level, reads->sm ? reads->sm[row] : 0, reads->serving.error);
}

/* Whether a row is a read of the usual kind. */
static inline bool reads_is_read(const struct reading *reads, size_t row)
{
	return reads->serving.level->class_of[reads->rows->op[row]] == GT_CLASS_READ;
}

/* Sends what was added to `served`, and serves a row in the general way. */
static inline int reads_serve_other(struct reading *reads, const uint32_t *row)
{
	struct gt_serving *serving = &reads->serving;
	struct gt_row_list *list = reads->served.list;

	if (served_send(&reads->served, serving->level, reads->rows, serving->sent, serving->error) != 0 ||
	    gt_level_serve_row(serving, reads_instance(reads, *row), reads->rows, *row) != 0)
		return -1;
	return list ? row_list_note(list, row, 0, serving->sent->rows->n, serving->error) : 0;
}

/* ---- lines that have fixed slots ----
 *
 * Many small caches together exceed the machine's own cache, so their state is prefetched for some requests at a time. */

/* The variant of the loop: constants at each call of serve_slots, so that each variant is compiled separately. */
struct slots_shape {
	enum gt_recency recency;
	bool lru;  /* the policy goes by recency */
	bool drawn; /* and draws what leaves */
};

#define LINE_WORDS 8 /* in a line of the machine's cache: a set of few ways has its words in one or two */

/* Where a request looks its line up. */
struct slots_place {
	struct gt_tags *tags;
	uint32_t *chain; /* of the finder, unless recency is GT_RECENCY_NIBBLES */
	uint64_t line;
	uint32_t set;	 /* else */
	uint32_t slot;	 /* where the line was when that was foreseen, or GT_NO_SLOT */
};

/* The places of successive requests, and what leaves for them, if that is drawn. */
struct lookups {
	struct slots_place places[GT_DEDUPLICATED_ROWS];
	struct gt_foresight foresight;
};

/* What it found. */
struct found {
	struct gt_tags *tags;
	uint64_t line;
	uint32_t slot, set;
	bool newest; /* of its set, certainly */
};

/* `set` is that of the line; NULL: unknown yet. `other`: it is no read, and looks whether the line is dirty. */
GT_INLINE struct slots_place find_slots_place(const struct gt_level *level, struct gt_tags *tags, uint64_t line, const uint32_t *set,
				  bool other, struct slots_shape shape)
{
	struct slots_place place = {.tags = tags, .line = line};

	if (shape.recency != GT_RECENCY_NIBBLES) {
		place.chain = gt_finder_chain(&tags->finder, line);
		__builtin_prefetch(place.chain);
		return place;
	}
	place.set = set ? *set : gt_level_set_of(level, line);
	uint32_t ways = level->geometry.ways, first = place.set * ways;
	__builtin_prefetch(gt_slot_tag(tags, first), 1);
	__builtin_prefetch(gt_slot_valid(tags, first), 1);
	if (ways > LINE_WORDS) {
		__builtin_prefetch(gt_slot_tag(tags, first + LINE_WORDS), 1);
		__builtin_prefetch(gt_slot_valid(tags, first + LINE_WORDS), 1);
	}
	if (other) {
		__builtin_prefetch(gt_slot_dirty(tags, first), 1);
		__builtin_prefetch(gt_slot_dirty(tags, first + ways - 1), 1);
	}
	__builtin_prefetch(&tags->nibbles[place.set], 1);
	if (shape.lru)
		__builtin_prefetch(gt_slot_depth(tags, first), 1);
	return place;
}

/* Prefetches the lines to which chains lead. `dirty`: as in gt_slot_prefetch. */
GT_INLINE void follow_chains(const struct slots_place *places, size_t n, bool dirty)
{
	for (size_t k = 0; k < n; k++)
		if (*places[k].chain != 0)
			gt_slot_prefetch(places[k].tags, *places[k].chain - 1, dirty);
}

/* Finds the lines of places [from, end), and foresees what leaves for those that are absent. */
GT_INLINE void foresee(struct lookups *lookups, size_t from, size_t end, const struct gt_level *level, struct slots_shape shape)
{
	for (size_t k = from; k < end; k++) {
		struct slots_place *place = &lookups->places[k];
		if (k == 0 || place->tags != place[-1].tags)
			gt_foresee_of(&lookups->foresight, place->tags);
		place->slot = gt_tags_find_in(place->tags, place->chain, place->line);
		if (place->slot == GT_NO_SLOT)
			gt_foresee(&lookups->foresight, &level->config.replacement, place->tags, gt_level_set_of(level, place->line), place->line,
				   shape.recency);
		else if (shape.recency == GT_RECENCY_BYTES)
			__builtin_prefetch(place->tags->bytes + (uint32_t)(place->slot * level->ways_inverse >> GT_INVERSE_SHIFT) * level->geometry.ways, 1);
	}
}

/* Finds a line in its set, the most recent way of which is tried first. */
GT_INLINE struct found find_in_set(const struct gt_level *level, const struct slots_place *place)
{
	const uint64_t line = place->line;
	const struct gt_tags *tags = place->tags;
	uint32_t ways = level->geometry.ways, first = place->set * ways;
	struct found found = {.tags = place->tags, .line = line, .set = place->set};

	found.slot = first + (uint32_t)(tags->nibbles[place->set] & 15);
	found.newest = *gt_slot_tag(tags, found.slot) == line + 1;
	if (found.newest)
		return found;
	uint32_t match = gt_tags_match(tags->first_tag + first, ways, line);
	found.slot = match ? first + (uint32_t)__builtin_ctz(match) : GT_NO_SLOT;
	return found;
}

/* Finds a line; slot is GT_NO_SLOT if it is absent. */
GT_INLINE struct found find_slot(const struct gt_level *level, const struct slots_place *place, struct slots_shape shape)
{
	const uint64_t line = place->line;
	const struct gt_tags *tags = place->tags;
	struct found found = {.tags = place->tags, .line = line};

	if (shape.recency == GT_RECENCY_NIBBLES)
		return find_in_set(level, place);
	found.slot = shape.drawn ? place->slot : GT_NO_SLOT;
	if (found.slot == GT_NO_SLOT || *gt_slot_tag(tags, found.slot) != line + 1)
		found.slot = gt_tags_find_in(tags, place->chain, line);
	if (found.slot == GT_NO_SLOT)
		found.set = gt_level_set_of(level, line);
	else if (shape.recency == GT_RECENCY_BYTES)
		found.set = (uint32_t)(found.slot * level->ways_inverse >> GT_INVERSE_SHIFT);
	else
		found.set = found.slot / level->geometry.ways;
	return found;
}

/* Records the use of sectors of a line, of which `hits` are valid. */
GT_INLINE void use_slot(struct gt_level *level, const struct found *found, uint32_t hits, uint32_t used, struct slots_shape shape)
{
	struct gt_tags *tags = found->tags;
	uint32_t first = found->set * level->geometry.ways;
	unsigned position = 0;

	if (shape.recency == GT_RECENCY_NIBBLES && !found->newest)
		position = gt_nibbles_touch(&tags->nibbles[found->set], found->slot - first);
	else if (shape.recency == GT_RECENCY_BYTES)
		position = gt_bytes_touch(tags->bytes + first, level->geometry.ways, found->slot - first);
	else if (shape.recency == GT_RECENCY_LIST)
		gt_tags_relink(tags, found->set, found->slot);
	if (shape.lru && shape.recency != GT_RECENCY_LIST)
		gt_note_depths_4(tags, found->slot, position, hits, used, level->counters.mru);
	else if (level->config.replacement.policy->hit)
		level->config.replacement.policy->hit(tags, found->set, found->slot);
}

/* Whether a line has to be written back, or holds what partial stores wrote. Only levels that write back have the former; others
 * need not look. */
GT_INLINE bool is_dirty(const struct gt_level *level, const struct gt_tags *tags, uint32_t slot)
{
	return (level->config.write == GT_WRITE_BACK && *gt_slot_dirty(tags, slot) != 0) || (tags->held && tags->held[slot] != 0);
}

/* Under LRU, a set of few ways that is full, as most are: replaces its oldest line. Valid ways precede the others, so the
 * oldest way tells whether the set is full. Returns false, having changed nothing, if it is not, or if the line is dirty. */
GT_INLINE bool replace_oldest(struct gt_level *level, struct found *found)
{
	struct gt_tags *tags = found->tags;
	uint32_t ways = level->geometry.ways, way = (uint32_t)(tags->nibbles[found->set] >> 4 * (ways - 1)) & 15;
	uint32_t slot = found->set * ways + way;

	if (*gt_slot_tag(tags, slot) == 0 || is_dirty(level, tags, slot))
		return false;
	gt_nibbles_touch(&tags->nibbles[found->set], way);
	*gt_slot_tag(tags, slot) = found->line + 1;
	*gt_slot_valid(tags, slot) = 0;
	level->counters.evictions++;
	found->slot = slot;
	return true;
}

/* The slot of the line that leaves a full set, GT_NO_SLOT if it has to be written back. */
GT_INLINE uint32_t evict_slot(struct gt_level *level, const struct found *found, bool lru, struct slots_shape shape)
{
	const struct gt_replacement *replacement = &level->config.replacement;
	uint32_t slot = lru ? gt_tags_oldest(found->tags, found->set) : replacement->policy->victim(found->tags, found->set, replacement);

	if (is_dirty(level, found->tags, slot))
		return GT_NO_SLOT;
	level->counters.evictions++;
	if (lru && shape.recency != GT_RECENCY_NIBBLES)
		gt_tags_prepare_next(found->tags, found->set, slot, shape.recency);
	return slot;
}

/* By recency, takes a slot for a line that is absent. Returns false, having changed nothing, if the victim has to be written
 * back, or if lines have ranks. A victim that is drawn is taken: no line of the level is dirty then. */
GT_INLINE bool claim_slot(struct gt_level *level, struct found *found, struct slots_shape shape)
{
	const struct gt_policy *policy = level->config.replacement.policy;
	struct gt_tags *tags = found->tags;
	const bool lru = policy == &gt_policy_lru;

	if (tags->rank || (!lru && (level->config.write == GT_WRITE_BACK || tags->held)))
		return false;
	if (shape.recency == GT_RECENCY_NIBBLES && lru && replace_oldest(level, found))
		return true;
	bool full = tags->vacancy[found->set] >= level->geometry.ways;
	uint32_t slot = full ? GT_NO_SLOT : gt_tags_vacant(tags, found->set);
	if (slot == GT_NO_SLOT && (slot = evict_slot(level, found, lru, shape)) == GT_NO_SLOT)
		return false;
	gt_tags_fill(tags, found->set, slot, found->line);
	if (policy->fill)
		policy->fill(tags, found->set, slot);
	found->slot = slot;
	return true;
}

/* Serves a read. Returns false, having changed nothing, if it is for serve.c. */
GT_INLINE bool read_slot(struct gt_level *level, struct found *found, uint32_t used, size_t row, struct served *served,
			 struct slots_shape shape)
{
	struct gt_tags *tags = found->tags;
	bool present = found->slot != GT_NO_SLOT;
	uint32_t missing = present ? used & ~(uint32_t)*gt_slot_valid(tags, found->slot) : used;

	if (missing == 0) {
		if (found->newest && shape.lru)
			gt_note_newest_4(tags, found->slot, used, level->counters.mru);
		else
			use_slot(level, found, used, used, shape);
		served->hits += gt_bits_of_4[used];
		return true;
	}
	if (!shape.lru || (!present && !claim_slot(level, found, shape)))
		return false;
	if (present)
		use_slot(level, found, used & ~missing, used, shape);
	*(present ? &level->counters.sector_misses : &level->counters.line_misses) += gt_bits_of_4[missing];
	gt_level_pair(level, true, used, missing);
	level->counters.reads += gt_bits_of_4[missing];
	served->hits += gt_bits_of_4[used & ~missing];
	uint32_t brought = level->fetch_sectors == 1
				   ? missing
				   : (uint32_t)gt_level_groups(level, missing) & ~(uint32_t)*gt_slot_valid(tags, found->slot);
	level->fetch.neighbours += gt_bits_of_4[brought & ~missing];
	*gt_slot_valid(tags, found->slot) |= brought;
	if (shape.recency != GT_RECENCY_LIST)
		gt_clear_depths_4(tags, found->slot, brought);
	served_add(served, row, brought, 0);
	return true;
}

/* Serves a store of a level that writes through. Returns 0, or -1. */
static inline int write_slot(struct reading *reads, const struct found *found, size_t row)
{
	const struct gt_rows *rows = reads->rows;
	const uint8_t used = rows->sectors[row] & 15, full = rows->full[row] & used;
	const struct gt_piece piece = {.line = found->line, .used = used, .full = full};

	reads->serving.tags = found->tags;
	served_add(&reads->served, row, rows->sectors[row], rows->full[row]);
	reads->served.written += gt_bits_of_4[used];
	return gt_level_write_through(&reads->serving, &piece, found->set, found->slot);
}

/* Finds where n requests look their lines up. Returns 0, or -1. */
GT_INLINE int find_slots_places(const struct reading *reads, const uint32_t *row, struct slots_place *places, size_t n, struct slots_shape shape)
{
	const struct gt_rows *rows = reads->rows;
	const struct gt_row_list *list = reads->served.list;
	const uint32_t *set = list && list->set ? list->set + (row - list->row) : NULL;

	for (size_t k = 0; k < n; k++) {
		struct gt_tags *tags = reads_instance(reads, row[k]);
		if (!tags)
			return -1;
		places[k] = find_slots_place(reads->serving.level, tags, rows->address[row[k]] / GT_LINE, set ? set + k : NULL,
					     !reads_is_read(reads, row[k]), shape);
	}
	return 0;
}

/* Serves n requests. Returns 0, or -1. */
GT_INLINE int serve_places(struct reading *reads, const uint32_t *row, const struct slots_place *places, size_t n, struct slots_shape shape)
{
	struct gt_level *level = reads->serving.level;
	const struct gt_rows *rows = reads->rows;

	for (size_t k = 0; k < n; k++) {
		const uint8_t class = level->class_of[rows->op[row[k]]];
		struct found found = {0};
		int result = 1; /* nothing is done yet */
		if (class == GT_CLASS_READ || (class == GT_CLASS_WRITE && (level->writes_through || level->config.write == GT_WRITE_BACK)))
			found = find_slot(level, &places[k], shape);
		if (class == GT_CLASS_READ)
			result = !read_slot(level, &found, rows->sectors[row[k]] & 15, row[k], &reads->served, shape);
		else if (class == GT_CLASS_WRITE && level->writes_through)
			result = write_slot(reads, &found, row[k]);
		reads->serving.place = (struct gt_line_place){found.tags, found.line, found.set, found.slot};
		if (result < 0 || (result > 0 && reads_serve_other(reads, &row[k]) != 0))
			return -1;
	}
	return 0;
}

#define STEPS (2 + GT_FORESIGHT_TURNS) /* before a request is served, at most */

/* Serves n requests, at most GT_DEDUPLICATED_ROWS. What is prefetched for AT_ONCE of them has time to come while others are served: what one
 * step prefetches the next one reads, a turn later. Sets of few ways are read in the same turn: a turn later gains nothing there, and more is kept
 * between. */
GT_INLINE int serve_slots(struct reading *reads, const uint32_t *row, size_t n, struct slots_shape shape)
{
	const struct gt_level *level = reads->serving.level;
	const bool dirty = shape.recency == GT_RECENCY_LIST && level->config.write == GT_WRITE_BACK;
	const size_t steps = shape.drawn ? STEPS : shape.recency == GT_RECENCY_NIBBLES ? 0 : 2;
	struct lookups lookups;

	if (shape.drawn)
		gt_foresight_begin(&lookups.foresight);
	for (size_t at = 0; at < n + steps * AT_ONCE; at += AT_ONCE) {
		size_t from[STEPS + 1], end[STEPS + 1]; /* of the requests that take each step */
		for (size_t i = 0; i <= steps; i++) {
			from[i] = at < i * AT_ONCE ? 0 : at - i * AT_ONCE < n ? at - i * AT_ONCE : n;
			end[i] = at < i * AT_ONCE ? 0 : from[i] + AT_ONCE < n ? from[i] + AT_ONCE : n;
		}
		if (find_slots_places(reads, row + from[0], lookups.places + from[0], end[0] - from[0], shape) != 0)
			return -1;
		if (steps > 1)
			follow_chains(lookups.places + from[1], end[1] - from[1], dirty);
		if (shape.drawn) {
			gt_foresight_turn(&lookups.foresight, shape.recency);
			foresee(&lookups, from[2], end[2], level, shape);
		}
		if (serve_places(reads, row + from[steps], lookups.places + from[steps], end[steps] - from[steps], shape) != 0)
			return -1;
	}
	return 0;
}

/* ---- columns (replace/tags.h) ---- */

#define COLUMN_LINES 5 /* of a set: fewer are as quick one by one */

/* Successive rows of a list that are a column. */
struct column_run {
	size_t begin, end;
	struct gt_tags *tags;
	struct gt_line_column *column; /* where its lines may be */
};

/* Sets even[i] to 1 if row first + i is a read between two that are as far from it, and else alike; to 0 if not, at both ends and behind them. */
GT_WIDE static void find_even(const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n, uint8_t *restrict even)
{
	const uint64_t *address = rows->address + first;
	const uint8_t *op = rows->op + first, *sectors = rows->sectors + first;
	uint8_t alike[GT_DEDUPLICATED_ROWS];

	if (sm)
		sm += first;
	for (size_t i = 0; i + 1 < n; i++)
		alike[i] = op[i + 1] == op[i];
	for (size_t i = 0; i + 1 < n; i++)
		alike[i] &= sectors[i + 1] == sectors[i];
	for (size_t i = 0; sm && i + 1 < n; i++)
		alike[i] &= sm[i + 1] == sm[i];
	even[0] = even[n - 1] = 0;
	memset(even + n, 0, sizeof(uint64_t));
	for (size_t i = 1; i + 1 < n; i++)
		even[i] = address[i + 1] - address[i] == address[i] - address[i - 1];
	for (size_t i = 1; i + 1 < n; i++)
		even[i] &= alike[i] & alike[i - 1];
}

#define ALL_EVEN UINT64_C(0x0101010101010101)

/* The first row from one on that is not inside of a column. */
static inline size_t end_of_even(const uint8_t *even, size_t at)
{
	uint64_t flags;

	for (memcpy(&flags, even + at, sizeof flags); flags == ALL_EVEN; memcpy(&flags, even + at, sizeof flags))
		at += sizeof flags;
	return at + (size_t)__builtin_ctzll(flags ^ ALL_EVEN) / 8;
}

/* The next column of a list from row k on, of at least so many rows. Empty, at n, if there is none. */
static struct column_run next_column(const struct reading *reads, const uint32_t *row, size_t k, size_t n, size_t least)
{
	const size_t end = row[n - 1] - reads->first + 1;
	uint64_t flags;

	for (size_t at = (row[k] - reads->first + sizeof flags) / sizeof flags * sizeof flags; at + sizeof flags < end; at += sizeof flags) {
		memcpy(&flags, reads->even + at, sizeof flags);
		if (flags != ALL_EVEN)
			continue;
		size_t begin = at, beyond = end_of_even(reads->even, at);
		while (begin > row[k] - reads->first + 1 && reads->even[begin - 1])
			begin--;
		at = beyond - sizeof flags;
		if (beyond - begin + 2 < least)
			continue;
		struct column_run run = {.begin = k};
		while (row[run.begin] - reads->first < begin - 1)
			run.begin++;
		for (run.end = run.begin; run.end < n && run.end - run.begin < GT_COLUMN_MOST && row[run.end] - reads->first <= beyond;)
			run.end++;
		return run;
	}
	return (struct column_run){.begin = n, .end = n};
}

/* Serves the reads of a column. Returns false, having changed nothing but where its lines are, if some are not there. */
GT_INLINE bool serve_column(struct reading *reads, const struct column_run *run, const uint32_t *row)
{
	const struct gt_rows *rows = reads->rows;
	const uint64_t first = rows->address[row[0]] / GT_LINE, distance = rows->address[row[1]] / GT_LINE - first;
	const uint32_t used = rows->sectors[row[0]] & 15;
	const size_t n = run->end - run->begin;
	const bool there = gt_line_column_use(run->column, run->tags, first, distance, n, used, reads->serving.level->counters.mru);

	reads->served.hits += there ? n * gt_bits_of_4[used] : 0;
	return there;
}

/* Prefetches what tells where the lines of a column are, and those of the n rows before it. Returns 0, or -1. */
GT_INLINE int prefetch_places(const struct reading *reads, struct column_run *run, const uint32_t *row, size_t n)
{
	for (size_t k = run->begin - n; k < run->begin; k++) {
		const struct gt_tags *tags = reads_instance(reads, row[k]);
		if (!tags)
			return -1;
		__builtin_prefetch(gt_finder_chain(&tags->finder, reads->rows->address[row[k]] / GT_LINE));
	}
	run->tags = reads_instance(reads, row[run->begin]);
	run->column = run->tags ? gt_line_column_of(run->tags, reads->rows->address[row[run->begin]] / GT_LINE, reads->serving.error) : NULL;
	if (!run->column)
		return -1;
	gt_line_column_prefetch_place(run->column);
	return 0;
}

/* As serve_slots, for sets that keep their order in bytes under LRU. */
GT_INLINE int serve_with_columns(struct reading *reads, const uint32_t *row, size_t n, struct slots_shape shape)
{
	struct column_run runs[GT_DEDUPLICATED_ROWS / 4];
	const size_t least = COLUMN_LINES * reads->serving.level->geometry.sets;
	size_t runs_n = 0, k = 0;

	for (size_t at = 0; at < n && reads->in_columns; at = runs[runs_n++].end) {
		runs[runs_n] = next_column(reads, row, at, n, least);
		if (runs[runs_n].begin == n)
			break;
		if (prefetch_places(reads, &runs[runs_n], row, runs[runs_n].begin - at) != 0)
			return -1;
	}
	for (const struct column_run *run = runs;; run++) {
		const bool last = run == runs + runs_n;
		if (run + 1 < runs + runs_n)
			gt_line_column_prefetch(run[1].column, run[1].tags);
		if (serve_slots(reads, row + k, (last ? n : run->begin) - k, shape) != 0)
			return -1;
		if (last)
			return 0;
		k = reads_is_read(reads, row[run->begin]) && serve_column(reads, run, row + run->begin) ? run->end : run->begin;
	}
}

#define SLOTS_VARIANT(NAME, SERVE, ...)                                                    \
	GT_WIDE static int NAME(struct reading *reads, const uint32_t *row, size_t n)      \
	{                                                                                   \
		return SERVE(reads, row, n, (struct slots_shape){__VA_ARGS__});                \
	}
SLOTS_VARIANT(few_lru, serve_slots, GT_RECENCY_NIBBLES, true, false)
SLOTS_VARIANT(few_other, serve_slots, GT_RECENCY_NIBBLES, false, false)
SLOTS_VARIANT(many_lru, serve_with_columns, GT_RECENCY_BYTES, true, false)
SLOTS_VARIANT(many_drawn, serve_with_columns, GT_RECENCY_BYTES, true, true)
SLOTS_VARIANT(many_other, serve_slots, GT_RECENCY_BYTES, false, false)
SLOTS_VARIANT(most_lru, serve_slots, GT_RECENCY_LIST, true, false)
SLOTS_VARIANT(most_drawn, serve_slots, GT_RECENCY_LIST, true, true)
SLOTS_VARIANT(most_other, serve_slots, GT_RECENCY_LIST, false, false)

/* The loop for a level whose lines have fixed slots. */
static serve_some_rows *reads_in_slots(const struct gt_level *level)
{
	const bool drawn = level->config.replacement.policy == &gt_policy_tail, lru = level->config.replacement.policy->by_recency;

	switch (level->geometry.recency) {
	case GT_RECENCY_LIST: return drawn ? most_drawn : lru ? most_lru : most_other;
	case GT_RECENCY_BYTES: return drawn ? many_drawn : lru ? many_lru : many_other;
	default: return lru ? few_lru : few_other;
	}
}

/* ---- sets of few ways that stand in the order of their last use (GT_RECENCY_WAYS) ----
 *
 * Whether such a read hits, and in which way, is hard to foresee for the machine, so nothing here branches on it: each read does the same
 * work and notes what it found, and sums are made of the notes. */

/* The variant of the loop: constants at each call of serve_ways, so that each variant is compiled separately. */
struct ways_shape {
	uint32_t ways; /* 0: those of the level */
	bool plain;    /* nothing is written back, and sectors are fetched alone */
};

/* A request, and its set. */
struct ways_place {
	struct gt_tags *tags;
	uint64_t *tag;
	uint32_t *state;
	uint64_t line;
	uint32_t bytes; /* of the sectors that are read; 0: it is no read */
};

/* What reads have found. */
struct notes {
	uint32_t hits[GT_DEDUPLICATED_ROWS + GT_SUMMED]; /* a byte for each sector: its depth if it hits, else GT_SECTOR_INVALID */
	uint16_t misses[GT_DEDUPLICATED_ROWS]; /* bits 0-3: sectors that miss; 4-7: the same if their line is absent; 8-11: brought */
};

GT_INLINE uint32_t ways_of(const struct gt_level *level, struct ways_shape shape)
{
	return shape.ways ? shape.ways : level->geometry.ways;
}

/* Finds the sets of n rows. */
GT_INLINE int find_ways_places(const struct reading *reads, const uint32_t *row, size_t n, struct ways_place *restrict places,
			  struct ways_shape shape)
{
	struct gt_level *level = reads->serving.level;
	struct gt_tags *const *const instances = level->instances;
	const uint64_t *const address = reads->rows->address;
	const uint8_t *const op = reads->rows->op, *const sectors = reads->rows->sectors;
	const uint16_t *const sm = reads->sm;
	const uint32_t ways = ways_of(level, shape), mask = level->set_mask;

	for (size_t k = 0; k < n; k++) {
		size_t i = row[k], of = sm ? sm[i] : 0;
		struct gt_tags *tags = instances[of];
		if (!tags && !(tags = gt_level_open_instance(level, of, reads->serving.error)))
			return -1;
		uint64_t line = address[i] / GT_LINE;
		size_t first = (size_t)(mask ? (uint32_t)line & mask : gt_level_set_of(level, line)) * ways;
		bool read = level->class_of[op[i]] == GT_CLASS_READ;
		places[k] = (struct ways_place){tags, tags->first_tag + first, tags->state + first, line,
					   read ? gt_bytes_of_4[sectors[i] & 15] : 0};
		__builtin_prefetch(places[k].tag, 1);
		__builtin_prefetch(places[k].state, 1);
	}
	return 0;
}

/* Reads sectors of a line. Returns false, having changed nothing, if it takes a set that is not full, or a line that has to be
 * written back. */
GT_INLINE bool read_way(const struct gt_level *level, const struct ways_place *place, struct notes *restrict notes, size_t n,
			 struct ways_shape shape)
{
	const uint32_t ways = ways_of(level, shape), last = ways - 1;
	uint64_t *tag = place->tag, *dirty = place->tags->first_dirty + (tag - place->tags->first_tag);
	uint32_t match = gt_tags_match(tag, ways, place->line), absent = match == 0, kept = absent - 1;
	uint32_t way = (uint32_t)__builtin_ctz(match | UINT32_C(1) << last);

	if ((absent & (uint32_t)(tag[last] == 0)) || (!shape.plain && (absent & (uint32_t)(dirty[last] != 0))))
		return false;
	uint32_t state = place->state[way] | ~kept, used = place->bytes, missing = gt_state_invalid(state & used);
	uint32_t brought = missing;
	if (!shape.plain) {
		brought = level->brings[missing] & gt_state_invalid(state);
		gt_ways_put_words(dirty, ways, way, dirty[way] & kept);
	}
	state = gt_state_deepen(state, way);
	notes->hits[n] = state | ~used;
	notes->misses[n] = (uint16_t)(missing | (missing & ~kept) << 4 | brought << 8);
	used |= shape.plain ? 0 : gt_bytes_of_4[brought];
	gt_ways_put_words(tag, ways, way, place->line + 1);
	gt_ways_put_states(place->state, ways, way, state & ~used);
	return true;
}

/* How many sectors of GT_SUMMED reads hit at a depth. */
GT_INLINE uint8_t count_hits(const uint8_t *hits, uint32_t depth)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < GT_SUMMED * sizeof(uint32_t); i++)
		sum = (uint8_t)(sum + (hits[i] == (uint8_t)depth));
	return sum;
}

/* Adds to what is served those of n reads of these rows that fetch, and counts what all of them have found. */
GT_INLINE void count_notes(struct reading *reads, struct notes *notes, const uint32_t *row, size_t n, uint32_t ways)
{
	struct gt_level *level = reads->serving.level;
	struct gt_level_counters *counters = &level->counters;
	struct served *served = &reads->served;
	uint64_t missed = 0, lost = 0, lines = 0, brought = 0;
	size_t before = served->n;

	memset(notes->hits + n, GT_SECTOR_INVALID, GT_SUMMED * sizeof *notes->hits);
	for (uint32_t depth = 0; depth < ways; depth++) {
		uint64_t hits = 0;
		for (size_t i = 0; i < n; i += GT_SUMMED)
			hits += count_hits((const uint8_t *)(notes->hits + i), depth);
		counters->mru[depth] += hits;
		served->hits += hits;
	}
	for (size_t i = 0; i < n; i++) {
		uint16_t misses = notes->misses[i];
		notes->misses[served->n - before] = misses;
		served_add(served, row[i], misses >> 8, 0);
		served->n -= misses == 0;
	}
	for (size_t i = 0; i < served->n - before; i++) {
		uint32_t misses = notes->misses[i];
		missed += gt_bits_of_4[misses & 15];
		lost += gt_bits_of_4[misses >> 4 & 15];
		brought += gt_bits_of_4[misses >> 8];
		lines += (misses >> 4 & 15) != 0;
	}
	counters->reads += missed;
	counters->line_misses += lost;
	counters->sector_misses += missed - lost;
	counters->evictions += lines;
	level->fetch.neighbours += brought - missed;
	for (size_t i = 0; level->config.pairs && i < served->n - before; i++)
		gt_level_pair(level, true, reads->rows->sectors[served->row[before + i]] & 15, notes->misses[i] & 15);
}

GT_INLINE int serve_ways(struct reading *reads, const uint32_t *row, size_t n, struct ways_shape shape)
{
	struct gt_level *level = reads->serving.level;
	struct ways_place places[AT_ONCE];
	struct notes notes;
	size_t noted = 0; /* notes of rows before this one are counted */

	for (size_t first = 0, some; first < n; first += some) {
		some = n - first < AT_ONCE ? n - first : AT_ONCE;
		if (find_ways_places(reads, row + first, some, places, shape) != 0)
			return -1;
		for (size_t k = first; k < first + some; k++) {
			const struct ways_place *place = &places[k - first];
			if (place->bytes != 0 && read_way(level, place, &notes, k - noted, shape))
				continue;
			count_notes(reads, &notes, row + noted, k - noted, ways_of(level, shape));
			noted = k + 1;
			if (reads_serve_other(reads, &row[k]) != 0)
				return -1;
		}
	}
	count_notes(reads, &notes, row + noted, n - noted, ways_of(level, shape));
	return 0;
}

#define WAYS_VARIANT(NAME, WAYS, PLAIN)                                                        \
	GT_WIDE static int NAME(struct reading *reads, const uint32_t *row, size_t n)    \
	{                                                                                 \
		return serve_ways(reads, row, n, (struct ways_shape){WAYS, PLAIN});            \
	}
WAYS_VARIANT(four_plain, 4, true)
WAYS_VARIANT(four, 4, false)
WAYS_VARIANT(eight_plain, 8, true)
WAYS_VARIANT(eight, 8, false)
WAYS_VARIANT(any_plain, 0, true)
WAYS_VARIANT(any, 0, false)

/* The loop for a level whose ways stand in order. */
static serve_some_rows *reads_in_ways(const struct gt_level *level)
{
	bool plain = level->config.write != GT_WRITE_BACK && level->fetch_sectors == 1;

	switch (level->geometry.ways) {
	case 4: return plain ? four_plain : four;
	case 8: return plain ? eight_plain : eight;
	default: return plain ? any_plain : any;
	}
}

/* ---- the choice of a loop ---- */

/* The loops serve lines of the usual size in sets of equal size, if nothing has to be known of other requests. */
static bool is_fast(const struct gt_level *level)
{
	return level->usual && level->geometry.ways > 0 && !level->lookahead && !level->config.l2_partitions;
}

/* Serves rows in the general way. */
static int serve_others(struct reading *reads, const uint32_t *row, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (!reads_instance(reads, row[k]) || reads_serve_other(reads, &row[k]) != 0)
			return -1;
	return 0;
}

static serve_some_rows *choose(const struct gt_level *level)
{
	if (level->geometry.recency != GT_RECENCY_WAYS)
		return reads_in_slots(level);
	return level->ranked ? serve_others : reads_in_ways(level);
}

/* Some successive requests that are served, and the sectors of those between them that repeat them. */
struct some {
	const uint32_t *row;
	size_t n;
	uint64_t repeated;
};

#define FEW 4 /* rows that are as quickly served as compared */

/* Those of rows [first, first + n) of a batch, or of a list of rows. */
static struct some find_some(const struct reading *reads, size_t first, size_t n, struct gt_deduplicated *deduplicated)
{
	const struct gt_row_list *list = reads->served.list;

	if (list)
		return (struct some){list->row + first, n, first == 0 ? list->repeated : 0};
	if (n <= FEW) {
		for (size_t k = 0; k < n; k++)
			deduplicated->row[k] = (uint32_t)(first + k);
		return (struct some){deduplicated->row, n, 0};
	}
	gt_deduplicate(deduplicated, reads->rows, reads->sm, first, n, reads->serving.level->repeats_hit);
	return (struct some){deduplicated->row, deduplicated->n, deduplicated->repeated};
}

/* Looks which of n rows from the first on are inside of a column. Returns how many are to be served now: if more follow, those before a
 * column that these may go on with. */
static size_t look_for_columns(struct reading *reads, size_t first, size_t n, bool more)
{
	size_t before = n - 1;

	reads->first = first;
	find_even(reads->rows, reads->sm, first, n, reads->even);
	while (before > 1 && reads->even[before - 1])
		before--;
	if (!more || n - before < 2 || n - before >= GT_COLUMN_MOST || before < GT_COLUMN_MOST)
		return n;
	reads->even[before - 2] = 0;
	return before - 1;
}

/* Serves rows [first, end) of a batch, or of a list of rows, some at a time. */
static int serve_range(struct reading *reads, size_t first, size_t end)
{
	struct gt_level *level = reads->serving.level;
	struct gt_deduplicated deduplicated;

	for (size_t n; first < end; first += n) {
		n = end - first < GT_DEDUPLICATED_ROWS ? end - first : GT_DEDUPLICATED_ROWS;
		n = reads->in_columns ? look_for_columns(reads, first, n, first + n < end) : n;
		struct some some = find_some(reads, first, n, &deduplicated);
		reads->served.hits += some.repeated;
		if (level->geometry.depths)
			level->counters.mru[0] += some.repeated;
		if (reads->serve_some(reads, some.row, some.n) != 0 ||
		    served_send(&reads->served, level, reads->rows, reads->serving.sent, reads->serving.error) != 0)
			return -1;
	}
	return 0;
}

/* ---- rows that are several requests: mostly columns ---- */

#define AHEAD 4 /* rows: so far before it is served, and twice that, a row is looked at */

/* Brings what tells where the lines of row i are, or these lines, into the machine's cache. Returns 0, or -1. */
GT_INLINE int look_ahead(const struct reading *reads, size_t i, bool lines)
{
	const uint64_t line = reads->rows->address[i] / GT_LINE;
	const bool several = reads->rows->width[i] > 1;
	struct gt_tags *tags = reads_instance(reads, i);
	struct gt_line_column *column = tags && several ? gt_line_column_of(tags, line, reads->serving.error) : NULL;

	if (!tags || (several && !column))
		return -1;
	if (several && lines)
		gt_line_column_prefetch(column, tags);
	else if (several)
		gt_line_column_prefetch_place(column);
	else if (lines)
		follow_chains(&(struct slots_place){.tags = tags, .chain = gt_finder_chain(&tags->finder, line)}, 1, false);
	else
		__builtin_prefetch(gt_finder_chain(&tags->finder, line));
	return 0;
}

/* Serves rows [first, end) request by request; `several`: some of them are more than one. */
static int serve_singly(struct reading *reads, size_t first, size_t end, bool several)
{
	const struct gt_rows *rows = reads->rows;
	struct gt_level *level = reads->serving.level;

	if (!several || first == end)
		return serve_range(reads, first, end);
	if (gt_rows_expand(&level->singly, rows, first, end - first, reads->serving.error) != 0)
		return -1;
	reads->rows = level->singly;
	reads->sm = reads->sm ? level->singly->sm : NULL;
	const int result = serve_range(reads, 0, level->singly->n);
	reads->rows = rows;
	reads->sm = reads->sm ? rows->sm : NULL;
	return result;
}

/* Serves a batch of which rows are several requests. */
GT_WIDE static int serve_spans(struct reading *reads)
{
	const struct gt_rows *rows = reads->rows;
	const unsigned least = COLUMN_LINES * reads->serving.level->geometry.sets;
	size_t first = 0; /* that is not served yet */
	bool several = false;

	for (size_t i = 0; i < rows->n; i++) {
		const unsigned n = gt_rows_span(rows, i);
		if ((i + 2 * AHEAD < rows->n && look_ahead(reads, i + 2 * AHEAD, false) != 0) ||
		    (i + AHEAD < rows->n && look_ahead(reads, i + AHEAD, true) != 0))
			return -1;
		if (n < least || n > GT_COLUMN_MOST || !reads_is_read(reads, i)) {
			several |= n > 1;
			continue;
		}
		if (serve_singly(reads, first, i, several) != 0)
			return -1;
		const uint64_t line = rows->address[i] / GT_LINE, distance = (rows->address[i] + (uint64_t)rows->pitch[i]) / GT_LINE - line;
		struct gt_tags *tags = reads_instance(reads, i);
		struct gt_line_column *column = tags ? gt_line_column_of(tags, line, reads->serving.error) : NULL;
		if (!column)
			return -1;
		several = !gt_line_column_use(column, tags, line, distance, n, rows->sectors[i] & 15, reads->serving.level->counters.mru);
		reads->served.hits += several ? 0 : n * gt_bits_of_4[rows->sectors[i] & 15];
		first = several ? i : i + 1;
	}
	return serve_singly(reads, first, rows->n, several);
}

static int serve(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
		 struct gt_error *error)
{
	struct reading reads = {.serving = {.level = level, .sent = sent, .error = error}, .rows = rows, .served.list = list, .serve_some = choose(level),
				 .sm = level->config.shared || !rows->scheduled ? NULL : rows->sm};

	reads.in_columns = !list && level->takes_spans && !rows->has_spans;
	if ((rows->has_spans ? serve_spans(&reads) : serve_range(&reads, 0, list ? list->n : rows->n)) != 0)
		return -1;
	level->counters.reads += reads.served.hits;
	level->counters.read_hits += reads.served.hits;
	return 0;
}

static int serve_reads(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	return serve(level, rows, NULL, sent, error);
}

int gt_level_serve_list(struct gt_level *level, const struct gt_rows *rows, struct gt_row_list *list, struct gt_sink *sent,
			struct gt_error *error)
{
	level->counters.requests += list->requests;
	level->last_step = list->last_step > level->last_step ? list->last_step : level->last_step;
	if (gt_sink_begin(sent, GT_REQUESTS, rows->scheduled, error) != 0)
		return -1;
	return serve(level, rows, list, sent, error);
}

struct gt_level *gt_fast_open(const struct gt_level_config *config, bool fixed, struct gt_error *error)
{
	struct gt_level *level = gt_level_open_plain(config, fixed, error);

	if (level && is_fast(level))
		level->fast = serve_reads;
	if (level && level->fast)
		level->takes_spans = level->geometry.recency == GT_RECENCY_BYTES && level->config.replacement.policy->by_recency &&
				     level->geometry.sets <= GT_COLUMN_SETS;
	return level;
}

struct gt_level *gt_level_open(const struct gt_level_config *config, struct gt_error *error)
{
	return gt_fast_open(config, false, error);
}
