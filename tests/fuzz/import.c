/* SPDX-License-Identifier: MIT */
/* Damages a small trace of each format, again and again, and feeds it to its importer, which must
 * read it or say in one line what is wrong with it. With a carriage return before each newline it must say the same, and with tabs
 * for blanks where they mean the same: readers that know what nearly all lines are like take such a line the longer way.
 *
 *     import [ROUNDS [SEED]]     that many rounds for each sample (1000)
 *     import --print I SEED      the damaged sample I of a seed, for trying it elsewhere; exit
 *                                status 3 if there is no such sample
 *
 * Run it under a sanitizer to find invalid accesses. SIGALRM ends a round that hangs. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/formats.h"
#include "stream/op.h"
#include "stream/rows.h"

#define TEXT_MAX 16384
#define ZERO4 "0x0000000000000000 0x0000000000000000 0x0000000000000000 0x0000000000000000 "
#define ZERO28 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4 ZERO4
#define NVBIT "MEMTRACE: CTX 0x0000000000abc000 - "
#define TRACEG                                                                                          \
	"-kernel name = k\n-kernel id = 1\n-grid dim = (4,2,1)\n-block dim = (32,2,1)\n-shmem = 0\n"    \
	"-nregs = 8\n-shmem base_addr = 0x00007f2b00000000\n-local mem base_addr = 0x00007f2af0000000\n"
#define LOOP "0028 ffffffff 1 R6 FFMA 3 R4 R5 R6 0 0 \n0030 ffffffff 0 NOP 0 0\n0040 ffffffff 1 R4 LDG.E 1 R2 4 "
#define LISTED "0x7f1000000000 0x7f1000000080 0x10 0xffffffffffffffff 0x8 0x0 0x123456789abcdef 7f10 "

static const struct {
	const char *format, *text;
	bool folder; /* the text is app_config.py in a folder of PPT-GPU's */
} samples[] = {
	{"rdgc",
	 "#kernel id=1 name=k grid=2,1,1 block=32,1,1 registers=8 shared=0\n"
	 "0 0 0 R 0x7f0000000000 4\n0 1 31 W 0x7f0000000004 16\n1 0 0 0 0x7f0000000040\n\n"
	 "#kernel id=2 name=l\n0 0 0 R 0x10\n",
	 false},
	{"trc", "blocksize: 32 1 1\n0 0 1000 4\n33 1 1004 4\n1 0 1008 8\n", false},
	{"nvbit",
	 "output\n" NVBIT "LAUNCH - Kernel pc 0x00007f0000000200 - Kernel name k(int) - grid launch id 1"
	 " - grid size 2,2,1 - block size 48,1,1 - nregs 8 - shmem 0 - cuda stream id 0\n" NVBIT
	 "grid_launch_id 0 - CTA 1,1,0 - warp 2 - LDG.E.64 - 0x00007f1000000000 0x00007f1000000008 "
	 "0x0000000000000000 0x00007f1000000018 " ZERO28 "\n" NVBIT
	 "grid_launch_id 0 - CTA 1,1,0 - warp 3 - LDGSTS.E - 0x00007f1000000000 0x00007f1000000008 "
	 "0x0000000000000000 0x00007f1000000018 " ZERO28 "\n" NVBIT
	 "grid_launch_id 0 - CTA 1,1,0 - warp 3 - LDGSTS.E - 0x0000000000000400 0x0000000000000408 "
	 "0x0000000000000000 0x0000000000000410 " ZERO28 "\n",
	 false},
	{"accelsim",
	 TRACEG "-accelsim tracer version = 3\n\n#traces format = PC mask\n\n#BEGIN_TB\n\n"
		"thread block = 1,1,0\n\nwarp = 0\ninsts = 4\n"
		"0000 ffffffff 1 R9 IMAD.MOV.U32 2 R255 R1 0 \n"
		"0040 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f1000000000 4\n"
		"0050 00000005 1 R5 LD.E.64 1 R2 8 2 0x7f2b00000100 -32\n"
		"0060 00000003 0 STG.E 2 R2 R4 4 0 0x00007f1000000080 0x00007f1000000084\n\n"
		"warp = 1\ninsts = 0\n\n#END_TB\n",
	 false},
	{"accelsim",
	 TRACEG "-accelsim tracer version = 5\n#BEGIN_TB\nthread block = 1,1,0\nwarp = 1\ninsts = 13\n"
		LOOP "1 0x7f1000000000 4 0\n" LOOP "1 0x7f1000000080 4 -16\n"
		LOOP "2 0x7f2b00000100 -32 4 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
		"16 17 0x10\n"
		LOOP "0 " LISTED LISTED LISTED LISTED "12\n"
		"0050 00000006 1 R5 LDS 1 R2 4 1 0x7f1000000000 4\n#END_TB\n"
		"#BEGIN_TB\nthread block = 0,1,0\nwarp = 0\ninsts = 6\n"
		LOOP "1 0x7f1000000000 4\n" LOOP "1 0x00007f1000000080 4 -16 \n" "#END_TB\n",
	 false},
	{"accelsim",
	 TRACEG "-accelsim tracer version = 5\n-enable lineinfo = 1\n\n#traces format = PC mask\n"
		"1 1 0 0 17 0040 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f1000000000 4 0\n"
		"3 0 0 1 18 0050 00000003 0 UTMALDG.2D 1 UR4 128 4 0x7f10 2 128\n"
		"3 0 0 1 19 0060 00000005 0 LDGSTS.E 2 R2 R4 4 2 0x7f1000000000 32 -5\n",
	 false},
	{"accelsim", "MemcpyHtoD,0x00007f1000000000,4096\nkernel-0.traceg.xz\n", false},
	{"pptmem",
	 "LDG.E 1 7f1000000000 7f1000000004\nSTG.E.64 1f 7f1000000080\nLDGSTS 2 7f1000000100 4\n",
	 false},
	{"pptmem",
	 "LDG 7f1000000000 7f1000000004 7f1000000108 7f1100000108 0 7f1000000000000 ffffffff ffffffff01\n"
	 "LDG 0x7f1000000000 0x7f1000000004 0x7F1000000108 7f1100000108 0x0 0xffffffffffffffff 0xffffffff 0xfffffffff00000\n",
	 false},
	{"pptmem",
	 "\n=====\nLDG.E 0x7f1000000000 0x7f1000000004 \n=====\nLDGSTS 0x10 0x14 0x7f1000000100 0x7f1000000104",
	 false},
	{"pptmem", "LDG.E 3 0 32 32 7f1000000000 7f1000000004\nATOMG 1f 0 20 20 7f1000000080\n", false},
	{"pptmem",
	 "kernel_2 = {\n\n\t\"kernel_name\"\t: \"b{}\",\n\t\"num_registers\" : 32,\n"
	 "\t\"shared_mem_bytes\": 48,\n\t\"grid_size\" : (2, 3, 1),\n\t\"block_size\" : 96\n}\n"
	 "kernel_1 = {'kernel_name': 'a', 'grid_size': 4, 'block_size': [8, 4]}\napp_kernels_id = [1, 2]\n",
	 true},
	{"lackey", "==12== Lackey\nI  04000000,3\n L 1ffeffe7e,8\n S 1000,64\n M 0421c7cc,4\n==12== \n",
	 false},
	{"din", "0 1000\n1 ff\n2 400\n", false},
	{"drmemtrace",
	 "Output format:\n<--record#-> <--instr#->: <---tid---> <record details>\n"
	 "           1           0:      872902 <marker: version 4>\n"
	 "           2           1:      872902 ifetch 3 byte(s) @ 0x00007f6fdd3ec360 48 89 e7 mov\n"
	 "           3           1:      872902 write  8 byte(s) @ 0x00007ffd4d1bd938 by PC 0x00007f6fdd3ec363\n",
	 false},
	{"tsv",
	 "#gtrace\t0.1.0\n#kernel\tid=1\tname=k\tgrid=2,1,1\tblock=32,1,1\n"
	 "#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n"
	 "0\t0\t0\t0x8\tload.global\t4\t0xfffffffe\t0x7f3a40000000\t4\t-\t1\n"
	 "1\t0\t0\t0x10\tstore.global\t4\t0x00000005\t-\t-\t0x10,0x24\t1\n#end\n",
	 false},
};
#define SAMPLES (sizeof samples / sizeof *samples)

