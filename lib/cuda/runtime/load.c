/* SPDX-License-Identifier: MIT */
/* The program's modules: its registrations before main, and the machine that a fat binary becomes when its kernels are needed. */
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cuda/ptx/fatbin/fatbin.h"
#include "cuda/ptx/launch/run.h"
#include "cuda/ptx/text/module.h"
#include "cuda/runtime/runtime.h"

/* ---- ptxas ---- */

/* Runs ptxas, the assembler of the CUDA toolkit, on a PTX text: its machine code gives the number of registers of a
 * kernel. */

#define PATH_BYTES 4096

extern char **environ;

struct files {
	char folder[PATH_BYTES], ptx[PATH_BYTES + 16], cubin[PATH_BYTES + 16];
};

static void remove_files(const struct files *files)
{
	unlink(files->ptx);
	unlink(files->cubin);
	rmdir(files->folder);
}

static void make_files(struct files *files, const char *text, size_t bytes)
{
	const char *folder = gt_temporary_directory();
	struct gt_error error;

	snprintf(files->folder, sizeof files->folder, "%s/gtrace-ptxas.XXXXXX", folder);
	if (!mkdtemp(files->folder))
		gt_cudart_stop("%s: cannot make a temporary folder: %s", folder, strerror(errno));
	snprintf(files->ptx, sizeof files->ptx, "%s/k.ptx", files->folder);
	snprintf(files->cubin, sizeof files->cubin, "%s/k.cubin", files->folder);
	if (gt_whole_file_write(files->ptx, text, bytes, "the PTX", &error) != 0) {
		remove_files(files);
		gt_cudart_stop("%s", error.text);
	}
}

/* ptxas runs without this runtime in LD_PRELOAD. */
static bool run_ptxas(const struct files *files, const char *sm)
{
	char architecture[32];
	int status = -1;
	pid_t child;

	snprintf(architecture, sizeof architecture, "-arch=%s", sm);
	const char *arguments[] = {"env", "-u", "LD_PRELOAD", "ptxas", architecture, "-o", files->cubin, files->ptx, NULL};
	if (posix_spawnp(&child, "env", NULL, NULL, (char **)(uintptr_t)arguments, environ) != 0)
		return false;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return status == 0;
}

static char *read_all(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	char *data = NULL;
	long size = -1;

	if (file && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size > 0 && (data = malloc((size_t)size))) {
		rewind(file);
		*bytes = fread(data, 1, (size_t)size, file);
		if (*bytes < (size_t)size) {
			free(data);
			data = NULL;
		}
	}
	if (file)
		fclose(file);
	return data;
}

/* Asks ptxas for the machine code of a PTX text; ends the process if it makes none. Owned by the caller. */
static char *assemble(const char *name, const char *text, size_t bytes, struct gt_gpu_target target, size_t *cubin_bytes)
{
	const unsigned has = gt_cudart_capability();
	struct files files;
	char sm[16];

	snprintf(sm, sizeof sm, "sm_%u%.1s", target.capability > has ? target.capability : has, &target.features);
	make_files(&files, text, bytes);
	char *cubin = run_ptxas(&files, sm) ? read_all(files.cubin, cubin_bytes) : NULL;
	remove_files(&files);
	if (!cubin)
		gt_cudart_stop("--ptxas: ptxas makes no machine code for %s of %s", sm, name);
	gt_cudart_note("%s: registers are those that ptxas gives for %s", name, sm);
	return cubin;
}

/* ---- loading a fat binary ---- */

/* A cubin by itself: an ELF file. */
static bool is_cubin(const void *data)
{
	static const unsigned char magic[] = {0x7f, 'E', 'L', 'F'};

	return gt_cudart_readable(data) >= sizeof magic && memcmp(data, magic, sizeof magic) == 0;
}

/* PTX for all GPUs from a later one on is run all the same, since a program may have nothing else for the model. PTX for other GPUs
 * alone is not: no driver takes it. */
static int check_target(struct gt_fat *fat, struct gt_gpu_target target, struct gt_error *error)
{
	char reason[GT_GPU_REASON];

	if (target.features == 0 || gt_gpu_runs(gt_cudart_capability(), target))
		return 0;
	fat->others = target;
	gt_gpu_explain(gt_cudart.record.gpus, gt_cudart_capability(), target, reason);
	return gt_fail(error, "%s", reason);
}

