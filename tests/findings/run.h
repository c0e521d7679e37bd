/* SPDX-License-Identifier: MIT */
/* Runs one kernel of a table as a program: NAME GRID_X GRID_Y BLOCK_X BLOCK_Y A B N [LAUNCHES], where A and B are the elements of its two
 * arrays, as tests/findings/pairs.py gives them. All kernels have the same parameters. */
#include "../../examples/kernels/example.h"

/* A macro, since clang names the line of an inlined function, not that of its call. */
#ifndef __NVCC__
#define atomicAdd(P, VALUE) __nvvm_atom_add_gen_f(P, VALUE)
#endif

typedef void kernel(float *a, float *b, int n);

struct named {
	const char *name;
	kernel *run;
};

#define NAMED(NAME) {#NAME, NAME}

static int run_named(const struct named *kernels, int argc, char **argv)
{
	float *a, *b;

	for (; argc >= 9 && kernels->name; kernels++)
		if (strcmp(argv[1], kernels->name) == 0)
			break;
	if (argc < 9 || !kernels->name) {
		fprintf(stderr, "%s: expected NAME GRID_X GRID_Y BLOCK_X BLOCK_Y A B N [LAUNCHES]\n", argv[0]);
		return 2;
	}
	try_cuda(cudaMalloc((void **)&a, (size_t)atoll(argv[6]) * sizeof *a), "a");
	try_cuda(cudaMalloc((void **)&b, (size_t)atoll(argv[7]) * sizeof *b), "b");
	for (int i = argument(argc, argv, 9, 1); i > 0; i--)
		kernels->run<<<dim3(atoi(argv[2]), atoi(argv[3])), dim3(atoi(argv[4]), atoi(argv[5]))>>>(a, b, atoi(argv[8]));
	finish(argv[1]);
	return 0;
}
