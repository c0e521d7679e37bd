/* SPDX-License-Identifier: MIT */
/* The processes of a program, which write one stream: what they say, whose turn it is, and their ends. The stream gets its end record if all
 * work of a GPU is in it. */
#define _GNU_SOURCE /* syscall */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "base/installed.h"
#include "cuda/ptx/record/record.h"
#include "cuda/runtime/runtime.h"
#include "stream/records.h"

struct gt_cudart gt_cudart;

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

void gt_cudart_note(const char *format, ...)
{
	va_list arguments;

	if (!gt_cudart.record.verbose)
		return;
	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
}

/* ---- the processes of a program ---- */

/* A program may fork before it uses CUDA, and do its work in children, as it can on a GPU. It is the process of its start and those that are
 * forked from it; a program that another one starts is another one. Its processes share a page, and one at a time has the turn: it may work,
 * from its first work until it ends. So that the stream is the same in every run, the turn goes by the order of forks, children before
 * their parent, and a process that has not asked for work yet is waited for, unless it does nothing. A process that has the turn and does
 * nothing may wait for one that has not: then the turn is taken from it, between two launches, and it gets it back by the same rule.
 *
 * What of the stream is not in its bytes is in the page while no launch runs, so a process may be killed, and another one goes on. */

#define PLACES 1024  /* processes at a time */
#define LEVELS 8     /* of forks, that are ordered */
#define NONE (-1)
#define FIRST 1.0    /* seconds without doing anything after which a process is not waited for that has not asked for work */
#define PATIENCE 5.0 /* seconds without doing anything after which one loses its turn; half of them the next time */
#define BUSY 12      /* times as long if it does something, but no work */
#define NAP 5000000  /* nanoseconds between two looks */

enum { FREE, FORKED, ALIVE, ASKED, ENDED };

struct place {
	pthread_mutex_t alive; /* the process has it: it is given back when it ends or executes another program, in whatever way */
	uint32_t path[LEVELS]; /* which child it is of its parent, that one of its own, and so on from the top, then UINT32_MAX */
	_Atomic pid_t process;
	_Atomic int state;
	_Atomic bool waits; /* for its turn */
	_Atomic bool idle;  /* it has not asked for work, and is not waited for */
};

static struct shared {
	pthread_mutex_t table; /* to take a place, and the token */
	pthread_mutex_t stream; /* to write, and to decide who may */
	struct gt_writer_left left; /* of the stream, by the process that wrote it last */
	int writer;		    /* that one */
	uint64_t launches;
	bool chosen;		   /* one of them */
	struct gt_error unmatched; /* why none is; "": no process has failed so */
	char doubt[GT_REASON];	   /* why work may be missing if the process that wrote this is killed */
	double patience;
	_Atomic uint64_t works; /* how often a process began to write */
	_Atomic int turn;
	_Atomic bool taken;   /* the token, by one of these */
	_Atomic bool several; /* there are others than the first */
	_Atomic bool over;    /* nothing is written any more */
	_Atomic bool said, said_waits, said_turns; /* that a process gets no work; that one waits; that they take turns */
	_Atomic bool killed, said_killed;
	bool begun, last; /* the stream; the first process has ended */
	bool writing, torn; /* under way; it was, when its process was killed */
	bool refused; /* work that can be no process's */
	struct place places[PLACES];
} *shared; /* NULL: nothing is traced */
static int mine;	      /* the place of this process, or of the one that it was forked from by other means than fork() */
static _Thread_local int next; /* that of the process that this thread forks */
static _Atomic uint32_t children; /* forked so far */
static bool ended;	      /* this process does not write any more */
static bool opened;	      /* its runtime */
static uint64_t launched;     /* by it */

static void make_lock(pthread_mutex_t *lock, int type)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_settype(&attributes, type);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

/* Whether the process of a place has ended, or executes another program. */
static bool is_gone(int at)
{
	struct place *place = &shared->places[at];

	if (atomic_load(&place->state) == FORKED)
		return false;
	const int code = pthread_mutex_trylock(&place->alive);
	if (code == EBUSY)
		return false;
	if (code == EOWNERDEAD)
		pthread_mutex_consistent(&place->alive);
	pthread_mutex_unlock(&place->alive);
	if (atomic_exchange(&place->state, ENDED) == ASKED)
		atomic_store(&shared->killed, true);
	return true;
}

