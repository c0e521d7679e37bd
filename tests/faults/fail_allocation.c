/* SPDX-License-Identifier: MIT */
/* Loaded before a program (LD_PRELOAD), fails one of its allocations: with FAULT_AT=n the n-th. Without, it writes
 * how many there were into the file FAULT_COUNT at the end. It works on glibc, whose own allocator keeps its names
 * with __libc_ before them. Programs that the program starts are left alone; with FAULT_IN=name all are, until one of that
 * name. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *from, size_t bytes);

static atomic_ulong calls;
static unsigned long fails_at;
static bool counts;

/* Counts an allocation; whether it is to fail. */
static int fails(void)
{
	unsigned long call = atomic_fetch_add(&calls, 1) + 1;

	if (call != fails_at)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(n, bytes);
}

void *realloc(void *from, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(from, bytes);
}

/* Before main: what the loader allocated is not counted. */
__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *in = getenv("FAULT_IN");

	if (in && strcmp(program_invocation_short_name, in) != 0)
		return;
	counts = true;
	fails_at = at ? strtoul(at, NULL, 10) : 0;
	unsetenv("LD_PRELOAD");
	atomic_store(&calls, 0);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_COUNT");
	unsigned long n = atomic_load(&calls);
	FILE *file = path && counts ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fprintf(file, "%lu\n", n);
	fclose(file);
}
