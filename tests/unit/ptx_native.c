/* SPDX-License-Identifier: MIT */
/* Machine code of random segments and stretches against the steps for any processor, operation by operation. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "cuda/ptx/exec/access.h"
#include "cuda/ptx/exec/numbers.h"
#include "cuda/ptx/native/segment.h"
#include "cuda/ptx/native/stretch.h"

#define SLOT 256
#define SLOTS 40	/* of each kind */
#define LONGEST 120
#define FORMS 512
#define KINDS 9 /* of addresses, see fill_addresses */
enum { ONES, BYTES, HALVES = BYTES + SLOTS, WORDS = HALVES + SLOTS, LONGS = WORDS + SLOTS, DOUBLES = LONGS + SLOTS, PREDICATES = DOUBLES + SLOTS, ALL = PREDICATES + SLOTS, CARRY = ALL + 2 * KINDS, NUMBERS };

#define EACH_NUMBER 12
static _Alignas(64) unsigned char arenas[2][(NUMBERS + EACH_NUMBER) * SLOT];
static const struct gt_ptx_form *forms[FORMS];
static size_t n_forms;
static uint64_t state = 4711;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void find_forms(void)
{
	for (size_t t = 0; t < GT_PTX_FORM_TABLES; t++)
		for (size_t i = 0; i < gt_ptx_form_tables[t]->n && n_forms < FORMS; i++)
			if (gt_native_rule_of(gt_ptx_form_step(&gt_ptx_form_tables[t]->rows[i])))
				forms[n_forms++] = &gt_ptx_form_tables[t]->rows[i];
}

/* A slot of a type. The NaNs of doubles may differ, so that they stay among themselves. */
static uint32_t slot_of(uint8_t type, unsigned kinds)
{
	const unsigned bytes = type == GT_PTX_NO_TYPE ? 0 : gt_ptx_type_size((enum gt_ptx_type)type);
	unsigned first = type == GT_PTX_PRED ? PREDICATES : type == GT_PTX_F64 ? DOUBLES : bytes == 8 ? LONGS : bytes == 2 ? HALVES : bytes == 1 ? BYTES : WORDS;

	return type == GT_PTX_NO_TYPE ? 0 : SLOT * (first + (uint32_t)(any() % kinds));
}

/* A source: such a slot, or a number. */
static uint32_t source_of(uint8_t type, unsigned kinds)
{
	const bool word = type != GT_PTX_NO_TYPE && type != GT_PTX_PRED && gt_ptx_type_size((enum gt_ptx_type)type) == 4;

	return word && any() % 3 == 0 ? SLOT * (NUMBERS + (uint32_t)(any() % EACH_NUMBER)) : slot_of(type, kinds);
}

static void fill(void)
{
	static const uint32_t numbers[] = {0, 1, 2, 7, 8, 13, 16, 24, 31, 32, 33, 40, 64, 200, 255, 256, 0x1f, 0x101f, 0x181f, 0x1c03, 0x0123, 0x2103, 0x3210, 0x5410, 0x7632, 0x8880, 0xba98, 0xe4e4, 0xca, 0x96, 0xe8, 0xfe, 0x80, 0xffffffe0};
	static const uint32_t special[] = {0, 1, 5, 8, 31, 32, 33, 64, 0x6541, 0x3c003c00, 0x7c00fc00, 0x00018001, 0x04001c00, 0x7e01ff80, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x7f800000, 0x00400000, 0x7fc12345};

	for (size_t i = 0; i < ALL * SLOT / 4; i++) {
		uint32_t word = any() % 3 ? (uint32_t)any() : special[any() % (sizeof special / sizeof *special)];
		memcpy(arenas[0] + 4 * i, &word, 4);
	}
	memset(arenas[0], 0xff, 4);
	for (size_t i = 0; i < EACH_NUMBER; i++) {
		const uint32_t word = any() & 1 ? numbers[any() % (sizeof numbers / sizeof *numbers)] : (uint32_t)any();
		for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
			memcpy(arenas[0] + (NUMBERS + i) * SLOT + 4 * lane, &word, 4);
	}
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane++)
		memset(arenas[0] + CARRY * SLOT + 4 * lane, any() & 1 ? 0xff : 0, 4);
	memcpy(arenas[1], arenas[0], sizeof arenas[0]);
}

/* Slots of words, longs and doubles that are read behind the operations: all, or some. */
static uint64_t sets[ALL / 64 + 1];

