/* SPDX-License-Identifier: MIT */
/* atomic_exch: 32 lanes exchange words of one line: a word a lane, a word for eight lanes, one for all. Lanes
 * with one word take turns. */
#include "example.h"

#define LANES 32

static __device__ void exchange(int *data, int *old, int word)
{
	old[threadIdx.x] = atomicExch(&data[word], (int)threadIdx.x + 1);
}

__global__ void own_words(int *data, int *old) { exchange(data, old, threadIdx.x); }
__global__ void four_words(int *data, int *old) { exchange(data, old, threadIdx.x / 8); }
__global__ void one_word(int *data, int *old) { exchange(data, old, 0); }

typedef void (*kernel)(int *data, int *old);

/* Turns come in any order, but what was in a word and what its lanes have put there is all found: in the word
 * or by another lane. */
static int differs(const char *name, kernel run, int lanes_a_word)
{
	int data[LANES], old[LANES], *ddata, *dold, differ = 0;

	for (int i = 0; i < LANES; i++)
		data[i] = old[i] = -i;
	ddata = ints_to_device(data, LANES);
	dold = ints_to_device(old, LANES);
	run<<<1, LANES>>>(ddata, dold);
	finish(name);
	to_host(data, ddata, sizeof data);
	to_host(old, dold, sizeof old);
	for (int word = 0; word < LANES / lanes_a_word; word++) {
		int found = data[word], expected = -word;

		for (int lane = word * lanes_a_word; lane < (word + 1) * lanes_a_word; lane++) {
			found += old[lane];
			expected += lane + 1;
		}
		if (found != expected && !differ)
			printf("%s: word %d and its lanes have %d, expected %d\n", name, word, found, expected);
		differ |= found != expected;
	}
	try_cuda(cudaFree(ddata), "cudaFree");
	try_cuda(cudaFree(dold), "cudaFree");
	return differ;
}

int main(void)
{
	int differ = 0;

	differ |= differs("own_words", own_words, 1);
	differ |= differs("four_words", four_words, 8);
	differ |= differs("one_word", one_word, LANES);
	return report(differ);
}
