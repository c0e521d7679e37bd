/* SPDX-License-Identifier: MIT */
/* A stream as text (stream/views.h), read: fields, rows, the other lines, and a whole stream. */
#include "stream/views.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/scan.h"
#include "stream/hint.h"
#include "stream/op.h"
#include "stream/records.h"
#include "stream/stream.h"

/* ---- fields ---- */

/* Fields that are no column of a batch. */
enum { FIELD_IGNORED = -1, FIELD_KERNEL = -2, FIELD_LANES = -3 };

/* Cuts the next field off a line; NULL after the last. */
static char *cut_field(char **line, char separator)
{
	char *field = *line;

	if (!field)
		return NULL;
	char *end = strchr(field, separator);
	if (end)
		*end = '\0';
	*line = end ? end + 1 : NULL;
	return field;
}

/* Cuts "key=value" apart; the value, or NULL. */
static char *cut_value(char *pair)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	return value;
}

/* A whole number, 0x or decimal, whose value fits `width` bytes. 0, or -1. */
static int parse_number(const char *text, unsigned width, uint64_t *value)
{
	char *end;
	uint64_t max = width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1;

	if (*text < '0' || *text > '9')
		return -1;
	errno = 0;
	*value = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
	return *end != '\0' || errno == ERANGE || *value > max ? -1 : 0;
}

/* The names of columns, and the rows below them. */

/* ---- the names of columns ---- */

/* The index into gt_columns, or FIELD_*. */
static int column_named(const char *name)
{
	for (size_t c = 0; c < gt_columns_n; c++)
		if (strcmp(gt_columns[c].name, name) == 0)
			return (int)c;
	return strcmp(name, "kernel") == 0 ? FIELD_KERNEL : FIELD_IGNORED;
}

/* A row needs every column of its kind. */
static int check_complete(const struct gt_tsv *tsv, struct gt_error *error)
{
	for (size_t c = 0; c < gt_columns_n; c++) {
		bool found = !gt_column_present(&tsv->shape, &gt_columns[c]);
		for (size_t f = 0; f < tsv->n_fields; f++)
			found |= tsv->field_column[f] == (int)c;
		if (!found)
			return gt_fail(error, "the column '%s' is missing", gt_columns[c].name);
	}
	return 0;
}

static enum gt_tsv_event read_columns(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	struct gt_rows *shape = &tsv->shape;

	tsv->n_fields = 0;
	*shape = (struct gt_rows){.kind = GT_ACCESSES};
	for (char *name; (name = cut_field(&line, '\t'));) {
		if (tsv->n_fields == GT_TSV_COLUMNS_MAX)
			return (enum gt_tsv_event)gt_fail(error, "more than %d columns", GT_TSV_COLUMNS_MAX);
		tsv->field_column[tsv->n_fields++] = column_named(name);
		if (strcmp(name, "address") == 0)
			shape->kind = GT_REQUESTS;
		shape->scheduled |= strcmp(name, "step") == 0;
		shape->has_status |= strcmp(name, "status") == 0;
		shape->has_latency |= strcmp(name, "latency") == 0;
		shape->has_hints |= strcmp(name, "hint") == 0;
		shape->has_work |= strcmp(name, "work") == 0;
		shape->has_shared |= strcmp(name, "shared") == 0;
	}
	/* Both kinds have a column `lanes`: addresses of one, a number of threads of the other. */
	for (size_t f = 0; f < tsv->n_fields; f++) {
		const struct gt_column *column = tsv->field_column[f] >= 0 ? &gt_columns[tsv->field_column[f]] : NULL;
		if (!column || gt_column_present(shape, column))
			continue;
		tsv->field_column[f] = strcmp(column->name, "lanes") == 0 ? FIELD_LANES : FIELD_IGNORED;
	}
	if (check_complete(tsv, error) != 0)
		return GT_TSV_FAILED;
	if (tsv->rows->n > 0 && !gt_rows_alike(tsv->rows, shape))
		return (enum gt_tsv_event)gt_fail(error, "the columns change in the middle of a batch");
	gt_rows_shape(tsv->rows, shape);
	return GT_TSV_NOTHING;
}

/* ---- rows ---- */

static int parse_stride(const char *text, int64_t *stride)
{
	char *end;

	errno = 0;
	*stride = strtoll(text, &end, 10);
	return end == text || *end != '\0' || errno == ERANGE || *stride == GT_STRIDE_LANES ? -1 : 0;
}

