/* SPDX-License-Identifier: MIT */
/* Runs a kernel, and writes its accesses into the stream: what of an SM it may use, whether its blocks can be resident together, and
 * the launch. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/exec/blocks.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"
#include "stream/kernel_name.h"

/* ---- the resources that a block may use, and occupancy ---- */

#define SHARED_UNASKED ((uint64_t)48 << 10) /* bytes that a block may use without cudaFuncSetAttribute */

uint64_t gt_cudart_dynamic_shared_max(const struct gt_function *function)
{
	uint64_t block = gt_cudart_gpu_value("shared_block", SHARED_UNASKED);
	uint64_t most = block < SHARED_UNASKED ? block : SHARED_UNASKED, asked = (uint64_t)function->max_dynamic_shared;
	uint64_t left = function->static_shared < most ? most - function->static_shared : 0;

	return asked > left ? asked : left;
}

uint64_t gt_cudart_resident(const struct gt_function *function, uint64_t threads, size_t dynamic_shared)
{
	struct gt_occupancy occupancy;
	struct gt_error error;
	struct gt_block_needs needs = {
		.warps = (threads + GT_WARP_SIZE - 1) / GT_WARP_SIZE,
		.registers = function->registers,
		.shared_bytes = (uint32_t)(function->static_shared + dynamic_shared),
	};
	bool fits = threads <= GT_BLOCK_THREADS_MAX && /* launch bounds do not count here */
		    dynamic_shared <= gt_cudart_dynamic_shared_max(function) &&
		    gt_occupancy_find(&occupancy, &gt_cudart.limits, &needs, &error) == 0;

	return fits ? occupancy.blocks : 0;
}

/* Registers that are estimated may be fewer on a GPU, and refuse no launch. */
static bool has_registers(const struct gt_function *function, uint64_t threads, size_t dynamic_shared)
{
	return function->registers_estimated || gt_cudart_resident(function, threads, dynamic_shared) > 0;
}

int gt_cudart_max_threads(const struct gt_function *function)
{
	const uint32_t *bound = function->kernel->max_threads;
	uint64_t threads = bound[0];

	for (int i = 1; i < 3; i++)
		threads *= bound[i] > 0 ? bound[i] : 1;
	if (threads == 0 || threads > GT_BLOCK_THREADS_MAX)
		threads = GT_BLOCK_THREADS_MAX;
	while (threads > GT_WARP_SIZE && !has_registers(function, threads, 0))
		threads = (threads - 1) / GT_WARP_SIZE * GT_WARP_SIZE;
	return (int)threads;
}

/* ---- cooperative launches ---- */

/* Cooperative launches: all blocks are resident at the same time, so they may wait for each other. They use a counter in
 * device memory, whose address the kernel reads from %envreg1 and %envreg2. */

/* The layout in cooperative_groups/details/driver_abi.h of CUDA 13. */
struct workspace {
	uint32_t bytes, barrier;
};

/* Whether all blocks of a cooperative launch are resident at a time, and what they share to wait for
 * each other. Returns a code. */
static int gt_cudart_cooperative(const struct gt_function *function, struct gt_dim3 grid, struct gt_dim3 block,
				 size_t dynamic_shared, uint64_t *workspace)
{
	static uint64_t address;
	const struct workspace fresh = {sizeof fresh, 0};
	struct gt_error error;
	uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z, threads = (uint64_t)block.x * block.y * block.z;

	if (blocks > gt_cudart_resident(function, threads, dynamic_shared) * gt_cudart_gpu_value("sms", 108))
		return CUDA_COOPERATIVE_LAUNCH_TOO_LARGE;
	gt_cudart.memory.owner = GT_PTX_EVERYONE;
	/* A name without a blank: it is not an allocation of the program, and survives cudaDeviceReset. */
	if (!address && gt_ptx_allocate(&gt_cudart.memory, sizeof fresh, "grid_workspace", &address, &error) != 0)
		return CUDA_MEMORY_ALLOCATION;
	memcpy(gt_ptx_at(&gt_cudart.memory, address, sizeof fresh), &fresh, sizeof fresh);
	gt_ptx_wrote(&gt_cudart.memory, address, sizeof fresh);
	*workspace = address;
	return CUDA_SUCCESS;
}

/* ---- clusters of blocks: their shape, and how many of them a GPU can hold ---- */

#define PORTABLE 8 /* blocks of a cluster that every GPU with clusters can run */

