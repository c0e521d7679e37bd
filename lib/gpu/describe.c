/* SPDX-License-Identifier: MIT */
#include "gpu/describe.h"

#include <inttypes.h>
#include <string.h>

#include "base/options.h"
#include "gpu/occupancy.h"
#include "gpu/parameter.h"

#define NAME_BYTES 64

/* ---- values ---- */

static int widest(const struct gt_gpu *gpu, size_t offset, int most)
{
	int width = 0;

	for (size_t i = 0; i < gpu->n; i++) {
		int length = (int)strlen((const char *)&gpu->figures[i] + offset);
		if (length > width && length <= most)
			width = length;
	}
	return width;
}

static void print_figures(const struct gt_gpu *gpu, FILE *file)
{
	int key = widest(gpu, offsetof(struct gt_gpu_figure, key), 32);
	int value = widest(gpu, offsetof(struct gt_gpu_figure, value), 32);

	for (size_t i = 0; i < gpu->n; i++) {
		const struct gt_gpu_figure *figure = &gpu->figures[i];
		fprintf(file, "%-*s  %-*s  %-8s  %s\n", key, figure->key, value, figure->value,
			figure->status[0] ? figure->status : "-", figure->source);
	}
}

/* ---- derived values ---- */

/* A value as a count or a size; 0 if it is absent or a word. */
static uint64_t number(const struct gt_gpu *gpu, const char *key)
{
	uint64_t size = 0;
	struct gt_error ignored;

	return gt_gpu_get(gpu, key) && gt_gpu_size(gpu, key, 0, &size, &ignored) == 0 ? size : 0;
}

static uint64_t figure(const struct gt_gpu *gpu, const char *level, const char *parameter)
{
	char key[NAME_BYTES];

	snprintf(key, sizeof key, "%s.%s", level, parameter);
	return number(gpu, key);
}

static const char *word(const struct gt_gpu *gpu, const char *level, const char *parameter)
{
	char key[NAME_BYTES];

	snprintf(key, sizeof key, "%s.%s", level, parameter);
	return gt_gpu_get(gpu, key);
}

/* Log2 of a power of two, or -1. */
static int power_of(uint64_t number)
{
	return number && (number & (number - 1)) == 0 ? __builtin_ctzll(number) : -1;
}

/* ", 7 offset bits, 5 index bits by fermi" */
static void print_bits(const struct gt_gpu *gpu, const char *level, uint64_t line, uint64_t sets, FILE *file)
{
	const char *index = word(gpu, level, "index");
	int offset = power_of(line), bits = power_of(sets);

	if (sets == 1)
		fputs(", fully associative", file);
	else if (offset >= 0 && bits > 0)
		fprintf(file, ", %d offset bits, %d index bits by %s", offset, bits, index ? index : "mod");
	else
		fprintf(file, ", no power of two: by %s", index ? index : "mod");
}

/* The ways of "full" or "full/SETS"; `rest` follows "full". */
static uint64_t shared_out(uint64_t lines, const char *rest)
{
	struct gt_error reason;
	uint64_t sets = 1;

	if (*rest != '\0' && gt_parse_count(rest + 1, 1, lines, &sets, &reason) != 0)
		return 0;
	return lines / sets;
}

static int print_level(const struct gt_gpu *gpu, const char *level, FILE *file, struct gt_error *error)
{
	uint64_t size = figure(gpu, level, "size"), line = figure(gpu, level, "line");
	uint64_t ways = figure(gpu, level, "ways"), sector = figure(gpu, level, "sector");
	const char *listed = word(gpu, level, "sets"), *written = word(gpu, level, "ways");
	const char *there = word(gpu, level, "size");
	char text[32];

	if (there && strcmp(there, "none") == 0)
		fprintf(file, "%-8s  none\n", level);
	if (size == 0 || line == 0)
		return 0;
	if (size % line != 0)
		return gt_fail(error, "%s: the size is not a multiple of the line", level);
	uint64_t lines = size / line;
	if (written && strncmp(written, "full", 4) == 0)
		ways = shared_out(lines, written + 4);
	fprintf(file, "%-8s  %" PRIu64 " lines of %s", level, lines, gt_format_size(line, text));
	if (sector > 0 && sector < line)
		fprintf(file, " in %" PRIu64 " sectors", line / sector);
	if (listed) {
		fprintf(file, ", sets of %s ways", listed);
	} else if (ways > 0) {
		if (lines % ways != 0)
			return gt_fail(error, "%s: the number of lines is not a multiple of the ways", level);
		fprintf(file, ", %" PRIu64 " set%s of %" PRIu64, lines / ways, lines == ways ? "" : "s", ways);
		print_bits(gpu, level, line, lines / ways, file);
	}
	fputc('\n', file);
	return 0;
}

