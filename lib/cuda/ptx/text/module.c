/* SPDX-License-Identifier: MIT */
/* A parsed module: its memory and its names, the table of opcodes, what is asked of it, the names that users see of what C++ mangles, and
 * modules joined from the texts of several translation units. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/grown.h"
#include "cuda/ptx/text/module.h"
#include "stream/kernel_name.h"

/* ---- memory, and names that are stored once ---- */

#define CHUNK 65536 /* bytes allocated at a time; larger pieces have a chunk of their own */

struct chunk {
	struct chunk *next;
	max_align_t bytes[];
};

struct name {
	uint64_t hash;
	size_t length;
	char *text;
};

struct gt_ptx_arena {
	struct chunk *chunks;
	char *at; /* in the last chunk of ordinary size */
	size_t left;
	struct name *names; /* open addressing, at most half full */
	size_t mask, n_names;
};

struct gt_ptx_arena *gt_ptx_arena_open(struct gt_error *error)
{
	struct gt_ptx_arena *arena = calloc(1, sizeof *arena);

	if (arena) {
		arena->mask = 255;
		arena->names = calloc(arena->mask + 1, sizeof *arena->names);
	}
	if (!arena || !arena->names) {
		free(arena);
		gt_fail_memory(error, "a PTX module");
		return NULL;
	}
	return arena;
}

void gt_ptx_arena_close(struct gt_ptx_arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(arena->names);
	free(arena);
}

static struct chunk *new_chunk(struct gt_ptx_arena *arena, size_t bytes)
{
	struct chunk *chunk = bytes < SIZE_MAX / 2 ? calloc(1, sizeof *chunk + bytes) : NULL;

	if (chunk) {
		chunk->next = arena->chunks;
		arena->chunks = chunk;
	}
	return chunk;
}

void *gt_ptx_arena_take(struct gt_ptx_arena *arena, size_t n, size_t element, struct gt_error *error)
{
	const size_t align = sizeof(max_align_t);
	struct chunk *chunk;

	if (n > (SIZE_MAX / 4) / element) {
		gt_fail_memory(error, "a PTX module");
		return NULL;
	}
	size_t bytes = (n * element + align - 1) / align * align;
	if (bytes > CHUNK / 4) {
		chunk = new_chunk(arena, bytes);
		if (!chunk)
			gt_fail_memory(error, "a PTX module");
		return chunk ? chunk->bytes : NULL;
	}
	if (bytes > arena->left || !arena->at) {
		chunk = new_chunk(arena, CHUNK);
		if (!chunk) {
			gt_fail_memory(error, "a PTX module");
			return NULL;
		}
		arena->at = (char *)chunk->bytes;
		arena->left = CHUNK;
	}
	void *piece = arena->at;
	arena->at += bytes;
	arena->left -= bytes;
	return piece;
}

void *gt_ptx_arena_copy(struct gt_ptx_arena *arena, const void *from, size_t n, size_t element,
			struct gt_error *error)
{
	void *copy = gt_ptx_arena_take(arena, n, element, error);

	if (copy && n > 0)
		memcpy(copy, from, n * element);
	return copy;
}

/* The slot of the name, or the empty one where it belongs. */
static struct name *find_stored(struct name *names, size_t mask, uint64_t hash, const char *text, size_t length)
{
	size_t i = (size_t)hash & mask;

	while (names[i].text && (names[i].hash != hash || names[i].length != length ||
				 memcmp(names[i].text, text, length) != 0))
		i = (i + 1) & mask;
	return &names[i];
}

static bool grow_names(struct gt_ptx_arena *arena)
{
	size_t mask = arena->mask * 2 + 1;
	struct name *names = calloc(mask + 1, sizeof *names);

	if (!names)
		return false;
	for (size_t i = 0; i <= arena->mask; i++) {
		const struct name *old = &arena->names[i];
		if (old->text)
			*find_stored(names, mask, old->hash, old->text, old->length) = *old;
	}
	free(arena->names);
	arena->names = names;
	arena->mask = mask;
	return true;
}

char *gt_ptx_arena_known(const struct gt_ptx_arena *arena, const char *text, size_t length)
{
	return find_stored(arena->names, arena->mask, XXH3_64bits(text, length), text, length)->text;
}

