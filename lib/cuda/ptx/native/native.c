/* SPDX-License-Identifier: MIT */
/* For MAP_ANONYMOUS, which is not in POSIX. */
#define _DEFAULT_SOURCE
#include "cuda/ptx/native/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grown.h"
#include "cuda/ptx/native/stretch.h"

#define SHORTEST 2	 /* operations that are worth a call */
#define INSTRUCTIONS 200 /* of a segment at most: `counts` has a byte */

struct making {
	struct gt_native_code code;
	struct gt_native_made *list;
	size_t n, capacity;
	const struct gt_native_isa *isa; /* of the machine code; NULL: none is made */
	struct gt_native_needs needs;
	struct gt_stretches stretches;
};

/* How many operations from the first on make a segment; 0: they do not. */
static size_t extent(const struct gt_ptx_code *code, size_t first, size_t end, size_t *instructions)
{
	const struct gt_native_rule *rule;
	size_t predicates = 0, i = first;

	*instructions = 0;
	for (; i < end && gt_native_takes(&code->ops[i], &rule); i++) {
		predicates += rule->kind == GT_NATIVE_COMPARE ? 2 : rule->kind == GT_NATIVE_LOGIC;
		if (predicates > GT_NATIVE_PREDICATES || *instructions + code->ops[i].counts > INSTRUCTIONS)
			break;
		*instructions += code->ops[i].counts;
	}
	return i - first >= SHORTEST && code->ops[first].counts ? i - first : 0;
}

static int write_segment(struct making *making, const struct gt_ptx_code *code, size_t first, size_t n, size_t instructions,
			 struct gt_error *error)
{
	struct gt_native_made *grown = gt_grown(making->list, making->n, &making->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "machine code");
	making->list = grown;
	struct gt_native_made *made = &making->list[making->n++];
	*made = (struct gt_native_made){first, n, instructions, making->code.n, 0};
	if (!making->isa)
		return 0;
	struct gt_native_segment whole = {.isa = making->isa, .code = &making->code, .needs = &making->needs, .whole = true, .op = first};
	gt_native_write(&whole, code->ops, n);
	made->part = making->code.n;
	struct gt_native_segment part = {.isa = making->isa, .code = &making->code, .needs = &making->needs, .op = first};
	gt_native_write(&part, code->ops, n);
	return making->code.failed ? gt_fail_memory(error, "machine code") : 0;
}

/* Puts the code where it can be executed; NULL where that is forbidden. */
static unsigned char *map_code(const struct gt_native_code *code)
{
	void *map = mmap(NULL, code->n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	memcpy(map, code->bytes, code->n);
	if (mprotect(map, code->n, PROT_READ | PROT_EXEC) == 0)
		return map;
	munmap(map, code->n);
	return NULL;
}

/* A conversion that C leaves open, and POSIX asks for. */
static void function_at(gt_ptx_segment_code **function, const unsigned char *code)
{
	memcpy(function, &code, sizeof code);
}

static const struct gt_ptx_op *run_segment(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_segment *segment = op->with.segment;

	(mask == GT_PTX_FULL ? segment->whole : segment->part)(warp->arena, mask);
	return op + segment->n;
}

/* The same without machine code. */
static const struct gt_ptx_op *run_steps(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask)
{
	const struct gt_ptx_segment *segment = op->with.segment;

	segment->first.run(warp, &segment->first, mask);
	for (size_t i = 1; i < segment->n; i++)
		op[i].run(warp, &op[i], mask);
	return op + segment->n;
}

static int use(struct gt_ptx_code *code, struct making *making, struct gt_error *error)
{
	code->segments = calloc(making->n + 1, sizeof *code->segments);
	if (!code->segments)
		return gt_fail_memory(error, "machine code");
	code->native = making->isa ? map_code(&making->code) : NULL;
	code->native_bytes = making->code.n;
	for (size_t i = 0; i < making->n; i++) {
		const struct gt_native_made *made = &making->list[i];
		struct gt_ptx_op *op = &code->ops[made->op];
		code->segments[i].n = made->n;
		code->segments[i].first = *op;
		if (code->native) {
			function_at(&code->segments[i].whole, code->native + made->whole);
			function_at(&code->segments[i].part, code->native + made->part);
		}
		op->run = code->native ? run_segment : run_steps;
		op->with.segment = &code->segments[i];
		op->counts = (uint8_t)made->instructions;
	}
	if (code->native)
		gt_stretches_use(&making->stretches, code);
	return 0;
}

static const struct gt_native_isa *isa_of_processor(void)
{
#if defined __x86_64__
	if (gt_ptx_makes_native())
		return gt_ptx_level() == GT_PTX_AVX512 ? &gt_native_avx512 : &gt_native_avx2;
#endif
	return NULL;
}

int gt_ptx_native_make(struct gt_ptx_code *code, const size_t *starts, size_t n, const struct gt_native_known *known,
		       struct gt_error *error)
{
	struct making making = {.isa = isa_of_processor()};
	int result = gt_native_needs_open(&making.needs, code, known, error);

	if (making.isa && making.isa->open)
		making.isa->open(&making.code);
	for (size_t b = 0; result == 0 && b < n; b++) {
		gt_native_needs_block(&making.needs, b, starts[b], starts[b + 1]);
		for (size_t i = starts[b]; result == 0 && i < starts[b + 1];) {
			size_t instructions, length = extent(code, i, starts[b + 1], &instructions);
			if (length > 0)
				result = write_segment(&making, code, i, length, instructions, error);
			i += length ? length : 1;
		}
	}
	if (result == 0 && making.isa)
		result = gt_stretches_make(&making.stretches, code, starts, n, making.list, making.n, making.isa, &making.needs, &making.code, error);
	if (result == 0 && (making.n > 0 || making.stretches.n > 0))
		result = use(code, &making, error);
	free(making.code.bytes);
	free(making.list);
	gt_native_needs_close(&making.needs);
	gt_stretches_free(&making.stretches);
	return result;
}
