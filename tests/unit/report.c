/* SPDX-License-Identifier: MIT */
/* Gathering, totals and metrics. With an argument it writes one of its sample streams instead, for tests/gstats.bats. */
#include "report/format.h"
#include "report/metric.h"
#include "report/report.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/random.h"
#include "check.h"
#include "stream/kernel_name.h"
#include "stream/stream.h"

static struct gt_error error;

/* A count from "name=number" words; "name=1:2:3" is an array, "name=word" a text. */
static struct gt_count count_of(const char *stage, uint64_t kernel, const char *words)
{
	struct gt_count count;
	char copy[1024], *save = NULL;

	gt_count_begin(&count, stage, kernel);
	snprintf(copy, sizeof copy, "%s", words);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *value = strchr(word, '='), *end;
		uint64_t numbers[64];
		size_t n = 0;
		*value++ = '\0';
		char *at = value;
		do {
			numbers[n++] = strtoull(at, &end, 10);
			at = end + 1;
		} while (*end == ':');
		if (*end != '\0')
			CHECK(gt_count_text(&count, word, value, &error) == 0);
		else if (n > 1)
			CHECK(gt_count_array(&count, word, numbers, n, &error) == 0);
		else
			CHECK(gt_count_number(&count, word, numbers[0], &error) == 0);
	}
	return count;
}

static int add(struct gt_report *report, const char *stage, uint64_t kernel, const char *words)
{
	struct gt_count count = count_of(stage, kernel, words);
	int result = gt_report_count(report, &count, &error);

	gt_count_clear(&count);
	return result;
}

static int launch(struct gt_report *report, uint64_t id, const char *name)
{
	struct gt_kernel kernel = {.id = id, .grid = {4, 16, 1}, .block = {32, 8, 1}};

	snprintf(kernel.name, sizeof kernel.name, "%s", name);
	return gt_report_add_kernel(report, &kernel, &error);
}

/* The number of total.stage.name, or UINT64_MAX. */
static uint64_t total(const struct gt_report *report, const char *stage, const char *name)
{
	const struct gt_report_stage *found = gt_report_find_stage(&report->total, stage);
	uint64_t value;

	return found && gt_report_number(found, name, &value) ? value : UINT64_MAX;
}

static void test_totals_sum_counts_and_keep_settings(void)
{
	struct gt_report report;

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK(launch(&report, 7, "a") == 0);
	CHECK(add(&report, "l1", 7, "size=32768 ways=4 reads=10 read_hits=3 mru=1:2") == 0);
	CHECK(add(&report, "schedule", 7, "resident_blocks=8 limited_by=warps waves=2") == 0);
	CHECK(launch(&report, 9, "b") == 0);
	CHECK(add(&report, "l1", 9, "size=32768 ways=8 reads=5 read_hits=5 mru=1:2:2") == 0);
	CHECK(add(&report, "schedule", 9, "resident_blocks=8 limited_by=shared waves=3") == 0);
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_EQUAL(report.n, 2);
	CHECK_EQUAL(total(&report, "l1", "reads"), 15);
	CHECK_EQUAL(total(&report, "l1", "read_hits"), 8);
	CHECK_EQUAL(total(&report, "l1", "size"), 32768);
	CHECK(total(&report, "l1", "ways") == UINT64_MAX);
	CHECK_EQUAL(total(&report, "schedule", "resident_blocks"), 8);
	CHECK_EQUAL(total(&report, "schedule", "waves"), 5);
	const struct gt_report_stage *l1 = gt_report_find_stage(&report.total, "l1");
	const struct gt_report_value *mru = &l1->counters[4].value;
	CHECK_TEXT(mru->name, "mru");
	CHECK_EQUAL(mru->n, 3);
	CHECK_EQUAL(mru->array[0] * 100 + mru->array[1] * 10 + mru->array[2], 242);
	CHECK(gt_report_find_stage(&report.total, "schedule")->counters[1].differs);
	gt_report_clear(&report);
}

