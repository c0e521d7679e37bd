/* SPDX-License-Identifier: MIT */
/* Work, and graphs whose nodes are work. Work is copies, fills, launches, functions of the host, and graphs; it is done when it is asked for,
 * asynchronous work too: a stream's order is kept by doing everything in the order of the calls. */
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/exec/memory.h"
#include "base/map.h"
#include "cuda/runtime/runtime.h"
#include "cuda/runtime/work.h"

/* ---- handles ---- */

static struct gt_map handles; /* from the address to enum gt_handle */

bool gt_is(enum gt_handle kind, const void *handle)
{
	const uint64_t *place = handles.slots ? gt_map_get(&handles, (uint64_t)(uintptr_t)handle) : NULL;

	return place && *place == (uint64_t)kind;
}

void *gt_handle_made(enum gt_handle kind, void *handle)
{
	struct gt_error ignored; /* the caller returns a code */
	uint64_t *place = NULL;
	int fresh;

	if (handle && (handles.slots || gt_map_open(&handles, 0, &ignored) == 0))
		place = gt_map_put(&handles, (uint64_t)(uintptr_t)handle, 0, &fresh);
	if (!place) {
		free(handle);
		return NULL;
	}
	*place = (uint64_t)kind;
	return handle;
}

void gt_handle_free(void *handle)
{
	uint64_t *place = handle ? gt_map_get(&handles, (uint64_t)(uintptr_t)handle) : NULL;

	if (place)
		*place = GT_NO_HANDLE;
	free(handle);
}

/* ---- graphs of work ---- */

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n)
{
	struct gt_node **grown = gt_resized(nodes->list, nodes->n + n, sizeof *grown);

	if (!grown)
		return CUDA_MEMORY_ALLOCATION;
	nodes->list = grown;
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;
		while (at < nodes->n && nodes->list[at] != more[i])
			at++;
		nodes->list[at] = more[i];
		nodes->n += at == nodes->n;
	}
	return CUDA_SUCCESS;
}

void gt_nodes_clear(struct gt_nodes *nodes)
{
	free(nodes->list);
	*nodes = (struct gt_nodes){0};
}

struct gt_graph *gt_graph_new(void)
{
	return gt_handle_made(GT_GRAPH, calloc(1, sizeof(struct gt_graph)));
}

static void free_node(struct gt_node *node)
{
	gt_work_free(&node->work);
	gt_nodes_clear(&node->after);
	gt_handle_free(node);
}

void gt_user_object_drop(struct gt_user_object *object, uint64_t references)
{
	object->references -= references;
	if (object->references > 0)
		return;
	object->destroy(object->data);
	gt_handle_free(object);
}

int gt_graph_hold(struct gt_graph *graph, struct gt_user_object *object, unsigned references)
{
	struct gt_held *grown;
	size_t i = 0;

	while (i < graph->n_held && graph->held[i].object != object)
		i++;
	if (i == graph->n_held) {
		if (!(grown = gt_grown(graph->held, i, &graph->held_capacity, sizeof *grown)))
			return CUDA_MEMORY_ALLOCATION;
		graph->held = grown;
		grown[graph->n_held++] = (struct gt_held){object, 0};
	}
	graph->held[i].references += references;
	return CUDA_SUCCESS;
}

/* A copy has one reference to each object. */
static int copy_held(struct gt_graph *to, const struct gt_graph *from)
{
	int code = CUDA_SUCCESS;

	for (size_t i = 0; i < from->n_held && code == CUDA_SUCCESS; i++)
		if (from->held[i].references > 0 && (code = gt_graph_hold(to, from->held[i].object, 1)) == CUDA_SUCCESS)
			from->held[i].object->references++;
	return code;
}

static void drop_condition(const struct gt_condition *condition)
{
	if (--*condition->graphs > 0)
		return;
	gt_cudart_release((void *)(uintptr_t)condition->handle);
	free(condition->graphs);
}

void gt_graph_free(struct gt_graph *graph)
{
	for (size_t i = 0; graph && i < graph->n_conditions; i++)
		drop_condition(&graph->conditions[i]);
	for (size_t i = 0; graph && i < graph->n_held; i++)
		if (graph->held[i].references > 0)
			gt_user_object_drop(graph->held[i].object, graph->held[i].references);
	for (size_t i = 0; graph && i < graph->nodes.n; i++)
		free_node(graph->nodes.list[i]);
	if (graph) {
		gt_nodes_clear(&graph->nodes);
		free(graph->conditions);
		free(graph->held);
	}
	gt_handle_free(graph);
}

