/* SPDX-License-Identifier: MIT */
/* rodinia_cfd [elements [width]]: the flux through the four sides of each element of a mesh, with the accesses of the kernel
 * that Rodinia's cfd spends its time in: structures of arrays, a thread an element, blocks of 192, and the five variables
 * of each neighbour found by its number. The mesh is a grid of that width; its sides are walls and open ends. The fluid
 * is simpler than Rodinia's. Equal to the CPU bit by bit. */
#include "suite.h"

enum { BLOCK = 192, SIDES = 4, AXES = 3, VARIABLES = 5, WALL = -1, OPEN = -2 };

/* Density, momentum and energy of an element, in an array of each. */
struct state {
	float density, x, y, z, energy;
};

static __host__ __device__ struct state state_of(const float *variables, int elements, int i)
{
	struct state s = {variables[i], variables[i + elements], variables[i + 2 * elements], variables[i + 3 * elements],
			  variables[i + 4 * elements]};

	return s;
}

static __host__ __device__ float pressure_of(struct state s)
{
	float squares = fmaf(s.x, s.x, fmaf(s.y, s.y, s.z * s.z));

	return fmaf(-0.2f, squares / s.density, 0.4f * s.energy);
}

/* Adds the flux between two elements through a side, half of either. */
static __host__ __device__ void exchange(struct state *flux, struct state a, struct state b, float nx, float ny, float nz)
{
	float pa = pressure_of(a), pb = pressure_of(b);
	float area = sqrtf(fmaf(nx, nx, fmaf(ny, ny, nz * nz))), speed = sqrtf(1.4f * pa / a.density) + sqrtf(1.4f * pb / b.density);
	float damp = -0.05f * (area * speed), pressure = 0.5f * (pa + pb);
	float through = fmaf(nx, a.x + b.x, fmaf(ny, a.y + b.y, nz * (a.z + b.z)));

	flux->density = fmaf(damp, a.density - b.density, fmaf(0.5f, through, flux->density));
	flux->x = fmaf(damp, a.x - b.x, fmaf(nx, pressure, flux->x));
	flux->y = fmaf(damp, a.y - b.y, fmaf(ny, pressure, flux->y));
	flux->z = fmaf(damp, a.z - b.z, fmaf(nz, pressure, flux->z));
	flux->energy = fmaf(0.5f * through, pressure, fmaf(damp, a.energy - b.energy, flux->energy));
}

static __host__ __device__ void flux_of(int i, int elements, const int *neighbours, const float *normals, const float *variables,
					float *fluxes)
{
	const struct state open = {1.4f, 1.0f, 0.0f, 0.0f, 3.0f};
	struct state here = state_of(variables, elements, i), flux = {0, 0, 0, 0, 0};

	for (int side = 0; side < SIDES; side++) {
		int other = neighbours[i + side * elements];
		float nx = normals[i + (side + 0 * SIDES) * elements], ny = normals[i + (side + 1 * SIDES) * elements];
		float nz = normals[i + (side + 2 * SIDES) * elements];
		if (other >= 0) {
			exchange(&flux, here, state_of(variables, elements, other), nx, ny, nz);
		} else if (other == OPEN) {
			exchange(&flux, here, open, nx, ny, nz);
		} else {
			float pressure = pressure_of(here);
			flux.x = fmaf(nx, pressure, flux.x);
			flux.y = fmaf(ny, pressure, flux.y);
			flux.z = fmaf(nz, pressure, flux.z);
		}
	}
	fluxes[i] = flux.density;
	fluxes[i + elements] = flux.x;
	fluxes[i + 2 * elements] = flux.y;
	fluxes[i + 3 * elements] = flux.z;
	fluxes[i + 4 * elements] = flux.energy;
}

__global__ void cuda_compute_flux(int elements, int *neighbours, float *normals, float *variables, float *fluxes)
{
	int i = column();

	if (i < elements)
		flux_of(i, elements, neighbours, normals, variables, fluxes);
}

int main(int argc, char **argv)
{
	int elements = argument(argc, argv, 1, 193536), width = argument(argc, argv, 2, 432);
	size_t all = (size_t)elements;
	int *neighbours = host_ints(SIDES * all);
	float *normals = random_floats(SIDES * AXES * all, 1), *variables = random_floats(VARIABLES * all, 2);
	float *fluxes = host_floats(VARIABLES * all);

	for (int i = 0; i < elements; i++) {
		int *side = neighbours + i;
		side[0] = i % width > 0 ? i - 1 : WALL;
		side[all] = i % width < width - 1 && i + 1 < elements ? i + 1 : WALL;
		side[2 * all] = i >= width ? i - width : OPEN;
		side[3 * all] = i + width < elements ? i + width : OPEN;
		/* So that pressures are positive. */
		variables[i] = variables[i] + 2.0f;
		variables[i + 4 * all] = variables[i + 4 * all] + 4.0f;
	}
	int *dneighbours = ints_to_device(neighbours, SIDES * all);
	float *dnormals = floats_to_device(normals, SIDES * AXES * all), *dvariables = floats_to_device(variables, VARIABLES * all);
	float *dfluxes = floats_to_device(fluxes, VARIABLES * all);
	cuda_compute_flux<<<divide_up(elements, BLOCK), BLOCK>>>(elements, dneighbours, dnormals, dvariables, dfluxes);
	finish("cuda_compute_flux");
	for (int i = 0; i < elements; i++)
		flux_of(i, elements, neighbours, normals, variables, fluxes);
	return report(differ_floats("flux", dfluxes, fluxes, VARIABLES * all));
}
