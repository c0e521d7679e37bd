/* SPDX-License-Identifier: MIT */
/* The device's heap: against a plain list of blocks, and by kernels. */
#include "base/random.h"
#include "check.h"
#include "cuda/ptx/exec/memory.h"
#include "ptx_kernel.h"

static struct gt_error error;

/* ---- the allocator, against a list of blocks in the order of their addresses ---- */

#define BLOCKS 512

static struct block {
	uint64_t begin, bytes, end; /* begin: what it has before it included */
} blocks[BLOCKS];
static size_t n_blocks;

static uint64_t room(uint64_t bytes) { return (bytes ? bytes + 15 : 16) / 16 * 16; }
static uint64_t up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/* Where a block of so many bytes begins: the first gap that fits at any alignment. 0: there is none. */
static uint64_t expected(uint64_t base, uint64_t heap, uint64_t bytes, uint64_t alignment)
{
	uint64_t need = room(bytes) + alignment, from = base;
	size_t i = 0;

	while (i < n_blocks && blocks[i].begin - from < need)
		from = blocks[i++].end;
	if (i == n_blocks && base + heap - from < need)
		return 0;
	uint64_t at = up(from + 16, alignment);
	memmove(&blocks[i + 1], &blocks[i], (n_blocks++ - i) * sizeof blocks[0]);
	blocks[i] = (struct block){at - 16, bytes, at + room(bytes)};
	return at;
}

static void test_against_a_list(void)
{
	const uint64_t bytes = 40000, sizes[] = {0, 1, 16, 40, 100, 700, 5000}, alignments[] = {16, 16, 16, 64, 256};
	uint64_t state = 7, address, begin, end, full = 0;
	struct gt_ptx_memory memory;

	CHECK_EQUAL(gt_ptx_memory_open(&memory, 1U << 20, &error), 0);
	CHECK_EQUAL(gt_ptx_heap_resize(&memory, bytes), 0);
	CHECK_EQUAL(gt_ptx_heap_open(&memory, &error), 0);
	CHECK_EQUAL(gt_ptx_heap_resize(&memory, bytes), -1);
	uint64_t base = memory.first->address;
	for (int step = 0; step < 20000; step++) {
		if (n_blocks > 0 && gt_random(&state) % 100 < 49) {
			size_t i = gt_random(&state) % n_blocks;
			address = blocks[i].begin + 16;
			CHECK_EQUAL(gt_ptx_heap_block(&memory, address, blocks[i].bytes, &begin, &end), true);
			CHECK_EQUAL(begin, address);
			CHECK_EQUAL(end, address + blocks[i].bytes);
			CHECK_EQUAL(gt_ptx_heap_block(&memory, address, blocks[i].bytes + 1, &begin, &end), false);
			CHECK_EQUAL(gt_ptx_containing(&memory, address - 1, 1) == NULL, true);
			CHECK_EQUAL(gt_ptx_heap_give(&memory, address), 0);
			CHECK_EQUAL(gt_ptx_heap_give(&memory, address), -1);
			CHECK_EQUAL(gt_ptx_heap_block(&memory, address, 0, &begin, &end), false);
			memmove(&blocks[i], &blocks[i + 1], (--n_blocks - i) * sizeof blocks[0]);
			continue;
		}
		uint64_t size = sizes[gt_random(&state) % 7], alignment = alignments[gt_random(&state) % 5];
		CHECK_EQUAL(gt_ptx_heap_take(&memory, size, alignment, &address, &error), 0);
		CHECK_EQUAL(address, n_blocks < BLOCKS ? expected(base, bytes, size, alignment) : address);
		full += address == 0;
	}
	CHECK(full > 100);
	while (n_blocks > 0)
		CHECK_EQUAL(gt_ptx_heap_give(&memory, blocks[--n_blocks].begin + 16), 0);
	/* All of it is one piece again. */
	CHECK_EQUAL(gt_ptx_heap_take(&memory, bytes - 16, 16, &address, &error), 0);
	CHECK_EQUAL(address, base + 16);
	gt_ptx_memory_close(&memory);
}

