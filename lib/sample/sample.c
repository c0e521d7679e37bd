/* SPDX-License-Identifier: MIT */
#include "sample/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/grown.h"
#include "stream/counted.h"
#include "stream/request.h"

struct gt_sample_group {
	uint64_t id;	   /* of its first launch */
	uint64_t identity;
	uint64_t *numbers; /* of that launch, n of them; owned */
	size_t n;
	uint64_t launches, sectors; /* of the group */
	size_t older; /* 1 + the group before it of the same identity; 0: none */
};

/* The numbers that are counted in requests; those of counters follow. */
enum { BLOCKS, REQUESTS, SECTORS, LANES, LINES, COUNTED };

/* ---- distinct lines ---- */

static void forget_lines(struct gt_distinct *distinct)
{
	memset(distinct, 0, sizeof *distinct);
	distinct->with_value[0] = GT_SAMPLE_REGISTERS;
}

static void note_line(struct gt_distinct *distinct, uint64_t address)
{
	uint64_t hash = XXH3_64bits(&address, sizeof address);
	uint8_t *at = &distinct->registers[hash % GT_SAMPLE_REGISTERS], value = 1;

	/* Trailing zeros of the rest, and 1. */
	for (hash = hash / GT_SAMPLE_REGISTERS | UINT64_C(1) << 48; !(hash & 1); hash >>= 1)
		value++;
	if (value <= *at)
		return;
	distinct->with_value[*at]--;
	distinct->with_value[value]++;
	*at = value;
}

static uint64_t estimate_lines(const struct gt_distinct *distinct)
{
	const double m = GT_SAMPLE_REGISTERS;
	double sum = 0, estimate;

	for (int value = 63; value >= 0; value--)
		sum += ldexp(distinct->with_value[value], -value);
	estimate = 0.7213 / (1 + 1.079 / m) * m * m / sum;
	if (estimate <= 2.5 * m && distinct->with_value[0] > 0) /* few lines: by the registers that are left */
		estimate = m * log(m / distinct->with_value[0]);
	return (uint64_t)(estimate + 0.5);
}

/* ---- a launch ---- */

int gt_sampler_open(struct gt_sampler *sampler, uint64_t tolerance, struct gt_error *error)
{
	*sampler = (struct gt_sampler){.tolerance = tolerance};
	return gt_map_open(&sampler->last, 0, error);
}

void gt_sampler_close(struct gt_sampler *sampler)
{
	for (size_t i = 0; i < sampler->groups_n; i++)
		free(sampler->groups[i].numbers);
	free(sampler->groups);
	free(sampler->numbers);
	gt_map_close(&sampler->last);
	*sampler = (struct gt_sampler){0};
}

static int add_number(struct gt_sampler *sampler, uint64_t number, struct gt_error *error)
{
	uint64_t *grown = gt_grown(sampler->numbers, sampler->n, &sampler->capacity, sizeof *grown);

	if (!grown)
		return gt_fail_memory(error, "what a launch does");
	sampler->numbers = grown;
	grown[sampler->n++] = number;
	return 0;
}

static void identify(struct gt_sampler *sampler, const void *bytes, size_t n)
{
	sampler->identity = XXH3_64bits_withSeed(bytes, n, sampler->identity);
}

static uint64_t key_of(uint64_t identity)
{
	return identity - (identity == GT_MAP_EMPTY);
}

int gt_sampler_begin(struct gt_sampler *sampler, const struct gt_kernel *kernel, bool *first, struct gt_error *error)
{
	const struct gt_preferences *prefers = &kernel->prefers;
	uint64_t shape[] = {kernel->block[0], kernel->block[1], kernel->block[2], kernel->registers, kernel->shared_bytes, kernel->device,
			    kernel->l1_bytes, kernel->cluster[0], kernel->cluster[1], kernel->cluster[2], prefers->carveout,
			    prefers->l2_fetch_bytes, prefers->l2_persisting_bytes, prefers->window.bytes, prefers->window.hit_ratio,
			    prefers->window.hit, prefers->window.miss};
	int fresh;

	sampler->id = kernel->id;
	sampler->identity = 0;
	sampler->n = 0;
	sampler->alone = false;
	forget_lines(&sampler->lines);
	identify(sampler, kernel->name, strlen(kernel->name));
	identify(sampler, shape, sizeof shape);
	uint64_t *last = gt_map_put(&sampler->last, key_of(sampler->identity), 0, &fresh);
	if (!last)
		return gt_fail_memory(error, "the launches");
	*first = *last == 0;
	for (int i = 0; i < COUNTED; i++)
		if (add_number(sampler, i == BLOCKS ? gt_kernel_blocks(kernel) : 0, error) != 0)
			return -1;
	return 0;
}

