/* SPDX-License-Identifier: MIT */
/* The records of a stream, to and from bytes (gtrace(5)): for the reader and the writer, and for those who make records or unpack them
 * elsewhere. */
#ifndef GT_STREAM_RECORDS_H
#define GT_STREAM_RECORDS_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For checksums libxxhash chooses the widest vectors of the machine, where it was built to: then it has this header, as Debian's for x86-64. */
#define XXH_STATIC_LINKING_ONLY
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

#include "base/error.h"
#include "gpu/gpu.h"
#include "stream/count.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/stream.h"

/* ---- bytes ---- */

/* A growable buffer that msgpack-c packs into. */
struct gt_bytes {
	unsigned char *data;
	size_t n, capacity;
	bool failed; /* memory ran out; bytes packed since are lost */
};

/* The write callback of a msgpack_packer whose data is a struct gt_bytes. Without `data` the n bytes are there, for the caller to set. */
int gt_bytes_write(void *bytes, const char *data, size_t n);

/* ---- a stream that another process of the same program goes on with ---- */

struct gt_writer_left {
	_Alignas(64) unsigned char checksum[640];
	uint64_t rows;
};

/* Writes what is pending, and leaves the rest. Returns 0 or -1. */
int gt_writer_leave(struct gt_writer *writer, struct gt_writer_left *left, struct gt_error *error);
/* Goes on with it, in a process forked from that one or from one of which both were forked: what the writer has not written, such as the header
 * of one that was just opened, is dropped. */
void gt_writer_resume(struct gt_writer *writer, const struct gt_writer_left *left);

/* ---- launches, GPUs and counts, as msgpack objects ---- */

/* The value of a key of a map, or NULL. */
const msgpack_object *gt_object_get(const msgpack_object *map, const char *key);
/* True if the object is the string. */
int gt_object_is(const msgpack_object *object, const char *text);
/* Packs a C string. */
void gt_pack_text(msgpack_packer *packer, const char *text);

void gt_kernel_pack(msgpack_packer *packer, const struct gt_kernel *kernel);
int gt_kernel_unpack(const msgpack_object *map, struct gt_kernel *kernel, struct gt_error *error);

void gt_gpu_pack(msgpack_packer *packer, const struct gt_gpu *gpu);
/* Keys that this version does not know are left out of the copy in memory. */
int gt_gpu_unpack(const msgpack_object *map, struct gt_gpu *gpu, struct gt_error *error);

void gt_count_pack(msgpack_packer *packer, const struct gt_count *count);
int gt_count_unpack(const msgpack_object *map, struct gt_count *count, struct gt_error *error);

/* ---- batches, into records ---- */

#define GT_SLICES_MAX 2

/* Some successive rows of a batch, and the addresses of accesses that are listed: base[] of the first that has some is the number
 * of addresses in the slices before. */
struct gt_slice {
	const struct gt_rows *rows;
	size_t first, n;
	size_t first_lane, lanes_n;
};

/* Begins a record: an array of `size` whose first element is its kind. */
static inline void gt_pack_begin(msgpack_packer *packer, const char *kind, size_t size)
{
	msgpack_pack_array(packer, size);
	gt_pack_text(packer, kind);
}

/* Packs rows, at least one, as one record. Slices, at most GT_SLICES_MAX, are of batches that carry the same columns. */
void gt_rows_pack(struct gt_bytes *bytes, const struct gt_slice *slices, size_t slices_n);

/* ---- batches, out of records ---- */

/* Unpacks the columns of n rows into *rows, which is replaced if it is too small, and then NULL if memory is short. Every row
 * is checked against the kernel. Returns 0, or -1. */
int gt_rows_unpack(struct gt_rows **rows, enum gt_rows_kind kind, size_t n, const msgpack_object *columns,
		   const struct gt_kernel *kernel, struct gt_error *error);

/* Takes turns out of a batch: requests on shared memory, which gcoalesce leaves for gschedule. */
void gt_rows_drop_turns(struct gt_rows *rows);

/* Makes a row of each request where rows are several: *rows is then what was *room, which is made if it is NULL. Returns 0, or -1 when
 * memory is short. */
int gt_rows_spread(struct gt_rows **rows, struct gt_rows **room, struct gt_error *error);

/* ---- rows against the kernel that they belong to ---- */

/* Returns 0 if every row is valid: blocks, warps and lanes that the launch has, known ops, and sizes, sectors
 * and addresses in range. Else -1, naming the first row that is not. */
int gt_rows_check(const struct gt_rows *rows, const struct gt_kernel *kernel, struct gt_error *error);

/* ---- how many objects a record has, before it is unpacked: msgpack-c allocates for all that a record claims to have ---- */

#define GT_OBJECTS_MAX (UINT64_C(1) << 22) /* of a record: above GT_COUNT_VALUES_MAX and their names */

/* The objects of the record that begins at `bytes`, as far as they are there, and those that its arrays and maps
 * claim to have besides. Stops beyond GT_OBJECTS_MAX. */
uint64_t gt_objects_count(const unsigned char *bytes, size_t n);

/* ---- records as they stand in a stream, for those who pass them on or unpack them elsewhere ---- */

/* The last record that was read. */
struct gt_raw_record {
	const unsigned char *bytes; /* n of them; valid until the next gt_read */
	size_t n;
	uint64_t number; /* from 1 */
	size_t rows;	 /* in it: 0 if it is no batch */
	enum gt_rows_kind kind; /* of a batch */
};
struct gt_raw_record gt_reader_record(const struct gt_reader *reader);
/* Whether it is a batch with the column hint. */
bool gt_reader_record_hints(const struct gt_reader *reader);

/* As gt_read, but leaves a batch in its record: gt_reader_unpack then reads it. */
enum gt_event gt_read_record(struct gt_reader *reader, struct gt_error *error);
int gt_reader_unpack(struct gt_reader *reader, struct gt_error *error);

/* Puts the stream's name and the record's number, from 1, before the error. Returns -1. */
int gt_reader_place(const struct gt_reader *reader, uint64_t record, struct gt_error *error);

/* Writes n bytes of whole records, in which there are so many rows. */
int gt_writer_put(struct gt_writer *writer, const unsigned char *records, size_t n, size_t rows, struct gt_error *error);

#define GT_WRITER_FAILED UINT64_MAX

/* From here on `take` gets a copy of all records, in pieces of any length; NULL: no longer. What is pending is written first. Returns the
 * rows that have been written, or GT_WRITER_FAILED. */
uint64_t gt_writer_tee(struct gt_writer *writer, void (*take)(void *context, const unsigned char *data, size_t n), void *context,
		       struct gt_error *error);

#endif
