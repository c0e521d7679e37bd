/* SPDX-License-Identifier: MIT */
#include "compose/usual.h"

#include <string.h>

#include "stream/history.h"

static const struct {
	const char *words;  /* the command */
	const char *tool;   /* how a history names it */
	const char *option; /* which tells it from others of that tool, or NULL */
	bool takes_gpu;
	bool counts_by_pc;
	const char *classes[2]; /* commands behind it that measure what it sends on, or NULL */
} stages[GT_USUAL_STAGES] = {
	[GT_USUAL_COALESCE] = {"gcoalesce", "gcoalesce", NULL, true, false, {NULL, NULL}},
	[GT_USUAL_SCHEDULE] = {"gschedule", "gschedule", NULL, true, false, {NULL, NULL}},
	[GT_USUAL_L1] = {"gcache --l1", "gcache", "--l1", false, true, {"grd --by pc --granularity sector --name behind_l1", "grd --op loads --by array --granularity sector --name behind_l1_arrays"}},
	[GT_USUAL_L2] = {"gcache --l2", "gcache", "--l2", false, true, {"grd --by pc --granularity sector --name behind_l2", NULL}},
	[GT_USUAL_DRAM] = {"gdram", "gdram", NULL, false, false, {NULL, NULL}},
};

enum gt_usual_stage gt_usual_next(const struct gt_origin *origin)
{
	enum gt_usual_stage stage = GT_USUAL_STAGES;

	if (origin->kind != GT_ORIGIN_STREAM)
		return GT_USUAL_COALESCE;
	while (stage > GT_USUAL_COALESCE &&
	       !gt_history_find(gt_reader_history(origin->reader), stages[stage - 1].tool, stages[stage - 1].option))
		stage--;
	return stage;
}

/* Whether the stream has a GPU description; gcoalesce takes one and does not write it. */
static bool has_gpu(const struct gt_origin *origin)
{
	static const char *const writers[] = {"gtrace-record", "gtrace-ptx", "gschedule"};

	for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
		if (gt_history_find(gt_reader_history(origin->reader), writers[i], "--gpu"))
			return true;
	return false;
}

/* The GPU that stages must be given, or NULL: then the stream has it. */
static const char *gpu_to_give(const struct gt_origin *origin, const struct gt_usual *usual)
{
	if (origin->kind == GT_ORIGIN_PROGRAM || (origin->kind == GT_ORIGIN_STREAM && !usual->gpu && has_gpu(origin)))
		return NULL;
	return usual->gpu ? usual->gpu : GT_USUAL_GPU;
}

int gt_usual_command(struct gt_pipe *pipe, const struct gt_usual *usual, const char *words, struct gt_error *error)
{
	if (gt_pipe_command(pipe, words, error) != 0)
		return -1;
	if (usual->verbose && pipe->commands == 1 && gt_pipe_word(pipe, "--verbose", error) != 0)
		return -1;
	return usual->quiet ? gt_pipe_word(pipe, "--quiet", error) : 0;
}

int gt_usual_stage_command(struct gt_pipe *pipe, const struct gt_usual *usual, enum gt_usual_stage stage, struct gt_error *error)
{
	if (gt_usual_command(pipe, usual, stages[stage].words, error) != 0)
		return -1;
	return usual->keep_l2 && stage == GT_USUAL_L2 ? gt_pipe_option(pipe, "--flush", "never", error) : 0;
}

int gt_usual_origin(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual, struct gt_error *error)
{
	bool program = origin->kind == GT_ORIGIN_PROGRAM;

	if (origin->kind == GT_ORIGIN_STREAM)
		return 0;
	if (gt_usual_command(pipe, usual, program ? "gtrace-record" : "gtrace-order", error) != 0 ||
	    (program && gt_pipe_option(pipe, "--gpu", usual->gpu ? usual->gpu : GT_USUAL_GPU, error) != 0) ||
	    gt_pipe_word(pipe, origin->path, error) != 0)
		return -1;
	for (char *const *operand = usual->operands + 1; *operand; operand++)
		if (gt_pipe_word(pipe, *operand, error) != 0)
			return -1;
	return 0;
}

int gt_usual_stages(struct gt_pipe *pipe, const struct gt_origin *origin, const struct gt_usual *usual,
		    enum gt_usual_stage first, enum gt_usual_stage end, struct gt_error *error)
{
	for (enum gt_usual_stage stage = first; stage < end; stage++) {
		if (gt_usual_stage_command(pipe, usual, stage, error) != 0 ||
		    (stages[stage].takes_gpu && gt_pipe_option(pipe, "--gpu", gpu_to_give(origin, usual), error) != 0) ||
		    (usual->classes && stages[stage].counts_by_pc && gt_pipe_option(pipe, "--by", "pc", error) != 0))
			return -1;
		for (size_t i = 0; i < 2 && usual->classes && stages[stage].classes[i]; i++)
			if (gt_usual_command(pipe, usual, stages[stage].classes[i], error) != 0)
				return -1;
	}
	return 0;
}
