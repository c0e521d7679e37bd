/* SPDX-License-Identifier: MIT */
/* gtrace-ptx: runs kernels of a PTX file on this processor and writes their accesses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/launch/launch.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/record/recorder.h"
#include "cuda/ptx/static/static.h"
#include "gpu/occupancy.h"
#include "tool.h"
#include "tracing.h"

static const struct tool_about about = {
	.usage = "usage: gtrace-ptx [option ...] --launch LAUNCH [--launch LAUNCH ...] FILE.ptx\n"
		 "       gtrace-ptx --static [--tree] [--launch LAUNCH ... | --grid GRID --block BLOCK] FILE.ptx\n"
		 "       gtrace-ptx --static --volumes --launch LAUNCH ... FILE.ptx\n"
		 "       gtrace-ptx --list FILE.ptx\n"
		 "Runs kernels on the CPU, one launch after the other, and writes a stream of their accesses.\n",
	.verbose = "the instructions and accesses of each launch, on standard error",
	.notes = "LAUNCH: 'KERNEL<<<GRID, BLOCK[, SHARED]>>>(ARGUMENT, ...)'\n"
		 "  GRID, BLOCK  N or (x,y,z)\n"
		 "  SHARED       bytes of dynamic shared memory\n"
		 "  ARGUMENT     [NAME=]TYPE[COUNT][:FILL], the NAME of one given before, a number, null, hex(BYTES),\n"
		 "               tex(TYPE[COUNT][:FILL], WIDTH[, HEIGHT[, DEPTH]][, WORD ...]), surf(...)\n"
		 "  TYPE         u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64\n"
		 "  FILL         zero, ramp[(START[, STEP])], rand(SEED[, BELOW]), const(X), @FILE\n",
	.example = "gtrace-ptx --static examples/kernels/ptx/transpose.ptx",
};

enum { LAUNCH = 1, LIST, DUMP, REGISTERS, STATIC, TREE, VOLUMES, GRID, BLOCK };

static const struct tool_row first_rows[] = {
	{"--launch LAUNCH", LAUNCH, "run this launch; see below"},
	{"--list", LIST, "print the kernels of the file with the types of their parameters"},
	{"--dump NAME=FILE", DUMP, "write a buffer to FILE when all launches are done"},
	{"--registers N", REGISTERS, "registers per thread (default: .maxnreg, else estimated)"},
	TOOL_HEADING("Without running anything:"),
	{"--static", STATIC, "the degree of coalescing of each global access, and its address expression"},
	{"--tree", TREE, "also the coalescing graph and the syntax tree of each access"},
	{"--volumes", VOLUMES, "in its place the sectors that warps request, and that blocks and the grid touch"},
	{"--grid X[,Y[,Z]]", GRID, "blocks, without --launch (1)"},
	{"--block X[,Y[,Z]]", BLOCK, "threads of a block (256)"},
	TOOL_HEADING("What is traced:"),
};

#define FOLDER_BYTES 4096
#define LAUNCHES_MAX 4096
#define DUMPS_MAX 64
#define DEVICE_MEMORY (UINT64_C(32) << 30) /* bytes; allocated by the system when they are used */

struct launch {
	struct gt_ptx_launch_line call;
	const struct gt_ptx_function *kernel;
	unsigned char *parameters;
};

struct gtrace_ptx {
	struct tool tool;
	void (*mode)(struct gtrace_ptx *self); /* the action for the module */
	struct launch launches[LAUNCHES_MAX];
	size_t n_launches;
	struct {
		char *name, *path;
	} dumps[DUMPS_MAX];
	size_t n_dumps;
	uint32_t sms; /* of --gpu, else 1 */
	uint32_t registers; /* 0: not given */
	struct gt_ptx_tracing tracing;
	struct gt_static_launch shape; /* for kernels that are analysed without a launch */
	enum gt_static_output output;

	const char *path;
	struct gt_ptx_module module;
	struct gt_ptx_memory memory;
	struct gt_ptx_machine *machine;
	struct gt_ptx_notes notes;
	struct gt_ptx_buffers buffers;
	struct gt_ptx_recorder *recorder;
	uint64_t launched; /* launches so far, those of kernels too */
};

