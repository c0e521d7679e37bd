/* SPDX-License-Identifier: MIT */
/* The state of a functional level - its tags by instance, what waits, what it has counted - and the path of a request through it. Each
 * file calls only later ones:
 *
 *	level.c    opens and closes a level, counts
 *	notes.c    counts by site, and finds the causes of load misses
 *	batch.c    takes a batch, or ends a kernel: serves requests in order, holds those that are served later, passes them on with
 *	           their status, and serves what the launch itself reads
 *	hints.c    serves a request that has a hint or lies in the window of its launch; finds the status of any; prefetches
 *	serve.c    serves a request without a hint, and does what it does to one line
 *	combine.c  requests that are served as one
 *
 * A batch that is mostly plain loads goes through the fast wing (cache/fast/fast.h), with the same result. */
#ifndef GT_CACHE_STATE_H
#define GT_CACHE_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "cache/config.h"
#include "counter/tables.h"
#include "replace/tags.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/program.h"
#include "stream/request.h"
#include "stream/rows.h"

/* ---- L2 partitions ---- */

/* A level of two L2 partitions (--spread far:N). Each line has its home in one of them. A load looks into the partition of its SM first,
 * then into the line's home, and leaves a copy in the partition of its SM. All else goes to the home, which alone has written data, and makes
 * a copy in the other partition invalid, but for a store whose SM has the copy. */

/* The partition that is the home of a line, by its address. */
static inline unsigned gt_home_partition(uint64_t address)
{
	return gt_spread_home(address / GT_LINE);
}

/* ---- counts ---- */

