/* SPDX-License-Identifier: MIT */
#include "cache/index/interleave.h"

#include <string.h>

#include "base/options.h"
#include "cache/index/index.h"

#define CHUNK_MAX (UINT64_C(1) << 30)

/* In each round every bank gets one chunk. A scheme is the order of the banks, which may differ between rounds. */
struct turn {
	uint64_t round, place;
};

static struct turn turn_of(const struct gt_interleave *interleave, uint64_t line)
{
	uint64_t chunk = line >> interleave->chunk_shift;

	return (struct turn){chunk / interleave->banks, chunk % interleave->banks};
}

static struct gt_bank_line in_bank(const struct gt_interleave *interleave, uint64_t line, uint64_t round,
				   uint64_t bank)
{
	uint64_t within = line & ((UINT64_C(1) << interleave->chunk_shift) - 1);

	return (struct gt_bank_line){(uint32_t)bank, round << interleave->chunk_shift | within};
}

static const struct gt_interleave_scheme by_set = {.name = "set"};

static struct gt_bank_line place_mod(const struct gt_interleave *interleave, uint64_t line)
{
	struct turn turn = turn_of(interleave, line);

	return in_bank(interleave, line, turn.round, turn.place);
}

static const struct gt_interleave_scheme mod = {.name = "mod", .place = place_mod};

static int check_power(uint32_t banks, struct gt_error *error)
{
	if ((banks & (banks - 1)) != 0)
		return gt_fail(error, "%u banks are no power of two: interleave mod, two-level or hash take any number",
			       banks);
	return 0;
}

static struct gt_bank_line place_xor(const struct gt_interleave *interleave, uint64_t line)
{
	struct turn turn = turn_of(interleave, line);
	uint64_t folded = turn.place;

	for (uint64_t rest = turn.round; interleave->bits > 0 && rest > 0; rest >>= interleave->bits)
		folded ^= rest & (interleave->banks - 1);
	return in_bank(interleave, line, turn.round, folded);
}

static const struct gt_interleave_scheme xor = {.name = "xor", .check = check_power, .place = place_xor};

static struct gt_bank_line place_hash(const struct gt_interleave *interleave, uint64_t line)
{
	struct turn turn = turn_of(interleave, line);
	uint64_t first = gt_index_hash(turn.round) % interleave->banks;

	return in_bank(interleave, line, turn.round, (first + turn.place) % interleave->banks);
}

static const struct gt_interleave_scheme hash = {.name = "hash", .place = place_hash};

/* [000] figure 1 b) shows two levels without sizes: chunks are assigned round-robin to the partitions, and the lines of a
 * partition to its banks. The chunk of 256 bytes is assumed. */
static struct gt_bank_line place_two_level(const struct gt_interleave *interleave, uint64_t line)
{
	uint64_t chunk = line >> interleave->chunk_shift, partition = chunk % interleave->partitions;
	uint64_t banks = interleave->banks / interleave->partitions;
	uint64_t own = in_bank(interleave, line, chunk / interleave->partitions, 0).line;

	return (struct gt_bank_line){(uint32_t)(own % banks * interleave->partitions + partition), own / banks};
}

static const struct gt_interleave_scheme two_level = {.name = "two-level", .chunk = 256, .place = place_two_level};

static const struct gt_interleave_scheme *const schemes[] = {&by_set, &mod, &xor, &hash, &two_level};
static const size_t schemes_n = sizeof schemes / sizeof schemes[0];

int gt_interleave_parse(const char *text, struct gt_interleave *interleave, struct gt_error *error)
{
	size_t length = strcspn(text, ":");

	*interleave = (struct gt_interleave){0};
	for (size_t i = 0; i < schemes_n; i++) {
		const struct gt_interleave_scheme *scheme = schemes[i];
		if (strlen(scheme->name) != length || strncmp(scheme->name, text, length) != 0)
			continue;
		if (text[length] && !scheme->place)
			break;
		interleave->scheme = scheme;
		if (!text[length])
			return 0;
		uint64_t *bytes = &interleave->chunk_bytes;
		if (gt_parse_size(text + length + 1, 1, CHUNK_MAX, bytes, error) == 0 && (*bytes & (*bytes - 1)) == 0)
			return 0;
		return gt_fail(error, "'%.100s': expected bytes that stay together, a power of two up to 1G", text);
	}
	return gt_fail(error, "'%.100s': expected set, mod[:BYTES], xor[:BYTES], hash[:BYTES] or two-level[:BYTES]", text);
}

int gt_interleave_open(struct gt_interleave *interleave, uint32_t partitions, uint32_t banks, uint64_t line_bytes,
		       struct gt_error *error)
{
	uint64_t chunk = interleave->chunk_bytes;
	char bytes[32], line[32];

	if (chunk == 0)
		chunk = interleave->scheme->chunk > line_bytes ? interleave->scheme->chunk : line_bytes;
	if (chunk < line_bytes)
		return gt_fail(error, "interleave %s: %s are less than a line of %s", interleave->scheme->name,
			       gt_format_size(chunk, bytes), gt_format_size(line_bytes, line));
	interleave->partitions = partitions;
	interleave->banks = partitions * banks;
	interleave->chunk_shift = (unsigned)__builtin_ctzll(chunk / line_bytes);
	interleave->bits = 31 - (unsigned)__builtin_clz(interleave->banks);
	return interleave->scheme->check ? interleave->scheme->check(interleave->banks, error) : 0;
}
