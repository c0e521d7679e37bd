/* SPDX-License-Identifier: MIT */
/* A table of what the reads of each level and of device memory would be with other sizes of L1 or L2. The stages up to the
 * schedule run once, into a temporary file; each row is a pipe of the stages behind it, whose counts are read from the CSV of
 * its gstats. Rows of L2 begin behind the GPU's own L1, which is run once too. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "cache/level.h"
#include "compose/usual.h"
#include "gpu/parameter.h"
#include "report/format.h"

#define LEAST 8 /* the smallest cache is the GPU's, divided by this, the largest times MOST */
#define MOST 4
#define ROWS_MAX 16

/* The counters of a row, as gstats --csv prints them. */
enum { L1_READS, L1_HITS, L2_READS, L2_HITS, DRAM_READS, COUNTERS };
static const char *const counters[COUNTERS] = {
	[L1_READS] = "l1,reads", [L1_HITS] = "l1,read_hits", [L2_READS] = "l2,reads", [L2_HITS] = "l2,read_hits", [DRAM_READS] = "dram,reads"};

struct row {
	const char *level; /* whose size varies */
	bool is_gpu; /* the size is the GPU's: no option is given */
	char size[32];
	char ways[32];	   /* the option, or "" */
	bool known[COUNTERS];
	uint64_t counted[COUNTERS];
};

struct run {
	const struct gt_sizes *sizes;
	struct gt_gpu gpu;
	int scheduled, behind_l1, counts; /* temporary files */
	struct row rows[2 * ROWS_MAX];
	size_t n;
	int status;
};

/* Runs a pipe from the start of one file into another, which it empties first, and clears the pipe. Returns -1 also if the
 * pipe fails: then the run has its status. */
static int run_pipe(struct run *run, struct gt_pipe *pipe, int input, int output, struct gt_error *error)
{
	int result = 0;

	if ((input != STDIN_FILENO && lseek(input, 0, SEEK_SET) != 0) || ftruncate(output, 0) != 0 || lseek(output, 0, SEEK_SET) != 0)
		result = gt_fail_errno(error, "a temporary file");
	if (result == 0)
		run->sizes->show(pipe);
	if (result == 0)
		result = gt_pipe_run(pipe, input, output, &run->status, error);
	gt_pipe_clear(pipe);
	return result == 0 && run->status == 0 ? 0 : -1;
}

/* ---- the schedule, and the GPU ---- */

