/* SPDX-License-Identifier: MIT */
/* base/input and base/scan. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/input.h"
#include "base/scan.h"
#include "check.h"

static char path[] = "/tmp/gtrace-input-XXXXXX";

static void write_file(const char *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	CHECK(file && fwrite(bytes, 1, n, file) == n && fclose(file) == 0);
}

/* Runs a command that packs what it is given into the file. */
static void pack(const char *tool, const char *bytes, size_t n)
{
	char command[128];

	snprintf(command, sizeof command, "%s >%s", tool, path);
	FILE *to = popen(command, "w");
	CHECK(to && fwrite(bytes, 1, n, to) == n && pclose(to) == 0);
}

static void lines_end_as_they_may(void)
{
	static const char text[] = "one\r\n\n\rtwo\r\r\nlast";
	static const char *const expected[] = {"one", "", "\rtwo\r", "last"};
	struct gt_error error;
	size_t length;
	char *line;

	write_file(text, sizeof text - 1);
	struct gt_input *input = gt_input_open(path, &error);
	CHECK(input != NULL);
	for (unsigned i = 0; i < 4; i++) {
		CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 1);
		CHECK_TEXT(line, expected[i]);
		CHECK_EQUAL(length, strlen(expected[i]));
		CHECK_EQUAL(gt_input_line_number(input), i + 1);
	}
	CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 0);
	CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 0);
	CHECK_EQUAL(gt_input_size(input), sizeof text - 1);
	CHECK_EQUAL(gt_input_taken(input), sizeof text - 1);
	CHECK_EQUAL(gt_input_close(input, &error), 0);
}

/* Lines of every length around the buffer's sizes arrive whole. */
static void long_lines_arrive_whole(void)
{
	static const size_t lengths[] =
		{0, 1, 262143, 262144, 262145, 7, 524288, GT_LINE_MAX - 1, GT_LINE_MAX, 3};
	const size_t n = sizeof lengths / sizeof *lengths;
	struct gt_error error;
	size_t length;
	char *line;

	FILE *file = fopen(path, "wb");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < lengths[i]; k++)
			putc((int)('a' + (i + k) % 26), file);
		putc('\n', file);
	}
	fclose(file);
	struct gt_input *input = gt_input_open(path, &error);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 1);
		CHECK_EQUAL(length, lengths[i]);
		for (size_t k = 0; k < length; k += 1 + length / 100)
			CHECK_EQUAL(line[k], 'a' + (i + k) % 26);
		CHECK_EQUAL(line[length], 0);
	}
	CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 0);
	CHECK_EQUAL(gt_input_close(input, &error), 0);
}

static void lines_too_long_are_refused(void)
{
	struct gt_error error;
	size_t length;
	char *line;

	for (size_t bytes = GT_LINE_MAX + 1; bytes < 4 * (size_t)GT_LINE_MAX; bytes *= 3) {
		char *text = malloc(bytes + 1);
		memset(text, 'x', bytes);
		text[bytes] = '\n';
		write_file(text, bytes + 1);
		free(text);
		struct gt_input *input = gt_input_open(path, &error);
		CHECK_EQUAL(gt_input_line(input, &line, &length, &error), -1);
		CHECK(strstr(error.text, ":1: expected a line of at most 1048576 bytes") != NULL);
		gt_input_close(input, &error);
	}
}

static void zero_bytes_are_refused(void)
{
	struct gt_error error;
	size_t length;
	char *line;

	write_file("good\nb\0d\ngood\n", 14);
	struct gt_input *input = gt_input_open(path, &error);
	CHECK_EQUAL(gt_input_line(input, &line, &length, &error), 1);
	CHECK_EQUAL(gt_input_line(input, &line, &length, &error), -1);
	CHECK(strstr(error.text, ":2: expected text, found a 0 byte") != NULL);
	gt_input_close(input, &error);
}

/* Bytes that do not repeat soon, so that a misplaced piece is noticed. */
static char *make_bytes(size_t n)
{
	char *bytes = malloc(n);
	uint32_t state = 1;

	for (size_t i = 0; i < n; i++) {
		state = state * 1664525 + 1013904223;
		bytes[i] = (char)(state >> 29); /* compressible */
	}
	return bytes;
}

static void read_back(struct gt_input *input, const char *expected, size_t n)
{
	struct gt_error error;
	char piece[5000];
	size_t at = 0, bytes;
	const char *head;
	long got;

	CHECK(input != NULL);
	if (!input)
		return;
	CHECK_EQUAL(gt_input_peek(input, &head, &bytes, &error), 0);
	CHECK_EQUAL(bytes, n < 65536 ? n : 65536);
	CHECK(memcmp(head, expected, bytes) == 0);
	while ((got = gt_input_bytes(input, piece, 1 + at % sizeof piece, &error)) > 0) {
		CHECK(at + (size_t)got <= n && memcmp(piece, expected + at, (size_t)got) == 0);
		at += (size_t)got;
	}
	CHECK_EQUAL(got, 0);
	CHECK_EQUAL(at, n);
	CHECK_EQUAL(gt_input_close(input, &error), 0);
}

