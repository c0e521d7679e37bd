/* SPDX-License-Identifier: MIT */
/* Numbers that are computed from counters: ratios, such as hit ratios, and the metrics of NVIDIA's profilers (ncu, nvprof) and of
 * Accel-Sim under their names. A definition is a text of terms, "l1.reads ?l1.bypassed_reads", each of which is looked up among the counters of a
 * kernel. First their tables, then how they are evaluated, then the rows of counters in which they stand. */
#include "report/metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"

const struct gt_metric gt_ratios[] = {
	{"lanes_per_access", "per access", "threads", ".threads", ".accesses", 1},
	{"requests_per_access", "per access", "requests", ".requests",
	 ".load_accesses .store_accesses .atomic_accesses", 1},
	{"sectors_per_access", "per access", "sectors", ".sectors", ".load_accesses .store_accesses .atomic_accesses", 1},
	{"sectors_per_load_access", "per access", "load_sectors", ".load_sectors", ".load_accesses", 1},
	{"sectors_per_store_access", "per access", "store_sectors", ".store_sectors", ".store_accesses", 1},
	{"sectors_per_atomic_access", "per access", "atomic_sectors", ".atomic_sectors", ".atomic_accesses", 1},
	{"passes_per_shared_access", "per access", "bank_passes", ".bank_passes", ".shared_accesses", 1},
	{"cycles_per_shared_access", "per access", "shared_cycles", ".shared_cycles", ".shared_accesses", 1},
	{"read_hit_ratio", "% of reads", "read_hits", ".read_hits", ".reads", 100},
	{"merged_read_hit_ratio", "% of reads", "merged_reads", ".read_hits .merged_reads", ".reads", 100},
	{"write_hit_ratio", "% of writes", "write_hits", ".write_hits", ".writes", 100},
	{"atomic_hit_ratio", "% of atomics", "atomic_hits", ".atomic_hits", ".atomics", 100},
	{"mean_latency", "steps a miss", "latency_steps", ".latency_steps", ".reservations", 1},
	{"mean_load_latency", "steps a load's lookup", "load_steps", ".load_steps", ".hit_lookups .reservations .merges", 1},
	{"mean_mshr", "entries in use at a miss", "busy_entries", ".busy_entries", ".reservations", 1},
	{"misses_in_flight", "misses at a time", "instance_steps", ".latency_steps", ".instance_steps", 1},
	{"stall_ratio", "% of instance steps", "stalls", ".stalls", ".instance_steps", 100},
	{"hit_ratio", "% of references", "hits", ".hits", ".references", 100},
	{"alone_hit_ratio", "% of references", "alone", ".alone", ".references", 100},
	{"together_hit_ratio", "% of references", "together", ".together", ".references", 100},
	{"expected_hit_ratio", "% of references", "expected_hits", ".expected_hits", ".references", 1},
	{"row_hit_ratio", "% of sectors", "row_hits", ".row_hits", ".row_hits .row_misses", 100},
};
const size_t gt_ratios_n = sizeof gt_ratios / sizeof *gt_ratios;

#define L1_AVERAGE "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_"
#define L1_SECTORS "l1tex__t_sectors_pipe_lsu_mem_global_op_"
#define L1_REQUESTS "l1tex__t_requests_pipe_lsu_mem_global_op_"
/* A load or store that bypasses L1 is looked up there on hardware, and misses. */
#define L1_LOADS "l1.reads ?l1.bypassed_reads"
/* What misses beside a hit of its pair is neither a hit nor a miss to the profiler, where that was measured (gcache --read-misses). */
#define L1_MISSES L1_LOADS " -l1.read_hits -?l1.pair_misses"
#define L1_STORES "l1.writes ?l1.bypassed_writes"
/* Atomics with a result, where lanes with one address take turns (gcoalesce). All of it goes on to L2. */
#define ATOM_SECTORS "coalesce.atomic_sectors -coalesce.reduction_sectors ?coalesce.repeated_sectors"
/* Of shared memory, if it was traced: passes, and those beyond the least that the width of the data takes (NVIDIA's developer forum,
 * topic 359822: LDS.128 without conflicts has 4 wavefronts and 0 conflicts). The sums have atomics in them on hardware, whose
 * lanes with one address take turns there, and share a pass here. */