static bool is_read(size_t slot)
{
	return slot >= PREDICATES || (sets[slot / 64] >> slot % 64 & 1);
}

/* Makes machine code of operations of which that is known. */
static void make(struct gt_ptx_code *code, size_t n)
{
	static uint32_t slots[ALL];
	static bool constant[EACH_NUMBER * SLOT / GT_NATIVE_UNIT + 1];
	const struct gt_native_known known = {.sets = sets, .n = ALL, .slots = slots, .constant = constant};
	const size_t starts[] = {0, n};
	const bool all = any() & 1;
	struct gt_error error;

	memset(constant, true, sizeof constant);
	memset(sets, 0, sizeof sets);
	for (uint32_t i = 0; i < ALL; i++) {
		slots[i] = SLOT * i;
		sets[i / 64] |= (uint64_t)(all || any() & 1) << i % 64;
	}
	code->arena_bytes = sizeof arenas[0];
	code->image_at = NUMBERS * SLOT;
	code->image = arenas[0] + NUMBERS * SLOT;
	code->carry = CARRY * SLOT;
	CHECK_EQUAL(gt_ptx_native_make(code, starts, 1, &known, &error), 0);
	code->image = NULL;
}

static bool alike(void)
{
	for (size_t i = 0; i < ALL * SLOT / 8; i++) {
		double x, y;
		if (!is_read(i / (SLOT / 8)))
			continue;
		memcpy(&x, arenas[0] + 8 * i, 8);
		memcpy(&y, arenas[1] + 8 * i, 8);
		bool number = i / (SLOT / 8) >= DOUBLES && i / (SLOT / 8) < PREDICATES;
		if (memcmp(arenas[0] + 8 * i, arenas[1] + 8 * i, 8) != 0 && (!number || x == x || y == y))
			return false;
	}
	return memcmp(arenas[0] + CARRY * SLOT, arenas[1] + CARRY * SLOT, SLOT) == 0;
}

/* What an operation of that name may choose: the part of a value, or a rounding. */
static uint8_t choice_of(const char *name)
{
	if (strncmp(name, "join", 4) == 0 || strncmp(name, "part", 4) == 0)
		return any() & 1 ? strstr(name, "16") ? 16 : 32 : 0;
	if (strcmp(name, "cvt.f16.f32") == 0)
		return (uint8_t)(any() % 5);
	if (strcmp(name, "cvt.s32.f64") == 0 || strcmp(name, "cvt.bf16.f32") == 0)
		return (uint8_t)(any() % 3);
	return (uint8_t)(strncmp(name, "cvt.i.", 6) == 0 || strcmp(name, "cvt.s32.f32") == 0 || strcmp(name, "cvt.u32.f32") == 0 ? any() % 5 : 0);
}

/* Whether it is of floats and rounds. */
static bool rounds(const struct gt_ptx_form *form)
{
	static const char *const names[] = {"add", "sub", "mul", "div", "fma"};
	bool found = false;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		found |= strncmp(form->name, names[i], 3) == 0 && form->name[3] == '.';
	return found && (form->d == GT_PTX_F32 || form->d == GT_PTX_F64);
}

static void round_otherwise(struct gt_ptx_op *op, struct gt_ptx_op *step)
{
	op->choice = step->choice = (uint8_t)(GT_PTX_RN + any() % 4);
	op->with.inner = op->run;
	step->with.inner = step->run;
	op->run = step->run = gt_ptx_rounded;
}

/* Whether it is of the sums that have a carry. */
static bool has_carry(const struct gt_ptx_form *form)
{
	return strstr(form->name, ".cc.") || strncmp(form->name, "addc", 4) == 0 || strncmp(form->name, "subc", 4) == 0 || strncmp(form->name, "madc", 4) == 0;
}

