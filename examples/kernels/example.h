/* SPDX-License-Identifier: MIT */
/* What the example programs share: sizes from the command line, input, device buffers, and the
 * comparison with what the CPU has computed. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#ifndef __NVCC__
#include "cuda_small.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every call of the runtime goes through this: an error ends the program with status 1. */
static inline void try_cuda(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

/* Argument i as a number from 1 up, or what is used when it is not given. */
static inline int argument(int argc, char **argv, int i, int otherwise)
{
	char *end;
	long value;

	if (i >= argc)
		return otherwise;
	value = strtol(argv[i], &end, 10);
	if (end == argv[i] || *end || value < 1 || value > 1 << 28) {
		fprintf(stderr, "%s: argument %d: expected a number from 1, found '%s'\n", argv[0], i, argv[i]);
		exit(2);
	}
	return (int)value;
}

static inline int divide_up(int n, int by) { return (n + by - 1) / by; }

static inline void *host_bytes(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fprintf(stderr, "no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return p;
}

static inline float *host_floats(size_t n) { return (float *)host_bytes(n * sizeof(float)); }
static inline int *host_ints(size_t n) { return (int *)host_bytes(n * sizeof(int)); }

/* The same sequence everywhere, by a linear congruential generator; 24 bits of it. */
static inline unsigned next_random(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* n floats in [-1, 1). */
static inline float *random_floats(size_t n, unsigned seed)
{
	float *p = host_floats(n);

	for (size_t i = 0; i < n; i++)
		p[i] = (float)next_random(&seed) / 8388608.0f - 1.0f;
	return p;
}

static inline void *device_bytes(size_t bytes)
{
	void *p = NULL;

	try_cuda(cudaMalloc(&p, bytes), "cudaMalloc");
	return p;
}

/* A copy of `bytes` host bytes on the device. */
static inline void *to_device(const void *host, size_t bytes)
{
	void *p = device_bytes(bytes);

	try_cuda(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy to the device");
	return p;
}

static inline float *floats_to_device(const float *host, size_t n)
{
	return (float *)to_device(host, n * sizeof(float));
}

static inline int *ints_to_device(const int *host, size_t n)
{
	return (int *)to_device(host, n * sizeof(int));
}

static inline void to_host(void *host, const void *device, size_t bytes)
{
	try_cuda(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy to the host");
}

/* After a launch: was it accepted, and did it run to its end? */
static inline void finish(const char *kernel)
{
	try_cuda(cudaGetLastError(), kernel);
	try_cuda(cudaDeviceSynchronize(), kernel);
}

/* Copies n four-byte elements back and compares them bit by bit: 0, or 1 after saying which
 * element differs first. */
static inline int differ_floats(const char *name, const float *device, const float *expected, size_t n)
{
	float *found = host_floats(n);
	int differ = 0;

	to_host(found, device, n * sizeof(float));
	for (size_t i = 0; i < n && !differ; i++) {
		if (!memcmp(&found[i], &expected[i], sizeof(float)))
			continue;
		printf("%s[%zu] is %.9g, expected %.9g\n", name, i, (double)found[i], (double)expected[i]);
		differ = 1;
	}
	free(found);
	return differ;
}

static inline int differ_ints(const char *name, const int *device, const int *expected, size_t n)
{
	int *found = host_ints(n);
	int differ = 0;

	to_host(found, device, n * sizeof(int));
	for (size_t i = 0; i < n && !differ; i++) {
		if (found[i] == expected[i])
			continue;
		printf("%s[%zu] is %d, expected %d\n", name, i, found[i], expected[i]);
		differ = 1;
	}
	free(found);
	return differ;
}

/* The program's last words and its exit status. */
static inline int report(int differ)
{
	if (!differ)
		printf("ok\n");
	return differ;
}

#endif
