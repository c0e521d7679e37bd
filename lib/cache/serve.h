/* SPDX-License-Identifier: MIT */
/* Inside a level: its state, and the way of a request through it. Each file calls those after it:
 *
 *	take.c      a batch comes, or a kernel ends
 *	arrival.c, future.c  requests wait, where their order is not that in which they came
 *	batch.c     a batch is served in order, by the shortest loop that its level allows
 *	find.c      one request is served, and what was found is said
 *	hints.c     one that asks something beside its data
 *	serve.c     one that does not
 *	send.c      what it sends on
 *	emit.c      what came passes, with what was found */
#ifndef GT_CACHE_SERVE_H
#define GT_CACHE_SERVE_H

#include "cache/arrival.h"
#include "cache/config.h"
#include "cache/future.h"
#include "cache/level.h"
#include "cache/replace/tags.h"
#include "counter/cache.h"

struct gt_level_counters {
	GT_LEVEL_COUNTERS(GT_COUNTER_FIELD)
#define GT_COUNTER_ELEMENTS GT_BYTE_WAYS
	GT_LEVEL_COUNTERS(GT_COUNTER_ARRAY_FIELD)
#undef GT_COUNTER_ELEMENTS
};

/* Counted where rows are no accesses: they go into the stream if there were some. */
struct gt_hint_counters {
	GT_HINT_COUNTERS(GT_COUNTER_FIELD)
};

/* Writes the counters, and the level's shape in words, into a count that has begun. */
int gt_level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error);

/* STREAM: a read whose lines leave first. */
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
	unsigned fetch_sectors; /* of an aligned group that a miss brings in */
	bool usual;	      /* lines of GT_LINE bytes in sectors of GT_SECTOR */
	bool fast_path;	      /* the usual lines, in equal sets of few ways */
	uint32_t set_mask;     /* index mod of a power of two (above 1) of sets: the bits that choose; else 0 */
	uint8_t class_of[256]; /* of each op */
	gt_serve *serve[5];    /* of each class */
	struct gt_tags **instances; /* one, or by SM, NULL until first used */
	size_t instances_n, instances_used;
	uint32_t *slots; /* room for the ways of a set */
	struct gt_arrivals arrival;
	struct gt_future *future; /* NULL if the policy does not look ahead */
	const uint64_t *next_use; /* of the batch that is served, as gt_future_next gives it */
	unsigned next_uses;	  /* words of it that a request has */
	uint64_t last_step; /* of the requests of this kernel */
	bool scheduled;	    /* they have a step */
	struct gt_sink dropped; /* for what is sent and not written, unless emit is misses */
	struct gt_level_counters counters;
	struct gt_hint_counters hints;
	struct gt_window window; /* of the launch */
	uint64_t aside;		 /* bytes for lines that it lets persist */
	bool unchanged; /* the request that is served leaves the order of its lines as it is */
};

/* A request that is being served, by an instance, and where what it sends goes. */
struct gt_serving {
	struct gt_level *level;
	struct gt_tags *tags;
	struct gt_request request;
	struct gt_sink *sent;
	struct gt_error *error;
};

extern gt_serve gt_serve_read, gt_serve_stream, gt_serve_write, gt_serve_write_back, gt_serve_atomic, gt_serve_atomic_back,
	gt_serve_bypass, gt_serve_translation, gt_serve_hinted;

/* Under an interleave set s is in bank s modulo banks, as it is where the index function chooses it. */
static inline uint32_t gt_level_set_of(const struct gt_level *level, uint64_t line)
{
	if (level->interleaved) {
		struct gt_bank_line place = level->interleave.scheme->place(&level->interleave, line);
		return gt_index_set(&level->index, place.line) * level->interleave.banks + place.bank;
	}
	uint32_t set = gt_index_set(&level->index, line);

	return level->deal ? level->deal[set] : set;
}

/* Tells the policy of a level that looks ahead when row i of the batch uses its lines next. */
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

/* Instance n, made when it is first asked for; NULL on error. */
static inline struct gt_tags *gt_level_instance(struct gt_level *level, size_t n, struct gt_error *error)
{
	return level->instances[n] ? level->instances[n] : gt_level_open_instance(level, n, error);
}

