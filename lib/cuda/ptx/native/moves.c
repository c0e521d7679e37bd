/* SPDX-License-Identifier: MIT */
/* What a load or store of a stretch does once it is known where its lanes are: elements between memory and registers. Of warps of which some lanes
 * are active, how the addresses of these lie is found by a routine, which all stretches of a function call. */
#include <stddef.h>
#include <string.h>

#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/native/encode.h"
#include "cuda/ptx/native/stretch.h"

/* ---- lanes side by side, or at one place, which is rdi ---- */

/* A register, or the share of one that lanes fill; all lanes. */
static void load_part(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset)
{
	if (share > 1)
		segment->isa->load_share(segment, share, at, base, offset);
	else
		segment->isa->load(segment, at, base, offset);
}

static void store_part(struct gt_native_segment *segment, unsigned share, unsigned at, unsigned base, uint32_t offset)
{
	if (share > 1)
		segment->isa->store_share(segment, share, at, base, offset, 0);
	else
		segment->isa->memory(segment, gt_native_store, at, 0, base, offset);
}

static unsigned share_of(const struct gt_stretch_move *move)
{
	return move->access->size < 4 ? 4U / move->access->size : 1;
}

static void load_lanes(const struct gt_stretch_move *move, unsigned i)
{
	struct gt_native_segment *segment = &move->stretch->segment;

	load_part(segment, share_of(move), move->data[0][i].at, GT_RDI, segment->isa->bytes / share_of(move) * i);
}

/* The register that has element k of what is stored; `free` if memory has it. */
static unsigned data_in_register(const struct gt_stretch_move *move, unsigned k, unsigned i, unsigned free)
{
	const struct gt_native_operand *from = &move->data[k][i];
	struct gt_native_segment *segment = &move->stretch->segment;

	if (from->in_register)
		return from->at;
	load_part(segment, share_of(move), free, from->place.base, from->place.offset);
	return free;
}

static void store_lanes(const struct gt_stretch_move *move, unsigned i)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const unsigned x = data_in_register(move, 0, i, isa->first);

	store_part(segment, share_of(move), x, GT_RDI, isa->bytes / share_of(move) * i);
}

static void load_one(const struct gt_stretch_move *move)
{
	static const struct gt_native_op half = {GT_0F38, GT_66, 0, GT_VPBROADCASTW}, quarter = {GT_0F38, GT_66, 0, GT_VPBROADCASTB};
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const struct gt_native_op broadcast = share_of(move) == 4 ? quarter : share_of(move) == 2 ? half : isa->broadcast[move->access->size == 8];

	for (unsigned k = 0; k < move->access->n; k++) {
		const unsigned from = move->data[k][0].in_register ? move->data[k][0].at : isa->first;
		isa->memory(segment, broadcast, from, 0, GT_RDI, k * move->access->size);
		for (unsigned i = 0; i < move->n_data; i++) {
			const struct gt_native_operand *to = &move->data[k][i];
			if (!to->in_register)
				store_part(segment, share_of(move), from, to->place.base, to->place.offset);
			else if (i > 0)
				isa->vector(segment, gt_native_move, to->at, 0, from);
		}
	}
}

/* ---- vectors: the elements of a lane lie one behind the other ---- */

/* They are moved in words of 32 bits, or of 64 if they have as many. Memory is 16 bytes at a time, blocks, of which a register holds those that begin
 * with the same lane's words, or its lanes in turn: pairs of such registers are put together until each has one word of all its lanes. */

static const struct gt_native_op low_words = {GT_0F, GT_66, 0, GT_VPUNPCKLDQ}, high_words = {GT_0F, GT_66, 0, GT_VPUNPCKHDQ},
				 low_longs = {GT_0F, GT_66, 1, GT_VPUNPCKLQDQ}, high_longs = {GT_0F, GT_66, 1, GT_VPUNPCKHQDQ};

#define BLOCK 16

