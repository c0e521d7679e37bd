/* SPDX-License-Identifier: MIT */
/* Counts by site, an instruction with an array; and the distinct bytes that a kernel touches, a bit each. Both are reckoned from what
 * the lanes of an access have in common, a stride, wherever that says it: a loop over lanes is for addresses without one. */
#include "coalesce/by_site.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/map.h"
#include "base/wide.h"
#include "coalesce/by_array.h"
#include "coalesce/lines.h"
#include "counter/counter.h"
#include "stream/counted.h"
#include "stream/op.h"
#include "stream/program.h"

/* ---- an access ---- */

struct access {
	uint32_t mask;
	unsigned n, size;	   /* active lanes, bytes of each */
	int64_t stride;		   /* GT_STRIDE_LANES: there is none for all lanes */
	uint64_t first;		   /* address of the lowest active lane */
	const uint64_t *addresses; /* without a stride; else NULL */
};

static struct access access_of(const struct gt_rows *rows, size_t i, uint64_t buffer[GT_WARP_SIZE])
{
	struct access access = {.mask = rows->mask[i], .n = gt_count_lanes(rows->mask[i]), .size = rows->size[i],
				.stride = rows->stride[i], .first = rows->base[i]};

	if (gt_rows_one_stride(rows, i))
		return access;
	access.addresses = access.stride == GT_STRIDE_LANES ? rows->lanes + rows->base[i] : buffer;
	access.stride = GT_STRIDE_LANES;
	if (access.addresses == buffer)
		gt_rows_addresses(rows, i, buffer);
	access.first = access.addresses[0];
	return access;
}

/* Whether the active lanes are neighbours. */
static bool is_run(uint32_t mask)
{
	return ((mask + (mask & (0 - mask))) & mask) == 0;
}

/* Whether active lanes `gap` apart are all that there are: 0x11110 are lanes 4, 8, 12 and 16. */
static bool is_spaced(uint32_t mask, unsigned gap)
{
	unsigned last = (unsigned)__builtin_ctz(mask);

	for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctz(rest);
		if (lane - last != gap)
			return false;
		last = lane;
	}
	return true;
}

/* Whether lanes with a common stride fill a range, each byte once; then where it begins. */
static bool stride_fills(const struct access *access, uint64_t *begin)
{
	unsigned gap = (unsigned)__builtin_ctz(access->mask & (access->mask - 1)) - (unsigned)__builtin_ctz(access->mask);
	uint64_t step = (uint64_t)access->stride * gap;

	if (step != access->size && 0 - step != access->size)
		return false;
	*begin = step == access->size ? access->first : access->first - (uint64_t)access->size * (access->n - 1);
	return gap == 1 ? is_run(access->mask) : is_spaced(access->mask, gap);
}

/* The same of lanes whose addresses are listed: if so, each lies in a slot of its own. */
static bool lanes_fill(const struct access *access, uint64_t *begin)
{
	const int64_t bytes = (int64_t)(access->n * access->size);
	int64_t lowest = 0;
	uint32_t slots = 0;

	for (unsigned k = 0; k < access->n; k++) {
		int64_t from_first = (int64_t)(access->addresses[k] - access->first);
		if (from_first <= -bytes || from_first >= bytes)
			return false;
		lowest = from_first < lowest ? from_first : lowest;
	}
	*begin = access->first + (uint64_t)lowest;
	for (unsigned k = 0; k < access->n; k++) {
		uint32_t from_begin = (uint32_t)(access->addresses[k] - *begin);
		if (from_begin >= bytes || from_begin % access->size != 0)
			return false;
		slots |= UINT32_C(1) << from_begin / access->size;
	}
	return (unsigned)__builtin_popcount(slots) == access->n;
}

static bool fills_range(const struct access *access, uint64_t *begin)
{
	*begin = access->first;
	if (access->n == 1)
		return true;
	return access->stride == GT_STRIDE_LANES ? lanes_fill(access, begin) : stride_fills(access, begin);
}

/* The addresses of the active lanes, lowest lane first. */
static const uint64_t *addresses_of(const struct access *access, uint64_t buffer[GT_WARP_SIZE])
{
	uint64_t address = access->first;
	unsigned n = 0;

	if (access->addresses)
		return access->addresses;
	for (uint32_t rest = access->mask >> __builtin_ctz(access->mask); rest; rest >>= 1, address += (uint64_t)access->stride) {
		buffer[n] = address;
		n += rest & 1;
	}
	return buffer;
}

