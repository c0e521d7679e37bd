/* SPDX-License-Identifier: MIT */
/* Two runs side by side: what each kernel moves is measured as sums, so that kernels add up; kernels are paired by their names and
 * their order, and findings by their kind, place and array. */
#include "report/compare/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/input.h"
#include "base/utf8.h"
#include "report/compare/reference.h"
#include "stream/kernel_name.h"
#include "stream/rows.h"

#define SAME 0.01 /* a smaller difference of a number is none, as tables say */

/* ---- what gstats --csv wrote ---- */

bool gt_run_is_saved(const char *path, struct gt_error *error)
{
	struct gt_error ignored;
	struct stat status;
	struct gt_csv csv = {.input = NULL};
	bool is = false, json = false;

	error->text[0] = '\0';
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || !(csv.input = gt_input_open(path, &ignored)))
		return false;
	if (gt_csv_next(&csv, &ignored) != 0 && csv.n > 0) {
		is = gt_saved_header(&csv);
		json = strncmp(csv.fields[0], "{\"gtrace_", 9) == 0;
	}
	gt_input_close(csv.input, &ignored);
	gt_csv_close(&csv);
	if (json)
		gt_fail(error, "%s: JSON is not read: expected what gstats --csv wrote, a stream, a trace or a program", path);
	return is;
}

int gt_run_read(struct gt_run *run, const char *path, struct gt_error *error)
{
	struct gt_csv csv = {.input = gt_input_open(path, error)};
	struct gt_error ignored;
	int result = -1;

	if (!csv.input)
		return -1;
	if (gt_csv_next(&csv, error) == 1)
		result = gt_saved_read(&csv, &run->report, error);
	if (gt_input_close(csv.input, result == 0 ? error : &ignored) != 0)
		result = -1;
	gt_csv_close(&csv);
	run->saved = true;
	run->named = run->report.by_name;
	if (result == 0 && run->report.choose && !run->named)
		return gt_fail(error, "--kernel: %s has launches without names: expected what gstats --csv --by kernel wrote", path);
	gt_report_drop_total(&run->report); /* of all kernels, whichever are chosen: it is computed anew */
	return result;
}

/* "blur 20" of "./folder/blur 20". */
static const char *short_name(const char *text)
{
	const char *name = text;

	for (const char *at = text; *at && *at != ' '; at++)
		name = *at == '/' && at[1] && at[1] != ' ' ? at + 1 : name;
	return name;
}

void gt_run_names(struct gt_run runs[GT_RUN_SIDES], const char *const given[GT_RUN_SIDES])
{
	const char *names[GT_RUN_SIDES] = {"A", "B"};
	bool fit = true;

	for (int side = 0; side < GT_RUN_SIDES; side++)
		fit = fit && strlen(short_name(given ? given[side] : runs[side].text)) <= GT_RUN_NAME;
	for (int side = 0; side < GT_RUN_SIDES && fit; side++)
		names[side] = short_name(given ? given[side] : runs[side].text);
	if (strcmp(names[GT_RUN_A], names[GT_RUN_B]) == 0) {
		names[GT_RUN_A] = "A";
		names[GT_RUN_B] = "B";
	}
	for (int side = 0; side < GT_RUN_SIDES; side++)
		gt_utf8_printable(strcpy(runs[side].name, names[side]));
}

void gt_run_clear(struct gt_run *run)
{
	gt_findings_close(run->findings, &run->report);
	gt_report_clear(&run->report);
	gt_gpu_clear(&run->gpu);
	*run = (struct gt_run){0};
}

/* ---- quantities ---- */

enum { ASKED, TO_L1, TO_L2, TO_DRAM, UNIQUE, SECTORS_PER_ACCESS, L1_HITS, L2_HITS, DRAM_PER_UNIQUE };

