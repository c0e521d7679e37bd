/* SPDX-License-Identifier: MIT */
/* Fat binaries and the cubins in them. */
#include <elf.h>
#include <inttypes.h>
#include <limits.h>
#include <lz4.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cuda/ptx/fatbin/fatbin.h"

#define CONTAINER_MAGIC 0xba55ed50U
#define CONTAINER_HEADER 16
#define TEXT_MIN 4 /* printable bytes by which plain text is recognized; in the magic only the first is printable */
#define ENTRY_HEADER 64 /* bytes that are read; a header may have more */
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
/* For one architecture, as sm_90a, or for a family, as sm_100f: code that may use what no later architecture has. nvcc puts it
 * beside code for all later ones. */
#define FLAG_ARCHITECTURE UINT64_C(0x100000)
#define FLAG_FAMILY	  UINT64_C(0x200000)

/* ---- the container ---- */

static uint64_t number_at(const unsigned char *at, unsigned bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | at[bytes];
	return value;
}

static bool looks_like_text(const unsigned char *data, size_t available)
{
	for (size_t i = 0; i < TEXT_MIN; i++)
		if (i >= available || (data[i] != '\t' && data[i] != '\n' && data[i] != '\r' &&
				       (data[i] < ' ' || data[i] > '~')))
			return false;
	return true;
}

int gt_fatbin_open(struct gt_fatbin *fatbin, const void *data, size_t available, struct gt_error *error)
{
	*fatbin = (struct gt_fatbin){.data = data};
	if (looks_like_text(data, available)) {
		fatbin->plain = 1;
		const unsigned char *end = memchr(data, '\0', available);
		fatbin->bytes = end ? (size_t)(end - fatbin->data) : available;
		return 0;
	}
	if (available < CONTAINER_HEADER || number_at(data, 4) != CONTAINER_MAGIC)
		return gt_fail(error, "expected a fat binary or PTX text");
	uint64_t header = number_at(fatbin->data + 6, 2), bytes = number_at(fatbin->data + 8, 8);
	if (header < CONTAINER_HEADER || header > available || bytes > available - header)
		return gt_fail(error, "fat binary of %" PRIu64 " bytes, but only %zu are there", bytes,
			       available - CONTAINER_HEADER);
	if (bytes == 0)
		return gt_fail(error, "fat binary without entries");
	fatbin->at = (size_t)header;
	fatbin->bytes = (size_t)(header + bytes);
	return 0;
}

/* Plain text is a container of one entry. */
static int next_plain(struct gt_fatbin *fatbin, struct gt_fatbin_entry *entry)
{
	if (fatbin->at > 0)
		return 0;
	fatbin->at = 1;
	*entry = (struct gt_fatbin_entry){.kind = GT_FATBIN_PTX, .payload = fatbin->data,
					  .payload_bytes = fatbin->bytes, .unpacked_bytes = fatbin->bytes};
	return 1;
}

