/* SPDX-License-Identifier: MIT */
/* Explains why a program has no device code, from the libraries that its file needs. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "cuda/ptx/record/record.h"

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define RUNTIME "libcudart.so."
#define BUILD "build it with nvcc -cudart shared and with PTX"

/* Prefixes of needed libraries; `runs`: the library has kernels of its own. */
static const struct {
	const char *name;
	bool runs;
} libraries[] = {
	{RUNTIME, false},	  {"libcublas.so", true},   {"libcublasLt.so", true}, {"libcufft.so", true},
	{"libcusparse.so", true}, {"libcusolver.so", true}, {"libcurand.so", true},   {"libcudnn", true},
	{"libnccl.so", true},	  {"libnpp", true},	    {"libnvjpeg.so", true},   {"libcutensor.so", true},
	{"libOpenCL.so", true},
};

static const char *known(const char *file, bool *runs)
{
	for (size_t i = 0; i < LENGTH(libraries); i++)
		if (strncmp(file, libraries[i].name, strlen(libraries[i].name)) == 0) {
			*runs = libraries[i].runs;
			return libraries[i].name;
		}
	return NULL;
}

bool gt_record_runs_kernels(const char *file)
{
	bool runs = false;

	return known(file, &runs) && runs;
}

/* ---- the file ---- */

struct file {
	const unsigned char *data;
	size_t bytes;
};

/* Maps the program's file; data NULL if it cannot be read. */
static struct file open_file(const char *path)
{
	struct stat about;
	struct file file = {0};
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);

	if (descriptor < 0)
		return file;
	if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
		void *data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
		if (data != MAP_FAILED)
			file = (struct file){data, (size_t)about.st_size};
	}
	close(descriptor);
	return file;
}

/* [offset, offset + n) of the file, or NULL. */
static const void *part(const struct file *file, uint64_t offset, uint64_t n)
{
	return offset <= file->bytes && n <= file->bytes - offset ? file->data + offset : NULL;
}

static bool section_at(const struct file *file, unsigned i, Elf64_Shdr *section)
{
	Elf64_Ehdr header;

	memcpy(&header, file->data, sizeof header);
	const void *at = i < header.e_shnum && header.e_shentsize >= sizeof *section && header.e_shoff <= file->bytes
				 ? part(file, header.e_shoff + (uint64_t)i * header.e_shentsize, sizeof *section)
				 : NULL;
	if (at)
		memcpy(section, at, sizeof *section);
	return at != NULL;
}

static bool is_elf(const struct file *file)
{
	return file->data && file->bytes >= sizeof(Elf64_Ehdr) && memcmp(file->data, ELFMAG, SELFMAG) == 0 &&
	       file->data[EI_CLASS] == ELFCLASS64;
}

/* The 0-terminated text at an offset of a string table, or NULL. */
static const char *text_at(const struct file *file, const Elf64_Shdr *strings, uint64_t offset)
{
	const char *table = part(file, strings->sh_offset, strings->sh_size);

	return table && offset < strings->sh_size && memchr(table + offset, 0, strings->sh_size - offset) ? table + offset
													  : NULL;
}

static bool has_device_code(const struct file *file)
{
	Elf64_Ehdr header;
	Elf64_Shdr names, section;

	memcpy(&header, file->data, sizeof header);
	if (!section_at(file, header.e_shstrndx, &names))
		return false;
	for (unsigned i = 0; section_at(file, i, &section); i++) {
		const char *name = text_at(file, &names, section.sh_name);
		if (name && (strcmp(name, ".nv_fatbin") == 0 || strcmp(name, ".nvFatBinSegment") == 0))
			return true;
	}
	return false;
}

/* The first library of the table above that the file needs, and whether it needs a CUDA runtime. */
static const char *needed(const struct file *file, bool runtime)
{
	Elf64_Shdr section, strings;

	for (unsigned i = 0; section_at(file, i, &section); i++) {
		const unsigned char *entries = part(file, section.sh_offset, section.sh_size);
		if (section.sh_type != SHT_DYNAMIC || !entries || !section_at(file, section.sh_link, &strings))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
			Elf64_Dyn entry;
			memcpy(&entry, entries + at, sizeof entry);
			const char *name = entry.d_tag == DT_NEEDED ? text_at(file, &strings, entry.d_un.d_val) : NULL;
			bool runs = false;
			if (name && known(name, &runs) && runs != runtime)
				return name;
		}
	}
	return NULL;
}

void gt_record_explain(const char *program, char *line, size_t bytes)
{
	char path[GT_TRACING_PATH];
	struct file file = open_file(gt_child_find(program, path, sizeof path) ? path : program);
	const char *runtime = is_elf(&file) ? needed(&file, true) : NULL, *other = is_elf(&file) ? needed(&file, false) : NULL;

	if (!is_elf(&file))
		snprintf(line, bytes, "it is no program file of this machine, and what it started used no shared CUDA "
				      "runtime: " BUILD);
	else if (runtime)
		snprintf(line, bytes, "it is linked with %s and registers no kernel%s%s: " BUILD, runtime,
			 other ? "; kernels may be in " : "", other ? other : "");
	else if (has_device_code(&file))
		snprintf(line, bytes, "it is linked with the static CUDA runtime: " BUILD);
	else if (other)
		snprintf(line, bytes, "its kernels run by way of %s, which is not stood in for: " BUILD, other);
	else
		snprintf(line, bytes, "it needs no CUDA library: " BUILD);
	if (file.data)
		munmap((void *)(uintptr_t)file.data, file.bytes);
}