static void store(void *column, size_t i, unsigned width, uint64_t value)
{
	/* Little-endian: the low bytes come first. */
	memcpy((char *)column + i * width, &value, width);
}

static int parse_lanes(struct gt_rows *rows, size_t i, char *text, struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = 0, wanted = (unsigned)__builtin_popcount(rows->mask[i]);

	for (char *field; (field = cut_field(&text, ','));) {
		if (n == GT_WARP_SIZE || parse_number(field, 8, &addresses[n]) != 0)
			return gt_fail(error, "lanes: '%.20s': expected up to 32 addresses", field);
		n++;
	}
	if (n != wanted || n == 0)
		return gt_fail(error, "lanes: %u addresses for %u active lanes", n, wanted);
	return gt_rows_set_addresses(rows, i, rows->mask[i], addresses, error);
}

/* The work that a text such as "5,0" or "5,1,waits" says. Returns 0, or -1. */
static int parse_work(const char *text, uint32_t *work)
{
	uint64_t instructions, barriers;

	if (!gt_scan_upto(&text, GT_WORK_INSTRUCTIONS, &instructions) || !gt_scan_char(&text, ',') ||
	    !gt_scan_upto(&text, GT_WORK_BARRIERS, &barriers))
		return -1;
	bool waits = strcmp(text, ",waits") == 0;
	if (*text && !waits)
		return -1;
	*work = gt_work(instructions, (uint32_t)barriers, waits);
	return 0;
}

/* The accesses to shared memory, and their passes, that a text such as "34,34" says. Returns 0, or -1. */
static int parse_shared(const char *text, uint32_t *shared)
{
	uint64_t accesses, passes;

	if (!gt_scan_upto(&text, GT_SHARED_MOST, &accesses) || !gt_scan_char(&text, ',') ||
	    !gt_scan_upto(&text, GT_SHARED_MOST, &passes) || *text)
		return -1;
	*shared = gt_shared_work(accesses, passes);
	return 0;
}

static int parse_cell(struct gt_rows *rows, size_t i, const struct gt_column *column, const char *text,
		      struct gt_error *error)
{
	uint64_t value;
	uint8_t op;

	if (column->offset == offsetof(struct gt_rows, stride)) {
		if (parse_stride(text, &rows->stride[i]) != 0)
			return gt_fail(error, "stride: '%.40s': expected a whole number", text);
	} else if (column->offset == offsetof(struct gt_rows, op)) {
		if (gt_op_parse(text, &op) != 0)
			return gt_fail(error, "op: '%.40s': expected an operation such as load.global", text);
		rows->op[i] = op;
	} else if (column->offset == offsetof(struct gt_rows, hint)) {
		if (gt_hint_parse(text, &rows->hint[i]) != 0)
			return gt_fail(error, "hint: '%.60s': expected none, or hints such as L1::no_allocate,L2::128B", text);
	} else if (column->offset == offsetof(struct gt_rows, work)) {
		if (parse_work(text, &rows->work[i]) != 0)
			return gt_fail(error, "work: '%.60s': expected instructions,barriers, and ,waits if the warp does", text);
	} else if (column->offset == offsetof(struct gt_rows, shared)) {
		if (parse_shared(text, &rows->shared[i]) != 0)
			return gt_fail(error, "shared: '%.60s': expected accesses,passes", text);
	} else if (column->offset == offsetof(struct gt_rows, status)) {
		if (gt_status_parse(text, &rows->status[i]) != 0)
			return gt_fail(error, "status: '%.40s': expected a status such as hit or miss", text);
	} else {
		if (parse_number(text, column->width, &value) != 0)
			return gt_fail(error, "%s: '%.40s': expected a number of at most %u bytes", column->name, text,
				       column->width);
		store(gt_column_of(rows, column), i, column->width, value);
	}
	return 0;
}

