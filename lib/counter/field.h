/* SPDX-License-Identifier: MIT */
/* Counters: one row each, in the table of their stage (order.h, cache.h, ...). A row makes the field that a
 * stage counts in, its name in the stream, and its definition in reports. A new counter is a row here, a line
 * where it is counted, and an entry in the manual.
 *
 * A table is a macro that gives each of its rows to ROW(KIND, NAME, UNIT, PRINT, DEFINITION):
 *
 *     COUNT    a number that is summed over kernels
 *     ARRAY    numbers that are summed, element by element
 *     SETTING  a number that is a property of the model: in a total only if it is equal in all kernels
 *     LIST     numbers that are such a property
 *     WORD     a text
 */
#ifndef GT_COUNTER_FIELD_H
#define GT_COUNTER_FIELD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Makes the fields of a struct from a table, in its order: struct x { GT_X_COUNTERS(GT_COUNTER_FIELD) }; */
#define GT_COUNTER_FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) GT_COUNTER_FIELD_##KIND(NAME)
#define GT_COUNTER_FIELD_COUNT(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_SETTING(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_ARRAY(NAME)
#define GT_COUNTER_FIELD_LIST(NAME)
#define GT_COUNTER_FIELD_WORD(NAME)

/* The fields for the arrays of a table, which follow those of its numbers. Define GT_COUNTER_ELEMENTS, the length of
 * each, before using this. */
#define GT_COUNTER_ARRAY_FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) GT_COUNTER_ARRAY_FIELD_##KIND(NAME)
#define GT_COUNTER_ARRAY_FIELD_COUNT(NAME)
#define GT_COUNTER_ARRAY_FIELD_SETTING(NAME)
#define GT_COUNTER_ARRAY_FIELD_ARRAY(NAME) uint64_t NAME[GT_COUNTER_ELEMENTS];
#define GT_COUNTER_ARRAY_FIELD_LIST(NAME)
#define GT_COUNTER_ARRAY_FIELD_WORD(NAME)

/* Adds the fields of such a struct of `bytes` to those of another. */
static inline void gt_counters_add(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
		uint64_t sum, more;
		memcpy(&sum, (const char *)to + at, sizeof sum);
		memcpy(&more, (const char *)from + at, sizeof more);
		sum += more;
		memcpy((char *)to + at, &sum, sizeof sum);
	}
}

#endif
