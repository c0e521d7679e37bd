/* SPDX-License-Identifier: MIT */
/* Numbers of a distribution from the draws of a generator. */
#ifndef GT_PLUGINS_CURAND_NUMBERS_H
#define GT_PLUGINS_CURAND_NUMBERS_H

#include "cuda/plugins/curand/curand.h"

/* The distribution's function: up_to[i] is the probability of at most least + i events. */
struct gt_curand_poisson {
	uint32_t least;
	size_t n;
	double *up_to;
};

/* What a call makes of standard numbers: normal ones are shifted and scaled, and become exponents. */
struct gt_curand_law {
	double shift, scale;
	bool logarithmic;
	struct gt_curand_poisson poisson;
};

/* 0, or -1 if there is no memory for it; free up_to after it. */
int gt_poisson_prepare(struct gt_curand_poisson *poisson, double mean);

/* Numbers that one stream gives before it is the next one's turn, and the draws that they take. */
unsigned gt_numbers_together(const struct gt_curand_engine *engine, enum gt_variate variate);
unsigned gt_numbers_draws(const struct gt_curand_engine *engine, enum gt_variate variate);
/* Standard number i of a group's draws: bits, uniform or normal; of Poisson's, the probability. */
double gt_number_of(const struct gt_curand_engine *engine, enum gt_variate variate, const uint32_t *draws, unsigned i);
/* Writes a call's number i, which a standard one becomes. */
void gt_number_write(const struct gt_curand_law *law, enum gt_variate variate, double standard, void *to, size_t i);

#endif
