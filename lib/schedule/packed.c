/* SPDX-License-Identifier: MIT */
/* Rows of a warp that wait as bytes, mostly as the number of those that are what the rows before them let expect. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "schedule/block.h"

/* A byte of 128 or more is that many expected rows and 127. Any other begins a row of its own and says what follows. */
enum {
	RUN = 0x80,
	MOST_OF_RUN = 0xff,
	OWN_AN = 0x01,	  /* the difference of the access number */
	OWN_SHAPE = 0x02, /* the number of the shape, 2 bytes; after SHAPE_NONE the shape itself */
	OWN_BASE = 0x04,  /* the difference to the last base of the shape */
	OF_LINES = 0x08,  /* which counts lines, not bytes */
	AFRESH = 0x10,	  /* nothing else: the context begins anew */
};

#define LONGEST_NUMBER 10
#define LONGEST_ROW (1 + 5 + 2 + sizeof(struct shape) + LONGEST_NUMBER * (size_t)GT_WARP_SIZE)

_Static_assert(LONGEST_ROW <= GT_SPILL_MOST, "a row is written at once");

/* ---- numbers of 7 bits a byte, lowest first; small negative ones are small too ---- */

static unsigned char *put_number(unsigned char *to, uint64_t difference)
{
	uint64_t n = difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);

	for (; n >= 0x80; n >>= 7)
		*to++ = (unsigned char)(n | 0x80);
	*to++ = (unsigned char)n;
	return to;
}

static const unsigned char *get_number(const unsigned char *at, uint64_t *difference)
{
	uint64_t n = *at & 0x7f;

	for (unsigned shift = 7; *at++ >= 0x80; shift += 7)
		n |= (uint64_t)(*at & 0x7f) << shift;
	*difference = n >> 1 ^ (n & 1 ? UINT64_MAX : 0);
	return at;
}

/* ---- what is expected ---- */

static struct recall *recall(struct context *context, uint16_t shape)
{
	return &context->recalls[shape % PACKED_RECALLS];
}

static uint64_t expected_base(const struct recall *of)
{
	return of->base + (uint64_t)(int64_t)of->delta;
}

/* Takes in a row that was not as expected. */
static void learn(struct context *context, uint32_t an, uint16_t shape, uint64_t base)
{
	struct recall *before = recall(context, context->shape), *of = recall(context, shape);
	uint32_t step = an - context->an;
	int64_t delta = (int64_t)(base - of->base);

	before->next = shape;
	before->step = step <= UINT16_MAX ? (uint16_t)step : 0;
	of->delta = delta == (int32_t)delta ? (int32_t)delta : 0;
	of->base = base;
	context->an = an;
	context->shape = shape;
}

/* ---- packing ---- */

int gt_packer_begin(struct packer *packer, struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error)
{
	*packer = (struct packer){.queue = queue};
	if (!queue->first)
		return 0;
	unsigned char *at = gt_spill_queue_room(spill, queue, 1, error);
	if (!at)
		return -1;
	*at = AFRESH;
	gt_spill_queue_wrote(queue, 1);
	return 0;
}

/* Another expected row. */
static int lengthen_run(struct packer *packer, struct gt_spill *spill, struct gt_error *error)
{
	if (packer->run && *packer->run < MOST_OF_RUN) {
		++*packer->run;
		return 0;
	}
	packer->run = gt_spill_queue_room(spill, packer->queue, 1, error);
	if (!packer->run)
		return -1;
	*packer->run = RUN;
	gt_spill_queue_wrote(packer->queue, 1);
	return 0;
}

static unsigned char *put_base(unsigned char *to, unsigned char *says, uint64_t difference)
{
	bool lines = difference % GT_LINE == 0;

	*says |= lines ? OWN_BASE | OF_LINES : OWN_BASE;
	return put_number(to, lines ? (uint64_t)((int64_t)difference / GT_LINE) : difference);
}

