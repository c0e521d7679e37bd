/* SPDX-License-Identifier: MIT */
/* What the pages of device memory take of this machine: few faults where arrays are whole, little memory where they are large and
 * touched here and there. */
#define _DEFAULT_SOURCE /* getrusage tells faults and memory */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"
#include "cuda/ptx/exec/memory.h"

#define MEGABYTE (UINT64_C(1) << 20)
#define LARGE_PAGE (2 * MEGABYTE)
#define PAGE 4096

static struct gt_error error;

/* Whether the system gives large pages to those who ask for them. */
static bool has_large_pages(void)
{
	char line[64] = "";
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");

	if (!file)
		return false;
	bool read = fgets(line, sizeof line, file) != NULL;
	fclose(file);
	return read && !strstr(line, "[never]");
}

static struct rusage usage(void)
{
	struct rusage now;

	getrusage(RUSAGE_SELF, &now);
	return now;
}

static void test_whole(void)
{
	const uint64_t bytes = 64 * MEGABYTE;
	struct gt_ptx_memory memory;
	uint64_t address;

	CHECK(gt_ptx_memory_open(&memory, 1024 * MEGABYTE, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, bytes, "whole", &address, &error) == 0);
	const long before = usage().ru_minflt;
	memset(gt_ptx_at(&memory, address, bytes), 1, bytes);
	if (has_large_pages())
		CHECK((uint64_t)(usage().ru_minflt - before) < bytes / PAGE / 4);
	gt_ptx_memory_close(&memory);
}

static void test_sparse(void)
{
	const uint64_t bytes = 4096 * MEGABYTE, from = 1024 * MEGABYTE;
	struct gt_ptx_memory memory;
	uint64_t address;

	CHECK(gt_ptx_memory_open(&memory, bytes, &error) == 0);
	CHECK(gt_ptx_allocate(&memory, bytes, "sparse", &address, &error) == 0);
	for (uint64_t at = from; at < bytes; at += LARGE_PAGE)
		*(char *)gt_ptx_at(&memory, address + at, 1) = 1;
	CHECK(usage().ru_maxrss < 512 * 1024); /* in KiB, with the 64 of the first test */
	gt_ptx_memory_close(&memory);
}

int main(void)
{
	RUN(test_whole);
	RUN(test_sparse);
	return check_report();
}