/* Prefixes the library's errors about the file's contents with "PATH: ". */
static void must(struct gtrace_ptx *self, int result)
{
	struct gt_error inner = self->tool.error;

	if (result != 0)
		tool_must(&self->tool, gt_fail(&self->tool.error, "%s: %s", self->path, inner.text));
}

static void list_kernels(struct gtrace_ptx *self)
{
	must(self, gt_ptx_list_kernels(&self->module, self->machine, self->registers, stdout, &self->tool.error));
}

static void prepare(struct gtrace_ptx *self)
{
	for (size_t i = 0; i < self->n_launches; i++) {
		struct launch *launch = &self->launches[i];
		must(self, gt_ptx_launch_line_bind(&launch->call, &self->module, &self->buffers, &self->memory, &launch->kernel,
					    &launch->parameters, &self->tool.error));
	}
	tool_must(&self->tool, gt_ptx_wishes_check(&self->memory, &self->tool.error));
}

static void analyse(struct gtrace_ptx *self)
{
	struct tool *tool = &self->tool;

	prepare(self);
	gt_static_write_header(self->output, stdout);
	for (size_t i = 0; i < self->n_launches; i++) {
		const struct launch *launch = &self->launches[i];
		tool_must(tool, gt_static_write_call(&self->module, launch->kernel, &launch->call, launch->parameters,
						     self->output, stdout, &tool->error));
	}
	if (self->n_launches == 0)
		tool_must(tool, gt_static_write_module(&self->module, &self->shape, self->output, stdout, &tool->error));
}

/* A launch under way. */
struct watch {
	const struct tool *tool;
	const struct gt_ptx_launch *launch;
	const char *name;
	struct gt_progress_state state;
	struct gt_progress_forecast forecast;
};

static void warn_if_long(void *context, uint64_t blocks, uint64_t accesses)
{
	struct watch *watch = context;
	char text[GT_PROGRESS_FORECAST];

	(void)accesses;
	watch->state.done += blocks;
	watch->state.all = gt_ptx_executed_end(watch->launch);
	if (gt_progress_is_long(&watch->forecast, &watch->state, text))
		tool_warn(watch->tool, "kernel %s: %s; " GT_TRACING_PART, watch->name, text, watch->state.done);
}

/* Records one launch, of the command line or of a kernel. */
static int record(void *context, struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct gtrace_ptx *self = context;
	char name[GT_KERNEL_NAME];
	struct watch watch = {.tool = &self->tool, .launch = launch, .state.since = tool_now(),
			      .name = gt_ptx_shown_name(&self->module, launch->kernel, name)};
	const struct gt_ptx_told told = {warn_if_long, &watch};

	launch->told = &told;
	launch->number = ++self->launched;
	int result = gt_ptx_record(self->recorder, &self->module, self->machine, launch, self->registers, ran, error);
	launch->told = NULL;
	return result;
}

static void run(struct gtrace_ptx *self, const struct launch *launch)
{
	struct tool *tool = &self->tool;
	struct gt_ptx_launch run = {.kernel = launch->kernel, .dynamic_shared = launch->call.dynamic_shared,
				    .parameters = launch->parameters, .sms = self->sms, .devices = 1,
				    .printed = stderr, .asserted = stderr};
	struct gt_ptx_ran ran;
	double started = tool_now();

	memcpy(run.grid, launch->call.grid, sizeof run.grid);
	memcpy(run.block, launch->call.block, sizeof run.block);
	memcpy(run.cluster, launch->call.cluster, sizeof run.cluster);
	const struct gt_ptx_runner runner = {.run = record, .context = self};
	must(self, gt_ptx_run_nested(&self->memory, &run, &runner, &ran, &tool->error));
	double seconds = tool_now() - started;
	if (tool->verbose)
		tool_say(tool, "%s: %" PRIu64 " warp instructions, %" PRIu64 " accesses, %.1f M instructions/s",
			  launch->call.kernel, ran.warp_instructions, ran.accesses,
			  seconds > 0 ? (double)ran.warp_instructions / seconds / 1e6 : 0);
}

/* PTX that may use what no other GPU has is for the GPUs that have it. */
static void check_target(struct gtrace_ptx *self)
{
	const unsigned capability = gt_gpu_capability(&self->tracing.gpu);
	const struct gt_gpu_target target = self->module.target;
	char gpus[FOLDER_BYTES], reason[GT_GPU_REASON];

	if (capability == 0 || target.features == 0 || gt_gpu_runs(capability, target))
		return;
	tool_must(&self->tool, gt_gpu_directory(gpus, sizeof gpus, &self->tool.error));
	gt_gpu_explain(gpus, capability, target, reason);
	tool_must(&self->tool, gt_fail(&self->tool.error, "%s: %s", self->path, reason));
}

