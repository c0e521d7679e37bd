/* SPDX-License-Identifier: MIT */
/* Hand-made fat binaries and cubins, intact and damaged; and the settings that gtrace-record passes on. */
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <lz4.h>
#include <zstd.h>

#include "check.h"
#include "cuda/ptx/fatbin/fatbin.h"
#include "cuda/ptx/record/record.h"
#include "cuda/ptx/text/module.h"
#include "stream/op.h"

static uint32_t seed = 1;

static uint32_t next_random(void)
{
	seed = seed * 1664525U + 1013904223U;
	return seed >> 8;
}

static void put(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

/* ---- containers ---- */

#define FLAG_LZ4 0x2000
#define FLAG_ZSTD 0x8000

struct container {
	unsigned char bytes[8192];
	size_t n;
};

static void begin_container(struct container *container)
{
	memset(container, 0, sizeof *container);
	put(container->bytes, 0xba55ed50U, 4);
	put(container->bytes + 4, 1, 2);
	put(container->bytes + 6, 16, 2);
	container->n = 16;
}

static void add_entry(struct container *container, unsigned kind, unsigned version, unsigned architecture, uint64_t flags,
		      const void *payload, size_t bytes, size_t unpacked)
{
	unsigned char *at = container->bytes + container->n;
	size_t padded = (bytes + 7) / 8 * 8, header = kind == GT_FATBIN_PTX ? 80 : 64;

	put(at, kind, 2);
	put(at + 2, 0x101, 2);
	put(at + 4, header, 4);
	put(at + 8, padded, 8);
	put(at + 16, flags ? bytes : 0, 4);
	put(at + 24, version % 10, 2);
	put(at + 26, version / 10, 2);
	put(at + 28, architecture, 4);
	put(at + 40, flags | 0x11, 8);
	put(at + 56, flags ? unpacked : 0, 8);
	memcpy(at + header, payload, bytes);
	container->n += header + padded;
	put(container->bytes + 8, container->n - 16, 8);
}

static char *unpack_chosen(const struct container *container, enum gt_fatbin_kind kind, unsigned wanted, size_t *bytes,
			   struct gt_error *error)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;

	if (gt_fatbin_open(&fatbin, container->bytes, container->n, error) != 0 ||
	    (kind == GT_FATBIN_PTX ? gt_fatbin_choose_ptx : gt_fatbin_choose_code)(&fatbin, wanted, &entry, error) != 1)
		return NULL;
	return gt_fatbin_unpack(&entry, bytes, error);
}

static void check_chosen(const struct container *container, enum gt_fatbin_kind kind, unsigned wanted, const char *text)
{
	struct gt_error error = {"nothing of the kind"};
	size_t bytes = 0;
	char *got = unpack_chosen(container, kind, wanted, &bytes, &error);

	CHECK_TEXT(got ? got : error.text, text);
	free(got);
}

static void entries_are_chosen(void)
{
	static struct container container;
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;

	begin_container(&container);
	CHECK_EQUAL(gt_fatbin_open(&fatbin, container.bytes, container.n, &error), -1);
	CHECK_TEXT(error.text, "fat binary without entries");
	add_entry(&container, GT_FATBIN_ELF, 17, 75, 0, "elf 75..", 8, 0);
	add_entry(&container, GT_FATBIN_ELF, 17, 90, 0, "elf 90..", 8, 0);
	CHECK_EQUAL(gt_fatbin_open(&fatbin, container.bytes, container.n, &error), 0);
	CHECK_EQUAL(gt_fatbin_choose_ptx(&fatbin, 0, &entry, &error), 0);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, 0, "text of 75", 10, 0);
	add_entry(&container, GT_FATBIN_PTX, 80, 80, 0, "older of 80", 11, 0);
	add_entry(&container, GT_FATBIN_PTX, 90, 80, 0, "newer of 80", 11, 0);
	check_chosen(&container, GT_FATBIN_PTX, 86, "newer of 80");
	check_chosen(&container, GT_FATBIN_PTX, 75, "text of 75");
	check_chosen(&container, GT_FATBIN_PTX, 60, "text of 75");
	add_entry(&container, GT_FATBIN_PTX, 80, 80, 0x100000, "80a alone", 9, 9);
	add_entry(&container, GT_FATBIN_PTX, 90, 80, 0x200000, "family 80f", 10, 10);
	add_entry(&container, GT_FATBIN_PTX, 90, 80, 0, "and for all", 11, 0);
	check_chosen(&container, GT_FATBIN_PTX, 80, "80a alone");
	check_chosen(&container, GT_FATBIN_PTX, 89, "family 80f");
	check_chosen(&container, GT_FATBIN_PTX, 90, "newer of 80");
	check_chosen(&container, GT_FATBIN_PTX, 79, "text of 75");
	check_chosen(&container, GT_FATBIN_ELF, 75, "elf 75..");
	check_chosen(&container, GT_FATBIN_ELF, 80, "elf 90..");
}

