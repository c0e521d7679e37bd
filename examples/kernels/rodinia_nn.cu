/* SPDX-License-Identifier: MIT */
/* rodinia_nn [records [block]]: the distance of each record, a pair of floats, to a point, as Rodinia's
 * nearest neighbour search computes it. Equal to the CPU bit by bit. */
#include "suite.h"

struct place {
	float latitude, longitude;
};

static __host__ __device__ float squared(float a, float b, float latitude, float longitude)
{
	return fmaf(latitude - a, latitude - a, (longitude - b) * (longitude - b));
}

__global__ void euclid(struct place *places, float *distances, int records, float latitude, float longitude)
{
	int i = (int)blockDim.x * (int)(gridDim.x * blockIdx.y + blockIdx.x) + (int)threadIdx.x;

	if (i < records)
		distances[i] = sqrtf(squared(places[i].latitude, places[i].longitude, latitude, longitude));
}

int main(int argc, char **argv)
{
	int records = argument(argc, argv, 1, 42764), block = argument(argc, argv, 2, 256);
	float *places = random_floats(2 * (size_t)records, 1), *distances = host_floats(records);
	float *dplaces = floats_to_device(places, 2 * (size_t)records), *ddistances = floats_to_device(distances, records);

	euclid<<<divide_up(records, block), block>>>((struct place *)dplaces, ddistances, records, 0.3f, 0.9f);
	finish("euclid");
	for (int i = 0; i < records; i++)
		distances[i] = sqrtf(squared(places[2 * i], places[2 * i + 1], 0.3f, 0.9f));
	return report(differ_floats("distances", ddistances, distances, records));
}
