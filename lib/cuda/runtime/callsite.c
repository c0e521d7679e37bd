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
	uint64_t address; /* of the call that has the source line, in its module */
	size_t turn; /* of that call among those on its line, from 0 */
	char place[GT_CALLSITE_TEXT + 64]; /* the line and the function that is called there */
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

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* The end of what begins here and is no code: a comment, a string, a character; the same place if it is code. */
static char *behind_words(char *at)
{
	char *end = at;

	if (strncmp(at, "//", 2) == 0)
		return at + strcspn(at, "\n");
	if (strncmp(at, "/*", 2) == 0)
		return (end = strstr(at + 2, "*/")) ? end + 2 : at + strlen(at);
	if (*at != '"' && *at != '\'')
		return at;
	for (end++; *end && *end != '\n' && *end != *at; end++)
		end += *end == '\\' && end[1];
	return end + (*end == *at);
}

/* A source file whose comments and texts are blanks; NULL if it cannot be read. The caller frees it. */
static char *read_source(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* another kind of file may wait for a writer */
	struct stat about;
	bool is_file = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode);
	char *text = is_file ? malloc((size_t)about.st_size + 1) : NULL;
	size_t n = 0;

	for (ssize_t got = 1; text && got > 0 && n < (size_t)about.st_size; n += got > 0 ? (size_t)got : 0)
		got = read(file, text + n, (size_t)about.st_size - n);
	if (file >= 0)
		close(file);
	if (!text)
		return NULL;
	text[n] = '\0';
	for (char *at = text; *at;) {
		char *end = behind_words(at);
		if (end == at)
			at++;
		for (; at < end; at++)
			*at = *at == '\n' ? '\n' : ' ';
	}
	return text;
}

static bool is_letter(char c)
{
	return c != '\0' && strchr(LETTERS, c);
}

/* The next place from `at` on where a text has this word whole; NULL if there is none before `end`. */
static const char *find_word(const char *text, const char *at, const char *end, const char *word, size_t length)
{
	for (; at + length <= end; at++)
		if (memcmp(at, word, length) == 0 && !is_letter(at[length]) && (at == text || !is_letter(at[-1])))
			return at;
	return NULL;
}

/* Whether the source defines a macro of that name in which the call stands. */
static bool macro_calls(const char *text, const char *name, size_t length, const char *call)
{
	for (const char *at = text; (at = strstr(at, "define")); at++) {
		const char *word = at + strlen("define"), *end;
		word += strspn(word, " \t");
		if (strncmp(word, name, length) != 0 || is_letter(word[length]))
			continue;
		for (end = strchrnul(word, '\n'); *end && end[-1] == '\\'; end = strchrnul(end + 1, '\n'))
			;
		if (find_word(text, word + length, end, call, strlen(call)))
			return true;
	}
	return false;
}

static bool line_has_macro(const char *text, const char *line, const char *end, const char *call)
{
	for (const char *at = line; at < end;) {
		size_t length = strspn(at, LETTERS);
		if (length > 0 && macro_calls(text, at, length, call))
			return true;
		at += length + 1;
	}
	return false;
}

/* Whether the calls of a line are made one after the other, each once, whenever the line is reached: they are statements of
 * one block, no control is on the line, and the line before it ends a statement. */
static bool is_straight(const char *text, const char *line, const char *end, const char *call)
{
	static const char *const control[] = {"if", "else", "for", "while", "do", "switch", "case", "goto", "return", "try", "catch"};
	const char *before = line, *last = NULL;

	while (before > text && strchr(" \t\n\\", before[-1]))
		before--;
	if (before > text && !strchr(";{}:", before[-1]))
		return false;
	for (size_t i = 0; i < sizeof control / sizeof control[0]; i++)
		if (find_word(text, line, end, control[i], strlen(control[i])))
			return false;
	for (const char *at = line; at < end; at++)
		if (*at == '?' || (*at == ']' && strchr("( ", at[1]) && at[1 + strspn(at + 1, " ")] == '('))
			return false;
	for (const char *at = line; (at = find_word(text, at, end, call, strlen(call))); last = at++)
		if (last && (!memchr(last, ';', (size_t)(at - last)) || memchr(last, '{', (size_t)(at - last)) || memchr(last, '}', (size_t)(at - last))))
			return false;
	return true;
}

