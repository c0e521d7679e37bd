/* SPDX-License-Identifier: MIT */
/* What gtrace help prints: a table of the filters, and one of tasks with the pipes that do them. */
#include "compose/tasks.h"

#include <string.h>

#include "base/options.h"

const struct gt_filter_name gt_filters[] = {
	{"gtrace-record", "runs a CUDA program without a GPU and traces its kernels"},
	{"gtrace-ptx", "runs one PTX kernel, or tells how it coalesces without a run"},
	{"gtrace-order", "reads a trace in any format and sorts it"},
	{"gcoalesce", "warp accesses to requests for lines and sectors"},
	{"gsample", "one launch of each group of launches that are alike"},
	{"gschedule", "blocks to SMs, and the order in which warps issue"},
	{"gcache", "a cache level"},
	{"gdram", "device memory"},
	{"gstats", "the report"},
	{"grd", "reuse distances and causes of misses, anywhere in the pipe"},
	{"gpchase", "caches inferred from latencies"},
	{"gplot", "pictures"},
	{"gtrace-cat", "a stream as text, and back"},
};
const size_t gt_filters_n = sizeof gt_filters / sizeof *gt_filters;

const struct gt_task gt_tasks[] = {
	{"start", "What costs my program most?",
	 "Compile for gtrace's CUDA runtime (-lineinfo: source lines; -g: names of arrays), and run the usual pipe:\n"
	 "    nvcc -g -lineinfo -cudart shared -o program program.cu\n"
	 "    gtrace run ./program\n"
	 "gtrace run program.cu compiles it by itself. gtrace prints the pipe, which you can type and change yourself.\n"},
	{"misses", "Where do the misses come from?",
	 "The findings name the line, the array and the cause of what costs most; the page has all of them:\n"
	 "    gtrace run ./program\n"
	 "    gtrace report --output page ./program\n"
	 "Only loads miss: stores and atomics go on to L2 whether their line is present or not. By hand, the load misses of L1 by line and "
	 "cause, on the GPU's own sets and ways; and by cause for 64 sets of 4 ways:\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 --by site --causes | gstats --lines\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | grd --op loads --per sm,set:64 --classes 4 --by line\n"},
	{"lines", "Which source line misses?",
	 "Lines need nvcc -lineinfo (clang -g). The source with what each line accesses, hits and misses; and by valgrind's cg_annotate:\n"
	 "    gtrace lines ./program\n"
	 "    gtrace lines --callgrind out ./program\n"
	 "    cg_annotate --auto=yes out\n"
	 "By hand, the loads of which most sectors miss in L1 (pc, operation, line, kernel, sectors); and the hit ratio of each:\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 | grd --op loads --by pc --granularity sector --lines 1 --total | cut -f 2-5,7 | sort -rnk 5 | head\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 --by pc | gstats\n"},
	{"arrays", "Which array misses?",
	 "With nvcc -g, arrays have the names and source lines of their allocations; else name them in order:\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 | grd --op loads --by array --granularity sector --name l1_misses | gstats\n"
	 "    gtrace-record --gpu a100 --name in,out ./program | gschedule | gcache --l1 | grd --op loads --by array --profile\n"},
	{"coalescing", "Are the accesses coalesced?",
	 "Sectors of each access, beside the least that would do, by line; in the whole, by instruction, and without a run:\n"
	 "    gtrace-record ./program | gcoalesce --by site | gstats --lines\n"
	 "    gtrace-record ./program | gcoalesce | gstats\n"
	 "    gtrace-record ./program | gcoalesce --degree\n"
	 "    mkdir -p ptx; gtrace-record --ptx ptx ./program >stream\n"
	 "    gtrace-ptx --static ptx/1.ptx\n"},
	{"shared", "Do accesses to shared memory conflict?",
	 "Passes of the banks, 1 an access without conflicts, in the whole and by __shared__ array:\n"
	 "    gtrace-record --gpu a100 --space global,local,shared ./program | gcoalesce | gstats\n"},
	{"sizes", "What if L1 or L2 had another size?",
	 "A table of six sizes of each; and the miss ratio of every size of an ideal L1, in one pass:\n"
	 "    gtrace sizes ./program\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | grd --curve\n"},
	{"sweep", "How do I try a hundred designs?",
	 "A file names sources, and values to cross: here 200 points, each a row of results/sweeps/my.csv. STAGE.OPTION is an option of gcoalesce, "
	 "gcache --l1, gcache --l2 or gdram, a name alone one of gschedule; pipelines/sweep.md has the rest:\n"
	 "    printf '%s\\n' 'input app = gtrace-record --gpu a100 ./program' 'trace = app' 'gpu = a100 h100' 'l1.size = 16K 32K 64K 128K 192K' "
	 "'l1.ways = 2 4 8 full' 'l2.size = 2M 4M 8M 16M 32M' 'counters = l1.read_hit_rate l2.reads dram.reads' >my.sweep\n"
	 "    gtrace sweep my.sweep\n"
	 "The designs that no other beats in size and reads, of each GPU; their rows, with the knee; and of each L1 the best:\n"
	 "    gplot sweep -x l1.size -y l2.reads --panel gpu --pareto -o front.svg results/sweeps/my.csv\n"
	 "    gplot sweep -x l1.size -y l2.reads --panel gpu --pareto --table results/sweeps/my.csv\n"
	 "    gplot sweep -x l1.size -y l2.reads --by l1.ways --where gpu=a100,l2.size=8M -o ways.svg results/sweeps/my.csv\n"},
	{"compare", "What did my change do?",
	 "What changed from one program to the other, kernel by kernel, with the findings that are gone or new; and from one GPU to another:\n"
	 "    gtrace compare ./before ./after\n"
	 "    gtrace compare --gpu a100,h100 ./program\n"
	 "Before a change, keep the accesses, and compare with the program afterwards (with a profiler's counts: gtrace help hardware):\n"
	 "    gtrace-record --gpu a100 ./program >kept\n"
	 "    gtrace compare kept ./program\n"},
	{"hardware", "Does the model agree with my profiler?",
	 "The counters by a profiler's names; and beside those that it has measured (ncu --csv):\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --names ncu\n"
	 "    gtrace-record --gpu a100 ./program | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --reference measured.csv\n"},
	{"ptx", "How do I run a single kernel, or read its PTX?",
	 "Instructions are named by their place in the PTX that was run, which --ptx writes:\n"
	 "    mkdir -p ptx; gtrace-record --ptx ptx ./program >stream\n"
	 "    gtrace-ptx --list ptx/1.ptx\n"},
	{"gpu", "Which GPUs are there, and what is known of them?",
	 "Each value of a description has its origin; a path is a description of your own:\n"
	 "    gtrace-cat --gpu a100\n"
	 "One of a GPU that is not there, to fill in; gtrace-gpu(5) says where each value is found:\n"
	 "    gtrace gpu new rtx4080\n"},
	{"trace", "How do I read a trace?",
	 "Known formats are detected; others need a regular expression (gtrace-order --format-regex):\n"
	 "    gtrace run examples/traces/gemm.rdgc.xz\n"},
};
const size_t gt_tasks_n = sizeof gt_tasks / sizeof *gt_tasks;

