/* SPDX-License-Identifier: MIT */
/* What follows the width of an instruction that accesses memory: "MODE addresses [immediate]". */
#include <inttypes.h>

#include "base/scan.h"
#include "import/accelsim.h"
#include "import/opcode.h"
#include "import/place.h"
#include "stream/op.h"

static bool scan_immediate(const char **at)
{
	uint64_t number;

	gt_scan_char(at, '-');
	if ((*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		return gt_scan_hex(at, &number);
	return gt_scan_decimal(at, &number);
}

/* True if only blanks are left of the line, which may stand in the text of many. */
static bool scan_end(const char **at)
{
	return gt_scan_end(at) || **at == '\n';
}

bool gt_accelsim_rest(const struct gt_accelsim *reader, const char **at)
{
	uint64_t value;

	if (scan_end(at))
		return true;
	if (reader->version > 0 && reader->version <= 3)
		return false;
	for (int i = 0; i < (reader->version >= 6 ? 2 : 1) && **at != 'N' && **at != 'V'; i++)
		if (!scan_immediate(at))
			return false;
		else if (scan_end(at))
			return true;
		else
			gt_scan_blanks(at);
	if (reader->version < 6 || !(gt_scan_text(at, "NoVal") || gt_scan_text(at, "Val")))
		return false;
	while (!scan_end(at))
		if (!gt_scan_hex(at, &value))
			return false;
	return true;
}

static bool scan_list(struct gt_accelsim *reader, const char **at)
{
	unsigned lanes = (unsigned)__builtin_popcount(reader->access.mask);

	for (unsigned i = 0; i < lanes; i++)
		if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[i]))
			return false;
	reader->access.addresses = reader->addresses;
	return true;
}

/* " BASE", of which the first digits are nearly always those of the base before. */
static inline bool scan_base(struct gt_accelsim *reader, const char **at)
{
	if (gt_scan_near(at, &reader->last_base, &reader->access.base))
		return true;
	if (!gt_scan_gap(at))
		return false;
	const char *number = *at;
	if (!gt_scan_hex(at, &reader->access.base))
		return false;
	gt_scan_note_first(number, &reader->last_base);
	return true;
}

/* " STRIDE", which nearly always is one digit at the end of the line. */
static inline bool scan_step(struct gt_accelsim *reader, const char **at)
{
	const char *text = *at;
	unsigned digit = (unsigned char)text[1] - (unsigned)'0';

	if (text[0] != ' ' || digit > 9 || text[2] != '\n')
		return gt_scan_gap(at) && gt_scan_signed(at, &reader->access.stride);
	reader->access.stride = (int64_t)digit;
	*at += 2;
	return true;
}

/* This form can only describe consecutive lanes, so base and stride are passed on as they are. */
static inline bool scan_stride(struct gt_accelsim *reader, const char **at)
{
	uint32_t mask = reader->access.mask;

	/* Adding the lowest lane carries through those beside it. */
	if (((mask + (mask & -mask)) & mask) != 0)
		return false;
	reader->access.addresses = NULL;
	return scan_base(reader, at) && scan_step(reader, at);
}

static bool scan_deltas(struct gt_accelsim *reader, const char **at)
{
	unsigned lanes = (unsigned)__builtin_popcount(reader->access.mask);
	int64_t delta;

	if (!gt_scan_gap(at) || !gt_scan_hex(at, &reader->addresses[0]))
		return false;
	for (unsigned i = 1; i < lanes; i++) {
		if (!gt_scan_gap(at) || !gt_scan_signed(at, &delta))
			return false;
		reader->addresses[i] = reader->addresses[i - 1] + (uint64_t)delta;
	}
	reader->access.addresses = reader->addresses;
	return true;
}

/* " MODE", which nearly always is one digit behind one blank. */
static inline bool scan_mode(const char **at, uint64_t *mode)
{
	const char *text = *at;

	if (text[0] == ' ' && text[1] >= '0' && text[1] <= '2' && text[2] == ' ') {
		*mode = (uint64_t)(text[1] - '0');
		*at += 2;
		return true;
	}
	return gt_scan_gap(at) && gt_scan_upto(at, 2, mode);
}

const char *gt_accelsim_scan(struct gt_accelsim *reader, const char **at)
{
	uint64_t mode = 0;

	if (!scan_mode(at, &mode))
		return "expected an address mode of 0, 1 or 2";
	switch (mode) {
	case 0:
		return scan_list(reader, at) && gt_accelsim_rest(reader, at) ?
			       NULL : "mode 0: expected a hexadecimal address for each lane of the mask";
	case 1:
		return scan_stride(reader, at) && (**at == '\n' || gt_accelsim_rest(reader, at)) ?
			       NULL : "mode 1: expected a base and a decimal stride, and lanes side by side";
	default:
		return scan_deltas(reader, at) && gt_accelsim_rest(reader, at) ?
			       NULL : "mode 2: expected a base and a decimal delta for each further lane";
	}
}

static bool within(uint64_t address, uint64_t window)
{
	return window != 0 && address - window < GT_WINDOW_BYTES;
}

/* The space of an access with a generic address, from the address of its first lane. */
static void place_generic(struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;
	uint64_t first = access->addresses ? access->addresses[0] : access->base;
	bool shared = within(first, reader->shared_window);

	if (opcode->two && (shared || first < GT_WINDOW_BYTES))
		access->op = gt_opcode_shared_store();
	else if (opcode->generic && (shared || within(first, reader->local_window)))
		access->op = gt_op(gt_op_action(access->op), shared ? GT_SHARED : GT_LOCAL,
				   gt_op_operator(access->op));
}

int gt_accelsim_report(struct gt_accelsim *reader, const struct gt_opcode *opcode)
{
	struct gt_trace_access *access = &reader->access;

	access->op = opcode->op;
	access->size = opcode->size;
	access->hint = opcode->hint;
	access->block = reader->block;
	access->warp = (uint16_t)reader->warp;
	if (opcode->generic || opcode->two)
		place_generic(reader, opcode);
	access->has_work = reader->to->wants_work;
	access->work = access->has_work ? gt_scoreboard_access(&reader->board, access->op) : 0;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

int gt_accelsim_addresses(struct gt_accelsim *reader, const char *at, const struct gt_opcode *opcode)
{
	uint32_t mask = reader->access.mask;

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s has addresses: expected a load, a store or an atomic",
				     (int)opcode->length, opcode->text);
	/* No lane was active: there was no access. */
	if (mask == 0)
		return 0;
	if (mask & ~reader->lanes)
		return gt_input_fail(reader->input, reader->error,
				     "mask %08" PRIx32 ": expected lanes of %08" PRIx32
				     ", which the block has",
				     mask, reader->lanes);
	const char *expected = gt_accelsim_scan(reader, &at);
	return expected ? gt_accelsim_fail(reader, expected) : gt_accelsim_report(reader, opcode);
}
