/* SPDX-License-Identifier: MIT */
/* The launches of a report by name and shape, for gstats --kernels: what a program runs, before one asks what that costs. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/grown.h"
#include "base/options.h"
#include "base/utf8.h"
#include "report/format.h"
#include "stream/kernel_name.h"

#define WIDTH 80 /* columns of the table */
#define NAME_LEAST 8 /* of them, for a name */

/* Launches that are alike. */
struct shape {
	const struct gt_kernel *kernel; /* the first of them */
	uint64_t launches, instructions;
	bool ran; /* the stream has their instructions */
};

struct shapes {
	struct shape *all; /* in the order of their first launches */
	size_t n, capacity;
	struct gt_map index; /* from a hash to a place */
	uint64_t launches;
};

/* ---- which launches are alike ---- */

static bool alike(const struct gt_kernel *a, const struct gt_kernel *b)
{
	return strcmp(a->name, b->name) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
	       memcmp(a->block, b->block, sizeof a->block) == 0 && memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
	       a->registers == b->registers && a->shared_bytes == b->shared_bytes;
}

static uint64_t hash_of(const struct gt_kernel *kernel)
{
	uint64_t hash = XXH3_64bits(kernel->name, strlen(kernel->name));

	hash = XXH3_64bits_withSeed(kernel->grid, sizeof kernel->grid, hash);
	hash = XXH3_64bits_withSeed(kernel->block, sizeof kernel->block, hash);
	return hash - (hash == GT_MAP_EMPTY);
}

/* The place of the launches that are like this one, new behind the last; NULL when memory is short. */
static struct shape *shape_of(struct shapes *shapes, const struct gt_kernel *kernel)
{
	uint64_t hash = hash_of(kernel), *place;
	int fresh;

	while ((place = gt_map_put(&shapes->index, hash, shapes->n, &fresh)) && !fresh && !alike(shapes->all[*place].kernel, kernel))
		hash = hash + 1 == GT_MAP_EMPTY ? 0 : hash + 1;
	if (!place || !fresh)
		return place ? &shapes->all[*place] : NULL;
	struct shape *grown = gt_grown(shapes->all, shapes->n, &shapes->capacity, sizeof *grown);
	if (!grown)
		return NULL;
	shapes->all = grown;
	grown[shapes->n] = (struct shape){.kernel = kernel};
	return &grown[shapes->n++];
}

static int gather(struct shapes *shapes, const struct gt_report *report, struct gt_error *error)
{
	if (gt_map_open(&shapes->index, 0, error) != 0)
		return -1;
	for (size_t i = 0; i < report->n; i++) {
		const struct gt_report_kernel *kernel = &report->kernels[i];
		const struct gt_report_stage *ran = gt_report_find_stage(kernel, "ptx");
		uint64_t instructions = 0;
		if (!kernel->announced)
			continue;
		struct shape *shape = shape_of(shapes, &kernel->kernel);
		if (!shape)
			return gt_fail_memory(error, "the kernels");
		shape->ran |= ran && gt_report_number(ran, "warp_instructions", &instructions);
		shape->instructions += instructions;
		shape->launches += gt_report_launches(kernel);
		shapes->launches += gt_report_launches(kernel);
	}
	return 0;
}

/* ---- a table ---- */

#define CELL 48 /* bytes of any cell but a name */
enum { FIRST, LAUNCHES, GRID, BLOCK, REGISTERS, SHARED, INSTRUCTIONS, NAME, COLUMNS };
static const char *const headings[COLUMNS] = {"first", "launches", "grid", "block", "regs", "shared", "instr.", "kernel"};

/* "4 x 16": trailing dimensions of 1 are left out. */
static int write_extent(char *cell, size_t bytes, const uint32_t extent[3])
{
	if (extent[0] == 0)
		return snprintf(cell, bytes, "-");
	if (extent[2] > 1)
		return snprintf(cell, bytes, "%" PRIu32 " x %" PRIu32 " x %" PRIu32, extent[0], extent[1], extent[2]);
	if (extent[1] > 1)
		return snprintf(cell, bytes, "%" PRIu32 " x %" PRIu32, extent[0], extent[1]);
	return snprintf(cell, bytes, "%" PRIu32, extent[0]);
}

