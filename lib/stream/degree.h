/* SPDX-License-Identifier: MIT */
/* The degree of coalescing of an access: [003] eq. (1) and (2). */
#ifndef GT_STREAM_DEGREE_H
#define GT_STREAM_DEGREE_H

#include <stdint.h>
#include <stdio.h>

#define GT_DEGREE_POINTS 32 /* of a coalescing graph, 4 bytes each */

/* Sums over the accesses of warps. Ratios are made when they are printed: the degree is in_range / lanes. */
struct gt_degree {
	uint64_t accesses;
	uint64_t lanes;
	uint64_t in_range; /* lanes within 128 bytes of the start of the first lane's sector */
	uint64_t sectors; /* distinct sectors of each access */
	uint64_t graph[GT_DEGREE_POINTS]; /* lanes at each 4 bytes of the range */
};

/* Counts an access of a warp: the addresses of its n lanes, at least one, of so many bytes. */
void gt_degree_add(struct gt_degree *degree, const uint64_t *addresses, unsigned n, unsigned bytes);

/* Adds what is counted of other accesses, so many times. */
void gt_degree_join(struct gt_degree *degree, const struct gt_degree *other, uint64_t times);

/* The mean of several degrees, of which each counts the same, as in [003] eq. (1). */
struct gt_degree_mean {
	uint64_t n;
	double degree, sectors, graph[GT_DEGREE_POINTS]; /* sums */
};
void gt_degree_mean_add(struct gt_degree_mean *mean, const struct gt_degree *degree);

/* Fields of a table, each behind a tab: the degree in percent, the sectors of the range, those that eq. (2) expects, and the
 * distinct ones; and a line "#graph" with the lanes of an access at each point. A degree without accesses is "-". */
void gt_degree_write(const struct gt_degree *degree, FILE *to);
void gt_degree_write_graph(const struct gt_degree *degree, FILE *to);
void gt_degree_mean_write(const struct gt_degree_mean *mean, FILE *to);
void gt_degree_mean_write_graph(const struct gt_degree_mean *mean, FILE *to);

#endif