/* A place for a process that is to be forked; NONE: all are taken. */
static int find_place(void)
{
	int found = NONE;

	if (pthread_mutex_lock(&shared->table) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->table);
	for (int i = 1; i < PLACES && found == NONE; i++) {
		struct place *place = &shared->places[i];
		if (i == atomic_load(&shared->turn) || (atomic_load(&place->state) != FREE && !is_gone(i)))
			continue;
		if (shared->writer == i)
			shared->writer = NONE; /* it was an earlier process in this place */
		make_lock(&place->alive, PTHREAD_MUTEX_NORMAL);
		memcpy(place->path, shared->places[mine].path, sizeof place->path);
		for (int level = 0; level < LEVELS; level++)
			if (place->path[level] == UINT32_MAX) {
				place->path[level] = atomic_fetch_add(&children, 1);
				break;
			}
		atomic_store(&place->process, 0);
		atomic_store(&place->waits, false);
		atomic_store(&place->idle, false);
		atomic_store(&place->state, FORKED);
		found = i;
	}
	pthread_mutex_unlock(&shared->table);
	return found;
}

static void sit_down(int at)
{
	mine = at;
	pthread_mutex_lock(&shared->places[at].alive);
	atomic_store(&shared->places[at].process, getpid());
	atomic_store(&shared->places[at].state, ALIVE);
}

/* Whether this process has a place of its own. */
static bool has_place(void)
{
	return shared && mine != NONE && atomic_load(&shared->places[mine].process) == getpid();
}

/* What a process forks after a call of CUDA cannot use it, as on a GPU. */
static void before_fork(void)
{
	next = gt_cudart.caller == 0 && has_place() ? find_place() : NONE;
	if (next != NONE)
		atomic_store(&shared->several, true);
}

static void name_child(const uint32_t path[LEVELS])
{
	size_t at = 0;

	for (int level = 0; level < LEVELS && path[level] != UINT32_MAX && at < sizeof gt_cudart.child; level++)
		at += (size_t)snprintf(gt_cudart.child + at, sizeof gt_cudart.child - at, "%s%" PRIu32, level > 0 ? "." : "", path[level] + 1);
	if (at < sizeof gt_cudart.child)
		snprintf(gt_cudart.child + at, sizeof gt_cudart.child - at, "-");
}

static void in_child(void)
{
	atomic_store(&children, 0);
	mine = NONE;
	if (next == NONE)
		return;
	sit_down(next);
	name_child(shared->places[next].path);
}

/* In every program that gtrace-record starts, or that one starts. */
__attribute__((constructor(101))) static void begin(void)
{
	if (!getenv(GT_RECORD_STREAM))
		return;
	void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return; /* take_token says so */
	shared = page;
	make_lock(&shared->table, PTHREAD_MUTEX_NORMAL);
	make_lock(&shared->stream, PTHREAD_MUTEX_RECURSIVE);
	make_lock(&shared->places[0].alive, PTHREAD_MUTEX_NORMAL);
	memset(shared->places[0].path, 0xff, sizeof shared->places[0].path);
	shared->patience = PATIENCE;
	atomic_store(&shared->turn, NONE);
	sit_down(0);
	pthread_atfork(before_fork, NULL, in_child);
}

/* ---- what gtrace-record is told ---- */

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
	const int again = open(path, flags | O_NONBLOCK), kept = again < 0 ? -1 : fcntl(again, F_DUPFD_CLOEXEC, *descriptor);
	if (kept < 0)
		return gt_fail_errno(error, "the program was started without the descriptor of the stream, or closed it, and it cannot be opened again");
	close(again);
	fcntl(kept, F_SETFL, flags);
	*descriptor = kept;
	return 0;
}

static int keep_descriptors(struct gt_error *error)
{
	struct gt_recording *record = &gt_cudart.record;

	return keep_descriptor(&record->words, O_WRONLY, error) != 0 ? -1 : keep_descriptor(&record->stream, O_WRONLY | O_APPEND, error);
}

/* ---- whose turn it is ---- */

/* Whether the process of a place comes before another one. */
static bool is_before(int at, int other)
{
	for (int level = 0; level < LEVELS; level++)
		if (shared->places[at].path[level] != shared->places[other].path[level])
			return shared->places[at].path[level] < shared->places[other].path[level];
	return at < other;
}

