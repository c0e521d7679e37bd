/* SPDX-License-Identifier: MIT */
#include "stream/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/wide.h"
#include "stream/request.h"

/* Between two columns of a batch is what a sanitizer finds if it is touched. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define OUT_OF_BOUNDS ASAN_POISON_MEMORY_REGION
#else
#define OUT_OF_BOUNDS(at, n) ((void)0)
#endif
#define COLUMN_GAP 16	  /* bytes at least */
#define COLUMN_ALIGNED 64 /* bytes */
#define CAPACITY_MAX (SIZE_MAX / 1024)

#define COLUMN(NAME, WIRE, IN_ACCESS, IN_REQUEST, FLAG)                                          \
	{WIRE, offsetof(struct gt_rows, NAME), sizeof *((struct gt_rows *)0)->NAME,                \
	 _Generic(((struct gt_rows *)0)->NAME, int64_t *: true, default: false), IN_ACCESS, IN_REQUEST, FLAG}
#define IF(FLAG) offsetof(struct gt_rows, FLAG)

const struct gt_column gt_columns[] = {
	COLUMN(block, "block", true, true, 0),
	COLUMN(warp, "warp", true, true, 0),
	COLUMN(an, "an", true, true, 0),
	COLUMN(pc, "pc", true, true, 0),
	COLUMN(op, "op", true, true, 0),
	COLUMN(size, "size", true, false, 0),
	COLUMN(mask, "mask", true, false, 0),
	COLUMN(base, "base", true, false, 0),
	COLUMN(stride, "stride", true, false, 0),
	COLUMN(address, "address", false, true, 0),
	COLUMN(sectors, "sectors", false, true, 0),
	COLUMN(full, "full", false, true, 0),
	COLUMN(threads, "lanes", false, true, 0),
	COLUMN(step, "step", true, true, IF(scheduled)),
	COLUMN(sm, "sm", true, true, IF(scheduled)),
	COLUMN(status, "status", false, true, IF(has_status)),
	COLUMN(latency, "latency", false, true, IF(has_latency)),
	COLUMN(hint, "hint", true, true, IF(has_hints)),
	COLUMN(work, "work", true, true, IF(has_work)),
	COLUMN(shared, "shared", true, true, IF(has_shared)),
};
const size_t gt_columns_n = sizeof gt_columns / sizeof gt_columns[0];

static void **place(struct gt_rows *rows, const struct gt_column *column)
{
	return (void **)(void *)((char *)rows + column->offset);
}

/* Takes a column of `capacity` elements of `width` bytes at `at`, or counts its bytes alone if `room` is NULL; what is between it and the
 * next one, which is aligned, is out of bounds. Returns where that is. */
static size_t take_column(char *room, size_t at, size_t capacity, size_t width, void **column)
{
	size_t end = at + (capacity + GT_ROWS_SLACK) * width, next = (end + COLUMN_GAP + COLUMN_ALIGNED - 1) / COLUMN_ALIGNED * COLUMN_ALIGNED;

	if (room) {
		*column = room + at;
		OUT_OF_BOUNDS(room + end, next - end);
	}
	return next;
}

/* Places all columns in the room, from its beginning on, which is rows->block. Returns their size. As `lanes`, the columns of a pitch are
 * not in the table: they are there if a row needs them, and views have addresses instead. */
static size_t take_columns(struct gt_rows *rows, char *room, size_t capacity)
{
	size_t at = 0;
	void *width = NULL, *pitch = NULL;

	for (size_t c = 0; c < gt_columns_n; c++)
		at = take_column(room, at, capacity, gt_columns[c].width, place(rows, &gt_columns[c]));
	at = take_column(room, at, capacity, sizeof *rows->width, &width);
	at = take_column(room, at, capacity, sizeof *rows->pitch, &pitch);
	rows->width = width;
	rows->pitch = pitch;
	return at;
}

/* Columns of zeros. They are one piece, which the system clears page by page when it is used: many streams have few columns and rows. */
static int make_room(struct gt_rows *rows, size_t capacity)
{
	char *room = capacity > CAPACITY_MAX ? NULL : calloc(1, take_columns(rows, NULL, capacity));

	if (!room)
		return -1;
	take_columns(rows, room, capacity);
	rows->capacity = capacity;
	return 0;
}

struct gt_rows *gt_rows_new(size_t capacity, struct gt_error *error)
{
	struct gt_rows *rows = calloc(1, sizeof *rows);

