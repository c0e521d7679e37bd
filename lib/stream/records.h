/* SPDX-License-Identifier: MIT */
/* The records of a stream that are not rows, to and from msgpack objects. */
#ifndef GT_STREAM_RECORDS_H
#define GT_STREAM_RECORDS_H

#include <msgpack.h>

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"

/* The value of a key of a map, or NULL. */
const msgpack_object *gt_object_get(const msgpack_object *map, const char *key);
/* True if the object is the string. */
int gt_object_is(const msgpack_object *object, const char *text);
/* Copies a string, cut to fit, or a number. Returns 0, or -1 if the object is none, or the number is above max. */
int gt_object_text(const msgpack_object *object, char *buffer, size_t bytes);
int gt_object_number(const msgpack_object *object, uint64_t max, uint64_t *number);
/* Packs a C string. */
void gt_pack_text(msgpack_packer *packer, const char *text);

void gt_kernel_pack(msgpack_packer *packer, const struct gt_kernel *kernel);
int gt_kernel_unpack(const msgpack_object *map, struct gt_kernel *kernel, struct gt_error *error);

void gt_gpu_pack(msgpack_packer *packer, const struct gt_gpu *gpu);
/* Keys that this version does not know are left out of the copy in memory. */
int gt_gpu_unpack(const msgpack_object *map, struct gt_gpu *gpu, struct gt_error *error);

void gt_count_pack(msgpack_packer *packer, const struct gt_count *count);
int gt_count_unpack(const msgpack_object *map, struct gt_count *count, struct gt_error *error);

#endif