/* Of a quarter of the heap, freed last, nothing is given out again; the order in which blocks were freed is kept in a list. */
static void test_held(void)
{
	enum { TAKEN = 8, FREED = 4096 };
	const uint64_t heap = 40000, sizes[] = {0, 1, 40, 100, 700};
	struct block taken[TAKEN] = {{0, 0, 0}}, *freed = calloc(FREED, sizeof *freed);
	uint64_t state = 3, address, begin, end, again = 0;
	size_t n = 0;
	struct gt_ptx_memory memory;

	CHECK_EQUAL(gt_ptx_memory_open(&memory, 1U << 20, &error), 0);
	CHECK_EQUAL(gt_ptx_memory_watch(&memory, &error), 0);
	CHECK_EQUAL(gt_ptx_heap_resize(&memory, heap), 0);
	CHECK_EQUAL(gt_ptx_heap_open(&memory, &error), 0);
	while (n < FREED) {
		struct block *one = &taken[gt_random(&state) % TAKEN];
		if (one->end) {
			CHECK_EQUAL(gt_ptx_heap_give(&memory, one->begin + 16), 0);
			CHECK_EQUAL(gt_ptx_heap_give(&memory, one->begin + 16), -1);
			CHECK_EQUAL(gt_ptx_heap_block(&memory, one->begin + 16, 0, &begin, &end), false);
			freed[n++] = *one;
		}
		uint64_t bytes = sizes[gt_random(&state) % 5];
		CHECK_EQUAL(gt_ptx_heap_take(&memory, bytes, 16, &address, &error), 0);
		*one = (struct block){address - 16, bytes, address + room(bytes)};
		CHECK(address != 0);
		uint64_t held = 0;
		bool overlaps = false;
		for (size_t i = n; i-- > 0;) {
			held += freed[i].end - freed[i].begin;
			overlaps = one->begin < freed[i].end && freed[i].begin < one->end;
			if (overlaps || held > heap)
				break;
		}
		again += overlaps;
		CHECK(!overlaps || held > heap / 4);
	}
	CHECK(again > 1000);
	free(freed);
	/* All of it, although a quarter is held back. */
	for (size_t i = 0; i < TAKEN; i++)
		CHECK_EQUAL(gt_ptx_heap_give(&memory, taken[i].begin + 16), taken[i].end ? 0 : -1);
	CHECK_EQUAL(gt_ptx_heap_take(&memory, heap - 16, 16, &address, &error), 0);
	CHECK_EQUAL(address, memory.first->address + 16);
	gt_ptx_memory_close(&memory);
}

static void test_copies(void)
{
	struct gt_ptx_memory memory;
	uint64_t first, second, again;

	CHECK_EQUAL(gt_ptx_memory_open(&memory, 1U << 24, &error), 0);
	CHECK(gt_ptx_heap_copy(&memory) == NULL);
	CHECK_EQUAL(gt_ptx_heap_open(&memory, &error), 0);
	gt_ptx_heap_take(&memory, 100, 16, &first, &error);
	struct gt_ptx_heap *copy = gt_ptx_heap_copy(&memory);
	gt_ptx_heap_take(&memory, 100, 16, &second, &error);
	gt_ptx_heap_give(&memory, first);
	gt_ptx_heap_restore(&memory, copy);
	gt_ptx_heap_take(&memory, 100, 16, &again, &error);
	CHECK_EQUAL(again, second);
	CHECK_EQUAL(gt_ptx_heap_give(&memory, first), 0);
	/* The heap is no allocation of the host's. */
	CHECK_EQUAL(gt_ptx_free(&memory, memory.first->address, &error), -1);
	gt_ptx_memory_close(&memory);
}

/* ---- kernels ---- */

#define KERNEL                                                                                                                 \
	".version 7.0\n.target sm_75\n.address_size 64\n.extern .func (.param .b64 r) malloc (.param .b64 p);\n"             \
	".extern .func free (.param .b64 p);\n"                                                                               \
	".extern .func (.param .b64 r) __nv_aligned_device_malloc (.param .b64 p, .param .b64 q);\n"                          \
	".visible .entry k(.param .u64 a)\n{\n.reg .b64 %rd<20>;\n.reg .b32 %r<20>;\n.reg .pred %p<5>;\n"                     \
	".param .b64 p;\n.param .b64 q;\n.param .b64 r;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n"                     \
	"mul.wide.u32 %rd2, %r1, 8;\nadd.s64 %rd3, %rd1, %rd2;\n"
#define END "ret;\n}\n"
#define MALLOC(TO, BYTES) "st.param.b64 [p], " BYTES ";\ncall.uni (r), malloc, (p);\nld.param.b64 " TO ", [r];\n"
#define FREE(FROM) "st.param.b64 [p], " FROM ";\ncall.uni free, (p);\n"
#define HEAP UINT64_C(0x200000000200) /* behind the buffer, of 256 bytes */

static uint64_t out[32];
static struct gt_ptx_launch launch;

static void make_small(struct gt_ptx_memory *memory)
{
	CHECK_EQUAL(gt_ptx_heap_resize(memory, 1024), 0);
}

static int run(const char *text)
{
	struct buffer buffers[BUFFERS] = {{out, sizeof out, "out"}};
	struct gt_ptx_ran ran;

	launch.grid[0] = launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
	launch.block[0] = 32;
	kernel_prepare = make_small;
	memset(out, 0, sizeof out);
	return run_kernel(text, &launch, buffers, &ran, &error);
}

static void test_lanes_in_order(void)
{
	/* 24 bytes take 16 + 32: there are 21 times 48 in 1024. */
	CHECK_EQUAL(run(KERNEL MALLOC("%rd4", "24") "st.global.u64 [%rd3], %rd4;\n" END), 0);
	for (unsigned i = 0; i < 32; i++)
		CHECK_EQUAL(out[i], i < 21 ? HEAP + 16 + 48 * i : 0);
}

