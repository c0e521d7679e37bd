/* SPDX-License-Identifier: MIT */
/* One line on a terminal that says how far a command is, and is erased when it ends. */
#ifndef GT_BASE_PROGRESS_H
#define GT_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct gt_progress {
	const char *who; /* the tool */
	FILE *to;	 /* NULL: nothing is shown */
	double begun, looked, shown; /* seconds; shown 0: never */
	bool visible;
};

/* How far it is. */
struct gt_progress_state {
	const char *kernel; /* NULL or "": unknown */
	uint64_t launch;    /* its number */
	uint64_t rows;	    /* since the begin; 0: they are not shown */
	uint64_t done, all; /* of what is worked on, a launch or a file; 0 in all: unknown */
	double since;	    /* when that was begun, by gt_progress_now() */
};

/* When the clock is looked at to see whether a launch takes long; all 0 as it begins. */
struct gt_progress_forecast {
	double first; /* when its first blocks had ended */
	uint64_t next; /* blocks that are done then */
};
#define GT_PROGRESS_FORECAST 128 /* bytes of its text */

/* Seconds of the monotonic clock. */
double gt_progress_now(void);
/* The line is shown on `to` if that is a terminal that can erase it, and if it is wanted. */
void gt_progress_begin(struct gt_progress *progress, const char *who, FILE *to, bool wanted);
/* Whether the line is to be written: a second after the begin, then four times a second. */
bool gt_progress_due(struct gt_progress *progress);
/* Whether a line that was erased for a moment is to be there again. */
bool gt_progress_returns(const struct gt_progress *progress);
void gt_progress_show(struct gt_progress *progress, const struct gt_progress_state *state);
/* Called as blocks of a launch end: true once, if it has run for 5 seconds and needs more than 5 minutes at the rate so far. The text:
 * "2147483647 blocks: at the rate of the first 1234567, about 3 hours". */
bool gt_progress_is_long(struct gt_progress_forecast *forecast, const struct gt_progress_state *state, char text[GT_PROGRESS_FORECAST]);
/* Before anything else is written, and at the end. */
void gt_progress_erase(struct gt_progress *progress);
/* What begins a message so that it erases a line that another process has shown: "" if there can be none. */
const char *gt_progress_eraser(FILE *to);

#endif
