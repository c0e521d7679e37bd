/* SPDX-License-Identifier: MIT */
/* What a PTX text has and the machine ignores, because it can change no result: whoever runs it is
 * told, once for each name. */
#ifndef GT_PTX_NOTES_H
#define GT_PTX_NOTES_H

#include <stddef.h>

#define GT_PTX_NOTES 64 /* names that are told apart */

struct gt_ptx_notes {
	void (*say)(void *context, const char *text);
	void *context;
	const char *said[GT_PTX_NOTES];
	size_t n;
};

/* Tells of a name, which lives as long as the process, unless it was told before: "PTX line LINE: NAME
 * is ignored: WHY". NULL: nobody is told. */
void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why);

#endif
