/* SPDX-License-Identifier: MIT */
/* What a stream says of the program besides its accesses (stream/program.h). */
#include "stream/program.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"

/* ---- arrays ---- */

int gt_arrays_open(struct gt_arrays *arrays, const char *stage, struct gt_error *error)
{
	uint64_t none;

	*arrays = (struct gt_arrays){.stage = stage};
	if (gt_names_open(&arrays->names, error) == 0 && gt_names_number(&arrays->names, "-", &none, error) == 0)
		return 0;
	gt_arrays_close(arrays);
	return -1;
}

void gt_arrays_close(struct gt_arrays *arrays)
{
	free(arrays->arrays);
	gt_names_close(&arrays->names);
	*arrays = (struct gt_arrays){0};
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_named_array *)a)->address, right = ((const struct gt_named_array *)b)->address;

	return (left > right) - (left < right);
}

static int check(const struct gt_arrays *arrays, struct gt_error *error)
{
	for (size_t i = 0; i < arrays->n; i++) {
		const struct gt_named_array *array = &arrays->arrays[i];
		uint64_t room = i + 1 < arrays->n ? array[1].address - array->address : UINT64_MAX - array->address;
		if (array->bytes > room)
			return gt_fail(error, "%s: expected arrays that do not overlap, but 0x%" PRIx64
				       " has %" PRIu64 " bytes", arrays->stage, array->address, array->bytes);
	}
	return 0;
}

int gt_arrays_take(struct gt_arrays *arrays, const struct gt_count *count, struct gt_error *error)
{
	const struct gt_count_entry *addresses = gt_count_find(count, "addresses");
	const struct gt_count_entry *bytes = gt_count_find(count, "bytes");
	const struct gt_count_entry *names = gt_count_find(count, "names");

	if (strcmp(count->stage, arrays->stage) != 0)
		return 0;
	if (!addresses || !bytes || addresses->kind != GT_COUNT_ARRAY || bytes->kind != GT_COUNT_ARRAY ||
	    addresses->n != bytes->n || (names && names->kind != GT_COUNT_TEXT))
		return gt_fail(error, "%s: expected the arrays addresses and bytes, with one element per "
			       "allocation, and the text names", arrays->stage);
	struct gt_named_array *live = gt_resized(arrays->arrays, addresses->n, sizeof *live);
	if (!live)
		return gt_fail_memory(error, "names of arrays");
	arrays->arrays = live;
	arrays->n = addresses->n;
	const char *rest = names ? names->text : "";
	for (size_t i = 0; i < arrays->n; i++) {
		char name[GT_ARRAY_NAME];
		size_t length = strcspn(rest, ",");
		snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name), rest);
		if (length == 0)
			snprintf(name, sizeof name, "0x%" PRIx64, addresses->array[i]);
		live[i] = (struct gt_named_array){.address = addresses->array[i], .bytes = bytes->array[i]};
		if (gt_names_number(&arrays->names, name, &live[i].name, error) != 0)
			return -1;
		rest += length + (rest[length] == ',');
	}
	qsort(live, arrays->n, sizeof *live, compare_addresses);
	return check(arrays, error);
}

