/* SPDX-License-Identifier: MIT */
/* A table of what the reads of each level and of device memory would be with other sizes of L1 or L2, and what it shows. The
 * stages up to the schedule run once, into a temporary file; each row is a pipe of the stages behind it, whose counts are read
 * from the CSV of its gstats. Rows of L2 begin behind the GPU's own L1, which is run once too. The last row of a level is one
 * that evicts no line: what it still misses is compulsory. */

#include <ctype.h>
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
#include "report/metric.h"

#define LEAST 8 /* the smallest cache is the GPU's, divided by this, the largest times MOST */
#define MOST 4
#define ROWS_MAX 16
#define SMS_MOST 256 /* of a GPU whose description does not say */

/* The counters of a row, as gstats --csv prints them. Those of L2 are behind their like of L1. */
enum { L1_READS, L1_HITS, L1_EVICTIONS, L1_LINES, L1_SIZE, L2_READS, L2_HITS, L2_EVICTIONS, L2_LINES, DRAM_READS, COUNTERS };
static const char *const counters[COUNTERS] = {
	[L1_READS] = "l1,reads", [L1_HITS] = "l1,read_hits", [L1_EVICTIONS] = "l1,evictions", [L1_LINES] = "l1,line_misses", [L1_SIZE] = "l1,size",
	[L2_READS] = "l2,reads", [L2_HITS] = "l2,read_hits", [L2_EVICTIONS] = "l2,evictions", [L2_LINES] = "l2,line_misses",
	[DRAM_READS] = "dram,reads"};

struct row {
	const char *level; /* whose size varies */
	bool is_gpu; /* the size is the GPU's: no option is given */
	bool is_infinite; /* it evicts nothing */
	bool is_knee;
	char size[32];
	char ways[32];	   /* the option, or "" */
	bool known[COUNTERS];
	uint64_t counted[COUNTERS];
	uint64_t largest[COUNTERS]; /* of the kernels */
};

struct run {
	const struct gt_sizes *sizes;
	struct gt_usual usual; /* of the pipes behind the schedule, which show no progress */
	struct gt_gpu gpu;
	int scheduled, behind_l1, counts; /* temporary files */
	struct row rows[2 * ROWS_MAX]; /* by level: sizes from the smallest, then the one that is infinite, if it could be counted */
	size_t n;
	struct row own; /* both caches are the GPU's, if its level is not NULL */
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
		result = gt_usual_divide(pipe, run->sizes->usual, error);
	if (result == 0 && run->sizes->usual->verbose)
		run->sizes->show(pipe, NULL);
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
	if (gpu)
		result = gt_gpu_join(&run->gpu, gpu, error);
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

/* Takes a line of a kernel or of the total if it has one of the counters. */
static bool read_count(struct row *row, char *line)
{
	size_t label = strcspn(line, ",");
	bool total = label == 5 && strncmp(line, "total", 5) == 0;
	char *end;

	for (size_t i = 0; i < COUNTERS && line[label]; i++) {
		size_t length = strlen(counters[i]);
		const char *counter = line + label + 1;
		if (strncmp(counter, counters[i], length) != 0 || counter[length] != ',')
			continue;
		uint64_t count = strtoull(counter + length + 1, &end, 10);
		if (total && *end == '\n') {
			row->counted[i] = count;
			row->known[i] = true;
		}
		if (!total && count > row->largest[i])
			row->largest[i] = count;
		return total;
	}
	return false;
}

static int read_counts(const struct run *run, struct row *row, struct gt_error *error)
{
	FILE *from = NULL;
	bool any = false;
	char line[1024];
	int copy = dup(run->counts);

	if (copy < 0 || lseek(copy, 0, SEEK_SET) != 0 || !(from = fdopen(copy, "r"))) {
		if (copy >= 0)
			close(copy);
		return gt_fail_errno(error, "the counts");
	}
	while (fgets(line, sizeof line, from))
		any |= read_count(row, line);
	int result = ferror(from) ? gt_fail_errno(error, "the counts") : any ? 0 : gt_fail(error, "no kernels");
	fclose(from);
	return result;
}

static int add_options(struct gt_pipe *pipe, const struct row *row, struct gt_error *error)
{
	return gt_pipe_option(pipe, "--size", row->size, error) != 0 ||
	       gt_pipe_option(pipe, "--ways", row->ways[0] ? row->ways : NULL, error) != 0 ||
	       gt_pipe_option(pipe, "--replace", row->is_infinite ? "lru" : NULL, error) != 0 ? -1 : 0;
}

/* Counts one row behind the schedule, or behind the L1 that is the GPU's own. */
static int count_row(struct run *run, struct row *row, struct gt_error *error)
{
	bool l1 = strcmp(row->level, "l1") == 0, is_gpu = row->is_gpu;
	const struct gt_usual *usual = &run->usual;
	struct gt_pipe pipe = {.from = l1 && !is_gpu ? "scheduled" : "behind_l1"};
	int input = l1 && !is_gpu ? run->scheduled : run->behind_l1, result = 0;

	if (l1 && !is_gpu)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_L1, error) != 0 || add_options(&pipe, row, error) != 0;
	if (result == 0)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_L2, error);
	if (result == 0 && !l1 && !is_gpu)
		result = add_options(&pipe, row, error);
	if (result == 0)
		result = gt_usual_stage_command(&pipe, usual, GT_USUAL_DRAM, error) != 0 || gt_usual_command(&pipe, usual, "gstats --csv", error) != 0 ||
			 gt_pipe_option(&pipe, "--kernel", gt_usual_kernel(run->sizes->origin, usual), error) != 0;
	if (result != 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	return run_pipe(run, &pipe, input, run->counts, error) != 0 ? -1 : read_counts(run, row, error);
}

