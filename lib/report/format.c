/* SPDX-License-Identifier: MIT */
/* Text for reports: cells and fields are cleaned of what the format, or a terminal, cannot hold. */
#include "report/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/utf8.h"

/* ---- a table of text ---- */

void gt_table_add(struct gt_table *table, const char *const cells[GT_TABLE_COLUMNS])
{
	void *bigger = gt_grown(table->cells, table->n, &table->capacity, sizeof *table->cells);

	if (!bigger) {
		table->failed = true;
		return;
	}
	table->cells = bigger;
	for (int i = 0; i < GT_TABLE_COLUMNS; i++) {
		char *cell = table->cells[table->n][i];
		snprintf(cell, GT_TABLE_CELL, "%s", cells[i] ? cells[i] : "");
		gt_utf8_printable(cell);
	}
	table->n++;
}

static void write_rows(const struct gt_table *table, FILE *to)
{
	size_t width[GT_TABLE_COLUMNS] = {0};

	for (size_t row = 0; row < table->n; row++)
		for (int i = 0; i < GT_TABLE_COLUMNS; i++)
			if (strlen(table->cells[row][i]) > width[i])
				width[i] = strlen(table->cells[row][i]);
	for (size_t row = 0; row < table->n; row++) {
		size_t owed = 0; /* pending blanks, written only before other text */
		for (int i = 0; i < GT_TABLE_COLUMNS; i++) {
			const char *cell = table->cells[row][i];
			size_t length = strlen(cell), gap = width[i] - length;
			bool right = table->alignment[i] == 'r';
			owed += 2 + (right ? gap : 0);
			if (length > 0) {
				fprintf(to, "%*s%s", (int)owed, "", cell);
				owed = 0;
			}
			owed += right ? 0 : gap;
		}
		putc('\n', to);
	}
}

int gt_table_write(struct gt_table *table, FILE *to, struct gt_error *error)
{
	int result = table->failed ? gt_fail_memory(error, "a table") : 0;

	if (result == 0)
		write_rows(table, to);
	free(table->cells);
	*table = (struct gt_table){.alignment = table->alignment};
	return result;
}

const char *gt_table_number(uint64_t number, char buffer[GT_TABLE_NUMBER])
{
	char digits[24];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, number), out = 0;

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buffer[out++] = ',';
		buffer[out++] = digits[i];
	}
	buffer[out] = '\0';
	return buffer;
}

/* ---- text in CSV, JSON, and HTML ---- */

#define FORMULA "=+-@" /* a spreadsheet computes what begins so */

/* Whether a spreadsheet would compute a text; numbers are none. Apostrophes before it are part of such a text. */
static bool is_formula(const char *text)
{
	char *end;

	text += strspn(text, "'");
	if (!*text || !strchr(FORMULA, *text))
		return false;
	(void)strtod(text, &end);
	return end == text || *end;
}

/* Bytes at the begin of a text that are characters of ASCII, and neither quotes nor backslashes. */
static size_t plain_bytes(const char *text)
{
	size_t n = 0;

	while (text[n] >= ' ' && text[n] <= '~' && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

void gt_csv_field(const char *text, bool quoted, FILE *to)
{
	const bool formula = is_formula(text);
	size_t taken, shown;

	quoted |= formula || strpbrk(text, ",\"") != NULL;
	if (quoted)
		putc('"', to);
	if (formula)
		putc('\'', to);
	for (; *text; text += taken) {
		taken = plain_bytes(text);
		fwrite(text, 1, taken, to);
		if (taken > 0)
			continue;
		const char *character = gt_utf8_next(text, &taken, &shown);
		if (*character == '"')
			putc('"', to);
		fwrite(character, 1, shown, to);
	}
	if (quoted)
		putc('"', to);
}

bool gt_csv_next_field(char **at, char **field)
{
	char *in = *at, *out = *at;

	*field = out;
	if (*in != '"') {
		in += strcspn(in, ",");
		out = in;
	} else {
		for (in++; *in && !(in[0] == '"' && in[1] != '"'); in++) {
			in += *in == '"';
			*out++ = *in;
		}
		if (*in != '"' || (in[1] != ',' && in[1] != '\0'))
			return false;
		in++;
	}
	*at = *in ? in + 1 : NULL;
	*out = '\0';
	*field += **field == '\'' && is_formula(*field);
	return true;
}

void gt_json_string(const char *text, FILE *to)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', to);
	while (*at) {
		const size_t plain = plain_bytes((const char *)at);
		fwrite(at, 1, plain, to);
		at += plain;
		size_t length = *at ? gt_utf8_length(at) : 0;
		if (*at == '\0')
			break;
		if (*at == '"' || *at == '\\')
			fprintf(to, "\\%c", *at);
		else if (*at < ' ' || *at == 127)
			fprintf(to, "\\u%04x", *at);
		else if (length == 0)
			fputs("\\ufffd", to);
		else if (length < 4 && !gt_utf8_shown((const char *)at))
			fprintf(to, "\\u%04x", length == 2 ? (at[0] & 31U) << 6 | (at[1] & 63U)
							   : (at[0] & 15U) << 12 | (at[1] & 63U) << 6 | (at[2] & 63U));
		else
			fwrite(at, 1, length, to);
		at += length ? length : 1;
	}
	putc('"', to);
}

void gt_markup_text(const char *text, FILE *to)
{
	char one[5], tidy[4 * 8 + 1];

	while (*text) {
		size_t length = gt_utf8_length((const unsigned char *)text);
		snprintf(one, sizeof one, "%.*s", (int)(length ? length : 1), text);
		text += length ? length : 1;
		switch (*one) {
		case '&': fputs("&amp;", to); break;
		case '<': fputs("&lt;", to); break;
		case '>': fputs("&gt;", to); break;
		case '"': fputs("&quot;", to); break;
		case '\'': fputs("&#39;", to); break;
		default: fputs(gt_utf8_tidy(one, 8, tidy), to);
		}
	}
}

/* ---- numbers in words ---- */

static const char *with_unit(double number, double step, const char *const units[], char text[GT_WORDS])
{
	while (number >= 999.5 && *units[1]) {
		number /= step;
		units++;
	}
	snprintf(text, GT_WORDS, number >= 99.95 || number == (double)(uint64_t)number ? "%.0f%s" : number >= 9.995 ? "%.1f%s" : "%.2f%s", number, *units);
	return text;
}

const char *gt_number_words(uint64_t count, char text[GT_WORDS])
{
	static const char *const units[] = {"", " k", " M", " G", " T", ""};

	return with_unit((double)count, 1000, units, text);
}

const char *gt_bytes_words(double bytes, char text[GT_WORDS])
{
	static const char *const units[] = {" B", " KB", " MB", " GB", " TB", ""};

	return with_unit(bytes, 1024, units, text);
}

/* ---- lines ---- */

void gt_wrapped_write(const char *words, size_t column, size_t indent, FILE *to)
{
	size_t begin = column;

	for (size_t length; *words; words += length) {
		words += strspn(words, " ");
		length = strcspn(words, " ");
		if (column > begin && column + 1 + length > GT_WRAP_COLUMNS) {
			fprintf(to, "\n%*s", (int)indent, "");
			begin = column = indent;
		} else if (column > begin) {
			putc(' ', to);
			column++;
		}
		fwrite(words, 1, length, to);
		column += length;
	}
}