const struct gt_quantity gt_quantities[GT_QUANTITIES] = {
	[ASKED] = {"asked_bytes", "threads ask", "bytes", GT_QUANTITY_BYTES, true},
	[TO_L1] = {"l1_sectors", "L1 looks up", "sectors", GT_QUANTITY_SECTORS, true},
	[TO_L2] = {"l2_sectors", "L2 gets", "sectors", GT_QUANTITY_SECTORS, true},
	[TO_DRAM] = {"dram_sectors", "DRAM moves", "sectors", GT_QUANTITY_SECTORS, true},
	[UNIQUE] = {"unique_bytes", "is touched", "bytes", GT_QUANTITY_BYTES, false},
	[SECTORS_PER_ACCESS] = {"sectors_per_access", "sectors an access", "sectors", GT_QUANTITY_RATIO, true},
	[L1_HITS] = {"l1_read_hit_ratio", "L1 hits of reads", "percent", GT_QUANTITY_PERCENT, true},
	[L2_HITS] = {"l2_read_hit_ratio", "L2 hits of reads", "percent", GT_QUANTITY_PERCENT, true},
	[DRAM_PER_UNIQUE] = {"dram_per_unique", "DRAM over what is touched", "ratio", GT_QUANTITY_RATIO, true},
};

/* The sums of which a quantity is the quotient; of a count, `under` is 1 if it is known. */
struct measure {
	uint64_t over, under;
};

static uint64_t sum_of(const struct gt_report_kernel *kernel, const char *stage, const char *const names[])
{
	const struct gt_report_stage *found = gt_report_find_stage(kernel, stage);
	uint64_t sum = 0, number;

	for (; found && *names; names++)
		sum += gt_report_number(found, *names, &number) ? number : 0;
	return sum;
}

static struct measure hits_of(const struct gt_report_kernel *kernel, const char *level)
{
	static const char *const hits[] = {"read_hits", NULL}, *const reads[] = {"reads", NULL};

	return (struct measure){sum_of(kernel, level, hits), sum_of(kernel, level, reads)};
}

static void measure(const struct gt_kernel_findings *of, struct measure measures[GT_QUANTITIES])
{
	static const char *const accesses[] = {"load_accesses", "store_accesses", "atomic_accesses", NULL};
	const struct gt_traffic *traffic = &of->traffic;
	const uint64_t *sectors = traffic->sectors;
	bool to_dram = traffic->by_site && traffic->known[GT_TO_DRAM];

	measures[ASKED] = (struct measure){traffic->asked, traffic->by_site};
	for (size_t i = 0; i < GT_BOUNDARIES; i++)
		measures[TO_L1 + i] = (struct measure){sectors[i], traffic->known[i]};
	measures[UNIQUE] = (struct measure){traffic->unique, traffic->by_site};
	measures[SECTORS_PER_ACCESS] = (struct measure){sectors[GT_TO_L1], sum_of(of->kernel, "coalesce", accesses)};
	measures[L1_HITS] = hits_of(of->kernel, "l1");
	measures[L2_HITS] = hits_of(of->kernel, "l2");
	measures[DRAM_PER_UNIQUE] = (struct measure){to_dram ? GT_SECTOR * sectors[GT_TO_DRAM] : 0, to_dram ? traffic->unique : 0};
}

static bool is_count(size_t quantity)
{
	return gt_quantities[quantity].kind == GT_QUANTITY_BYTES || gt_quantities[quantity].kind == GT_QUANTITY_SECTORS;
}

static struct gt_quantity_value value_of(size_t quantity, const struct measure *sums)
{
	struct gt_quantity_value value = {.known = sums->under > 0, .count = sums->over, .number = (double)sums->over};

	if (value.known && !is_count(quantity))
		value.number = (gt_quantities[quantity].kind == GT_QUANTITY_PERCENT ? 100 : 1) * (double)sums->over / (double)sums->under;
	return value;
}

static void set_values(struct gt_run_pair *pair, int side, const struct measure measures[GT_QUANTITIES])
{
	for (size_t i = 0; i < GT_QUANTITIES; i++)
		pair->values[i][side] = value_of(i, &measures[i]);
}

/* What all kernels of a run move. */
static void set_total(struct gt_run_pair *total, int side, const struct gt_run *run)
{
	struct measure sums[GT_QUANTITIES] = {{0, 0}}, one[GT_QUANTITIES];

	for (size_t k = 0; k < run->report.n; k++) {
		measure(&run->findings[k], one);
		for (size_t i = 0; i < GT_QUANTITIES; i++) {
			sums[i].over += one[i].over;
			sums[i].under += one[i].under;
		}
	}
	set_values(total, side, sums);
}