/* The counter of L1's name of a row's level. */
static int of_level(const struct row *row, int counter)
{
	return strcmp(row->level, "l1") == 0 ? counter : counter + L2_READS - L1_READS;
}

/* Sets a size that holds all lines of a kernel, as far as the instances of a level can be so large: every line that comes in has
 * missed. Of two halves, each has half of the size. Returns whether it can be made, or -1. */
static int set_infinite(const struct run *run, struct row *row, const struct row *last, struct gt_error *error)
{
	const char *parameters[] = {"size", row->size, "ways", "full", "replace", "lru", NULL};
	int counter = of_level(row, L1_LINES);
	uint64_t lines = 2 * (run->sizes->usual->keep_l2 ? last->counted[counter] : last->largest[counter]), most = GT_LEVEL_LINES_MAX / 2;
	uint64_t line = 0, sms = 0, size = 1;
	char key[GT_KEY_BYTES];

	gt_parameter_key(row->level, GT_LEVEL_LINE, key);
	if (gt_gpu_size(&run->gpu, key, 128, &line, error) != 0 || gt_gpu_count(&run->gpu, "sms", SMS_MOST, &sms, error) != 0)
		return -1;
	if (of_level(row, 0) == 0)
		most = GT_LEVEL_LINES_MAX / (sms > 0 ? sms : 1);
	while (size < lines && 2 * size <= most)
		size *= 2;
	gt_format_size(size * line, row->size);
	snprintf(row->ways, sizeof row->ways, "full");
	struct gt_level *level = gt_level_make(row->level, parameters, &run->gpu, NULL, error);
	bool possible = level != NULL;
	gt_level_close(level);
	return !possible && gt_failed_memory(error) ? -1 : possible;
}

/* Counts the row of a level that evicts nothing, if there is one: the largest size may do so itself. */
static int count_infinite(struct run *run, struct gt_error *error)
{
	const struct row *last = &run->rows[run->n - 1];
	struct row *row = &run->rows[run->n];
	int evictions = of_level(last, L1_EVICTIONS), possible = 1;

	*row = (struct row){.level = last->level, .is_infinite = true};
	if (last->known[evictions] && last->counted[evictions] == 0) {
		*row = *last;
		row->is_infinite = true;
		row->is_gpu = false;
	} else {
		possible = set_infinite(run, row, last, error);
		if (possible < 0 || (possible && count_row(run, row, error) != 0))
			return -1;
	}
	if (possible && row->known[evictions] && row->counted[evictions] == 0) {
		snprintf(row->size, sizeof row->size, "infinite");
		run->n++;
	}
	return 0;
}

