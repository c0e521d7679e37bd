/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Whether a name has been reported, or there is no room for it. */
static bool is_said(const struct gt_ptx_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strcmp(notes->said[i], name) == 0)
			return true;
	return notes->n == GT_PTX_NOTES;
}

void gt_ptx_note_text(struct gt_ptx_notes *notes, const char *name, const char *text)
{
	if (is_said(notes, name))
		return;
	notes->said[notes->n++] = name;
	notes->say(notes->context, text);
}

void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why)
{
	char text[GT_PTX_NOTE_TEXT];

	if (!notes || is_said(notes, name))
		return;
	snprintf(text, sizeof text, "PTX line %u: %s is ignored: %s", line, name, why);
	gt_ptx_note_text(notes, name, text);
}

void gt_ptx_note_clock(struct gt_ptx_notes *notes, const char *kernel, const char *clock)
{
	const uint64_t hash = XXH3_64bits(kernel, strlen(kernel));
	char text[GT_PTX_NOTE_TEXT];

	if (!notes || notes->quiet || notes->n_clocks == GT_PTX_NOTES)
		return;
	for (size_t i = 0; i < notes->n_clocks; i++)
		if (notes->clocks[i] == hash)
			return;
	notes->clocks[notes->n_clocks++] = hash;
	snprintf(text, sizeof text,
		 "warning: kernel %.128s reads %s, which counts here the instructions that the warp has issued: no time was measured",
		 kernel, clock);
	notes->say(notes->context, text);
}

void gt_ptx_note_end(struct gt_ptx_notes *notes, const char *text)
{
	char line[sizeof notes->last + 64];

	notes->ended++;
	if (!notes->fault || strncmp(text, notes->last, sizeof notes->last - 1) == 0)
		return;
	snprintf(notes->last, sizeof notes->last, "%s", text);
	snprintf(line, sizeof line, "%s: the launch ends here, and so does the stream", text);
	notes->fault(notes->context, line);
}

const char *gt_ptx_notes_sum(const struct gt_ptx_notes *notes, char text[GT_PTX_FAULTS_TEXT])
{
	char ended[64] = "";

	if (notes->faults == 0 && notes->ended == 0)
		return NULL;
	if (notes->ended > 0)
		snprintf(ended, sizeof ended, ", %" PRIu64 " launches that ended early", notes->ended);
	snprintf(text, GT_PTX_FAULTS_TEXT,
		 "memcheck: %" PRIu64 " instructions at fault, %" PRIu64 " accesses by threads%s: the stream has no end",
		 notes->faults, notes->accesses, ended);
	return text;
}