/* Cuts a request into pieces, by rising address, and returns how many. */
unsigned gt_level_split_unusual(const struct gt_level *level, const struct gt_request *request,
				struct gt_piece pieces[GT_PIECES_MAX]);
static inline unsigned gt_level_split(const struct gt_level *level, const struct gt_request *request,
				      struct gt_piece pieces[GT_PIECES_MAX])
{
	uint8_t sectors = request->sectors & 15, full = request->full & sectors;

	if (!level->usual)
		return gt_level_split_unusual(level, request, pieces);
	pieces[0] = (struct gt_piece){.line = request->address / GT_LINE, .used = sectors, .full = full,
				      .stream_sectors = sectors, .stream_full = full};
	return 1;
}

/* Serves a batch in its order. */
int gt_level_serve_batch(struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
			 struct gt_error *error);

/* Serves a request and says what was found, as enum gt_status: one sector that misses makes a miss. */
int gt_level_find(const struct gt_serving *serving, uint8_t *status);
/* The sectors that are brought in where those in `missing` are not here. */
uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing);
/* Sectors of a line come in: the line takes a slot if it has none, and is used. */
int gt_level_arrive(const struct gt_serving *serving, uint64_t line, uint64_t sectors, uint32_t *slot);
/* A request of that op uses a line that is present, and has been counted. */
void gt_level_use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op);
/* A line that is present is used; `mru` as in gt_note_depths. */
void gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
		    uint64_t used, uint64_t *mru);

/* Takes a slot for a line that is absent, of which it sends what is dirty. */
int gt_level_claim(const struct gt_serving *serving, uint32_t set, uint64_t line, uint32_t *slot);
/* Brings in sectors of a line that has a slot, and their groups. */
int gt_level_fill(const struct gt_serving *serving, uint32_t slot, uint64_t line, uint64_t missing);

/* Shapes what --emit all and latency write of a batch. */
int gt_emit_begin(const struct gt_level *level, const struct gt_rows *rows, struct gt_sink *sent,
		  struct gt_error *error);
/* Writes rows [first, first + n) as they came, with the status of each. */
int gt_emit_rows(const struct gt_level *level, const struct gt_rows *rows, size_t first, size_t n, const uint8_t *status,
	    struct gt_sink *sent, struct gt_error *error);

/* Sends the request on as it came, or a part of it. */
int gt_send_on(const struct gt_serving *serving);
int gt_send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full);
/* Sends the sectors in `mask` (the level's own) of one of its lines, on account of the request: as a
 * load that keeps the request's op and threads if that is a load, else as a plain load; or as a plain
 * store that overwrites the sectors in `full`. Several requests if the line is longer than GT_LINE. */
int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask);
int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full);

/* Notes that a line was touched at a recency position, where `used` of its sectors were used and
 * `hits` of them were there, into the counters `mru` (NULL: into none). */
void gt_note_depths(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used,
		    uint64_t *mru);

/* The same for lines of four sectors in at most 16 ways, all bytes at once. */
static inline void gt_note_depths_4(struct gt_tags *tags, uint32_t slot, unsigned position, uint32_t hits,
				    uint32_t used, uint64_t *mru)
{
	/* A byte of ones for each bit of a mask of four sectors, and how many bits it has. */
	static const uint32_t bytes[16] = {
		0,	    0xff,	0xff00,	    0xffff,	0xff0000,   0xff00ff,	0xffff00,   0xffffff,
		0xff000000, 0xff0000ff, 0xff00ff00, 0xff00ffff, 0xffff0000, 0xffff00ff, 0xffffff00, 0xffffffff,
	};
	const uint32_t ones = 0x01010101, tops = 0x80808080;
	uint32_t depth, here = position * ones;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	uint32_t deeper = (((depth | tops) - here) & tops) >> 7; /* 1 where depth >= position */
	deeper *= 255;
	depth = (depth & deeper) | (here & ~deeper);
	if (((depth ^ here) & bytes[hits]) == 0)
		mru[position] += gt_bits_of_4[hits];
	else
		for (uint32_t rest = hits; rest; rest &= rest - 1)
			mru[depth >> 8 * (unsigned)__builtin_ctz(rest) & 255]++;
	depth &= ~bytes[used];
	memcpy(tags->depth + 4 * (size_t)slot, &depth, sizeof depth);
}

#endif
