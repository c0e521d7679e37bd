/* SPDX-License-Identifier: MIT */
/* The tracing options; what gtrace-record tells the recorded program, through its environment; and why a program may have no device code. */
/* For realpath, which is an XSI extension. */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/installed.h"
#include "base/options.h"
#include "base/pipeline.h"
#include "cuda/ptx/exec/machine.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/record/record.h"

/* ---- tracing options ---- */

void gt_ptx_tracing_begin(struct gt_ptx_tracing *tracing)
{
	*tracing = (struct gt_ptx_tracing){
		.spaces = UINT32_C(1) << GT_GLOBAL | UINT32_C(1) << GT_LOCAL | UINT32_C(1) << GT_CONSTANT,
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
	gt_ptx_wishes_free(tracing->places);
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
	if (strcmp(list, "none") == 0)
		return 0;
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ","), i = 0;
		while (i < n && (strlen(spaces[i].name) != length || strncmp(spaces[i].name, at, length) != 0))
			i++;
		if (i == n)
			return gt_fail(error, "'%s': expected none, or a list of global, local, shared, texture, constant", list);
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

static int keep_text(char **text, const char *value, struct gt_error *error)
{
	free(*text);
	*text = strdup(value);
	return *text ? 0 : gt_fail_memory(error, "the value of an option");
}

static int set_names(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	for (const char *at = value; *at; at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strcspn(at, ","))
		if (strcspn(at, ",") > GT_TRACING_NAME)
			return gt_fail(error, "'%.*s': expected names of %d bytes at most", (int)strcspn(at, ","), at, GT_TRACING_NAME);
	return keep_text(&tracing->names, value, error);
}

static int set_at(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	return gt_ptx_wishes_read(&tracing->places, value, error);
}

static int locate_folder(const char *value, char path[GT_TRACING_PATH], struct gt_error *error)
{
	return realpath(value, path) && access(path, W_OK | X_OK) == 0 ? 0 : gt_fail_errno(error, "%s", value);
}

static int set_stub(struct gt_ptx_tracing *tracing, const char *value, struct gt_error *error)
{
	const char *before = tracing->stubs ? tracing->stubs : "";
	char all[GT_TRACING_PATH];

	if (!*value || strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(value) ||
	    (size_t)snprintf(all, sizeof all, "%s%s%s", before, *before ? "," : "", value) >= sizeof all)
		return gt_fail(error, "'%s': expected the name of a plug-in", value);
	return keep_text(&tracing->stubs, all, error);
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
	 .help = "trace accesses to these: global, local, shared, texture, constant (global,local); none: launches alone"},
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
	{.name = "at", .form = "NAME=ADDRESS,...", .tools = PTX | RECORD, .set = set_at,
	 .help = "put allocations of these names, or of these numbers from 1, at multiples of 512"},
	{.name = "ptx", .form = "DIR", .tools = RECORD, FLAG(ptx), .locate = locate_folder,
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
	if (option->form)
		return keep_text((char **)(void *)((char *)tracing + option->flag), value, error);
	*(bool *)((char *)tracing + option->flag) = true;
	return 0;
}

void gt_tracing_help(const struct gt_tracing_option *option, char text[GT_TRACING_HELP])
{
	size_t used = option->letter ? (size_t)snprintf(text, GT_TRACING_HELP, "-%c, ", option->letter) : 0;

	snprintf(text + used, GT_TRACING_HELP - used, "--%s%s%s", option->name, option->form ? " " : "",
		 option->form ? option->form : "");
}

/* ---- settings in the environment ---- */

#define DRIVER "libcuda.so.1"
#define PATH_BYTES GT_RUNTIME_FOLDER
#define STUB_BYTES (PATH_BYTES + 64) /* of the path of a plug-in */
#define PREFIX "GTRACE_RECORD_"
#define ARGUMENTS PREFIX "ARGUMENTS"
#define GPU PREFIX "DEFAULT_GPU"
#define STREAM GT_RECORD_STREAM
#define TOKEN PREFIX "TOKEN"
#define WORDS PREFIX "WORDS"
#define PROCESS PREFIX "PROCESS"
#define VERBOSE PREFIX "VERBOSE"
#define QUIET PREFIX "QUIET"
#define GPUS PREFIX "GPUS"
#define SEPARATOR '\x1f' /* after every argument */
#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* ---- options ---- */

/* "GTRACE_RECORD_MAX_INSTRUCTIONS". */
static const char *variable(const struct gt_tracing_option *option, char name[64])
{
	int length = snprintf(name, 64, PREFIX "%s", option->name);

	for (int i = 0; i < length; i++)
		name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
	return name;
}

static const struct gt_tracing_option *next(const struct gt_tracing_option *option)
{
	while (option < gt_tracing_options + gt_tracing_options_n && !(option->tools & GT_TRACING_RECORD))
		option++;
	return option < gt_tracing_options + gt_tracing_options_n ? option : NULL;
}

static void begin(struct gt_recording *record)
{
	*record = (struct gt_recording){.stream = -1, .token = -1, .words = -1};
	gt_ptx_tracing_begin(&record->tracing);
}

void gt_record_begin(struct gt_recording *record)
{
	char name[64];

	begin(record);
	for (const struct gt_tracing_option *option = next(gt_tracing_options); option; option = next(option + 1))
		unsetenv(variable(option, name));
	unsetenv(GPU);
}

void gt_record_clear(struct gt_recording *record)
{
	gt_ptx_tracing_clear(&record->tracing);
	gt_gpu_clear(&record->gpu);
	free(record->argument_text);
	record->argument_text = NULL;
}

int gt_record_set(struct gt_recording *record, const struct gt_tracing_option *option, const char *value,
		  struct gt_error *error)
{
	char path[GT_TRACING_PATH], name[64];

	if (option->locate && option->locate(value, path, error) != 0)
		return -1;
	if (option->locate)
		value = path;
	if (gt_ptx_tracing_set(&record->tracing, option, value, error) != 0)
		return -1;
	return setenv(variable(option, name), option->form ? value : "1", 1) == 0 ? 0 : gt_fail_memory(error, "the environment");
}

int gt_record_environment(struct gt_recording *record, struct gt_error *error)
{
	const char *devices = getenv("GTRACE_DEVICES");
	const struct gt_tracing_option *option = next(gt_tracing_options);
	struct gt_error reason;

	while (option && strcmp(option->name, "devices") != 0)
		option = next(option + 1);
	if (!devices || !option || gt_record_set(record, option, devices, &reason) == 0)
		return 0;
	return gt_fail(error, "GTRACE_DEVICES: %s", reason.text);
}

/* ---- the rest ---- */

/* All arguments in one text. NULL when memory is short. */
static char *join(char *const arguments[])
{
	size_t bytes = 1, at = 0;

	for (size_t i = 0; arguments[i]; i++)
		bytes += strlen(arguments[i]) + 1;
	char *text = malloc(bytes);
	if (!text)
		return NULL;
	for (size_t i = 0; arguments[i]; i++)
		at += (size_t)snprintf(text + at, bytes - at, "%s%c", arguments[i], SEPARATOR);
	text[at] = '\0';
	return text;
}

/* Joins two words of a list in the environment; one may be empty. */
static int set_list(const char *variable, const char *first, const char *second, struct gt_error *error)
{
	size_t bytes = strlen(first) + strlen(second) + 2;
	char *text = malloc(bytes);

	if (text)
		snprintf(text, bytes, "%s%s%s", first, *first && *second ? ":" : "", second);
	int failed = !text || setenv(variable, text, 1) != 0;
	free(text);
	return failed ? gt_fail_memory(error, "the environment") : 0;
}

/* ---- plug-ins ---- */

/* The folder of the next plug-in that is named from *at on, as a path; "" behind the last. */
static void next_plugin(const char *folder, const char **at, char path[STUB_BYTES])
{
	const int bytes = *at ? (int)strcspn(*at, ",") : 0;

	path[0] = '\0';
	if (bytes > 0)
		snprintf(path, STUB_BYTES, "%s/" GT_RECORD_STUBS "/%.*s", folder, bytes, *at);
	if (bytes > 0)
		*at += bytes + ((*at)[bytes] == ',');
}

static int check_plugins(const struct gt_recording *record, struct gt_error *error)
{
	char folder[PATH_BYTES], path[STUB_BYTES];
	const char *at = record->tracing.stubs;

	if (!at || gt_runtime_folder(folder, error) != 0)
		return at ? -1 : 0;
	for (next_plugin(folder, &at, path); path[0]; next_plugin(folder, &at, path))
		if (access(path, R_OK | X_OK) != 0)
			return gt_fail(error, "--stub: no plug-in '%s': those that gtrace has come with the package gtrace-cuda-plugins, or "
					      "with make plugins and make install-plugins; cublas wants a CBLAS there, cufft FFTW3", path);
	return 0;
}

static int is_library(const struct dirent *entry)
{
	return strstr(entry->d_name, ".so") != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int preload(const char *folder, const char *file, struct gt_error *error)
{
	char path[STUB_BYTES + NAME_MAX + 2];
	const char *list = getenv("LD_PRELOAD");

	snprintf(path, sizeof path, "%s/%s", folder, file);
	if (strpbrk(path, " :"))
		return gt_fail(error, "--stub: '%s' has a blank or a colon, and cannot be preloaded", path);
	return set_list("LD_PRELOAD", list ? list : "", path, error);
}

/* Puts the libraries of the plug-ins into the preload list. */
static int export_plugins(const struct gt_recording *record, const char *folder, struct gt_error *error)
{
	char path[STUB_BYTES];
	const char *at = record->tracing.stubs;
	int failed = 0;

	for (next_plugin(folder, &at, path); path[0] && failed == 0; next_plugin(folder, &at, path)) {
		struct dirent **libraries;
		int n = scandir(path, &libraries, is_library, by_name);
		if (n < 0)
			return gt_fail_errno(error, "--stub: %s", path);
		for (int i = 0; i < n; i++) {
			failed = failed != 0 ? failed : preload(path, libraries[i]->d_name, error);
			free(libraries[i]);
		}
		free(libraries);
	}
	return failed;
}

/* The memory of all devices lies in one window. */
int gt_record_check(const struct gt_recording *record, struct gt_error *error)
{
	uint64_t devices = record->tracing.devices;

	if (record->tracing.device_memory > GT_PTX_WINDOW / devices)
		return gt_fail(error, "%" PRIu64 " devices can have at most %" PRIu64 " bytes of memory each: see --memory", devices,
			       GT_PTX_WINDOW / devices);
	if (record->tracing.traced_devices >> devices != 0)
		return gt_fail(error, "--device: there are %" PRIu64 " devices, and the first is number 0: see --devices", devices);
	return check_plugins(record, error);
}

/* ---- the environment ---- */

/* Both LD_LIBRARY_PATH and LD_PRELOAD lead to the stand-in runtime: the second works whatever the program's own search path,
 * the first if the runtime's path cannot be in a preload list. */
static int export_runtime(const struct gt_recording *record, struct gt_error *error)
{
	char folder[PATH_BYTES], library[PATH_BYTES + 32];
	const char *path = getenv("LD_LIBRARY_PATH");

	if (gt_runtime_folder(folder, error) != 0 || set_list("LD_LIBRARY_PATH", folder, path ? path : "", error) != 0)
		return -1;
	for (size_t i = 0; i <= GT_RUNTIMES && !strpbrk(folder, " :"); i++) {
		const char *preload = getenv("LD_PRELOAD");
		snprintf(library, sizeof library, "%s/%s", folder, i < GT_RUNTIMES ? gt_runtime_names[i].name : DRIVER);
		if (set_list("LD_PRELOAD", preload ? preload : "", library, error) != 0)
			return -1;
	}
	return export_plugins(record, folder, error);
}

static int set_number(const char *name, int value)
{
	char text[32];

	snprintf(text, sizeof text, "%d", value);
	return setenv(name, text, 1);
}

int gt_record_default_gpu(struct gt_recording *record, struct gt_error *error)
{
	char path[PATH_BYTES], absolute[PATH_BYTES];

	if (gt_gpu_load(&record->gpu, GT_TRACING_GPU, error) != 0 || gt_gpu_path(GT_TRACING_GPU, path, sizeof path, error) != 0)
		return -1;
	if (!realpath(path, absolute))
		return gt_fail_errno(error, "%s", path);
	return setenv(GPU, absolute, 1) == 0 ? 0 : gt_fail_memory(error, "the environment");
}

int gt_record_export(const struct gt_recording *record, struct gt_error *error)
{
	if (export_runtime(record, error) != 0)
		return -1;
	char gpus[PATH_BYTES], *arguments = join(record->arguments);
	struct gt_error ignored; /* without descriptions none is proposed */
	int failed = (gt_gpu_directory(gpus, sizeof gpus, &ignored) == 0 && setenv(GPUS, gpus, 1) != 0) || !arguments || setenv(ARGUMENTS, arguments, 1) != 0;

	free(arguments);
	failed |= set_number(STREAM, record->stream) | set_number(TOKEN, record->token) | set_number(WORDS, record->words) |
		  set_number(PROCESS, record->process) | set_number(VERBOSE, record->verbose) | set_number(QUIET, record->quiet);
	return failed ? gt_fail_memory(error, "the environment") : 0;
}

/* ---- in the recorded program ---- */

/* Reads the number in a variable; *value is unchanged if there is no such variable. */
static int get_number(const char *name, int *value, struct gt_error *error)
{
	const char *text = getenv(name);
	struct gt_error reason;
	uint64_t number;

	if (!text)
		return 0;
	if (gt_parse_count(text, 0, INT_MAX, &number, &reason) != 0)
		return gt_fail(error, "%s: %s", name, reason.text);
	*value = (int)number;
	return 0;
}

static int import_options(struct gt_recording *record, struct gt_error *error)
{
	char name[64];
	struct gt_error reason;

	for (const struct gt_tracing_option *option = next(gt_tracing_options); option; option = next(option + 1)) {
		const char *text = getenv(variable(option, name));
		if (text && gt_ptx_tracing_set(&record->tracing, option, text, &reason) != 0)
			return gt_fail(error, "%s: %s", name, reason.text);
	}
	return 0;
}

static int import_gpu(struct gt_recording *record, struct gt_error *error)
{
	const char *path = getenv(GPU);

	return path && record->tracing.gpu.n == 0 ? gt_gpu_load(&record->gpu, path, error) : 0;
}

static int import_arguments(struct gt_recording *record, struct gt_error *error)
{
	const char *joined = getenv(ARGUMENTS);
	size_t n = 0;

	record->argument_text = strdup(joined ? joined : "");
	char *at = record->argument_text, *end;
	if (!at)
		return gt_fail_memory(error, "arguments");
	for (; n < GT_RECORD_ARGUMENTS && (end = strchr(at, SEPARATOR)); at = end + 1) {
		*end = '\0';
		record->arguments[n++] = at;
	}
	record->arguments[n] = NULL;
	return 0;
}

int gt_record_import(struct gt_recording *record, struct gt_error *error)
{
	int verbose = 0, quiet = 0;

	begin(record);
	/* The token first: whoever has it has reported what is wrong. */
	if (get_number(TOKEN, &record->token, error) != 0 || get_number(STREAM, &record->stream, error) != 0 ||
	    get_number(WORDS, &record->words, error) != 0 || get_number(PROCESS, &record->process, error) != 0 ||
	    import_options(record, error) != 0 || import_gpu(record, error) != 0 || get_number(VERBOSE, &verbose, error) != 0 || get_number(QUIET, &quiet, error) != 0)
		return -1;
	record->verbose = verbose != 0;
	record->quiet = quiet != 0;
	if (getenv(GPUS))
		snprintf(record->gpus, sizeof record->gpus, "%s", getenv(GPUS));
	return import_arguments(record, error);
}

/* Explains why a program has no device code, from the libraries that its file needs. */

#define RUNTIME "libcudart.so."
#define BUILD "build it with nvcc -cudart shared and with PTX"

/* Prefixes of needed libraries; `runs`: the library has kernels of its own. */
static const struct {
	const char *name;
	bool runs;
} libraries[] = {
	{RUNTIME, false},	  {"libcublas.so", true},   {"libcublasLt.so", true}, {"libcufft.so", true},
	{"libcusparse.so", true}, {"libcusolver.so", true}, {"libcurand.so", true},   {"libcudnn", true},
	{"libnccl.so", true},	  {"libnpp", true},	    {"libnvjpeg.so", true},   {"libcutensor.so", true},
	{"libOpenCL.so", true},
};

static const char *known(const char *file, bool *runs)
{
	for (size_t i = 0; i < LENGTH(libraries); i++)
		if (strncmp(file, libraries[i].name, strlen(libraries[i].name)) == 0) {
			*runs = libraries[i].runs;
			return libraries[i].name;
		}
	return NULL;
}

bool gt_record_runs_kernels(const char *file)
{
	bool runs = false;

	return known(file, &runs) && runs;
}

/* ---- the file ---- */

struct file {
	const unsigned char *data;
	size_t bytes;
};

/* Maps the program's file; data NULL if it cannot be read. */
static struct file open_file(const char *path)
{
	struct stat about;
	struct file file = {0};
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	if (descriptor < 0)
		return file;
	if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
		void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
		if (data != MAP_FAILED)
			file = (struct file){data, (size_t)about.st_size};
	}
	close(descriptor);
	return file;
}

/* [offset, offset + n) of the file, or NULL. */
static const void *part(const struct file *file, uint64_t offset, uint64_t n)
{
	return offset <= file->bytes && n <= file->bytes - offset ? file->data + offset : NULL;
}

static bool section_at(const struct file *file, unsigned i, Elf64_Shdr *section)
{
	Elf64_Ehdr header;

	memcpy(&header, file->data, sizeof header);
	const void *at = i < header.e_shnum && header.e_shentsize >= sizeof *section && header.e_shoff <= file->bytes
				 ? part(file, header.e_shoff + (uint64_t)i * header.e_shentsize, sizeof *section)
				 : NULL;
	if (at)
		memcpy(section, at, sizeof *section);
	return at != NULL;
}

static bool is_elf(const struct file *file)
{
	return file->data && file->bytes >= sizeof(Elf64_Ehdr) && memcmp(file->data, ELFMAG, SELFMAG) == 0 &&
	       file->data[EI_CLASS] == ELFCLASS64;
}

/* The 0-terminated text at an offset of a string table, or NULL. */
static const char *text_at(const struct file *file, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *table = part(file, strings->sh_offset, strings->sh_size);

	return table && offset < strings->sh_size && memchr(table + offset, 0, strings->sh_size - offset) ? table + offset
													  : NULL;
}

/* Whether the file registers device code. nvcc leaves a .nv_fatbin, of its own, in every program that it links. */
static bool has_device_code(const struct file *file)
{
	Elf64_Ehdr header;
	Elf64_Shdr names, section;

	memcpy(&header, file->data, sizeof header);
	if (!section_at(file, header.e_shstrndx, &names))
		return false;
	for (unsigned i = 0; section_at(file, i, &section); i++) {
		const char *name = text_at(file, &names, section.sh_name);
		if (name && strcmp(name, ".nvFatBinSegment") == 0)
			return true;
	}
	return false;
}

/* The first library of the table above that the file needs, and whether it needs a CUDA runtime. */
static const char *needed(const struct file *file, bool runtime)
{
	Elf64_Shdr section, strings;

	for (unsigned i = 0; section_at(file, i, &section); i++) {
		const unsigned char *entries = part(file, section.sh_offset, section.sh_size);
		if (section.sh_type != SHT_DYNAMIC || !entries || !section_at(file, section.sh_link, &strings))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
			Elf64_Dyn entry;
			memcpy(&entry, entries + at, sizeof entry);
			const char *name = entry.d_tag == DT_NEEDED ? text_at(file, &strings, entry.d_un.d_val) : NULL;
			bool runs = false;
			if (name && known(name, &runs) && runs != runtime)
				return name;
		}
	}
	return NULL;
}

