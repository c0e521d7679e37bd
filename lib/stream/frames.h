/* SPDX-License-Identifier: MIT */
/* A stream's bytes, read from a descriptor and cut into records. */
#ifndef GT_STREAM_FRAMES_H
#define GT_STREAM_FRAMES_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct gt_frames {
	int descriptor;
	char name[256];
	/* The bytes that were read: [record, begin) is the last record, [begin, end) is not parsed yet. */
	unsigned char *buffer;
	size_t capacity, record, begin, end;
	size_t tried; /* bytes of an incomplete record when it was last parsed */
	bool at_end;
	msgpack_unpacked unpacked;
	uint64_t records; /* that were found good */
};

/* `head`: bytes that were taken from the descriptor before. Returns 0, or -1 when memory is short; it is closed in either case. */
int gt_frames_open(struct gt_frames *frames, int descriptor, const char *name, const void *head, size_t head_bytes,
		   struct gt_error *error);
void gt_frames_close(struct gt_frames *frames);

/* Unpacks the next record. Returns 1, 0 at the end of input, -1 on error. */
int gt_frames_next(struct gt_frames *frames, struct gt_error *error);

/* The last record's kind and its arguments, if it is an array that begins with a string; else NULL. */
const msgpack_object_array *gt_frames_arguments(const struct gt_frames *frames);
/* Its bytes, valid until the next record. */
const unsigned char *gt_frames_bytes(const struct gt_frames *frames, size_t *bytes);

/* Puts the stream's name and the record's number, from 1, before the error. Returns -1. */
int gt_frames_place(const struct gt_frames *frames, uint64_t record, struct gt_error *error);
/* The error of the record that is read. Returns -1. */
int gt_frames_fail(const struct gt_frames *frames, struct gt_error *error, const char *what);

#endif
