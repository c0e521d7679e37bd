/* SPDX-License-Identifier: MIT */
/* Loaded before a program (LD_PRELOAD), lets it read and write at most seven bytes at a time, as a slow pipe may. Transfers of
 * the C library's own streams do not go through these names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_uint calls;

/* 1 to 7 bytes, or all if there are fewer. */
static size_t few(size_t bytes)
{
	size_t n = 1 + atomic_fetch_add(&calls, 1) * 5 % 7;

	return bytes < n ? bytes : n;
}

ssize_t read(int descriptor, void *to, size_t bytes)
{
	ssize_t (*next)(int, void *, size_t);

	*(void **)&next = dlsym(RTLD_NEXT, "read");
	return next(descriptor, to, few(bytes));
}

ssize_t write(int descriptor, const void *from, size_t bytes)
{
	ssize_t (*next)(int, const void *, size_t);

	*(void **)&next = dlsym(RTLD_NEXT, "write");
	return next(descriptor, from, few(bytes));
}

ssize_t recv(int descriptor, void *to, size_t bytes, int flags)
{
	ssize_t (*next)(int, void *, size_t, int);

	*(void **)&next = dlsym(RTLD_NEXT, "recv");
	return next(descriptor, to, few(bytes), flags);
}

ssize_t send(int descriptor, const void *from, size_t bytes, int flags)
{
	ssize_t (*next)(int, const void *, size_t, int);

	*(void **)&next = dlsym(RTLD_NEXT, "send");
	return next(descriptor, from, few(bytes), flags);
}
