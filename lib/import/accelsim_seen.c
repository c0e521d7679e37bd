/* SPDX-License-Identifier: MIT */
#include "import/accelsim_seen.h"

#include <string.h>

#include "base/hash.h"

/* By the PC and the first lanes of the mask. */
static size_t place_of(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return (size_t)(gt_fibonacci(word) >> 32) % GT_SEEN_LINES;
}

const struct gt_seen *gt_seen_find(const struct gt_seen_lines *lines, const char *text, uint64_t version)
{
	const struct gt_seen *line = &lines->lines[place_of(text)];

	/* No text after the 0 that ends the line is compared. */
	return line->length > 0 && line->version == version && strncmp(line->text, text, line->length) == 0 ? line : NULL;
}

void gt_seen_add(struct gt_seen_lines *lines, const char *text, const char *end, const struct gt_seen *line)
{
	struct gt_seen *to = &lines->lines[place_of(text)];
	size_t length = (size_t)(end - text);

	if (length > sizeof to->text)
		return;
	*to = *line;
	to->length = length;
	memcpy(to->text, text, length);
}
