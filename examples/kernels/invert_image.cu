/* SPDX-License-Identifier: MIT */
/* invert_image [width [height]]: the negative of an image of four bytes a pixel, in place, in blocks of 32 x 8
 * threads; a thread has 16 pixels of its row, 32 apart. The width is a multiple of 512, the height of 8. */
#include "example.h"

#define PIXELS 16

__global__ void invert_image(unsigned *image, int width)
{
	unsigned *first = image + (size_t)(blockIdx.y * blockDim.y + threadIdx.y) * width + blockIdx.x * blockDim.x * PIXELS + threadIdx.x;

#pragma unroll
	for (int i = 0; i < PIXELS; i++)
		first[i * 32] = ~first[i * 32];
}

int main(int argc, char **argv)
{
	int width = argument(argc, argv, 1, 512), height = argument(argc, argv, 2, 32), differ;
	size_t n = (size_t)width * height;
	unsigned seed = 1;
	int *image, *dimage;

	if (width % (32 * PIXELS) || height % 8) {
		fprintf(stderr, "%s: expected a width that is a multiple of %d and a height of 8, found %d x %d\n", argv[0], 32 * PIXELS, width, height);
		return 2;
	}
	image = host_ints(n);
	for (size_t i = 0; i < n; i++)
		image[i] = (int)next_random(&seed);
	dimage = ints_to_device(image, n);
	invert_image<<<dim3(width / (32 * PIXELS), height / 8), dim3(32, 8)>>>((unsigned *)dimage, width);
	finish("invert_image");
	for (size_t i = 0; i < n; i++)
		image[i] = ~image[i];
	differ = differ_ints("image", dimage, image, n);
	try_cuda(cudaFree(dimage), "cudaFree");
	free(image);
	return report(differ);
}