/* The first of the processes before this one that may still work, of those that wait alone if `waits`; NONE: there is none. */
static int find_before(bool waits)
{
	int found = NONE;

	for (int i = 0; i < PLACES; i++) {
		const struct place *place = &shared->places[i];
		const int state = atomic_load(&place->state);
		const bool counts = atomic_load(&place->waits) || (!waits && (state == FORKED || state == ALIVE) && !atomic_load(&place->idle));
		if (counts && state != FREE && state != ENDED && i != mine && is_before(i, mine) && (found == NONE || is_before(i, found)) && !is_gone(i))
			found = i;
	}
	return found;
}

/* Another process that has asked for work and has not ended; NONE: there is none. */
static int find_other(void)
{
	for (int i = 0; i < PLACES; i++)
		if (i != mine && atomic_load(&shared->places[i].state) == ASKED && !is_gone(i))
			return i;
	return NONE;
}

/* What a process does that this one waits for. */
struct watch {
	int at;
	uint64_t works;
	unsigned long ticks; /* of a processor that it has used */
	struct timespec begun, since; /* without work; without doing anything */
};

static double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* Whether a process runs or has run since it was last looked at. */
static bool does_something(struct watch *watch, pid_t process)
{
	char path[64], line[1024] = "", state = 'S';
	unsigned long user = 0, system = 0;

	if (process == 0) /* it has just been forked */
		return true;
	snprintf(path, sizeof path, "/proc/%d/stat", process);
	FILE *file = fopen(path, "r");
	if (file) {
		line[fread(line, 1, sizeof line - 1, file)] = '\0';
		fclose(file);
	}
	const char *behind = strrchr(line, ')');
	if (!behind || sscanf(behind, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user, &system) != 3)
		return false;
	const bool ran = user + system != watch->ticks;
	watch->ticks = user + system;
	return ran || state == 'R' || state == 'D';
}

/* Whether a process has done nothing for so long, or no work for longer, that another one is not to wait for it. */
static bool is_still(struct watch *watch, int at, double nothing, double no_work)
{
	const uint64_t works = atomic_load(&shared->works);

	if (watch->at != at || watch->works != works) {
		*watch = (struct watch){.at = at, .works = works};
		clock_gettime(CLOCK_MONOTONIC, &watch->begun);
		watch->since = watch->begun;
	}
	if (does_something(watch, atomic_load(&shared->places[at].process)))
		clock_gettime(CLOCK_MONOTONIC, &watch->since);
	const double waited = seconds_since(&watch->begun);
	if (waited >= PATIENCE && !gt_cudart.record.quiet && atomic_load(&shared->turn) == at && seconds_since(&watch->since) < PATIENCE / 2 &&
	    !atomic_exchange(&shared->said_waits, true))
		gt_cudart_say("process %d waits for its turn until process %d has ended: their launches are recorded in the order of forks", getpid(),
			      atomic_load(&shared->places[at].process));
	return seconds_since(&watch->since) >= nothing || waited >= no_work;
}

/* Whether the turn is this process's, when another one has it or none. */
static bool may_follow(struct watch *watch, int holder)
{
	if (holder != NONE && !is_gone(holder)) {
		if (find_before(true) != NONE || !is_still(watch, holder, shared->patience, BUSY * shared->patience))
			return false;
		shared->patience /= 2;
		if (!gt_cudart.record.quiet && !atomic_exchange(&shared->said_turns, true))
			gt_cudart_say("warning: process %d has its turn while process %d does nothing: they take turns, and the order of their launches may "
				      "be another one in the next run", getpid(), atomic_load(&shared->places[holder].process));
		return true;
	}
	const int before = find_before(false);
	if (before != NONE && !atomic_load(&shared->places[before].waits) && is_still(watch, before, FIRST, BUSY * PATIENCE))
		atomic_store(&shared->places[before].idle, true);
	return before == NONE;
}

static void say_killed(void)
{
	if (atomic_load(&shared->killed) && !gt_cudart.record.quiet && !atomic_exchange(&shared->said_killed, true))
		gt_cudart_say("warning: a process of the program was ended by a signal, or not by exit: the launches that it did are in the stream");
}

static void cut_stream(const char *reason);

