/* SPDX-License-Identifier: MIT */
/* The state that dispatch and issue policies share. Private to lib/schedule. */
#ifndef GT_SCHEDULE_MACHINE_H
#define GT_SCHEDULE_MACHINE_H

#include <stdbool.h>

#include "base/map.h"
#include "schedule/block.h"
#include "schedule/schedule.h"

/* Blocks that wait, in the order they will run. */
struct block_queue {
	struct block *first, *last;
};

/* gto: a warp of a resident block. */
struct run {
	struct source *source;
	struct block *block;
};

/* gto: the warps of one scheduler, oldest first; a ring. */
struct warps {
	struct run *runs;
	size_t first, n, capacity;
};

#define GT_AHEAD 16 /* spans of an SM that are found at once */

/* rr: a span, found ahead of the steps in which its rows issue. */
struct ahead {
	struct kept span; /* of its rows that have not issued */
	struct span_more more; /* of a single row, too */
	uint32_t block;
	uint16_t room; /* so many of them may be in the next group of warps */
	bool ends;     /* a group ends with its last row */
	bool apart;    /* it and what follows in the group are not single rows, which are written together */
};

_Static_assert(offsetof(struct ahead, more) == offsetof(struct ahead, span) + sizeof(struct kept), "what a span has more is behind it");

struct sm {
	uint32_t number;
	struct block_queue waiting;
	struct block **resident; /* in the order in which they are served; NULL: finished */
	uint64_t *free_at; /* the step from which each place can be taken, once its block has issued */
	size_t n_resident, resident_capacity;
	size_t live; /* blocks resident and not finished */

	/* rr */
	uint64_t *due; /* of each of `resident`: the round in which it issues next; UINT64_MAX: finished */
	uint64_t round;
	size_t cursor; /* index in `resident` of the next one to serve */
	struct ahead *ahead; /* spans that were found, of which those from `next_ahead` on are still to be issued; room for GT_AHEAD */
	size_t next_ahead, n_ahead, usual_end; /* up to there issue_found may issue them */
	struct block *last_block; /* of the last of them */

	/* gto: one queue per scheduler */
	struct warps *warps;

	/* latency */
	struct clocked *clocked;
};

/* An access that issues. */
struct issued {
	struct kept row; /* if it has `words`: its base is a pointer to the spans of the access, and nothing else of it counts */
	uint32_t words;	 /* of these spans; 0: the access is this row, which has a numbered shape */
	uint32_t block;
	uint32_t step; /* from a first one on */
	uint16_t sm;
};

enum filled { FILL_FAILED = -1, FILL_DONE, FILL_WAIT, FILL_IDLE };

struct gt_dispatch {
	const char *name;
	bool refills; /* takes blocks while others are still resident */
	bool shuffles; /* of SMs that have room at the same step the one with most takes a block, of several a random one */
	/* Makes blocks resident by the policy. FILL_WAIT: rows that it needs have not arrived yet. FILL_IDLE: no
	 * block is resident, but one may be when a place is free. An SM with no live block after FILL_DONE has
	 * finished. */
	enum filled (*fill)(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error);
};

struct gt_issue {
	const char *name;
	enum arrangement arrangement;
	/* A block has become resident. */
	int (*admit)(struct gt_schedule *schedule, struct sm *sm, struct block *block,
		     struct gt_error *error);
	/* Issues the SM's next group; there is one. NULL: `run` does. */
	int (*issue)(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error);
	/* If a step is a cycle: runs as far as the rows that have arrived allow. Else NULL. */
	int (*run)(struct gt_schedule *schedule, struct gt_error *error);
	void (*close)(struct gt_schedule *schedule); /* frees what it keeps; NULL: nothing */
	/* Issues the groups of the next SMs, as far as these take no block, and their rows have been found and are written in the usual way.
	 * NULL: none is found ahead. */
	void (*issue_found)(struct gt_schedule *schedule);
};

/* An SM, its room at a step, and its key in the order of service. */
struct turn {
	uint64_t room, key;
	uint32_t sm;
};

