/* SPDX-License-Identifier: MIT */
/* The report of gtrace-ptx --static: a line of fields for each access, one for the loads together. */
#include <inttypes.h>
#include <string.h>

#include "cuda/ptx/static/parts.h"

static const char *const bases[] = {"exact", "assumed", "loaded", "unknown"};

/* A kernel's loads together. */
struct together {
	struct gt_degree_mean mean;
	enum gt_static_basis basis;
};

void gt_static_write_header(FILE *to)
{
	fputs("#kernel\tline\top\tbytes\tdegree\trange_sectors\texpected\tsectors\tbasis\taddress\n", to);
}

static const char *action_name(enum gt_ptx_access_kind action)
{
	switch (action) {
	case GT_PTX_ACCESS_LOAD: return "load";
	case GT_PTX_ACCESS_STORE: return "store";
	case GT_PTX_ACCESS_ATOMIC: return "atomic";
	default: return "reduction";
	}
}

static void add(struct together *all, const struct gt_static_degree *degree)
{
	if (degree->basis > all->basis)
		all->basis = degree->basis;
	if (degree->basis < GT_STATIC_LOADED)
		gt_degree_mean_add(&all->mean, &degree->sums);
}

static void write_together(const struct together *all, struct gt_static_choice choice, FILE *to)
{
	if (all->mean.n == 0)
		return;
	fprintf(to, "%s\tall\tload\t-", choice.name);
	gt_degree_mean_write(&all->mean, to);
	/* Loads without a degree are left out, and the basis says so. */
	fprintf(to, "\t%s\t%" PRIu64 " loads\n", bases[all->basis >= GT_STATIC_LOADED ? GT_STATIC_ASSUMED : all->basis],
		all->mean.n);
	if (choice.tree)
		gt_degree_mean_write_graph(&all->mean, to);
}

static int write_access(const struct gt_static *analysis, size_t i, const struct gt_static_launch *launch,
			struct gt_static_choice choice, struct together *all, FILE *to, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = gt_static_instruction(analysis, i);
	struct gt_static_degree degree;
	bool known;

	gt_static_measure(analysis, i, launch, &degree);
	known = degree.basis < GT_STATIC_LOADED;
	if (gt_static_is_load(analysis, i))
		add(all, &degree);
	fprintf(to, "%s\t%u\t%s\t", choice.name, instruction->line, action_name(gt_static_action(analysis, i)));
	if (gt_static_bytes(analysis, i) > 0)
		fprintf(to, "%u", gt_static_bytes(analysis, i));
	else
		fputc('-', to);
	gt_degree_write(known ? &degree.sums : &(struct gt_degree){0}, to);
	fprintf(to, "\t%s\t", bases[degree.basis]);
	gt_static_write_expression(analysis, i, launch, to);
	fputc('\n', to);
	if (!choice.tree)
		return 0;
	if (known)
		gt_degree_write_graph(&degree.sums, to);
	return gt_static_write_tree(analysis, i, to, error);
}

int gt_static_write(const struct gt_ptx_function *kernel, const struct gt_static_launch *launch,
		    struct gt_static_choice choice, FILE *to, struct gt_error *error)
{
	struct gt_static *analysis = gt_static_open(kernel, error);
	struct together all = {0};
	int result = analysis ? 0 : -1;

	for (size_t i = 0; result == 0 && i < gt_static_accesses(analysis); i++)
		result = write_access(analysis, i, launch, choice, &all, to, error);
	if (result == 0)
		write_together(&all, choice, to);
	gt_static_close(analysis);
	return result;
}
