/* SPDX-License-Identifier: MIT */
/* The importers of NVBit, Accel-Sim and PPT-GPU traces: their reports for a text, and their errors for invalid text. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "import/formats.h"
#include "stream/op.h"
#include "stream/rows.h"

/* The calls of an importer, one a line. */
static char report[1 << 16];
static size_t reported;
static struct gt_error error;
static char folder[] = "/tmp/importers.XXXXXX";

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int n = vsnprintf(report + reported, sizeof report - reported, format, arguments);
	va_end(arguments);
	if (n > 0 && reported + (size_t)n < sizeof report)
		reported += (size_t)n;
}

static int on_kernel(void *context, const struct gt_kernel *k, struct gt_error *e)
{
	(void)context;
	(void)e;
	if (k->id == GT_KERNEL_NEXT)
		say("kernel next");
	else
		say("kernel %" PRIu64, k->id);
	say(" %s %u,%u,%u %u,%u,%u %u %u\n", k->name, k->grid[0], k->grid[1], k->grid[2], k->block[0],
	    k->block[1], k->block[2], k->registers, k->shared_bytes);
	return 0;
}

static int on_access(void *context, const struct gt_trace_access *a, struct gt_error *e)
{
	char op[GT_OP_TEXT];
	unsigned n = (unsigned)__builtin_popcount(a->mask);

	(void)context;
	if (a->block == 666)
		return gt_fail(e, "refused");
	say("%u.%u %x %s %u %x", a->block, a->warp, a->pc, gt_op_format(a->op, op), a->size, a->mask);
	if (a->scheduled)
		say(" sm %u", a->sm);
	if (a->addresses)
		for (unsigned i = 0; i < n; i++)
			say(" %" PRIx64, a->addresses[i]);
	else
		say(" %" PRIx64 "%+" PRId64, a->base, a->stride);
	say("%s\n", a->numbering == GT_AN_OF_WARP ? "" : " numbered otherwise");
	return 0;
}

static int on_passed_over(void *context, const char *what, uint64_t number, struct gt_error *e)
{
	(void)context;
	(void)e;
	say("passed over %" PRIu64 " %s\n", number, what);
	return 0;
}

static void on_copy(void *context, uint64_t address, uint64_t bytes)
{
	(void)context;
	say("copied %" PRIx64 "+%" PRIu64 "\n", address, bytes);
}

static struct gt_trace trace = {.kernel = on_kernel, .access = on_access, .passed_over = on_passed_over, .copy = on_copy};

static const char *in_folder(const char *name)
{
	static char path[4][512];
	static unsigned next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
	return path[next];
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");

	if (!file || fputs(text, file) < 0 || fclose(file) != 0)
		perror(name), exit(1);
}

/* Reads a text as a format; returns the report, or the error without the folder's name. */
static const char *read_file(const char *format, const char *name)
{
	static struct gt_error ignored;
	struct gt_input *input = gt_input_open(in_folder(name), &error);

	reported = 0;
	report[0] = '\0';
	if (!input)
		return error.text;
	int result = gt_importer_find(format)->read(input, &trace, &error);
	gt_input_close(input, result == 0 ? &error : &ignored);
	if (result == 0)
		return report;
	char *place = strstr(error.text, folder);
	return place ? place + strlen(folder) + 1 : error.text;
}

static const char *read_text(const char *format, const char *text)
{
	write_file("t", text);
	return read_file(format, "t");
}

/* As read_text, of three pieces put together. */
static const char *read_three(const char *format, const char *head, const char *middle, const char *tail)
{
	static char text[1 << 16];

	snprintf(text, sizeof text, "%s%s%s", head, middle, tail);
	return read_text(format, text);
}

static const char *read_paths(const char *path, const char *other)
{
	char *paths[] = {(char *)(uintptr_t)path, (char *)(uintptr_t)other};

	reported = 0;
	report[0] = '\0';
	if (gt_importer_find("pptmem")->read_paths(paths, other ? 2 : 1, &trace, &error) == 0)
		return report;
	char *place = strstr(error.text, folder);
	return place ? place + strlen(folder) + 1 : error.text;
}

#define CHECK_BEGINS(TEXT, BEGIN)                                                                       \
	do {                                                                                            \
		char check_begin[512];                                                                  \
		snprintf(check_begin, sizeof check_begin, "%.*s", (int)strlen(BEGIN), (TEXT));          \
		CHECK_TEXT(check_begin, BEGIN);                                                         \
	} while (0)

/* ---- NVBit */

#define LAUNCH(ID, GRID, BLOCK)                                                                         \
	"MEMTRACE: CTX 0x0000000000abc000 - LAUNCH - Kernel pc 0x00007f0000000200 - Kernel name k"      \
	" - grid launch id " ID " - grid size " GRID " - block size " BLOCK                             \
	" - nregs 8 - shmem 16 - cuda stream id 0\n"
#define RECORD(ID, CTA, WARP, OPCODE)                                                                   \
	"MEMTRACE: CTX 0x0000000000abc000 - grid_launch_id " ID " - CTA " CTA " - warp " WARP           \
	" - " OPCODE " - "
#define ZERO4 "0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 "
#define ZERO28 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4
#define FOUR                                                                                            \
	"0x0000000000000000 0x00007f1000000004 0x0000000000000000 0x00007f100000000c " /* lanes 1 and 3 \
											*/
#define GOOD FOUR ZERO28 "\n"
#define OF_FOUR "a 7f1000000004+4\n" /* lane 3 has the address of lane 1 and twice 4 more */

static void nvbit_reads_launches_and_records_among_output(void)
{
	CHECK_TEXT(
		read_three(
			"nvbit", "hello\n" LAUNCH("1", "4,3,2", "32,2,1"),
			"MEMTRACE: STARTING CONTEXT 0x1\nMEMTRACE: CTX 0x1, Inspecting CUfunction 0x2\n\n",
			RECORD("0", "1,2,1", "1", "LDG.E.64.SYS") GOOD "bye\n"),
		"kernel 1 k 4,3,2 32,2,1 8 16\n21.1 0 load.global 8 " OF_FOUR);
	/* A program whose last line has no end. */
	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"),
			      RECORD("0", "0,0,0", "0", "STG.E.U8") GOOD, "done"),
		   "kernel 1 k 1,1,1 32,1,1 8 16\n0.0 0 store.global 1 " OF_FOUR);
}

