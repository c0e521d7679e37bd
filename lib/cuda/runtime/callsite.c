/* SPDX-License-Identifier: MIT */
/* Where the program calls the runtime, by its debug information; dl_iterate_phdr is glibc's, beyond POSIX. */
#define _GNU_SOURCE
#include <ctype.h>
#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/grown.h"
#include "cuda/runtime/runtime.h"

#define FRAMES 16 /* callers that are looked at: the program may call through headers of CUDA */
#define ANSWER (64U << 10) /* bytes that addr2line may print */

struct site {
	void *frames[FRAMES];
	int n;
	char name[GT_CALLSITE_TEXT]; /* "" if it has no source line */
	unsigned long calls;
};

static struct site *sites;
static size_t sites_n, sites_capacity;

/* ---- debug information ---- */

/* Whether an ELF file in memory has a section of line numbers. */
static bool has_lines(const unsigned char *data, size_t bytes)
{
	const ElfW(Ehdr) *header = (const void *)data;

	if (bytes < sizeof *header || memcmp(data, ELFMAG, SELFMAG) != 0 || header->e_shentsize != sizeof(ElfW(Shdr)) ||
	    header->e_shoff > bytes || header->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
	    header->e_shnum > (bytes - header->e_shoff) / sizeof(ElfW(Shdr)) || header->e_shstrndx >= header->e_shnum)
		return false;
	const ElfW(Shdr) *sections = (const void *)(data + header->e_shoff), *names = &sections[header->e_shstrndx];
	for (size_t i = 0; i < header->e_shnum; i++) {
		uint64_t at = (uint64_t)names->sh_offset + sections[i].sh_name;
		if (at + sizeof ".debug_line" <= bytes && memcmp(data + at, ".debug_line", sizeof ".debug_line") == 0)
			return true;
	}
	return false;
}

static bool file_has_lines(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool has = false;

	if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
		void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (data != MAP_FAILED) {
			has = has_lines(data, (size_t)status.st_size);
			munmap(data, (size_t)status.st_size);
		}
	}
	if (file >= 0)
		close(file);
	return has;
}

/* A module of the process, found by an address in it. */
struct module {
	uintptr_t address, bias;
	char path[4096];
	bool found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct module *module = context;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		if (part->p_type != PT_LOAD || module->address - info->dlpi_addr - part->p_vaddr >= part->p_memsz)
			continue;
		module->bias = info->dlpi_addr;
		/* The program itself has no name. */
		snprintf(module->path, sizeof module->path, "%s", *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
		module->found = true;
		return 1;
	}
	return 0;
}

static bool find_module(const void *address, struct module *module)
{
	*module = (struct module){.address = (uintptr_t)address};
	dl_iterate_phdr(visit, module);
	return module->found;
}

