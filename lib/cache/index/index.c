/* SPDX-License-Identifier: MIT */
/* The set of a line: sums over GF(2) and explicit functions first, then those with a name, and their table. Then the bank of a line. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/options.h"
#include "base/scan.h"
#include "cache/index/index.h"
#include "gpu/parameter.h"

/* ---- polynomials over GF(2) ---- */

static uint64_t remainder_of(uint64_t value, uint64_t divisor)
{
	int degree = 63 - __builtin_clzll(divisor);

	while (value >> degree != 0)
		value ^= divisor << (63 - __builtin_clzll(value) - degree);
	return value;
}

static bool irreducible(uint64_t polynomial, unsigned degree)
{
	for (uint64_t divisor = 2; divisor >> (degree / 2 + 1) == 0; divisor++)
		if (remainder_of(polynomial, divisor) == 0)
			return false;
	return true;
}

uint64_t gt_polynomial_irreducible(unsigned degree)
{
	uint64_t polynomial = UINT64_C(1) << degree;

	while (degree > 0 && !irreducible(polynomial, degree))
		polynomial++;
	return polynomial;
}

/* ---- sets that are sums over GF(2) of bits: a table for each byte of the line's number ---- */

/* Makes index->linear from the contribution of each bit of a line's number to the set. */
static int index_make_linear(struct gt_index *index, const uint32_t column[64], struct gt_error *error)
{
	index->linear = calloc(8, sizeof *index->linear);
	if (!index->linear)
		return gt_fail_memory(error, "an index table");
	for (unsigned bit = 0; bit < 64; bit++) {
		uint32_t *table = index->linear[bit / 8];
		unsigned weight = 1U << bit % 8;
		for (unsigned value = weight; value < 2 * weight; value++)
			table[value] = table[value - weight] ^ column[bit];
	}
	return 0;
}

/* The set by index->linear alone. */
static uint32_t index_linear(const struct gt_index *index, uint64_t line)
{
	uint32_t set = 0;

	for (unsigned i = 0; line; i++, line >>= 8)
		set ^= index->linear[i][line & 255];
	return set;
}

/* Explicit index functions: sums of products of address bits, or a table of lines. gpchase infer finds them if no named
 * function fits. */

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
	return index_make_linear(index, column, error);
}