static void nvbit_names_may_hold_keys(void)
{
	CHECK_BEGINS(
		read_text(
			"nvbit",
			"MEMTRACE: CTX 0x1 - LAUNCH - Kernel pc 0x2 - Kernel name a - grid launch id 7 - b"
			" - grid launch id 3 - grid size 1,1,1 - block size 1,1,1 - nregs 1"
			" - shmem 0 - cuda stream id 5\n"),
		"kernel 3 a - grid launch id 7 - b 1,1,1 ");
}

static void nvbit_settles_launch_ids(void)
{
	const char *two = LAUNCH("1", "1,1,1", "32,1,1") LAUNCH("2", "1,1,1", "32,1,1");

	/* One more than the id in the records, also when a record follows the next launch. */
	CHECK_TEXT(read_three("nvbit", two, RECORD("0", "0,0,0", "0", "LDG") GOOD,
			      RECORD("1", "0,0,0", "0", "LDG") GOOD),
		   "kernel 1 k 1,1,1 32,1,1 8 16\nkernel 2 k 1,1,1 32,1,1 8 16\n"
		   "kernel 1 k 1,1,1 32,1,1 8 16\n0.0 0 load.global 4 " OF_FOUR
		   "kernel 2 k 1,1,1 32,1,1 8 16\n0.0 0 load.global 4 " OF_FOUR);
	/* Equal to them. */
	CHECK_TEXT(read_three("nvbit", LAUNCH("5", "1,1,1", "32,1,1"),
			      RECORD("5", "0,0,0", "0", "LDG") GOOD, ""),
		   "kernel 5 k 1,1,1 32,1,1 8 16\n0.0 0 load.global 4 " OF_FOUR);
	/* But not one and then the other. */
	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"),
			      RECORD("0", "0,0,0", "0", "LDG") GOOD,
			      RECORD("1", "0,0,0", "0", "LDG") GOOD),
		   "t:3: grid_launch_id 1: expected a launch line with the id 2 before it");
	CHECK_TEXT(read_three("nvbit", LAUNCH("5", "1,1,1", "32,1,1"),
			      RECORD("5", "0,0,0", "0", "LDG") GOOD,
			      RECORD("4", "0,0,0", "0", "LDG") GOOD),
		   "t:3: grid_launch_id 4: expected a launch line with the id 4 before it");
	CHECK_TEXT(
		read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"), LAUNCH("1", "1,1,1", "32,1,1"), ""),
		"t:2: grid launch id 1 again: expected a new one");
}

static void nvbit_maps_slots_to_warps(void)
{
	/* Slots 8 to 11 of a block of four warps are its warps 0 to 3, whichever comes first. */
	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "2,1,1", "128,1,1"),
			      RECORD("0", "1,0,0", "10", "LDG") GOOD,
			      RECORD("0", "1,0,0", "8", "LDG") GOOD),
		   "kernel 1 k 2,1,1 128,1,1 8 16\n1.2 0 load.global 4 " OF_FOUR
		   "1.0 0 load.global 4 " OF_FOUR);
	CHECK_BEGINS(read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"),
				RECORD("0", "0,0,0", "3", "LDG") GOOD,
				RECORD("0", "0,0,0", "4", "LDG") GOOD),
		     "t:3: warp slot 4 of block 0 is one too many: expected at most 1 slots");
}

static void nvbit_lanes_that_do_not_exist_repeat(void)
{
	/* A block of 2 threads: lane 2 shows lane 0's address again. */
	const char *repeat =
		"0x00007f1000000004 0x00007f1000000008 0x00007f1000000004 0x0000000000000000 " ZERO28
		"\n";

	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "1,1,1", "2,1,1"), RECORD("0", "0,0,0", "0", "LDG"),
			      repeat),
		   "kernel 1 k 1,1,1 2,1,1 8 16\n0.0 0 load.global 4 3 7f1000000004 7f1000000008\n");
	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "1,1,1", "2,1,1"), RECORD("0", "0,0,0", "0", "LDG"),
			      "0x00007f1000000004 0x00007f1000000004 0x00007f1000000004 0x0000000000000000 " ZERO28 "\n"),
		   "kernel 1 k 1,1,1 2,1,1 8 16\n0.0 0 load.global 4 3 7f1000000004+0\n");
	CHECK_BEGINS(read_three("nvbit", LAUNCH("1", "1,1,1", "2,1,1"), RECORD("0", "0,0,0", "0", "LDG"),
				GOOD),
		     "t:2: warp slot 0 has lanes that warp 0, the last of the block, does not have");
	/* The slot of a full warp does not become the last, partial one. */
	CHECK_BEGINS(strchr(read_three("nvbit", LAUNCH("1", "1,1,1", "34,1,1"),
				       RECORD("0", "0,0,0", "1", "LDG"), GOOD),
			    '\n'),
		     "\n0.0 0 load.global 4 " OF_FOUR);
}

static void nvbit_pairs_the_halves_of_ldgsts(void)
{
	const char *global = RECORD("0", "0,0,0", "0", "LDGSTS.E.128") GOOD;
	const char *shared = RECORD(
		"0", "0,0,0", "0",
		"LDGSTS.E.128") "0x0000000000000400 0x0000000000000410 0x0000000000000000 0x0000000000000000 " ZERO28
				"\n";
	const char *head = LAUNCH("1", "1,1,1", "32,1,1");

	CHECK_TEXT(read_three("nvbit", head, global, shared),
		   "kernel 1 k 1,1,1 32,1,1 8 16\n0.0 0 load.global 16 " OF_FOUR
		   "0.0 0 store.shared 16 3 400+16\n");
	CHECK_TEXT(
		read_three("nvbit", head, shared, global),
		"kernel 1 k 1,1,1 32,1,1 8 16\n0.0 0 store.shared 16 3 400+16\n0.0 0 load.global 16 " OF_FOUR);
	CHECK_TEXT(read_three("nvbit", head, global, global),
		   "kernel 1 k 1,1,1 32,1,1 8 16\n0.0 0 load.global 16 " OF_FOUR
		   "0.0 0 store.shared 16 " OF_FOUR);
}

static void nvbit_counts_records_without_lanes(void)
{
	CHECK_TEXT(read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"), RECORD("0", "0,0,0", "0", "LDG"),
			      ZERO4 ZERO28),
		   "kernel 1 k 1,1,1 32,1,1 8 16\npassed over 1 accesses without an active lane\n");
}

