/* SPDX-License-Identifier: MIT */
/* For realpath, which is an XSI extension. */
#define _XOPEN_SOURCE 700
#include "cuda/ptx/record/tracing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/pipeline.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "stream/op.h"

void gt_ptx_tracing_begin(struct gt_ptx_tracing *tracing)
{
	*tracing = (struct gt_ptx_tracing){
		.spaces = UINT32_C(1) << GT_GLOBAL | UINT32_C(1) << GT_LOCAL,
		.blocks = UINT64_MAX,
		.memory = UINT64_C(2) << 30,
		.device_memory = UINT64_C(16) << 30,
		.devices = 1,
		.jobs = 1,
		.max_instructions = GT_TRACING_INSTRUCTIONS,
	};
}

void gt_ptx_tracing_clear(struct gt_ptx_tracing *tracing)
{
	gt_regex_close(tracing->kernel);
	free(tracing->launches);
	gt_gpu_clear(&tracing->gpu);
	free(tracing->ptx);
	free(tracing->names);
	free(tracing->stubs);
	*tracing = (struct gt_ptx_tracing){0};
}

/* ---- values ---- */

static int set_spaces(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error)
{
	static const struct {
		const char *name;
		enum gt_space space;
	} spaces[] = {{"global", GT_GLOBAL}, {"local", GT_LOCAL}, {"shared", GT_SHARED}, {"texture", GT_TEXTURE},
		      {"constant", GT_CONSTANT}};
	const size_t n = sizeof spaces / sizeof *spaces;

	tracing->spaces = 0;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < n && (strlen(spaces[i].name) != length || strncmp(spaces[i].name, at, length) != 0))
			i++;
		if (i == n)
			return gt_fail(error, "'%s': expected a list of global, local, shared, texture, constant", list);
		tracing->spaces |= UINT32_C(1) << spaces[i].space;
		at += length;
		if (!*at)
			return 0;
	}
}

static int set_launches(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error)
{
	free(tracing->launches);
	tracing->launches = calloc(GT_PTX_LAUNCHES, 1);
	if (!tracing->launches)
		return gt_fail_memory(error, "a list of launches");
	if (gt_parse_list(list, tracing->launches, GT_PTX_LAUNCHES, error) != 0)
		return -1;
	return tracing->launches[0] ? gt_fail(error, "'%s': launches are numbered from 1", list) : 0;
}

static int set_kernel(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	gt_regex_close(tracing->kernel);
	tracing->kernel = gt_regex_open(value, error);
	return tracing->kernel ? 0 : -1;
}

static int set_blocks(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, UINT64_MAX, &tracing->blocks, error);
}

static int set_max_instructions(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, UINT64_MAX, &tracing->max_instructions, error);
}

static int set_memory(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_size(value, 1 << 20, SIZE_MAX / 4, &tracing->memory, error);
}

static int set_jobs(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_jobs(value, &tracing->jobs, error);
}

static int set_heap(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_size(value, 1, GT_PTX_HEAP_MAX, &tracing->heap, error);
}

static int set_device_memory(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_size(value, 1 << 20, UINT64_C(64) << 30, &tracing->device_memory, error);
}

static int set_devices(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_parse_count(value, 1, GT_TRACING_DEVICES, &tracing->devices, error);
}

static int set_device(struct gt_ptx_tracing *tracing, const char *list, struct gt_error *error)
{
	unsigned char chosen[GT_TRACING_DEVICES] = {0};

	if (gt_parse_list(list, chosen, GT_TRACING_DEVICES, error) != 0)
		return -1;
	tracing->traced_devices = 0;
	for (unsigned i = 0; i < GT_TRACING_DEVICES; i++)
		tracing->traced_devices |= (uint32_t)(chosen[i] != 0) << i;
	return 0;
}

static int set_check(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	if (tracing->check == GT_PTX_MEMCHECK)
		return gt_fail(error, "'%s': --memcheck was given too", value);
	for (unsigned i = 0; i < GT_PTX_CHECKS; i++)
		if (strcmp(value, gt_ptx_check_names[i]) == 0) {
			tracing->chooses_check = true;
			tracing->check = (enum gt_ptx_check)i;
			return 0;
		}
	return gt_fail(error, "'%s': expected page, list or fault", value);
}

static int set_memcheck(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	(void)value;
	if (tracing->chooses_check)
		return gt_fail(error, "--check was given too");
	tracing->check = GT_PTX_MEMCHECK;
	return 0;
}

static int set_gpu(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	gt_gpu_clear(&tracing->gpu);
	return gt_gpu_load(&tracing->gpu, value, error);
}

static int locate_gpu(const char *value, char path[GT_TRACING_PATH], struct gt_error *error)
{
	char found[GT_TRACING_PATH];

	if (gt_gpu_path(value, found, sizeof found, error) != 0)
		return -1;
	return realpath(found, path) ? 0 : gt_fail_errno(error, "%s", found);
}

static int set_ptx(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	free(tracing->ptx);
	tracing->ptx = strdup(value);
	return tracing->ptx ? 0 : gt_fail_memory(error, "a path");
}

static int set_names(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	for (const char *at = value; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ","))
		if (strcspn(at, ",") > GT_TRACING_NAME)
			return gt_fail(error, "'%.*s': expected names of %d bytes at most", (int)strcspn(at, ","), at, GT_TRACING_NAME);
	free(tracing->names);
	tracing->names = strdup(value);
	return tracing->names ? 0 : gt_fail_memory(error, "names");
}

static int locate_folder(const char *value, char path[GT_TRACING_PATH], struct gt_error *error)
{
	return realpath(value, path) && access(path, W_OK | X_OK) == 0 ? 0 : gt_fail_errno(error, "%s", value);
}

