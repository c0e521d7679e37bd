/* SPDX-License-Identifier: MIT */
#include "import/opcode.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "stream/hint.h"
#include "stream/op.h"

/* SASS opcodes that access memory, by the word before the first dot. */
struct sass_opcode {
	const char *word;
	uint8_t action, space;
	uint8_t size; /* bytes per lane whatever the suffixes; 0: from the suffixes */
};

static const struct sass_opcode sass_opcodes[] = {
	{"LDG", GT_LOAD, GT_GLOBAL, 0},	      {"STG", GT_STORE, GT_GLOBAL, 0},
	{"LDS", GT_LOAD, GT_SHARED, 0},	      {"STS", GT_STORE, GT_SHARED, 0},
	{"LDL", GT_LOAD, GT_LOCAL, 0},	      {"STL", GT_STORE, GT_LOCAL, 0},
	/* Generic addresses, and the asynchronous copy into shared memory, which reads through L1. */
	{"LD", GT_LOAD, GT_GLOBAL, 0},	      {"ST", GT_STORE, GT_GLOBAL, 0},
	{"LDU", GT_LOAD, GT_GLOBAL, 0},	      {"LDGSTS", GT_LOAD, GT_GLOBAL, 0},
	/* A lane's address is of a row of an 8x8 matrix of 16-bit elements. */
	{"LDSM", GT_LOAD, GT_SHARED, 16},     {"STSM", GT_STORE, GT_SHARED, 16},
	{"LDC", GT_LOAD, GT_CONSTANT, 0},     {"ULDC", GT_LOAD, GT_CONSTANT, 0},
	{"LDCU", GT_LOAD, GT_CONSTANT, 0},
	{"ATOM", GT_ATOMIC, GT_GLOBAL, 0},    {"ATOMG", GT_ATOMIC, GT_GLOBAL, 0},
	{"ATOMS", GT_ATOMIC, GT_SHARED, 0},   {"RED", GT_REDUCTION, GT_GLOBAL, 0},
	{"REDG", GT_REDUCTION, GT_GLOBAL, 0}, {"REDS", GT_REDUCTION, GT_SHARED, 0},
	{"TEX", GT_LOAD, GT_TEXTURE, 0},      {"TEXS", GT_LOAD, GT_TEXTURE, 0},
	{"TLD", GT_LOAD, GT_TEXTURE, 0},      {"TLDS", GT_LOAD, GT_TEXTURE, 0},
	{"TLD4", GT_LOAD, GT_TEXTURE, 0},     {"TLD4S", GT_LOAD, GT_TEXTURE, 0},
	{"TXD", GT_LOAD, GT_TEXTURE, 0},      {"SULD", GT_LOAD, GT_TEXTURE, 0},
	{"SUST", GT_STORE, GT_TEXTURE, 0},    {"SUATOM", GT_ATOMIC, GT_TEXTURE, 0},
	{"SURED", GT_REDUCTION, GT_TEXTURE, 0},
	/* If it prefetches, discards or resets a priority. */
	{"CCTL", GT_LOAD, GT_GLOBAL, 1},
};

struct sass_suffix {
	const char *word;
	uint8_t value;
};

static const struct sass_suffix sass_sizes[] = {
	{"U8", 1},  {"S8", 1},	{"U16", 2}, {"S16", 2}, {"64", 8},
	{"U64", 8}, {"S64", 8}, {"F64", 8}, {"128", 16}, {"256", 32},
};

static const struct sass_suffix sass_operators[] = {
	{"CA", GT_CA}, {"CG", GT_CG}, {"CS", GT_CS}, {"CV", GT_CV}, {"CI", GT_NC}, {"CONSTANT", GT_NC},
	{"LU", GT_LU}, {"BYPASS", GT_CG},
};

/* The hints of suffixes. The policies of .L2::cache_hint are in a register or a descriptor, which traces do not
 * record. */
static const struct {
	const char *word;
	uint16_t bits;
} sass_hints[] = {
	{"EF", GT_EVICT_FIRST},		{"EL", GT_EVICT_LAST},	       {"EU", GT_EVICT_UNCHANGED},
	{"NA", GT_NO_ALLOCATE},		{"LTC64B", GT_FETCH_64 << 6},  {"LTC128B", GT_FETCH_128 << 6},
	{"LTC256B", GT_FETCH_256 << 6},
}, sass_line_actions[] = { /* of CCTL */
	{"PF1", GT_PREFETCH_L1 << 8},	{"PF2", GT_PREFETCH_L2 << 8},
	{"DML2", GT_DISCARD_L2 << 8},	{"RML2", GT_APPLY_PRIORITY_L2 << 8 | GT_EVICT_NORMAL << 3},
};

/* The part of an opcode from `at` to the next dot; moves `at` past the dot. */
static bool next_part(const char *opcode, size_t length, size_t *at, const char **part, size_t *bytes)
{
	if (*at >= length)
		return false;
	*part = opcode + *at;
	const char *point = memchr(*part, '.', length - *at);
	*bytes = point ? (size_t)(point - *part) : length - *at;
	*at += *bytes + 1;
	return true;
}

static bool is_word(const char *part, size_t bytes, const char *word)
{
	return strncmp(part, word, bytes) == 0 && word[bytes] == '\0';
}

static const struct sass_opcode *find_opcode(const char *opcode, size_t length)
{
	const char *word;
	size_t at = 0, bytes;

	if (!next_part(opcode, length, &at, &word, &bytes))
		return NULL;
	for (size_t i = 0; i < sizeof sass_opcodes / sizeof *sass_opcodes; i++)
		if (is_word(word, bytes, sass_opcodes[i].word))
			return &sass_opcodes[i];
	return NULL;
}