/* Whose only PTX is for other GPUs: it is chosen, and says for which. */
static void code_for_one_gpu_is_told(void)
{
	static struct container container;
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;

	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 100, 0x100000, "100a", 4, 4);
	CHECK_EQUAL(gt_fatbin_open(&fatbin, container.bytes, container.n, &error), 0);
	CHECK_EQUAL(gt_fatbin_choose_ptx(&fatbin, 120, &entry, &error), 1);
	CHECK_EQUAL(entry.target.capability, 100);
	CHECK_EQUAL(entry.target.features, 'a');
	CHECK(!gt_gpu_runs(120, entry.target));
	add_entry(&container, GT_FATBIN_PTX, 90, 100, 0x200000, "100f", 4, 4);
	add_entry(&container, GT_FATBIN_PTX, 90, 90, 0x100000, "90a.", 4, 4);
	check_chosen(&container, GT_FATBIN_PTX, 100, "100a");
	check_chosen(&container, GT_FATBIN_PTX, 103, "100f");
	check_chosen(&container, GT_FATBIN_PTX, 90, "90a.");
}

static void plain_text_is_an_entry(void)
{
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;
	static const char text[] = "//\n.version 7.5\n\0and what lies behind";
	size_t bytes;

	CHECK_EQUAL(gt_fatbin_open(&fatbin, text, sizeof text, &error), 0);
	CHECK_EQUAL(gt_fatbin_choose_code(&fatbin, 0, &entry, &error), 0);
	CHECK_EQUAL(gt_fatbin_choose_ptx(&fatbin, 0, &entry, &error), 1);
	char *got = gt_fatbin_unpack(&entry, &bytes, &error);
	CHECK_TEXT(got, "//\n.version 7.5\n");
	CHECK_EQUAL(bytes, strlen(text));
	free(got);
}

/* A frame with a checksum, as zstd(1) writes it. */
static size_t zstd(const char *text, unsigned char *out, size_t room)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	size_t n = ZSTD_compress2(context, out, room, text, strlen(text));
	ZSTD_freeCCtx(context);
	return ZSTD_isError(n) ? 0 : n;
}

