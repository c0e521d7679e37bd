/* SPDX-License-Identifier: MIT */
/* gplot: pictures of what the tools print. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "report/plot/plot.h"
#include "tool.h"

static const struct tool_about about = {
	.usage = "usage: gplot KIND [OPTION...] [FILE...]\n"
		 "Plots a table that a tool printed (TSV or CSV, from files or standard input) with gnuplot.\n"
		 "\n"
		 "  histogram           reuse distances, in bins             grd: profile\n"
		 "  csdd                cumulative stack distances           grd: csdd\n"
		 "  curve               miss ratio against cache size        grd: curve, curve-sets\n"
		 "  mru                 hits by LRU stack position           grd: mru; gstats: csv\n"
		 "  coalescing          lanes along 128 bytes                gtrace-ptx: static, tree\n"
		 "  pchase              latencies, or misses, of a P-chase   gpchase latency\n"
		 "  bars                names against numbers                gstats: csv; any table\n"
		 "  sweep               a result against a parameter         any table\n"
		 "  scatter             numbers against numbers              any table\n",
	.verbose = "print the number of points of each series on standard error",
	.example = "gtrace-order examples/traces/gemm.rdgc.xz | grd --curve | gplot curve --terminal text",
};

enum { BY = 1, FREE_AXES, HIT_BELOW, LOG, NAMES, PANEL, PERCENT, SCRIPT, SIZE, STACK, DIAGONAL, TERMINAL, TITLE, PARETO, TABLE, WHERE, X_LABEL, Y_LABEL };
static const struct tool_row option_rows[] = {
	{"-o, --output FILE", 'o', "write to FILE; the extensions .png and .txt choose the terminal"},
	{"--terminal NAME", TERMINAL, "svg, png or text; default: text on a terminal, else svg"},
	{"--script", SCRIPT, "print the gnuplot script instead of running it"},
	{"-x, --x COLUMN", 'x', "along x"},
	{"-y, --y LIST", 'y', "along y: columns, or A/B for percent of B; NAME=A/B names one"},
	{"--by LIST", BY, "a series for each value of these columns"},
	{"--panel COLUMN", PANEL, "a panel for each value of this column"},
	{"--free-axes", FREE_AXES, "with --panel: axes of its own for each panel"},
	{"--where COLUMN=VALUE,...", WHERE, "only rows that have one of the values; COLUMN=VALUE,... again: and one of these"},
	{"--names LIST", NAMES, "labels of the files; default: their names"},
	{"--title TEXT", TITLE, "of the picture"},
	{"--x-label TEXT", X_LABEL, "below the x axis"},
	{"--y-label TEXT", Y_LABEL, "beside the y axis"},
	{"--log AXES", LOG, "logarithmic: x, y, xy or none; default: as suits the data"},
	{"--pareto", PARETO, "sweep, scatter: the front of the points that no other beats in x and in y: least x, and least y or most hits"},
	{"--table", TABLE, "with --pareto: print the rows of the front as CSV, with the column knee, instead of a picture"},
	{"--percent", PERCENT, "bars in percent of the sum of their series"},
	{"--stack", STACK, "stack the bars of one name and file"},
	{"--diagonal", DIAGONAL, "draw the line x = y"},
	{"--hit-below N", HIT_BELOW, "pchase: a latency of fewer cycles is a hit"},
	{"--size WxH", SIZE, "pixels, or characters"},
	TOOL_END,
};

static struct tool tool;

struct options {
	struct gt_plot_options plot;
	const char *output, *names;
	struct gt_canvas canvas;
	bool terminal_chosen, script, table;
};

static void set_size(struct options *options, const char *text)
{
	uint64_t sides[2] = {0, 0};
	char copy[32];
	char *by = NULL;

	if ((size_t)snprintf(copy, sizeof copy, "%s", text) < sizeof copy && (by = strchr(copy, 'x')) != NULL)
		*by = '\0';
	if (!by || gt_parse_count(copy, 20, 8192, &sides[0], &tool.error) != 0 ||
	    gt_parse_count(by + 1, 10, 8192, &sides[1], &tool.error) != 0)
		tool_usage(&tool, "--size '%s': expected WIDTHxHEIGHT, from 20x10 to 8192x8192", text);
	options->canvas.width = (unsigned)sides[0];
	options->canvas.height = (unsigned)sides[1];
}

static void set_terminal(struct options *options, const char *name)
{
	static const char *const names[] = {[GT_SVG] = "svg", [GT_PNG] = "png", [GT_TEXT] = "text"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0) {
			options->canvas.terminal = (enum gt_terminal)i;
			options->terminal_chosen = true;
			return;
		}
	tool_usage(&tool, "--terminal '%s': expected svg, png or text", name);
}

static void set_log(struct options *options, const char *axes)
{
	if (strcmp(axes, "x") != 0 && strcmp(axes, "y") != 0 && strcmp(axes, "xy") != 0 && strcmp(axes, "none") != 0)
		tool_usage(&tool, "--log '%s': expected x, y, xy or none", axes);
	options->plot.log = strcmp(axes, "none") == 0 ? "" : axes;
}

static void add_where(struct options *options, const char *condition)
{
	if (!strchr(condition, '='))
		tool_usage(&tool, "--where '%s': expected COLUMN=VALUE,...", condition);
	if (options->plot.where_n == GT_PLOT_WHERE)
		tool_usage(&tool, "--where: expected at most %d conditions", GT_PLOT_WHERE);
	options->plot.where[options->plot.where_n++] = condition;
}

static struct options parse(void)
{
	struct options options = {0};

	for (int c; (c = tool_option(&tool, option_rows)) != -1;) {
		switch (c) {
		case 'o': options.output = optarg; break;
		case 'x': options.plot.x = optarg; break;
		case 'y': options.plot.y = optarg; break;
		case BY: options.plot.by = optarg; break;
		case FREE_AXES: options.plot.free = true; break;
		case DIAGONAL: options.plot.diagonal = true; break;
		case LOG: set_log(&options, optarg); break;
		case NAMES: options.names = optarg; break;
		case PANEL: options.plot.panel = optarg; break;
		case PARETO: options.plot.pareto = true; break;
		case TABLE: options.table = true; break;
		case PERCENT: options.plot.percent = true; break;
		case SCRIPT: options.script = true; break;
		case SIZE: set_size(&options, optarg); break;
		case STACK: options.plot.stacked = true; break;
		case TERMINAL: set_terminal(&options, optarg); break;
		case TITLE: options.plot.title = optarg; break;
		case WHERE: add_where(&options, optarg); break;
		case X_LABEL: options.plot.x_label = optarg; break;
		case Y_LABEL: options.plot.y_label = optarg; break;
		case HIT_BELOW:
			if (gt_parse_real(optarg, 1, 1e9, &options.plot.hit_below, &tool.error) != 0)
				tool_usage_error(&tool, "--hit-below");
			break;
		}
	}
	if (options.table && !options.plot.pareto)
		tool_usage(&tool, "--table: expected --pareto, whose rows it prints");
	if (options.table && (options.script || options.terminal_chosen))
		tool_usage(&tool, "--table: expected neither --script nor --terminal");
	if (options.plot.free && !options.plot.panel)
		tool_usage(&tool, "--free-axes: expected --panel COLUMN too");
	return options;
}

static bool ends_in(const char *text, const char *end)
{
	return strlen(text) > strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* A file of another format would get SVG. */