/* Copies the expression that a call's first argument points to: "d_in" of "cudaMalloc((void **)&d_in, bytes)". False if it
 * is more than a name with members and elements. */
static bool copy_argument(const char *at, char *name, size_t size)
{
	size_t n = 0;

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
	if ((strncmp(at, "reinterpret_cast<", 17) == 0 || strncmp(at, "static_cast<", 12) == 0) && !(at = strchr(at, '(')))
		return false;
	at += *at == '(';
	at += *at == '&';
	at += strspn(at, " \t");
	if (isdigit((unsigned char)*at))
		return false;
	for (int depth = 0; is_letter(*at) || (*at && strchr(".->[]", *at)) || (depth > 0 && *at && strchr(" +*%/", *at)); at++) {
		depth += *at == '[' ? 1 : *at == ']' ? -1 : 0;
		if (n + 1 >= size || (*at == '-' && at[1] != '>' && depth == 0))
			return false;
		if (*at != ' ')
			name[n++] = *at;
	}
	name[n] = '\0';
	at += strspn(at, " \t");
	return n > 0 && (*at == ',' || *at == ')');
}

/* ---- sites ---- */

/* Which of the calls on its line a site is, if they are made in order: a new one comes after those before it. A loop that is unrolled has
 * several sites for a call. */
static size_t turn_of(const struct site *site)
{
	size_t turn = 0;

	for (size_t i = 0; i < sites_n; i++) {
		if (strcmp(sites[i].place, site->place) != 0)
			continue;
		if (sites[i].address == site->address)
			return sites[i].turn;
		turn = sites[i].turn >= turn ? sites[i].turn + 1 : turn;
	}
	return turn;
}

/* The argument of a site's call in line `number`; false if it is not plain to see which call that is. */
static bool find_argument(const struct site *site, const char *text, unsigned long number, const char *call, char *name, size_t size)
{
	const char *line = text, *end, *at;
	size_t calls = 0;

	for (unsigned long i = 1; i < number && line; i++)
		if ((line = strchr(line, '\n')))
			line++;
	if (!line)
		return false;
	end = strchrnul(line, '\n');
	for (at = line; (at = find_word(text, at, end, call, strlen(call))); at++)
		calls++;
	if (calls == 0 || line_has_macro(text, line, end, call) || (calls > 1 && !is_straight(text, line, end, call)))
		return false;
	at = find_word(text, line, end, call, strlen(call));
	for (size_t i = 0; i < site->turn % calls; i++)
		at = find_word(text, at + 1, end, call, strlen(call));
	return copy_argument(at + strlen(call), name, size);
}

/* nvcc's compiler reads a file "tmpxft_...-6_my.cudafe1.cpp", and some lines of debug information have its name: they are of my.cu, whose
 * folder only a caller's lines tell. Whether it is one. */
static bool name_original(char *path)
{
	char *end = strstr(path, ".cudafe1.cpp"), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *own = name;

	if (!end || end[strlen(".cudafe1.cpp")])
		return false;
	strcpy(end, ".cu");
	for (int i = 0; i < 3 && own && strncmp(name, "tmpxft_", 7) == 0; i++)
		if ((own = strchr(own, '_')))
			own++;
	if (own)
		memmove(name, own, strlen(own) + 1);
	return true;
}

/* The source of that name which a caller is in, as that of a template mostly is: among the lines of addr2line's answer, each of which ends with a 0. NULL: none
 * can be read. */
static char *read_source_of_caller(char *answer, const char *end, const char *name)
{
	char *text = NULL, *next;

	for (char *line = answer; !text && line < end; line = next) {
		char *colon = strrchr(line, ':'), *slash = strrchr(line, '/');
		next = line + strlen(line) + 1;
		if (!colon || !slash || slash > colon)
			continue;
		*colon = '\0';
		if (strcmp(slash + 1, name) == 0)
			text = read_source(line);
	}
	return text;
}

