/* SPDX-License-Identifier: MIT */
/* The stand-in for the CUDA runtime: a shared library that a CUDA program finds in place of
 * libcudart, and that runs its kernels on this processor. The ABI is CUDA 13's. What is common to
 * its parts stands here; each API function stands with its like, and begins with enter() and ends
 * with leave().
 *
 * It lives in somebody's process and has no tool around it, so it is the one part of lib/ that
 * prints and that ends a process: gt_cudart_say, gt_cudart_stop. */
#ifndef GT_RUNTIME_RUNTIME_H
#define GT_RUNTIME_RUNTIME_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/error.h"
#include "base/progress.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/record/record.h"
#include "cuda/ptx/record/recorder.h"
#include "cuda/ptx/text/module.h"
#include "gpu/occupancy.h"

/* An API function: the only symbols that programs see. */
#define API __attribute__((visibility("default")))
/* A second name of one that stands before it. */
#define ALSO(NAME, OTHER) extern API __typeof__(NAME) OTHER __attribute__((alias(#NAME)))

/* cudaError_t, as far as it is returned here. */
enum {
	CUDA_SUCCESS = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_MEMORY_ALLOCATION = 2,
	CUDA_INITIALIZATION_ERROR = 3,
	CUDA_INVALID_CONFIGURATION = 9, /* of a launch by the runtime; the driver's have CUDA_INVALID_VALUE */
	CUDA_INVALID_SYMBOL = 13,
	CUDA_INVALID_CHANNEL_DESCRIPTOR = 20,
	CUDA_INVALID_MEMCPY_DIRECTION = 21,
	CUDA_INVALID_FILTER_SETTING = 26,
	CUDA_MISSING_CONFIGURATION = 52,
	CUDA_INVALID_DEVICE_FUNCTION = 98,
	CUDA_INVALID_DEVICE = 101,
	CUDA_INVALID_KERNEL_IMAGE = 200,
	CUDA_NO_KERNEL_IMAGE_FOR_DEVICE = 209,
	CUDA_UNSUPPORTED_LIMIT = 215,
	CUDA_PEER_ACCESS_UNSUPPORTED = 217,
	CUDA_INVALID_PTX = 218,
	CUDA_OPERATING_SYSTEM = 304,
	CUDA_INVALID_RESOURCE_HANDLE = 400,
	CUDA_ILLEGAL_STATE = 401,
	CUDA_NOT_READY = 600,
	CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_PEER_ACCESS_ALREADY_ENABLED = 704,
	CUDA_PEER_ACCESS_NOT_ENABLED = 705,
	CUDA_ASSERT = 710,
	CUDA_HOST_MEMORY_ALREADY_REGISTERED = 712,
	CUDA_HOST_MEMORY_NOT_REGISTERED = 713,
	CUDA_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
	CUDA_NOT_SUPPORTED = 801,
	CUDA_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_STREAM_CAPTURE_MERGE = 902,
	CUDA_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_STREAM_CAPTURE_UNJOINED = 904,
	CUDA_INVALID_CLUSTER_SIZE = 912,
	CUDA_STREAM_CAPTURE_ISOLATION = 905,
	CUDA_STREAM_CAPTURE_IMPLICIT = 906,
	CUDA_CAPTURED_EVENT = 907,
	CUDA_GRAPH_EXEC_UPDATE_FAILURE = 910,
};

struct gt_dim3 {
	unsigned x, y, z;
};

#define GT_CUDART_VERSION 13000 /* of CUDA: 1000 * major + 10 * minor */

/* The largest grids and blocks of every GPU since compute capability 3.0. */
#define GRID_X_MAX 2147483647U
#define GRID_YZ_MAX 65535U
enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 }; /* of streams, as an H100 has them */
#define BLOCK_XY_MAX 1024U
#define BLOCK_Z_MAX 64U

/* A fat binary that was registered, and what became of it once it was needed. */
struct gt_fat {
	const void *data;	      /* of the wrapper */
	const void *const *prelinked; /* containers of the translation units linked with -rdc, up to a NULL; or NULL */
	char name[32];		      /* "PTX 1", for messages */
	bool loaded;
	struct gt_gpu_target others;  /* for which its PTX is, and not for this GPU; all 0: it is, or was not looked at yet */
	struct gt_ptx_machine *machines[GT_TRACING_DEVICES]; /* of each device; NULL: it has not used the module yet */
	struct gt_ptx_module module;
	char *cubin; /* NULL: there is none */
	size_t cubin_bytes;
	const struct gt_context *owner; /* in which the driver loaded it, and with which it goes; NULL: the program's own, or a library's */
};

