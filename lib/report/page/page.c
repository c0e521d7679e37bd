/* SPDX-License-Identifier: MIT */
/* The page: its head, its contents, and a list of sections. The pipe and the GPU, which are not of the report, are written
 * here too. */
#include "report/page/page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/format.h"
#include "stream/history.h"

/* Light or dark as the reader's system is, with a contrast of 7:1 or more for text, 4.5:1 on the marks of heat, and 3:1 for pictures;
 * the colours of series are those of Okabe and Ito, lighter on dark. Wide tables scroll by themselves, so that the page does not. On
 * paper, all is open and light. */
#define LIGHT \
	"--ink:#1a1a1a;--paper:#fff;--soft:#444;--line:#ddd;--box:#f3f3f3;--link:#00518a;--mark:#8f3a00;--frame:#767676;--empty:#d0d0d0;" \
	"--loads:#4a98cc;--loads2:#0b4f80;--stores:#d9772b;--stores2:#7a3200;--atomics:#2f9f7a;--atomics2:#00513a;" \
	"--h1:#fff1e0;--h2:#ffdcb5;--h3:#ffc285;--h4:#ffa654;" \
	"--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#8c6d31;--c7:#7f7f7f"
static const char style[] =
	":root{color-scheme:light dark;" LIGHT "}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--soft:#c0c0c0;--line:#3a3f45;--box:#22262b;--link:#7cc4ff;--mark:#ffa766;"
	"--frame:#8a9097;--empty:#4a5057;--loads:#8cc8f2;--loads2:#2f7db3;--stores:#ffb27a;--stores2:#c45f14;--atomics:#74dcb7;--atomics2:#1d8a66;"
	"--h1:#2b231b;--h2:#43301d;--h3:#5f3e1c;--h4:#7d4c17;"
	"--c0:#4aa3df;--c1:#ff8c42;--c2:#2fc79b;--c3:#e6a3c8;--c4:#f5bd3d;--c5:#9bd7ff;--c6:#c9a86a;--c7:#a8a8a8}}"
	"*{box-sizing:border-box}"
	"body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:94rem;padding:0 1rem 3rem}"
	"h1{font-size:1.6rem;line-height:1.25;margin:1.5rem 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:2px solid var(--c0)}"
	"h3{font-size:1.05rem;margin:1.5rem 0 .5rem}h1,h2,h3,li,summary,dd,p,figcaption,caption{overflow-wrap:anywhere}p,figcaption{max-width:50rem}"
	"a{color:var(--link)}nav ul{padding-left:1.2rem;columns:14rem;column-gap:2rem}nav li{break-inside:avoid}"
	"pre{background:var(--box);padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere}"
	"dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0}"
	".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0 0 1rem;width:480px;max-width:100%}"
	"svg{display:block;width:100%;height:auto;border:1px solid var(--line);font-size:12px}svg text{fill:var(--ink)}"
	".grid{stroke:var(--line)}.axis{stroke:var(--soft)}"
	".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}"
	"rect:hover,circle:hover{opacity:.7}figcaption{font-size:.9rem;color:var(--soft)}"
	".scroll{overflow-x:auto}.scroll:focus-visible{outline:2px solid var(--link)}table{border-collapse:collapse;margin:.5rem 0 1rem}"
	"caption{text-align:left;color:var(--soft);font-size:.9rem;padding-bottom:.25rem}"
	"th,td{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0;border-bottom:1px solid var(--line);font-weight:400}"
	"tbody th{min-width:9.5rem;overflow-wrap:anywhere}.sort tbody th{min-width:7rem;overflow-wrap:anywhere}td.name{overflow-wrap:anywhere;min-width:7rem}thead th{white-space:nowrap;font-weight:600;border-bottom:2px solid var(--soft)}th.stage{font-weight:600;padding-top:.75rem}"
	"th.number,td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:.75rem}"
	".numbers td{text-align:right;font-variant-numeric:tabular-nums}"
	"th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}th[aria-sort=descending] button::after{content:\" \\25be\"}"
	"th[aria-sort=ascending] button::after{content:\" \\25b4\"}td.assumed{color:var(--mark);font-weight:600}"
	".part{color:var(--soft);display:inline-block;min-width:3.6rem}.paper{display:none}details{margin:.5rem 0}summary{cursor:pointer;font-weight:600}footer{margin-top:3rem;color:var(--soft);font-size:.9rem}";