static bool values_same(const struct gt_run_pair *pair)
{
	for (size_t i = 0; i < GT_QUANTITIES; i++) {
		const struct gt_quantity_value *a = &pair->values[i][GT_RUN_A], *b = &pair->values[i][GT_RUN_B];
		if (a->known != b->known || (a->known && a->number != b->number))
			return false;
	}
	return true;
}

/* ---- pairs of findings ---- */

static bool is_near(double a, double b)
{
	return fabs(b - a) <= SAME * fabs(a);
}

static bool findings_same(const struct gt_finding *a, const struct gt_finding *b)
{
	bool same = a->n_evidence == b->n_evidence && is_near((double)a->passes, (double)b->passes);

	for (size_t i = 0; i < GT_BOUNDARIES; i++)
		same = same && is_near((double)a->gain[i].sectors, (double)b->gain[i].sectors);
	for (size_t i = 0; same && i < a->n_evidence; i++)
		same = is_near(a->evidence[i].ratio, b->evidence[i].ratio) && is_near((double)a->evidence[i].count, (double)b->evidence[i].count);
	return same;
}

static bool is_finding(const struct gt_finding *finding)
{
	return finding && finding->share >= GT_FINDINGS_LEAST;
}

static enum gt_finding_state state_of(const struct gt_finding *a, const struct gt_finding *b)
{
	if (a && b && findings_same(a, b))
		return GT_FINDING_SAME;
	if (!b || (a && is_finding(a) && !is_finding(b)))
		return GT_FINDING_GONE;
	return !a || is_finding(b) > is_finding(a) ? GT_FINDING_NEW : GT_FINDING_CHANGED;
}

/* The first array without the line of its allocation, which moves, too. */
int gt_finding_array_length(const struct gt_finding *finding)
{
	return (int)strcspn(finding->arrays, " ,");
}

/* How findings are alike, the surest first. */
static bool same_place_and_array(const struct gt_finding *a, const struct gt_finding *b)
{
	return strcmp(a->place, b->place) == 0 && strcmp(a->arrays, b->arrays) == 0;
}

static bool same_place(const struct gt_finding *a, const struct gt_finding *b)
{
	return strcmp(a->place, b->place) == 0;
}

static bool same_array(const struct gt_finding *a, const struct gt_finding *b)
{
	int length = gt_finding_array_length(a);

	return length > 0 && length == gt_finding_array_length(b) && strncmp(a->arrays, b->arrays, (size_t)length) == 0;
}

/* The same line of another file. */
static bool same_line_and_array(const struct gt_finding *a, const struct gt_finding *b)
{
	const char *line = strrchr(a->place, ':'), *other = strrchr(b->place, ':');

	return line && other && strcmp(line, other) == 0 && same_array(a, b);
}

static bool nameless(const struct gt_finding *a, const struct gt_finding *b)
{
	return gt_finding_array_length(a) == 0 && gt_finding_array_length(b) == 0;
}

static void add_findings(struct gt_run_pair *pair, const struct gt_finding *a, const struct gt_finding *b)
{
	double left = a ? a->cost : 0, right = b ? b->cost : 0;

	pair->findings[pair->n++] = (struct gt_finding_pair){{a, b}, state_of(a, b), left > right ? left : right};
}

static void pair_findings(struct gt_run_pair *pair, bool alike(const struct gt_finding *, const struct gt_finding *), bool *taken[GT_RUN_SIDES])
{
	const struct gt_kernel_findings *left = pair->side[GT_RUN_A], *right = pair->side[GT_RUN_B];

	for (size_t i = 0; i < left->n; i++)
		for (size_t k = 0; k < right->n && !taken[GT_RUN_A][i]; k++) {
			const struct gt_finding *a = &left->findings[i], *b = &right->findings[k];
			if (taken[GT_RUN_B][k] || a->kind != b->kind || !alike(a, b))
				continue;
			taken[GT_RUN_A][i] = taken[GT_RUN_B][k] = true;
			add_findings(pair, a, b);
		}
}

