/* SPDX-License-Identifier: MIT */
/* What kinds of findings make a finding with: its place, numbers and gains. */
#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "report/findings/kind.h"

/* ---- groups ---- */

/* Those with most of it stand first. */
static void add_array(struct gt_group *group, const char *name, uint64_t sectors)
{
	size_t i = 0;

	while (i < group->n_arrays && strcmp(group->arrays[i].name, name) != 0)
		i++;
	if (i == GT_GROUP_ARRAYS)
		return;
	if (i == group->n_arrays) {
		group->arrays[i].name = name;
		group->arrays[i].sectors = 0;
		group->n_arrays++;
	}
	group->arrays[i].sectors += sectors;
	for (; i > 0 && group->arrays[i].sectors > group->arrays[i - 1].sectors; i--) {
		const char *other = group->arrays[i - 1].name;
		uint64_t its = group->arrays[i - 1].sectors;
		group->arrays[i - 1] = group->arrays[i];
		group->arrays[i].name = other;
		group->arrays[i].sectors = its;
	}
}

static void add_group(struct gt_group *sum, const struct gt_group *group)
{
	gt_counters_add(&sum->access, &group->access, sizeof sum->access);
	for (size_t i = 0; i < GT_SITE_LEVELS; i++) {
		gt_counters_add(&sum->level[i], &group->level[i], offsetof(struct gt_site_level, distance));
		for (size_t k = 0; k < GT_DISTANCE_BINS; k++)
			sum->distance[i][k] += group->distance[i][k];
	}
	if (sum->stride && (!group->stride || strcmp(sum->stride, group->stride) != 0))
		sum->stride = NULL;
	if (group->n_arrays > 0)
		add_array(sum, group->arrays[0].name, group->arrays[0].sectors);
}

bool gt_finding_gather(const struct gt_finding_input *input, size_t at, gt_holds *holds, unsigned what, enum gt_sameness same, struct gt_group *sum)
{
	const struct gt_group *groups = input->groups;
	size_t first = groups[at].first[same];

	if (!holds(&groups[at], what))
		return false;
	while (!holds(&groups[first], what))
		first = groups[first].next[same];
	if (first != at)
		return false;
	*sum = groups[at];
	for (size_t i = groups[at].next[same]; i != GT_LAST_GROUP; i = groups[i].next[same])
		if (holds(&groups[i], what))
			add_group(sum, &groups[i]);
	return true;
}

/* ---- a finding, part by part ---- */

uint64_t gt_finding_number(const struct gt_finding_input *input, const char *stage, const char *counter)
{
	const struct gt_report_stage *found = gt_report_find_stage(input->kernel, stage);
	uint64_t number = 0;

	return found && gt_report_number(found, counter, &number) ? number : 0;
}

static void name_arrays(struct gt_finding *finding, const struct gt_group *group)
{
	size_t length = 0;

	for (size_t i = 0; i < group->n_arrays && i < 2; i++) {
		const char *name = group->arrays[i].name, *blank = strchr(name, ' ');
		const bool placed = blank && strchr(blank, ':'); /* "out blur.cu:36", and not "cudaMalloc 2" */
		const int words = (int)((placed ? blank : strchr(name, '\0')) - name);
		snprintf(finding->arrays + length, sizeof finding->arrays - length, placed ? "%s%.*s (%s)" : "%s%.*s%s", i ? ", " : "", words, name,
			 placed ? blank + 1 : "");
		length = strlen(finding->arrays);
	}
	if (group->n_arrays > 2)
		snprintf(finding->arrays + length, sizeof finding->arrays - length, ", ...");
}

struct gt_finding *gt_finding_add(const struct gt_finding_input *input, const struct gt_finding_kind *kind, const struct gt_group *group)
{
	struct gt_kernel_findings *to = input->to;
	struct gt_finding *bigger = gt_grown(to->findings, to->n, &to->capacity, sizeof *bigger);

	if (!bigger) {
		gt_fail_memory(input->error, "findings");
		return NULL;
	}
	to->findings = bigger;
	bigger[to->n] = (struct gt_finding){.kind = kind};
	if (group) {
		snprintf(bigger[to->n].place, sizeof bigger[to->n].place, "%s", group->place);
		name_arrays(&bigger[to->n], group);
	}
	return &bigger[to->n++];
}

void gt_finding_gains(struct gt_finding *finding, enum gt_boundary boundary, uint64_t sectors, enum gt_gain_basis basis)
{
	if (sectors > 0)
		finding->gain[boundary] = (struct gt_gain){sectors, basis};
}

void gt_finding_count(struct gt_finding *finding, const char *name, const char *unit, uint64_t count)
{
	if (finding->n_evidence < GT_EVIDENCE_MAX)
		finding->evidence[finding->n_evidence++] = (struct gt_evidence){.name = name, .unit = unit, .count = count};
}

void gt_finding_ratio(struct gt_finding *finding, const char *name, const char *unit, double numerator, double denominator)
{
	if (denominator > 0 && finding->n_evidence < GT_EVIDENCE_MAX)
		finding->evidence[finding->n_evidence++] =
			(struct gt_evidence){.name = name, .unit = unit, .is_ratio = true, .ratio = numerator / denominator};
}