/* L1 beside blocks of 1024 threads without shared memory: none has more. */
static uint64_t largest_l1(const struct gt_gpu *gpu, uint64_t unified)
{
	struct gt_block_needs needs = {.warps = 32};
	struct gt_occupancy occupancy;
	struct gt_limits limits;
	struct gt_error ignored;

	if (gt_limits_load(&limits, gpu, &ignored) != 0 || gt_occupancy_find(&occupancy, &limits, &needs, &ignored) != 0 || !occupancy.l1_bytes)
		return unified;
	return occupancy.l1_bytes;
}

/* The most shared memory of a block of which an SM holds so many: each takes whole units, with what the system takes of it. */
static uint64_t largest_shared(const struct gt_gpu *gpu, uint64_t shared, uint64_t blocks)
{
	uint64_t unit = number(gpu, "shared_unit"), reserved = number(gpu, "shared_reserved"), most = number(gpu, "shared_block");
	uint64_t each = unit ? shared / blocks / unit * unit : shared / blocks;

	each = each > reserved ? each - reserved : 0;
	return most && most < each ? most : each;
}

/* The resources that each thread and block may use if the SM is to hold as many as it can. */
static void print_limits(const struct gt_gpu *gpu, FILE *file)
{
	uint64_t warps = number(gpu, "max_warps"), blocks = number(gpu, "max_blocks"), sms = number(gpu, "sms");
	uint64_t registers = number(gpu, "registers"), unit = number(gpu, "register_unit");
	uint64_t shared = number(gpu, "shared"), unified = number(gpu, "unified"), most_taken = shared + number(gpu, "l1_reserved");
	char least[32], most[32];

	if (warps && warps < blocks)
		blocks = warps;
	if (sms && warps)
		fprintf(file, "resident  %" PRIu64 " warps an SM, %" PRIu64 " in all\n", warps, sms * warps);
	if (blocks && warps)
		fprintf(file, "blocks    of up to %" PRIu64 " warps, if the SM is to hold %" PRIu64 "\n",
			warps / blocks, blocks);
	if (registers && warps)
		fprintf(file, "registers %" PRIu64 " a thread, if the SM is to hold all its warps\n",
			registers / warps / (unit ? unit : 32) * (unit ? unit : 32) / 32);
	if (shared && blocks)
		fprintf(file, "shared    %s a block, if the SM is to hold %" PRIu64 "\n",
			gt_format_size(largest_shared(gpu, shared, blocks), least), blocks);
	if (unified && unified >= most_taken)
		fprintf(file, "adaptive  l1 from %s to %s, by the blocks and their shared memory\n",
			gt_format_size(unified - most_taken, least), gt_format_size(largest_l1(gpu, unified), most));
}

static void print_dram(const struct gt_gpu *gpu, FILE *file)
{
	uint64_t row = figure(gpu, "dram", "row"), sector = figure(gpu, "dram", "sector");
	uint64_t channels = figure(gpu, "dram", "channels"), banks = figure(gpu, "dram", "banks");

	if (channels && banks)
		fprintf(file, "dram      %" PRIu64 " banks in all", channels * banks);
	if (channels && banks && row && sector)
		fprintf(file, ", rows of %" PRIu64 " sectors", row / sector);
	if (channels && banks)
		fputc('\n', file);
}

int gt_describe_gpu(const struct gt_gpu *gpu, FILE *file, struct gt_error *error)
{
	print_figures(gpu, file);
	fputs("\nderived\n", file);
	for (size_t i = 0; i < gt_gpu_levels_n; i++)
		if (print_level(gpu, gt_gpu_levels[i], file, error) != 0)
			return -1;
	print_dram(gpu, file);
	print_limits(gpu, file);
	return 0;
}

/* ---- a description to fill in ---- */

void gt_describe_new_gpu(const struct gt_gpu *from, const char *from_name, const char *name, FILE *file)
{
	char source[2 * GT_GPU_TEXT];

	fprintf(file, "# %s: begun from %s. Each value that is still taken from there says so: grep 'of %s' finds them.\n"
		      "# Replace it, and its status: vendor, standard, paper, measured or assumed. gtrace-gpu(5) says where each is found.\n",
		name, from_name, from_name);
	for (size_t i = 0; i < from->n; i++) {
		const struct gt_gpu_figure *figure = &from->figures[i];
		if (strcmp(figure->key, "name") == 0) {
			fprintf(file, "%-20s = %-25s # assumed: the name of this description\n", figure->key, name);
			continue;
		}
		snprintf(source, sizeof source, "of %s, there %s: %s", from_name, figure->status, figure->source);
		source[GT_GPU_TEXT - 1] = '\0';
		fprintf(file, "%-20s = %-25s # assumed: %s\n", figure->key, figure->value, source);
	}
}