static int by_cost(const void *left, const void *right)
{
	const struct gt_finding_pair *a = left, *b = right;
	const struct gt_finding *one = a->side[0] ? a->side[0] : a->side[1], *other = b->side[0] ? b->side[0] : b->side[1];

	if (a->cost != b->cost)
		return a->cost < b->cost ? 1 : -1;
	int kinds = strcmp(one->kind->id, other->kind->id);
	return kinds ? kinds : strcmp(one->place, other->place);
}

static int pair_all_findings(struct gt_run_pair *pair, struct gt_error *error)
{
	static bool (*const ways[])(const struct gt_finding *, const struct gt_finding *) = {same_place_and_array, same_place, same_line_and_array, same_array, nameless};
	size_t n[GT_RUN_SIDES] = {pair->side[GT_RUN_A]->n, pair->side[GT_RUN_B]->n};
	bool *taken[GT_RUN_SIDES] = {calloc(n[GT_RUN_A] + 1, 1), calloc(n[GT_RUN_B] + 1, 1)};

	pair->findings = calloc(n[GT_RUN_A] + n[GT_RUN_B] + 1, sizeof *pair->findings);
	bool room = taken[GT_RUN_A] && taken[GT_RUN_B] && pair->findings;
	for (size_t i = 0; room && i < sizeof ways / sizeof *ways; i++)
		pair_findings(pair, ways[i], taken);
	for (int side = 0; room && side < GT_RUN_SIDES; side++)
		for (size_t i = 0; i < n[side]; i++) {
			const struct gt_finding *finding = &pair->side[side]->findings[i];
			if (!taken[side][i])
				add_findings(pair, side == GT_RUN_A ? finding : NULL, side == GT_RUN_B ? finding : NULL);
		}
	if (room && pair->n > 1)
		qsort(pair->findings, pair->n, sizeof *pair->findings, by_cost);
	free(taken[GT_RUN_A]);
	free(taken[GT_RUN_B]);
	return room ? 0 : gt_fail_memory(error, "the comparison");
}

/* ---- pairs of kernels ---- */

struct pairing {
	struct gt_runs *runs;
	bool *taken; /* of B's kernels */
	size_t *with; /* of A's kernels: B's kernel, or `none` */
	size_t last;
};
#define NONE SIZE_MAX

static const char *name_at(const struct gt_runs *runs, int side, size_t i)
{
	return runs->run[side]->report.kernels[i].kernel.name;
}

static bool same_name(const char *a, const char *b)
{
	return *a && strcmp(a, b) == 0;
}

/* "gemm" of "one::gemm<16>(float*)": namespaces and the arguments of a template, or of a function, often change. */
static bool same_plain_name(const char *a, const char *b)
{
	size_t length, other;
	const char *plain = gt_name_plain(a, &length), *its = gt_name_plain(b, &other);

	return length > 0 && length == other && strncmp(plain, its, length) == 0;
}

static bool one_without_name(const char *a, const char *b)
{
	return !*a || !*b;
}

/* Pairs kernels that are alike, in the order of both sides. */
static void pair_kernels(struct pairing *pairing, bool alike(const char *, const char *))
{
	const struct gt_runs *runs = pairing->runs;
	size_t n[GT_RUN_SIDES] = {runs->run[GT_RUN_A]->report.n, runs->run[GT_RUN_B]->report.n};

	for (size_t i = 0; i < n[GT_RUN_A]; i++) {
		for (size_t k = 0; k < n[GT_RUN_B] && pairing->with[i] == NONE; k++) {
			size_t at = (pairing->last + 1 + k) % n[GT_RUN_B]; /* mostly behind the last */
			if (pairing->taken[at] || !alike(name_at(runs, GT_RUN_A, i), name_at(runs, GT_RUN_B, at)))
				continue;
			pairing->taken[at] = true;
			pairing->with[i] = pairing->last = at;
		}
	}
	pairing->last = n[GT_RUN_B] ? n[GT_RUN_B] - 1 : 0;
}

