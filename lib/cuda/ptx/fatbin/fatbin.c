/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/fatbin/fatbin.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

#define CONTAINER_MAGIC 0xba55ed50U
#define CONTAINER_HEADER 16
#define TEXT_MIN 4 /* printable bytes by which plain text is recognized; in the magic only the first is printable */
#define ENTRY_HEADER 64 /* bytes that are read; a header may have more */
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
/* For one architecture, as sm_90a, or for a family, as sm_100f: code that may use what no later architecture has. nvcc puts it
 * beside code for all later ones. */
#define FLAG_ARCHITECTURE UINT64_C(0x100000)
#define FLAG_FAMILY	  UINT64_C(0x200000)

/* ---- the container ---- */

static uint64_t number_at(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | at[bytes];
	return value;
}

static bool looks_like_text(const unsigned char *data, size_t available)
{
	for (size_t i = 0; i < TEXT_MIN; i++)
		if (i >= available || (data[i] != '\t' && data[i] != '\n' && data[i] != '\r' &&
				       (data[i] < ' ' || data[i] > '~')))
			return false;
	return true;
}

int gt_fatbin_open(struct gt_fatbin *fatbin, const void *data, size_t available, struct gt_error *error)
{
	*fatbin = (struct gt_fatbin){.data = data};
	if (looks_like_text(data, available)) {
		fatbin->plain = 1;
		const unsigned char *end = memchr(data, '\0', available);
		fatbin->bytes = end ? (size_t)(end - fatbin->data) : available;
		return 0;
	}
	if (available < CONTAINER_HEADER || number_at(data, 4) != CONTAINER_MAGIC)
		return gt_fail(error, "expected a fat binary or PTX text");
	uint64_t header = number_at(fatbin->data + 6, 2), bytes = number_at(fatbin->data + 8, 8);
	if (header < CONTAINER_HEADER || header > available || bytes > available - header)
		return gt_fail(error, "fat binary of %" PRIu64 " bytes, but only %zu are there", bytes,
			       available - CONTAINER_HEADER);
	fatbin->at = (size_t)header;
	fatbin->bytes = (size_t)(header + bytes);
	return 0;
}

/* Plain text is a container of one entry. */
static int next_plain(struct gt_fatbin *fatbin, struct gt_fatbin_entry *entry)
{
	if (fatbin->at > 0)
		return 0;
	fatbin->at = 1;
	*entry = (struct gt_fatbin_entry){.kind = GT_FATBIN_PTX, .payload = fatbin->data,
					  .payload_bytes = fatbin->bytes, .unpacked_bytes = fatbin->bytes};
	return 1;
}