static void nvbit_refuses(void)
{
	static const struct {
		const char *record, *says;
	} cases[] = {
		{RECORD("0", "1,0,0", "0", "LDG") GOOD,
		 "t:2: CTA 1,0,0: expected one in the grid of 1,1,1"},
		{RECORD("0", "0,0,-1", "0", "LDG") GOOD, "t:2: expected 'MEMTRACE: CTX"},
		{RECORD("0", "0,0,0", "65536", "LDG") GOOD, "t:2: expected 'MEMTRACE: CTX"},
		{RECORD("0", "0,0,0", "-1", "LDG") GOOD, "t:2: expected 'MEMTRACE: CTX"},
		{RECORD("0", "0,0,0", "0", "IMAD") GOOD, "t:2: IMAD: expected the opcode of a load"},
		{RECORD("0", "0,0,0", "0", "LDG") FOUR "\n", "t:2: expected 32 addresses"},
		{RECORD("0", "0,0,0", "0", "LDG") FOUR FOUR ZERO28 "\n", "t:2: expected 32 addresses"},
		{RECORD("0", "0,0,0", "0", "LDG") FOUR FOUR "0x12345678123456789 ",
		 "t:2: expected 32 addresses"},
		{RECORD("0", "0,0,0", "0", "LDG") "0xg", "t:2: expected 32 addresses"},
		{RECORD("99999999999999999999", "0,0,0", "0", "LDG") GOOD,
		 "t:2: expected 'MEMTRACE: CTX"},
		{RECORD("18446744073709551615", "0,0,0", "0", "LDG") GOOD,
		 "t:2: expected 'MEMTRACE: CTX"},
		{"MEMTRACE: CTX 0x1 - LAUNCH - nothing\n", "t:2: expected '... - LAUNCH"},
		{"MEMTRACE: CTX 0x1 - grid_la\n", "t:2: expected 'MEMTRACE: CTX"},
		{"MEMTRACE: what\n", "t:2: expected 'MEMTRACE: CTX"},
		{"x = 3 " RECORD("0", "0,0,0", "0", "LDG") GOOD,
		 "t:2: a record in the middle of a line"},
		{LAUNCH("2", "0,1,1", "32,1,1"), "t:2: expected numbers below 2^32 in a launch"},
		{LAUNCH("2", "4294967296,1,1", "32,1,1"),
		 "t:2: expected numbers below 2^32 in a launch"},
		{LAUNCH("2", "1,1,1", "32,33,1"), "t:2: a block of 32x33x1: expected 1 to 1024"},
		{LAUNCH("2", "65536,65537,1", "32,1,1"), "t:2: a grid of 65536x65537x1: expected"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_BEGINS(read_three("nvbit", LAUNCH("1", "1,1,1", "32,1,1"), cases[i].record, ""),
			     cases[i].says);
	CHECK_BEGINS(read_text("nvbit", "only output\n"),
		     "t:1: expected a line 'MEMTRACE: CTX 0xC - LAUNCH");
	CHECK_BEGINS(read_text("nvbit", RECORD("0", "0,0,0", "0", "LDG") GOOD),
		     "t:1: grid_launch_id 0: expected a launch");
	CHECK_BEGINS(read_three("nvbit", LAUNCH("1", "667,1,1", "32,1,1"),
				RECORD("0", "666,0,0", "0", "LDG"), GOOD),
		     "t:2: refused");
}

/* ---- Accel-Sim */

#define KEYS                                                                                            \
	"-kernel name = k<int>(float*)\n-kernel id = 3\n-grid dim = (4,3,2)\n-block dim = (40,1,1)\n"   \
	"-shmem = 16\n-nregs = 8\n-binary version = 70\n-shmem base_addr = 0x00007f2b00000000\n"        \
	"-local mem base_addr = 0x00007f2af0000000\n"
#define HEADER3 KEYS "-accelsim tracer version = 3\n\n#traces format = PC mask ...\n\n"
#define HEADER5 KEYS "-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
#define TB "#BEGIN_TB\n\nthread block = 1,2,1\n\nwarp = 0\ninsts = 1\n"
#define END "\n#END_TB\n"
#define ANNOUNCED "kernel 3 k<int>(float*) 4,3,2 40,1,1 8 16\n"

static const char *traceg(const char *line)
{
	return read_three("accelsim", HEADER3 TB, line, "\n" END);
}

static const char *traceg5(const char *line)
{
	return read_three("accelsim", HEADER5 TB, line, "\n" END);
}

static void accelsim_reads_the_address_modes(void)
{
	CHECK_TEXT(traceg("0060 00000003 0 STG.E 2 R2 R4 4 0 0x00007f1000000080 0x00007f1000000084"),
		   ANNOUNCED "21.0 60 store.global 4 3 7f1000000080 7f1000000084\n");
	CHECK_TEXT(traceg("0040 fffffff0 1 R4 LDG.E 1 R2 4 1 0x7f1000000000 -4"),
		   ANNOUNCED "21.0 40 load.global 4 fffffff0 7f1000000000-4\n");
	CHECK_TEXT(traceg("0050 00000105 1 R5 LDG.E.64 1 R2 8 2 0x7f1000000100 32 -64"),
		   ANNOUNCED "21.0 50 load.global 8 105 7f1000000100 7f1000000120 7f10000000e0\n");
	/* Arithmetic is modulo 2^64. */
	CHECK_TEXT(traceg("0050 00000003 1 R5 LDG.E 1 R2 4 2 0xfffffffffffffffc 8"),
		   ANNOUNCED "21.0 50 load.global 4 3 fffffffffffffffc 4\n");
}

static void accelsim_trusts_the_opcode_for_size_and_space(void)
{
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LDG.E.S16.SYS 1 R2 4 1 0x10 0"), '\n'),
		     "\n21.0 0 load.global 2 1 10+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LDG.E.S8 1 R2 4 1 0x10 0"), '\n'),
		     "\n21.0 0 load.global 1 1 10+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LDS.128 1 R2 4 1 0x10 0"), '\n'),
		     "\n21.0 0 load.shared 16 1 10+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 0 STL 2 R2 R3 4 1 0xfffc00 0"), '\n'),
		     "\n21.0 0 store.local 4 1 fffc00+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 1 R1 ATOMG.E.ADD 2 R2 R3 4 1 0x10 0"), '\n'),
		     "\n21.0 0 atomic.global 4 1 10+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 0 RED.E.ADD 2 R2 R3 4 1 0x10 0"), '\n'),
		     "\n21.0 0 reduction.global 4 1 10+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LDG.E.CONSTANT 1 R2 4 1 0x10 0"), '\n'),
		     "\n21.0 0 load.global.nc 4 1 10+0\n");
}

