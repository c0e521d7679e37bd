/* SPDX-License-Identifier: MIT */
#include "schedule/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

/* How many of n items an SM gets if they are assigned round-robin. */
static uint64_t share_of_sm(uint64_t n, uint32_t sm, uint32_t sms)
{
	return n > sm ? (n - sm - 1) / sms + 1 : 0;
}

static uint32_t rr_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(block % mapping->sms);
}

static uint64_t rr_count(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	return share_of_sm(blocks, sm, mapping->sms);
}

/* [000] BPART: partitions of consecutive blocks are assigned round-robin. */
static uint32_t part_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(block / mapping->parameter % mapping->sms);
}

static uint64_t part_count(const struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	uint64_t whole = blocks / mapping->parameter, rest = blocks % mapping->parameter;

	return share_of_sm(whole, sm, mapping->sms) * mapping->parameter + (whole % mapping->sms == sm ? rest : 0);
}

static uint32_t random_sm(const struct gt_mapping *mapping, uint64_t block)
{
	return (uint32_t)(XXH3_64bits_withSeed(&block, sizeof block, mapping->parameter) % mapping->sms);
}

static const struct gt_mapping_kind kinds[] = {
	{"rr", NULL, 0, 0, false, true, rr_sm, rr_count},
	{"part", "blocks", 1, UINT32_MAX, false, false, part_sm, part_count},
	{"random", "seed", 0, UINT64_MAX, false, false, random_sm, NULL},
	{"trace", NULL, 0, 0, true, false, NULL, NULL},
};

int gt_mapping_parse(struct gt_mapping *mapping, const char *text, struct gt_error *error)
{
	size_t length = strcspn(text, ":");
	struct gt_error reason;

	*mapping = (struct gt_mapping){0};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length) != 0)
			continue;
		if (!kinds[i].parameter != (text[length] == '\0'))
			break;
		mapping->kind = &kinds[i];
		if (kinds[i].parameter && gt_parse_count(text + length + 1, kinds[i].min, kinds[i].max,
							 &mapping->parameter, &reason) != 0)
			return gt_fail(error, "%s: %s", kinds[i].parameter, reason.text);
		return 0;
	}
	return gt_fail(error, "'%.100s': expected rr, part:BLOCKS, random:SEED or trace", text);
}

int gt_mapping_open(struct gt_mapping *mapping, uint32_t sms, struct gt_error *error)
{
	mapping->sms = sms;
	mapping->counts = NULL;
	mapping->walked = 0;
	if (mapping->kind->count)
		return 0;
	mapping->counts = calloc(sms, sizeof *mapping->counts);
	return mapping->counts ? 0 : gt_fail_memory(error, "the blocks of every SM");
}

void gt_mapping_close(struct gt_mapping *mapping)
{
	free(mapping->counts);
	mapping->counts = NULL;
}

uint64_t gt_mapping_count(struct gt_mapping *mapping, uint32_t sm, uint64_t blocks)
{
	if (mapping->kind->count)
		return mapping->kind->count(mapping, sm, blocks);
	for (; !mapping->kind->traced && mapping->walked < blocks; mapping->walked++)
		mapping->counts[gt_mapping_sm(mapping, mapping->walked)]++;
	return mapping->counts[sm];
}