static void test_values(void)
{
	/* Each lane's block keeps its own value; free of all of them and of null leaves the whole heap. */
	CHECK_EQUAL(run(KERNEL MALLOC("%rd4", "8") "cvt.u64.u32 %rd5, %r1;\nst.u64 [%rd4], %rd5;\nld.u64 %rd6, [%rd4];\n"
			"st.global.u64 [%rd3], %rd6;\n" FREE("%rd4") FREE("0") "setp.ne.u32 %p1, %r1, 5;\n@%p1 ret;\n"
			MALLOC("%rd7", "1008") "st.global.u64 [%rd3], %rd7;\n" END), 0);
	for (unsigned i = 0; i < 32; i++)
		CHECK_EQUAL(out[i], i == 5 ? HEAP + 16 : i);
}

/* All lanes, or each half of them, look at one block after the other. */
static void test_objects(void)
{
	CHECK_EQUAL(run(KERNEL MALLOC("%rd4", "8") "cvt.u64.u32 %rd5, %r1;\nst.u64 [%rd4], %rd5;\nst.global.u64 [%rd3], %rd4;\nbar.warp.sync -1;\n"
			"mov.u32 %r2, 0;\nmov.u64 %rd6, 0;\nshr.u32 %r3, %r1, 4;\n"
			"NEXT: mad.wide.u32 %rd7, %r2, 8, %rd1;\nld.global.u64 %rd8, [%rd7];\nld.u64 %rd9, [%rd8];\n"
			"add.u32 %r4, %r2, %r3;\nand.b32 %r4, %r4, 31;\nmad.wide.u32 %rd7, %r4, 8, %rd1;\nld.global.u64 %rd8, [%rd7];\nld.u64 %rd10, [%rd8];\n"
			"mad.lo.u64 %rd6, %rd9, %rd10, %rd6;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 32;\n@%p1 bra NEXT;\n"
			"bar.warp.sync -1;\nst.global.u64 [%rd3], %rd6;\n" END), 0);
	for (unsigned i = 0; i < 32; i++)
		CHECK_EQUAL(out[i], i < 16 ? 10416 : 9920); /* the sums of j * j, and of j * ((j + 1) % 32), below 32 */
}

static void test_alignment(void)
{
	CHECK_EQUAL(run(KERNEL "setp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nst.param.b64 [p], 8;\nst.param.b64 [q], 256;\n"
			"call.uni (r), __nv_aligned_device_malloc, (p, q);\nld.param.b64 %rd4, [r];\nst.global.u64 [%rd3], %rd4;\n" END), 0);
	CHECK_EQUAL(out[0], HEAP + 256);
	CHECK_EQUAL(run(KERNEL "st.param.b64 [p], 8;\nst.param.b64 [q], 24;\n"
			"call.uni (r), __nv_aligned_device_malloc, (p, q);\n" END), -1);
	CHECK(strstr(error.text, "malloc aligned to 24 bytes, which is not a power of two") != NULL);
}

static void faults(const char *body, const char *expected_text)
{
	char text[4096];

	snprintf(text, sizeof text, "%s%s%s", KERNEL "setp.ne.u32 %p1, %r1, 3;\n@%p1 ret;\n" MALLOC("%rd4", "40"), body, END);
	launch.check = GT_PTX_CHECK_FAULT;
	CHECK_EQUAL(run(text), -1);
	if (!strstr(error.text, expected_text))
		CHECK_TEXT(error.text, expected_text);
}

static void test_faults(void)
{
	faults("st.u32 [%rd4+40], 1;\n", "thread (3,0,0): store of 4 bytes at 0x200000000238 of the device's heap: outside of the "
					 "block of 40 bytes at 0x200000000210");
	/* The same instruction before and after the block is freed. */
	faults("mov.u32 %r2, 0;\nAGAIN: ld.u32 %r3, [%rd4];\nsetp.eq.u32 %p2, %r2, 1;\n@%p2 bra DONE;\nmov.u32 %r2, 1;\n"
	       FREE("%rd4") "bra AGAIN;\nDONE:\n",
	       "load of 4 bytes at 0x200000000210 of the device's heap: in no block that is allocated; it was freed, or never was");
	faults(FREE("%rd4") FREE("%rd4"), "free of 0x200000000210 of the device's heap: in no block that is allocated");
	faults("add.u64 %rd4, %rd4, 8;\n" FREE("%rd4"), "free of 0x200000000218 of the device's heap: inside of the block of 40 bytes "
						      "at 0x200000000210");
	faults(FREE("%rd1"), "free of 0x200000000000, which is not in the device's heap");
}

int main(void)
{
	RUN(test_against_a_list);
	RUN(test_held);
	RUN(test_copies);
	RUN(test_lanes_in_order);
	RUN(test_values);
	RUN(test_objects);
	RUN(test_alignment);
	RUN(test_faults);
	return check_report();
}