int gt_graph_add(struct gt_graph *graph, struct gt_node *const *after, size_t n, const struct gt_work *work,
		 struct gt_node **node)
{
	struct gt_node *made;

	for (size_t i = 0; i < n; i++)
		if (!after || !gt_is(GT_NODE, after[i]) || after[i]->graph != graph)
			return CUDA_INVALID_VALUE;
	made = gt_handle_made(GT_NODE, calloc(1, sizeof *made));
	if (!made)
		return CUDA_MEMORY_ALLOCATION;
	made->graph = graph;
	int code = gt_work_keep(&made->work, work);
	if (code == CUDA_SUCCESS)
		code = gt_nodes_join(&made->after, after, n);
	if (code == CUDA_SUCCESS)
		code = gt_nodes_join(&graph->nodes, &made, 1);
	if (code != CUDA_SUCCESS)
		free_node(made);
	else if (node)
		*node = made;
	return code;
}

struct gt_node *gt_graph_paired(const struct gt_graph *from, const struct gt_graph *to, const struct gt_node *node)
{
	size_t at = 0;

	while (from->nodes.list[at] != node)
		at++;
	return to->nodes.list[at];
}

static int copy_conditions(struct gt_graph *to, const struct gt_graph *from)
{
	if (from->n_conditions == 0)
		return CUDA_SUCCESS;
	to->conditions = malloc(from->n_conditions * sizeof *to->conditions);
	if (!to->conditions)
		return CUDA_MEMORY_ALLOCATION;
	memcpy(to->conditions, from->conditions, from->n_conditions * sizeof *to->conditions);
	to->n_conditions = from->n_conditions;
	for (size_t i = 0; i < to->n_conditions; i++)
		++*to->conditions[i].graphs;
	return CUDA_SUCCESS;
}

struct gt_graph *gt_graph_copy(const struct gt_graph *graph)
{
	struct gt_graph *copy = gt_graph_new();
	int code = copy ? copy_conditions(copy, graph) : CUDA_MEMORY_ALLOCATION;

	if (code == CUDA_SUCCESS)
		code = copy_held(copy, graph);
	for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
		struct gt_node *made;
		code = gt_graph_add(copy, NULL, 0, &graph->nodes.list[i]->work, &made);
		if (code == CUDA_SUCCESS)
			made->origin = graph->nodes.list[i];
	}
	if (copy)
		copy->executable = graph->executable;
	/* An edge may lead to a node that was added later. */
	for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
		const struct gt_nodes *after = &graph->nodes.list[i]->after;
		for (size_t k = 0; k < after->n && code == CUDA_SUCCESS; k++) {
			struct gt_node *before = gt_graph_paired(graph, copy, after->list[k]);
			code = gt_nodes_join(&copy->nodes.list[i]->after, &before, 1);
		}
	}
	if (code == CUDA_SUCCESS)
		return copy;
	gt_graph_free(copy);
	return NULL;
}

static bool ready(const struct gt_node *node)
{
	for (size_t i = 0; i < node->after.n; i++)
		if (!node->after.list[i]->done)
			return false;
	return !node->done;
}

enum { TAIL = 1, FORK, SIBLING }; /* the upper byte of cudaStreamGraphTailLaunch and so on */

static bool is_pending(const struct gt_pending *list, const struct gt_executable *executable)
{
	while (list && list->executable != executable)
		list = list->next;
	return list;
}

