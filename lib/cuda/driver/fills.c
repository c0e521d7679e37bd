/* SPDX-License-Identifier: MIT */
/* cuMemset: elements of 8, 16 and 32 bits, in a row or a rectangle. */
#include "cuda/driver/driver.h"
#include "cuda/runtime/graph.h"

static int fill(void *stream, uint64_t to, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height)
{
	struct gt_work work = {GT_WORK_FILL, {.fill = {gt_driver_pointer(to), pitch, value, element, width, height}}};

	if (to % element != 0 || (height > 1 && pitch % element != 0))
		return CUDA_INVALID_VALUE;
	return gt_stream_ask(stream, &work);
}

#define FILL(BITS, TYPE)                                                                                               \
	DRIVER(cuMemsetD##BITS##_v2, (uint64_t to, TYPE value, size_t n), fill(NULL, to, 0, value, (BITS) / 8, n, 1))  \
	DRIVER(cuMemsetD##BITS##Async, (uint64_t to, TYPE value, size_t n, void *stream),                              \
	       fill(stream, to, 0, value, (BITS) / 8, n, 1))                                                            \
	DRIVER(cuMemsetD2D##BITS##_v2, (uint64_t to, size_t pitch, TYPE value, size_t width, size_t height),           \
	       fill(NULL, to, pitch, value, (BITS) / 8, width, height))                                                 \
	DRIVER(cuMemsetD2D##BITS##Async,                                                                               \
	       (uint64_t to, size_t pitch, TYPE value, size_t width, size_t height, void *stream),                     \
	       fill(stream, to, pitch, value, (BITS) / 8, width, height))                                               \
	ALSO(cuMemsetD##BITS##_v2, cuMemsetD##BITS##_v2_ptds);                                                         \
	ALSO(cuMemsetD##BITS##Async, cuMemsetD##BITS##Async_ptsz);                                                     \
	ALSO(cuMemsetD2D##BITS##_v2, cuMemsetD2D##BITS##_v2_ptds);                                                     \
	ALSO(cuMemsetD2D##BITS##Async, cuMemsetD2D##BITS##Async_ptsz)

FILL(8, unsigned char);
FILL(16, unsigned short);
FILL(32, unsigned);