static void accelsim_places_generic_addresses(void)
{
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LD.E 1 R2 4 1 0x7f2b00000010 0"), '\n'),
		     "\n21.0 0 load.shared 4 1 7f2b00000010+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 0 ST.E.64 2 R2 R4 8 0 0x7f2af0fffff8"), '\n'),
		     "\n21.0 0 store.local 8 1 7f2af0fffff8\n");
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LD.E 1 R2 4 1 0x7f2af1000000 0"), '\n'),
		     "\n21.0 0 load.global 4 1 7f2af1000000+0\n");
	/* Lanes in several spaces: an access of each, that of the lowest lane first. */
	CHECK_BEGINS(strchr(traceg("0 f0000 1 R4 LD.E 1 R2 4 0 0x7f1000000000 0x7f2b00000010 0x7f1000000004 0x7f2af0000000"), '\n'),
		     "\n21.0 0 load.global 4 50000 7f1000000000 7f1000000004\n"
		     "21.0 0 load.shared 4 20000 7f2b00000010\n21.0 0 load.local 4 80000 7f2af0000000\n");
	CHECK_BEGINS(strchr(traceg("0 3 0 ST.E 2 R2 R4 4 1 0x7f2b00fffffc 4"), '\n'),
		     "\n21.0 0 store.shared 4 1 7f2b00fffffc\n21.0 0 store.global 4 2 7f2b01000000\n");
	/* An opcode that names its space is believed. */
	CHECK_BEGINS(strchr(traceg("0 1 1 R4 LDG.E 1 R2 4 1 0x7f2b00000010 0"), '\n'),
		     "\n21.0 0 load.global 4 1 7f2b00000010+0\n");
	CHECK_BEGINS(strchr(traceg("0 1 0 LDGSTS.E 2 R2 R4 4 1 0x7f1000000000 4"), '\n'),
		     "\n21.0 0 load.global 4 1 7f1000000000+4\n");
	CHECK_BEGINS(strchr(traceg("0 1 0 LDGSTS.E 2 R2 R4 4 1 0x400 4"), '\n'),
		     "\n21.0 0 store.shared 4 1 400+4\n");
}

static void accelsim_passes_over_what_is_no_access(void)
{
	CHECK_TEXT(traceg("0000 ffffffff 1 R9 IMAD.MOV.U32 2 R255 R1 0 "), ANNOUNCED);
	CHECK_TEXT(traceg("0000 00000000 1 R9 LDG.E 1 R1 4 2 0x0 "), ANNOUNCED);
	CHECK_TEXT(traceg("0000 ffffffff 0 UTMALDG.2D 3 UR4 UR8 UR6 128 4 0x7f00 2 128"),
		   ANNOUNCED "passed over 1 TMA instructions\n");
	CHECK_TEXT(traceg("0000 00000001 0 UBLKCP.S.G 3 UR4 UR8 UR6 128 3 1 0x7f00"),
		   ANNOUNCED "passed over 1 TMA instructions\n");
}

static void accelsim_takes_immediates_and_new_registers(void)
{
	const char *line = "0040 00000003 2 R4 UP1 LDG.E 3 R2 UR4 P0 4 1 0x7f1000000000 4 -16";

	CHECK_TEXT(traceg5(line), ANNOUNCED "21.0 40 load.global 4 3 7f1000000000+4\n");
	CHECK_BEGINS(traceg(line), "t:20: mode 1: expected");
	CHECK_TEXT(traceg5("0040 00000003 1 R4 LDG.E 1 R2 4 0 0x10 0x14 0x20"),
		   ANNOUNCED "21.0 40 load.global 4 3 10 14\n");
	CHECK_TEXT(traceg5("0040 ffffffff 1 R4 IADD3 1 R2 0 77"), ANNOUNCED);
	CHECK_BEGINS(traceg5("0040 ffffffff 1 R4 IADD3 1 R2 0 77 78"), "t:19: expected '[X Y Z");
	CHECK_TEXT(read_three("accelsim", KEYS "-enable lineinfo = 1\n" TB,
			      "17 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n", END),
		   ANNOUNCED "21.0 40 load.global 4 3 10+4\n");
	CHECK_TEXT(
		read_three("accelsim",
			   HEADER5
			   "#BEGIN_TB\nthread block = 0,0,0\ncluster id = 0,0,0\ncluster cta = 0,0,0\n"
			   "cluster rank = 0\n\nwarp = 1\ninsts = 1\n",
			   "c040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n", END),
		ANNOUNCED "0.1 c040 load.global 4 3 10+4\n");
}

static void accelsim_reads_ungrouped_lines(void)
{
	CHECK_TEXT(read_three("accelsim", HEADER3, "1 2 1 0 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n",
			      "3 2 1 1 0050 00000001 0 EXIT 0 0\n"),
		   ANNOUNCED "21.0 40 load.global 4 3 10+4\n");
	/* With the SM and its slot; with a cluster; with a source line. */
	CHECK_TEXT(read_three("accelsim", HEADER5,
			      "1 2 1 0 79 5 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4 0\n", ""),
		   ANNOUNCED "21.0 40 load.global 4 3 sm 79 10+4\n");
	CHECK_TEXT(read_three("accelsim", HEADER5,
			      "1 2 1 0 0 0 0 1 2 3 4 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4 0\n", ""),
		   ANNOUNCED "21.0 40 load.global 4 3 10+4\n");
	CHECK_TEXT(read_three("accelsim", KEYS "-enable lineinfo = 1\n",
			      "1 2 1 0 17 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4 0\n", ""),
		   ANNOUNCED "21.0 40 load.global 4 3 10+4\n");
	/* Old grouped traces repeat block and warp. */
	CHECK_TEXT(read_three("accelsim", KEYS "-accelsim tracer version = 2\n" TB,
			      "1 2 1 0 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n", END),
		   ANNOUNCED "21.0 40 load.global 4 3 10+4\n");
	CHECK_BEGINS(read_three("accelsim", KEYS "-accelsim tracer version = 2\n" TB,
				"1 2 1 1 0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n", END),
		     "t:17: expected the block and the warp of the section");
}

static void accelsim_reads_several_launches(void)
{
	CHECK_TEXT(
		read_three(
			"accelsim", HEADER3 TB "0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n" END,
			"-kernel name = second\n-kernel id = 4\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n",
			""),
		ANNOUNCED "21.0 40 load.global 4 3 10+4\nkernel 4 second 1,1,1 32,1,1 0 0\n");
}