/* The block in which the lanes of register i begin. */
static unsigned block_of(const struct gt_stretch_move *move, unsigned i)
{
	return i * GT_WARP_SIZE / move->n_data * move->bytes / BLOCK;
}

/* d = blocks, each so many behind the one before. */
static void load_blocks(const struct gt_stretch_move *move, unsigned d, unsigned from, unsigned apart)
{
	static const struct gt_native_op first = {GT_0F38, GT_66, 0, GT_VBROADCASTI128}, other = {GT_0F3A, GT_66, 0, GT_VINSERTI128};
	struct gt_native_segment *segment = &move->stretch->segment;

	for (unsigned i = 0; i < segment->isa->bytes / BLOCK; i++) {
		segment->isa->memory(segment, i > 0 ? other : first, d, i > 0 ? d : 0, GT_RDI, BLOCK * (from + i * apart));
		if (i > 0)
			gt_native_byte(move->code, i);
	}
}

static void store_blocks(const struct gt_stretch_move *move, unsigned x, unsigned from, unsigned apart)
{
	static const struct gt_native_op extract = {GT_0F3A, GT_66, 0, GT_VEXTRACTI128};
	struct gt_native_segment *segment = &move->stretch->segment;

	for (unsigned i = 0; i < segment->isa->bytes / BLOCK; i++) {
		segment->isa->memory(segment, extract, x, 0, GT_RDI, BLOCK * (from + i * apart));
		gt_native_byte(move->code, i);
	}
}

static void put_together(const struct gt_stretch_move *move, struct gt_native_op op, unsigned d, unsigned x, unsigned y)
{
	move->stretch->segment.isa->vector(&move->stretch->segment, op, d, x, y);
}

static bool has_four_words(const struct gt_stretch_move *move)
{
	return move->bytes == 16 && move->access->size < 8;
}

/* The first and the second register are what word_of_pair takes words 2 pair and 2 pair + 1 from. */
static void load_pair(const struct gt_stretch_move *move, unsigned i, unsigned pair)
{
	const struct gt_native_isa *isa = move->stretch->segment.isa;
	const struct gt_native_op op = pair ? high_words : low_words;
	const unsigned from = block_of(move, i), apart = has_four_words(move) ? 4 : 2;

	load_blocks(move, isa->first, from, apart);
	load_blocks(move, isa->second, from + 1, apart);
	if (!has_four_words(move))
		return;
	put_together(move, op, isa->first, isa->first, isa->second);
	load_blocks(move, isa->second, from + 2, apart);
	load_blocks(move, isa->third, from + 3, apart);
	put_together(move, op, isa->second, isa->second, isa->third);
}

static void word_of_pair(const struct gt_stretch_move *move, unsigned d, unsigned half)
{
	static const struct gt_native_op shuffle = {GT_0F, GT_NP, 0, GT_VSHUFPS};
	const struct gt_native_isa *isa = move->stretch->segment.isa;

	if (move->bytes == 16) {
		put_together(move, half ? high_longs : low_longs, d, isa->first, isa->second);
		return;
	}
	put_together(move, shuffle, d, isa->first, isa->second);
	gt_native_byte(move->code, half ? 0xdd : 0x88); /* the odd words of both, or the even ones */
}

/* The register for an element that is loaded, which keep_element stores if memory has it. */
static unsigned element(const struct gt_stretch_move *move, unsigned k, unsigned i)
{
	return move->data[k][i].in_register ? move->data[k][i].at : move->stretch->segment.isa->third;
}

static void keep_element(const struct gt_stretch_move *move, unsigned k, unsigned i)
{
	const struct gt_native_operand *to = &move->data[k][i];
	struct gt_native_segment *segment = &move->stretch->segment;

	if (!to->in_register)
		store_part(segment, share_of(move), segment->isa->third, to->place.base, to->place.offset);
}