/* Names a site by "FILE:LINE", the first line of addr2line's answer outside of folders of headers, or the first of all. */
static void name_site(struct site *site, const char *call, char *answer)
{
	char *chosen = NULL, variable[GT_CALLSITE_TEXT], base[GT_CALLSITE_TEXT];
	const char *what = call, *end = strchr(answer, '\0');
	unsigned long long address = 0;

	for (char *line = strtok(answer, "\n"); line; line = strtok(NULL, "\n")) {
		char *colon = strrchr(line, ':');
		if (!colon && strncmp(line, "0x", 2) == 0) /* each address precedes its lines */
			address = strtoull(line, NULL, 16);
		if (!colon || !isdigit((unsigned char)colon[1]) || colon[1] == '0' || *line == '?')
			continue;
		if (!chosen || (strstr(chosen, "/include/") && !strstr(line, "/include/"))) {
			chosen = line;
			site->address = address;
		}
	}
	if (!chosen)
		return;
	char *colon = strrchr(chosen, ':');
	unsigned long number = strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	const bool elsewhere = name_original(chosen);
	const char *slash = strrchr(chosen, '/');
	int length = snprintf(base, sizeof base, "%s:%lu", slash ? slash + 1 : chosen, number);
	if ((size_t)length >= sizeof base)
		return;
	snprintf(site->place, sizeof site->place, "%s %s", base, call);
	site->turn = turn_of(site);
	char *text = elsewhere ? read_source_of_caller(answer, end, slash ? slash + 1 : chosen) : read_source(chosen);
	if (text && find_argument(site, text, number, call, variable, sizeof variable - (size_t)length - 1))
		what = variable;
	free(text);
	if ((size_t)snprintf(site->name, sizeof site->name, "%s %s", what, base) >= sizeof site->name)
		snprintf(site->name, sizeof site->name, "%s", base);
}

/* Asks addr2line, without this runtime in LD_PRELOAD, about the frames in the first module outside of this library. */
static void look_up(struct site *site, const char *call)
{
	char addresses[FRAMES][24], *argv[FRAMES + 10] = {"env", "-u", "LD_PRELOAD", "addr2line", "-a", "-i", "-e"};
	struct module ours, module = {0}, first = {0};
	struct gt_child_output output;
	struct gt_error error;
	int n = 7;

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

/* Writes a name with the number of the call; what is too long loses its first word. */
static void number_name(char name[GT_CALLSITE_TEXT], const char *text, unsigned long number)
{
	const char *blank = strchr(text, ' ');
	int length = snprintf(name, GT_CALLSITE_TEXT, "%s #%lu", text, number);

	if (length >= GT_CALLSITE_TEXT && blank)
		snprintf(name, GT_CALLSITE_TEXT, "%s #%lu", blank + 1, number);
	else if (length >= GT_CALLSITE_TEXT)
		snprintf(name, GT_CALLSITE_TEXT, "%.*s #%lu", GT_CALLSITE_TEXT - 8, text, number);
}

bool gt_callsite_name(const char *call, char name[GT_CALLSITE_TEXT])
{
	static int known = -1; /* whether some module had line numbers at the first call */
	struct site *site;

	if (known < 0)
		known = dl_iterate_phdr(visit_lines, NULL);
	if (known == 0 || !(site = find_site(call)) || !site->name[0])
		return false;
	if (!name)
		return true;
	/* Sites that differ by what called them may be one line. */
	unsigned long calls = 0;
	for (size_t i = 0; i < sites_n; i++)
		calls += strcmp(sites[i].name, site->name) == 0 ? sites[i].calls : 0;
	site->calls++;
	if (calls == 0)
		snprintf(name, GT_CALLSITE_TEXT, "%s", site->name);
	else
		number_name(name, site->name, calls + 1);
	return true;
}