static void compressed_entries_are_unpacked(void)
{
	static struct container container;
	static const char text[] = ".version 9.0 .version 9.0 .version 9.0 .version 9.0 .version 9.0";
	unsigned char packed[1024];
	struct gt_error error;
	size_t bytes, n = (size_t)LZ4_compress_default(text, (char *)packed, (int)strlen(text), sizeof packed);

	CHECK(n > 0);
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_LZ4, packed, n, strlen(text));
	check_chosen(&container, GT_FATBIN_PTX, 0, text);
	for (size_t wrong = strlen(text) - 1; wrong <= strlen(text) + 1; wrong += 2) {
		begin_container(&container);
		add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_LZ4, packed, n, wrong);
		CHECK(!unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
	}
	/* Anything may come of a flipped byte but a write outside; sanitizers watch that. */
	for (size_t at = 0; at < n; at++) {
		unsigned char copy[sizeof packed];
		memcpy(copy, packed, n);
		copy[at] ^= (unsigned char)(1 + next_random() % 255);
		begin_container(&container);
		add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_LZ4, copy, n, strlen(text));
		free(unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
	}
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_LZ4, packed, n / 2, strlen(text));
	CHECK(!unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
	CHECK(strstr(error.text, "fat binary: ") == error.text);
	n = zstd(text, packed, sizeof packed);
	CHECK(n > 0);
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_ZSTD, packed, n, strlen(text));
	check_chosen(&container, GT_FATBIN_PTX, 0, text);
	/* More or less than was said; and damage. */
	for (size_t wrong = strlen(text) - 1; wrong <= strlen(text) + 1; wrong += 2) {
		begin_container(&container);
		add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_ZSTD, packed, n, wrong);
		CHECK(!unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
		CHECK(strstr(error.text, "expected") != NULL);
	}
	packed[n / 2] ^= 0x55;
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_ZSTD, packed, n, strlen(text));
	CHECK(!unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
	CHECK(strstr(error.text, "fat binary: zstd: ") == error.text);
	packed[0] = 0;
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_ZSTD, packed, n, strlen(text));
	CHECK(!unpack_chosen(&container, GT_FATBIN_PTX, 0, &bytes, &error));
	CHECK(strstr(error.text, "fat binary: zstd: ") == error.text);
	begin_container(&container);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_ZSTD, packed, n, SIZE_MAX / 2);
	check_chosen(&container, GT_FATBIN_PTX, 0, "fat binary: an entry says it unpacks to 9223372036854775807 bytes");
}

/* Everything that a container of `n` bytes, in memory of just that size, gives. */
static int walk(const unsigned char *bytes, size_t n)
{
	unsigned char *tight = malloc(n > 0 ? n : 1);
	struct gt_fatbin fatbin;
	struct gt_fatbin_entry entry;
	struct gt_error error;
	int result;

	memcpy(tight, bytes, n);
	result = gt_fatbin_open(&fatbin, tight, n, &error);
	if (result == 0)
		while ((result = gt_fatbin_next(&fatbin, &entry, &error)) == 1)
			if (entry.unpacked_bytes < 1 << 20) {
				size_t unpacked;
				free(gt_fatbin_unpack(&entry, &unpacked, &error));
			}
	free(tight);
	return result;
}

static void damaged_containers_are_refused(void)
{
	static struct container container, copy;
	unsigned char packed[256];
	size_t n = (size_t)LZ4_compress_default("abcabcabcabcabcabcabc", (char *)packed, 21, sizeof packed);
	unsigned refused = 0;

	begin_container(&container);
	add_entry(&container, GT_FATBIN_ELF, 17, 75, 0, "0123456789abcdef", 16, 0);
	add_entry(&container, GT_FATBIN_PTX, 90, 75, FLAG_LZ4, packed, n, 21);
	CHECK_EQUAL(walk(container.bytes, container.n), 0);
	for (size_t cut = 0; cut < container.n; cut++)
		CHECK(walk(container.bytes, cut) < 0);
	for (unsigned round = 0; round < 3000; round++) {
		copy = container;
		for (unsigned i = next_random() % 3 + 1; i > 0; i--)
			copy.bytes[next_random() % copy.n] = (unsigned char)next_random();
		refused += walk(copy.bytes, copy.n) < 0;
	}
	CHECK(refused > 300);
}

/* ---- cubins ---- */

struct cubin {
	Elf64_Ehdr header;
	Elf64_Shdr sections[6]; /* none, names, symbols, .nv.info, .text.k, .nv.shared.k */
	char names[80];
	Elf64_Sym symbols[2];
	unsigned char info[4 + 2 * (4 + 8)];
};

