/* SPDX-License-Identifier: MIT */
/* Lines of keys and values: kernels, GPUs, counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/tsv_fields.h"

static int parse_small(const char *text, uint32_t *value)
{
	uint64_t number;

	if (gt_tsv_number(text, 4, &number) != 0)
		return -1;
	*value = (uint32_t)number;
	return 0;
}

static int set_shape(char *text, uint32_t shape[3])
{
	for (int i = 0; i < 3; i++) {
		char *field = gt_tsv_field(&text, ',');
		if (!field || parse_small(field, &shape[i]) != 0)
			return -1;
	}
	return text ? -1 : 0;
}

static int set_id(struct gt_kernel *kernel, char *text) { return gt_tsv_number(text, 8, &kernel->id); }
static int set_grid(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->grid); }
static int set_block(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->block); }
static int set_cluster(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->cluster); }
static int set_registers(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->registers); }
static int set_shared(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->shared_bytes); }
static int set_l1(struct gt_kernel *kernel, char *text) { return gt_tsv_number(text, 8, &kernel->l1_bytes); }
static int set_device(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->device); }
static int set_window(struct gt_kernel *kernel, char *text) { return gt_window_parse(text, &kernel->prefers.window); }

static int set_parent(struct gt_kernel *kernel, char *text) { return gt_tsv_number(text, 8, &kernel->parent); }

static int set_fetch(struct gt_kernel *kernel, char *text)
{
	return gt_tsv_number(text, 8, &kernel->prefers.l2_fetch_bytes);
}

static int set_persisting(struct gt_kernel *kernel, char *text)
{
	return gt_tsv_number(text, 8, &kernel->prefers.l2_persisting_bytes);
}

static int set_carveout(struct gt_kernel *kernel, char *text)
{
	if (parse_small(text, &kernel->prefers.carveout) != 0 || kernel->prefers.carveout++ > 100)
		return -1;
	return 0;
}

static int set_name(struct gt_kernel *kernel, char *text)
{
	size_t n = strlen(text) < sizeof kernel->name ? strlen(text) : sizeof kernel->name - 1;

	memcpy(kernel->name, text, n);
	kernel->name[n] = '\0';
	return 0;
}

static int set_order(struct gt_kernel *kernel, char *text)
{
	kernel->order = GT_ORDER_NONE;
	for (unsigned i = 0; i < GT_ORDERS; i++)
		if (strcmp(text, gt_order_names[i]) == 0)
			kernel->order = (enum gt_order)i;
	return 0;
}

#define NUMBER "a number"
#define SHAPE "X,Y,Z"

static const struct {
	const char *key, *expected;
	int (*set)(struct gt_kernel *kernel, char *text);
} kernel_keys[] = {
	{"id", NUMBER, set_id},
	{"name", "a name", set_name},
	{"grid", SHAPE, set_grid},
	{"block", SHAPE, set_block},
	{"registers", NUMBER, set_registers},
	{"shared_bytes", NUMBER, set_shared},
	{"order", "an order", set_order},
	{"l1_bytes", NUMBER, set_l1},
	{"device", NUMBER, set_device},
	{"l2_window", "BASE,BYTES,HIT_RATIO,HIT,MISS, as 0x1000,4096,1000000,persisting,normal", set_window},
	{"l2_fetch_bytes", NUMBER, set_fetch},
	{"l2_persisting_bytes", NUMBER, set_persisting},
	{"carveout", "a percentage", set_carveout},
	{"parent", NUMBER, set_parent},
	{"cluster", SHAPE, set_cluster},
};

static int set_key(struct gt_kernel *kernel, const char *key, char *value, struct gt_error *error)
{
	char said[2 * GT_WINDOW_TEXT]; /* setting may take the value to pieces */

	for (size_t k = 0; k < sizeof kernel_keys / sizeof kernel_keys[0]; k++) {
		if (strcmp(kernel_keys[k].key, key) != 0)
			continue;
		snprintf(said, sizeof said, "%s", value);
		if (kernel_keys[k].set(kernel, value) != 0)
			return gt_fail(error, "#kernel: '%s': invalid value '%s': expected %s", key, said, kernel_keys[k].expected);
	}
	return 0;
}

enum gt_tsv_event gt_tsv_read_kernel(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_kernel_clear(&tsv->kernel);
	for (char *key; (key = gt_tsv_field(&line, '\t'));) {
		char *value = gt_tsv_value(key);
		if (value && set_key(&tsv->kernel, key, value, error) != 0)
			return GT_TSV_FAILED;
	}
	if (gt_kernel_check(&tsv->kernel, error) != 0)
		return GT_TSV_FAILED;
	tsv->kernel_id = tsv->kernel.id;
	return GT_TSV_KERNEL;
}

enum gt_tsv_event gt_tsv_read_gpu(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_gpu_clear(&tsv->gpu);
	for (char *key; (key = gt_tsv_field(&line, '\t'));) {
		char *value = gt_tsv_value(key);
		if (value && gt_gpu_known(key) && gt_gpu_set(&tsv->gpu, key, value, "", "", error) != 0)
			return GT_TSV_FAILED;
	}
	return GT_TSV_GPU;
}

static int count_array(struct gt_count *count, const char *key, char *text, struct gt_error *error)
{
	size_t n = 0, commas = 1;

	for (const char *at = text; *at; at++)
		commas += *at == ',';
	uint64_t *values = malloc(commas * sizeof *values);
	if (!values)
		return gt_fail_memory(error, "a count");
	text[strlen(text) - 1] = '\0';
	text = text[1] ? text + 1 : NULL;
	for (char *field; (field = gt_tsv_field(&text, ','));) {
		if (gt_tsv_number(field, 8, &values[n++]) != 0) {
			free(values);
			return gt_fail(error, "#count: '%s': '%.40s': expected a number", key, field);
		}
	}
	int result = gt_count_array(count, key, values, n, error);
	free(values);
	return result;
}

static int count_entry(struct gt_count *count, const char *key, char *value, struct gt_error *error)
{
	uint64_t number;
	size_t length = strlen(value);

	if (gt_tsv_number(value, 8, &number) == 0)
		return gt_count_number(count, key, number, error);
	if (length >= 2 && value[0] == '[' && value[length - 1] == ']')
		return count_array(count, key, value, error);
	return gt_count_text(count, key, value, error);
}

enum gt_tsv_event gt_tsv_read_count(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	char *stage = gt_tsv_field(&line, '\t'), *kernel = gt_tsv_field(&line, '\t');
	uint64_t id;

	gt_count_clear(&tsv->count);
	if (!stage || strncmp(stage, "stage=", 6) != 0 || !kernel || strncmp(kernel, "kernel=", 7) != 0 ||
	    gt_tsv_number(kernel + 7, 8, &id) != 0)
		return (enum gt_tsv_event)gt_fail(error, "#count: expected stage=NAME and kernel=ID first");
	gt_count_begin(&tsv->count, stage + 6, id);
	for (char *key; (key = gt_tsv_field(&line, '\t'));) {
		char *value = gt_tsv_value(key);
		if (value && count_entry(&tsv->count, key, value, error) != 0)
			return GT_TSV_FAILED;
	}
	return GT_TSV_COUNT;
}
