/* SPDX-License-Identifier: MIT */
#include "dissect/evidence.h"

#include <stdlib.h>
#include <string.h>

static void see(struct gt_evidence *evidence, uint64_t line, uint32_t group, size_t sweep)
{
	uint64_t number = (evidence->base >> evidence->shift) + line;

	evidence->sightings[evidence->n++] = (struct gt_sighting){number, group, (uint32_t)sweep};
	evidence->seen |= number ^ evidence->origin;
	evidence->rest += group == 0;
	evidence->groups = group > evidence->groups ? group : evidence->groups;
}

/* A set of the first run may be two sets that overflowed together: then its size differs from that of the others. */
static int merged(const struct gt_sweep *sweep, uint32_t set)
{
	return sweep->overflow[set] == 0 && sweep->sets > 1 &&
	       sweep->ways[set] != sweep->ways[set == 1 ? 2 : 1];
}

static void see_main(struct gt_evidence *evidence, const struct gt_sweep *sweep)
{
	uint64_t factor = evidence->line / sweep->unit;

	for (size_t u = 0; u < sweep->units; u += factor) {
		uint32_t set = 0;
		int missing = 0;
		for (size_t part = u; part < u + factor && part < sweep->units; part++) {
			set = sweep->set[part] ? sweep->set[part] : set;
			missing |= sweep->missing[part];
		}
		if ((set > 0 && !merged(sweep, set)) || !missing)
			see(evidence, u / factor, set, 0);
	}
	evidence->known = sweep->sets;
	evidence->equal = 1;
	for (uint32_t s = 1; s <= sweep->sets; s++) {
		evidence->ways[s] = sweep->ways[s] / (uint32_t)factor;
		evidence->equal &= evidence->ways[s] == evidence->ways[1] || merged(sweep, s);
	}
}

static void see_other(struct gt_evidence *evidence, const struct gt_sweep *sweep, size_t i)
{
	uint64_t lines = sweep->unit / evidence->line;
	uint32_t before = evidence->groups;

	for (size_t u = 0; u < sweep->units; u++)
		if (sweep->set[u] > 0)
			see(evidence, u * lines, before + sweep->set[u], i);
}

int gt_evidence_gather(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line,
		       struct gt_evidence *evidence, struct gt_error *error)
{
	size_t most = 0;

	*evidence = (struct gt_evidence){.line = line, .base = base, .shift = (unsigned)__builtin_ctzll(line)};
	evidence->origin = base >> evidence->shift;
	for (size_t i = 0; i < n; i++)
		most += sweeps[i].units;
	evidence->sightings = calloc(most + 1, sizeof *evidence->sightings);
	if (!evidence->sightings)
		return gt_fail_memory(error, "the sets of lines");
	see_main(evidence, &sweeps[0]);
	for (size_t i = 1; i < n; i++)
		see_other(evidence, &sweeps[i], i);
	uint32_t ways = evidence->known ? evidence->ways[evidence->known] : 0;
	evidence->least_sets = evidence->known;
	if (evidence->equal && ways > 0)
		evidence->least_sets += (uint32_t)((evidence->rest + ways - 1) / ways);
	return 0;
}

void gt_evidence_clear(struct gt_evidence *evidence)
{
	free(evidence->sightings);
	*evidence = (struct gt_evidence){0};
}

#define NONE UINT32_MAX

int gt_evidence_allows(const struct gt_evidence *evidence, const uint32_t *values, uint32_t sets)
{
	uint32_t *of_group = malloc((evidence->groups + 1) * sizeof *of_group), *owner = malloc(sets * sizeof *owner);
	uint32_t *known = malloc(sets * sizeof *known), *rest = calloc(sets, sizeof *rest), sweep = 0;
	int allowed = of_group && owner && known && rest ? 1 : -1;

	if (allowed > 0) {
		memset(of_group, 0xff, (evidence->groups + 1) * sizeof *of_group);
		memset(owner, 0xff, sets * sizeof *owner);
		memset(known, 0xff, sets * sizeof *known);
	}
	for (size_t i = 0; allowed > 0 && i < evidence->n; i++) {
		const struct gt_sighting *sighting = &evidence->sightings[i];
		uint32_t value = values[i], group = sighting->group;
		if (sighting->sweep != sweep)
			memset(owner, 0xff, sets * sizeof *owner);
		sweep = sighting->sweep;
		allowed = value < sets;
		if (!allowed)
			break;
		if (group == 0) {
			rest[value]++;
		} else if (of_group[group] == NONE) {
			allowed = owner[value] == NONE;
			of_group[group] = owner[value] = value;
			if (sweep == 0)
				known[value] = group;
		} else {
			allowed = of_group[group] == value;
		}
	}
	for (uint32_t value = 0; allowed > 0 && value < sets; value++)
		allowed = rest[value] == 0 || (known[value] == NONE && rest[value] <= evidence->ways[evidence->known]);
	free(of_group);
	free(owner);
	free(known);
	free(rest);
	return allowed;
}