/* A graph may not be launched while it runs, or is to run, but as a tail of its own. */
static int may_launch(uint64_t graph, uint64_t stream)
{
	const struct gt_executable *executable = (const struct gt_executable *)(uintptr_t)graph;
	const uint64_t when = stream >> 56;

	if (when < TAIL || when > SIBLING || stream << 8 || !gt_is(GT_EXECUTABLE, executable) ||
	    !(executable->flags & GT_FOR_KERNELS) || !executable->uploaded)
		return CUDA_INVALID_VALUE;
	for (const struct gt_running *one = gt_running; one; one = one->launcher)
		if ((one->executable == executable && (one != gt_running || when != TAIL)) || is_pending(one->forks, executable) ||
		    is_pending(one->tails, executable))
			return CUDA_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static void graph_launched(uint64_t graph, uint64_t stream)
{
	struct gt_pending **last = stream >> 56 == TAIL ? &gt_running->tails : &gt_running->forks, *made = malloc(sizeof *made);

	if (!made)
		gt_cudart_stop("out of memory");
	*made = (struct gt_pending){.executable = (const struct gt_executable *)(uintptr_t)graph};
	while (*last)
		last = &(*last)->next;
	*last = made;
}

static const struct gt_executable *take_first(struct gt_pending **list)
{
	struct gt_pending *first = *list;
	const struct gt_executable *executable = first->executable;

	*list = first->next;
	free(first);
	return executable;
}

/* Runs a graph that was launched, and its tails, each with its own before the next. Returns a code. */
static int run_launch(struct gt_graph *graph)
{
	struct gt_running launch = {.executable = graph->executable, .launcher = gt_running,
				    .may_launch = may_launch, .launched = graph_launched};

	gt_running = &launch;
	int code = gt_graph_run(graph, false);
	while (launch.tails) {
		launch.executable = take_first(&launch.tails);
		struct gt_pending *left = launch.tails, **last = &launch.tails;
		launch.tails = NULL;
		if (code == CUDA_SUCCESS)
			code = gt_graph_begin_launch(launch.executable->graph, false);
		if (code == CUDA_SUCCESS)
			code = gt_graph_run(launch.executable->graph, false);
		while (*last)
			last = &(*last)->next;
		*last = left;
	}
	gt_running = launch.launcher;
	return code;
}

int gt_graph_run(struct gt_graph *graph, bool dry)
{
	size_t left = graph->nodes.n, before = 0;
	int code = CUDA_SUCCESS;

	for (size_t i = 0; i < graph->nodes.n; i++)
		graph->nodes.list[i]->done = false;
	while (left > 0 && left != before && code == CUDA_SUCCESS) {
		before = left;
		for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
			struct gt_node *node = graph->nodes.list[i];
			if (!ready(node))
				continue;
			if (!dry && !node->disabled)
				code = gt_cudart_do(&node->work);
			if (code == GT_CUDART_CLOSED)
				gt_cudart_stop_closed();
			while (!dry && gt_running && gt_running->forks) {
				const struct gt_executable *fork = take_first(&gt_running->forks);
				if (code == CUDA_SUCCESS)
					code = gt_graph_begin_launch(fork->graph, false);
				if (code == CUDA_SUCCESS)
					code = run_launch(fork->graph);
			}
			node->done = true;
			left--;
		}
	}
	return code == CUDA_SUCCESS && left > 0 ? CUDA_INVALID_VALUE : code;
}

static void assign_conditions(const struct gt_graph *graph)
{
	for (size_t i = 0; i < graph->n_conditions; i++) {
		const struct gt_condition *condition = &graph->conditions[i];
		uint32_t *value = gt_ptx_at(&gt_cudart.memory, condition->handle, sizeof *value);
		if (value && condition->assigned)
			*value = condition->value;
		gt_cudart.memory.changes++;
	}
}

/* Those of the graphs in it, too. */
int gt_graph_begin_launch(const struct gt_graph *graph, bool frees)
{
	int code = CUDA_SUCCESS;

	assign_conditions(graph);
	for (size_t i = 0; i < graph->nodes.n && code == CUDA_SUCCESS; i++) {
		const struct gt_work *work = &graph->nodes.list[i]->work;
		const struct gt_condition_work *condition = &work->u.condition;
		if (work->kind == GT_WORK_GRAPH)
			code = gt_graph_begin_launch(work->u.graph, frees);
		for (unsigned k = 0; work->kind == GT_WORK_CONDITION && k < condition->size && code == CUDA_SUCCESS; k++)
			code = gt_graph_begin_launch(condition->bodies[k], frees);
		if (work->kind != GT_WORK_ALLOCATE || !work->u.memory->live)
			continue;
		if (!frees)
			return CUDA_INVALID_VALUE;
		gt_graph_memory_set(work->u.memory, false);
	}
	return code;
}

/* ---- copies and fills ---- */