/* A kernel: its address on the host is its name. */
struct gt_function {
	const void *host;
	const char *name; /* mangled */
	struct gt_fat *fat;
	const struct gt_ptx_function *kernel; /* NULL: not loaded yet */
	uint32_t registers;
	bool registers_estimated;
	uint32_t local_bytes; /* per thread, of the machine code; 0 without */
	uint64_t static_shared;
	int max_dynamic_shared; /* bytes that the program asked for; 0: it did not */
	int carveout;		/* percent of shared memory that it prefers; -1: no preference */
	uint32_t cluster[3];	/* blocks, by its attributes; 0: not set */
	bool unportable_cluster; /* more than 8 blocks are allowed */
	struct gt_function *next;
};

/* A kernel that is not loaded yet; ends the process if memory is short. */
struct gt_function *gt_cudart_add_function(struct gt_fat *fat, const void *host, const char *name);

/* A __device__, __constant__ or __managed__ variable. */
struct gt_symbol {
	const void *host;
	void **managed; /* where the host keeps its pointer; NULL unless __managed__ */
	const char *name;
	struct gt_fat *fat;
	struct gt_symbol *next;
};

/* What a launch asks for, by itself or by its stream, beside its shape. */
struct gt_wishes {
	struct gt_window window; /* 0 bytes: none */
	uint32_t carveout;	 /* 1 + percent of shared memory; 0: the function's */
	uint32_t cluster[3];	 /* blocks; 0: the function's */
	bool cooperative;
};

#define GT_REASON 1024 /* bytes that hold any reason why a stream has no end */
#define GT_ENDLESS "the stream has no end (--ignore-unsupported gives it one)"

/* What the end of a process does that rests on all others (unsupported.c). */
struct gt_at_end {
	void (*open)(void); /* the runtime */
	void (*say)(bool launched); /* what is to be said of this process */
	void (*find_reason)(char reason[GT_REASON]); /* why work of this process may be missing, or "" */
	void (*explain_none)(char reason[GT_REASON]); /* why there was no launch */
};

struct gt_cudart {
	struct gt_recording record;
	const struct gt_gpu *gpu; /* that the program sees */
	struct gt_limits limits; /* of the GPU */
	struct gt_ptx_memory memory;
	uint64_t allocations; /* made so far: they are numbered */
	uint64_t launches;	/* asked for so far; those of processes recorded before are the first of them */
	uint64_t refused;	/* with an error, of others */
	int refused_code;	/* of the first of these, its kernel and shape, and which GPU its PTX is for, or "" */
	char refused_first[256], refused_for[GT_GPU_REASON];
	uint64_t instructions, copied; /* warp instructions executed so far, and what copies count as: the clock of events */
	struct gt_writer *writer; /* NULL: nothing is traced */
	struct gt_ptx_recorder *recorder;
	pthread_mutex_t lock;
	unsigned depth; /* calls under way, of the thread that has the lock */
	char child[64]; /* "2.1-" of the first child of the program's second; "" of the program */
	pid_t caller; /* the first process that called, this one or what it was forked from; 0: none has */
	int carveout;	    /* percent of shared memory that kernels without a preference have; -1: none */
	uint64_t l2_fetch_bytes, l2_persisting_bytes; /* limits that the program set; 0: it did not */
	uint32_t peers[GT_TRACING_DEVICES]; /* bit p: the device may access the memory of device p */
	int failing; /* the error of a launch of this call */
	_Atomic int failed; /* the error of an earlier one, which all later calls return; read without the lock too */
	struct gt_ptx_notes notes; /* of all machines */
	uint64_t assertions; /* of kernels, that did not hold */
	uint64_t omissions; /* work or data that a GPU would have made and that was not */
	uint64_t stubbed, stubbed_flops; /* calls of stand-ins of libraries, and what those of BLAS computed */
	unsigned fats; /* registered so far */
	struct gt_function *functions;
	struct gt_symbol *symbols;
	const struct gt_at_end *at_end;
	void (*finish)(void); /* executes the deferred work (streams.c); NULL: there is none */
	struct gt_progress progress; /* the line on a terminal */
	const char *running; /* the kernel that runs, or NULL */
	struct gt_error closed; /* why the last launch returned GT_CUDART_CLOSED */
};
extern struct gt_cudart gt_cudart;

/* Every API function lets one thread in at a time; the first opens the runtime. leave() keeps the
 * error for cudaGetLastError and returns it; after a launch that failed, it is that one's. */
void gt_cudart_enter(void);
/* The same for calls that do not need deferred work done (streams.c). */
void gt_cudart_enter_beside(void);
int gt_cudart_leave(int code);
/* A call of the program, which is no registration before main. */
static inline void gt_cudart_called(void)
{
	if (gt_cudart.caller == 0)
		gt_cudart.caller = getpid();
}
/* The first process of a program that uses CUDA takes the token, for all of them; a second program ends here. */
void gt_cudart_take_token(void);
/* Whether work that this process asks for is executed, and recorded: it was not forked after a call, and its turn has come, which is waited
 * for. If not, says so once. */
