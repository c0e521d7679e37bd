/* SPDX-License-Identifier: MIT */
/* A pipeline (base/pipeline.h): which steps of which items can be run, and the threads that run them. */
#include "base/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/options.h"

/* ---- which steps of which items can be run. Whoever calls holds the lock of the pipeline. ---- */

/* An item that is under way. */
struct slot {
	void *item;
	size_t step;
	unsigned left; /* lanes of the step that have not ended it */
	bool running;  /* in a step without lanes */
	bool failed;   /* by this error, in that lane of the step; NO_LANE: in an earlier step */
	unsigned failed_lane;
	int reason; /* errno */
	struct gt_error error;
};
#define NO_LANE UINT32_MAX

struct lane {
	uint64_t next; /* number of the item that it takes next */
	bool running;
	bool ended; /* an item has failed */
};

struct tasks {
	struct gt_step steps[GT_STEPS_MAX];
	size_t steps_n;
	struct lane *lanes[GT_STEPS_MAX];
	size_t ready[GT_STEPS_MAX];  /* items that wait for a step without lanes */
	struct slot *slots;  /* item number i is in slots[i % slots_n] */
	void **idle;		     /* items that are not under way; the last is the next */
	size_t slots_n, idle_n;
	uint64_t begin, end; /* numbers of the items under way */
	unsigned running;    /* steps */
	bool failed;	     /* by the first item that did */
	int reason;
	struct gt_error error;
};

/* A step of an item, in a lane. */
struct task {
	struct slot *slot;
	size_t step;
	unsigned lane;
};

static struct slot *slot_of(const struct tasks *tasks, uint64_t number)
{
	return &tasks->slots[number % tasks->slots_n];
}

/* A zeroed struct can be closed. Returns 0, or -1 when memory is short. */
static int open_tasks(struct tasks *tasks, const struct gt_step *steps, size_t steps_n,
			   struct gt_pipeline_items items, struct gt_error *error)
{
	*tasks = (struct tasks){.steps_n = steps_n, .slots_n = items.n};
	tasks->slots = calloc(items.n, sizeof *tasks->slots);
	tasks->idle = calloc(items.n, sizeof *tasks->idle);
	if (!tasks->slots || !tasks->idle)
		return gt_fail_memory(error, "threads");
	for (size_t s = 0; s < steps_n; s++) {
		tasks->steps[s] = steps[s];
		tasks->lanes[s] = calloc(steps[s].lanes + 1, sizeof *tasks->lanes[s]);
		if (!tasks->lanes[s])
			return gt_fail_memory(error, "threads");
	}
	for (size_t i = 0; i < items.n; i++)
		tasks->idle[tasks->idle_n++] = (char *)items.first + i * items.bytes;
	return 0;
}

static void close_tasks(struct tasks *tasks)
{
	for (size_t s = 0; s < tasks->steps_n; s++)
		free(tasks->lanes[s]);
	free(tasks->slots);
	free(tasks->idle);
	*tasks = (struct tasks){.steps_n = 0};
}

/* ---- finding ---- */

static bool find_in_lanes(const struct tasks *tasks, struct task *task)
{
	for (unsigned lane = 0; lane < tasks->steps[task->step].lanes; lane++) {
		const struct lane *state = &tasks->lanes[task->step][lane];
		if (state->running || state->next == tasks->end || slot_of(tasks, state->next)->step != task->step)
			continue;
		task->slot = slot_of(tasks, state->next);
		task->lane = lane;
		return true;
	}
	return false;
}

static bool find_in_any_order(const struct tasks *tasks, struct task *task)
{
	if (tasks->ready[task->step] == 0)
		return false;
	for (uint64_t i = tasks->begin; i < tasks->end; i++) {
		struct slot *slot = slot_of(tasks, i);
		if (slot->step != task->step || slot->running)
			continue;
		task->slot = slot;
		task->lane = 0;
		return true;
	}
	return false;
}

/* A task that can be run. False if there is none, or an item has failed. Late steps first, so that items leave before others
 * enter. */
static bool find_task(const struct tasks *tasks, struct task *task)
{
	if (tasks->failed)
		return false;
	for (task->step = tasks->steps_n; task->step-- > 0;)
		if (tasks->steps[task->step].lanes > 0 ? find_in_lanes(tasks, task) : find_in_any_order(tasks, task))
			return true;
	return false;
}

/* Marks a task that was found as begun. Returns whether it is to be run: an item that has failed is not, nor what follows it
 * in a lane. In either case it has to be ended. */
static bool begin_task(struct tasks *tasks, const struct task *task)
{
	tasks->running++;
	if (tasks->steps[task->step].lanes == 0) {
		task->slot->running = true;
		tasks->ready[task->step]--;
		return !task->slot->failed;
	}
	struct lane *lane = &tasks->lanes[task->step][task->lane];
	lane->running = true;
	lane->next++;
	/* A failure in another lane of the same step says nothing of this lane, which may be ahead of it. */
	lane->ended |= task->slot->failed && task->slot->failed_lane == NO_LANE;
	return !lane->ended;
}

