/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/options.h"
#include "gpu/parameter.h"

#define BYTES_MAX (UINT64_C(1) << 48)
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

#define TEXT {GT_VALUE_TEXT, NULL, 0, 0}
#define WORD {GT_VALUE_WORD, NULL, 0, 0}
#define COUNT {GT_VALUE_COUNT, NULL, 1, UINT32_MAX}
#define SIZE {GT_VALUE_SIZE, NULL, 1, BYTES_MAX}
#define SIZE_OR_0 {GT_VALUE_SIZE, NULL, 0, BYTES_MAX}

/* The keys that do not belong to a cache level. Keys of levels are LEVEL.PARAMETER. */
static const struct {
	const char *name;
	struct gt_value_type type;
} keys[] = {
	{"name", TEXT},
	{"architecture", TEXT},
	{"compute_capability", WORD},
	{"sms", COUNT},
	{"gpcs", COUNT},
	{"l2_spread", COUNT},
	{"schedulers", COUNT},
	{"max_warps", COUNT},
	{"max_blocks", COUNT},
	{"registers", COUNT},
	{"register_unit", COUNT},
	{"warp_unit", COUNT},
	{"max_registers_thread", COUNT},
	{"shared", SIZE_OR_0},
	{"shared_block", SIZE_OR_0},
	{"shared_unit", SIZE},
	{"shared_reserved", SIZE_OR_0},
	{"shared_least", SIZE_OR_0},
	{"shared_options", {GT_VALUE_SIZES, NULL, 0, BYTES_MAX}},
	{"shared_banks", COUNT},
	{"shared_bank_bytes", COUNT},
	{"shared_bank_unit", COUNT},
	{"shared_latency", WORD},
	{"unified", SIZE},
	{"coalesce", WORD},
	{"dispatch", WORD},
	{"dram.channels", COUNT},
	{"dram.banks", COUNT},
	{"dram.row", SIZE},
	{"dram.interleave", SIZE},
	{"dram.sector", SIZE},
};

static const struct gt_value_type *type_of(const char *key)
{
	const struct gt_parameter *parameter = gt_parameter_of_key(key);

	for (size_t i = 0; i < LENGTH(keys); i++)
		if (strcmp(keys[i].name, key) == 0)
			return &keys[i].type;
	return parameter ? &parameter->type : NULL;
}

bool gt_gpu_known(const char *key)
{
	return type_of(key) != NULL;
}

static struct gt_gpu_figure *figure_of(const struct gt_gpu *gpu, const char *key)
{
	for (size_t i = 0; gpu && i < gpu->n; i++)
		if (strcmp(gpu->figures[i].key, key) == 0)
			return &gpu->figures[i];
	return NULL;
}

const char *gt_gpu_get(const struct gt_gpu *gpu, const char *key)
{
	const struct gt_gpu_figure *figure = figure_of(gpu, key);

	return figure ? figure->value : NULL;
}

static struct gt_gpu_figure *append(struct gt_gpu *gpu, struct gt_error *error)
{
	struct gt_gpu_figure *figures = gt_grown(gpu->figures, gpu->n, &gpu->capacity, sizeof *figures);

	if (!figures) {
		gt_fail_memory(error, "a GPU description");
		return NULL;
	}
	gpu->figures = figures;
	return &gpu->figures[gpu->n++];
}

static int copy(char *to, size_t bytes, const char *from, const char *what, struct gt_error *error)
{
	if (strlen(from) >= bytes)
		return gt_fail(error, "expected a %s of at most %zu bytes", what, bytes - 1);
	strcpy(to, from);
	return 0;
}

int gt_gpu_set(struct gt_gpu *gpu, const char *key, const char *value, const char *status,
	       const char *source, struct gt_error *error)
{
	const struct gt_value_type *type = type_of(key);
	struct gt_gpu_figure new;
	struct gt_value ignored;
	struct gt_error reason;

	if (!type)
		return gt_fail(error, "'%.100s': unknown key: expected one of those in gtrace-gpu(5)", key);
	if (copy(new.key, sizeof new.key, key, "key", error) != 0 ||
	    copy(new.value, sizeof new.value, value, "value", error) != 0 ||
	    copy(new.status, sizeof new.status, status, "status", error) != 0 ||
	    copy(new.source, sizeof new.source, source, "source", error) != 0)
		return -1;
	if (gt_value_read(type, value, &ignored, &reason) != 0)
		return gt_fail(error, "%s: %s", key, reason.text);
	struct gt_gpu_figure *figure = figure_of(gpu, key);
	if (!figure)
		figure = append(gpu, error);
	if (!figure)
		return -1;
	*figure = new;
	return 0;
}

void gt_gpu_clear(struct gt_gpu *gpu)
{
	free(gpu->figures);
	*gpu = (struct gt_gpu){0};
}

int gt_gpu_count(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		 struct gt_error *error)
{
	const char *written = gt_gpu_get(gpu, key);
	struct gt_error reason;

	*value = otherwise;
	if (written && gt_parse_count(written, 0, UINT32_MAX, value, &reason) != 0)
		return gt_fail(error, "gpu: %s: %s", key, reason.text);
	return 0;
}

int gt_gpu_size(const struct gt_gpu *gpu, const char *key, uint64_t otherwise, uint64_t *value,
		struct gt_error *error)
{
	const char *written = gt_gpu_get(gpu, key);
	struct gt_error reason;

	*value = otherwise;
	if (written && gt_parse_size(written, 0, UINT64_C(1) << 48, value, &reason) != 0)
		return gt_fail(error, "gpu: %s: %s", key, reason.text);
	return 0;
}
