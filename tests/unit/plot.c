/* SPDX-License-Identifier: MIT */
/* The parts of a picture that have an answer of their own: labels of axes, names, tables. */
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "check.h"
#include "report/format.h"
#include "report/plot/figure.h"
#include "report/plot/sheet.h"

/* The labels of an axis, with blanks between. */
static const char *labels(struct gt_axis axis, double least, double most, unsigned wanted)
{
	static char text[GT_TICKS * (GT_TICK_TEXT + 1)];
	struct gt_ticks ticks;

	gt_ticks_place(&axis, least, most, wanted, &ticks);
	text[0] = '\0';
	for (size_t i = 0; i < ticks.n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", ticks.label[i]);
	return text;
}

static void axes_are_labelled_as_people_say(void)
{
	CHECK_TEXT(labels((struct gt_axis){.from_zero = true}, 3, 97, 5), "0 20 40 60 80 100");
	CHECK_TEXT(labels((struct gt_axis){.from_zero = true, .end = 1}, 0.2, 0.4, 5), "0 0.2 0.4 0.6 0.8 1");
	CHECK_TEXT(labels((struct gt_axis){.from_zero = true}, 0, 2500000, 5), "0 0.5M 1M 1.5M 2M 2.5M");
	CHECK_TEXT(labels((struct gt_axis){.numbers = GT_SIZES}, 16384, 24576, 5), "16K 18K 20K 22K 24K");
	CHECK_TEXT(labels((struct gt_axis){.scale = GT_LOG2, .numbers = GT_SIZES}, 128, 32768, 10), "128 256 512 1K 2K 4K 8K 16K 32K");
	CHECK_TEXT(labels((struct gt_axis){.scale = GT_LOG2, .numbers = GT_SIZES}, 1, 0x1p40, 5), "1 512 256K 128M 64G");
	CHECK_TEXT(labels((struct gt_axis){.scale = GT_LOG10}, 3, 25000, 10), "1 10 100 1000 10k 100k");
	CHECK_TEXT(labels((struct gt_axis){.from_zero = true}, 0, 0, 5), "0 0.2 0.4 0.6 0.8 1");
	CHECK_TEXT(labels((struct gt_axis){0}, -20, 20, 4), "-20 -10 0 10 20");
}

/* Whatever the data, an axis holds them, is marked at least once, and never at more places than there are. */
static void axes_hold_their_data(void)
{
	for (int scale = GT_LINEAR; scale <= GT_LOG10; scale++)
		for (int numbers = GT_PLAIN; numbers <= GT_SIZES; numbers++)
			for (double least = 1e-9; least < 1e18; least *= 7)
				for (double span = 1; span < 1e12; span *= 13) {
					struct gt_axis axis = {.scale = (enum gt_scale)scale, .numbers = (enum gt_numbers)numbers};
					struct gt_ticks ticks;
					gt_ticks_place(&axis, least, least * span, 8, &ticks);
					CHECK(ticks.n >= 1 && ticks.n <= GT_TICKS);
					CHECK(ticks.least <= least * 1.0000001 && ticks.most >= least * span * 0.9999999);
				}
}

static const char *tidy(const char *text, size_t most)
{
	static char buffer[1024];

	return gt_utf8_tidy(text, most, buffer);
}

static void names_are_made_fit(void)
{
	CHECK_TEXT(tidy("plain", 31), "plain");
	CHECK_TEXT(tidy("a\x01\xff" "b\xc3\xa9", 31), "a??b\xc3\xa9");
	CHECK_TEXT(tidy("\xef\xbf\xbe\xed\xa0\x80", 31), "????");
	CHECK_TEXT(tidy("abcdefghijkl", 8), "abcd\xe2\x80\xa6jkl");
	CHECK_EQUAL(gt_utf8_characters(tidy("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8)), 8);
}

static void markup_is_text(void)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	gt_markup_text("<a href='x'>&\"\x02\xff\xc3\xa9", file);
	fclose(file);
	CHECK_TEXT(text, "&lt;a href=&#39;x&#39;&gt;&amp;&quot;??\xc3\xa9");
	free(text);
}

static void numbers_and_sizes(void)
{
	double value = 0;
	bool size = false;

	CHECK(gt_sheet_number("-1.5e3", &value, &size) && value == -1500 && !size);
	CHECK(gt_sheet_number("4.5M", &value, &size) && value == 4.5 * 1048576 && size);
	for (const char *const *text = (const char *const[]){"", "-", "K", "nan", "inf", "1 2", "0x", "1KK", NULL}; *text; text++)
		CHECK(!gt_sheet_number(*text, &value, &size));
}

/* A sheet of the text; the error's text if it cannot be read. */
static const char *read_text(const char *text, struct gt_sheet *sheet)
{
	static struct gt_error error;
	char path[] = "/tmp/gtrace-plot-XXXXXX";
	int file = mkstemp(path);

	error.text[0] = '\0';
	gt_sheet_begin(sheet, "x");
	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		return "cannot write";
	close(file);
	struct gt_input *input = gt_input_open(path, &error);
	if (input && gt_sheet_read(sheet, input, &error) == 0)
		gt_input_close(input, &error);
	else
		gt_input_close(input, &(struct gt_error){{0}});
	unlink(path);
	return strchr(error.text, ':') ? strchr(error.text, ':') : error.text;
}

static void tables_are_read(void)
{
	struct gt_sheet sheet;

	CHECK_TEXT(read_text("# note\na,b\n\"x,\"\"y\",2\n#c\na,b\n,3\n", &sheet), "");
	CHECK_EQUAL(sheet.rows, 2);
	CHECK_TEXT(gt_sheet_cell(&sheet, 0, 0), "x,\"y");
	CHECK_TEXT(gt_sheet_cell(&sheet, 1, 0), "");
	CHECK_TEXT(gt_sheet_cell(&sheet, 1, 1), "3");
	gt_sheet_clear(&sheet);
	CHECK_TEXT(read_text("a\tb\n1\t2,3\r\n", &sheet), "");
	CHECK_TEXT(gt_sheet_cell(&sheet, 0, 1), "2,3");
	gt_sheet_clear(&sheet);
	CHECK_TEXT(read_text("a,b\n1\n", &sheet), ":2: expected 2 fields, as the column names are, found 1");
	gt_sheet_clear(&sheet);
	CHECK_TEXT(read_text("#kernel\tline\top\n#graph\t1\n", &sheet), ":2: expected a row, then #graph and 32 numbers");
	gt_sheet_clear(&sheet);
}

static void a_report_becomes_a_row_a_kernel(void)
{
	struct gt_sheet sheet;
	struct gt_error error;

	CHECK_TEXT(read_text("kernel,stage,counter,value\n1,l1,reads,5\n1,l1,mru[0],2\n1,l1,mru[1],1\n2,l2,reads,7\ntotal,l1,reads,5\n", &sheet), "");
	CHECK_EQUAL(gt_sheet_widen(&sheet, NULL, &error), 0);
	CHECK_EQUAL(sheet.rows, 3);
	CHECK_EQUAL(sheet.columns, 3);
	CHECK_TEXT(gt_sheet_name(&sheet, 2), "l2.reads");
	CHECK_TEXT(gt_sheet_cell(&sheet, 0, 1), "5");
	CHECK_TEXT(gt_sheet_cell(&sheet, 1, 1), "-");
	CHECK_TEXT(gt_sheet_cell(&sheet, 2, 0), "total");
	gt_sheet_clear(&sheet);
	read_text("kernel,stage,counter,value\n1,l1,mru[0],2\n1,l1,mru[1],1\n", &sheet);
	CHECK_EQUAL(gt_sheet_widen(&sheet, "mru", &error), 0);
	CHECK_EQUAL(sheet.rows, 2);
	CHECK_TEXT(gt_sheet_cell(&sheet, 1, 2), "1");
	gt_sheet_clear(&sheet);
}

int main(void)
{
	RUN(axes_are_labelled_as_people_say);
	RUN(axes_hold_their_data);
	RUN(names_are_made_fit);
	RUN(markup_is_text);
	RUN(numbers_and_sizes);
	RUN(tables_are_read);
	RUN(a_report_becomes_a_row_a_kernel);
	return check_report();
}