/* How many elements a word has. */
static unsigned elements_of_word(const struct gt_stretch_move *move)
{
	return (move->bytes < 4 ? move->bytes : 4) / move->access->size;
}

/* The elements of a word, which is in the fourth register, from number k on. */
static void cut_word(const struct gt_stretch_move *move, unsigned k, unsigned i)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const unsigned word = segment->isa->fourth;

	for (unsigned e = 0; e < elements_of_word(move); e++) {
		if (e > 0)
			gt_native_shift_by(segment, false, GT_NATIVE_RIGHT, word, word, 8U * move->access->size);
		segment->isa->cut(segment, move->access->size == 2 ? GT_VPMOVDW : GT_VPMOVDB, element(move, k + e, i), word);
		keep_element(move, k + e, i);
	}
}

/* d = the only word of lanes of 2 or 4 bytes. */
static void load_word(const struct gt_stretch_move *move, unsigned d, unsigned i)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;

	if (move->bytes == 2)
		isa->memory(segment, (struct gt_native_op){GT_0F38, GT_66, 0, GT_VPMOVZXWD}, d, 0, GT_RDI, isa->bytes / 2 * i);
	else
		isa->load(segment, d, GT_RDI, isa->bytes * i);
}

static void load_vector(const struct gt_stretch_move *move, unsigned i)
{
	const unsigned n_words = move->bytes <= 4 ? 1 : has_four_words(move) ? 4 : 2;

	for (unsigned w = 0; w < n_words; w++) {
		const bool whole = move->access->size >= 4;
		const unsigned d = whole ? element(move, w, i) : move->stretch->segment.isa->fourth;
		if (n_words == 1) {
			load_word(move, d, i);
		} else {
			if (w % 2 == 0)
				load_pair(move, i, w / 2);
			word_of_pair(move, d, w % 2);
		}
		if (whole)
			keep_element(move, w, i);
		else
			cut_word(move, elements_of_word(move) * w, i);
	}
}

/* A register that has word w of what is stored: `free` unless it is one of the values. The fourth may change. */
static unsigned word_to_store(const struct gt_stretch_move *move, unsigned w, unsigned i, unsigned free)
{
	const struct gt_native_op extend = {GT_0F38, GT_66, 0, move->access->size == 2 ? GT_VPMOVZXWD : GT_VPMOVZXBD};
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const unsigned n = elements_of_word(move), k = n * w;

	if (move->access->size >= 4)
		return data_in_register(move, w, i, free);
	isa->vector(segment, extend, free, 0, data_in_register(move, k, i, free));
	for (unsigned e = 1; e < n; e++) {
		isa->vector(segment, extend, isa->fourth, 0, data_in_register(move, k + e, i, isa->fourth));
		gt_native_shift_by(segment, false, GT_NATIVE_LEFT, isa->fourth, isa->fourth, 8 * e * move->access->size);
		isa->vector(segment, gt_native_or, free, free, isa->fourth);
	}
	return free;
}

/* d = two words of each lane, of which a register has room for half: `high` is the upper lanes of each four, or the second of two. */
static void store_pair(const struct gt_stretch_move *move, unsigned d, unsigned w, unsigned i, bool high, unsigned free)
{
	const unsigned x = word_to_store(move, w, i, d), y = word_to_store(move, w + 1, i, free);

	if (move->access->size == 8)
		put_together(move, high ? high_longs : low_longs, d, x, y);
	else
		put_together(move, high ? high_words : low_words, d, x, y);
}