static uint64_t blocks_of(const uint32_t cluster[3])
{
	return (uint64_t)(cluster[0] ? cluster[0] : 1) * (cluster[1] ? cluster[1] : 1) * (cluster[2] ? cluster[2] : 1);
}

/* Sets the clusters of a launch, by its wishes, its function, or the kernel. An error code if there can be no such ones. */
static int gt_cudart_cluster(const struct gt_function *function, const struct gt_wishes *wishes, struct gt_ptx_launch *launch)
{
	const uint32_t *asked = wishes->cluster[0] ? wishes->cluster : function->cluster;
	struct gt_error error;

	for (unsigned k = 0; k < 3; k++)
		launch->cluster[k] = asked[0] && !asked[k] ? 1 : asked[k];
	if (gt_ptx_launch_cluster(launch, &error) != 0) {
		gt_cudart_say("%s", error.text);
		return CUDA_INVALID_CLUSTER_SIZE;
	}
	if (blocks_of(launch->cluster) <= 1)
		return CUDA_SUCCESS;
	if (gt_cudart_capability() < 90 || (blocks_of(launch->cluster) > PORTABLE && !function->unportable_cluster))
		return CUDA_INVALID_CLUSTER_SIZE;
	return CUDA_SUCCESS;
}

/* How many clusters of so many blocks all SMs hold, each of whose clusters is within as many SMs as it has blocks. */
static uint64_t resident_clusters(const struct gt_function *function, const struct gt_launch_config *config, uint64_t blocks)
{
	const uint64_t threads = (uint64_t)config->block.x * config->block.y * config->block.z;

	return gt_cudart_resident(function, threads, config->shared) * gt_cudart_gpu_value("sms", 108) / blocks;
}

/* The cluster of a configuration, else of the function or its kernel. */
static uint64_t cluster_blocks(const struct gt_function *function, const struct gt_launch_config *config)
{
	const uint32_t *cluster = function->cluster[0] ? function->cluster : function->kernel->required_cluster;

	for (unsigned i = 0; i < config->n_attributes; i++)
		if (config->attributes[i].id == GT_LAUNCH_CLUSTER)
			return (uint64_t)config->attributes[i].value.cluster.x * config->attributes[i].value.cluster.y *
			       config->attributes[i].value.cluster.z;
	return blocks_of(cluster);
}

API int cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct gt_launch_config *config)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!clusters || !config || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	uint64_t blocks = cluster_blocks(function, config);
	if (blocks == 0 || blocks > (function->unportable_cluster ? 2 * PORTABLE : PORTABLE))
		return gt_cudart_leave(CUDA_INVALID_CLUSTER_SIZE);
	*clusters = (int)resident_clusters(function, config, blocks);
	return gt_cudart_leave(CUDA_SUCCESS);
}

API int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const struct gt_launch_config *config)
{
	gt_cudart_enter();
	const struct gt_function *function = gt_cudart_function(host);
	if (!blocks || !config || !function)
		return gt_cudart_leave(function ? CUDA_INVALID_VALUE : gt_cudart_no_function(host));
	*blocks = function->unportable_cluster ? 2 * PORTABLE : PORTABLE;
	while (*blocks > 1 && resident_clusters(function, config, (uint64_t)*blocks) == 0)
		*blocks /= 2;
	return gt_cudart_leave(CUDA_SUCCESS);
}

static bool within(struct gt_dim3 value, struct gt_dim3 max)
{
	return value.x > 0 && value.y > 0 && value.z > 0 && value.x <= max.x && value.y <= max.y && value.z <= max.z;
}

static int check_shape(const struct gt_function *function, struct gt_dim3 grid, struct gt_dim3 block,
		       uint64_t dynamic_shared)
{
	const struct gt_dim3 grid_max = {GRID_X_MAX, GRID_YZ_MAX, GRID_YZ_MAX};
	const struct gt_dim3 block_max = {BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX};
	const uint32_t *bound = function->kernel->max_threads;
	uint64_t threads = (uint64_t)block.x * block.y * block.z;

	if (!within(grid, grid_max) || !within(block, block_max) || threads > GT_BLOCK_THREADS_MAX)
		return CUDA_INVALID_CONFIGURATION;
	if (dynamic_shared > gt_cudart_dynamic_shared_max(function))
		return CUDA_INVALID_VALUE;
	if (bound[0] > 0 && threads > (uint64_t)bound[0] * (bound[1] ? bound[1] : 1) * (bound[2] ? bound[2] : 1))
		return CUDA_INVALID_VALUE;
	return has_registers(function, threads, dynamic_shared) ? CUDA_SUCCESS : CUDA_LAUNCH_OUT_OF_RESOURCES;
}

