/* SPDX-License-Identifier: MIT */
#include "ptx/exec/notes.h"

#include <stdio.h>
#include <string.h>

void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why)
{
	char text[256];

	if (!notes)
		return;
	for (size_t i = 0; i < notes->n; i++)
		if (strcmp(notes->said[i], name) == 0)
			return;
	if (notes->n == GT_PTX_NOTES)
		return;
	notes->said[notes->n++] = name;
	snprintf(text, sizeof text, "PTX line %u: %s is ignored: %s", line, name, why);
	notes->say(notes->context, text);
}