/* Adds the PTX of one container, if it has any. Returns a code. */
static int add_ptx(struct gt_fat *fat, const void *data, struct gt_ptx_text *to, struct gt_error *error)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	size_t bytes;

	int found = gt_fatbin_open(&fatbin, data, gt_cudart_readable(data), error);
	if (found == 0)
		found = gt_fatbin_choose_ptx(&fatbin, gt_cudart_capability(), &entry, error);
	if (found == 1 && check_target(fat, entry.target, error) != 0)
		return CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
	char *text = found == 1 ? gt_fatbin_unpack(&entry, &bytes, error) : NULL;
	if (found < 0 || (found == 1 && !text))
		return CUDA_INVALID_KERNEL_IMAGE;
	if (!text)
		return CUDA_SUCCESS;
	int failed = gt_ptx_link(to, text, bytes, error);
	free(text);
	return failed ? CUDA_INVALID_PTX : CUDA_SUCCESS;
}

static int gather_ptx(struct gt_fat *fat, struct gt_ptx_text *to, struct gt_error *error)
{
	const void *const single[] = {fat->data, NULL};
	const void *const *containers = fat->prelinked && fat->prelinked[0] ? fat->prelinked : single;
	int code = CUDA_SUCCESS;

	for (size_t i = 0; containers[i] && code == CUDA_SUCCESS; i++)
		if (!is_cubin(containers[i]))
			code = add_ptx(fat, containers[i], to, error);
	if (code == CUDA_SUCCESS && to->bytes == 0) {
		gt_fail(error, "no PTX, only machine code: build it with -arch=sm_75, "
			       "or add -gencode arch=compute_75,code=compute_75");
		code = CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
	}
	return code;
}

/* Whether nvcc linked nothing, since the units have PTX alone, which a driver links: the container of the result is empty. */
static bool is_linked_by_driver(const struct gt_fat *fat)
{
	struct {
		uint32_t magic;
		uint16_t version, header;
		uint64_t bytes;
	} container = {.bytes = 1};

	if (fat->prelinked && fat->prelinked[0] && gt_cudart_readable(fat->data) >= sizeof container)
		memcpy(&container, fat->data, sizeof container);
	return container.bytes == 0;
}

/* The cubin is used for the number of registers only, so it may be missing, but not be damaged. Returns a code. */
static int take_cubin(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_cubin_kernel about;

	if (is_linked_by_driver(fat))
		return CUDA_SUCCESS;
	int found = gt_fatbin_open(&fatbin, fat->data, gt_cudart_readable(fat->data), error);
	if (found == 0)
		found = gt_fatbin_choose_code(&fatbin, gt_cudart_capability(), &entry, error);
	if (found == 1)
		fat->cubin = gt_fatbin_unpack(&entry, &fat->cubin_bytes, error);
	if (found < 0 || (found == 1 && !fat->cubin) ||
	    (fat->cubin && gt_cubin_find(fat->cubin, fat->cubin_bytes, "", &about, error) < 0))
		return CUDA_INVALID_KERNEL_IMAGE;
	return CUDA_SUCCESS;
}

/* For --ptx, writes the text whose lines messages and pc refer to: DIR/1.ptx is "PTX 1", DIR/2-1.ptx that of the second child. */
static void write_ptx(const struct gt_fat *fat, const struct gt_ptx_text *text)
{
	char path[GT_TRACING_PATH + 32 + sizeof gt_cudart.child];
	struct gt_error error;

	if (!gt_cudart.record.tracing.ptx)
		return;
	snprintf(path, sizeof path, "%s/%s%s.ptx", gt_cudart.record.tracing.ptx, gt_cudart.child, fat->name + strlen("PTX "));
	if (gt_whole_file_write(path, text->data, text->bytes, "the PTX", &error) != 0)
		gt_cudart_stop("%s", error.text);
}

static void fill_managed(const struct gt_fat *fat)
{
	struct gt_error error;
	uint64_t address, bytes;

	for (struct gt_symbol *symbol = gt_cudart.symbols; symbol; symbol = symbol->next) {
		if (symbol->fat != fat || !symbol->managed)
			continue;
		if (gt_cudart_devices() > 1)
			gt_cudart_stop("%s: the managed variable '%s' and more than one device: this is not supported", fat->name, symbol->name);
		if (gt_ptx_symbol(fat->machines[0], symbol->name, &address, &bytes, &error) != 0)
			gt_cudart_stop("%s", error.text);
		*symbol->managed = gt_ptx_at(&gt_cudart.memory, address, bytes);
	}
}

static void say(void *context, const char *text)
{
	(void)context;
	gt_cudart_say("%s", text);
}