	if (rows && make_room(rows, capacity) == 0)
		return rows;
	free(rows);
	gt_fail_memory(error, "a batch of rows");
	return NULL;
}

int gt_rows_grow(struct gt_rows *rows, size_t capacity, struct gt_error *error)
{
	const struct gt_rows old = *rows;
	size_t kept = old.capacity + GT_ROWS_SLACK;

	if (make_room(rows, capacity) != 0) {
		*rows = old;
		return gt_fail_memory(error, "a batch of rows");
	}
	for (size_t c = 0; c < gt_columns_n; c++)
		memcpy(gt_column_of(rows, &gt_columns[c]), gt_column_of(&old, &gt_columns[c]), kept * gt_columns[c].width);
	memcpy(rows->width, old.width, kept * sizeof *old.width);
	memcpy(rows->pitch, old.pitch, kept * sizeof *old.pitch);
	free(old.block);
	return 0;
}

void gt_rows_free(struct gt_rows *rows)
{
	if (!rows)
		return;
	free(rows->block);
	free(rows->lanes);
	free(rows);
}

int gt_rows_reserve_lanes(struct gt_rows *rows, size_t more, struct gt_error *error)
{
	uint64_t *lanes = gt_grown_to(rows->lanes, rows->n_lanes + more, &rows->lanes_capacity, sizeof *lanes);

	if (!lanes && rows->n_lanes + more > 0)
		return gt_fail_memory(error, "the addresses of lanes");
	rows->lanes = lanes;
	return 0;
}

/* Moves the addresses that row `at` has in `from` behind those of `to`. */
static int copy_lanes(struct gt_rows *to, size_t at, const struct gt_rows *from, size_t first_lane, struct gt_error *error)
{
	size_t n = (size_t)__builtin_popcount(to->mask[at]);

	if (gt_rows_reserve_lanes(to, n, error) != 0)
		return -1;
	memcpy(to->lanes + to->n_lanes, from->lanes + first_lane, n * sizeof *to->lanes);
	to->base[at] = to->n_lanes;
	to->n_lanes += n;
	return 0;
}

int gt_rows_copy(struct gt_rows *to, const struct gt_rows *from, size_t i, struct gt_error *error)
{
	size_t at = to->n;

	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(from, column) || !gt_column_present(to, column))
			continue;
		memcpy((char *)gt_column_of(to, column) + at * column->width,
		       (const char *)gt_column_of(from, column) + i * column->width, column->width);
	}
	to->width[at] = from->width[i];
	to->pitch[at] = from->pitch[i];
	if (from->kind == GT_ACCESSES && from->stride[i] == GT_STRIDE_LANES &&
	    copy_lanes(to, at, from, from->base[i], error) != 0)
		return -1;
	to->n++;
	return 0;
}

#define GATHER(TYPE)                                                                              \
	do {                                                                                       \
		TYPE *restrict out = (TYPE *)gt_column_of(to, column) + to->n;                     \
		const TYPE *restrict in = gt_column_of(from, column);                              \
		for (size_t k = 0; k < n; k++)                                                     \
			out[k] = in[order[k]];                                                     \
	} while (0)

void gt_requests_append(struct gt_rows *to, const struct gt_rows *from, const uint32_t *order, size_t n)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(to, column))
			continue;
		switch (column->width) {
		case 1: GATHER(uint8_t); break;
		case 2: GATHER(uint16_t); break;
		case 4: GATHER(uint32_t); break;
		default: GATHER(uint64_t);
		}
	}
	to->n += n;
}

/* Repeats each element of rows [first, first + n) for the requests of its row: mostly few stores of a vector, which may go into the room
 * behind the last element. */
#define REPEAT(TYPE)                                                                                                      \
	do {                                                                                                               \
		typedef TYPE many __attribute__((vector_size(GT_ROWS_SLACK * sizeof(TYPE))));                              \
		const TYPE *in = gt_column_of(rows, column);                                                               \
		TYPE *out = gt_column_of(to, column);                                                                      \
		for (size_t i = first; i < first + n; out += gt_rows_span(rows, i++)) {                                    \
			const many all = (many){0} + in[i];                                                                \
			for (unsigned k = 0; k < gt_rows_span(rows, i); k += GT_ROWS_SLACK)                                \
				memcpy(out + k, &all, sizeof all);                                                         \
		}                                                                                                          \
	} while (0)

GT_WIDE static void repeat(struct gt_rows *to, const struct gt_rows *rows, size_t first, size_t n, const struct gt_column *column)
{
	switch (column->width) {
	case 1: REPEAT(uint8_t); break;
	case 2: REPEAT(uint16_t); break;
	case 4: REPEAT(uint32_t); break;
	default: REPEAT(uint64_t);
	}
}

