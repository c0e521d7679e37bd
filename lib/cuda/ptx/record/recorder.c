/* SPDX-License-Identifier: MIT */
/* Records launches: what precedes the rows of each (the kernel, its arrays, its source lines, what was done since the launch before), its
 * rows, and its replay. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grown.h"
#include "cuda/ptx/decode/program.h"
#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/device_runtime.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/record/again.h"
#include "cuda/ptx/record/recorder.h"
#include "cuda/ptx/record/record.h"
#include "cuda/ptx/text/module.h"

/* ---- the arrays that a launch can access ---- */

/* The arrays of a count, of which there are at most as many as were asked for. */
struct list {
	uint64_t *addresses, *bytes;
	char *names, *end; /* separated by commas */
	size_t n;
};

static int open_list(struct list *list, size_t most, struct gt_error *error)
{
	*list = (struct list){.addresses = malloc(most * sizeof *list->addresses), .bytes = malloc(most * sizeof *list->bytes),
			      .names = malloc(most * GT_PTX_VARIABLE_NAME)};
	list->end = list->names;
	return list->addresses && list->bytes && list->names ? 0 : gt_fail_memory(error, "allocations");
}

/* A comma inside a name becomes a dot. */
static void add(struct list *list, uint64_t address, uint64_t bytes, const char *name)
{
	list->addresses[list->n] = address;
	list->bytes[list->n] = bytes;
	if (list->n++ > 0)
		*list->end++ = ',';
	for (; *name; name++)
		*list->end++ = *name == ',' ? '.' : *name;
	*list->end = '\0';
}

/* Writes the list as a count, if there are any arrays. */
static int write_list(struct gt_writer *writer, const char *stage, uint64_t kernel, const struct list *list, struct gt_error *error)
{
	struct gt_count count;

	if (list->n == 0)
		return 0;
	gt_count_begin(&count, stage, kernel);
	int failed = gt_count_array(&count, "addresses", list->addresses, list->n, error) != 0 ||
		     gt_count_array(&count, "bytes", list->bytes, list->n, error) != 0 ||
		     gt_count_text(&count, "names", list->names, error) != 0 || gt_write_count(writer, &count, error) != 0;
	gt_count_clear(&count);
	return failed ? -1 : 0;
}

static void close_list(struct list *list)
{
	free(list->addresses);
	free(list->bytes);
	free(list->names);
}

/* Counts the address of every array in device memory, so that misses can be attributed to arrays (grd(1)). */
static int count_allocations(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_memory *memory, struct gt_error *error)
{
	struct list list;

	if (memory->n == 0)
		return 0;
	int result = open_list(&list, memory->n, error);
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); result == 0 && one; one = gt_ptx_live(one->after))
		add(&list, one->address, one->bytes, one->name);
	if (result == 0)
		result = write_list(writer, GT_ARRAYS_STAGE, kernel, &list, error);
	close_list(&list);
	return result;
}

/* The same for the variables of a block's shared memory (gcoalesce(1)). */
static int count_shared(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_program *program, uint64_t dynamic,
			struct gt_error *error)
{
	struct gt_ptx_shared_array array;
	struct list list;

	if (program->n_shared == 0)
		return 0;
	int result = open_list(&list, program->n_shared, error);
	for (size_t i = 0; result == 0 && i < program->n_shared; i++)
		if (gt_ptx_find_shared(program, i, dynamic, &array))
			add(&list, array.at, array.bytes, array.name);
	if (result == 0)
		result = write_list(writer, GT_SHARED_ARRAYS_STAGE, kernel, &list, error);
	close_list(&list);
	return result;
}

/* ---- the source lines of a kernel's accesses, by .loc (nvcc -lineinfo), as the stage `source` of gtrace(5) ---- */

struct sources {
	uint64_t *pcs, *lines, *files;
	size_t n;
};

static bool has_place(const struct gt_ptx_instruction *instruction)
{
	return instruction->source_line > 0 && gt_ptx_row(instruction)->access != GT_PTX_ACCESS_NONE &&
	       !gt_ptx_has(instruction, "param");
}

static void add_function(struct sources *sources, const struct gt_ptx_module *module, const struct gt_ptx_function *function)
{
	for (size_t i = 0; i < function->n_instructions; i++) {
		const struct gt_ptx_instruction *instruction = &function->instructions[i];
		unsigned line;
		const struct gt_ptx_file *file = has_place(instruction) ? gt_ptx_source_of(module, instruction, &line) : NULL;
		if (!file)
			continue;
		sources->pcs[sources->n] = instruction->line;
		sources->lines[sources->n] = line;
		sources->files[sources->n++] = (size_t)(file - module->files);
	}
}