static const char paper_style[] =
	"@media print{:root{" LIGHT "}body{max-width:none;padding:0;font-size:10pt}nav{display:none}figure,tr{break-inside:avoid}"
	"*{print-color-adjust:exact;-webkit-print-color-adjust:exact}.chart svg{min-width:0}"
	"h2,h3,p{break-after:avoid}p{break-inside:avoid}.scroll{overflow:visible}table{font-size:8pt}.pictures figure{width:47%}thead th,th.number{white-space:normal}"
	"th,td,td.name,tbody th,.sort tbody th,.places thead th,.places tbody th,td.arrays{min-width:0;padding-left:0;padding-right:.35rem}.sort{font-size:7pt}.places,.places.sort{font-size:6pt}"
	".places td.code{min-width:6rem;padding-left:.25rem}td.code code{font-size:6pt}.causes{min-width:2rem}.places .number,.places th.number{padding-left:0;padding-right:.25rem}.part{min-width:0}td.number{white-space:normal}"
	"table.numbers{display:none}.paper{display:block}}";
static const char chart_style[] =
	".chart{width:auto;margin-top:.75rem}.chart svg{border:0;font-size:13px;min-width:46rem;max-width:72rem}.chart .b{font-weight:600}.chart .t{font-weight:600;font-size:16px}"
	".box{fill:var(--box);stroke:var(--frame)}.inner{fill:var(--paper);stroke:var(--frame)}.absent{fill:none;stroke:var(--frame);stroke-dasharray:4 4}"
	".empty{fill:var(--empty)}.full{fill:var(--loads2)}"
	"line.loads{stroke:var(--loads)}path.loads{fill:var(--loads)}line.loads.dark{stroke:var(--loads2)}"
	"line.stores{stroke:var(--stores);stroke-dasharray:14 3}path.stores{fill:var(--stores)}line.stores.dark{stroke:var(--stores2)}"
	"line.atomics{stroke:var(--atomics);stroke-dasharray:4 3}path.atomics{fill:var(--atomics)}line.atomics.dark{stroke:var(--atomics2)}"
	"line.both{stroke:var(--frame)}path.both{fill:var(--frame)}"
	".chart .tall{display:none;min-width:0;max-width:26rem}.findings td.name{overflow-wrap:break-word}@media screen and (max-width:47rem){.chart .wide{display:none}.chart .tall{display:block}"
	".findings thead{display:none}.findings tr{display:block;border-bottom:1px solid var(--line);padding:.35rem 0}.findings th,.findings td{display:block;border:0;padding:0}.findings th{font-weight:600}}";
static const char places_style[] =
	"table.places{width:100%;font-size:.9rem}.places thead th{white-space:normal;vertical-align:bottom;min-width:4.2rem}.places th,.places td{padding-right:.4rem}.places .number{padding-left:.25rem}.places tbody th{min-width:3rem}.places td.code{min-width:22rem;padding-left:.75rem}"
	"td.code code{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.85rem}td.arrays{min-width:8rem;overflow-wrap:break-word}"
	".places th.number{padding-right:.5rem;padding-left:.5rem}tr.context{color:var(--soft)}tr.context th,tr.context td,tr.context+tr.context th{border-bottom-color:transparent}"
	"tr.gap td{color:var(--soft);background:var(--box);padding-left:.75rem}.h1{background:var(--h1)}.h2{background:var(--h2)}.h3{background:var(--h3)}.h4{background:var(--h4)}"
	".causes{display:flex;height:.6rem;min-width:6rem;margin:.1rem 0 .2rem}.causes i{display:block;min-width:1px;height:100%}"
	".key i{display:inline-block;width:1.5rem;height:.6rem}.k0{background:var(--c0)}.k1{background:repeating-linear-gradient(135deg,var(--c1) 0 3px,var(--paper) 3px 5px)}"
	".k2{background:repeating-linear-gradient(90deg,var(--c2) 0 2px,var(--paper) 2px 4px)}.k3{background:var(--c7)}";

