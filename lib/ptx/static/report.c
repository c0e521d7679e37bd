/* SPDX-License-Identifier: MIT */
/* The report of gtrace-ptx --static: a line of fields for each access, one for the loads together. */
#include <inttypes.h>
#include <string.h>

#include "ptx/static/parts.h"

static const char *const bases[] = {"exact", "assumed", "loaded", "unknown"};

/* What a kernel's loads are like together: every load counts the same, as in [003] eq. (1). */
struct together {
	uint64_t loads; /* that have a degree */
	double degree, sectors, graph[GT_STATIC_POINTS];
	enum gt_static_basis basis;
};

void gt_static_write_header(FILE *to)
{
	fputs("#kernel\tline\top\tbytes\tdegree\trange_sectors\texpected\tsectors\tbasis\taddress\n", to);
}

/* degree, range_sectors, expected, sectors, basis; degree is in percent. */
static void write_numbers(double degree, unsigned range_sectors, double sectors, enum gt_static_basis basis, FILE *to)
{
	if (basis < GT_STATIC_LOADED && degree > 0)
		fprintf(to, "\t%.4g\t%u\t%.4g\t%.4g\t%s\t", 100 * degree, range_sectors, range_sectors / degree,
			sectors, bases[basis]);
	else
		fprintf(to, "\t-\t-\t-\t-\t%s\t", bases[basis]);
}

static void write_graph(const double *graph, FILE *to)
{
	fputs("#graph", to);
	for (unsigned i = 0; i < GT_STATIC_POINTS; i++)
		fprintf(to, "\t%.3g", graph[i]);
	fputc('\n', to);
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
	if (degree->basis >= GT_STATIC_LOADED || degree->requests == 0)
		return;
	all->loads++;
	all->degree += (double)degree->in_range / (double)degree->threads;
	all->sectors += (double)degree->sectors / (double)degree->requests;
	for (unsigned i = 0; i < GT_STATIC_POINTS; i++)
		all->graph[i] += (double)degree->graph[i] / (double)degree->requests;
}

static void write_together(struct together *all, struct gt_static_choice choice, FILE *to)
{
	struct gt_static_degree sum = {.basis = all->basis};
	double loads = (double)all->loads;

	if (all->loads == 0)
		return;
	for (unsigned i = 0; i < GT_STATIC_POINTS; i++) {
		sum.graph[i] = all->graph[i] > 0;
		all->graph[i] /= loads;
	}
	fprintf(to, "%s\tall\tload\t-", choice.name);
	/* Loads without a degree are left out, and the basis says so. */
	write_numbers(all->degree / loads, gt_static_range_sectors(&sum), all->sectors / loads,
		      all->basis >= GT_STATIC_LOADED ? GT_STATIC_ASSUMED : all->basis, to);
	fprintf(to, "%" PRIu64 " loads\n", all->loads);
	if (choice.tree)
		write_graph(all->graph, to);
}

static int write_access(const struct gt_static *analysis, size_t i, const struct gt_static_launch *launch,
			struct gt_static_choice choice, struct together *all, FILE *to, struct gt_error *error)
{
	const struct gt_ptx_instruction *instruction = gt_static_instruction(analysis, i);
	struct gt_static_degree degree;
	double graph[GT_STATIC_POINTS], requests;

	gt_static_measure(analysis, i, launch, &degree);
	requests = (double)degree.requests;
	if (gt_static_is_load(analysis, i))
		add(all, &degree);
	fprintf(to, "%s\t%u\t%s\t", choice.name, instruction->line, action_name(gt_static_action(analysis, i)));
	if (gt_static_bytes(analysis, i) > 0)
		fprintf(to, "%u", gt_static_bytes(analysis, i));
	else
		fputc('-', to);
	write_numbers(degree.threads ? (double)degree.in_range / (double)degree.threads : 0,
		      gt_static_range_sectors(&degree), requests > 0 ? (double)degree.sectors / requests : 0,
		      degree.basis, to);
	gt_static_write_expression(analysis, i, launch, to);
	fputc('\n', to);
	if (!choice.tree)
		return 0;
	for (unsigned p = 0; p < GT_STATIC_POINTS; p++)
		graph[p] = requests > 0 ? (double)degree.graph[p] / requests : 0;
	if (degree.basis < GT_STATIC_LOADED)
		write_graph(graph, to);
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
