/* SPDX-License-Identifier: MIT */
/* The state of the stand-in runtime: its lock, its messages, which process of the program is recorded, how it opens, and what each call begins
 * and ends with. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/installed.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/runtime/runtime.h"
#include "stream/records.h"

/* ---- accesses of host code ---- */

/* Host code of the program that uses a pointer to device memory. On a GPU it crashes; here the memory is in the same process, so it
 * works, which a warning should say. While the program runs outside of the runtime, device memory is closed to it; the first access
 * opens it. Called under the runtime's lock. */

#define PAGE UINT64_C(4096) /* bytes; a multiple of this processor's, or nothing is closed */

/* Closing and opening costs time by the page, and by the call of the system. It is done as long as it stays far below the time
 * that the kernels take: some 0.02 s, and a 25th of theirs. */
#define CALL_COST 64 /* pages */
#define FREE_COST (UINT64_C(1) << 18)
#define INSTRUCTIONS_A_PAGE 128

#define FAULTS 64 /* at most: threads may fault at the same time */

static const struct gt_ptx_memory *memory; /* that is closed, or was */
static uint64_t closed_bytes; /* of device memory, from its begin; 0: it is open */
static uint64_t spent;
static volatile sig_atomic_t faults; /* accesses that were let through */
static volatile uintptr_t touched; /* the first of them; 0: none */
static bool catches;
static struct sigaction before;

#define FRAMES 64
#define IN_HANDLER 2 /* frames: the handler's, and the one that the system returns by */

/* The call of ours in which code of the program, or ours for it, faulted; NULL: it was in none. */
static const char *call_of_fault(void)
{
	void *frames[FRAMES];
	Dl_info self, about;
	const char *call = NULL;
	int n = backtrace(frames, FRAMES);

	if (dladdr((void *)(uintptr_t)gt_cudart_lock, &self) == 0)
		return NULL;
	for (int i = IN_HANDLER; i < n; i++) {
		if (dladdr(frames[i], &about) == 0)
			return call;
		if (about.dli_fbase == self.dli_fbase)
			call = about.dli_sname ? about.dli_sname : call;
		else if (call || !strstr(about.dli_fname, "libc.so")) /* memcpy for us is ours */
			return call;
	}
	return call;
}

/* For a program that ends here: by what it gave a call, such as a pointer to nowhere. */
static void say_fault(uintptr_t address)
{
	const char *call = before.sa_handler == SIG_DFL ? call_of_fault() : NULL;
	const char *suffix = call ? strstr(call, "_pt") : NULL; /* _ptds or _ptsz: of the same call */

	if (call && gt_cudart.running)
		gt_cudart_say("a fault of gtrace-record itself at address 0x%" PRIxPTR ", in kernel %s: please report it", address, gt_cudart.running);
	else if (call)
		gt_cudart_say("%.*s: the program ends by its own fault: what it gave the call leads to address 0x%" PRIxPTR
			      ", where there is no memory", suffix ? (int)(suffix - call) : (int)strlen(call), call, address);
}

/* Opens device memory and goes on, or leaves a real fault to whoever handled it before. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	bool sent = info->si_code <= 0; /* by a process */

	(void)context;
	if (sent || !memory || address < GT_PTX_GLOBAL_BASE || address - GT_PTX_GLOBAL_BASE >= memory->used || faults == FAULTS ||
	    mprotect(memory->host, (memory->used + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE) != 0) {
		sigaction(number, &before, NULL); /* the access faults again */
		if (sent)
			raise(number);
		else
			say_fault(address);
		return;
	}
	faults++;
	if (!touched)
		touched = address;
}

static bool catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	void *frame;

	if (catches)
		return true;
	sigemptyset(&action.sa_mask);
	backtrace(&frame, 1); /* the first one loads a library, which a handler may not */
	catches = sigaction(SIGSEGV, &action, &before) == 0;
	return catches;
}

/* The first address that host code accessed; 0: it has not been seen to. */
static uint64_t host_accessed(void)
{
	return touched;
}

/* What calls allocate on a device is the device's alone; variables may be managed. */
static bool is_for_host(const struct gt_ptx_allocation *allocation)
{
	return allocation->owner == GT_PTX_EVERYONE || allocation->call == 0;
}