static void check_extension(const struct options *options)
{
	static const char *const others[] = {".jpg", ".jpeg", ".pdf", ".eps", ".ps", ".gif", ".webp", ".bmp", ".tif", ".tiff", ".html"};

	for (size_t i = 0; options->output && !options->terminal_chosen && i < sizeof others / sizeof *others; i++)
		if (ends_in(options->output, others[i]))
			tool_usage(&tool, "--output: '%s': expected a name in .svg, .png or .txt", options->output);
}

/* Chooses the terminal if no option names it: by the output's name, or by the type of standard output. */
static void choose_terminal(struct options *options)
{
	struct winsize window;
	bool to_terminal = !options->output && isatty(STDOUT_FILENO);

	check_extension(options);
	if (!options->terminal_chosen && options->output)
		options->canvas.terminal = ends_in(options->output, ".png") ? GT_PNG : ends_in(options->output, ".txt") ? GT_TEXT : GT_SVG;
	else if (!options->terminal_chosen)
		options->canvas.terminal = to_terminal ? GT_TEXT : GT_SVG;
	if (to_terminal && options->canvas.terminal == GT_PNG && !options->script)
		tool_must(&tool, gt_fail(&tool.error, "a PNG is binary and is not written to a terminal (-o names a file)"));
	if (to_terminal && options->canvas.terminal == GT_TEXT && options->canvas.width == 0 &&
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col >= 40 && window.ws_row >= 12) {
		options->canvas.width = window.ws_col - 1U;
		options->canvas.height = window.ws_row - 1U;
	}
}

/* The label of a file: the next of --names, or its name without folder and extension. */
static void name_of(const char *path, const char **names, char name[GT_SHEET_NAME])
{
	if (*names) {
		size_t length = strcspn(*names, ",");
		snprintf(name, GT_SHEET_NAME, "%.*s", (int)length, *names);
		*names = (*names)[length] ? *names + length + 1 : NULL;
		return;
	}
	const char *slash = strrchr(path, '/');
	snprintf(name, GT_SHEET_NAME, "%s", strcmp(path, "-") == 0 ? "standard input" : slash ? slash + 1 : path);
	if (strcmp(path, "-") != 0)
		name[strcspn(name + (*name == '.'), ".") + (*name == '.')] = '\0';
}