/* Draws operations; those of `steps` for any processor, those of `ops` for this one. */
static void draw(struct gt_ptx_op *ops, struct gt_ptx_op *steps, size_t n)
{
	const unsigned kinds = 2 + (unsigned)(any() % (SLOTS - 1));

	for (size_t i = 0; i < n; i++) {
		const struct gt_ptx_form *form = forms[any() % n_forms];
		ops[i] = (struct gt_ptx_op){.run = gt_ptx_form_step(form), .counts = 1, .choice = choice_of(form->name), .d = slot_of(form->d, kinds),
					    .a = source_of(form->sources[0], kinds), .b = source_of(form->sources[1], kinds),
					    .c = source_of(form->sources[2], kinds), .e = source_of(form->sources[3], kinds)};
		if (strcmp(form->name, "lop3.b32") == 0)
			ops[i].e = SLOT * (NUMBERS + (uint32_t)(any() % EACH_NUMBER));
		if (form->d == GT_PTX_PRED && form->sources[0] != GT_PTX_PRED) { /* a comparison */
			ops[i].choice = (uint8_t)(any() % 4);
			ops[i].q = any() & 1 ? slot_of(GT_PTX_PRED, kinds) : 0;
			ops[i].c = slot_of(GT_PTX_PRED, kinds);
		}
		if (has_carry(form))
			ops[i].q = CARRY * SLOT;
		steps[i] = ops[i];
		steps[i].run = form->run[GT_PTX_PLAIN];
		if (rounds(form) && any() & 1)
			round_otherwise(&ops[i], &steps[i]);
	}
}

static void run(const struct gt_ptx_op *ops, size_t n, unsigned char *arena, uint32_t mask)
{
	static struct gt_ptx_warp warp;

	warp = (struct gt_ptx_warp){.arena = arena, .mask = mask};
	for (const struct gt_ptx_op *op = ops; op < ops + n;)
		op = op->run(&warp, op, mask);
}

static size_t try_segment(size_t n, uint32_t mask)
{
	static struct gt_ptx_op steps[LONGEST];
	struct gt_ptx_code *code = calloc(1, sizeof *code);
	size_t made = 0;

	code->ops = calloc(n, sizeof *code->ops);
	code->n_ops = n;
	draw(code->ops, steps, n);
	fill();
	make(code, n);
	for (size_t i = 0; code->native && i < n; i++)
		made += code->ops[i].run != gt_ptx_form_step(forms[0]) && code->ops[i].counts > 1;
	run(steps, n, arenas[0], mask);
	run(code->ops, n, arenas[1], mask);
	CHECK(alike());
	gt_ptx_code_free(code);
	return made;
}

/* ---- stretches: loads and stores among the operations ---- */

#define SHARED 1024
#define EVERY 4 /* of so many operations one is an access */
static _Alignas(64) unsigned char memories[2][SHARED];
static struct gt_ptx_access accesses[LONGEST];

/* One of those below at which lanes of so many bytes are aligned: the first of a list for each number of bytes. */
static uint32_t kind_of_addresses(unsigned bytes, unsigned n)
{
	static const uint8_t kinds[][6] = {{8, 8, 2, 3, 4, 0}, {4, 0, 1, 2, 3, 7}, {0, 1, 2, 3, 7, 5}, {1, 2, 3, 7, 7, 6}, {7, 2, 3, 7, 2, 3}};
	const bool runs = n == 1 && bytes >= 4 && any() % 4 == 0;

	return kinds[__builtin_ctz(bytes)][runs ? 5 : any() % 5];
}

/* An access to shared memory by addresses of 32 bits, or to global memory of 64. */
static void draw_access(struct gt_ptx_op *op, struct gt_ptx_access *access)
{
	const bool stores = any() & 1, shared = any() & 1;
	const unsigned size = 1U << any() % 4, most = size == 8 ? 2 : 4, n = any() & 1 ? 1 : most >> any() % 2;
	const unsigned bytes = size * n;

	*access = (struct gt_ptx_access){.space = shared ? GT_PTX_SHARED : GT_PTX_GLOBAL, .action = stores ? GT_STORE : GT_LOAD, .size = (uint8_t)size,
					 .n = (uint8_t)n, .narrow = shared, .low = GT_PTX_GLOBAL_BASE,
					 .high = GT_PTX_GLOBAL_BASE + SHARED, .offset = (int64_t)(any() % 4 * 16)};
	access->address = SLOT * (PREDICATES + SLOTS + kind_of_addresses(bytes, n) + (shared ? 0 : KINDS));
	for (unsigned k = 0; k < n; k++)
		access->slots[k] = slot_of(size == 1 ? GT_PTX_U8 : size == 2 ? GT_PTX_U16 : size == 8 ? GT_PTX_U64 : GT_PTX_U32, SLOTS);
	*op = (struct gt_ptx_op){.run = stores ? gt_ptx_store_step(access) : gt_ptx_load_step(access), .counts = 1, .accesses = 1,
				 .with.access = access};
}

