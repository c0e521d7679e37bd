/* SPDX-License-Identifier: MIT */
/* Warnings about parts of a PTX text that the machine ignores because they cannot change a result, once for each name. */
#ifndef GT_PTX_NOTES_H
#define GT_PTX_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_PTX_NOTES 64 /* distinct names, at most */
#define GT_PTX_NOTE_TEXT 256

struct gt_ptx_notes {
	void (*say)(void *context, const char *text);
	void *context;
	const char *said[GT_PTX_NOTES];
	size_t n;
	bool quiet; /* no warnings of what kernels do */
	uint64_t clocks[GT_PTX_NOTES]; /* kernels that were warned of, by hashes of their names */
	size_t n_clocks;
	/* Faults with GT_PTX_MEMCHECK: where they are reported, NULL: nowhere; instructions whose faults were passed over, and their
	 * accesses by threads; launches that ended at a fault, and the last one's. */
	void (*fault)(void *context, const char *text);
	uint64_t faults, accesses, ended;
	char last[512];
};

/* Reports a name, which must have static lifetime, unless it was reported before: "PTX line LINE: NAME is ignored: WHY". NULL
 * notes: no report. */
void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why);

/* The same of what is reported as `text`. */
void gt_ptx_note_text(struct gt_ptx_notes *notes, const char *name, const char *text);

/* Warns once of a kernel that reads a clock. */
void gt_ptx_note_clock(struct gt_ptx_notes *notes, const char *kernel, const char *clock);

/* Counts a launch that ended at a fault, and reports it unless the one before ended at the same. */
void gt_ptx_note_end(struct gt_ptx_notes *notes, const char *text);

#define GT_PTX_FAULTS_TEXT 192
/* "memcheck: N instructions at fault ..."; NULL if there were no faults. */
const char *gt_ptx_notes_sum(const struct gt_ptx_notes *notes, char text[GT_PTX_FAULTS_TEXT]);

#endif
