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
#include "cache/level.h"
#include "cache/state.h"
#include "replace/stack.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/program.h"

struct served {
	GT_SITE_SERVED_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of the level that a site has, too: by how much they grow while its requests are served. */
#define OF_LEVEL(DO) DO(reads) DO(read_hits) DO(writes) DO(atomics) DO(bypassed) DO(sent_reads) DO(sent_writes)

/* What one site counts; without sites all requests are of one. */
struct noted {
	struct served served;
	struct gt_cause_counters causes;
};

/* A line that an instance has been asked for. The distances of its sectors follow it, and the SMs + 1 that brought them. */
struct record {
	uint64_t given, dropped; /* sectors; those dropped were given */
	uint32_t kernel;	 /* in which the writer and the SMs are known */
	uint32_t writer;	 /* the site of the last store that wrote a sector in part + 1, or 0 */
	uint32_t slot;		 /* of its last use + 1, or 0 */
	uint32_t distance[];	 /* of each sector, in lines: the largest of its line since the sector was used */
};

/* What an instance has been asked for since it was last emptied. The uses of lines have time slots (replace/stack.h), of which those of
 * the last uses are live; between two uses of a line there have been as many others as live slots lie between. */
struct past {
	struct gt_timeline slots;
	uint32_t live, next;
	struct gt_map index; /* a line's record */
	unsigned char *records;
	size_t n, capacity;
	bool open;
};

enum { FIRST_SLOTS = 64 };

struct gt_notes {
	struct gt_sites sites;
	struct noted *noted; /* of each site */
	size_t n, capacity;
	size_t site; /* of the present request */
	struct served last; /* the level's counters when they were last looked at */
	/* For the causes. */
	struct gt_look look;
	struct past *pasts; /* of each instance */
	size_t record_bytes;
	struct gt_map everywhere; /* of a private level: the sectors of a line that any instance has been given in this kernel */
	uint32_t kernel;	  /* from 1 */
};

/* ---- opening ---- */

static int open_causes(struct gt_level *level, struct gt_error *error)
{
	struct gt_notes *notes = level->notes;
	const size_t bytes = sizeof(struct record) + level->sectors * (sizeof(uint32_t) + sizeof(uint16_t)), align = sizeof(uint64_t);

	notes->record_bytes = (bytes + align - 1) / align * align;
	notes->pasts = calloc(level->instances_n, sizeof *notes->pasts);
	if (!notes->pasts)
		return gt_fail_memory(error, "causes of misses");
	if (!level->config.shared && gt_map_open(&notes->everywhere, 64, error) != 0)
		return -1;
	notes->look.notes = notes;
	level->look = &notes->look;
	return 0;
}

int gt_notes_open(struct gt_level *level, struct gt_error *error)
{
	level->notes = calloc(1, sizeof *level->notes);
	if (!level->notes)
		return gt_fail_memory(error, "counts by site");
	if (level->config.by == GT_BY_SITE && gt_sites_open(&level->notes->sites, error) != 0)
		return -1;
	return level->config.causes ? open_causes(level, error) : 0;
}

/* The instance is empty. */
static void forget(struct past *past)
{
	if (past->open) {
		gt_timeline_close(&past->slots);
		gt_map_close(&past->index);
	}
	free(past->records);
	*past = (struct past){.open = false};
}

void gt_notes_close(struct gt_level *level)
{
	struct gt_notes *notes = level->notes;

	if (!notes)
		return;
	gt_sites_close(&notes->sites);
	free(notes->noted);
	for (size_t i = 0; notes->pasts && i < level->instances_end; i++)
		forget(&notes->pasts[i]);
	free(notes->pasts);
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
		gt_sites_begin(&notes->sites);
	notes->n = 0;
	memset(&notes->last, 0, sizeof notes->last);
	notes->kernel++;
	if (notes->everywhere.slots)
		gt_map_clear(&notes->everywhere);
}

int gt_level_name_arrays(struct gt_level *level, const struct gt_count *count, struct gt_error *error)
{
	return level->config.by == GT_BY_SITE ? gt_sites_note(&level->notes->sites, count, error) : 0;
}

void gt_notes_forget(struct gt_level *level)
{
	for (size_t i = 0; level->full && i < level->instances_end; i++)
		forget(&level->notes->pasts[i]);
}

/* ---- a row ---- */

/* Counters of one more site. */
static int add_noted(struct gt_notes *notes, struct gt_error *error)
{
	struct noted *bigger = gt_grown(notes->noted, notes->n, &notes->capacity, sizeof *bigger);

	if (!bigger)
		return gt_fail_memory(error, "counts by site");
	notes->noted = bigger;
	memset(&bigger[notes->n++], 0, sizeof *bigger);
	return 0;
}

/* A site is told by the first sector of a request: an array may begin within its line. */
static int find_site(struct gt_notes *notes, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	const unsigned first = rows->sectors[i] & 15 ? (unsigned)__builtin_ctz(rows->sectors[i]) : 0;

	notes->site = gt_sites_number(&notes->sites, rows->pc[i], false, rows->address[i] + first * GT_SECTOR);
	return notes->site == GT_SITE_NONE ? gt_fail_memory(error, "counts by site") : 0;
}

int gt_notes_before(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_notes *notes = level->notes;

	if (level->config.by == GT_BY_SITE && find_site(notes, rows, i, error) != 0)
		return -1;
	while (notes->n <= notes->site)
		if (add_noted(notes, error) != 0)
			return -1;
	if (!level->full)
		return 0;
	level->look->counts = level->full->look->counts = true;
	level->look->n = level->full->look->n = 0;
	return 0;
}

static void add_served(const struct gt_notes *notes, const struct gt_level_counters *counters, struct served *to)
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
		causes->elsewhere += gt_count_bits(load->missed & load->elsewhere);
		causes->invalidated += gt_count_bits(load->missed & load->dropped);
		causes->capacity += gt_count_bits(capacity);
		causes->conflict += gt_count_bits(others & ~capacity);
	}
}