/* The headings of tables of class "sort" become buttons that sort by their column. Without a script nothing is missing. */
static const char script[] =
	"for(const table of document.querySelectorAll('table.sort')){"
	"const heads=[...table.tHead.rows[0].cells];"
	"const value=(row,i)=>{const text=row.cells[i].textContent.replace(/,/g,'');"
	"const number=/^0x[0-9a-f]+$/.test(text)?parseInt(text,16):parseFloat(text);return isNaN(number)?text:number};"
	"heads.forEach((head,i)=>{const button=document.createElement('button');button.textContent=head.textContent;"
	"head.replaceChildren(button);button.addEventListener('click',()=>{"
	"const up=head.getAttribute('aria-sort')==='descending';"
	"heads.forEach(other=>other.removeAttribute('aria-sort'));head.setAttribute('aria-sort',up?'ascending':'descending');"
	"const order=(a,b)=>typeof a===typeof b?(a<b?-1:a>b?1:0):typeof a==='number'?1:-1;"
	"const body=table.tBodies[0];body.append(...[...body.rows].sort((a,b)=>(up?1:-1)*order(value(a,i),value(b,i))))})})}"
	"addEventListener('beforeprint',()=>{for(const part of document.querySelectorAll('details'))part.open=true});";

/* ---- the pipe ---- */

/* Whether the word needs no quotes in a shell. */
static bool is_plain(const char *word, size_t length)
{
	return length > 0 && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") >= length;
}

/* Writes words, with tabs between them, as a command line. */
static void write_words(const char *words, FILE *to)
{
	for (size_t field = 0; words; field++) {
		size_t length = strcspn(words, "\t");
		char word[512];
		snprintf(word, sizeof word, "%.*s", (int)(length < 500 ? length : 500), words);
		bool quotes = !is_plain(words, length);
		fputs(field ? " " : "", to);
		fputs(quotes ? "&#39;" : "", to);
		gt_markup_text(word, to);
		fputs(length >= 500 ? "…" : "", to);
		fputs(quotes ? "&#39;" : "", to);
		words = words[length] ? words + length + 1 : NULL;
	}
}

static const char *next_word(const char *word)
{
	const char *tab = strchr(word, '\t');

	return tab ? tab + 1 : NULL;
}

/* Writes a filter of the history, "name\tversion\targument...", as a command line. */
static void write_filter(const char *line, FILE *to)
{
	char name[64];
	const char *version = next_word(line), *arguments = version ? next_word(version) : NULL;

	snprintf(name, sizeof name, "%.*s", (int)(strcspn(line, "\t") < 60 ? strcspn(line, "\t") : 60), line);
	gt_markup_text(name, to);
	fputs(arguments ? " " : "", to);
	write_words(arguments, to);
}

/* The pipe, a filter a line or all on one. */
static void write_filters(const struct gt_page *page, const char *between, FILE *to)
{
	for (size_t i = 0; page->history && page->history[i]; i++) {
		fputs(i ? between : "", to);
		write_filter(page->history[i], to);
	}
}

static int write_pipe(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	fputs("<p>The filters that the stream has passed, the first one first.</p>\n<pre><code>", to);
	write_filters(page, " |\n  ", to);
	fputs("</code></pre>\n", to);
	(void)error;
	return 0;
}

static const struct gt_page_section section_pipe = {.id = "pipe", .heading = "The pipe", .write = write_pipe};

/* ---- the GPU ---- */

/* Loads the description that the pipe named, which has the sources of the values. An empty one if it is not there. */
static int load_named(const struct gt_page *page, struct gt_gpu *gpu, struct gt_error *error)
{
	static const char *const tools[] = {"gschedule", "gtrace-record", "gtrace-ptx"};
	char name[GT_GPU_TEXT], path[4096];
	struct gt_error absent;

	*gpu = (struct gt_gpu){0};
	for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
		const char *entry = page->history ? gt_history_find(page->history, tools[i], "--gpu") : NULL;
		if (entry && gt_history_argument(entry, "--gpu", name, sizeof name))
			return gt_gpu_path(name, path, sizeof path, &absent) != 0 ? 0 : gt_gpu_load(gpu, path, error);
	}
	return 0;
}

/* Where a value comes from; NULL if the named description does not have that value. */
static const struct gt_gpu_figure *source_of(const struct gt_gpu *named, const struct gt_gpu_figure *figure)
{
	for (size_t i = 0; i < named->n; i++)
		if (strcmp(named->figures[i].key, figure->key) == 0 && strcmp(named->figures[i].value, figure->value) == 0)
			return &named->figures[i];
	return NULL;
}

static void write_figure(const struct gt_gpu_figure *figure, const struct gt_gpu_figure *source, FILE *to)
{
	fputs("<tr><th scope=\"row\">", to);
	gt_markup_text(figure->key, to);
	fputs("</th><td>", to);
	gt_markup_text(figure->value, to);
	fprintf(to, "</td><td%s>", source && strcmp(source->status, "assumed") == 0 ? " class=\"assumed\"" : "");
	gt_markup_text(source ? source->status : "-", to);
	fputs("</td><td>", to);
	gt_markup_text(source ? source->source : "", to);
	fputs("</td></tr>\n", to);
}