struct gt_level_counters {
	GT_LEVEL_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_BYTE_WAYS
	GT_LEVEL_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* Counters of rows that are no accesses; written only if there were any. */
struct gt_hint_counters {
	GT_HINT_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of accesses that bypassed the level; written only if there were any. */
struct gt_bypass_counters {
	GT_BYPASS_COUNTERS(GT_COUNTER_FIELD)
};

struct gt_fetch_counters {
	GT_FETCH_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level of --read-misses pair; written only by such a level. */
struct gt_pair_counters {
	GT_PAIR_COUNTERS(GT_COUNTER_FIELD)
};

struct gt_between_counters {
	GT_BETWEEN_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level of which a kernel finds sectors dirty; written only by such a level. */
struct gt_found_counters {
	GT_FOUND_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level that bounds the dirty lines of a set; written only by such a level. */
struct gt_clean_counters {
	GT_CLEAN_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of loads of constant memory that are served apart; written only if there were any. */
struct gt_constant_counters {
	GT_CONSTANT_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of the caches of constants of GPCs; written only if something was read there. */
struct gt_gpc_constant_counters {
	GT_GPC_CONSTANT_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of stores that were sent with others; written only by a level with a queue of them. */
struct gt_combine_counters {
	GT_COMBINE_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of loads that were served with others; written only by a level with a coalescer. */
struct gt_coalescer_counters {
	GT_COALESCER_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of what launches read; written only by a level that makes such reads. */
struct gt_launch_read_counters {
	GT_LAUNCH_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level of two L2 partitions; written only by such a level. */
struct gt_l2_partition_counters {
	GT_HALVES_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_L2_PARTITIONS
	GT_HALVES_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* Reads of a level and their hits by instruction. */
struct gt_pc_reads {
	uint64_t pc, reads, hits;
};

/* A zeroed one counts nothing, and can be closed. */
struct gt_by_pc {
	struct gt_map index; /* pc to its place in `pcs` */
	struct gt_pc_reads *pcs;
	size_t n, capacity;
	uint64_t reads, hits; /* of the level when it was last looked at */
};

/* The causes of load misses: of a level, or of one of its sites. */
struct gt_cause_counters {
	GT_CAUSE_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_DISTANCE_BINS
	GT_CAUSE_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

struct gt_served {
	GT_SITE_SERVED_COUNTERS(GT_COUNTER_FIELD)
};

/* What one site counts. */
struct gt_noted {
	struct gt_served served;
	struct gt_cause_counters causes;
};

/* A zeroed one counts nothing; without --by site all requests are of one. */
struct gt_by_site {
	struct gt_sites sites;
	struct gt_noted *noted; /* of each site */
	size_t n, capacity;
};

struct gt_notes; /* counts by site, and what the causes of misses follow from: cache/notes.c */

/* A part of a load, in one line: which of its sectors missed. */
struct gt_looked {
	uint64_t line, missed;
	uint64_t fresh;	  /* nothing has brought them */
	uint64_t dropped; /* they were made invalid */
};

/* What a request is about to do to the sectors of a line. */
enum gt_lookup {
	GT_LOOKUP_LOAD,
	GT_LOOKUP_NEAR,	   /* of a load that will ask the line's home for what is not here, and keep that */
	GT_LOOKUP_PASSING, /* of a load that brings nothing */
	GT_LOOKUP_BRING,   /* of what is no load and brings what is not here */
	GT_LOOKUP_STORE,
	GT_LOOKUP_DROP, /* makes them invalid */
};

#define GT_LOOKED_MAX 8

struct gt_serving;
struct gt_piece;
/* Looks before a request does it. Returns 0, or -1. */
typedef int gt_look_at(const struct gt_serving *serving, const struct gt_piece *piece, enum gt_lookup lookup);

/* What the present request has looked up. */
struct gt_look {
	gt_look_at *at;
	bool counts; /* it is one of the kernel's own */
	unsigned n;
	struct gt_looked loads[GT_LOOKED_MAX];
};

/* ---- the level ---- */

/* Takes requests round-robin from the SMs, whatever their step, as [004] merges the output of its L1s (figure 3). All
 * requests of a kernel are kept in memory. */
struct gt_queue {
	struct gt_request *requests;
	size_t n, capacity, taken;
	uint16_t sm;
};

/* Or by step and travel: each waits in the queue of the step at which it comes, until no later request can come before it. */
struct gt_arrivals {
	struct gt_queue *queues; /* in the order in which SMs were first seen; by SM while requests are taken. Of travel: a ring of steps */
	size_t n, capacity;
	uint32_t *queue_of; /* of each SM: place in queues + 1; of travel: its requests of a step, while they are put in order */
	uint32_t *order;    /* of travel: the requests of a step by SM */
	size_t order_capacity;
	uint32_t sms;	    /* of travel: above every SM that was seen */
	uint64_t step;	    /* of travel: all that come before it have been served */
	/* While requests are taken. */
	struct gt_rows *rows; /* the batch returned last; else NULL */
	size_t at, waiting;   /* the current queue; requests of all queues */
	uint64_t turn;
	bool has_hints; /* a batch had them */
};

struct gt_lookahead;

/* STREAM: a read whose lines are evicted first. CONSTANT: a load of constant memory that is served apart. DROP: one that bypasses the level
 * and leaves none of its sectors there. */
enum gt_op_class { GT_CLASS_READ, GT_CLASS_WRITE, GT_CLASS_ATOMIC, GT_CLASS_STREAM, GT_CLASS_CONSTANT, GT_CLASS_DROP, GT_CLASS_BYPASS, GT_CLASSES };

struct gt_level;
/* Serves a request. Returns 0, or -1 with the error that the serving names. */
typedef int gt_serve(const struct gt_serving *serving);

/* Serves a batch in its order. */
typedef int gt_serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error);

/* How many caches a level has made, and how many of them had a request since they were last empty. */
struct gt_instances {
	atomic_size_t made, used;
};

/* The loads that others may still be served with, in open addressing: `used` of 2^bits entries, of which some are open no more. */
struct gt_request_coalescer {
	struct gt_asked {
		uint64_t line, until;	/* the last step at which it is open */
		uint32_t gpc, requests; /* that were served as one; 0: the entry is free */
		uint8_t sectors;
	} *asked;
	unsigned bits;
	size_t used;
};

/* The stores of an SM that wait for the crossbar, in the order in which they came. */
struct gt_write_queue {
	uint64_t next; /* cycle after that of the last store: a store takes one for each line */
	uint64_t free; /* cycle from which on the crossbar takes a line */
	uint32_t first, n;
	struct gt_waiting_store {
		uint64_t line, since;
		uint8_t sectors, full;
	} waiting[]; /* a ring of config.combining.lines */
};

struct gt_level {
	struct gt_level_config config;
	struct gt_geometry geometry;
	struct gt_arena arena; /* of the instances */
	struct gt_index index;
	bool interleaved; /* else the index function chooses among all sets */
	struct gt_interleave interleave;
	uint32_t *deal; /* unequal sets: the set of each value of the index; else NULL */
	unsigned line_shift;
	unsigned sector_shift; /* log2 of a sector in GT_SECTOR bytes */
	unsigned sectors;      /* of a line */
	unsigned fetch_sectors; /* of an aligned group that a miss fetches */
	uint8_t brings[16]; /* the usual lines: the sectors that are fetched for a mask of missing ones, without a hint */
	bool usual;	      /* lines of GT_LINE bytes in sectors of GT_SECTOR */
	bool repeats_hit;     /* a plain load that repeats the request before it hits, and changes nothing */
	bool fast_path;	      /* the usual lines, in equal sets of few ways */
	bool writes_through;  /* a store is sent on as it is, and nothing else is to be known of it */
	uint64_t ways_inverse; /* of equal sets of up to GT_BYTE_WAYS: slot * ways_inverse >> GT_INVERSE_SHIFT is a slot's set */
	uint32_t set_mask;     /* index mod with a power of two (above 1) of sets: sets - 1; else 0 */
	uint8_t class_of[256]; /* of each op */
	gt_serve *serve[GT_CLASSES]; /* of each class */
	gt_serve *in_partition[GT_CLASSES];  /* the same in one L2 partition, if there are two */
	gt_serve_batch *fast;  /* serves a batch without hints faster, with the same result; NULL: the general path serves it */
	bool takes_spans; /* that serves rows that are several requests, too */
	struct gt_rows *singly; /* room for those request by request; NULL: none yet */
	struct gt_tags **instances; /* one, or by L2 partition or SM, NULL until first used; of a private level that is emptied, in this launch */
	struct gt_tags **emptied;   /* those of earlier launches that this one has not used */
	size_t instances_n;
	struct gt_instances instances_own, *instances_all; /* all: of the levels that together are one (cache/stage/stage.c) */
	size_t instances_end; /* above every instance that is or was used */
	uint32_t *slots; /* room for the ways of a set */
	struct gt_arrivals arrival;
	struct gt_request_coalescer coalescer;
	struct gt_write_queue **write_queues; /* by SM, NULL until first used; NULL: stores are sent one by one */
	struct gt_lookahead *lookahead; /* NULL if the policy does not look ahead */
	const uint64_t *next_use; /* of the current batch, from gt_lookahead_next */
	unsigned next_uses;	  /* words of next_use per request */
	uint64_t last_step; /* of the requests of this kernel */
	bool scheduled;	    /* they have a step */
	struct gt_sink dropped; /* for requests that are sent but not written, unless emit is misses */
	struct gt_level_counters counters;
	struct gt_hint_counters hints;
	struct gt_bypass_counters bypass;
	struct gt_fetch_counters fetch;
	struct gt_pair_counters pair;
	struct gt_between_counters between;
	struct gt_found_counters found;
	struct gt_clean_counters clean;
	struct gt_constant_counters constants;
	struct gt_gpc_constant_counters gpc_constants;
	struct gt_launch_read_counters launch_reads;
	struct gt_coalescer_counters coalesced;
	struct gt_combine_counters combined;
	struct gt_l2_partition_counters l2_partitions;
	struct gt_by_pc by_pc;
	struct gt_by_site by_site;
	struct gt_notes *notes; /* NULL: it neither counts by site nor finds causes */
	/* To find causes: the same level but of one set, under LRU, which serves the same requests; and what either looks up. Else NULL. */
	struct gt_level *full;
	struct gt_look *look;
	struct gt_level *beside; /* the caches of constants: of the same instances, or of GPCs if the level is shared; NULL: it has none */
	uint64_t launch_reads_code; /* address of the code of the kernel that has begun */
	bool unsent; /* what is filled now is not read from the next level */
	uint64_t launch_reads_gpcs; /* GPCs that still have to read for it; 0: the launch has read, or reads nothing */
	uint64_t to_find; /* dirty sectors that it still has to find; 0: it has found them, or finds none */
	struct gt_window window; /* of the launch */
	uint64_t aside;		 /* bytes set aside for lines that persist by it */
	bool ranked;	/* some line has had another rank than the normal one */
	bool unchanged; /* the current request does not change the order of its lines */
	uint64_t hits_by_tag; /* sectors that stores did not find, and that --write-hits tag counts as hits */
};

/* A level without the fast wing (cache/fast/fast.h). If `fixed` a line has the same slot until it leaves. NULL on error. */
struct gt_level *gt_level_open_plain(const struct gt_level_config *config, bool fixed, struct gt_error *error);

/* Adds the counters of the other level to this one's. */
void gt_level_join_counts(struct gt_level *level, const struct gt_level *other);

/* The error of the inverse is below 256 / 2^36, so quotients of slots below 2^27 are exact. */
#define GT_INVERSE_SHIFT 36

/* Sectors that were looked up and not found. Their number grows; it is no counter of the kernel. */
static inline uint64_t gt_level_missed(const struct gt_level *level)
{
	return level->counters.line_misses + level->counters.sector_misses + level->hits_by_tag;
}

/* The set of a line. With an interleave, as without, set s is in bank s modulo banks. */
static inline uint32_t gt_level_set_of(const struct gt_level *level, uint64_t line)
{
	if (level->interleaved) {
		struct gt_bank_line place = level->interleave.scheme->place(&level->interleave, line);
		return gt_index_set(&level->index, place.line) * level->interleave.banks + place.bank;
	}
	uint32_t set = gt_index_set(&level->index, line);

	return level->deal ? level->deal[set] : set;
}

/* Makes instance n. NULL on error. */
struct gt_tags *gt_level_open_instance(struct gt_level *level, size_t n, struct gt_error *error);

/* Instance n, created at its first use; NULL on error. */
static inline struct gt_tags *gt_level_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	return level->instances[n] ? level->instances[n] : gt_level_open_instance(level, n, error);
}

/* The instance that row i of a batch goes to: with L2 partitions, the home of its line. */
static inline size_t gt_level_instance_of(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.l2_partitions)
		return gt_home_partition(rows->address[i]);
	return level->config.shared || !rows->scheduled ? 0 : rows->sm[i];
}

/* The number of sectors in a mask. */
static inline uint64_t gt_count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

/* Counts the missing sectors of a load that are beside a hit of the same load, in an aligned pair. */
static inline void gt_level_pair(struct gt_level *level, bool load, uint64_t used, uint64_t missing)
{
	const uint64_t hits = used & ~missing, lower = UINT64_C(0x5555555555555555);

	if (level->config.pairs && load)
		level->pair.pair_misses += gt_count_bits(missing & ((hits & lower) << 1 | (hits >> 1 & lower)));
}

/* ---- kinds of levels ---- */

/* What gcache's stage calls of a level of one kind: functional, timed, or divided among lanes. All is as the functions of cache/level.h
 * have it; 0 and -1 are results with an error. */
struct gt_level_kind {
	void *(*open)(const struct gt_level_config *config, unsigned lanes, struct gt_error *error); /* NULL on error */
	void (*close)(void *level);
	int (*begin)(void *level, const struct gt_kernel *kernel, struct gt_error *error);
	int (*take)(void *level, const struct gt_rows *requests, struct gt_sink *sent, struct gt_error *error);
	int (*finish)(void *level, struct gt_sink *sent, struct gt_error *error);
	int (*count)(const void *level, const char *stage, uint64_t kernel, struct gt_count *count, struct gt_error *error);
	struct gt_level *(*whole)(void *level); /* the functional level that has all sets; NULL if there is none */
};

extern const struct gt_level_kind gt_level_kind_timed; /* cache/timed/timed.c */

/* ---- requests that wait ---- */

/* Prepares what a policy that looks ahead needs. Returns 0, or -1. */
int gt_waiting_open(struct gt_level *level, struct gt_error *error);
void gt_waiting_close(struct gt_level *level);

/* ---- the path of a request ---- */

/* Where a line was looked up: its set, and its slot or GT_NO_SLOT. */
struct gt_line_place {
	const struct gt_tags *tags; /* NULL: nowhere */
	uint64_t line;
	uint32_t set, slot;
};

/* A request that is being served, its instance, and the sink for the requests that it sends; NULL: it sends none. */
struct gt_serving {
	struct gt_level *level;
	struct gt_tags *tags;
	struct gt_line_place place; /* of its line, if the fast loops have looked it up */
	struct gt_request request;
	struct gt_sink *sent;
	struct gt_error *error;
};

#define GT_AHEAD 16 /* requests that are prefetched at a time */

/* Prefetches what the GT_AHEAD rows of a batch from row i on will need of many small caches. */
void gt_level_prefetch_from(const struct gt_level *level, const struct gt_rows *rows, size_t i);

/* What is known of the set of a line, of few ways. */
static inline void gt_level_prefetch_set(const struct gt_level *level, const struct gt_tags *tags, uint64_t line)
{
	const uint32_t first = gt_first_slot(&level->geometry, gt_level_set_of(level, line));

	__builtin_prefetch(gt_slot_tag(tags, first), 1);
	__builtin_prefetch(gt_slot_dirty(tags, first), 1);
	if (tags->state)
		__builtin_prefetch(&tags->state[first], 1);
	else
		__builtin_prefetch(gt_slot_valid(tags, first), 1);
}

/* Before row i of a batch is served. */
static inline void gt_level_prefetch(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (i % GT_AHEAD == 0)
		gt_level_prefetch_from(level, rows, i);
}

/* Sets the next uses of row i of the batch, for a policy that looks ahead. */
static inline void gt_level_foresee(const struct gt_level *level, struct gt_tags *tags, size_t i)
{
	tags->next_use = level->next_use + i * level->next_uses;
}

/* The part of a request that falls into one line of the level, in the level's own sectors. */
struct gt_piece {
	uint64_t line;
	uint64_t used; /* sectors touched */
	uint64_t full; /* sectors a store overwrites whole */
	uint8_t stream_sectors, stream_full; /* the same in the request's own masks */
};

#define GT_PIECES_MAX (GT_LINE / GT_SECTOR)

/* The only piece of a request to a level of lines of GT_LINE bytes in sectors of GT_SECTOR. */
static inline struct gt_piece gt_usual_piece(const struct gt_request *request)
{
	uint8_t sectors = request->sectors & 15, full = request->full & sectors;

	return (struct gt_piece){.line = request->address / GT_LINE, .used = sectors, .full = full,
				 .stream_sectors = sectors, .stream_full = full};
}

/* Splits a request into pieces by ascending address, and returns their number. */
unsigned gt_level_split_unusual(const struct gt_level *level, const struct gt_request *request,
				struct gt_piece pieces[GT_PIECES_MAX]);
static inline unsigned gt_level_split(const struct gt_level *level, const struct gt_request *request,
				      struct gt_piece pieces[GT_PIECES_MAX])
{
	if (!level->usual)
		return gt_level_split_unusual(level, request, pieces);
	pieces[0] = gt_usual_piece(request);
	return 1;
}

/* What a level has counted before reads that are not to be in its counters of loads. */
struct gt_apart {
	struct gt_level_counters counters;
	struct gt_fetch_counters fetch;
	struct gt_pair_counters pair;
	struct gt_bypass_counters bypass;
	struct gt_l2_partition_counters l2_partitions;
};

static inline void gt_level_set_apart(const struct gt_level *level, struct gt_apart *apart)
{
	*apart = (struct gt_apart){level->counters, level->fetch, level->pair, level->bypass, level->l2_partitions};
}

/* Takes what was read since then out of these counters, and adds it to two others; what was evicted and sent stays. */
static inline void gt_level_take_apart(struct gt_level *level, const struct gt_apart *apart, uint64_t *reads, uint64_t *hits)
{
	const struct gt_level_counters *before = &apart->counters, after = level->counters;
	struct gt_level_counters *counters = &level->counters;

	*reads += after.reads + after.bypassed - before->reads - before->bypassed;
	*hits += after.read_hits - before->read_hits;
	*counters = *before;
	level->fetch = apart->fetch;
	level->pair = apart->pair;
	level->bypass = apart->bypass;
	level->l2_partitions = apart->l2_partitions;
	counters->evictions = after.evictions;
	counters->sent_requests = after.sent_requests;
	counters->sent_reads = after.sent_reads;
	counters->sent_writes = after.sent_writes;
}

/* Chooses how the level serves each class of request. */
void gt_level_choose(struct gt_level *level);

/* Serves a request that may have a hint. */
extern gt_serve gt_serve_hinted;

/* Serves row i of a batch, in the general way. */
static inline int gt_level_serve_row(struct gt_serving *serving, struct gt_tags *tags, const struct gt_rows *rows, size_t i)
{
	serving->tags = tags;
	serving->request = gt_request_of(rows, i);
	return serving->level->serve[serving->level->class_of[serving->request.op]](serving);
}

/* ---- notes: counts by site, and the causes of load misses (cache/notes.c). Each returns 0, or -1. ---- */

int gt_notes_open(struct gt_level *level, struct gt_error *error);
void gt_notes_close(struct gt_level *level);
void gt_notes_begin(struct gt_level *level);

/* Serves a batch without hints, and finds the causes of misses. */
int gt_notes_serve(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error);
/* Before one of the rows of another batch is served; and after, by the full level, too. */
int gt_notes_before(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_error *error);
void gt_notes_after(struct gt_level *level, const struct gt_rows *rows, size_t i);
/* What the level has counted since is no row's. */
void gt_notes_skip(struct gt_level *level);
/* The level has been emptied. */
void gt_notes_forget(struct gt_level *level);

/* Takes the names of arrays, if the count has them and the level counts by site. */
int gt_level_name_arrays(struct gt_level *level, const struct gt_count *count, struct gt_error *error);

/* The look of a full level. */
extern gt_look_at gt_look_in_full;

/* If the level has a look. */
static inline int gt_level_look(const struct gt_serving *serving, const struct gt_piece *piece, enum gt_lookup lookup)
{
	return serving->level->look ? serving->level->look->at(serving, piece, lookup) : 0;
}

#define NO_USE UINT64_MAX /* a line that is not used again, for a policy that looks ahead */

/* ---- requests that are served as one (cache/combine.c) ---- */

/* Adjacent duplicates: plain loads that repeat the request before them, of the same line for the same SM, and no other sectors. They
 * hit at the most recent position, and change nothing. These are the rows that are none. */
#define GT_DEDUPLICATED_ROWS 256
#define GT_SUMMED 32 /* rows whose sectors a byte can count */

struct gt_deduplicated {
	size_t n;
	uint32_t row[GT_DEDUPLICATED_ROWS];
	uint64_t repeated; /* sectors of the rows that are duplicates */
};

/* Of rows [first, first + n), n at most GT_DEDUPLICATED_ROWS; the first is no duplicate. `sm` is NULL if all rows are of one. None is
 * a duplicate unless `repeats_hit`. */
void gt_deduplicate(struct gt_deduplicated *deduplicated, const struct gt_rows *rows, const uint16_t *sm, size_t first, size_t n,
		    bool repeats_hit);

/* Forgets the loads of the last kernel. */
void gt_request_coalescer_begin(struct gt_request_coalescer *coalescer);

/* A load that is looked up: where others will find it, and what the level had counted before. */
struct gt_first {
	struct gt_asked *asked; /* NULL: no other is served with it */
	uint64_t missed, far;
};

/* Before row i of a batch is looked up. Returns 1 if it is served with an earlier load instead, 0 if not, -1 on error. */
int gt_coalesce_load(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_first *first, struct gt_error *error);
/* It has been looked up: where steps are cycles, it stays open until its data are back, by where they were found. */
void gt_coalesce_until(const struct gt_level *level, const struct gt_first *first);
/* Prefetches what the rows that gt_level_prefetch is for will look for. */
void gt_coalesce_prefetch(const struct gt_level *level, const struct gt_rows *rows, size_t i);

/* A store is about to be sent: its sectors that are left to send, as others do not wait already, become `*left`. Returns 0, or -1. */
int gt_combine_store(struct gt_level *level, const struct gt_request *store, uint8_t *left, struct gt_error *error);
/* A kernel begins: no store waits. */
void gt_combine_begin(struct gt_level *level);
void gt_combine_close(struct gt_level *level);

/* The GPC of an SM, in the order of SMs, which is that in which blocks come to them: as the GPU says; else GPCs have pairs of SMs (TPCs), as
 * many each as can be. All are of one if the GPU does not say how many SMs it has. */
uint32_t gt_level_gpc_of(const struct gt_level_config *config, uint16_t sm);

/* Whether something is to be served before the first request of the kernel. */
static inline bool gt_level_launches(const struct gt_level *level)
{
	return level->launch_reads_gpcs > 0 || level->to_find > 0;
}

/* Serves what the kernel finds dirty, and what the launch reads, once, before its first request, which has this step. */
int gt_level_serve_launch_reads(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error);

/* Serves a request and sets its enum gt_status; one missing sector makes a miss. */
int gt_level_find(const struct gt_serving *serving, uint8_t *status);
/* The sectors that are fetched for those in `missing`: their aligned groups (--fetch). */
static inline uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing)
{
	for (unsigned width = 1; width < level->fetch_sectors; width *= 2) {
		/* Each aligned pair of fields of this width becomes full if either half was. */
		uint64_t lower = UINT64_MAX / ((UINT64_C(1) << width) + 1);
		missing |= (missing & lower) << width | (missing >> width & lower);
	}
	return missing;
}
/* Records the use of a line that is present; `mru` as in gt_note_depths. Returns the slot that the line has then. */
uint32_t gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
			uint64_t used, uint64_t *mru);
/* Fills sectors of a line, which gets a slot if it has none and counts as used, unless the lookup that missed them has
 * `used` it. */
int gt_level_arrive(const struct gt_serving *serving, uint64_t line, uint64_t sectors, bool used, uint32_t *slot);

/* What a piece of a store, which is sent on in any case, does to its line (slot GT_NO_SLOT: it is absent). Returns 0, or -1. */
int gt_level_write_through(const struct gt_serving *serving, const struct gt_piece *piece, uint32_t set, uint32_t slot);

/* Fetches those of the wanted sectors of a line that are not valid; adds those that are to `hits`. */
int gt_level_bring(const struct gt_serving *serving, uint64_t line, uint64_t wanted, uint64_t *hits);

/* Sends the sectors in `mask` (the level's own) of one of its lines for the request: as a load, with the request's op and
 * threads if that is a load; or as a plain store that overwrites the sectors in `full`. Makes several requests if the line
 * is longer than GT_LINE. */
int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask);
int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full);

/* Where sectors are that a kernel finds dirty. No device memory is there, or above it: virtual addresses of GPUs have up to 57 bits. */
#define GT_FOUND (UINT64_C(1) << 59)

static inline bool gt_is_found(const struct gt_level *level, uint64_t line) { return line >= GT_FOUND >> level->line_shift; }

/* Depths of sectors, of lines that have no state: gt_tags.first_depth. */

/* Records that a line was touched at a recency position: the sectors `used`, of which `hits` were valid, are counted in
 * `mru` (NULL: not counted). */
void gt_note_depths(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used,
		    uint64_t *mru);

#endif
