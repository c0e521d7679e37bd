/* SPDX-License-Identifier: MIT */
/* The records of a stream that are no batches: launches, GPUs and counts (stream/records.h); the bytes that all are packed into; and how
 * many objects a record claims to have. */
#include "stream/records.h"
#include "stream/counted.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

/* ---- bytes ---- */

int gt_bytes_write(void *context, const char *data, size_t n)
{
	struct gt_bytes *bytes = context;

	if (bytes->failed)
		return -1;
	/* msgpack-c writes an object in pieces of a few bytes. */
	if (n > 0 && n <= bytes->capacity - bytes->n) {
		if (data)
			memcpy(bytes->data + bytes->n, data, n);
		bytes->n += n;
		return 0;
	}
	unsigned char *grown = gt_grown_to(bytes->data, bytes->n + n, &bytes->capacity, 1);
	if (!grown) {
		bytes->failed = bytes->n + n > 0;
		return -1;
	}
	unsigned char *place = grown + bytes->n;
	bytes->data = grown;
	bytes->n += n;
	if (n > 0 && data)
		memcpy(place, data, n);
	return 0;
}

/* ---- the objects of a record ---- */

/* What one object's first bytes say: how long it is, and how many objects it has inside. */
struct head {
	uint64_t bytes, objects;
};

static uint64_t big_endian(const unsigned char *bytes, unsigned n)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < n; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* The types 0xc0 to 0xdf: bytes of the number behind the type, which is a length, a count, or part of the value. */
static const struct {
	unsigned char number;
	enum { VALUE, LENGTH, EXTENSION, ELEMENTS, PAIRS } means;
	unsigned char more; /* bytes that follow in any case */
} types[32] = {
	{0, VALUE, 0}, {0, VALUE, 0}, {0, VALUE, 0}, {0, VALUE, 0},
	{1, LENGTH, 0}, {2, LENGTH, 0}, {4, LENGTH, 0},
	{1, EXTENSION, 1}, {2, EXTENSION, 1}, {4, EXTENSION, 1},
	{0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 1}, {0, VALUE, 2}, {0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 1}, {0, VALUE, 2}, {0, VALUE, 4}, {0, VALUE, 8},
	{0, VALUE, 2}, {0, VALUE, 3}, {0, VALUE, 5}, {0, VALUE, 9}, {0, VALUE, 17},
	{1, LENGTH, 0}, {2, LENGTH, 0}, {4, LENGTH, 0},
	{2, ELEMENTS, 0}, {4, ELEMENTS, 0}, {2, PAIRS, 0}, {4, PAIRS, 0},
};

static struct head read_head(const unsigned char *bytes, size_t n)
{
	unsigned char type = bytes[0];

	if (type < 0x80 || type >= 0xe0)
		return (struct head){1, 0};
	if (type < 0x90)
		return (struct head){1, 2 * (type & 15U)};
	if (type < 0xa0)
		return (struct head){1, type & 15U};
	if (type < 0xc0)
		return (struct head){1 + (type & 31U), 0};
	unsigned number_bytes = types[type - 0xc0].number, more = types[type - 0xc0].more;
	if (n < 1 + number_bytes)
		return (struct head){n, 0};
	uint64_t number = big_endian(bytes + 1, number_bytes);
	switch (types[type - 0xc0].means) {
	case LENGTH:
	case EXTENSION: return (struct head){1 + number_bytes + more + number, 0};
	case ELEMENTS: return (struct head){1 + number_bytes, number};
	case PAIRS: return (struct head){1 + number_bytes, 2 * number};
	case VALUE: break;
	}
	return (struct head){1 + more, 0};
}

uint64_t gt_objects_count(const unsigned char *bytes, size_t n)
{
	uint64_t seen = 0, claimed = 1;

	for (size_t at = 0; at < n && seen < claimed && claimed <= GT_OBJECTS_MAX; seen++) {
		/* Most objects are short strings and small numbers. */
		if ((bytes[at] & 0xe0) == 0xa0 || bytes[at] < 0x80) {
			const size_t length = bytes[at] < 0x80 ? 1 : 1 + (bytes[at] & 31U);
			at = length < n - at ? at + length : n;
			continue;
		}
		struct head head = read_head(bytes + at, n - at);
		claimed += head.objects;
		at = head.bytes < n - at ? at + (size_t)head.bytes : n;
	}
	return claimed;
}

