/* SPDX-License-Identifier: MIT */
/* The memory chart: for each kernel and for the total, how many bytes go between the kernel, each cache level and the memory, as a
 * picture in SVG and as a table of the same numbers. Before the charts, a table of all kernels. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format.h"
#include "report/page/part.h"
#include "report/places.h"
#include "stream/rows.h"

#define CHARTS 20      /* kernels that have one, at most */
#define OPEN_CHARTS 4  /* with more kernels, their charts are folded */
#define KERNELS_SHOWN 400

/* ---- what a chart is of ---- */

enum { LOADS, STORES, ATOMICS, OPS };
static const char *const op_names[OPS] = {"loads", "stores", "atomics"};
static const char *const op_singular[OPS] = {"load", "store", "atomic"};
static const enum gt_place_op place_ops[OPS] = {GT_PLACE_LOADS, GT_PLACE_STORES, GT_PLACE_ATOMICS};

struct flow {
	bool known;
	uint64_t sectors;
	bool has_useful;
	uint64_t useful; /* bytes */
};

/* Boxes stand in a row: the kernel, the levels, and the memory. Flow i goes from box i to box i + 1. */
struct chart {
	const struct gt_report_kernel *kernel;
	const struct gt_report_stage *coalesce, *levels[GT_CHAIN], *dram; /* NULL: not in the pipe */
	size_t n; /* levels */
	struct flow flows[GT_CHAIN + 1][OPS];
	const struct gt_place *asked; /* of the kernel, or NULL */
	bool shared;
};

static uint64_t number_of(const struct gt_report_stage *stage, const char *name)
{
	uint64_t value = 0;

	return stage && gt_report_number(stage, name, &value) ? value : 0;
}

/* Passes of shared memory beyond those that the data take. */
static uint64_t conflicts_of(const struct gt_report_stage *coalesce)
{
	return number_of(coalesce, "load_bank_conflicts") + number_of(coalesce, "store_bank_conflicts") + number_of(coalesce, "atomic_bank_conflicts");
}

/* The sectors of an operation at one end of a flow. */
static struct flow find_flow(const struct gt_report_stage *stage, const char *const names[OPS], int op)
{
	struct flow flow = {.known = false};

	flow.known = stage && names[op] && gt_report_number(stage, names[op], &flow.sectors);
	return flow;
}

/* What a stage receives; if it is not there, what the one before sends. */
static struct flow flow_into(const struct chart *chart, size_t i, int op)
{
	static const char *const received[OPS] = {"reads", "writes", "atomics"}, *const sent[OPS] = {"sent_reads", "sent_writes", "sent_atomics"},
		*const coalesced[OPS] = {"load_sectors", "store_sectors", "atomic_sectors"};
	struct flow flow = find_flow(i < chart->n ? chart->levels[i] : chart->dram, received, op);

	if (flow.known || (i == chart->n && chart->dram))
		return flow;
	return i > 0 ? find_flow(chart->levels[i - 1], sent, op) : find_flow(chart->coalesce, coalesced, op);
}

/* Of the bytes between kernel and first level, those that lanes asked for; of those that memory reads, those that any lane reads. */
static void find_useful(struct chart *chart)
{
	struct flow *read = &chart->flows[chart->n][LOADS];
	uint64_t unique;

	for (int op = 0; op < OPS && chart->asked; op++) {
		struct flow *flow = &chart->flows[0][op];
		flow->useful = chart->asked->asked[place_ops[op]].bytes;
		flow->has_useful = flow->known && flow->sectors > 0 && chart->asked->asked[place_ops[op]].sectors > 0;
	}
	if (chart->n > 0 && read->known && read->sectors > 0 && chart->coalesce && gt_report_number(chart->coalesce, "unique_read_bytes", &unique)) {
		read->has_useful = true;
		read->useful = unique < read->sectors * GT_SECTOR ? unique : read->sectors * GT_SECTOR;
	}
}

static struct chart make_chart(const struct gt_report_kernel *kernel, const struct gt_place *asked)
{
	struct chart chart = {.kernel = kernel, .coalesce = gt_report_find_stage(kernel, "coalesce"), .dram = gt_report_find_stage(kernel, "dram"),
			      .asked = asked};

	chart.n = gt_report_chain(kernel, chart.levels);
	for (size_t i = 0; i <= chart.n; i++)
		for (int op = 0; op < OPS; op++)
			chart.flows[i][op] = flow_into(&chart, i, op);
	find_useful(&chart);
	chart.shared = number_of(chart.coalesce, "shared_accesses") > 0;
	return chart;
}

static uint64_t bytes_between(const struct chart *chart, size_t i)
{
	uint64_t sectors = 0;

	for (int op = 0; op < OPS; op++)
		sectors += chart->flows[i][op].known ? chart->flows[i][op].sectors : 0;
	return sectors * GT_SECTOR;
}

/* The bytes that launches read of what box i + 1 is, which come past the levels before it. */
static uint64_t launch_bytes(const struct chart *chart, size_t i)
{
	return i < chart->n ? number_of(chart->levels[i], "launch_reads") * GT_SECTOR : 0;
}