void gt_notes_after(struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	struct gt_notes *notes = level->notes;
	struct noted *noted = &notes->noted[notes->site];

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

static struct past *past_of(const struct gt_serving *serving, struct gt_error *error)
{
	const struct gt_level *level = serving->level;
	const bool second = level->config.l2_partitions && serving->tags == level->instances[1];
	struct past *past = &level->notes->pasts[level->config.shared ? second : serving->request.sm];

	if (past->open)
		return past;
	if (gt_timeline_open(&past->slots, FIRST_SLOTS, 0, error) != 0)
		return NULL;
	past->open = true;
	return gt_map_open(&past->index, 64, error) == 0 ? past : NULL;
}

static struct record *record_at(const struct gt_notes *notes, const struct past *past, size_t n)
{
	return (struct record *)(void *)(past->records + n * notes->record_bytes);
}

/* The SM + 1 of each sector, behind the distances. */
static uint16_t *bringers_of(const struct gt_level *level, struct record *record)
{
	return (uint16_t *)(void *)(record->distance + level->sectors);
}

static struct record *add_record(const struct gt_notes *notes, struct past *past)
{
	unsigned char *bigger = gt_grown(past->records, past->n, &past->capacity, notes->record_bytes);

	if (!bigger)
		return NULL;
	past->records = bigger;
	return memset(record_at(notes, past, past->n++), 0, notes->record_bytes);
}

/* The record of a line; it is new, if there was none. What is known of one kernel is forgotten in the next. */
static struct record *record_of(const struct gt_serving *serving, struct past *past, uint64_t line)
{
	const struct gt_level *level = serving->level;
	int fresh;
	uint64_t *place = gt_map_put(&past->index, line, past->n, &fresh);
	struct record *record = !place ? NULL : fresh ? add_record(level->notes, past) : record_at(level->notes, past, *place);

	if (!record)
		gt_fail_memory(serving->error, "causes of misses");
	else if (record->kernel != level->notes->kernel) {
		record->kernel = level->notes->kernel;
		record->writer = 0;
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
static int use_line(const struct gt_serving *serving, struct past *past, struct record *record)
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

/* Sectors are given to an instance that has not had them; `known` is all of them that any instance has had in this kernel. */
static int give(const struct gt_serving *serving, struct record *record, uint64_t line, uint64_t sectors)
{
	struct gt_level *level = serving->level;
	uint16_t *bringers = bringers_of(level, record);
	int fresh;

	if (sectors == 0)
		return 0;
	record->given |= sectors;
	record->dropped &= ~sectors;
	for (uint64_t rest = level->config.shared ? sectors : 0; rest; rest &= rest - 1)
		bringers[__builtin_ctzll(rest)] = (uint16_t)(serving->request.sm + 1);
	if (level->config.shared)
		return 0;
	uint64_t *known = gt_map_put(&level->notes->everywhere, line, 0, &fresh);
	if (!known)
		return gt_fail_memory(serving->error, "causes of misses");
	*known |= sectors;
	return 0;
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

static struct present look_up(const struct gt_serving *serving, uint64_t line)
{
	const uint32_t slot = gt_tags_find(serving->tags, gt_level_set_of(serving->level, line), line);

	if (slot == GT_NO_SLOT)
		return (struct present){.line = false};
	return (struct present){true, gt_tags_valid(serving->tags, slot), gt_tags_held(serving->tags, slot)};
}

static struct gt_cause_counters *counters_of(const struct gt_notes *notes)
{
	return notes->look.counts ? &notes->noted[notes->site].causes : NULL;
}

static void add_load(struct gt_look *look, const struct gt_looked *load)
{
	if (look->counts && look->n < GT_LOOKED_MAX)
		look->loads[look->n++] = *load;
}

/* Sectors that were written in part are read: on account of the site that wrote, if that was in this kernel. */
static void count_partial_reads(struct gt_notes *notes, const struct record *record, uint64_t sectors)
{
	const size_t site = record->writer && record->writer <= notes->n ? record->writer - 1 : notes->site;

	if (sectors && notes->look.counts)
		notes->noted[site].causes.partial_reads += gt_count_bits(sectors);
}

static void count_distances(struct gt_cause_counters *counters, const struct record *record, uint64_t sectors)
{
	for (uint64_t rest = sectors; counters && rest; rest &= rest - 1)
		counters->distance[gt_distance_bin(record->distance[__builtin_ctzll(rest)])]++;
}

/* Hits of sectors that a request of another SM has brought. */
static void count_others(const struct gt_serving *serving, struct gt_cause_counters *counters, struct record *record, uint64_t hits)
{
	const uint16_t *bringers = bringers_of(serving->level, record);

	for (uint64_t rest = counters && serving->level->config.shared ? hits : 0; rest; rest &= rest - 1) {
		const uint16_t by = bringers[__builtin_ctzll(rest)];
		counters->others_hits += by != 0 && by != (uint16_t)(serving->request.sm + 1);
	}
}

static uint64_t given_elsewhere(const struct gt_notes *notes, uint64_t line, uint64_t sectors)
{
	const uint64_t *known = sectors && notes->everywhere.slots ? gt_map_get(&notes->everywhere, line) : NULL;

	return known ? sectors & *known : 0;
}

static int look_at_load(const struct gt_serving *serving, struct past *past, const struct gt_piece *piece, enum gt_lookup lookup)
{
	struct gt_level *level = serving->level;
	struct gt_notes *notes = level->notes;
	struct gt_cause_counters *counters = counters_of(notes);
	const struct present present = look_up(serving, piece->line);
	struct record *record = record_of(serving, past, piece->line);

	if (!record)
		return -1;
	const bool near = lookup == GT_LOOKUP_NEAR, passes = lookup == GT_LOOKUP_PASSING;
	const uint64_t used = piece->used, fresh = used & ~record->given, dropped = used & record->dropped, missed = used & ~present.valid;
	if (!(passes && record->given == 0) && use_line(serving, past, record) != 0)
		return -1;
	count_distances(counters, record, used & ~fresh & ~dropped & (near ? present.valid : UINT64_MAX));
	count_others(serving, counters, record, used & present.valid);
	if (!near) {
		count_partial_reads(notes, record, missed & present.held);
		add_load(&notes->look, &(struct gt_looked){piece->line, missed, fresh, dropped, given_elsewhere(notes, piece->line, fresh)});
	}
	if (passes)
		return 0;
	use_sectors(level, record, used, fresh | dropped);
	return give(serving, record, piece->line, near ? missed : gt_level_groups(level, missed) & ~present.valid);
}

static int look_at_bringing(const struct gt_serving *serving, struct past *past, const struct gt_piece *piece)
{
	const struct present present = look_up(serving, piece->line);
	struct record *record = record_of(serving, past, piece->line);
	const uint64_t missed = piece->used & ~present.valid;

	if (!record || use_line(serving, past, record) != 0)
		return -1;
	count_partial_reads(serving->level->notes, record, missed & present.held);
	use_sectors(serving->level, record, piece->used, piece->used & (~record->given | record->dropped));
	return give(serving, record, piece->line, gt_level_groups(serving->level, missed) & ~present.valid);
}

/* Sectors whose bytes are all valid after a store into a line that has a place. */
static uint64_t stored_whole(const struct gt_level_config *config, const struct gt_piece *piece)
{
	return config->partial == GT_PARTIAL_KEEP || (config->write == GT_WRITE_BACK && config->partial == GT_PARTIAL_FETCH) ? piece->used : piece->full;
}

static int look_at_store(const struct gt_serving *serving, struct past *past, const struct gt_piece *piece)
{
	struct gt_level *level = serving->level;
	const struct gt_level_config *config = &level->config;
	const struct present present = look_up(serving, piece->line);
	const bool evicts = config->write == GT_WRITE_EVICT, allocates = config->allocate && !evicts;
	struct record *record = record_of(serving, past, piece->line);

	if (!record)
		return -1;
	if (evicts) {
		record->dropped = record->given;
		return 0;
	}
	if (allocates && use_line(serving, past, record) != 0)
		return -1;
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
	return give(serving, record, piece->line, brought & ~present.valid);
}

static int look_at_dropping(const struct gt_serving *serving, struct past *past, const struct gt_piece *piece)
{
	struct record *record = record_of(serving, past, piece->line);

	if (!record)
		return -1;
	record->dropped |= record->given & piece->used;
	return 0;
}

int gt_look_at(const struct gt_serving *serving, const struct gt_piece *piece, enum gt_lookup lookup)
{
	struct gt_look *look = serving->level->look;

	if (!look->notes) {
		if (lookup == GT_LOOKUP_LOAD || lookup == GT_LOOKUP_PASSING)
			add_load(look, &(struct gt_looked){.line = piece->line, .missed = piece->used & ~look_up(serving, piece->line).valid});
		return 0;
	}
	struct past *past = past_of(serving, serving->error);
	if (!past)
		return -1;
	switch (lookup) {
	case GT_LOOKUP_BRING: return look_at_bringing(serving, past, piece);
	case GT_LOOKUP_STORE: return look_at_store(serving, past, piece);
	case GT_LOOKUP_DROP: return look_at_dropping(serving, past, piece);
	case GT_LOOKUP_LOAD: case GT_LOOKUP_NEAR: case GT_LOOKUP_PASSING: break;
	}
	return look_at_load(serving, past, piece, lookup);
}

/* ---- counting ---- */

/* Appends a number or an array of a class. */
static int count_one(struct gt_count *count, const char *class, const struct gt_count_entry *entry, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s%.*s", GT_SITE_NAME, class, GT_COUNT_NAME - GT_SITE_NAME - 1, entry->name);
	if (entry->kind == GT_COUNT_ARRAY)
		return gt_count_array(count, name, entry->array, entry->n, error);
	return gt_count_number(count, name, entry->number, error);
}

static size_t bins_of(const struct gt_cause_counters *causes)
{
	size_t n = GT_DISTANCE_BINS;

	while (n > 0 && causes->distance[n - 1] == 0)
		n--;
	return n;
}

/* Those that the level can have. */
static int count_causes(const struct gt_level *level, const struct gt_cause_counters *causes, struct gt_count *count, struct gt_error *error)
{
	const size_t partial = offsetof(struct gt_cause_counters, partial_reads), elsewhere = offsetof(struct gt_cause_counters, elsewhere),
		     others = offsetof(struct gt_cause_counters, others_hits), end = offsetof(struct gt_cause_counters, distance);
	const bool shared = level->config.shared;

	if (gt_count_some(count, &gt_counters_causes, causes, 0, partial, error) != 0 ||
	    gt_count_some(count, &gt_counters_causes, causes, partial, elsewhere, error) != 0)
		return -1;
	if (gt_count_some(count, &gt_counters_causes, causes, shared ? others : elsewhere, shared ? end : others, error) != 0)
		return -1;
	return gt_count_arrays(count, &gt_counters_causes, causes, GT_DISTANCE_BINS, bins_of(causes), error);
}

int gt_notes_count(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_notes *notes = level->notes;
	struct gt_cause_counters total = {0};

	if (!notes || !level->full)
		return 0;
	for (size_t i = 0; i < notes->n; i++)
		gt_counters_add(&total, &notes->noted[i].causes, sizeof total);
	return count_causes(level, &total, count, error);
}

static int count_site(const struct gt_level *level, size_t site, struct gt_count *one, struct gt_error *error)
{
	const struct noted *noted = &level->notes->noted[site];
	const size_t sent_writes = offsetof(struct served, sent_writes), partial = offsetof(struct served, partial_writes);
	const bool back = level->config.write == GT_WRITE_BACK; /* what is sent then is what other requests wrote */

	if (gt_count_some(one, &gt_counters_site_level, &noted->served, 0, back ? sent_writes : partial, error) != 0 ||
	    gt_count_some(one, &gt_counters_site_level, &noted->served, partial, sizeof noted->served, error) != 0)
		return -1;
	return level->full ? count_causes(level, &noted->causes, one, error) : 0;
}

/* The counters of a site have its name before theirs. */
static int append_site(const struct gt_level *level, size_t site, struct gt_count *count, struct gt_error *error)
{
	char name[GT_SITE_NAME], class[GT_SITE_NAME + 1];
	struct gt_count one;
	int result;

	gt_count_begin(&one, "", 0);
	result = count_site(level, site, &one, error);
	snprintf(class, sizeof class, "%s.", gt_site_format(&level->notes->sites, site, name));
	for (size_t i = 0; i < one.n && result == 0; i++)
		result = count_one(count, class, &one.entries[i], error);
	gt_count_clear(&one);
	return result;
}

/* By instruction, and by the order in which they were met. */
static int compare_sites(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

int gt_notes_count_sites(const struct gt_level *level, struct gt_count *count, struct gt_error *error)
{
	const struct gt_notes *notes = level->notes;
	int result = 0;

	if (!notes || level->config.by != GT_BY_SITE || notes->n == 0)
		return 0;
	uint64_t *order = malloc(notes->n * sizeof *order);
	if (!order)
		return gt_fail_memory(error, "counts by site");
	for (size_t i = 0; i < notes->n; i++)
		order[i] = (uint64_t)notes->sites.sites[i].pc << 32 | i;
	qsort(order, notes->n, sizeof *order, compare_sites);
	for (size_t i = 0; i < notes->n && result == 0; i++)
		result = append_site(level, order[i] & UINT32_MAX, count, error);
	free(order);
	return result;
}