char *gt_ptx_arena_name(struct gt_ptx_arena *arena, const char *text, size_t length, struct gt_error *error)
{
	uint64_t hash = XXH3_64bits(text, length);
	struct name *name = find_stored(arena->names, arena->mask, hash, text, length);

	if (name->text)
		return name->text;
	if (arena->n_names * 2 >= arena->mask) {
		if (!grow_names(arena)) {
			gt_fail_memory(error, "the names of a PTX module");
			return NULL;
		}
		name = find_stored(arena->names, arena->mask, hash, text, length);
	}
	char *copy = gt_ptx_arena_take(arena, length + 1, 1, error);
	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	*name = (struct name){hash, length, copy};
	arena->n_names++;
	return copy;
}

/* ---- opcodes ---- */

const struct gt_ptx_opcode_row gt_ptx_opcode_rows[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_OTHER] = {.name = ""},
#define FACTS(IDENTIFIER, name, results, ending, access, family, folding) \
	[GT_PTX_OP_##IDENTIFIER] = {name, GT_PTX_RESULTS_##results, GT_PTX_##ending, GT_PTX_ACCESS_##access, \
				    GT_PTX_FOLD_##folding},
	GT_PTX_OPCODES(FACTS)
#undef FACTS
};

enum gt_ptx_opcode gt_ptx_opcode_named(const char *name)
{
	unsigned low = GT_PTX_OP_OTHER + 1, high = GT_PTX_OP_COUNT;