static int visit_lines(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	return file_has_lines(*info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
}

/* ---- the source ---- */

/* Copies the expression that a call's first argument points to: "d_in" of "cudaMalloc((void **)&d_in, bytes)". False if it
 * is more than a name with members and elements. */
static bool argument_of(const char *line, const char *call, char *name, size_t size)
{
	const char *at = strstr(line, call);

	if (!at)
		return false;
	at += strlen(call);
	if (*at == '<')
		at += strcspn(at, ">") + (strchr(at, '>') != NULL);
	at += strspn(at, " \t");
	if (*at++ != '(')
		return false;
	at += strspn(at, " \t");
	while (*at == '(') { /* casts */
		at += strcspn(at, ")") + (strchr(at, ')') != NULL);
		at += strspn(at, " \t");
	}
	if (strncmp(at, "reinterpret_cast<", 17) == 0 && (at = strchr(at, '(')))
		at++;
	at += at && *at == '&';
	size_t length = at ? strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.->[]") : 0;
	if (length == 0 || length >= size || !strchr(",) ", at[length]) || isdigit((unsigned char)*at))
		return false;
	snprintf(name, size, "%.*s", (int)length, at);
	return true;
}

static bool argument_at(const char *path, unsigned long number, const char *call, char *name, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	bool found = false;

	for (unsigned long at = 1; file && at <= number && fgets(line, sizeof line, file);) {
		bool whole = strchr(line, '\n') != NULL;
		if (at == number && whole)
			found = argument_of(line, call, name, size);
		at += whole;
	}
	if (file)
		fclose(file);
	return found;
}

/* ---- sites ---- */

/* Names a site by "FILE:LINE", the first line of addr2line's answer outside of folders of headers, or the first of all. */
static void name_site(struct site *site, const char *call, char *answer)
{
	char *chosen = NULL, variable[GT_CALLSITE_TEXT], base[GT_CALLSITE_TEXT];
	const char *what = call;

	for (char *line = strtok(answer, "\n"); line; line = strtok(NULL, "\n")) {
		char *colon = strrchr(line, ':');
		if (!colon || !isdigit((unsigned char)colon[1]) || colon[1] == '0' || *line == '?')
			continue;
		if (!chosen || (strstr(chosen, "/include/") && !strstr(line, "/include/")))
			chosen = line;
	}
	if (!chosen)
		return;
	char *colon = strrchr(chosen, ':');
	unsigned long number = strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	const char *slash = strrchr(chosen, '/');
	int length = snprintf(base, sizeof base, "%s:%lu", slash ? slash + 1 : chosen, number);
	if ((size_t)length >= sizeof base)
		return;
	if (argument_at(chosen, number, call, variable, sizeof variable - (size_t)length - 1))
		what = variable;
	if ((size_t)snprintf(site->name, sizeof site->name, "%s %s", what, base) >= sizeof site->name)
		snprintf(site->name, sizeof site->name, "%s", base);
}

/* Asks addr2line, without this runtime in LD_PRELOAD, about the frames in the first module outside of this library. */
static void look_up(struct site *site, const char *call)
{
	char addresses[FRAMES][24], *argv[FRAMES + 9] = {"env", "-u", "LD_PRELOAD", "addr2line", "-i", "-e"};
	struct module ours, module = {0}, first = {0};
	struct gt_child_output output;
	struct gt_error error;
	int n = 6;

	if (!find_module((const void *)(uintptr_t)look_up, &ours))
		return;
	for (int i = 0; i < site->n; i++) {
		if (!find_module(site->frames[i], &module) || module.bias == ours.bias || (first.found && module.bias != first.bias))
			continue;
		if (!first.found) {
			if (!file_has_lines(module.path))
				continue;
			first = module;
			if (strcmp(first.path, "/proc/self/exe") == 0)
				snprintf(first.path, sizeof first.path, "/proc/%ld/exe", (long)getpid());
			argv[n++] = first.path;
		}
		/* A return address is behind its call. */
		snprintf(addresses[i], sizeof addresses[i], "0x%" PRIxPTR, (uintptr_t)site->frames[i] - first.bias - 1);
		argv[n++] = addresses[i];
	}
	if (!first.found)
		return;
	if (gt_child_run(argv, "", 0, ANSWER, &output, &error) != 0) {
		gt_cudart_note("arrays are named by the numbers of calls: %s", error.text);
		return;
	}
	name_site(site, call, output.text);
	free(output.text);
}

static struct site *find_site(const char *call)
{
	struct site new = {.calls = 0}, *bigger;

	new.n = backtrace(new.frames, FRAMES);
	for (size_t i = 0; i < sites_n; i++)
		if (sites[i].n == new.n && memcmp(sites[i].frames, new.frames, sizeof new.frames) == 0)
			return &sites[i];
	if (!(bigger = gt_grown(sites, sites_n, &sites_capacity, sizeof *sites)))
		return NULL;
	sites = bigger;
	look_up(&new, call);
	sites[sites_n] = new;
	return &sites[sites_n++];
}

bool gt_callsite_name(const char *call, char name[GT_CALLSITE_TEXT])
{
	static int known = -1; /* whether some module had line numbers at the first call */
	struct site *site;

	if (known < 0)
		known = dl_iterate_phdr(visit_lines, NULL);
	if (known == 0 || !(site = find_site(call)) || !site->name[0])
		return false;
	/* Sites that differ by what called them may be one line. */
	unsigned long calls = 0;
	for (size_t i = 0; i < sites_n; i++)
		calls += strcmp(sites[i].name, site->name) == 0 ? sites[i].calls : 0;
	site->calls++;
	if (calls == 0)
		snprintf(name, GT_CALLSITE_TEXT, "%s", site->name);
	else
		snprintf(name, GT_CALLSITE_TEXT, "%.*s #%lu", GT_CALLSITE_TEXT - 8, site->name, calls + 1);
	return true;
}
