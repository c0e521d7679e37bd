/* SPDX-License-Identifier: MIT */
#include "import/accelsim_seen.h"

#include <string.h>

#include "base/hash.h"

static uint64_t word_at(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
	return word;
}

/* By the PC and the first lanes of the mask. */
static size_t place_of(const char *text)
{
	return (size_t)(gt_fibonacci(word_at(text)) >> 32) % GT_SEEN_LINES;
}

/* Compared in words up to the first that differs, so that none is read that begins behind the 0 which ends the text. */
static bool begins_as(const char *text, const struct gt_seen *line)
{
	for (size_t i = 0; i + sizeof(uint64_t) < line->length; i += sizeof(uint64_t))
		if (word_at(text + i) != word_at(line->text + i))
			return false;
	size_t last = line->length - sizeof(uint64_t);
	return word_at(text + last) == word_at(line->text + last);
}

const struct gt_seen *gt_seen_find(const struct gt_seen_lines *lines, const char *text, uint64_t version)
{
	const struct gt_seen *line = &lines->lines[place_of(text)];

	return line->length > 0 && line->version == version && begins_as(text, line) ? line : NULL;
}

void gt_seen_add(struct gt_seen_lines *lines, const char *text, const char *end, const struct gt_seen *line)
{
	struct gt_seen *to = &lines->lines[place_of(text)];
	size_t length = (size_t)(end - text);

	if (length < sizeof(uint64_t) || length > sizeof to->text)
		return;
	*to = *line;
	to->length = length;
	memcpy(to->text, text, length);
}
