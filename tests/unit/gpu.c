/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <stdlib.h>

#include "check.h"

static struct gt_error error;

static int set(struct gt_gpu *gpu, const char *key, const char *value)
{
	return gt_gpu_set(gpu, key, value, "assumed", "a test", &error);
}

static void set_and_get(void)
{
	struct gt_gpu gpu = {0};
	uint64_t value;

	CHECK(gt_gpu_get(NULL, "sms") == NULL);
	CHECK(gt_gpu_get(&gpu, "sms") == NULL);
	CHECK_EQUAL(set(&gpu, "sms", "80"), 0);
	CHECK_EQUAL(set(&gpu, "l2.size", "4.5M"), 0);
	CHECK_EQUAL(set(&gpu, "sms", "81"), 0);
	CHECK_EQUAL(gpu.n, 2);
	CHECK_TEXT(gt_gpu_get(&gpu, "sms"), "81");
	CHECK_EQUAL(gt_gpu_count(&gpu, "sms", 1, &value, &error), 0);
	CHECK_EQUAL(value, 81);
	CHECK_EQUAL(gt_gpu_size(&gpu, "l2.size", 1, &value, &error), 0);
	CHECK_EQUAL(value, 4718592);
	CHECK_EQUAL(gt_gpu_size(&gpu, "l1.size", 7, &value, &error), 0);
	CHECK_EQUAL(value, 7);
	CHECK_EQUAL(gt_gpu_count(NULL, "sms", 5, &value, &error), 0);
	CHECK_EQUAL(value, 5);
	/* A figure may be set from one of the same description. */
	CHECK_EQUAL(gt_gpu_set(&gpu, "max_warps", gpu.figures[0].value, gpu.figures[0].status, "x", &error), 0);
	CHECK_TEXT(gt_gpu_get(&gpu, "max_warps"), "81");
	gt_gpu_clear(&gpu);
	CHECK_EQUAL(gpu.n, 0);
}

static void known_keys(void)
{
	static const char *const good[] = {"sms", "l1.size", "l2tlb.sets", "dram.channels", "readonly.index", "coalesce"};
	static const char *const bad[] = {"", ".", "l1", "l1.", ".size", "l3.size", "l1.sizes", "l1.size.x", "dram.size",
					  "SMS", "l1tlb.sms", "sm"};

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
		CHECK(gt_gpu_known(good[i]));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		CHECK(!gt_gpu_known(bad[i]));
}

static void values_are_checked(void)
{
	static const struct {
		const char *key, *value;
		int result;
	} rows[] = {
		{"sms", "0", -1}, {"sms", "4294967296", -1}, {"sms", "4K", -1}, {"l1.ways", "full", 0},
		{"l1.ways", "fuller", -1}, {"l1.sector", "line", 0}, {"l1.fetch", "sector", 0}, {"l2.ways", "line", -1},
		{"shared", "0", 0}, {"shared_options", "0", 0}, {"shared_options", "0,,8", -1},
		{"shared_options", "8,8", -1}, {"shared_options", "0,8K,", -1}, {"name", "a b", 0}, {"name", "", -1},
		{"l1.index", "a b", -1}, {"l1.index", "", -1}, {"l2.size", "1e6", -1}, {"l9.size", "1", -1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_gpu gpu = {0};
		CHECK_EQUAL(set(&gpu, rows[i].key, rows[i].value), rows[i].result);
		CHECK_EQUAL(gpu.n, rows[i].result == 0);
		gt_gpu_clear(&gpu);
	}
}

static void many_figures(void)
{
	char key[64];
	struct gt_gpu gpu = {0};
	static const char *const levels[] = {"l1", "l2", "texture", "readonly", "l1tlb", "l2tlb"};
	static const char *const parameters[] = {"size", "ways", "line", "sector", "seed", "fetch", "banks", "ports",
						 "partitions", "merges", "index", "mshr"};

	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < 12; j++) {
			snprintf(key, sizeof key, "%s.%s", levels[i], parameters[j]);
			CHECK_EQUAL(set(&gpu, key, "32"), 0);
		}
	}
	CHECK_EQUAL(gpu.n, 72);
	gt_gpu_clear(&gpu);
}

int main(void)
{
	RUN(set_and_get);
	RUN(known_keys);
	RUN(values_are_checked);
	RUN(many_figures);
	return check_report();
}
