/* SPDX-License-Identifier: MIT */
#include "schedule/steps.h"

/* The first step at which an active SM can take a block, when none has one. */
static uint64_t next_free(const struct gt_schedule *schedule)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < schedule->n_next; i++) {
		const struct sm *sm = &schedule->sms[schedule->active[i]];
		if (schedule->config->issue->timed && sm->live > 0 && sm->wake < next)
			next = sm->wake;
		for (size_t slot = 0; slot < sm->n_resident; slot++)
			if (!sm->resident[slot] && sm->free_at[slot] > schedule->step && sm->free_at[slot] < next)
				next = sm->free_at[slot];
	}
	return next;
}

int gt_schedule_run(struct gt_schedule *schedule, struct gt_error *error)
{
	const struct gt_schedule_config *config = schedule->config;
	const uint64_t capacity = gt_machine_capacity(schedule);

	while (schedule->n_active > 0) {
		enum filled first = config->dispatch->shuffles && schedule->cursor == 0 ? gt_dispatch_shuffled(schedule, error) : FILL_DONE;
		if (first == FILL_WAIT || first == FILL_FAILED)
			return first == FILL_WAIT ? 0 : -1;
		for (; schedule->cursor < schedule->n_active; schedule->cursor++) {
			uint32_t number = schedule->active[schedule->cursor];
			struct sm *sm = &schedule->sms[number];
			gt_machine_prefetch(schedule);
			enum filled filled = sm->live < capacity ? config->dispatch->fill(schedule, sm, error) : FILL_DONE;
			if (filled == FILL_WAIT || filled == FILL_FAILED)
				return filled == FILL_WAIT ? 0 : -1;
			if (sm->live == 0 && filled == FILL_DONE)
				continue; /* finished */
			if (sm->live > 0 && config->issue->issue(schedule, sm, error) != 0)
				return -1;
			schedule->active[schedule->n_next++] = number;
		}
		if (schedule->n_next > 0)
			schedule->step = schedule->issued ? schedule->step + 1 : next_free(schedule);
		schedule->issued = false;
		schedule->n_active = schedule->n_next;
		schedule->n_next = schedule->cursor = 0;
	}
	return 0;
}
