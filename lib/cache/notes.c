/* SPDX-License-Identifier: MIT */
/* Notes of a level: what it counts by site (--by site), and why its loads miss (--causes).
 *
 * For the causes each instance has a record of every line that it has been asked for since it was last emptied: which sectors it has been
 * given, which of them were made invalid since, and how far back they were last used. What a fully associative cache
 * has is not derived from that: a level of one set, with all else alike, serves the same requests. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/pages.h"
#include "base/wide.h"
#include "cache/level.h"
#include "cache/state.h"
#include "replace/stack.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/program.h"

/* Counters of the level that a site has, too: by how much they grow while its requests are served. */
#define OF_LEVEL(DO) DO(reads) DO(read_hits) DO(writes) DO(atomics) DO(bypassed) DO(sent_reads) DO(sent_writes)

/* A line that an instance has been asked for. The distances of its sectors follow it, and of a shared level the SMs + 1 that brought
 * them. That of a usual line of a private level has the size of a line of the machine's cache. */
struct record {
	uint64_t line;
	uint64_t given, dropped; /* sectors; those dropped were given */
	uint32_t kernel;	 /* in which the writer and the SMs are known */
	uint32_t writer;	 /* the site of the last store that wrote a sector in part + 1, or 0 */
	uint32_t slot;		 /* of its last use + 1, or 0 */
	uint32_t own, full;	 /* where the level, and its full one, may have the line */
	uint32_t distance[];	 /* of each sector, in lines: the largest of its line since the sector was used */
};

/* What an instance has been asked for since it was last emptied. The uses of lines have time slots (replace/stack.h), of which those of
 * the last uses are live; between two uses of a line there have been as many others as live slots lie between. */
struct past {
	struct gt_timeline slots;
	uint32_t live, next;
	uint64_t *table; /* of hashes, at most half full. The lower half of an entry is the number of a record + 1, the upper the hash of its line; 0: empty */
	size_t mask;	 /* its places - 1, a power of two less one */
	unsigned char **records; /* RECORDS at each */
	size_t n, capacity; /* records; places for RECORDS of them */
	bool open;
};

enum { FIRST_SLOTS = 64, FIRST_PLACES = 128, RECORDS = 256 };

/* Sectors of a line that a request gives to an instance of a private level, and those of them that it missed and nothing had brought. */
struct passed {
	uint64_t line, given, fresh;
	uint32_t site;
};

/* A row of a batch; what it has sent and passed lies together. */
struct turn {
	uint32_t row; /* that has this turn */
	/* Of the row of this number. */
	uint32_t site;
	uint32_t record[GT_L2_PARTITIONS]; /* the number + 1 of what is probably that of its line, by partition if there are two; 0: it had none yet */
	uint32_t sent, sent_end, passed, passed_end;
};

/* The batch that is served, that of a private level SM by SM. */
struct batch {
	struct turn *turns;
	uint32_t *before; /* of each SM: rows of lower ones */
	uint32_t *order;  /* of what is sent */
	size_t turns_capacity, before_capacity, order_capacity;
	struct gt_rows *sent;
	struct passed *passed;
	size_t passed_n, passed_capacity;
	bool open;
};

struct gt_notes {
	struct gt_by_site *by; /* of the level */
	size_t site;	       /* of the present request */
	struct gt_served last; /* the level's counters when they were last looked at */
	struct batch batch;
	/* For the causes. */
	struct gt_look look;
	struct past *pasts; /* of each instance */
	struct gt_room room; /* that has their arrays */
	size_t record_bytes;
	struct record *record; /* that was looked up last */
	struct gt_map everywhere; /* of a private level: the sectors of a line that any instance has been given in this kernel */
	uint32_t kernel;	  /* from 1 */
};

/* ---- opening ---- */

static gt_look_at look;

static int open_causes(struct gt_level *level, struct gt_error *error)
{
	struct gt_notes *notes = level->notes;
	const size_t of_sector = sizeof(uint32_t) + (level->config.shared ? sizeof(uint16_t) : 0), align = sizeof(uint64_t);
	const size_t bytes = offsetof(struct record, distance) + level->sectors * of_sector;

	notes->record_bytes = (bytes + align - 1) / align * align;
	notes->pasts = calloc(level->instances_n, sizeof *notes->pasts);
	if (!notes->pasts)
		return gt_fail_memory(error, "causes of misses");
	if (!level->config.shared && gt_map_open(&notes->everywhere, 64, error) != 0)
		return -1;
	notes->look.at = look;
	level->look = &notes->look;
	return 0;
}

int gt_notes_open(struct gt_level *level, struct gt_error *error)
{
	level->notes = calloc(1, sizeof *level->notes);
	if (!level->notes)
		return gt_fail_memory(error, "counts by site");
	level->notes->by = &level->by_site;
	if (level->config.by == GT_BY_SITE && gt_sites_open(&level->by_site.sites, error) != 0)
		return -1;
	return level->config.causes ? open_causes(level, error) : 0;
}