int gt_fatbin_next(struct gt_fatbin *fatbin, struct gt_fatbin_entry *entry, struct gt_error *error)
{
	const unsigned char *at = fatbin->data + fatbin->at;
	size_t left = fatbin->bytes - fatbin->at;

	if (fatbin->plain)
		return next_plain(fatbin, entry);
	if (left == 0)
		return 0;
	if (left < ENTRY_HEADER)
		return gt_fail(error, "fat binary: entry at byte %zu is cut short", fatbin->at);
	uint64_t header = number_at(at + 4, 4), payload = number_at(at + 8, 8), compressed = number_at(at + 16, 4);
	*entry = (struct gt_fatbin_entry){
		.kind = (unsigned)number_at(at, 2),
		.minor = (unsigned)number_at(at + 24, 2),
		.major = (unsigned)number_at(at + 26, 2),
		.target.capability = (unsigned)number_at(at + 28, 4),
		.flags = number_at(at + 40, 8),
	};
	entry->target.features = entry->flags & FLAG_ARCHITECTURE ? 'a' : entry->flags & FLAG_FAMILY ? 'f' : 0;
	if (header < ENTRY_HEADER || header > left || payload > left - header || compressed > payload)
		return gt_fail(error, "fat binary: entry at byte %zu says it has %" PRIu64 " + %" PRIu64
			       " bytes, but only %zu are there", fatbin->at, header, payload, left);
	bool packed = (entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
	entry->payload = at + header;
	entry->payload_bytes = packed && compressed > 0 ? compressed : payload;
	entry->unpacked_bytes = packed ? number_at(at + 56, 8) : payload;
	fatbin->at += (size_t)(header + payload);
	return 1;
}

/* How many GPUs with later capabilities run it, in order: none, those of its family, all. */
static unsigned breadth(const struct gt_fatbin_entry *entry)
{
	return entry->target.features == 'a' ? 0 : entry->target.features == 'f' ? 1 : 2;
}

/* Of two for one capability. */
static bool narrower_or_newer(const struct gt_fatbin_entry *a, const struct gt_fatbin_entry *b)
{
	if (breadth(a) != breadth(b))
		return breadth(a) < breadth(b);
	return a->major != b->major ? a->major > b->major : a->minor > b->minor;
}

static bool better_ptx(const struct gt_fatbin_entry *a, const struct gt_fatbin_entry *b, unsigned capability)
{
	const bool runs = gt_gpu_runs(capability, a->target);

	if (runs != gt_gpu_runs(capability, b->target))
		return runs;
	if (a->target.capability != b->target.capability)
		return runs ? a->target.capability > b->target.capability : a->target.capability < b->target.capability;
	return narrower_or_newer(a, b);
}

static bool better_code(const struct gt_fatbin_entry *a, const struct gt_fatbin_entry *b, unsigned capability)
{
	const unsigned of_a = a->target.capability, of_b = b->target.capability;

	if ((of_a == capability) != (of_b == capability))
		return of_a == capability;
	return of_a != of_b ? of_a > of_b : narrower_or_newer(a, b);
}

static int choose(const struct gt_fatbin *fatbin, enum gt_fatbin_kind kind, unsigned capability, struct gt_fatbin_entry *entry,
		  struct gt_error *error)
{
	struct gt_fatbin walk = *fatbin;
	struct gt_fatbin_entry other;
	int found = 0, result;

	while ((result = gt_fatbin_next(&walk, &other, error)) == 1) {
		if (other.kind != (unsigned)kind ||
		    (found && !(kind == GT_FATBIN_PTX ? better_ptx : better_code)(&other, entry, capability)))
			continue;
		*entry = other;
		found = 1;
	}
	return result == 0 ? found : -1;
}

int gt_fatbin_choose_ptx(const struct gt_fatbin *fatbin, unsigned capability, struct gt_fatbin_entry *entry, struct gt_error *error)
{
	return choose(fatbin, GT_FATBIN_PTX, capability, entry, error);
}

int gt_fatbin_choose_code(const struct gt_fatbin *fatbin, unsigned capability, struct gt_fatbin_entry *entry, struct gt_error *error)
{
	return choose(fatbin, GT_FATBIN_ELF, capability, entry, error);
}

/* ---- the payload ---- */

static int check_size(long long got, size_t n, struct gt_error *error)
{
	return got == (long long)n ? 0 : gt_fail(error, "unpacks to %lld bytes, expected %zu", got, n);
}

static int unpack_zstd(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		       struct gt_error *error)
{
	size_t got = ZSTD_decompress(out, n, packed, packed_bytes);

	return ZSTD_isError(got) ? gt_fail(error, "zstd: %s, expected %zu bytes", ZSTD_getErrorName(got), n)
				 : check_size((long long)got, n, error);
}

/* A raw LZ4 block, without a frame. Sizes are at most GT_FATBIN_UNPACKED_MAX, so an int holds them. */
static int unpack_lz4(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		      struct gt_error *error)
{
	if (packed_bytes > INT_MAX)
		return gt_fail(error, "LZ4 block of %zu bytes", packed_bytes);
	int got = LZ4_decompress_safe((const char *)packed, (char *)out, (int)packed_bytes, (int)n);
	return got < 0 ? gt_fail(error, "damaged LZ4 block, expected %zu bytes", n) : check_size(got, n, error);
}

static int unpack_plain(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
			struct gt_error *error)
{
	if (packed_bytes != n)
		return gt_fail(error, "%zu bytes, expected %zu", packed_bytes, n);
	memcpy(out, packed, n);
	return 0;
}

static const struct {
	uint64_t flag;
	int (*unpack)(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t n,
		      struct gt_error *error);
} compressions[] = {
	{FLAG_ZSTD, unpack_zstd},
	{FLAG_LZ4, unpack_lz4},
	{0, unpack_plain},
};

char *gt_fatbin_unpack(const struct gt_fatbin_entry *entry, size_t *bytes, struct gt_error *error)
{
	size_t i = 0, n = (size_t)entry->unpacked_bytes;
	struct gt_error reason;

	if (entry->unpacked_bytes > GT_FATBIN_UNPACKED_MAX) {
		gt_fail(error, "fat binary: an entry says it unpacks to %" PRIu64 " bytes", entry->unpacked_bytes);
		return NULL;
	}
	char *out = malloc(n + 1);
	if (!out) {
		gt_fail_memory(error, "a fat binary");
		return NULL;
	}
	while (compressions[i].flag != 0 && !(entry->flags & compressions[i].flag))
		i++;
	if (compressions[i].unpack(entry->payload, (size_t)entry->payload_bytes, (unsigned char *)out, n, &reason) != 0) {
		gt_fail(error, "fat binary: %s", reason.text);
		free(out);
		return NULL;
	}
	out[n] = '\0';
	*bytes = entry->kind == GT_FATBIN_PTX ? strlen(out) : n;
	return out;
}

/* Attributes of .nv.info: u32 symbol, u32 value. */
#define INFO_REGCOUNT	0x2f /* registers per thread */
#define INFO_FRAME_SIZE 0x11 /* bytes of local memory per thread: its variables, and registers that are spilled */
#define INFO_WITH_BYTES 4      /* format of an attribute with a u16 size and that many bytes */
#define REGISTERS_SHIFT 24     /* within sh_info of a .text section */
#define NAME_BYTES 4200

struct cubin {
	const unsigned char *data;
	size_t bytes;
	Elf64_Ehdr header;
	const unsigned char *names; /* of sections */
	size_t names_bytes;
};

/* ---- cubins ---- */

/* [offset, offset + n) of the file, or NULL if the file is shorter. */
static const unsigned char *part(const struct cubin *cubin, uint64_t offset, uint64_t n)
{
	return offset <= cubin->bytes && n <= cubin->bytes - offset ? cubin->data + offset : NULL;
}

static bool section_at(const struct cubin *cubin, unsigned i, Elf64_Shdr *section)
{
	uint64_t offset = (uint64_t)i * cubin->header.e_shentsize;
	const unsigned char *at = NULL;

	if (i < cubin->header.e_shnum && cubin->header.e_shoff <= cubin->bytes)
		at = part(cubin, cubin->header.e_shoff + offset, sizeof *section);
	if (at)
		memcpy(section, at, sizeof *section);
	return at != NULL;
}

static const unsigned char *contents(const struct cubin *cubin, const Elf64_Shdr *section)
{
	return section->sh_type == SHT_NOBITS ? NULL : part(cubin, section->sh_offset, section->sh_size);
}

static bool open_cubin(struct cubin *cubin, const void *data, size_t bytes)
{
	Elf64_Shdr names;

	*cubin = (struct cubin){.data = data, .bytes = bytes};
	if (bytes < sizeof cubin->header || memcmp(data, ELFMAG, SELFMAG) != 0 ||
	    cubin->data[EI_CLASS] != ELFCLASS64 || cubin->data[EI_DATA] != ELFDATA2LSB)
		return false;
	memcpy(&cubin->header, data, sizeof cubin->header);
	if (cubin->header.e_shentsize < sizeof names || !section_at(cubin, cubin->header.e_shstrndx, &names))
		return false;
	cubin->names = contents(cubin, &names);
	cubin->names_bytes = cubin->names ? (size_t)names.sh_size : 0;
	return cubin->names != NULL;
}

/* True if the 0-terminated text at `offset` of a table of names is `name`. */
static bool is_named(const unsigned char *names, size_t bytes, uint64_t offset, const char *name)
{
	size_t length = strlen(name) + 1;

	return names && offset < bytes && length <= bytes - offset && memcmp(names + offset, name, length) == 0;
}

static bool find_section(const struct cubin *cubin, const char *name, unsigned *index, Elf64_Shdr *section)
{
	for (*index = 0; *index < cubin->header.e_shnum; ++*index)
		if (section_at(cubin, *index, section) &&
		    is_named(cubin->names, cubin->names_bytes, section->sh_name, name))
			return true;
	return false;
}

/* The number of the kernel's symbol, or -1. */
static int64_t find_symbol(const struct cubin *cubin, const char *name)
{
	Elf64_Shdr table, strings;
	unsigned index;

	if (!find_section(cubin, ".symtab", &index, &table) || !section_at(cubin, table.sh_link, &strings))
		return -1;
	const unsigned char *symbols = contents(cubin, &table), *texts = contents(cubin, &strings);
	for (uint64_t i = 0; symbols && texts && i < table.sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
		    is_named(texts, (size_t)strings.sh_size, symbol.st_name, name))
			return (int64_t)i;
	}
	return -1;
}

