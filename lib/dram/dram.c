/* SPDX-License-Identifier: MIT */
#include "dram/dram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "counter/tables.h"
#include "stream/counted.h"
#include "stream/hint.h"
#include "stream/op.h"

int gt_dram_partial(const char *text, bool *merges, struct gt_error *error)
{
	*merges = strcmp(text, "read") == 0;
	return *merges || strcmp(text, "write") == 0 ? 0 : gt_fail(error, "partial %.100s: expected write or read", text);
}

int gt_dram_configure(struct gt_dram_config *config, const struct gt_gpu *gpu, struct gt_error *error)
{
	if (gt_gpu_count(gpu, "dram.channels", 1, &config->channels, error) != 0 ||
	    gt_gpu_count(gpu, "dram.banks", 16, &config->banks, error) != 0 ||
	    gt_gpu_size(gpu, "dram.row", 2048, &config->row, error) != 0 ||
	    gt_gpu_size(gpu, "dram.interleave", 256, &config->interleave, error) != 0)
		return -1;
	const char *partial = gt_gpu_get(gpu, "dram.partial");
	return gt_dram_partial(partial ? partial : "write", &config->merges, error);
}

static int check(const struct gt_dram_config *config, struct gt_error *error)
{
	const struct {
		const char *what;
		uint64_t value, most;
		bool bytes;
	} parts[] = {
		{"channels", config->channels, GT_DRAM_CHANNELS_MAX, false},
		{"banks", config->banks, GT_DRAM_BANKS_MAX, false},
		{"row", config->row, GT_DRAM_BYTES_MAX, true},
		{"interleave", config->interleave, GT_DRAM_BYTES_MAX, true},
	};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
		if (parts[i].value < 1 || parts[i].value > parts[i].most)
			return gt_fail(error, "%s %" PRIu64 ": expected 1 to %" PRIu64, parts[i].what, parts[i].value,
				       parts[i].most);
		if (parts[i].bytes && parts[i].value % GT_SECTOR != 0)
			return gt_fail(error, "%s %" PRIu64 ": expected a multiple of %d bytes", parts[i].what,
				       parts[i].value, GT_SECTOR);
	}
	return 0;
}

static struct gt_divisor divisor(uint64_t value)
{
	return (struct gt_divisor){value, value & (value - 1) ? -1 : __builtin_ctzll(value)};
}

static inline uint64_t divide(uint64_t number, struct gt_divisor by)
{
	return by.shift >= 0 ? number >> by.shift : number / by.value;
}

int gt_dram_open(struct gt_dram *dram, const struct gt_dram_config *config, struct gt_error *error)
{
	*dram = (struct gt_dram){0};
	if (check(config, error) != 0)
		return -1;
	dram->channels = divisor(config->channels);
	dram->banks = divisor(config->banks);
	dram->row = divisor(config->row);
	dram->interleave = divisor(config->interleave);
	dram->merges = config->merges;
	dram->together = GT_LINE / GT_SECTOR;
	while ((config->row | config->interleave) % (dram->together * GT_SECTOR) != 0)
		dram->together /= 2;
	dram->open = calloc((size_t)(config->channels * config->banks), sizeof *dram->open);
	dram->reads = calloc((size_t)config->channels, sizeof *dram->reads);
	dram->writes = calloc((size_t)config->channels, sizeof *dram->writes);
	dram->row_hits = calloc((size_t)config->channels, sizeof *dram->row_hits);
	if (!dram->open || !dram->reads || !dram->writes || !dram->row_hits) {
		gt_dram_close(dram);
		return gt_fail_memory(error, "the banks of DRAM");
	}
	return 0;
}

void gt_dram_close(struct gt_dram *dram)
{
	free(dram->open);
	free(dram->reads);
	free(dram->writes);
	free(dram->row_hits);
	*dram = (struct gt_dram){0};
}

void gt_dram_reset(struct gt_dram *dram)
{
	size_t channels = (size_t)dram->channels.value;

	memset(dram->open, 0, channels * (size_t)dram->banks.value * sizeof *dram->open);
	memset(dram->reads, 0, channels * sizeof *dram->reads);
	memset(dram->writes, 0, channels * sizeof *dram->writes);
	memset(dram->row_hits, 0, channels * sizeof *dram->row_hits);
}