static void run_launches(struct gtrace_ptx *self)
{
	struct tool *tool = &self->tool;

	check_target(self);
	prepare(self);
	if (self->memory.n_textures > 0 && !(self->tracing.spaces >> GT_TEXTURE & 1))
		tool_warn(tool, "textures and surfaces are used, and their accesses are not traced: see --space");
	for (size_t i = 0; i < self->n_dumps; i++) {
		if (!gt_ptx_buffer_find(&self->buffers, self->dumps[i].name))
			tool_must(tool, gt_fail(&tool->error, "--dump: no launch makes a buffer '%s'", self->dumps[i].name));
		tool_must(tool, gt_whole_file_check(self->dumps[i].path, "the buffer", &tool->error));
	}
	tool_write(tool);
	if (self->tracing.gpu.n > 0)
		tool_must(tool, gt_write_gpu(tool->out, &self->tracing.gpu, &tool->error));
	self->recorder = gt_ptx_recorder_open(tool->out, &self->tracing, &tool->error);
	if (!self->recorder)
		tool_fail(tool);
	for (size_t i = 0; i < self->n_launches; i++)
		run(self, &self->launches[i]);
	for (size_t i = 0; i < self->n_dumps; i++)
		tool_must(tool, gt_ptx_buffer_dump(&self->buffers, &self->memory, self->dumps[i].name, self->dumps[i].path,
						   &tool->error));
	tool_must(tool, gt_ptx_recorder_check(self->recorder, &tool->error));
	gt_ptx_recorder_close(self->recorder);
}

/* ---- options ---- */

static void add_launch(struct gtrace_ptx *self, const char *line)
{
	struct launch *launch = &self->launches[self->n_launches];

	if (self->n_launches == LAUNCHES_MAX)
		tool_usage(&self->tool, "--launch: more than %d launches", LAUNCHES_MAX);
	self->n_launches++;
	if (gt_ptx_launch_line_read(&launch->call, line, &self->tool.error) != 0)
		tool_usage_error(&self->tool, "--launch");
}

static void add_dump(struct gtrace_ptx *self, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1] || self->n_dumps == DUMPS_MAX)
		tool_usage(&self->tool, "--dump '%s': expected NAME=FILE, at most %d times", text, DUMPS_MAX);
	*equals = '\0';
	self->dumps[self->n_dumps].name = text;
	self->dumps[self->n_dumps++].path = equals + 1;
}

static void set_shape(struct gtrace_ptx *self, const char *option, bool is_block, uint32_t shape[3])
{
	if (gt_ptx_shape_read(optarg, is_block, shape, &self->tool.error) != 0)
		tool_usage_error(&self->tool, option);
}

static void set_registers(struct gtrace_ptx *self)
{
	uint64_t number;

	if (gt_parse_count(optarg, 1, 255, &number, &self->tool.error) != 0)
		tool_usage_error(&self->tool, "--registers");
	self->registers = (uint32_t)number;
}

static void set_tracing(struct gtrace_ptx *self, const struct gt_tracing_option *option)
{
	if (gt_ptx_tracing_set(&self->tracing, option, optarg, &self->tool.error) != 0)
		tool_usage_error(&self->tool, self->tool.option);
}

static void set_output(struct gtrace_ptx *self, enum gt_static_output output)
{
	if (self->output != GT_STATIC_DEGREES && self->output != output)
		tool_usage(&self->tool, "expected --tree or --volumes, not both");
	self->output = output;
}

static void take_option(struct gtrace_ptx *self, int option)
{
	switch (option) {
	case LAUNCH: add_launch(self, optarg); break;
	case LIST: self->mode = list_kernels; break;
	case DUMP: add_dump(self, optarg); break;
	case STATIC: self->mode = analyse; break;
	case TREE: set_output(self, GT_STATIC_TREES); break;
	case VOLUMES: set_output(self, GT_STATIC_VOLUMES); break;
	case GRID: set_shape(self, "--grid", false, self->shape.grid); break;
	case BLOCK: set_shape(self, "--block", true, self->shape.block); break;
	case REGISTERS: set_registers(self); break;
	default: set_tracing(self, tracing_option(option));
	}
}

