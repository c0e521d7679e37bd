/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/fatbin/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define INFO_REGCOUNT 0x2f     /* attribute of .nv.info: u32 symbol, u32 registers per thread */
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
static bool registers_in_info(const struct cubin *cubin, int64_t symbol, uint32_t *registers)
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
		if (at[1] == INFO_REGCOUNT && bytes == 4 + sizeof values) {
			memcpy(values, at + 4, sizeof values);
			if (values[0] == symbol) {
				*registers = values[1];
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
	if (!registers_in_info(&cubin, find_symbol(&cubin, name), &kernel->registers))
		kernel->registers = section.sh_info >> REGISTERS_SHIFT;
	snprintf(section_name, sizeof section_name, ".nv.shared.%s", name);
	if (find_section(&cubin, section_name, &index, &section))
		kernel->shared_bytes = section.sh_size <= UINT32_MAX ? (uint32_t)section.sh_size : 0;
	return 1;
}