/* The description of the GPU, with the values that are assumed. */
static int write_gpu(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	struct gt_gpu named;
	size_t assumed = 0;

	if (!page->gpu || page->gpu->n == 0) {
		fputs("<p>No stage chose a GPU: options alone describe the model.</p>\n", to);
		return 0;
	}
	if (load_named(page, &named, error) != 0) {
		gt_gpu_clear(&named);
		return -1;
	}
	for (size_t i = 0; i < page->gpu->n; i++) {
		const struct gt_gpu_figure *source = source_of(&named, &page->gpu->figures[i]);
		assumed += source && strcmp(source->status, "assumed") == 0;
	}
	fputs("<details><summary>", to);
	gt_markup_text(page->report->gpu[0] ? page->report->gpu : "unnamed", to);
	fprintf(to, ": %zu values", page->gpu->n);
	if (named.n > 0)
		fprintf(to, ", %zu of them assumed", assumed);
	fputs("</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n<caption>The description that the stream carries; "
	      "options of the pipe may set other values. Assumed: no vendor or measurement tells it.</caption>\n"
	      "<thead><tr><th scope=\"col\">key</th><th scope=\"col\">value</th><th scope=\"col\">status</th>"
	      "<th scope=\"col\">source</th></tr></thead>\n<tbody>\n", to);
	for (size_t i = 0; i < page->gpu->n; i++)
		write_figure(&page->gpu->figures[i], source_of(&named, &page->gpu->figures[i]), to);
	fputs("</tbody></table></div></details>\n", to);
	gt_gpu_clear(&named);
	return 0;
}

static const struct gt_page_section section_gpu = {.id = "gpu", .heading = "The GPU", .write = write_gpu};

/* ---- the page ---- */

static const struct gt_page_section *const sections[] = {
	&gt_page_findings, &gt_page_chart, &gt_page_source, &gt_page_arrays, &gt_page_causes, &gt_page_reuse, &gt_page_misses, &gt_page_pictures, &gt_page_coalescing, &gt_page_comparison,
	&section_pipe, &section_gpu, &gt_page_counters,
};
#define SECTIONS (sizeof sections / sizeof *sections)

static bool has(const struct gt_page *page, const struct gt_page_section *section)
{
	return !section->has || section->has(page);
}

/* Options of gtrace-record that have no argument. */
static bool is_flag(const char *word)
{
	static const char *const flags[] = {"--skip-untraced", "--replay", "--work", "--memcheck", "--ignore-unsupported", "--ptxas", "--verbose", "--quiet", "-v"};
	size_t length = strcspn(word, "\t");

	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (strlen(flags[i]) == length && strncmp(word, flags[i], length) == 0)
			return true;
	return false;
}

/* The program of gtrace-record, with its arguments; NULL if the history has none. */
static const char *program_of(const char *entry)
{
	const char *word = next_word(entry);

	if (strncmp(entry, "gtrace-record\t", 14) != 0 || !word)
		return NULL;
	while ((word = next_word(word)) && *word == '-') {
		size_t length = strcspn(word, "\t");
		bool attached = memchr(word, '=', length) || (word[1] != '-' && length > 2);
		if (length == 2 && word[1] == '-')
			return next_word(word);
		if (!attached && !is_flag(word))
			word = next_word(word);
		if (!word)
			return NULL;
	}
	return word;
}

/* The word behind that of a command line, in which single quotes keep blanks. */
static const char *skip_word(const char *text)
{
	bool quoted = false;

	for (; *text && (quoted || *text != ' '); text++)
		quoted ^= *text == '\'';
	return text + strspn(text, " ");
}

/* The source that gtrace compiled, with its arguments, behind the options that model; NULL if it was no source: the history has the name of the
 * program, which is gone. */
static const char *compiled_source(const struct gt_page *page)
{
	const char *text = page->program ? page->program : "";

	while (strncmp(text, "--", 2) == 0)
		text = skip_word(strncmp(text, "--gpu ", 6) == 0 ? skip_word(text) : text);
	size_t length = (size_t)(skip_word(text) - text);
	while (length > 0 && strchr(" '", text[length - 1]))
		length--;
	return length > 3 && strncmp(text + length - 3, ".cu", 3) == 0 ? text : NULL;
}