int gt_cudart_check_launch(const struct gt_work *work)
{
	const struct gt_kernel_work *kernel = &work->u.kernel;
	const struct gt_function *function = work->kind == GT_WORK_KERNEL ? gt_cudart_function(kernel->function) : NULL;
	const int code = function ? check_shape(function, kernel->grid, kernel->block, kernel->shared) : CUDA_SUCCESS;

	return code == CUDA_INVALID_CONFIGURATION ? CUDA_INVALID_VALUE : code;
}

static unsigned char *gather_parameters(const struct gt_ptx_function *kernel, void **arguments)
{
	unsigned char *parameters = calloc(1, gt_ptx_parameter_bytes(kernel) + 1);

	if (!parameters)
		gt_cudart_stop("out of memory");
	for (size_t i = 0; i < kernel->n_parameters; i++)
		memcpy(parameters + gt_ptx_parameter_offset(kernel, i), arguments[i], kernel->parameters[i].bytes);
	gt_cudart_replace_registered(parameters, gt_ptx_parameter_bytes(kernel));
	return parameters;
}

/* ---- what is said of launches: --verbose, how many take long together, and the line of progress ---- */

#define LONG_TOGETHER 60.0 /* seconds of launches after which a user is told what takes them */

/* The launches of a kernel so far. */
static struct noted {
	const struct gt_ptx_function *kernel;
	char name[GT_KERNEL_NAME];
	struct gt_ptx_ran ran;
	uint64_t launches, alike; /* the second: that were not executed, as they were the same as an earlier one */
	double seconds;
} *noted;
static size_t noted_n, noted_capacity;

static void copy_name(const struct gt_fat *fat, const struct gt_ptx_function *kernel, char name[GT_KERNEL_NAME])
{
	char words[GT_KERNEL_NAME];

	snprintf(name, GT_KERNEL_NAME, "%s", gt_ptx_shown_name(&fat->module, kernel, words));
}

static struct noted *noted_of(const struct gt_fat *fat, const struct gt_ptx_function *kernel)
{
	for (size_t i = noted_n; i-- > 0;)
		if (noted[i].kernel == kernel)
			return &noted[i];
	struct noted *grown = gt_grown(noted, noted_n, &noted_capacity, sizeof *noted);
	if (!grown)
		return NULL;
	noted = grown;
	noted[noted_n] = (struct noted){.kernel = kernel};
	copy_name(fat, kernel, noted[noted_n].name);
	return &noted[noted_n++];
}

/* Thousands of short launches take as long as a long one, of which show_blocks tells. */
static void tell_together(double seconds)
{
	static bool said;
	static double all;
	const uint64_t so_far = gt_cudart.launches, last = so_far < GT_PTX_LAUNCHES ? so_far : GT_PTX_LAUNCHES - 1;
	const struct noted *most = noted;

	all += seconds;
	if (all < LONG_TOGETHER || said)
		return;
	for (size_t i = 0; i < noted_n; i++)
		most = noted[i].seconds > most->seconds ? &noted[i] : most;
	gt_cudart_say_once(&said, "warning: launches have run for a minute, %" PRIu64 " so far; kernel %.256s took %.0f %% of it, in %" PRIu64 " launches; "
			   GT_TRACING_LAUNCHES, so_far, most->name, 100 * most->seconds / all, most->launches, last);
}

/* A line for the first launch of a kernel, the second, the fourth and so on: as many as a reader can take. */
static void note(const struct gt_fat *fat, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran, double seconds)
{
	struct noted *kernel = gt_cudart.record.verbose || !gt_cudart.record.quiet ? noted_of(fat, launch->kernel) : NULL;
	char which[48] = "", like[48] = "";

	if (!kernel)
		return;
	kernel->seconds += seconds;
	kernel->launches++;
	kernel->alike += ran->like > 0;
	kernel->ran.warp_instructions += ran->warp_instructions;
	kernel->ran.accesses += ran->accesses;
	tell_together(seconds);
	if ((kernel->launches & (kernel->launches - 1)) != 0 || !gt_cudart.record.verbose)
		return;
	if (kernel->launches > 1)
		snprintf(which, sizeof which, ", launch %" PRIu64 " of this kernel", kernel->launches);
	if (ran->like > 0)
		snprintf(like, sizeof like, ", the same as launch %" PRIu64, ran->like);
	gt_cudart_note("launch %" PRIu64 ", %s<<<(%u, %u, %u), (%u, %u, %u)>>>%s: %" PRIu64 " warp instructions, %" PRIu64
		       " accesses traced%s", gt_cudart.launches, kernel->name, launch->grid[0], launch->grid[1],
		       launch->grid[2], launch->block[0], launch->block[1], launch->block[2], which, ran->warp_instructions,
		       ran->accesses, like);
}

