/* SPDX-License-Identifier: MIT */
/* The columns of rows and the names of their values, for readers that are not written in C. */
#ifndef GT_STREAM_SCHEMA_H
#define GT_STREAM_SCHEMA_H

#include <stdio.h>

/* Writes them as a JSON object (gtrace-cat(1)). */
void gt_schema_write(FILE *to);

#endif