#define WAVEFRONTS "l1tex__data_pipe_lsu_wavefronts_mem_shared"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
#define L2_SECTORS "lts__t_sectors_op_"
#define L2_TEX "lts__t_sectors_srcunit_tex_op_"
/* The profiler's misses include the neighbours that a miss fetched; its hit rate is of the sectors that were asked for. */
#define L2_MISSES "l2.reads -l2.read_hits ?l2.neighbours"
/* What one half of L2 asks of the other is looked up in both. So the L1s' own lookups miss where the other half hits. */
#define L2_FAR "?l2.far_reads ?l2.far_neighbours"

/* Sectors have 32 bytes on every GPU that this profiler supports. At L2 the profiler counts every store as a hit,
 * whether the line was present or not; the model's own write_hits tell whether it was. */
static const struct gt_metric ncu_metrics[] = {
	{L1_REQUESTS "ld.sum", "request", NULL, "coalesce.load_accesses", NULL, 1},
	{L1_REQUESTS "st.sum", "request", NULL, "coalesce.store_accesses", NULL, 1},
	{L1_REQUESTS "atom.sum", "request", NULL, "coalesce.atomic_accesses -coalesce.reduction_accesses", NULL, 1},
	{L1_REQUESTS "red.sum", "request", NULL, "coalesce.reduction_accesses", NULL, 1},
	{L1_AVERAGE "ld.ratio", "sector/request", NULL, "coalesce.load_sectors", "coalesce.load_accesses", 1},
	{L1_AVERAGE "st.ratio", "sector/request", NULL, "coalesce.store_sectors", "coalesce.store_accesses", 1},
	{L1_AVERAGE "atom.ratio", "sector/request", NULL, ATOM_SECTORS, "coalesce.atomic_accesses -coalesce.reduction_accesses", 1},
	{L1_AVERAGE "red.ratio", "sector/request", NULL, "coalesce.reduction_sectors", "coalesce.reduction_accesses", 1},
	{L1_SECTORS "ld.sum", "sector", NULL, L1_LOADS, NULL, 1},
	{L1_SECTORS "ld.sum", "sector", NULL, "coalesce.load_sectors", NULL, 1},
	{L1_SECTORS "ld_lookup_hit.sum", "sector", NULL, "l1.read_hits", NULL, 1},
	{L1_SECTORS "ld_lookup_miss.sum", "sector", NULL, L1_MISSES, NULL, 1},
	{L1_SECTORS "st.sum", "sector", NULL, L1_STORES, NULL, 1},
	{L1_SECTORS "st.sum", "sector", NULL, "coalesce.store_sectors", NULL, 1},
	{L1_SECTORS "st_lookup_hit.sum", "sector", NULL, "l1.write_hits", NULL, 1},
	{L1_SECTORS "st_lookup_miss.sum", "sector", NULL, L1_STORES " -l1.write_hits", NULL, 1},
	{L1_SECTORS "atom.sum", "sector", NULL, ATOM_SECTORS, NULL, 1},
	{L1_SECTORS "red.sum", "sector", NULL, "coalesce.reduction_sectors", NULL, 1},
	{"l1tex__t_sector_hit_rate.pct", "%", NULL, "l1.read_hits l1.write_hits ?l1.atomic_hits",
	 L1_LOADS " " L1_STORES " ?l1.atomics ?coalesce.repeated_sectors", 100},
	{WAVEFRONTS ".sum", "", NULL, "coalesce.shared_load_passes coalesce.shared_store_passes !coalesce.shared_atomic_passes", NULL, 1},
	{WAVEFRONTS "_op_ld.sum", "", NULL, "coalesce.shared_load_passes", NULL, 1},
	{WAVEFRONTS "_op_st.sum", "", NULL, "coalesce.shared_store_passes", NULL, 1},
	{CONFLICTS ".sum", "", NULL, "coalesce.load_bank_conflicts coalesce.store_bank_conflicts !coalesce.shared_atomic_passes", NULL, 1},
	{CONFLICTS "_op_ld.sum", "", NULL, "coalesce.load_bank_conflicts", NULL, 1},
	{CONFLICTS "_op_st.sum", "", NULL, "coalesce.store_bank_conflicts", NULL, 1},
	{L2_SECTORS "read.sum", "sector", NULL, "l2.reads " L2_FAR " ?l2.constant_reads ?l2.launch_reads", NULL, 1},
	{L2_SECTORS "read_lookup_hit.sum", "sector", NULL, "l2.read_hits ?l2.constant_hits ?l2.launch_hits", NULL, 1},
	{L2_SECTORS "read_lookup_miss.sum", "sector", NULL, L2_MISSES " " L2_FAR " ?l2.constant_reads -?l2.constant_hits ?l2.launch_reads -?l2.launch_hits", NULL, 1},
	{L2_SECTORS "write.sum", "sector", NULL, "l2.writes ?l2.far_writes", NULL, 1},
	{L2_SECTORS "write_lookup_hit.sum", "sector", NULL, "l2.writes ?l2.far_writes", NULL, 1},
	{L2_SECTORS "write_lookup_miss.sum", "sector", NULL, "l2.writes -l2.writes", NULL, 1},
	{L2_SECTORS "atom.sum", "sector", NULL, "l2.atomics -coalesce.reduction_sectors ?coalesce.repeated_sectors ?l2.far_atomics", NULL, 1},
	{L2_SECTORS "red.sum", "sector", NULL, "coalesce.reduction_sectors l2.atomics -l2.atomics ?l2.far_reductions", NULL, 1},
	{"lts__t_sector_op_read_hit_rate.pct", "%", NULL, "l2.read_hits ?l2.constant_hits ?l2.launch_hits",
	 "l2.reads " L2_FAR " ?l2.constant_reads ?l2.launch_reads", 100},
	{"lts__t_sector_op_write_hit_rate.pct", "%", NULL, "l2.writes", "l2.writes", 100},
	{"lts__t_sector_hit_rate.pct", "%", NULL, "l2.read_hits ?l2.constant_hits ?l2.launch_hits l2.writes ?l2.far_writes ?l2.atomic_hits ?coalesce.repeated_sectors",
	 "l2.reads " L2_FAR " ?l2.constant_reads ?l2.launch_reads l2.writes ?l2.far_writes ?l2.atomics ?coalesce.repeated_sectors", 100},
	{L2_TEX "read.sum", "sector", NULL, "l2.reads", NULL, 1},
	{L2_TEX "read_lookup_hit.sum", "sector", NULL, "l2.read_hits -?l2.far_hits", NULL, 1},
	{L2_TEX "read_lookup_miss.sum", "sector", NULL, L2_MISSES " ?l2.far_hits", NULL, 1},
	{L2_TEX "write.sum", "sector", NULL, "l2.writes", NULL, 1},
	{L2_TEX "write_lookup_hit.sum", "sector", NULL, "l2.writes", NULL, 1},
	{L2_TEX "write_lookup_miss.sum", "sector", NULL, "l2.writes -l2.writes", NULL, 1},
	{"dram__sectors_read.sum", "sector", NULL, "dram.reads", NULL, 1},
	{"dram__sectors_write.sum", "sector", NULL, "dram.writes", NULL, 1},
	{"dram__bytes_read.sum", "byte", NULL, "dram.reads", NULL, 32},
	{"dram__bytes_write.sum", "byte", NULL, "dram.writes", NULL, 32},
};

