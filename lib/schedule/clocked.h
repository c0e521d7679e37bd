/* SPDX-License-Identifier: MIT */
/* The machine that the order of issue by time runs: SMs, schedulers and warps, and what an SM does in a window. Private to
 * lib/schedule. */
#ifndef GT_SCHEDULE_CLOCKED_H
#define GT_SCHEDULE_CLOCKED_H

#include "schedule/machine.h"
#include "schedule/recent.h"

/* ---- warps ---- */

#define GT_NEVER UINT64_MAX /* as a time: not known yet */

#define QUEUE 5 /* accesses of a scheduler that L1 has not taken, before it has to wait: the same paper */

/* An access that L1 has not taken: a row, as most are, or spans that the SM holds. */
struct waiting {
	struct runner *runner;
	struct kept row; /* of a numbered shape; if there are spans, its base is the number of their first word, and nothing else of it counts */
	uint32_t words;	 /* of the spans; 0: it is this row */
	uint32_t requests;
};

#define NO_PLACE UINT32_MAX

/* A scheduler and its warps; those that became resident last stand last. Its first part fills a line of the machine's cache. */
struct scheduler {
	struct runner **runners;
	uint64_t *ready; /* of each: when it may issue what leads to its next access; GT_NEVER: not known, or none is left */
	struct runner *current; /* its instructions up to its next access issue until `until`; NULL: none */
	struct runner *chosen;	/* it turns to this one at `until`, as no warp has become ready since it was chosen; NULL: none is chosen */
	uint64_t until;
	uint64_t free; /* when L1 can take an access from it */
	uint32_t n, last; /* warps; the place of the one that issued last; NO_PLACE: none, or it has left */
	uint32_t first, queued; /* of the queue */

	uint64_t *wake; /* when it can do something next, if L1 takes nothing from it: beside those of the others */
	uint64_t passes; /* of shared memory that its warps have asked for, and were not given yet */
	uint64_t spare;	 /* the last of them, which its present warp does not wait for */
	size_t capacity;
	struct waiting queue[QUEUE];
};

#define RUNNER_WORDS FOLD_ACCESS_WORDS /* of spans that a runner holds itself */

/* Its first part fills a line of the machine's cache. */
struct runner {
	struct kept *row; /* its accesses still to be issued that are unpacked, in spans; all have been if there are none */
	struct block *block;
	struct scheduler *scheduler;
	uint64_t arrived; /* when it may go on but for barriers; GT_NEVER: a load that it waits for is queued, or L2 is asked */
	uint64_t data;	  /* when all loads that L1 has taken have their data, but for those that are `open` */
	uint32_t left;	  /* words of its accesses */
	uint32_t place;	  /* in its scheduler */
	uint32_t barriers; /* of its block, that it has passed when it makes its next access */
	uint32_t instructions; /* before its next access */
	uint32_t number; /* of its block */
	uint16_t open;	/* accesses that L1 has not taken, or that it has taken in this window and asked L2 for */
	uint8_t queued; /* of them, those that L1 has not taken */
	bool held : 1;	 /* by a barrier, for the others of its block */
	bool begun : 1;	 /* L1 has taken an access */
	bool folded : 1; /* its accesses are in `unfolding`; else behind `next` */

	const struct kept *next; /* of its source, behind those */
	struct unfolding unfolding;
	uint64_t words[RUNNER_WORDS]; /* accesses that are near, apart from those of its block, which are far from each other */
};

/* ---- an SM ---- */

/* What an SM asks L2 for in a window. */
struct ask {
	uint64_t address;
	uint64_t there;	 /* when it has it, once L2 is asked */
	uint64_t filled; /* when its line in L1 is, then */
	uint32_t line;	 /* that line; 0: none */
	uint32_t before; /* 1 + the last ask for the line before this one, in the window; 0: none */
	uint32_t delay;	 /* cycles from the access to the request */
	uint8_t sectors;
	bool stores;
};

/* An access that L1 has taken in a window. What it asks and waits for goes up to that of the next one. */
struct taken {
	struct runner *runner;
	struct kept row; /* as in struct waiting */
	uint32_t words;
	uint32_t block;
	uint32_t asks, waits;
	uint32_t ended; /* 1 + the number of the block that it ends; 0: it does not, or its data is known */
};