static void test_a_stage_named_twice_is_two_stages(void)
{
	struct gt_report report;

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK(launch(&report, 1, "a") == 0);
	CHECK(add(&report, "l1", 1, "reads=10") == 0);
	CHECK(add(&report, "l1", 1, "reads=4") == 0);
	/* The launch goes on: the same two stages count again. */
	CHECK(launch(&report, 1, "a") == 0);
	CHECK(add(&report, "l1", 1, "reads=20") == 0);
	CHECK(add(&report, "l1", 1, "reads=8") == 0);
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_EQUAL(report.n, 1);
	CHECK_EQUAL(report.kernels[0].n, 2);
	CHECK_EQUAL(total(&report, "l1", "reads"), 30);
	CHECK_EQUAL(total(&report, "l1#2", "reads"), 12);
	gt_report_clear(&report);
}

static void test_a_total_past_64_bits_is_an_error(void)
{
	struct gt_report report;

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK(add(&report, "l1", 1, "reads=18446744073709551615") == 0);
	CHECK(add(&report, "l1", 2, "reads=1") == 0);
	CHECK_EQUAL(gt_report_finish(&report, &error), -1);
	CHECK_TEXT(error.text, "stage l1, counter reads: the total does not fit 64 bits");
	gt_report_clear(&report);
}

static void test_too_much_is_refused(void)
{
	struct gt_report report;
	char name[32];
	int result = 0, stages = 0;

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK_EQUAL(add(&report, "l1", UINT64_MAX, "reads=1"), -1);
	for (; result == 0 && stages <= GT_REPORT_STAGES_MAX; stages += result == 0) {
		snprintf(name, sizeof name, "level%d", stages);
		result = add(&report, name, 1, "reads=1");
	}
	CHECK_EQUAL(stages, GT_REPORT_STAGES_MAX);
	gt_report_clear(&report);
}

/* More counters than are searched one by one, in another order in each kernel. */
static void test_many_counters_find_their_own(void)
{
	enum { MANY = 5003 };
	struct gt_report report;
	struct gt_count count;
	char name[32];
	int wrong = 0;

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	for (unsigned kernel = 0; kernel < 3; kernel++) {
		gt_count_begin(&count, "reuse", kernel);
		for (unsigned i = 0; i < MANY; i++) {
			unsigned which = (i * (2 * kernel + 1) + 7 * kernel) % MANY;
			snprintf(name, sizeof name, "0x%x.references", which);
			CHECK(gt_count_number(&count, name, which + kernel, &error) == 0);
		}
		CHECK(gt_report_count(&report, &count, &error) == 0);
		gt_count_clear(&count);
	}
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_EQUAL(report.total.stages[0].n, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(name, sizeof name, "0x%x.references", i);
		wrong += total(&report, "reuse", name) != 3 * i + 3;
	}
	CHECK_EQUAL(wrong, 0);
	gt_report_clear(&report);
}

static void test_the_filter_leaves_kernels_out_of_the_total(void)
{
	struct gt_report report;

	CHECK(gt_report_begin(&report, "^gemm", &error) == 0);
	CHECK(launch(&report, 1, "conv") == 0);
	CHECK(add(&report, "l1", 1, "reads=10") == 0);
	CHECK(launch(&report, 2, "gemm64") == 0);
	CHECK(add(&report, "l1", 2, "reads=7") == 0);
	CHECK(add(&report, "l1", 3, "reads=1000") == 0); /* without a name */
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_EQUAL(report.n, 1);
	CHECK_EQUAL(report.kernels[0].kernel.id, 2);
	CHECK_EQUAL(total(&report, "l1", "reads"), 7);
	gt_report_clear(&report);
	CHECK_EQUAL(gt_report_begin(&report, "a(", &error), -1);
	CHECK(strstr(error.text, "'a(': expected a Perl-compatible regular expression") != NULL);
	gt_report_clear(&report);
}