/* The instance is empty. */
static void forget(struct gt_notes *notes, struct past *past)
{
	if (past->open) {
		gt_timeline_close(&past->slots);
		gt_room_give(&notes->room, past->table, (past->mask + 1) * sizeof *past->table);
	}
	for (size_t n = 0; n < past->n; n += RECORDS)
		gt_room_give(&notes->room, past->records[n / RECORDS], RECORDS * notes->record_bytes);
	free(past->records);
	*past = (struct past){.open = false};
}

void gt_notes_close(struct gt_level *level)
{
	struct gt_notes *notes = level->notes;

	if (!notes)
		return;
	gt_sites_close(&notes->by->sites);
	free(notes->by->noted);
	for (size_t i = 0; notes->pasts && i < level->instances_end; i++)
		forget(notes, &notes->pasts[i]);
	free(notes->pasts);
	gt_room_close(&notes->room);
	free(notes->batch.turns);
	free(notes->batch.before);
	free(notes->batch.order);
	free(notes->batch.passed);
	gt_rows_free(notes->batch.sent);
	if (notes->everywhere.slots)
		gt_map_close(&notes->everywhere);
	free(notes);
	level->notes = NULL;
}

void gt_notes_begin(struct gt_level *level)
{
	struct gt_notes *notes = level->notes;

	if (!notes)
		return;
	if (level->config.by == GT_BY_SITE)
		gt_sites_begin(&notes->by->sites);
	notes->by->n = 0;
	memset(&notes->last, 0, sizeof notes->last);
	notes->kernel++;
	if (notes->everywhere.slots)
		gt_map_clear(&notes->everywhere);
}

int gt_level_name_arrays(struct gt_level *level, const struct gt_count *count, struct gt_error *error)
{
	return level->config.by == GT_BY_SITE ? gt_sites_note(&level->by_site.sites, count, error) : 0;
}

void gt_notes_forget(struct gt_level *level)
{
	for (size_t i = 0; level->full && i < level->instances_end; i++)
		forget(level->notes, &level->notes->pasts[i]);
}

/* ---- a row ---- */

/* Counters of one more site. */
static int add_noted(struct gt_notes *notes, struct gt_error *error)
{
	struct gt_noted *bigger = gt_grown(notes->by->noted, notes->by->n, &notes->by->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "counts by site");
	notes->by->noted = bigger;
	memset(&bigger[notes->by->n++], 0, sizeof *bigger);
	return 0;
}

/* Makes the site of row i the present one. It is told by the first sector of the request: an array may begin within its line. */
static int know_site(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_notes *notes = level->notes;
	const unsigned first = rows->sectors[i] & 15 ? (unsigned)__builtin_ctz(rows->sectors[i]) : 0;

	if (level->config.by == GT_BY_SITE)
		notes->site = gt_sites_number(&notes->by->sites, rows->pc[i], false, rows->address[i] + first * GT_SECTOR);
	if (notes->site == GT_SITE_NONE)
		return gt_fail_memory(error, "counts by site");
	while (notes->by->n <= notes->site)
		if (add_noted(notes, error) != 0)
			return -1;
	return 0;
}

int gt_notes_before(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	if (know_site(level, rows, i, error) != 0)
		return -1;
	if (!level->full)
		return 0;
	level->look->counts = level->full->look->counts = true;
	level->look->n = level->full->look->n = 0;
	return 0;
}

static void add_served(const struct gt_notes *notes, const struct gt_level_counters *counters, struct gt_served *to)
{
#define ADD(NAME) to->NAME += counters->NAME - notes->last.NAME;
	OF_LEVEL(ADD)
#undef ADD
}

static void remember(struct gt_notes *notes, const struct gt_level_counters *counters)
{
#define SET(NAME) notes->last.NAME = counters->NAME;
	OF_LEVEL(SET)
#undef SET
}

void gt_notes_skip(struct gt_level *level)
{
	if (level->notes)
		remember(level->notes, &level->counters);
}

/* The sectors that the fully associative cache has missed, too. */
static uint64_t missed_in_full(const struct gt_look *full, uint64_t line)
{
	for (unsigned i = 0; i < full->n; i++)
		if (full->loads[i].line == line)
			return full->loads[i].missed;
	return 0;
}

/* Each sector that the request has missed has one cause. */
static void find_causes(const struct gt_look *look, const struct gt_look *full, struct gt_cause_counters *causes)
{
	for (unsigned i = 0; i < look->n; i++) {
		const struct gt_looked *load = &look->loads[i];
		const uint64_t others = load->missed & ~load->fresh & ~load->dropped, capacity = others & missed_in_full(full, load->line);
		causes->compulsory += gt_count_bits(load->missed & load->fresh);
		causes->invalidated += gt_count_bits(load->missed & load->dropped);
		causes->capacity += gt_count_bits(capacity);
		causes->conflict += gt_count_bits(others & ~capacity);
	}
}

void gt_notes_after(struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	struct gt_notes *notes = level->notes;
	struct gt_noted *noted = &notes->by->noted[notes->site];

	add_served(notes, &level->counters, &noted->served);
	remember(notes, &level->counters);
	if (gt_op_action(rows->op[i]) == GT_STORE && gt_hint_action(gt_rows_hint(rows, i)) == GT_ACCESS_DATA)
		noted->served.partial_writes += gt_count_bits(rows->sectors[i] & ~rows->full[i] & 15);
	if (!level->full)
		return;
	level->look->counts = level->full->look->counts = false;
	find_causes(level->look, level->full->look, &noted->causes);
}