static enum gt_tsv_event read_row(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	struct gt_rows *rows = tsv->rows;
	char *lanes = NULL, *field;
	size_t i = rows->n, f = 0;
	uint64_t kernel = tsv->kernel_id;

	if (tsv->n_fields == 0)
		return (enum gt_tsv_event)gt_fail(
			error, "a row before the line that names the columns (keep lines that begin with '#' in front)");
	rows->width[i] = 0;
	for (; f < tsv->n_fields && (field = cut_field(&line, '\t')); f++) {
		int column = tsv->field_column[f];
		if (column == FIELD_KERNEL && parse_number(field, 8, &kernel) != 0)
			return (enum gt_tsv_event)gt_fail(error, "kernel: '%.40s': expected a number", field);
		if (column == FIELD_LANES && strcmp(field, "-") != 0)
			lanes = field;
		if (column < 0 || strcmp(field, "-") == 0)
			continue;
		if (parse_cell(rows, i, &gt_columns[column], field, error) != 0)
			return GT_TSV_FAILED;
	}
	if (f < tsv->n_fields || line)
		return (enum gt_tsv_event)gt_fail(error, "expected %zu fields with tabs between", tsv->n_fields);
	if (lanes && parse_lanes(rows, i, lanes, error) != 0)
		return GT_TSV_FAILED;
	rows->n++;
	tsv->kernel_id = kernel;
	return GT_TSV_ROW;
}

/* ---- launches, GPUs and counts ---- */

static int parse_small(const char *text, uint32_t *value)
{
	uint64_t number;

	if (parse_number(text, 4, &number) != 0)
		return -1;
	*value = (uint32_t)number;
	return 0;
}

static int set_shape(char *text, uint32_t shape[3])
{
	for (int i = 0; i < 3; i++) {
		char *field = cut_field(&text, ',');
		if (!field || parse_small(field, &shape[i]) != 0)
			return -1;
	}
	return text ? -1 : 0;
}

static int set_id(struct gt_kernel *kernel, char *text) { return parse_number(text, 8, &kernel->id); }
static int set_grid(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->grid); }
static int set_block(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->block); }
static int set_cluster(struct gt_kernel *kernel, char *text) { return set_shape(text, kernel->cluster); }
static int set_registers(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->registers); }
static int set_shared(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->shared_bytes); }
static int set_l1(struct gt_kernel *kernel, char *text) { return parse_number(text, 8, &kernel->l1_bytes); }
static int set_device(struct gt_kernel *kernel, char *text) { return parse_small(text, &kernel->device); }
static int set_window(struct gt_kernel *kernel, char *text) { return gt_window_parse(text, &kernel->prefers.window); }

static int set_parent(struct gt_kernel *kernel, char *text) { return parse_number(text, 8, &kernel->parent); }

static int set_fetch(struct gt_kernel *kernel, char *text)
{
	return parse_number(text, 8, &kernel->prefers.l2_fetch_bytes);
}

static int set_persisting(struct gt_kernel *kernel, char *text)
{
	return parse_number(text, 8, &kernel->prefers.l2_persisting_bytes);
}

static int set_carveout(struct gt_kernel *kernel, char *text)
{
	if (parse_small(text, &kernel->prefers.carveout) != 0 || kernel->prefers.carveout++ > 100)
		return -1;
	return 0;
}

static int set_name(struct gt_kernel *kernel, char *text)
{
	size_t n = strlen(text) < sizeof kernel->name ? strlen(text) : sizeof kernel->name - 1;

	memcpy(kernel->name, text, n);
	kernel->name[n] = '\0';
	return 0;
}

static int set_order(struct gt_kernel *kernel, char *text)
{
	kernel->order = GT_ORDER_NONE;
	for (unsigned i = 0; i < GT_ORDERS; i++)
		if (strcmp(text, gt_order_names[i]) == 0)
			kernel->order = (enum gt_order)i;
	return 0;
}

#define NUMBER "a number"
#define SHAPE "X,Y,Z"

static const struct {
	const char *key, *expected;
	int (*set)(struct gt_kernel *kernel, char *text);
} kernel_keys[] = {
	{"id", NUMBER, set_id},
	{"name", "a name", set_name},
	{"grid", SHAPE, set_grid},
	{"block", SHAPE, set_block},
	{"registers", NUMBER, set_registers},
	{"shared_bytes", NUMBER, set_shared},
	{"order", "an order", set_order},
	{"l1_bytes", NUMBER, set_l1},
	{"device", NUMBER, set_device},
	{"l2_window", "BASE,BYTES,HIT_RATIO,HIT,MISS, as 0x1000,4096,1000000,persisting,normal", set_window},
	{"l2_fetch_bytes", NUMBER, set_fetch},
	{"l2_persisting_bytes", NUMBER, set_persisting},
	{"carveout", "a percentage", set_carveout},
	{"parent", NUMBER, set_parent},
	{"cluster", SHAPE, set_cluster},
};

