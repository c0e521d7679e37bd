/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"

/* How a value is written. `min` is the least count or size that makes sense; `word` may stand
 * in its place. */
struct type {
	int (*check)(const char *value, uint64_t min, struct gt_error *error);
	uint64_t min;
	const char *word;
};

static int check_count(const char *value, uint64_t min, struct gt_error *error)
{
	uint64_t number;

	return gt_parse_count(value, min, UINT32_MAX, &number, error);
}

static int check_size(const char *value, uint64_t min, struct gt_error *error)
{
	uint64_t size;

	return gt_parse_size(value, min, UINT64_C(1) << 48, &size, error);
}

/* Sizes with commas between, rising. */
static int check_sizes(const char *value, uint64_t min, struct gt_error *error)
{
	char item[GT_GPU_TEXT];
	uint64_t size, last = 0;

	for (size_t n = 0;; n++) {
		size_t length = strcspn(value, ",");
		memcpy(item, value, length);
		item[length] = '\0';
		if (gt_parse_size(item, min, UINT64_C(1) << 48, &size, error) != 0)
			return -1;
		if (n > 0 && size <= last)
			return gt_fail(error, "'%s': expected sizes in rising order, such as 0,8K,16K", item);
		last = size;
		value += length;
		if (*value++ == '\0')
			return 0;
	}
}

/* The ways of sets, or how many sets share all lines: full/SETS. */
static int check_ways(const char *value, uint64_t min, struct gt_error *error)
{
	uint64_t n;

	return gt_parse_count(strncmp(value, "full/", 5) == 0 ? value + 5 : value, min, UINT32_MAX, &n, error);
}

static int check_word(const char *value, uint64_t min, struct gt_error *error)
{
	(void)min;
	if (value[0] == '\0' || strpbrk(value, " \t"))
		return gt_fail(error, "'%s': expected one word", value);
	return 0;
}

static int check_text(const char *value, uint64_t min, struct gt_error *error)
{
	(void)min;
	return value[0] == '\0' ? gt_fail(error, "expected a text") : 0;
}

static const struct type count = {check_count, 1, NULL}, count_or_none = {check_count, 0, NULL};
static const struct type ways = {check_ways, 1, "full"};
static const struct type size = {check_size, 1, NULL}, size_or_none = {check_size, 0, NULL};
static const struct type size_or_line = {check_size, 1, "line"}, size_or_sector = {check_size, 1, "sector"};
static const struct type size_or_absent = {check_size, 1, "none"};
static const struct type sizes = {check_sizes, 0, NULL};
static const struct type word = {check_word, 0, NULL};
static const struct type text = {check_text, 0, NULL};

struct key {
	const char *name;
	const struct type *type;
};

static const struct key keys[] = {
	{"name", &text},
	{"architecture", &text},
	{"compute_capability", &word},
	{"sms", &count},
	{"schedulers", &count},
	{"max_warps", &count},
	{"max_blocks", &count},
	{"registers", &count},
	{"register_unit", &count},
	{"warp_unit", &count},
	{"max_registers_thread", &count},
	{"shared", &size_or_none},
	{"shared_block", &size_or_none},
	{"shared_unit", &size},
	{"shared_reserved", &size_or_none},
	{"shared_options", &sizes},
	{"shared_banks", &count},
	{"shared_bank_bytes", &count},
	{"shared_bank_unit", &count},
	{"shared_latency", &word},
	{"unified", &size},
	{"coalesce", &word},
	{"dispatch", &word},
	{"dram.channels", &count},
	{"dram.banks", &count},
	{"dram.row", &size},
	{"dram.interleave", &size},
	{"dram.sector", &size},
};

/* What may stand behind the name of a level and a dot. */
static const struct key parameters[] = {
	{"size", &size_or_absent},
	{"ways", &ways},
	{"line", &size},
	{"sector", &size_or_line},
	{"sets", &word},
	{"index", &word},
	{"seed", &count_or_none},
	{"replace", &word},
	{"write", &word},
	{"allocate", &word},
	{"partial", &word},
	{"write_hits", &word},
	{"fetch", &size_or_sector},
	{"bypass", &word},
	{"flush", &word},
	{"scope", &word},
	{"arrival", &word},
	{"partitions", &count},
	{"banks", &count},
	{"ports", &count},
	{"mshr", &word},
	{"merges", &count_or_none},
	{"latency", &word},
	{"hit_cycles", &word},
	{"miss_cycles", &word},
};

static const char *const levels[] = {"l1", "l2", "texture", "readonly", "l1tlb", "l2tlb", "window"};

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct type *find(const struct key *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].type;
	return NULL;
}

static const struct type *type_of(const char *key)
{
	const struct type *type = find(keys, LENGTH(keys), key);
	const char *dot = strchr(key, '.');

	if (type || !dot)
		return type;
	for (size_t i = 0; i < LENGTH(levels); i++)
		if (strlen(levels[i]) == (size_t)(dot - key) && strncmp(levels[i], key, (size_t)(dot - key)) == 0)
			return find(parameters, LENGTH(parameters), dot + 1);
	return NULL;
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
	if (gpu->n == gpu->capacity) {
		size_t capacity = gpu->capacity ? 2 * gpu->capacity : 64;
		struct gt_gpu_figure *figures = realloc(gpu->figures, capacity * sizeof *figures);
		if (!figures) {
			gt_fail_memory(error, "a GPU description");
			return NULL;
		}
		gpu->figures = figures;
		gpu->capacity = capacity;
	}
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
	const struct type *type = type_of(key);
	struct gt_gpu_figure new;
	struct gt_error reason;

	if (!type)
		return gt_fail(error, "'%.100s' is no figure of a GPU: expected one of those in gtrace-gpu(5)", key);
	if (copy(new.key, sizeof new.key, key, "key", error) != 0 ||
	    copy(new.value, sizeof new.value, value, "value", error) != 0 ||
	    copy(new.status, sizeof new.status, status, "status", error) != 0 ||
	    copy(new.source, sizeof new.source, source, "source", error) != 0)
		return -1;
	if (!(type->word && strcmp(value, type->word) == 0) && type->check(value, type->min, &reason) != 0)
		return gt_fail(error, "%s: %s%s%s", key, reason.text, type->word ? ", or " : "",
			       type->word ? type->word : "");
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