/* ---- keys and values ---- */

int gt_object_is(const msgpack_object *object, const char *text)
{
	if (object->type != MSGPACK_OBJECT_STR || object->via.str.size == 0)
		return object->type == MSGPACK_OBJECT_STR && !*text;
	/* Most keys differ in their first byte. */
	return object->via.str.ptr[0] == *text && object->via.str.size == strlen(text) &&
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
	enum { SHORT = 31 }; /* bytes of a text whose length is in its first byte */
	const size_t n = strnlen(text, SHORT + 1);
	char packed[1 + SHORT];

	if (n > SHORT) {
		msgpack_pack_str_with_body(packer, text, strlen(text));
		return;
	}
	packed[0] = (char)(0xa0 | n);
	memcpy(packed + 1, text, n);
	packer->callback(packer->data, packed, 1 + n);
}

/* Copies a string, cut to fit, or a number. Returns 0, or -1 if the object is none, or the number is above max. */
static int read_text(const msgpack_object *object, char *buffer, size_t bytes)
{
	if (object->type != MSGPACK_OBJECT_STR)
		return -1;
	size_t n = object->via.str.size < bytes - 1 ? object->via.str.size : bytes - 1;
	memcpy(buffer, object->via.str.ptr, n);
	buffer[n] = '\0';
	return 0;
}

static int read_number(const msgpack_object *object, uint64_t max, uint64_t *number)
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
		if (read_text(&pair->key, key, sizeof key) != 0 || read_text(&pair->val, value, sizeof value) != 0)
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

static int unpack_array(const msgpack_object_array *from, struct gt_count_entry *entry, struct gt_error *error)
{
	for (uint32_t i = 0; i < from->size; i++)
		if (read_number(&from->ptr[i], UINT64_MAX, &entry->array[i]) != 0)
			return gt_fail(error, "count: '%s': expected numbers", entry->name);
	return 0;
}

static int unpack_text(const msgpack_object *value, struct gt_count_entry *entry, struct gt_error *error)
{
	size_t bytes = (size_t)value->via.str.size + 1;

	entry->text = malloc(bytes);
	if (!entry->text)
		return gt_fail_memory(error, "a count");
	return read_text(value, entry->text, bytes);
}

static int unpack_entry(const msgpack_object_kv *pair, struct gt_count *count, struct gt_error *error)
{
	static const enum gt_count_kind kinds[] = {
		[MSGPACK_OBJECT_POSITIVE_INTEGER] = GT_COUNT_NUMBER, [MSGPACK_OBJECT_ARRAY] = GT_COUNT_ARRAY, [MSGPACK_OBJECT_STR] = GT_COUNT_TEXT};
	const msgpack_object *value = &pair->val;

	if (pair->key.type != MSGPACK_OBJECT_STR)
		return gt_fail(error, "count: expected a string for a counter's name");
	if (gt_object_is(&pair->key, "stage") || gt_object_is(&pair->key, "kernel"))
		return 0;
	bool known = value->type == MSGPACK_OBJECT_POSITIVE_INTEGER || value->type == MSGPACK_OBJECT_ARRAY || value->type == MSGPACK_OBJECT_STR;
	struct gt_count_entry *entry = gt_count_entry_new(count, pair->key.via.str.ptr, pair->key.via.str.size, known ? kinds[value->type] : GT_COUNT_NUMBER,
							  value->type == MSGPACK_OBJECT_ARRAY ? value->via.array.size : 0, error);
	if (!entry)
		return -1;
	if (value->type == MSGPACK_OBJECT_ARRAY)
		return unpack_array(&value->via.array, entry, error);
	if (value->type == MSGPACK_OBJECT_STR)
		return unpack_text(value, entry, error);
	entry->number = value->via.u64;
	return known ? 0 : gt_fail(error, "count: '%s': expected a number, numbers or a string", entry->name);
}

int gt_count_unpack(const msgpack_object *map, struct gt_count *count, struct gt_error *error)
{
	char stage[GT_COUNT_NAME];
	uint64_t kernel;
	const msgpack_object *stage_object = gt_object_get(map, "stage");
	const msgpack_object *kernel_object = gt_object_get(map, "kernel");

	if (!stage_object || read_text(stage_object, stage, sizeof stage) != 0 || !kernel_object ||
	    read_number(kernel_object, UINT64_MAX, &kernel) != 0)
		return gt_fail(error, "count: expected a 'stage' and a 'kernel'");
	gt_count_again(count, stage, kernel);
	for (uint32_t i = 0; i < map->via.map.size; i++)
		if (unpack_entry(&map->via.map.ptr[i], count, error) != 0)
			return -1;
	return 0;
}