/* The lines of requests are at their distances. */
GT_WIDE static void add_pitches(struct gt_rows *to, const struct gt_rows *rows, size_t first, size_t n)
{
	uint64_t *out = to->address;

	for (size_t i = first; i < first + n; out += gt_rows_span(rows, i++))
		for (unsigned k = 1; k < gt_rows_span(rows, i); k++)
			out[k] += k * (uint64_t)rows->pitch[i];
}

int gt_rows_expand(struct gt_rows **room, const struct gt_rows *rows, size_t first, size_t n, struct gt_error *error)
{
	size_t requests = 0;

	for (size_t i = first; i < first + n; i++)
		requests += gt_rows_span(rows, i);
	size_t capacity = *room ? (*room)->capacity : GT_ROWS_BATCH;
	while (capacity < requests)
		capacity *= 2;
	if (*room && capacity > (*room)->capacity) { /* what it holds is not kept */
		gt_rows_free(*room);
		*room = NULL;
	}
	if (!*room && !(*room = gt_rows_new(capacity, error)))
		return -1;
	gt_rows_shape(*room, rows);
	(*room)->has_spans = false;
	(*room)->n = requests;
	(*room)->n_lanes = 0;
	for (size_t c = 0; c < gt_columns_n; c++)
		if (gt_column_present(rows, &gt_columns[c]))
			repeat(*room, rows, first, n, &gt_columns[c]);
	add_pitches(*room, rows, first, n);
	return 0;
}

/* The columns that are not in the table. */
static void append_pitches(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n)
{
	memcpy(to->width + to->n, from->width + first, n * sizeof *to->width);
	memcpy(to->pitch + to->n, from->pitch + first, n * sizeof *to->pitch);
}

void gt_rows_append(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n)
{
	if (to->kind == GT_REQUESTS && to->has_spans && from->has_spans)
		append_pitches(to, from, first, n);
	else if (to->kind == GT_REQUESTS && to->has_spans)
		memset(to->width + to->n, 0, n * sizeof *to->width);
	for (size_t c = 0; c < gt_columns_n; c++) {
		const struct gt_column *column = &gt_columns[c];
		if (!gt_column_present(to, column))
			continue;
		char *at = (char *)gt_column_of(to, column) + to->n * column->width;
		if (gt_column_present(from, column))
			memcpy(at, (const char *)gt_column_of(from, column) + first * column->width, n * column->width);
		else
			memset(at, 0, n * column->width);
	}
	to->n += n;
}

int gt_rows_join(struct gt_rows *to, const struct gt_rows *from, size_t first, size_t n, struct gt_error *error)
{
	size_t at = to->n;

	if (from->kind == GT_ACCESSES)
		append_pitches(to, from, first, n);
	gt_rows_append(to, from, first, n);
	if (from->kind == GT_REQUESTS)
		return 0;
	if (from->n_lanes == 0)
		return 0;
	for (; at < to->n; at++)
		if (to->stride[at] == GT_STRIDE_LANES && copy_lanes(to, at, from, to->base[at], error) != 0)
			return -1;
	return 0;
}

/* The addresses of all lanes, if that is what lane 0 has. */
static void spread_lanes(const struct gt_affine *affine, uint64_t address, uint64_t addresses[GT_WARP_SIZE])
{
	const unsigned width = affine->width ? affine->width : GT_WARP_SIZE;

	for (unsigned row = 0; row < GT_WARP_SIZE; row += width, address += (uint64_t)affine->pitch)
		for (unsigned lane = 0; lane < width; lane++)
			addresses[row + lane] = address + lane * (uint64_t)affine->stride;
}

unsigned gt_rows_addresses(const struct gt_rows *rows, size_t i, uint64_t addresses[GT_WARP_SIZE])
{
	const struct gt_affine affine = gt_rows_affine(rows, i);
	const uint32_t mask = rows->mask[i];
	unsigned n = (unsigned)__builtin_popcount(mask);

	if (affine.stride == GT_STRIDE_LANES) {
		memcpy(addresses, rows->lanes + rows->base[i], n * sizeof *addresses);
		return n;
	}
	const uint64_t first = rows->base[i] - gt_affine_from(&affine, 0, (unsigned)__builtin_ctz(mask));
	if (mask == UINT32_MAX) {
		spread_lanes(&affine, first, addresses);
		return n;
	}
	uint64_t all[GT_WARP_SIZE];
	spread_lanes(&affine, first, all);
	n = 0;
	for (uint32_t rest = mask; rest; rest &= rest - 1)
		addresses[n++] = all[__builtin_ctz(rest)];
	return n;
}

