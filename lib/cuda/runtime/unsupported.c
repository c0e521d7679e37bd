/* SPDX-License-Identifier: MIT */
/* Why work may be missing from a stream, which is said at the end of a process; and the calls that are not there, of which that comes. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/record/record.h"
#include "cuda/runtime/calls.h"
#include "cuda/runtime/runtime.h"

/* ---- callers of the driver ---- */

/* Libraries with kernels of their own have a runtime in them, which asks the driver for calls before it can launch any. */

static _Atomic(char *) first_caller;

void gt_cudart_driver_called_from(void *code)
{
	Dl_info about;
	char *none = NULL;

	if (atomic_load(&first_caller) || dladdr(code, &about) == 0 || !about.dli_fname)
		return;
	const char *slash = strrchr(about.dli_fname, '/'), *file = slash ? slash + 1 : about.dli_fname;
	char *name = gt_record_runs_kernels(file) ? strdup(file) : NULL;
	if (name && !atomic_compare_exchange_strong(&first_caller, &none, name))
		free(name);
}

/* The file name of the first library with kernels of its own that called the driver, or NULL. */
static const char *driver_caller(void)
{
	return atomic_load(&first_caller);
}

#define OPENCL "libOpenCL.so.1"

/* ---- the end ---- */

/* The file name of a library in this process that may have run kernels unseen, or NULL. OpenCL's do not come by this driver. */
static const char *find_library(void)
{
	void *opencl = dlopen(OPENCL, RTLD_LAZY | RTLD_NOLOAD);

	if (opencl)
		dlclose(opencl);
	return driver_caller() ? driver_caller() : opencl ? OPENCL : NULL;
}

/* How the program can go on without a library's kernels, or nothing. */
static void write_hint(const char *library, char hint[GT_RECORD_HINT])
{
	char folder[GT_TRACING_PATH];
	Dl_info self;

	hint[0] = '\0';
	if (dladdr((void *)(uintptr_t)gt_cudart_lock, &self) == 0 || !strrchr(self.dli_fname, '/'))
		return;
	snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(self.dli_fname, '/') - self.dli_fname), self.dli_fname);
	gt_record_hint(folder, library, hint);
}

#define REFUSED (512 + GT_GPU_REASON) /* bytes that hold what is said of the first launch that returned an error */

static const char *describe_refused(char text[REFUSED])
{
	snprintf(text, REFUSED, "%s%s%s%s, %s (%s)", gt_cudart.refused_for, gt_cudart.refused_for[0] ? ": " : "", gt_cudart.refused > 1 ? "the first is " : "", gt_cudart.refused_first,
		 cudaGetErrorString(gt_cudart.refused_code), cudaGetErrorName(gt_cudart.refused_code));
	return text;
}

/* Why there was no launch. A program may have found out for itself that its PTX is not for the GPU. */
static void explain_none(char reason[GT_REASON])
{
	char others[GT_GPU_REASON] = "", first[REFUSED];
	const struct gt_function *function = gt_cudart.functions;

	if (gt_cudart.refused > 0) {
		snprintf(reason, GT_REASON, "each of the program's launches, %" PRIu64 ", returned an error: %s: " GT_ENDLESS, gt_cudart.refused,
			 describe_refused(first));
		return;
	}
	while (function && !gt_cudart_is_for_others(function->fat, others))
		function = function->next;
	snprintf(reason, GT_REASON, "the program asked the CUDA runtime for no launch: it launched no kernel%s%s: " GT_ENDLESS, others[0] ? ": " : "",
		 others);
}

/* Why work of this process may be missing, or "". */
static void find_reason(char reason[GT_REASON])
{
	char summary[GT_PTX_FAULTS_TEXT], hint[GT_RECORD_HINT];
	bool none = gt_cudart.launches == 0;

	reason[0] = '\0';
	if (gt_ptx_notes_sum(&gt_cudart.notes, summary))
		snprintf(reason, GT_REASON, "%s", summary);
	else if (gt_cudart.assertions > 0)
		snprintf(reason, GT_REASON, "a kernel stopped at an assertion: the stream has no end");
	if (reason[0] || gt_cudart.record.tracing.ignore_unsupported)
		return;
	const char *library = find_library();
	write_hint(library ? library : "", hint);
	if (library)
		snprintf(reason, GT_REASON, "%s is used, whose kernels are not seen here%s%s: " GT_ENDLESS, library, hint,
			 none ? ", and the program launched no kernel of its own" : "");
	else if (gt_cudart.omissions > 0)
		snprintf(reason, GT_REASON, "calls that are not supported would have made work or data%s: " GT_ENDLESS,
			 none ? ", and the program launched no kernel" : "");
}

static void say_names_left(bool launched)
{
	static bool said;
	const char *names = gt_cudart.record.tracing.names;
	uint64_t n = names && *names;

	for (; names && *names; names++)
		n += *names == ',';
	if (n > gt_cudart.allocations && (gt_cudart.launches == 0 || launched))
		gt_cudart_say_once(&said, "warning: --name has %" PRIu64 " names, and the program made %" PRIu64 " allocations", n,
				   gt_cudart.allocations);
}

/* How much work is not in the stream. */
static void say_stubbed(void)
{
	char flops[64] = "";

	if (gt_cudart.stubbed_flops > 0)
		snprintf(flops, sizeof flops, ", %" PRIu64 " flops of BLAS,", gt_cudart.stubbed_flops);
	gt_cudart_say("the work of %" PRIu64 " calls of libraries%s was done on the host: their accesses are not in the stream",
		      gt_cudart.stubbed, flops);
}

/* Launches without which the program went on. */
static void say_refused(void)
{
	static bool said;
	char first[REFUSED];

	if (gt_cudart.launches > 0 && gt_cudart.refused > 0)
		gt_cudart_say_once(&said, "warning: %" PRIu64 " launch%s returned an error, as on a GPU: %s", gt_cudart.refused,
				   gt_cudart.refused > 1 ? "es" : "", describe_refused(first));
}

/* What is said of this process at its end. */
static void say_all(bool launched)
{
	gt_cudart_say_host_access();
	gt_cudart_note_launches();
	say_names_left(launched);
	say_refused();
	if (gt_cudart.stubbed > 0)
		say_stubbed();
}

static void open_runtime(void)
{
	gt_cudart_lock();
	gt_cudart_unlock();
}

__attribute__((constructor)) static void begin(void)
{
	static const struct gt_at_end at_end = {open_runtime, say_all, find_reason, explain_none};

	gt_cudart.at_end = &at_end;
}

/* ---- calls that are not there: they return cudaErrorNotSupported, as a device without the feature does, and report their name to the user ---- */

/* The arguments of the real calls are not read. */
#define MISSING(NAME, OMITS)                                                                      \
	API int NAME(void);                                                                        \
	API int NAME(void)                                                                         \
	{                                                                                          \
		static struct gt_missing_call call = {#NAME, OMITS, false};                        \
		gt_cudart_enter();                                                                 \
		return gt_cudart_leave(gt_cudart_unsupported(&call));                              \
	}
#define UNSUPPORTED(NAME) MISSING(NAME, true)
#define HARMLESS(NAME) MISSING(NAME, false)
#include "cuda/runtime/unsupported.h"
