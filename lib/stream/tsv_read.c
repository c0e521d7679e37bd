/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "stream/hint.h"
#include "stream/work.h"
#include "stream/op.h"
#include "stream/status.h"
#include "stream/tsv.h"

/* Fields that are no column of a batch. */
enum { FIELD_IGNORED = -1, FIELD_KERNEL = -2, FIELD_LANES = -3 };

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

/* Cuts the next field off a line. */
static char *next_field(char **line, char separator)
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

/* A whole number, 0x or decimal, whose value fits `width` bytes. */
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

/* ---- the names of columns ---- */

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
	for (char *name; (name = next_field(&line, '\t'));) {
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

static int parse_lanes(struct gt_rows *rows, size_t i, char *text, struct gt_error *error)
{
	uint64_t addresses[GT_WARP_SIZE];
	unsigned n = 0, wanted = (unsigned)__builtin_popcount(rows->mask[i]);

	for (char *field; (field = next_field(&text, ','));) {
		if (n == GT_WARP_SIZE || parse_number(field, 8, &addresses[n]) != 0)
			return gt_fail(error, "lanes: '%.20s': expected up to 32 addresses", field);
		n++;
	}
	if (n != wanted || n == 0)
		return gt_fail(error, "lanes: %u addresses for %u active lanes", n, wanted);
	return gt_rows_set_addresses(rows, i, rows->mask[i], addresses, error);
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
		if (gt_work_parse(text, &rows->work[i]) != 0)
			return gt_fail(error, "work: '%.60s': expected instructions,barriers, and ,waits if the warp does", text);
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
	for (; f < tsv->n_fields && (field = next_field(&line, '\t')); f++) {
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

/* ---- lines of keys and values ---- */

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
		char *field = next_field(&text, ',');
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

static const struct {
	const char *key;
	int (*set)(struct gt_kernel *kernel, char *text);
} kernel_keys[] = {
	{"id", set_id},		      {"name", set_name},	    {"grid", set_grid},	  {"block", set_block},
	{"registers", set_registers}, {"shared_bytes", set_shared}, {"order", set_order}, {"l1_bytes", set_l1},
	{"device", set_device},	      {"l2_window", set_window},    {"l2_fetch_bytes", set_fetch},
	{"l2_persisting_bytes", set_persisting}, {"carveout", set_carveout}, {"parent", set_parent},
	{"cluster", set_cluster},
};

/* Cuts "key=value" apart; the value, or NULL. */
static char *split_pair(char *pair)
{
	char *value = strchr(pair, '=');

	if (value)
		*value++ = '\0';
	return value;
}

static enum gt_tsv_event read_kernel(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_kernel_clear(&tsv->kernel);
	for (char *key; (key = next_field(&line, '\t'));) {
		char *value = split_pair(key);
		for (size_t k = 0; value && k < sizeof kernel_keys / sizeof kernel_keys[0]; k++)
			if (strcmp(kernel_keys[k].key, key) == 0 && kernel_keys[k].set(&tsv->kernel, value) != 0)
				return (enum gt_tsv_event)gt_fail(error, "#kernel: '%s': invalid value '%.40s'", key, value);
	}
	if (gt_kernel_check(&tsv->kernel, error) != 0)
		return GT_TSV_FAILED;
	tsv->kernel_id = tsv->kernel.id;
	return GT_TSV_KERNEL;
}

static enum gt_tsv_event read_gpu(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	gt_gpu_clear(&tsv->gpu);
	for (char *key; (key = next_field(&line, '\t'));) {
		char *value = split_pair(key);
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
	for (char *field; (field = next_field(&text, ','));) {
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
	char *stage = next_field(&line, '\t'), *kernel = next_field(&line, '\t');
	uint64_t id;

	gt_count_clear(&tsv->count);
	if (!stage || strncmp(stage, "stage=", 6) != 0 || !kernel || strncmp(kernel, "kernel=", 7) != 0 ||
	    parse_number(kernel + 7, 8, &id) != 0)
		return (enum gt_tsv_event)gt_fail(error, "#count: expected stage=NAME and kernel=ID first");
	gt_count_begin(&tsv->count, stage + 6, id);
	for (char *key; (key = next_field(&line, '\t'));) {
		char *value = split_pair(key);
		if (value && count_entry(&tsv->count, key, value, error) != 0)
			return GT_TSV_FAILED;
	}
	return GT_TSV_COUNT;
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
	{"#kernel", read_kernel},   {"#gpu", read_gpu},	      {"#count", read_count},
	{"#history", read_history}, {"#gtrace", read_stream}, {"#end", read_end},
};

enum gt_tsv_event gt_tsv_read(struct gt_tsv *tsv, char *line, struct gt_error *error)
{
	if (line[0] == '\0')
		return GT_TSV_NOTHING;
	if (line[0] != '#' && !isalpha((unsigned char)line[0]))
		return read_row(tsv, line, error);
	char *rest = line, *tag = next_field(&rest, '\t');
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

bool gt_tsv_detect(const char *head, size_t bytes)
{
	static const char *const starts[] = {"#gtrace\t", "#block\t", "block\t", "#kernel\t", "#count\t", "#end"};

	for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
		if (bytes >= strlen(starts[s]) && memcmp(head, starts[s], strlen(starts[s])) == 0)
			return true;
	return false;
}