/* A copy between slots of addresses, to one of places that are aligned no better. */
static void draw_copy(struct gt_ptx_op *op, struct gt_ptx_op *step)
{
	const bool wide = any() & 1;
	const struct gt_ptx_form *form = gt_ptx_form_named(wide ? "mov.b64" : "mov.b32");
	const uint32_t to = (uint32_t)(any() % 4), from = to < 2 ? to + (uint32_t)(any() % (4 - to)) : 2 + (uint32_t)(any() & 1);
	const uint32_t slots = PREDICATES + SLOTS + (wide ? KINDS : 0);

	*op = *step = (struct gt_ptx_op){.run = gt_ptx_form_step(form), .counts = 1, .d = SLOT * (slots + to), .a = SLOT * (slots + from)};
	step->run = form->run[GT_PTX_PLAIN];
}

/* An operation without machine code of its own, which is called; some with a guard. */
static void draw_call(struct gt_ptx_op *op, struct gt_ptx_op *step)
{
	static const char *const names[] = {"cnot.b32", "mad.hi.s32", "lg2.f32", "rsqrt.f32", "vote.ballot.b32", "match.any.b32", "div.s64", "bfi.b64", "shfl", "shfl", "shfl"};
	const struct gt_ptx_form *form = gt_ptx_form_named(names[any() % (sizeof names / sizeof *names)]);

	if (!form)
		return;
	*op = (struct gt_ptx_op){.run = gt_ptx_form_step(form), .counts = 1, .guarded = (uint8_t)(any() % 3), .guard = slot_of(GT_PTX_PRED, SLOTS),
				 .d = slot_of(form->d, SLOTS), .a = slot_of(form->sources[0], SLOTS), .b = slot_of(form->sources[1], SLOTS),
				 .c = slot_of(form->sources[2], SLOTS), .q = has_carry(form) ? CARRY * SLOT : 0};
	if (strcmp(form->name, "shfl") == 0) {
		op->choice = (uint8_t)(any() % 4);
		op->b = source_of(GT_PTX_U32, SLOTS);
		op->c = source_of(GT_PTX_U32, SLOTS);
		op->q = any() & 1 ? slot_of(GT_PTX_PRED, SLOTS) : 0;
	}
	*step = *op;
	step->run = form->run[GT_PTX_PLAIN];
}

/* The slots of addresses, behind the others: by 4 bytes, by 8, one place, anywhere, by 2, runs of 16 by 4 and by 8, by 16, by 1; then the same of 64 bits. */
static void fill_addresses(void)
{
	for (unsigned i = 0; i < GT_WARP_SIZE; i++) {
		const uint32_t at[KINDS] = {256 + 4 * i, 128 + 8 * i, 64, (uint32_t)(any() % 60) * 16, 6 + 2 * i,
						 64 + 4 * (i % 16) + 512 * (i / 16), 128 + 8 * (i % 16) + 256 * (i / 16), 16 * i, 7 + i};
		for (unsigned slot = 0; slot < KINDS; slot++)
			for (unsigned arena = 0; arena < 2; arena++) {
				const uint64_t address = GT_PTX_GLOBAL_BASE + at[slot];
				memcpy(arenas[arena] + SLOT * (PREDICATES + SLOTS + slot) + 4 * i, &at[slot], 4);
				memcpy(arenas[arena] + SLOT * (PREDICATES + SLOTS + KINDS + slot) + 8 * i, &address, 8);
			}
	}
	for (unsigned i = 0; i < SHARED; i++)
		memories[0][i] = memories[1][i] = (unsigned char)any();
}

/* In turns of any length. */
static uint64_t run_turns(const struct gt_ptx_op *ops, size_t n, unsigned which, uint32_t mask)
{
	static struct gt_ptx_core core;
	static struct gt_ptx_warp warp;

	core = (struct gt_ptx_core){.shared = memories[which], .shared_bytes = SHARED};
	warp = (struct gt_ptx_warp){.arena = arenas[which], .mask = mask, .core = &core};
	for (size_t i = 0; i < LONGEST; i++)
		accesses[i].host = memories[which];
	for (const struct gt_ptx_op *op = ops; op < ops + n;) {
		warp.until = warp.issued + 1 + any() % 60;
		while (op < ops + n && warp.issued < warp.until) {
			const uint32_t holds = op->guarded ? gt_ptx_predicate(&warp, op->guard) : GT_PTX_FULL;
			const uint32_t lanes = mask & (op->guarded == 2 ? ~holds : holds);
			warp.issued += op->counts;
			op = lanes ? op->run(&warp, op, lanes) : op + 1;
		}
	}
	return warp.issued;
}