/* Whether a kernel's launch may execute accesses of known lines in the function: itself, or one that can be called. The thousands of
 * instructions of the device's runtime have none. */
static bool has_places(const struct gt_ptx_function *function, const struct gt_ptx_function *kernel)
{
	return function->located && (function == kernel || !function->entry);
}

static size_t count_places(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel)
{
	size_t n = 0;

	for (size_t f = 0; f < module->n_functions; f++)
		for (size_t i = 0; has_places(&module->functions[f], kernel) && i < module->functions[f].n_instructions; i++)
			n += has_place(&module->functions[f].instructions[i]);
	return n;
}

/* The files' names, separated by commas; a comma inside a name becomes a dot. */
static char *join_files(const struct gt_ptx_module *module)
{
	size_t bytes = 1;

	for (size_t i = 0; i < module->n_files; i++)
		bytes += (module->files[i].name ? strlen(module->files[i].name) : 0) + 1;
	char *names = malloc(bytes), *end = names;
	for (size_t i = 0; names && i < module->n_files; i++) {
		const char *name = module->files[i].name ? module->files[i].name : "";
		if (i > 0)
			*end++ = ',';
		for (; *name; name++)
			*end++ = *name == ',' ? '.' : *name;
	}
	if (names)
		*end = '\0';
	return names;
}

/* Appends the lines of the instructions that access memory, in the kernel and in the functions that it may call, to a
 * count that has begun. Nothing if the text has no .loc. Returns 0, or -1 when memory is short. */
static int sources_count(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 struct gt_count *count, struct gt_error *error)
{
	size_t n = count_places(module, kernel);
	uint64_t *places = malloc(3 * (n + 1) * sizeof *places);
	char *files = join_files(module);
	struct sources sources = {places, places + n, places + 2 * n, 0};
	int result = places && files ? 0 : gt_fail_memory(error, "source lines");

	for (size_t f = 0; result == 0 && f < module->n_functions; f++)
		if (has_places(&module->functions[f], kernel))
			add_function(&sources, module, &module->functions[f]);
	if (result == 0 && sources.n > 0 &&
	    (gt_count_array(count, "pcs", sources.pcs, sources.n, error) != 0 ||
	     gt_count_array(count, "lines", sources.lines, sources.n, error) != 0 ||
	     gt_count_array(count, "files", sources.files, sources.n, error) != 0 ||
	     gt_count_text(count, "names", files, error) != 0))
		result = -1;
	free(places);
	free(files);
	return result;
}

/* ---- replay ---- */

/* Kernel replay, as in a profiler that cannot count everything in one run: it saves the memory that the kernel can reach and
 * restores the changed parts before the next run (NVIDIA, Nsight Compute documentation, kernel replay; from a copy in device
 * memory while there is room). */

/* Bytes that are read from the copy and written back at a time: assumed, since NVIDIA does not document it. */
#define GT_PTX_RESTORE_PIECE ((uint64_t)32 << 10)

struct gt_ptx_saved {
	unsigned char *bytes; /* of all allocations, concatenated; owned */
	struct gt_ptx_heap *heap; /* owned */
};

static void saved_clear(struct gt_ptx_saved *saved)
{
	gt_ptx_heap_free(saved->heap);
	saved->heap = NULL;
	free(saved->bytes);
	saved->bytes = NULL;
}

/* Saves the contents of all allocations. Returns 0, or -1 when memory is short. */
static int save(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_error *error)
{
	unsigned char *to = malloc(memory->live_bytes + 1);

	saved->bytes = to;
	saved->heap = gt_ptx_heap_copy(memory);
	if (!to || (memory->heap && !saved->heap)) {
		saved_clear(saved);
		return gt_fail_memory(error, "what a kernel may change, to run it twice");
	}
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; to += one->bytes, one = gt_ptx_live(one->after))
		memcpy(to, gt_ptx_host(memory, one), one->bytes);
	return 0;
}