static int set_key(struct gt_kernel *kernel, const char *key, char *value, struct gt_error *error)
{
	char said[2 * GT_WINDOW_TEXT]; /* setting may take the value to pieces */

	for (size_t k = 0; k < sizeof kernel_keys / sizeof kernel_keys[0]; k++) {
		if (strcmp(kernel_keys[k].key, key) != 0)
			continue;
		snprintf(said, sizeof said, "%s", value);
		if (kernel_keys[k].set(kernel, value) != 0)
			return gt_fail(error, "#kernel: '%s': invalid value '%s': expected %s", key, said, kernel_keys[k].expected);
	}
	return 0;
}

static enum gt_tsv_event read_kernel(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_kernel_clear(&tsv->kernel);
	for (char *key; (key = cut_field(&line, '\t'));) {
		char *value = cut_value(key);
		if (value && set_key(&tsv->kernel, key, value, error) != 0)
			return GT_TSV_FAILED;
	}
	if (gt_kernel_check(&tsv->kernel, error) != 0)
		return GT_TSV_FAILED;
	tsv->kernel_id = tsv->kernel.id;
	return GT_TSV_KERNEL;
}

static enum gt_tsv_event read_gpu(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_gpu_clear(&tsv->gpu);
	for (char *key; (key = cut_field(&line, '\t'));) {
		char *value = cut_value(key);
		if (value && gt_gpu_known(key) && gt_gpu_set(&tsv->gpu, key, value, "", "", error) != 0)
			return GT_TSV_FAILED;
	}
	return GT_TSV_GPU;
}

static int count_array(struct gt_count *count, const char *key, char *text, struct gt_error *error)
{
	size_t n = 0, commas = 1;

	for (const char *at = text; *at; at++)
		commas += *at == ',';
	uint64_t *values = malloc(commas * sizeof *values);
	if (!values)
		return gt_fail_memory(error, "a count");
	text[strlen(text) - 1] = '\0';
	text = text[1] ? text + 1 : NULL;
	for (char *field; (field = cut_field(&text, ','));) {
		if (parse_number(field, 8, &values[n++]) != 0) {
			free(values);
			return gt_fail(error, "#count: '%s': '%.40s': expected a number", key, field);
		}
	}
	int result = gt_count_array(count, key, values, n, error);
	free(values);
	return result;
}

static int count_entry(struct gt_count *count, const char *key, char *value, struct gt_error *error)
{
	uint64_t number;
	size_t length = strlen(value);

	if (parse_number(value, 8, &number) == 0)
		return gt_count_number(count, key, number, error);
	if (length >= 2 && value[0] == '[' && value[length - 1] == ']')
		return count_array(count, key, value, error);
	return gt_count_text(count, key, value, error);
}

static enum gt_tsv_event read_count(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	char *stage = cut_field(&line, '\t'), *kernel = cut_field(&line, '\t');
	uint64_t id;

	gt_count_clear(&tsv->count);
	if (!stage || strncmp(stage, "stage=", 6) != 0 || !kernel || strncmp(kernel, "kernel=", 7) != 0 ||
	    parse_number(kernel + 7, 8, &id) != 0)
		return (enum gt_tsv_event)gt_fail(error, "#count: expected stage=NAME and kernel=ID first");
	gt_count_begin(&tsv->count, stage + 6, id);
	for (char *key; (key = cut_field(&line, '\t'));) {
		char *value = cut_value(key);
		if (value && count_entry(&tsv->count, key, value, error) != 0)
			return GT_TSV_FAILED;
	}
	return GT_TSV_COUNT;
}

/* ---- a line ---- */

void gt_tsv_open(struct gt_tsv *tsv, struct gt_rows *rows)
{
	memset(tsv, 0, sizeof *tsv);
	tsv->rows = rows;
}

void gt_tsv_close(struct gt_tsv *tsv)
{
	gt_kernel_clear(&tsv->kernel);
	gt_gpu_clear(&tsv->gpu);
	gt_count_clear(&tsv->count);
}

static enum gt_tsv_event read_history(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)error;
	tsv->text = line ? line : "";
	return GT_TSV_HISTORY;
}

static enum gt_tsv_event read_stream(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)tsv, (void)line, (void)error;
	return GT_TSV_STREAM;
}

static enum gt_tsv_event read_end(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	(void)tsv, (void)line, (void)error;
	return GT_TSV_END;
}

