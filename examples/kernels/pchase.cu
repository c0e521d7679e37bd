/* SPDX-License-Identifier: MIT */
/* pchase [bytes [stride [rounds [offsets]]]]: the fine-grained P-chase of [001, listings 3 and 4]. One thread follows a
 * chain through an array of that many bytes: element i holds the index of the next, `stride` bytes further, and from the
 * last back to the first. A file of offsets in bytes, one a line, sets another chain: through these, in their order.
 * In place of bytes there may be first..last:step, as for gpchase trace: arrays of these sizes, one after the other.
 *
 * Prints, for `gpchase infer`, N, the element read at each step (the next one's index), and the clock's ticks that the step
 * took; then "# ok" if the indices are those of the chain. Steps are noted in shared memory, so the chain is gone
 * through in launches of up to WINDOW noted steps, each of which first goes, unnoted, to where the last one ended. */
#include "example.h"

#define WINDOW 6000

__global__ void pchase(const unsigned *array, unsigned *index, unsigned *ticks, int skip, int steps)
{
	extern __shared__ unsigned kept[];
	unsigned j = 0;

#pragma unroll 1
	for (int step = 0; step < skip; step++)
		j = array[j];
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		unsigned before = (unsigned)clock();

		j = array[j];
		kept[step] = j; /* within the timing: nothing else waits for the load */
		kept[steps + step] = (unsigned)clock() - before;
	}
#pragma unroll 1
	for (int step = 0; step < steps; step++) {
		index[step] = kept[step];
		ticks[step] = kept[steps + step];
	}
}

static int fail(const char *path, const char *expected)
{
	fprintf(stderr, "pchase: %s: expected %s\n", path, expected);
	exit(2);
}

/* Chains the elements at these offsets; returns how many they are. */
static int read_offsets(const char *path, int *array, int elements)
{
	FILE *file = fopen(path, "r");
	long offset;
	int n = 0, first = 0, last = 0, got;

	if (!file)
		fail(path, "a file of offsets");
	for (; (got = fscanf(file, "%ld", &offset)) == 1; n++) {
		if (offset < 0 || offset % 4 || offset / 4 >= elements || (n == 0 && offset != 0) || (n > 0 && array[offset / 4] >= 0))
			fail(path, "multiples of 4 below the array's size, each once, the first 0");
		if (n > 0)
			array[last] = (int)(offset / 4);
		last = (int)(offset / 4);
		array[last] = first;
	}
	fclose(file);
	if (n == 0 || got != EOF)
		fail(path, "offsets in bytes, one a line");
	return n;
}

static int chain(int argc, char **argv, int *array, int elements, int stride)
{
	for (int i = 0; i < elements; i++)
		array[i] = -1;
	if (argc > 4)
		return read_offsets(argv[4], array, elements);
	for (int i = 0; i < elements; i += stride)
		array[i] = (i + stride) % elements;
	return elements / stride;
}

/* Goes through an array of that many bytes and prints the steps; returns how many are not those of the chain, or took no time. */
static int print_chase(int argc, char **argv, int bytes, int stride, int rounds)
{
	int elements = bytes / 4, *array = host_ints(elements), index[WINDOW], ticks[WINDOW], wrong = 0;
	long steps = (long)chain(argc, argv, array, elements, stride / 4) * rounds;

	if (steps > 1 << 28)
		fail("rounds", "at most 2^28 steps");
	unsigned *darray = (unsigned *)ints_to_device(array, elements);
	unsigned *dindex = (unsigned *)device_bytes(sizeof index), *dticks = (unsigned *)device_bytes(sizeof ticks);
	printf("N\tindex\tlatency\n");
	for (int done = 0, j = 0; done < steps; done += WINDOW) {
		int n = (int)(steps - done < WINDOW ? steps - done : WINDOW);
		pchase<<<1, 1, 2 * sizeof(int) * n>>>(darray, dindex, dticks, done, n);
		finish("pchase");
		to_host(index, dindex, n * sizeof(int));
		to_host(ticks, dticks, n * sizeof(int));
		for (int step = 0; step < n; step++) {
			j = array[j];
			wrong += index[step] != j || ticks[step] <= 0;
			printf("%d\t%d\t%d\n", bytes, index[step], ticks[step]);
		}
	}
	try_cuda(cudaFree(darray), "cudaFree");
	try_cuda(cudaFree(dindex), "cudaFree");
	try_cuda(cudaFree(dticks), "cudaFree");
	free(array);
	return wrong;
}

/* The sizes that the first argument asks for: bytes, or first..last:step. */
static void read_sizes(int argc, char **argv, int *first, int *last, int *step)
{
	int length = 0;

	*step = 1;
	if (argc > 1 && sscanf(argv[1], "%d..%d:%d%n", first, last, step, &length) == 3 && !argv[1][length]) {
		if (*first < 1 || *last < *first || *last > 1 << 28 || *step < 1)
			fail("sizes", "first..last:step, from 1 up to 2^28");
	} else {
		*first = *last = argument(argc, argv, 1, 16384);
	}
}

int main(int argc, char **argv)
{
	int first, last, step, stride = argument(argc, argv, 2, 32), rounds = argument(argc, argv, 3, 3), wrong = 0;

	read_sizes(argc, argv, &first, &last, &step);
	if (first % stride || (first != last && step % stride) || stride % 4)
		fail("bytes and stride", "multiples of the stride, and it of 4");
	for (long bytes = first; bytes <= last; bytes += step)
		wrong += print_chase(argc, argv, (int)bytes, stride, rounds);
	if (wrong)
		printf("# %d steps are not those of the chain, or took no time\n", wrong);
	else
		printf("# ok\n");
	return wrong > 0;
}