/* Makes the machine of a module on the device of this thread, which has variables of its own. Returns a code. */
static int make_machine(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_ptx_notes *notes = &gt_cudart.notes;
	struct gt_ptx_machine **machine = &fat->machines[gt_cudart_device()];

	gt_cudart.memory.owner = (unsigned)gt_cudart_device();
	*machine = gt_ptx_machine_open(&fat->module, &gt_cudart.memory, fat->name, error);
	if (!*machine)
		return CUDA_INVALID_PTX;
	notes->say = notes->fault = say;
	notes->quiet = gt_cudart.record.quiet;
	gt_ptx_machine_notes(*machine, notes);
	gt_ptx_machine_gpu(*machine, gt_cudart_capability(), gt_limits_full_registers(&gt_cudart.limits));
	return CUDA_SUCCESS;
}

/* Parses a module, and makes its first machine. Returns a code. */
static int make(struct gt_fat *fat, const struct gt_ptx_text *text, struct gt_error *error)
{
	struct gt_error reason;

	if (gt_ptx_parse(&fat->module, fat->name, text->data, text->bytes, error) != 0)
		return strstr(text->data, ".version") ? CUDA_INVALID_PTX : CUDA_INVALID_KERNEL_IMAGE;
	if (check_target(fat, fat->module.target, &reason) != 0) {
		gt_fail(error, "%s: %s", fat->name, reason.text);
		return CUDA_NO_KERNEL_IMAGE_FOR_DEVICE;
	}
	if (!fat->cubin && gt_cudart.record.tracing.ptxas)
		fat->cubin = assemble(fat->name, text->data, text->bytes, fat->module.target, &fat->cubin_bytes);
	return make_machine(fat, error);
}

int gt_cudart_try_load(struct gt_fat *fat, struct gt_error *error)
{
	struct gt_ptx_text text = {0};
	struct gt_error reason;

	if (fat->loaded)
		return CUDA_SUCCESS;
	int code = gather_ptx(fat, &text, &reason);
	if (code == CUDA_SUCCESS)
		code = take_cubin(fat, &reason);
	if (code != CUDA_SUCCESS)
		gt_fail(error, "%s: %s", fat->name, reason.text);
	if (code == CUDA_SUCCESS) {
		write_ptx(fat, &text);
		code = make(fat, &text, error);
	}
	free(text.data);
	fat->loaded = code == CUDA_SUCCESS;
	if (code == CUDA_SUCCESS)
		fill_managed(fat);
	else
		gt_cudart_unload(fat);
	return code;
}

void gt_cudart_unload(struct gt_fat *fat)
{
	for (size_t i = 0; i < GT_TRACING_DEVICES; i++) {
		gt_ptx_machine_close(fat->machines[i]);
		fat->machines[i] = NULL;
	}
	gt_ptx_module_free(&fat->module);
	free(fat->cubin);
	fat->cubin = NULL;
	fat->loaded = false;
}

/* Loads what was registered, if it has not been; ends the process if it is broken. Returns a code: the program may try what is not
 * for its GPU, and go on with something else. */
static int load(struct gt_fat *fat)
{
	struct gt_error error;
	const int code = gt_cudart_try_load(fat, &error);

	if (code != CUDA_SUCCESS && fat->others.capability == 0)
		gt_cudart_stop("%s", error.text);
	return code;
}

struct gt_ptx_machine *gt_cudart_machine(struct gt_fat *fat)
{
	struct gt_error error;

	if (!fat->machines[gt_cudart_device()] && make_machine(fat, &error) != CUDA_SUCCESS)
		gt_cudart_stop("%s", error.text);
	return fat->machines[gt_cudart_device()];
}

/* ---- kernels and variables ---- */

/* What the machine code says of a kernel; zeros if there is none. */
static struct gt_cubin_kernel machine_code_of(const struct gt_fat *fat, const char *name)
{
	struct gt_cubin_kernel about;
	struct gt_error error;
	const bool is_known = fat->cubin && gt_cubin_find(fat->cubin, fat->cubin_bytes, name, &about, &error) == 1;

	return is_known ? about : (struct gt_cubin_kernel){0};
}

uint32_t gt_cudart_machine_registers(const struct gt_fat *fat, const char *name)
{
	return machine_code_of(fat, name).registers;
}