static const struct {
	const char *tag;
	enum gt_tsv_event (*read)(struct gt_tsv *tsv, char *line, struct gt_error *error);
} tags[] = {
	{"#kernel", read_kernel}, {"#gpu", read_gpu},  {"#count", read_count},
	{"#history", read_history},	 {"#gtrace", read_stream}, {"#end", read_end},
};

enum gt_tsv_event gt_tsv_read(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	if (line[0] == '\0')
		return GT_TSV_NOTHING;
	if (line[0] != '#' && !isalpha((unsigned char)line[0]))
		return read_row(tsv, line, error);
	char *rest = line, *tag = cut_field(&rest, '\t');
	/* "#kernel" before pairs announces a launch; before names it is the name of the first column. */
	bool names = strcmp(tag, "#kernel") == 0 && rest && !memchr(rest, '=', strcspn(rest, "\t"));
	for (size_t t = 0; !names && t < sizeof tags / sizeof tags[0]; t++)
		if (strcmp(tag, tags[t].tag) == 0)
			return tags[t].read(tsv, rest, error);
	/* A column's name starts the line of names; any other word after '#' is a comment. */
	if (column_named(tag + (tag[0] == '#')) == FIELD_IGNORED)
		return tag[0] == '#' ? GT_TSV_NOTHING : read_row(tsv, line, error);
	if (rest)
		rest[-1] = '\t';
	return read_columns(tsv, line + (line[0] == '#'), error);
}

/* ---- a stream ---- */

/* A launch that was announced. It is written when its first row comes: sorting may have brought
 * all announcements to the front. Counts that come before follow it, as those of its arrays and source lines must. */
struct announced {
	struct gt_kernel kernel;
	bool written;
	struct gt_count *counts; /* that wait for it */
	size_t n, capacity;
};

struct conversion {
	int descriptor;
	const char *tool, *version;
	char *const *argv;
	char **history; /* up to a NULL; owned */
	size_t n_history;

	struct gt_writer *writer; /* opened when the history is complete */
	struct gt_tsv tsv;	  /* reads one row at a time */
	struct announced *launches;
	size_t n_launches;
	size_t current; /* the launch whose rows are being written, or n_launches */
	bool from_stream, ended;
};

static int remember_history(struct conversion *to, struct gt_error *error)
{
	char **longer = gt_resized(to->history, to->n_history + 2, sizeof *longer);
	char *copy = malloc(strlen(to->tsv.text) + 1);

	if (longer)
		to->history = longer;
	if (!longer || !copy) {
		free(copy);
		return gt_fail_memory(error, "a stream's history");
	}
	memcpy(copy, to->tsv.text, strlen(to->tsv.text) + 1);
	to->history[to->n_history++] = copy;
	to->history[to->n_history] = NULL;
	return 0;
}

static int need_writer(struct conversion *to, struct gt_error *error)
{
	if (to->writer)
		return 0;
	to->writer = gt_writer_open(to->descriptor, (const char *const *)to->history, to->tool, to->version,
				    to->argv, error);
	return to->writer ? 0 : -1;
}

static int announce(struct conversion *to, struct gt_error *error)
{
	struct announced *longer = gt_resized(to->launches, to->n_launches + 1, sizeof *longer);

	if (!longer)
		return gt_fail_memory(error, "kernels");
	to->launches = longer;
	memset(&longer[to->n_launches], 0, sizeof *longer);
	if (gt_kernel_copy(&longer[to->n_launches].kernel, &to->tsv.kernel, error) != 0)
		return -1;
	to->n_launches++;
	to->current = to->n_launches;
	return 0;
}

/* The latest announcement of an id, or NULL. */
static struct announced *find_launch(const struct conversion *to, uint64_t id)
{
	for (size_t k = to->n_launches; k > 0; k--)
		if (to->launches[k - 1].kernel.id == id)
			return &to->launches[k - 1];
	return NULL;
}

/* Writes a launch, and the counts that waited for it. */
static int write_launch(struct conversion *to, struct announced *launch, struct gt_error *error)
{
	launch->written = true;
	if (gt_write_kernel(to->writer, &launch->kernel, error) != 0)
		return -1;
	for (size_t i = 0; i < launch->n; i++)
		if (gt_write_count(to->writer, &launch->counts[i], error) != 0)
			return -1;
	return 0;
}