static int make_schedule(struct run *run, struct gt_error *error)
{
	const struct gt_origin *origin = run->sizes->origin;
	struct gt_pipe pipe = {.into = "scheduled"};

	if (gt_usual_origin(&pipe, origin, run->sizes->usual, error) != 0 ||
	    gt_usual_stages(&pipe, origin, run->sizes->usual, gt_usual_next(origin), GT_USUAL_L1, error) != 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	if (pipe.commands == 0) { /* a stream that is scheduled */
		run->scheduled = dup(origin->descriptor);
		return run->scheduled >= 0 ? 0 : gt_fail_errno(error, "%s", origin->path);
	}
	if (origin->kind == GT_ORIGIN_STREAM)
		pipe.from = origin->path;
	run->scheduled = gt_temporary_file(gt_temporary_directory(), error);
	if (run->scheduled < 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	return run_pipe(run, &pipe, origin->kind == GT_ORIGIN_STREAM ? origin->descriptor : STDIN_FILENO, run->scheduled, error);
}

static int read_gpu(struct run *run, struct gt_error *error)
{
	enum gt_event event = GT_COUNT;
	int result = 0;

	if (lseek(run->scheduled, 0, SEEK_SET) != 0)
		return gt_fail_errno(error, "the schedule");
	struct gt_reader *reader = gt_reader_open(run->scheduled, "the schedule", NULL, 0, error);
	while (reader && event != GT_GPU && event != GT_END && event != GT_FAILED)
		event = gt_read(reader, error);
	if (!reader || event == GT_FAILED)
		result = -1;
	else if (event == GT_END)
		result = gt_fail(error, "the stream has no GPU description: expected one made by gschedule --gpu");
	const struct gt_gpu *gpu = result == 0 ? gt_reader_gpu(reader) : NULL;
	for (size_t i = 0; gpu && i < gpu->n && result == 0; i++)
		result = gt_gpu_set(&run->gpu, gpu->figures[i].key, gpu->figures[i].value, gpu->figures[i].status, gpu->figures[i].source, error);
	gt_reader_close(reader);
	return result;
}

/* ---- the rows ---- */

/* Whether a level can have that size: with more or fewer sets, or, where the index function does not allow that, ways. -1 when memory
 * is short. */
static int set_size(const struct run *run, struct row *row, uint64_t gpu_size, uint64_t size, struct gt_error *error)
{
	const char *parameters[] = {"size", row->size, NULL, row->ways, NULL};
	char key[GT_KEY_BYTES];
	uint64_t ways = 0;

	gt_format_size(size, row->size);
	row->ways[0] = '\0';
	struct gt_level *level = gt_level_make(row->level, parameters, &run->gpu, NULL, error);
	if (!level && gt_failed_memory(error))
		return -1;
	gt_parameter_key(row->level, GT_LEVEL_WAYS, key);
	if (!level && gt_gpu_count(&run->gpu, key, 0, &ways, error) == 0 && ways * size % gpu_size == 0 && ways * size >= gpu_size) {
		snprintf(row->ways, sizeof row->ways, "%" PRIu64, ways * size / gpu_size);
		parameters[2] = "ways";
		level = gt_level_make(row->level, parameters, &run->gpu, NULL, error);
		if (!level && gt_failed_memory(error))
			return -1;
	}
	gt_level_close(level);
	return level != NULL;
}

/* Takes the lines of a total that have the counters. */
static int read_counts(const struct run *run, struct row *row, struct gt_error *error)
{
	FILE *from = NULL;
	bool any = false;
	char line[1024], *end;
	int copy = dup(run->counts);

	if (copy < 0 || lseek(copy, 0, SEEK_SET) != 0 || !(from = fdopen(copy, "r"))) {
		if (copy >= 0)
			close(copy);
		return gt_fail_errno(error, "the counts");
	}
	while (fgets(line, sizeof line, from)) {
		for (size_t i = 0; i < COUNTERS; i++) {
			size_t length = strlen(counters[i]);
			if (strncmp(line, "total,", 6) != 0 || strncmp(line + 6, counters[i], length) != 0 || line[6 + length] != ',')
				continue;
			row->counted[i] = strtoull(line + 7 + length, &end, 10);
			any |= row->known[i] = *end == '\n';
		}
	}
	int result = ferror(from) ? gt_fail_errno(error, "the counts") : any ? 0 : gt_fail(error, "no kernels");
	fclose(from);
	return result;
}

/* The row in which both caches are the GPU's own, if it is counted already. */
static const struct row *find_gpu_row(const struct run *run)
{
	for (size_t i = 0; i < run->n; i++)
		if (run->rows[i].is_gpu)
			return &run->rows[i];
	return NULL;
}

/* Counts one row behind the schedule, or behind the L1 that is the GPU's own. */
static int count_row(struct run *run, struct row *row, struct gt_error *error)
{
	bool l1 = strcmp(row->level, "l1") == 0, is_gpu = row->is_gpu;
	const struct gt_usual *usual = run->sizes->usual;
	struct gt_pipe pipe = {.from = l1 && !is_gpu ? "scheduled" : "behind_l1"};
	int input = l1 && !is_gpu ? run->scheduled : run->behind_l1, result = 0;

	if (l1 && !is_gpu)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_L1, error) != 0 || gt_pipe_option(&pipe, "--size", row->size, error) != 0 ||
			 gt_pipe_option(&pipe, "--ways", row->ways[0] ? row->ways : NULL, error) != 0;
	if (result == 0)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_L2, error);
	if (result == 0 && !l1)
		result = gt_pipe_option(&pipe, "--size", is_gpu ? NULL : row->size, error) != 0 ||
			 gt_pipe_option(&pipe, "--ways", row->ways[0] ? row->ways : NULL, error) != 0;
	if (result == 0)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_DRAM, error) != 0 || gt_usual_command(&pipe, usual, "gstats --csv", error) != 0 ||
			 gt_pipe_option(&pipe, "--kernel", gt_usual_kernel(run->sizes->origin, usual), error) != 0;
	if (result != 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	return run_pipe(run, &pipe, input, run->counts, error) != 0 ? -1 : read_counts(run, row, error);
}