/* On Pascal, sectors that several groups of lanes of one warp share are neither hits nor misses of L1, so its hit rate is
 * over the distinct sectors of each warp load. A store hits L2 if its line is present. */
static const struct gt_metric nvprof_metrics[] = {
	{"tex_cache_transactions", "transaction", NULL, "coalesce.load_sectors", NULL, 1},
	{"global_hit_rate", "%", NULL, "coalesce.load_warp_sectors -l1.sent_reads", "coalesce.load_warp_sectors", 100},
	{"l2_tex_read_transactions", "transaction", NULL, "l2.reads", NULL, 1},
	{"l2_tex_write_transactions", "transaction", NULL, "l2.writes", NULL, 1},
	{"l2_tex_read_hit_rate", "%", NULL, "l2.read_hits", "l2.reads", 100},
	{"l2_tex_write_hit_rate", "%", NULL, "l2.write_hits", "l2.writes", 100},
	{"l2_tex_hit_rate", "%", NULL, "l2.read_hits l2.write_hits", "l2.reads l2.writes", 100},
	{"l2_read_plus_write_transactions", "transaction", NULL, "l2.reads l2.writes ?l2.atomics ?l2.constant_reads ?l2.launch_reads", NULL, 1},
	{"dram_read_transactions", "transaction", NULL, "dram.reads", NULL, 1},
	{"dram_write_transactions", "transaction", NULL, "dram.writes", NULL, 1},
};

