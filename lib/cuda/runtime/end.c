/* SPDX-License-Identifier: MIT */
/* The end of the program: the stream gets its end record if all work of a GPU is in it. */
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda/runtime/askers.h"
#include "cuda/runtime/runtime.h"
#include "cuda/ptx/record/record.h"

#define OPENCL "libOpenCL.so.1"
#define ENDLESS "the stream has no end (--ignore-unsupported gives it one)"

/* The file name of a library in this process that may have run kernels unseen, or NULL. OpenCL's do not come by this driver. */
static const char *find_library(void)
{
	void *opencl = dlopen(OPENCL, RTLD_LAZY | RTLD_NOLOAD);

	if (opencl)
		dlclose(opencl);
	return gt_cudart_driver_caller() ? gt_cudart_driver_caller() : opencl ? OPENCL : NULL;
}

#define HINT 128 /* bytes that hold any hint */

/* How the program can go on without a library's kernels, or nothing. */
static void write_hint(const char *library, char hint[HINT])
{
	hint[0] = '\0';
	for (unsigned i = 0; i < GT_STUBS; i++) {
		const char *stub = gt_stub_libraries[i].name;
		/* libcublas loads libcublasLt. */
		if (strncmp(library, "lib", 3) == 0 && strncmp(library + 3, stub, strlen(stub)) == 0)
			snprintf(hint, HINT, " (--stub %s does the work of lib%s on the host)", stub, stub);
	}
}

#define REASON 1024 /* bytes that hold any reason */

/* Why there was no launch: that PTX is newer than the GPU is what a program may have found out for itself. */
static void explain_none(char reason[REASON])
{
	char newer[GT_CUDART_NEWER] = "";
	const struct gt_function *function = gt_cudart.functions;

	while (function && !gt_cudart_is_newer(function->fat, newer))
		function = function->next;
	if (gt_cudart.refused > 0)
		snprintf(reason, REASON, "each of the program's launches, %" PRIu64 ", returned an error%s: " ENDLESS, gt_cudart.refused, newer);
	else
		snprintf(reason, REASON, "the program asked the CUDA runtime for no launch: it launched no kernel%s: " ENDLESS, newer);
}

/* Why work may be missing, or "". */
static void find_reason(char reason[REASON])
{
	char faults[GT_PTX_FAULTS_TEXT], hint[HINT];
	bool none = gt_cudart.launches == 0;

	reason[0] = '\0';
	if (gt_ptx_notes_sum(&gt_cudart.notes, faults))
		snprintf(reason, REASON, "%s", faults);
	else if (gt_cudart.assertions > 0)
		snprintf(reason, REASON, "a kernel stopped at an assertion: the stream has no end");
	if (reason[0] || gt_cudart.record.tracing.ignore_unsupported)
		return;
	const char *library = find_library();
	write_hint(library ? library : "", hint);
	if (library)
		snprintf(reason, REASON, "%s is used, whose kernels are not seen here%s%s: " ENDLESS, library, hint,
			 none ? ", and the program launched no kernel of its own" : "");
	else if (gt_cudart.omissions > 0)
		snprintf(reason, REASON, "calls that are not supported would have made work or data%s: " ENDLESS,
			 none ? ", and the program launched no kernel" : "");
	else if (none)
		explain_none(reason);
}

/* In the place of an end, a stream without all work has the reason, so that the next stage reports nothing more. */
static void write_end(const char *reason)
{
	const char verdict = reason[0] ? GT_RECORD_CUT : GT_RECORD_WHOLE;
	struct gt_error error;
	int result = reason[0] ? gt_writer_flush(gt_cudart.writer, &error) : gt_ptx_recorder_finish(gt_cudart.recorder, &error);

	if (result == 0)
		result = reason[0] ? gt_writer_fail(gt_cudart.writer, "gtrace-record", reason, &error) : gt_writer_finish(gt_cudart.writer, &error);
	if (result != 0)
		gt_cudart_stop("%s", error.text);
	gt_writer_close(gt_cudart.writer);
	gt_cudart.writer = NULL;
	if (close(gt_cudart.record.stream) != 0 || write(gt_cudart.record.token, &verdict, 1) != 1)
		gt_cudart_stop("the stream cannot be closed: %s", strerror(errno));
}

static void say_names_left(void)
{
	static bool said;
	const char *names = gt_cudart.record.tracing.names;
	uint64_t n = names && *names;

	for (; names && *names; names++)
		n += *names == ',';
	if (n > gt_cudart.allocations)
		gt_cudart_say_once(&said, "warning: --name has %" PRIu64 " names, and the program made %" PRIu64 " allocations", n,
				   gt_cudart.allocations);
}

/* Runs after the program's own exit handlers. If the program is killed, the stream has no end record. */
__attribute__((destructor)) static void close_stream(void)
{
	if (!gt_cudart.writer || gt_cudart.owner != getpid())
		return;
	static bool said;
	char reason[REASON];
	if (gt_cudart.finish)
		gt_cudart.finish();
	gt_cudart_say_host_access();
	say_names_left();
	if (gt_cudart.stubbed > 0)
		gt_cudart_say("the work of %" PRIu64 " calls of libraries was done on the host: their accesses are not in the stream",
			      gt_cudart.stubbed);
	find_reason(reason);
	if (reason[0])
		gt_cudart_say("%s", reason);
	write_end(reason);
	if (!reason[0] && gt_cudart.launches == 0)
		gt_cudart_say_once(&said, "warning: the program launched no kernel");
	else if (!reason[0] && gt_ptx_recorder_traced(gt_cudart.recorder) == 0)
		gt_cudart_say_once(&said, "warning: none of the program's %" PRIu64 " launches was chosen", gt_cudart.launches);
}