/* ---- ending ---- */

static void arrive(struct tasks *tasks, struct slot *slot, size_t step)
{
	slot->step = step;
	slot->running = false;
	slot->failed_lane = NO_LANE;
	slot->left = 1;
	if (step == tasks->steps_n)
		return;
	if (tasks->steps[step].lanes > 0)
		slot->left = tasks->steps[step].lanes;
	else
		tasks->ready[step]++;
}

/* Puts an item behind the others; it must be none of those under way. */
static void put_item(struct tasks *tasks, void *item)
{
	struct slot *slot = slot_of(tasks, tasks->end++);

	*slot = (struct slot){.item = item};
	arrive(tasks, slot, 0);
}

/* Takes items off that have ended, in order. */
static void retire(struct tasks *tasks)
{
	while (tasks->begin < tasks->end && slot_of(tasks, tasks->begin)->step == tasks->steps_n) {
		struct slot *slot = slot_of(tasks, tasks->begin++);
		tasks->idle[tasks->idle_n++] = slot->item;
		if (slot->failed && !tasks->failed) {
			tasks->failed = true;
			tasks->error = slot->error;
			tasks->reason = slot->reason;
		}
	}
}

/* Of the lanes of a step that fail, the lowest says why. */
static void fail(struct slot *slot, unsigned lane, const struct gt_error *error, int reason)
{
	if (slot->failed && slot->failed_lane <= lane)
		return;
	slot->failed = true;
	slot->failed_lane = lane;
	slot->error = *error;
	slot->reason = reason;
}

/* Ends it with its result, and the error and errno of one that is not 0. */
static void end_task(struct tasks *tasks, const struct task *task, int result,
			   const struct gt_error *error, int reason)
{
	struct slot *slot = task->slot;

	tasks->running--;
	if (result != 0)
		fail(slot, task->lane, error, reason);
	if (tasks->steps[task->step].lanes > 0) {
		tasks->lanes[task->step][task->lane].running = false;
		tasks->lanes[task->step][task->lane].ended |= result != 0;
	}
	if (--slot->left > 0)
		return;
	arrive(tasks, slot, task->step + 1);
	retire(tasks);
}

/* ---- the pipeline and its lock ---- */

struct gt_pipeline {
	pthread_mutex_t lock;	     /* of all that follows */
	pthread_cond_t work, caller; /* there may be some for a thread; for the caller, or what it waits for */
	struct tasks tasks;
	void *context;
	unsigned asleep; /* threads */
	bool caller_waits, closing;
	pthread_t *threads;
	unsigned threads_n;
};

static unsigned online_processors(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online < 1 ? 1 : online > GT_JOBS_MAX ? GT_JOBS_MAX : (unsigned)online;
}

int gt_parse_jobs(const char *text, unsigned *jobs, struct gt_error *error)
{
	uint64_t number;

	if (gt_parse_count(text, 0, GT_JOBS_MAX, &number, error) != 0)
		return -1;
	*jobs = number > 0 ? (unsigned)number : online_processors();
	return 0;
}

/* Wakes a thread if there is a task for it. The lock is held. */
static void wake_another(struct gt_pipeline *pipeline)
{
	struct task task;

	if (pipeline->asleep == 0 && !pipeline->caller_waits)
		return;
	if (find_task(&pipeline->tasks, &task))
		pthread_cond_signal(pipeline->asleep > 0 ? &pipeline->work : &pipeline->caller);
}

/* Whether the caller may have what it waits for: a failure or the end of all, or an idle item. */
static bool caller_may_go_on(const struct tasks *tasks)
{
	return tasks->idle_n > 0 || tasks->failed || tasks->begin == tasks->end;
}

/* Runs a task that was found. The lock is held before and after. */
static void run(struct gt_pipeline *pipeline, const struct task *task)
{
	struct gt_error error = {{0}};
	int result = 0, reason = 0;

	if (begin_task(&pipeline->tasks, task)) {
		wake_another(pipeline);
		pthread_mutex_unlock(&pipeline->lock);
		result = pipeline->tasks.steps[task->step].run(pipeline->context, task->slot->item, task->lane, &error);
		reason = errno;
		pthread_mutex_lock(&pipeline->lock);
	}
	end_task(&pipeline->tasks, task, result, &error, reason);
	if (pipeline->caller_waits && caller_may_go_on(&pipeline->tasks))
		pthread_cond_signal(&pipeline->caller);
}

/* ---- threads ---- */