	while (low < high) {
		unsigned middle = (low + high) / 2;
		int order = strcmp(name, gt_ptx_opcode_rows[middle].name);
		if (order == 0)
			return (enum gt_ptx_opcode)middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return GT_PTX_OP_OTHER;
}

size_t gt_ptx_results(const struct gt_ptx_instruction *instruction)
{
	if (instruction->n_operands == 0)
		return 0;
	switch (gt_ptx_row(instruction)->results) {
	case GT_PTX_RESULTS_NONE: return 0;
	case GT_PTX_RESULTS_IF_RED: return gt_ptx_has(instruction, "red");
	case GT_PTX_RESULTS_IF_VECTOR: return instruction->operands[0].kind == GT_PTX_VECTOR;
	case GT_PTX_RESULTS_UNLESS_ADDRESS: return instruction->operands[0].kind != GT_PTX_ADDRESS;
	default: return instruction->operands[0].paired ? 2 : 1;
	}
}

size_t gt_ptx_first_source(const struct gt_ptx_instruction *instruction)
{
	return gt_ptx_row(instruction)->results == GT_PTX_RESULTS_UPDATED ? 0 : gt_ptx_results(instruction);
}

/* ---- names of the source in those that C++ mangles ---- */

/* A mangled name without what nvcc -rdc puts before those of internal linkage: "__nv_static_<length>_<unit>_". */
static const char *without_unit(const char *name)
{
	static const char prefix[] = "__nv_static_";
	size_t n;
	const char *unit = strncmp(name, prefix, strlen(prefix)) == 0 ? gt_name_part(name + strlen(prefix), &n) : NULL;

	return unit && strlen(unit) > n + 2 && strncmp(unit + n + 2, "_Z", 2) == 0 ? unit + n + 2 : name;
}

/* The variable of a function's own, to the end of the name: "tile" of _ZZ9transposePfE4tile, "tile_0" if it is the second such; NULL if there is
 * none. The first place will do, since what follows an E inside the function's name does not reach to the end. */
static const char *own_variable(const char *at)
{
	size_t n;

	while ((at = strchr(at, 'E')) != NULL) {
		const char *name = gt_name_part(++at, &n);
		if (name && (name[n] == '\0' || (name[n] == '_' && name[n + strspn(name + n, "_0123456789")] == '\0')))
			return name;
	}
	return NULL;
}

const char *gt_ptx_plain_name(const char *name, size_t *length)
{
	const char *at = without_unit(name), *found = NULL;

	*length = strlen(name);
	if (strncmp(at, "_ZZ", 3) == 0 && (found = own_variable(at)) != NULL)
		*length = strlen(found);
	if (found || strncmp(at, "_Z", 2) != 0)
		return found ? found : name;
	return gt_name_plain(at, length);
}

bool gt_ptx_plain_same(const char *left, const char *right)
{
	size_t n, m;
	const char *a = gt_ptx_plain_name(left, &n), *b = gt_ptx_plain_name(right, &m);

	return n == m && memcmp(a, b, n) == 0;
}

const char *gt_ptx_variable_name(const char *name, unsigned same, char text[GT_PTX_VARIABLE_NAME])
{
	size_t length;
	const char *plain = gt_ptx_plain_name(name, &length);
	int shown = (int)(length < GT_PTX_VARIABLE_NAME - 16 ? length : GT_PTX_VARIABLE_NAME - 16);

	if (same > 0)
		snprintf(text, GT_PTX_VARIABLE_NAME, "%.*s #%u", shown, plain, same + 1);
	else
		snprintf(text, GT_PTX_VARIABLE_NAME, "%.*s", shown, plain);
	return text;
}

static const struct {
	const char *name;
	unsigned size;
} types[GT_PTX_TYPES] = {
	[GT_PTX_NO_TYPE] = {"", 0},
	[GT_PTX_B8] = {"b8", 1}, [GT_PTX_B16] = {"b16", 2}, [GT_PTX_B32] = {"b32", 4}, [GT_PTX_B64] = {"b64", 8},
	[GT_PTX_B128] = {"b128", 16},
	[GT_PTX_U8] = {"u8", 1}, [GT_PTX_U16] = {"u16", 2}, [GT_PTX_U32] = {"u32", 4}, [GT_PTX_U64] = {"u64", 8},
	[GT_PTX_S8] = {"s8", 1}, [GT_PTX_S16] = {"s16", 2}, [GT_PTX_S32] = {"s32", 4}, [GT_PTX_S64] = {"s64", 8},
	[GT_PTX_F16] = {"f16", 2}, [GT_PTX_F16X2] = {"f16x2", 4}, [GT_PTX_BF16] = {"bf16", 2},
	[GT_PTX_BF16X2] = {"bf16x2", 4}, [GT_PTX_F32] = {"f32", 4}, [GT_PTX_F64] = {"f64", 8},
	[GT_PTX_PRED] = {"pred", 0}, [GT_PTX_TEXREF] = {"texref", 8},
};

unsigned gt_ptx_type_size(enum gt_ptx_type type)
{
	return types[type].size;
}

const char *gt_ptx_type_name(enum gt_ptx_type type)
{
	return types[type].name;
}

enum gt_ptx_type gt_ptx_type_named(const char *text, size_t length)
{
	for (int type = GT_PTX_NO_TYPE + 1; type < GT_PTX_TYPES; type++)
		if (strlen(types[type].name) == length && memcmp(types[type].name, text, length) == 0)
			return (enum gt_ptx_type)type;
	return GT_PTX_NO_TYPE;
}

void gt_ptx_module_free(struct gt_ptx_module *module)
{
	gt_ptx_arena_close(module->arena);
	gt_map_close(&module->function_indices);
	gt_map_close(&module->variable_indices);
	*module = (struct gt_ptx_module){0};
}

/* Among functions of one name, a definition that is not weak has precedence. */
const struct gt_ptx_function *gt_ptx_function_named(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = NULL;

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		if (!function->declaration && strcmp(function->name, name) == 0 && (!found || found->weak))
			found = function;
	}
	return found;
}

static int index_functions(struct gt_ptx_module *module, struct gt_error *error)
{
	int fresh;

	if (gt_map_open(&module->function_indices, module->n_functions, error) != 0)
		return -1;
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		uint64_t *place = gt_map_put(&module->function_indices, (uint64_t)(uintptr_t)function->name, i, &fresh);
		if (!place)
			return gt_fail_memory(error, "a module");
		const struct gt_ptx_function *before = &module->functions[*place];
		if (!function->declaration && (before->declaration || before->weak))
			*place = i;
	}
	return 0;
}