/* ---- records ---- */

/* A table of so many places, all empty. NULL when memory is short. */
static uint64_t *new_table(struct gt_notes *notes, size_t places)
{
	uint64_t *table = gt_room_take(&notes->room, places * sizeof *table);

	return table ? memset(table, 0, places * sizeof *table) : NULL;
}

static struct past *past_of(const struct gt_serving *serving, struct gt_error *error)
{
	const struct gt_level *level = serving->level;
	const bool second = level->config.l2_partitions && serving->tags == level->instances[1];
	struct past *past = &level->notes->pasts[level->config.shared ? second : serving->request.sm];

	if (past->open)
		return past;
	past->slots.room = &level->notes->room;
	if (gt_timeline_open(&past->slots, FIRST_SLOTS, 0, error) != 0)
		return NULL;
	past->open = true;
	past->table = new_table(level->notes, FIRST_PLACES);
	past->mask = FIRST_PLACES - 1;
	return past->table ? past : (gt_fail_memory(error, "causes of misses"), NULL);
}

static struct record *record_at(const struct gt_notes *notes, const struct past *past, size_t n)
{
	return (struct record *)(void *)(past->records[n / RECORDS] + n % RECORDS * notes->record_bytes);
}

/* Of a shared level: the SM + 1 of each sector, behind the distances. */
static uint16_t *bringers_of(const struct gt_level *level, struct record *record)
{
	return (uint16_t *)(void *)(record->distance + level->sectors);
}

static inline uint64_t hash_of(uint64_t line) { return gt_fibonacci(line) >> 32; }

/* Where the search for a line begins. */
static inline uint64_t *first_place(const struct past *past, uint64_t line)
{
	return &past->table[hash_of(line) & past->mask];
}

static inline uint64_t *next_place(const struct past *past, uint64_t *place)
{
	return place == past->table + past->mask ? past->table : place + 1;
}

/* The number + 1 of the record of a line; 0: there is none. Records of lines with other hashes are not read. */
static uint32_t find_number(const struct gt_notes *notes, const struct past *past, uint64_t line)
{
	uint64_t *place = first_place(past, line);

	while (*place != 0 && (*place >> 32 != hash_of(line) || record_at(notes, past, (uint32_t)*place - 1)->line != line))
		place = next_place(past, place);
	return (uint32_t)*place;
}

/* Adds an entry, whose line is not in the table yet. */
static void put_entry(struct past *past, uint64_t entry)
{
	uint64_t *place = &past->table[entry >> 32 & past->mask];

	while (*place != 0)
		place = next_place(past, place);
	*place = entry;
}

/* Twice the places. Returns 0, or -1 when memory is short. */
static int grow_table(struct gt_notes *notes, struct past *past)
{
	uint64_t *old = past->table, *bigger = new_table(notes, 2 * (past->mask + 1));

	if (!bigger)
		return -1;
	past->table = bigger;
	past->mask = 2 * past->mask + 1;
	for (size_t i = 0; i <= past->mask / 2; i++)
		if (old[i] != 0)
			put_entry(past, old[i]);
	gt_room_give(&notes->room, old, (past->mask + 1) / 2 * sizeof *old);
	return 0;
}

/* Room for RECORDS more. Returns 0, or -1 when memory is short. */
static int add_records(struct gt_notes *notes, struct past *past)
{
	unsigned char **records = gt_grown(past->records, past->n / RECORDS, &past->capacity, sizeof *records);

	if (!records)
		return -1;
	past->records = records;
	records[past->n / RECORDS] = gt_room_take(&notes->room, RECORDS * notes->record_bytes);
	return records[past->n / RECORDS] ? 0 : -1;
}

/* NULL when memory is short. */
static struct record *add_record(struct gt_notes *notes, struct past *past, uint64_t line)
{
	if (2 * (past->n + 1) > past->mask && grow_table(notes, past) != 0)
		return NULL;
	if (past->n % RECORDS == 0 && add_records(notes, past) != 0)
		return NULL;
	put_entry(past, hash_of(line) << 32 | (past->n + 1));
	struct record *record = memset(record_at(notes, past, past->n++), 0, notes->record_bytes);
	record->line = line;
	return record;
}

/* The record of a line; it is new, if there was none. What is known of one kernel is forgotten in the next. */
static struct record *record_of(const struct gt_serving *serving, struct past *past, uint64_t line)
{
	const struct gt_level *level = serving->level;
	const uint32_t number = find_number(level->notes, past, line);
	struct record *record = number ? record_at(level->notes, past, number - 1) : add_record(level->notes, past, line);

	level->notes->record = record;
	if (!record)
		gt_fail_memory(serving->error, "causes of misses");
	else if (record->kernel != level->notes->kernel) {
		record->kernel = level->notes->kernel;
		record->writer = 0;
		if (level->config.shared)
			memset(bringers_of(level, record), 0, level->sectors * sizeof(uint16_t));
	}
	return record;
}