bool gt_cudart_may_work(void);
/* Before and after a launch: while it runs no other process writes. False: the stream has ended meanwhile. */
bool gt_cudart_take_stream(void);
void gt_cudart_give_stream(void);
/* The same lock without a use of the runtime: for registrations before main, and for calls of the driver API, whose errors
 * cudaGetLastError does not give. */
void gt_cudart_lock(void);
void gt_cudart_unlock(void);
/* Whether this thread has called the runtime. */
bool gt_cudart_used(void);
/* The error of an earlier launch, which this call returns if it is not CUDA_SUCCESS. */
int gt_cudart_failed(void);

/* A line on standard error that begins as gtrace-record's. */
void gt_cudart_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same when -v was given. */
void gt_cudart_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Says what went wrong and ends the process with status 1; the stream has no end then. */
_Noreturn void gt_cudart_stop(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A warning, such as of what is accepted and changes nothing: once, when *said is set, and none with --quiet. */
void gt_cudart_say_once(bool *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A warning if host code was seen to access device memory (runtime.c), once. */
void gt_cudart_say_host_access(void);

/* A call that is not there: says so once for each name and returns CUDA_NOT_SUPPORTED. After one
 * that would have made work or data the stream gets no end, unless the user wants it so. */
struct gt_missing_call {
	const char *name;
	bool omits; /* work or data of a GPU that is then missing */
	bool said;
};
int gt_cudart_unsupported(struct gt_missing_call *call);
/* The same for what a call that is there cannot do; says it every time. */
int gt_cudart_refuse(const char *what);

/* Bytes that can be read from an address on, to the end of what is mapped there without a gap. */
size_t gt_cudart_readable(const void *address);
/* The same for what a program loads while it runs: returns a code, and what is wrong. */
int gt_cudart_try_load(struct gt_fat *fat, struct gt_error *error);
void gt_cudart_unload(struct gt_fat *fat);
/* The registers of a kernel's machine code; 0: there is none. */
uint32_t gt_cudart_machine_registers(const struct gt_fat *fat, const char *name);
/* The machine of a loaded module on the device of this thread; ends the process if it cannot be made. */
struct gt_ptx_machine *gt_cudart_machine(struct gt_fat *fat);
/* The function of a host address or kernel handle, loaded; NULL if there is none, or none of its PTX runs on this GPU. */
struct gt_function *gt_cudart_function(const void *host);
/* The code of a call that gets no function. */
int gt_cudart_no_function(const void *host);
/* Bytes of all variables in constant memory of its module. */
size_t gt_cudart_constant_bytes(const struct gt_function *function);
/* The same as it was registered, without loading it. */
struct gt_function *gt_cudart_find_function(const void *host);
/* `bytes` of a variable from `offset` on: their device address. Returns a code. */
int gt_cudart_part_of_symbol(const void *symbol, size_t bytes, size_t offset, void **pointer);
static inline uint64_t gt_cudart_address(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Device memory, named after the call that asks for it; shared: that the host uses by the same
 * pointer. Each returns a code. */
int gt_cudart_allocate(void **pointer, size_t bytes, const char *call);
int gt_cudart_allocate_on(int device, void **pointer, size_t bytes, const char *call);
int gt_cudart_allocate_shared(void **pointer, size_t bytes, enum gt_ptx_memory_kind kind, const char *call);
/* Says once what limits device memory, since the program may not look at the code that it gets, which is returned. */
int gt_cudart_no_room(const char *call, size_t bytes);
int gt_cudart_release(void *pointer);
/* The device's pointer to memory of the host that was registered; NULL if it was not. */
void *gt_cudart_registered(const void *host);
/* Replaces the host's pointers to registered memory among these words by the device's. */
void gt_cudart_replace_registered(unsigned char *words, size_t bytes);
/* Memory for rows of `width` bytes, each `*pitch` behind the one before. Returns a code. */
int gt_cudart_allocate_rows(void **pointer, size_t *pitch, size_t width, size_t rows, const char *call);

/* What the GPU's description says, with something plausible where it says nothing. */
uint64_t gt_cudart_gpu_value(const char *key, uint64_t otherwise);
/* What kernels ask: the value of a cudaDeviceAttr or a cudaLimit. Returns a code. */
int gt_cudart_attribute(unsigned number, uint64_t *value);
int gt_cudart_limit(unsigned number, uint64_t *value);
/* A compute capability such as 80. */
unsigned gt_cudart_capability(void);
/* Whether the PTX of a module is for a newer GPU, or for others alone: the reason says which, and names GPUs that it is for. */
bool gt_cudart_is_for_others(const struct gt_fat *fat, char reason[GT_GPU_REASON]);

/* The identity of a device: the same in every run. */
#define GT_UUID_BYTES 16
void gt_cudart_uuid(unsigned char uuid[GT_UUID_BYTES], int device);
/* cudaGetDeviceProperties as programs of CUDA 11 know it. */
int gt_cudart_older_properties(unsigned char *to, int device, unsigned bytes);

/* A launch that failed is forgotten. All memory that the program allocated on the device is freed; its variables keep what they
 * hold. */
void gt_cudart_reset(int device);

/* Frees what the program allocated on a device. */
void gt_cudart_free_all(int device);

/* Runs a kernel; `arguments` point to one value a parameter. Returns a code, or GT_CUDART_CLOSED: it was not launched, since it
 * changes nothing and would wait for ever. */
#define GT_CUDART_CLOSED (-1)
int gt_cudart_launch(const void *function, struct gt_dim3 grid, struct gt_dim3 block, void **arguments,
		     size_t dynamic_shared, const struct gt_wishes *wishes);
/* For --verbose, what the launches of each kernel did together. */
void gt_cudart_note_launches(void);
/* Ends the process with such a launch. */
_Noreturn void gt_cudart_stop_closed(void);
/* The access policy window that a stream keeps for its launches. */
struct gt_window *gt_cudart_stream_window(void *stream);
/* How many blocks of so many threads an SM holds. */
uint64_t gt_cudart_resident(const struct gt_function *function, uint64_t threads, size_t dynamic_shared);
/* The largest block that the function can be launched with. */
int gt_cudart_max_threads(const struct gt_function *function);
/* Bytes of shared memory that a block of the function may have, besides its static ones. */
uint64_t gt_cudart_dynamic_shared_max(const struct gt_function *function);

/* For a call that programs of before CUDA 13 know otherwise: see older/older.c. */
#define SINCE_13(NAME) __asm__(".symver " #NAME ", " #NAME "@@@libcudart.so.13")

/* The same for one that programs of before CUDA 12 know otherwise. */
#define SINCE_12(NAME)                                                                             \
	extern API __typeof__(NAME) gt_in_12_##NAME __attribute__((alias(#NAME)));                  \
	__asm__(".symver gt_in_12_" #NAME ", " #NAME "@libcudart.so.12");                           \
	SINCE_13(NAME)

/* Where the program calls the runtime, by its debug information. */
#define GT_CALLSITE_TEXT 32 /* bytes of a name, with its final 0 */

/* Names what the present call makes: by the variable that its first argument names, if the source can be read and shows which of the
 * calls on a line it is, and the file and line of the call, "d_in my.cu:38"; else with the call's own name, "cudaMalloc my.cu:38". A
 * name that is given again gets a number, "d_in my.cu:38 #2". NULL for a call that makes nothing with a name of ours: those after
 * it on its line are told from it. False if the program has no debug information there. */
bool gt_callsite_name(const char *call, char name[GT_CALLSITE_TEXT]);

/* A call of the driver returns to this code: libraries that use the driver by themselves may run kernels unseen. */
void gt_cudart_driver_called_from(void *code);

/* ---- devices, and which one a thread uses: contexts, as the driver API has them. The runtime uses the primary context of each device.
 * And which devices may access the memory of each other (contexts.c) ---- */

struct gt_context {
	int device;
	unsigned flags;
	unsigned uses; /* how often a primary one was retained */
	bool primary;
	bool destroyed; /* it stays in memory, since threads may still have it */
};

int gt_cudart_devices(void);
/* Whether there is a device of that number. */
bool gt_cudart_is_device(int device);
/* The device that a runtime call of this thread uses. */
int gt_cudart_device(void);

struct gt_context *gt_context_primary(int device);
/* What the thread has on top of its stack; NULL: nothing. */
struct gt_context *gt_context_current(void);
/* Replaces the top, or takes it away. False if the stack is full. */
bool gt_context_set(struct gt_context *context);
bool gt_context_push(struct gt_context *context);
struct gt_context *gt_context_pop(void);

/* Gives a device access to the memory of another, and takes it. Each returns a code. */
int gt_peers_enable(int device, int peer, unsigned flags);
int gt_peers_disable(int device, int peer);

/* ---- what a pointer points to (allocate.c) ---- */

/* cudaMemoryType */
enum gt_pointer_type { GT_POINTER_UNREGISTERED, GT_POINTER_HOST, GT_POINTER_DEVICE, GT_POINTER_MANAGED };

struct gt_pointer {
	enum gt_pointer_type type;
	int device; /* -2: of none */
	void *device_pointer, *host_pointer; /* NULL: there is none */
};

struct gt_pointer gt_cudart_pointer(const void *pointer);

#endif
