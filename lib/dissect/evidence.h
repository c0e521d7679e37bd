/* SPDX-License-Identifier: MIT */
/* What sweeps reveal about the sets of lines: which lines share a set, which do not, and which are in no set
 * that overflowed. */
#ifndef GT_DISSECT_EVIDENCE_H
#define GT_DISSECT_EVIDENCE_H

#include "dissect/sweep.h"

struct gt_sighting {
	uint64_t number; /* of the line: address / line */
	uint32_t group;	 /* of lines that share a set, from 1; in the first sweep the set; 0: in no set that overflowed */
	uint32_t sweep;
};

struct gt_evidence {
	struct gt_sighting *sightings; /* sweep by sweep */
	size_t n;
	uint32_t groups;     /* highest group */
	uint32_t known;	     /* sets of the first sweep */
	uint32_t ways[GT_SETS_MAX + 1]; /* lines, of each of them */
	int equal;	     /* they have the same number of ways */
	uint64_t rest;	     /* lines of sets that did not overflow */
	uint32_t least_sets; /* needed for all lines, if the sets are equal */
	uint64_t origin, seen; /* number of the first line; bits of the number that vary */
	uint64_t line, base;
	unsigned shift; /* log2 of the line */
};

/* In sweeps[0] units may be parts of lines; in the others lines are whole strides. Lines whose set is unknown are
 * left out. Freed by gt_evidence_clear. */
int gt_evidence_gather(const struct gt_sweep *sweeps, size_t n, uint64_t base, uint64_t line,
		       struct gt_evidence *evidence, struct gt_error *error);
void gt_evidence_clear(struct gt_evidence *evidence);

/* Whether these values below `sets`, one for each sighting, can be the numbers of the sets: 1 or 0; -1 when
 * memory is short. */
int gt_evidence_allows(const struct gt_evidence *evidence, const uint32_t *values, uint32_t sets);

#endif
