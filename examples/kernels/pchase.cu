/* SPDX-License-Identifier: MIT */
/* pchase [elements [stride [steps]]]: one thread follows a chain through an array: element i holds the
 * index that comes `stride` after it, around the array's end. What was read at each step, and how many
 * clock ticks the step took, is kept in shared memory until the end, as fine-grained P-chase does. The
 * indices must be those of the chain; what the ticks are is for the reader to see. */
#include "example.h"

__global__ void pchase(const unsigned *array, unsigned *index, unsigned *ticks, int steps)
{
	extern __shared__ unsigned kept[];
	unsigned j = 0;

#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		unsigned before = (unsigned)clock();

		j = array[j];
		kept[step] = j;
		kept[steps + step] = (unsigned)clock() - before;
	}
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		index[step] = kept[step];
		ticks[step] = kept[steps + step];
	}
}

int main(int argc, char **argv)
{
	int elements = argument(argc, argv, 1, 4096), stride = argument(argc, argv, 2, 8);
	int steps = argument(argc, argv, 3, 512);
	int *array = host_ints(elements), *index = host_ints(steps), *ticks = host_ints(steps);
	int *dindex = ints_to_device(index, steps), *dticks = ints_to_device(ticks, steps);

	if (steps > 6000) {
		fprintf(stderr, "%s: expected up to 6000 steps, as shared memory holds them, found %d\n", argv[0], steps);
		return 2;
	}
	for (int i = 0; i < elements; i++)
		array[i] = (i + stride) % elements;
	pchase<<<1, 1, 2 * sizeof(int) * steps>>>((unsigned *)ints_to_device(array, elements), (unsigned *)dindex,
						   (unsigned *)dticks, steps);
	finish("pchase");
	to_host(ticks, dticks, steps * sizeof(int));
	for (int step = 0, j = 0; step < steps; step++) {
		index[step] = j = array[j];
		if (ticks[step] > 0)
			continue;
		printf("ticks[%d] is %d, expected more than 0\n", step, ticks[step]);
		return report(1);
	}
	return report(differ_ints("index", dindex, index, steps));
}