static void load_registers(struct gt_function *function)
{
	struct gt_error error;
	struct gt_fat *fat = function->fat;
	bool said = false; /* of this kernel */

	function->registers = gt_cudart_machine_registers(fat, function->name);
	if (fat->cubin && function->registers == 0)
		gt_cudart_say_once(&said, "warning: %s: the machine code has no registers of kernel %s: they are estimated", fat->name, function->name);
	if (gt_ptx_registers_of(gt_cudart_machine(fat), function->kernel, function->registers, &function->registers,
			     &function->registers_estimated, &error) != 0)
		gt_cudart_stop("%s", error.text);
}

static uint64_t local_bytes_of(const struct gt_ptx_function *function)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < function->n_variables; i++)
		if (function->variables[i].space == GT_PTX_LOCAL)
			bytes += (function->variables[i].bytes + 15) / 16 * 16;
	return bytes;
}

/* Local memory is traced as the PTX has it. The machine code has more, where registers are spilled, or none, where arrays of the PTX are in registers or are read
 * from the parameters. What it inlines may have arrays, too. */
static void compare_local_memory(const struct gt_function *function, const struct gt_cubin_kernel *code)
{
	static bool spills, none;
	const struct gt_ptx_module *module = &function->fat->module;
	const uint32_t spaces = gt_cudart.record.tracing.spaces;
	const uint64_t own = local_bytes_of(function->kernel);
	uint64_t most = own;
	char name[GT_KERNEL_NAME];

	if (gt_cudart.record.stream < 0 || (spaces && !(spaces >> GT_LOCAL & 1)) || !code->says_local)
		return;
	for (size_t i = 0; i < module->n_functions; i++)
		most += module->functions[i].entry ? 0 : local_bytes_of(&module->functions[i]);
	const char *shown = gt_ptx_shown_name(module, function->kernel, name);
	if (code->local_bytes > most)
		gt_cudart_say_once(&spills, "warning: kernel %.256s: the machine code has %" PRIu32 " bytes of local memory a thread, the PTX %" PRIu64
				   ": accesses to spilled registers are not traced", shown, code->local_bytes, own);
	else if (code->local_bytes == 0 && own > 0)
		gt_cudart_say_once(&none, "warning: kernel %.256s: the machine code has no local memory, the PTX %" PRIu64
				   " bytes a thread: accesses to it are traced that a GPU does not make", shown, own);
}

struct gt_function *gt_cudart_find_function(const void *host)
{
	struct gt_function *function = gt_cudart.functions;

	/* Programs built by nvcc pass the handle from __cudaGetKernel. */
	while (function && function->host != host && (const void *)function != host)
		function = function->next;
	return function;
}

struct gt_function *gt_cudart_function(const void *host)
{
	struct gt_function *function = gt_cudart_find_function(host);
	struct gt_error error;

	if (!function || function->kernel)
		return function;
	if (load(function->fat) != CUDA_SUCCESS)
		return NULL;
	function->kernel = gt_ptx_function_named(&function->fat->module, function->name);
	if (!function->kernel || !function->kernel->entry)
		gt_cudart_stop("kernel %s is not in the program's PTX", function->name);
	if (gt_ptx_static_shared(gt_cudart_machine(function->fat), function->kernel, &function->static_shared, &error) != 0)
		gt_cudart_stop("%s", error.text);
	load_registers(function);
	const struct gt_cubin_kernel code = machine_code_of(function->fat, function->name);
	function->local_bytes = code.local_bytes;
	compare_local_memory(function, &code);
	return function;
}

int gt_cudart_no_function(const void *host)
{
	const struct gt_function *function = gt_cudart_find_function(host);

	return function && function->fat->others.capability > 0 ? CUDA_NO_KERNEL_IMAGE_FOR_DEVICE : CUDA_INVALID_DEVICE_FUNCTION;
}

size_t gt_cudart_constant_bytes(const struct gt_function *function)
{
	const struct gt_ptx_module *module = &function->fat->module;
	size_t bytes = 0;

	for (size_t i = 0; i < module->n_variables; i++) {
		const struct gt_ptx_variable *one = &module->variables[i];
		if (one->space == GT_PTX_CONST && !one->external)
			bytes = (bytes + one->alignment - 1) / one->alignment * one->alignment + (size_t)one->bytes;
	}
	return bytes;
}

/* The device address and size of a variable. Returns a code. */
static int find_symbol(const void *host, uint64_t *address, uint64_t *bytes)
{
	struct gt_symbol *symbol = gt_cudart.symbols;
	struct gt_error error;

	while (symbol && symbol->host != host)
		symbol = symbol->next;
	if (!symbol)
		return CUDA_INVALID_SYMBOL;
	const int code = load(symbol->fat);
	if (code != CUDA_SUCCESS)
		return code;
	return gt_ptx_symbol(gt_cudart_machine(symbol->fat), symbol->name, address, bytes, &error) == 0 ? CUDA_SUCCESS
											       : CUDA_INVALID_SYMBOL;
}