static void note(struct gt_copies *copies, const struct gt_ptx_allocation *allocation)
{
	for (uint64_t at = 0, piece; at < allocation->bytes; at += piece) {
		piece = allocation->bytes - at < GT_PTX_RESTORE_PIECE ? allocation->bytes - at : GT_PTX_RESTORE_PIECE;
		gt_copies_add(copies, allocation->address + GT_PTX_WINDOW + at, piece);
		gt_copies_add(copies, allocation->address + at, piece);
	}
}

/* Writes back each allocation that has changed, and records the ranges read and written; copies are one window above their
 * originals. The allocations must be those that were saved. */
static void restore(struct gt_ptx_saved *saved, struct gt_ptx_memory *memory, struct gt_copies *copies)
{
	const unsigned char *from = saved->bytes;

	gt_ptx_heap_restore(memory, saved->heap);
	saved->heap = NULL;
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); one; from += one->bytes, one = gt_ptx_live(one->after)) {
		unsigned char *to = gt_ptx_host(memory, one);
		if (memcmp(to, from, one->bytes) == 0)
			continue;
		memcpy(to, from, one->bytes);
		note(copies, one);
	}
}

int gt_ptx_untraced_add(struct gt_ptx_untraced *untraced, const char *name, uint64_t flops)
{
	for (size_t i = 0; i < untraced->n; i++)
		if (strcmp(untraced->list[i].name, name) == 0) {
			untraced->list[i].calls++;
			untraced->list[i].flops += flops;
			return 0;
		}
	struct gt_ptx_untraced_call *grown = gt_grown(untraced->list, untraced->n, &untraced->capacity, sizeof *grown);
	if (!grown)
		return -1;
	untraced->list = grown;
	snprintf(grown[untraced->n].name, sizeof grown->name, "%s", name);
	grown[untraced->n].flops = flops;
	grown[untraced->n++].calls = 1;
	return 0;
}

/* Names of the entries of a count: the calls, separated by commas, how often they were made, and their flops. */
static const char *const untraced_before[] = {"names", "calls", "flops"};
static const char *const untraced_after[] = {"names_after", "calls_after", "flops_after"};

/* Appends these to a count that has begun; flops only if a call has some. Returns 0, or -1 when memory is short. */
static int untraced_count(const struct gt_ptx_untraced *untraced, const char *const entries[3], struct gt_count *count, struct gt_error *error)
{
	uint64_t *numbers = malloc((2 * untraced->n + 1) * sizeof *numbers), any = 0;
	char *text = malloc(untraced->n * GT_COUNT_NAME + 1), *end = text;
	int result = numbers && text ? 0 : gt_fail_memory(error, "calls that were not traced");

	for (size_t i = 0; result == 0 && i < untraced->n; i++) {
		end += sprintf(end, "%s%s", i > 0 ? "," : "", untraced->list[i].name);
		numbers[i] = untraced->list[i].calls;
		any |= numbers[untraced->n + i] = untraced->list[i].flops;
	}
	if (result == 0 && (gt_count_text(count, entries[0], text, error) != 0 ||
			    gt_count_array(count, entries[1], numbers, untraced->n, error) != 0 ||
			    (any && gt_count_array(count, entries[2], numbers + untraced->n, untraced->n, error) != 0)))
		result = -1;
	free(numbers);
	free(text);
	return result;
}

static void untraced_clear(struct gt_ptx_untraced *untraced)
{
	free(untraced->list);
	*untraced = (struct gt_ptx_untraced){0};
}

/* ---- what precedes the rows of a traced launch ---- */

struct gt_ptx_head {
	struct gt_writer *writer;
	const struct gt_ptx_tracing *tracing;
	uint64_t id; /* of the kernel */
	struct gt_copies copies; /* since the last traced launch */
	struct gt_ptx_untraced untraced; /* the same */
};

/* Writes the kernel, and begins the count of what it needs. */
static int write_kernel(struct gt_ptx_head *head, const struct gt_ptx_launch *launch, struct gt_kernel *kernel,
			uint64_t static_shared, bool estimated, struct gt_count *count, struct gt_error *error)
{
	uint64_t shared = static_shared + launch->dynamic_shared;

	if (shared > UINT32_MAX)
		return gt_fail(error, "%s: %" PRIu64 " bytes of shared memory", kernel->name, shared);
	kernel->id = head->id;
	kernel->order = head->tracing->unordered ? GT_ORDER_NONE : GT_ORDER_BLOCK;
	kernel->shared_bytes = (uint32_t)shared;
	memcpy(kernel->grid, launch->grid, sizeof kernel->grid);
	memcpy(kernel->block, launch->block, sizeof kernel->block);
	memcpy(kernel->cluster, launch->cluster, sizeof kernel->cluster);
	kernel->prefers = launch->prefers;
	kernel->parent = launch->parent;
	kernel->device = launch->device;
	gt_count_begin(count, "ptx", kernel->id);
	if (gt_kernel_check(kernel, error) != 0 || gt_write_kernel(head->writer, kernel, error) != 0 ||
	    gt_count_number(count, "registers", kernel->registers, error) != 0 ||
	    gt_count_number(count, "registers_estimated", estimated, error) != 0 ||
	    gt_count_number(count, "shared_bytes", shared, error) != 0)
		return -1;
	return 0;
}