#define CORE "Total_core_cache_stats_breakdown"
#define L2_CACHE "L2_cache_stats_breakdown"
/* An atomic is a read, which L1 does not see; lanes with one address take turns. */
#define L2_READS "l2.reads ?l2.atomics ?coalesce.repeated_sectors"
#define L2_READ_HITS "l2.read_hits ?l2.atomic_hits ?coalesce.repeated_sectors"
#define L2_OTHERS "?l2.constant_reads ?l2.launch_reads"
#define L2_NOT_HIT "-l2.read_hits -?l2.atomic_hits -l2.write_hits -?l2.constant_hits -?l2.launch_hits"

/* Accel-Sim looks up sector by sector. Of what it finds, a level without time has no sector that is still to come: its hits are HIT and
 * HIT_RESERVED together, and [HIT] has the same number for scripts that read it. MISS and SECTOR_MISS are told apart by the order of the sectors of
 * one request there, of which there is none here. */
static const struct gt_metric accelsim_metrics[] = {
	{"L1D_total_cache_accesses", "sector", NULL, "l1.reads l1.writes", NULL, 1},
	{"L1D_total_cache_misses", "sector", NULL, "l1.reads l1.writes -l1.read_hits -l1.write_hits -?l1.merged_reads", NULL, 1},
	{"L1D_total_cache_pending_hits", "sector", NULL, "l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][HIT]", "sector", NULL, "l1.read_hits l1.merged_reads -l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][HIT]", "sector", GT_SHOWN_ONLY, "l1.read_hits", NULL, 1},
	{CORE "[GLOBAL_ACC_R][HIT_RESERVED]", "sector", NULL, "l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][HIT+HIT_RESERVED]", "sector", NULL, "l1.read_hits ?l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][MISS+SECTOR_MISS]", "sector", NULL, "l1.reads -l1.read_hits -?l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][MSHR_HIT]", "sector", NULL, "l1.merged_reads", NULL, 1},
	{CORE "[GLOBAL_ACC_R][TOTAL_ACCESS]", "sector", NULL, "l1.reads", NULL, 1},
	{CORE "[GLOBAL_ACC_W][HIT]", "sector", GT_SHOWN_ONLY, "l1.write_hits", NULL, 1},
	{CORE "[GLOBAL_ACC_W][HIT+HIT_RESERVED]", "sector", NULL, "l1.write_hits", NULL, 1},
	{CORE "[GLOBAL_ACC_W][MISS+SECTOR_MISS]", "sector", NULL, "l1.writes -l1.write_hits", NULL, 1},
	{CORE "[GLOBAL_ACC_W][TOTAL_ACCESS]", "sector", NULL, "l1.writes", NULL, 1},
	{"L2_total_cache_accesses", "sector", NULL, L2_READS " l2.writes " L2_OTHERS, NULL, 1},
	{"L2_total_cache_misses", "sector", NULL, "l2.reads ?l2.atomics l2.writes " L2_OTHERS " " L2_NOT_HIT, NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_R][HIT]", "sector", GT_SHOWN_ONLY, L2_READ_HITS, NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_R][HIT+HIT_RESERVED]", "sector", NULL, L2_READ_HITS, NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_R][MISS+SECTOR_MISS]", "sector", NULL, "l2.reads ?l2.atomics -l2.read_hits -?l2.atomic_hits", NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_R][TOTAL_ACCESS]", "sector", NULL, L2_READS, NULL, 1},
	{L2_CACHE "[CONST_ACC_R][HIT]", "sector", GT_SHOWN_ONLY, "l2.constant_hits", NULL, 1},
	{L2_CACHE "[CONST_ACC_R][TOTAL_ACCESS]", "sector", NULL, "l2.constant_reads", NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_W][HIT]", "sector", GT_SHOWN_ONLY, "l2.write_hits", NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_W][HIT+HIT_RESERVED]", "sector", NULL, "l2.write_hits", NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_W][MISS+SECTOR_MISS]", "sector", NULL, "l2.writes -l2.write_hits", NULL, 1},
	{L2_CACHE "[GLOBAL_ACC_W][TOTAL_ACCESS]", "sector", NULL, "l2.writes", NULL, 1},
	{"total dram reads", "sector", NULL, "dram.reads", NULL, 1},
	{"total dram writes", "sector", NULL, "dram.writes", NULL, 1},
};

