/* SPDX-License-Identifier: MIT */
/* Accesses outside of every allocation that the user lets pass, as hardware does within the pages
 * that it maps: they reach bytes of the block's own, never the host's. */
#include "ptx/exec/stray.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx/exec/code.h"

const char *const gt_ptx_check_names[GT_PTX_CHECKS] = {"fault", "list", "no"};

/* Hardware maps memory in granules of this many bytes: behind an allocation, up to a multiple of it,
 * there is memory too. */
#define GRANULE (UINT64_C(2) << 20)

static bool is_mapped(const struct gt_ptx_memory *memory, uint64_t address, uint64_t bytes)
{
	const struct gt_ptx_allocation *near = gt_ptx_nearest(memory, address);

	if (!near || address < near->address)
		return false;
	return address + bytes <= (near->address + near->bytes + GRANULE - 1) / GRANULE * GRANULE;
}

unsigned char *gt_ptx_stray(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, unsigned lane, uint64_t address,
			    unsigned bytes)
{
	struct gt_ptx_core *core = warp->core;
	struct gt_ptx_access *access = op->with.access;
	enum gt_ptx_check check = core->launch->check;
	unsigned char *nowhere = core->nowhere[lane];

	if (check == GT_PTX_CHECK_FAULT || bytes > GT_PTX_NOWHERE ||
	    (check == GT_PTX_CHECK_NO && (access->action != GT_LOAD || !is_mapped(core->memory, address, bytes))))
		return NULL;
	if (access->strays++ == 0) {
		access->stray_address = address;
		access->stray_line = op->line;
	}
	memset(nowhere, 0, GT_PTX_NOWHERE);
	for (unsigned i = 0; i < bytes; i++) {
		const unsigned char *byte = gt_ptx_at(core->memory, address + i, 1);
		if (byte)
			nowhere[i] = *byte;
	}
	return nowhere;
}

static void tell(struct gt_ptx_machine *machine, const struct gt_ptx_function *kernel, struct gt_ptx_access *access)
{
	static const char *const actions[] = {"load", "store", "atomic", "atomic"};
	const char *file;
	unsigned line;
	char place[128] = "", text[512];

	access->told = true;
	if (gt_ptx_source_place(machine->module, access->stray_line, &file, &line))
		snprintf(place, sizeof place, " (%.100s:%u)", file, line);
	snprintf(text, sizeof text,
		 "kernel %.128s, PTX line %u%s: %" PRIu64 " thread accesses outside of every allocation, the first a %s at 0x%" PRIx64,
		 kernel->name, access->stray_line, place, access->strays, actions[access->action], access->stray_address);
	machine->notes->say(machine->notes->context, text);
}

void gt_ptx_strays_tell(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check)
{
	for (size_t f = 0; f < machine->module->n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			struct gt_ptx_access *access = program->codes[f]->accesses[i];
			if (access->strays > 0 && !access->told && check == GT_PTX_CHECK_LIST && machine->notes)
				tell(machine, program->kernel, access);
			access->strays = 0;
		}
}
