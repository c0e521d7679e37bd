/* SPDX-License-Identifier: MIT */
/* The state of a level, and the path of a request through it. Each file calls only later ones:
 *
 *	take.c      takes a batch, or ends a kernel
 *	launch.c    serves what the launch itself reads
 *	arrival.c, future.c  hold requests that are served in another order or later
 *	batch.c     serves a batch in order, by the fastest loop that its level allows
 *	leaders.c   finds requests that repeat the one before
 *	reads.c     serves reads of the usual lines, and hands the rest on
 *	reads_slots.c, reads_ways.c  its loops
 *	served.c    sends what these reads fetch
 *	find.c      serves one request and determines its status
 *	hints.c     serves a request with a hint
 *	halves.c    serves one without, by two halves
 *	serve.c     serves a request without one
 *	store.c     serves a store without one
 *	line.c      does what a request does to one line
 *	send.c      makes the requests that are sent on
 *	emit.c      passes requests on with their status */
#ifndef GT_CACHE_SERVE_H
#define GT_CACHE_SERVE_H

#include <stdatomic.h>

#include "cache/arrival.h"
#include "cache/by_pc.h"
#include "cache/config.h"
#include "cache/depths.h"
#include "cache/future.h"
#include "cache/halves.h"
#include "cache/level.h"
#include "cache/replace/tags.h"
#include "counter/cache.h"

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

struct gt_between_counters {
	GT_BETWEEN_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level that bounds the dirty lines of a set; written only by such a level. */
struct gt_clean_counters {
	GT_CLEAN_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of what launches read; written only by a level that makes such reads. */
struct gt_launch_counters {
	GT_LAUNCH_COUNTERS(GT_COUNTER_FIELD)
};

/* Counters of a level of two halves; written only by such a level. */
struct gt_halves_counters {
	GT_HALVES_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_HALVES
	GT_HALVES_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* Adds the counters of the other level to this one's. */
void gt_level_join_counts(struct gt_level *level, const struct gt_level *other);
/* Writes the counters, and the level's shape in words, into a count that has begun. */
int gt_level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error);

/* STREAM: a read whose lines are evicted first. */
enum gt_op_class { GT_CLASS_READ, GT_CLASS_WRITE, GT_CLASS_ATOMIC, GT_CLASS_STREAM, GT_CLASS_BYPASS };

struct gt_serving;
/* Serves a request. Returns 0, or -1 with the error that the serving names. */
typedef int gt_serve(const struct gt_serving *serving);

struct gt_level {
	struct gt_level_config config;
	struct gt_geometry geometry;
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
	uint64_t ways_inverse; /* of equal sets of up to GT_BYTE_WAYS: slot * ways_inverse >> GT_INVERSE_SHIFT is a slot's set */
	uint32_t set_mask;     /* index mod with a power of two (above 1) of sets: sets - 1; else 0 */
	uint8_t class_of[256]; /* of each op */
	gt_serve *serve[5];    /* of each class */
	gt_serve *in_half[5];  /* the same in one half, if there are two */
	struct gt_tags **instances; /* one, or by half or SM, NULL until first used */
	size_t instances_n;
	atomic_size_t instances_used, *instances_all; /* all: of the levels that together are one (cache/divided.h) */
	size_t instances_end; /* above every instance that is used */
	uint32_t *slots; /* room for the ways of a set */
	struct gt_arrivals arrival;
	struct gt_future *future; /* NULL if the policy does not look ahead */
	const uint64_t *next_use; /* of the current batch, from gt_future_next */
	unsigned next_uses;	  /* words of next_use per request */
	uint64_t last_step; /* of the requests of this kernel */
	bool scheduled;	    /* they have a step */
	struct gt_sink dropped; /* for requests that are sent but not written, unless emit is misses */
	struct gt_level_counters counters;
	struct gt_hint_counters hints;
	struct gt_bypass_counters bypass;
	struct gt_fetch_counters fetch;
	struct gt_between_counters between;
	struct gt_clean_counters clean;
	struct gt_launch_counters launch;
	struct gt_halves_counters halves;
	struct gt_by_pc by_pc;
	uint64_t launch_code; /* address of the code of the kernel that has begun */
	uint64_t launch_gpcs; /* GPCs that still have to read for it; 0: the launch has read, or reads nothing */
	struct gt_window window; /* of the launch */
	uint64_t aside;		 /* bytes set aside for lines that persist by it */
	bool ranked;	/* some line has had another rank than the normal one */
	bool unchanged; /* the current request does not change the order of its lines */
	uint64_t hits_by_tag; /* sectors that stores did not find, and that --write-hits tag counts as hits */
};

/* As gt_level_open, but a line has the same slot until it leaves. */
struct gt_level *gt_level_open_fixed(const struct gt_level_config *config, struct gt_error *error);

/* The error of the inverse is below 256 / 2^36, so quotients of slots below 2^27 are exact. */
#define GT_INVERSE_SHIFT 36

/* Sectors that were looked up and not found. Their number grows; it is no counter of the kernel. */
static inline uint64_t gt_level_missed(const struct gt_level *level)
{
	return level->counters.line_misses + level->counters.sector_misses + level->hits_by_tag;
}

/* A request that is being served, its instance, and the sink for the requests that it sends. */
struct gt_serving {
	struct gt_level *level;
	struct gt_tags *tags;
	struct gt_request request;
	struct gt_sink *sent;
	struct gt_error *error;
};

extern gt_serve gt_serve_read, gt_serve_stream, gt_serve_write, gt_serve_write_back, gt_serve_atomic, gt_serve_atomic_back,
	gt_serve_bypass, gt_serve_translation, gt_serve_hinted;

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

/* Makes instance n. NULL on error. */
struct gt_tags *gt_level_open_instance(struct gt_level *level, size_t n, struct gt_error *error);

/* Instance n, created at its first use; NULL on error. */
static inline struct gt_tags *gt_level_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	return level->instances[n] ? level->instances[n] : gt_level_open_instance(level, n, error);
}

/* The instance that row i of a batch goes to: with halves, the home of its line. */
static inline size_t gt_level_instance_of(const struct gt_level *level, const struct gt_rows *rows, size_t i)
{
	if (level->config.halves)
		return gt_home_of(rows->address[i]);
	return level->config.shared || !rows->scheduled ? 0 : rows->sm[i];
}

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

/* The number of sectors in a mask. */
static inline uint64_t gt_count_bits(uint64_t mask)
{
	return mask < 16 ? gt_bits_of_4[mask] : (uint64_t)__builtin_popcountll(mask);
}

/* Serves a batch in its order. */
int gt_level_serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			 struct gt_error *error);