/* How many addresses the lanes have. */
static unsigned distinct_addresses(const struct access *access)
{
	uint64_t buffer[GT_WARP_SIZE];

	if (access->stride == 0)
		return 1;
	if (access->stride != GT_STRIDE_LANES && (uint64_t)access->stride * GT_WARP_SIZE != 0)
		return access->n;
	return gt_distinct_addresses(addresses_of(access, buffer), access->n);
}

/* ---- the bytes that a kernel touches ---- */

#define PAGE 512 /* bytes: 4 lines */
#define WORD 64	 /* bytes that have their bits in one number */
#define PAGE_WORDS (PAGE / WORD)
#define RECENT_LOG 9

struct page {
	uint64_t number; /* address / PAGE */
	uint64_t touched[PAGE_WORDS], read[PAGE_WORDS]; /* a bit a byte */
};

struct footprint {
	struct page *pages; /* n of them, owned */
	size_t n, capacity;
	struct gt_map index; /* of a page's number, to its place */
	struct {
		uint64_t number;
		size_t place;
	} recent[1 << RECENT_LOG]; /* by a hash of the number; free while n is at most `place` */
};

static void clear_footprint(struct footprint *print)
{
	if (print->n > 0)
		gt_map_clear(&print->index);
	print->n = 0;
	for (size_t k = 0; k < sizeof print->recent / sizeof *print->recent; k++)
		print->recent[k].place = SIZE_MAX;
}

/* The place of a page, which is added if it is new; SIZE_MAX when memory is short. */
static size_t find_page(struct footprint *print, uint64_t number)
{
	struct page *pages = gt_grown(print->pages, print->n, &print->capacity, sizeof *pages);
	int fresh;

	if (!pages)
		return SIZE_MAX;
	print->pages = pages;
	const uint64_t *place = gt_map_put(&print->index, number, print->n, &fresh);
	if (!place)
		return SIZE_MAX;
	if (fresh)
		pages[print->n++] = (struct page){.number = number};
	return (size_t)*place;
}

static inline struct page *page_of(struct footprint *print, uint64_t number)
{
	size_t slot = (size_t)(gt_fibonacci(number) >> (64 - RECENT_LOG));

	if (print->recent[slot].number == number && print->recent[slot].place != SIZE_MAX)
		return &print->pages[print->recent[slot].place];
	const size_t place = find_page(print, number);
	if (place == SIZE_MAX)
		return NULL;
	print->recent[slot].number = number;
	print->recent[slot].place = place;
	return &print->pages[place];
}

/* Marks bytes [start, end) of a page, those whose place in their word is in `pattern`. */
static inline void mark_page(struct page *page, unsigned start, unsigned end, uint64_t pattern, bool reads)
{
	for (unsigned word = start / WORD, next; start < end; start = next, word++) {
		next = (word + 1) * WORD < end ? (word + 1) * WORD : end;
		const uint64_t bytes = pattern & UINT64_MAX >> (WORD - (next - start)) << start % WORD;
		page->touched[word] |= bytes;
		page->read[word] |= reads ? bytes : 0;
	}
}

/* The same of a range that begins at `first`. Returns 0, or -1 when memory is short. */
static int mark_range(struct footprint *print, uint64_t first, unsigned bytes, uint64_t pattern, bool reads)
{
	for (unsigned here; bytes > 0; first += here, bytes -= here) {
		const unsigned start = (unsigned)(first % PAGE);
		struct page *page = page_of(print, first / PAGE);
		if (!page)
			return -1;
		here = bytes < PAGE - start ? bytes : PAGE - start;
		mark_page(page, start, start + here, pattern, reads);
	}
	return 0;
}

/* Lanes mostly lie where the one before does, or right behind it: what they touch together is marked once. */
static int mark_lanes(struct footprint *print, const struct access *access, bool reads)
{
	uint64_t buffer[GT_WARP_SIZE];
	const uint64_t *addresses = addresses_of(access, buffer);
	uint64_t begin = addresses[0];
	unsigned bytes = access->size;

	for (unsigned k = 1; k < access->n; k++) {
		uint64_t from_begin = addresses[k] - begin;
		if (from_begin <= bytes - access->size)
			continue;
		if (from_begin == bytes) {
			bytes += access->size;
			continue;
		}
		if (mark_range(print, begin, bytes, UINT64_MAX, reads) != 0)
			return -1;
		begin = addresses[k];
		bytes = access->size;
	}
	return mark_range(print, begin, bytes, UINT64_MAX, reads);
}