/* The metric of that name as text, "absent" if no row of it holds. */
static const char *ncu(const struct gt_report *report, const char *name, char text[GT_METRIC_TEXT])
{
	for (size_t i = 0; i < gt_vocabularies[GT_VOCABULARY_NCU].n; i++) {
		if (strcmp(gt_vocabularies[GT_VOCABULARY_NCU].metrics[i].name, name) != 0)
			continue;
		struct gt_metric_value value = gt_metric_evaluate(&gt_vocabularies[GT_VOCABULARY_NCU].metrics[i], &report->total, NULL);
		if (value.state != GT_METRIC_ABSENT)
			return gt_metric_format(value, text);
	}
	return "absent";
}

static void test_profiler_metrics_follow_their_definitions(void)
{
	struct gt_report report;
	char text[GT_METRIC_TEXT];

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK(add(&report, "l1", 1, "reads=41472 read_hits=35840 writes=512 write_hits=0") == 0);
	CHECK(add(&report, "l2", 1, "reads=5632 read_hits=4096 writes=512 write_hits=12 atomics=56 atomic_hits=16") == 0);
	CHECK(add(&report, "dram", 1, "reads=1536 writes=0") == 0);
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_TEXT(ncu(&report, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", text), "41472");
	CHECK_TEXT(ncu(&report, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", text), "5632");
	CHECK_TEXT(ncu(&report, "l1tex__t_sector_hit_rate.pct", text), "85.37");
	CHECK_TEXT(ncu(&report, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", text), "absent");
	CHECK_TEXT(ncu(&report, "lts__t_sectors_op_write_lookup_hit.sum", text), "512");
	CHECK_TEXT(ncu(&report, "lts__t_sectors_op_write_lookup_miss.sum", text), "0");
	CHECK_TEXT(ncu(&report, "lts__t_sector_op_read_hit_rate.pct", text), "72.73");
	CHECK_TEXT(ncu(&report, "lts__t_sector_op_write_hit_rate.pct", text), "100.00");
	/* (4096 + 512 + 16) / (5632 + 512 + 56): all stores are hits, not the 12 */
	CHECK_TEXT(ncu(&report, "lts__t_sector_hit_rate.pct", text), "74.58");
	CHECK_TEXT(ncu(&report, "dram__bytes_read.sum", text), "49152");
	CHECK_TEXT(ncu(&report, "dram__bytes_write.sum", text), "0");
	gt_report_clear(&report);
}

static void test_the_undefined_is_a_dash(void)
{
	static const struct gt_metric difference = {"d", "", NULL, "l1.reads -l1.read_hits", NULL, 1};
	static const struct gt_metric scaled = {"s", "", NULL, "l1.writes", NULL, 32};
	static const struct gt_metric optional = {"o", "", NULL, "l1.reads ?l1.nothing ?l9.reads", NULL, 1};
	struct gt_report report;
	char text[GT_METRIC_TEXT];

	CHECK(gt_report_begin(&report, NULL, &error) == 0);
	CHECK(add(&report, "l1", 1, "reads=3 read_hits=5 writes=18446744073709551615") == 0);
	CHECK(add(&report, "l2", 1, "reads=0 read_hits=0") == 0);
	CHECK(gt_report_finish(&report, &error) == 0);
	CHECK_TEXT(gt_metric_format(gt_metric_evaluate(&difference, &report.total, NULL), text), "-");
	CHECK_TEXT(gt_metric_format(gt_metric_evaluate(&scaled, &report.total, NULL), text), "-");
	CHECK_TEXT(gt_metric_format(gt_metric_evaluate(&optional, &report.total, NULL), text), "3");
	CHECK_TEXT(ncu(&report, "lts__t_sector_op_read_hit_rate.pct", text), "-");
	gt_report_clear(&report);
}

/* A sample stream: records in order. A count without stage is a launch. */
struct sample_record {
	const char *sample, *stage;
	uint64_t kernel;
	const char *words; /* of a count, or the kernel's name */
};

#define TRICKY "say \"hi\", a\\b\n\xff \xc3\xa9"

static const struct sample_record sample_records[] = {
	{"two", NULL, 1, "gemm(float*, float const*)"},
	{"two", "order", 1, "accesses=10752 loads=10240 stores=512 atomics=0 threads=344064"},
	{"two", "coalesce", 1,
	 "accesses=10752 requests=10752 sectors=41984 load_requests=10240 load_sectors=41472 "
	 "store_requests=512 store_sectors=512 load_accesses=10240 store_accesses=512 atomic_accesses=0 "
	 "shared_accesses=64 bank_passes=96 "
	 "atomic_sectors=9 reduction_sectors=4"},
	{"two", "schedule", 1, "resident_blocks=8 limited_by=blocks waves=1 steps=1344 sms=80 l1_bytes=131072"},
	{"two", "l1", 1,
	 "size=32768 ways=4 line=128 reads=41472 read_hits=35840 writes=512 write_hits=0 mru=30000:5000:800:40"},
	{"two", "l2", 1, "size=4718592 ways=16 reads=5632 read_hits=4096 writes=512 write_hits=512"},
	{"two", "dram", 1, "reads=1536 writes=512 row_hits=60 row_misses=4 channel_reads=1000:536"},
	{"two", NULL, 2, "conv"},
	{"two", "order", 2, "accesses=100 loads=100 stores=0 atomics=0 threads=3200"},
	{"two", "schedule", 2, "resident_blocks=4 limited_by=shared waves=2 steps=10 sms=80 l1_bytes=131072"},
	{"two", "l1", 2, "size=32768 ways=4 line=128 reads=8 read_hits=2 writes=0 write_hits=0 mru=1:1:0:0"},
	{"two", "l2", 2, "size=4718592 ways=16 reads=6 read_hits=0 writes=0 write_hits=0"},
	{"two", "dram", 2, "reads=6 writes=0 row_hits=0 row_misses=0 channel_reads=3:3"},
	{"odd", NULL, 3, TRICKY},
	{"odd", "my,stage", 3, "a\"b=5 word=x,y novel=7 array=1:2:3:4:5:6:7:8:9 max=18446744073709551615"},
	{"overflow", "l1", 1, "reads=18446744073709551615"},
	{"overflow", "l1", 2, "reads=1"},
	{"empty", NULL, 0, NULL},
};

static int write_record(struct gt_writer *writer, const struct sample_record *record)
{
	if (!record->stage) {
		struct gt_kernel kernel = {.id = record->kernel, .grid = {4, 16, 1}, .block = {32, 8, 1},
					   .registers = 32, .shared_bytes = 8192};
		if (!record->words)
			return 0;
		snprintf(kernel.name, sizeof kernel.name, "%s", record->words);
		return gt_write_kernel(writer, &kernel, &error);
	}
	struct gt_count count = count_of(record->stage, record->kernel, record->words);
	int result = gt_write_count(writer, &count, &error);
	gt_count_clear(&count);
	return result;
}

static int write_sample(const char *name, char *argv[])
{
	struct gt_writer *writer = gt_writer_open(STDOUT_FILENO, NULL, "sample", "1", argv, &error);
	struct gt_gpu gpu = {0};
	int result = writer ? 0 : -1;

	if (result == 0 && strcmp(name, "two") == 0) {
		result = gt_gpu_set(&gpu, "name", "TITAN V", "vendor", "a test", &error);
		if (result == 0)
			result = gt_write_gpu(writer, &gpu, &error);
	}
	for (size_t i = 0; i < sizeof sample_records / sizeof *sample_records && result == 0; i++)
		if (strcmp(sample_records[i].sample, name) == 0)
			result = write_record(writer, &sample_records[i]);
	if (result == 0)
		result = gt_writer_finish(writer, &error);
	gt_gpu_clear(&gpu);
	gt_writer_close(writer);
	if (result != 0)
		fprintf(stderr, "%s\n", error.text);
	return result == 0 ? 0 : 1;
}

static void test_numbers_for_reading_have_three_digits(void)
{
	static const struct {
		uint64_t number;
		const char *text;
	} cases[] = {{0, "0 B"}, {999, "999 B"}, {1024, "1 KB"}, {1088, "1.06 KB"}, {10209, "9.97 KB"}, {10240, "10 KB"}, {10245, "10.0 KB"},
		     {1022976, "999 KB"}, {1023488, "0.98 MB"}, {UINT64_C(3) << 50, "3072 TB"}};
	char buffer[GT_WORDS];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(strcmp(gt_bytes_words((double)cases[i].number, buffer), cases[i].text) == 0);
	CHECK(strcmp(gt_number_words(7, buffer), "7") == 0);
	CHECK(strcmp(gt_number_words(498000, buffer), "498 k") == 0);
}

static void test_names_are_those_of_the_source(void)
{
	static const char *const cases[][2] = {
		{"gemm", "gemm"}, {"", ""}, {"_Z4gemmPKfS0_Pfi", "gemm"}, {"_Z18BlockAdjDiffKernelILi1024EEvPKiPib", "BlockAdjDiffKernel<1024>"},
		{"_Z24ChannelShuffleNCHWKernelIfLb0EEviiiPKT_PS0_", "ChannelShuffleNCHWKernel<float, false>"},
		{"_ZN3one3two3sumIjLin8E6__halfEEvv", "one::two::sum<unsigned int, -8, __half>"},
		{"_ZN46_INTERNAL_12345678_4_a_cu_12345678_1234567890a4copyEPf", "copy"},
		{"_ZN12_GLOBAL__N_13addEv", "(anonymous namespace)::add"}, {"_ZN1a1kEPf", "a::k"}, {"_ZL1kPf", "k"},
		{"_Z4castIPfEvT_", "cast<float*>"}, {"_Z1fIKPKcRVxOS1_Dn1SEvv", "f<char const* const, long long volatile&, char const*&&, decltype(nullptr), S>"},
		{"_Z8for_eachIZ4mainEUliE1_EviT_", "for_each<main::{lambda(int)#3}>"},
		{"_ZN3app5applyIfZNS_3runEPfEUlS1_iE_EEvPT_iT0_", "app::apply<float, app::run(float*)::{lambda(float*, int)#1}>"},
		{"_ZN3app5applyIfNS_2OpIfEEEEvPT_iT0_", "app::apply<float, app::Op<float>>"}, {"_Z1gIZ1fIfEvT_EUlfE_EvS1_", "g<f<float>(float)::{lambda(float)#1}>"},
		{"_Z1kISt5tupleIJifEELN3cub4AlgoE1EPFivEEvv", "k<std::tuple<int, float>, (cub::Algo)1, int (*)()>"},
		{"_Z1kIXadL_Z1fiEEJEEvv", "k<&f(int)>"}, {"_Z1kI1PIRfEEvv", "k<P<float&>>"}, {"_Z1gI1AIiEZ1fIOS1_EvT_EUlS3_E_EvT0_", "g<A<int>, f<A<int>&&>(A<int>&&)::{lambda(A<int>&&)#1}>"},
		/* An expression as an argument, and what is no mangled name, stay as they are. */
		{"_Z1fIXsrT_1nEEvv", "_Z1fIXsrT_1nEEvv"}, {"_Z", "_Z"}, {"_Z99f", "_Z99f"}, {"_Z1fILi1", "_Z1fILi1"}, {"_Z1fI", "_Z1fI"},
		{"_Z1fIS0_Evv", "_Z1fIS0_Evv"}, {"_Z1fIT_Evv", "_Z1fIT_Evv"}, {"_Z1fIZ1gEUl", "_Z1fIZ1gEUl"}, {"_Z1fI1AB3tagEvv", "_Z1fI1AB3tagEvv"},
	};
	char text[GT_KERNEL_NAME];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		CHECK(strcmp(gt_name_words(cases[i][0], text), cases[i][1]) == 0);
}

static void test_plain_names_are_without_namespaces(void)
{
	static const char *const cases[][2] = {
		{"gemm", "gemm"}, {"", ""}, {"void gemm<float, (int)4>(T1 *, T2)", "gemm"}, {"gemm(float*)", "gemm"}, {"one::two::gemm", "gemm"},
		{"void one::two::gemm<one::Tile<4>>(float*)", "gemm"}, {"void <unnamed>::gemm<float>(T1 *)", "gemm"},
		{"(anonymous namespace)::gemm(float*)", "gemm"}, {"void one::Tiles<int>::gemm(int)", "gemm"}, {"void gemm<int, (anon", "gemm"},
		{"_ZN3one3two4gemmIfEEvPT_", "gemm"}, {"_Z4gemmPKfS0_Pfi", "gemm"}, {"_ZL4gemmPf", "gemm"}, {"_Z99f", "_Z99f"}, {"layer 2", "layer 2"},
		{"<lambda>", "<lambda>"},
	};
	size_t length;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *plain = gt_name_plain(cases[i][0], &length);
		CHECK(length == strlen(cases[i][1]) && strncmp(plain, cases[i][1], length) == 0);
	}
}

static void formulas_become_texts_in_csv(void)
{
	static const struct {
		const char *text, *field;
	} cases[] = {
		{"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""}, {"+1+1", "\"'+1+1\""}, {"-x", "\"'-x\""}, {"@SUM(A1)", "\"'@SUM(A1)\""}, {"'=1", "\"''=1\""},
		{"-1.5", "-1.5"}, {"+3", "+3"}, {"gemm", "gemm"}, {"", ""}, {"a,b", "\"a,b\""}, {"'t", "'t"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *written = NULL, *field;
		size_t length;
		FILE *to = open_memstream(&written, &length);
		gt_csv_field(cases[i].text, false, to);
		fclose(to);
		CHECK_TEXT(written, cases[i].field);
		char *at = written;
		CHECK(gt_csv_next_field(&at, &field));
		CHECK_TEXT(field, cases[i].text);
		CHECK(at == NULL);
		free(written);
	}
}

/* A count of a stage with entries of all kinds; settings and words that differ at times, and now and then many counters or a long array. */
static void add_random(struct gt_report *reports[2], uint64_t id, size_t longest, uint64_t *random)
{
	static const char *const stages[] = {"l1", "l2", "dram", "mine"};
	const uint64_t draw = gt_random(random);
	struct gt_count count;
	uint64_t array[5000];
	char name[32];

	gt_count_begin(&count, stages[draw % 4], id);
	CHECK(gt_count_number(&count, "reads", gt_random(random) >> (12 + (draw >> 8 & 31)), &error) == 0);
	CHECK(gt_count_number(&count, "ways", draw >> 14 & 3 ? 4 : 8, &error) == 0);
	CHECK(gt_count_text(&count, "index", draw >> 16 & 7 ? "mod" : "", &error) == 0);
	for (unsigned i = 0; i < (draw >> 19 & 31 ? draw >> 24 & 3 : 100); i++) {
		snprintf(name, sizeof name, "0x%x.reads", i);
		CHECK(gt_count_number(&count, name, gt_random(random) >> 40, &error) == 0);
	}
	const size_t n = draw >> 26 & 1 ? draw >> 28 & 15 : (draw >> 28) % longest;
	for (size_t i = 0; i < n; i++)
		array[i] = gt_random(random) & 3 ? gt_random(random) >> (8 + (gt_random(random) & 31)) : 0;
	CHECK(gt_count_array(&count, "mru", array, n, &error) == 0);
	if (draw >> 40 & 1)
		CHECK(gt_count_number(&count, "writes", draw >> 41 & 15, &error) == 0);
	CHECK_EQUAL(gt_report_count(reports[0], &count, &error), 0);
	CHECK_EQUAL(gt_report_count(reports[1], &count, &error), 0);
	gt_count_clear(&count);
}

/* Launches of `names`, whose counts are mostly behind them, and sometimes before them, late, or of no launch at all. */
static void fill_random(struct gt_report *reports[2], uint64_t names, size_t longest, uint64_t *random)
{
	for (uint64_t id = 1; id <= 900; id++) {
		char name[32];
		snprintf(name, sizeof name, "k%d", (int)(gt_random(random) % names));
		if (id % 50 == 0)
			add_random(reports, id, longest, random);
		for (int i = 0; i < 2 && id % 97 > 0; i++)
			CHECK(launch(reports[i], id, name) == 0);
		for (uint64_t n = gt_random(random) % 4; n > 0; n--)
			add_random(reports, gt_random(random) % 8 ? id : 1 + gt_random(random) % id, longest, random);
	}
}

static void check_same(struct gt_report *reports[2], const char *form)
{
	char *written[2] = {NULL, NULL};
	size_t length[2];

	for (int i = 0; i < 2; i++) {
		FILE *to = open_memstream(&written[i], &length[i]);
		CHECK(gt_report_write(reports[i], gt_report_form_find("gtrace", form), to, &error) == 0);
		fclose(to);
	}
	CHECK_EQUAL(length[0], length[1]);
	CHECK(length[0] == length[1] && memcmp(written[0], written[1], length[0]) == 0);
	free(written[0]);
	free(written[1]);
}

/* By launch, and by more and fewer names than are whole at a time; by them all, and by some. */
static void packed_kernels_are_what_they_were(void)
{
	static const struct {
		uint64_t names; /* 0: by launch */
		const char *choose;
	} cases[] = {{0, NULL}, {0, "[1-4]$"}, {5, NULL}, {400, NULL}, {400, "[1-4]$"}};
	uint64_t random = gt_random_state(36, 0);

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct gt_report whole, packed, *reports[2] = {&whole, &packed};
		for (int k = 0; k < 2; k++) {
			CHECK(gt_report_begin(reports[k], cases[i].choose, &error) == 0);
			CHECK(cases[i].names == 0 || gt_report_add_by_name(reports[k], &error) == 0);
		}
		CHECK(gt_report_pack(&packed, &error) == 0);
		fill_random(reports, cases[i].names ? cases[i].names : 30, i == 0 ? 5000 : 100, &random);
		for (int k = 0; k < 2; k++)
			CHECK(gt_report_finish(reports[k], &error) == 0);
		CHECK(packed.n > 0 && packed.n == whole.n);
		CHECK_EQUAL(packed.launches, whole.launches);
		if (i == 0)
			CHECK(gt_packed_in_file(packed.packed));
		check_same(reports, "table");
		check_same(reports, "csv");
		check_same(reports, "json");
		gt_report_clear(&whole);
		gt_report_clear(&packed);
	}
}

int main(int argc, char *argv[])
{
	if (argc > 1)
		return write_sample(argv[1], argv + 1);
	RUN(test_totals_sum_counts_and_keep_settings);
	RUN(test_a_stage_named_twice_is_two_stages);
	RUN(test_a_total_past_64_bits_is_an_error);
	RUN(test_too_much_is_refused);
	RUN(test_many_counters_find_their_own);
	RUN(test_the_filter_leaves_kernels_out_of_the_total);
	RUN(test_profiler_metrics_follow_their_definitions);
	RUN(test_the_undefined_is_a_dash);
	RUN(test_numbers_for_reading_have_three_digits);
	RUN(test_names_are_those_of_the_source);
	RUN(test_plain_names_are_without_namespaces);
	RUN(formulas_become_texts_in_csv);
	RUN(packed_kernels_are_what_they_were);
	return check_report();
}
