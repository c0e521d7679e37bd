/* SPDX-License-Identifier: MIT */
/* Device memory against a reference that visits every sector, and small worked examples. */
#include "dram/dram.h"

#include <stdlib.h>

#include "check.h"
#include "stream/op.h"

static uint64_t state = 88172645463325252;

static uint64_t random_number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct gt_rows *new_requests(size_t n)
{
	struct gt_error error;
	struct gt_rows *rows = gt_rows_new(n, &error);

	if (!rows)
		abort();
	rows->kind = GT_REQUESTS;
	return rows;
}

static void add(struct gt_rows *rows, enum gt_action action, uint64_t address, uint8_t sectors)
{
	rows->op[rows->n] = gt_op(action, GT_GLOBAL, GT_OPERATOR_NONE);
	rows->address[rows->n] = address;
	rows->sectors[rows->n] = sectors;
	rows->n++;
}

/* Every sector apart, with plain division, and every row that is open in a list. */
struct reference {
	uint64_t reads[64], writes[64], hits[64];
	struct {
		uint64_t channel, bank, row;
	} open[64 * 64];
	unsigned n;
};

static void reference_transfer(struct reference *reference, const struct gt_dram_config *config, uint64_t address,
			       bool write)
{
	uint64_t turn = address / config->interleave, channel = turn % config->channels;
	uint64_t within = turn / config->channels * config->interleave + address % config->interleave;
	uint64_t bank = within / config->row % config->banks, row = within / config->row / config->banks;
	unsigned k = 0;

	(write ? reference->writes : reference->reads)[channel]++;
	while (k < reference->n && (reference->open[k].channel != channel || reference->open[k].bank != bank))
		k++;
	if (k < reference->n && reference->open[k].row == row)
		reference->hits[channel]++;
	reference->open[k].channel = channel;
	reference->open[k].bank = bank;
	reference->open[k].row = row;
	reference->n += k == reference->n;
}

static void reference_take(struct reference *reference, const struct gt_dram_config *config, const struct gt_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		enum gt_action action = gt_op_action(rows->op[i]);
		for (unsigned s = 0; s < 4; s++) {
			if (!(rows->sectors[i] >> s & 1))
				continue;
			if (action != GT_STORE)
				reference_transfer(reference, config, rows->address[i] + 32 * s, false);
			if (action != GT_LOAD)
				reference_transfer(reference, config, rows->address[i] + 32 * s, true);
		}
	}
}

static void compare(const struct gt_dram_config *config)
{
	static struct reference reference;
	struct gt_rows *rows = new_requests(200);
	struct gt_dram dram;
	struct gt_error error;
	uint64_t span = UINT64_C(1) << (7 + random_number() % 18), base = random_number() % 3 ? 0 : 0 - span;

	memset(&reference, 0, sizeof reference);
	CHECK_EQUAL(gt_dram_open(&dram, config, &error), 0);
	for (unsigned batch = 0; batch < 3; batch++) {
		for (rows->n = 0; rows->n < rows->capacity;)
			add(rows, (enum gt_action)(random_number() % 4), (base + random_number() % span) & ~(uint64_t)127,
			    (uint8_t)(1 + random_number() % 15));
		gt_dram_take(&dram, rows);
		reference_take(&reference, config, rows);
	}
	for (uint64_t channel = 0; channel < config->channels; channel++) {
		CHECK_EQUAL(dram.reads[channel], reference.reads[channel]);
		CHECK_EQUAL(dram.writes[channel], reference.writes[channel]);
		CHECK_EQUAL(dram.row_hits[channel], reference.hits[channel]);
	}
	gt_dram_close(&dram);
	gt_rows_free(rows);
}

static void equals_the_reference(void)
{
	for (unsigned i = 0; i < 300 && check_failures == 0; i++) {
		struct gt_dram_config config = {.channels = 1 + random_number() % 12, .banks = 1 + random_number() % 17};
		config.row = 32 * (1 + random_number() % 80);
		config.interleave = random_number() % 2 ? 32 * (1 + random_number() % 20) : UINT64_C(32) << random_number() % 6;
		compare(&config);
	}
}

static uint64_t counted(const struct gt_dram *dram, const char *name)
{
	struct gt_count count;
	struct gt_error error;

	gt_count_begin(&count, GT_DRAM_STAGE, 1);
	CHECK_EQUAL(gt_dram_count(dram, &count, &error), 0);
	CHECK(gt_count_find(&count, name) != NULL);
	uint64_t value = gt_count_value(&count, name, UINT64_MAX);
	gt_count_clear(&count);
	return value;
}