/* Counts the row of the GPU's own caches, once, and takes its size of a level: that of the description; of L1 without what kernels
 * use of it as shared memory, if that is the same in all. `memory` is that size and what holds no lines (l1_reserved): the other rows have
 * it times a power of two. */
static int own_size(struct run *run, const char *level, uint64_t *size, uint64_t *memory, struct gt_error *error)
{
	char key[GT_KEY_BYTES];
	uint64_t reserved = 0;

	gt_parameter_key(level, GT_LEVEL_SIZE, key);
	const char *text = gt_gpu_get(&run->gpu, key);
	*size = *memory = 0;
	if (text && strcmp(text, "none") == 0)
		return 0;
	if (gt_gpu_size(&run->gpu, key, 0, size, error) != 0 || gt_gpu_size(&run->gpu, "l1_reserved", 0, &reserved, error) != 0)
		return -1;
	if (*size == 0)
		return gt_fail(error, "the GPU's description has no %s", key);
	if (!run->own.level) {
		run->own = (struct row){.level = level, .is_gpu = true};
		if (count_row(run, &run->own, error) != 0)
			return -1;
	}
	run->own.level = level;
	*memory = *size;
	if (strcmp(level, "l1") != 0 || !run->own.known[L1_SIZE] || run->own.counted[L1_SIZE] == 0 || run->own.counted[L1_SIZE] == *size)
		return 0;
	*size = run->own.counted[L1_SIZE];
	*memory = *size + reserved;
	return 0;
}

/* Counts the rows of a level: from the smallest size up, with the GPU's own in its place, then the infinite one. */
static int count_level(struct run *run, const char *level, struct gt_error *error)
{
	uint64_t gpu_size, memory;
	size_t before = run->n;

	if (own_size(run, level, &gpu_size, &memory, error) != 0)
		return -1;
	for (uint64_t size = memory / LEAST; memory > 0 && size <= MOST * memory; size *= 2) {
		struct row *row = &run->rows[run->n];
		bool is_own = size == memory;
		*row = is_own ? run->own : (struct row){.level = level};
		int possible = is_own ? 1 : size == 0 ? 0 : set_size(run, row, memory, size, error);
		if (possible < 0 || (possible && !is_own && count_row(run, row, error) != 0))
			return -1;
		gt_format_size(is_own ? gpu_size : size, row->size);
		run->n += (size_t)possible;
	}
	return run->n > before ? count_infinite(run, error) : 0;
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
	if (gt_usual_stage_command(&pipe, &run->usual, GT_USUAL_L1, error) != 0) {
		gt_pipe_clear(&pipe);
		return -1;
	}
	if (run_pipe(run, &pipe, run->scheduled, run->behind_l1, error) != 0)
		return -1;
	return count_level(run, "l1", error) != 0 ? -1 : count_level(run, "l2", error);
}

/* ---- what the rows show ---- */

/* The rows of a level. */
struct rows {
	struct row *all, *gpu, *knee, *infinite; /* NULL: there is none */
	size_t n; /* without the infinite one */
};

static uint64_t misses(const struct row *row)
{
	return row->counted[of_level(row, L1_READS)] - row->counted[of_level(row, L1_HITS)];
}

static bool takes(const struct row *row, const struct row *from)
{
	return gt_knee_takes((double)misses(row), (double)misses(from));
}

/* For the smallest and for the largest size of the table, only the infinite one tells whether it is the knee. */
static struct row *find_knee(const struct rows *rows)
{
	double each[ROWS_MAX] = {0};

	for (size_t i = 0; i < rows->n; i++)
		each[i] = (double)misses(&rows->all[i]);
	size_t i = gt_knee(each, rows->n);
	bool inside = i > 0 && i + 1 < rows->n;
	return i < rows->n && (inside || (rows->infinite && !takes(rows->infinite, &rows->all[i]))) ? &rows->all[i] : NULL;
}