/* The bytes of a word in which lanes `apart` bytes from each other lie, one of which begins at `first`: as `apart` divides a word,
 * they are the same of each word. */
static uint64_t pattern_of(uint64_t first, unsigned apart, unsigned size)
{
	uint64_t lane = UINT64_MAX >> (WORD - size), all = apart < WORD ? lane * (UINT64_MAX / ((UINT64_C(1) << apart) - 1)) : lane;
	unsigned start = (unsigned)(first % WORD);

	return start > 0 ? all << start | all >> (WORD - start) : all;
}

/* Marks the bytes of an access. Returns 0, or -1 when memory is short. */
static int mark(struct footprint *print, const struct access *access, bool reads)
{
	uint64_t apart = access->stride < 0 ? 0 - (uint64_t)access->stride : (uint64_t)access->stride;
	unsigned steps = access->n - 1;
	uint64_t first = access->stride < 0 ? access->first - apart * steps : access->first;

	if (access->n == 1 || apart == 0)
		return mark_range(print, access->first, access->size, UINT64_MAX, reads);
	if (apart <= access->size && is_run(access->mask))
		return mark_range(print, first, (unsigned)apart * steps + access->size, UINT64_MAX, reads);
	if (apart <= WORD && (apart & (apart - 1)) == 0 && is_run(access->mask))
		return mark_range(print, first, (unsigned)apart * steps + access->size,
				  pattern_of(first, (unsigned)apart, access->size), reads);
	return mark_lanes(print, access, reads);
}

/* ---- arrays ---- */