static void store_vector(const struct gt_stretch_move *move, unsigned i)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_isa *isa = segment->isa;
	const unsigned from = block_of(move, i);

	if (move->bytes <= 4) {
		const unsigned word = word_to_store(move, 0, i, isa->first), share = 4 / move->bytes;
		if (share > 1)
			isa->cut(segment, GT_VPMOVDW, word, word);
		store_part(segment, share, word, GT_RDI, isa->bytes / share * i);
		return;
	}
	for (unsigned high = 0; high < 2; high++) {
		store_pair(move, isa->first, 0, i, high, isa->second);
		if (!has_four_words(move)) {
			store_blocks(move, isa->first, from + high, 2);
			continue;
		}
		store_pair(move, isa->second, 2, i, high, isa->third);
		for (unsigned k = 0; k < 2; k++) {
			put_together(move, k ? high_longs : low_longs, isa->third, isa->first, isa->second);
			store_blocks(move, isa->third, from + 2 * high + k, 4);
		}
	}
}

void gt_stretch_move_elements(const struct gt_stretch_move *move, enum gt_stretch_side what)
{
	if (what == GT_STRETCH_LOAD_ONE) {
		load_one(move);
		return;
	}
	for (unsigned i = 0; i < move->n_data; i++)
		if (move->access->n > 1)
			(what == GT_STRETCH_STORE ? store_vector : load_vector)(move, i);
		else
			(what == GT_STRETCH_STORE ? store_lanes : load_lanes)(move, i);
}

/* ---- how the addresses of active lanes lie: a routine that finds it, and adds the row of an access that is traced, for elements of 4 and of 8
 * bytes ---- */

/* The routine while it is written: r11 is the address of the lowest active lane, ecx the mask, and r10 the kind. */
struct finder {
	const struct gt_native_isa *isa;
	struct gt_native_code *code;
	unsigned bytes; /* of a lane: 4 or 8 */
	size_t slow[8];
	unsigned n_slow;
};

static void leave_if(struct finder *finder, enum gt_jump when)
{
	finder->slow[finder->n_slow++] = gt_general_jump(finder->code, when);
}

/* eax is the mask of both halves, or of one: bsf eax, eax; mov r, [r13 + 8 rax + the half's addresses] */
static void find_lowest(struct gt_native_code *code, unsigned half, unsigned r)
{
	gt_native_text(code, "\x0f\xbc\xc0");
	gt_native_byte(code, 0x49 | (r & 8) >> 1);
	gt_native_byte(code, GT_MOVE);
	gt_native_byte(code, 0x84 | (r & 7) << 3);
	gt_native_byte(code, 0xc5);
	gt_native_word(code, (uint32_t)(offsetof(struct gt_ptx_core, addresses) + 8 * GT_WARP_SIZE / 2 * half));
}