/* What was run: the program with its arguments, or the first filter. */
static void write_subject(const struct gt_page *page, FILE *to)
{
	const char *first = page->history ? page->history[0] : NULL, *program = first ? program_of(first) : NULL, *source = compiled_source(page);

	if (source)
		gt_markup_text(source, to);
	else if (program)
		write_words(program, to);
	else if (first)
		write_filter(first, to);
	else
		fputs("a stream without a history", to);
}

/* "2 kernels, 21 launches", or the only kernel's name. */
static void write_kernels(const struct gt_page *page, FILE *to)
{
	const struct gt_report *report = page->report;
	char name[GT_PAGE_NAME];
	size_t launches = 0;

	for (size_t i = 0; i < report->n; i++)
		launches += gt_report_launches(&report->kernels[i]);
	if (report->n == 1)
		gt_markup_text(gt_page_name(page, &report->kernels[0], name), to);
	else
		fprintf(to, "%zu kernels", report->n);
	if (report->n != 1 && launches != report->n)
		fprintf(to, ", %zu launches", launches);
}

/* By which a page of gtrace is known. */
#define GENERATOR "<meta name=\"generator\" content=\"gtrace\">"

#define PATH_BYTES 4096

/* The file of the page. */
static int find_place(const char *folder, bool replace, char path[PATH_BYTES], struct gt_error *error)
{
	char head[512];

	if ((size_t)snprintf(path, PATH_BYTES, "%s/index.html", folder) >= PATH_BYTES)
		return gt_fail(error, "expected a shorter name");
	FILE *there = replace ? NULL : fopen(path, "r");
	if (!there)
		return 0;
	head[fread(head, 1, sizeof head - 1, there)] = '\0';
	fclose(there);
	return strstr(head, GENERATOR) ? 0 : gt_fail(error, "%s is no page of gtrace: name another folder, or replace it with --force", path);
}

int gt_page_check(const char *folder, bool replace, struct gt_error *error)
{
	char path[PATH_BYTES];

	if (find_place(folder, replace, path, error) != 0)
		return -1;
	return gt_whole_file_check(access(folder, F_OK) == 0 ? path : folder, "the page", error); /* the last folder may be made */
}

int gt_page_save(struct gt_memory_file *text, const char *folder, bool replace, struct gt_error *error)
{
	char path[PATH_BYTES];

	if (find_place(folder, replace, path, error) != 0)
		return -1;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		return gt_fail_errno(error, "%s: cannot write the page", folder);
	return gt_memory_file_save(text, path, "the page", error);
}

/* The head up to the title's text, and from its end to the heading's. */
static void begin_head(FILE *to)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      GENERATOR "\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>gtrace: ", to);
}

static void end_title(const char *date, FILE *to)
{
	fprintf(to, "%s%s", date ? ", " : "", date ? date : "");
	fprintf(to, "</title>\n<style>%s%s%s%s</style>\n</head>\n<body>\n<header>\n<h1>", chart_style, places_style, style, paper_style);
}

static void write_end(const char *command, FILE *to)
{
	fprintf(to, "</main>\n<footer><p>Written by %s. The numbers are those of a model, not of hardware.</p></footer>\n"
		"<script>%s</script>\n</body>\n</html>\n", command, script);
}

static void write_head(const struct gt_page *page, FILE *to)
{
	const struct gt_report *report = page->report;
	const char *gpu = report->gpu[0] ? report->gpu : "an unnamed GPU";

	begin_head(to);
	write_subject(page, to);
	fputs(": ", to);
	write_kernels(page, to);
	fputs(" on ", to);
	gt_markup_text(gpu, to);
	end_title(page->date, to);
	write_subject(page, to);
	fputs("</h1>\n<dl>\n<dt>kernels</dt><dd>", to);
	write_kernels(page, to);
	fputs("</dd>\n<dt>GPU</dt><dd>", to);
	gt_markup_text(gpu, to);
	fputs(", modelled by gtrace</dd>\n", to);
	if (page->date)
		fprintf(to, "<dt>date</dt><dd>%s</dd>\n", page->date);
	fputs("<dt>pipe</dt><dd><code>", to);
	write_filters(page, " | ", to);
	fputs("</code></dd>\n</dl>\n</header>\n", to);
}

static void write_contents(const struct gt_page *page, FILE *to)
{
	fputs("<nav aria-label=\"Contents\"><ul>\n", to);
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct gt_page_section *section = sections[i];
		if (has(page, section))
			fprintf(to, "<li><a href=\"#%s\">%s</a></li>\n", section->id, section->heading);
	}
	fputs("</ul></nav>\n<main>\n", to);
}

