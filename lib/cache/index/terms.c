/* SPDX-License-Identifier: MIT */
/* Explicit index functions: sums of products of address bits, or a table of lines. gpchase infer finds them if no named
 * function fits. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "cache/index/index.h"

#define TERMS_MAX 512

/* "8^9&10,7": the set's bits, the lowest first; each an XOR of terms, each term an AND of address bits. */
struct terms {
	struct gt_index_product term[TERMS_MAX]; /* of address bits */
	size_t n;
	unsigned bits;	  /* of the set */
	uint64_t lowest;  /* address bit */
};

static bool read_term(const char **at, struct terms *terms)
{
	struct gt_index_product *term = &terms->term[terms->n];
	uint64_t bit;

	*term = (struct gt_index_product){0, UINT32_C(1) << terms->bits};
	do {
		if (!gt_scan_upto(at, 63, &bit))
			return false;
		term->mask |= UINT64_C(1) << bit;
		terms->lowest = bit < terms->lowest ? bit : terms->lowest;
	} while (gt_scan_char(at, '&'));
	terms->n++;
	return true;
}

static bool read_terms(const char *text, struct terms *terms)
{
	*terms = (struct terms){.lowest = 63};
	do {
		do {
			if (terms->n == TERMS_MAX || terms->bits == GT_INDEX_BITS_MAX || !read_term(&text, terms))
				return false;
		} while (gt_scan_char(&text, '^'));
		terms->bits++;
	} while (gt_scan_char(&text, ','));
	return *text == '\0';
}

static int check_bits_text(const char *text, struct gt_error *error)
{
	struct terms terms;

	if (!read_terms(text, &terms))
		return gt_fail(error, "'bits:%.80s': expected a sum for each bit of the set, the lowest first, of address bits from 0 "
			       "to 63, such as 7^13,8^14&15 (at most %d terms)", text, TERMS_MAX);
	return 0;
}

static int check_bits(const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes,
		      struct gt_error *error)
{
	struct terms terms;

	read_terms(argument->text, &terms);
	if (sets != UINT32_C(1) << terms.bits)
		return gt_fail(error, "index bits with %u sums is for %" PRIu32 " sets, not for %" PRIu32, terms.bits,
			       UINT32_C(1) << terms.bits, sets);
	if (line_bytes >> terms.lowest > 1)
		return gt_fail(error, "address bit %" PRIu64 " is within a line of %" PRIu64 " bytes: it chooses no set",
			       terms.lowest, line_bytes);
	return 0;
}

static int prepare_bits(struct gt_index *index, struct gt_error *error)
{
	uint32_t column[64] = {0};
	struct terms terms;

	read_terms(index->argument.text, &terms);
	index->products = calloc(terms.n, sizeof *index->products);
	if (!index->products)
		return gt_fail_memory(error, "an index function");
	for (size_t i = 0; i < terms.n; i++) {
		uint64_t mask = terms.term[i].mask >> index->line_shift;
		if ((mask & (mask - 1)) == 0)
			column[__builtin_ctzll(mask)] ^= terms.term[i].flips;
		else
			index->products[index->products_n++] = (struct gt_index_product){mask, terms.term[i].flips};
	}
	return gt_index_make_linear(index, column, error);
}

static uint32_t set_bits(const struct gt_index *index, uint64_t line)
{
	uint32_t set = gt_index_linear(index, line);

	for (size_t i = 0; i < index->products_n; i++)
		if ((line & index->products[i].mask) == index->products[i].mask)
			set ^= index->products[i].flips;
	return set;
}

const struct gt_index_function gt_index_bits = {.name = "bits", .check_text = check_bits_text,
	.check = check_bits, .prepare = prepare_bits, .set_of = set_bits};

/* ---- table: hexadecimal digits, as many for each line as the highest set needs ---- */

static size_t digits_of(uint32_t sets)
{
	size_t digits = 1;

	while (sets > UINT32_C(1) << 4 * digits)
		digits++;
	return digits;
}

static uint32_t read_set(const char *text, size_t digits)
{
	uint32_t set = 0;

	for (size_t i = 0; i < digits; i++)
		set = set << 4 | (uint32_t)(gt_hex_digit[(unsigned char)text[i]] - 1);
	return set;
}

static int check_table_text(const char *text, struct gt_error *error)
{
	size_t length = strspn(text, "0123456789abcdefABCDEF");

	if (length == 0 || text[length] != '\0')
		return gt_fail(error, "'table:%.80s': expected the set of each line in hexadecimal digits", text);
	return 0;
}

static int check_table(const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes,
		       struct gt_error *error)
{
	size_t digits = digits_of(sets);

	(void)line_bytes;
	if (strlen(argument->text) % digits != 0)
		return gt_fail(error, "index table: expected %zu digits for each line, as there are %" PRIu32 " sets", digits, sets);
	for (const char *at = argument->text; *at; at += digits)
		if (read_set(at, digits) >= sets)
			return gt_fail(error, "index table: set %" PRIu32 ", expected one below %" PRIu32, read_set(at, digits), sets);
	return 0;
}

static int prepare_table(struct gt_index *index, struct gt_error *error)
{
	size_t digits = digits_of(index->sets);

	index->lines = strlen(index->argument.text) / digits;
	index->table = calloc(index->lines, sizeof *index->table);
	if (!index->table)
		return gt_fail_memory(error, "an index table");
	for (size_t i = 0; i < index->lines; i++)
		index->table[i] = read_set(index->argument.text + i * digits, digits);
	return 0;
}

static uint32_t set_table(const struct gt_index *index, uint64_t line)
{
	return index->table[line % index->lines];
}

const struct gt_index_function gt_index_table = {.name = "table", .check_text = check_table_text,
	.check = check_table, .prepare = prepare_table, .set_of = set_table};
