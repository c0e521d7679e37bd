/* SPDX-License-Identifier: MIT */
/* The header of an Accel-Sim trace, which describes the launch. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scan.h"
#include "import/accelsim.h"
#include "import/place.h"

/* Keys that a launch needs. */
enum { HAS_ID = 1, HAS_GRID = 2, HAS_BLOCK = 4, HAS_ALL = 7 };

static bool scan_size(const char **at, uint32_t size[3])
{
	uint64_t value;

	if (!gt_scan_char(at, '('))
		return false;
	for (int i = 0; i < 3; i++) {
		if ((i > 0 && !gt_scan_char(at, ',')) || !gt_scan_upto(at, UINT32_MAX, &value) || value == 0)
			return false;
		size[i] = (uint32_t)value;
	}
	return gt_scan_char(at, ')');
}

static bool scan_32(const char **at, uint32_t *number)
{
	uint64_t value;
	bool fits = gt_scan_upto(at, UINT32_MAX, &value);

	*number = fits ? (uint32_t)value : 0;
	return fits;
}

static bool key_name(struct gt_accelsim *reader, const char **at)
{
	snprintf(reader->kernel.name, sizeof reader->kernel.name, "%s", *at);
	*at += strlen(*at);
	return true;
}
static bool key_id(struct gt_accelsim *reader, const char **at)
{
	reader->has |= HAS_ID;
	return gt_scan_upto(at, GT_KERNEL_NEXT - 1, &reader->kernel.id);
}
static bool key_grid(struct gt_accelsim *reader, const char **at)
{
	reader->has |= HAS_GRID;
	return scan_size(at, reader->kernel.grid);
}
static bool key_block(struct gt_accelsim *reader, const char **at)
{
	reader->has |= HAS_BLOCK;
	return scan_size(at, reader->kernel.block);
}
static bool key_shared(struct gt_accelsim *reader, const char **at)
{
	return scan_32(at, &reader->kernel.shared_bytes);
}
static bool key_registers(struct gt_accelsim *reader, const char **at)
{
	return scan_32(at, &reader->kernel.registers);
}
static bool key_shared_window(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_hex(at, &reader->shared_window);
}
static bool key_local_window(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_hex(at, &reader->local_window);
}
static bool key_version(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_upto(at, 1000, &reader->version);
}
static bool key_line_info(struct gt_accelsim *reader, const char **at)
{
	return gt_scan_upto(at, 1, &reader->line_info);
}

/* Other keys are ignored. */
static const struct {
	const char *key;
	bool (*scan)(struct gt_accelsim *reader, const char **at);
	const char *expected;
} keys[] = {
	{"kernel name", key_name, "a name"},
	{"kernel id", key_id, "a number"},
	{"grid dim", key_grid, "(x,y,z), each at least 1"},
	{"block dim", key_block, "(x,y,z), each at least 1"},
	{"shmem", key_shared, "a number of bytes"},
	{"nregs", key_registers, "a number"},
	{"shmem base_addr", key_shared_window, "a hexadecimal address"},
	{"local mem base_addr", key_local_window, "a hexadecimal address"},
	{"accelsim tracer version", key_version, "a number"},
	{"enable lineinfo", key_line_info, "0 or 1"},
};

/* Concatenated files are successive launches. */
void gt_accelsim_begin(struct gt_accelsim *reader)
{
	reader->kernel = (struct gt_kernel){0};
	reader->has = 0;
	reader->announced = reader->grouped = false;
	reader->version = reader->line_info = reader->shared_window = reader->local_window = 0;
	reader->lead = 0;
	reader->told = 0;
	reader->place = GT_ACCELSIM_OUTSIDE;
	reader->access = (struct gt_trace_access){.numbering = GT_AN_OF_WARP};
}

void gt_accelsim_begin_part(struct gt_accelsim *reader, const struct gt_accelsim *header)
{
	reader->kernel = header->kernel;
	reader->has = header->has;
	reader->announced = header->announced;
	reader->grouped = header->grouped;
	reader->version = header->version;
	reader->line_info = header->line_info;
	reader->shared_window = header->shared_window;
	reader->local_window = header->local_window;
	reader->lead = header->lead;
	reader->told = 0;
	reader->warps = header->warps;
	reader->place = GT_ACCELSIM_OUTSIDE;
	reader->access = (struct gt_trace_access){.numbering = GT_AN_OF_WARP};
}

int gt_accelsim_key(struct gt_accelsim *reader, const char *line)
{
	const char *key = line + 1, *value = strchr(line, '=');
	size_t length = value ? (size_t)(value - key) : 0;

	if (reader->place != GT_ACCELSIM_OUTSIDE)
		return gt_accelsim_fail(reader, "a header line inside a thread block: expected #END_TB first");
	if (!value)
		return gt_accelsim_fail(reader, "expected '-KEY = VALUE'");
	if (reader->announced)
		gt_accelsim_begin(reader);
	while (length > 0 && key[length - 1] == ' ')
		length--;
	value++;
	gt_scan_blanks(&value);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		if (strncmp(key, keys[i].key, length) != 0 || keys[i].key[length] != '\0')
			continue;
		if (!keys[i].scan(reader, &value) || !gt_scan_end(&value))
			return gt_input_fail(reader->input, reader->error, "-%s: expected %s", keys[i].key,
					     keys[i].expected);
		break;
	}
	return 0;
}

/* Reports the launch, before its first block or instruction. */
int gt_accelsim_announce(struct gt_accelsim *reader)
{
	if (reader->announced)
		return 0;
	if (reader->has != HAS_ALL)
		return gt_accelsim_fail(reader, "expected a header with -kernel id, -grid dim and -block dim first");
	/* A header is a launch, though another may have its id: a list may name a file twice. */
	if (reader->to->new_ids)
		reader->to->new_ids(reader->to->context);
	if (gt_import_kernel(reader->input, reader->to, &reader->kernel, reader->error) != 0)
		return -1;
	if (reader->version > GT_ACCELSIM_VERSION &&
	    reader->to->passed_over(reader->to->context, "tracer versions above 6", 1, reader->error) != 0)
		return -1;
	reader->warps = (uint32_t)gt_kernel_warps(&reader->kernel);
	reader->announced = true;
	return 0;
}