/* ---- kernel ---- */

static int unpack_id(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_number(value, UINT64_MAX, &kernel->id);
}

static int unpack_name(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_text(value, kernel->name, sizeof kernel->name);
}

static int unpack_shape(const msgpack_object *value, uint32_t shape[3])
{
	uint64_t size;

	if (value->type != MSGPACK_OBJECT_ARRAY || value->via.array.size != 3)
		return -1;
	for (int i = 0; i < 3; i++) {
		if (read_number(&value->via.array.ptr[i], UINT32_MAX, &size) != 0)
			return -1;
		shape[i] = (uint32_t)size;
	}
	return 0;
}

static int unpack_grid(const msgpack_object *value, struct gt_kernel *kernel)
{
	return unpack_shape(value, kernel->grid);
}

static int unpack_block(const msgpack_object *value, struct gt_kernel *kernel)
{
	return unpack_shape(value, kernel->block);
}

static int unpack_cluster(const msgpack_object *value, struct gt_kernel *kernel)
{
	return unpack_shape(value, kernel->cluster);
}

static int unpack_registers(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t number;

	if (read_number(value, UINT32_MAX, &number) != 0)
		return -1;
	kernel->registers = (uint32_t)number;
	return 0;
}

static int unpack_shared(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t number;

	if (read_number(value, UINT32_MAX, &number) != 0)
		return -1;
	kernel->shared_bytes = (uint32_t)number;
	return 0;
}

static int unpack_l1(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_number(value, UINT64_MAX, &kernel->l1_bytes);
}

static int unpack_device(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t number;

	if (read_number(value, UINT32_MAX - 1, &number) != 0)
		return -1;
	kernel->device = (uint32_t)number;
	return 0;
}

static int unpack_order(const msgpack_object *value, struct gt_kernel *kernel)
{
	for (unsigned i = 0; i < GT_ORDERS; i++) {
		if (!gt_object_is(value, gt_order_names[i]))
			continue;
		kernel->order = (enum gt_order)i;
		return 0;
	}
	return -1;
}

static int unpack_window(const msgpack_object *value, struct gt_kernel *kernel)
{
	char text[GT_WINDOW_TEXT];

	return read_text(value, text, sizeof text) != 0 ? -1 : gt_window_parse(text, &kernel->prefers.window);
}

static int unpack_fetch(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_number(value, UINT64_MAX, &kernel->prefers.l2_fetch_bytes);
}

static int unpack_persisting(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_number(value, UINT64_MAX, &kernel->prefers.l2_persisting_bytes);
}

static int unpack_carveout(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t percent;

	if (read_number(value, 100, &percent) != 0)
		return -1;
	kernel->prefers.carveout = (uint32_t)percent + 1;
	return 0;
}

static int unpack_parent(const msgpack_object *value, struct gt_kernel *kernel)
{
	return read_number(value, UINT64_MAX, &kernel->parent);
}

static const struct {
	const char *name;
	const char *expected;
	int (*unpack)(const msgpack_object *value, struct gt_kernel *kernel);
} fields[] = {
	{"id", "a number", unpack_id},
	{"name", "a string", unpack_name},
	{"grid", "three numbers", unpack_grid},
	{"block", "three numbers", unpack_block},
	{"registers", "a number below 2^32", unpack_registers},
	{"shared_bytes", "a number below 2^32", unpack_shared},
	{"order", "none, block or an", unpack_order},
	{"l1_bytes", "a number", unpack_l1},
	{"cluster", "three numbers", unpack_cluster},
	{"device", "a number below 2^32 - 1", unpack_device},
	{"l2_window", "BASE,BYTES,HIT_RATIO,HIT,MISS", unpack_window},
	{"l2_fetch_bytes", "a number", unpack_fetch},
	{"l2_persisting_bytes", "a number", unpack_persisting},
	{"carveout", "a percentage", unpack_carveout},
	{"parent", "a number", unpack_parent},
};
#define FIELDS (sizeof fields / sizeof fields[0])
#define OPTIONAL 7 /* of these, at the end: in a record only if the device is not 0, or the launch has clusters, preferences or a parent */

