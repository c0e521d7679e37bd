/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS is not in POSIX */
/* Sobol's direction vectors, which programs hand to cuRAND's device interface. cuRAND has 20,000 dimensions; behind those that are
 * known here lies memory that cannot be read, so that a program that takes a further one stops there. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/plugins/curand/curand.h"

#define JOE_KUO_32 101

static uint32_t (*table)[GT_SOBOL_BITS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
	const size_t bytes = GT_SOBOL_DIMENSIONS * sizeof *table, page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = (bytes + page - 1) / page * page;
	unsigned char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return;
	table = (void *)(at + room - bytes);
	for (unsigned dimension = 0; dimension < GT_SOBOL_DIMENSIONS; dimension++)
		gt_sobol_directions(dimension, table[dimension]);
	if (mprotect(at, room, PROT_READ) != 0 || mprotect(at + room, page, PROT_NONE) != 0)
		table = NULL;
}

API int curandGetDirectionVectors32(uint32_t (**vectors)[GT_SOBOL_BITS], int set);
API int curandGetDirectionVectors32(uint32_t (**vectors)[GT_SOBOL_BITS], int set)
{
	if (set != JOE_KUO_32) {
		gt_stub_refuse("curandGetDirectionVectors32 of scrambled vectors");
		return GT_CURAND_OUT_OF_RANGE;
	}
	pthread_once(&once, make_table);
	*vectors = table;
	return table ? GT_CURAND_SUCCESS : GT_CURAND_ALLOCATION_FAILED;
}