/* `sectors` sectors of one row are transferred, one after the other; a store reads `merged` of them first. */
static inline void transfer(struct gt_dram *dram, uint64_t address, unsigned sectors, unsigned merged, enum gt_action action)
{
	uint64_t turn = divide(address, dram->interleave);
	uint64_t round = divide(turn, dram->channels);
	uint64_t channel = turn - round * dram->channels.value;
	/* The offset in the channel: the previous rounds, then the offset in this one. */
	uint64_t within = round * dram->interleave.value + (address - turn * dram->interleave.value);
	uint64_t row = divide(within, dram->row);
	uint64_t row_of_bank = divide(row, dram->banks);
	uint64_t bank = row - row_of_bank * dram->banks.value;
	uint64_t *open = &dram->open[channel * dram->banks.value + bank];
	/* Atomics and reductions read a sector, then write it. */
	unsigned reads = action == GT_STORE ? merged : sectors, writes = action == GT_LOAD ? 0 : sectors;

	dram->reads[channel] += reads;
	dram->writes[channel] += writes;
	dram->row_hits[channel] += reads + writes - (*open != row_of_bank + 1);
	*open = row_of_bank + 1;
}

/* Takes a batch; `together` is dram->together, of which the compiler makes a loop each. */
static inline void take(struct gt_dram *dram, const struct gt_rows *requests, unsigned together)
{
	static const unsigned char bits_of_4[] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
	const unsigned group = (1U << together) - 1;

	for (size_t i = 0; i < requests->n; i++) {
		enum gt_action action = gt_op_action(requests->op[i]);
		if (gt_hint_action(gt_rows_hint(requests, i)) > GT_PREFETCH_L2) /* it moves no data */
			continue;
		const unsigned parts = dram->merges ? (unsigned)(requests->sectors[i] & ~requests->full[i]) : 0;
		for (unsigned mask = requests->sectors[i], first; mask; mask &= ~(group << first)) {
			first = (unsigned)__builtin_ctz(mask) / together * together;
			transfer(dram, requests->address[i] + GT_SECTOR * first, together == 1 ? 1 : bits_of_4[mask >> first & group], bits_of_4[parts >> first & group],
				 action);
		}
	}
}

void gt_dram_take(struct gt_dram *dram, const struct gt_rows *requests)
{
	switch (dram->together) {
	case 1: take(dram, requests, 1); break;
	case 2: take(dram, requests, 2); break;
	default: take(dram, requests, 4); break;
	}
}

static uint64_t sum(const uint64_t *numbers, uint64_t n)
{
	uint64_t total = 0;

	for (uint64_t i = 0; i < n; i++)
		total += numbers[i];
	return total;
}

int gt_dram_count(const struct gt_dram *dram, struct gt_count *count, struct gt_error *error)
{
	size_t channels = (size_t)dram->channels.value;
	uint64_t reads = sum(dram->reads, channels), writes = sum(dram->writes, channels);
	uint64_t row_hits = sum(dram->row_hits, channels);
	const struct {
		GT_DRAM_COUNTERS(GT_COUNTER_FIELD)
	} numbers = {
		.channels = dram->channels.value,
		.banks = dram->banks.value,
		.row = dram->row.value,
		.interleave = dram->interleave.value,
		.reads = reads,
		.writes = writes,
		.row_hits = row_hits,
		.row_misses = reads + writes - row_hits,
	};
	const struct {
		const char *name;
		const uint64_t *values;
	} arrays[] = {{"channel_reads", dram->reads},
		      {"channel_writes", dram->writes},
		      {"channel_row_hits", dram->row_hits}};

	if (gt_count_numbers(count, &gt_counters_dram, &numbers, sizeof numbers, error) != 0)
		return -1;
	for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
		if (gt_count_array(count, arrays[i].name, arrays[i].values, channels, error) != 0)
			return -1;
	return 0;
}