const char *gt_filter_find(const char *word)
{
	for (size_t i = 0; i < gt_filters_n; i++) {
		const char *name = gt_filters[i].name;
		size_t skip = strncmp(name, "gtrace-", 7) == 0 ? 7 : 1;
		if (strcmp(name, word) == 0 || strcmp(name + skip, word) == 0)
			return name;
	}
	return NULL;
}

const struct gt_task *gt_task_find(const char *name)
{
	for (size_t i = 0; i < gt_tasks_n; i++)
		if (strcmp(gt_tasks[i].name, name) == 0)
			return &gt_tasks[i];
	return NULL;
}

/* Takes a name if it is nearer than all before it; at most every third letter may be wrong. */
static void consider(const char *word, const char *name, const char **best, unsigned *distance)
{
	unsigned found = gt_edit_distance(word, name);

	if (found < *distance) {
		*best = name;
		*distance = found;
	}
}

const char *gt_task_near(const char *word)
{
	static const char *const commands[] = {"run", "report", "lines", "sizes", "kernels", "compare", "help"};
	unsigned distance = (unsigned)strlen(word) / 3 + 1;
	const char *best = NULL;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		consider(word, commands[i], &best, &distance);
	for (size_t i = 0; i < gt_tasks_n; i++)
		consider(word, gt_tasks[i].name, &best, &distance);
	for (size_t i = 0; i < gt_filters_n; i++)
		consider(word, gt_filters[i].name, &best, &distance);
	return best;
}
