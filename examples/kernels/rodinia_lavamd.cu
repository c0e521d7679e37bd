/* SPDX-License-Identifier: MIT */
/* rodinia_lavamd [side]: forces between the particles of a box and those of the boxes around it, in double precision, by the scheme
 * of Rodinia's lavaMD: side^3 boxes of 100 particles, a block of 128 threads a box. A block copies the particles of its own box to shared
 * memory, then those of each neighbour in turn; a thread adds up what acts on one particle in global memory. Charges and positions are
 * small integers, so that sums are exact in any order. In the place of the exponential is a polynomial of as many instructions, which
 * comes to the same as one of degree 1. */
#include "suite.h"

enum { THREADS = 128, PARTICLES = 100, AROUND = 26, TERMS = 24 };

struct quad {
	double v, x, y, z;
};

/* A box of the grid and its neighbours. */
struct box {
	int x, y, z, number;
	long first; /* particle */
	int n;
	struct {
		int x, y, z, number;
		long first;
	} around[AROUND];
};

/* The polynomial, highest power first: as many multiplications and additions as exp() of a double takes instructions. */
struct decay {
	double terms[TERMS];
};

static __host__ __device__ void act(quad *sum, const quad *a, const quad *b, double charge, const decay &decay)
{
	double distance = a->v + b->v - (a->x * b->x + a->y * b->y + a->z * b->z), strength = 0.0;

#pragma unroll
	for (int i = 0; i < TERMS; i++)
		strength = strength * distance + decay.terms[i];
	sum->v += charge * strength;
	sum->x += charge * 2.0 * strength * (a->x - b->x);
	sum->y += charge * 2.0 * strength * (a->y - b->y);
	sum->z += charge * 2.0 * strength * (a->z - b->z);
}

__global__ void kernel_gpu_cuda(const box *boxes, const quad *places, const double *charges, quad *forces, decay decay)
{
	__shared__ quad own[PARTICLES], other[PARTICLES];
	__shared__ double charge[PARTICLES];
	const box *here = &boxes[blockIdx.x];
	long first = here->first;

	for (int i = threadIdx.x; i < PARTICLES; i += THREADS)
		own[i] = places[first + i];
	__syncthreads();
	for (int k = 0; k < 1 + here->n; k++) {
		long next = boxes[k == 0 ? (int)blockIdx.x : here->around[k - 1].number].first;
		for (int i = threadIdx.x; i < PARTICLES; i += THREADS) {
			other[i] = places[next + i];
			charge[i] = charges[next + i];
		}
		__syncthreads();
		for (int i = threadIdx.x; i < PARTICLES; i += THREADS)
			for (int j = 0; j < PARTICLES; j++)
				act(&forces[first + i], &own[i], &other[j], charge[j], decay);
		__syncthreads();
	}
}

static void find_neighbours(box *boxes, int side, int number)
{
	box *here = &boxes[number];

	*here = (box){number % side, number / side % side, number / side / side, number, (long)number * PARTICLES, 0, {}};
	for (int i = 0; i < AROUND + 1; i++) {
		int x = here->x + i % 3 - 1, y = here->y + i / 3 % 3 - 1, z = here->z + i / 9 - 1;
		bool inside = x >= 0 && y >= 0 && z >= 0 && x < side && y < side && z < side;
		if (inside && i != (AROUND + 1) / 2)
			here->around[here->n++].number = (z * side + y) * side + x;
	}
}

int main(int argc, char **argv)
{
	int side = argument(argc, argv, 1, 3), n = side * side * side;
	size_t particles = (size_t)n * PARTICLES;
	box *boxes = (box *)host_bytes((size_t)n * sizeof *boxes);
	quad *places = (quad *)host_bytes(particles * sizeof *places), *sums = (quad *)host_bytes(particles * sizeof *sums);
	double *charges = (double *)host_bytes(particles * sizeof *charges);
	unsigned seed = 1;
	decay decay = {};

	decay.terms[TERMS - 2] = -1.0;
	decay.terms[TERMS - 1] = 64.0;
	for (int i = 0; i < n; i++)
		find_neighbours(boxes, side, i);
	for (size_t i = 0; i < particles; i++) {
		double *of = &places[i].v;
		for (int k = 0; k < 4; k++)
			of[k] = (double)(next_random(&seed) % 4);
		charges[i] = (double)(next_random(&seed) % 8);
	}
	const box *dboxes = (const box *)to_device(boxes, (size_t)n * sizeof *boxes);
	const quad *dplaces = (const quad *)to_device(places, particles * sizeof *places);
	const double *dcharges = (const double *)to_device(charges, particles * sizeof *charges);
	quad *dsums = (quad *)to_device(sums, particles * sizeof *sums);
	kernel_gpu_cuda<<<n, THREADS>>>(dboxes, dplaces, dcharges, dsums, decay);
	finish("kernel_gpu_cuda");
	check_or_leave((double)particles * (AROUND + 1) * PARTICLES);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 1 + boxes[i].n; k++)
			for (int a = 0; a < PARTICLES; a++)
				for (int b = 0; b < PARTICLES; b++) {
					size_t from = (size_t)(k == 0 ? i : boxes[i].around[k - 1].number) * PARTICLES + (size_t)b, to = (size_t)boxes[i].first + (size_t)a;
					act(&sums[to], &places[to], &places[from], charges[from], decay);
				}
	return report(differ_floats("sums", (const float *)dsums, (const float *)sums, particles * sizeof *sums / sizeof(float)));
}