/* Names the arrays while the kernel runs; those of shared memory if accesses to it are traced. */
static int write_arrays(struct gt_ptx_head *head, struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch,
			struct gt_error *error)
{
	if (count_allocations(head->writer, head->id, gt_ptx_machine_memory(machine), error) != 0)
		return -1;
	if (!(head->tracing->spaces >> GT_SHARED & 1))
		return 0;
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);
	return program ? count_shared(head->writer, head->id, program, launch->dynamic_shared, error) : -1;
}

/* Counts the ranges that were copied to the device before the kernel, which a cache may hold (gcache(1), --warm). */
static int write_copies(struct gt_ptx_head *head, struct gt_error *error)
{
	struct gt_count count;
	int result;

	if (head->copies.n == 0 && !head->copies.lost)
		return 0;
	gt_count_begin(&count, "copies", head->id);
	result = gt_copies_count(&head->copies, &count, error);
	if (result == 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	gt_copies_clear(&head->copies);
	return result;
}

/* Counts the calls of libraries whose work is not in the stream: those before the kernel, or after the last one. */
static int write_untraced(struct gt_ptx_head *head, const char *const entries[3], struct gt_error *error)
{
	struct gt_count count;

	if (head->untraced.n == 0)
		return 0;
	gt_count_begin(&count, "untraced", head->id);
	int result = untraced_count(&head->untraced, entries, &count, error);
	if (result == 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	untraced_clear(&head->untraced);
	return result;
}

/* Counts the source lines of the kernel's accesses, if the text says them. */
static int write_sources(struct gt_ptx_head *head, const struct gt_ptx_module *module,
			 const struct gt_ptx_function *kernel, struct gt_error *error)
{
	struct gt_count count;
	int result;

	gt_count_begin(&count, GT_SOURCES_STAGE, head->id);
	result = sources_count(module, kernel, &count, error);
	if (result == 0 && count.n > 0)
		result = gt_write_count(head->writer, &count, error);
	gt_count_clear(&count);
	return result;
}

/* Writes it, and fills what is still to be known of the kernel. `count`: of what it needs, to which what it did is added, and which
 * the caller clears. Returns 0, or -1. */
static int head_write(struct gt_ptx_head *head, const struct gt_ptx_module *module, struct gt_ptx_machine *machine,
		      const struct gt_ptx_launch *launch, struct gt_kernel *kernel, uint32_t registers, struct gt_count *count,
		      struct gt_error *error)
{
	bool estimated;
	uint64_t shared = 0;
	int result = gt_ptx_registers_of(machine, launch->kernel, registers, &kernel->registers, &estimated, error);

	if (result == 0)
		result = gt_ptx_static_shared(machine, launch->kernel, &shared, error);
	if (result == 0)
		result = write_kernel(head, launch, kernel, shared, estimated, count, error);
	if (result == 0)
		result = write_arrays(head, machine, launch, error);
	if (result == 0)
		result = write_copies(head, error);
	if (result == 0)
		result = write_untraced(head, untraced_before, error);
	return result == 0 ? write_sources(head, module, launch->kernel, error) : -1;
}

/* After the last launch: writes what was done since then. */
static int head_write_after(struct gt_ptx_head *head, struct gt_error *error)
{
	return write_untraced(head, untraced_after, error);
}

static void head_clear(struct gt_ptx_head *head)
{
	gt_copies_clear(&head->copies);
	untraced_clear(&head->untraced);
}

struct gt_ptx_recorder {
	struct gt_ptx_head head; /* of the traced launch that is next, or under way */
	struct gt_ptx_blockorder *order;
	struct gt_recorded_rows rows; /* which it makes */
	struct gt_idle_blocks idle; /* before the rows that are not passed on */
	uint64_t together; /* blocks of a group */
	struct gt_ptx_team *team; /* NULL: there is one thread */
	struct gt_ptx_again *again; /* launches that may come once more */
	bool numbered; /* the launch under way has records with its number */
	uint64_t launches; /* the number of the last one; 0: none was seen */
	uint64_t traced;   /* by this recorder */
	struct gt_unmatched unmatched; /* by --kernel */
	bool over;	   /* a launch ended at a fault that others follow: the stream ends there */
};

/* 1 if the launch is to be traced, 0 if not, -1 if the regular expression fails. */
static int is_traced(struct gt_ptx_recorder *recorder, const char *shown, const struct gt_ptx_launch *launch, struct gt_error *error)
{
	const struct gt_ptx_tracing *tracing = recorder->head.tracing;
	uint64_t number = recorder->launches;

	int matches = tracing->kernel ? gt_unmatched_match(&recorder->unmatched, tracing->kernel, shown, launch->kernel->name, error) : 1;
	if (matches <= 0)
		return matches;
	if (tracing->traced_devices && !(tracing->traced_devices >> launch->device & 1))
		return 0;
	return !tracing->launches || (number < GT_PTX_LAUNCHES && tracing->launches[number]);
}

struct gt_ptx_recorder *gt_ptx_recorder_open(struct gt_writer *writer, const struct gt_ptx_tracing *tracing, struct gt_error *error)
{
	struct gt_ptx_recorder *recorder = calloc(1, sizeof *recorder);

	if (!recorder) {
		gt_fail_memory(error, "a recorder");
		return NULL;
	}
	recorder->head.writer = writer;
	recorder->head.tracing = tracing;
	/* Blocks without rows stand before the rows of their group, which then wait. */
	if (gt_recorded_rows_open(&recorder->rows, tracing->work ? NULL : writer, tracing->work ? tracing->memory / 4 : 0, error) == 0)
		recorder->order = gt_ptx_blockorder_open(&recorder->rows.sink, tracing->memory / 2, error);
	if (tracing->jobs > 1)
		recorder->team = gt_ptx_team_open(tracing->jobs, tracing->memory / 2, error);
	recorder->again = gt_ptx_again_open(tracing->memory / 8, error);
	if (recorder->order && recorder->again && (recorder->team || tracing->jobs <= 1))
		return recorder;
	gt_ptx_recorder_close(recorder);
	return NULL;
}

void gt_ptx_recorder_close(struct gt_ptx_recorder *recorder)
{
	if (!recorder)
		return;
	gt_ptx_blockorder_close(recorder->order);
	gt_recorded_rows_close(&recorder->rows);
	gt_idle_blocks_clear(&recorder->idle);
	gt_ptx_team_close(recorder->team);
	gt_ptx_again_close(recorder->again);
	gt_unmatched_clear(&recorder->unmatched);
	head_clear(&recorder->head);
	free(recorder);
}

struct gt_copies *gt_ptx_recorder_copies(struct gt_ptx_recorder *recorder)
{
	return &recorder->head.copies;
}

struct gt_ptx_untraced *gt_ptx_recorder_untraced(struct gt_ptx_recorder *recorder)
{
	return &recorder->head.untraced;
}

int gt_ptx_recorder_check(const struct gt_ptx_recorder *recorder, struct gt_error *error)
{
	const struct gt_ptx_tracing *tracing = recorder->head.tracing;
	char options[64] = "";

	if (gt_unmatched_check(&recorder->unmatched, tracing->kernel, error) != 0)
		return -1;
	if (recorder->traced > 0 || recorder->launches == 0)
		return 0;
	snprintf(options, sizeof options, "%s%s%s", tracing->launches ? ", --launches" : "", tracing->traced_devices ? ", --device" : "",
		 tracing->kernel ? ", --kernel" : "");
	return gt_fail(error, "no launch was chosen of %" PRIu64 ": see %s", recorder->launches, options + 2);
}

int gt_ptx_recorder_finish(struct gt_ptx_recorder *recorder, struct gt_error *error)
{
	return recorder->traced > 0 ? head_write_after(&recorder->head, error) : 0;
}

static int write_rest(struct gt_ptx_recorder *recorder, const struct gt_ptx_ran *ran, struct gt_count *count,
		      struct gt_error *error)
{
	if (gt_count_number(count, "warp_instructions", ran->warp_instructions, error) != 0 ||
	    gt_count_number(count, "accesses", ran->accesses, error) != 0 ||
	    (ran->polls > 0 && gt_count_number(count, "polls", ran->polls, error) != 0))
		return -1;
	return gt_write_count(recorder->head.writer, count, error);
}

/* The rows of a group of blocks are complete, of which `last` is one; `next` is the next block that has rows. Blocks without rows stand
 * before those of their group. */
static int end_group(void *context, uint64_t last, uint64_t next, struct gt_error *error)
{
	struct gt_ptx_recorder *recorder = context;
	struct gt_writer *writer = recorder->head.writer;
	uint64_t together = recorder->together, end = next / together * together, own = (last / together + 1) * together;

	recorder->numbered |= recorder->idle.n > 0;
	if (gt_recorded_rows_end(&recorder->rows, error) != 0 ||
	    gt_idle_blocks_pass(&recorder->idle, own < end ? own : end, together, recorder->head.id, writer, error) != 0 ||
	    gt_recorded_rows_pass(&recorder->rows, writer, error) != 0)
		return -1;
	return gt_idle_blocks_pass(&recorder->idle, end, together, recorder->head.id, writer, error);
}

static int finish_rows(struct gt_ptx_recorder *recorder, struct gt_error *error)
{
	return gt_ptx_blockorder_finish(recorder->order, error) != 0
		       ? -1
		       : end_group(recorder, gt_ptx_blockorder_hold(recorder->order)->block, UINT64_MAX, error);
}

/* Executes a launch, or does what it does if it is known. `writer` gets its rows; NULL: it is not traced. */
static int run_or_repeat(struct gt_ptx_recorder *recorder, struct gt_ptx_machine *machine, struct gt_ptx_launch *launch,
			 struct gt_writer *writer, int (*run)(struct gt_ptx_recorder *, struct gt_ptx_machine *, struct gt_ptx_launch *,
							      struct gt_ptx_ran *, struct gt_error *),
			 struct gt_ptx_ran *ran, struct gt_error *error)
{
	const struct gt_ptx_program *program = gt_ptx_program_of(machine, launch->kernel, error);

	if (!program)
		return -1;
	if (recorder->head.tracing->replay)
		return run(recorder, machine, launch, ran, error);
	int known = gt_ptx_again_take(recorder->again, machine, program, launch, writer, ran, error);
	if (known != 0)
		return known < 0 ? -1 : 0;
	recorder->numbered = false;
	if (run(recorder, machine, launch, ran, error) == 0)
		return gt_ptx_again_keep(recorder->again, machine, recorder->numbered ? NULL : ran, error);
	struct gt_error second;
	gt_ptx_again_keep(recorder->again, machine, NULL, &second);
	return -1;
}

static int execute(struct gt_ptx_recorder *recorder, struct gt_ptx_machine *machine, struct gt_ptx_launch *launch,
		   struct gt_ptx_ran *ran, struct gt_error *error)
{
	(void)recorder;
	return gt_ptx_run(machine, launch, ran, error);
}

static int run_untraced(struct gt_ptx_recorder *recorder, struct gt_ptx_machine *machine, struct gt_ptx_launch *launch,
			struct gt_ptx_ran *ran, struct gt_error *error)
{
	launch->sink = NULL;
	launch->skip_untraced = false;
	return recorder->head.tracing->skip_untraced ? 0 : run_or_repeat(recorder, machine, launch, NULL, execute, ran, error);
}

/* Executes a traced launch, whose rows are written into the stream. */
static int execute_traced(struct gt_ptx_recorder *recorder, struct gt_ptx_machine *machine, struct gt_ptx_launch *launch,
			  struct gt_ptx_ran *ran, struct gt_error *error)
{
	const struct gt_ptx_tracing *tracing = recorder->head.tracing;

	launch->sink = tracing->unordered ? gt_writer_sink(recorder->head.writer) : gt_ptx_blockorder_sink(recorder->order);
	launch->traced_spaces = tracing->spaces;
	launch->notes_work = tracing->work;
	launch->idle = tracing->work ? &recorder->idle : NULL;
	launch->id = recorder->head.id;
	recorder->idle.n = 0; /* of a launch that failed */
	launch->first_block = 0;
	launch->traced_blocks = tracing->blocks;
	launch->skip_untraced = tracing->skip_untraced;
	launch->memory = tracing->memory / 2;
	launch->ended = &gt_ptx_blockorder_hold(recorder->order)->ended;
	launch->hold = tracing->unordered ? NULL : gt_ptx_blockorder_hold(recorder->order);
	launch->writer = tracing->unordered ? NULL : recorder->head.writer;
	recorder->together = gt_ptx_group_blocks(launch);
	gt_ptx_blockorder_groups(recorder->order, recorder->together, end_group, recorder);
	if (gt_sink_begin(launch->sink, GT_ACCESSES, false, error) != 0)
		return -1;
	if (gt_ptx_run(machine, launch, ran, error) == 0)
		return finish_rows(recorder, error);
	/* The accesses before a fault are written, but the stream has no end record. */
	struct gt_error second;
	if (finish_rows(recorder, &second) == 0)
		gt_writer_flush(recorder->head.writer, &second);
	return -1;
}

/* Runs a launch, and writes its records. */
static int record_launch(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
			 struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, struct gt_kernel *kernel,
			 uint32_t registers, struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_count count = {0};
	int result = head_write(&recorder->head, module, machine, launch, kernel, registers, &count, error);

	if (result == 0 && recorder->head.tracing->spaces == 0)
		result = run_untraced(recorder, machine, launch, ran, error);
	else if (result == 0)
		result = run_or_repeat(recorder, machine, launch, recorder->head.writer, execute_traced, ran, error);
	if (result == 0)
		result = write_rest(recorder, ran, &count, error);
	gt_count_clear(&count);
	return result;
}

/* The launch as in a later pass of a profiler: it has run once before, under another name, and its memory was restored. */
static int record_replay(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
			 struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, const struct gt_kernel *kernel,
			 uint32_t registers, struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_ptx_memory *memory = gt_ptx_machine_memory(machine);
	struct gt_kernel first = *kernel, second = *kernel;
	struct gt_ptx_saved saved;
	int result;

	if (save(&saved, memory, error) != 0)
		return -1;
	/* What the first pass launches is not run: the second launches it again. */
	snprintf(first.name, sizeof first.name, "%.*s pass 1", (int)(sizeof first.name - sizeof " pass 1"), kernel->name);
	recorder->head.id = 2 * recorder->launches - 1;
	result = record_launch(recorder, module, machine, launch, &first, registers, ran, error);
	if (result == 0) {
		if (launch->launched)
			gt_ptx_launched_clear(memory, launch->launched);
		gt_ptx_pool_end_launch(memory);
		restore(&saved, memory, &recorder->head.copies);
		recorder->head.id = 2 * recorder->launches;
		launch->printed = NULL; /* it was printed in the first pass */
		result = record_launch(recorder, module, machine, launch, &second, registers, ran, error);
	}
	saved_clear(&saved);
	return result;
}

static int record(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
		  struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, uint32_t registers,
		  struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_kernel kernel = {0};
	char name[GT_KERNEL_NAME];

	snprintf(kernel.name, sizeof kernel.name, "%s", gt_ptx_shown_name(module, launch->kernel, name));
	*ran = (struct gt_ptx_ran){0};
	if (gt_ptx_launch_cluster(launch, error) != 0)
		return -1;
	recorder->launches = launch->number;
	launch->number *= recorder->head.tracing->replay ? 2 : 1;
	launch->max_instructions = recorder->head.tracing->max_instructions;
	launch->check = recorder->head.tracing->check;
	launch->team = recorder->team;
	int traced = recorder->over ? 0 : is_traced(recorder, kernel.name, launch, error);
	if (traced < 0)
		return -1;
	if (!traced)
		return run_untraced(recorder, machine, launch, ran, error);
	if (gt_ptx_prepare(machine, launch, error) != 0)
		return -1;
	recorder->traced++;
	if (recorder->head.tracing->replay)
		return record_replay(recorder, module, machine, launch, &kernel, registers, ran, error);
	recorder->head.id = recorder->launches;
	return record_launch(recorder, module, machine, launch, &kernel, registers, ran, error);
}

int gt_ptx_record(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
		  struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, uint32_t registers,
		  struct gt_ptx_ran *ran, struct gt_error *error)
{
	int result = record(recorder, module, machine, launch, registers, ran, error);

	if (result == 0 || !gt_ptx_ends_at_fault(machine, launch, ran, error))
		return result;
	recorder->over = true;
	return 0;
}