/* Whether n addresses are a stride apart. The last one first, which scattered ones fail; then without an end, so that several are compared at a
 * time. */
static bool is_progression(const uint64_t *addresses, unsigned n, uint64_t stride)
{
	uint64_t differences = 0;

	if (addresses[n - 1] - addresses[0] != stride * (n - 1))
		return false;
	for (unsigned i = 1; i < n; i++)
		differences |= addresses[i] - addresses[i - 1] - stride;
	return differences == 0;
}

int64_t gt_common_stride(uint32_t mask, const uint64_t *addresses)
{
	unsigned lowest = (unsigned)__builtin_ctz(mask);
	uint32_t rest = mask & (mask - 1);

	if (!rest)
		return 0;
	/* The first two lanes determine the stride, if their distance is a multiple of the gap between them. */
	int64_t distance = (int64_t)(addresses[1] - addresses[0]);
	int64_t gap = (int64_t)((unsigned)__builtin_ctz(rest) - lowest);
	if (gap > 1 && distance % gap != 0)
		return GT_STRIDE_LANES;
	int64_t stride = gap > 1 ? distance / gap : distance;
	if (((mask >> lowest) & ((mask >> lowest) + 1)) == 0)
		return is_progression(addresses, (unsigned)__builtin_popcount(mask), (uint64_t)stride) ? stride : GT_STRIDE_LANES;
	for (unsigned n = 1; rest; rest &= rest - 1, n++) {
		unsigned lane = (unsigned)__builtin_ctz(rest);
		if (addresses[n] != addresses[0] + (uint64_t)stride * (lane - lowest))
			return GT_STRIDE_LANES;
	}
	return stride;
}

/* A number that times `gap` is the distance, or 0 with *bad set. */
static int64_t divide(uint64_t distance, int gap, bool *bad)
{
	*bad |= gap > 1 && (int64_t)distance % gap != 0;
	return *bad ? 0 : gap > 1 ? (int64_t)distance / gap : (int64_t)distance;
}

/* Finds the stride from the first two active lanes of a row, and the pitch from the first active lanes of two rows of so many lanes.
 * False if a number does not divide, or a lane is elsewhere. */
static bool find_pitch(uint32_t mask, const uint64_t *addresses, unsigned width, struct gt_affine *affine)
{
	const uint32_t row = (UINT32_C(1) << width) - 1;
	const unsigned lowest = (unsigned)__builtin_ctz(mask);
	bool bad = false;
	unsigned n = 0;

	*affine = (struct gt_affine){.width = (uint8_t)width};
	for (unsigned first = 0; first < GT_WARP_SIZE; first += width) {
		const uint32_t part = mask >> first & row, rest = part & (part - 1);
		if (rest) {
			affine->stride = divide(addresses[n + 1] - addresses[n], __builtin_ctz(rest) - __builtin_ctz(part), &bad);
			break;
		}
		n += part != 0;
	}
	const uint32_t others = mask & ~(row << lowest / width * width);
	if (others) {
		const unsigned lane = (unsigned)__builtin_ctz(others), before = (unsigned)__builtin_popcount(mask & ((UINT32_C(1) << lane) - 1));
		const uint64_t along = (uint64_t)affine->stride * (uint64_t)((int)(lane % width) - (int)(lowest % width));
		affine->pitch = divide(addresses[before] - addresses[0] - along, (int)(lane / width - lowest / width), &bad);
	}
	n = 0;
	for (uint32_t rest = mask; rest && !bad; rest &= rest - 1, n++)
		bad = addresses[n] != addresses[0] + gt_affine_from(affine, lowest, (unsigned)__builtin_ctz(rest));
	return !bad && affine->stride != GT_STRIDE_LANES;
}

/* Whether rows of lanes, all of them active, are at a pitch, and lanes in a row at a stride. */
static inline bool is_pitched(const uint64_t *addresses, unsigned width, uint64_t stride, uint64_t pitch)
{
	uint64_t differences = 0;

	for (unsigned i = 1; i < width; i++)
		differences |= addresses[i] - addresses[i - 1] - stride;
	for (unsigned i = width; i < GT_WARP_SIZE; i++)
		differences |= addresses[i] - addresses[i - width] - pitch;
	return differences == 0;
}