/* Finds the rows of a level, and marks its knee. */
static struct rows rows_of(struct run *run, const char *level)
{
	struct rows rows = {NULL, NULL, NULL, NULL, 0};

	for (size_t i = 0; i < run->n; i++) {
		struct row *row = &run->rows[i];
		if (strcmp(row->level, level) != 0)
			continue;
		rows.all = rows.all ? rows.all : row;
		if (row->is_infinite)
			rows.infinite = row;
		else
			rows.n++;
		if (row->is_gpu)
			rows.gpu = row;
	}
	rows.knee = find_knee(&rows);
	if (rows.knee)
		rows.knee->is_knee = true;
	return rows;
}

/* A part of a whole in percent; it is all or none only if it is that to the last miss. */
static const char *share(uint64_t part, uint64_t whole, char text[32])
{
	double percent = 100 * (double)part / (double)whole;

	if (part == whole || part == 0)
		return part == 0 ? "none" : "all";
	if (percent < 1 || percent > 99)
		return percent < 1 ? "less than 1 %" : "more than 99 %";
	snprintf(text, 32, "%.0f %%", percent);
	return text;
}

static const char *name_of(const struct row *row)
{
	return of_level(row, 0) == 0 ? "L1" : "L2";
}

/* What a larger size would do: the knee, or else the largest, where the knee is nearly as the GPU's own. */
static void say_gain(const struct rows *rows, FILE *to)
{
	const struct row *gpu = rows->gpu, *last = &rows->all[rows->n - 1], *best = rows->knee && rows->knee > gpu && takes(rows->knee, gpu) ? rows->knee : last;
	char text[32];

	fprintf(to, "%s: ", name_of(gpu));
	if (best > gpu && takes(best, gpu))
		fprintf(to, "%s would take %s of the load misses of the GPU's %s%s.", best->size,
			share(misses(gpu) - misses(best), misses(gpu), text), gpu->size,
			best == rows->knee ? " (the knee)" : rows->infinite && takes(rows->infinite, last) ? ", and a larger one more" : "");
	else if (!rows->infinite || takes(rows->infinite, gpu))
		fprintf(to, "no size up to %s helps.", last->size);
	else
		fputs("no larger size helps.", to);
}

/* What no size can take, and what a smaller one would do as well. */
static void say_rest(const struct rows *rows, FILE *to)
{
	const struct row *gpu = rows->gpu, *least = rows->all;
	char text[32], number[GT_TABLE_NUMBER];

	if (rows->infinite) {
		const char *part = share(misses(rows->infinite), misses(gpu), text);
		fprintf(to, " %c%s of its %s load misses are compulsory, first reads of a sector%s.", toupper((unsigned char)*part), part + 1,
			gt_table_number(misses(gpu), number), of_level(gpu, 0) == 0 ? " by an SM" : "");
	}
	while (least < gpu && takes(gpu, least))
		least++;
	if (least < gpu)
		fprintf(to, " %s would do as well as %s%s.", least->size, gpu->size,
			least != rows->knee ? "" : least > rows->all ? " (the knee)" : " (the knee is there or below)");
}

static void say(const struct rows *rows, FILE *to)
{
	const struct row *gpu = rows->gpu;

	if (rows->n == 0 || !gpu)
		return;
	if (gpu->counted[of_level(gpu, L1_READS)] == 0)
		fprintf(to, "%s: no load reaches it.", name_of(gpu));
	else if (misses(gpu) == 0)
		fprintf(to, "%s: every load hits.", name_of(gpu));
	else {
		say_gain(rows, to);
		say_rest(rows, to);
	}
}