void gt_cudart_note_launches(void)
{
	char alike[64];

	for (size_t i = 0; i < noted_n; i++) {
		const struct noted *one = &noted[i];
		if (one->launches <= 1)
			continue;
		alike[0] = '\0';
		if (one->alike > 0)
			snprintf(alike, sizeof alike, ", %" PRIu64 " of them the same as an earlier one", one->alike);
		gt_cudart_note("all %" PRIu64 " launches of %s: %" PRIu64 " warp instructions, %" PRIu64 " accesses traced%s", one->launches,
			       one->name, one->ran.warp_instructions, one->ran.accesses, alike);
	}
}

static struct gt_progress_state state; /* of the line */
static struct gt_progress_forecast forecast;

static void show_blocks(void *context, uint64_t blocks, uint64_t accesses)
{
	char text[GT_PROGRESS_FORECAST];

	state.done += blocks;
	state.all = gt_ptx_executed_end(context);
	state.rows += accesses;
	if (gt_progress_is_long(&forecast, &state, text))
		gt_cudart_say("warning: kernel %s: %s; " GT_TRACING_PART, state.kernel, text, state.done);
	if (gt_progress_due(&gt_cudart.progress))
		gt_progress_show(&gt_cudart.progress, &state);
}

/* A launch begins. */
static void watch(const struct gt_fat *fat, struct gt_ptx_launch *launch)
{
	static struct gt_ptx_told blocks = {show_blocks, NULL};
	static char name[GT_KERNEL_NAME];

	if (gt_cudart.record.quiet)
		return;
	copy_name(fat, launch->kernel, name);
	blocks.context = launch;
	launch->told = &blocks;
	state.kernel = name;
	state.launch = launch->number;
	state.done = 0;
	state.all = gt_ptx_blocks(launch);
	state.since = gt_progress_now();
	forecast = (struct gt_progress_forecast){0};
	if (gt_progress_returns(&gt_cudart.progress) || gt_progress_due(&gt_cudart.progress))
		gt_progress_show(&gt_cudart.progress, &state);
}

/* Runs one launch, of the host or of a kernel. Without a recorder it is executed untraced. */
static int run(void *context, struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error)
{
	const struct gt_function *function = context; /* of the host's launch */
	struct gt_fat *fat = function->fat;
	uint32_t registers = function->registers_estimated ? 0 : function->registers;
	int result;

	if (launch->kernel != function->kernel)
		registers = gt_cudart_machine_registers(fat, launch->kernel->name);
	launch->number = ++gt_cudart.launches;
	watch(fat, launch);
	gt_cudart.running = launch->kernel->name;
	if (gt_cudart.recorder)
		result = gt_ptx_record(gt_cudart.recorder, &fat->module, gt_cudart_machine(fat), launch, registers, ran, error);
	else
		result = gt_ptx_run(gt_cudart_machine(fat), launch, ran, error);
	gt_cudart.running = NULL;
	gt_progress_erase(&gt_cudart.progress); /* what the program prints comes into an empty line */
	if (result == 0 || ran->assertion_failed)
		note(fat, launch, ran, gt_progress_now() - state.since);
	return result;
}

static struct gt_preferences preferences(const struct gt_function *function, const struct gt_wishes *wishes)
{
	int carveout = function->carveout >= 0 ? function->carveout : gt_cudart.carveout;

	return (struct gt_preferences){
		.window = wishes->window,
		.l2_fetch_bytes = gt_cudart.l2_fetch_bytes,
		.l2_persisting_bytes = gt_cudart.l2_persisting_bytes,
		.carveout = wishes->carveout ? wishes->carveout : (uint32_t)(carveout + 1),
	};
}

/* The devices whose memory is out of reach, by bits. */
static uint32_t denied(void)
{
	uint32_t all = (UINT32_C(1) << gt_cudart_devices()) - 1;

	return all & ~gt_cudart.peers[gt_cudart_device()] & ~(UINT32_C(1) << gt_cudart_device());
}

void gt_cudart_stop_closed(void)
{
	gt_cudart_stop("launch %" PRIu64 ": %s", gt_cudart.launches + 1, gt_cudart.closed.text);
}

