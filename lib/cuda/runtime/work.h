/* SPDX-License-Identifier: MIT */
/* What a program asks a stream to do: done at once, or, while the stream is captured, kept as a node of a graph; and the streams and
 * graphs. */
#ifndef GT_RUNTIME_WORK_H
#define GT_RUNTIME_WORK_H

#include "cuda/ptx/exec/texture.h"
#include "cuda/runtime/runtime.h"

/* The numbers of cudaGraphNodeType. */
enum gt_work_kind { GT_WORK_KERNEL, GT_WORK_COPY, GT_WORK_FILL, GT_WORK_HOST, GT_WORK_GRAPH, GT_WORK_EMPTY,
		    GT_WORK_WAIT, GT_WORK_RECORD, GT_WORK_ALLOCATE = 10, GT_WORK_FREE = 11, GT_WORK_CONDITION = 13 };

struct gt_kernel_work {
	const void *function; /* host address or handle */
	struct gt_dim3 grid, block;
	size_t shared;
	void **arguments; /* one a parameter */
	struct gt_wishes wishes;
	int device; /* of a node: 1 + that of its kernel; 0: the thread's */
};

/* cudaMemcpyKind */
enum gt_copy_kind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

struct gt_array;

struct gt_position {
	size_t x, y, z;
};

/* Rows of `width` bytes, `height` to a slice. */
struct gt_copy_work {
	void *to;
	const void *from;
	size_t to_pitch, from_pitch, to_slice, from_slice; /* bytes from a row, a slice, to the next */
	size_t width, height, depth;
	unsigned kind;
	/* Arrays in place of memory, or NULL; positions in them: bytes, rows, slices. */
	const struct gt_array *to_array, *from_array;
	struct gt_position to_position, from_position;
};

struct gt_fill_work {
	void *to;
	size_t pitch;
	uint64_t value;
	uint32_t element;	  /* bytes: 1, 2, 4 or 8 */
	size_t width, height;	  /* elements in a row, rows */
};

struct gt_host_work {
	void (*function)(void *);
	void *data;
};

struct gt_graph;
struct gt_cuda_event;

/* Memory that nodes of graphs allocate. It has its address, and is part of the device's memory, from when its node is made until
 * no graph has the node any more and nothing is allocated there. */
struct gt_graph_memory {
	uint64_t address, bytes; /* address 0: it went with all else */
	bool live;		 /* allocated now */
	size_t nodes;		 /* that allocate or free it */
	struct gt_graph_memory *next;
};

/* Which of the bodies run: by cudaGraphConditionalNodeType, and the value at the handle, an address of the device. */
struct gt_condition_work {
	uint64_t handle;
	unsigned type, size;
	struct gt_graph **bodies; /* `size` of them, that the node has for itself; NULL: to be made */
};

struct gt_work {
	enum gt_work_kind kind;
	union {
		struct gt_kernel_work kernel;
		struct gt_copy_work copy;
		struct gt_fill_work fill;
		struct gt_host_work host;
		struct gt_graph *graph; /* a copy that the node has for itself */
		struct gt_cuda_event *event;
		struct gt_graph_memory *memory;
		struct gt_condition_work condition;
	} u;
};

/* Returns a code, and expects gt_cudart_enter() to have been called. */
int gt_cudart_do(const struct gt_work *work);

/* A copy that outlives the caller's arguments; gt_work_free() frees what it holds. */
int gt_work_keep(struct gt_work *kept, const struct gt_work *work);
void gt_work_free(struct gt_work *work);

/* bytes in one row */
struct gt_work gt_copy_of(void *to, const void *from, size_t bytes, unsigned kind);

/* ---- graphs of work, and streams whose work becomes a graph instead of being done ---- */

struct gt_nodes {
	struct gt_node **list;
	size_t n;
};

struct gt_node {
	struct gt_graph *graph;
	struct gt_work work;
	struct gt_nodes after;	       /* its dependencies */
	const struct gt_node *origin; /* the node that it was copied from, or NULL */
	bool disabled, done;
};

/* A handle of conditional nodes, which is the address of its value. */
struct gt_condition {
	uint64_t handle;
	size_t *graphs; /* how many have it: the graph, its copies and executables; the last one frees it */
	uint32_t value; /* that it has when the graph is launched, if it */
	bool assigned;
};

