/* SPDX-License-Identifier: MIT */
/* Warnings about parts of a PTX text that the machine ignores because they cannot change a result, once for each name. */
#ifndef GT_PTX_NOTES_H
#define GT_PTX_NOTES_H

#include <stddef.h>

#define GT_PTX_NOTES 64 /* distinct names, at most */

struct gt_ptx_notes {
	void (*say)(void *context, const char *text);
	void *context;
	const char *said[GT_PTX_NOTES];
	size_t n;
};

/* Reports a name, which must have static lifetime, unless it was reported before: "PTX line LINE: NAME is ignored: WHY". NULL
 * notes: no report. */
void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why);

#endif