/* One kernel left on each side: it has another name now. */
static void pair_last(struct pairing *pairing)
{
	size_t n[GT_RUN_SIDES] = {pairing->runs->run[GT_RUN_A]->report.n, pairing->runs->run[GT_RUN_B]->report.n}, left = NONE, right = NONE;
	size_t open[GT_RUN_SIDES] = {0};

	for (size_t i = 0; i < n[GT_RUN_A]; i++)
		if (pairing->with[i] == NONE) {
			left = i;
			open[GT_RUN_A]++;
		}
	for (size_t i = 0; i < n[GT_RUN_B]; i++)
		if (!pairing->taken[i]) {
			right = i;
			open[GT_RUN_B]++;
		}
	if (open[GT_RUN_A] != 1 || open[GT_RUN_B] != 1)
		return;
	pairing->with[left] = right;
	pairing->taken[right] = true;
}

static double cost_of(const struct gt_kernel_findings *of, const double weights[GT_BOUNDARIES])
{
	double cost = 0;

	for (size_t i = 0; of && i < GT_BOUNDARIES; i++)
		cost += weights[i] * (double)of->traffic.sectors[i];
	return cost;
}

static int add_pair(struct gt_runs *runs, const struct gt_kernel_findings *a, const struct gt_kernel_findings *b, const double weights[GT_BOUNDARIES],
		    struct gt_error *error)
{
	struct gt_run_pair *pair = &runs->pairs[runs->n++];
	struct measure measures[GT_QUANTITIES];

	*pair = (struct gt_run_pair){.side = {a, b}, .change = fabs(cost_of(b, weights) - cost_of(a, weights))};
	for (int side = 0; side < GT_RUN_SIDES; side++)
		if (pair->side[side]) {
			measure(pair->side[side], measures);
			set_values(pair, side, measures);
		}
	if (!a || !b)
		return 0;
	runs->paired++;
	if (runs->by_site[0] == runs->by_site[1] && pair_all_findings(pair, error) != 0)
		return -1;
	pair->same = values_same(pair) && (runs->run[0]->saved || runs->run[1]->saved || a->kernel->merged == b->kernel->merged);
	for (size_t i = 0; i < pair->n; i++) {
		const struct gt_finding_pair *findings = &pair->findings[i];
		pair->same &= findings->state == GT_FINDING_SAME;
		runs->states[findings->state] += is_finding(findings->side[0]) || is_finding(findings->side[1]);
	}
	return 0;
}

/* Those that are on both sides stand first, the largest change of cost before others. */
static int by_change(const void *left, const void *right)
{
	const struct gt_run_pair *a = left, *b = right;
	bool both[2] = {a->side[0] && a->side[1], b->side[0] && b->side[1]};

	if (both[0] != both[1])
		return both[0] ? -1 : 1;
	if (both[0] && a->change != b->change)
		return a->change < b->change ? 1 : -1;
	if (a->side[0] && b->side[0])
		return (a->side[0] > b->side[0]) - (a->side[0] < b->side[0]);
	return a->side[0] ? -1 : b->side[0] ? 1 : (a->side[1] > b->side[1]) - (a->side[1] < b->side[1]);
}

static int add_pairs(struct pairing *pairing, struct gt_error *error)
{
	struct gt_runs *runs = pairing->runs;
	const struct gt_run *a = runs->run[GT_RUN_A], *b = runs->run[GT_RUN_B];
	double weights[GT_BOUNDARIES];

	gt_findings_weights(a->gpu.n ? &a->gpu : &b->gpu, weights);
	for (size_t i = 0; i < a->report.n; i++)
		if (add_pair(runs, &a->findings[i], pairing->with[i] == NONE ? NULL : &b->findings[pairing->with[i]], weights, error) != 0)
			return -1;
	for (size_t i = 0; i < b->report.n; i++)
		if (!pairing->taken[i] && add_pair(runs, NULL, &b->findings[i], weights, error) != 0)
			return -1;
	if (runs->n > 1)
		qsort(runs->pairs, runs->n, sizeof *runs->pairs, by_change);
	return 0;
}