/* cudaUserObject_t: what the program frees by `destroy` when the last reference to it is gone. */
struct gt_user_object {
	void (*destroy)(void *);
	void *data;
	uint64_t references;
};

/* An object that a graph has so many references to. */
struct gt_held {
	struct gt_user_object *object;
	unsigned references;
};

struct gt_graph {
	struct gt_nodes nodes;
	struct gt_condition *conditions;
	size_t n_conditions;
	struct gt_held *held; /* objects of the program */
	size_t n_held, held_capacity;
	bool invalid; /* a call that cannot be captured was made during the capture */
	const struct gt_executable *executable; /* whose graph it is, or NULL */
};

struct gt_cuda_event {
	uint64_t instructions;	  /* executed before it was recorded */
	bool recorded, untimed;	  /* untimed: it was made so */
	struct gt_graph *capture; /* in which it was recorded, or NULL */
	struct gt_nodes last;	  /* its dependencies there */
};

struct gt_stream {
	unsigned flags;
	int priority;
	int device; /* -1: that of the thread */
	struct gt_window window;  /* of its launches */
	struct gt_graph *capture; /* NULL: its work is executed at once */
	bool origin;		   /* the capture began with this stream, */
	bool given;		   /* in a graph that the program gave */
	int mode;		   /* cudaStreamCaptureMode of the capture that it began, */
	const int *thread;	   /* by this thread */
	struct gt_nodes last;	   /* the dependencies of its next node */
	struct gt_stream *next;   /* in the list of all streams */
};

/* Executes the work, or adds it to the graph if the stream is captured. Returns a code. */
int gt_stream_ask(void *stream, const struct gt_work *work);
/* Whether its work becomes a graph. */
bool gt_stream_captured(void *stream);
/* For a call that captures forbid, such as cudaMalloc: those that forbid it to this thread become invalid. Returns a code. */
int gt_stream_outside_captures(void);
/* The same of those that any capture forbids, such as to wait for the device. */
int gt_stream_outside_all_captures(void);
/* For a call that cannot be captured: if the stream is captured, invalidates the capture. Returns a code. */
int gt_stream_uncaptured(void *handle);
/* The code of a launch that cannot be, found before it is kept in a graph; of other work, 0. */
int gt_cudart_check_launch(const struct gt_work *work);
/* Whether the stream is captured, for a call that is not supported in captures; then reports it by name. */
bool gt_cudart_capture_refuses(void *stream, const char *call);

struct gt_graph *gt_graph_new(void);
void gt_graph_free(struct gt_graph *graph);
/* Adds a node that keeps the work. Returns a code. */
int gt_graph_add(struct gt_graph *graph, struct gt_node *const *after, size_t n, const struct gt_work *work,
		 struct gt_node **node);
struct gt_graph *gt_graph_copy(const struct gt_graph *graph);
/* Some references less to an object. */
void gt_user_object_drop(struct gt_user_object *object, uint64_t references);
/* A graph has so many references more to an object. Returns a code. */
int gt_graph_hold(struct gt_graph *graph, struct gt_user_object *object, unsigned references);
/* The node of `to` at the place that a node of `from` has there; a copy has as many nodes, in the same order. */
struct gt_node *gt_graph_paired(const struct gt_graph *from, const struct gt_graph *to, const struct gt_node *node);
/* Executes the nodes in the order of their dependencies, otherwise in the order in which they were added; a cycle is an
 * error. `dry`: only looks for cycles. Returns a code. */
int gt_graph_run(struct gt_graph *graph, bool dry);
/* Sets the values that the graph's handles have when it is launched, and checks that what its nodes allocate is free; or frees
 * it. Returns a code. */
int gt_graph_begin_launch(const struct gt_graph *graph, bool frees);

/* ---- memory of nodes that allocate ---- */

/* NULL if there is none at the address. */
struct gt_graph_memory *gt_graph_memory_at(uint64_t address);
/* A node less that allocates or frees it. The address to be released, or 0. */
uint64_t gt_graph_memory_drop(struct gt_graph_memory *memory);
/* Allocates it, or frees it. Returns a code. */
int gt_graph_memory_set(struct gt_graph_memory *memory, bool live);
/* The work of a node that allocates so much on a device, named after the call, and its address; to be freed with gt_work_free() when the node
 * has been made, or could not be. Returns a code. */