static void close_pages(uint64_t from, uint64_t to)
{
	if (from < to)
		mprotect(memory->host + from, to - from, PROT_NONE);
}

/* When a call of the runtime begins, and when it ends: after so many warp instructions of kernels. */
static void open_host_access(void)
{
	if (closed_bytes > 0)
		mprotect(memory->host, closed_bytes, PROT_READ | PROT_WRITE);
	closed_bytes = 0;
}

/* Pages with memory that the host may use stay open. */
static void close_host_access(const struct gt_ptx_memory *device, uint64_t instructions)
{
	uint64_t end = (device->used + PAGE - 1) / PAGE * PAGE, from = 0, cost = end / PAGE + CALL_COST + device->n;

	if (touched || closed_bytes > 0 || end == 0 || (uintptr_t)device->host != GT_PTX_GLOBAL_BASE ||
	    spent + cost > FREE_COST + instructions / INSTRUCTIONS_A_PAGE || !catch_faults())
		return;
	memory = device;
	for (const struct gt_ptx_allocation *one = gt_ptx_live(device->first); one; one = gt_ptx_live(one->after)) {
		if (!is_for_host(one))
			continue;
		close_pages(from, (one->address - GT_PTX_GLOBAL_BASE) / PAGE * PAGE);
		from = (one->address + one->bytes - GT_PTX_GLOBAL_BASE + PAGE - 1) / PAGE * PAGE;
		cost += CALL_COST;
	}
	close_pages(from, end);
	closed_bytes = end;
	spent += cost;
}

#define MAPPING_LINE 512

struct gt_cudart gt_cudart;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int last_error;
static _Thread_local bool used;
static _Thread_local unsigned in_driver; /* calls of the driver API that this thread is in */

/* ---- messages ---- */

static void say(const char *format, va_list arguments)
{
	struct gt_error line;

	vsnprintf(line.text, sizeof line.text, format, arguments);
	gt_progress_erase(&gt_cudart.progress);
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
	uint64_t address = host_accessed();

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

/* ---- which process is recorded ---- */

/* A program may fork before it uses CUDA, and do its work in children, as it can on a GPU. The process that brings the first device code
 * takes the token. It and those that it forks write the stream, one at a time: the first that asks for work begins it, and at its end leaves
 * it to the next, or to the one with the token, which ends it; if that has ended before, it ends the stream itself. */

static struct shared {
	struct gt_writer_left left; /* of the stream by the process that wrote it before */
	struct gt_together together;
	_Atomic pid_t writer; /* of the stream; 0: none at present */
	_Atomic bool said;    /* that another one asks for work */
	_Atomic bool last;    /* the process with the token has ended */
	bool begun;
} *shared; /* by these processes; NULL: nothing is traced, or the token was not taken */
static pid_t taker; /* of the token */
static bool ended; /* this process has ended the stream */

static bool read_token(void)
{
	char token;
	ssize_t got;

	do
		got = read(gt_cudart.record.token, &token, 1);
	while (got < 0 && errno == EINTR);
	return got == 1;
}

static bool tell(enum gt_record_event event, pid_t process)
{
	const struct gt_record_word word = {(int32_t)event, process};

	ssize_t put = 0;

	for (size_t n = 0; n < sizeof word && put >= 0; n += put > 0 ? (size_t)put : 0) {
		put = write(gt_cudart.record.words, (const char *)&word + n, sizeof word - n);
		if (put < 0 && errno == EINTR)
			put = 0;
	}
	return put > 0;
}

/* A program may have been started without the descriptors that its parent was not told of, as by Python's subprocess, or have closed them, as a
 * daemon does: then those of gtrace-record are opened again. */
static int keep_descriptor(int *descriptor, int flags, struct gt_error *error)
{
	char path[64];
	struct stat wanted, found;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", gt_cudart.record.process, *descriptor);
	const bool known = stat(path, &wanted) == 0;
	if (fstat(*descriptor, &found) == 0 && (!known || (found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino))) {
		fcntl(*descriptor, F_SETFD, FD_CLOEXEC);
		return 0;
	}
	const int opened = open(path, flags | O_NONBLOCK), kept = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, *descriptor);
	if (kept < 0)
		return gt_fail_errno(error, "the program was started without the descriptor of the stream, or closed it, and it cannot be opened again");
	close(opened);
	fcntl(kept, F_SETFL, flags);
	*descriptor = kept;
	return 0;
}