/* After a process was killed that had the lock. */
static void mend_lock(void)
{
	pthread_mutex_consistent(&shared->stream);
	shared->torn |= shared->writing;
}

static void lock_stream(void)
{
	if (pthread_mutex_lock(&shared->stream) == EOWNERDEAD)
		mend_lock();
	if (shared->torn && !atomic_load(&shared->over)) {
		static const char reason[] = "a process of the program was ended by a signal in a launch: the stream has no end";
		gt_cudart_say("%s", reason);
		cut_stream(reason);
	}
}

static void unlock_stream(void)
{
	pthread_mutex_unlock(&shared->stream);
}

/* Takes the turn if it is this process's. */
static void look(struct watch *watch)
{
	const int code = pthread_mutex_trylock(&shared->stream);

	if (code == EBUSY)
		return; /* another one writes */
	if (code == EOWNERDEAD)
		mend_lock();
	lock_stream();
	const int holder = atomic_load(&shared->turn);
	if (!atomic_load(&shared->over) && holder != mine && may_follow(watch, holder)) {
		say_killed();
		atomic_store(&shared->turn, mine);
		if (shared->last)
			tell(GT_RECORD_BEGUN, getpid());
	}
	unlock_stream();
	unlock_stream();
}

/* Waits for the turn. False: the stream has ended. */
static bool wait_for_turn(void)
{
	struct place *place = &shared->places[mine];
	struct watch watch = {.at = NONE};
	const struct timespec nap = {0, NAP};

	atomic_store(&place->state, ASKED);
	while (atomic_load(&shared->turn) != mine && !atomic_load(&shared->over)) {
		atomic_store(&place->waits, true);
		look(&watch);
		if (atomic_load(&shared->turn) != mine)
			nanosleep(&nap, NULL);
	}
	atomic_store(&place->waits, false);
	return !atomic_load(&shared->over);
}

/* ---- the stream ---- */

/* Whether this process is one of those that write it, and has not ended. */
static bool takes_part(void)
{
	return has_place() && !ended && atomic_load(&shared->taken) && (gt_cudart.caller == 0 || gt_cudart.caller == getpid());
}

/* Goes on where another process has written. */
static void follow_others(void)
{
	if (shared->begun && shared->writer != mine) {
		lseek(gt_cudart.record.stream, 0, SEEK_END); /* the other one may have opened the file again */
		gt_writer_resume(gt_cudart.writer, &shared->left);
	}
	shared->writer = mine;
}

/* The header is written at once: if the process crashes, gtrace-record writes the reason behind what is there. */
static int open_writer(struct gt_error *error)
{
	const struct gt_recording *record = &gt_cudart.record;

	if (keep_descriptors(error) != 0)
		return -1;
	gt_cudart.writer = gt_writer_open(record->stream, NULL, "gtrace-record", gt_version, record->arguments, error);
	if (!gt_cudart.writer)
		return -1;
	follow_others();
	if (gt_writer_flush(gt_cudart.writer, error) != 0)
		return -1;
	shared->begun = true;
	return tell(GT_RECORD_BEGUN, getpid()) ? 0 : gt_fail_errno(error, "gtrace-record");
}

/* The reason in the place of the stream's end, so that the next stage does not report the missing end as a second failure. Nobody gets work
 * after that. */
static void cut_stream(const char *reason)
{
	struct gt_error ignored;

	atomic_store(&shared->over, true);
	atomic_store(&shared->said, true);
	if (gt_cudart.writer)
		follow_others();
	else if (open_writer(&ignored) != 0)
		return;
	if (gt_writer_fail(gt_cudart.writer, "gtrace-record", reason, &ignored) == 0)
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
	/* With the token gone gtrace-record does not look for a reason of its own. */
	if (!shared || !atomic_load(&shared->taken)) {
		(void)read_token();
	} else if (takes_part() && pthread_mutex_trylock(&gt_cudart.lock) == 0) {
		lock_stream();
		if (!atomic_load(&shared->over))
			cut_stream(text);
		unlock_stream();
	}
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
	gt_progress_begin(&gt_cudart.progress, "gtrace-record", stderr, !record->quiet);
	gt_cudart.recorder = gt_ptx_recorder_open(gt_cudart.writer, &record->tracing, &error);
	if (!gt_cudart.recorder)
		gt_cudart_stop("%s", error.text);
	if (!begun && record->tracing.gpu.n > 0 && gt_write_gpu(gt_cudart.writer, gt_cudart.gpu, &error) != 0)
		gt_cudart_stop("%s", error.text);
}