static int index_variables(struct gt_ptx_module *module, struct gt_error *error)
{
	int fresh;

	if (gt_map_open(&module->variable_indices, module->n_variables, error) != 0)
		return -1;
	for (size_t i = 0; i < module->n_variables; i++) {
		const struct gt_ptx_variable *variable = &module->variables[i];
		uint64_t *place = gt_map_put(&module->variable_indices, (uint64_t)(uintptr_t)variable->name, i, &fresh);
		if (!place)
			return gt_fail_memory(error, "a module");
		if (!variable->external && module->variables[*place].external)
			*place = i;
	}
	return 0;
}

int gt_ptx_module_index(struct gt_ptx_module *module, struct gt_error *error)
{
	return index_functions(module, error) == 0 && index_variables(module, error) == 0 ? 0 : -1;
}

static size_t index_of(const struct gt_map *indices, const char *name)
{
	const uint64_t *place = gt_map_get(indices, (uint64_t)(uintptr_t)name);

	return place ? (size_t)*place : SIZE_MAX;
}

size_t gt_ptx_function_index(const struct gt_ptx_module *module, const char *name)
{
	return index_of(&module->function_indices, name);
}

size_t gt_ptx_variable_index(const struct gt_ptx_module *module, const char *name)
{
	return index_of(&module->variable_indices, name);
}

const struct gt_ptx_function *gt_ptx_function_body(const struct gt_ptx_module *module, const char *name)
{
	size_t index = gt_ptx_function_index(module, name);

	return index == SIZE_MAX || module->functions[index].declaration ? NULL : &module->functions[index];
}

const struct gt_ptx_function *gt_ptx_kernel(const struct gt_ptx_module *module, const char *name)
{
	const struct gt_ptx_function *found = gt_ptx_function_named(module, name);
	size_t length, wanted = strlen(name);

	if (found)
		return found->entry ? found : NULL;
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *function = &module->functions[i];
		const char *plain = gt_ptx_plain_name(function->name, &length);
		if (!function->entry || function->declaration || length != wanted || memcmp(plain, name, length) != 0)
			continue;
		if (found)
			return NULL;
		found = function;
	}
	return found;
}

/* The words of a mangled name, with its namespaces or without; the name itself where it has none. */
static const char *words_of(const char *name, bool scoped, char text[GT_KERNEL_NAME])
{
	size_t length;
	const char *words = gt_name_words(without_unit(name), text);

	if (words != text)
		return name;
	return scoped ? words : gt_name_plain(words, &length);
}

/* Whether another kernel of the module has a name of the same words: only one of the same plain name can. */
static bool has_words(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, const char *words, bool scoped)
{
	char text[GT_KERNEL_NAME];

	for (size_t i = 0; i < module->n_functions; i++) {
		const struct gt_ptx_function *other = &module->functions[i];
		if (other != kernel && other->entry && !other->declaration && gt_ptx_plain_same(other->name, kernel->name) &&
		    strcmp(words_of(other->name, scoped, text), words) == 0)
			return true;
	}
	return false;
}

const char *gt_ptx_shown_name(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel, char name[GT_KERNEL_NAME])
{
	size_t length;
	const char *plain = gt_ptx_plain_name(kernel->name, &length), *words;

	snprintf(name, GT_KERNEL_NAME, "%.*s", (int)(length < GT_KERNEL_NAME ? length : GT_KERNEL_NAME), plain);
	if (gt_ptx_kernel(module, name) == kernel)
		return name;
	for (int scoped = 0; scoped < 2; scoped++) {
		words = words_of(kernel->name, scoped, name);
		if (!has_words(module, kernel, words, scoped))
			return words;
	}
	return kernel->name;
}

static const struct gt_ptx_instruction *at_line(const struct gt_ptx_module *module, unsigned line)
{
	for (size_t f = 0; f < module->n_functions; f++)
		for (size_t i = 0; i < module->functions[f].n_instructions; i++)
			if (module->functions[f].instructions[i].line == line)
				return &module->functions[f].instructions[i];
	return NULL;
}

static const struct gt_ptx_file *file_numbered(const struct gt_ptx_module *module, unsigned number)
{
	for (size_t i = 0; i < module->n_files; i++)
		if (module->files[i].number == number && module->files[i].name)
			return &module->files[i];
	return NULL;
}

