/* SPDX-License-Identifier: MIT */
/* Requests a second of a level alone, without a stream: 80 private L1s of 32 KB, and shared L2s.
 *   cache [ROUNDS]
 * Each line is the best of three runs, with the hit ratio of the last. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/random.h"
#include "cache/config.h"
#include "cache/level.h"
#include "stream/op.h"

#define SMS 80
#define BATCHES 64

static struct gt_error error;

/* Seconds of the monotonic clock. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static _Noreturn void fail(void)
{
	fprintf(stderr, "cache: %s\n", error.text);
	exit(1);
}

static int discard(void *context, struct gt_rows *rows, struct gt_error *unused)
{
	(void)context, (void)unused;
	rows->n = 0;
	return 0;
}

/* SMs round-robin; each draws lines from its own window, which moves slowly, as with tiles. */
static void make_batches(struct gt_rows *batches[BATCHES], uint32_t window, unsigned stores, bool partial)
{
	uint64_t state = 1, row = 0;

	for (unsigned b = 0; b < BATCHES; b++) {
		struct gt_rows *rows = batches[b] = gt_rows_new(GT_ROWS_BATCH, &error);
		if (!rows)
			fail();
		rows->kind = GT_REQUESTS;
		rows->scheduled = true;
		rows->n = rows->capacity;
		for (size_t i = 0; i < rows->n; i++, row++) {
			uint64_t sm = row % SMS, drawn = gt_random(&state);
			bool store = drawn % 100 < stores;
			rows->op[i] = gt_op(store ? GT_STORE : GT_LOAD, GT_GLOBAL, GT_OPERATOR_NONE);
			rows->address[i] = GT_LINE * (sm * 100000 + row / SMS / 64 + (drawn >> 8) % window);
			rows->sectors[i] = partial ? (uint8_t)(1U << (drawn >> 4) % 4) : 15;
			rows->full[i] = store ? rows->sectors[i] : 0;
			rows->step[i] = row / SMS;
			rows->sm[i] = (uint16_t)sm;
		}
	}
}

static double measure(const struct gt_level_config *config, struct gt_rows *batches[BATCHES], unsigned rounds,
		      double *hit_ratio)
{
	struct gt_rows *out = gt_rows_new(GT_ROWS_BATCH, &error);
	struct gt_sink sink = {out, discard, NULL};
	struct gt_level *level = gt_level_open(config, &error);
	struct gt_count count;

	if (!out || !level)
		fail();
	gt_level_begin(level);
	double start = now();
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned b = 0; b < BATCHES; b++)
			if (gt_level_take(level, batches[b], &sink, &error) != 0)
				fail();
	double seconds = now() - start;
	if (gt_level_count(level, "l", 1, &count, &error) != 0)
		fail();
	*hit_ratio = 100.0 * (double)gt_count_value(&count, "read_hits", 0) /
		     (double)gt_count_value(&count, "reads", 1);
	gt_count_clear(&count);
	gt_level_close(level);
	gt_rows_free(out);
	return seconds;
}

static void report(const char *name, const char *role, const char *const *texts, uint32_t window, unsigned stores,
		   bool partial, unsigned rounds)
{
	static struct gt_level_config config;
	struct gt_level_settings settings = {.role = &gt_roles[0]};
	struct gt_rows *batches[BATCHES];
	double best = 0, ratio = 0;

	while (strcmp(settings.role->option, role) != 0)
		settings.role++;
	for (; texts[0]; texts += 2)
		for (int id = 0; id < GT_PARAMETERS; id++)
			if (strcmp(gt_parameters[id].name, texts[0]) == 0 &&
			    gt_level_set(&settings, (enum gt_parameter_id)id, texts[1], &error) != 0)
				fail();
	if (gt_level_resolve(&settings, NULL, NULL, &config, &error) != 0 ||
	    gt_level_check(&config, ~UINT64_C(0), &error) != 0)
		fail();
	make_batches(batches, window, stores, partial);
	for (int run = 0; run < 3; run++) {
		double seconds = measure(&config, batches, rounds, &ratio);
		best = run == 0 || seconds < best ? seconds : best;
	}
	double requests = (double)rounds * BATCHES * GT_ROWS_BATCH;
	printf("%-44s %7.1f M requests/s %6.1f ns  read hits %5.1f %%\n", name, requests / best / 1e6,
	       best / requests * 1e9, ratio);
	for (unsigned b = 0; b < BATCHES; b++)
		gt_rows_free(batches[b]);
}

#define REPORT(NAME, ROLE, WINDOW, STORES, PARTIAL, ...)                                          \
	report(NAME, ROLE, (const char *const[]){__VA_ARGS__, NULL, NULL}, WINDOW, STORES, PARTIAL, rounds)

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;

	REPORT("l1 32K 4-way, reads that hit", "l1", 100, 0, false, "size", "32K");
	REPORT("l1, one sector of four", "l1", 100, 0, true, "size", "32K");
	REPORT("l1, 5 % stores", "l1", 100, 5, false, "size", "32K");
	REPORT("l1, index xor", "l1", 100, 0, false, "size", "32K", "index", "xor");
	REPORT("l1, index hash", "l1", 100, 0, false, "size", "32K", "index", "hash");
	REPORT("l1, index ipoly", "l1", 100, 0, false, "size", "32K", "index", "ipoly");
	REPORT("l1, fifo", "l1", 100, 0, false, "size", "32K", "replace", "fifo");
	REPORT("l1, srrip", "l1", 100, 0, false, "size", "32K", "replace", "srrip");
	REPORT("l1 48K 6-way", "l1", 100, 0, false, "size", "48K", "ways", "6");
	REPORT("l1 128K, 64-way", "l1", 400, 0, false, "size", "128K", "ways", "64");
	REPORT("l1, lines of 32 bytes", "l1", 100, 0, false, "size", "32K", "line", "32");
	REPORT("l1, half of the reads miss", "l1", 500, 0, false, "size", "32K");
	REPORT("l2 4.5M 32-way", "l2", 100, 20, false, "size", "4.5M", "ways", "32");
	REPORT("l2 6M 16-way, hash", "l2", 100, 20, false, "size", "6M", "ways", "16", "index", "hash");
	REPORT("l2 fully associative, 4096 lines", "l2", 20, 20, false, "size", "512K", "ways", "full");
	REPORT("l2 fully associative, fifo", "l2", 100, 20, false, "size", "512K", "ways", "full", "replace", "fifo");
	return 0;
}