/* One channel, two banks, rows of 256 bytes: lines 0-1 are bank 0, 2-3 bank 1, 4-5 bank 0 again. */
static void rows_open_and_close(void)
{
	struct gt_dram_config config = {.channels = 1, .banks = 2, .row = 256, .interleave = 256};
	struct gt_rows *rows = new_requests(8);
	struct gt_dram dram;
	struct gt_error error;

	add(rows, GT_LOAD, 0, 0xf);   /* opens, then 3 hits */
	add(rows, GT_LOAD, 128, 0x1); /* hit */
	add(rows, GT_STORE, 256, 0x3); /* the other bank: opens, 1 hit */
	add(rows, GT_LOAD, 0, 0x8);   /* still open: hit */
	add(rows, GT_LOAD, 512, 0x1); /* another row of bank 0: opens */
	add(rows, GT_LOAD, 0, 0x1);   /* opens again */
	CHECK_EQUAL(gt_dram_open(&dram, &config, &error), 0);
	gt_dram_take(&dram, rows);
	CHECK_EQUAL(counted(&dram, "reads"), 8);
	CHECK_EQUAL(counted(&dram, "writes"), 2);
	CHECK_EQUAL(counted(&dram, "row_hits"), 6);
	CHECK_EQUAL(counted(&dram, "row_misses"), 4);
	gt_dram_reset(&dram);
	rows->n = 0;
	add(rows, GT_LOAD, 0, 0x1); /* closed by the reset */
	gt_dram_take(&dram, rows);
	CHECK_EQUAL(counted(&dram, "reads"), 1);
	CHECK_EQUAL(counted(&dram, "row_hits"), 0);
	gt_dram_close(&dram);
	gt_rows_free(rows);
}

static void an_atomic_reads_and_writes(void)
{
	struct gt_dram_config config = {.channels = 3, .banks = 1, .row = 1024, .interleave = 128};
	struct gt_rows *rows = new_requests(2);
	struct gt_dram dram;
	struct gt_error error;

	add(rows, GT_ATOMIC, 128, 0x1);
	add(rows, GT_REDUCTION, 128, 0x6);
	CHECK_EQUAL(gt_dram_open(&dram, &config, &error), 0);
	gt_dram_take(&dram, rows);
	CHECK_EQUAL(dram.reads[1], 3);
	CHECK_EQUAL(dram.writes[1], 3);
	CHECK_EQUAL(dram.row_hits[1], 5);
	CHECK_EQUAL(dram.reads[0] + dram.reads[2] + dram.writes[0] + dram.writes[2], 0);
	gt_dram_close(&dram);
	gt_rows_free(rows);
}

static void the_gpu_configures(void)
{
	struct gt_gpu gpu = {0};
	struct gt_dram_config config;
	struct gt_error error;

	CHECK_EQUAL(gt_dram_configure(&config, NULL, &error), 0);
	CHECK_EQUAL(config.channels, 1);
	CHECK_EQUAL(config.banks, 16);
	CHECK_EQUAL(config.row, 2048);
	CHECK_EQUAL(config.interleave, 256);
	CHECK_EQUAL(gt_gpu_set(&gpu, "dram.channels", "24", "assumed", "a test", &error), 0);
	CHECK_EQUAL(gt_gpu_set(&gpu, "dram.row", "1K", "assumed", "a test", &error), 0);
	CHECK_EQUAL(gt_dram_configure(&config, &gpu, &error), 0);
	CHECK_EQUAL(config.channels, 24);
	CHECK_EQUAL(config.banks, 16);
	CHECK_EQUAL(config.row, 1024);
	gt_gpu_clear(&gpu);
}

static void errors_are_told(void)
{
	static const struct gt_dram_config bad[] = {
		{0, 16, 2048, 256, false},   {1025, 16, 2048, 256, false}, {1, 0, 2048, 256, false},	  {1, 1025, 2048, 256, false},
		{1, 16, 0, 256, false},      {1, 16, 48, 256, false},	     {1, 16, 2048, 0, false},	  {1, 16, 2048, 16, false},
		{1, 16, UINT64_MAX, 256, false}, {1, 16, 2048, UINT64_C(1) << 33, false},
	};
	struct gt_dram dram;
	struct gt_error error;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		CHECK_EQUAL(gt_dram_open(&dram, &bad[i], &error), -1);
		CHECK(strstr(error.text, "expected") != NULL);
		gt_dram_close(&dram);
	}
}

int main(void)
{
	RUN(equals_the_reference);
	RUN(rows_open_and_close);
	RUN(an_atomic_reads_and_writes);
	RUN(the_gpu_configures);
	RUN(errors_are_told);
	return check_report();
}