void gt_sampler_rows(struct gt_sampler *sampler, const struct gt_rows *requests)
{
	uint64_t sectors = 0, lanes = 0;

	for (size_t i = 0; i < requests->n; i++) {
		sectors += gt_bits_of_4[requests->sectors[i]];
		lanes += requests->threads[i];
		note_line(&sampler->lines, requests->address[i]);
	}
	sampler->numbers[REQUESTS] += requests->n;
	sampler->numbers[SECTORS] += sectors;
	sampler->numbers[LANES] += lanes;
}

/* What launches have as a whole is compared, not what each instruction or array has. */
int gt_sampler_count(struct gt_sampler *sampler, const struct gt_count *count, struct gt_error *error)
{
	sampler->alone |= strcmp(count->stage, gt_counters_untraced.stage) == 0;
	for (size_t i = 0; i < count->n; i++) {
		const struct gt_count_entry *entry = &count->entries[i];
		const struct gt_counter *about = gt_counter_about(count->stage, entry->name);
		if (entry->kind == GT_COUNT_NUMBER && about->kind == GT_COUNTER_COUNT && !strchr(entry->name, '.') &&
		    add_number(sampler, entry->number, error) != 0)
			return -1;
	}
	return 0;
}

/* ---- groups ---- */

static bool near(uint64_t a, uint64_t b, uint64_t tolerance)
{
	uint64_t larger = a > b ? a : b, off = a > b ? a - b : b - a;

	return (double)off * 1e6 <= (double)larger * (double)tolerance;
}

static bool alike(const struct gt_sampler *sampler, const struct gt_sample_group *group)
{
	bool same = group->identity == sampler->identity && group->n == sampler->n;

	for (size_t i = 0; i < sampler->n && same; i++)
		same = near(group->numbers[i], sampler->numbers[i], sampler->tolerance);
	return same;
}

static int add_group(struct gt_sampler *sampler, uint64_t *last, struct gt_error *error)
{
	struct gt_sample_group *grown = gt_grown(sampler->groups, sampler->groups_n, &sampler->groups_capacity, sizeof *grown);
	uint64_t *numbers = malloc(sampler->n * sizeof *numbers);

	if (grown)
		sampler->groups = grown;
	if (!grown || !numbers) {
		free(numbers);
		return gt_fail_memory(error, "a group of launches");
	}
	memcpy(numbers, sampler->numbers, sampler->n * sizeof *numbers);
	grown[sampler->groups_n++] = (struct gt_sample_group){
		.id = sampler->id, .identity = sampler->identity, .numbers = numbers, .n = sampler->n, .launches = 1, .sectors = sampler->numbers[SECTORS],
		.older = *last};
	*last = sampler->groups_n;
	return 0;
}

int gt_sampler_end(struct gt_sampler *sampler, bool *modelled, struct gt_error *error)
{
	uint64_t *last = gt_map_get(&sampler->last, key_of(sampler->identity));

	sampler->numbers[LINES] = estimate_lines(&sampler->lines);
	for (size_t at = sampler->alone ? 0 : *last; at > 0; at = sampler->groups[at - 1].older)
		if (alike(sampler, &sampler->groups[at - 1])) {
			sampler->groups[at - 1].launches++;
			sampler->groups[at - 1].sectors += sampler->numbers[SECTORS];
			*modelled = false;
			return 0;
		}
	*modelled = true;
	return add_group(sampler, last, error);
}

int gt_sampler_write(const struct gt_sampler *sampler, size_t i, struct gt_count *count, struct gt_error *error)
{
	const struct gt_sample_group *group = &sampler->groups[i];
	const struct {
		GT_SAMPLE_COUNTERS(GT_COUNTER_FIELD)
	} counters = {.launches = group->launches, .modelled_launches = 1, .sectors = group->sectors, .modelled_sectors = group->numbers[SECTORS]};

	gt_count_begin(count, gt_counters_sample.stage, group->id);
	return gt_count_numbers(count, &gt_counters_sample, &counters, sizeof counters, error);
}

uint64_t gt_sampler_launches(const struct gt_sampler *sampler)
{
	uint64_t launches = 0;

	for (size_t i = 0; i < sampler->groups_n; i++)
		launches += sampler->groups[i].launches;
	return launches;
}