int gt_graph_allocate(struct gt_work *work, int device, void **pointer, size_t bytes, const char *call);

/* ---- executable graphs, which kernels may launch, too ---- */

#define GT_FOR_KERNELS 4 /* cudaGraphInstantiateFlagDeviceLaunch */

/* A graph that can be launched: a copy, so that the graph may change. */
struct gt_executable {
	struct gt_graph *graph;
	unsigned long long flags;
	bool uploaded;
};

/* Those that a kernel has launched, in the order of the calls. */
struct gt_pending {
	const struct gt_executable *executable;
	struct gt_pending *next;
};

/* A graph that was launched and runs, and what its kernels have launched: forks run beside it, tails when it has ended. */
struct gt_running {
	const struct gt_executable *executable;
	struct gt_pending *forks, *tails;
	struct gt_running *launcher;
	/* For launches of its kernels, see struct gt_ptx_launch and gt_ptx_runner. */
	int (*may_launch)(uint64_t graph, uint64_t stream);
	void (*launched)(uint64_t graph, uint64_t stream);
};
extern struct gt_running *gt_running; /* NULL: none runs; in run.c */

/* The node of an executable graph that corresponds to a node of the original graph; NULL if there is none. */
struct gt_node *gt_executable_node(const struct gt_executable *executable, const struct gt_node *node);

/* ---- handles that the program has: one that was destroyed, or never made, is none ---- */

enum gt_handle { GT_NO_HANDLE, GT_STREAM, GT_EVENT, GT_GRAPH, GT_NODE, GT_EXECUTABLE, GT_POOL, GT_CONTEXT, GT_USER_OBJECT };

/* Whether a pointer is a handle of this kind; not if it is NULL. */
bool gt_is(enum gt_handle kind, const void *handle);
/* One that was made: itself, or NULL, when memory is short or it is NULL; then it is freed. */
void *gt_handle_made(enum gt_handle kind, void *handle);
/* Frees one. */
void gt_handle_free(void *handle);
/* CUDA_SUCCESS, or the code for what is no stream. */
int gt_stream_check(const void *stream);

int gt_nodes_join(struct gt_nodes *nodes, struct gt_node *const *more, size_t n);
void gt_nodes_clear(struct gt_nodes *nodes);

/* ---- copies of boxes, as cudaMemcpy3D and the nodes of graphs describe them ---- */

struct gt_pitched {
	void *at;
	size_t pitch, width, height; /* bytes, bytes, rows of a slice */
};

struct gt_extent {
	size_t width, height, depth;
};

/* cudaMemcpy3DParms */
struct gt_volume_copy {
	struct gt_array *from_array;
	struct gt_position from_position;
	struct gt_pitched from;
	struct gt_array *to_array;
	struct gt_position to_position;
	struct gt_pitched to;
	struct gt_extent extent;
	unsigned kind;
};

/* Returns a code. */
int gt_cudart_volume(struct gt_copy_work *copy, const struct gt_volume_copy *volume);

/* ---- what a program says of a node of a graph ---- */

struct gt_kernel_parameters {
	const void *function;
	struct gt_dim3 grid, block;
	unsigned shared;
	void **arguments, **extra;
};