static void packed_bytes_come_back(void)
{
	static const char *const tools[] = {"cat", "gzip", "xz -0", "zstd -q"};
	static const size_t sizes[] = {1, 100, 300000, 3000000};
	struct gt_error error;

	for (unsigned t = 0; t < 4; t++) {
		for (unsigned s = 0; s < 4; s++) {
			char *bytes = make_bytes(sizes[s]);
			pack(tools[t], bytes, sizes[s]);
			read_back(gt_input_open(path, &error), bytes, sizes[s]);
			free(bytes);
		}
	}
}

/* Puts a descriptor in the place of standard input; returns the old one. */
static int replace_standard_input(int descriptor)
{
	int saved = dup(STDIN_FILENO);

	dup2(descriptor, STDIN_FILENO);
	close(descriptor);
	return saved;
}

static void restore_standard_input(int saved)
{
	dup2(saved, STDIN_FILENO);
	close(saved);
}

static void packed_bytes_come_back_through_a_pipe(void)
{
	const size_t n = 2000000;
	char *bytes = make_bytes(n), command[64];
	struct gt_error error;

	pack("gzip", bytes, n);
	snprintf(command, sizeof command, "cat %s", path);
	FILE *from = popen(command, "r");
	int saved = replace_standard_input(dup(fileno(from)));
	struct gt_input *input = gt_input_open("-", &error);
	CHECK_TEXT(gt_input_name(input), "standard input");
	CHECK_TEXT(gt_input_path(input), "-");
	read_back(input, bytes, n);
	CHECK_EQUAL(pclose(from), 0);
	restore_standard_input(saved);
	saved = replace_standard_input(open(path, O_RDONLY));
	read_back(gt_input_open("-", &error), bytes, n);
	restore_standard_input(saved);
	free(bytes);
}

static void cut_packed_files_fail(void)
{
	static const char *const tools[] = {"gzip", "xz -0", "zstd -q"};
	const size_t n = 1000000;
	char *bytes = make_bytes(n), piece[4096];
	struct gt_error error;
	long got;

	for (unsigned t = 0; t < 3; t++) {
		pack(tools[t], bytes, n);
		CHECK_EQUAL(truncate(path, 50000), 0);
		/* Where little was kept, the first bytes, in which a byte-order mark is looked for, are not there. */
		struct gt_input *input = gt_input_open(path, &error);
		got = input ? 1 : -1;
		while (got > 0)
			got = gt_input_bytes(input, piece, sizeof piece, &error);
		CHECK_EQUAL(got, -1);
		CHECK(strstr(error.text, " -dc failed") != NULL);
		CHECK(!input || gt_input_close(input, &error) == 0);
	}
	free(bytes);
}

/* Closing an input early ends its processes. */
static void no_process_stays(void)
{
	const size_t n = 5000000;
	char *bytes = make_bytes(n), *line;
	struct gt_error error;
	size_t length;

	pack("xz -0", bytes, n);
	struct gt_input *input = gt_input_open(path, &error);
	CHECK(gt_input_line(input, &line, &length, &error) != 0);
	CHECK_EQUAL(gt_input_close(input, &error), 0);
	CHECK_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CHECK_EQUAL(errno, ECHILD);
	free(bytes);
}

static void the_rest_can_be_handed_over(void)
{
	const size_t n = 300000;
	char *bytes = make_bytes(n), *all = malloc(n + 1);
	struct gt_error error;
	const char *head;
	size_t at;
	ssize_t got;

	pack("zstd -q", bytes, n);
	struct gt_input *input = gt_input_open(path, &error);
	CHECK_EQUAL(gt_input_peek(input, &head, &at, &error), 0);
	int descriptor = gt_input_hand_over(input, &head, &at);
	memcpy(all, head, at);
	while ((got = read(descriptor, all + at, n + 1 - at)) > 0)
		at += (size_t)got;
	CHECK_EQUAL(at, n);
	CHECK(memcmp(all, bytes, n) == 0);
	CHECK_EQUAL(gt_input_close(input, &error), 0);
	free(bytes);
	free(all);
}

static void what_cannot_be_opened(void)
{
	struct gt_error error;

	CHECK(gt_input_open("/nowhere/at/all", &error) == NULL);
	CHECK(strstr(error.text, "/nowhere/at/all: No such file") != NULL);
	CHECK(gt_input_open("/", &error) == NULL);
	CHECK(strstr(error.text, "/: Is a directory") != NULL);
}

static void messages_may_hold_themselves(void)
{
	struct gt_error error;

	write_file("x\n", 2);
	struct gt_input *input = gt_input_open(path, &error);
	gt_fail(&error, "a %s", "reason");
	CHECK_EQUAL(gt_input_fail(input, &error, "%s", error.text), -1);
	CHECK(strstr(error.text, ":0: a reason") != NULL);
	gt_input_close(input, &error);
}

