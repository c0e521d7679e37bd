/* SPDX-License-Identifier: MIT */
#include "stream/degree.h"

#include "stream/rows.h"

#define RANGE 128 /* bytes of the coalescing range [003] III.C */

void gt_degree_add(struct gt_degree *degree, const uint64_t *addresses, unsigned n, unsigned bytes)
{
	uint64_t start = addresses[0] & ~(uint64_t)(GT_SECTOR - 1);
	uint64_t sectors[2 * GT_WARP_SIZE];
	unsigned n_sectors = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t offset = addresses[i] - start;

		if (offset < RANGE) {
			degree->in_range++;
			degree->graph[offset / (RANGE / GT_DEGREE_POINTS)]++;
		}
		for (unsigned part = 0; part < 2; part++) {
			uint64_t sector = (addresses[i] + (part && bytes ? bytes - 1 : 0)) / GT_SECTOR;
			unsigned j = 0;

			while (j < n_sectors && sectors[j] != sector)
				j++;
			sectors[j] = sector;
			n_sectors += j == n_sectors;
		}
	}
	degree->accesses++;
	degree->lanes += n;
	degree->sectors += n_sectors;
}

/* The sectors of the range that some lane is at, which have a point that is not 0: 0 to 4, num_sectors of [003] eq. (2). */
static unsigned range_sectors(const double *graph)
{
	unsigned sectors = 0, points = GT_DEGREE_POINTS * GT_SECTOR / RANGE;

	for (unsigned i = 0; i < GT_DEGREE_POINTS; i += points) {
		double lanes = 0;

		for (unsigned j = 0; j < points; j++)
			lanes += graph[i + j];
		sectors += lanes > 0;
	}
	return sectors;
}

void gt_degree_join(struct gt_degree *degree, const struct gt_degree *other, uint64_t times)
{
	degree->accesses += times * other->accesses;
	degree->lanes += times * other->lanes;
	degree->in_range += times * other->in_range;
	degree->sectors += times * other->sectors;
	for (unsigned i = 0; i < GT_DEGREE_POINTS; i++)
		degree->graph[i] += times * other->graph[i];
}

void gt_degree_mean_add(struct gt_degree_mean *mean, const struct gt_degree *degree)
{
	double accesses = (double)degree->accesses;

	if (degree->accesses == 0)
		return;
	mean->n++;
	mean->degree += (double)degree->in_range / (double)degree->lanes;
	mean->sectors += (double)degree->sectors / accesses;
	for (unsigned i = 0; i < GT_DEGREE_POINTS; i++)
		mean->graph[i] += (double)degree->graph[i] / accesses;
}

void gt_degree_mean_write(const struct gt_degree_mean *mean, FILE *to)
{
	double n = (double)mean->n, degree = mean->degree / n;

	if (mean->n == 0 || mean->degree <= 0) {
		fputs("\t-\t-\t-\t-", to);
		return;
	}
	fprintf(to, "\t%.4g\t%u\t%.4g\t%.4g", 100 * degree, range_sectors(mean->graph), range_sectors(mean->graph) / degree,
		mean->sectors / n);
}

void gt_degree_mean_write_graph(const struct gt_degree_mean *mean, FILE *to)
{
	double n = mean->n > 0 ? (double)mean->n : 1;

	fputs("#graph", to);
	for (unsigned i = 0; i < GT_DEGREE_POINTS; i++)
		fprintf(to, "\t%.3g", mean->graph[i] / n);
	fputc('\n', to);
}

void gt_degree_write(const struct gt_degree *degree, FILE *to)
{
	struct gt_degree_mean alone = {0};

	gt_degree_mean_add(&alone, degree);
	gt_degree_mean_write(&alone, to);
}

void gt_degree_write_graph(const struct gt_degree *degree, FILE *to)
{
	struct gt_degree_mean alone = {0};

	gt_degree_mean_add(&alone, degree);
	gt_degree_mean_write_graph(&alone, to);
}
