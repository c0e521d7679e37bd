/* SPDX-License-Identifier: MIT */
#include "gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gpu/parameter.h"

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

/* Every parameter of every level is a key, and takes its default and each word of its form. */
static void parameters_are_keys(void)
{
	char key[GT_KEY_BYTES], word[64];

	for (int id = 0; id < GT_PARAMETERS; id++) {
		const struct gt_parameter *parameter = &gt_parameters[id];
		CHECK(parameter->help && parameter->type.form && parameter->otherwise);
		for (size_t level = 0; level < gt_gpu_levels_n; level++) {
			struct gt_gpu gpu = {0};
			gt_parameter_key(gt_gpu_levels[level], (enum gt_parameter_id)id, key);
			CHECK(gt_gpu_known(key));
			CHECK_EQUAL(set(&gpu, key, parameter->otherwise), 0);
			CHECK_EQUAL(set(&gpu, key, ""), -1);
			for (const char *at = parameter->type.form; *at; at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|')) {
				snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
				if (word[0] >= 'a' && !strchr(word, '['))
					CHECK_EQUAL(set(&gpu, key, word), 0);
			}
			gt_gpu_clear(&gpu);
		}
	}
}

/* What was accepted, and what is told of what was not. */
static void values(void)
{
	static const struct {
		struct gt_value_type type;
		const char *text;
		uint64_t number;
		bool word;
		const char *error; /* NULL: none */
	} rows[] = {
		{{GT_VALUE_ONE_OF, "back|through|evict", 0, 0}, "evict", 2, false, NULL},
		{{GT_VALUE_ONE_OF, "back|through|evict", 0, 0}, "thru", 0, false, "'thru': expected back, through or evict"},
		{{GT_VALUE_ONE_OF, "back|through", 0, 0}, "ba", 0, false, "'ba': expected back or through"},
		{{GT_VALUE_YES_NO, "yes|no", 0, 0}, "yes", 1, false, NULL},
		{{GT_VALUE_YES_NO, "yes|no", 0, 0}, "no", 0, false, NULL},
		{{GT_VALUE_YES_NO, "yes|no", 0, 0}, "", 0, false, "'': expected yes or no"},
		{{GT_VALUE_COUNT, "N|unlimited", 1, 8}, "unlimited", 0, true, NULL},
		{{GT_VALUE_COUNT, "N|unlimited", 1, 8}, "8", 8, false, NULL},
		{{GT_VALUE_COUNT, "N|unlimited", 1, 8}, "9", 0, false, "'9': expected a whole number from 1 to 8, or unlimited"},
		{{GT_VALUE_COUNT, NULL, 1, 8}, "N", 0, false, "'N': expected a whole number from 1 to 8"},
		{{GT_VALUE_SIZE, "BYTES|none", 32, 1024}, "none", 0, true, NULL},
		{{GT_VALUE_SIZE, "BYTES|none", 32, 1024}, "0.5K", 512, false, NULL},
		{{GT_VALUE_POWER, "BYTES|line", 32, 1024}, "128", 128, false, NULL},
		{{GT_VALUE_POWER, "BYTES|line", 32, 1024}, "96", 0, false, "'96': expected a power of two from 32 to 1K, or line"},
		{{GT_VALUE_POWER, "BYTES|line", 32, 1024}, "2K", 0, false, "'2K': expected a power of two from 32 to 1K, or line"},
		{{GT_VALUE_WAYS, "N|full[/SETS]", 1, 99}, "16", 16, false, NULL},
		{{GT_VALUE_WAYS, "N|full[/SETS]", 1, 99}, "full", 1, true, NULL},
		{{GT_VALUE_WAYS, "N|full[/SETS]", 1, 99}, "full/4", 4, true, NULL},
		{{GT_VALUE_WAYS, "N|full[/SETS]", 1, 99}, "full/", 0, false,
		 "'full/': expected a number of ways from 1 to 99, full, or full/SETS"},
		{{GT_VALUE_REAL, "FACTOR|auto", 0, 8}, "auto", 0, true, NULL},
		{{GT_VALUE_REAL, "FACTOR|auto", 0, 8}, "9", 0, false, "'9': expected a number from 0 to 8, or auto"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct gt_value value;
		int result = gt_value_read(&rows[i].type, rows[i].text, &value, &error);
		CHECK_EQUAL(result, rows[i].error ? -1 : 0);
		if (rows[i].error) {
			CHECK_TEXT(error.text, rows[i].error);
			continue;
		}
		CHECK_EQUAL(value.number, rows[i].number);
		CHECK_EQUAL(value.word, rows[i].word);
	}
}

int main(void)
{
	RUN(set_and_get);
	RUN(known_keys);
	RUN(values_are_checked);
	RUN(many_figures);
	RUN(parameters_are_keys);
	RUN(values);
	return check_report();
}
