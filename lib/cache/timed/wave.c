/* SPDX-License-Identifier: MIT */
#include "cache/timed/wave.h"

#include <stdlib.h>

#include "base/grown.h"

#define NO_WARP UINT32_MAX

/* A block and its warps are in one table. */
static uint64_t key_of_block(uint32_t block)
{
	return (uint64_t)block << 17 | 1;
}

static uint64_t key_of_warp(uint32_t block, uint16_t warp)
{
	return (uint64_t)block << 17 | (uint64_t)warp << 1;
}

int gt_wave_open(struct gt_wave *wave, struct gt_error *error)
{
	*wave = (struct gt_wave){0};
	return gt_map_open(&wave->known, 64, error);
}

void gt_wave_close(struct gt_wave *wave)
{
	free(wave->requests);
	free(wave->warps);
	gt_map_close(&wave->known);
}

void gt_wave_clear(struct gt_wave *wave)
{
	wave->n = wave->warps_n = 0;
	gt_map_clear(&wave->known);
}

bool gt_wave_ends(const struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	return wave->n > 0 && rows->an[i] < wave->requests[wave->n - 1].request.an &&
	       !gt_map_get(&wave->known, key_of_block(rows->block[i]));
}

static bool is_warp(const struct gt_warp *warp, const struct gt_rows *rows, size_t i)
{
	return warp->block == rows->block[i] && warp->warp == rows->warp[i];
}

static int add_warp(struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	size_t capacity = wave->warps_capacity;
	struct gt_warp *warps = gt_grown(wave->warps, wave->warps_n, &capacity, sizeof *warps);

	if (!warps)
		return -1;
	wave->warps = warps;
	wave->warps_capacity = (uint32_t)capacity;
	warps[wave->warps_n++] = (struct gt_warp){.block = rows->block[i], .warp = rows->warp[i], .next = GT_NO_REQUEST,
						  .follower = NO_WARP};
	return 0;
}

/* Makes the warp of row i the current one. */
static int find_warp(struct gt_wave *wave, const struct gt_rows *rows, size_t i)
{
	uint32_t before = wave->current, follower = wave->n > 0 ? wave->warps[before].follower : NO_WARP;
	int fresh;

	if (wave->n > 0 && is_warp(&wave->warps[before], rows, i))
		return 0;
	if (follower != NO_WARP && is_warp(&wave->warps[follower], rows, i)) {
		wave->current = follower;
		return 0;
	}
	uint64_t *place = gt_map_put(&wave->known, key_of_warp(rows->block[i], rows->warp[i]), wave->warps_n, &fresh);
	if (!place)
		return -1;
	wave->current = (uint32_t)*place;
	if (fresh && (add_warp(wave, rows, i) != 0 || !gt_map_put(&wave->known, key_of_block(rows->block[i]), 0, &fresh)))
		return -1;
	if (wave->n > 0)
		wave->warps[before].follower = wave->current;
	return 0;
}

int gt_wave_add(struct gt_wave *wave, const struct gt_rows *rows, size_t i, struct gt_error *error)
{
	struct gt_wave_request *requests = gt_grown(wave->requests, wave->n, &wave->capacity, sizeof *requests);
	uint32_t at = (uint32_t)wave->n;

	if (requests)
		wave->requests = requests;
	if (!requests || find_warp(wave, rows, i) != 0)
		return gt_fail_memory(error, "the requests of a wave");
	if (wave->n >= GT_NO_REQUEST)
		return gt_fail(error, "a wave of more than %u requests on one SM", GT_NO_REQUEST);
	struct gt_warp *warp = &wave->warps[wave->current];
	*(warp->next == GT_NO_REQUEST ? &warp->next : &requests[warp->last].next) = at;
	warp->last = at;
	requests[wave->n++] = (struct gt_wave_request){gt_request_of(rows, i), GT_NO_REQUEST};
	return 0;
}

static int by_warp(const void *left, const void *right)
{
	const struct gt_warp *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (int)a->warp - (int)b->warp;
}

void gt_wave_order(struct gt_wave *wave)
{
	qsort(wave->warps, wave->warps_n, sizeof *wave->warps, by_warp);
}
