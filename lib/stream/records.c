/* SPDX-License-Identifier: MIT */
#include "stream/records.h"

#include <stdlib.h>
#include <string.h>


int gt_object_is(const msgpack_object *object, const char *text)
{
	return object->type == MSGPACK_OBJECT_STR && object->via.str.size == strlen(text) &&
	       memcmp(object->via.str.ptr, text, object->via.str.size) == 0;
}

const msgpack_object *gt_object_get(const msgpack_object *map, const char *key)
{
	for (uint32_t i = 0; i < map->via.map.size; i++)
		if (gt_object_is(&map->via.map.ptr[i].key, key))
			return &map->via.map.ptr[i].val;
	return NULL;
}

void gt_pack_text(msgpack_packer *packer, const char *text)
{
	msgpack_pack_str_with_body(packer, text, strlen(text));
}

int gt_object_text(const msgpack_object *object, char *buffer, size_t bytes)
{
	if (object->type != MSGPACK_OBJECT_STR)
		return -1;
	size_t n = object->via.str.size < bytes - 1 ? object->via.str.size : bytes - 1;
	memcpy(buffer, object->via.str.ptr, n);
	buffer[n] = '\0';
	return 0;
}

int gt_object_number(const msgpack_object *object, uint64_t max, uint64_t *number)
{
	if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER || object->via.u64 > max)
		return -1;
	*number = object->via.u64;
	return 0;
}

/* ---- gpu ---- */

void gt_gpu_pack(msgpack_packer *packer, const struct gt_gpu *gpu)
{
	msgpack_pack_map(packer, gpu->n);
	for (size_t i = 0; i < gpu->n; i++) {
		gt_pack_text(packer, gpu->figures[i].key);
		gt_pack_text(packer, gpu->figures[i].value);
	}
}

int gt_gpu_unpack(const msgpack_object *map, struct gt_gpu *gpu, struct gt_error *error)
{
	char key[GT_GPU_TEXT], value[GT_GPU_TEXT];

	gt_gpu_clear(gpu);
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *pair = &map->via.map.ptr[i];
		if (gt_object_text(&pair->key, key, sizeof key) != 0 || gt_object_text(&pair->val, value, sizeof value) != 0)
			return gt_fail(error, "gpu: expected strings for keys and values");
		if (gt_gpu_known(key) && gt_gpu_set(gpu, key, value, "", "", error) != 0)
			return -1;
	}
	return 0;
}

/* ---- count ---- */

void gt_count_pack(msgpack_packer *packer, const struct gt_count *count)
{
	msgpack_pack_map(packer, count->n + 2);
	gt_pack_text(packer, "stage");
	gt_pack_text(packer, count->stage);
	gt_pack_text(packer, "kernel");
	msgpack_pack_uint64(packer, count->kernel);
	for (size_t i = 0; i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		gt_pack_text(packer, entry->name);
		if (entry->kind == GT_COUNT_NUMBER) {
			msgpack_pack_uint64(packer, entry->number);
		} else if (entry->kind == GT_COUNT_TEXT) {
			gt_pack_text(packer, entry->text);
		} else {
			msgpack_pack_array(packer, entry->n);
			for (size_t j = 0; j < entry->n; j++)
				msgpack_pack_uint64(packer, entry->array[j]);
		}
	}
}

static int unpack_array(const char *name, const msgpack_object_array *from, struct gt_count *count,
			struct gt_error *error)
{
	uint64_t *values = malloc((from->size + 1) * sizeof *values);
	int result = 0;

	if (!values)
		return gt_fail_memory(error, "a count");
	for (uint32_t i = 0; i < from->size && result == 0; i++)
		result = gt_object_number(&from->ptr[i], UINT64_MAX, &values[i]);
	if (result != 0)
		gt_fail(error, "count: '%s': expected numbers", name);
	else
		result = gt_count_array(count, name, values, from->size, error);
	free(values);
	return result;
}

static int unpack_entry(const msgpack_object_kv *pair, struct gt_count *count, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	if (gt_object_text(&pair->key, name, sizeof name) != 0)
		return gt_fail(error, "count: expected a string for a counter's name");
	if (strcmp(name, "stage") == 0 || strcmp(name, "kernel") == 0)
		return 0;
	if (pair->val.type == MSGPACK_OBJECT_POSITIVE_INTEGER)
		return gt_count_number(count, name, pair->val.via.u64, error);
	if (pair->val.type == MSGPACK_OBJECT_ARRAY)
		return unpack_array(name, &pair->val.via.array, count, error);
	if (pair->val.type != MSGPACK_OBJECT_STR)
		return gt_fail(error, "count: '%s': expected a number, numbers or a string", name);
	size_t bytes = (size_t)pair->val.via.str.size + 1;
	char *text = malloc(bytes);
	if (!text)
		return gt_fail_memory(error, "a count");
	gt_object_text(&pair->val, text, bytes);
	int result = gt_count_text(count, name, text, error);
	free(text);
	return result;
}

int gt_count_unpack(const msgpack_object *map, struct gt_count *count, struct gt_error *error)
{
	char stage[GT_COUNT_NAME];
	uint64_t kernel;
	const msgpack_object *stage_object = gt_object_get(map, "stage");
	const msgpack_object *kernel_object = gt_object_get(map, "kernel");

	gt_count_clear(count);
	if (!stage_object || gt_object_text(stage_object, stage, sizeof stage) != 0 || !kernel_object ||
	    gt_object_number(kernel_object, UINT64_MAX, &kernel) != 0)
		return gt_fail(error, "count: expected a 'stage' and a 'kernel'");
	gt_count_begin(count, stage, kernel);
	for (uint32_t i = 0; i < map->via.map.size; i++)
		if (unpack_entry(&map->via.map.ptr[i], count, error) != 0)
			return -1;
	return 0;
}