/* A block that has ended, whose place is free at a time but for the data that its last warp waits for. */
struct ended {
	size_t place;
	uint64_t free_at;
};

/* Spans, and what those have that have no numbered shape; the base of such a row is the number of its `odd`. All of it is in an arena. */
struct held {
	struct gt_arena *arena;
	uint64_t *words;
	struct odd *odd;
	size_t n, capacity, n_odd, odd_capacity;
};

static inline struct kept *gt_held_span(const struct held *held, size_t word)
{
	return (struct kept *)(void *)(held->words + word);
}

struct clocked {
	struct gt_arena *arena;
	struct gt_free_lists *runners; /* of blocks */
	struct scheduler *schedulers;
	uint64_t *wakes; /* of the schedulers */
	uint64_t *sends; /* when L1 can take the next access of each; GT_NEVER: it has none */
	struct recent *l1; /* NULL: there is none, or no block has come */
	uint32_t n, turn;  /* the scheduler from which L1 takes next */
	uint32_t queued;   /* accesses that L1 has not taken */
	uint64_t free;	   /* when L1 can take an access */

	/* The load/store unit: how many schedulers wait for it, the one that it serves next, and the cycle up to which it is given away. */
	uint32_t lsu_waiting, lsu_turn;
	uint64_t lsu_given;

	uint64_t wake;	   /* the step of its next event */
	uint64_t room;	   /* from this step on it can take a block; GT_NEVER: not known */

	/* Of a window. */
	struct held held[2]; /* rows that have issued; the second has room */
	struct ask *asks;
	struct taken *taken; /* room for one a step, and for one more */
	uint16_t *steps; /* of each that is taken, from the window's first on */
	uint32_t *waits; /* twice the number of an ask, and 1 for its line, 0 for itself */
	struct ended *ended;
	size_t n_asks, n_taken, n_waits, n_ended, asks_capacity, waits_capacity, ended_capacity;
	struct block *dead; /* blocks that have ended */
};

/* What an access that an SM has taken in the window asks L2 for. */
struct asking {
	struct ask *asks; /* of the SM */
	uint32_t first, n; /* of these */
	uint32_t step; /* of the access, from the window's first on */
	uint32_t sm;
};

struct machine {
	struct gt_arena arena; /* all that is here */
	struct gt_free_lists runners;
	struct shared_l2 l2;
	uint64_t window, end; /* the window's most steps; the step after it; 0: there is none */
	struct issued *order;	/* what all SMs have taken in the window */
	struct asking *asking;	/* those of it that ask L2 */
	size_t n_order, order_capacity, n_asking, asking_capacity;
	uint64_t accesses; /* of all windows */
	uint32_t *counts, *asking_counts; /* of the steps of a window, room for one more */

	/* SM i of the active ones is of part i % parts, which one thread runs at a time. */
	uint32_t parts;
	struct gt_arena *arenas; /* of each part: what its SMs take, from the first shared window on */
	struct team *team; /* the threads; NULL: no window was worth them yet */
};

/* ---- what an SM does in a window ---- */

/* An order of issue's `admit`. */
int gt_sm_admit(struct gt_schedule *schedule, struct sm *sm, struct block *block, struct gt_error *error);

/* Whether blocks may still come for an SM. */
static inline bool gt_sm_blocks_left(const struct gt_schedule *schedule, const struct sm *sm)
{
	return !schedule->finished || (schedule->floating ? schedule->floaters.first : sm->waiting.first);
}

/* Whether an SM has something to do before a step, and before one at which it may take a block. */
static inline bool gt_sm_can_run(const struct gt_schedule *schedule, const struct sm *sm, uint64_t end)
{
	const struct clocked *clocked = sm->clocked;

	return clocked->wake < end && (clocked->wake < clocked->room || !gt_sm_blocks_left(schedule, sm));
}

/* Runs an SM up to there. */
int gt_sm_run(struct gt_schedule *schedule, struct sm *sm, uint64_t end, struct gt_error *error);

/* Finds out from which step on, this one or a later, an SM can take a block. */
void gt_sm_look_for_room(const struct gt_schedule *schedule, struct sm *sm, uint64_t now);

/* Tells an SM what L2 has answered, and begins its next window. */
int gt_sm_conclude(struct gt_schedule *schedule, struct sm *sm, struct gt_error *error);

#endif