struct gt_schedule {
	const struct gt_schedule_config *config;
	const struct gt_kernel *kernel;
	struct gt_sink *sink;
	struct gt_mapping mapping;
	struct gt_occupancy occupancy;
	struct keep keep;

	/* Arriving blocks. */
	bool by_block;	      /* rows come by block; else everything is kept until the end */
	bool floating;	      /* a block's SM is determined at run time: rr with first-done */
	bool finished;	      /* no more rows will come */
	struct block *open;   /* the block whose rows arrive now, if by_block */
	uint64_t known;	      /* blocks below this one have been placed */
	struct block **kept;  /* if not by_block: blocks, in the order of their first rows */
	size_t n_kept, kept_capacity;
	struct gt_map places; /* if not by_block: from block to index in `kept` */
	struct gt_map idle; /* the instructions of blocks without rows, where they are known */
	struct machine *machine; /* latency: what is common to the SMs */
	struct block_queue floaters; /* if floating: blocks that no SM has taken yet */
	uint64_t n_floaters;  /* put there so far */
	bool first_assigned;  /* floating: the first blocks have been assigned */

	/* The SMs; `active` lists the n_active that have work, in order. */
	struct sm *sms;
	uint32_t *active;
	struct turn *turns; /* room for all SMs */
	struct ahead *ahead; /* rr: those of all SMs */
	size_t n_active, n_next, cursor; /* SMs before `cursor` have issued; n_next of them stay active */

	uint64_t blocks; /* of the grid, or the highest seen + 1 */
	uint64_t admitted; /* floating: blocks that modelled SMs took */
	bool issued;	   /* some SM has issued in this step */
	uint64_t step, rows;
	uint64_t steps; /* up to the last issue */
};

extern const struct gt_issue gt_issue_round_robin, gt_issue_greedy, gt_issue_latency;

/* A resident block has issued its last row: its place is free. */
void gt_machine_vacate(struct gt_schedule *schedule, struct sm *sm, struct block *block);
/* Rows of a block issue at a step: notes when it began. */
static inline void gt_machine_begin(struct block *block, uint64_t step)
{
	if (!block->begun) {
		block->begun = true;
		block->begin = step;
	}
}
/* Some SM issues at a step. */
static inline void gt_machine_issues(struct gt_schedule *schedule, uint64_t step)
{
	schedule->steps = step + 1 > schedule->steps ? step + 1 : schedule->steps;
}
/* Sends accesses to the sink that issue at steps from `first` on, in order, those of SMs that are modelled. */
int gt_machine_write(struct gt_schedule *schedule, const struct issued *issued, size_t n, uint64_t first, struct gt_error *error);
/* The order in which SMs that have room at a step take blocks: rising. */
uint64_t gt_machine_turn(const struct gt_schedule *schedule, uint32_t sm, uint64_t step);
/* The blocks that may be resident on an SM at once. */
static inline uint64_t gt_machine_capacity(const struct gt_schedule *schedule)
{
	return schedule->occupancy.blocks;
}

/* Whether a place can be taken at a step. */
static inline bool gt_machine_is_free(const struct sm *sm, size_t slot, uint64_t step)
{
	return slot >= sm->n_resident || (!sm->resident[slot] && sm->free_at[slot] <= step);
}

/* How many blocks an SM can take at a step. */
static inline uint64_t gt_machine_room(const struct gt_schedule *schedule, const struct sm *sm, uint64_t step)
{
	uint64_t room = gt_machine_capacity(schedule) - sm->n_resident;

	for (size_t slot = 0; slot < sm->n_resident; slot++)
		room += gt_machine_is_free(sm, slot, step);
	return room;
}

/* Which SMs and blocks are modelled, as only_sms and waves say. Private to lib/schedule. */

static inline bool gt_is_modelled(const struct gt_schedule *schedule, uint32_t sm)
{
	return !schedule->config->only_sms || schedule->config->only_sms[sm];
}

#endif