static void accelsim_reads_a_list(void)
{
	mkdir(in_folder("list"), 0700);
	write_file("list/kernel-1.traceg", HEADER3 TB "0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 4\n" END);
	write_file("list/kernelslist.g",
		   "MemcpyHtoD,0x00007f1000000000,4096\n\nkernel-1.traceg\nMemcpyHtoD,0x7f,1\n");
	CHECK_TEXT(read_file("accelsim", "list/kernelslist.g"),
		   "copied 7f1000000000+4096\n" ANNOUNCED "21.0 40 load.global 4 3 10+4\n"
		   "copied 7f+1\n");
	write_file("list/kernelslist.g", "MemcpyHtoD,0x1,1\nkernel-2.traceg.xz\n");
	CHECK_BEGINS(read_file("accelsim", "list/kernelslist.g"), "list/kernelslist.g:2: ");
	CHECK(strstr(error.text, "kernel-2.traceg.xz") && strstr(error.text, "No such file"));
	write_file("list/kernelslist.g", "# comment\nncclSend\nMemcpyHtoD,0xffff80007f1000,12 \nMemcpyDtoH,0x1,2\n#kernel-2.traceg\nkernel-1.traceg\n");
	CHECK_TEXT(read_file("accelsim", "list/kernelslist.g"),
		   "passed over 1 other lines of lists\npassed over 1 other lines of lists\ncopied ffff80007f1000+12\n"
		   "passed over 1 memory copies\npassed over 1 other lines of lists\n" ANNOUNCED
		   "21.0 40 load.global 4 3 10+4\n");
	static const char *const wrong[] = {"kernel-1", "kernel-1.traceg twice", "MemcpyHtoD,0x1", "MemcpyHtoD,0x1,-1", "MemcpyHtoD,0xffffffffffffffff,2"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char list[128];
		snprintf(list, sizeof list, "kernel-1.traceg\n%s\n", wrong[i]);
		write_file("list/kernelslist.g", list);
		CHECK_BEGINS(read_file("accelsim", "list/kernelslist.g"), "list/kernelslist.g:2: expected MemcpyHtoD,ADDRESS,BYTES");
	}
	write_file("list/kernelslist.g", "kernel-self.traceg\n");
	write_file("list/kernel-self.traceg", "kernel-self.traceg\n");
	CHECK_BEGINS(read_file("accelsim", "list/kernelslist.g"),
		     "list/kernel-self.traceg:1: expected '[X Y Z");
}

static void accelsim_refuses_lines(void)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"0040 1ffffffff 1 R4 LDG.E 1 R2 4 1 0x10 4", "t:20: expected a mask of eight"},
		{"0040 zz 1 R4 LDG.E 1 R2 4 1 0x10 4", "t:20: expected a mask of eight"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4 0 0x10", "t:20: mode 0: expected"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4 0 0x10 0x14 0x18", "t:20: mode 0: expected"},
		{"0040 00000001 1 R4 LDG.E 1 R2 4 0 0x12345678123456789", "t:20: mode 0: expected"},
		{"0040 00000001 1 R4 LDG.E 1 R2 4 0 0xg", "t:20: mode 0: expected"},
		{"0040 00000005 1 R4 LDG.E 1 R2 4 1 0x10 4", "t:20: mode 1: expected"},
		{"0040 00000001 1 R4 LDG.E 1 R2 4 1 0x10", "t:20: mode 1: expected"},
		{"0040 00000001 1 R4 LDG.E 1 R2 4 1 0x10 99999999999999999999",
		 "t:20: mode 1: expected"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4 1 0x10 -9223372036854775808",
		 "t:20: mode 1: expected"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4 2 0x10", "t:20: mode 2: expected"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4 3 1 0x10", "t:20: expected an address mode"},
		{"0040 00000003 1 R4 LDG.E 1 R2 4", "t:20: expected an address mode"},
		{"0040 00000003 1 R4 LDG.E 1 R2", "t:20: expected '[X Y Z"},
		{"0040 00000003 1 R4 LDG.E 1 R2 -4 1 0x10 4", "t:20: expected '[X Y Z"},
		{"0040 00000003 -1 R4 LDG.E 1 R2 4 1 0x10 4", "t:20: expected '[X Y Z"},
		{"0040 00000003 99999999999 R4 LDG.E", "t:20: expected '[X Y Z"},
		{"0040", "t:20: expected '[X Y Z"},
		{"0040 00000003 1 R4 IADD3 1 R2 4 1 0x10 4",
		 "t:20: IADD3 has addresses: expected a load"},
		{"what", "t:20: expected '[X Y Z"},
		{"-kernel id = 4", "t:20: a header line inside a thread block"},
		{"#BEGIN_TB", "t:20: a thread block inside another"},
		{"thread block = 0,0,0", "t:20: 'thread block': expected once"},
		{"cluster id = 0,0,0", "t:20: 'cluster': expected after"},
		{"insts = 1", "t:20: 'insts': expected after"},
		{"", "t:22: warp 0 has 0 instructions: expected 1"},
		{"0 1 0 NOP 0 0\n0 1 0 NOP 0 0", "t:21: one instruction more: expected 1"},
		{"warp = 1\ninsts = 0", "t:20: warp 0 has 0 instructions: expected 1"},
		{"0 1 0 NOP 0 0\nwarp = 2\ninsts = 0", "t:21: warp 2: expected one below 2"},
		{"0 1 0 NOP 0 0\nwarp = -1\ninsts = 0", "t:21: expected 'warp = N'"},
		{"0 1 0 NOP 0 0\nwarp = 1\n", "t:24: #END_TB: expected 'insts = N'"},
		{"0 1 0 NOP 0 0\nwarp = 1\ninsts = -3\n", "t:22: expected 'insts = N'"},
		{"0 1 0 NOP 0 0\nwarp = 1\ninsts = 1\n0 00000100 1 R1 LDG 1 R1 4 1 0x10 4",
		 "t:23: mask 00000100: expected lanes of 000000ff"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_BEGINS(traceg(cases[i].line), cases[i].says);
}

