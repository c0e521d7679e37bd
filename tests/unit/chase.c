/* SPDX-License-Identifier: MIT */
/* P-chases by name: a kernel's name describes its chase, and other names are refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dissect/chase.h"

static void a_name_tells_the_chase(void)
{
	const struct gt_chase chases[] = {
		{&gt_chase_orders[0], 24576, 128, 3, 0x700000000000, 2 << 20, 0},
		{&gt_chase_orders[1], 36864, 32, 20, 0, 4096, 0},
		{&gt_chase_orders[2], UINT64_C(1) << 30, 128, 1, UINT64_MAX - (UINT64_C(1) << 30), 2 << 20, 0},
	};

	for (size_t i = 0; i < sizeof chases / sizeof chases[0]; i++) {
		struct gt_kernel kernel;
		struct gt_chase found;
		struct gt_error error;
		uint64_t n, m;
		gt_chase_kernel(&chases[i], 1, &kernel);
		CHECK_EQUAL(gt_chase_parse(kernel.name, &found, &error), 0);
		CHECK(found.order == chases[i].order && found.base == chases[i].base && found.rounds == chases[i].rounds);
		uint64_t *expected = gt_chase_round(&chases[i], &n, &error), *offsets = gt_chase_round(&found, &m, &error);
		CHECK_EQUAL(m, n);
		CHECK(m == n && memcmp(offsets, expected, n * sizeof *expected) == 0);
		for (uint64_t k = 0; k < n; k++)
			CHECK(offsets[k] < chases[i].bytes);
		free(expected);
		free(offsets);
	}
}

static void other_names_are_none(void)
{
	static const char *const names[] = {
		"", "pchase", "pchase N=4096 s=128 k=3 base=0x0 order=ring", "pchase N=4096 s=128 k=3 base=0x0 order=spiral page=4096",
		"pchase N=4096 s=128 k=3 base=0x0 order=ring page=4096 and more", "pchase N=4096 s=0 k=3 base=0x0 order=ring page=4096",
		"pchase N=4096 s=6 k=3 base=0x0 order=ring page=4096", "pchase N=64 s=128 k=3 base=0x0 order=ring page=4096",
		"pchase N=4096 s=128 k=0 base=0x0 order=ring page=4096", "pchase N=4096 s=4 k=4294967295 base=0x0 order=ring page=4096",
		"pchase N=18446744073709551615 s=4 k=1 base=0x0 order=ring page=4096",
		"pchase N=99999999999999999999999 s=4 k=1 base=0x0 order=ring page=4096",
		"pchase N=4096 s=128 k=3 base=0xffffffffffffffff order=ring page=4096",
		"pchase N=4096 s=128 k=1 base=0x0 order=patterns page=0",
	};
	struct gt_chase chase;
	struct gt_error error;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		CHECK_EQUAL(gt_chase_parse(names[i], &chase, &error), -1);
}

int main(void)
{
	RUN(a_name_tells_the_chase);
	RUN(other_names_are_none);
	return check_report();
}
