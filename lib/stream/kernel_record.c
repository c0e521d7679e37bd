/* SPDX-License-Identifier: MIT */
/* The record of a kernel: a table of its keys, and how each is read. */
#include <string.h>

#include "stream/columns.h"
#include "stream/records.h"

static int unpack_id(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_number(value, UINT64_MAX, &kernel->id);
}

static int unpack_name(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_text(value, kernel->name, sizeof kernel->name);
}

static int unpack_shape(const msgpack_object *value, uint32_t shape[3])
{
	uint64_t size;

	if (value->type != MSGPACK_OBJECT_ARRAY || value->via.array.size != 3)
		return -1;
	for (int i = 0; i < 3; i++) {
		if (gt_object_number(&value->via.array.ptr[i], UINT32_MAX, &size) != 0)
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

	if (gt_object_number(value, UINT32_MAX, &number) != 0)
		return -1;
	kernel->registers = (uint32_t)number;
	return 0;
}

static int unpack_shared(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t number;

	if (gt_object_number(value, UINT32_MAX, &number) != 0)
		return -1;
	kernel->shared_bytes = (uint32_t)number;
	return 0;
}

static int unpack_l1(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_number(value, UINT64_MAX, &kernel->l1_bytes);
}

static int unpack_device(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t number;

	if (gt_object_number(value, UINT32_MAX - 1, &number) != 0)
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

	return gt_object_text(value, text, sizeof text) != 0 ? -1 : gt_window_parse(text, &kernel->prefers.window);
}

static int unpack_fetch(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_number(value, UINT64_MAX, &kernel->prefers.l2_fetch_bytes);
}

static int unpack_persisting(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_number(value, UINT64_MAX, &kernel->prefers.l2_persisting_bytes);
}

static int unpack_carveout(const msgpack_object *value, struct gt_kernel *kernel)
{
	uint64_t percent;

	if (gt_object_number(value, 100, &percent) != 0)
		return -1;
	kernel->prefers.carveout = (uint32_t)percent + 1;
	return 0;
}

static int unpack_parent(const msgpack_object *value, struct gt_kernel *kernel)
{
	return gt_object_number(value, UINT64_MAX, &kernel->parent);
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