/* Makes the launch of the row just read the current one. */
static int change_kernel(struct conversion *to, struct gt_error *error)
{
	struct announced *launch = find_launch(to, to->tsv.kernel_id);

	if (!launch)
		return gt_fail(error, "a row of kernel %" PRIu64 ", which no #kernel line before it announces",
			       to->tsv.kernel_id);
	to->current = (size_t)(launch - to->launches);
	return write_launch(to, launch, error);
}

static int take_count(struct conversion *to, struct gt_error *error)
{
	struct announced *launch = find_launch(to, to->tsv.count.kernel);

	if (!launch || launch->written)
		return gt_write_count(to->writer, &to->tsv.count, error);
	struct gt_count *longer = gt_grown(launch->counts, launch->n, &launch->capacity, sizeof *longer);
	if (!longer)
		return gt_fail_memory(error, "counts");
	launch->counts = longer;
	longer[launch->n++] = to->tsv.count;
	gt_count_begin(&to->tsv.count, "", 0); /* it is the launch's now */
	return 0;
}

static int take_row(struct conversion *to, struct gt_error *error)
{
	struct gt_rows *row = to->tsv.rows;
	struct gt_sink *sink = gt_writer_sink(to->writer);

	if ((to->current == to->n_launches || to->launches[to->current].kernel.id != to->tsv.kernel_id) &&
	    change_kernel(to, error) != 0)
		return -1;
	if (gt_rows_check(row, &to->launches[to->current].kernel, error) != 0 ||
	    gt_sink_begin_as(sink, row, error) != 0 || gt_sink_room(sink, error) != 0 ||
	    gt_rows_copy(sink->rows, row, 0, error) != 0)
		return -1;
	row->n = row->n_lanes = 0;
	return 0;
}

static int take_line(struct conversion *to, char *line, struct gt_error *error)
{
	enum gt_tsv_event event = gt_tsv_read(&to->tsv, line, error);

	switch (event) {
	case GT_TSV_FAILED: return -1;
	case GT_TSV_NOTHING: return 0;
	case GT_TSV_STREAM: to->from_stream = true; return 0;
	case GT_TSV_END: to->ended = true; return 0;
	case GT_TSV_HISTORY: return remember_history(to, error);
	case GT_TSV_KERNEL: return announce(to, error);
	default: break;
	}
	if (need_writer(to, error) != 0)
		return -1;
	if (event == GT_TSV_GPU)
		return gt_write_gpu(to->writer, &to->tsv.gpu, error);
	if (event == GT_TSV_COUNT)
		return take_count(to, error);
	return take_row(to, error);
}

static int finish(struct conversion *to, const struct gt_input *input, struct gt_error *error)
{
	if (to->from_stream && !to->ended)
		return gt_fail(error, "%s: no '#end' line: the program before it failed, or the text is cut",
			       gt_input_name(input));
	if (need_writer(to, error) != 0)
		return -1;
	for (size_t k = 0; k < to->n_launches; k++)
		if (!to->launches[k].written && write_launch(to, &to->launches[k], error) != 0)
			return -1;
	return gt_writer_finish(to->writer, error);
}

static int convert(struct conversion *to, struct gt_input *input, struct gt_error *error)
{
	struct gt_error inner;
	char *line;
	size_t length;
	int more;

	while ((more = gt_input_line(input, &line, &length, error)) > 0)
		if (take_line(to, line, &inner) != 0)
			return gt_input_fail(input, error, "%s", inner.text);
	return more < 0 ? -1 : finish(to, input, error);
}

int gt_tsv_to_stream(struct gt_input *input, int descriptor, const char *tool, const char *version,
		     char *const argv[], struct gt_error *error)
{
	struct conversion to = {.descriptor = descriptor, .tool = tool, .version = version, .argv = argv};
	struct gt_rows *row = gt_rows_new(1, error);

	if (!row)
		return -1;
	gt_tsv_open(&to.tsv, row);
	int result = convert(&to, input, error);
	gt_tsv_close(&to.tsv);
	gt_rows_free(row);
	gt_writer_close(to.writer);
	for (size_t k = 0; k < to.n_launches; k++) {
		gt_kernel_clear(&to.launches[k].kernel);
		for (size_t i = 0; i < to.launches[k].n; i++)
			gt_count_clear(&to.launches[k].counts[i]);
		free(to.launches[k].counts);
	}
	for (size_t h = 0; h < to.n_history; h++)
		free(to.history[h]);
	free(to.launches);
	free(to.history);
	return result;
}