static int put_row(struct packer *packer, struct gt_spill *spill, const struct kept *row, const struct shape *odd,
		   const uint64_t *lanes, struct gt_error *error)
{
	struct context *context = &packer->context;
	const struct recall *before = recall(context, context->shape), *of = recall(context, row->shape);
	uint64_t base = lanes ? lanes[0] : row->base;
	unsigned char *says = gt_spill_queue_room(spill, packer->queue, LONGEST_ROW, error);

	if (!says)
		return -1;
	unsigned char *to = says + 1;
	*says = 0;
	if (row->an != context->an + before->step) {
		*says |= OWN_AN;
		to = put_number(to, (uint64_t)((int64_t)row->an - (int64_t)context->an));
	}
	if (row->shape != before->next || odd) {
		*says |= OWN_SHAPE;
		memcpy(to, &row->shape, sizeof row->shape);
		to += sizeof row->shape;
	}
	if (odd) {
		memcpy(to, odd, sizeof *odd);
		to += sizeof *odd;
	}
	if (base != expected_base(of))
		to = put_base(to, says, base - of->base);
	for (int i = 1; lanes && i < __builtin_popcount(odd->mask); i++)
		to = put_number(to, lanes[i] - lanes[i - 1]);
	gt_spill_queue_wrote(packer->queue, (size_t)(to - says));
	packer->run = NULL;
	learn(context, row->an, row->shape, base);
	return 0;
}

int gt_packer_add(struct packer *packer, struct gt_spill *spill, const struct kept *row, const struct shape *odd,
	    const uint64_t *lanes, struct gt_error *error)
{
	struct context *context = &packer->context;
	const struct recall *before = recall(context, context->shape);
	struct recall *of = recall(context, row->shape);

	if (row->shape != before->next || row->an != context->an + before->step || row->base != expected_base(of) || odd)
		return put_row(packer, spill, row, odd, lanes, error);
	of->base = row->base;
	context->an = row->an;
	context->shape = row->shape;
	return lengthen_run(packer, spill, error);
}

/* ---- unpacking ---- */

/* Finds out whether there is another row, and its access number. */
static int look_ahead(struct unpacker *unpacker, struct gt_spill *spill, struct gt_error *error)
{
	struct context *context = &unpacker->context;
	uint64_t difference;

	while (unpacker->run == 0) {
		if (unpacker->at == unpacker->end) {
			size_t n = 0;
			int got = gt_spill_queue_read(spill, unpacker->queue, &unpacker->at, &n, error);
			unpacker->more = got > 0;
			if (got <= 0)
				return got;
			unpacker->end = unpacker->at + n;
		}
		if (*unpacker->at >= RUN) {
			unpacker->run = *unpacker->at++ - (unsigned)RUN + 1;
		} else if (*unpacker->at == AFRESH) {
			*context = (struct context){0};
			unpacker->at++;
		} else {
			break;
		}
	}
	if (unpacker->run == 0 && *unpacker->at & OWN_AN) {
		get_number(unpacker->at + 1, &difference);
		unpacker->next_an = (uint32_t)(context->an + difference);
	} else {
		unpacker->next_an = context->an + recall(context, context->shape)->step;
	}
	return 0;
}

int gt_unpacker_begin(struct unpacker *unpacker, struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error)
{
	*unpacker = (struct unpacker){.queue = queue, .more = true};
	return look_ahead(unpacker, spill, error);
}

/* Room for an odd row, as an index of the window's words. */
static struct odd *take_odd(struct window *window, struct kept *row, const struct shape *shape, size_t lanes,
			    struct gt_error *error)
{
	uint64_t *words = gt_grown_to(window->words, window->n_words + ODD_WORDS + lanes, &window->words_capacity, sizeof *words);

	if (!words) {
		gt_fail_memory(error, "rows");
		return NULL;
	}
	window->words = words;
	struct odd *odd = (struct odd *)(void *)(words + window->n_words);
	odd->base = row->base;
	odd->shape = *shape;
	row->base = window->n_words;
	window->n_words += ODD_WORDS + lanes;
	return odd;
}

/* Reads what an odd row has after its base. NULL on error. */
static const unsigned char *get_odd(const unsigned char *at, const struct shape *shape, struct window *window, struct kept *row,
				    struct gt_error *error)
{
	size_t lanes = shape->stride == GT_STRIDE_LANES ? (size_t)__builtin_popcount(shape->mask) : 0;
	struct odd *odd = take_odd(window, row, shape, lanes, error);
	uint64_t address, difference;

	if (!odd)
		return NULL;
	address = odd->base;
	for (size_t i = 0; i < lanes; i++) {
		if (i > 0) {
			at = get_number(at, &difference);
			address += difference;
		}
		odd->lanes[i] = address;
	}
	return at;
}