/* Locked: begins the stream, or goes on with it. */
static void begin_to_write(void)
{
	shared->writing = true;
	if (!gt_cudart.recorder)
		open_stream();
	follow_others();
	gt_cudart.launches = shared->launches;
	atomic_fetch_add(&shared->works, 1);
}

/* Leaves the stream so that another process can go on. */
static void leave(void)
{
	struct gt_error error;

	launched += gt_cudart.launches - shared->launches;
	shared->launches = gt_cudart.launches;
	if (atomic_load(&shared->several) && gt_writer_leave(gt_cudart.writer, &shared->left, &error) != 0)
		gt_cudart_stop("%s", error.text);
	shared->writing = false;
}

bool gt_cudart_take_stream(void)
{
	if (!shared || !opened)
		return true;
	while (wait_for_turn()) {
		lock_stream();
		if (atomic_load(&shared->turn) == mine && !atomic_load(&shared->over)) {
			begin_to_write();
			return true;
		}
		unlock_stream();
	}
	return false;
}

void gt_cudart_give_stream(void)
{
	char reason[GT_REASON];

	if (!shared || !opened)
		return;
	leave();
	if (atomic_load(&shared->several) && !shared->doubt[0]) {
		gt_cudart.at_end->find_reason(reason);
		memcpy(shared->doubt, reason, sizeof shared->doubt);
	}
	unlock_stream();
}

bool gt_cudart_may_work(void)
{
	const bool forked = gt_cudart.caller != 0 && gt_cudart.caller != getpid();

	if (!shared || !opened)
		return true;
	if (takes_part() && wait_for_turn()) {
		if (gt_cudart.recorder)
			return true;
		if (gt_cudart_take_stream()) {
			gt_cudart_give_stream();
			return true;
		}
	}
	shared->refused |= !forked && !has_place();
	if (!atomic_exchange(&shared->said, true))
		gt_cudart_say("%s asks for work, and gets cudaErrorInitializationError, as %s",
			      forked ? "a process that the program forked after a call of CUDA" : "a process of the program",
			      forked ? "on a GPU" : has_place() ? "the stream has ended" : "it is one of more than 1024, or was not made by fork()");
	return false;
}

/* ---- the token ---- */

/* The first process of a program that uses CUDA takes it, for all of them. */
void gt_cudart_take_token(void)
{
	struct gt_error error;

	if (gt_cudart.record.stream < 0 || gt_cudart.record.token < 0)
		return;
	if (!shared)
		gt_cudart_stop("out of memory");
	if (keep_descriptor(&gt_cudart.record.token, O_RDONLY | O_NONBLOCK, &error) != 0 || keep_descriptors(&error) != 0)
		gt_cudart_stop("%s", error.text);
	if (pthread_mutex_lock(&shared->table) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->table);
	const bool taken = atomic_load(&shared->taken) || read_token();
	atomic_store(&shared->taken, taken);
	pthread_mutex_unlock(&shared->table);
	if (!taken)
		gt_cudart_stop("a second program of this run uses the CUDA runtime; record one program at a time");
	opened = true;
}

/* ---- the end of a process ---- */

/* Notes whether this process has launches that the options choose, and arrays that they name. */
static void note_chosen(void)
{
	if (gt_ptx_recorder_check(gt_cudart.recorder, &shared->unmatched) == 0 &&
	    gt_ptx_wishes_check(&gt_cudart.memory, &shared->unmatched) == 0 && launched > 0)
		shared->chosen = true;
}

/* The same, of all processes. */
static void find_reason_of_all(char reason[GT_REASON])
{
	const bool ignores = gt_cudart.record.tracing.ignore_unsupported;

	if (!shared->chosen && shared->unmatched.text[0])
		snprintf(reason, GT_REASON, "%s", shared->unmatched.text);
	else if (shared->doubt[0])
		memcpy(reason, shared->doubt, GT_REASON);
	else if (shared->refused && !ignores)
		snprintf(reason, GT_REASON, "work of a process is not in the stream: " GT_ENDLESS);
	else if (gt_cudart.launches == 0 && !ignores)
		gt_cudart.at_end->explain_none(reason);
}

