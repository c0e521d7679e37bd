/* SPDX-License-Identifier: MIT */
#include "import/pptblock.h"

#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "stream/rows.h"

#define FIELD_MAX 1023 /* the largest value of an optional field */
#define RECORD "expected 'OPCODE [WARP] [PREDOFF ACTIVE PRED] ADDRESS...'"

static int fail(const struct gt_pptblock *reader, const char *expected)
{
	return gt_input_fail(reader->input, reader->error, "%s", expected);
}

/* The number of small numbers before the first address of a record; -1 if there is no address. */
static int count_fields(const char *at)
{
	const char *word;
	size_t length;
	uint64_t number;
	int fields = 0;

	if (!gt_scan_word(&at, &word, &length))
		return -1;
	while (gt_scan_gap(&at) && *at != '\0') {
		if ((at[0] == '0' && at[1] == 'x') || !gt_scan_hex(&at, &number) || number > FIELD_MAX)
			return fields;
		fields++;
	}
	return -1;
}

/* Finds which fields the file has. Addresses in shared memory may be small too, but they follow the fields, so the
 * smallest count is right. */
static int find_fields(struct gt_pptblock *reader)
{
	char line[256 + GT_SCAN_SLACK] = "";
	const char *head;
	size_t bytes;
	int least = -1;

	if (gt_input_peek(reader->input, &head, &bytes, reader->error) != 0)
		return -1;
	while (gt_head_line(&head, &bytes, line, 256)) {
		int fields = count_fields(line);

		if (fields >= 0 && (least < 0 || fields < least))
			least = fields;
	}
	reader->fields = least < 0 ? 0 : (unsigned)least;
	if (reader->fields == 2 || reader->fields > 4)
		return gt_fail(reader->error,
			       "%s: %u numbers below 1024 before the addresses: expected none, a warp, "
			       "'predoff active pred', or all four",
			       gt_input_name(reader->input), reader->fields);
	return 0;
}

/* Reads the optional fields, of which only the warp is used. */
static int scan_fields(const struct gt_pptblock *reader, const char **at, uint64_t *warp)
{
	bool (*const scan)(const char **, uint64_t *) = reader->hex ? gt_scan_hex : gt_scan_decimal;
	uint64_t number;

	*warp = 0;
	for (unsigned i = 0; i < reader->fields; i++) {
		if (!gt_scan_gap(at) || !scan(at, &number) || number > FIELD_MAX)
			return gt_input_fail(
				reader->input, reader->error,
				"expected %u %s numbers below 1024 before the addresses, as in the "
				"file's first records",
				reader->fields, reader->hex ? "hexadecimal" : "decimal");
		if (i == 0 && reader->fields != 3)
			*warp = number;
	}
	return 0;
}

/* Reads all addresses that are not 0; returns their number, or -1. */
static int scan_addresses(const struct gt_pptblock *reader, const char *at, unsigned max, uint64_t *addresses)
{
	struct gt_scan_first first = {.value = 0};
	unsigned n = 0;

	for (;;) {
		while (first.value > FIELD_MAX && n < max && gt_scan_near(&at, &first, &addresses[n]))
			n++;
		if (gt_scan_end(&at))
			return (int)n;
		bool marked = at[0] == '0' && at[1] == 'x';
		const char *text = at;

		if (n == max)
			return gt_input_fail(reader->input, reader->error,
					     "more than %u addresses: expected one for each lane", max);
		if (!gt_scan_hex(&at, &addresses[n]) || (*at != ' ' && *at != '\t' && *at != '\0'))
			return fail(reader, "expected hexadecimal addresses of at most 64 bits");
		if (!marked && max == GT_WARP_SIZE && addresses[n] > 0 && addresses[n] <= FIELD_MAX)
			return fail(
				reader,
				"an address below 1024: expected as many fields as in the file's first records");
		gt_scan_note_first(text, &first);
		n += addresses[n] != 0;
	}
}

static int emit(struct gt_pptblock *reader, struct gt_trace_access *access, const uint64_t *addresses, unsigned n)
{
	if (n > GT_WARP_SIZE)
		return fail(reader, "more than 32 addresses in one of the two lists of an LDGSTS");
	access->mask = n == GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << n) - 1;
	access->addresses = addresses;
	return gt_import_access(reader->input, reader->to, access, reader->error);
}

