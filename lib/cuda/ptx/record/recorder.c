/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/blockorder.h"
#include "cuda/ptx/exec/nested.h"
#include "cuda/ptx/exec/stray.h"
#include "cuda/ptx/launch/group.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/launch/team.h"
#include "cuda/ptx/record/head.h"
#include "cuda/ptx/record/replay.h"

struct gt_ptx_recorder {
	struct gt_ptx_head head; /* of the traced launch that is next, or under way */
	struct gt_ptx_blockorder *order;
	struct gt_ptx_group_rows rows; /* which it makes */
	struct gt_ptx_team *team; /* NULL: there is one thread */
	uint64_t launches; /* seen so far */
	uint64_t traced;   /* of them */
	bool over;	   /* a launch ended at a fault that others follow: the stream ends there */
};

/* 1 if the launch is to be traced, 0 if not, -1 if the regular expression fails. */
static int is_traced(const struct gt_ptx_tracing *tracing, uint64_t number, const char *shown,
		     const struct gt_ptx_launch *launch, struct gt_error *error)
{
	const struct gt_ptx_function *kernel = launch->kernel;

	if (tracing->traced_devices && !(tracing->traced_devices >> launch->device & 1))
		return 0;
	if (tracing->launches && (number >= GT_PTX_LAUNCHES || !tracing->launches[number]))
		return 0;
	if (!tracing->kernel)
		return 1;
	int matches = gt_regex_match(tracing->kernel, shown, strlen(shown), error);
	return matches != 0 ? matches : gt_regex_match(tracing->kernel, kernel->name, strlen(kernel->name), error);
}

struct gt_ptx_recorder *gt_ptx_recorder_open(struct gt_writer *writer, const struct gt_ptx_tracing *tracing,
					     struct gt_error *error)
{
	struct gt_ptx_recorder *recorder = calloc(1, sizeof *recorder);

	if (!recorder) {
		gt_fail_memory(error, "a recorder");
		return NULL;
	}
	recorder->head.writer = writer;
	recorder->head.tracing = tracing;
	if (gt_ptx_group_rows_open(&recorder->rows, writer, 0, error) == 0)
		recorder->order = gt_ptx_blockorder_open(&recorder->rows.sink, tracing->memory / 2, error);
	if (tracing->jobs > 1)
		recorder->team = gt_ptx_team_open(tracing->jobs, tracing->memory / 2, error);
	if (recorder->order && (recorder->team || tracing->jobs <= 1))
		return recorder;
	gt_ptx_recorder_close(recorder);
	return NULL;
}

void gt_ptx_recorder_close(struct gt_ptx_recorder *recorder)
{
	if (!recorder)
		return;
	gt_ptx_blockorder_close(recorder->order);
	gt_ptx_group_rows_close(&recorder->rows);
	gt_ptx_team_close(recorder->team);
	gt_ptx_head_clear(&recorder->head);
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

uint64_t gt_ptx_recorder_traced(const struct gt_ptx_recorder *recorder)
{
	return recorder->traced;
}

int gt_ptx_recorder_finish(struct gt_ptx_recorder *recorder, struct gt_error *error)
{
	return recorder->traced > 0 ? gt_ptx_head_write_after(&recorder->head, error) : 0;
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

/* The rows of a group of blocks are complete. */
static int end_group(void *context, struct gt_error *error)
{
	struct gt_ptx_recorder *recorder = context;

	return gt_ptx_group_rows_end(&recorder->rows, error) != 0
		       ? -1
		       : gt_ptx_group_rows_pass(&recorder->rows, recorder->head.writer, error);
}

static int finish_rows(struct gt_ptx_recorder *recorder, struct gt_error *error)
{
	return gt_ptx_blockorder_finish(recorder->order, error) != 0 ? -1 : end_group(recorder, error);
}

/* Runs a traced launch, whose rows are written into the stream. */
static int run_traced(struct gt_ptx_recorder *recorder, struct gt_ptx_machine *machine, struct gt_ptx_launch *launch,
		      struct gt_ptx_ran *ran, struct gt_error *error)
{
	const struct gt_ptx_tracing *tracing = recorder->head.tracing;

	launch->sink = tracing->unordered ? gt_writer_sink(recorder->head.writer) : gt_ptx_blockorder_sink(recorder->order);
	launch->traced_spaces = tracing->spaces;
	launch->notes_work = tracing->work;
	launch->first_block = 0;
	launch->traced_blocks = tracing->blocks;
	launch->skip_untraced = tracing->skip_untraced;
	launch->memory = tracing->memory / 2;
	launch->ended = &gt_ptx_blockorder_hold(recorder->order)->ended;
	launch->hold = tracing->unordered ? NULL : gt_ptx_blockorder_hold(recorder->order);
	launch->writer = tracing->unordered ? NULL : recorder->head.writer;
	gt_ptx_blockorder_groups(recorder->order, gt_ptx_group_blocks(launch), end_group, recorder);
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
	int result = gt_ptx_head_write(&recorder->head, module, machine, launch, kernel, registers, &count, error);

	if (result == 0)
		result = run_traced(recorder, machine, launch, ran, error);
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

	if (gt_ptx_save(&saved, memory, error) != 0)
		return -1;
	/* What the first pass launches is not run: the second launches it again. */
	snprintf(first.name, sizeof first.name, "%.*s pass 1", (int)(sizeof first.name - sizeof " pass 1"), kernel->name);
	recorder->head.id = 2 * recorder->launches - 1;
	result = record_launch(recorder, module, machine, launch, &first, registers, ran, error);
	if (result == 0) {
		if (launch->launched)
			gt_ptx_launched_clear(memory, launch->launched);
		gt_ptx_pool_end_launch(memory);
		gt_ptx_restore(&saved, memory, &recorder->head.copies);
		recorder->head.id = 2 * recorder->launches;
		launch->printed = NULL; /* it was printed in the first pass */
		result = record_launch(recorder, module, machine, launch, &second, registers, ran, error);
	}
	gt_ptx_saved_clear(&saved);
	return result;
}

static int record(struct gt_ptx_recorder *recorder, const struct gt_ptx_module *module,
		  struct gt_ptx_machine *machine, struct gt_ptx_launch *launch, uint32_t registers,
		  struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gt_kernel kernel = {0};
	size_t length;
	const char *shown = gt_ptx_shown_name(module, launch->kernel, &length);

	snprintf(kernel.name, sizeof kernel.name, "%.*s", (int)(length < sizeof kernel.name ? length : sizeof kernel.name), shown);
	*ran = (struct gt_ptx_ran){0};
	if (gt_ptx_launch_cluster(launch, error) != 0)
		return -1;
	recorder->launches++;
	launch->number = recorder->head.tracing->replay ? 2 * recorder->launches : recorder->launches;
	launch->max_instructions = recorder->head.tracing->max_instructions;
	launch->check = recorder->head.tracing->check;
	launch->team = recorder->team;
	int traced = recorder->over ? 0 : is_traced(recorder->head.tracing, recorder->launches, kernel.name, launch, error);
	if (traced < 0)
		return -1;
	if (!traced) {
		launch->sink = NULL;
		launch->skip_untraced = false;
		return recorder->head.tracing->skip_untraced ? 0 : gt_ptx_run(machine, launch, ran, error);
	}
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