/* In the place of an end, a stream without all work has the reason, so that the next stage reports nothing more. */
static void write_end(const char *reason)
{
	struct gt_error error;
	int result = gt_writer_flush(gt_cudart.writer, &error);

	if (result == 0)
		result = reason[0] ? gt_writer_fail(gt_cudart.writer, "gtrace-record", reason, &error) : gt_writer_finish(gt_cudart.writer, &error);
	if (result != 0)
		gt_cudart_stop("%s", error.text);
	gt_writer_close(gt_cudart.writer);
	gt_cudart.writer = NULL;
	atomic_store(&shared->over, true);
	ended = true;
	if (close(gt_cudart.record.stream) != 0 || !tell(reason[0] ? GT_RECORD_CUT : GT_RECORD_WHOLE, getpid()))
		gt_cudart_stop("the stream cannot be closed: %s", strerror(errno));
}

/* Locked: the stream goes on with others, and this process tells who is to be waited for, or it ends. */
static void end_stream(bool is_last)
{
	static bool said;
	char reason[GT_REASON];
	struct gt_error error;

	begin_to_write();
	gt_cudart.at_end->say(launched > 0);
	note_chosen();
	gt_cudart.at_end->find_reason(reason);
	if (!reason[0] && gt_ptx_recorder_finish(gt_cudart.recorder, &error) != 0)
		gt_cudart_stop("%s", error.text);
	if (!reason[0] && !is_last) {
		leave();
		const int heir = shared->last ? find_other() : 0;
		tell(GT_RECORD_BEGUN, atomic_load(&shared->places[heir].process));
		return;
	}
	if (!reason[0])
		find_reason_of_all(reason);
	if (reason[0])
		gt_cudart_say("%s", reason);
	write_end(reason);
	if (!reason[0] && gt_cudart.launches == 0)
		gt_cudart_say_once(&said, "warning: the program launched no kernel");
}

/* Locked: the first process ends the stream, or the last of those that work when it has ended. */
static void end_part(void)
{
	const bool is_first = mine == 0;

	shared->last |= is_first;
	if (is_first && atomic_load(&children) > 0 && !shared->begun) {
		tell(GT_RECORD_LEFT, getpid()); /* they may still begin it */
		return;
	}
	const int heir = find_other();
	const bool is_last = shared->last && heir == NONE;
	if (is_last)
		say_killed();
	if (gt_cudart.recorder || (is_first && is_last))
		end_stream(is_last);
	else if (is_first)
		tell(GT_RECORD_BEGUN, atomic_load(&shared->places[heir].process));
}

static void end_process(void)
{
	if (!opened)
		gt_cudart.at_end->open(); /* nothing was asked for here, but by others that were forked */
	if (gt_cudart.finish)
		gt_cudart.finish();
	lock_stream();
	if (!atomic_load(&shared->over))
		end_part();
	int self = mine;
	atomic_compare_exchange_strong(&shared->turn, &self, NONE);
	atomic_store(&shared->places[mine].state, ENDED);
	ended = true;
	unlock_stream();
}

/* Runs after the program's own exit handlers. */
__attribute__((destructor)) static void end(void)
{
	if (takes_part())
		end_process();
}

__attribute__((constructor)) static void end_quickly_too(void)
{
	at_quick_exit(end);
}

/* A frame that a signal has interrupted. */
static _Unwind_Reason_Code find_interrupted(struct _Unwind_Context *frame, void *interrupted)
{
	int before = 0;

	(void)_Unwind_GetIPInfo(frame, &before);
	*(bool *)interrupted |= before != 0;
	return _URC_NO_REASON;
}

/* What a handler has interrupted, such as malloc, cannot be called in it. */
static bool is_in_handler(void)
{
	bool interrupted = false;

	_Unwind_Backtrace(find_interrupted, &interrupted);
	return interrupted;
}

/* The _exit of the program (Makefile), by which a process that is forked commonly ends. The stream gets no end while a thread is in a call. */
API _Noreturn void gt_cudart_exit(int status);
_Noreturn void gt_cudart_exit(int status)
{
	if (takes_part() && !is_in_handler() && pthread_mutex_trylock(&gt_cudart.lock) == 0 && gt_cudart.depth == 0)
		end_process();
	for (;;)
		syscall(SYS_exit_group, status);
}