static void pack_shape(msgpack_packer *packer, const char *name, const uint32_t shape[3])
{
	gt_pack_text(packer, name);
	msgpack_pack_array(packer, 3);
	for (int i = 0; i < 3; i++)
		msgpack_pack_uint32(packer, shape[i]);
}

static void pack_number(msgpack_packer *packer, const char *name, uint64_t number)
{
	if (number == 0)
		return;
	gt_pack_text(packer, name);
	msgpack_pack_uint64(packer, number);
}

static void pack_preferences(msgpack_packer *packer, const struct gt_preferences *prefers)
{
	char text[GT_WINDOW_TEXT];

	if (prefers->window.bytes > 0) {
		gt_pack_text(packer, "l2_window");
		gt_pack_text(packer, gt_window_format(&prefers->window, text));
	}
	pack_number(packer, "l2_fetch_bytes", prefers->l2_fetch_bytes);
	pack_number(packer, "l2_persisting_bytes", prefers->l2_persisting_bytes);
	if (prefers->carveout > 0) {
		gt_pack_text(packer, "carveout");
		msgpack_pack_uint32(packer, prefers->carveout - 1);
	}
}

void gt_kernel_pack(msgpack_packer *packer, const struct gt_kernel *kernel)
{
	const struct gt_preferences *prefers = &kernel->prefers;
	size_t said = (size_t)(kernel->device > 0) + (prefers->window.bytes > 0) + (prefers->l2_fetch_bytes > 0) +
		      (prefers->l2_persisting_bytes > 0) + (prefers->carveout > 0) + (kernel->parent > 0) +
		      (kernel->cluster[0] > 0);

	msgpack_pack_map(packer, FIELDS - OPTIONAL + said + kernel->extra_pairs);
	gt_pack_text(packer, "id");
	msgpack_pack_uint64(packer, kernel->id);
	gt_pack_text(packer, "name");
	gt_pack_text(packer, kernel->name);
	pack_shape(packer, "grid", kernel->grid);
	pack_shape(packer, "block", kernel->block);
	gt_pack_text(packer, "registers");
	msgpack_pack_uint32(packer, kernel->registers);
	gt_pack_text(packer, "shared_bytes");
	msgpack_pack_uint32(packer, kernel->shared_bytes);
	gt_pack_text(packer, "order");
	gt_pack_text(packer, gt_order_names[kernel->order]);
	gt_pack_text(packer, "l1_bytes");
	msgpack_pack_uint64(packer, kernel->l1_bytes);
	if (kernel->cluster[0] > 0)
		pack_shape(packer, "cluster", kernel->cluster);
	pack_number(packer, "device", kernel->device);
	pack_preferences(packer, prefers);
	pack_number(packer, "parent", kernel->parent);
	/* Already packed, pair by pair. */
	packer->callback(packer->data, (const char *)kernel->extra, kernel->extra_bytes);
}

static int keep_extra(struct gt_bytes *extra, const msgpack_object_kv *pair)
{
	msgpack_packer packer;

	msgpack_packer_init(&packer, extra, gt_bytes_write);
	return msgpack_pack_object(&packer, pair->key) != 0 || msgpack_pack_object(&packer, pair->val) != 0 ? -1 : 0;
}

int gt_kernel_unpack(const msgpack_object *map, struct gt_kernel *kernel, struct gt_error *error)
{
	struct gt_bytes extra = {0};

	gt_kernel_clear(kernel);
	for (uint32_t i = 0; i < map->via.map.size; i++) {
		const msgpack_object_kv *pair = &map->via.map.ptr[i];
		size_t f = 0;
		while (f < FIELDS && !gt_object_is(&pair->key, fields[f].name))
			f++;
		if (f < FIELDS && fields[f].unpack(&pair->val, kernel) != 0) {
			free(extra.data);
			return gt_fail(error, "kernel: '%s': expected %s", fields[f].name, fields[f].expected);
		}
		if (f == FIELDS && keep_extra(&extra, pair) != 0) {
			free(extra.data);
			return gt_fail_memory(error, "a kernel's fields");
		}
		kernel->extra_pairs += f == FIELDS;
	}
	kernel->extra = extra.data;
	kernel->extra_bytes = extra.n;
	if (!gt_object_get(map, "id"))
		return gt_fail(error, "kernel: expected an 'id'");
	return gt_kernel_check(kernel, error);
}