static size_t try_stretch(size_t n, uint32_t mask)
{
	static struct gt_ptx_op steps[LONGEST];
	struct gt_ptx_code *code = calloc(1, sizeof *code);
	size_t entered = 0;

	code->ops = calloc(n, sizeof *code->ops);
	code->n_ops = n;
	draw(code->ops, steps, n);
	for (size_t i = 0; i < n; i++)
		if (any() % EVERY == 0) {
			draw_access(&code->ops[i], &accesses[i]);
			steps[i] = code->ops[i];
		} else if (any() % (4 * EVERY) == 0) {
			draw_copy(&code->ops[i], &steps[i]);
		} else if (any() % (4 * EVERY) == 0) {
			draw_call(&code->ops[i], &steps[i]);
		}
	fill();
	fill_addresses();
	make(code, n);
	for (size_t i = 0; code->entries && i < n; i++)
		entered += code->ops[i].with.entry >= code->entries && code->ops[i].with.entry < code->entries + n;
	CHECK_EQUAL(run_turns(steps, n, 0, mask), n);
	CHECK_EQUAL(run_turns(code->ops, n, 1, mask), n);
	CHECK(alike());
	CHECK(memcmp(memories[0], memories[1], SHARED) == 0);
	gt_ptx_code_free(code);
	return entered;
}

static void stretches(void)
{
	size_t entered = 0;

	for (unsigned k = 0; k < 2000; k++)
		entered += try_stretch(2 + (size_t)(any() % (LONGEST - 1)), k % 8 ? GT_PTX_FULL : (uint32_t)any() | 1);
	CHECK(entered > 2000);
}

/* One operation twice: it is named if it differs. */
static void each_rule(void)
{
	const size_t all = n_forms;
	const unsigned tries = check_cases(6, 20);
	static const struct gt_ptx_form *every[FORMS];

	memcpy(every, forms, sizeof every);
	n_forms = 1;
	for (size_t i = 0; i < all; i++) {
		int before = check_failures;
		forms[0] = every[i];
		for (unsigned k = 0; k < tries; k++)
			try_segment(2, k & 1 ? GT_PTX_FULL : (uint32_t)any() | 1);
		for (unsigned k = 0; k < tries; k++)
			try_stretch(8, GT_PTX_FULL);
		if (check_failures > before)
			printf("# %s\n", every[i]->name);
	}
	memcpy(forms, every, sizeof every);
	n_forms = all;
}

static void segments(void)
{
	size_t made = 0;

	for (unsigned k = 0; k < 3000; k++)
		made += try_segment(2 + (size_t)(any() % (LONGEST - 1)), k & 1 ? GT_PTX_FULL : (uint32_t)any() | 1);
	CHECK(made > 3000);
}

/* ---- steps for this processor against those for any, of floats of 16 bits ---- */

/* Halves of few bits, so that sums are in the middle of two; small and large ones, since there products leave the range of floats. */
static uint16_t draw_half(unsigned how)
{
	static const uint16_t special[] = {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7f80, 0xff80, 0x7f7f, 0xff7f};
	static const uint16_t exponents[][2] = {{4, 60}, {20, 110}, {4, 190}, {4, 251}}; /* of bf16: how many, and the least */
	/* The product of the first two is 2^-45 less than 2^-25, which is half of what the others' last bits stand for. */
	static const uint16_t near[] = {0x0c01, 0x07fe, 0x0201, 0x8201};
	const uint16_t bits = (uint16_t)(any() % 4 ? any() : any() << any() % 12);

	if (how == 0)
		return bits;
	if (how == 1)
		return any() % 3 ? bits : special[any() % (sizeof special / sizeof *special)];
	if (how < 5) { /* large ones are of two kinds, products of the one being as large as the other */
		const uint16_t *these = exponents[how - 2 + (how == 4 && any() & 1)];
		return (uint16_t)((bits & 0x807f) | (any() % these[0] + these[1]) << 7);
	}
	if (how == 5 && any() & 1)
		return near[any() % 4];
	return (uint16_t)((bits & 0x83ff) | (how == 5 ? any() % 8 : 12 + any() % 8) << 10);
}

static void fill_halves(void)
{
	const unsigned how = (unsigned)(any() % 7);

	for (size_t i = 0; i < 4 * SLOT / sizeof(uint16_t); i++) {
		const uint16_t half = draw_half(how);
		memcpy(arenas[0] + sizeof half * i, &half, sizeof half);
	}
	memcpy(arenas[1], arenas[0], 4 * SLOT);
}

