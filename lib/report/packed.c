/* SPDX-License-Identifier: MIT */
/* Packed kernels (report/packed.h). A kernel is a string of small numbers; what it has in common with others, the names of its counters, is
 * a layout, of which it has the number. The strings lie in a heap: its end is in memory, the rest in a file. Some kernels are whole beside
 * that, since counts of a launch, or of launches of a name, follow each other. */
#include "report/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/file.h"
#include "base/grown.h"

/* ---- bytes ---- */

/* Numbers are packed with seven bits a byte, the lowest first: most counters are small, or 0. */

struct bytes {
	unsigned char *data;
	size_t n, capacity, at; /* `at`: where it is read */
	bool failed; /* memory ran out */
};

static unsigned char *bytes_room(struct bytes *bytes, size_t n)
{
	unsigned char *grown = gt_grown_to(bytes->data, bytes->n + n, &bytes->capacity, 1);

	bytes->failed |= !grown;
	bytes->data = grown ? grown : bytes->data;
	return grown ? grown + bytes->n : NULL;
}

static void put_bytes(struct bytes *bytes, const void *data, size_t n)
{
	unsigned char *place = bytes_room(bytes, n);

	if (!place)
		return;
	memcpy(place, data, n);
	bytes->n += n;
}

static void put_number(struct bytes *bytes, uint64_t number)
{
	enum { LONGEST = 10 };
	unsigned char *place = bytes_room(bytes, LONGEST);

	if (!place)
		return;
	for (; number > 0x7f; number >>= 7)
		*place++ = (unsigned char)(number | 0x80);
	*place++ = (unsigned char)number;
	bytes->n = (size_t)(place - bytes->data);
}

static void put_text(struct bytes *bytes, const char *text)
{
	put_bytes(bytes, text, strlen(text) + 1);
}

static void take_bytes(struct bytes *bytes, void *data, size_t n)
{
	memcpy(data, bytes->data + bytes->at, n);
	bytes->at += n;
}