/* A copy with the slack that the scanner wants. */
static const char *slack(const char *text)
{
	static char copy[128];

	memset(copy, '7', sizeof copy);
	snprintf(copy, sizeof copy - GT_SCAN_SLACK, "%s", text);
	return copy;
}

static void hexadecimal_numbers(void)
{
	static const struct {
		const char *text;
		uint64_t value;
		size_t taken; /* 0: refused */
	} cases[] = {
		{"0", 0, 1},
		{"0x0", 0, 3},
		{"ff g", 255, 2},
		{"0XaBcDeF01,", 0xabcdef01, 10},
		{"12345678", 0x12345678, 8},
		{"0x00007f3a40000000 ", 0x7f3a40000000, 18},
		{"ffffffffffffffff", UINT64_MAX, 16},
		{"0000000000000000ffffffffffffffff", UINT64_MAX, 32},
		{"10000000000000000", 0, 0},
		{"0x", 0, 0},
		{"", 0, 0},
		{"g", 0, 0},
		{"-1", 0, 0},
		{"1234567G", 0x1234567, 7},
		{"1234567@", 0x1234567, 7},
		{"1234567`", 0x1234567, 7},
		{"1234567\xb1", 0x1234567, 7},
		{"12\xff""45678", 0x12, 2},
		{"7f3a40000000,00", 0x7f3a40000000, 12},
		{"123456789abcdef\xe1", 0x123456789abcdef, 15},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *text = slack(cases[i].text), *at = text;
		uint64_t value = 0;
		CHECK_EQUAL(gt_scan_hex(&at, &value), cases[i].taken > 0);
		if (cases[i].taken == 0)
			continue;
		CHECK_EQUAL(at - text, cases[i].taken);
		CHECK(value == cases[i].value);
	}
}

static void every_byte_in_every_place_of_eight(void)
{
	for (int place = 0; place < 8; place++) {
		for (int c = 0; c < 256; c++) {
			char text[9] = "89abCDEF";
			uint32_t value = 0;
			text[place] = (char)c;
			unsigned digits = gt_hex_digit[c] != 0 ? 8 : (unsigned)place;
			CHECK_EQUAL(gt_scan_hex8(text, &value), digits);
			text[digits] = '\0';
			CHECK_EQUAL(value, strtoul(text, NULL, 16));
		}
	}
}

static void decimal_numbers(void)
{
	uint64_t value;
	int64_t number;
	const char *at = "18446744073709551615,";

	CHECK(gt_scan_decimal(&at, &value) && value == UINT64_MAX && *at == ',');
	at = "18446744073709551616";
	CHECK(!gt_scan_decimal(&at, &value));
	at = "000000000000000000000000000000018446744073709551615";
	CHECK(gt_scan_decimal(&at, &value) && value == UINT64_MAX);
	at = "99999999999999999999999";
	CHECK(!gt_scan_decimal(&at, &value));
	at = "x";
	CHECK(!gt_scan_decimal(&at, &value));
	at = "256";
	CHECK(!gt_scan_upto(&at, 255, &value));
	at = "-9223372036854775807";
	CHECK(gt_scan_signed(&at, &number) && number == -INT64_MAX);
	at = "-9223372036854775808";
	CHECK(!gt_scan_signed(&at, &number));
	at = "-";
	CHECK(!gt_scan_signed(&at, &number));
}

static void words_and_gaps(void)
{
	const char *at = " \tLDG.E 7", *word;
	size_t length;

	CHECK(gt_scan_gap(&at) && !gt_scan_gap(&at));
	CHECK(gt_scan_word(&at, &word, &length) && length == 5 && memcmp(word, "LDG.E", 5) == 0);
	CHECK(!gt_scan_end(&at) && gt_scan_char(&at, '7') && !gt_scan_char(&at, '7') && gt_scan_end(&at));
	CHECK(!gt_scan_word(&at, &word, &length));
	at = "key=value";
	CHECK(!gt_scan_text(&at, "value") && gt_scan_text(&at, "key=") && *at == 'v');
}

int main(void)
{
	int descriptor = mkstemp(path);

	if (descriptor < 0 || close(descriptor) != 0)
		return 1;
	RUN(lines_end_as_they_may);
	RUN(long_lines_arrive_whole);
	RUN(lines_too_long_are_refused);
	RUN(zero_bytes_are_refused);
	RUN(packed_bytes_come_back);
	RUN(packed_bytes_come_back_through_a_pipe);
	RUN(cut_packed_files_fail);
	RUN(no_process_stays);
	RUN(the_rest_can_be_handed_over);
	RUN(what_cannot_be_opened);
	RUN(messages_may_hold_themselves);
	RUN(hexadecimal_numbers);
	RUN(every_byte_in_every_place_of_eight);
	RUN(decimal_numbers);
	RUN(words_and_gaps);
	unlink(path);
	return check_report();
}
