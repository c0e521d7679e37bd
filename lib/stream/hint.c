/* SPDX-License-Identifier: MIT */
#include "stream/hint.h"

#include <string.h>

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* The parts of a hint, in the order of its text. */
static const struct {
	const char *name;
	uint16_t bits, of; /* of: the mask of the field */
} parts[] = {
	{"prefetch.L1", GT_PREFETCH_L1 << 8, 7 << 8},
	{"prefetch.L2", GT_PREFETCH_L2 << 8, 7 << 8},
	{"discard.L2", GT_DISCARD_L2 << 8, 7 << 8},
	{"applypriority.L2", GT_APPLY_PRIORITY_L2 << 8, 7 << 8},
	{"L1::evict_normal", GT_EVICT_NORMAL, 7},
	{"L1::evict_unchanged", GT_EVICT_UNCHANGED, 7},
	{"L1::evict_first", GT_EVICT_FIRST, 7},
	{"L1::evict_last", GT_EVICT_LAST, 7},
	{"L1::no_allocate", GT_NO_ALLOCATE, 7},
	{"L2::evict_normal", GT_EVICT_NORMAL << 3, 7 << 3},
	{"L2::evict_unchanged", GT_EVICT_UNCHANGED << 3, 7 << 3},
	{"L2::evict_first", GT_EVICT_FIRST << 3, 7 << 3},
	{"L2::evict_last", GT_EVICT_LAST << 3, 7 << 3},
	{"L2::64B", GT_FETCH_64 << 6, 3 << 6},
	{"L2::128B", GT_FETCH_128 << 6, 3 << 6},
	{"L2::256B", GT_FETCH_256 << 6, 3 << 6},
};

const char *gt_hint_format(uint16_t hint, char *buffer)
{
	char *end = buffer;

	for (size_t i = 0; i < LENGTH(parts); i++) {
		if ((hint & parts[i].of) != parts[i].bits)
			continue;
		if (end > buffer)
			*end++ = ',';
		strcpy(end, parts[i].name);
		end += strlen(end);
	}
	if (end == buffer)
		strcpy(buffer, "none");
	return buffer;
}

int gt_hint_parse(const char *text, uint16_t *hint)
{
	unsigned said = 0;

	*hint = 0;
	if (strcmp(text, "none") == 0)
		return 0;
	for (const char *at = text;; at++) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < LENGTH(parts) && (strlen(parts[i].name) != length || strncmp(parts[i].name, at, length) != 0))
			i++;
		if (i == LENGTH(parts) || (said & parts[i].of) != 0)
			return -1;
		said |= parts[i].of;
		*hint |= parts[i].bits;
		at += length;
		if (!*at)
			return 0;
	}
}
