/* SPDX-License-Identifier: MIT */
#include "cache/timed/stage.h"

#include <stdlib.h>
#include <string.h>

#include "cache/serve.h"

int gt_cache_stage_check(const struct gt_cache_stage *stage, const struct gt_level_config *config, uint64_t known,
			 struct gt_error *error)
{
	if (gt_level_check(config, known, error) != 0)
		return -1;
	return gt_level_timed(stage->settings) ? gt_timed_check(config, known, error) : 0;
}

static void close_level(struct gt_cache_stage *stage)
{
	gt_level_close(stage->level);
	gt_timed_close(stage->timed);
	gt_divided_close(stage->divided);
	stage->level = NULL;
	stage->timed = NULL;
	stage->divided = NULL;
}

static int open_level(struct gt_cache_stage *stage, const struct gt_level_config *config, struct gt_error *error)
{
	close_level(stage);
	if (gt_level_timed(stage->settings))
		stage->timed = gt_timed_open(config, error);
	else if (gt_level_divisible(config, stage->lanes))
		stage->divided = gt_divided_open(config, stage->lanes, error);
	else
		stage->level = gt_level_open(config, error);
	return stage->level || stage->timed || stage->divided ? 0 : -1;
}

/* The level with all sets; NULL if the level is timed, or divided by SM. */
static struct gt_level *functional(const struct gt_cache_stage *stage)
{
	return stage->divided ? gt_divided_whole(stage->divided) : stage->level;
}

static int warm(struct gt_cache_stage *stage, struct gt_error *error)
{
	struct gt_level *level = functional(stage);

	return level ? gt_warming_apply(&stage->warming, level, stage->kernel, error) : 0;
}

int gt_cache_stage_begin(struct gt_cache_stage *stage, const struct gt_level_config *config, const struct gt_gpu *gpu,
			 const struct gt_kernel *kernel, struct gt_error *error)
{
	char *said = gt_level_said(stage->settings, gpu, kernel, config, error);

	if (!said)
		return -1;
	bool changed = !stage->said || strcmp(said, stage->said) != 0;
	free(stage->said);
	stage->said = said;
	stage->kernel = kernel->id;
	if (changed && open_level(stage, config, error) != 0)
		return -1;
	if (stage->timed) {
		if (gt_timed_window(stage->timed, &kernel->prefers.window, error) != 0)
			return -1;
		gt_timed_begin(stage->timed);
		gt_timed_launch(stage->timed, kernel);
	} else if (stage->divided) {
		gt_divided_begin(stage->divided, kernel);
	} else {
		gt_level_begin(stage->level);
		gt_level_launch(stage->level, kernel);
		gt_level_window(stage->level, &kernel->prefers.window, kernel->prefers.l2_persisting_bytes);
	}
	return warm(stage, error);
}

int gt_cache_stage_note(struct gt_cache_stage *stage, const struct gt_count *count, struct gt_error *error)
{
	return gt_warming_note(&stage->warming, count, error) == 0 ? warm(stage, error) : -1;
}

/* The requests of a launch are a batch of their own. A request with a hint, or in a window, may concern other sets than that of
 * its line. */
bool gt_cache_stage_relays(const struct gt_cache_stage *stage, bool hints)
{
	const struct gt_level *level = functional(stage);

	return !level || !(level->launch_gpcs > 0 || (stage->divided && (hints || level->window.bytes > 0)));
}

int gt_cache_stage_take(struct gt_cache_stage *stage, const struct gt_rows *requests, struct gt_sink *sent,
			struct gt_error *error)
{
	if (stage->timed)
		return gt_timed_take(stage->timed, requests, sent, error);
	if (!stage->divided)
		return gt_level_take(stage->level, requests, sent, error);
	gt_divided_note(stage->divided, requests);
	return gt_level_take(functional(stage), requests, sent, error);
}

int gt_cache_stage_finish(struct gt_cache_stage *stage, struct gt_sink *sent, struct gt_error *error)
{
	if (stage->divided)
		return gt_divided_finish(stage->divided, sent, error);
	return stage->timed ? gt_timed_finish(stage->timed, sent, error) : gt_level_finish(stage->level, sent, error);
}

int gt_cache_stage_count(const struct gt_cache_stage *stage, struct gt_count *count, struct gt_error *error)
{
	const char *name = stage->settings->name;

	if (stage->divided)
		return gt_divided_count(stage->divided, name, stage->kernel, count, error);
	return stage->timed ? gt_timed_count(stage->timed, name, stage->kernel, count, error)
			    : gt_level_count(stage->level, name, stage->kernel, count, error);
}

void gt_cache_stage_close(struct gt_cache_stage *stage)
{
	close_level(stage);
	free(stage->said);
	gt_warming_clear(&stage->warming);
}
