/* SPDX-License-Identifier: MIT */
/* Writing traces of Accel-Sim (stream/views.h): a file for each launch, in which the instructions of a block stand warp by warp, and the
 * list of them. A stream has the accesses and, in its column work, how many instructions and barriers stood between them. The rest is
 * made up: each warp ends with EXIT, loads go into registers, and what waits for their data names these. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/utf8.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/records.h"
#include "stream/views.h"

#define PATH 4096     /* bytes of a file's name */
#define LINE_TEXT 256 /* bytes of a line without its addresses */

/* The opcodes are Volta's, which every configuration of Accel-Sim takes; the lines those of tracer version 3, the last without an immediate
 * at their end. */
#define HEADER_END \
	"-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x0000000000000000\n-local mem base_addr = 0x0000000000000000\n" \
	"-nvbit version = 0\n-accelsim tracer version = 3\n\n" \
	"#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n"

/* ---- opcodes ---- */

/* By what is accessed and how; NULL: Accel-Sim has none. Those of reductions in shared memory it does not know, so they are atomics. */
static const char *const opcodes[GT_SPACES][4] = {
	[GT_GLOBAL] = {"LDG.E", "STG.E", "ATOMG.E.ADD", "RED.E.ADD"},
	[GT_LOCAL] = {"LDL", "STL", NULL, NULL},
	[GT_SHARED] = {"LDS", "STS", "ATOMS.ADD", "ATOMS.ADD"},
	[GT_TEXTURE] = {"TLD", NULL, NULL, NULL},
	[GT_CONSTANT] = {"LDC", NULL, NULL, NULL},
};

/* Loads that L1 does not serve have a scope in SASS, which Accel-Sim looks for. */
static const char *const operators[GT_OPERATORS] = {
	[GT_OPERATOR_NONE] = "", [GT_CA] = ".CA", [GT_CG] = ".CG", [GT_CS] = ".CS", [GT_CV] = ".CV.STRONG.GPU", [GT_NC] = ".CONSTANT", [GT_LU] = ".LU",
};
static const char *const priorities[GT_PRIORITIES] = {
	[GT_PRIORITY_NONE] = "", [GT_EVICT_NORMAL] = "", [GT_EVICT_UNCHANGED] = ".EU", [GT_EVICT_FIRST] = ".EF", [GT_EVICT_LAST] = ".EL",
	[GT_NO_ALLOCATE] = ".NA",
};
static const char *const line_actions[GT_LINE_ACTIONS] = {
	[GT_PREFETCH_L1] = "CCTL.E.PF1", [GT_PREFETCH_L2] = "CCTL.E.PF2", [GT_DISCARD_L2] = "CCTL.E.DML2", [GT_APPLY_PRIORITY_L2] = "CCTL.E.RML2",
};

static const char *suffix_of_size(unsigned size)
{
	switch (size) {
	case 1: return ".U8";
	case 2: return ".U16";
	case 4: return "";
	case 8: return ".64";
	case 16: return ".128";
	default: return NULL;
	}
}

/* The opcode of row i. Returns 0, or -1 if there is none. */
static int format_opcode(const struct gt_rows *rows, size_t i, char opcode[LINE_TEXT], struct gt_error *error)
{
	uint8_t op = rows->op[i];
	uint16_t hint = gt_rows_hint(rows, i);
	const char *word = opcodes[gt_op_space(op)][gt_op_action(op)], *size = suffix_of_size(rows->size[i]);
	const char *operator = operators[gt_op_operator(op)];
	char text[GT_OP_TEXT], fetch[16] = "";

	if (gt_hint_action(hint) != GT_ACCESS_DATA) {
		snprintf(opcode, LINE_TEXT, "%s", line_actions[gt_hint_action(hint)]);
		return 0;
	}
	if (!word || !size)
		return gt_fail(error, "%s of %u bytes a lane: expected what Accel-Sim's opcodes have: loads, stores and atomics of 1, 2, 4, 8 or 16 bytes",
			       gt_op_format(op, text), rows->size[i]);
	if (gt_op_operator(op) == GT_CG && gt_op_space(op) == GT_GLOBAL && gt_op_action(op) == GT_LOAD)
		operator = ".STRONG.GPU";
	if (gt_hint_fetch(hint) > 0)
		snprintf(fetch, sizeof fetch, ".LTC%uB", gt_hint_fetch(hint));
	snprintf(opcode, LINE_TEXT, "%s%s%s%s%s", word, size, operator, priorities[gt_hint_l1(hint)], fetch);
	return 0;
}

