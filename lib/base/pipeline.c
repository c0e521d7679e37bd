/* SPDX-License-Identifier: MIT */
#include "base/pipeline.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/options.h"
#include "base/pipeline_tasks.h"

struct gt_pipeline {
	pthread_mutex_t lock;	     /* of all that follows */
	pthread_cond_t work, caller; /* there may be some for a thread; for the caller, or what it waits for */
	struct gt_pipeline_tasks tasks;
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
	struct gt_pipeline_task task;

	if (pipeline->asleep == 0 && !pipeline->caller_waits)
		return;
	if (gt_pipeline_tasks_find(&pipeline->tasks, &task))
		pthread_cond_signal(pipeline->asleep > 0 ? &pipeline->work : &pipeline->caller);
}

/* Whether the caller may have what it waits for: a failure or the end of all, or an idle item. */
static bool caller_may_go_on(const struct gt_pipeline_tasks *tasks)
{
	return tasks->idle_n > 0 || tasks->failed || tasks->begin == tasks->end;
}

/* Runs a task that was found. The lock is held before and after. */
static void run(struct gt_pipeline *pipeline, const struct gt_pipeline_task *task)
{
	struct gt_error error = {{0}};
	int result = 0, reason = 0;

	if (gt_pipeline_tasks_begin(&pipeline->tasks, task)) {
		wake_another(pipeline);
		pthread_mutex_unlock(&pipeline->lock);
		result = pipeline->tasks.steps[task->step].run(pipeline->context, task->slot->item, task->lane, &error);
		reason = errno;
		pthread_mutex_lock(&pipeline->lock);
	}
	gt_pipeline_tasks_end(&pipeline->tasks, task, result, &error, reason);
	if (pipeline->caller_waits && caller_may_go_on(&pipeline->tasks))
		pthread_cond_signal(&pipeline->caller);
}

/* ---- threads ---- */

static void *work(void *context)
{
	struct gt_pipeline *pipeline = context;
	struct gt_pipeline_task task;

	pthread_mutex_lock(&pipeline->lock);
	while (!pipeline->closing) {
		if (gt_pipeline_tasks_find(&pipeline->tasks, &task)) {
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

/* Signals go to the thread that called. */
static int start(struct gt_pipeline *pipeline, unsigned threads, struct gt_error *error)
{
	sigset_t all, before;
	int result = 0;

	pipeline->threads = calloc(threads + 1, sizeof *pipeline->threads);
	if (!pipeline->threads)
		return gt_fail_memory(error, "threads");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (result == 0 && pipeline->threads_n < threads) {
		result = pthread_create(&pipeline->threads[pipeline->threads_n], NULL, work, pipeline);
		pipeline->threads_n += result == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = result;
	return result == 0 ? 0 : gt_fail_errno(error, "cannot start a thread");
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
	if (gt_pipeline_tasks_open(&pipeline->tasks, steps, steps_n, items, error) == 0 &&
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
	gt_pipeline_tasks_close(&pipeline->tasks);
	free(pipeline->threads);
	free(pipeline);
}

/* ---- the caller ---- */

/* Runs a step, or waits until there may be one. The lock is held. */
static void help(struct gt_pipeline *pipeline)
{
	struct gt_pipeline_task task;

	if (gt_pipeline_tasks_find(&pipeline->tasks, &task)) {
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
	struct gt_pipeline_tasks *tasks = &pipeline->tasks;
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
	gt_pipeline_tasks_put(&pipeline->tasks, item);
	if (pipeline->asleep > 0)
		pthread_cond_signal(&pipeline->work);
	pthread_mutex_unlock(&pipeline->lock);
}

int gt_pipeline_drain(struct gt_pipeline *pipeline, struct gt_error *error)
{
	struct gt_pipeline_tasks *tasks = &pipeline->tasks;
	int result = 0;

	pthread_mutex_lock(&pipeline->lock);
	while (!tasks->failed && tasks->begin < tasks->end)
		help(pipeline);
	if (tasks->failed)
		result = end_failed(pipeline, error);
	pthread_mutex_unlock(&pipeline->lock);
	return result;
}