static struct gt_sheet *read_sheets(const struct gt_plot_kind *kind, const char *names, size_t *n)
{
	static char standard_input[] = "-";
	char *none[] = {standard_input}, **paths = optind < tool.argc ? tool.argv + optind : none;
	char name[GT_SHEET_NAME];

	*n = optind < tool.argc ? (size_t)(tool.argc - optind) : 1;
	struct gt_sheet *sheets = calloc(*n, sizeof *sheets);
	if (!sheets)
		tool_must(&tool, gt_fail_memory(&tool.error, "tables"));
	for (size_t i = 0; i < *n; i++) {
		if (strcmp(paths[i], "-") == 0 && isatty(STDIN_FILENO))
			tool_must(&tool, gt_fail(&tool.error, "expected a table on standard input, not a terminal"));
		struct gt_input *input = gt_input_open(paths[i], &tool.error);
		tool_must(&tool, input ? 0 : -1);
		name_of(paths[i], &names, name);
		gt_sheet_begin(&sheets[i], name);
		tool_must(&tool, gt_sheet_read(&sheets[i], input, &tool.error));
		tool_must(&tool, gt_input_close(input, &tool.error));
		tool_must(&tool, gt_sheet_widen(&sheets[i], kind->array, &tool.error));
	}
	return sheets;
}

/* The picture, or the script that draws it, which the caller frees. */
static char *draw(const struct gt_figure *figure, const struct options *options, size_t *bytes)
{
	char *picture = NULL;

	if (!options->script)
		tool_must(&tool, gt_gnuplot_draw(figure, options->canvas, &picture, bytes, &tool.error));
	else if (!(picture = gt_gnuplot_script_text(figure, options->canvas, bytes, &tool.error)))
		tool_fail(&tool);
	return picture;
}

static void write_figure(const struct gt_figure *figure, const struct options *options)
{
	size_t bytes = 0;
	char *picture = draw(figure, options, &bytes);

	if (options->output)
		tool_must(&tool, gt_whole_file_write(options->output, picture, bytes, "the picture", &tool.error));
	else
		fwrite(picture, 1, bytes, stdout);
	free(picture);
}

/* What is drawn, or the rows of its front. */
static void write_result(const struct gt_figure *figure, const struct gt_plot *plot, const struct options *options)
{
	struct gt_memory_file saved;

	if (!options->table) {
		write_figure(figure, options);
		return;
	}
	tool_must(&tool, gt_memory_file_open(&saved, &tool.error));
	gt_plot_write_front(figure, &plot->sheets[0], saved.file);
	tool_must(&tool, gt_memory_file_save(&saved, options->output ? options->output : "/dev/stdout", "the front", &tool.error));
	if (!tool.quiet)
		tool_say(&tool, "%s: %zu of %zu rows", figure->front_text, figure->front_n, plot->sheets[0].rows);
}

#define KIND_NAME(NAME) " " #NAME

int main(int argc, char **argv)
{
	struct gt_figure figure;

	tool_begin(&tool, "gplot", &about, argc, argv);
	const struct gt_plot_kind *kind = argc > 1 ? gt_plot_kind_find(argv[1]) : NULL;
	if (kind)
		optind = 2;
	struct options options = parse();
	if (!kind)
		tool_usage(&tool, "%s%s%sexpected a kind of picture before all options, one of:" GT_PLOT_KINDS(KIND_NAME),
			   argc > 1 ? "'" : "", argc > 1 ? argv[1] : "", argc > 1 ? "': " : "");
	if (options.plot.pareto && !kind->may_have_front)
		tool_usage(&tool, "--pareto: expected sweep or scatter, not %s", kind->name);
	choose_terminal(&options);
	struct gt_plot plot = {.kind = kind, .options = &options.plot};
	struct gt_sheet *sheets = read_sheets(kind, options.names, &plot.n);
	plot.sheets = sheets;
	if (options.table && plot.n > 1)
		tool_usage(&tool, "--table: expected one file");
	tool_must(&tool, gt_plot_figure(&plot, &figure, &tool.error));
	if (tool.verbose)
		for (size_t i = 0; i < figure.series_n; i++)
			fprintf(stderr, "gplot: %s%s%zu points\n", figure.series[i].name, figure.series[i].name[0] ? ": " : "", figure.series[i].n);
	write_result(&figure, &plot, &options);
	gt_figure_clear(&figure);
	for (size_t i = 0; i < plot.n; i++)
		gt_sheet_clear(&sheets[i]);
	free(sheets);
	tool_end(&tool);
	return 0;
}