int gt_page_write(const struct gt_page *page, FILE *to, struct gt_error *error)
{
	write_head(page, to);
	write_contents(page, to);
	for (size_t i = 0; i < SECTIONS; i++) {
		const struct gt_page_section *section = sections[i];
		if (!has(page, section))
			continue;
		fprintf(to, "<h2 id=\"%s\">%s</h2>\n", section->id, section->heading);
		if (section->write(page, to, error) != 0)
			return -1;
	}
	write_end("gstats --report", to);
	return 0;
}

/* ---- a page of two runs ---- */

/* Sections that each side has, in the order of the page; each side's follows the other's. */
static const struct gt_page_section *const of_sides[] = {&gt_page_findings, &gt_page_chart, &gt_page_source, &gt_page_arrays, &gt_page_causes};
#define OF_SIDES (sizeof of_sides / sizeof *of_sides)
static const char *const side_ids[GT_RUN_SIDES] = {"a", "b"};

static void write_runs_head(const struct gt_runs *runs, const char *date, FILE *to)
{
	const char *names[GT_RUN_SIDES] = {runs->run[GT_RUN_A]->name, runs->run[GT_RUN_B]->name};

	begin_head(to);
	for (int at = 0; at < 2; at++) {
		gt_markup_text(names[GT_RUN_A], to);
		fputs(" and ", to);
		gt_markup_text(names[GT_RUN_B], to);
		if (at == 0)
			end_title(date, to);
	}
	fputs("</h1>\n<dl>\n", to);
	for (int side = 0; side < GT_RUN_SIDES; side++) {
		const struct gt_run *run = runs->run[side];
		fputs("<dt>", to);
		gt_markup_text(names[side], to);
		fputs("</dt><dd><code>", to);
		gt_markup_text(run->text, to);
		fputs("</code>", to);
		fputs(run->report.gpu[0] ? ", " : run->saved ? ", saved counts" : "", to);
		gt_markup_text(run->report.gpu, to);
		fputs(run->report.gpu[0] ? ", modelled by gtrace</dd>\n" : "</dd>\n", to);
	}
	if (date)
		fprintf(to, "<dt>date</dt><dd>%s</dd>\n", date);
	fputs("</dl>\n</header>\n", to);
}

static void write_side_heading(const struct gt_runs *runs, int side, const struct gt_page_section *section, bool link, FILE *to)
{
	fprintf(to, link ? "<li><a href=\"#%s-%s\">%s: " : "<h2 id=\"%s-%s\">%s: ", section->id, side_ids[side], section->heading);
	gt_markup_text(runs->run[side]->name, to);
	fputs(link ? "</a></li>\n" : "</h2>\n", to);
}

int gt_page_write_runs(const struct gt_runs *runs, const char *date, FILE *to, struct gt_error *error)
{
	struct gt_page pages[GT_RUN_SIDES];

	for (int side = 0; side < GT_RUN_SIDES; side++)
		pages[side] = (struct gt_page){.report = &runs->run[side]->report, .gpu = &runs->run[side]->gpu, .date = date, .side = side_ids[side],
					       .program = runs->run[side]->saved ? NULL : runs->run[side]->text};
	write_runs_head(runs, date, to);
	fputs("<nav aria-label=\"Contents\"><ul>\n<li><a href=\"#changes\">What changed</a></li>\n", to);
	for (size_t i = 0; i < OF_SIDES * GT_RUN_SIDES; i++)
		if (has(&pages[i % GT_RUN_SIDES], of_sides[i / GT_RUN_SIDES]))
			write_side_heading(runs, (int)(i % GT_RUN_SIDES), of_sides[i / GT_RUN_SIDES], true, to);
	fputs("</ul></nav>\n<main>\n<h2 id=\"changes\">What changed</h2>\n", to);
	gt_page_changes(runs, to);
	for (size_t i = 0; i < OF_SIDES * GT_RUN_SIDES; i++) {
		const struct gt_page *page = &pages[i % GT_RUN_SIDES];
		if (!has(page, of_sides[i / GT_RUN_SIDES]))
			continue;
		write_side_heading(runs, (int)(i % GT_RUN_SIDES), of_sides[i / GT_RUN_SIDES], false, to);
		if (of_sides[i / GT_RUN_SIDES]->write(page, to, error) != 0)
			return -1;
	}
	write_end("gtrace compare --page", to);
	return 0;
}