const struct gt_vocabulary gt_vocabularies[GT_VOCABULARIES] = {
	[GT_VOCABULARY_NCU] = {"ncu", ncu_metrics, sizeof ncu_metrics / sizeof *ncu_metrics},
	[GT_VOCABULARY_ACCELSIM] = {"accelsim", accelsim_metrics, sizeof accelsim_metrics / sizeof *accelsim_metrics},
	[GT_VOCABULARY_NVPROF] = {"nvprof", nvprof_metrics, sizeof nvprof_metrics / sizeof *nvprof_metrics},
};

/* ---- evaluation ---- */

/* Where a term's counters are looked up. */
struct place {
	const struct gt_report_kernel *kernel;
	const struct gt_report_stage *stage; /* of terms that name none; NULL: there is none */
	const char *class; /* whose counters those are, of `length` bytes */
	size_t length;
};

/* A counter of the stage, of the class if there is one: "load.global.hits". */
static bool counter_value(const struct place *place, const char *name, uint64_t *value)
{
	char text[GT_COUNT_NAME];

	if (place->length == 0)
		return gt_report_number(place->stage, name, value);
	return (size_t)snprintf(text, sizeof text, "%.*s.%s", (int)place->length, place->class, name) < sizeof text &&
	       gt_report_number(place->stage, text, value);
}

/* The counter "stage.name" of a term. False if it is absent. */
static bool term_value(const char *term, size_t length, const struct place *place, uint64_t *value)
{
	char text[2 * GT_COUNT_NAME];

	if (length >= sizeof text)
		return false;
	memcpy(text, term, length);
	text[length] = '\0';
	char *dot = strchr(text, '.');
	if (!dot)
		return false;
	*dot = '\0';
	if (dot == text)
		return place->stage && counter_value(place, dot + 1, value);
	const struct gt_report_stage *stage = gt_report_find_stage(place->kernel, text);
	return stage && gt_report_number(stage, dot + 1, value);
}

/* The sum in a definition, as GT_METRIC_COUNT, or why there is none. Positive and negative terms are summed separately,
 * so their order does not matter. */
static struct gt_metric_value sum_of(const char *terms, const struct place *place)
{
	struct gt_metric_value sum = {.state = GT_METRIC_COUNT};
	uint64_t subtracted = 0;

	for (const char *at = terms; *at;) {
		size_t length = strcspn(at, " "), minus = *at == '-', marks = minus + (at[minus] == '?' || at[minus] == '!');
		uint64_t value = 0;
		uint64_t *to = minus ? &subtracted : &sum.count;
		if (!term_value(at + marks, length - marks, place, &value) && marks == minus)
			return (struct gt_metric_value){.state = GT_METRIC_ABSENT};
		if (value > UINT64_MAX - *to || (value > 0 && at[minus] == '!'))
			sum.state = GT_METRIC_UNDEFINED;
		*to += value;
		at += length + strspn(at + length, " ");
	}
	if (subtracted > sum.count)
		sum.state = GT_METRIC_UNDEFINED;
	sum.count -= subtracted;
	return sum;
}

static struct gt_metric_value evaluate(const struct gt_metric *metric, const struct place *place)
{
	struct gt_metric_value value = sum_of(metric->numerator, place);

	if (value.state != GT_METRIC_COUNT)
		return value;
	if (metric->denominator) {
		struct gt_metric_value below = sum_of(metric->denominator, place);
		if (below.state != GT_METRIC_COUNT)
			return below;
		if (below.count == 0)
			return (struct gt_metric_value){.state = GT_METRIC_UNDEFINED};
		value.state = GT_METRIC_RATIO;
		value.ratio = (double)metric->factor * (double)value.count / (double)below.count;
		return value;
	}
	if (value.count > UINT64_MAX / metric->factor)
		value.state = GT_METRIC_UNDEFINED;
	value.count *= metric->factor;
	return value;
}