/* Numbers the live slots from 0, and makes room for one and a half times as many. */
static int renumber(const struct gt_notes *notes, struct past *past, struct gt_error *error)
{
	const uint64_t room = (uint64_t)past->live * 5 / 2, wanted = room < FIRST_SLOTS ? FIRST_SLOTS : room;
	uint32_t *ranks = past->live < GT_TIMELINE_MAX ? gt_timeline_ranks(&past->slots, error) : NULL;

	if (past->live == GT_TIMELINE_MAX)
		return gt_fail(error, "more than %u distinct lines", (unsigned)GT_TIMELINE_MAX);
	if (!ranks)
		return -1;
	for (size_t n = 0; n < past->n; n++) {
		struct record *record = record_at(notes, past, n);
		record->slot = record->slot ? gt_timeline_rank(&past->slots, ranks, record->slot - 1) + 1 : 0;
	}
	free(ranks);
	past->next = past->live;
	return gt_timeline_open(&past->slots, wanted > GT_TIMELINE_MAX ? GT_TIMELINE_MAX : (uint32_t)wanted, past->live, error);
}

/* The line becomes the last used: its sectors are as far back as it was, or further. */
GT_WIDE static int use_line(const struct gt_serving *serving, struct past *past, struct record *record)
{
	uint32_t distance = 0;

	if (record->slot != 0 && record->slot == past->next)
		return 0;
	if (past->next == past->slots.capacity && renumber(serving->level->notes, past, serving->error) != 0)
		return -1;
	if (record->slot != 0) {
		distance = past->live - 1 - gt_timeline_before(&past->slots, record->slot - 1);
		gt_timeline_unset(&past->slots, record->slot - 1);
	} else
		past->live++;
	gt_timeline_set(&past->slots, past->next);
	record->slot = ++past->next;
	for (unsigned sector = 0; sector < serving->level->sectors; sector++)
		if (record->distance[sector] < distance)
			record->distance[sector] = distance;
	return 0;
}

/* Another instance may have been given, in this kernel, what this one misses. */
static int pass(struct gt_notes *notes, const struct passed *passed, struct gt_error *error)
{
	int fresh;
	uint64_t *known = gt_map_put(&notes->everywhere, passed->line, 0, &fresh);

	if (!known)
		return gt_fail_memory(error, "causes of misses");
	notes->by->noted[passed->site].causes.elsewhere += gt_count_bits(passed->fresh & *known);
	*known |= passed->given;
	return 0;
}

/* What instances pass to each other is counted in the order of the rows. */
static int pass_in_turn(struct gt_notes *notes, const struct passed *passed, struct gt_error *error)
{
	struct batch *batch = &notes->batch;

	if (!batch->open)
		return pass(notes, passed, error);
	struct passed *bigger = gt_grown(batch->passed, batch->passed_n, &batch->passed_capacity, sizeof *bigger);
	if (!bigger)
		return gt_fail_memory(error, "causes of misses");
	batch->passed = bigger;
	bigger[batch->passed_n++] = *passed;
	gt_map_prefetch(&notes->everywhere, passed->line);
	return 0;
}

/* Sectors are given to an instance that has not had them; a load has missed those in `fresh`, which nothing had brought. */
static int give(const struct gt_serving *serving, struct record *record, uint64_t line, uint64_t sectors, uint64_t fresh)
{
	struct gt_level *level = serving->level;
	uint16_t *bringers = level->config.shared ? bringers_of(level, record) : NULL;

	record->given |= sectors;
	record->dropped &= ~sectors;
	for (uint64_t rest = level->config.shared ? sectors : 0; rest; rest &= rest - 1)
		bringers[__builtin_ctzll(rest)] = (uint16_t)(serving->request.sm + 1);
	if (level->config.shared || (sectors | fresh) == 0)
		return 0;
	return pass_in_turn(level->notes, &(struct passed){line, sectors, fresh, (uint32_t)level->notes->site}, serving->error);
}

/* Sectors are used. Others that came with them, or would have in a cache that had not the first, have been used as late. */
static void use_sectors(const struct gt_level *level, struct record *record, uint64_t used, uint64_t fresh)
{
	const unsigned width = level->fetch_sectors;

	for (uint64_t rest = gt_level_groups(level, used); width > 1 && rest; rest &= rest - 1) {
		const unsigned sector = (unsigned)__builtin_ctzll(rest), first = sector / width * width;
		bool farther = fresh >> sector & 1;
		for (unsigned other = first; other < first + width; other++)
			farther |= (used >> other & 1) && (fresh >> other & 1 || record->distance[other] >= record->distance[sector]);
		if (farther && !(used >> sector & 1))
			record->distance[sector] = 0;
	}
	for (uint64_t rest = used; rest; rest &= rest - 1)
		record->distance[__builtin_ctzll(rest)] = 0;
}

/* ---- what a request is about to do ---- */

/* What the line has now. */
struct present {
	bool line;
	uint64_t valid, held;
};

/* Where a line may be is known: caches of many ways then find it without a search. */
static inline void look_there_first(struct gt_tags *tags, uint64_t line, uint32_t slot)
{
	if (*gt_slot_tag(tags, slot) != line + 1)
		return;
	tags->last_line = line;
	tags->last_slot = slot;
}