/* Counts the rows of a level: from the smallest size up, with the GPU's own in its place. */
static int count_level(struct run *run, const char *level, struct gt_error *error)
{
	char key[GT_KEY_BYTES];
	uint64_t gpu_size = 0;

	gt_parameter_key(level, GT_LEVEL_SIZE, key);
	const char *text = gt_gpu_get(&run->gpu, key);
	if (text && strcmp(text, "none") == 0)
		return 0;
	if (gt_gpu_size(&run->gpu, key, 0, &gpu_size, error) != 0)
		return -1;
	if (gpu_size == 0)
		return gt_fail(error, "the GPU's description has no %s", key);
	for (uint64_t size = gpu_size / LEAST; size <= MOST * gpu_size; size *= 2) {
		struct row *row = &run->rows[run->n];
		*row = (struct row){.level = level, .is_gpu = size == gpu_size};
		const struct row *same = size == gpu_size ? find_gpu_row(run) : NULL;
		int possible = size == gpu_size ? 1 : size == 0 ? 0 : set_size(run, row, gpu_size, size, error);
		if (possible < 0)
			return -1;
		if (possible == 0)
			continue;
		if (same)
			*row = *same;
		else if (count_row(run, row, error) != 0)
			return -1;
		row->level = level;
		gt_format_size(size, row->size);
		run->n++;
	}
	return 0;
}

static int count_all(struct run *run, struct gt_error *error)
{
	struct gt_pipe pipe = {.from = "scheduled", .into = "behind_l1"};

	if (make_schedule(run, error) != 0 || read_gpu(run, error) != 0)
		return -1;
	run->behind_l1 = gt_temporary_file(gt_temporary_directory(), error);
	run->counts = run->behind_l1 < 0 ? -1 : gt_temporary_file(gt_temporary_directory(), error);
	if (run->counts < 0)
		return -1;
	if (gt_usual_stage_command(&pipe, run->sizes->usual, GT_USUAL_L1, error) != 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	if (run_pipe(run, &pipe, run->scheduled, run->behind_l1, error) != 0)
		return -1;
	return count_level(run, "l1", error) != 0 ? -1 : count_level(run, "l2", error);
}

/* ---- the table ---- */

static const char *rate(const struct row *row, int hits, int reads, const char *unit, char text[32])
{
	if (!row->known[hits] || !row->known[reads] || row->counted[reads] == 0)
		return "-";
	snprintf(text, 32, "%.2f%s", 100 * (double)row->counted[hits] / (double)row->counted[reads], unit);
	return text;
}

static void write_csv(const struct run *run, FILE *to)
{
	char rates[2][32];

	fputs("level,size,gpu,l1.reads,l1.read_hit_rate,l2.reads,l2.read_hit_rate,dram.reads\n", to);
	for (size_t i = 0; i < run->n; i++) {
		const struct row *row = &run->rows[i];
		fprintf(to, "%s,%s,%s,%" PRIu64 ",%s,%" PRIu64 ",%s,%" PRIu64 "\n", row->level, row->size, row->is_gpu ? "yes" : "no",
			row->counted[L1_READS], rate(row, L1_HITS, L1_READS, "", rates[0]), row->counted[L2_READS],
			rate(row, L2_HITS, L2_READS, "", rates[1]), row->counted[DRAM_READS]);
	}
}

static int write_table(const struct run *run, FILE *to, struct gt_error *error)
{
	struct gt_table table = {.alignment = "lrlrrrr"};
	char rates[2][32], numbers[2][GT_TABLE_NUMBER];

	gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){"level", "size", "", "L1 read hits", "L2 reads", "L2 read hits", "DRAM reads"});
	for (size_t i = 0; i < run->n; i++) {
		const struct row *row = &run->rows[i];
		gt_table_add(&table, (const char *const[GT_TABLE_COLUMNS]){
			row->level, row->size, row->is_gpu ? "(GPU)" : "", rate(row, L1_HITS, L1_READS, " %", rates[0]),
			gt_table_number(row->counted[L2_READS], numbers[0]), rate(row, L2_HITS, L2_READS, " %", rates[1]),
			gt_table_number(row->counted[DRAM_READS], numbers[1])});
	}
	return gt_table_write(&table, to, error);
}

int gt_sizes_write(const struct gt_sizes *sizes, FILE *to, int *status, struct gt_error *error)
{
	struct run run = {.sizes = sizes, .scheduled = -1, .behind_l1 = -1, .counts = -1};
	int result = count_all(&run, error);

	if (result == 0 && sizes->csv)
		write_csv(&run, to);
	else if (result == 0)
		result = write_table(&run, to, error);
	gt_gpu_clear(&run.gpu);
	for (int i = 0; i < 3; i++) {
		int file = ((const int[]){run.scheduled, run.behind_l1, run.counts})[i];
		if (file >= 0)
			close(file);
	}
	*status = run.status;
	return run.status != 0 ? 0 : result;
}