/* LDGSTS: one list holds the addresses in global and in shared memory. Those in shared memory are small; if none
 * is, the first half is taken as global. The load is reported first. */
static int emit_two(struct gt_pptblock *reader, struct gt_trace_access *access, const uint64_t *addresses,
		    unsigned n)
{
	bool shared_first = addresses[0] < GT_WINDOW_BYTES;
	unsigned split = 0, changes = 0;

	for (unsigned i = 1; i < n; i++)
		if ((addresses[i] < GT_WINDOW_BYTES) != (addresses[i - 1] < GT_WINDOW_BYTES)) {
			split = i;
			changes++;
		}
	if (changes == 0 && !shared_first && n % 2 == 0) {
		split = n / 2;
		changes = 1;
	}
	if (changes != 1)
		return fail(
			reader,
			"LDGSTS: expected the addresses in global memory and as many in shared memory");
	const uint64_t *global = shared_first ? addresses + split : addresses;
	const uint64_t *shared = shared_first ? addresses : addresses + split;

	if (emit(reader, access, global, shared_first ? n - split : split) != 0)
		return -1;
	access->op = gt_opcode_shared_store();
	return emit(reader, access, shared, shared_first ? split : n - split);
}

static int read_record(struct gt_pptblock *reader, const char *at)
{
	struct gt_trace_access access = {.numbering = GT_AN_OF_WARP, .block = reader->block};
	uint64_t addresses[2 * GT_WARP_SIZE + 1], slot;
	const char *text;
	size_t length;

	if (!gt_scan_word(&at, &text, &length))
		return fail(reader, RECORD);
	const struct gt_opcode *opcode = gt_opcode_find(&reader->opcodes, text, length);

	if (!opcode->memory)
		return gt_input_fail(reader->input, reader->error,
				     "%.*s: expected the opcode of a load, a store or an atomic",
				     (int)(length < 80 ? length : 80), text);
	if (scan_fields(reader, &at, &slot) != 0)
		return -1;
	int n = scan_addresses(reader, at, opcode->two ? 2 * GT_WARP_SIZE : GT_WARP_SIZE, addresses);

	if (n < 0)
		return -1;
	if (n == 0)
		return reader->to->passed_over(reader->to->context, "accesses without an active lane", 1,
					       reader->error);
	reader->hex = true;
	access.op = opcode->op;
	access.size = opcode->size;
	access.hint = opcode->hint;
	access.warp = (uint16_t)slot;
	bool not_last = reader->warps > 1 && (opcode->two ? n / 2 : n) > (int)reader->last_lanes;

	if (reader->warps > 0 && gt_slots_warp(&reader->slots, reader->block, (uint16_t)slot, reader->warps,
					       not_last, &access.warp, reader->error) != 0)
		return gt_import_place(reader->input, reader->error);
	return opcode->two ? emit_two(reader, &access, addresses, (unsigned)n) :
			     emit(reader, &access, addresses, (unsigned)n);
}

int gt_pptblock_read(struct gt_pptblock *reader, struct gt_input *input)
{
	char *line;
	size_t length;
	int got;

	reader->input = input;
	reader->hex = false;
	gt_slots_clear(&reader->slots);
	if (find_fields(reader) != 0)
		return -1;
	while ((got = gt_input_line(input, &line, &length, reader->error)) > 0) {
		const char *at = line;

		if (gt_scan_end(&at) || gt_pptblock_separates(at))
			continue;
		if (read_record(reader, at) != 0)
			return -1;
	}
	return got;
}

struct gt_pptblock *gt_pptblock_open(const struct gt_trace *to, struct gt_error *error)
{
	struct gt_pptblock *reader = calloc(1, sizeof *reader);

	if (!reader) {
		gt_fail_memory(error, "a trace's reader");
		return NULL;
	}
	reader->to = to;
	reader->error = error;
	if (gt_slots_open(&reader->slots, error) == 0)
		return reader;
	free(reader);
	return NULL;
}

void gt_pptblock_close(struct gt_pptblock *reader)
{
	if (!reader)
		return;
	gt_slots_close(&reader->slots);
	free(reader);
}