int gt_fatbin_next(struct gt_fatbin *fatbin, struct gt_fatbin_entry *entry, struct gt_error *error)
{
	const unsigned char *at = fatbin->data + fatbin->at;
	size_t left = fatbin->bytes - fatbin->at;

	if (fatbin->plain)
		return next_plain(fatbin, entry);
	if (left == 0)
		return 0;
	if (left < ENTRY_HEADER)
		return gt_fail(error, "fat binary: entry at byte %zu is cut short", fatbin->at);
	uint64_t header = number_at(at + 4, 4), payload = number_at(at + 8, 8), compressed = number_at(at + 16, 4);
	*entry = (struct gt_fatbin_entry){
		.kind = (unsigned)number_at(at, 2),
		.minor = (unsigned)number_at(at + 24, 2),
		.major = (unsigned)number_at(at + 26, 2),
		.architecture = (unsigned)number_at(at + 28, 4),
		.flags = number_at(at + 40, 8),
	};
	if (header < ENTRY_HEADER || header > left || payload > left - header || compressed > payload)
		return gt_fail(error, "fat binary: entry at byte %zu says it has %" PRIu64 " + %" PRIu64
			       " bytes, but only %zu are there", fatbin->at, header, payload, left);
	bool packed = (entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
	entry->payload = at + header;
	entry->payload_bytes = packed && compressed > 0 ? compressed : payload;
	entry->unpacked_bytes = packed ? number_at(at + 56, 8) : payload;
	fatbin->at += (size_t)(header + payload);
	return 1;
}

/* True if `a` is preferred. */
static bool better(const struct gt_fatbin_entry *a, const struct gt_fatbin_entry *b, unsigned wanted)
{
	if ((a->architecture == wanted) != (b->architecture == wanted))
		return a->architecture == wanted;
	if (a->architecture != b->architecture)
		return a->architecture > b->architecture;
	const uint64_t special = FLAG_ARCHITECTURE | FLAG_FAMILY;
	if ((a->flags & special) != (b->flags & special))
		return (a->flags & FLAG_ARCHITECTURE) || ((a->flags & FLAG_FAMILY) && !(b->flags & FLAG_ARCHITECTURE));
	return a->major != b->major ? a->major > b->major : a->minor > b->minor;
}

int gt_fatbin_choose(struct gt_fatbin *fatbin, enum gt_fatbin_kind kind, unsigned wanted,
		     struct gt_fatbin_entry *entry, struct gt_error *error)
{
	struct gt_fatbin walk = *fatbin;
	struct gt_fatbin_entry other;
	int found = 0, result;

	while ((result = gt_fatbin_next(&walk, &other, error)) == 1) {
		if (other.kind != (unsigned)kind || (found && !better(&other, entry, wanted)))
			continue;
		*entry = other;
		found = 1;
	}
	return result == 0 ? found : -1;
}

/* ---- the payload ---- */

static int check_size(long long got, size_t n, struct gt_error *error)
{
	return got == (long long)n ? 0 : gt_fail(error, "unpacks to %lld bytes, expected %zu", got, n);
}

static int unpack_zstd(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		       struct gt_error *error)
{
	size_t got = ZSTD_decompress(out, n, packed, packed_bytes);

	return ZSTD_isError(got) ? gt_fail(error, "zstd: %s, expected %zu bytes", ZSTD_getErrorName(got), n)
				 : check_size((long long)got, n, error);
}

/* A raw LZ4 block, without a frame. Sizes are at most GT_FATBIN_UNPACKED_MAX, so an int holds them. */
static int unpack_lz4(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		      struct gt_error *error)
{
	if (packed_bytes > INT_MAX)
		return gt_fail(error, "LZ4 block of %zu bytes", packed_bytes);
	int got = LZ4_decompress_safe((const char *)packed, (char *)out, (int)packed_bytes, (int)n);
	return got < 0 ? gt_fail(error, "damaged LZ4 block, expected %zu bytes", n) : check_size(got, n, error);
}

static int unpack_plain(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
			struct gt_error *error)
{
	if (packed_bytes != n)
		return gt_fail(error, "%zu bytes, expected %zu", packed_bytes, n);
	memcpy(out, packed, n);
	return 0;
}

static const struct {
	uint64_t flag;
	int (*unpack)(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		      struct gt_error *error);
} compressions[] = {
	{FLAG_ZSTD, unpack_zstd},
	{FLAG_LZ4, unpack_lz4},
	{0, unpack_plain},
};

char *gt_fatbin_unpack(const struct gt_fatbin_entry *entry, size_t *bytes, struct gt_error *error)
{
	size_t i = 0, n = (size_t)entry->unpacked_bytes;
	struct gt_error reason;

	if (entry->unpacked_bytes > GT_FATBIN_UNPACKED_MAX) {
		gt_fail(error, "fat binary: an entry says it unpacks to %" PRIu64 " bytes", entry->unpacked_bytes);
		return NULL;
	}
	char *out = malloc(n + 1);
	if (!out) {
		gt_fail_memory(error, "a fat binary");
		return NULL;
	}
	while (compressions[i].flag != 0 && !(entry->flags & compressions[i].flag))
		i++;
	if (compressions[i].unpack(entry->payload, (size_t)entry->payload_bytes, (unsigned char *)out, n, &reason) != 0) {
		gt_fail(error, "fat binary: %s", reason.text);
		free(out);
		return NULL;
	}
	out[n] = '\0';
	*bytes = entry->kind == GT_FATBIN_PTX ? strlen(out) : n;
	return out;
}
