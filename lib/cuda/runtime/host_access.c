/* SPDX-License-Identifier: MIT */
#include "cuda/runtime/host_access.h"

#include <signal.h>
#include <sys/mman.h>

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

/* ---- the first access ---- */

/* Opens device memory and goes on, or leaves a real fault to whoever handled it before. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;

	(void)context;
	if (address < GT_PTX_GLOBAL_BASE || address - GT_PTX_GLOBAL_BASE >= memory->used || faults == FAULTS ||
	    mprotect(memory->host, (memory->used + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE) != 0) {
		sigaction(number, &before, NULL); /* the access faults again */
		return;
	}
	faults++;
	if (!touched)
		touched = address;
}

static bool catch_faults(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	catches = catches || sigaction(SIGSEGV, &action, &before) == 0;
	return catches;
}

uint64_t gt_host_accessed(void)
{
	return touched;
}

/* ---- opening and closing ---- */

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

void gt_host_access_open(void)
{
	if (closed_bytes > 0)
		mprotect(memory->host, closed_bytes, PROT_READ | PROT_WRITE);
	closed_bytes = 0;
}

/* Pages with memory that the host may use stay open. */
void gt_host_access_close(const struct gt_ptx_memory *device, uint64_t instructions)
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
