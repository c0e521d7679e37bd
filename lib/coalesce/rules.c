/* SPDX-License-Identifier: MIT */
#include "coalesce/rules.h"

const struct gt_coalescing_rule gt_coalescing_rules[] = {
	{
		.name = "default",
		.summary = "Volta and later: a request for each distinct line of the warp",
		.group = {32, 32, 32, 32, 32, 32},
	},
	{
		/* The groups of 4-byte and 8-byte data were counted on a Titan X and a GTX 1080; those of 16 and
		 * 32 bytes are assumed from the same 32 bytes a group. Hits in L2 of the GTX 1080 show that stores
		 * are joined: none for stores of whole lines, half for stores of half lines, and 31 of 32 for a
		 * naive transpose, whose groups share sectors. */
		.name = "pascal",
		.summary = "a request for each distinct line of 8 lanes (8-byte data: 4, 16-byte data: 2)",
		.group = {8, 8, 8, 4, 2, 1},
		.join_stores = true,
	},
	{
		.name = "pascal-apart",
		.summary = "like pascal, but the groups of a store are not joined",
		.group = {8, 8, 8, 4, 2, 1},
	},
	{
		.name = "fermi",
		.summary = "a request for each distinct line of the warp, always the whole line",
		.group = {32, 32, 32, 32, 32, 32},
		.whole_lines = true,
	},
};
const size_t gt_coalescing_rules_n = sizeof gt_coalescing_rules / sizeof gt_coalescing_rules[0];