/* Serves row i of a batch, in the general way. */
static inline int gt_level_serve_row(struct gt_serving *serving, struct gt_tags *tags, const struct gt_rows *rows, size_t i)
{
	serving->tags = tags;
	serving->request = gt_request_of(rows, i);
	return serving->level->serve[serving->level->class_of[serving->request.op]](serving);
}

/* Whether the level has the shape that gt_level_serve_reads needs. */
bool gt_level_reads(const struct gt_level *level);
/* As gt_level_serve_batch, for a batch without hints. */
int gt_level_serve_reads(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent, struct gt_error *error);

/* Serves what the launch reads, once, before its first request, which has this step. */
int gt_level_serve_launch(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error);

/* Serves a request and sets its enum gt_status; one missing sector makes a miss. */
int gt_level_find(const struct gt_serving *serving, uint8_t *status);
/* Takes a slot for a line that is absent; sends the victim's dirty sectors first. */
int gt_level_claim(const struct gt_serving *serving, uint32_t set, uint64_t line, uint32_t *slot);
/* Makes sectors valid. */
void gt_level_validate(struct gt_level *level, struct gt_tags *tags, uint32_t slot, uint64_t sectors);
/* The sectors that are fetched for those in `missing`: their aligned groups (--fetch). */
uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing);
/* Fetches sectors of a line that has a slot, and the others of their groups that are neither valid nor about to be
 * overwritten. */
int gt_level_fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing, uint64_t overwritten);
/* Records the use of a line that is present; `mru` as in gt_note_depths. Returns the slot that the line has then. */
uint32_t gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
			uint64_t used, uint64_t *mru);
/* The same for a store, which counts its hits in `mru_writes`. The sectors that it makes valid count as used when they are. */
uint32_t gt_level_touch_stored(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits);
/* Records the use of a line that is present by a request of that op, which has been counted. */
void gt_level_use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op);
/* Fills sectors of a line, which gets a slot if it has none and counts as used, unless the lookup that missed them has
 * `used` it. */
int gt_level_arrive(const struct gt_serving *serving, uint64_t line, uint64_t sectors, bool used, uint32_t *slot);

/* Sectors of a line become dirty. */
int gt_level_change(const struct gt_serving *serving, uint32_t set, uint32_t slot, uint64_t sectors);
/* The line in this slot of the set has become dirty: writes another back if --dirty-ways asks for it. */
int gt_level_clean(const struct gt_serving *serving, uint32_t set, uint32_t slot);

/* Prepares the rows that --emit all and latency write for a batch. */
int gt_emit_begin(const struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		  struct gt_error *error);
/* Writes rows [first, first + n) with their status. */
int gt_emit_rows(const struct gt_level *level, const struct gt_rows *rows, size_t first, size_t n, const uint8_t *status,
	    struct gt_sink *sent, struct gt_error *error);

/* Sends the request on, or a part of it. */
int gt_send_on(const struct gt_serving *serving);
int gt_send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full);
/* Sends the sectors in `mask` (the level's own) of one of its lines for the request: as a load, with the request's op and
 * threads if that is a load; or as a plain store that overwrites the sectors in `full`. Makes several requests if the line
 * is longer than GT_LINE. */
int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask);
int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full);

#endif
