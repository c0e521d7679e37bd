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

/* An access that L1 has not taken: words of the spans that the SM holds. */
struct waiting {
	struct runner *runner;
	size_t first, words;
	uint32_t requests;
};

/* A scheduler and its warps; those that became resident last stand last. */
struct scheduler {
	struct runner **runners;
	uint64_t *ready; /* of each: when it may issue what leads to its next access; GT_NEVER: not known, or none is left */
	size_t n, capacity;
	struct runner *current; /* its instructions up to its next access issue until `until`; NULL: none */
	struct runner *last;	/* that issued */
	uint64_t until;
	uint64_t passes; /* of shared memory that its warps have asked for, and were not given yet */
	uint64_t spare;	 /* the last of them, which its present warp does not wait for */
	uint64_t *wake; /* when it can do something next, if L1 takes nothing from it: beside those of the others */
	struct waiting queue[QUEUE];
	uint32_t first, queued;
	uint64_t free; /* when L1 can take an access from it */
};

#define RUNNER_WORDS FOLD_ACCESS_WORDS /* of spans that a runner holds itself */

/* Its first part fills a line of the machine's cache. */
struct runner {
	struct kept *row; /* its accesses still to be issued that are unpacked, in spans; all have been if there are none */
	struct block *block;
	struct scheduler *scheduler;
	uint64_t arrived; /* when it may go on but for barriers; GT_NEVER: a load that it waits for is queued, or L2 is asked */
	uint64_t data;	  /* when all loads that L1 has taken have their data, but for those of `asking` */
	uint32_t left;	  /* words of its accesses */
	uint32_t place;	  /* in its scheduler */
	uint32_t barriers; /* of its block, that it has passed when it makes its next access */
	uint32_t instructions; /* before its next access */
	uint32_t number; /* of its block */
	uint16_t asking; /* accesses that L1 has taken in this window and asked L2 for */
	uint8_t queued;	 /* accesses that L1 has not taken */
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
	uint32_t block;
	uint32_t rows, words; /* of those that are held */
	uint32_t asks, waits;
	uint32_t ended; /* 1 + the number of the block that it ends; 0: it does not, or its data is known */
};

/* A block that has ended, whose place is free at a time but for the data that its last warp waits for. */
struct ended {
	size_t place;
	uint64_t free_at;
};

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

/* An access that an SM has taken in the window. */
struct turned {
	const struct taken *taken;
	uint32_t sm, step; /* from the window's first on */
};

struct machine {
	struct gt_arena arena; /* all that is here, and the SMs' state */
	struct gt_free_lists runners;
	struct shared_l2 l2;
	uint64_t window, end; /* the window's most steps; the step after it; 0: there is none */
	struct turned *order;	  /* of what all SMs have taken in the window */
	size_t order_capacity;
	uint32_t *counts; /* of the steps of a window, room for one more */
};

/* Makes the machine of a schedule. Returns 0, or -1 when memory is short. */
int gt_clocked_open(struct gt_schedule *schedule, struct gt_error *error);
void gt_clocked_close(struct gt_schedule *schedule);

/* ---- the load/store unit ---- */

/* All schedulers of an SM share it. It serves those whose warps have accesses to shared memory before their next access, a pass of the banks
 * a cycle, in turn. An access to other memory takes the cycles that every access takes, however many requests it makes. */

/* Gives away the cycles before `now`. */
void gt_lsu_run(struct clocked *clocked, uint64_t now);

/* The warp of a scheduler makes its accesses to shared memory. Returns when they are done, if no other one asks. */
uint64_t gt_lsu_ask(struct clocked *clocked, struct scheduler *scheduler, const struct gt_issue_times *times, uint32_t shared, uint64_t now);

/* Whether a scheduler waits for passes that were not given to it yet. */
static inline bool gt_lsu_holds(const struct scheduler *scheduler)
{
	return scheduler->passes > scheduler->spare;
}
/* The same at a step; if it does it says until when. */
bool gt_lsu_still_holds(struct clocked *clocked, struct scheduler *scheduler, uint64_t now);

/* L1 takes an access. */
static inline void gt_lsu_pass(struct clocked *clocked, const struct gt_issue_times *times, uint64_t now)
{
	if (clocked->lsu_waiting > 0)
		gt_lsu_run(clocked, now);
	clocked->lsu_given = later(clocked->lsu_given, now) + later(times->access, 1);
}

/* Frees a block that has ended; its runners are for another one. */
void gt_clocked_bury(struct clocked *clocked, struct block *block, struct keep *keep);

#endif
