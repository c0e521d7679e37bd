/* SPDX-License-Identifier: MIT */
/* Counters: one row each, in the table of the stage that counts (order.h, cache.h, ...). From a row come the field that
 * a stage counts in, the name under which it goes into the stream, and what reports say of it: a new counter
 * is a row here, a line where something is counted, and an entry of the manual.
 *
 * A table is a macro that gives each of its rows to ROW(KIND, NAME, UNIT, PRINT, DEFINITION):
 *
 *     COUNT    a number that is summed over kernels
 *     ARRAY    numbers that are summed, element by element
 *     SETTING  a number that is a property of the model: equal in all kernels, or left out of a total
 *     LIST     numbers of which the same holds
 *     WORD     a text
 */
#ifndef GT_COUNTER_FIELD_H
#define GT_COUNTER_FIELD_H

#include <stdint.h>

/* The fields of a struct for the numbers of a table, in its order: struct x { GT_X_COUNTERS(GT_COUNTER_FIELD) }; */
#define GT_COUNTER_FIELD(KIND, NAME, UNIT, PRINT, DEFINITION) GT_COUNTER_FIELD_##KIND(NAME)
#define GT_COUNTER_FIELD_COUNT(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_SETTING(NAME) uint64_t NAME;
#define GT_COUNTER_FIELD_ARRAY(NAME)
#define GT_COUNTER_FIELD_LIST(NAME)
#define GT_COUNTER_FIELD_WORD(NAME)

#endif