static struct present look_up(const struct gt_serving *serving, uint64_t line, uint32_t *at)
{
	struct gt_tags *tags = serving->tags;
	uint32_t slot = *at;

	look_there_first(tags, line, slot);
	if (*gt_slot_tag(tags, slot) != line + 1)
		slot = gt_tags_find(tags, gt_level_set_of(serving->level, line), line);
	if (slot == GT_NO_SLOT)
		return (struct present){.line = false};
	*at = slot;
	return (struct present){true, gt_tags_valid(tags, slot), gt_tags_held(tags, slot)};
}

static struct gt_cause_counters *counters_of(const struct gt_notes *notes)
{
	return notes->look.counts ? &notes->by->noted[notes->site].causes : NULL;
}

static void add_load(struct gt_look *look, const struct gt_looked *load)
{
	if (look->counts && look->n < GT_LOOKED_MAX)
		look->loads[look->n++] = *load;
}

/* Sectors that were written in part are read: on account of the site that wrote, if that was in this kernel. */
static void count_partial_reads(struct gt_notes *notes, const struct record *record, uint64_t sectors)
{
	const size_t site = record->writer && record->writer <= notes->by->n ? record->writer - 1 : notes->site;

	if (sectors && notes->look.counts)
		notes->by->noted[site].causes.partial_reads += gt_count_bits(sectors);
}

static void count_distances(struct gt_cause_counters *counters, const struct record *record, uint64_t sectors)
{
	for (uint64_t rest = sectors; counters && rest; rest &= rest - 1)
		counters->distance[gt_distance_bin(record->distance[__builtin_ctzll(rest)])]++;
}

/* Hits of sectors that a request of another SM has brought. */
static void count_others(const struct gt_serving *serving, struct gt_cause_counters *counters, struct record *record, uint64_t hits)
{
	const uint16_t *bringers = serving->level->config.shared ? bringers_of(serving->level, record) : NULL;

	for (uint64_t rest = counters && bringers ? hits : 0; rest; rest &= rest - 1) {
		const uint16_t by = bringers[__builtin_ctzll(rest)];
		counters->others_hits += by != 0 && by != (uint16_t)(serving->request.sm + 1);
	}
}

static int look_at_load(const struct gt_serving *serving, struct past *past, struct record *record, const struct gt_piece *piece, enum gt_lookup lookup)
{
	struct gt_level *level = serving->level;
	struct gt_notes *notes = level->notes;
	struct gt_cause_counters *counters = counters_of(notes);
	const struct present present = look_up(serving, piece->line, &record->own);
	const bool near = lookup == GT_LOOKUP_NEAR, passes = lookup == GT_LOOKUP_PASSING;
	const uint64_t used = piece->used, fresh = used & ~record->given, dropped = used & record->dropped, missed = used & ~present.valid;
	if (!(passes && record->given == 0) && use_line(serving, past, record) != 0)
		return -1;
	count_distances(counters, record, used & ~fresh & ~dropped & (near ? present.valid : UINT64_MAX));
	count_others(serving, counters, record, used & present.valid);
	if (!near) {
		count_partial_reads(notes, record, missed & present.held);
		add_load(&notes->look, &(struct gt_looked){piece->line, missed, fresh, dropped});
	}
	const uint64_t elsewhere = counters && !near ? missed & fresh : 0;
	if (passes)
		return give(serving, record, piece->line, 0, elsewhere);
	use_sectors(level, record, used, fresh | dropped);
	return give(serving, record, piece->line, gt_level_groups(level, missed) & ~present.valid, elsewhere);
}

static int look_at_bringing(const struct gt_serving *serving, struct past *past, struct record *record, const struct gt_piece *piece)
{
	if (use_line(serving, past, record) != 0)
		return -1;
	const struct present present = look_up(serving, piece->line, &record->own);
	const uint64_t missed = piece->used & ~present.valid;
	count_partial_reads(serving->level->notes, record, missed & present.held);
	use_sectors(serving->level, record, piece->used, piece->used & (~record->given | record->dropped));
	return give(serving, record, piece->line, gt_level_groups(serving->level, missed) & ~present.valid, 0);
}

/* Sectors whose bytes are all valid after a store into a line that has a place. */
static uint64_t stored_whole(const struct gt_level_config *config, const struct gt_piece *piece)
{
	return config->partial == GT_PARTIAL_KEEP || (config->write == GT_WRITE_BACK && config->partial == GT_PARTIAL_FETCH) ? piece->used : piece->full;
}

static int look_at_store(const struct gt_serving *serving, struct past *past, struct record *record, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	const struct gt_level_config *config = &level->config;
	const bool evicts = config->write == GT_WRITE_EVICT, allocates = config->allocate && !evicts;

	if (evicts) {
		record->dropped = record->given;
		return 0;
	}
	if (allocates && use_line(serving, past, record) != 0)
		return -1;
	const struct present present = look_up(serving, piece->line, &record->own);
	const uint64_t whole = stored_whole(config, piece), parts = piece->used & ~piece->full & ~present.valid;
	uint64_t brought = whole;
	for (uint64_t rest = whole; rest; rest &= rest - 1)
		record->distance[__builtin_ctzll(rest)] = 0;
	if (!present.line && !allocates)
		return 0;
	if (parts)
		record->writer = (uint32_t)level->notes->site + 1;
	if (parts && config->write == GT_WRITE_BACK && config->partial == GT_PARTIAL_FETCH) {
		brought |= gt_level_groups(level, parts);
		count_partial_reads(level->notes, record, parts);
	}
	return give(serving, record, piece->line, brought & ~present.valid, 0);
}

