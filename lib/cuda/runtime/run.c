/* SPDX-License-Identifier: MIT */
/* Runs a kernel, and writes its accesses into the stream. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/runtime/contexts.h"
#include "cuda/runtime/runtime.h"
#include "cuda/ptx/launch/run.h"

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
	if (!function->registers_estimated && function->registers * threads > gt_cudart_gpu_value("registers", 65536))
		return CUDA_LAUNCH_OUT_OF_RESOURCES;
	return CUDA_SUCCESS;
}

static unsigned char *gather_parameters(const struct gt_ptx_function *kernel, void **arguments)
{
	unsigned char *parameters = calloc(1, gt_ptx_parameter_bytes(kernel) + 1);

	if (!parameters)
		gt_cudart_stop("out of memory");
	for (size_t i = 0; i < kernel->n_parameters; i++)
		memcpy(parameters + gt_ptx_parameter_offset(kernel, i), arguments[i], kernel->parameters[i].bytes);
	return parameters;
}

static void note(const struct gt_fat *fat, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran)
{
	size_t length;
	const char *name = gt_ptx_shown_name(&fat->module, launch->kernel, &length);

	gt_cudart_note("launch %" PRIu64 ", %.*s<<<(%u, %u, %u), (%u, %u, %u)>>>: %" PRIu64 " warp instructions, %" PRIu64
		       " accesses traced", gt_cudart.launches, (int)length, name, launch->grid[0], launch->grid[1],
		       launch->grid[2], launch->block[0], launch->block[1], launch->block[2], ran->warp_instructions,
		       ran->accesses);
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
	if (gt_cudart.recorder)
		result = gt_ptx_record(gt_cudart.recorder, &fat->module, gt_cudart_machine(fat), launch, registers, ran, error);
	else
		result = gt_ptx_run(gt_cudart_machine(fat), launch, ran, error);
	if (result == 0 || ran->assertion_failed)
		note(fat, launch, ran);
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

static int launch_function(struct gt_function *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
			   size_t dynamic_shared, const struct gt_wishes *wishes)
{
	struct gt_ptx_ran ran = {0};
	struct gt_error error;
	uint64_t workspace = 0;

	int code = check_shape(function, grid, block, dynamic_shared);
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
	const struct gt_ptx_runner runner = {run, function};
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
	free(parameters);
	return CUDA_SUCCESS;
}

int gt_cudart_launch(const void *handle, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
		     size_t dynamic_shared, const struct gt_wishes *wishes)
{
	static bool said;
	struct gt_function *function = gt_cudart_function(handle);
	char newer[GT_CUDART_NEWER];

	if (!function)
		return CUDA_INVALID_DEVICE_FUNCTION;
	if (gt_cudart.failed)
		return gt_cudart.failed;
	int code = launch_function(function, grid, block, arguments, dynamic_shared, wishes);
	if (code == CUDA_SUCCESS || code == GT_CUDART_CLOSED)
		return code;
	gt_cudart.refused++;
	if (gt_cudart_is_newer(function->fat, newer))
		gt_cudart_say_once(&said, "warning: a launch of kernel %.128s returns error %d%s", function->name, code, newer);
	return code;
}