static void add_section(struct cubin *cubin, unsigned i, const char *name, unsigned type, size_t offset, size_t bytes)
{
	static size_t used;
	size_t at = i == 1 ? 1 : used;

	strcpy(cubin->names + at, name);
	used = at + strlen(name) + 1;
	cubin->sections[i] = (Elf64_Shdr){.sh_name = (Elf64_Word)at, .sh_type = type, .sh_offset = offset, .sh_size = bytes};
}

static void make_cubin(struct cubin *cubin, unsigned registers)
{
	memset(cubin, 0, sizeof *cubin);
	memcpy(cubin->header.e_ident, ELFMAG, SELFMAG);
	cubin->header.e_ident[EI_CLASS] = ELFCLASS64;
	cubin->header.e_ident[EI_DATA] = ELFDATA2LSB;
	cubin->header.e_shoff = offsetof(struct cubin, sections);
	cubin->header.e_shentsize = sizeof(Elf64_Shdr);
	cubin->header.e_shnum = 6;
	cubin->header.e_shstrndx = 1;
	add_section(cubin, 1, ".shstrtab", SHT_STRTAB, offsetof(struct cubin, names), sizeof cubin->names);
	add_section(cubin, 2, ".symtab", SHT_SYMTAB, offsetof(struct cubin, symbols), sizeof cubin->symbols);
	add_section(cubin, 3, ".nv.info", SHT_PROGBITS, offsetof(struct cubin, info), sizeof cubin->info);
	add_section(cubin, 4, ".text.k", SHT_PROGBITS, 0, 0);
	add_section(cubin, 5, ".nv.shared.k", SHT_NOBITS, 0, 1024);
	cubin->sections[2].sh_link = 1;
	cubin->sections[4].sh_info = 40U << 24;
	/* The symbol's name is the end of its section's. */
	cubin->symbols[1].st_name = cubin->sections[4].sh_name + 6;
	cubin->symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	put(cubin->info, 0x1c03, 4); /* some other attribute, with its value in itself */
	put(cubin->info + 4, 0x00082f04, 4);
	put(cubin->info + 8, 1, 4);
	put(cubin->info + 12, registers, 4);
	put(cubin->info + 16, 0x00081104, 4);
	put(cubin->info + 20, 1, 4);
	put(cubin->info + 24, 200, 4);
}

static void cubins_know_registers_and_shared_bytes(void)
{
	struct cubin cubin;
	struct gt_cubin_kernel kernel;
	struct gt_error error;

	make_cubin(&cubin, 17);
	CHECK_EQUAL(gt_cubin_find(&cubin, sizeof cubin, "k", &kernel, &error), 1);
	CHECK_EQUAL(kernel.registers, 17);
	CHECK_EQUAL(kernel.shared_bytes, 1024);
	CHECK_EQUAL(kernel.local_bytes, 200);
	CHECK_EQUAL(gt_cubin_find(&cubin, sizeof cubin, "j", &kernel, &error), 0);
	CHECK_EQUAL(gt_cubin_find(&cubin, sizeof cubin, "kk", &kernel, &error), 0);
	/* Without the attribute, the section of the code says it too. */
	cubin.info[5] = 0x2e;
	CHECK_EQUAL(gt_cubin_find(&cubin, sizeof cubin, "k", &kernel, &error), 1);
	CHECK_EQUAL(kernel.registers, 40);
}

static void damaged_cubins_do_no_harm(void)
{
	struct cubin cubin;
	struct gt_cubin_kernel kernel;
	struct gt_error error;

	make_cubin(&cubin, 17);
	for (size_t cut = 0; cut <= sizeof cubin; cut++) {
		unsigned char *tight = malloc(cut + 1);
		memcpy(tight, &cubin, cut);
		int result = gt_cubin_find(tight, cut, "k", &kernel, &error);
		CHECK(cut >= sizeof cubin.header || result == -1);
		free(tight);
	}
	for (unsigned round = 0; round < 20000; round++) {
		unsigned char *tight = malloc(sizeof cubin);
		memcpy(tight, &cubin, sizeof cubin);
		for (unsigned i = 0; i < 3; i++)
			tight[next_random() % sizeof cubin] = (unsigned char)(next_random() % 5 ? 255 : 0);
		gt_cubin_find(tight, sizeof cubin, "k", &kernel, &error);
		free(tight);
	}
}

