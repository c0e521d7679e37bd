/* SPDX-License-Identifier: MIT */
#include "reuse/profile.h"

#include <stdlib.h>

int gt_profile_open(struct gt_profile *profile, const struct gt_split *split, const struct gt_launch *launch,
		    uint64_t bound, struct gt_error *error)
{
	*profile = (struct gt_profile){0};
	gt_histogram_begin(&profile->all, bound);
	return gt_reuse_classes_open(&profile->classes, split, launch, error);
}

static void clear_classes(struct gt_profile *profile)
{
	for (size_t i = 0; i < profile->classes.n; i++) {
		gt_histogram_clear(profile->classes.classes[i].counted);
		free(profile->classes.classes[i].counted);
	}
}

void gt_profile_clear(struct gt_profile *profile)
{
	gt_histogram_clear(&profile->all);
	clear_classes(profile);
	gt_reuse_classes_clear(&profile->classes);
	profile->lines = profile->refused = 0;
}

void gt_profile_close(struct gt_profile *profile)
{
	gt_histogram_clear(&profile->all);
	clear_classes(profile);
	gt_reuse_classes_close(&profile->classes);
}

/* The histogram of a reference's class; NULL when memory is short. */
static struct gt_histogram *histogram_for(struct gt_profile *profile, const struct gt_referrer *referrer,
					  struct gt_error *error)
{
	struct gt_reuse_class *class = gt_reuse_classes_of(&profile->classes, referrer, error);

	if (!class || class->counted)
		return class ? class->counted : NULL;
	struct gt_histogram *histogram = malloc(sizeof *histogram);
	if (!histogram) {
		profile->classes.n--; /* remove the new class, which has no histogram */
		gt_fail_memory(error, "a profile");
		return NULL;
	}
	gt_histogram_begin(histogram, profile->all.bound);
	return class->counted = histogram;
}

int gt_profile_add(struct gt_profile *profile, const struct gt_referrer *referrer, uint64_t distance,
		   uint64_t weight, struct gt_error *error)
{
	if (gt_histogram_add(&profile->all, distance, weight, error) != 0)
		return -1;
	if (!profile->classes.split)
		return 0;
	struct gt_histogram *histogram = histogram_for(profile, referrer, error);
	return histogram ? gt_histogram_add(histogram, distance, weight, error) : -1;
}

int gt_profile_pass(struct gt_profile *profile, const struct gt_referrer *referrer, struct gt_error *error)
{
	profile->all.references++;
	if (!profile->classes.split)
		return 0;
	struct gt_histogram *histogram = histogram_for(profile, referrer, error);
	if (!histogram)
		return -1;
	histogram->references++;
	return 0;
}

int gt_profile_finish(struct gt_profile *profile, struct gt_error *error)
{
	int failed = gt_histogram_settle(&profile->all, error);

	for (size_t i = 0; i < profile->classes.n && !failed; i++)
		failed = gt_histogram_settle(profile->classes.classes[i].counted, error);
	gt_reuse_classes_sort(&profile->classes);
	return failed;
}