static int set_stub(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	const char *before = tracing->stubs ? tracing->stubs : "";
	const size_t bytes = strlen(before) + strlen(value) + 2;

	if (!*value || strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(value))
		return gt_fail(error, "'%s': expected the name of a plug-in", value);
	char *all = malloc(bytes);
	if (!all)
		return gt_fail_memory(error, "names of plug-ins");
	snprintf(all, bytes, "%s%s%s", before, *before ? "," : "", value);
	free(tracing->stubs);
	tracing->stubs = all;
	return 0;
}

/* ---- the table ---- */

#define PTX GT_TRACING_PTX
#define RECORD GT_TRACING_RECORD
#define FLAG(FIELD) .flag = offsetof(struct gt_ptx_tracing, FIELD)

const struct gt_tracing_option gt_tracing_options[] = {
	{.name = "kernel", .form = "RE", .tools = PTX | RECORD, .set = set_kernel,
	 .help = "trace the launches of kernels whose names RE matches"},
	{.name = "launches", .form = "LIST", .tools = PTX | RECORD, .set = set_launches,
	 .help = "trace these launches, such as 1,3-5; the first is number 1"},
	{.name = "blocks", .form = "N", .tools = PTX | RECORD, .set = set_blocks,
	 .help = "trace the first N blocks of each launch"},
	{.name = "skip-untraced", .tools = PTX | RECORD, FLAG(skip_untraced),
	 .help = "do not execute what is not traced (results will be wrong)"},
	{.name = "replay", .tools = RECORD, FLAG(replay),
	 .help = "run each traced launch twice and restore what it changed in between, as profilers do: the first run "
		 "is \"NAME pass 1\""},
	{.name = "space", .form = "LIST", .tools = PTX | RECORD, .set = set_spaces,
	 .help = "trace accesses to these: global, local, shared, texture, constant (global,local)"},
	{.name = "unordered", .tools = PTX, FLAG(unordered),
	 .help = "write rows as the warps ran, not in order of access number and warp"},
	{.name = "work", .tools = PTX | RECORD, FLAG(work),
	 .help = "add what a warp does between two accesses, for an order of issue by time"},
	{.name = "check", .form = "page|list|fault", .tools = PTX | RECORD, .set = set_check,
	 .help = "accesses outside of every allocation: let those pass that hardware does, which maps pages (page); pass over all "
		 "of them (list); or stop at the first (fault)"},
	{.name = "memcheck", .tools = PTX | RECORD, .set = set_memcheck,
	 .help = "report what accesses memory wrongly, and go on; the stream gets no end"},
	{.name = "max-instructions", .form = "N", .tools = PTX | RECORD, .set = set_max_instructions,
	 .help = "give up on a launch after N warp instructions (100000000000)"},
	{.name = "jobs", .form = "N", .letter = 'j', .tools = PTX | RECORD, .set = set_jobs,
	 .help = "run blocks in N threads (1; 0: all processors); the output is the same"},
	{.name = "gpu", .form = "NAME|FILE", .tools = PTX, .set = set_gpu,
	 .help = "a GPU description, which is written into the stream"},
	{.name = "gpu", .form = "NAME|FILE", .tools = RECORD, .set = set_gpu, .locate = locate_gpu,
	 .help = "the GPU that the program sees (" GT_TRACING_GPU "); written into the stream if given"},
	{.name = "memory", .form = "SIZE", .letter = 'S', .tools = PTX, .set = set_memory,
	 .help = "memory for putting accesses in order; more goes into a file (2G)"},
	{.name = "memory", .form = "SIZE", .tools = RECORD, .set = set_device_memory,
	 .help = "device memory that the program sees (16G)"},
	{.name = "heap", .form = "SIZE", .tools = PTX, .set = set_heap,
	 .help = "the device's heap, from which kernels allocate with malloc (8M)"},
	{.name = "devices", .form = "N", .tools = RECORD, .set = set_devices,
	 .help = "devices that the program sees (1, or $GTRACE_DEVICES)"},
	{.name = "device", .form = "LIST", .tools = RECORD, .set = set_device,
	 .help = "trace the launches on these devices; the first is number 0"},
	{.name = "ignore-unsupported", .tools = RECORD, FLAG(ignore_unsupported),
	 .help = "end the stream although work or data is missing that a GPU would have made"},
	{.name = "stub", .form = "PLUGIN", .tools = RECORD, .set = set_stub,
	 .help = "do the work of a library without PTX on the host, by this plug-in; its accesses are not traced"},
	{.name = "name", .form = "NAME,...", .tools = RECORD, .set = set_names,
	 .help = "names of the program's allocations, in the order of its calls; an empty one keeps its own"},
	{.name = "ptx", .form = "DIR", .tools = RECORD, .set = set_ptx, .locate = locate_folder,
	 .help = "write the PTX text of each module that is run to DIR/1.ptx and so on"},
	{.name = "ptxas", .tools = RECORD, FLAG(ptxas),
	 .help = "ask ptxas for the registers of kernels without machine code"},
};
const size_t gt_tracing_options_n = sizeof gt_tracing_options / sizeof *gt_tracing_options;

int gt_ptx_tracing_set(struct gt_ptx_tracing *tracing, const struct gt_tracing_option *option, const char *value,
		       struct gt_error *error)
{
	if (option->set)
		return option->set(tracing, value, error);
	*(bool *)((char *)tracing + option->flag) = true;
	return 0;
}

void gt_tracing_help(const struct gt_tracing_option *option, char text[GT_TRACING_HELP])
{
	size_t used = option->letter ? (size_t)snprintf(text, GT_TRACING_HELP, "-%c, ", option->letter) : 0;

	snprintf(text + used, GT_TRACING_HELP - used, "--%s%s%s", option->name, option->form ? " " : "",
		 option->form ? option->form : "");
}