/* ---- linking ---- */

static void local_names_stay_apart(void)
{
	static const char one[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
				  ".func (.param .b32 r) f(.param .b32 a);\n.global .u32 tab[2] = {1, 2};\n"
				  ".func (.param .b32 r) f(.param .b32 a) { ret; }\n.visible .entry k() { call f; }";
	static const char two[] = "// f\n.version 9.0\n.target sm_75, debug\n.address_size 64\n"
				  ".extern .func f2(.param .b32 r);\n.visible .global .align 4 .u32 seen = 3;\n"
				  ".func (.param .b32 r) f(.param .b32 f2) { ld [tab+4]; mov f, \"f\"; { f: bra f; } ff; }\n"
				  ".weak .func w() { ret; }\n.const .align 8 .b8 tab[1] /* tab */ = {tab};\n";
	static const char expected[] = "// f\n\n\n\n"
				       ".extern .func f2(.param .b32 r);\n.visible .global .align 4 .u32 seen = 3;\n"
				       ".func (.param .b32 r) f$unit2(.param .b32 f2) { ld [tab$unit2+4]; mov f$unit2, "
				       "\"f\"; { f$unit2: bra f$unit2; } ff; }\n.weak .func w() { ret; }\n"
				       ".const .align 8 .b8 tab$unit2[1] /* tab */ = {tab$unit2};\n\n";
	struct gt_ptx_text text = {0};
	struct gt_error error;

	CHECK_EQUAL(gt_ptx_link(&text, one, strlen(one), &error), 0);
	CHECK(strncmp(text.data, one, strlen(one)) == 0 && text.bytes == strlen(one) + 1);
	CHECK_EQUAL(gt_ptx_link(&text, two, strlen(two), &error), 0);
	CHECK_TEXT(text.data + strlen(one) + 1, expected);
	free(text.data);
	/* Cut anywhere, in memory of just that size. */
	for (size_t cut = 0; cut < strlen(two); cut++) {
		char *tight = malloc(cut + 1);
		text = (struct gt_ptx_text){.units = 1};
		memcpy(tight, two, cut);
		tight = realloc(tight, cut > 0 ? cut : 1);
		CHECK_EQUAL(gt_ptx_link(&text, tight, cut, &error), 0);
		free(tight);
		free(text.data);
	}
}

/* The tables of a library, such as those of cuRAND, are a line each. A look at the rest of the line for each number takes minutes. */
static void a_long_line_takes_no_longer(void)
{
	enum { NUMBERS = 1 << 21 };
	static const char head[] = ".global .u32 tab[2097152] = {", number[] = "1,";
	const size_t bytes = sizeof head - 1 + (sizeof number - 1) * NUMBERS;
	struct gt_ptx_text text = {.units = 1};
	struct gt_error error;
	char *unit = malloc(bytes);

	memcpy(unit, head, sizeof head - 1);
	for (size_t i = 0; i < NUMBERS; i++)
		memcpy(unit + sizeof head - 1 + i * (sizeof number - 1), number, sizeof number - 1);
	const clock_t then = clock();
	CHECK_EQUAL(gt_ptx_link(&text, unit, bytes, &error), 0);
	CHECK((clock() - then) / CLOCKS_PER_SEC < 20);
	CHECK(text.bytes == bytes + strlen("$unit2") + 1);
	free(text.data);
	free(unit);
}

/* ---- settings ---- */

/* The first of that name that gtrace-record takes. */
static int set(struct gt_recording *record, const char *name, const char *value)
{
	struct gt_error error;
	size_t i = 0;

	while (strcmp(gt_tracing_options[i].name, name) != 0 || !(gt_tracing_options[i].tools & GT_TRACING_RECORD))
		i++;
	return gt_record_set(record, &gt_tracing_options[i], value, &error);
}

static void settings_arrive_as_they_left(void)
{
	static struct gt_recording out, in;
	struct gt_error error;
	char first[] = "--kernel", second[] = "a b\tc", third[] = "";

	setenv("GTRACE_RECORD_REPLAY", "1", 1); /* of a run around this one */
	gt_record_begin(&out);
	out.stream = 100;
	out.token = 7;
	out.words = 8;
	out.process = 9;
	CHECK_EQUAL(set(&out, "kernel", "^gemm|x y"), 0);
	CHECK_EQUAL(set(&out, "launches", "2"), 0);
	CHECK_EQUAL(set(&out, "launches", "1,3-5"), 0);
	CHECK_EQUAL(set(&out, "blocks", "18446744073709551615"), 0);
	CHECK_EQUAL(set(&out, "max-instructions", "12"), 0);
	CHECK_EQUAL(set(&out, "skip-untraced", NULL), 0);
	CHECK_EQUAL(set(&out, "space", "shared,global"), 0);
	CHECK_EQUAL(set(&out, "memory", "3G"), 0);
	CHECK_EQUAL(set(&out, "check", "list"), 0);
	CHECK_EQUAL(set(&out, "space", "global,"), -1);
	CHECK_EQUAL(set(&out, "ptx", "/nowhere/at/all"), -1);
	out.arguments[0] = first;
	out.arguments[1] = second;
	out.arguments[2] = third;
	/* Any file of that name will do here. */
	char folder[] = "/tmp/gtrace-unit-XXXXXX", path[64];
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof path, "%s/libcudart.so.13", folder);
	fclose(fopen(path, "w"));
	setenv("GTRACE_CUDART", folder, 1);
	CHECK_EQUAL(gt_record_export(&out, &error), 0);
	CHECK(strstr(getenv("LD_LIBRARY_PATH"), folder) == getenv("LD_LIBRARY_PATH"));
	CHECK(strstr(getenv("LD_PRELOAD"), path) != NULL);
	unlink(path);
	rmdir(folder);
	CHECK_EQUAL(gt_record_import(&in, &error), 0);
	CHECK_EQUAL(in.stream, 100);
	CHECK_EQUAL(in.token, 7);
	CHECK_EQUAL(in.words, 8);
	CHECK_EQUAL(in.process, 9);
	CHECK(!in.verbose);
	CHECK_TEXT(in.arguments[0], first);
	CHECK_TEXT(in.arguments[1], second);
	CHECK_TEXT(in.arguments[2], third);
	CHECK(in.arguments[3] == NULL);
	const struct gt_ptx_tracing *tracing = &in.tracing;
	CHECK_EQUAL(tracing->spaces, 1U << GT_SHARED | 1U << GT_GLOBAL);
	CHECK(tracing->launches[1] && !tracing->launches[2] && tracing->launches[5] && tracing->kernel);
	CHECK(tracing->blocks == UINT64_MAX && tracing->max_instructions == 12 && tracing->device_memory == UINT64_C(3) << 30);
	CHECK(tracing->skip_untraced && !tracing->replay && tracing->check == GT_PTX_CHECK_LIST && tracing->gpu.n == 0);
	gt_record_clear(&in);
	gt_record_clear(&out);
	setenv("GTRACE_RECORD_BLOCKS", "many", 1);
	CHECK_EQUAL(gt_record_import(&in, &error), -1);
	CHECK(strstr(error.text, "GTRACE_RECORD_BLOCKS: ") == error.text);
	gt_record_clear(&in);
}

int main(void)
{
	RUN(entries_are_chosen);
	RUN(code_for_one_gpu_is_told);
	RUN(plain_text_is_an_entry);
	RUN(compressed_entries_are_unpacked);
	RUN(damaged_containers_are_refused);
	RUN(cubins_know_registers_and_shared_bytes);
	RUN(damaged_cubins_do_no_harm);
	RUN(local_names_stay_apart);
	RUN(a_long_line_takes_no_longer);
	RUN(settings_arrive_as_they_left);
	return check_report();
}
