/* SPDX-License-Identifier: MIT */
/* Accesses outside of every allocation that --check permits: all of them, redirected to bytes of the block's own, or those that
 * hardware permits, within the pages that it maps. */
#include "cuda/ptx/exec/stray.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/grown.h"
#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/granule.h"
#include "cuda/ptx/exec/local.h"

const char *const gt_ptx_check_names[GT_PTX_CHECKS] = {"page", "list", "fault"};

static void count(const struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint64_t address)
{
	struct gt_ptx_access *access = op->with.access;

	warp->core->ran->strayed = true;
	if (access->strays++ == 0) {
		access->stray_address = address;
		access->stray_line = op->line;
	}
}

unsigned char *gt_ptx_stray_local(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t at)
{
	if (warp->core->launch->check != GT_PTX_CHECK_PAGE)
		return NULL;
	count(warp, op, GT_PTX_LOCAL_BASE + at);
	return gt_ptx_local_place(warp, lane, at);
}

/* Blocks may run in several threads. */
static unsigned char *mapped_at(struct gt_ptx_memory *memory, uint64_t address, unsigned bytes)
{
	static pthread_mutex_t mapping = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mapping);
	unsigned char *found = gt_ptx_mapped_at(memory, address, bytes);
	pthread_mutex_unlock(&mapping);
	return found;
}

unsigned char *gt_ptx_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			    unsigned bytes)
{
	struct gt_ptx_core *core = warp->core;
	enum gt_ptx_check check = core->launch->check;
	unsigned char *nowhere = core->nowhere[lane];

	if (check == GT_PTX_CHECK_PAGE)
		nowhere = mapped_at(core->memory, address, bytes);
	if (check == GT_PTX_CHECK_FAULT || check == GT_PTX_MEMCHECK || bytes > GT_PTX_NOWHERE || !nowhere)
		return NULL;
	count(warp, op, address);
	if (check == GT_PTX_CHECK_PAGE)
		return nowhere;
	memset(nowhere, 0, GT_PTX_NOWHERE);
	for (unsigned i = 0; i < bytes; i++) {
		const unsigned char *byte = gt_ptx_at(core->memory, address + i, 1);
		if (byte)
			nowhere[i] = *byte;
	}
	return nowhere;
}

bool gt_ptx_is_told(const struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	return warp->core->launch->check == GT_PTX_MEMCHECK && op->with.access->told;
}

/* Reports the fault unless one of its instruction was; false: it stays one. */
static bool go_on(struct gt_ptx_core *core, bool *told)
{
	struct gt_ptx_notes *notes = core->machine->notes;

	if (core->launch->check != GT_PTX_MEMCHECK)
		return false;
	if (!*told && notes) {
		notes->faults++;
		if (notes->fault)
			notes->fault(notes->context, core->error->text);
	}
	*told = true;
	core->failed = core->ran->fault = false;
	return true;
}

unsigned char *gt_ptx_pass_over(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane)
{
	struct gt_ptx_access *access = op->with.access;

	if (!go_on(warp->core, &access->told))
		return NULL;
	access->strays++;
	return memset(warp->core->nowhere[lane], 0, GT_PTX_NOWHERE);
}

bool gt_ptx_leave_out(struct gt_ptx_warp *warp, const struct gt_ptx_op *op)
{
	return go_on(warp->core, &op->with.call->told);
}

bool gt_ptx_ends_at_fault(const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran,
			  const struct gt_error *error)
{
	if (launch->check != GT_PTX_MEMCHECK || !ran->fault)
		return false;
	if (machine->notes)
		gt_ptx_note_end(machine->notes, error->text);
	return true;
}

static void tell(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, const struct gt_ptx_access *access,
		 const char *rest)
{
	static const char *const actions[] = {"load", "store", "atomic", "atomic"};
	const char *file;
	unsigned line;
	char place[128] = "", text[640];

	if (gt_ptx_source_place(machine->module, access->stray_line, &file, &line))
		snprintf(place, sizeof place, " (%.100s:%u)", file, line);
	snprintf(text, sizeof text,
		 "kernel %.128s, PTX line %u, pc 0x%x%s: %" PRIu64 " thread accesses outside of every allocation, the first a %s at 0x%" PRIx64 "%s",
		 kernel->name, access->stray_line, access->stray_line, place, access->strays, actions[access->action], access->stray_address, rest);
	machine->notes->say(machine->notes->context, text);
}

static void count_faults(struct gt_ptx_machine *machine, const struct gt_ptx_access *access)
{
	if (machine->notes)
		machine->notes->accesses += access->strays;
}

void gt_ptx_strays_tell(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check)
{
	for (size_t f = 0; f < machine->module->n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			struct gt_ptx_access *access = program->codes[f]->accesses[i];
			if (check == GT_PTX_MEMCHECK) {
				count_faults(machine, access);
			} else if (access->strays > 0 && machine->notes && !access->told) {
				tell(machine, program->kernel, access, check == GT_PTX_CHECK_PAGE ? ", where hardware has memory" : "");
				access->told = true;
			}
			access->strays = 0;
		}
}

int gt_ptx_strays_take(struct gt_ptx_strays *strays, const struct gt_ptx_program *program, size_t n_functions, struct gt_error *error)
{
	strays->n = 0;
	for (size_t f = 0; f < n_functions; f++) {
		const struct gt_ptx_code *code = program->codes[f];
		if (!code || code->n_accesses == 0)
			continue;
		struct gt_ptx_stray_count *counts = gt_resized(strays->counts, strays->n + code->n_accesses, sizeof *counts);
		if (!counts)
			return gt_fail_memory(error, "accesses outside of every allocation");
		strays->counts = counts;
		for (size_t i = 0; i < code->n_accesses; i++) {
			struct gt_ptx_access *access = code->accesses[i];
			counts[strays->n++] = (struct gt_ptx_stray_count){access->strays, access->stray_address, access->stray_line};
			access->strays = 0;
		}
	}
	return 0;
}

void gt_ptx_strays_add(const struct gt_ptx_strays *strays, const struct gt_ptx_program *program, size_t n_functions)
{
	const struct gt_ptx_stray_count *count = strays->counts;

	for (size_t f = 0; f < n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++, count++) {
			struct gt_ptx_access *sum = program->codes[f]->accesses[i];
			if (sum->strays == 0) {
				sum->stray_address = count->address;
				sum->stray_line = count->line;
			}
			sum->strays += count->n;
		}
}
