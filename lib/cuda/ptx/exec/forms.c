/* SPDX-License-Identifier: MIT */
/* Finds lane operations by name, and decides in which variant they run. */
#include "cuda/ptx/exec/code.h"

#if defined __x86_64__
#include <cpuid.h>
#endif
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const struct gt_ptx_forms *const gt_ptx_form_tables[GT_PTX_FORM_TABLES] = {
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
	for (size_t t = 0; t < GT_PTX_FORM_TABLES; t++)
		for (size_t i = 0; i < gt_ptx_form_tables[t]->n; i++) {
			const struct gt_ptx_form **place = place_of(gt_ptx_form_tables[t]->rows[i].name);
			*place = *place ? *place : &gt_ptx_form_tables[t]->rows[i];
		}
}

const struct gt_ptx_form *gt_ptx_form_named(const char *name)
{
	pthread_once(&once, fill);
	return *place_of(name);
}

/* What $GTRACE_PTX_LEVEL may be: the widest steps, whether machine code is made, and whether that may use AVX-512. */
static const struct level {
	const char *name;
	enum gt_ptx_simd widest;
	bool native, avx512;
} levels[] = {
	{"plain", GT_PTX_PLAIN, false, false},
	{"avx2", GT_PTX_VARIANTS - 1, false, false},
	{"avx2-native", GT_PTX_VARIANTS - 1, true, false},
	{"native", GT_PTX_VARIANTS - 1, true, true},
};
enum { NATIVE = 3, UNKNOWN };
static unsigned chosen;
static bool has_avx2, has_avx512;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

#if defined __x86_64__
/* Not by __builtin_cpu_supports, which older versions of clang have without f16c. In a virtual machine the instruction takes some
 * microseconds, so it is asked once. */
static bool has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static void ask(void)
{
	const char *name = getenv("GTRACE_PTX_LEVEL");

	chosen = name ? 0 : NATIVE;
	while (name && chosen < UNKNOWN && strcmp(levels[chosen].name, name) != 0)
		chosen++;
#if defined __x86_64__
	has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
	has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#endif
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
	return gt_fail(error, "GTRACE_PTX_LEVEL: '%.64s': plain, avx2, avx2-native or native expected", getenv("GTRACE_PTX_LEVEL"));
}

enum gt_ptx_simd gt_ptx_simd_variant(void)
{
	const struct level *level = limit();

	return has_avx2 ? level->widest : GT_PTX_PLAIN;
}

bool gt_ptx_makes_native(void)
{
	return limit()->native && has_avx2;
}

bool gt_ptx_uses_avx512(void)
{
	return limit()->avx512 && has_avx512;
}
