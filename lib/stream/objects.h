/* SPDX-License-Identifier: MIT */
/* How many objects a msgpack record has, before it is unpacked: the library allocates for all that a record
 * claims to have. */
#ifndef GT_STREAM_OBJECTS_H
#define GT_STREAM_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#define GT_OBJECTS_MAX (UINT64_C(1) << 22) /* of a record: above GT_COUNT_VALUES_MAX and their names */

/* The objects of the record that begins at `bytes`, as far as they are there, and those that its arrays and maps
 * claim to have besides. Stops beyond GT_OBJECTS_MAX. */
uint64_t gt_objects_count(const unsigned char *bytes, size_t n);

#endif