static int keep_descriptors(struct gt_error *error)
{
	struct gt_recording *record = &gt_cudart.record;

	return keep_descriptor(&record->words, O_WRONLY, error) != 0 ? -1 : keep_descriptor(&record->stream, O_WRONLY | O_APPEND, error);
}

/* Whether this process writes the stream, or may begin to. */
static bool claim(void)
{
	const pid_t self = getpid();
	pid_t writer = 0;

	if (!shared || ended || (gt_cudart.caller != 0 && gt_cudart.caller != self))
		return false;
	return atomic_compare_exchange_strong(&shared->writer, &writer, self) || writer == self;
}

/* The header is written at once: if the process crashes, gtrace-record writes the reason behind what is there. */
static int open_writer(struct gt_error *error)
{
	const struct gt_recording *record = &gt_cudart.record;

	if (keep_descriptors(error) != 0)
		return -1;
	if (shared->begun) {
		lseek(record->stream, 0, SEEK_END); /* the process before may have opened the file again */
		gt_cudart.writer = gt_writer_resume(record->stream, &shared->left, error);
	} else {
		gt_cudart.writer = gt_writer_open(record->stream, NULL, "gtrace-record", gt_version, record->arguments, error);
	}
	if (!gt_cudart.writer || gt_writer_flush(gt_cudart.writer, error) != 0)
		return -1;
	shared->begun = true;
	return tell(GT_RECORD_BEGUN, getpid()) ? 0 : gt_fail_errno(error, "gtrace-record");
}

/* The reason in the place of the stream's end, so that the next stage does not report the missing end as a second failure. */
static void end_stream_failed(const char *text)
{
	struct gt_error ignored;

	if (!claim() || pthread_mutex_trylock(&gt_cudart.lock) != 0 || (!gt_cudart.writer && open_writer(&ignored) != 0))
		return;
	if (gt_writer_fail(gt_cudart.writer, "gtrace-record", text, &ignored) == 0)
		tell(GT_RECORD_CUT, getpid());
}

_Noreturn void gt_cudart_stop(const char *format, ...)
{
	char text[sizeof ((struct gt_error *)NULL)->text];
	va_list arguments;

	/* Writes the program's pending output first. Its exit handlers do not run, since they would use a device that no
	 * longer exists. */
	fflush(NULL);
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	gt_cudart_say("%s", text);
	end_stream_failed(text);
	/* With the token gone gtrace-record does not look for a reason of its own. */
	if (!shared)
		(void)read_token();
	else
		atomic_store(&shared->said, true); /* others get no work now, for the reason that was given */
	ended = true;
	_exit(1);
}