struct gt_fill_parameters {
	void *to;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

/* cudaMemPoolProps, as far as it is looked at. */
/* What an H100 reserves for so many bytes of a pool or of graphs: whole pieces. */
static inline uint64_t gt_pool_reserved(uint64_t bytes)
{
	const uint64_t piece = UINT64_C(32) << 20;

	return (bytes + piece - 1) / piece * piece;
}

struct gt_pool_properties {
	int allocation_type, handle_types;
	struct {
		int type, id;
	} location;
	void *security;
	size_t max_bytes;
	unsigned char rest[56];
};

/* cudaMemAllocNodeParams */
struct gt_allocation_parameters {
	struct gt_pool_properties pool;
	const void *accesses;
	size_t n_accesses, bytes;
	void *pointer; /* that the node allocates */
};

/* cudaConditionalNodeParams */
struct gt_condition_parameters {
	uint64_t handle;
	unsigned type, size;
	struct gt_graph **bodies; /* of the node, for the program to fill */
};

/* cudaGraphNodeParams */
struct gt_node_parameters {
	int type, reserved[3];
	union {
		long long words[29];
		struct gt_kernel_parameters kernel;
		struct {
			int flags, reserved[3];
			struct gt_volume_copy copy;
		} copy;
		struct gt_fill_parameters fill;
		struct gt_host_work host;
		struct gt_graph *child;
		struct gt_cuda_event *event;
		struct gt_allocation_parameters allocation;
		void *pointer; /* to be freed */
		struct gt_condition_parameters condition;
	} u;
	long long last;
};

/* The work of a node that frees. Returns a code. */
int gt_graph_free_work(struct gt_work *work, const void *pointer);

/* ---- launches with attributes ---- */

/* cudaAccessPolicyWindow. Its properties have the numbers of enum gt_property. */
struct gt_access_window {
	const void *base;
	size_t bytes;
	float hit_ratio;
	unsigned hit, miss;
};

union gt_launch_value {
	unsigned char bytes[64];
	struct gt_access_window window;
	struct gt_dim3 cluster;
	struct gt_cuda_event *event;
	int number;
};

#define GT_LAUNCH_COOPERATIVE 2
#define GT_LAUNCH_CLUSTER     4

/* cudaLaunchAttribute, and CUlaunchAttribute */
struct gt_launch_attribute {
	unsigned id;
	union gt_launch_value value;
};

/* cudaLaunchConfig_t */
struct gt_launch_config {
	struct gt_dim3 grid, block;
	size_t shared;
	void *stream;
	const struct gt_launch_attribute *attributes;
	unsigned n_attributes;
};

/* Asks the stream for the launch. Returns a code. */
int gt_cudart_launch_with(const struct gt_launch_config *config, const void *function, void **arguments);

/* How many clusters of a configuration the GPU holds; the most blocks that a cluster may have. They return codes. */
int cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const struct gt_launch_config *config);
int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host, const struct gt_launch_config *config);

/* ---- CUDA arrays, the channels of their texels, and what texture and surface objects are made of ---- */

/* cudaChannelFormatDesc */
struct gt_channels {
	int bits[4]; /* 0: there is none */
	unsigned kind;
};

struct gt_array {
	struct gt_ptx_image image;
	struct gt_channels channels;
	struct gt_extent extent; /* as it was asked for */
	unsigned flags;
	bool level; /* of a mipmapped array, with which it is freed */
	struct gt_array *next;
};

#define GT_MIP_LEVELS 18 /* at most: from 131072 texels to 1 */

struct gt_mipmapped {
	struct gt_array *levels[GT_MIP_LEVELS]; /* from the largest */
	unsigned n;
	struct gt_mipmapped *next;
};

/* The array of a handle; NULL if there is none. */
struct gt_array *gt_cudart_array(const void *handle);

/* Forgets the arrays, and the texture and surface objects, whose memory was freed with all else. */
void gt_cudart_forget_arrays(void);

/* ---- texture and surface objects ---- */

enum gt_resource_type { GT_RESOURCE_ARRAY, GT_RESOURCE_MIPMAPPED_ARRAY, GT_RESOURCE_LINEAR, GT_RESOURCE_PITCH_2D };

/* cudaResourceDesc */
struct gt_resource {
	enum gt_resource_type type;
	union {
		struct gt_array *array;
		struct gt_mipmapped *mipmapped;
		struct {
			void *at;
			struct gt_channels channels;
			size_t bytes;
		} linear;
		struct {
			void *at;
			struct gt_channels channels;
			size_t width, height, pitch; /* texels, rows, bytes */
		} pitched;
		int reserved[32];
	} data;
	unsigned flags;
};

/* cudaTextureDesc */
struct gt_sampling {
	unsigned modes[3], filter, read_mode;
	int srgb;
	float border[4];
	int normalized;
	unsigned anisotropy, mipmap_filter;
	float mipmap_bias, mipmap_least, mipmap_most;
	int no_trilinear_optimization, seamless_cube;
};

#endif
