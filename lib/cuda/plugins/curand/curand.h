/* SPDX-License-Identifier: MIT */
/* The stand-in for cuRAND's host interface, whose kernels come as machine code alone: it makes the numbers on the host, so that a
 * program goes on. They are cuRAND's: a generator has many streams of draws of 32 bits, and the numbers of a call come from the
 * streams in turn (cuRAND's manual, "Order"). */
#ifndef GT_CURAND_H
#define GT_CURAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/runtime/stub.h"

#define API GT_STUB_API

/* curandStatus_t */
enum gt_curand_status {
	GT_CURAND_SUCCESS = 0,
	GT_CURAND_NOT_INITIALIZED = 101,
	GT_CURAND_ALLOCATION_FAILED = 102,
	GT_CURAND_TYPE_ERROR = 103,
	GT_CURAND_OUT_OF_RANGE = 104,
	GT_CURAND_LENGTH_NOT_MULTIPLE = 105,
	GT_CURAND_LAUNCH_FAILURE = 201
};

/* curandRngType_t, as far as it is known here. */
enum gt_curand_type {
	GT_CURAND_DEFAULT = 100,
	GT_CURAND_XORWOW = 101,
	GT_CURAND_MRG32K3A = 121,
	GT_CURAND_PHILOX = 161,
	GT_CURAND_QUASI_DEFAULT = 200,
	GT_CURAND_SOBOL32 = 201
};

/* curandOrdering_t, as far as it is known here. */
enum { GT_CURAND_BEST = 100, GT_CURAND_ORDER_DEFAULT = 101, GT_CURAND_LEGACY = 103, GT_CURAND_QUASI_ORDER = 201 };

/* What the numbers are. */
enum gt_variate { GT_BITS, GT_LONG_BITS, GT_UNIFORM, GT_UNIFORM_F64, GT_NORMAL, GT_NORMAL_F64, GT_POISSON };

/* The state of one stream; what the words are is the engine's own. */
struct gt_curand_stream {
	uint32_t word[6];
};

#define GT_CURAND_GROUP 8 /* no more draws make the numbers that a stream gives together */

/* A pseudorandom generator's law. */
struct gt_curand_engine {
	/* Every stream at its beginning. */
	void (*seed)(struct gt_curand_stream *streams, unsigned n, uint64_t seed);
	/* So many draws on, in streams that lie together. */
	void (*skip)(struct gt_curand_stream *streams, unsigned n, uint64_t draws);
	void (*draw)(struct gt_curand_stream *stream, unsigned n, uint32_t *draws);
	unsigned streams, legacy_streams;
	unsigned together; /* numbers that a stream gives at least before it is the next one's turn */
	bool moduli;	   /* a draw is of 1 to 2^32 - 209, and makes a double alone; else it is of 32 bits, and two make one */
};
extern const struct gt_curand_engine gt_curand_xorwow, gt_curand_mrg32k3a;

struct gt_curand {
	bool on_host; /* numbers go to memory of the host */
	void *own;    /* the generator of NVIDIA's library that makes the numbers; NULL: they are made here */
	void *stream; /* of CUDA */
	int ordering;
	uint64_t seed;
	const struct gt_curand_engine *engine; /* NULL of a quasirandom generator */
	unsigned dimensions;		/* of a quasirandom one */
	uint64_t position;		/* where it begins, in numbers; of a quasirandom one, where it is in each dimension */
	/* Made when numbers are asked for. */
	struct gt_curand_stream *streams;
	unsigned n_streams, next, within; /* whose turn it is; numbers of its group that are gone */
};

#endif