static bool is_of_halves(const struct gt_ptx_form *form)
{
	return strstr(form->name, "f16") && form->sources[0] != GT_PTX_PRED && form->sources[2] != GT_PTX_PRED;
}

static void try_half(const struct gt_ptx_form *form)
{
	const bool compares = form->d == GT_PTX_PRED, alike_sizes = gt_ptx_type_size((enum gt_ptx_type)form->d) == gt_ptx_type_size((enum gt_ptx_type)form->sources[0]);
	const uint32_t mask = any() & 1 ? GT_PTX_FULL : (uint32_t)any() | 1;
	const struct gt_ptx_op op = {.d = compares || !alike_sizes ? 0 : (uint32_t)(any() % 4) * SLOT, .q = compares ? 64 : 0, .a = SLOT, .b = 2 * SLOT, .c = 3 * SLOT,
				     .choice = (uint8_t)(compares ? any() % 4 : 1 + any() % 4)};

	fill_halves();
	for (unsigned i = 0; i < 2; i++) {
		struct gt_ptx_warp warp = {.arena = arenas[i], .mask = mask};
		form->run[i ? GT_PTX_VARIANTS - 1 : GT_PTX_PLAIN](&warp, &op, mask);
	}
	CHECK(memcmp(arenas[0], arenas[1], 4 * SLOT) == 0);
}

static void halves(void)
{
	static const struct gt_ptx_forms *const tables[] = {&gt_ptx_half_forms, &gt_ptx_convert_forms, &gt_ptx_compare_forms};
	size_t tried = 0;

	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (size_t i = 0; i < tables[t]->n; i++) {
			const int before = check_failures;
			const struct gt_ptx_form *form = &tables[t]->rows[i];
			for (unsigned k = 0; is_of_halves(form) && k < 1000; k++, tried++)
				try_half(form);
			if (check_failures > before)
				printf("# %s\n", form->name);
		}
	CHECK(tried > 100000);
}

/* The same of an operation whose result is that of a library, or found by other means. */
static void curve(const char *name)
{
	const struct gt_ptx_form *form = gt_ptx_form_named(name);
	static const uint32_t special[] = {0, 0x80000000, 1, 0x7f800000, 0xff800000, 0x7fc12345, 0x3f800000, 0x42fe0000, 0x42ffffff, 0x43000000, 0xc2fc0000, 0xc2fc0001, 0xc3160000, 0xc3160001, 0xc3151234};
	const struct gt_ptx_op op = {.d = SLOT, .a = 0};

	for (unsigned k = 0; k < 20000; k++) {
		const uint32_t mask = any() & 1 ? GT_PTX_FULL : (uint32_t)any() | 1;
		for (unsigned i = 0; i < 2 * GT_WARP_SIZE; i++) {
			uint32_t word = (uint32_t)any();
			word = any() % 8 == 0 ? special[any() % (sizeof special / sizeof *special)] : k % 2 ? (word & 0x81ffffff) + 0x3b000000 : word;
			memcpy(arenas[0] + SLOT * (i / GT_WARP_SIZE) + 4 * (i % GT_WARP_SIZE), &word, 4);
		}
		memcpy(arenas[1], arenas[0], 2 * SLOT);
		for (unsigned i = 0; i < 2; i++) {
			struct gt_ptx_warp warp = {.arena = arenas[i], .mask = mask};
			form->run[i ? GT_PTX_VARIANTS - 1 : GT_PTX_PLAIN](&warp, &op, mask);
		}
		CHECK(memcmp(arenas[0], arenas[1], 2 * SLOT) == 0);
	}
}

static void curves(void)
{
	curve("ex2.f32");
	curve("rsqrt.f32");
}

/* Runs the tests again for a processor without AVX-512. */
#if defined __x86_64__
static void run_for_avx2(char **argv)
{
	setenv("GTRACE_PTX_LEVEL", "avx2-native", 1);
	execv(argv[0], argv);
	CHECK(0);
}
#endif

int main(int argc, char **argv)
{
	(void)argc;
	find_forms();
#if defined __x86_64__
	if (gt_ptx_simd_variant() != GT_PTX_PLAIN) {
		RUN(halves);
		RUN(curves);
	}
	if (gt_ptx_makes_native()) {
		CHECK(n_forms > 100);
		RUN(each_rule);
		RUN(segments);
		RUN(stretches);
	}
	if (gt_ptx_makes_native() && gt_ptx_uses_avx512() && check_failures == 0)
		run_for_avx2(argv);
#else
	(void)argv;
#endif
	return check_report();
}
