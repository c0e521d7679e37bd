/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/installed.h"
#include "cuda/runtime/host_access.h"

#define MAPPING_LINE 512

struct gt_cudart gt_cudart;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock;
static _Thread_local int last_error;
static _Thread_local bool used;
static unsigned depth; /* calls under way, of the thread that has the lock */
static _Thread_local unsigned in_driver; /* calls of the driver API that this thread is in */

/* ---- messages ---- */

static void say(const char *format, va_list arguments)
{
	struct gt_error line;

	vsnprintf(line.text, sizeof line.text, format, arguments);
	fprintf(stderr, "gtrace-record: %s\n", line.text);
	fflush(stderr);
}

void gt_cudart_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void gt_cudart_say_once(bool *said, const char *format, ...)
{
	va_list arguments;

	if (*said || gt_cudart.record.quiet)
		return;
	*said = true;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

void gt_cudart_say_host_access(void)
{
	static bool said;
	uint64_t address = gt_host_accessed();

	if (!address || said)
		return;
	const struct gt_ptx_allocation *near = gt_ptx_nearest(&gt_cudart.memory, address);
	gt_cudart_say_once(&said, "warning: host code accesses device memory at 0x%" PRIx64 " ('%s'), which crashes with a GPU",
			   address, near ? near->name : "");
}

void gt_cudart_note(const char *format, ...)
{
	va_list arguments;

	if (!gt_cudart.record.verbose)
		return;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

/* Only one process of a run writes: the one that gets the token. */
static bool read_token(void)
{
	char token;
	ssize_t got;

	do
		got = read(gt_cudart.record.token, &token, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

/* The reason in the place of the stream's end, so that the next stage does not report the missing end as a second failure. */
static void end_stream_failed(const char *format, va_list arguments)
{
	char text[sizeof ((struct gt_error *)NULL)->text];
	struct gt_error ignored;

	if (!gt_cudart.writer || gt_cudart.owner != getpid() || pthread_mutex_trylock(&lock) != 0)
		return;
	vsnprintf(text, sizeof text, format, arguments);
	(void)gt_writer_fail(gt_cudart.writer, "gtrace-record", text, &ignored);
}

_Noreturn void gt_cudart_stop(const char *format, ...)
{
	va_list arguments;

	/* Writes the program's pending output first. Its exit handlers do not run, since they would use a device that no
	 * longer exists. */
	fflush(NULL);
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	end_stream_failed(format, arguments);
	va_end(arguments);
	/* With the token gone gtrace-record does not look for a reason of its own. */
	if (gt_cudart.owner == 0)
		(void)read_token();
	_exit(1);
}

/* ---- initialisation ---- */

static void take_token(void)
{
	if (!read_token())
		gt_cudart_stop("a second program of this run uses the CUDA runtime; record one program at a time");
	fcntl(gt_cudart.record.token, F_SETFD, FD_CLOEXEC);
	fcntl(gt_cudart.record.stream, F_SETFD, FD_CLOEXEC);
	gt_cudart.owner = getpid();
}

static void open_stream(void)
{
	struct gt_recording *record = &gt_cudart.record;
	struct gt_error error;

	if (record->stream < 0 || record->token < 0)
		return;
	take_token();
	gt_cudart.writer = gt_writer_open(record->stream, NULL, "gtrace-record", gt_version, record->arguments, &error);
	if (!gt_cudart.writer)
		gt_cudart_stop("%s", error.text);
	gt_cudart.recorder = gt_ptx_recorder_open(gt_cudart.writer, &record->tracing, &error);
	if (!gt_cudart.recorder)
		gt_cudart_stop("%s", error.text);
	if (record->tracing.gpu.n > 0 && gt_write_gpu(gt_cudart.writer, gt_cudart.gpu, &error) != 0)
		gt_cudart_stop("%s", error.text);
}

static void open_runtime(void)
{
	struct gt_recording *record = &gt_cudart.record;
	struct gt_error error;
	pthread_mutexattr_t attributes;

	/* A host function called by a stream may call the runtime. */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	gt_cudart.carveout = -1;
	if (gt_record_import(record, &error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.gpu = record->tracing.gpu.n > 0 ? &record->tracing.gpu : &record->gpu;
	if (gt_limits_load(&gt_cudart.limits, gt_cudart.gpu, &error) != 0 ||
	    gt_ptx_memory_open(&gt_cudart.memory, record->tracing.devices * record->tracing.device_memory, &error) != 0)
		gt_cudart_stop("%s", error.text);
	if (record->tracing.check == GT_PTX_MEMCHECK)
		gt_ptx_hold_back(&gt_cudart.memory);
	open_stream();
}

static void take_lock(void)
{
	pthread_once(&once, open_runtime);
	pthread_mutex_lock(&lock);
	if (depth++ == 0)
		gt_host_access_open();
	gt_cudart_say_host_access();
}

static void give_lock(void)
{
	if (--depth == 0 && !gt_cudart.record.quiet)
		gt_host_access_close(&gt_cudart.memory, gt_cudart.instructions);
	pthread_mutex_unlock(&lock);
}

static void finish(void)
{
	if (gt_cudart.finish)
		gt_cudart.finish();
}

void gt_cudart_lock(void)
{
	take_lock();
	finish();
	in_driver++;
}

void gt_cudart_unlock(void)
{
	in_driver--;
	give_lock();
}

void gt_cudart_enter_beside(void)
{
	take_lock();
	used = used || in_driver == 0;
}

void gt_cudart_enter(void)
{
	gt_cudart_enter_beside();
	finish();
}

bool gt_cudart_is_forked(void)
{
	static bool said;

	if (gt_cudart.owner == 0 || gt_cudart.owner == getpid())
		return false;
	if (!said)
		gt_cudart_say("a process that the program forked asks for work, and gets cudaErrorInitializationError: the process that "
			      "began is recorded");
	said = true;
	return true;
}

bool gt_cudart_used(void)
{
	return used;
}

/* A launch that fails returns success itself, since a GPU executes it later. */
int gt_cudart_failed(void)
{
	int code = gt_cudart.failed;

	gt_cudart.failed = gt_cudart.failing;
	return code;
}

int gt_cudart_leave(int code)
{
	int failed = gt_cudart_failed();

	if (failed)
		code = failed;
	if (code != CUDA_SUCCESS && in_driver == 0)
		last_error = code;
	give_lock();
	return code;
}

int gt_cudart_last_error(bool forget)
{
	int code = gt_cudart.failed ? gt_cudart.failed : last_error;

	if (forget)
		last_error = CUDA_SUCCESS;
	return code;
}

/* ---- the process ---- */

size_t gt_cudart_readable(const void *address)
{
	FILE *mappings = fopen("/proc/self/maps", "r");
	char line[MAPPING_LINE];
	uint64_t begin, end, at = (uint64_t)(uintptr_t)address;
	char readable;

	/* Without the list the size in the container's header is used. */
	if (!mappings)
		return SIZE_MAX / 2;
	while (fgets(line, sizeof line, mappings)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &begin, &end, &readable) == 3 && readable == 'r' &&
		    begin <= at && at < end)
			at = end;
	}
	fclose(mappings);
	return (size_t)(at - (uint64_t)(uintptr_t)address);
}