static struct file open_program(const char *program)
{
	char path[GT_TRACING_PATH];

	return open_file(gt_child_find(program, path, sizeof path) ? path : program);
}

static void close_file(struct file *file)
{
	if (file->data)
		munmap((void *)(uintptr_t)file->data, file->bytes);
}

void gt_record_hint(const char *folder, const char *library, char hint[GT_RECORD_HINT])
{
	const char *version = strstr(library, ".so");
	char pattern[GT_TRACING_PATH];
	glob_t found;

	hint[0] = '\0';
	if (!version || (size_t)snprintf(pattern, sizeof pattern, "%s/" GT_RECORD_STUBS "/*/%.*s.so*", folder, (int)(version - library), library) >=
				sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
		return;
	char *plugin = found.gl_pathv[0];
	*strrchr(plugin, '/') = '\0';
	plugin = strrchr(plugin, '/') + 1;
	snprintf(hint, GT_RECORD_HINT, " (--stub %s does the work of lib%s on the host)", plugin, plugin);
	globfree(&found);
}

static bool stands_in(const char *runtime)
{
	for (size_t i = 0; i < GT_RUNTIMES; i++)
		if (strcmp(runtime, gt_runtime_names[i].name) == 0)
			return true;
	return false;
}

void gt_record_explain_missing(const char *program, char *line, size_t bytes)
{
	char folder[PATH_BYTES], hint[GT_RECORD_HINT] = "";
	struct file file = open_program(program);
	const char *runtime = is_elf(&file) ? needed(&file, true) : NULL, *library = is_elf(&file) ? needed(&file, false) : NULL;
	struct gt_error none;

	line[0] = '\0';
	if (runtime && !stands_in(runtime)) {
		snprintf(line, bytes, "it needs %s, which is not stood in for: build it by CUDA 10.1 to 13", runtime);
	} else if (library) {
		if (gt_runtime_folder(folder, &none) == 0)
			gt_record_hint(folder, library, hint);
		snprintf(line, bytes, "it needs %s, whose kernels are not seen here%s%s", library, hint,
			 hint[0] ? "" : ": there is no plug-in that does its work");
	}
	close_file(&file);
}

void gt_record_explain(const char *program, char *line, size_t bytes)
{
	struct file file = open_program(program);
	const char *runtime = is_elf(&file) ? needed(&file, true) : NULL, *other = is_elf(&file) ? needed(&file, false) : NULL;

	if (!is_elf(&file))
		snprintf(line, bytes, "it is no program file of this machine, and what it started used no shared CUDA "
				      "runtime: " BUILD);
	else if (runtime)
		snprintf(line, bytes, "it is linked with %s and registers no kernel%s%s: " BUILD, runtime,
			 other ? "; kernels may be in " : "", other ? other : "");
	else if (has_device_code(&file))
		snprintf(line, bytes, "it is linked with the static CUDA runtime: " BUILD);
	else if (other)
		snprintf(line, bytes, "its kernels run by way of %s, which is not stood in for: " BUILD, other);
	else
		snprintf(line, bytes, "it needs no CUDA library: " BUILD);
	close_file(&file);
}