/* Whether a file is in the folder of another, or below it. */
static bool is_beside(const struct gt_ptx_file *file, const struct gt_ptx_file *other)
{
	const char *slash = strrchr(other->name, '/');

	return slash ? strncmp(file->name, other->name, (size_t)(slash - other->name) + 1) == 0 : file->name[0] != '/';
}

const struct gt_ptx_file *gt_ptx_source_of(const struct gt_ptx_module *module, const struct gt_ptx_instruction *instruction, unsigned *source_line)
{
	const struct gt_ptx_file *file = instruction->source_line > 0 ? file_numbered(module, instruction->file) : NULL;
	const struct gt_ptx_file *caller = instruction->caller_line > 0 ? file_numbered(module, instruction->caller_file) : NULL;

	*source_line = instruction->source_line;
	if (!caller || (file && is_beside(file, caller)))
		return file;
	*source_line = instruction->caller_line;
	return caller;
}

bool gt_ptx_source_place(const struct gt_ptx_module *module, unsigned line, const char **file, unsigned *source_line)
{
	const struct gt_ptx_instruction *instruction = at_line(module, line);
	const struct gt_ptx_file *found = instruction ? gt_ptx_source_of(module, instruction, source_line) : NULL;

	if (!found)
		return false;
	*file = strrchr(found->name, '/') ? strrchr(found->name, '/') + 1 : found->name;
	return true;
}

bool gt_ptx_has(const struct gt_ptx_instruction *instruction, const char *modifier)
{
	for (size_t i = 0; i < instruction->n_modifiers; i++)
		if (strcmp(instruction->modifiers[i], modifier) == 0)
			return true;
	return false;
}

/* ---- texts of several translation units ---- */

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])
#define SUFFIX_BYTES 16

/* A word, or any other single byte; a comment or a string is one token, which is not a word. */
struct token {
	const char *at;
	size_t n;
	bool word;
};

struct local {
	const char *at;
	size_t n;
};

struct names {
	struct local *list;
	size_t n, capacity;
};

static bool in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.' || c == '%';
}

/* The bytes of the comment or string at [at, end); 0 if there is none. */
static size_t passed_over(const char *at, const char *end)
{
	const char *to = NULL;

	if (end - at >= 2 && at[0] == '/' && at[1] == '/')
		to = memchr(at, '\n', (size_t)(end - at));
	else if (*at == '"')
		for (to = at + 1; to < end && *to != '"'; to++)
			to += *to == '\\' && to + 1 < end;
	else if (end - at >= 2 && at[0] == '/' && at[1] == '*')
		for (to = at + 3; to < end && !(to[-1] == '*' && *to == '/'); to++)
			continue;
	else
		return 0;
	return !to || to >= end ? (size_t)(end - at) : (size_t)(to - at) + (*to != '\n');
}

static bool next_token(struct token *token, const char *end)
{
	const char *at = token->at + token->n;

	while (at < end && isspace((unsigned char)*at))
		at++;
	if (at >= end)
		return false;
	size_t n = passed_over(at, end);
	token->at = at;
	token->word = n == 0 && in_word(*at);
	while (token->word && at + n < end && in_word(at[n]))
		n++;
	token->n = n > 0 ? n : 1;
	return true;
}

static bool is(const struct token *token, const char *text)
{
	return token->n == strlen(text) && memcmp(token->at, text, token->n) == 0;
}

static bool is_one_of(const struct token *token, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is(token, words[i]))
			return true;
	return false;
}

static int add_name(struct names *names, const struct token *token, struct gt_error *error)
{
	struct local *list = gt_grown(names->list, names->n, &names->capacity, sizeof *list);

	if (!list)
		return gt_fail_memory(error, "the names of a PTX unit");
	names->list = list;
	names->list[names->n++] = (struct local){token->at, token->n};
	return 0;
}

/* The properties of a declaration outside of all braces, so far. */
struct declaration {
	bool local;  /* of a kind with a name, and without linkage */
	bool linked; /* .visible and so on */
	bool named;
};