/* Attributes are u8 format, u8 number, then a u16 value, or a u16 size and that many bytes. */
static bool value_in_info(const struct cubin *cubin, int64_t symbol, unsigned attribute, uint32_t *value)
{
	Elf64_Shdr section;
	unsigned index;

	if (symbol < 0 || !find_section(cubin, ".nv.info", &index, &section))
		return false;
	const unsigned char *at = contents(cubin, &section);
	uint64_t left = at ? section.sh_size : 0;
	while (left >= 4) {
		uint64_t bytes = 4 + (at[0] == INFO_WITH_BYTES ? (uint64_t)at[2] + 256U * at[3] : 0);
		uint32_t values[2];
		if (bytes > left)
			return false;
		if (at[1] == attribute && bytes == 4 + sizeof values) {
			memcpy(values, at + 4, sizeof values);
			if (values[0] == symbol) {
				*value = values[1];
				return true;
			}
		}
		at += bytes;
		left -= bytes;
	}
	return false;
}

int gt_cubin_find(const void *data, size_t bytes, const char *name, struct gt_cubin_kernel *kernel,
		    struct gt_error *error)
{
	struct cubin cubin;
	Elf64_Shdr section;
	unsigned index;
	char section_name[NAME_BYTES];

	*kernel = (struct gt_cubin_kernel){0};
	if (!open_cubin(&cubin, data, bytes))
		return gt_fail(error, "damaged cubin");
	if ((size_t)snprintf(section_name, sizeof section_name, ".text.%s", name) >= sizeof section_name ||
	    !find_section(&cubin, section_name, &index, &section))
		return 0;
	const int64_t symbol = find_symbol(&cubin, name);
	kernel->says_local = value_in_info(&cubin, symbol, INFO_FRAME_SIZE, &kernel->local_bytes);
	if (!value_in_info(&cubin, symbol, INFO_REGCOUNT, &kernel->registers))
		kernel->registers = section.sh_info >> REGISTERS_SHIFT;
	snprintf(section_name, sizeof section_name, ".nv.shared.%s", name);
	if (find_section(&cubin, section_name, &index, &section))
		kernel->shared_bytes = section.sh_size <= UINT32_MAX ? (uint32_t)section.sh_size : 0;
	return 1;
}