/* Reads a row that was not as expected. */
static int get_row(struct unpacker *unpacker, struct window *window, struct kept *row, struct gt_error *error)
{
	struct context *context = &unpacker->context;
	const unsigned char *at = unpacker->at;
	unsigned char says = *at++;
	struct shape odd;
	uint64_t number;

	if (says & OWN_AN)
		at = get_number(at, &number);
	row->an = unpacker->next_an;
	row->shape = recall(context, context->shape)->next;
	if (says & OWN_SHAPE) {
		memcpy(&row->shape, at, sizeof row->shape);
		at += sizeof row->shape;
	}
	if (row->shape == SHAPE_NONE) {
		memcpy(&odd, at, sizeof odd);
		at += sizeof odd;
	}
	const struct recall *of = recall(context, row->shape);
	row->base = expected_base(of);
	if (says & OWN_BASE) {
		at = get_number(at, &number);
		row->base = of->base + (says & OF_LINES ? number * GT_LINE : number);
	}
	learn(context, row->an, row->shape, row->base);
	if (row->shape == SHAPE_NONE && !(at = get_odd(at, &odd, window, row, error)))
		return -1;
	unpacker->at = at;
	return 0;
}

/* Reads expected rows of one access, `most` at most. Returns how many, 0 if the next is not expected. */
static size_t get_expected(struct unpacker *unpacker, uint16_t warp, struct kept *row, size_t most)
{
	struct context *context = &unpacker->context;
	uint32_t an = unpacker->next_an, next = an;
	size_t n = 0;

	most = most < unpacker->run ? most : unpacker->run;
	while (n < most && next == an) {
		uint16_t shape = recall(context, context->shape)->next;
		struct recall *of = recall(context, shape);
		of->base = expected_base(of);
		row[n++] = (struct kept){of->base, an, warp, shape};
		context->an = an;
		context->shape = shape;
		next = an + of->step;
	}
	unpacker->run -= (unsigned)n;
	unpacker->next_an = next;
	return n;
}

int gt_unpacker_access(struct unpacker *unpacker, struct gt_spill *spill, uint16_t warp, struct window *window,
		     struct gt_error *error)
{
	uint32_t an = unpacker->next_an;