/* Whether two lanes in a row are elsewhere than two others: lanes 2k and 2k + 1 are at the stride of every width. Of the first two such pairs
 * that are active, which tells most accesses without a pitch from the others before a width is tried. */
static bool are_pairs_apart(uint32_t mask, const uint64_t *addresses)
{
	uint32_t pairs = mask & mask >> 1 & UINT32_C(0x55555555);
	uint64_t differences[2];
	unsigned n = 0, lane = 0;

	for (unsigned found = 0; found < 2; found++, pairs &= pairs - 1) {
		if (!pairs)
			return false;
		const unsigned next = (unsigned)__builtin_ctz(pairs);
		for (; lane < next; lane++)
			n += mask >> lane & 1;
		differences[found] = addresses[n + 1] - addresses[n];
	}
	return differences[0] != differences[1];
}

#define PITCHED_LEAST 5 /* lanes: fewer need no more numbers than the form has, base, stride, pitch and width, and mostly fit it by chance */

/* The greatest width with a stride and a pitch, or GT_STRIDE_LANES. Of a whole warp, ends of rows are compared before the lanes between them. */
GT_WIDE static struct gt_affine pitched(uint32_t mask, const uint64_t *addresses)
{
	const struct gt_affine none = {.stride = GT_STRIDE_LANES};
	struct gt_affine affine;

	if (__builtin_popcount(mask) < PITCHED_LEAST || are_pairs_apart(mask, addresses))
		return none;
	for (unsigned width = GT_WIDTH_MAX; width >= 2; width /= 2) {
		if (mask != UINT32_MAX) {
			if (find_pitch(mask, addresses, width, &affine))
				return affine;
			continue;
		}
		const uint64_t stride = addresses[1] - addresses[0], pitch = addresses[width] - addresses[0], row = stride * (width - 1);
		if (addresses[width - 1] - addresses[0] == row && stride != (uint64_t)GT_STRIDE_LANES &&
		    addresses[GT_WARP_SIZE - 1] - addresses[0] == row + pitch * (GT_WARP_SIZE / width - 1) &&
		    is_pitched(addresses, width, stride, pitch))
			return (struct gt_affine){(int64_t)stride, (int64_t)pitch, (uint8_t)width};
	}
	return none;
}

struct gt_affine gt_affine_of(uint32_t mask, const uint64_t *addresses)
{
	const struct gt_affine affine = {.stride = gt_common_stride(mask, addresses)};

	return affine.stride == GT_STRIDE_LANES ? pitched(mask, addresses) : affine;
}

int gt_rows_set_addresses(struct gt_rows *rows, size_t i, uint32_t mask, const uint64_t *addresses,
			  struct gt_error *error)
{
	const struct gt_affine affine = gt_affine_of(mask, addresses);

	rows->mask[i] = mask;
	gt_rows_set_affine(rows, i, affine);
	rows->base[i] = addresses[0];
	if (affine.stride != GT_STRIDE_LANES)
		return 0;
	size_t n = (size_t)__builtin_popcount(mask);
	if (gt_rows_reserve_lanes(rows, n, error) != 0)
		return -1;
	rows->base[i] = rows->n_lanes;
	memcpy(rows->lanes + rows->n_lanes, addresses, n * sizeof *addresses);
	rows->n_lanes += n;
	return 0;
}

static int grow(void *context, struct gt_rows *rows, struct gt_error *error)
{
	(void)context;
	return gt_rows_grow(rows, 2 * rows->capacity, error);
}

struct gt_sink gt_sink_that_grows(struct gt_rows *rows)
{
	return (struct gt_sink){rows, grow, NULL};
}

int gt_sink_begin(struct gt_sink *sink, enum gt_rows_kind kind, bool scheduled, struct gt_error *error)
{
	return gt_sink_begin_as(sink, &(struct gt_rows){.kind = kind, .scheduled = scheduled}, error);
}

int gt_sink_begin_as(struct gt_sink *sink, const struct gt_rows *shape, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (rows->n > 0 && !gt_rows_alike(rows, shape) && sink->flush(sink->context, rows, error) != 0)
		return -1;
	gt_rows_shape(rows, shape);
	return 0;
}

int gt_sink_empty(struct gt_sink *sink, struct gt_error *error)
{
	struct gt_rows *rows = sink->rows;

	if (sink->flush(sink->context, rows, error) != 0)
		return -1;
	return sink->rows == rows && rows->n < rows->capacity ? 0
							      : gt_fail(error, "a batch of rows was not emptied where it is");
}