int gt_cudart_part_of_symbol(const void *symbol, size_t bytes, size_t offset, void **pointer)
{
	uint64_t address, size;
	int code = find_symbol(symbol, &address, &size);

	if (code != CUDA_SUCCESS)
		return code;
	if (offset > size || bytes > size - offset)
		return CUDA_INVALID_VALUE;
	*pointer = (void *)(uintptr_t)(address + offset);
	return CUDA_SUCCESS;
}

API int cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	uint64_t address, size = 0;

	gt_cudart_enter();
	int code = bytes ? find_symbol(symbol, &address, &size) : CUDA_INVALID_VALUE;
	if (code == CUDA_SUCCESS)
		*bytes = size;
	return gt_cudart_leave(code);
}

/* ---- registration ---- */

/* The registrations of a program before main: fat binaries, and the host addresses of kernels and variables. Nothing is read
 * until it is used. */

#define WRAPPER_MAGIC 0x466243b1U
#define WRAPPER_LINKED 2U /* version: linked with -rdc */

struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *prelinked; /* of a linked one; else a file's name or NULL */
};

static void *take(size_t bytes)
{
	void *taken = calloc(1, bytes);

	if (!taken)
		gt_cudart_stop("out of memory");
	return taken;
}

API void **__cudaRegisterFatBinary(const void *text)
{
	const struct wrapper *wrapper = text;

	gt_cudart_lock();
	if (gt_cudart_readable(wrapper) < sizeof *wrapper || wrapper->magic != WRAPPER_MAGIC ||
	    gt_cudart_readable(wrapper->data) == 0 ||
	    (wrapper->version == WRAPPER_LINKED && wrapper->prelinked &&
	     gt_cudart_readable(wrapper->prelinked) < sizeof *wrapper->prelinked))
		gt_cudart_stop("the program registers something that is not a fat binary");
	struct gt_fat *fat = take(sizeof *fat);
	fat->data = wrapper->data;
	fat->prelinked = wrapper->version == WRAPPER_LINKED ? wrapper->prelinked : NULL;
	snprintf(fat->name, sizeof fat->name, "PTX %u", ++gt_cudart.fats);
	gt_cudart_unlock();
	return (void **)fat;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* Does nothing, since other exit handlers may still launch kernels. */
API void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

struct gt_function *gt_cudart_add_function(struct gt_fat *fat, const void *host, const char *name)
{
	struct gt_function *function = take(sizeof *function);

	*function = (struct gt_function){.host = host, .name = name, .fat = fat, .carveout = -1, .next = gt_cudart.functions};
	gt_cudart.functions = function;
	return function;
}

API void __cudaRegisterFunction(void **handle, const void *host, char *device, const char *name, int threads,
				void *thread, void *block, void *block_dim, void *grid_dim, int *warp_size)
{
	(void)device, (void)threads, (void)thread, (void)block, (void)block_dim, (void)grid_dim, (void)warp_size;
	gt_cudart_lock();
	gt_cudart_add_function((struct gt_fat *)handle, host, name);
	gt_cudart_unlock();
}

static void register_symbol(void **handle, const void *host, void **managed, const char *name)
{
	gt_cudart_lock();
	struct gt_symbol *symbol = take(sizeof *symbol);
	*symbol = (struct gt_symbol){.host = host, .managed = managed, .name = name, .fat = (struct gt_fat *)handle,
				     .next = gt_cudart.symbols};
	gt_cudart.symbols = symbol;
	gt_cudart_unlock();
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
			   int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	register_symbol(handle, host, NULL, name);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external,
				  size_t size, int constant, int global)
{
	(void)device, (void)external, (void)size, (void)constant, (void)global;
	register_symbol(handle, host, host, name);
}

API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
	(void)handle, (void)name, (void)host, (void)size;
}

/* The host calls this before its first access to a managed variable. */
API char __cudaInitModule(void **handle)
{
	gt_cudart_lock();
	for (struct gt_symbol *symbol = gt_cudart.symbols; symbol; symbol = symbol->next)
		if (symbol->managed && symbol->fat == (struct gt_fat *)handle)
			load(symbol->fat);
	gt_cudart_unlock();
	return 1;
}