static int pair_all(struct gt_runs *runs, struct gt_error *error)
{
	size_t n[GT_RUN_SIDES] = {runs->run[GT_RUN_A]->report.n, runs->run[GT_RUN_B]->report.n};
	struct pairing pairing = {.runs = runs, .taken = calloc(n[GT_RUN_B] + 1, 1), .with = malloc((n[GT_RUN_A] + 1) * sizeof(size_t)),
				  .last = n[GT_RUN_B] ? n[GT_RUN_B] - 1 : 0};

	runs->pairs = calloc(n[GT_RUN_A] + n[GT_RUN_B] + 1, sizeof *runs->pairs);
	int result = pairing.taken && pairing.with && runs->pairs ? 0 : gt_fail_memory(error, "the comparison");
	for (size_t i = 0; result == 0 && i < n[GT_RUN_A]; i++)
		pairing.with[i] = NONE;
	if (result == 0) {
		pair_kernels(&pairing, same_name);
		pair_kernels(&pairing, same_plain_name);
		pair_kernels(&pairing, one_without_name);
		pair_last(&pairing);
		result = add_pairs(&pairing, error);
	}
	free(pairing.taken);
	free(pairing.with);
	return result;
}

/* ---- both sides ---- */

static bool has_launches_alone(const struct gt_run *run)
{
	return run->saved && !run->named;
}

/* What its stages counted by site: gcoalesce --by site, gcache --by site, and that with --causes. An L1 without requests has no site either way. */
static unsigned counted_by_site(const struct gt_run *run)
{
	unsigned by_site = 0;
	uint64_t requests = 0;

	for (size_t i = 0; i < run->report.n; i++) {
		const struct gt_report_stage *l1 = gt_report_find_stage(&run->report.kernels[i], "l1");
		uint64_t number;
		size_t length;
		by_site |= run->findings[i].traffic.by_site ? GT_BY_SITE_ACCESSES : 0;
		by_site |= l1 && gt_report_number(l1, "capacity", &number) ? GT_BY_SITE_CAUSES : 0;
		requests += l1 && gt_report_number(l1, "requests", &number) ? number : 0;
		for (size_t k = 0; l1 && k < l1->n && !(by_site & GT_BY_SITE_LEVELS); k++)
			by_site |= gt_report_class(l1->counters[k].value.name, &length) ? GT_BY_SITE_LEVELS : 0;
	}
	return requests == 0 && by_site & GT_BY_SITE_CAUSES ? by_site | GT_BY_SITE_LEVELS : by_site;
}

/* A run whose GPU is not known has its gains weighed as the other's. */
static int finish(struct gt_run *run, const struct gt_run *other, bool by_name, struct gt_error *error)
{
	const struct gt_gpu *gpu = run->gpu.n ? &run->gpu : other->gpu.n ? &other->gpu : NULL;

	if (gt_report_finish(&run->report, error) != 0 || (by_name && !run->saved && gt_report_by_name(&run->report, error) != 0))
		return -1;
	if (run->report.n == 0)
		return gt_fail(error, "%s: no kernels", run->text);
	return gt_findings_open(&run->findings, &run->report, gpu, error);
}

int gt_runs_compare(struct gt_runs *runs, struct gt_run *a, struct gt_run *b, struct gt_error *error)
{
	bool by_name = !has_launches_alone(a) && !has_launches_alone(b);

	*runs = (struct gt_runs){.run = {a, b}};
	for (int side = 0; side < GT_RUN_SIDES; side++)
		if (!by_name && runs->run[side]->saved && runs->run[side]->named)
			return gt_fail(error, "%s has kernels by name, %s launches without names: expected what gstats --csv --by kernel wrote of both", runs->run[side]->text,
				       runs->run[!side]->text);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		if (finish(runs->run[side], runs->run[!side], by_name, error) != 0)
			return -1;
		runs->by_site[side] = counted_by_site(runs->run[side]);
	}
	if (pair_all(runs, error) != 0)
		return -1;
	set_total(&runs->total, GT_RUN_A, a);
	set_total(&runs->total, GT_RUN_B, b);
	runs->same = runs->paired == runs->n && values_same(&runs->total);
	for (size_t i = 0; i < runs->paired; i++)
		runs->same &= runs->pairs[i].same;
	return 0;
}

void gt_runs_clear(struct gt_runs *runs)
{
	for (size_t i = 0; runs->pairs && i < runs->n; i++)
		free(runs->pairs[i].findings);
	free(runs->pairs);
	*runs = (struct gt_runs){0};
}