/* The largest range around an address that lies in one array, or in none. */
static void range_of(const struct gt_arrays *arrays, uint64_t address, uint64_t *low, uint64_t *last)
{
	size_t from = 0, to = arrays->n; /* arrays before `from` begin at the address or before it */

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (arrays->arrays[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	*low = 0;
	*last = from < arrays->n ? arrays->arrays[from].address - 1 : UINT64_MAX;
	if (from == 0)
		return;
	const struct gt_named_array *before = &arrays->arrays[from - 1];
	if (address - before->address < before->bytes) {
		*low = before->address;
		*last = before->address + (before->bytes - 1);
	} else {
		*low = before->address + before->bytes;
	}
}

/* What is read of an array, or of the kernel. */
struct amount {
	uint64_t bytes, sectors;
};

GT_WIDE static struct amount amount_of(const uint64_t words[PAGE_WORDS])
{
	struct amount amount = {0, 0};

	for (unsigned k = 0; k < PAGE_WORDS; k++) {
		amount.bytes += (unsigned)__builtin_popcountll(words[k]);
		amount.sectors += (words[k] << GT_SECTOR != 0) + 0U + (words[k] >> GT_SECTOR != 0);
	}
	return amount;
}

/* Adds what is read of a page in which arrays begin or end, byte by byte; a sector is that of its first byte that is read. */
static void add_bytes(const struct gt_arrays *arrays, const struct page *page, struct amount *of)
{
	for (unsigned byte = 0, last = UINT32_MAX; byte < PAGE; byte++) {
		if (!(page->read[byte / WORD] >> byte % WORD & 1))
			continue;
		uint64_t array = gt_arrays_find(arrays, page->number * PAGE + byte);
		of[array].bytes++;
		of[array].sectors += byte / GT_SECTOR != last;
		last = byte / GT_SECTOR;
	}
}

/* Adds what is read of each page to the amounts of its arrays, by the numbers of their names. */
static void add_by_array(const struct footprint *print, const struct gt_arrays *arrays, struct amount *of)
{
	uint64_t low, last;

	for (size_t i = 0; i < print->n; i++) {
		const struct page *page = &print->pages[i];
		const struct amount amount = amount_of(page->read);
		range_of(arrays, page->number * PAGE, &low, &last);
		if (last < page->number * PAGE + (PAGE - 1)) {
			add_bytes(arrays, page, of);
			continue;
		}
		uint64_t array = gt_arrays_find(arrays, page->number * PAGE);
		of[array].bytes += amount.bytes;
		of[array].sectors += amount.sectors;
	}
}

/* ---- sites ---- */

enum { DATA = 1, SHARED = 2, STORES = 4, ATOMICS = 8 }; /* accesses to other memory than shared, of these the stores; all atomics */
enum strides { NO_STRIDE, ONE_STRIDE, SEVERAL_STRIDES };

struct site_numbers {
	GT_SITE_ACCESS_COUNTERS(GT_COUNTER_FIELD)
};

struct site_counts {
	struct site_numbers numbers;
	int64_t stride;
	enum strides strides;
	uint8_t op, has; /* has: which accesses there are */
	bool several_ops;
};

#define LATEST_LOG 6

struct gt_by_site {
	struct gt_sites sites;
	struct site_counts *counts; /* by the site's number */
	size_t capacity;
	/* The sites of the last accesses, by pc: any address up to the last is of that site. */
	struct {
		bool known, shared;
		uint32_t pc;
		uint64_t low, last;
		size_t site;
	} latest[1 << LATEST_LOG];
	struct footprint print;
};

static void forget_latest(struct gt_by_site *by)
{
	for (size_t k = 0; k < sizeof by->latest / sizeof *by->latest; k++)
		by->latest[k].known = false;
}

struct gt_by_site *gt_by_site_open(struct gt_error *error)
{
	struct gt_by_site *by = calloc(1, sizeof *by);

	if (by && gt_sites_open(&by->sites, error) == 0 && gt_map_open(&by->print.index, 0, error) == 0) {
		clear_footprint(&by->print);
		return by;
	}
	gt_by_site_close(by);
	gt_fail_memory(error, "counts by site");
	return NULL;
}

void gt_by_site_close(struct gt_by_site *by)
{
	if (!by)
		return;
	gt_sites_close(&by->sites);
	gt_map_close(&by->print.index);
	free(by->print.pages);
	free(by->counts);
	free(by);
}

void gt_by_site_begin(struct gt_by_site *by)
{
	gt_sites_begin(&by->sites);
	forget_latest(by);
	clear_footprint(&by->print);
}

int gt_by_site_note(struct gt_by_site *by, const struct gt_count *count, struct gt_error *error)
{
	forget_latest(by);
	return gt_sites_note(&by->sites, count, error);
}

/* The counts of a site, which begin at 0 if it is new; NULL when memory is short. */
static struct site_counts *counts_of_new(struct gt_by_site *by, uint32_t pc, bool shared, uint64_t address, size_t *site)
{
	const size_t before = by->sites.n;
	struct site_counts *counts;

	*site = gt_sites_number(&by->sites, pc, shared, address);
	if (*site == GT_SITE_NONE || !(counts = gt_grown_to(by->counts, by->sites.n, &by->capacity, sizeof *counts)))
		return NULL;
	by->counts = counts;
	if (by->sites.n > before)
		counts[*site] = (struct site_counts){.has = 0};
	return &counts[*site];
}

static struct site_counts *counts_of(struct gt_by_site *by, uint32_t pc, bool shared, uint64_t address)
{
	const size_t slot = pc % (sizeof by->latest / sizeof *by->latest);
	struct site_counts *counts;
	uint64_t low, last;
	size_t site;

	if (by->latest[slot].known && by->latest[slot].pc == pc && by->latest[slot].shared == shared &&
	    address >= by->latest[slot].low && address <= by->latest[slot].last)
		return &by->counts[by->latest[slot].site];
	counts = counts_of_new(by, pc, shared, address, &site);
	if (!counts)
		return NULL;
	range_of(&by->sites.arrays[shared], address, &low, &last);
	by->latest[slot].known = true;
	by->latest[slot].shared = shared;
	by->latest[slot].pc = pc;
	by->latest[slot].low = low;
	by->latest[slot].last = last;
	by->latest[slot].site = site;
	return counts;
}

static void add_op(struct site_counts *counts, uint8_t op)
{
	if (counts->has == 0)
		counts->op = op;
	counts->several_ops |= counts->op != op;
}

static void add_stride(struct site_counts *counts, const struct access *access)
{
	if (access->n == 1 || counts->strides == SEVERAL_STRIDES)
		return;
	const int64_t stride = access->addresses ? gt_common_stride(access->mask, access->addresses) : access->stride;
	if (stride == GT_STRIDE_LANES || (counts->strides == ONE_STRIDE && counts->stride != stride)) {
		counts->strides = SEVERAL_STRIDES;
	} else {
		counts->strides = ONE_STRIDE;
		counts->stride = stride;
	}
}

static void add_data(struct site_counts *counts, const struct access *access, const struct gt_access_cost *cost, bool store)
{
	unsigned whole = (access->n * access->size + GT_SECTOR - 1) / GT_SECTOR;
	unsigned least = cost->sectors < whole ? cost->sectors : whole;
	uint64_t begin;

	counts->has |= DATA | (store ? STORES : 0);
	counts->numbers.sectors += cost->sectors;
	counts->numbers.least_sectors += least;
	if (cost->sectors > least && fills_range(access, &begin) && begin % GT_SECTOR != 0)
		counts->numbers.misaligned_sectors += cost->sectors - least;
	if (store)
		counts->numbers.partial_sectors += cost->sectors - cost->full;
}

static void add_shared(struct site_counts *counts, const struct gt_access_cost *cost)
{
	counts->has |= SHARED;
	counts->numbers.passes += cost->passes;
	counts->numbers.least_passes += cost->least_passes;
}

int gt_by_site_add(struct gt_by_site *by, const struct gt_rows *accesses, size_t i, const struct gt_access_cost *cost,
		   struct gt_error *error)
{
	uint64_t buffer[GT_WARP_SIZE];
	const struct access access = access_of(accesses, i, buffer);
	const uint8_t op = accesses->op[i];
	const enum gt_action action = gt_op_action(op);
	const bool shared = gt_op_space(op) == GT_SHARED;
	const uint64_t address = shared ? access.first % (UINT64_C(1) << GT_ARRAY_ADDRESS_BITS) : access.first;
	struct site_counts *counts = counts_of(by, accesses->pc[i], shared, address);

	if (!counts || (!shared && mark(&by->print, &access, action == GT_LOAD || action == GT_ATOMIC) != 0))
		return gt_fail_memory(error, "counts by site");
	add_op(counts, op);
	add_stride(counts, &access);
	counts->numbers.accesses++;
	counts->numbers.lanes += access.n;
	counts->numbers.bytes += access.n * access.size;
	if (shared)
		add_shared(counts, cost);
	else
		add_data(counts, &access, cost, action == GT_STORE);
	if (action == GT_ATOMIC || action == GT_REDUCTION) {
		counts->has |= ATOMICS;
		counts->numbers.addresses += distinct_addresses(&access);
	}
	return 0;
}

/* ---- what was counted ---- */

static int count_named(struct gt_count *count, const char *class, const char *counter, uint64_t value, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.%.*s", GT_SITE_NAME - 1, class, (int)(sizeof name - GT_SITE_NAME - 2), counter);
	return gt_count_number(count, name, value, error);
}

static int count_word(struct gt_count *count, const char *class, const char *counter, const char *word, struct gt_error *error)
{
	char name[GT_COUNT_NAME];

	snprintf(name, sizeof name, "%.*s.%s", GT_SITE_NAME - 1, class, counter);
	return gt_count_text(count, name, word, error);
}

struct unique {
	GT_UNIQUE_COUNTERS(GT_COUNTER_FIELD)
};

/* What is read of an array, once. */
static int count_read(struct gt_count *count, const char *name, struct amount *read, struct gt_error *error)
{
	const struct amount amount = *read;

	*read = (struct amount){0};
	if (amount.bytes == 0)
		return 0;
	return count_named(count, name, "unique_read_bytes", amount.bytes, error) != 0 ? -1 : count_named(count, name, "unique_read_sectors", amount.sectors, error);
}

/* Of the kernel, and of each array of which it reads, in the order of their addresses: names are numbered as earlier launches had them. */
static int count_footprint(const struct gt_by_site *by, struct gt_count *count, struct gt_error *error)
{
	const struct gt_arrays *arrays = &by->sites.arrays[false];
	const struct gt_names *names = &arrays->names;
	struct amount *of = calloc(names->n, sizeof *of);
	struct unique unique = {0};
	int result;

	if (!of)
		return gt_fail_memory(error, "counts by array");
	for (size_t i = 0; i < by->print.n; i++) {
		const struct amount touched = amount_of(by->print.pages[i].touched);
		unique.unique_bytes += touched.bytes;
		unique.unique_sectors += touched.sectors;
	}
	add_by_array(&by->print, arrays, of);
	for (size_t i = 0; i < names->n; i++) {
		unique.unique_read_bytes += of[i].bytes;
		unique.unique_read_sectors += of[i].sectors;
	}
	result = gt_count_numbers(count, &gt_counters_unique, &unique, sizeof unique, error);
	if (result == 0)
		result = count_read(count, names->names[0], &of[0], error);
	for (size_t i = 0; i < arrays->n && result == 0; i++)
		result = count_read(count, names->names[arrays->arrays[i].name], &of[arrays->arrays[i].name], error);
	free(of);
	return result;
}

/* A site with its name, to be sorted. */
struct named_site {
	uint32_t pc;
	char name[GT_SITE_NAME];
	struct site_counts counts;
};

static int compare_sites(const void *left, const void *right)
{
	const struct named_site *a = left, *b = right;

	return a->pc != b->pc ? (a->pc > b->pc) - (a->pc < b->pc) : strcmp(a->name, b->name);
}

/* Adds the counts of a site of the same name: those of an array in shared memory, and of one in other memory. */
static void merge(struct site_counts *to, const struct site_counts *from)
{
	gt_counters_add(&to->numbers, &from->numbers, sizeof to->numbers);
	to->has |= from->has;
	to->several_ops |= from->several_ops || to->op != from->op;
	if (to->strides == NO_STRIDE) {
		to->strides = from->strides;
		to->stride = from->stride;
	} else if (from->strides == SEVERAL_STRIDES || (from->strides == ONE_STRIDE && from->stride != to->stride)) {
		to->strides = SEVERAL_STRIDES;
	}
}

/* The sites in the order of the instructions, each name once; NULL when memory is short. */
static struct named_site *sorted_sites(const struct gt_by_site *by, size_t *n)
{
	struct named_site *sites = malloc((by->sites.n + 1) * sizeof *sites);

	*n = 0;
	if (!sites)
		return NULL;
	for (size_t i = 0; i < by->sites.n; i++) {
		sites[i].pc = by->sites.sites[i].pc;
		sites[i].counts = by->counts[i];
		gt_site_format(&by->sites, i, sites[i].name);
	}
	qsort(sites, by->sites.n, sizeof *sites, compare_sites);
	for (size_t i = 0; i < by->sites.n; i++)
		if (*n > 0 && compare_sites(&sites[*n - 1], &sites[i]) == 0)
			merge(&sites[*n - 1].counts, &sites[i].counts);
		else
			sites[(*n)++] = sites[i];
	return sites;
}

#define AT(NAME) offsetof(struct site_numbers, NAME)

/* Whether a site has a counter, by where it is counted. */
static bool has_counter(const struct site_counts *counts, size_t at)
{
	unsigned kind = at >= AT(passes) ? SHARED : at >= AT(addresses) ? ATOMICS : at >= AT(partial_sectors) ? STORES : DATA;

	return at < AT(sectors) || (counts->has & kind) != 0;
}

static int count_numbers(const struct named_site *site, struct gt_count *count, struct gt_error *error)
{
	const struct gt_counters *table = &gt_counters_site_access;
	uint64_t value;
	size_t at = 0;

	for (size_t k = 0; k < table->n; k++) {
		if (!gt_counter_is_number(&table->rows[k]))
			continue;
		memcpy(&value, (const char *)&site->counts.numbers + at, sizeof value);
		if (has_counter(&site->counts, at) && count_named(count, site->name, table->rows[k].name, value, error) != 0)
			return -1;
		at += sizeof value;
	}
	return 0;
}

static int count_site(const struct named_site *site, struct gt_count *count, struct gt_error *error)
{
	const struct site_counts *counts = &site->counts;
	char op[GT_OP_TEXT], stride[32] = "several";

	if (counts->strides == ONE_STRIDE)
		snprintf(stride, sizeof stride, "%" PRId64, counts->stride);
	if (count_word(count, site->name, "op", counts->several_ops ? "several" : gt_op_format(counts->op, op), error) != 0 ||
	    (counts->strides != NO_STRIDE && count_word(count, site->name, "stride", stride, error) != 0))
		return -1;
	return count_numbers(site, count, error);
}

int gt_by_site_count(const struct gt_by_site *by, struct gt_count *count, struct gt_error *error)
{
	struct named_site *sites;
	size_t n;
	int result = 0;

	if (count_footprint(by, count, error) != 0)
		return -1;
	if (!(sites = sorted_sites(by, &n)))
		return gt_fail_memory(error, "counts by site");
	for (size_t i = 0; i < n && result == 0; i++)
		result = count_site(&sites[i], count, error);
	free(sites);
	return result;
}