/* Kernels keep their names, by which the host asks for them: compilers give those without linkage names of their own. */
static void read_directive(struct declaration *declaration, const struct token *token)
{
	static const char *const kinds[] = {".func", ".global", ".const", ".shared"};
	static const char *const linkages[] = {".visible", ".extern", ".weak", ".common"};

	declaration->linked |= is_one_of(token, linkages, LENGTH(linkages));
	declaration->local |= is_one_of(token, kinds, LENGTH(kinds));
}

/* Collects the local names of a unit: the first word after .func and similar directives that is not a directive, a number,
 * or within parentheses. */
static int find_local(struct names *names, const char *unit, const char *end, struct gt_error *error)
{
	struct token token = {.at = unit};
	struct declaration declaration = {0};
	int braces = 0, parentheses = 0;

	while (next_token(&token, end)) {
		bool outside = braces == 0 && parentheses == 0;
		if (outside && token.word && token.at[0] == '.') {
			read_directive(&declaration, &token);
		} else if (outside && token.word && !isdigit((unsigned char)token.at[0])) {
			if (declaration.local && !declaration.linked && !declaration.named &&
			    add_name(names, &token, error) != 0)
				return -1;
			declaration.named |= declaration.local;
		}
		parentheses += is(&token, "(") - is(&token, ")");
		braces += is(&token, "{") - is(&token, "}");
		if (braces == 0 && parentheses == 0 && (is(&token, "}") || is(&token, ";")))
			declaration = (struct declaration){0};
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct local *left = a, *right = b;
	size_t n = left->n < right->n ? left->n : right->n;
	int order = memcmp(left->at, right->at, n);

	return order ? order : (left->n > right->n) - (left->n < right->n);
}

static int append(struct gt_ptx_text *text, size_t *capacity, const char *data, size_t n, struct gt_error *error)
{
	char *grown = gt_grown_to(text->data, text->bytes + n + 1, capacity, 1);

	if (!grown)
		return gt_fail_memory(error, "a PTX text");
	text->data = grown;
	memcpy(text->data + text->bytes, data, n);
	text->bytes += n;
	text->data[text->bytes] = '\0';
	return 0;
}

/* Copies a unit with its local names made unique, and without the directives that the first unit has. */
static int copy_renamed(struct gt_ptx_text *text, size_t *capacity, const char *unit, const char *end,
			const struct names *names, struct gt_error *error)
{
	static const char *const once[] = {".version", ".target", ".address_size"};
	struct token token = {.at = unit};
	const char *from = unit;
	char suffix[SUFFIX_BYTES];
	size_t suffix_bytes = (size_t)snprintf(suffix, sizeof suffix, GT_PTX_UNIT "%u", text->units);

	while (next_token(&token, end)) {
		const struct local name = {token.at, token.n};
		if (is_one_of(&token, once, LENGTH(once))) {
			const char *line = memchr(token.at, '\n', (size_t)(end - token.at));
			if (append(text, capacity, from, (size_t)(token.at - from), error) != 0)
				return -1;
			from = line ? line : end;
			token = (struct token){.at = from};
		} else if (token.word && names->n > 0 && bsearch(&name, names->list, names->n, sizeof name, compare_names)) {
			if (append(text, capacity, from, (size_t)(token.at + token.n - from), error) != 0 ||
			    append(text, capacity, suffix, suffix_bytes, error) != 0)
				return -1;
			from = token.at + token.n;
		}
	}
	return append(text, capacity, from, (size_t)(end - from), error);
}

int gt_ptx_link(struct gt_ptx_text *text, const char *unit, size_t bytes, struct gt_error *error)
{
	const char *end = unit + bytes;
	struct names names = {0};
	size_t capacity = text->bytes;
	int result = 0;

	text->units++;
	if (text->units == 1) {
		result = append(text, &capacity, unit, bytes, error);
	} else {
		result = find_local(&names, unit, end, error);
		if (names.n > 0)
			qsort(names.list, names.n, sizeof *names.list, compare_names);
		if (result == 0)
			result = copy_renamed(text, &capacity, unit, end, &names, error);
	}
	free(names.list);
	return result == 0 ? append(text, &capacity, "\n", 1, error) : -1;
}