/* Jumps on if lanes are not at one place. */
static size_t find_one(struct finder *finder)
{
	struct gt_native_code *code = finder->code;

	gt_general_at(code, false, GT_MOVE, GT_RCX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
	gt_general(code, false, GT_MOVE, GT_RAX, GT_RCX);
	find_lowest(code, 0, GT_R11);
	const size_t several = finder->isa->jump_if_apart(code, GT_NATIVE_ONE_PLACE, finder->bytes, GT_R11);
	gt_general(code, true, GT_MOVE, GT_RAX, GT_R11);
	gt_general(code, true, GT_SUB, GT_RAX, GT_R8);
	gt_general(code, true, GT_COMPARE, GT_RAX, GT_R9);
	leave_if(finder, GT_ABOVE);
	gt_native_text(code, "\x41\xf6\xc3"); /* test r11b, bytes - 1 */
	gt_native_byte(code, finder->bytes - 1);
	leave_if(finder, GT_NOT_EQUAL);
	gt_general(code, true, GT_MOVE, GT_RSI, GT_RDI);
	gt_general(code, true, GT_ADD, GT_RDI, GT_R11);
	gt_general(code, true, GT_MOVE, GT_RAX, GT_R11);
	gt_general_constant(code, GT_RCX, 0);
	gt_general_constant(code, GT_R10, GT_STRETCH_ONE);
	return several;
}

/* Whether the active lanes of a half are side by side: r is the address of its first lane, then. Jumps over it if there are none. */
static size_t find_run(struct finder *finder, unsigned half, unsigned r, size_t *none)
{
	struct gt_native_code *code = finder->code;

	gt_general(code, false, GT_MOVE, GT_RAX, GT_RCX);
	gt_native_bytes(code, half ? "\xc1\xe8\x10" : "\xc1\xe0\x10\xc1\xe8\x10", half ? 3 : 6); /* shl eax, 16 of the first; shr eax, 16 */
	*none = gt_general_jump(code, GT_EQUAL);
	find_lowest(code, half, r);
	gt_native_text(code, "\x48\xf7\xd8"); /* neg rax */
	gt_native_byte(code, r & 8 ? 0x4d : 0x48); /* lea r, [r + bytes * rax] */
	gt_native_byte(code, 0x8d);
	gt_native_byte(code, 0x04 | (r & 7) << 3);
	gt_native_byte(code, (finder->bytes == 8 ? 0xc0 : 0x80) | (r & 7));
	return finder->isa->jump_if_apart(code, half ? GT_NATIVE_SECOND_HALF : GT_NATIVE_FIRST_HALF, finder->bytes, r);
}

/* Sets rax and rcx as rows have them of lanes without a stride. */
static void set_scattered(struct gt_native_code *code)
{
	gt_general_constant(code, GT_RCX, (uint64_t)GT_STRIDE_LANES);
	gt_general_constant(code, GT_RAX, 0);
}

/* Halves whose lanes are side by side; two lanes, one in each, are left to the search for a stride. Returns the jump if they are done. */
static size_t find_runs(struct finder *finder, size_t scattered[3])
{
	struct gt_native_code *code = finder->code;
	size_t none[2];

	scattered[0] = find_run(finder, 0, GT_RSI, &none[0]);
	gt_general_land(code, none[0]);
	scattered[1] = find_run(finder, 1, GT_R8, &none[1]);
	gt_native_text(code, "\x66\x85\xc9"); /* test cx, cx */
	const size_t second = gt_general_jump(code, GT_EQUAL);
	gt_native_text(code, "\x48\x8d\x86"); /* lea rax, [rsi + 16 bytes] */
	gt_native_word(code, GT_WARP_SIZE / 2 * finder->bytes);
	gt_general(code, true, GT_COMPARE, GT_RAX, GT_R8);
	const size_t joined = gt_general_jump(code, GT_EQUAL);
	gt_native_text(code, "\xf3\x0f\xb8\xc1"); /* popcnt eax, ecx */
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, 2);
	scattered[2] = gt_general_jump(code, GT_EQUAL);
	set_scattered(code);
	const size_t parted = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, none[1]);
	gt_general(code, true, GT_MOVE, GT_R8, GT_RSI);
	const size_t first = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, second);
	gt_general(code, true, GT_MOVE, GT_RSI, GT_R8);
	gt_general_land(code, joined);
	gt_general_land(code, first);
	gt_general(code, true, GT_MOVE, GT_RAX, GT_R11);
	gt_general_constant(code, GT_RCX, finder->bytes);
	gt_general_land(code, parted);
	gt_general(code, true, GT_ADD, GT_RSI, GT_RDI);
	gt_general(code, true, GT_ADD, GT_RDI, GT_R8);
	gt_native_text(code, "\x48\x87\xf7"); /* xchg rdi, rsi */
	gt_general_constant(code, GT_R10, GT_STRETCH_RUNS);
	return gt_general_jump(code, GT_ALWAYS);
}