static bool is_device(uint64_t address)
{
	return address - GT_PTX_GLOBAL_BASE < GT_PTX_WINDOW;
}

static bool is_registered(const void *pointer, size_t bytes)
{
	return gt_cudart_registered(pointer) && gt_cudart_registered((const void *)((uintptr_t)pointer + bytes - 1));
}

/* Where [pointer, pointer + bytes) lies in this process; NULL if the device has no such bytes, or has them in its heap. A host
 * pointer is the program's own affair, and stands for memory of the device where the host's is registered. */
static void *place(const void *pointer, size_t bytes, bool on_device)
{
	if (gt_ptx_in_heap(&gt_cudart.memory, gt_cudart_address(pointer)))
		return NULL;
	if (is_device(gt_cudart_address(pointer)) || (on_device && !is_registered(pointer, bytes)))
		return gt_ptx_at(&gt_cudart.memory, gt_cudart_address(pointer), bytes);
	return (void *)(uintptr_t)pointer;
}

/* The recorder is told what comes into device memory from outside of kernels. */
static void note_copy(const void *to, size_t bytes)
{
	gt_cudart.memory.changes += is_device(gt_cudart_address(to));
	if (is_device(gt_cudart_address(to)))
		gt_ptx_wrote(&gt_cudart.memory, gt_cudart_address(to), bytes);
	if (gt_cudart.recorder && is_device(gt_cudart_address(to)))
		gt_copies_add(gt_ptx_recorder_copies(gt_cudart.recorder), gt_cudart_address(to), bytes);
}

/* The bytes from the first of a box to its last, both included; SIZE_MAX if no number holds them. */
static size_t span_of(size_t width, size_t pitch, size_t height, size_t slice, size_t depth)
{
	size_t rows, slices, span;
	bool overflows = __builtin_mul_overflow(height - 1, pitch, &rows) || __builtin_mul_overflow(depth - 1, slice, &slices) ||
			 __builtin_add_overflow(rows, slices, &span) || __builtin_add_overflow(span, width, &span);

	return overflows ? SIZE_MAX : span;
}

/* Nothing is copied of a box that is not wholly there. */
static int copy_box(const struct gt_copy_work *work)
{
	const bool to_device = work->kind == HOST_TO_DEVICE || work->kind == DEVICE_TO_DEVICE;
	const bool from_device = work->kind == DEVICE_TO_HOST || work->kind == DEVICE_TO_DEVICE;

	if (work->width == 0 || work->height == 0 || work->depth == 0)
		return CUDA_SUCCESS;
	char *to = place(work->to, span_of(work->width, work->to_pitch, work->height, work->to_slice, work->depth), to_device);
	const char *from = place(work->from, span_of(work->width, work->from_pitch, work->height, work->from_slice, work->depth), from_device);
	if (!to || !from)
		return CUDA_INVALID_VALUE;
	for (size_t slice = 0; slice < work->depth; slice++)
		for (size_t row = 0; row < work->height; row++) {
			const size_t at = slice * work->to_slice + row * work->to_pitch;
			memmove(to + at, from + slice * work->from_slice + row * work->from_pitch, work->width);
			note_copy((char *)work->to + at, work->width);
		}
	return CUDA_SUCCESS;
}

/* ---- arrays ---- */

static bool fits(const struct gt_array *handle, const struct gt_position *at, const struct gt_copy_work *work)
{
	const struct gt_array *array = gt_cudart_array(handle);
	const struct gt_ptx_image *image = array ? &array->image : NULL;
	size_t row = image ? (size_t)image->width * gt_ptx_texel_bytes(image) : 0;

	return image && at->x <= row && work->width <= row - at->x && at->y <= image->height &&
	       work->height <= image->height - at->y && at->z <= image->depth && work->depth <= image->depth - at->z;
}

/* Where byte `x` of a copied row lies; *left: bytes from there on that lie side by side. */
static unsigned char *place_in(const struct gt_array *array, const struct gt_position *at, size_t x, size_t row,
			       size_t slice, size_t *left)
{
	const struct gt_ptx_image *image = &array->image;
	size_t piece = GT_PTX_GOB_PIECE - (at->x + x) % GT_PTX_GOB_PIECE;
	uint64_t address = image->address + gt_ptx_image_offset(image, at->x + x, at->y + row, at->z + slice);

	*left = *left < piece ? *left : piece;
	return gt_ptx_at(&gt_cudart.memory, address, *left);
}