/* The bytes that lanes asked shared memory for; 0 if they were not counted. */
static uint64_t shared_bytes(const struct chart *chart)
{
	return chart->asked ? chart->asked->asked[GT_PLACE_SHARED].bytes : 0;
}

/* The bytes of the place where most go: all arrows are drawn in proportion to it. */
static uint64_t most_bytes(const struct chart *chart)
{
	uint64_t most = shared_bytes(chart);

	for (size_t i = 0; i <= chart->n; i++)
		most = bytes_between(chart, i) > most ? bytes_between(chart, i) : most;
	return most;
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static double useful_share(const struct flow *flow)
{
	double share = share_of(flow->useful, flow->sectors * GT_SECTOR);

	return share < 1 ? share : 1;
}

/* The name of box i: "L1" for the stage l1. */
static const char *box_name(const struct chart *chart, size_t i, char name[GT_COUNT_NAME])
{
	if (i == 0)
		return "kernel";
	if (i > chart->n)
		return chart->dram || (chart->n > 0 && strncmp(chart->levels[chart->n - 1]->name, "l2", 2) == 0) ? "DRAM" : "next level";
	snprintf(name, GT_COUNT_NAME, "%.40s", chart->levels[i - 1]->name);
	if (name[0] == 'l' && name[1] >= '0' && name[1] <= '9')
		name[0] = 'L';
	return name;
}

/* ---- the picture ---- */

/* In units of the picture, of which text is 13 high. */
#define BOX 154
#define GAP 128
#define EDGE 6
#define LINE 17	     /* between lines of text */
#define LETTERS 18   /* that a box has room for */
#define WIDEST 96.0  /* the arrows of one gap together */
#define THINNEST 2.0
#define HEAD 11

struct picture {
	const struct chart *chart;
	FILE *to;
	double scale;  /* bytes to width */
	double region; /* height of what is between the boxes */
	double height;
};

static double box_x(size_t i)
{
	return EDGE + (double)i * (BOX + GAP);
}

static void write_text(const struct picture *picture, double x, double y, const char *class, const char *text)
{
	fprintf(picture->to, "<text x=\"%.0f\" y=\"%.0f\"%s%s%s>", x, y, *class ? " class=\"" : "", class, *class ? "\"" : "");
	gt_markup_text(text, picture->to);
	fputs("</text>", picture->to);
}

static void write_box(const struct picture *picture, double x, double y, double width, double height, const char *class)
{
	fprintf(picture->to, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"4\"/>", class, x, y, width, height);
}

/* "load hits 87.6 %" with a bar below. Returns where the next line goes. */
static double write_rate(const struct picture *picture, double x, double y, double width, const char *what, uint64_t part, uint64_t whole)
{
	char text[64];
	double share = share_of(part, whole);

	if (whole == 0)
		snprintf(text, sizeof text, "%s -", what);
	else
		snprintf(text, sizeof text, "%s %.1f %%", what, 100 * share);
	write_text(picture, x, y, "", text);
	fprintf(picture->to, "<rect class=\"empty\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"8\"/>", x, y + 5, width);
	if (part > 0)
		fprintf(picture->to, "<rect class=\"full\" x=\"%.0f\" y=\"%.0f\" width=\"%.1f\" height=\"8\"/>", x, y + 5, width * (share < 1 ? share : 1));
	return y + 5 + 8 + LINE;
}

static double line_of_text(const struct picture *picture, double x, double y, const char *class, const char *text)
{
	write_text(picture, x, y, class, text);
	return y + LINE;
}

/* ---- arrows ---- */

/* The lines of a label: bytes, sectors, and the useful part. */
static int labels_of(const struct picture *picture, size_t i, int op, char lines[3][64])
{
	const struct flow *flow = &picture->chart->flows[i][op];
	char number[GT_TABLE_NUMBER];

	snprintf(lines[0], sizeof lines[0], "%s %s", op_names[op], gt_bytes_words((double)(flow->sectors * GT_SECTOR), number));
	snprintf(lines[1], sizeof lines[1], "%s %s", gt_number_words(flow->sectors, number), flow->sectors == 1 ? "sector" : "sectors");
	if (!flow->has_useful)
		return 2;
	double percent = 100 * useful_share(flow);
	snprintf(lines[2], sizeof lines[2], "%.*f %% %s", percent >= 99.95 ? 0 : percent >= 9.995 ? 1 : 2, percent, i == 0 ? "asked for" : "ever used");
	return 3;
}

static double width_of(const struct picture *picture, const struct flow *flow)
{
	double width = (double)flow->sectors * GT_SECTOR * picture->scale;

	return width > THINNEST ? width : THINNEST;
}

static bool is_drawn(const struct flow *flow)
{
	return flow->known && flow->sectors > 0;
}

/* The height that an arrow takes with its label. */
static double slot_of(const struct picture *picture, size_t i, int op)
{
	const struct flow *flow = &picture->chart->flows[i][op];
	double width = width_of(picture, flow);

	return is_drawn(flow) ? (flow->has_useful ? 3 : 2) * LINE + (width > HEAD ? width : HEAD) + 14 : 0;
}

/* An arrow from x to x + length, with heads where the data go; of its width, a share is drawn dark. */
static void write_arrow(const struct picture *picture, double x, double y, double length, double width, int op, double share)
{
	static const char *const classes[] = {"loads", "stores", "atomics", "both"};
	bool left = op != STORES, right = op != LOADS;
	double head = width / 2 + 4, from = x + (left ? HEAD : 0), to = x + length - (right ? HEAD : 0);
	const char *class = classes[op];

	fprintf(picture->to, "<line class=\"%s\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\"/>", class, from, to, y, y, width);
	if (share > 0)
		fprintf(picture->to, "<line class=\"%s dark\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\" stroke-width=\"%.1f\"/>", class, from,
			to, y, y, width * share > 1 ? width * share : 1);
	if (left)
		fprintf(picture->to, "<path class=\"%s\" d=\"M%.0f %.1fl%d %.1fv%.1fz\"/>", class, x, y, HEAD, -head, 2 * head);
	if (right)
		fprintf(picture->to, "<path class=\"%s\" d=\"M%.0f %.1fl%d %.1fv%.1fz\"/>", class, x + length, y, -HEAD, -head, 2 * head);
}

static void write_flows(const struct picture *picture, size_t i)
{
	double x = box_x(i) + BOX + 4, y = EDGE, used = 0;
	char lines[3][64];

	for (int op = 0; op < OPS; op++)
		used += slot_of(picture, i, op);
	y += (picture->region - used) / 2;
	for (int op = 0; op < OPS; op++) {
		const struct flow *flow = &picture->chart->flows[i][op];
		if (!is_drawn(flow))
			continue;
		double width = width_of(picture, flow), room = width > HEAD ? width : HEAD;
		int n = labels_of(picture, i, op, lines);
		for (int k = 0; k < n; k++)
			write_text(picture, x + 6, y + LINE * (k + 1) - 3, k == 0 ? "b" : "", lines[k]);
		write_arrow(picture, x, y + n * LINE + 4 + room / 2, GAP - 8, width, op, flow->has_useful ? useful_share(flow) : 0);
		y += slot_of(picture, i, op);
	}
}

/* ---- boxes ---- */

static const char *title_of(const struct chart *chart, char title[4 * LETTERS + 1])
{
	const struct gt_kernel *kernel = &chart->kernel->kernel;

	if (!chart->kernel->announced && chart->kernel->launches == 0 && !kernel->name[0])
		return strcpy(title, "all kernels");
	gt_utf8_tidy(kernel->name[0] ? kernel->name : "a kernel", LETTERS - 4, title);
	return title;
}

static const char *const op_accesses[OPS] = {"load_accesses", "store_accesses", "atomic_accesses"};

/* The height of what write_kernel_box writes. */
static double kernel_height(const struct chart *chart)
{
	double height = 22 + LINE + (chart->kernel->merged > 1 ? LINE : 0);

	for (int op = 0; op < OPS; op++)
		if (number_of(chart->coalesce, op_accesses[op]) > 0)
			height += 6 + (chart->asked && chart->asked->asked[place_ops[op]].accesses > 0 ? 3 : 2) * LINE;
	return height;
}

static void write_kernel_box(const struct picture *picture)
{
	const struct chart *chart = picture->chart;
	char text[96], title[4 * LETTERS + 1], number[GT_TABLE_NUMBER];
	double x = box_x(0) + 12, y = EDGE + 22;

	write_box(picture, box_x(0), EDGE, BOX, picture->height - 2 * EDGE, "box");
	y = line_of_text(picture, x, y, "t", title_of(chart, title));
	if (chart->kernel->merged > 1) {
		snprintf(text, sizeof text, "%zu launches", chart->kernel->merged);
		y = line_of_text(picture, x, y, "", text);
	}
	for (int op = 0; op < OPS; op++) {
		uint64_t n = number_of(chart->coalesce, op_accesses[op]);
		if (n == 0)
			continue;
		snprintf(text, sizeof text, "%s %s%s", gt_number_words(n, number), op_singular[op], n == 1 ? "" : "s");
		y = line_of_text(picture, x, y + 6, "b", text);
		const struct gt_site_access *asked = chart->asked ? &chart->asked->asked[place_ops[op]] : NULL;
		snprintf(text, sizeof text, "%.3g %s each", share_of(chart->flows[0][op].sectors, n), chart->flows[0][op].sectors == n ? "sector" : "sectors");
		y = line_of_text(picture, x, y, "", text);
		if (!asked || asked->accesses == 0)
			continue;
		snprintf(text, sizeof text, "%.3g at least", share_of(asked->least_sectors, asked->accesses));
		y = line_of_text(picture, x, y, "", text);
	}
}

/* "108 x 160 KB" */
static const char *size_of(const struct gt_report_stage *stage, char text[64])
{
	uint64_t size, instances = number_of(stage, "instances");
	char number[GT_WORDS];
	int n = instances > 1 ? snprintf(text, 64, "%" PRIu64 " × ", instances) : 0;

	if (!gt_report_number(stage, "size", &size))
		return strcpy(text, "sizes differ");
	snprintf(text + n, 64 - (size_t)n, "%s", gt_bytes_words((double)size, number));
	return text;
}

static const struct gt_report_value *halves(const struct gt_report_stage *stage, const char *name)
{
	for (size_t i = 0; i < stage->n; i++)
		if (strcmp(stage->counters[i].value.name, name) == 0 && stage->counters[i].value.kind == GT_COUNT_ARRAY && stage->counters[i].value.n == 2)
			return &stage->counters[i].value;
	return NULL;
}

/* A level: its load hits, and those of its two partitions in a box each. */
static void write_level(const struct picture *picture, size_t i)
{
	const struct gt_report_stage *stage = picture->chart->levels[i - 1];
	const struct gt_report_value *reads = halves(stage, "half_reads"), *hits = halves(stage, "half_hits");
	bool above_shared = i == 1 && picture->height > picture->region + 2 * EDGE + 1;
	char name[GT_COUNT_NAME], text[64], number[GT_WORDS];
	double x = box_x(i) + 12, y = EDGE + 22;

	write_box(picture, box_x(i), EDGE, BOX, above_shared ? picture->region : picture->height - 2 * EDGE, "box");
	y = line_of_text(picture, x, y, "t", box_name(picture->chart, i, name));
	y = line_of_text(picture, x, y, "", size_of(stage, text));
	y = write_rate(picture, x, y + 4, BOX - 24, "load hits", number_of(stage, "read_hits"), number_of(stage, "reads")) + 4;
	if (launch_bytes(picture->chart, i - 1) > 0) {
		snprintf(text, sizeof text, "launches %s", gt_bytes_words((double)launch_bytes(picture->chart, i - 1), number));
		y = line_of_text(picture, x, y, "", text) + 4;
	}
	for (size_t k = 0; k < 2 && reads && hits; k++) {
		snprintf(text, sizeof text, "half %zu:", k);
		write_box(picture, x - 4, y - 10, BOX - 16, 46, "inner");
		y = write_rate(picture, x + 4, y + 6, BOX - 32, text, hits->array[k], reads->array[k]) + 18;
	}
}

static double shared_width(const struct picture *picture)
{
	double width = (double)shared_bytes(picture->chart) * picture->scale;

	return width > THINNEST ? width : THINNEST;
}

/* The height of its box, in which there is room for the arrow with its label. */
static double shared_height(const struct picture *picture)
{
	double arrow = shared_width(picture) > HEAD ? shared_width(picture) : HEAD;

	return 2 * LINE + 8 + arrow + 16 > 92 ? 2 * LINE + 8 + arrow + 16 : 92;
}

static void write_shared(const struct picture *picture)
{
	const struct gt_report_stage *coalesce = picture->chart->coalesce;
	uint64_t accesses = number_of(coalesce, "shared_accesses"), passes = number_of(coalesce, "bank_passes"), bytes = shared_bytes(picture->chart);
	double x = box_x(1) + 12, top = EDGE + picture->region + 10, y = top + 22, width = shared_width(picture);
	char text[64], number[GT_TABLE_NUMBER];

	write_box(picture, box_x(1), top, BOX, shared_height(picture), "box");
	y = line_of_text(picture, x, y, "t", "shared");
	snprintf(text, sizeof text, "%s passes", gt_number_words(passes, number));
	y = line_of_text(picture, x, y, "", text);
	write_rate(picture, x, y + 2, BOX - 24, "conflicts", conflicts_of(coalesce), passes);
	x = box_x(0) + BOX + 4;
	snprintf(text, sizeof text, "shared%s%s", bytes > 0 ? " " : "", bytes > 0 ? gt_bytes_words((double)(bytes), number) : "");
	write_text(picture, x + 6, top + LINE, "b", text);
	snprintf(text, sizeof text, "%s accesses", gt_number_words(accesses, number));
	write_text(picture, x + 6, top + 2 * LINE, "", text);
	write_arrow(picture, x, top + 2 * LINE + 8 + (width > HEAD ? width : HEAD) / 2, GAP - 8, width, OPS, 0);
}

static void write_memory(const struct picture *picture)
{
	const struct chart *chart = picture->chart;
	double x = box_x(chart->n + 1) + 12, y = EDGE + 22;
	char name[GT_COUNT_NAME], text[64];
	uint64_t channels, hits = number_of(chart->dram, "row_hits");

	write_box(picture, box_x(chart->n + 1), EDGE, BOX, picture->height - 2 * EDGE, chart->dram ? "box" : "absent");
	y = line_of_text(picture, x, y, "t", box_name(chart, chart->n + 1, name));
	if (!chart->dram) {
		line_of_text(picture, x, y, "", "not modelled");
		return;
	}
	if (gt_report_number(chart->dram, "channels", &channels)) {
		snprintf(text, sizeof text, "%" PRIu64 " channels", channels);
		y = line_of_text(picture, x, y, "", text);
	}
	write_rate(picture, x, y + 4, BOX - 24, "row hits", hits, hits + number_of(chart->dram, "row_misses"));
}

/* ---- the whole picture ---- */

static struct picture measure(const struct chart *chart, FILE *to)
{
	struct picture picture = {.chart = chart, .to = to, .scale = WIDEST / (double)(most_bytes(chart) + (most_bytes(chart) == 0))};
	double shared = chart->shared && chart->n > 0 ? shared_height(&picture) + 10 : 0;

	picture.region = kernel_height(chart) - shared > 110 ? kernel_height(chart) - shared : 110;
	for (size_t i = 0; i <= chart->n; i++) {
		double used = 0;
		for (int op = 0; op < OPS; op++)
			used += slot_of(&picture, i, op);
		picture.region = used > picture.region ? used : picture.region;
		if (i < chart->n && halves(chart->levels[i], "half_reads") && picture.region + (i > 0 ? shared : 0) < 226)
			picture.region = 226 - (i > 0 ? shared : 0);
	}
	picture.height = picture.region + 2 * EDGE + shared;
	return picture;
}

/* The chart in words. */
static void describe(const struct chart *chart, FILE *to)
{
	char from[GT_COUNT_NAME], name[GT_COUNT_NAME], number[GT_TABLE_NUMBER];

	for (size_t i = 0; i <= chart->n; i++) {
		fputs(i ? " Between " : "Between ", to);
		gt_markup_text(box_name(chart, i, from), to);
		fputs(" and ", to);
		gt_markup_text(box_name(chart, i + 1, name), to);
		for (int op = 0, n = 0; op < OPS; op++)
			if (chart->flows[i][op].known)
				fprintf(to, "%s %s %s", n++ ? "," : ":", op_names[op], gt_bytes_words((double)(chart->flows[i][op].sectors * GT_SECTOR), number));
		putc('.', to);
		if (i < chart->n && number_of(chart->levels[i], "reads") > 0) {
			putc(' ', to);
			gt_markup_text(name, to);
			fprintf(to, " has %.1f %% load hits.", 100 * share_of(number_of(chart->levels[i], "read_hits"), number_of(chart->levels[i], "reads")));
		}
	}
}

/* ---- the same from top to bottom, for screens as narrow as a phone's ---- */

#define TALL 372	/* wide */
#define COLUMN (TALL / 3)
#define ARROW 46	/* long */
#define TALL_GAP (3 * LINE + ARROW + 20)
#define HALVES 54

static double tall_level(const struct gt_report_stage *stage)
{
	return 3 * LINE + 8 + (number_of(stage, "launch_reads") > 0 ? LINE : 0) + (halves(stage, "half_reads") ? HALVES : 0);
}

static double tall_kernel(const struct chart *chart)
{
	double height = 2 * LINE + (chart->shared ? LINE : 0);

	for (int op = 0; op < OPS; op++)
		height += number_of(chart->coalesce, op_accesses[op]) > 0 ? LINE : 0;
	return height;
}

static double tall_height(const struct chart *chart)
{
	double height = tall_kernel(chart) + (double)(chart->n + 1) * TALL_GAP + 3 * LINE + 8 + 2 * EDGE;

	for (size_t i = 0; i < chart->n; i++)
		height += tall_level(chart->levels[i]);
	return height;
}

/* The kernel with its accesses, and shared memory in words. */
static void write_tall_kernel(const struct picture *picture, double top)
{
	const struct chart *chart = picture->chart;
	char text[128], title[4 * LETTERS + 1], number[GT_WORDS];
	double y = top + 22;

	write_box(picture, EDGE, top, TALL - 2 * EDGE, tall_kernel(chart), "box");
	if (chart->kernel->merged > 1) {
		snprintf(text, sizeof text, "%zu launches", chart->kernel->merged);
		write_text(picture, TALL / 2.0 + 12, y, "", text);
	}
	y = line_of_text(picture, 18, y, "t", title_of(chart, title));
	for (int op = 0; op < OPS; op++) {
		uint64_t n = number_of(chart->coalesce, op_accesses[op]);
		const struct gt_site_access *asked = chart->asked ? &chart->asked->asked[place_ops[op]] : NULL;
		if (n == 0)
			continue;
		int length = snprintf(text, sizeof text, "%s %s%s, %.3g %s each", gt_number_words(n, number), op_singular[op], n == 1 ? "" : "s",
				      share_of(chart->flows[0][op].sectors, n), chart->flows[0][op].sectors == n ? "sector" : "sectors");
		if (asked && asked->accesses > 0)
			snprintf(text + length, sizeof text - (size_t)length, ", %.3g at least", share_of(asked->least_sectors, asked->accesses));
		y = line_of_text(picture, 18, y, "", text);
	}
	if (chart->shared) {
		int length = snprintf(text, sizeof text, "shared: %s accesses", gt_number_words(number_of(chart->coalesce, "shared_accesses"), number));
		snprintf(text + length, sizeof text - (size_t)length, ", %.1f %% of passes conflicts",
			 100 * share_of(conflicts_of(chart->coalesce), number_of(chart->coalesce, "bank_passes")));
		line_of_text(picture, 18, y, "", text);
	}
}

static void write_tall_level(const struct picture *picture, size_t i, double top)
{
	const struct gt_report_stage *stage = picture->chart->levels[i - 1];
	const struct gt_report_value *reads = halves(stage, "half_reads"), *hits = halves(stage, "half_hits");
	char name[GT_COUNT_NAME], text[64], number[GT_WORDS];

	write_box(picture, EDGE, top, TALL - 2 * EDGE, tall_level(stage), "box");
	write_text(picture, 18, top + 22, "t", box_name(picture->chart, i, name));
	write_text(picture, 18, top + 22 + LINE, "", size_of(stage, text));
	write_rate(picture, TALL / 2.0, top + 26, TALL / 2.0 - 24, "load hits", number_of(stage, "read_hits"), number_of(stage, "reads"));
	if (launch_bytes(picture->chart, i - 1) > 0) {
		snprintf(text, sizeof text, "launches %s", gt_bytes_words((double)launch_bytes(picture->chart, i - 1), number));
		write_text(picture, 18, top + 22 + 2 * LINE, "", text);
		top += LINE;
	}
	for (size_t k = 0; k < 2 && reads && hits; k++) {
		double x = 18 + (double)k * (TALL / 2.0 - 18);
		snprintf(text, sizeof text, "half %zu:", k);
		write_box(picture, x, top + 54, TALL / 2.0 - 30, 46, "inner");
		write_rate(picture, x + 8, top + 72, TALL / 2.0 - 46, text, hits->array[k], reads->array[k]);
	}
}

static void write_tall_memory(const struct picture *picture, double top)
{
	const struct chart *chart = picture->chart;
	uint64_t channels, hits = number_of(chart->dram, "row_hits");
	char name[GT_COUNT_NAME], text[64];

	write_box(picture, EDGE, top, TALL - 2 * EDGE, 3 * LINE + 8, chart->dram ? "box" : "absent");
	write_text(picture, 18, top + 22, "t", box_name(chart, chart->n + 1, name));
	if (chart->dram)
		write_rate(picture, TALL / 2.0, top + 26, TALL / 2.0 - 24, "row hits", hits, hits + number_of(chart->dram, "row_misses"));
	if (!chart->dram)
		snprintf(text, sizeof text, "not modelled");
	else if (gt_report_number(chart->dram, "channels", &channels))
		snprintf(text, sizeof text, "%" PRIu64 " channels", channels);
	else
		text[0] = '\0';
	write_text(picture, 18, top + 22 + LINE, "", text);
}

/* The arrows of a gap stand beside each other, each below its label. */
static void write_tall_flows(const struct picture *picture, size_t i, double top)
{
	char lines[3][64];
	double x = EDGE;

	for (int op = 0; op < OPS; op++) {
		const struct flow *flow = &picture->chart->flows[i][op];
		if (!is_drawn(flow))
			continue;
		int n = labels_of(picture, i, op, lines);
		for (int k = 0; k < n; k++)
			write_text(picture, x, top + LINE * (k + 1), k == 0 ? "b" : "", lines[k]);
		fprintf(picture->to, "<g transform=\"translate(%.0f %.0f) rotate(90)\">", x + COLUMN / 2.0 - 4, top + 3 * LINE + 10);
		write_arrow(picture, 0, 0, ARROW, width_of(picture, flow), op, flow->has_useful ? useful_share(flow) : 0);
		fputs("</g>", picture->to);
		x += COLUMN;
	}
}

static void write_tall(const struct picture *picture)
{
	const struct chart *chart = picture->chart;
	double y = EDGE;

	write_tall_kernel(picture, y);
	y += tall_kernel(chart);
	for (size_t i = 0; i <= chart->n; i++) {
		write_tall_flows(picture, i, y);
		y += TALL_GAP;
		if (i == chart->n)
			write_tall_memory(picture, y);
		else
			write_tall_level(picture, i + 1, y);
		y += i < chart->n ? tall_level(chart->levels[i]) : 0;
	}
}

static void write_svg(const struct gt_page *page, const struct chart *chart, size_t id, FILE *to)
{
	struct picture picture = measure(chart, to);
	char name[GT_PAGE_NAME], number[GT_TABLE_NUMBER];
	const char *side = page->side ? page->side : "c";

	fprintf(to, "<figure class=\"chart\"><div class=\"scroll wide\" tabindex=\"0\" role=\"group\" aria-label=\"Memory chart\"><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
		"aria-labelledby=\"%s%zut %s%zud\"><title id=\"%s%zut\">Memory chart of ", box_x(chart->n + 1) + BOX + EDGE, picture.height, side, id, side, id, side, id);
	gt_markup_text(gt_page_name(page, chart->kernel, name), to);
	fprintf(to, "</title><desc id=\"%s%zud\">", side, id);
	describe(chart, to);
	fputs("</desc>\n", to);
	write_kernel_box(&picture);
	for (size_t i = 1; i <= chart->n; i++)
		write_level(&picture, i);
	if (chart->shared && chart->n > 0)
		write_shared(&picture);
	write_memory(&picture);
	for (size_t i = 0; i <= chart->n; i++)
		write_flows(&picture, i);
	fprintf(to, "</svg></div>\n<svg class=\"tall\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-labelledby=\"%s%zuv %s%zud\"><title id=\"%s%zuv\">Memory chart of ", TALL,
		tall_height(chart), side, id, side, id, side, id);
	gt_markup_text(gt_page_name(page, chart->kernel, name), to);
	fputs("</title>\n", to);
	write_tall(&picture);
	fprintf(to, "</svg><figcaption>The width of an arrow is its bytes, linear: %s are as wide as the widest place. "
		"Arrows point where the data go; loads are solid, stores dashed, atomics dotted.%s</figcaption></figure>\n", gt_bytes_words((double)(most_bytes(chart)), number),
		chart->asked || chart->flows[chart->n][LOADS].has_useful ? " The dark core is the part that threads asked for." : "");
}

/* ---- the table of the same numbers ---- */

static void write_flow_row(const struct chart *chart, size_t i, int op, FILE *to)
{
	const struct flow *flow = &chart->flows[i][op];
	char from[GT_COUNT_NAME], name[GT_COUNT_NAME];

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(box_name(chart, i, from), to);
	fputs(" – ", to);
	gt_markup_text(box_name(chart, i + 1, name), to);
	fprintf(to, "</th><td>%s</td>", op_names[op]);
	gt_page_number(flow->sectors, to);
	gt_page_number(flow->sectors * GT_SECTOR, to);
	if (flow->has_useful)
		fprintf(to, "<td class=\"number\">%.1f %%</td>", 100 * useful_share(flow));
	else
		fputs("<td class=\"number\">-</td>", to);
	fputs("</tr>\n", to);
}

/* A part of a box's sectors, and its rate. */
static void write_part_row(const char *box, const char *what, const struct gt_report_stage *stage, const char *part, const char *whole, FILE *to)
{
	uint64_t of;

	if (!gt_report_number(stage, part, &of))
		return;
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(box, to);
	fprintf(to, "</th><td>%s</td>", what);
	gt_page_number(of, to);
	gt_page_number(of * GT_SECTOR, to);
	if (whole && number_of(stage, whole) > 0)
		fprintf(to, "<td class=\"number\">%.1f %%</td></tr>\n", 100 * share_of(of, number_of(stage, whole)));
	else
		fputs("<td class=\"number\">-</td></tr>\n", to);
}

/* Shared memory has no sectors. */
static void write_shared_rows(const struct chart *chart, FILE *to)
{
	uint64_t conflicts = conflicts_of(chart->coalesce), passes = number_of(chart->coalesce, "bank_passes");
	char number[GT_TABLE_NUMBER];

	if (!chart->shared)
		return;
	fputs("<tr><th scope=\"row\">kernel – shared</th><td>all accesses</td><td class=\"number\">-</td>", to);
	fprintf(to, "<td class=\"number\">%s</td><td class=\"number\">-</td></tr>\n", shared_bytes(chart) > 0 ? gt_table_number(shared_bytes(chart), number) : "-");
	fprintf(to, "<tr><th scope=\"row\">shared</th><td>conflicts: %s", gt_table_number(conflicts, number));
	fprintf(to, " of %s passes</td><td class=\"number\">-</td><td class=\"number\">-</td><td class=\"number\">%.1f %%</td></tr>\n",
		gt_table_number(passes, number), 100 * share_of(conflicts, passes));
}

static void write_table(const struct gt_page *page, const struct chart *chart, FILE *to)
{
	char name[GT_PAGE_NAME];

	fputs("<details><summary>The same in numbers: ", to);
	gt_markup_text(gt_page_name(page, chart->kernel, name), to);
	fputs("</summary>\n<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">between, or in</th><th scope=\"col\">what</th><th scope=\"col\" class=\"number\">sectors</th>"
	      "<th scope=\"col\" class=\"number\">bytes</th><th scope=\"col\" class=\"number\">asked for, or rate</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i <= chart->n; i++) {
		for (int op = 0; op < OPS; op++)
			if (chart->flows[i][op].known)
				write_flow_row(chart, i, op, to);
		if (i == 0)
			write_shared_rows(chart, to);
		if (i == chart->n)
			break;
		char box[GT_COUNT_NAME];
		const char *level = box_name(chart, i + 1, box);
		write_part_row(level, "load hits", chart->levels[i], "read_hits", "reads", to);
		write_part_row(level, "loads of constants, hits", chart->levels[i], "constant_hits", "constant_reads", to);
		write_part_row(level, "reads of launches", chart->levels[i], "launch_reads", NULL, to);
		write_part_row(level, "loads of the other partition", chart->levels[i], "far_reads", "reads", to);
		write_part_row(level, "prefetches", chart->levels[i], "prefetches", NULL, to);
	}
	fputs("</tbody></table></div></details>\n", to);
}

/* ---- the table of kernels ---- */

static void write_bytes(uint64_t bytes, const char *class, FILE *to)
{
	char number[GT_TABLE_NUMBER];

	fprintf(to, "<td class=\"number%s\">%s</td>", class, gt_bytes_words((double)(bytes), number));
}

static void write_kernel_row(const struct gt_page *page, const struct chart *chart, size_t levels, FILE *to)
{
	char name[GT_PAGE_NAME];
	uint64_t asked = 0;

	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(gt_page_name(page, chart->kernel, name), to);
	fputs("</th>", to);
	for (int op = 0; op < GT_PLACE_OPS && chart->asked; op++)
		asked += op == GT_PLACE_SHARED ? 0 : chart->asked->asked[op].bytes;
	if (asked > 0)
		write_bytes(asked, "", to);
	else
		fputs("<td class=\"number\">-</td>", to);
	for (size_t i = 0; i <= levels; i++) {
		if (i > chart->n)
			fputs("<td class=\"number\">-</td>", to);
		else
			write_bytes(bytes_between(chart, i) + launch_bytes(chart, i), "", to);
		if (i >= levels)
			break;
		const struct gt_report_stage *stage = i < chart->n ? chart->levels[i] : NULL;
		if (number_of(stage, "reads") > 0)
			fprintf(to, "<td class=\"number\">%.1f %%</td>", 100 * share_of(number_of(stage, "read_hits"), number_of(stage, "reads")));
		else
			fputs("<td class=\"number\">-</td>", to);
	}
	fputs("</tr>\n", to);
}

static void write_kernels(const struct gt_page *page, const struct chart *total, const struct chart *charts, size_t n, FILE *to)
{
	char name[GT_COUNT_NAME];

	fputs("<p>Bytes of loads, stores and atomics: what threads ask for, and what reaches each level, with what launches read; the kernel with most first.</p>\n"
	      "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<thead><tr><th scope=\"col\">kernel</th><th scope=\"col\" class=\"number\">asked for</th>", to);
	for (size_t i = 0; i <= total->n; i++) {
		fputs("<th scope=\"col\" class=\"number\">", to);
		gt_markup_text(box_name(total, i + 1, name), to);
		fputs("</th>", to);
		if (i == total->n)
			break;
		fputs("<th scope=\"col\" class=\"number\">", to);
		gt_markup_text(name, to);
		fputs(" load hits</th>", to);
	}
	fputs("</tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < n && i < KERNELS_SHOWN; i++)
		write_kernel_row(page, &charts[i], total->n, to);
	fputs("</tbody></table></div>\n", to);
	if (n > KERNELS_SHOWN)
		fprintf(to, "<p>The first %d of %zu kernels.</p>\n", KERNELS_SHOWN, n);
}

/* ---- the section ---- */

static bool has_chart(const struct gt_page *page)
{
	const struct gt_report_stage *chain[GT_CHAIN];

	return gt_report_find_stage(&page->report->total, "coalesce") || gt_report_chain(&page->report->total, chain) > 0;
}

static int by_bytes(const void *left, const void *right)
{
	const struct chart *a = left, *b = right;
	uint64_t bytes_a = bytes_between(a, 0), bytes_b = bytes_between(b, 0);

	if (bytes_a != bytes_b)
		return bytes_a < bytes_b ? 1 : -1;
	return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

static void write_one(const struct gt_page *page, const struct chart *chart, size_t id, bool folded, FILE *to)
{
	char name[GT_PAGE_NAME];

	fprintf(to, folded ? "<details><summary>" : "<h3>");
	gt_markup_text(gt_page_name(page, chart->kernel, name), to);
	fprintf(to, folded ? "</summary>\n" : "</h3>\n");
	write_svg(page, chart, id, to);
	write_table(page, chart, to);
	if (folded)
		fputs("</details>\n", to);
}

/* What was counted of a kernel by site, or NULL. */
static const struct gt_place *asked_of(const struct gt_places *places, const struct gt_report_kernel *kernel)
{
	for (size_t i = 0; i < places->n && places->asked; i++)
		if (places->places[i].kernel == kernel)
			return &places->places[i];
	return NULL;
}

static void write_all(const struct gt_page *page, const struct gt_places *places, struct chart *charts, FILE *to)
{
	const struct gt_report *report = page->report;

	for (size_t i = 0; i < report->n; i++)
		charts[i] = make_chart(&report->kernels[i], asked_of(places, &report->kernels[i]));
	qsort(charts, report->n, sizeof *charts, by_bytes);
	if (report->n != 1) {
		struct chart total = make_chart(&report->total, places->asked ? &places->total : NULL);
		write_kernels(page, &total, charts, report->n, to);
		write_one(page, &total, 0, false, to);
	}
	for (size_t i = 0; i < report->n && i < CHARTS; i++)
		write_one(page, &charts[i], i + 1, report->n > OPEN_CHARTS, to);
	if (report->n > CHARTS)
		fprintf(to, "<p>Charts show the %d kernels with most bytes, of %zu.</p>\n", CHARTS, report->n);
}

static int write_charts(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_places places;
	struct chart *charts = calloc(page->report->n + 1, sizeof *charts);
	int result = gt_places_gather(&places, page->report, error);

	if (result == 0 && !charts)
		result = gt_fail_memory(error, "the page");
	if (result == 0) {
		gt_places_sum(&places, GT_PLACE_BY_KERNEL);
		write_all(page, &places, charts, to);
	}
	gt_places_clear(&places);
	free(charts);
	return result;
}

const struct gt_page_section gt_page_chart = {.id = "memory", .heading = "Memory chart", .has = has_chart, .write = write_charts};