struct gt_metric_value gt_metric_evaluate(const struct gt_metric *metric, const struct gt_report_kernel *kernel,
					  const struct gt_report_stage *stage)
{
	return evaluate(metric, &(struct place){.kernel = kernel, .stage = stage});
}

struct gt_metric_value gt_metric_of_counter(const struct gt_metric *metric, const struct gt_report_kernel *kernel,
					    const struct gt_report_stage *stage, const char *counter)
{
	const char *dot = strrchr(counter, '.');
	const struct place place = {.kernel = kernel, .stage = stage, .class = counter, .length = dot ? (size_t)(dot - counter) : 0};

	if (strcmp(metric->beside, dot ? dot + 1 : counter) != 0)
		return (struct gt_metric_value){.state = GT_METRIC_ABSENT};
	return evaluate(metric, &place);
}

const char *gt_metric_format(struct gt_metric_value value, char buffer[GT_METRIC_TEXT])
{
	if (value.state == GT_METRIC_COUNT)
		snprintf(buffer, GT_METRIC_TEXT, "%" PRIu64, value.count);
	else if (value.state == GT_METRIC_RATIO)
		snprintf(buffer, GT_METRIC_TEXT, "%.2f", value.ratio);
	else
		snprintf(buffer, GT_METRIC_TEXT, "-");
	return buffer;
}

/* Other names of metrics: those of the profiler's sections, and of DRAM's counters on Blackwell. */
static const struct other_name {
	const char *other, *name;
} other_names[] = {
	{"L1/TEX Hit Rate", "l1tex__t_sector_hit_rate.pct"},	    {"L2 Hit Rate", "lts__t_sector_hit_rate.pct"},
	{"dram__sectors_op_read.sum", "dram__sectors_read.sum"},    {"dram__sectors_op_write.sum", "dram__sectors_write.sum"},
	{"dram__bytes_op_read.sum", "dram__bytes_read.sum"},	    {"dram__bytes_op_write.sum", "dram__bytes_write.sum"},
};

const struct gt_metric *gt_metric_next(const struct gt_vocabulary *names, const struct gt_report_kernel *kernel, size_t *at,
				       struct gt_metric_value *value)
{
	const char *last = *at > 0 ? names->metrics[*at - 1].name : "";

	while (*at < names->n) {
		const struct gt_metric *metric = &names->metrics[(*at)++];
		*value = gt_metric_evaluate(metric, kernel, NULL);
		if (value->state != GT_METRIC_ABSENT && strcmp(metric->name, last) != 0)
			return metric;
	}
	return NULL;
}

const struct gt_metric *gt_metric_named(const char *name)
{
	for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
		if (strcmp(other_names[i].other, name) == 0)
			name = other_names[i].name;
	for (size_t v = 0; v < GT_VOCABULARIES; v++)
		for (size_t i = 0; i < gt_vocabularies[v].n; i++)
			if (strcmp(gt_vocabularies[v].metrics[i].name, name) == 0)
				return &gt_vocabularies[v].metrics[i];
	return NULL;
}

struct gt_metric_value gt_metric_of_kernel(const struct gt_metric *metric, const struct gt_report_kernel *kernel)
{
	struct gt_metric_value value = {.state = GT_METRIC_ABSENT};

	for (size_t v = 0; v < GT_VOCABULARIES; v++) {
		const struct gt_metric *first = gt_vocabularies[v].metrics, *end = first + gt_vocabularies[v].n;
		for (const struct gt_metric *at = first; at < end && value.state == GT_METRIC_ABSENT; at++)
			if (strcmp(at->name, metric->name) == 0 && !at->beside)
				value = gt_metric_evaluate(at, kernel, NULL);
	}
	return value;
}

/* ---- the knee ---- */

bool gt_knee_takes(double few, double many)
{
	return few < many && (many - few) * 100 >= GT_KNEE * many;
}

