/* SPDX-License-Identifier: MIT */
#include "import/opcode.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "import/import.h"
#include "stream/op.h"

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
	opcode->memory = !opcode->tma && gt_sass_op(text, length, &opcode->op) == 0;
	if (!opcode->memory)
		return;
	opcode->size = gt_sass_size(text, length);
	opcode->hint = gt_sass_hint(text, length);
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
