/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/exec/forms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct gt_ptx_forms *const tables[] = {
	&gt_ptx_integer_forms, &gt_ptx_float_forms, &gt_ptx_compare_forms, &gt_ptx_bit_forms, &gt_ptx_wide_forms,
	&gt_ptx_convert_forms, &gt_ptx_move_forms, &gt_ptx_lane_forms, &gt_ptx_half_forms,
};

/* All forms by name: open addressing, FNV-1a of the name. The tables have some 1500 rows. */
#define PLACES 8192
static const struct gt_ptx_form *by_name[PLACES];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The slot of the name, or the free slot where it belongs. */
static const struct gt_ptx_form **place_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619;
	while (by_name[hash % PLACES] && strcmp(by_name[hash % PLACES]->name, name) != 0)
		hash++;
	return &by_name[hash % PLACES];
}

/* Of several rows with one name, the first is used. */
static void fill(void)
{
	for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
		for (size_t i = 0; i < tables[t]->n; i++) {
			const struct gt_ptx_form **place = place_of(tables[t]->rows[i].name);
			*place = *place ? *place : &tables[t]->rows[i];
		}
}

const struct gt_ptx_form *gt_ptx_form_named(const char *name)
{
	pthread_once(&once, fill);
	return *place_of(name);
}

/* What $GTRACE_PTX_LEVEL may be: the widest steps, by their place in enum gt_ptx_isa, and whether machine code is made. */
static const struct level {
	const char *name;
	unsigned widest;
	bool native;
} levels[] = {{"plain", 0, false}, {"avx2", 1, false}, {"avx512", 2, false}, {"avx2-native", 1, true}, {"native", 2, true}};
enum { NATIVE = 4, UNKNOWN };
static unsigned chosen;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask(void)
{
	const char *name = getenv("GTRACE_PTX_LEVEL");

	chosen = name ? 0 : NATIVE;
	while (name && chosen < UNKNOWN && strcmp(levels[chosen].name, name) != 0)
		chosen++;
}

/* UNKNOWN is refused before a kernel is decoded. */
static const struct level *limit(void)
{
	pthread_once(&asked, ask);
	return &levels[chosen < UNKNOWN ? chosen : NATIVE];
}

int gt_ptx_level_check(struct gt_error *error)
{
	limit();
	if (chosen < UNKNOWN)
		return 0;
	return gt_fail(error, "GTRACE_PTX_LEVEL: '%.64s': plain, avx2, avx512, avx2-native or native expected", getenv("GTRACE_PTX_LEVEL"));
}

static enum gt_ptx_isa level_of_processor(void)
{
#if defined __x86_64__
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
		return GT_PTX_PLAIN;
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
			       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
		       ? GT_PTX_AVX512
		       : GT_PTX_AVX2;
#else
	return GT_PTX_PLAIN;
#endif
}

enum gt_ptx_isa gt_ptx_level(void)
{
	const enum gt_ptx_isa has = level_of_processor();

	return limit()->widest < (unsigned)has ? (enum gt_ptx_isa)limit()->widest : has;
}

bool gt_ptx_makes_native(void)
{
#if defined __x86_64__
	return limit()->native && level_of_processor() >= GT_PTX_AVX2;
#else
	return false;
#endif
}