size_t gt_knee(const double *misses, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool flat = true;
		for (size_t k = i + 1; k < n && flat; k++)
			flat = !gt_knee_takes(misses[k], misses[i]);
		if (flat)
			return i;
	}
	return n;
}

/* ---- the rows of a report: a counter's value, and beside it the first ratio that the table of metrics prints in that counter's row ---- */

#define INLINE_VALUES 8 /* arrays up to this length are shown in full */

/* Shows the sum of an array as its value and, if the array is short, its elements as the remark. */
static void show_array(const struct gt_report_value *entry, char value[GT_TABLE_CELL], char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];
	uint64_t sum = 0;
	bool fits = true;
	int at = 0;

	for (size_t i = 0; i < entry->n; i++) {
		sum += entry->array[i];
		fits = fits && sum >= entry->array[i];
	}
	snprintf(value, GT_TABLE_CELL, "%s", fits ? gt_table_number(sum, number) : "-");
	if (entry->n > INLINE_VALUES) {
		snprintf(remark, GT_TABLE_CELL, "sum of %zu values", entry->n);
		return;
	}
	at = snprintf(remark, GT_TABLE_CELL, "sum of");
	for (size_t i = 0; i < entry->n && at < GT_TABLE_CELL; i++)
		at += snprintf(remark + at, (size_t)(GT_TABLE_CELL - at), " %" PRIu64, entry->array[i]);
}

/* Shows the ratio that belongs to a counter as the remark. Returns whether there is one with a value. */
static bool show_ratio(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
		       const char *counter, char remark[GT_TABLE_CELL])
{
	char text[GT_METRIC_TEXT];

	for (size_t i = 0; i < gt_ratios_n; i++) {
		struct gt_metric_value value = gt_metric_of_counter(&gt_ratios[i], kernel, stage, counter);
		if (value.state == GT_METRIC_ABSENT)
			continue;
		snprintf(remark, GT_TABLE_CELL, "%6s %s", gt_metric_format(value, text), gt_ratios[i].unit);
		return value.state != GT_METRIC_UNDEFINED;
	}
	return false;
}

static void show_counter(const struct gt_report_counter *counter, char value[GT_TABLE_CELL],
			 char remark[GT_TABLE_CELL])
{
	char number[GT_TABLE_NUMBER];

	if (counter->differs)
		snprintf(value, GT_TABLE_CELL, "differs");
	else if (counter->value.kind == GT_COUNT_ARRAY)
		show_array(&counter->value, value, remark);
	else if (counter->value.kind == GT_COUNT_TEXT)
		snprintf(value, GT_TABLE_CELL, "%s", counter->value.text);
	else if (counter->about->print == GT_PRINT_SIZE)
		gt_format_size(counter->value.number, value);
	else
		snprintf(value, GT_TABLE_CELL, "%s", gt_table_number(counter->value.number, number));
}

/* The least, the mean and the largest value of a sum over several launches, unless they are equal. */
static bool show_spread(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage, const struct gt_report_counter *counter,
			struct gt_report_row *row)
{
	const struct gt_report_spread *spread = gt_report_spread_of(stage, counter);

	if (kernel->merged < 2 || !spread || spread->launches < 2 || spread->least == spread->largest ||
	    counter->about->print == GT_PRINT_SIZE || gt_counter_is_setting(counter->about))
		return false;
	gt_table_number(spread->least, row->spread[0]);
	snprintf(row->spread[1], GT_TABLE_NUMBER, "%.1f", (double)counter->value.number / (double)spread->launches);
	gt_table_number(spread->largest, row->spread[2]);
	return true;
}

bool gt_report_make_row(const struct gt_report_kernel *kernel, const struct gt_report_stage *stage,
			const struct gt_report_counter *counter, struct gt_report_row *row)
{
	row->name = counter->value.name;
	row->is_text = counter->value.kind == GT_COUNT_TEXT;
	row->unit = !row->is_text && counter->about->unit ? counter->about->unit : "";
	row->remark[0] = '\0';
	if (counter->about->print == GT_PRINT_NOT)
		return false;
	show_counter(counter, row->value, row->remark);
	bool possible = show_ratio(kernel, stage, row->name, row->remark);
	row->spreads = show_spread(kernel, stage, counter, row);
	return strcmp(row->value, "0") != 0 || row->is_text || possible;
}
