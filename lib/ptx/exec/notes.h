/* SPDX-License-Identifier: MIT */
/* Warnings about parts of a PTX text that the machine ignores because they cannot change a result, once for each name. */
#ifndef GT_PTX_NOTES_H
#define GT_PTX_NOTES_H

#include <stddef.h>
#include <stdint.h>

#define GT_PTX_NOTES 64 /* distinct names, at most */

/* Of faults that were passed over: instructions, accesses. */
#define GT_MEMCHECK_SUMMARY "memcheck: %" PRIu64 " instructions at fault, %" PRIu64 " accesses by threads: the stream has no end"

struct gt_ptx_notes {
	void (*say)(void *context, const char *text);
	void *context;
	const char *said[GT_PTX_NOTES];
	size_t n;
	/* Faults that were passed over (GT_PTX_MEMCHECK): where they are reported, NULL: nowhere; instructions, and their accesses by
	 * threads. */
	void (*fault)(void *context, const char *text);
	uint64_t faults, accesses;
};

/* Reports a name, which must have static lifetime, unless it was reported before: "PTX line LINE: NAME is ignored: WHY". NULL
 * notes: no report. */
void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why);

#endif