/* rsi = the stride of the first two active lanes, by a division unless they are neighbours. Returns the jump if there is none. */
static size_t find_stride(struct finder *finder)
{
	struct gt_native_code *code = finder->code;

	gt_native_text(code, "\x8d\x41\xff\x21\xc8"); /* lea eax, [rcx - 1]; and eax, ecx: without the lowest */
	find_lowest(code, 0, GT_RSI);
	gt_native_text(code, "\x44\x0f\xbc\xc1"); /* bsf r8d, ecx */
	gt_general(code, false, GT_SUB, GT_RAX, GT_R8);
	gt_general(code, true, GT_SUB, GT_RSI, GT_R11);
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, 1);
	const size_t neighbours = gt_general_jump(code, GT_EQUAL);
	gt_general(code, false, GT_MOVE, GT_R9, GT_RAX);
	gt_general(code, true, GT_MOVE, GT_RAX, GT_RSI);
	gt_native_text(code, "\x52\x48\x99\x49\xf7\xf9"); /* push rdx; cqo; idiv r9 */
	gt_general(code, true, GT_MOVE, GT_RSI, GT_RAX);
	gt_native_text(code, "\x48\x85\xd2\x5a"); /* test rdx, rdx; pop rdx */
	const size_t none = gt_general_jump(code, GT_NOT_EQUAL);
	gt_general_land(code, neighbours);
	gt_native_text(code, "\x48\x63\xc6"); /* movsxd rax, esi */
	gt_general(code, true, GT_COMPARE, GT_RAX, GT_RSI);
	leave_if(finder, GT_NOT_EQUAL);
	return none;
}

/* Lanes anywhere, which may have a stride. */
static void find_scattered(struct finder *finder)
{
	struct gt_native_code *code = finder->code;
	size_t none[2];

	none[0] = find_stride(finder);
	gt_native_text(code, "\x4c\x0f\xaf\xc6"); /* imul r8, rsi */
	gt_general(code, true, GT_MOVE, GT_RAX, GT_R11);
	gt_general(code, true, GT_SUB, GT_RAX, GT_R8);
	none[1] = finder->isa->jump_if_apart(code, GT_NATIVE_STRIDE, finder->bytes, GT_RAX);
	gt_general(code, true, GT_MOVE, GT_RAX, GT_R11);
	gt_general(code, true, GT_MOVE, GT_RCX, GT_RSI);
	const size_t strided = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, none[0]);
	gt_general_land(code, none[1]);
	set_scattered(code);
	gt_general_land(code, strided);
	gt_general_constant(code, GT_R10, GT_STRETCH_SCATTERED);
}

/* Adds the row, if the access is traced: its first address is rax, and its stride rcx. */
static void add_row(struct finder *finder, size_t row)
{
	struct gt_native_code *code = finder->code;

	gt_general_at(code, false, GT_MOVE, GT_R8, GT_R13, offsetof(struct gt_ptx_core, traced));
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_R8, GT_PTX_NOTES_LEAST);
	leave_if(finder, GT_NOT_BELOW);
	gt_general_at(code, false, GT_AND, GT_R8, GT_RDX, offsetof(struct gt_ptx_entry, traces));
	const size_t untraced = gt_general_jump(code, GT_EQUAL);
	gt_native_text(code, "\x57\x56"); /* push rdi; push rsi */
	gt_general_call_to(code, row);
	gt_general_number(code, true, GT_COMPARE_NUMBER, GT_RDX, 0);
	const size_t added = gt_general_jump(code, GT_EQUAL);
	gt_native_text(code, "\x5e\x5f"); /* pop rsi; pop rdi */
	leave_if(finder, GT_ALWAYS);
	gt_general_land(code, added);
	gt_general_at(code, false, GT_MOVE, GT_RAX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
	gt_general_store(code, false, GT_RAX, GT_RSI, offsetof(struct gt_ptx_kept, mask));
	gt_native_text(code, "\x48\xf7\xd9"); /* neg rcx, which has no number if lanes have no stride */
	const size_t strided = gt_general_jump(code, GT_NO_OVERFLOW);
	gt_native_text(code, "\xf3\x0f\xb8\xc0\x66\x89\x86"); /* popcnt eax, eax; mov [rsi + words], ax: no width */
	gt_native_word(code, offsetof(struct gt_ptx_kept, words));
	gt_native_text(code, "\xc1\xe0\x03\x48\x01\x87"); /* shl eax, 3; add [rdi + written], rax */
	gt_native_word(code, offsetof(struct gt_ptx_held_chunk, written));
	gt_general_number(code, true, GT_ADD_NUMBER, GT_RSI, sizeof(struct gt_ptx_kept));
	finder->isa->list_active(code);
	gt_general_land(code, strided);
	gt_native_text(code, "\x5e\x5f");
	gt_general_land(code, untraced);
}

