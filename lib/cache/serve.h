/* SPDX-License-Identifier: MIT */
/* Inside a level: its state, how one request is served, and how requests are sent on. */
#ifndef GT_CACHE_SERVE_H
#define GT_CACHE_SERVE_H

#include "cache/future.h"
#include "cache/arrival.h"
#include "cache/level.h"
#include "cache/replace/tags.h"

struct gt_level_counters {
	uint64_t requests, reads, read_hits, writes, write_hits, atomics, atomic_hits;
	uint64_t line_misses, sector_misses, evictions, dropped;
	uint64_t sent_requests, sent_reads, sent_writes, sent_atomics, flushed, bypassed;
	uint64_t mru[GT_BYTE_WAYS], mru_writes[GT_BYTE_WAYS];
};

/* Writes the counters, and the level's shape in words, into a count that has begun. */
int gt_level_describe(const struct gt_level *level, struct gt_count *count, struct gt_error *error);

/* STREAM: a read whose lines leave first. */
enum gt_class { GT_CLASS_READ, GT_CLASS_WRITE, GT_CLASS_ATOMIC, GT_CLASS_STREAM, GT_CLASS_BYPASS };

/* Serves row i of `rows`. */
typedef int gt_serve(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		     struct gt_sink *sent, struct gt_error *error);

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
	bool plain;	      /* the usual lines, in equal sets of few ways */
	uint32_t set_mask;     /* index mod of a power of two (above 1) of sets: the bits that choose; else 0 */
	uint8_t class_of[256]; /* of each op */
	gt_serve *serve[5];    /* of each class */
	struct gt_tags **instances; /* one, or by SM, NULL until first used */
	size_t instances_n, instances_used;
	uint32_t *slots; /* room for the ways of a set */
	struct gt_arrivals arrival;
	struct gt_ahead *ahead;	  /* NULL if the policy does not look ahead */
	const uint64_t *next_use; /* of the batch that is served, as gt_ahead_drain gives it */
	unsigned next_uses;	  /* words of it that a request has */
	uint64_t last_step; /* of the requests of this kernel */
	bool scheduled;	    /* they have a step */
	struct gt_sink dropped; /* for what is sent and not written, unless emit is misses */
	struct gt_level_counters counters;
};

/* Serves row i and says what was found, as enum gt_status: one sector that misses makes a miss. */
int gt_level_find(struct gt_level *level, struct gt_tags *tags, const struct gt_rows *rows, size_t i,
		  struct gt_sink *sent, uint8_t *status, struct gt_error *error);

/* Serves a batch under --emit all: its requests go to `sent`, each with its status. */
int gt_level_emit_all(struct gt_level *level, const struct gt_rows *requests, struct gt_sink *sent,
		      struct gt_error *error);

extern gt_serve gt_serve_read, gt_serve_stream, gt_serve_write, gt_serve_write_back, gt_serve_atomic, gt_serve_atomic_back,
	gt_serve_bypass, gt_serve_translation;

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

/* What the timed level is made of. An instance, made when it is first asked for; NULL on error. */
struct gt_tags *gt_level_instance(struct gt_level *level, size_t n, struct gt_error *error);
/* Cuts a request into pieces, by rising address, and returns how many. */
unsigned gt_level_split(const struct gt_level *level, uint64_t address, unsigned sectors, unsigned full,
			struct gt_piece pieces[GT_PIECES_MAX]);
/* The sectors that are brought in where those in `missing` are not here. */
uint64_t gt_level_groups(const struct gt_level *level, uint64_t missing);
struct gt_cause; /* below */
/* Sectors of a line come in: the line takes a slot if it has none, and is used. */
int gt_level_arrive(struct gt_level *level, struct gt_tags *tags, uint64_t line, uint64_t sectors,
		    const struct gt_cause *cause, uint32_t *slot, struct gt_sink *sent, struct gt_error *error);
/* A request of that op uses a line that is present, and has been counted. */
void gt_level_use(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint8_t op);
/* A line that is present is used; `mru` as in gt_note_depths. */
void gt_level_touch(struct gt_level *level, struct gt_tags *tags, uint32_t set, uint32_t slot, uint64_t hits,
		    uint64_t used, uint64_t *mru);

/* How many bits a mask of four sectors has. */
static const uint8_t gt_bits_of_4[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

/* What a request that is sent on owes to the one that caused it. */
struct gt_cause {
	uint64_t step;
	uint32_t block, an, pc;
	uint16_t warp, sm;
	uint8_t op, threads;
};
struct gt_cause gt_cause_of(const struct gt_rows *rows, size_t i);

/* Sends `sectors` of the GT_LINE bytes at `address`, and counts them by the action of op. */
int gt_send(struct gt_level *level, const struct gt_cause *cause, uint64_t address, uint8_t sectors,
	    uint8_t full, struct gt_sink *sent, struct gt_error *error);
/* Sends row i as it came. */
int gt_send_on(struct gt_level *level, const struct gt_rows *rows, size_t i, struct gt_sink *sent,
	       struct gt_error *error);
/* Sends the sectors in `mask` (the level's own) of one of its lines: as a load that keeps the
 * cause's op and threads if that is a load, else as a plain load; or as a plain store that
 * overwrites the sectors in `full`. Several requests if the line is longer than GT_LINE. */
int gt_send_fill(struct gt_level *level, const struct gt_cause *cause, uint64_t line, uint64_t mask,
		 struct gt_sink *sent, struct gt_error *error);
int gt_send_back(struct gt_level *level, const struct gt_cause *cause, uint64_t line, uint64_t mask,
		 uint64_t full, struct gt_sink *sent, struct gt_error *error);

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