/* Replacements for numbers and words. */
static const char *const pieces[] = {
	"-1",
	"0",
	"18446744073709551615",
	"18446744073709551616",
	"9223372036854775808",
	"4294967296",
	"65536",
	"1024",
	"0x",
	"0xffffffffffffffff",
	"0x12345678123456789",
	"ffffffff",
	"-",
	" ",
	"\t",
	"\n",
	"\r\n",
	"=====\n",
	"#",
	"#END_TB\n",
	"#kernel",
	"MEMTRACE: ",
	"LDG",
	"LDGSTS",
	"UTMALDG",
	"(",
	",",
	"nan",
	"1e9",
	"%s%n",
	"\xff\xfe",
	"kernel-1.traceg\n",
	"-kernel id = 2\n",
};

static uint64_t state;

/* xorshift64*: below n. */
static size_t pick(size_t n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (size_t)((state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

/* Replaces text[from..to) by a piece. */
static size_t splice(char *text, size_t length, size_t from, size_t to, const char *piece, size_t bytes)
{
	if (length - (to - from) + bytes > TEXT_MAX)
		return length;
	memmove(text + from + bytes, text + to, length - to);
	memcpy(text + from, piece, bytes);
	return length - (to - from) + bytes;
}

/* Puts the line of this place there twice. */
static size_t repeat_line(char *text, size_t length, size_t at)
{
	char line[1024];
	size_t from = at, to = at;

	while (from > 0 && text[from - 1] != '\n')
		from--;
	while (to < length && text[to++] != '\n')
		;
	if (to - from > sizeof line)
		return length;
	memcpy(line, text + from, to - from);
	return splice(text, length, to, to, line, to - from);
}

static size_t damage_once(char *text, size_t length)
{
	size_t from = pick(length + 1), to = from + pick((length - from < 24 ? length - from : 24) + 1);
	char copy[24];

	switch (pick(7)) {
	case 0: /* a bit */
		if (from < length)
			text[from] ^= (char)(1 << pick(7));
		return length;
	case 1: /* a byte */
		copy[0] = (char)pick(256);
		return splice(text, length, from, from < length ? from + 1 : from, copy, 1);
	case 2: /* something is missing */
		return splice(text, length, from, to, "", 0);
	case 3: /* something is there twice */
		memcpy(copy, text + from, to - from);
		return splice(text, length, to, to, copy, to - from);
	case 4: /* the end is missing */
		return pick(4) ? length : from;
	case 5:
		return repeat_line(text, length, from);
	default: {
		const char *piece = pieces[pick(sizeof pieces / sizeof *pieces)];

		return splice(text, length, from, pick(2) ? from : to, piece, strlen(piece));
	}
	}
}

/* A sample, damaged as the seed says, into a buffer of TEXT_MAX bytes. */
static size_t damage(size_t sample, uint64_t seed, char *text)
{
	size_t length = strlen(samples[sample].text);

	state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (sample + 1) * UINT64_C(0xff51afd7ed558ccd);
	memcpy(text, samples[sample].text, length);
	for (size_t n = 1 + pick(4); n > 0; n--)
		length = damage_once(text, length);
	return length;
}

/* ---- valid reports of importers */

static bool wrong; /* something was reported that must not be */
static uint64_t launches, accesses, failures;
static volatile uint64_t sum; /* of all that was reported, in its order */

static void note(uint64_t number)
{
	sum = (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15) >> 7;
}

static int on_kernel(void *context, const struct gt_kernel *kernel, struct gt_error *error)
{
	(void)context;
	launches++;
	note(kernel->id);
	wrong = wrong || memchr(kernel->name, '\0', sizeof kernel->name) == NULL;
	return gt_kernel_check(kernel, error);
}

static int on_access(void *context, const struct gt_trace_access *access, struct gt_error *error)
{
	unsigned n = (unsigned)__builtin_popcount(access->mask);

	(void)context;
	/* The text may contain this, but gtrace-order refuses it. */
	if (access->mask == 0)
		return gt_fail(error, "no active lane");
	accesses++;
	note(access->block);
	note((uint64_t)access->warp << 32 | access->pc);
	note((uint64_t)access->op << 40 | (uint64_t)access->size << 32 | access->mask);
	note(access->hint);
	note(access->work);
	for (unsigned i = 0; access->addresses && i < n; i++)
		note(access->addresses[i]);
	if (!access->addresses) {
		note(access->base);
		note((uint64_t)access->stride);
	}
	wrong = wrong || !gt_op_valid(access->op) || launches == 0 ||
		(!access->addresses && access->stride == GT_STRIDE_LANES);
	return 0;
}

static int on_passed_over(void *context, const char *what, uint64_t number, struct gt_error *error)
{
	(void)context;
	(void)error;
	note(number);
	wrong = wrong || !what || number == 0;
	return 0;
}

/* The folder of a sample that is one, and the two files in it. */
static char folder[] = "/tmp/import.XXXXXX", config[64], block[64];

static int run(size_t sample, const char *path, bool work, struct gt_error *error)
{
	static struct gt_trace trace = {
		.kernel = on_kernel, .access = on_access, .passed_over = on_passed_over};
	const struct gt_importer *importer = gt_importer_find(samples[sample].format);
	struct gt_error ignored;
	char *paths[] = {folder};

	wrong = false;
	launches = sum = 0;
	trace.wants_work = work;
	if (samples[sample].folder)
		return importer->read_paths(paths, 1, &trace, error);
	struct gt_input *input = gt_input_open(path, error);
	if (!input)
		return -1;
	int result = importer->read(input, &trace, error);
	gt_input_close(input, &ignored);
	return result;
}

static bool write_text(int file, const char *text, size_t length)
{
	return pwrite(file, text, length, 0) == (ssize_t)length && ftruncate(file, (off_t)length) == 0;
}

/* Whether a tab in the place of this blank says the same. */
static bool may_be_tab(const char *format, const char *text, size_t length, size_t at)
{
	if (strcmp(format, "nvbit") == 0)
		return at > 0 && at + 2 < length && text[at - 1] >= '0' && text[at - 1] <= '9' && memcmp(text + at + 1, "0x", 2) == 0;
	return strcmp(format, "pptmem") == 0;
}

/* Puts a carriage return before each newline that has none, and tabs for blanks. Returns the new length. */
static size_t add_returns(const char *format, const char *text, size_t length, char *to)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r'))
			to[n++] = '\r';
		to[n++] = text[i] == ' ' && may_be_tab(format, text, length, i) ? '\t' : text[i];
	}
	return n;
}

/* Whether the text with carriage returns gives what the text gave. */
static bool same_with_returns(size_t sample, uint64_t seed, int file, const char *path, int result, const struct gt_error *error)
{
	static char text[TEXT_MAX], with[2 * TEXT_MAX];
	struct gt_error other = {.text = ""};
	uint64_t before = sum;
	size_t length = add_returns(samples[sample].format, text, damage(sample, seed, text), with);

	if (!write_text(file, with, length))
		return false;
	int again = run(sample, path, seed & 1, &other);
	if (again == result && sum == before && (result == 0 || strcmp(error->text, other.text) == 0))
		return true;
	printf("not ok: sample %zu (%s), seed %" PRIu64 ": '%s', with carriage returns '%s'\n", sample,
	       samples[sample].format, seed, result ? error->text : "read", again ? other.text : sum == before ? "read" : "read otherwise");
	return false;
}

/* One round: true if the importer behaved. */
static bool check(size_t sample, uint64_t seed, int file, const char *path)
{
	static char text[TEXT_MAX];
	struct gt_error error = {.text = ""};
	size_t length = damage(sample, seed, text);

	alarm(20);
	if (!write_text(file, text, length)) {
		perror(path);
		return false;
	}
	int result = run(sample, path, seed & 1, &error);

	failures += result != 0;
	if ((result == 0 || result == -1) && !wrong && (result == 0 || error.text[0] != '\0') &&
	    !strchr(error.text, '\n'))
		return samples[sample].folder || same_with_returns(sample, seed, file, path, result, &error);
	printf("not ok: sample %zu (%s), seed %" PRIu64 ": returned %d, '%s'%s\n", sample,
	       samples[sample].format, seed, result, error.text,
	       wrong ? ", and reported what cannot be" : "");
	return false;
}

/* Every format must have a sample here. */
static bool all_have_samples(void)
{
	for (size_t i = 0; i < gt_importers_n; i++) {
		size_t s = 0;

		while (s < SAMPLES && strcmp(samples[s].format, gt_importers[i]->name) != 0)
			s++;
		if (s == SAMPLES) {
			printf("not ok: no sample of %s\n", gt_importers[i]->name);
			return false;
		}
	}
	return true;
}

/* Makes the folder, with a block's file; returns its configuration, open, or -1. */
static int open_folder(void)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(config, sizeof config, "%s/app_config.py", folder);
	snprintf(block, sizeof block, "%s/kernel_1_block_3.mem", folder);
	FILE *file = fopen(block, "w");
	if (!file || fputs("LDG 1 7f1000000000\n", file) < 0 || fclose(file) != 0)
		return -1;
	return open(config, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

static int print(size_t sample, uint64_t seed)
{
	static char text[TEXT_MAX];

	if (sample >= SAMPLES)
		return 3;
	size_t length = damage(sample, seed, text);
	return fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "--print") == 0)
		return print(strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000,
		 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	char path[] = "/tmp/import.XXXXXX";
	int file = mkstemp(path), settings = open_folder(), bad = !all_have_samples();

	if (file < 0 || settings < 0)
		return perror("/tmp"), 1;
	for (size_t sample = 0; sample < SAMPLES && !bad; sample++) {
		int to = samples[sample].folder ? settings : file;
		struct gt_error error;

		if (!write_text(to, samples[sample].text, strlen(samples[sample].text)) ||
		    (run(sample, path, false, &error) != 0 && !strstr(error.text, "kernel-0.traceg.xz"))) {
			printf("not ok: sample %zu (%s) itself: %s\n", sample, samples[sample].format,
			       error.text);
			bad = 1;
		}
		for (uint64_t round = 0; round < rounds; round++)
			bad |= !check(sample, seed + round, to, path);
	}
	close(file);
	close(settings);
	remove(path);
	remove(config);
	remove(block);
	remove(folder);
	printf("%" PRIu64 " rounds, %" PRIu64 " accesses, %" PRIu64 " refused\n", rounds * SAMPLES,
	       accesses, failures);
	return bad;
}