static int look(const struct gt_serving *serving, const struct gt_piece *piece, enum gt_lookup lookup)
{
	struct past *past = past_of(serving, serving->error);
	struct record *record = past ? record_of(serving, past, piece->line) : NULL;

	if (!record)
		return -1;
	switch (lookup) {
	case GT_LOOKUP_BRING: return look_at_bringing(serving, past, record, piece);
	case GT_LOOKUP_STORE: return look_at_store(serving, past, record, piece);
	case GT_LOOKUP_DROP: record->dropped |= record->given & piece->used; return 0;
	case GT_LOOKUP_LOAD: case GT_LOOKUP_NEAR: case GT_LOOKUP_PASSING: break;
	}
	return look_at_load(serving, past, record, piece, lookup);
}

int gt_look_in_full(const struct gt_serving *serving, const struct gt_piece *piece, enum gt_lookup lookup)
{
	uint32_t slot = serving->tags->last_slot;

	if (lookup == GT_LOOKUP_LOAD || lookup == GT_LOOKUP_PASSING)
		add_load(serving->level->look, &(struct gt_looked){.line = piece->line, .missed = piece->used & ~look_up(serving, piece->line, &slot).valid});
	return 0;
}

/* ---- a batch ---- */

/* The full level serves row i, and sends nothing. `record`: of the last line of the row, or NULL. */
static int serve_full(struct gt_serving *full, struct record *record, const struct gt_rows *rows, size_t i)
{
	const uint64_t line = rows->address[i] / GT_LINE;

	if (record && full->level->usual)
		look_there_first(full->tags, line, record->full);
	if (gt_level_serve_row(full, full->tags, rows, i) != 0)
		return -1;
	if (record && full->level->usual && full->tags->last_line == line)
		record->full = full->tags->last_slot;
	return 0;
}

/* Serves row i, of the site that is known, by the level, and by its full one. */
static int serve_both(struct gt_serving *serving, struct gt_serving *full, const struct gt_rows *rows, size_t i)
{
	struct gt_level *level = serving->level;

	level->look->counts = full->level->look->counts = true;
	level->look->n = full->level->look->n = 0;
	level->notes->record = NULL;
	if (gt_level_serve_row(serving, serving->tags, rows, i) != 0 || serve_full(full, level->notes->record, rows, i) != 0)
		return -1;
	gt_notes_after(level, rows, i);
	return 0;
}

/* Whether a cache has all of these sectors; *slot, where it was, becomes where the line is. */
static bool has(struct gt_level *level, struct gt_tags *tags, uint64_t line, uint64_t used, uint32_t *slot)
{
	if (*gt_slot_tag(tags, *slot) != line + 1) {
		const uint32_t found = gt_tags_find(tags, gt_level_set_of(level, line), line);
		if (found == GT_NO_SLOT)
			return false;
		*slot = found;
	}
	return (used & ~gt_tags_valid(tags, *slot)) == 0;
}

static void touch(struct gt_level *level, struct gt_tags *tags, uint64_t line, uint32_t slot, uint64_t used)
{
	const uint32_t set = level->geometry.ways > 0 ? slot / level->geometry.ways : gt_level_set_of(level, line);

	gt_level_touch(level, tags, set, slot, used, used, level->counters.mru);
}

/* The record of the line of a load of the usual kind that hits here and in the full level, of sectors that have been given; else
 * NULL. */
static struct record *hit_record(const struct gt_serving *serving, const struct gt_serving *full, struct past *past, const struct turn *turn,
				 uint64_t line, uint64_t used)
{
	const struct gt_notes *notes = serving->level->notes;
	uint32_t number = turn->record[0];

	if (!past->open)
		return NULL;
	if (number == 0 || record_at(notes, past, number - 1)->line != line)
		number = find_number(notes, past, line);
	struct record *record = number ? record_at(notes, past, number - 1) : NULL;
	if (!record || record->kernel != notes->kernel || used & (~record->given | record->dropped))
		return NULL;
	return has(serving->level, serving->tags, line, used, &record->own) && has(full->level, full->tags, line, used, &record->full) ? record : NULL;
}

/* Nothing but the order of lines changes. */
static int serve_hit(struct gt_serving *serving, struct gt_serving *full, struct past *past, struct record *record, uint64_t line, uint64_t used)
{
	struct gt_level *level = serving->level;
	struct gt_noted *noted = &level->by_site.noted[level->notes->site];
	const uint64_t sectors = gt_count_bits(used);

	if (use_line(serving, past, record) != 0)
		return -1;
	count_distances(&noted->causes, record, used);
	count_others(serving, &noted->causes, record, used);
	use_sectors(level, record, used, 0);
	touch(level, serving->tags, line, record->own, used);
	touch(full->level, full->tags, line, record->full, used);
	level->counters.reads += sectors;
	level->counters.read_hits += sectors;
	noted->served.reads += sectors;
	noted->served.read_hits += sectors;
	level->notes->last.reads += sectors;
	level->notes->last.read_hits += sectors;
	return 0;
}