/* True if the suffix `first` is followed by `second`. */
static bool has_pair(const char *opcode, size_t length, const char *first, const char *second)
{
	const char *part;
	size_t at = 0, bytes;
	bool before = false;

	while (next_part(opcode, length, &at, &part, &bytes)) {
		if (before && is_word(part, bytes, second))
			return true;
		before = is_word(part, bytes, first);
	}
	return false;
}

/* The value of the opcode's first suffix that is in the table, else `otherwise`. */
static uint8_t find_suffix(const char *opcode, size_t length, const struct sass_suffix *table, size_t n,
			   uint8_t otherwise)
{
	const char *part;
	size_t at = 0, bytes;

	next_part(opcode, length, &at, &part, &bytes);
	while (next_part(opcode, length, &at, &part, &bytes))
		for (size_t i = 0; i < n; i++)
			if (is_word(part, bytes, table[i].word))
				return table[i].value;
	return otherwise;
}

/* Bytes per lane: the width suffix, else 4. */
static uint8_t find_size(const char *opcode, size_t length)
{
	const struct sass_opcode *known = find_opcode(opcode, length);

	if (known && known->size != 0)
		return known->size;
	return find_suffix(opcode, length, sass_sizes, sizeof sass_sizes / sizeof *sass_sizes, 4);
}

/* From the suffixes EF, EL, EU, NA, LTC64B and so on, and of CCTL.PF1, PF2, DML2 and RML2. */
static uint16_t find_hint(const char *opcode, size_t length)
{
	const struct sass_opcode *known = find_opcode(opcode, length);
	const char *part;
	size_t at = 0, bytes;
	uint16_t hint = 0;

	if (!known || known->space == GT_SHARED || known->space == GT_CONSTANT)
		return 0;
	next_part(opcode, length, &at, &part, &bytes);
	bool cctl = is_word(part, bytes, "CCTL");
	while (next_part(opcode, length, &at, &part, &bytes)) {
		for (size_t i = 0; !cctl && i < sizeof sass_hints / sizeof *sass_hints; i++)
			hint |= is_word(part, bytes, sass_hints[i].word) ? sass_hints[i].bits : 0;
		for (size_t i = 0; cctl && i < sizeof sass_line_actions / sizeof *sass_line_actions; i++)
			hint |= is_word(part, bytes, sass_line_actions[i].word) ? sass_line_actions[i].bits : 0;
	}
	return hint;
}

/* Returns 0, or -1 if it is not a memory instruction. */
static int find_op(const char *opcode, size_t length, uint8_t *op)
{
	const struct sass_opcode *known = find_opcode(opcode, length);

	if (!known || (strcmp(known->word, "CCTL") == 0 && find_hint(opcode, length) == 0))
		return -1;
	uint8_t operation = find_suffix(opcode, length, sass_operators,
					sizeof sass_operators / sizeof *sass_operators, GT_OPERATOR_NONE);
	/* A load with a scope wider than a block is not served by L1. */
	if (operation == GT_OPERATOR_NONE && known->action == GT_LOAD && known->space == GT_GLOBAL &&
	    (has_pair(opcode, length, "STRONG", "GPU") || has_pair(opcode, length, "STRONG", "SYS")))
		operation = GT_CG;
	/* Constant memory has no operators, and a read-modify-write bypasses the L1 anyway. */
	if (known->action >= GT_ATOMIC || known->space == GT_CONSTANT)
		operation = GT_OPERATOR_NONE;
	*op = gt_op((enum gt_action)known->action, (enum gt_space)known->space,
		    (enum gt_operator)operation);
	return 0;
}

int gt_sass_access(const char *opcode, size_t length, uint8_t *op, uint8_t *size, uint16_t *hint)
{
	if (find_op(opcode, length, op) != 0)
		return -1;
	*size = find_size(opcode, length);
	*hint = find_hint(opcode, length);
	return 0;
}

/* True if the opcode's first word, up to a dot, is `word`. */
static bool first_word_is(const char *text, size_t length, const char *word)
{
	size_t n = strlen(word);

	return length >= n && memcmp(text, word, n) == 0 && (length == n || text[n] == '.');
}

static bool begins_with(const char *text, size_t length, const char *word)
{
	size_t n = strlen(word);

	return length >= n && memcmp(text, word, n) == 0;
}

static void take_apart(struct gt_opcode *opcode, const char *text, size_t length)
{
	memset(opcode, 0, sizeof *opcode);
	memcpy(opcode->text, text, length);
	opcode->length = length;
	opcode->tma = begins_with(text, length, "UTMA") || begins_with(text, length, "UBLK");
	opcode->two = first_word_is(text, length, "LDGSTS");
	opcode->generic = first_word_is(text, length, "LD") || first_word_is(text, length, "ST") ||
			  first_word_is(text, length, "ATOM");
	opcode->barrier = begins_with(text, length, "BAR.SYNC") || begins_with(text, length, "BAR.RED");
	opcode->memory = !opcode->tma && gt_sass_access(text, length, &opcode->op, &opcode->size, &opcode->hint) == 0;
}

const struct gt_opcode *gt_opcode_find(struct gt_opcodes *opcodes, const char *text, size_t length)
{
	static const struct gt_opcode unknown;

	if (length == 0 || length > GT_OPCODE_TEXT)
		return &unknown;
	struct gt_opcode *opcode = &opcodes->seen[XXH3_64bits(text, length) % GT_OPCODES_SEEN];
	if (opcode->length != length || memcmp(opcode->text, text, length) != 0)
		take_apart(opcode, text, length);
	return opcode;
}

uint8_t gt_opcode_shared_store(void)
{
	return gt_op(GT_STORE, GT_SHARED, GT_OPERATOR_NONE);
}