_Static_assert(GT_STRIDE_LANES == INT64_MIN, "the one number that has no negative");

void gt_stretch_write_find(const struct gt_native_isa *isa, struct gt_native_code *code, unsigned bytes, size_t row)
{
	struct finder finder = {.isa = isa, .code = code, .bytes = bytes};
	size_t scattered[3];

	const size_t several = find_one(&finder);
	const size_t one = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, several);
	gt_native_text(code, "\x41\xf6\xc0"); /* test r8b, bytes - 1 */
	gt_native_byte(code, bytes - 1);
	leave_if(&finder, GT_NOT_EQUAL);
	finder.slow[finder.n_slow++] = isa->jump_if_outside(code, bytes);
	const size_t runs = find_runs(&finder, scattered);
	for (unsigned i = 0; i < 3; i++)
		gt_general_land(code, scattered[i]);
	find_scattered(&finder);
	gt_general_land(code, one);
	gt_general_land(code, runs);
	add_row(&finder, row);
	gt_general(code, false, GT_MOVE, GT_RAX, GT_R10);
	const size_t found = gt_general_jump(code, GT_ALWAYS);
	for (unsigned i = 0; i < finder.n_slow; i++)
		gt_general_land(code, finder.slow[i]);
	gt_general_constant(code, GT_RAX, GT_STRETCH_NOT);
	gt_general_land(code, found);
	gt_native_text(code, "\x4d\x89\xf0\x4d\x89\xf1\x4d\x89\xf2\xc3"); /* mov r8, r14; mov r9, r14; mov r10, r14; ret */
}

/* ---- such a load or store ---- */

/* r8 = the begin of the memory, r9 = the last place of an element behind it, rdi = from such an address to the host's. */
static void write_active_window(const struct gt_stretch_move *move)
{
	struct gt_native_code *code = move->code;
	const struct gt_stretch_window window = gt_stretch_window_of(move->access);

	if (window.base == GT_R13) {
		gt_general_constant(code, GT_R8, 0);
		gt_general_at(code, true, GT_MOVE, GT_R9, GT_R13, window.bytes);
	} else {
		gt_general_address(code, GT_RDX, move->access);
		gt_general_at(code, true, GT_MOVE, GT_R8, GT_RDX, offsetof(struct gt_ptx_access, low));
		gt_general_at(code, true, GT_MOVE, GT_R9, GT_RDX, offsetof(struct gt_ptx_access, high));
		gt_general(code, true, GT_SUB, GT_R9, GT_R8);
		gt_stretch_slow_if(move, GT_BELOW);
	}
	gt_general_at(code, true, GT_MOVE, GT_RDI, window.base, window.host);
	gt_general(code, true, GT_SUB, GT_RDI, GT_R8);
	gt_general_number(code, true, GT_ADD_NUMBER, GT_R9, 0U - move->bytes);
	gt_stretch_slow_if(move, GT_NEGATIVE);
}

static void move_halves(const struct gt_stretch_move *move, bool stores)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const struct gt_native_op op = {GT_0F, GT_F3, move->bytes == 8, stores ? GT_VMOVDQU_STORE : GT_VMOVDQA};
	const unsigned each = move->n_data / gt_native_parts(segment->isa), half = move->n_data / 2;

	for (unsigned i = 0; i < move->n_data; i++)
		segment->isa->active_memory(segment, op, stores ? data_in_register(move, 0, i, segment->isa->first) : move->data[0][i].at, i / each, i % each,
					    i < half ? GT_RDI : GT_RSI, i % half * segment->isa->bytes);
}