/* "5.75 M": three digits, which tell large kernels from small ones. */
static void write_short(char cell[CELL], uint64_t number)
{
	static const char units[] = "\0kMGTPE";
	double value = (double)number;
	int unit = 0;

	for (; value >= 999.5; value /= 1000)
		unit++;
	if (unit == 0)
		snprintf(cell, CELL, "%" PRIu64, number);
	else
		snprintf(cell, CELL, "%.*f %c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

static void write_cells(const struct shape *shape, char cells[NAME][CELL])
{
	const struct gt_kernel *kernel = shape->kernel;

	snprintf(cells[FIRST], CELL, "%" PRIu64, kernel->id);
	snprintf(cells[LAUNCHES], CELL, "%" PRIu64, shape->launches);
	int length = write_extent(cells[GRID], CELL, kernel->grid);
	if (kernel->cluster[0]) {
		length += snprintf(cells[GRID] + length, CELL - (size_t)length, " by ");
		write_extent(cells[GRID] + length, CELL - (size_t)length, kernel->cluster);
	}
	write_extent(cells[BLOCK], CELL, kernel->block);
	snprintf(cells[REGISTERS], CELL, kernel->registers ? "%" PRIu32 : "-", kernel->registers);
	gt_format_size(kernel->shared_bytes, cells[SHARED]);
	if (shape->ran)
		write_short(cells[INSTRUCTIONS], shape->instructions);
	else
		snprintf(cells[INSTRUCTIONS], CELL, "-");
}

/* The columns that are left for names. */
static size_t name_width(const struct shapes *shapes)
{
	size_t widths[NAME], used = 2;
	char cells[NAME][CELL];

	for (int i = 0; i < NAME; i++)
		widths[i] = strlen(headings[i]);
	for (size_t s = 0; s < shapes->n; s++) {
		write_cells(&shapes->all[s], cells);
		for (int i = 0; i < NAME; i++)
			widths[i] = strlen(cells[i]) > widths[i] ? strlen(cells[i]) : widths[i];
	}
	for (int i = 0; i < NAME; i++)
		used += widths[i] + 2;
	return used + NAME_LEAST > WIDTH ? NAME_LEAST : WIDTH - used;
}

static int write_table(const struct shapes *shapes, FILE *to, struct gt_error *error)
{
	struct gt_table table = {.alignment = "rrllrrrl"};
	char cells[NAME][CELL], name[4 * WIDTH + 1], words[GT_KERNEL_NAME];
	size_t width = name_width(shapes);

	if (shapes->n > 0)
		gt_table_add(&table, headings);
	for (size_t i = 0; i < shapes->n; i++) {
		write_cells(&shapes->all[i], cells);
		const char *shown = gt_utf8_tidy(gt_name_words(shapes->all[i].kernel->name, words), width, name);
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){cells[FIRST], cells[LAUNCHES], cells[GRID], cells[BLOCK],
			     cells[REGISTERS], cells[SHARED], cells[INSTRUCTIONS], shown});
	}
	if (gt_table_write(&table, to, error) != 0)
		return -1;
	fprintf(to, "%" PRIu64 " launch%s, %zu by name and shape\n", shapes->launches, shapes->launches == 1 ? "" : "es", shapes->n);
	return 0;
}

/* ---- CSV ---- */

static void write_csv_extent(const uint32_t extent[3], FILE *to)
{
	for (int i = 0; i < 3; i++)
		if (extent[0])
			fprintf(to, ",%" PRIu32, extent[i] ? extent[i] : 1);
		else
			putc(',', to);
}

static void write_csv(const struct shapes *shapes, FILE *to)
{
	fputs("kernel,first,launches,grid_x,grid_y,grid_z,block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,registers,shared_bytes,"
	      "warp_instructions\n", to);
	for (size_t i = 0; i < shapes->n; i++) {
		const struct shape *shape = &shapes->all[i];
		const struct gt_kernel *kernel = shape->kernel;
		gt_csv_field(kernel->name, false, to);
		fprintf(to, ",%" PRIu64 ",%" PRIu64, kernel->id, shape->launches);
		write_csv_extent(kernel->grid, to);
		write_csv_extent(kernel->block, to);
		write_csv_extent(kernel->cluster, to);
		fprintf(to, kernel->registers ? ",%" PRIu32 : ",", kernel->registers);
		fprintf(to, ",%" PRIu32, kernel->shared_bytes);
		fprintf(to, shape->ran ? ",%" PRIu64 "\n" : ",\n", shape->instructions);
	}
}

int gt_report_write_kernels(const struct gt_report *report, bool csv, FILE *to, struct gt_error *error)
{
	struct shapes shapes = {0};
	int result = gather(&shapes, report, error);

	if (result == 0 && csv)
		write_csv(&shapes, to);
	else if (result == 0)
		result = write_table(&shapes, to, error);
	gt_map_close(&shapes.index);
	free(shapes.all);
	return result;
}