	while (unpacker->more && unpacker->next_an == an) {
		struct kept *rows = gt_grown(window->rows, window->n, &window->capacity, sizeof *rows);
		if (!rows)
			return gt_fail_memory(error, "rows");
		window->rows = rows;
		if (unpacker->run > 0) {
			window->n += get_expected(unpacker, warp, rows + window->n, window->capacity - window->n);
			if (unpacker->run > 0)
				continue;
		} else {
			rows[window->n].warp = warp;
			if (get_row(unpacker, window, &rows[window->n], error) != 0)
				return -1;
			window->n++;
		}
		if (look_ahead(unpacker, spill, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- the order of rows ---- */

/* Merges two adjacent runs of `from`, [0, middle) and [middle, n). */
static void merge(struct kept *to, const struct kept *from, size_t middle, size_t n)
{
	size_t left = 0, right = middle;

	for (size_t i = 0; i < n; i++) {
		bool from_left = right == n || (left < middle && gt_kept_key(&from[left]) <= gt_kept_key(&from[right]));
		to[i] = from[from_left ? left++ : right++];
	}
}

/* A stable merge sort by access number and warp, bottom up, of n rows. Returns where they are: `rows` or `room`, which has
 * room for as many. */
static struct kept *sort_kept(struct kept *rows, struct kept *room, size_t n)
{
	struct kept *from = rows, *to = room;

	for (size_t run = 1; run < n; run *= 2) {
		for (size_t at = 0; at < n; at += 2 * run) {
			size_t left = n - at < run ? n - at : run;
			size_t both = n - at < 2 * run ? n - at : 2 * run;
			merge(to + at, from + at, left, both);
		}
		struct kept *sorted = to;
		to = from;
		from = sorted;
	}
	return from;
}

/* A stable counting sort of spans of one warp each, none above `highest`, into `to`. Returns 0, or -1. */
static int sort_by_warp(struct piece *to, struct piece *from, uint16_t highest, struct gt_error *error)
{
	const struct kept *end = gt_piece_end(from);
	size_t *at = calloc((size_t)highest + 2, sizeof *at);

	if (!at)
		return gt_fail_memory(error, "the warps of a block");
	for (const struct kept *span = gt_piece_spans(from); span < end; span = gt_span_next(span))
		at[span->warp + 1] += gt_span_words(span);
	for (size_t warp = 0; warp < highest; warp++)
		at[warp + 1] += at[warp];
	for (const struct kept *span = gt_piece_spans(from); span < end; span = gt_span_next(span)) {
		uint64_t *place = to->data + at[span->warp];
		at[span->warp] += gt_span_words(span);
		memcpy(place, span, sizeof *span);
		if (gt_span_is_many(span))
			memcpy(place + SPAN_WORDS, gt_span_more(span), sizeof(struct span_more));
	}
	free(at);
	return 0;
}

/* Single rows by access number and warp, into `to`; `from` is overwritten. */
static void sort_by_access(struct piece *to, struct piece *from)
{
	const size_t n = from->n / SPAN_WORDS;
	const struct kept *sorted = sort_kept(gt_piece_spans(from), gt_piece_spans(to), n);

	if (sorted != gt_piece_spans(to))
		memcpy(to->data, sorted, n * sizeof *sorted);
}

int gt_piece_sort(struct piece *to, struct piece *from, bool by_warp, uint16_t highest, struct gt_error *error)
{
	if (by_warp)
		return sort_by_warp(to, from, highest, error);
	sort_by_access(to, from);
	return 0;
}

/* ---- rows of a warp that did not come by access number are packed again ---- */

/* All are of one warp. */
static int sort(struct window *window, struct gt_error *error)
{
	struct kept *rows = window->rows, *room = malloc(window->capacity * sizeof *room);

	if (!room)
		return gt_fail_memory(error, "rows that are not in order");
	window->rows = sort_kept(rows, room, window->n);
	free(window->rows == rows ? room : rows);
	return 0;
}

static int pack_all(const struct window *window, struct gt_spill *spill, struct gt_spill_queue *queue, struct gt_error *error)
{
	struct packer packer;

	if (gt_packer_begin(&packer, spill, queue, error) != 0)
		return -1;
	for (size_t i = 0; i < window->n; i++) {
		const struct kept *row = &window->rows[i];
		const struct odd *odd = odd_of(row);
		struct kept copy = *row;
		copy.base = odd ? odd->base : row->base;
		if (gt_packer_add(&packer, spill, &copy, odd ? &odd->shape : NULL, odd_lanes(odd), error) != 0)
			return -1;
	}
	return gt_spill_queue_end(spill, queue, error);
}

static int unpack_all(struct source *source, struct gt_spill *spill, struct window *window, struct gt_error *error)
{
	if (gt_unpacker_begin(&source->unpacker, spill, &source->queue, error) != 0)
		return -1;
	while (source->unpacker.more)
		if (gt_unpacker_access(&source->unpacker, spill, source->warp, window, error) != 0)
			return -1;
	gt_window_settle(window);
	return 0;
}

/* Packs the rows again, in order. */
static int put_in_order(struct source *source, struct gt_spill *spill, struct gt_error *error)
{
	struct gt_spill_queue queue = {0};
	struct window window = {0};
	int result = -1;

	if (unpack_all(source, spill, &window, error) == 0 && sort(&window, error) == 0)
		result = pack_all(&window, spill, &queue, error);
	gt_window_free(&window);
	gt_spill_queue_drop(spill, &source->queue);
	source->queue = queue;
	return result;
}

/* ---- the rows of a warp that is resident ---- */

int gt_source_open(struct source *source, struct gt_spill *spill, struct gt_spill_queue *queue, uint16_t warp, bool unsorted,
		       struct gt_error *error)
{
	*source = (struct source){.queue = *queue, .warp = warp};
	*queue = (struct gt_spill_queue){0};
	if (unsorted && put_in_order(source, spill, error) != 0)
		return -1;
	return gt_unpacker_begin(&source->unpacker, spill, &source->queue, error);
}

void gt_source_close(struct source *source, struct gt_spill *spill)
{
	gt_spill_queue_drop(spill, &source->queue);
	gt_window_free(&source->window);
	source->row = source->end = NULL;
}

int gt_source_fill(struct source *source, struct gt_spill *spill, struct gt_error *error)
{
	struct window *window = &source->window;

	window->n = window->n_words = 0;
	while (source->unpacker.more && window->n < GT_WINDOW_ROWS)
		if (gt_unpacker_access(&source->unpacker, spill, source->warp, window, error) != 0)
			return -1;
	gt_window_settle(window);
	source->row = window->rows;
	source->end = window->n > 0 ? window->rows + window->n : window->rows; /* which may be NULL */
	return 0;
}

/* ---- rows of a warp that are folded ---- */

static size_t words_between(const struct kept *span, const struct kept *end)
{
	return (size_t)((const uint64_t *)(const void *)end - (const uint64_t *)(const void *)span);
}

/* What tells the instructions apart: where there is no program counter, the shapes of their rows. */
static uint32_t fold_key(const struct shapes *shapes, const struct kept *span)
{
	uint32_t pc = shapes->all[span->shape & ~SPAN_MANY].pc;

	return pc ? pc : UINT32_MAX - span->shape;
}

/* Whether two spans may be in one slot, but for the number and distance of their rows. */
static inline bool is_alike(const struct shapes *shapes, const struct kept *a, const struct kept *b)
{
	if (a->shape == SHAPE_NONE || b->shape == SHAPE_NONE || a->warp != b->warp)
		return false;
	return a->shape == b->shape || (gt_span_is_many(a) == gt_span_is_many(b) && fold_key(shapes, a) == fold_key(shapes, b));
}

static inline bool has_more(const struct kept *span, const struct span_more *more)
{
	return !gt_span_is_many(span) || memcmp(gt_span_more(span), more, sizeof *more) == 0;
}

static int32_t delta_of(const struct kept *a, const struct kept *b)
{
	int64_t delta = (int64_t)(b->base - a->base);

	return delta == (int32_t)delta ? (int32_t)delta : 0;
}

/* The slots of a loop, as its spans are followed. */
struct looped {
	struct kept next; /* what is expected */
	struct span_more more;
	int32_t delta;
	uint32_t begins;
};

/* Says of the slots which ones begin an access, of how many words. Returns the most of them. */
static size_t find_accesses(struct looped *slots, size_t n)
{
	struct looped *first = slots;
	size_t most = 0;

	for (struct looped *slot = slots; slot < slots + n; slot++) {
		first = slot->next.an != first->next.an ? slot : first;
		slot->begins = 0;
		first->begins += (uint32_t)gt_span_words(&slot->next);
		most = first->begins > most ? first->begins : most;
	}
	return most;
}

/* Makes slots of the spans from `first` up to `second`, where a loop may begin anew. `warp` is the first of what is folded.
 * Returns how many; 0: it does not. */
static uint32_t make_slots(const struct shapes *shapes, const struct kept *first, const struct kept *second, const struct kept *end, uint16_t warp,
			   struct looped slots[FOLD_SLOTS])
{
	const struct kept *a = first, *b = second;
	uint32_t n = 0;

	for (; a < second && n < FOLD_SLOTS; a = gt_span_next(a), b = gt_span_next(b), n++) {
		if (b >= end || !is_alike(shapes, a, b) || b->an - a->an != second->an - first->an || a->an - first->an >= FOLD_SLOTS ||
		    (uint16_t)(a->warp - warp) >= FOLD_WARPS)
			return 0;
		slots[n] = (struct looped){.next = *a, .delta = delta_of(a, b)};
		if (gt_span_is_many(a))
			slots[n].more = *gt_span_more(a);
		if (!has_more(b, &slots[n].more))
			return 0;
	}
	return a == second && find_accesses(slots, n) <= FOLD_ACCESS_WORDS ? n : 0;
}

/* Writes slots. Returns what is behind them. */
static void *put_slots(uint64_t *to, const struct looped *slots, uint32_t n, uint16_t warp)
{
	for (const struct looped *slot = slots; slot < slots + n; slot++) {
		const struct kept *span = &slot->next;
		*(struct fold_slot *)(void *)to = (struct fold_slot){span->base, slot->delta, span->shape, (span->an - slots->next.an) % FOLD_SLOTS,
								     slot->begins % FOLD_SLOTS, ((unsigned)span->warp - warp) % FOLD_WARPS};
		to += FOLD_WORDS(struct fold_slot);
		if (!gt_span_is_many(span))
			continue;
		*(struct span_more *)(void *)to = slot->more;
		to += SPAN_MORE_WORDS;
	}
	return to;
}

/* A loop that is followed. */
struct following {
	const struct kept *at;	   /* the next span */
	struct fold_other *others; /* where the next one goes */
	uint32_t n, after;
};

/* Follows a loop to the end of the last whole access that is of it. */
static struct following follow(const struct shapes *shapes, struct looped *slots, uint32_t n, uint32_t step, struct following now, const struct kept *end)
{
	struct following whole = now;
	struct looped *slot = slots;
	uint32_t an = now.at->an;

	for (; now.at < end; now.at = gt_span_next(now.at), now.n++) {
		struct kept *next = &slot->next;
		if (now.at->an != next->an || !is_alike(shapes, now.at, next) || !has_more(now.at, &slot->more))
			break;
		if (slot->begins)
			whole = now;
		if (now.at->shape == next->shape && now.at->base == next->base) {
			now.after++;
		} else {
			*now.others++ = (struct fold_other){now.after, now.at->shape, now.at->base};
			now.after = 0;
		}
		an = now.at->an;
		*next = *now.at;
		next->base += (uint64_t)(int64_t)slot->delta;
		next->an += step;
		slot = slot + 1 == slots + n ? slots : slot + 1;
	}
	return now.at == end || now.at->an != an ? now : whole;
}

/* Makes a chunk of a loop that may begin at `first`, and anew at `second`. Returns the span behind it, or NULL if it is no loop; it is of no
 * use unless its `words` are less. */
static const struct kept *fold_loop(const struct shapes *shapes, const struct kept *first, const struct kept *second, const struct kept *end,
				    uint16_t warp, struct fold_chunk *chunk)
{
	struct looped slots[FOLD_SLOTS];
	const uint32_t n = make_slots(shapes, first, second, end, warp, slots), step = second->an - first->an;

	if (n == 0)
		return NULL;
	struct following ends = {.at = first, .others = put_slots((uint64_t *)(void *)(chunk + 1), slots, n, warp)};
	ends = follow(shapes, slots, n, step, ends, end);
	*chunk = (struct fold_chunk){ends.n, (uint32_t)((uint64_t *)(void *)ends.others - (uint64_t *)(void *)chunk), first->an, step, n};
	return ends.at;
}

/* Makes a chunk of spans as they are. Returns where the next one goes. */
static uint64_t *fold_plainly(const struct kept *first, const struct kept *end, uint64_t *to)
{
	size_t n = words_between(first, end);

	if (n == 0)
		return to;
	*(struct fold_chunk *)(void *)to = (struct fold_chunk){.n = (uint32_t)n, .words = (uint32_t)(n + FOLD_WORDS(struct fold_chunk))};
	memcpy(to + FOLD_WORDS(struct fold_chunk), first, n * sizeof *to);
	return to + FOLD_WORDS(struct fold_chunk) + n;
}

#define SEEN_BITS 6 /* of the number of instructions that are remembered */

size_t gt_fold(const struct shapes *shapes, const struct kept *spans, const struct kept *end, uint64_t *to)
{
	const struct kept *seen[1 << SEEN_BITS] = {0}, *plain = spans, *span = spans, *behind;
	uint64_t *at = to + FOLD_WORDS(struct fold_warp), before = UINT64_MAX;

	while (span < end) {
		const struct kept *here = span;
		bool begins = span->an != before && span->shape != SHAPE_NONE; /* as a loop does */
		before = span->an;
		span = gt_span_next(span);
		if (!begins)
			continue;
		const struct kept **last = &seen[gt_fibonacci(fold_key(shapes, here)) >> (64 - SEEN_BITS)], *first = *last;
		*last = here;
		if (!first || first < plain)
			continue;
		size_t room = first > plain ? FOLD_WORDS(struct fold_chunk) + words_between(plain, first) : 0;
		struct fold_chunk *chunk = (struct fold_chunk *)(void *)(at + room);
		if (!(behind = fold_loop(shapes, first, here, end, spans->warp, chunk)) || behind <= here)
			continue;
		if (chunk->words + FOLD_WORDS(struct fold_chunk) < words_between(first, behind)) {
			at = fold_plainly(plain, first, at) + chunk->words;
			plain = behind;
		}
		span = behind;
		before = UINT64_MAX;
	}
	at = fold_plainly(plain, end, at);
	*(struct fold_warp *)(void *)to = (struct fold_warp){spans->warp, (uint32_t)((size_t)(at - to) - FOLD_WORDS(struct fold_warp))};
	return (size_t)(at - to);
}

static inline struct fold_slot *slot_at(uint64_t *at)
{
	return (struct fold_slot *)(void *)at;
}

static inline uint64_t *behind_slot(uint64_t *slot)
{
	bool is_many = slot_at(slot)->shape & SPAN_MANY; /* no span of a loop is without a numbered shape */

	return slot + FOLD_WORDS(struct fold_slot) + (is_many ? SPAN_MORE_WORDS : 0);
}

static inline uint64_t *first_slot(struct fold_chunk *chunk)
{
	return (uint64_t *)(void *)(chunk + 1);
}

/* Begins the next chunk. */
static void begin_chunk(struct unfolding *unfolding)
{
	struct fold_chunk *chunk = (struct fold_chunk *)(void *)unfolding->at;

	unfolding->at += chunk->words;
	unfolding->chunk = chunk;
	unfolding->left = chunk->n;
	unfolding->slot = unfolding->next = first_slot(chunk);
	for (uint64_t i = 0; i < chunk->slots; i++)
		unfolding->next = behind_slot(unfolding->next);
	unfolding->slots_end = unfolding->next;
	unfolding->expected = chunk->slots > 0 && unfolding->next < unfolding->at ? ((struct fold_other *)(void *)unfolding->next)->after : UINT32_MAX;
}

/* Of a chunk without slots. */
static size_t unfold_plain(struct unfolding *unfolding, uint64_t *room, size_t most, struct kept **spans)
{
	struct kept *first = (struct kept *)(void *)unfolding->next;
	size_t words = gt_accesses_within(first, (struct kept *)(void *)(unfolding->next + unfolding->left), most);

	*spans = words <= most ? memcpy(room, first, words * sizeof *room) : first;
	unfolding->next += words;
	unfolding->left -= (uint32_t)words;
	return words;
}

/* The span of a slot comes otherwise. */
static void take_other(struct unfolding *unfolding, struct fold_slot *slot)
{
	const struct fold_other *other = (const struct fold_other *)(void *)unfolding->next;

	slot->shape = (uint16_t)other->shape;
	slot->base = other->base;
	unfolding->next += FOLD_WORDS(struct fold_other);
	unfolding->expected = unfolding->next < unfolding->at ? other[1].after : UINT32_MAX;
}

/* Of a loop. */
static size_t unfold_loop(struct unfolding *unfolding, uint64_t *room, size_t most)
{
	struct fold_chunk *chunk = unfolding->chunk;
	uint64_t *at = unfolding->slot;
	uint32_t an = chunk->an;
	size_t n = 0;

	for (; unfolding->left > 0 && n + slot_at(at)->begins <= most; unfolding->left--) {
		struct fold_slot *slot = slot_at(at);
		if (unfolding->expected-- == 0)
			take_other(unfolding, slot);
		*(struct kept *)(void *)(room + n) = (struct kept){slot->base, an + slot->an, (uint16_t)(unfolding->warp + slot->warp), slot->shape};
		slot->base += (uint64_t)(int64_t)slot->delta;
		n += SPAN_WORDS;
		at += FOLD_WORDS(struct fold_slot);
		if (slot->shape & SPAN_MANY) {
			*(struct span_more *)(void *)(room + n) = *(struct span_more *)(void *)at;
			n += SPAN_MORE_WORDS;
			at += SPAN_MORE_WORDS;
		}
		if (at == unfolding->slots_end) {
			at = first_slot(chunk);
			an += chunk->step;
		}
	}
	unfolding->slot = at;
	chunk->an = an;
	return n;
}

size_t gt_unfold(struct unfolding *unfolding, uint64_t *room, size_t most, struct kept **spans)
{
	if (unfolding->left == 0) {
		if (unfolding->at == unfolding->end)
			return 0;
		begin_chunk(unfolding);
	}
	*spans = (struct kept *)(void *)room;
	return unfolding->chunk->slots > 0 ? unfold_loop(unfolding, room, most) : unfold_plain(unfolding, room, most, spans);
}