static void accelsim_refuses_files(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "t:0: expected a header with -kernel id"},
		{"-kernel name = k\n-kernel id = 1\n#BEGIN_TB\n",
		 "t:3: expected a header with -kernel id"},
		{"-kernel id = -1\n", "t:1: -kernel id: expected a number"},
		{"-kernel id = 18446744073709551616\n", "t:1: -kernel id: expected a number"},
		{"-grid dim = (1,1)\n", "t:1: -grid dim: expected (x,y,z)"},
		{"-grid dim = (0,1,1)\n", "t:1: -grid dim: expected (x,y,z)"},
		{"-kernel id\n", "t:1: expected '-KEY = VALUE'"},
		{"-kernel id = 1\n-grid dim = (1,1,1)\n-block dim = (2048,1,1)\n",
		 "t:3: a block of 2048x1x1: expected 1 to 1024"},
		{KEYS "#END_TB\n", "t:10: #END_TB: expected #BEGIN_TB"},
		{KEYS "warp = 0\n", "t:10: 'warp': expected after"},
		{KEYS "#BEGIN_TB\nwarp = 0\n", "t:11: 'warp': expected after"},
		{KEYS "#BEGIN_TB\nthread block = 4,0,0\n",
		 "t:11: thread block 4,0,0: expected one in the grid of 4,3,2"},
		{KEYS "#BEGIN_TB\nthread block = 0,0\n", "t:11: expected 'thread block = X,Y,Z'"},
		{KEYS TB "0 1 0 NOP 0 0\n", "t:16: the trace ends inside a thread block"},
		{KEYS TB "0 1 0 NO", "t:16: expected '[X Y Z"},
		{KEYS TB "0 1 0 NOP 0 0\n" END "0 1 0 NOP 0 0\n",
		 "t:19: an instruction: expected after"},
		{KEYS "4 0 0 0 0 00000001 0 NOP 0 0\n", "t:10: thread block 4,0,0: expected"},
		{KEYS "0 0 0 2 0 00000001 0 NOP 0 0\n", "t:10: warp 2: expected one below 2"},
		{KEYS "0 0 0 0 70000 1 0 00000001 0 NOP 0 0\n", "t:10: expected an SM below 65536"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_BEGINS(read_text("accelsim", cases[i].text), cases[i].says);
}

/* ---- PPT-GPU */

#define NEXT(NAME) "kernel next " NAME " 1,1,1 0,0,0 0 0\n"

static void pptmem_reads_both_dialects(void)
{
	const char *want =
		NEXT("t") "0.0 0 load.global 4 3 7f1000000000 7f1000000004\n"
			  "0.0 0 store.global 8 1 7f1000000080\n0.0 0 atomic.global 4 1 7f1000000100\n";

	CHECK_TEXT(
		read_text(
			"pptmem",
			"LDG.E 7f1000000000 7f1000000004 \nSTG.E.64 7f1000000080\nATOMG.E.ADD 7f1000000100\n"),
		want);
	CHECK_TEXT(
		read_text(
			"pptmem",
			"\n=====\nLDG.E 0x7f1000000000 0x7f1000000004 \n=====\nSTG.E.64 0x7f1000000080 \n"
			"=====\nATOMG.E.ADD 0x7f1000000100"),
		want);
	CHECK_TEXT(
		read_text("pptmem", "\n=====\nLDL.128 0x10 \n=====\nLDG \n"),
		NEXT("t") "0.0 0 load.local 16 1 10\npassed over 1 accesses without an active lane\n");
}

static void pptmem_finds_the_optional_fields(void)
{
	/* A warp: decimal at first, hexadecimal after the first address. */
	CHECK_TEXT(
		read_text("pptmem", "LDG 10 7f1000000000\nLDG 10 7f1000000000\nLDG 1f 7f1000000000\n"),
		NEXT("t") "0.10 0 load.global 4 1 7f1000000000\n0.16 0 load.global 4 1 7f1000000000\n"
			  "0.31 0 load.global 4 1 7f1000000000\n");
	CHECK_TEXT(
		read_text("pptmem", "LDG 10\nLDG 12 7f1000000000\nLDG 12 7f1000000000\n"),
		NEXT("t") "passed over 1 accesses without an active lane\n0.12 0 load.global 4 1 7f1000000000\n"
			  "0.18 0 load.global 4 1 7f1000000000\n");
	CHECK_TEXT(read_text("pptmem", "LDG 0 32 32 7f1000000000\nLDG 0 20 20 7f1000000000\n"),
		   NEXT("t") "0.0 0 load.global 4 1 7f1000000000\n0.0 0 load.global 4 1 7f1000000000\n");
	CHECK_TEXT(
		read_text("pptmem", "LDG 7 0 32 32 7f1000000000\nLDG a 0 20 20 7f1000000000\n"),
		NEXT("t") "0.7 0 load.global 4 1 7f1000000000\n0.10 0 load.global 4 1 7f1000000000\n");
}

static void pptmem_splits_ldgsts(void)
{
	const char *want = NEXT(
		"t") "0.0 0 load.global 4 3 7f1000000000 7f1000000004\n0.0 0 store.shared 4 3 4 8\n";

	CHECK_TEXT(read_text("pptmem", "LDGSTS.E 7f1000000000 7f1000000004 4 8\n"), want);
	CHECK_TEXT(read_text("pptmem", "=====\nLDGSTS.E 0x4 0x8 0x7f1000000000 0x7f1000000004\n"), want);
	/* The shared list has lost an address that was 0. */
	CHECK_TEXT(
		read_text("pptmem", "LDGSTS.E 7f1000000000 7f1000000004 4\n"),
		NEXT("t") "0.0 0 load.global 4 3 7f1000000000 7f1000000004\n0.0 0 store.shared 4 1 4\n");
	/* A warp, and shared addresses as small as a warp, next to records that tell. */
	CHECK_TEXT(
		read_text("pptmem", "LDGSTS.E 1 4 8 7f1000000000 7f1000000004\nLDG 1 7f1000000000\n"),
		NEXT("t") "0.1 0 load.global 4 3 7f1000000000 7f1000000004\n0.1 0 store.shared 4 3 4 8\n"
			  "0.1 0 load.global 4 1 7f1000000000\n");
	CHECK_TEXT(read_text("pptmem", "LDGSTS.E 7f1000000000 7f1000000004 7f2b00000000 7f2b00000004\n"),
		   NEXT("t") "0.0 0 load.global 4 3 7f1000000000 7f1000000004\n"
			     "0.0 0 store.shared 4 3 7f2b00000000 7f2b00000004\n");
	CHECK_BEGINS(read_text("pptmem", "LDGSTS.E 7f1000000000 7f1000000004 7f2b00000000\n"),
		     "t:1: LDGSTS: expected");
	CHECK_BEGINS(read_text("pptmem", "LDGSTS.E 7f1000000000 4 7f2b00000000\n"),
		     "t:1: LDGSTS: expected");
}