/* Whether a row is a load of the usual kind. */
static bool is_usual(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	return level->usual && !level->config.l2_partitions && level->class_of[rows->op[i]] == GT_CLASS_READ;
}

/* Serves row i. */
static int serve_row(struct gt_serving *serving, struct gt_serving *full, const struct gt_rows *rows, size_t i)
{
	struct gt_level *level = serving->level;
	const struct turn *turn = &level->notes->batch.turns[i];

	level->notes->site = turn->site;
	if (level->lookahead)
		gt_level_foresee(level, serving->tags, i);
	if (!is_usual(level, rows, i))
		return serve_both(serving, full, rows, i);
	const uint64_t line = rows->address[i] / GT_LINE, used = rows->sectors[i] & 15;
	struct past *past = &level->notes->pasts[gt_level_instance_of(level, rows, i)];
	struct record *record = hit_record(serving, full, past, turn, line, used);
	if (!record)
		return serve_both(serving, full, rows, i);
	serving->request.sm = rows->scheduled ? rows->sm[i] : 0;
	return serve_hit(serving, full, past, record, line, used);
}

/* Rows that are looked at before they are served: what is prefetched first is read then. */
enum { TABLE_AHEAD = 32, RECORD_AHEAD = 16, SLOTS_AHEAD = 8, CHAIN_AHEAD = 4 };

GT_INLINE void prefetch_slot(const struct gt_tags *tags, uint32_t slot, bool stores)
{
	gt_slot_prefetch(tags, slot, stores && tags->dirty_spread == 0);
	if (!gt_tags_has_records(tags) && tags->first_valid)
		__builtin_prefetch(gt_slot_valid(tags, slot), 1);
}

/* Where the search begins for a line that is not in the slot where it may be. */
GT_INLINE void prefetch_search(const struct gt_level *level, const struct gt_tags *tags, uint64_t line, uint32_t slot)
{
	if (*gt_slot_tag(tags, slot) == line + 1)
		return;
	if (tags->finder.heads)
		__builtin_prefetch(gt_finder_chain(&tags->finder, line), 1);
	else
		gt_level_prefetch_set(level, tags, line);
}

/* What row i concerns in an instance; *number is that of its record there, as in struct turn. */
GT_INLINE void prefetch_in(const struct gt_level *level, const struct gt_rows *rows, size_t i, size_t instance, uint32_t *number, unsigned ahead)
{
	const struct past *past = &level->notes->pasts[instance];
	const struct gt_tags *own = level->instances[instance], *full = level->full->instances[instance];
	const uint64_t line = rows->address[i] >> level->line_shift;

	if (!past->open || !own || !full)
		return;
	if (ahead == TABLE_AHEAD)
		__builtin_prefetch(first_place(past, line));
	if (ahead == RECORD_AHEAD && *first_place(past, line) >> 32 == hash_of(line))
		*number = (uint32_t)*first_place(past, line);
	const struct record *record = *number ? record_at(level->notes, past, *number - 1) : NULL;
	if (ahead == CHAIN_AHEAD) {
		prefetch_search(level, own, line, record ? record->own : 0);
		prefetch_search(level->full, full, line, record ? record->full : 0);
	}
	if (ahead == RECORD_AHEAD && record) {
		__builtin_prefetch(record, 1);
		__builtin_prefetch(record->distance, 1);
	}
	if (ahead == SLOTS_AHEAD && record) {
		prefetch_slot(own, record->own, gt_op_action(rows->op[i]) == GT_STORE);
		prefetch_slot(full, record->full, gt_op_action(rows->op[i]) == GT_STORE);
		if (record->slot)
			gt_timeline_prefetch(&past->slots, record->slot - 1);
	}
}

/* Before the row that has turn k is served. */
GT_INLINE void prefetch(const struct gt_level *level, const struct gt_rows *rows, size_t k, unsigned ahead)
{
	struct turn *turns = level->notes->batch.turns;

	if (k + ahead >= rows->n)
		return;
	const size_t i = turns[k + ahead].row;
	if (!level->config.l2_partitions) {
		prefetch_in(level, rows, i, gt_level_instance_of(level, rows, i), &turns[i].record[0], ahead);
		return;
	}
	for (size_t partition = 0; partition < GT_L2_PARTITIONS; partition++)
		prefetch_in(level, rows, i, partition, &turns[i].record[partition], ahead);
}

static int find_instances(struct gt_serving *serving, struct gt_serving *full, size_t n)
{
	serving->tags = gt_level_instance(serving->level, n, serving->error);
	full->tags = gt_level_instance(full->level, n, full->error);
	return serving->tags && full->tags ? 0 : -1;
}