struct gt_running *gt_running;

static int launch_function(struct gt_function *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			   size_t dynamic_shared, const struct gt_wishes *wishes)
{
	struct gt_ptx_ran ran = {0};
	struct gt_error error;
	uint64_t workspace = 0;

	int code = function->kernel->n_parameters > 0 && !arguments ? CUDA_INVALID_VALUE : check_shape(function, grid, block, dynamic_shared);
	if (code == CUDA_SUCCESS && wishes->cooperative)
		code = gt_cudart_cooperative(function, grid, block, dynamic_shared, &workspace);
	if (code != CUDA_SUCCESS)
		return code;
	struct gt_ptx_launch launch = {
		.kernel = function->kernel,
		.grid = {grid.x, grid.y, grid.z},
		.block = {block.x, block.y, block.z},
		.dynamic_shared = (uint32_t)dynamic_shared,
		.max_instructions = gt_cudart.record.tracing.max_instructions,
		.sms = (uint32_t)gt_cudart_gpu_value("sms", 108),
		.workspace = workspace,
		.prefers = preferences(function, wishes),
		.denied = denied(),
		.check = gt_cudart.record.tracing.check,
		.printed = stdout,
		.asserted = stderr,
		.device = (uint32_t)gt_cudart_device(),
		.devices = (uint32_t)gt_cudart_devices(),
		.attribute = gt_cudart_attribute,
		.limit = gt_cudart_limit,
		.graph = gt_running ? (uint64_t)(uintptr_t)gt_running->executable : 0,
		.may_launch = gt_running ? gt_running->may_launch : NULL,
	};
	code = gt_cudart_cluster(function, wishes, &launch);
	if (code != CUDA_SUCCESS)
		return code;
	unsigned char *parameters = gather_parameters(function->kernel, arguments);
	launch.parameters = parameters;
	if (gt_ptx_gate_is_closed(gt_cudart_machine(function->fat), &launch, &gt_cudart.closed)) {
		free(parameters);
		return GT_CUDART_CLOSED;
	}
	if (!gt_cudart_take_stream()) {
		free(parameters);
		return CUDA_INITIALIZATION_ERROR;
	}
	const struct gt_ptx_runner runner = {run, function, gt_running ? gt_running->launched : NULL};
	int failed = gt_ptx_run_nested(&gt_cudart.memory, &launch, &runner, &ran, &error);
	if (failed && !ran.assertion_failed)
		gt_cudart_stop("launch %" PRIu64 ": %s", gt_cudart.launches, error.text);
	if (failed)
		gt_cudart_say("launch %" PRIu64 ": %s", gt_cudart.launches, error.text);
	if (ran.assertion_failed) {
		gt_cudart.failing = CUDA_ASSERT;
		gt_cudart.assertions++;
	}
	gt_cudart.instructions += ran.warp_instructions;
	gt_cudart_give_stream();
	free(parameters);
	return CUDA_SUCCESS;
}

/* A launch that is an error on a GPU too, which many programs do not look at: the stream does not have it. The end says so. */
static void count_refused(const struct gt_function *function, int code, struct gt_dim3 grid, struct gt_dim3 block)
{
	char words[GT_KERNEL_NAME];

	if (gt_cudart.refused++ > 0)
		return;
	gt_cudart.refused_code = code;
	snprintf(gt_cudart.refused_first, sizeof gt_cudart.refused_first, "kernel %.128s, <<<%ux%ux%u, %ux%ux%u>>>", gt_name_words(function->name, words),
		 grid.x, grid.y, grid.z, block.x, block.y, block.z);
	(void)gt_cudart_is_for_others(function->fat, gt_cudart.refused_for);
}

int gt_cudart_launch(const void *handle, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
		     size_t dynamic_shared, const struct gt_wishes *wishes)
{
	struct gt_function *function = gt_cudart_function(handle);
	const struct gt_function *asked = gt_cudart_find_function(handle);

	if (!asked) /* another address may be a CUfunction or a cudaKernel_t */
		return handle ? CUDA_INVALID_RESOURCE_HANDLE : CUDA_INVALID_DEVICE_FUNCTION;
	if (gt_cudart.failed)
		return gt_cudart.failed;
	int code = function ? launch_function(function, grid, block, arguments, dynamic_shared, wishes) : gt_cudart_no_function(handle);
	if (code != CUDA_SUCCESS && code != GT_CUDART_CLOSED)
		count_refused(asked, code, grid, block);
	return code;
}