static void *work(void *context)
{
	struct gt_pipeline *pipeline = context;
	struct task task;

	pthread_mutex_lock(&pipeline->lock);
	while (!pipeline->closing) {
		if (find_task(&pipeline->tasks, &task)) {
			run(pipeline, &task);
			continue;
		}
		pipeline->asleep++;
		pthread_cond_wait(&pipeline->work, &pipeline->lock);
		pipeline->asleep--;
	}
	pthread_mutex_unlock(&pipeline->lock);
	return NULL;
}

int gt_thread_start(pthread_t *thread, void *(*begin)(void *), void *context, struct gt_error *error)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int result = pthread_create(thread, NULL, begin, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = result;
	return result == 0 ? 0 : gt_fail_errno(error, "cannot start a thread");
}

static int start(struct gt_pipeline *pipeline, unsigned threads, struct gt_error *error)
{
	pipeline->threads = calloc(threads + 1, sizeof *pipeline->threads);
	if (!pipeline->threads)
		return gt_fail_memory(error, "threads");
	for (; pipeline->threads_n < threads; pipeline->threads_n++)
		if (gt_thread_start(&pipeline->threads[pipeline->threads_n], work, pipeline, error) != 0)
			return -1;
	return 0;
}

struct gt_pipeline *gt_pipeline_open(unsigned jobs, const struct gt_step *steps, size_t steps_n, void *context,
				     struct gt_pipeline_items items, struct gt_error *error)
{
	struct gt_pipeline *pipeline = calloc(1, sizeof *pipeline);

	if (!pipeline) {
		gt_fail_memory(error, "threads");
		return NULL;
	}
	pipeline->context = context;
	pthread_mutex_init(&pipeline->lock, NULL);
	pthread_cond_init(&pipeline->work, NULL);
	pthread_cond_init(&pipeline->caller, NULL);
	if (open_tasks(&pipeline->tasks, steps, steps_n, items, error) == 0 &&
	    start(pipeline, jobs - 1, error) == 0)
		return pipeline;
	gt_pipeline_close(pipeline);
	return NULL;
}

void gt_pipeline_close(struct gt_pipeline *pipeline)
{
	if (!pipeline)
		return;
	pthread_mutex_lock(&pipeline->lock);
	pipeline->closing = true;
	pthread_cond_broadcast(&pipeline->work);
	pthread_mutex_unlock(&pipeline->lock);
	for (unsigned t = 0; t < pipeline->threads_n; t++)
		pthread_join(pipeline->threads[t], NULL);
	pthread_mutex_destroy(&pipeline->lock);
	pthread_cond_destroy(&pipeline->work);
	pthread_cond_destroy(&pipeline->caller);
	close_tasks(&pipeline->tasks);
	free(pipeline->threads);
	free(pipeline);
}

/* ---- the caller ---- */

/* Runs a step, or waits until there may be one. The lock is held. */
static void help(struct gt_pipeline *pipeline)
{
	struct task task;

	if (find_task(&pipeline->tasks, &task)) {
		run(pipeline, &task);
		wake_another(pipeline);
		return;
	}
	pipeline->caller_waits = true;
	pthread_cond_wait(&pipeline->caller, &pipeline->lock);
	pipeline->caller_waits = false;
}

/* Waits for the steps that are running, and returns the failure. The lock is held. */
static int end_failed(struct gt_pipeline *pipeline, struct gt_error *error)
{
	while (pipeline->tasks.running > 0)
		help(pipeline);
	*error = pipeline->tasks.error;
	errno = pipeline->tasks.reason;
	return -1;
}

void *gt_pipeline_next(struct gt_pipeline *pipeline, struct gt_error *error)
{
	struct tasks *tasks = &pipeline->tasks;
	void *item = NULL;

	pthread_mutex_lock(&pipeline->lock);
	while (!tasks->failed && tasks->idle_n == 0)
		help(pipeline);
	if (tasks->failed)
		end_failed(pipeline, error);
	else
		item = tasks->idle[--tasks->idle_n];
	pthread_mutex_unlock(&pipeline->lock);
	return item;
}

void gt_pipeline_put(struct gt_pipeline *pipeline, void *item)
{
	pthread_mutex_lock(&pipeline->lock);
	put_item(&pipeline->tasks, item);
	if (pipeline->asleep > 0)
		pthread_cond_signal(&pipeline->work);
	pthread_mutex_unlock(&pipeline->lock);
}

int gt_pipeline_drain(struct gt_pipeline *pipeline, struct gt_error *error)
{
	struct tasks *tasks = &pipeline->tasks;
	int result = 0;

	pthread_mutex_lock(&pipeline->lock);
	while (!tasks->failed && tasks->begin < tasks->end)
		help(pipeline);
	if (tasks->failed)
		result = end_failed(pipeline, error);
	pthread_mutex_unlock(&pipeline->lock);
	return result;
}