/* Room for a batch. */
static int open_batch(struct batch *batch, const struct gt_rows *rows, uint32_t sms, struct gt_error *error)
{
	struct turn *turns = gt_grown_to(batch->turns, rows->n, &batch->turns_capacity, sizeof *turns);
	batch->turns = turns ? turns : batch->turns;
	uint32_t *before = gt_grown_to(batch->before, sms, &batch->before_capacity, sizeof *before);
	batch->before = before ? before : batch->before;

	if (!turns || !before)
		return gt_fail_memory(error, "a batch of rows");
	if (!batch->sent && !(batch->sent = gt_rows_new(GT_ROWS_BATCH, error)))
		return -1;
	batch->passed_n = batch->sent->n = 0;
	memset(before, 0, sms * sizeof *before);
	return 0;
}

/* Finds the sites of rows, which are numbered in their order. */
static int find_sites(struct gt_level *level, const struct gt_rows *rows, struct gt_error *error)
{
	struct gt_notes *notes = level->notes;

	for (size_t i = 0; i < rows->n; i++) {
		if (know_site(level, rows, i, error) != 0)
			return -1;
		notes->batch.turns[i] = (struct turn){.row = (uint32_t)i, .site = (uint32_t)notes->site};
	}
	return 0;
}

/* Puts rows in order by SM, those of one in the order in which they came. */
static void order_by_sm(struct batch *batch, const struct gt_rows *rows, uint32_t sms)
{
	uint32_t first = 0;

	for (size_t i = 0; i < rows->n; i++)
		batch->before[rows->sm[i]]++;
	for (uint32_t sm = 0; sm < sms; sm++) {
		uint32_t n = batch->before[sm];
		batch->before[sm] = first;
		first += n;
	}
	for (size_t i = 0; i < rows->n; i++)
		batch->turns[batch->before[rows->sm[i]]++].row = (uint32_t)i;
}

static int serve_turns(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	struct batch *batch = &level->notes->batch;
	struct gt_serving serving = {.level = level, .sent = sent, .error = error}, full = {.level = level->full, .error = error};
	size_t instance = SIZE_MAX;

	for (size_t k = 0; k < rows->n; k++) {
		const size_t i = batch->turns[k].row, of = gt_level_instance_of(level, rows, i);
		struct turn *turn = &batch->turns[i];
		prefetch(level, rows, k, TABLE_AHEAD);
		prefetch(level, rows, k, RECORD_AHEAD);
		prefetch(level, rows, k, SLOTS_AHEAD);
		prefetch(level, rows, k, CHAIN_AHEAD);
		if (of != instance && find_instances(&serving, &full, instance = of) != 0)
			return -1;
		turn->sent = (uint32_t)batch->sent->n;
		turn->passed = (uint32_t)batch->passed_n;
		if (serve_row(&serving, &full, rows, i) != 0)
			return -1;
		turn->sent_end = (uint32_t)batch->sent->n;
		turn->passed_end = (uint32_t)batch->passed_n;
	}
	return 0;
}

/* What has been sent and passed, in the order of the rows. */
static int finish_turns(struct gt_notes *notes, size_t rows, struct gt_sink *sent, struct gt_error *error)
{
	struct batch *batch = &notes->batch;
	uint32_t *order = gt_grown_to(batch->order, batch->sent->n, &batch->order_capacity, sizeof *order);
	size_t n = 0;

	if (!order && batch->sent->n > 0)
		return gt_fail_memory(error, "a batch of rows");
	batch->order = order;
	for (size_t i = 0; i < rows; i++) {
		const struct turn *turn = &batch->turns[i];
		for (uint32_t at = turn->sent; at < turn->sent_end; at++)
			order[n++] = at;
		for (uint32_t at = turn->passed; at < turn->passed_end; at++)
			if (pass(notes, &batch->passed[at], error) != 0)
				return -1;
	}
	for (size_t done = 0, some; done < n; done += some) {
		if (gt_sink_room(sent, error) != 0)
			return -1;
		size_t room = sent->rows->capacity - sent->rows->n;
		some = n - done < room ? n - done : room;
		gt_requests_append(sent->rows, batch->sent, order + done, some);
	}
	return 0;
}

/* A private level: SM by SM, so that the machine's cache keeps what it needs of one. */
static int serve_by_sm(struct gt_level *level, const struct gt_rows *rows, uint32_t sms, struct gt_sink *sent, struct gt_error *error)
{
	struct batch *batch = &level->notes->batch;
	struct gt_sink own = gt_sink_that_grows(batch->sent);

	order_by_sm(batch, rows, sms);
	gt_rows_shape(batch->sent, sent->rows);
	batch->open = true;
	int result = serve_turns(level, rows, sent == &level->dropped ? sent : &own, error);
	batch->open = false;
	return result == 0 ? finish_turns(level->notes, rows->n, sent, error) : -1;
}

int gt_notes_serve(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error)
{
	const bool by_sm = !level->config.shared && rows->scheduled;
	uint32_t sms = 1;

	for (size_t i = 0; by_sm && i < rows->n; i++)
		sms = rows->sm[i] < sms ? sms : rows->sm[i] + 1U;
	if (open_batch(&level->notes->batch, rows, sms, error) != 0 || find_sites(level, rows, error) != 0)
		return -1;
	return by_sm ? serve_by_sm(level, rows, sms, sent, error) : serve_turns(level, rows, sent, error);
}