static void pptmem_refuses_records(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"IADD3 7f1000000000\n", "t:1: IADD3: expected the opcode"},
		{"LDG 7f100000000g\n", "t:1: expected hexadecimal addresses"},
		{"LDG 12345678123456789\n", "t:1: expected hexadecimal addresses"},
		{"LDG -7f1000000000\n", "t:1: expected hexadecimal addresses"},
		{"LDG 7f1000000000\nLDG 4 7f1000000000\n", "t:2: an address below 1024"},
		{"LDG 4 7f1000000000\nLDG 4\nLDG\n", "t:3: expected 1 hexadecimal numbers below 1024"},
		{"LDG a 7f1000000000\n", "t:1: expected 1 decimal numbers below 1024"},
		{"LDG 1 7f1000000000\nLDG 400 7f1000000000\n", "t:1: an address below 1024"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK_BEGINS(strchr(read_text("pptmem", cases[i].text), 't'), cases[i].says);
	CHECK_BEGINS(read_text("pptmem", "LDG 1 2 7f1000000000\n"),
		     "t: 2 numbers below 1024 before the addresses");
	char many[1024] = "LDG";
	for (int i = 0; i < 33; i++)
		strcat(many, " 7f1000000000");
	CHECK_BEGINS(read_text("pptmem", many), "t:1: more than 32 addresses");
}

#define CONFIG                                                                                          \
	"kernel_2 = {\n\n\t\"kernel_name\"\t: \"b{}\",\n\t\"num_registers\" : 32,\n"                    \
	"\t\"shared_mem_bytes\": 48,\n\t\"grid_size\" : (2, 3, 1),\n\t\"block_size\" : 96,\n"           \
	"\t\"cuda_stream_id\" : 0\n}\n\nkernel_1 = {'kernel_name': 'a', 'grid_size': 1, 'block_size': [8, 4]}\n"

static void pptmem_reads_a_folder(void)
{
	mkdir(in_folder("app"), 0700);
	mkdir(in_folder("app/memory_traces"), 0700);
	write_file("app/memory_traces/kernel_2_block_5.mem", "LDG 7 7f1000000000\nSTG 6 7f1000000000\n");
	write_file("app/memory_traces/kernel_2_block_0.mem", "LDG 2 7f1000000000\n");
	write_file("app/memory_traces/kernel_1_block_0.mem", "LDG 7f1000000000\n");
	write_file("app/memory_traces/kernel_1_sm_0.mem", "LDG 7f1000000000\n");
	write_file("app/memory_traces/notes.txt", "nothing\n");
	write_file("app/app_config.py", CONFIG "app_kernels_id = [1, 2]\n");
	const char *one = "kernel 1 a 1,1,1 8,4,1 0 0\n0.0 0 load.global 4 1 7f1000000000\n";
	const char *two = "kernel 2 b{} 2,3,1 96,1,1 32 48\n0.2 0 load.global 4 1 7f1000000000\n"
			  "5.1 0 load.global 4 1 7f1000000000\n5.0 0 store.global 4 1 7f1000000000\n";
	char both[1024];

	snprintf(both, sizeof both, "%s%s", one, two);
	CHECK_TEXT(read_paths(in_folder("app"), NULL), both);
	CHECK_TEXT(read_paths(in_folder("app/memory_traces"), NULL), both);
	CHECK(gt_importer_find("pptmem")->owns_path(in_folder("app")));
	CHECK(gt_importer_find("pptmem")->owns_path(in_folder("app/memory_traces")));
	CHECK(gt_importer_find("pptmem")->owns_path("x/kernel_1_block_0.mem.xz"));
	CHECK(!gt_importer_find("pptmem")->owns_path("x/other.mem"));
	CHECK(!gt_importer_find("pptmem")->owns_path(in_folder("list")));
	/* Only some of the files: a launch without its files has no accesses. */
	CHECK_TEXT(
		read_paths(in_folder("app/memory_traces/kernel_1_block_0.mem"), NULL),
		"kernel 1 a 1,1,1 8,4,1 0 0\n0.0 0 load.global 4 1 7f1000000000\nkernel 2 b{} 2,3,1 96,1,1 32 48\n");
	unlink(in_folder("app/app_config.py"));
	CHECK_TEXT(
		read_paths(in_folder("app/memory_traces/kernel_2_block_5.mem"),
			   in_folder("app/memory_traces/kernel_1_block_0.mem")),
		"kernel 1 kernel_1 1,1,1 0,0,0 0 0\n0.0 0 load.global 4 1 7f1000000000\n"
		"kernel 2 kernel_2 6,1,1 0,0,0 0 0\n5.7 0 load.global 4 1 7f1000000000\n5.6 0 store.global 4 1 7f1000000000\n");
}

