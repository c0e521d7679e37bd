/* SPDX-License-Identifier: MIT */
#include "coalesce/rules.h"

const struct gt_coalescing_rule gt_coalescing_rules[] = {
	{
		.name = "default",
		.summary = "Volta and later: a request for each distinct line of the warp",
		.group = {32, 32, 32, 32, 32, 32},
	},
	{
		/* 4-byte and 8-byte data as counted on a Titan X and a GTX 1080; those for 16 and 32
		 * bytes are assumed, by the same 32 bytes a group. That stores are joined is seen at L2 of the
		 * GTX 1080: no part of a store of a whole line hits, half of those of half lines do, and of a
		 * naive transpose, where groups share sectors, 31 of 32. */
		.name = "pascal",
		.summary = "the same for each 8 lanes (8-byte data: 4, 16-byte data: 2)",
		.group = {8, 8, 8, 4, 2, 1},
		.join_stores = true,
	},
	{
		.name = "pascal-apart",
		.summary = "pascal, the groups of a store apart too",
		.group = {8, 8, 8, 4, 2, 1},
	},
	{
		.name = "fermi",
		.summary = "a request for each distinct line, always all of it (no sectors)",
		.group = {32, 32, 32, 32, 32, 32},
		.whole_lines = true,
	},
};
const size_t gt_coalescing_rules_n = sizeof gt_coalescing_rules / sizeof gt_coalescing_rules[0];