/* One side of a row of a copy: in memory, whose bytes of the box begin at `at`, or in an array. *left: as of place_in. */
static char *place_of(char *at, size_t along, const struct gt_array *array, const struct gt_position *position, size_t x, size_t row,
		      size_t slice, size_t *left)
{
	return array ? (char *)place_in(array, position, x, row, slice, left) : at + along + x;
}

/* `to`, `from`: where the box begins in this process; NULL: in an array. */
static int copy_array_row(const struct gt_copy_work *work, char *to, char *from, size_t row, size_t slice)
{
	const size_t to_along = slice * work->to_slice + row * work->to_pitch, from_along = slice * work->from_slice + row * work->from_pitch;

	for (size_t x = 0, bytes; x < work->width; x += bytes) {
		bytes = work->width - x;
		char *target = place_of(to, to_along, work->to_array, &work->to_position, x, row, slice, &bytes);
		const char *source = place_of(from, from_along, work->from_array, &work->from_position, x, row, slice, &bytes);
		if (!target || !source)
			return CUDA_INVALID_VALUE;
		memmove(target, source, bytes);
	}
	if (to)
		note_copy((char *)work->to + to_along, work->width);
	return CUDA_SUCCESS;
}

/* What was written of a slice of an array: its rows, or whole GOBs. */
static void note_array_slice(const struct gt_copy_work *work, size_t slice)
{
	const struct gt_ptx_image *image = &work->to_array->image;
	const struct gt_position *at = &work->to_position;
	bool rows = !image->blocks;
	size_t wide = rows ? work->width : GT_PTX_GOB_WIDTH, high = rows ? 1 : GT_PTX_GOB_ROWS;
	size_t left = rows ? at->x : at->x / wide * wide;

	for (size_t x = left; x < at->x + work->width; x += wide)
		for (size_t y = at->y / high * high; y < at->y + work->height; y += high)
			note_copy((void *)(uintptr_t)(image->address + gt_ptx_image_offset(image, x, y, at->z + slice)),
				  rows ? wide : GT_PTX_GOB_BYTES);
}

static int copy_arrays(const struct gt_copy_work *work)
{
	const bool on_device = work->kind == DEVICE_TO_DEVICE;
	char *to = NULL, *from = NULL;
	int code = CUDA_SUCCESS;

	if ((work->to_array && !fits(work->to_array, &work->to_position, work)) ||
	    (work->from_array && !fits(work->from_array, &work->from_position, work)))
		return CUDA_INVALID_VALUE;
	if (work->width == 0 || work->height == 0 || work->depth == 0)
		return CUDA_SUCCESS;
	if (!work->to_array)
		to = place(work->to, span_of(work->width, work->to_pitch, work->height, work->to_slice, work->depth), on_device);
	if (!work->from_array)
		from = place(work->from, span_of(work->width, work->from_pitch, work->height, work->from_slice, work->depth), on_device);
	if ((!work->to_array && !to) || (!work->from_array && !from))
		return CUDA_INVALID_VALUE;
	for (size_t slice = 0; slice < work->depth && code == CUDA_SUCCESS; slice++) {
		for (size_t row = 0; row < work->height && code == CUDA_SUCCESS; row++)
			code = copy_array_row(work, to, from, row, slice);
		if (work->to_array && code == CUDA_SUCCESS)
			note_array_slice(work, slice);
	}
	return code;
}

/* Each returns a code, and expects gt_cudart_enter() to have been called. */
static int cudart_copy(const struct gt_copy_work *work)
{
	if (work->kind > BY_ADDRESS)
		return CUDA_INVALID_MEMCPY_DIRECTION;
	if (work->width > work->to_pitch || work->width > work->from_pitch)
		return CUDA_INVALID_VALUE;
	return work->to_array || work->from_array ? copy_arrays(work) : copy_box(work);
}

static void fill_row(char *target, const struct gt_fill_work *work)
{
	const size_t bytes = work->width * work->element;

	if (work->element == 1)
		memset(target, (int)(work->value & 0xff), bytes);
	else /* values are as this processor keeps them, and as the GPU does */
		for (size_t i = 0; i < bytes; i += work->element)
			memcpy(target + i, &work->value, work->element);
}