static void pptmem_refuses_folders(void)
{
	static const struct {
		const char *config, *says;
	} cases[] = {
		{"kernel_1 = {\"grid_size\": 1, \"block_size\": 32}\n",
		 "app/memory_traces/kernel_2_block_0.mem: expected a kernel that"},
		{CONFIG "app_kernels_id = [1]\n",
		 "app/memory_traces/kernel_2_block_0.mem: expected a kernel that"},
		{CONFIG "app_kernels_id = [1, 2, 3]\n",
		 "app/app_config.py:12: app_kernels_id: expected"},
		{CONFIG "kernel_1 = {\"grid_size\": 1, \"block_size\": 32}\n",
		 "app/app_config.py:12: expected each kernel_N once"},
		{CONFIG "kernel_3 = {\"grid_size\": 1,", "app/app_config.py:12: expected 'kernel_N = {"},
		{"kernel_1 = {\"grid_size\": 1}\n",
		 "app/app_config.py:1: expected grid_size and block_size"},
		{"\nkernel_1 = {\"grid_size\": 0, \"block_size\": 32}\n",
		 "app/app_config.py:2: expected a number"},
		{"kernel_1 = {\"grid_size\": -4, \"block_size\": 32}\n",
		 "app/app_config.py:1: expected a number"},
		{"kernel_1 = {\"grid_size\": n, \"block_size\": 32}\n",
		 "app/app_config.py:1: expected a number"},
		{"kernel_1 = {\"grid_size\": (1,2,3,4), \"block_size\": 32}\n",
		 "app/app_config.py:1: expected a number"},
		{"kernel_1 = {\"grid_size\": 99999999999, \"block_size\": 32}\n",
		 "app/app_config.py:1: expected a number"},
		{"kernel_1 = {\"grid_size\": 1, \"block_size\": 4096}\n",
		 "app/app_config.py:1: a block of 4096x1x1"},
		{"kernel_18446744073709551616 = {\"grid_size\": 1, \"block_size\": 32}\n",
		 "app/app_config.py:1: expected each"},
		{"", "app/app_config.py:1: expected a launch"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		write_file("app/app_config.py", cases[i].config);
		CHECK_BEGINS(read_paths(in_folder("app"), NULL), cases[i].says);
	}
	write_file("app/app_config.py", CONFIG "app_kernels_id = [1, 2]\n");
	write_file("app/memory_traces/kernel_2_block_6.mem", "");
	CHECK_BEGINS(read_paths(in_folder("app"), NULL),
		     "app/memory_traces/kernel_2_block_6.mem: expected a block below 6");
	CHECK_BEGINS(read_paths(in_folder("app"), in_folder("list")),
		     "list: expected the traces of one folder");
	CHECK_BEGINS(read_paths(in_folder("app"), in_folder("app")),
		     "app/memory_traces/kernel_1_block_0.mem: expected one file for a block");
	CHECK_BEGINS(read_paths(in_folder("app/memory_traces/kernel_1_sm_0.mem"), NULL),
		     "app/memory_traces/kernel_1_sm_0.mem: expected a file kernel_K_block_B.mem");
	CHECK_BEGINS(read_paths(in_folder("app/memory_traces/kernel_1_block_4294967296.mem"), NULL),
		     "app/memory_traces/kernel_1_block_4294967296.mem: expected a block below");
	CHECK_BEGINS(read_paths(in_folder("app/memory_traces/kernel_1_block_0.mem.gz"), NULL),
		     "app/memory_traces/kernel_1_block_0.mem.gz: No such");
	CHECK_BEGINS(read_paths(in_folder("app/memory_traces/notes.txt"), in_folder("app")),
		     "app/memory_traces/notes.txt: expected a file kernel_K_block_B.mem");
	remove(in_folder("app/memory_traces/kernel_1_block_0.mem"));
	remove(in_folder("app/memory_traces/kernel_2_block_0.mem"));
	remove(in_folder("app/memory_traces/kernel_2_block_5.mem"));
	remove(in_folder("app/memory_traces/kernel_2_block_6.mem"));
	CHECK_BEGINS(read_paths(in_folder("app"), NULL),
		     "app/memory_traces: expected files kernel_K_block_B.mem; traces of an SM");
	CHECK_BEGINS(read_paths(in_folder("list"), NULL), "list: expected files kernel_K_block_B.mem");
}

/* ---- together */

static void slots_are_told_apart(void)
{
	struct gt_slots slots;
	uint16_t warp;
	unsigned seen = 0;

	CHECK_EQUAL(gt_slots_open(&slots, &error), 0);
	/* Slots 0, 4, 8 and 12 all are 0 modulo 4. */
	for (uint16_t slot = 0; slot < 16; slot += 4) {
		CHECK_EQUAL(gt_slots_warp(&slots, 7, slot, 4, false, &warp, &error), 0);
		seen |= 1U << warp;
	}
	CHECK_EQUAL(seen, 15);
	CHECK_EQUAL(gt_slots_warp(&slots, 7, 4, 4, false, &warp, &error), 0);
	CHECK_EQUAL(warp, 1);
	CHECK_EQUAL(gt_slots_warp(&slots, 7, 5, 4, false, &warp, &error), -1);
	gt_slots_clear(&slots);
	CHECK_EQUAL(gt_slots_warp(&slots, 7, 3, 4, true, &warp, &error), 0);
	CHECK_EQUAL(warp, 0);
	gt_slots_close(&slots);
}

static void formats_are_detected(void)
{
	static const struct {
		const char *head, *name;
	} cases[] = {
		{"out\n\nMEMTRACE: STARTING CONTEXT 0x1\n", "nvbit"},
		{"\n-kernel name = k\n", "accelsim"},
		{"MemcpyHtoD,0x7f10,4\n", "accelsim"},
		{"kernel-1.traceg.xz\n", "accelsim"},
		{"\n=====\nLDG.E 0x10 \n", "pptmem"},
		{"STG.E.SYS 7f10 \n", "pptmem"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct gt_importer *importer =
			gt_importer_detect(cases[i].head, strlen(cases[i].head));

		CHECK_TEXT(importer ? importer->name : "none", cases[i].name);
	}
	CHECK(gt_importer_detect("LDG and more\n", 13) == NULL);
}

static void remove_all(void)
{
	static const char *const names[] = {
		"t",
		"list/kernel-1.traceg",
		"list/kernel-self.traceg",
		"list/kernelslist.g",
		"list",
		"app/memory_traces/kernel_1_block_0.mem",
		"app/memory_traces/kernel_1_sm_0.mem",
		"app/memory_traces/kernel_2_block_0.mem",
		"app/memory_traces/kernel_2_block_5.mem",
		"app/memory_traces/kernel_2_block_6.mem",
		"app/memory_traces/notes.txt",
		"app/memory_traces",
		"app/app_config.py",
		"app",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		remove(in_folder(names[i]));
	remove(folder);
}

int main(void)
{
	if (!mkdtemp(folder))
		return perror(folder), 1;
	RUN(nvbit_reads_launches_and_records_among_output);
	RUN(nvbit_names_may_hold_keys);
	RUN(nvbit_settles_launch_ids);
	RUN(nvbit_maps_slots_to_warps);
	RUN(nvbit_lanes_that_do_not_exist_repeat);
	RUN(nvbit_pairs_the_halves_of_ldgsts);
	RUN(nvbit_counts_records_without_lanes);
	RUN(nvbit_refuses);
	RUN(accelsim_reads_the_address_modes);
	RUN(accelsim_trusts_the_opcode_for_size_and_space);
	RUN(accelsim_places_generic_addresses);
	RUN(accelsim_passes_over_what_is_no_access);
	RUN(accelsim_takes_immediates_and_new_registers);
	RUN(accelsim_reads_ungrouped_lines);
	RUN(accelsim_reads_several_launches);
	RUN(accelsim_reads_a_list);
	RUN(accelsim_refuses_lines);
	RUN(accelsim_refuses_files);
	RUN(pptmem_reads_both_dialects);
	RUN(pptmem_finds_the_optional_fields);
	RUN(pptmem_splits_ldgsts);
	RUN(pptmem_refuses_records);
	RUN(pptmem_reads_a_folder);
	RUN(pptmem_refuses_folders);
	RUN(slots_are_told_apart);
	RUN(formats_are_detected);
	remove_all();
	return check_report();
}
