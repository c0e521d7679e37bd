/* SPDX-License-Identifier: MIT */
/* The end of the program: the stream gets its end record if all work of a GPU is in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/runtime.h"
#include "ptx/record/record.h"

#define MAPPING_LINE 4096
#define ENDLESS "the stream has no end (--ignore-unsupported gives it one)"

/* Whether a file is the stand-in of a library, which gtrace-record preloads. */
static bool stands_in(const char *path)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, path) && strstr(path, "/" GT_STUB_FOLDER "/");
}

/* The file name of the first library in this process that runs kernels without the runtime, or "". */
static void find_library(char name[MAPPING_LINE])
{
	FILE *mappings = fopen("/proc/self/maps", "r");

	while (mappings && fgets(name, MAPPING_LINE, mappings)) {
		char *path = strchr(name, '/'), *slash = strrchr(name, '/');
		name[strcspn(name, "\n")] = '\0';
		if (!slash || !gt_record_runs_kernels(slash + 1) || stands_in(path))
			continue;
		memmove(name, slash + 1, strlen(slash));
		fclose(mappings);
		return;
	}
	if (mappings)
		fclose(mappings);
	name[0] = '\0';
}

/* How the program can go on without a library's kernels, or "". */
static const char *hint(const char *library)
{
	/* libcublas loads libcublasLt. */
	return strncmp(library, "libcublas", strlen("libcublas")) == 0 ? " (--stub cublas does the work of libcublas on the host)" : "";
}

#define REASON (MAPPING_LINE + 512) /* bytes that hold any reason */

/* Why work may be missing, or "". */
static void find_reason(char reason[REASON])
{
	char library[MAPPING_LINE], faults[GT_PTX_FAULTS_TEXT];
	bool none = gt_cudart.launches == 0;

	reason[0] = '\0';
	if (gt_ptx_notes_sum(&gt_cudart.notes, faults))
		snprintf(reason, REASON, "%s", faults);
	else if (gt_cudart.assertions > 0)
		snprintf(reason, REASON, "a kernel stopped at an assertion: the stream has no end");
	if (reason[0] || gt_cudart.record.tracing.ignore_unsupported)
		return;
	find_library(library);
	if (library[0])
		snprintf(reason, REASON, "%s is loaded, whose kernels are not seen here%s%s: " ENDLESS, library, hint(library),
			 none ? ", and the program launched no kernel of its own" : "");
	else if (gt_cudart.omissions > 0)
		snprintf(reason, REASON, "calls that are not supported would have made work or data%s: " ENDLESS,
			 none ? ", and the program launched no kernel" : "");
	else if (none)
		snprintf(reason, REASON, "the program asked the CUDA runtime for no launch: it launched no kernel: " ENDLESS);
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