static void open_stream(void)
{
	struct gt_recording *record = &gt_cudart.record;
	const bool begun = shared->begun;
	struct gt_error error;

	if (open_writer(&error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.launches = shared->together.launches;
	gt_progress_begin(&gt_cudart.progress, "gtrace-record", stderr, !record->quiet);
	gt_cudart.recorder = gt_ptx_recorder_open(gt_cudart.writer, &record->tracing, gt_cudart.launches, &error);
	if (!gt_cudart.recorder)
		gt_cudart_stop("%s", error.text);
	if (!begun && record->tracing.gpu.n > 0 && gt_write_gpu(gt_cudart.writer, gt_cudart.gpu, &error) != 0)
		gt_cudart_stop("%s", error.text);
}

bool gt_cudart_may_work(void)
{
	if (!shared)
		return true;
	if (claim()) {
		if (!gt_cudart.recorder)
			open_stream();
		return true;
	}
	shared->together.refused |= gt_cudart.caller == getpid();
	if (!atomic_exchange(&shared->said, true))
		gt_cudart_say("%s asks for work, and gets cudaErrorInitializationError%s",
			      gt_cudart.caller != getpid() ? "a process that the program forked after a call of CUDA" : "a second process of the program",
			      gt_cudart.caller != getpid() ? ", as on a GPU" : ", as another one is recorded: one at a time can be");
	return false;
}

bool gt_cudart_ends_stream(void)
{
	if (!shared || ended)
		return false;
	const pid_t self = getpid();
	if (taker == self)
		atomic_store(&shared->last, true);
	const pid_t writer = atomic_load(&shared->writer);
	if (writer != 0 || taker != self)
		return writer == self;
	const bool leaves = gt_cudart.forked && !shared->begun;
	if (leaves)
		tell(GT_RECORD_LEFT, self);
	return !leaves && claim();
}

bool gt_cudart_leave_stream(void)
{
	struct gt_error error;

	if (atomic_load(&shared->last))
		return false;
	shared->together.launches = gt_cudart.launches;
	if (gt_writer_leave(gt_cudart.writer, &shared->left, &error) != 0)
		gt_cudart_stop("%s", error.text);
	tell(GT_RECORD_BEGUN, taker);
	atomic_store(&shared->writer, 0);
	if (!atomic_load(&shared->last) || !claim()) {
		ended = true;
		return true;
	}
	/* It has ended at the same time, and did not see that it was to end the stream. */
	tell(GT_RECORD_BEGUN, getpid());
	return false;
}

void gt_cudart_stream_ended(bool whole)
{
	ended = true;
	if (close(gt_cudart.record.stream) != 0 || !tell(whole ? GT_RECORD_WHOLE : GT_RECORD_CUT, getpid()))
		gt_cudart_stop("the stream cannot be closed: %s", strerror(errno));
}

/* ---- initialisation ---- */

static void take_token(void)
{
	struct gt_error error;

	if (gt_cudart.record.stream < 0 || gt_cudart.record.token < 0)
		return;
	if (keep_descriptor(&gt_cudart.record.token, O_RDONLY | O_NONBLOCK, &error) != 0 || keep_descriptors(&error) != 0)
		gt_cudart_stop("%s", error.text);
	if (!read_token())
		gt_cudart_stop("a second program of this run uses the CUDA runtime; record one program at a time");
	void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		gt_cudart_stop("out of memory");
	shared = page;
	gt_cudart.together = &shared->together;
	taker = getpid();
}

static void init_lock(void)
{
	pthread_mutexattr_t attributes;

	/* A host function called by a stream may call the runtime. */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&gt_cudart.lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	gt_cudart.depth = 0;
}

static void note_fork(void)
{
	gt_cudart.forked = true;
}

static void open_runtime(void)
{
	struct gt_recording *record = &gt_cudart.record;
	struct gt_error error;

	init_lock();
	pthread_atfork(NULL, note_fork, init_lock); /* a thread that is not in the child may have the lock */
	gt_cudart.carveout = -1;
	if (gt_record_import(record, &error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.gpu = record->tracing.gpu.n > 0 ? &record->tracing.gpu : &record->gpu;
	if (gt_limits_load(&gt_cudart.limits, gt_cudart.gpu, &error) != 0 ||
	    gt_ptx_memory_open(&gt_cudart.memory, record->tracing.devices * record->tracing.device_memory, &error) != 0)
		gt_cudart_stop("%s", error.text);
	gt_cudart.memory.advice = " (--memory gives it more)";
	gt_cudart.memory.places = record->tracing.places;
	if (record->tracing.check == GT_PTX_MEMCHECK && gt_ptx_memory_watch(&gt_cudart.memory, &error) != 0)
		gt_cudart_stop("%s", error.text);
	catch_faults();
	take_token();
}

static void take_lock(void)
{
	pthread_once(&once, open_runtime);
	pthread_mutex_lock(&gt_cudart.lock);
	if (gt_cudart.depth++ == 0)
		open_host_access();
	gt_cudart.memory.changes += host_accessed() != 0; /* it may be again */
	gt_cudart_say_host_access();
}

static void give_lock(void)
{
	if (--gt_cudart.depth == 0 && !gt_cudart.record.quiet)
		close_host_access(&gt_cudart.memory, gt_cudart.instructions);
	pthread_mutex_unlock(&gt_cudart.lock);
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
	gt_cudart_called();
	used = used || in_driver == 0;
}

void gt_cudart_enter(void)
{
	gt_cudart_enter_beside();
	finish();
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