uint64_t gt_arrays_find(const struct gt_arrays *arrays, uint64_t address)
{
	size_t low = 0, high = arrays->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (arrays->arrays[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - arrays->arrays[low - 1].address >= arrays->arrays[low - 1].bytes)
		return 0;
	return arrays->arrays[low - 1].name;
}

/* ---- blocks without accesses ---- */

void gt_idle_blocks_add(struct gt_idle_blocks *idle, uint64_t block, uint64_t instructions)
{
	size_t capacity = idle->capacity;
	uint64_t *blocks = gt_grown(idle->blocks, idle->n, &capacity, sizeof *blocks);

	idle->blocks = blocks ? blocks : idle->blocks;
	uint64_t *counts = blocks ? gt_grown(idle->instructions, idle->n, &idle->capacity, sizeof *counts) : NULL;
	if (!counts) {
		idle->lost = true;
		return;
	}
	idle->instructions = counts;
	idle->blocks[idle->n] = block;
	idle->instructions[idle->n++] = instructions;
}

/* Writes n from number `first` on. */
static int write_idle(const struct gt_idle_blocks *idle, size_t first, size_t n, uint64_t kernel, struct gt_writer *writer,
		      struct gt_error *error)
{
	struct gt_count count;
	int result = -1;

	gt_count_begin(&count, GT_IDLE_STAGE, kernel);
	if (gt_count_array(&count, "blocks", idle->blocks + first, n, error) == 0 &&
	    gt_count_array(&count, "instructions", idle->instructions + first, n, error) == 0)
		result = gt_write_count(writer, &count, error);
	gt_count_clear(&count);
	return result;
}

int gt_idle_blocks_pass(struct gt_idle_blocks *idle, uint64_t below, uint64_t together, uint64_t kernel, struct gt_writer *writer,
			struct gt_error *error)
{
	size_t first = 0, last;

	if (idle->lost)
		return gt_fail_memory(error, "the list of blocks without accesses");
	for (; first < idle->n && idle->blocks[first] < below; first = last) {
		for (last = first + 1; last < idle->n && idle->blocks[last] / together == idle->blocks[first] / together;)
			last++;
		if (write_idle(idle, first, last - first, kernel, writer, error) != 0)
			return -1;
	}
	idle->n -= first;
	if (first == 0)
		return 0;
	memmove(idle->blocks, idle->blocks + first, idle->n * sizeof *idle->blocks);
	memmove(idle->instructions, idle->instructions + first, idle->n * sizeof *idle->instructions);
	return 0;
}

void gt_idle_blocks_clear(struct gt_idle_blocks *idle)
{
	free(idle->blocks);
	free(idle->instructions);
	*idle = (struct gt_idle_blocks){0};
}

/* ---- copies ---- */

static bool make_room(struct gt_copies *copies)
{
	size_t half = GT_COPIES / 2, more = copies->capacity ? copies->capacity * 2 : 16;

	if (copies->n == GT_COPIES) {
		memmove(copies->addresses, copies->addresses + half, half * sizeof *copies->addresses);
		memmove(copies->bytes, copies->bytes + half, half * sizeof *copies->bytes);
		copies->n = half;
	}
	if (copies->n < copies->capacity)
		return true;
	uint64_t *addresses = gt_resized(copies->addresses, more, sizeof *addresses);
	if (addresses)
		copies->addresses = addresses;
	uint64_t *bytes = addresses ? gt_resized(copies->bytes, more, sizeof *bytes) : NULL;
	if (!bytes)
		return false;
	copies->bytes = bytes;
	copies->capacity = more;
	return true;
}

void gt_copies_add(struct gt_copies *copies, uint64_t address, uint64_t bytes)
{
	size_t last = copies->n - 1;

	if (copies->n > 0 && copies->addresses[last] + copies->bytes[last] == address) {
		copies->bytes[last] += bytes;
		return;
	}
	if (!make_room(copies)) {
		copies->lost = true;
		return;
	}
	copies->addresses[copies->n] = address;
	copies->bytes[copies->n++] = bytes;
}

int gt_copies_count(const struct gt_copies *copies, struct gt_count *count, struct gt_error *error)
{
	if (copies->lost)
		return gt_fail_memory(error, "the list of copies");
	if (gt_count_array(count, "addresses", copies->addresses, copies->n, error) != 0)
		return -1;
	return gt_count_array(count, "bytes", copies->bytes, copies->n, error);
}

void gt_copies_clear(struct gt_copies *copies)
{
	free(copies->addresses);
	free(copies->bytes);
	*copies = (struct gt_copies){0};
}

/* ---- source lines ---- */

static int compare_pcs(const void *a, const void *b)
{
	uint64_t left = ((const struct gt_source *)a)->pc, right = ((const struct gt_source *)b)->pc;

	return (left > right) - (left < right);
}

void gt_sources_clear(struct gt_sources *sources)
{
	free(sources->sources);
	free(sources->names);
	*sources = (struct gt_sources){0};
}

static int fail_shape(struct gt_error *error)
{
	return gt_fail(error, "source: expected the arrays pcs, lines and files, with one element per instruction, and the text "
		       "names, with a name per file");
}

static bool is_array(const struct gt_count_entry *entry, size_t n)
{
	return entry && entry->kind == GT_COUNT_ARRAY && entry->n == n;
}

/* Ends each name, and returns where name number i begins; NULL if there are fewer. */
static const char **split_names(char *names, size_t *n)
{
	size_t count = 1;

	for (const char *at = names; *at; at++)
		count += *at == ',';
	const char **starts = malloc(count * sizeof *starts);
	*n = 0;
	for (char *at = names; starts && at; (*n)++) {
		starts[*n] = at;
		at = strchr(at, ',');
		if (at)
			*at++ = '\0';
	}
	return starts;
}

int gt_sources_set(struct gt_sources *sources, const struct gt_count_entry *pcs, const struct gt_count_entry *lines,
		   const struct gt_count_entry *files, const struct gt_count_entry *names, struct gt_error *error)
{
	size_t n_files = 0;

	gt_sources_clear(sources);
	if (!pcs || !is_array(pcs, pcs->n) || !is_array(lines, pcs->n) || !is_array(files, pcs->n) || !names ||
	    names->kind != GT_COUNT_TEXT)
		return fail_shape(error);
	sources->sources = malloc((pcs->n + 1) * sizeof *sources->sources);
	sources->names = strdup(names->text);
	const char **starts = sources->names ? split_names(sources->names, &n_files) : NULL;
	if (!sources->sources || !starts) {
		free(starts);
		return gt_fail_memory(error, "source lines");
	}
	for (size_t i = 0; i < pcs->n && files->array[i] < n_files; i++, sources->n++)
		sources->sources[i] = (struct gt_source){.pc = pcs->array[i], .line = lines->array[i], .file = starts[files->array[i]]};
	free(starts);
	if (sources->n < pcs->n)
		return fail_shape(error);
	qsort(sources->sources, sources->n, sizeof *sources->sources, compare_pcs);
	return 0;
}

const struct gt_source *gt_sources_find(const struct gt_sources *sources, uint64_t pc)
{
	const struct gt_source wanted = {.pc = pc};

	return sources->n == 0 ? NULL : bsearch(&wanted, sources->sources, sources->n, sizeof wanted, compare_pcs);
}

const char *gt_source_format(const struct gt_source *source, char buffer[GT_SOURCE_TEXT])
{
	const char *slash = strrchr(source->file, '/'), *name = slash ? slash + 1 : source->file;
	char line[24];
	int room = GT_SOURCE_TEXT - 1 - snprintf(line, sizeof line, ":%" PRIu64, source->line);

	if ((int)strlen(name) > room)
		name += (int)strlen(name) - room;
	snprintf(buffer, GT_SOURCE_TEXT, "%s%s", name, line);
	return buffer;
}

/* ---- sites ---- */

int gt_sites_open(struct gt_sites *sites, struct gt_error *error)
{
	*sites = (struct gt_sites){.n = 0};
	if (gt_arrays_open(&sites->arrays[false], GT_ARRAYS_STAGE, error) == 0 &&
	    gt_arrays_open(&sites->arrays[true], GT_SHARED_ARRAYS_STAGE, error) == 0 && gt_map_open(&sites->index, 0, error) == 0)
		return 0;
	gt_sites_close(sites);
	return -1;
}

void gt_sites_close(struct gt_sites *sites)
{
	gt_arrays_close(&sites->arrays[false]);
	gt_arrays_close(&sites->arrays[true]);
	if (sites->index.slots)
		gt_map_close(&sites->index);
	free(sites->sites);
	*sites = (struct gt_sites){.n = 0};
}

void gt_sites_begin(struct gt_sites *sites)
{
	gt_map_clear(&sites->index);
	sites->n = 0;
	sites->arrays[true].n = 0; /* each kernel has its own */
}

int gt_sites_note(struct gt_sites *sites, const struct gt_count *count, struct gt_error *error)
{
	return gt_arrays_take(&sites->arrays[false], count, error) != 0 ? -1 : gt_arrays_take(&sites->arrays[true], count, error);
}

static size_t add_site(struct gt_sites *sites, struct gt_site site)
{
	struct gt_site *bigger = gt_grown(sites->sites, sites->n, &sites->capacity, sizeof *bigger);

	if (!bigger) {
		sites->short_of_memory = true;
		return GT_SITE_NONE;
	}
	sites->sites = bigger;
	bigger[sites->n] = site;
	return sites->n++;
}

/* A key is a pc, the memory, and the number of a name, of which there are fewer than 2^31. */
size_t gt_sites_number(struct gt_sites *sites, uint32_t pc, bool shared, uint64_t address)
{
	uint64_t array = gt_arrays_find(&sites->arrays[shared], address);
	uint64_t *place;
	int fresh;

	place = gt_map_put(&sites->index, (uint64_t)pc << 32 | (uint64_t)shared << 31 | array, sites->n, &fresh);
	if (!place) {
		sites->short_of_memory = true;
		return GT_SITE_NONE;
	}
	return fresh ? add_site(sites, (struct gt_site){pc, shared, array}) : *place;
}

const char *gt_site_format(const struct gt_sites *sites, size_t site, char name[GT_SITE_NAME])
{
	const struct gt_site *is = &sites->sites[site];

	snprintf(name, GT_SITE_NAME, "0x%" PRIx32 " %.*s", is->pc, GT_ARRAY_NAME - 1, sites->arrays[is->shared].names.names[is->array]);
	return name;
}
