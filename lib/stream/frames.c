/* SPDX-License-Identifier: MIT */
#include "stream/frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grown.h"
#include "stream/objects.h"
#include "stream/stream.h"

#define CHUNK (256U << 10) /* bytes asked of the descriptor at once */

int gt_frames_place(const struct gt_frames *frames, uint64_t record, struct gt_error *error)
{
	const struct gt_error reason = *error;

	return gt_fail(error, "%s: record %" PRIu64 ": %.500s", frames->name, record, reason.text);
}

int gt_frames_fail(const struct gt_frames *frames, struct gt_error *error, const char *what)
{
	gt_fail(error, "%s", what);
	return gt_frames_place(frames, frames->records + 1, error);
}

/* Makes room for another chunk after `end`; moves the bytes still needed to the front. */
static int make_room(struct gt_frames *frames, struct gt_error *error)
{
	size_t kept = frames->end - frames->begin;

	if (frames->begin > 0)
		memmove(frames->buffer, frames->buffer + frames->begin, kept);
	frames->record = frames->begin = 0;
	frames->end = kept;
	if (kept + CHUNK <= frames->capacity)
		return 0;
	unsigned char *buffer = gt_grown_to(frames->buffer, 2 * (kept + CHUNK), &frames->capacity, 1);
	if (!buffer)
		return gt_fail_memory(error, "a record");
	frames->buffer = buffer;
	return 0;
}

static int fill(struct gt_frames *frames, struct gt_error *error)
{
	ssize_t n;

	if (frames->end - frames->begin > GT_RECORD_MAX)
		return gt_frames_fail(frames, error, "longer than any record may be: damaged, or not a gtrace stream");
	if (make_room(frames, error) != 0)
		return -1;
	do
		n = read(frames->descriptor, frames->buffer + frames->end, CHUNK);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return gt_fail_errno(error, "%s", frames->name);
	frames->at_end = n == 0;
	frames->end += (size_t)n;
	return 0;
}

int gt_frames_next(struct gt_frames *frames, struct gt_error *error)
{
	for (;;) {
		size_t offset = 0, available = frames->end - frames->begin;
		/* Parsing an incomplete record again only once it has grown by half takes linear time in all. */
		bool worth = available > 0 && (available >= frames->tried + frames->tried / 2 || frames->at_end);
		if (worth && gt_objects_count(frames->buffer + frames->begin, available) > GT_OBJECTS_MAX)
			return gt_frames_fail(frames, error, "more objects than any record may have: damaged, or not a gtrace stream");
		if (worth) {
			msgpack_unpack_return result = msgpack_unpack_next(
				&frames->unpacked, (const char *)frames->buffer + frames->begin, available, &offset);
			if (result == MSGPACK_UNPACK_SUCCESS || result == MSGPACK_UNPACK_EXTRA_BYTES) {
				frames->record = frames->begin;
				frames->begin += offset;
				frames->tried = 0;
				return 1;
			}
			if (result != MSGPACK_UNPACK_CONTINUE)
				return gt_frames_fail(frames, error, "damaged, or not a gtrace stream");
			frames->tried = available;
		}
		if (frames->at_end)
			return available > 0 ? gt_frames_fail(frames, error, "the input ends inside it") : 0;
		if (fill(frames, error) != 0)
			return -1;
	}
}

const msgpack_object_array *gt_frames_arguments(const struct gt_frames *frames)
{
	const msgpack_object *object = &frames->unpacked.data;

	if (object->type != MSGPACK_OBJECT_ARRAY || object->via.array.size < 1 ||
	    object->via.array.ptr[0].type != MSGPACK_OBJECT_STR)
		return NULL;
	return &object->via.array;
}

const unsigned char *gt_frames_bytes(const struct gt_frames *frames, size_t *bytes)
{
	*bytes = frames->begin - frames->record;
	return frames->buffer + frames->record;
}

int gt_frames_open(struct gt_frames *frames, int descriptor, const char *name, const void *head, size_t head_bytes,
		   struct gt_error *error)
{
	*frames = (struct gt_frames){.descriptor = descriptor, .capacity = head_bytes + CHUNK, .end = head_bytes};
	snprintf(frames->name, sizeof frames->name, "%s", name);
	msgpack_unpacked_init(&frames->unpacked);
	frames->buffer = malloc(frames->capacity);
	if (!frames->buffer)
		return gt_fail_memory(error, "a stream");
	if (head_bytes > 0)
		memcpy(frames->buffer, head, head_bytes);
	return 0;
}

void gt_frames_close(struct gt_frames *frames)
{
	msgpack_unpacked_destroy(&frames->unpacked);
	free(frames->buffer);
}