/* By the registers of addresses whose byte of the mask has active lanes. */
static void load_scattered(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	const bool wide = move->bytes == 8;
	const unsigned n = 2 * gt_native_parts(segment->isa);

	for (unsigned v = 0; v < n; v++) {
		gt_native_text(move->code, "\x80\xbb"); /* cmp byte [rbx + mask + v], 0 */
		gt_native_word(move->code, (uint32_t)offsetof(struct gt_ptx_warp, mask) + v * GT_WARP_SIZE / n / 8);
		gt_native_byte(move->code, 0);
		const size_t none = gt_general_jump(move->code, GT_EQUAL);
		segment->isa->gather_active(segment, wide, move->data[0][wide ? v : v / 2].at, v, GT_RDI);
		gt_general_land(move->code, none);
	}
}

/* Lane by lane, from memory: of those that store in one place the highest comes last. */
static void store_scattered(const struct gt_stretch_move *move)
{
	struct gt_native_segment *segment = &move->stretch->segment;
	struct gt_native_code *code = move->code;
	const uint32_t stored = offsetof(struct gt_ptx_core, stored);
	const bool wide = move->bytes == 8;

	for (unsigned i = 0; i < move->n_data; i++)
		segment->isa->memory(segment, gt_native_store, data_in_register(move, 0, i, segment->isa->first), 0, GT_R13, stored + i * segment->isa->bytes);
	gt_general_at(code, false, GT_MOVE, GT_RCX, GT_RBX, offsetof(struct gt_ptx_warp, mask));
	const size_t next = code->n;
	gt_native_text(code, "\x0f\xbc\xc1\x49\x8b\x94\xc5"); /* bsf eax, ecx; mov rdx, [r13 + 8 rax + addresses] */
	gt_native_word(code, offsetof(struct gt_ptx_core, addresses));
	gt_native_bytes(code, wide ? "\x4d\x8b\x9c\xc5" : "\x45\x8b\x9c\x85", 4); /* mov r11, [r13 + bytes rax + stored] */
	gt_native_word(code, stored);
	gt_native_bytes(code, wide ? "\x4c\x89\x1c\x17" : "\x44\x89\x1c\x17", 4); /* mov [rdi + rdx], r11 */
	gt_native_text(code, "\x8d\x41\xff\x21\xc1"); /* lea eax, [rcx - 1]; and ecx, eax */
	gt_general_land_at(code, gt_general_jump(code, GT_NOT_EQUAL), next);
}

void gt_stretch_write_active(const struct gt_stretch_move *move, bool stores)
{
	struct gt_native_code *code = move->code;

	gt_stretch_write_addresses(move, GT_R13, offsetof(struct gt_ptx_core, addresses));
	write_active_window(move);
	gt_general_address(code, GT_RDX, move->point->entry);
	gt_general_call_to(code, move->stretch->shared->find_active[move->bytes == 8]);
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, GT_STRETCH_ONE);
	gt_stretch_slow_if(move, GT_BELOW);
	const size_t one = gt_general_jump(code, GT_EQUAL);
	gt_general_number(code, false, GT_COMPARE_NUMBER, GT_RAX, GT_STRETCH_RUNS);
	const size_t scattered = gt_general_jump(code, GT_NOT_EQUAL);
	move_halves(move, stores);
	const size_t runs = gt_general_jump(code, GT_ALWAYS);
	gt_general_land(code, one);
	if (stores) {
		gt_general(code, true, GT_MOVE, GT_RDI, GT_RSI);
		gt_general_land(code, scattered);
		store_scattered(move);
	} else {
		load_one(move);
		const size_t loaded = gt_general_jump(code, GT_ALWAYS);
		gt_general_land(code, scattered);
		load_scattered(move);
		gt_general_land(code, loaded);
	}
	gt_general_land(code, runs);
}
