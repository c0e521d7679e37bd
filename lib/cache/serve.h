/* SPDX-License-Identifier: MIT */
/* The path of a request through a level. Each file calls only later ones:
 *
 *	batch.c         takes a batch, or ends a kernel; serves requests in order, passes them on with their status
 *	launch_reads.c  serves what the launch itself reads
 *	deferred.c      holds requests that are served in another order or later
 *	level.c         opens a level and its instances, counts
 *	serve.c         serves one request: a load, a store, an atomic, one with a hint, one to two L2 partitions
 *	line.c          does what a request does to one line, and sends requests on
 *
 * A batch that is mostly plain loads goes through the fast wing (cache/fast/fast.h), with the same result. */
#ifndef GT_CACHE_SERVE_H
#define GT_CACHE_SERVE_H

#include <string.h>

#include "cache/state.h"
#include "stream/request.h"

/* A request that is being served, its instance, and the sink for the requests that it sends. */
struct gt_serving {
	struct gt_level *level;
	struct gt_tags *tags;
	struct gt_request request;
	struct gt_sink *sent;
	struct gt_error *error;
};

/* Serve a load, or a store or an atomic, whose line has its home in the serving's tags. */
extern gt_serve gt_serve_partitions_read, gt_serve_partitions_write;

extern gt_serve gt_serve_read, gt_serve_stream, gt_serve_write, gt_serve_write_back, gt_serve_atomic, gt_serve_atomic_back,
	gt_serve_bypass, gt_serve_translation, gt_serve_hinted;

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

/* Serves row i of a batch, in the general way. */
static inline int gt_level_serve_row(struct gt_serving *serving, struct gt_tags *tags, const struct gt_rows *rows, size_t i)
{
	serving->tags = tags;
	serving->request = gt_request_of(rows, i);
	return serving->level->serve[serving->level->class_of[serving->request.op]](serving);
}

/* Serves what the launch reads, once, before its first request, which has this step. */
int gt_level_serve_launch_reads(struct gt_level *level, uint64_t step, struct gt_sink *sent, struct gt_error *error);

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
/* The line in this slot of the set has become dirty: writes another back if --dirty-ways asks for it. */
int gt_level_clean(const struct gt_serving *serving, uint32_t set, uint32_t slot);

/* Sends the request on, or a part of it. */
int gt_send_on(const struct gt_serving *serving);
int gt_send_part(const struct gt_serving *serving, uint8_t sectors, uint8_t full);
/* Sends the sectors in `mask` (the level's own) of one of its lines for the request: as a load, with the request's op and
 * threads if that is a load; or as a plain store that overwrites the sectors in `full`. Makes several requests if the line
 * is longer than GT_LINE. */
int gt_send_fill(const struct gt_serving *serving, uint64_t line, uint64_t mask);
int gt_send_back(const struct gt_serving *serving, uint64_t line, uint64_t mask, uint64_t full);

/* Depths of sectors, of lines that have no state: gt_tags.depth. */

/* Records that a line was touched at a recency position: the sectors `used`, of which `hits` were valid, are counted in
 * `mru` (NULL: not counted). */
void gt_note_depths(struct gt_tags *tags, uint32_t slot, unsigned position, uint64_t hits, uint64_t used,
		    uint64_t *mru);

/* The same for lines of four sectors, all bytes at once. */
static inline void gt_note_depths_4(struct gt_tags *tags, uint32_t slot, unsigned position, uint32_t hits,
				    uint32_t used, uint64_t *mru)
{
	const uint32_t ones = 0x01010101, tops = 0x80808080;
	uint32_t depth, here = position * ones;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	/* The top bits of bytes where depth >= position: the lower seven bits are compared without a borrow from the next. */
	uint32_t lower = (depth | tops) - (here & ~tops);
	uint32_t deeper = ((depth & ~here) | (~(depth ^ here) & lower)) & tops;
	deeper = (deeper >> 7) * 255;
	depth = (depth & deeper) | (here & ~deeper);
	if (((depth ^ here) & gt_bytes_of_4[hits]) == 0)
		mru[position] += gt_bits_of_4[hits];
	else
		for (uint32_t rest = hits; rest; rest &= rest - 1)
			mru[depth >> 8 * (unsigned)__builtin_ctz(rest) & 255]++;
	depth &= ~gt_bytes_of_4[used];
	memcpy(tags->depth + 4 * (size_t)slot, &depth, sizeof depth);
}

/* The same for the most recent line of its set, whose used sectors are all valid: mostly there is nothing to record. */
static inline void gt_note_newest_4(struct gt_tags *tags, uint32_t slot, uint32_t used, uint64_t *mru)
{
	uint32_t depth;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	if ((depth & gt_bytes_of_4[used]) == 0)
		mru[0] += gt_bits_of_4[used];
	else
		gt_note_depths_4(tags, slot, 0, used, used, mru);
}

/* Records that sectors of a line of four have become valid. */
static inline void gt_clear_depths_4(struct gt_tags *tags, uint32_t slot, uint32_t sectors)
{
	uint32_t depth;

	memcpy(&depth, tags->depth + 4 * (size_t)slot, sizeof depth);
	depth &= ~gt_bytes_of_4[sectors];
	memcpy(tags->depth + 4 * (size_t)slot, &depth, sizeof depth);
}

#endif