/* Nothing is filled of a rectangle that is not wholly there. */
static int cudart_fill(const struct gt_fill_work *work)
{
	const size_t bytes = work->width * work->element;

	if (work->height > 1 && bytes > work->pitch)
		return CUDA_INVALID_VALUE;
	if (bytes == 0 || work->height == 0)
		return CUDA_SUCCESS;
	char *target = place(work->to, span_of(bytes, work->pitch, work->height, 0, 1), true);
	if (!target)
		return CUDA_INVALID_VALUE;
	for (size_t row = 0; row < work->height; row++) {
		fill_row(target + row * work->pitch, work);
		note_copy((char *)work->to + row * work->pitch, bytes);
	}
	return CUDA_SUCCESS;
}

#define ALIGNMENT 16 /* of each argument that is kept */

/* ---- work ---- */

struct gt_work gt_copy_of(void *to, const void *from, size_t bytes, unsigned kind)
{
	return (struct gt_work){GT_WORK_COPY, {.copy = {.to = to, .from = from, .to_pitch = bytes, .from_pitch = bytes,
							 .to_slice = bytes, .from_slice = bytes, .width = bytes,
							 .height = 1, .depth = 1, .kind = kind}}};
}

static int launch(const struct gt_kernel_work *kernel)
{
	bool elsewhere = kernel->device > 0 && kernel->device - 1 != gt_cudart_device();

	if (elsewhere && !gt_context_push(gt_context_primary(kernel->device - 1)))
		return CUDA_MEMORY_ALLOCATION;
	int code = gt_cudart_launch(kernel->function, kernel->grid, kernel->block, kernel->arguments, kernel->shared,
				    &kernel->wishes);
	if (elsewhere)
		gt_context_pop();
	return code;
}

/* Without the lock: other threads may use the runtime meanwhile, and the function may wait for them. */
static int call(const struct gt_host_work *host)
{
	gt_cudart_leave(CUDA_SUCCESS);
	host->function(host->data);
	gt_cudart_enter();
	return CUDA_SUCCESS;
}

enum { IF, WHILE, SWITCH }; /* cudaGraphConditionalNodeType */

/* The clock of events counts executed warp instructions. Work that the host does counts as instructions, too, so that no program measures a time
 * of 0: a copy or a fill as one, and one for each word of a warp; a call of a library as one, and one for each multiply-add of a warp. */
static uint64_t events_clock(void)
{
	return gt_cudart.instructions + gt_cudart.copied + gt_cudart.stubbed_flops / (2 * GT_WARP_SIZE) + gt_cudart.stubbed;
}

#define WARP_WORDS (GT_WARP_SIZE * sizeof(uint32_t))

static int copied(int code, uint64_t bytes)
{
	if (code == CUDA_SUCCESS)
		gt_cudart.copied += 1 + bytes / WARP_WORDS;
	return code;
}

/* Runs the bodies of a conditional node that its value asks for. */
static int choose(const struct gt_condition_work *condition)
{
	const uint32_t *value = gt_ptx_at(&gt_cudart.memory, condition->handle, sizeof *value);
	int code = value ? CUDA_SUCCESS : CUDA_INVALID_VALUE;

	if (code != CUDA_SUCCESS)
		return code;
	if (condition->type == WHILE) {
		while (*value != 0 && code == CUDA_SUCCESS && !gt_cudart.failing)
			code = gt_graph_run(condition->bodies[0], false);
		return code;
	}
	uint32_t chosen = condition->type == SWITCH ? *value : *value == 0;
	return chosen < condition->size ? gt_graph_run(condition->bodies[chosen], false) : CUDA_SUCCESS;
}

