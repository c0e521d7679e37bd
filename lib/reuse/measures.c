/* SPDX-License-Identifier: MIT */
#include "reuse/measures.h"

int gt_measures_open(struct gt_measures *measures, const struct gt_plan *plan, struct gt_pair *pair,
		     struct gt_error *error)
{
	measures->pair = pair;
	for (measures->n = 0; measures->n < plan->n; measures->n++)
		if (gt_reuse_open(&measures->reuses[measures->n], &plan->measures[measures->n], error) != 0)
			return -1;
	return pair->lines ? gt_pair_open(pair, plan->split, plan->measures[0].launch, error) : 0;
}

void gt_measures_close(struct gt_measures *measures)
{
	for (size_t i = 0; i < measures->n; i++)
		gt_reuse_close(&measures->reuses[i]);
	measures->n = 0;
}

int gt_measures_rows(struct gt_measures *measures, const struct gt_rows *rows, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++)
		if (gt_reuse_rows(&measures->reuses[i], rows, error) != 0)
			return -1;
	return 0;
}

int gt_measures_end_kernel(struct gt_measures *measures, bool flush, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++) {
		enum gt_reuse_per per = measures->reuses[i].options.per;
		bool ends = per == GT_PER_WARP || per == GT_PER_BLOCK; /* those of the next kernel are others */
		if ((flush || ends) && gt_reuse_flush(&measures->reuses[i], error) != 0)
			return -1;
	}
	return 0;
}

void gt_measures_clear(struct gt_measures *measures)
{
	gt_pair_clear(measures->pair);
	for (size_t i = 0; i < measures->n; i++)
		gt_profile_clear(&measures->reuses[i].profile);
}

int gt_measures_finish(struct gt_measures *measures, struct gt_error *error)
{
	for (size_t i = 0; i < measures->n; i++)
		if (gt_reuse_settle(&measures->reuses[i], error) != 0 ||
		    gt_profile_finish(&measures->reuses[i].profile, error) != 0)
			return -1;
	gt_reuse_classes_sort(&measures->pair->classes);
	return 0;
}

int gt_measures_table(struct gt_measures *measures, struct gt_reuse_text *text, const char *kernel,
		      struct gt_error *error)
{
	if (text->table->write_pair)
		return gt_reuse_text_add_pair(text, kernel, measures->pair, error);
	for (size_t i = 0; i < measures->n; i++) {
		const struct gt_reuse *reuse = &measures->reuses[i];
		text->asked.sets = reuse->options.sets;
		text->asked.error = gt_reuse_expected_error(reuse);
		if (gt_reuse_text_add(text, kernel, &reuse->profile, error) != 0)
			return -1;
	}
	return 0;
}