static uint32_t set_bits(const struct gt_index *index, uint64_t line)
{
	uint32_t set = index_linear(index, line);

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

static int check_power(const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes,
		       struct gt_error *error)
{
	(void)argument, (void)line_bytes;
	if ((sets & (sets - 1)) != 0)
		return gt_fail(error, "%u sets are no power of two: index mod, smod, prime, hash, rotate or golden take any number",
			       sets);
	return 0;
}

static uint32_t modulo(const struct gt_index *index, uint64_t number)
{
	if ((index->sets & (index->sets - 1)) == 0)
		return (uint32_t)number & (index->sets - 1);
	return (uint32_t)(number % index->sets);
}

static uint32_t set_mod(const struct gt_index *index, uint64_t line)
{
	return modulo(index, line);
}

static const struct gt_index_function mod = {.name = "mod", .set_of = set_mod, .any_sets = 1};

/* [000] table 2: bits i+m+N to i+N instead of bits i+m to i. */
static uint32_t set_smod(const struct gt_index *index, uint64_t line)
{
	return modulo(index, line >> index->argument.number);
}

static const struct gt_index_function smod = {.name = "smod", .argument_max = 32, .set_of = set_smod, .any_sets = 1};

static uint32_t largest_prime(uint32_t limit)
{
	for (uint32_t candidate = limit; candidate > 1; candidate--) {
		uint32_t divisor = 2;
		while ((uint64_t)divisor * divisor <= candidate && candidate % divisor != 0)
			divisor++;
		if ((uint64_t)divisor * divisor > candidate)
			return candidate;
	}
	return 1;
}

static int prepare_prime(struct gt_index *index, struct gt_error *error)
{
	(void)error;
	index->prime = largest_prime(index->sets);
	return 0;
}

/* The sets above the prime stay empty. */
static uint32_t set_prime(const struct gt_index *index, uint64_t line)
{
	return (uint32_t)(line % index->prime);
}

static const struct gt_index_function prime = {.name = "prime", .prepare = prepare_prime, .set_of = set_prime};

/* All slices of log2(sets) bits of the line number, XORed. */
static uint32_t set_xor(const struct gt_index *index, uint64_t line)
{
	uint64_t folded = 0;

	if (index->bits == 0)
		return 0;
	for (; line; line >>= index->bits)
		folded ^= line;
	return (uint32_t)folded & (index->sets - 1);
}

static const struct gt_index_function xor = {.name = "xor", .check = check_power, .set_of = set_xor};

/* [002] 5.1, figure 6: for 32 sets, address bits 7-11 XOR bits 13, 14, 15, 17, 19; for 64 sets, bit 12 is above
 * these five. For other numbers of sets and other lines, the hash modulo the sets, as figure 12 of [002] needs it:
 * the lowest bits of the line number, of which the first five are XORed with the same address bits. */
static uint32_t set_fermi(const struct gt_index *index, uint64_t line)
{
	uint64_t address = line << index->line_shift;
	uint64_t high = (address >> 13 & 7) | (address >> 17 & 1) << 3 | (address >> 19 & 1) << 4;

	return (uint32_t)(line ^ high) & (index->sets - 1);
}

static const struct gt_index_function fermi = {.name = "fermi", .check = check_power, .set_of = set_fermi};

/* [001] figure 12: 128 successive bytes share a set; address bits 7 and 8 choose among four. */
static uint32_t set_texture(const struct gt_index *index, uint64_t line)
{
	return modulo(index, line >> (7 - index->line_shift));
}

static int check_texture(const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes,
			 struct gt_error *error)
{
	if (line_bytes > 128)
		return gt_fail(error, "index texture takes lines of up to 128 bytes");
	return check_power(argument, sets, line_bytes, error);
}

static const struct gt_index_function texture = {.name = "texture", .check = check_texture, .set_of = set_texture};

static uint64_t index_hash(uint64_t number)
{
	unsigned char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	return XXH3_64bits(bytes, sizeof bytes);
}

static uint32_t set_hash(const struct gt_index *index, uint64_t line)
{
	return modulo(index, index_hash(line));
}

static const struct gt_index_function hash = {.name = "hash", .set_of = set_hash, .any_sets = 1};

/* As the interleave of this hash: as many successive lines as there are sets, from a multiple on, have all of them. */
static uint32_t set_rotate(const struct gt_index *index, uint64_t line)
{
	if (index->sets == UINT32_C(1) << index->bits)
		return (uint32_t)(line + index_hash(line >> index->bits)) & (index->sets - 1);
	uint64_t set = line % index->sets + index_hash(line / index->sets) % index->sets;
	return (uint32_t)(set < index->sets ? set : set - index->sets); /* for less than the division that modulo takes */
}

static const struct gt_index_function rotate = {.name = "rotate", .set_of = set_rotate, .any_sets = 1};

/* The fraction of the line number times the golden ratio's inverse, times the sets: the program published with [004],
 * whose double precision is part of the function for large numbers. */
static uint32_t set_golden(const struct gt_index *index, uint64_t line)
{
	double product = (double)line * 0.61803398875;

	return (uint32_t)((product - floor(product)) * index->sets);
}

static const struct gt_index_function golden = {.name = "golden", .set_of = set_golden, .any_sets = 1};

/* B. R. Rau, Pseudo-randomly interleaved memory, ISCA 1991: the line number, as a polynomial over
 * GF(2), modulo an irreducible one of degree log2(sets). */
static int prepare_ipoly(struct gt_index *index, struct gt_error *error)
{
	uint64_t polynomial = gt_polynomial_irreducible(index->bits);
	uint64_t power = index->bits == 0 ? 0 : 1; /* x^i modulo the polynomial */
	uint32_t column[64];

	for (unsigned bit = 0; bit < 64; bit++) {
		column[bit] = (uint32_t)power;
		power = gt_polynomial_times_x(power, polynomial, index->bits);
	}
	return index_make_linear(index, column, error);
}

static const struct gt_index_function ipoly = {.name = "ipoly", .check = check_power,
	.prepare = prepare_ipoly, .set_of = index_linear};

const struct gt_index_function *const gt_index_functions[] = {&mod, &smod, &prime, &xor, &fermi, &texture, &hash,
							      &rotate, &golden, &ipoly, &gt_index_bits, &gt_index_table};
const size_t gt_index_functions_n = sizeof gt_index_functions / sizeof gt_index_functions[0];

static int parse_argument(const struct gt_index_function *row, const char *text, struct gt_index_argument *argument,
			  struct gt_error *error)
{
	uint64_t number = 0;

	memset(argument, 0, sizeof *argument);
	if (row->argument_max > 0 && gt_parse_count(text, 0, row->argument_max, &number, error) != 0)
		return -1;
	argument->number = (unsigned)number;
	if (!row->check_text)
		return 0;
	if (strlen(text) >= sizeof argument->text)
		return gt_fail(error, "%s: expected at most %zu characters", row->name, sizeof argument->text - 1);
	memcpy(argument->text, text, strlen(text));
	return row->check_text(text, error);
}

int gt_index_parse(const char *text, const struct gt_index_function **function, struct gt_index_argument *argument,
		   struct gt_error *error)
{
	size_t length = strcspn(text, ":");

	for (size_t i = 0; i < gt_index_functions_n; i++) {
		const struct gt_index_function *row = gt_index_functions[i];
		if (strlen(row->name) != length || strncmp(row->name, text, length) != 0)
			continue;
		if ((text[length] == ':') != (row->argument_max > 0 || row->check_text))
			break;
		*function = row;
		return parse_argument(row, text + length + (text[length] == ':'), argument, error);
	}
	return gt_fail(error, "'%.100s': expected %s", text, gt_parameters[GT_LEVEL_INDEX].choices);
}

int gt_index_open(struct gt_index *index, const struct gt_index_function *function,
		  const struct gt_index_argument *argument, uint32_t sets, uint64_t line_bytes, struct gt_error *error)
{
	if (function->check && function->check(argument, sets, line_bytes, error) != 0)
		return -1;
	*index = (struct gt_index){.function = function, .argument = *argument, .sets = sets};
	while (index->bits < GT_INDEX_BITS_MAX && 2U << index->bits <= sets)
		index->bits++;
	index->line_shift = (unsigned)__builtin_ctzll(line_bytes);
	return function->prepare ? function->prepare(index, error) : 0;
}

void gt_index_close(struct gt_index *index)
{
	free(index->linear);
	free(index->products);
	free(index->table);
	index->linear = NULL;
	index->products = NULL;
	index->table = NULL;
}

/* ---- the bank of a line ---- */

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

static const struct gt_interleave_scheme by_mod = {.name = "mod", .place = place_mod};

static int check_banks_power(uint32_t banks, struct gt_error *error)
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

static const struct gt_interleave_scheme by_xor = {.name = "xor", .check = check_banks_power, .place = place_xor};

static struct gt_bank_line place_hash(const struct gt_interleave *interleave, uint64_t line)
{
	struct turn turn = turn_of(interleave, line);
	uint64_t first = index_hash(turn.round) % interleave->banks;

	return in_bank(interleave, line, turn.round, (first + turn.place) % interleave->banks);
}

static const struct gt_interleave_scheme by_hash = {.name = "hash", .place = place_hash};

/* [000] figure 1 b) shows two levels without sizes: chunks are assigned round-robin to the partitions, and the lines of a
 * partition to its banks. The chunk of 256 bytes is assumed. */
static struct gt_bank_line place_two_level(const struct gt_interleave *interleave, uint64_t line)
{
	uint64_t chunk = line >> interleave->chunk_shift, partition = chunk % interleave->partitions;
	uint64_t banks = interleave->banks / interleave->partitions;
	uint64_t own = in_bank(interleave, line, chunk / interleave->partitions, 0).line;

	return (struct gt_bank_line){(uint32_t)(own % banks * interleave->partitions + partition), own / banks};
}

static const struct gt_interleave_scheme by_two_levels = {.name = "two-level", .chunk = 256, .place = place_two_level};

static const struct gt_interleave_scheme *const schemes[] = {&by_set, &by_mod, &by_xor, &by_hash, &by_two_levels};
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