int gt_cudart_do(const struct gt_work *work)
{
	if (!gt_cudart_may_work())
		return CUDA_INITIALIZATION_ERROR;
	switch (work->kind) {
	case GT_WORK_KERNEL:
		return launch(&work->u.kernel);
	case GT_WORK_COPY:
		return copied(cudart_copy(&work->u.copy), work->u.copy.width * work->u.copy.height * work->u.copy.depth);
	case GT_WORK_FILL:
		return copied(cudart_fill(&work->u.fill), work->u.fill.width * work->u.fill.element * work->u.fill.height);
	case GT_WORK_HOST:
		return call(&work->u.host);
	case GT_WORK_GRAPH:
		return work->u.graph->executable ? run_launch(work->u.graph) : gt_graph_run(work->u.graph, false);
	case GT_WORK_RECORD:
		if (!gt_is(GT_EVENT, work->u.event)) /* it was destroyed meanwhile */
			return CUDA_SUCCESS;
		work->u.event->instructions = events_clock();
		work->u.event->recorded = true;
		return CUDA_SUCCESS;
	case GT_WORK_ALLOCATE:
		return gt_graph_memory_set(work->u.memory, true);
	case GT_WORK_FREE:
		return gt_graph_memory_set(work->u.memory, false);
	case GT_WORK_CONDITION:
		return choose(&work->u.condition);
	case GT_WORK_EMPTY:
	case GT_WORK_WAIT: /* all earlier work is complete */
		return CUDA_SUCCESS;
	}
	return CUDA_INVALID_VALUE;
}

/* One block of memory: the pointers, then the arguments. */
static int keep_arguments(struct gt_kernel_work *kernel)
{
	const struct gt_function *function = gt_cudart_function(kernel->function);
	void **given = kernel->arguments;

	kernel->arguments = NULL;
	if (kernel->device == 0)
		kernel->device = 1 + gt_cudart_device();
	if (!function)
		return gt_cudart_no_function(kernel->function);
	const struct gt_ptx_function *ptx = function->kernel;
	size_t at = (ptx->n_parameters * sizeof(void *) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, bytes = at;
	for (size_t i = 0; i < ptx->n_parameters; i++)
		bytes += (ptx->parameters[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (ptx->n_parameters > 0 && !given)
		return CUDA_INVALID_VALUE;
	kernel->arguments = calloc(1, bytes + 1);
	if (!kernel->arguments)
		return CUDA_MEMORY_ALLOCATION;
	for (size_t i = 0; i < ptx->n_parameters; i++) {
		kernel->arguments[i] = (char *)kernel->arguments + at;
		memcpy(kernel->arguments[i], given[i], ptx->parameters[i].bytes);
		at += (ptx->parameters[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return CUDA_SUCCESS;
}

/* The graphs of a conditional node: copies, or empty ones. */
static int keep_bodies(struct gt_condition_work *condition, struct gt_graph *const *given)
{
	condition->bodies = calloc(condition->size, sizeof *condition->bodies);
	for (unsigned i = 0; condition->bodies && i < condition->size; i++) {
		condition->bodies[i] = given ? gt_graph_copy(given[i]) : gt_graph_new();
		if (!condition->bodies[i])
			return CUDA_MEMORY_ALLOCATION;
	}
	return condition->bodies ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
}

int gt_work_keep(struct gt_work *kept, const struct gt_work *work)
{
	*kept = *work;
	if (kept->kind == GT_WORK_CONDITION)
		return keep_bodies(&kept->u.condition, work->u.condition.bodies);
	if (kept->kind == GT_WORK_ALLOCATE || kept->kind == GT_WORK_FREE)
		kept->u.memory->nodes++;
	if (kept->kind == GT_WORK_KERNEL)
		return keep_arguments(&kept->u.kernel);
	if (kept->kind == GT_WORK_GRAPH) {
		kept->u.graph = gt_graph_copy(work->u.graph);
		return kept->u.graph ? CUDA_SUCCESS : CUDA_MEMORY_ALLOCATION;
	}
	return CUDA_SUCCESS;
}

void gt_work_free(struct gt_work *work)
{
	if (work->kind == GT_WORK_KERNEL)
		free(work->u.kernel.arguments);
	else if (work->kind == GT_WORK_ALLOCATE || work->kind == GT_WORK_FREE)
		gt_cudart_release((void *)(uintptr_t)gt_graph_memory_drop(work->u.memory));
	else if (work->kind == GT_WORK_CONDITION) {
		for (unsigned i = 0; work->u.condition.bodies && i < work->u.condition.size; i++)
			gt_graph_free(work->u.condition.bodies[i]);
		free(work->u.condition.bodies);
	}
	else if (work->kind == GT_WORK_GRAPH)
		gt_graph_free(work->u.graph);
}