/* ---- a folder while it is written ---- */

/* What is left out, or made up. */
enum { NO_WORK, ZERO_ADDRESSES, TEXTURES, HINTS, CLUSTERS, REMARKS };

static const char *const remarks[REMARKS] = {
	[NO_WORK] = "launches without the column work have no barriers, no other instructions, and loads that only stores wait for (record with --work)",
	[ZERO_ADDRESSES] = "lanes with address 0, which Accel-Sim takes for none",
	[TEXTURES] = "loads of textures and constants, which Accel-Sim executes without an access to memory",
	[HINTS] = "accesses with a priority that no opcode says",
	[CLUSTERS] = "launches in clusters, which are lost",
};

struct gt_traceg {
	char folder[PATH];
	char trace[PATH];	 /* of the current launch */
	FILE *file;		 /* the same; NULL: there is none */
	struct gt_bytes list;	 /* kernelslist.g */
	struct gt_bytes written; /* the names of the traces, each with a 0 behind it */
	struct gt_kernel kernel; /* the current one */
	struct gt_rows *rows;	 /* of the current block */
	uint64_t block;		 /* that is not written yet */
	uint32_t device;
	uint64_t remarks[REMARKS];
	bool finished, noted_work;
};

static void add_text(struct gt_bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_text(struct gt_bytes *bytes, const char *format, ...)
{
	char text[PATH];
	va_list arguments;

	va_start(arguments, format);
	int n = vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	gt_bytes_write(bytes, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

struct gt_traceg *gt_traceg_open(const char *folder, struct gt_error *error)
{
	struct gt_traceg *traceg = calloc(1, sizeof *traceg);

	if (!traceg || !(traceg->rows = gt_rows_new(GT_ROWS_BATCH, error))) {
		free(traceg);
		gt_fail_memory(error, "a trace");
		return NULL;
	}
	snprintf(traceg->folder, sizeof traceg->folder, "%.*s", PATH - 64, folder);
	if (mkdir(folder, 0777) != 0) {
		gt_fail(error, "%s: expected a folder that can be made: %s", folder, strerror(errno));
		gt_rows_free(traceg->rows);
		free(traceg);
		return NULL;
	}
	return traceg;
}

void gt_traceg_close(struct gt_traceg *traceg)
{
	if (!traceg)
		return;
	if (traceg->file)
		fclose(traceg->file);
	for (size_t at = 0; !traceg->finished && at < traceg->written.n; at += strlen((char *)traceg->written.data + at) + 1)
		unlink((char *)traceg->written.data + at);
	if (!traceg->finished)
		rmdir(traceg->folder);
	gt_kernel_clear(&traceg->kernel);
	gt_rows_free(traceg->rows);
	free(traceg->list.data);
	free(traceg->written.data);
	free(traceg);
}

/* ---- a warp ---- */

/* Registers: the address of an access, what stores store that waits for nothing, results of other instructions, and those that loads go
 * into, one for every 4 bytes, in turn. */
enum { ADDRESS = 2, VALUE = 3, RESULTS = 4, FIRST_LOADED = 8, END_LOADED = 252 };
#define SOURCES 4 /* that Accel-Sim takes at most */

struct warp {
	struct gt_bytes text;
	uint64_t instructions;
	uint64_t issued;   /* since the last access that was not to shared memory, as the column work counts */
	uint32_t barriers; /* since then */
	uint32_t lanes;	   /* that exist */
	unsigned next;	   /* the register of the next load */
	unsigned pending[END_LOADED], n; /* registers of loads that nothing has waited for */
	uint32_t pc; /* of the last access */
};

static void add_instruction(struct warp *warp, const char *opcode, bool result, const unsigned *sources, unsigned n)
{
	add_text(&warp->text, "%04" PRIx32 " %08" PRIx32, warp->pc, warp->lanes);
	if (result)
		add_text(&warp->text, " 1 R%u", (unsigned)(RESULTS + warp->instructions % (FIRST_LOADED - RESULTS)));
	add_text(&warp->text, "%s %s %u", result ? "" : " 0", opcode, n);
	for (unsigned i = 0; i < n; i++)
		add_text(&warp->text, " R%u", sources[i]);
	add_text(&warp->text, " 0\n");
	warp->instructions++;
	warp->issued++;
}

/* What the warp did before an access: barriers, other instructions, and the wait for its loads. */
static void add_work(struct warp *warp, uint32_t work)
{
	static const unsigned value[] = {VALUE};
	uint64_t instructions = gt_work_instructions(work), waiting = gt_work_waits(work) ? (warp->n + SOURCES - 1) / SOURCES : 0;

	for (; warp->barriers < gt_work_barriers(work); warp->barriers++)
		add_instruction(warp, "BAR.SYNC", false, NULL, 0);
	while (warp->issued + waiting < instructions)
		add_instruction(warp, "IADD3", true, value, 1);
	while (waiting > 0 && warp->n > 0 && warp->issued < instructions) {
		unsigned n = warp->n < SOURCES ? warp->n : SOURCES;
		warp->n -= n;
		add_instruction(warp, "IADD3", true, warp->pending + warp->n, n);
	}
}

/* The registers that an access names after its address: those it waits for, as many as there may be, and what it stores. */
static unsigned add_sources(struct warp *warp, bool waits, bool stores)
{
	unsigned named = waits && warp->n > 0 ? (warp->n < SOURCES - 1 ? warp->n : SOURCES - 1) : 0;

	add_text(&warp->text, " %u R%u", 1 + (named > 0 ? named : stores), ADDRESS);
	for (unsigned i = 0; i < named; i++)
		add_text(&warp->text, " R%u", warp->pending[--warp->n]);
	if (named == 0 && stores)
		add_text(&warp->text, " R%u", VALUE);
	return named;
}

/* The register that a load of so many bytes goes into. */
static unsigned take_register(struct warp *warp, unsigned size)
{
	unsigned n = size > 4 ? size / 4 : 1, taken = warp->next + n > END_LOADED ? FIRST_LOADED : warp->next;

	warp->next = taken + n;
	return taken;
}

static void add_addresses(struct gt_bytes *text, const struct gt_rows *rows, size_t i)
{
	uint32_t mask = rows->mask[i], beyond = mask + (mask & -mask);
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = gt_rows_addresses(rows, i, addresses);

	if (gt_rows_one_stride(rows, i) && (beyond & mask) == 0 && rows->stride[i] >= INT32_MIN && rows->stride[i] <= INT32_MAX) {
		add_text(text, " 1 0x%016" PRIx64 " %" PRId64 "\n", addresses[0], rows->stride[i]);
		return;
	}
	add_text(text, " 0");
	for (unsigned lane = 0; lane < n; lane++)
		add_text(text, " 0x%016" PRIx64, addresses[lane]);
	add_text(text, "\n");
}

/* An access, row i. */
static int add_access(struct warp *warp, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	char opcode[LINE_TEXT];
	uint8_t op = rows->op[i];
	bool shared = gt_op_space(op) == GT_SHARED, stores = gt_op_action(op) != GT_LOAD;
	bool waits = rows->has_work ? gt_work_waits(rows->work[i]) : gt_op_action(op) == GT_STORE;
	bool loads = gt_op_action(op) != GT_STORE && gt_op_action(op) != GT_REDUCTION && gt_hint_action(gt_rows_hint(rows, i)) == GT_ACCESS_DATA;

	if (format_opcode(rows, i, opcode, error) != 0)
		return -1;
	warp->pc = rows->pc[i];
	if (rows->has_work)
		add_work(warp, rows->work[i]);
	unsigned result = loads ? take_register(warp, rows->size[i]) : 0;
	add_text(&warp->text, "%04" PRIx32 " %08" PRIx32 " %u", rows->pc[i], rows->mask[i], loads);
	if (loads)
		add_text(&warp->text, " R%u", result);
	add_text(&warp->text, " %s", opcode);
	if (add_sources(warp, waits, stores) > 0)
		warp->n = 0;
	add_text(&warp->text, " %u", rows->size[i]);
	add_addresses(&warp->text, rows, i);
	if (loads && !shared && gt_op_space(op) != GT_CONSTANT && warp->n < END_LOADED)
		warp->pending[warp->n++] = result;
	warp->instructions++;
	warp->issued = shared ? warp->issued + 1 : 0;
	warp->barriers = shared ? warp->barriers : 0;
	return 0;
}

/* ---- a block ---- */

/* Lanes of a warp, the last of which may have fewer. */
static uint32_t lanes_of(const struct gt_kernel *kernel, uint64_t warp)
{
	uint64_t left = gt_kernel_threads(kernel) - warp * GT_WARP_SIZE;

	return left >= GT_WARP_SIZE ? UINT32_MAX : (UINT32_C(1) << left) - 1;
}

static int write_warp(struct gt_traceg *traceg, uint16_t number, struct warp *warp, struct gt_error *error)
{
	const struct gt_rows *rows = traceg->rows;

	warp->text.n = 0;
	warp->instructions = warp->issued = 0;
	warp->barriers = warp->n = 0;
	warp->pc = 0;
	warp->next = FIRST_LOADED;
	warp->lanes = lanes_of(&traceg->kernel, number);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->warp[i] == number && add_access(warp, rows, i, error) != 0)
			return -1;
	add_instruction(warp, "EXIT", false, NULL, 0);
	if (warp->text.failed)
		return gt_fail_memory(error, "a warp's instructions");
	fprintf(traceg->file, "\nwarp = %u\ninsts = %" PRIu64 "\n", number, warp->instructions);
	fwrite(warp->text.data, 1, warp->text.n, traceg->file);
	return 0;
}

/* Writes a block, the rows of which are there; blocks without rows end at once. */
static int write_block(struct gt_traceg *traceg, struct gt_error *error)
{
	const uint32_t *grid = traceg->kernel.grid;
	uint64_t block = traceg->block++, warps = gt_kernel_warps(&traceg->kernel);
	struct warp warp = {.n = 0};
	int result = 0;

	fprintf(traceg->file, "\n#BEGIN_TB\n\nthread block = %" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", block % grid[0], block / grid[0] % grid[1],
		block / grid[0] / grid[1]);
	for (uint64_t i = 0; i < warps && result == 0; i++)
		result = write_warp(traceg, (uint16_t)i, &warp, error);
	fprintf(traceg->file, "\n#END_TB\n");
	free(warp.text.data);
	traceg->rows->n = traceg->rows->n_lanes = 0;
	if (result == 0 && ferror(traceg->file))
		return gt_fail_errno(error, "%s", traceg->trace);
	return result;
}

/* Writes the blocks before this one. */
static int write_blocks(struct gt_traceg *traceg, uint64_t before, struct gt_error *error)
{
	while (traceg->block < before)
		if (write_block(traceg, error) != 0)
			return -1;
	return 0;
}

/* ---- launches ---- */

/* Ends the trace of the current launch, if there is one, and lists it. */
static int end_launch(struct gt_traceg *traceg, struct gt_error *error)
{
	FILE *file = traceg->file;

	if (!file)
		return 0;
	if (write_blocks(traceg, gt_kernel_blocks(&traceg->kernel), error) != 0)
		return -1;
	traceg->file = NULL;
	if (fclose(file) != 0)
		return gt_fail_errno(error, "%s", traceg->trace);
	add_text(&traceg->list, "kernel-%" PRIu64 ".traceg\n", traceg->kernel.id);
	return 0;
}

static void write_header(struct gt_traceg *traceg)
{
	const struct gt_kernel *kernel = &traceg->kernel;
	char name[GT_KERNEL_NAME];

	snprintf(name, sizeof name, "%s", kernel->name);
	gt_utf8_printable(name);
	fprintf(traceg->file, "-kernel name = %s\n-kernel id = %" PRIu64 "\n", name, kernel->id);
	fprintf(traceg->file, "-grid dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n", kernel->grid[0], kernel->grid[1], kernel->grid[2]);
	fprintf(traceg->file, "-block dim = (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")\n", kernel->block[0], kernel->block[1], kernel->block[2]);
	fprintf(traceg->file, "-shmem = %" PRIu32 "\n-nregs = %" PRIu32 "\n" HEADER_END, kernel->shared_bytes, kernel->registers);
}

static int begin_launch(struct gt_traceg *traceg, const struct gt_kernel *kernel, struct gt_error *error)
{
	if (end_launch(traceg, error) != 0 || gt_kernel_same_device(kernel, &traceg->device, error) != 0)
		return -1;
	if (kernel->grid[0] == 0 || kernel->block[0] == 0)
		return gt_fail(error, "launch %" PRIu64 " (%s): expected one whose grid and block are known", kernel->id, kernel->name);
	if (gt_kernel_copy(&traceg->kernel, kernel, error) != 0)
		return -1;
	snprintf(traceg->trace, sizeof traceg->trace, "%.*s/kernel-%" PRIu64 ".traceg", PATH - 64, traceg->folder, kernel->id);
	gt_bytes_write(&traceg->written, traceg->trace, strlen(traceg->trace) + 1);
	traceg->file = fopen(traceg->trace, "wx");
	if (!traceg->file)
		return gt_fail_errno(error, "%s", traceg->trace);
	traceg->block = traceg->rows->n = traceg->rows->n_lanes = 0;
	traceg->noted_work = false;
	traceg->remarks[CLUSTERS] += kernel->cluster[0] > 0;
	write_header(traceg);
	return 0;
}

static void note_row(struct gt_traceg *traceg, const struct gt_rows *rows, size_t i)
{
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = gt_rows_addresses(rows, i, addresses);
	enum gt_space space = gt_op_space(rows->op[i]);
	uint16_t hint = gt_rows_hint(rows, i);

	for (unsigned lane = 0; lane < n && space <= GT_LOCAL; lane++)
		traceg->remarks[ZERO_ADDRESSES] += addresses[lane] == 0;
	traceg->remarks[TEXTURES] += space == GT_TEXTURE || space == GT_CONSTANT;
	traceg->remarks[HINTS] += gt_hint_l1(hint) == GT_EVICT_NORMAL || gt_hint_l2(hint) != GT_PRIORITY_NONE;
}

/* Takes n rows of one block. The batch of a block has the column hint in any case. */
static int take_block(struct gt_traceg *traceg, const struct gt_rows *rows, size_t first, size_t n, struct gt_error *error)
{
	struct gt_rows *to = traceg->rows;

	if (rows->block[first] < traceg->block)
		return gt_fail(error, "launch %" PRIu64 ": block %" PRIu32 " comes after later ones: order the stream by blocks (gtrace-order)",
			       traceg->kernel.id, rows->block[first]);
	if (write_blocks(traceg, rows->block[first], error) != 0)
		return -1;
	if (to->n == 0) {
		gt_rows_shape(to, rows);
		to->has_hints = true;
	}
	if (to->n + n > to->capacity && gt_rows_grow(to, 2 * (to->n + n), error) != 0)
		return -1;
	for (size_t i = first; i < first + n; i++)
		note_row(traceg, rows, i);
	return gt_rows_join(to, rows, first, n, error);
}

static int take_rows(struct gt_traceg *traceg, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind != GT_ACCESSES || rows->scheduled)
		return gt_fail(error, "expected accesses in the order of their blocks, as gtrace-order, gtrace-record and gtrace-ptx write them, "
				"before gcoalesce and gschedule");
	if (!traceg->noted_work)
		traceg->remarks[NO_WORK] += !rows->has_work;
	traceg->noted_work = true;
	for (size_t i = 0, n; i < rows->n; i += n) {
		for (n = 1; i + n < rows->n && rows->block[i + n] == rows->block[i]; n++)
			;
		if (take_block(traceg, rows, i, n, error) != 0)
			return -1;
	}
	return 0;
}

/* The ranges that were copied before a launch. */
static int take_copies(struct gt_traceg *traceg, const struct gt_count *count, struct gt_error *error)
{
	const struct gt_count_entry *addresses = gt_count_find(count, "addresses"), *bytes = gt_count_find(count, "bytes");

	if (strcmp(count->stage, "copies") != 0 || !addresses || !bytes)
		return 0;
	if (count->kernel != traceg->kernel.id && end_launch(traceg, error) != 0)
		return -1;
	for (size_t i = 0; i < addresses->n && i < bytes->n; i++)
		add_text(&traceg->list, "MemcpyHtoD,0x%016" PRIx64 ",%" PRIu64 "\n", addresses->array[i], bytes->array[i]);
	return 0;
}

int gt_traceg_take(struct gt_traceg *traceg, struct gt_reader *from, enum gt_event event, struct gt_error *error)
{
	switch (event) {
	case GT_KERNEL: return begin_launch(traceg, gt_reader_kernel(from), error);
	case GT_ROWS: return take_rows(traceg, gt_reader_rows(from), error);
	case GT_COUNT: return take_copies(traceg, gt_reader_count(from), error);
	default: return 0;
	}
}

int gt_traceg_finish(struct gt_traceg *traceg, struct gt_error *error)
{
	char list[PATH];

	if (end_launch(traceg, error) != 0)
		return -1;
	if (traceg->list.failed || traceg->written.failed)
		return gt_fail_memory(error, "the list of traces");
	snprintf(list, sizeof list, "%.*s/kernelslist.g", PATH - 64, traceg->folder);
	if (gt_whole_file_write(list, traceg->list.data, traceg->list.n, "the list of traces", error) != 0)
		return -1;
	traceg->finished = true;
	return 0;
}

const char *gt_traceg_remark(const struct gt_traceg *traceg, size_t *at, uint64_t *number)
{
	while (*at < REMARKS) {
		*number = traceg->remarks[*at];
		if (traceg->remarks[(*at)++] > 0)
			return remarks[*at - 1];
	}
	return NULL;
}