static void read_options(struct gtrace_ptx *self)
{
	struct tool *tool = &self->tool;
	struct tool_row rows[sizeof first_rows / sizeof *first_rows + TRACING_OPTIONS_MAX + 1] = {TOOL_END};
	uint64_t sms;
	int option;

	memcpy(rows, first_rows, sizeof first_rows);
	tracing_rows(GT_TRACING_PTX, rows + sizeof first_rows / sizeof *first_rows);
	while ((option = tool_option(tool, rows)) != -1)
		take_option(self, option);
	if (optind + 1 != tool->argc)
		tool_usage(tool, "expected one PTX file, found %d", tool->argc - optind);
	if (self->mode == run_launches && self->n_launches == 0)
		tool_usage(tool, "expected --launch 'KERNEL<<<GRID, BLOCK>>>(ARGUMENT, ...)' or --list");
	if (self->output == GT_STATIC_VOLUMES && (self->mode != analyse || self->n_launches == 0))
		tool_usage(tool, "--volumes: expected --static and --launch, too");
	if (gt_gpu_count(&self->tracing.gpu, "sms", 1, &sms, &tool->error) != 0)
		tool_usage_error(tool, "--gpu");
	self->sms = sms >= 1 && sms <= UINT16_MAX ? (uint32_t)sms : 1;
	self->path = tool->argv[optind];
	self->tracing.jobs = tool->jobs;
}

static void say(void *context, const char *text)
{
	const struct tool *tool = context;

	if (!tool->quiet)
		tool_say(tool, "%s", text);
}

static void say_fault(void *context, const char *text)
{
	tool_say(context, "%s", text);
}

/* After faults that were passed over the results are not those of a GPU. */
static void check_faults(struct gtrace_ptx *self)
{
	struct tool *tool = &self->tool;
	char text[GT_PTX_FAULTS_TEXT];

	if (gt_ptx_notes_sum(&self->notes, text))
		tool_must(tool, gt_fail(&tool->error, "%s", text));
}

static void clean_up(struct gtrace_ptx *self)
{
	for (size_t i = 0; i < self->n_launches; i++) {
		gt_ptx_launch_line_free(&self->launches[i].call);
		free(self->launches[i].parameters);
	}
	gt_ptx_tracing_clear(&self->tracing);
	gt_ptx_buffers_free(&self->buffers);
	gt_ptx_machine_close(self->machine);
	gt_ptx_memory_close(&self->memory);
	gt_ptx_module_free(&self->module);
}

int main(int argc, char **argv)
{
	static struct gtrace_ptx self;
	struct tool *tool = &self.tool;
	struct gt_limits limits;

	tool_begin(tool, "gtrace-ptx", &about, argc, argv);
	self.mode = run_launches;
	self.notes = (struct gt_ptx_notes){.say = say, .fault = say_fault, .context = tool};
	self.shape = (struct gt_static_launch){.grid = {1, 1, 1}, .block = {256, 1, 1}};
	gt_ptx_tracing_begin(&self.tracing);
	read_options(&self);
	tool->is_filter = self.mode == run_launches;
	tool_must(tool, gt_ptx_load(&self.module, self.path, &tool->error));
	tool_must(tool, gt_ptx_memory_open(&self.memory, DEVICE_MEMORY, &tool->error));
	self.memory.places = self.tracing.places;
	if (self.tracing.check == GT_PTX_MEMCHECK)
		tool_must(tool, gt_ptx_memory_watch(&self.memory, &tool->error));
	if (self.tracing.heap > 0)
		gt_ptx_heap_resize(&self.memory, self.tracing.heap);
	self.machine = gt_ptx_machine_open(&self.module, &self.memory, self.path, &tool->error);
	if (!self.machine)
		tool_fail(tool);
	gt_ptx_machine_notes(self.machine, &self.notes);
	tool_must(tool, gt_limits_load(&limits, &self.tracing.gpu, &tool->error));
	gt_ptx_machine_gpu(self.machine, gt_gpu_capability(&self.tracing.gpu), gt_limits_full_registers(&limits));
	self.mode(&self);
	check_faults(&self);
	clean_up(&self);
	tool_end(tool);
	return 0;
}