static int write_sentences(const struct rows *rows, FILE *to, struct gt_error *error)
{
	struct gt_memory_file memory;

	if (gt_memory_file_open(&memory, error) != 0)
		return -1;
	say(rows, memory.file);
	char *text = gt_memory_file_take(&memory, NULL, "what the sizes show", error);
	if (text && *text) {
		gt_wrapped_write(text, 0, 4, to);
		putc('\n', to);
	}
	free(text);
	return text ? 0 : -1;
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

	fputs("level,size,gpu,l1.reads,l1.read_hit_rate,l2.reads,l2.read_hit_rate,dram.reads,knee\n", to);
	for (size_t i = 0; i < run->n; i++) {
		const struct row *row = &run->rows[i];
		fprintf(to, "%s,%s,%s,%" PRIu64 ",%s,%" PRIu64 ",%s,%" PRIu64 ",%s\n", row->level, row->size, row->is_gpu ? "yes" : "no",
			row->counted[L1_READS], rate(row, L1_HITS, L1_READS, "", rates[0]), row->counted[L2_READS],
			rate(row, L2_HITS, L2_READS, "", rates[1]), row->counted[DRAM_READS], row->is_knee ? "yes" : "no");
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
			row->level, row->size, row->is_gpu ? row->is_knee ? "GPU, knee" : "GPU" : row->is_knee ? "knee" : "",
			rate(row, L1_HITS, L1_READS, " %", rates[0]),
			gt_table_number(row->counted[L2_READS], numbers[0]), rate(row, L2_HITS, L2_READS, " %", rates[1]),
			gt_table_number(row->counted[DRAM_READS], numbers[1])});
	}
	return gt_table_write(&table, to, error);
}

static int write_all(struct run *run, FILE *to, struct gt_error *error)
{
	struct rows l1 = rows_of(run, "l1"), l2 = rows_of(run, "l2");

	if (run->sizes->csv) {
		write_csv(run, to);
		return 0;
	}
	if (write_sentences(&l1, to, error) != 0 || write_sentences(&l2, to, error) != 0)
		return -1;
	if (run->n == 0)
		fputs("the GPU has neither an L1 nor an L2\n", to);
	else
		putc('\n', to);
	return run->n == 0 ? 0 : write_table(run, to, error);
}

/* Shows in one pipe what all rows run. */
static int show_all(const struct gt_sizes *sizes, struct gt_error *error)
{
	const struct gt_usual *usual = sizes->usual;
	struct gt_pipe pipe = {.from = sizes->origin->kind == GT_ORIGIN_STREAM ? sizes->origin->path : NULL};
	int result = gt_usual_origin(&pipe, sizes->origin, usual, error) != 0 ||
		     gt_usual_stages(&pipe, sizes->origin, usual, gt_usual_next(sizes->origin), GT_USUAL_L1, error) != 0 ||
		     gt_usual_stage_command(&pipe, usual, GT_USUAL_L1, error) != 0 || gt_pipe_option(&pipe, "--size", "SIZE", error) != 0 ||
		     gt_usual_stage_command(&pipe, usual, GT_USUAL_L2, error) != 0 || gt_pipe_option(&pipe, "--size", "SIZE", error) != 0 ||
		     gt_usual_stage_command(&pipe, usual, GT_USUAL_DRAM, error) != 0 ? -1 : 0;

	if (result == 0)
		sizes->show(&pipe, "sizes of L1, then of L2 (-v shows each pipe)");
	gt_pipe_clear(&pipe);
	return result;
}

int gt_sizes_write(const struct gt_sizes *sizes, FILE *to, int *status, struct gt_error *error)
{
	struct run run = {.sizes = sizes, .usual = *sizes->usual, .scheduled = -1, .behind_l1 = -1, .counts = -1};
	int result = sizes->usual->verbose ? 0 : show_all(sizes, error);

	run.usual.verbose = false;
	if (result == 0)
		result = count_all(&run, error);

	if (result == 0)
		result = write_all(&run, to, error);
	gt_gpu_clear(&run.gpu);
	for (int i = 0; i < 3; i++) {
		int file = ((const int[]){run.scheduled, run.behind_l1, run.counts})[i];
		if (file >= 0)
			close(file);
	}
	*status = run.status;
	return run.status != 0 ? 0 : result;
}
