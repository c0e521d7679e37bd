/* SPDX-License-Identifier: MIT */
/* What is traced, as options say it. */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "ptx/record/recorder.h"

void gt_ptx_tracing_begin(struct gt_ptx_tracing *tracing)
{
	*tracing = (struct gt_ptx_tracing){
		.spaces = UINT32_C(1) << GT_GLOBAL | UINT32_C(1) << GT_LOCAL,
		.blocks = UINT64_MAX,
		.memory = UINT64_C(2) << 30,
	};
}

void gt_ptx_tracing_clear(struct gt_ptx_tracing *tracing)
{
	gt_regex_close(tracing->kernel);
	free(tracing->launches);
	*tracing = (struct gt_ptx_tracing){0};
}

int gt_ptx_tracing_spaces(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error)
{
	static const struct {
		const char *name;
		enum gt_space space;
	} spaces[] = {{"global", GT_GLOBAL}, {"local", GT_LOCAL}, {"shared", GT_SHARED}, {"texture", GT_TEXTURE},
		      {"constant", GT_CONSTANT}};
	const size_t n = sizeof spaces / sizeof *spaces;

	tracing->spaces = 0;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < n && (strlen(spaces[i].name) != length || strncmp(spaces[i].name, at, length) != 0))
			i++;
		if (i == n)
			return gt_fail(error, "'%s': expected a list of global, local, shared, texture, constant", list);
		tracing->spaces |= UINT32_C(1) << spaces[i].space;
		at += length;
		if (!*at)
			return 0;
	}
}

int gt_ptx_tracing_launches(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error)
{
	if (!tracing->launches)
		tracing->launches = calloc(GT_PTX_LAUNCHES, 1);
	if (!tracing->launches)
		return gt_fail_memory(error, "a list of launches");
	if (gt_parse_list(list, tracing->launches, GT_PTX_LAUNCHES, error) != 0)
		return -1;
	return tracing->launches[0] ? gt_fail(error, "'%s': launches are numbered from 1", list) : 0;
}

static int set_kernel(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	gt_regex_close(tracing->kernel);
	tracing->kernel = gt_regex_open(value, error);
	return tracing->kernel ? 0 : -1;
}

static int set_blocks(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, UINT64_MAX, &tracing->blocks, error);
}

static int set_max_instructions(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, UINT64_MAX, &tracing->max_instructions, error);
}

static int set_memory(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_size(value, 1 << 20, SIZE_MAX / 4, &tracing->memory, error);
}

int gt_ptx_tracing_check(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	for (unsigned i = 0; i < GT_PTX_CHECKS; i++)
		if (strcmp(value, gt_ptx_check_names[i]) == 0) {
			tracing->check = (enum gt_ptx_check)i;
			return 0;
		}
	return gt_fail(error, "'%s': expected fault, list or no", value);
}

static int set_skip_untraced(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	(void)value, (void)error;
	tracing->skip_untraced = true;
	return 0;
}

static int set_unordered(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	(void)value, (void)error;
	tracing->unordered = true;
	return 0;
}

int gt_ptx_tracing_set(struct gt_ptx_tracing *tracing, const char *option, const char *value, struct gt_error *error)
{
	static const struct {
		const char *name;
		int (*set)(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error);
	} settings[] = {
		{"space", gt_ptx_tracing_spaces}, {"kernel", set_kernel}, {"launches", gt_ptx_tracing_launches},
		{"blocks", set_blocks}, {"skip-untraced", set_skip_untraced}, {"unordered", set_unordered},
		{"max-instructions", set_max_instructions}, {"memory", set_memory},
		{"check", gt_ptx_tracing_check},
	};

	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		if (strcmp(settings[i].name, option) == 0)
			return settings[i].set(tracing, value, error);
	return gt_fail(error, "no such setting");
}
