/* SPDX-License-Identifier: MIT */
/* Hash tables (base/map.h). */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grown.h"
#include "base/pages.h"

/* ---- numbers ---- */

static size_t home(const struct gt_map *map, uint64_t key)
{
	return (size_t)XXH3_64bits(&key, sizeof key) & map->mask;
}

static struct gt_map_slot *allocate(size_t slots)
{
	struct gt_map_slot *array = slots > SIZE_MAX / sizeof *array ? NULL : gt_pages_chunk(slots * sizeof *array);

	for (size_t i = 0; array && i < slots; i++)
		array[i].key = GT_MAP_EMPTY;
	return array;
}

static void drop(struct gt_map *map)
{
	gt_pages_free(map->slots, (map->mask + 1) * sizeof *map->slots);
}

int gt_map_open(struct gt_map *map, size_t expected, struct gt_error *error)
{
	size_t slots = 64;

	while (slots / 4 * 3 < expected && slots < SIZE_MAX / 64)
		slots *= 2;
	*map = (struct gt_map){.slots = allocate(slots), .mask = slots - 1};
	return map->slots ? 0 : gt_fail_memory(error, "a hash table");
}

void gt_map_close(struct gt_map *map)
{
	drop(map);
	*map = (struct gt_map){0};
}

/* The slot that holds the key, or the empty one where it belongs. */
static struct gt_map_slot *find(const struct gt_map *map, uint64_t key)
{
	size_t i = home(map, key);

	while (map->slots[i].key != key && map->slots[i].key != GT_MAP_EMPTY)
		i = (i + 1) & map->mask;
	return &map->slots[i];
}

uint64_t *gt_map_get(const struct gt_map *map, uint64_t key)
{
	struct gt_map_slot *slot = find(map, key);

	return slot->key == GT_MAP_EMPTY ? NULL : &slot->value;
}

void gt_map_prefetch(const struct gt_map *map, uint64_t key)
{
	__builtin_prefetch(&map->slots[home(map, key)], 1);
}

static int grow(struct gt_map *map)
{
	struct gt_map bigger = {.mask = map->mask * 2 + 1, .used = map->used};

	bigger.slots = allocate(bigger.mask + 1);
	if (!bigger.slots)
		return -1;
	for (size_t i = 0; i <= map->mask; i++)
		if (map->slots[i].key != GT_MAP_EMPTY)
			*find(&bigger, map->slots[i].key) = map->slots[i];
	drop(map);
	*map = bigger;
	return 0;
}

uint64_t *gt_map_put(struct gt_map *map, uint64_t key, uint64_t initial, int *fresh)
{
	struct gt_map_slot *slot = find(map, key);

	*fresh = slot->key == GT_MAP_EMPTY;
	if (!*fresh)
		return &slot->value;
	if (map->used + 1 > (map->mask + 1) / 4 * 3) {
		if (grow(map) != 0)
			return NULL;
		slot = find(map, key);
	}
	map->used++;
	*slot = (struct gt_map_slot){.key = key, .value = initial};
	return &slot->value;
}

void gt_map_clear(struct gt_map *map)
{
	for (size_t i = 0; i <= map->mask; i++)
		map->slots[i].key = GT_MAP_EMPTY;
	map->used = 0;
}

/* ---- names ---- */

int gt_names_open(struct gt_names *names, struct gt_error *error)
{
	*names = (struct gt_names){0};
	return gt_map_open(&names->index, 0, error);
}

void gt_names_close(struct gt_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
	gt_map_close(&names->index);
	*names = (struct gt_names){0};
}

static int append(struct gt_names *names, const char *name)
{
	char **bigger = gt_grown(names->names, names->n, &names->capacity, sizeof *names->names);

	if (!bigger)
		return -1;
	names->names = bigger;
	names->names[names->n] = malloc(strlen(name) + 1);
	if (!names->names[names->n])
		return -1;
	memcpy(names->names[names->n++], name, strlen(name) + 1);
	return 0;
}

int gt_names_number(struct gt_names *names, const char *name, uint64_t *number, struct gt_error *error)
{
	uint64_t hash = XXH3_64bits(name, strlen(name)) >> 1, *found;
	int fresh;

	for (;; hash++) { /* names of one hash follow each other */
		found = gt_map_put(&names->index, hash, names->n, &fresh);
		if (!found)
			return gt_fail_memory(error, "names");
		if (fresh || strcmp(names->names[*found], name) == 0)
			break;
	}
	*number = *found;
	return !fresh || append(names, name) == 0 ? 0 : gt_fail_memory(error, "names");
}