static uint64_t take_number(struct bytes *bytes)
{
	uint64_t number = 0;

	for (unsigned shift = 0;; shift += 7) {
		const unsigned char byte = bytes->data[bytes->at++];
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
}

/* Valid as long as the bytes. */
static const char *take_text(struct bytes *bytes)
{
	const char *text = (const char *)bytes->data + bytes->at;

	bytes->at += strlen(text) + 1;
	return text;
}

/* ---- where they are ---- */

#define IN_MEMORY ((size_t)2 << 20) /* bytes, before they go to the file */

/* A long text: what is in the file, and behind it what is in memory. */
struct heap {
	struct bytes tail;
	uint64_t in_file;
	int file; /* -1: none yet */
};

static int heap_write(const struct heap *heap, const unsigned char *data, size_t n, uint64_t place, struct gt_error *error)
{
	while (n > 0) {
		ssize_t done = pwrite(heap->file, data, n, (off_t)place);
		if (done <= 0)
			return gt_fail_errno(error, "temporary file in %s: counts of launches", gt_temporary_directory());
		data += done;
		place += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

static int heap_flush(struct heap *heap, struct gt_error *error)
{
	if (heap->file < 0 && (heap->file = gt_temporary_file(gt_temporary_directory(), error)) < 0)
		return -1;
	if (heap_write(heap, heap->tail.data, heap->tail.n, heap->in_file, error) != 0)
		return -1;
	heap->in_file += heap->tail.n;
	heap->tail.n = 0;
	return 0;
}

/* Adds n bytes and room for more: sets their place. */
static int heap_add(struct heap *heap, const struct bytes *bytes, size_t room, uint64_t *place, struct gt_error *error)
{
	if (heap->tail.n + room > IN_MEMORY && heap->tail.n > 0 && heap_flush(heap, error) != 0)
		return -1;
	unsigned char *data = bytes_room(&heap->tail, room);
	if (!data)
		return gt_fail_memory(error, "counts of launches");
	memcpy(data, bytes->data, bytes->n);
	memset(data + bytes->n, 0, room - bytes->n);
	*place = heap->in_file + heap->tail.n;
	heap->tail.n += room;
	return 0;
}

static int heap_replace(struct heap *heap, const struct bytes *bytes, uint64_t place, struct gt_error *error)
{
	if (place < heap->in_file)
		return heap_write(heap, bytes->data, bytes->n, place, error);
	memcpy(heap->tail.data + (place - heap->in_file), bytes->data, bytes->n);
	return 0;
}

/* Reads the n bytes at a place into `bytes`. */
static int heap_read(const struct heap *heap, uint64_t place, size_t n, struct bytes *bytes, struct gt_error *error)
{
	bytes->n = bytes->at = 0;
	if (!bytes_room(bytes, n))
		return gt_fail_memory(error, "counts of launches");
	if (place >= heap->in_file) {
		memcpy(bytes->data, heap->tail.data + (place - heap->in_file), n);
		bytes->n = n;
	}
	while (bytes->n < n) {
		ssize_t done = pread(heap->file, bytes->data + bytes->n, n - bytes->n, (off_t)(place + bytes->n));
		if (done <= 0)
			return gt_fail_errno(error, "temporary file in %s: counts of launches", gt_temporary_directory());
		bytes->n += (size_t)done;
	}
	return 0;
}

/* ---- what stages have in common: their names, and those of their counters ---- */

#define LAYOUTS_MAX 4096 /* beyond these, and so many counters in them, a stage is packed with its own */
#define LAYOUT_COUNTERS_MAX (1 << 18)

struct column {
	const char *name; /* of a counter */
	const struct gt_counter *about;
	enum gt_count_kind kind;
};

struct layout {
	char *name, *plain;
	struct column *columns;
	size_t n;
};

struct layouts {
	struct layout *all;
	size_t n, capacity, counters;
	struct gt_map index; /* from the hash of its names to a layout */
	size_t last[8]; /* the layout of the stage that was packed last in this place of its kernel */
};

static bool has_layout(const struct gt_report_stage *stage, const struct layout *layout)
{
	if (stage->n != layout->n || strcmp(stage->plain, layout->plain) != 0 || strcmp(stage->name, layout->name) != 0)
		return false;
	for (size_t i = 0; i < stage->n; i++) {
		const struct gt_report_counter *counter = &stage->counters[i];
		const struct column *column = &layout->columns[i];
		if (counter->value.name != column->name || counter->about != column->about || counter->value.kind != column->kind)
			return false;
	}
	return true;
}

static uint64_t hash_of(const struct gt_report_stage *stage)
{
	uint64_t hash = XXH3_64bits(stage->name, strlen(stage->name));

	for (size_t i = 0; i < stage->n; i++)
		hash = XXH3_64bits_withSeed(&stage->counters[i].value.name, sizeof stage->counters[i].value.name, hash);
	return hash - (hash == GT_MAP_EMPTY);
}

static bool make_layout(struct layout *layout, const struct gt_report_stage *stage)
{
	*layout = (struct layout){strdup(stage->name), strdup(stage->plain), malloc((stage->n + 1) * sizeof *layout->columns), stage->n};
	if (!layout->name || !layout->plain || !layout->columns)
		return false;
	for (size_t i = 0; i < stage->n; i++)
		layout->columns[i] = (struct column){stage->counters[i].value.name, stage->counters[i].about, stage->counters[i].value.kind};
	return true;
}

static void layout_clear(struct layout *layout)
{
	free(layout->name);
	free(layout->plain);
	free(layout->columns);
}

/* The number of the layout of a stage, from 1; 0: it is not among those that are kept. */
static size_t layout_of(struct layouts *layouts, const struct gt_report_stage *stage, size_t at)
{
	size_t *last = &layouts->last[at % (sizeof layouts->last / sizeof *layouts->last)];
	int fresh;

	if (*last > 0 && has_layout(stage, &layouts->all[*last - 1]))
		return *last;
	const uint64_t hash = hash_of(stage), *known = gt_map_get(&layouts->index, hash);
	if (known)
		return has_layout(stage, &layouts->all[*known]) ? *last = (size_t)*known + 1 : 0;
	if (layouts->n == LAYOUTS_MAX || layouts->counters + stage->n > LAYOUT_COUNTERS_MAX)
		return 0;
	struct layout *grown = gt_grown(layouts->all, layouts->n, &layouts->capacity, sizeof *grown);
	layouts->all = grown ? grown : layouts->all;
	/* Without memory for it, the stage is packed with its own. */
	if (!grown || !make_layout(&grown[layouts->n], stage) || !gt_map_put(&layouts->index, hash, layouts->n, &fresh)) {
		if (grown)
			layout_clear(&grown[layouts->n]);
		return 0;
	}
	layouts->counters += stage->n;
	return *last = ++layouts->n;
}

/* ---- stages, packed ---- */

static void pack_array(struct bytes *bytes, const uint64_t *array, size_t n)
{
	put_number(bytes, n);
	for (size_t i = 0, zeros; i < n; i += zeros) {
		for (zeros = 0; i + zeros < n && array[i + zeros] == 0;)
			zeros++;
		put_number(bytes, zeros > 0 ? 0 : array[i]);
		if (zeros > 0)
			put_number(bytes, zeros);
		zeros += zeros == 0;
	}
}

static bool unpack_array(struct bytes *bytes, struct gt_report_value *value)
{
	value->n = (size_t)take_number(bytes);
	value->array = calloc(value->n + !value->n, sizeof *value->array);
	for (size_t i = 0; value->array && i < value->n;) {
		const uint64_t number = take_number(bytes);
		value->array[i] = number;
		i += number > 0 ? 1 : (size_t)take_number(bytes);
	}
	return value->array;
}

static void pack_value(struct bytes *bytes, const struct gt_report_value *value)
{
	switch (value->kind) {
	case GT_COUNT_NUMBER: put_number(bytes, value->number); break;
	case GT_COUNT_ARRAY: pack_array(bytes, value->array, value->n); break;
	case GT_COUNT_TEXT: put_text(bytes, value->text); break;
	}
}

static bool unpack_value(struct bytes *bytes, struct gt_report_value *value)
{
	switch (value->kind) {
	case GT_COUNT_NUMBER: value->number = take_number(bytes); return true;
	case GT_COUNT_ARRAY: return unpack_array(bytes, value);
	case GT_COUNT_TEXT: value->text = (char *)take_text(bytes); return true; /* it is copied */
	}
	return false;
}

/* Counters that have a spread are mostly in all launches, or in none. */
static void pack_spreads(struct bytes *bytes, const struct gt_report_stage *stage)
{
	const size_t n = stage->spreads_n < stage->n ? stage->spreads_n : stage->n;

	put_number(bytes, n);
	for (size_t i = 0; i < n; i++) {
		const struct gt_report_spread *spread = &stage->spreads[i];
		put_number(bytes, 2 * spread->launches + (spread->last > 0));
		if (spread->launches > 0) {
			put_number(bytes, spread->least);
			put_number(bytes, spread->largest);
		}
		if (spread->last > 0) {
			put_number(bytes, spread->last);
			put_number(bytes, spread->of_last);
		}
	}
}

static bool unpack_spreads(struct bytes *bytes, struct gt_report_stage *stage)
{
	const size_t n = (size_t)take_number(bytes);

	struct gt_error ignored;

	for (size_t i = 0; i < n; i++) {
		struct gt_report_spread *spread = gt_report_spread_to(stage, &stage->counters[i], &ignored);
		const uint64_t packed = take_number(bytes);
		if (!spread)
			return false;
		spread->launches = packed / 2;
		if (spread->launches > 0) {
			spread->least = take_number(bytes);
			spread->largest = take_number(bytes);
		}
		if (packed % 2) {
			spread->last = take_number(bytes);
			spread->of_last = take_number(bytes);
		}
	}
	return true;
}

static void pack_stage(struct bytes *bytes, struct layouts *layouts, const struct gt_report_stage *stage, size_t at)
{
	const size_t number = layout_of(layouts, stage, at);
	size_t differ = 0;

	put_number(bytes, number);
	if (number == 0) {
		put_text(bytes, stage->name);
		put_text(bytes, stage->plain);
		put_number(bytes, stage->n);
	}
	put_number(bytes, stage->launch);
	for (size_t i = 0; i < stage->n; i++) {
		const struct gt_report_counter *counter = &stage->counters[i];
		const struct column own = {counter->value.name, counter->about, counter->value.kind};
		if (number == 0)
			put_bytes(bytes, &own, sizeof own);
		pack_value(bytes, &counter->value);
		differ += counter->differs;
	}
	put_number(bytes, differ);
	for (size_t i = 0; differ > 0 && i < stage->n; i++)
		if (stage->counters[i].differs)
			put_number(bytes, i);
	pack_spreads(bytes, stage);
}

/* A counter, which has a copy of its value. */
static bool unpack_counter(struct bytes *bytes, const struct column *column, struct gt_report_stage *stage)
{
	struct gt_report_value value = {.name = column->name, .kind = column->kind};
	struct gt_error ignored;

	if (!unpack_value(bytes, &value))
		return false;
	const bool added = gt_report_new_counter(stage, &value, column->about, false, &ignored);
	if (value.kind == GT_COUNT_ARRAY)
		free(value.array);
	return added;
}

static bool unpack_counters(struct bytes *bytes, const struct layout *layout, struct gt_report_stage *stage, size_t n)
{
	stage->counters = malloc((n + !n) * sizeof *stage->counters);
	stage->capacity = stage->counters ? n : 0;
	while (stage->counters && stage->n < n) {
		struct column column;
		if (layout)
			column = layout->columns[stage->n];
		else
			take_bytes(bytes, &column, sizeof column);
		if (!unpack_counter(bytes, &column, stage))
			return false;
	}
	return stage->counters;
}

/* False when memory is short; what was made of the stage is the kernel's. */
static bool unpack_stage(struct bytes *bytes, const struct layouts *layouts, struct gt_report_kernel *kernel)
{
	const size_t number = (size_t)take_number(bytes);
	const struct layout *layout = number > 0 ? &layouts->all[number - 1] : NULL;
	const char *name = layout ? layout->name : take_text(bytes), *plain = layout ? layout->plain : take_text(bytes);
	const size_t n = layout ? layout->n : (size_t)take_number(bytes);
	struct gt_error ignored;
	struct gt_report_stage *stage = gt_report_new_stage(kernel, plain, 1, &ignored);

	if (!stage)
		return false;
	snprintf(stage->name, sizeof stage->name, "%s", name);
	stage->launch = take_number(bytes);
	if (!unpack_counters(bytes, layout, stage, n))
		return false;
	for (uint64_t differ = take_number(bytes); differ > 0; differ--)
		stage->counters[take_number(bytes)].differs = true;
	return unpack_spreads(bytes, stage);
}

/* ---- kernels, packed ---- */

/* The members of a launch behind its name, up to those that this version does not know, which no report has. */
#define SHAPE_BEGIN offsetof(struct gt_kernel, grid)
#define SHAPE_WORDS ((offsetof(struct gt_kernel, extra) - SHAPE_BEGIN) / sizeof(uint32_t))

static void pack_launch(struct bytes *bytes, const struct gt_kernel *launch)
{
	put_number(bytes, launch->id);
	put_text(bytes, launch->name);
	for (size_t i = 0; i < SHAPE_WORDS; i++) {
		uint32_t word;
		memcpy(&word, (const char *)launch + SHAPE_BEGIN + i * sizeof word, sizeof word);
		put_number(bytes, word);
	}
}

static void unpack_launch(struct bytes *bytes, struct gt_kernel *launch)
{
	launch->id = take_number(bytes);
	snprintf(launch->name, sizeof launch->name, "%s", take_text(bytes));
	for (size_t i = 0; i < SHAPE_WORDS; i++) {
		uint32_t word = (uint32_t)take_number(bytes);
		memcpy((char *)launch + SHAPE_BEGIN + i * sizeof word, &word, sizeof word);
	}
}

static void pack_kernel(struct bytes *bytes, struct layouts *layouts, const struct gt_report_kernel *kernel)
{
	const bool flags[] = {kernel->announced, kernel->chosen, kernel->grid_differs, kernel->block_differs, kernel->registers_differ, kernel->shared_differs};
	uint64_t packed = 0;

	bytes->n = bytes->at = 0;
	pack_launch(bytes, &kernel->kernel);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		packed |= (uint64_t)flags[i] << i;
	put_number(bytes, packed);
	put_number(bytes, kernel->launches);
	put_number(bytes, kernel->stands_for);
	put_number(bytes, kernel->merged);
	put_number(bytes, kernel->first);
	put_number(bytes, kernel->n);
	for (size_t i = 0; i < kernel->n; i++)
		pack_stage(bytes, layouts, &kernel->stages[i], i);
}

static int unpack_kernel(struct bytes *bytes, const struct layouts *layouts, struct gt_report_kernel *kernel, struct gt_error *error)
{
	*kernel = (struct gt_report_kernel){.n = 0};
	unpack_launch(bytes, &kernel->kernel);
	const uint64_t packed = take_number(bytes);
	bool *const flags[] = {&kernel->announced, &kernel->chosen, &kernel->grid_differs, &kernel->block_differs, &kernel->registers_differ, &kernel->shared_differs};
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		*flags[i] = packed >> i & 1;
	kernel->launches = take_number(bytes);
	kernel->stands_for = take_number(bytes);
	kernel->merged = (size_t)take_number(bytes);
	kernel->first = (size_t)take_number(bytes);
	for (uint64_t stages = take_number(bytes); stages > 0; stages--)
		if (!unpack_stage(bytes, layouts, kernel)) {
			gt_report_kernel_clear(kernel);
			return gt_fail_memory(error, "the report");
		}
	return 0;
}

/* ---- which kernels are whole ---- */

#define WHOLE 128 /* kernels */

struct gt_packed {
	struct heap heap;
	struct layouts layouts;
	struct bytes scratch;
	struct packed_kernel {
		uint64_t place; /* in the heap */
		size_t n, room; /* bytes; no room: it has not been there */
		uint32_t whole; /* where it is whole, from 1; 0: nowhere */
	} *all;
	size_t n, capacity;
	struct gt_report_kernel whole[WHOLE];
	size_t number[WHOLE]; /* of each of these */
	bool taken[WHOLE], used[WHOLE];
	size_t next; /* which makes room next, unless it was used since it was passed over */
};

struct gt_packed *gt_packed_open(struct gt_error *error)
{
	struct gt_packed *packed = calloc(1, sizeof *packed);

	if (!packed || gt_map_open(&packed->layouts.index, 0, error) != 0) {
		free(packed);
		gt_fail_memory(error, "the report");
		return NULL;
	}
	packed->heap.file = -1;
	return packed;
}

void gt_packed_close(struct gt_packed *packed)
{
	if (!packed)
		return;
	for (size_t i = 0; i < WHOLE; i++)
		gt_report_kernel_clear(&packed->whole[i]);
	for (size_t i = 0; i < packed->layouts.n; i++)
		layout_clear(&packed->layouts.all[i]);
	free(packed->layouts.all);
	gt_map_close(&packed->layouts.index);
	free(packed->heap.tail.data);
	free(packed->scratch.data);
	free(packed->all);
	if (packed->heap.file >= 0)
		close(packed->heap.file);
	free(packed);
}

/* Packs a kernel that is whole, and takes it from there. One that is packed again gets room to grow, since sums do. */
static int put_away(struct gt_packed *packed, size_t where, struct gt_error *error)
{
	struct packed_kernel *place = &packed->all[packed->number[where]];
	struct bytes *bytes = &packed->scratch;
	int result = 0;

	pack_kernel(bytes, &packed->layouts, &packed->whole[where]);
	if (bytes->failed)
		return gt_fail_memory(error, "counts of launches");
	if (bytes->n <= place->room) {
		result = heap_replace(&packed->heap, bytes, place->place, error);
	} else {
		place->room = place->room > 0 ? bytes->n + bytes->n / 2 : bytes->n;
		result = heap_add(&packed->heap, bytes, place->room, &place->place, error);
	}
	place->n = bytes->n;
	place->whole = 0;
	packed->taken[where] = false;
	gt_report_kernel_clear(&packed->whole[where]);
	return result;
}

/* A place for a whole kernel, from which the one that was used least lately is put away. Returns 0, or -1. */
static int make_place(struct gt_packed *packed, size_t number, size_t *where, struct gt_error *error)
{
	while (packed->taken[packed->next] && packed->used[packed->next]) {
		packed->used[packed->next] = false;
		packed->next = (packed->next + 1) % WHOLE;
	}
	*where = packed->next;
	packed->next = (packed->next + 1) % WHOLE;
	if (packed->taken[*where] && put_away(packed, *where, error) != 0)
		return -1;
	packed->taken[*where] = packed->used[*where] = true;
	packed->number[*where] = number;
	packed->all[number].whole = (uint32_t)*where + 1;
	return 0;
}

static int unpack(struct gt_packed *packed, size_t i, struct gt_report_kernel *kernel, struct gt_error *error)
{
	const struct packed_kernel *place = &packed->all[i];

	if (heap_read(&packed->heap, place->place, place->n, &packed->scratch, error) != 0)
		return -1;
	return unpack_kernel(&packed->scratch, &packed->layouts, kernel, error);
}

/* Adds a kernel that is empty. Returns 0, or -1. */
static int add_kernel(struct gt_packed *packed, size_t *where, struct gt_error *error)
{
	struct packed_kernel *grown = gt_grown(packed->all, packed->n, &packed->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "the report");
	packed->all = grown;
	grown[packed->n] = (struct packed_kernel){.room = 0};
	return make_place(packed, packed->n++, where, error);
}

struct gt_report_kernel *gt_packed_whole(const struct gt_packed *packed, size_t i)
{
	const uint32_t whole = packed->all[i].whole;

	return whole > 0 ? (struct gt_report_kernel *)&packed->whole[whole - 1] : NULL;
}

struct gt_report_kernel *gt_packed_at(struct gt_packed *packed, size_t i, struct gt_error *error)
{
	size_t where;

	if (i == packed->n)
		return add_kernel(packed, &where, error) == 0 ? &packed->whole[where] : NULL;
	const uint32_t whole = packed->all[i].whole;
	if (whole > 0) {
		packed->used[whole - 1] = true;
		return &packed->whole[whole - 1];
	}
	return make_place(packed, i, &where, error) == 0 && unpack(packed, i, &packed->whole[where], error) == 0 ? &packed->whole[where] : NULL;
}

struct gt_report_kernel *gt_packed_read(struct gt_packed *packed, size_t i, struct gt_report_kernel *kernel, struct gt_error *error)
{
	struct gt_report_kernel *whole = gt_packed_whole(packed, i);

	if (whole)
		return whole;
	gt_report_kernel_clear(kernel);
	return unpack(packed, i, kernel, error) == 0 ? kernel : NULL;
}

void gt_packed_move(struct gt_packed *packed, size_t i, size_t to)
{
	packed->all[to] = packed->all[i];
}

bool gt_packed_in_file(const struct gt_packed *packed)
{
	return packed->heap.file >= 0;
}
