/* SPDX-License-Identifier: MIT */
/* Names within a body. Inner braces open scopes; their declarations become NAME#N, which no text can contain, so that a
 * function has one flat list of variables and labels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/text/parse.h"

static uint64_t key_of(const char *name)
{
	return (uint64_t)(uintptr_t)name;
}

int gt_ptx_scope_open(struct gt_ptx_parser *parser)
{
	struct gt_ptx_scope *scope = &parser->scopes[parser->depth];

	if (parser->depth == GT_PTX_DEPTH)
		return gt_ptx_wrong(parser, "braces nested deeper than %d", GT_PTX_DEPTH);
	*scope = (struct gt_ptx_scope){.number = parser->n_scopes++, .first_instruction = parser->instructions.n,
				       .first_targets = parser->targets.n};
	if (gt_map_open(&scope->names, 0, parser->error) != 0)
		return -1;
	parser->depth++;
	return 0;
}

static char *unique_name(struct gt_ptx_parser *parser, const char *name, unsigned number, bool numbered)
{
	size_t room = strlen(name) + 16;
	char *text = malloc(room), *stored = NULL;

	if (!text) {
		gt_fail_memory(parser->error, "a PTX module");
		return NULL;
	}
	int length = snprintf(text, room, "%s#%u%s", name, number, numbered ? "#" : "");
	stored = gt_ptx_arena_name(parser->module->arena, text, (size_t)length, parser->error);
	free(text);
	return stored;
}

int gt_ptx_declare(struct gt_ptx_parser *parser, char **name, enum gt_ptx_space space, uint64_t count, bool label)
{
	struct gt_ptx_scope *scope = &parser->scopes[parser->depth - 1];
	struct gt_ptx_meaning *meaning;
	int fresh = 0;
	uint64_t *index = gt_map_put(&scope->names, key_of(*name), parser->meanings.n, &fresh);

	if (!index)
		return gt_fail_memory(parser->error, "a PTX module");
	if (!fresh)
		return gt_ptx_wrong(parser, "'%.100s' is declared twice", *name);
	if (parser->depth > 1)
		*name = unique_name(parser, *name, scope->number, count > 0);
	if (!*name || !(meaning = gt_ptx_push(parser, &parser->meanings, sizeof *meaning)))
		return -1;
	*meaning = (struct gt_ptx_meaning){*name, space, label, count};
	scope->numbered |= count > 0;
	scope->labelled |= label;
	return 0;
}

static const struct gt_ptx_meaning *look_up(const struct gt_ptx_parser *parser, const struct gt_ptx_scope *scope,
					    const char *name)
{
	const uint64_t *index = gt_map_get(&scope->names, key_of(name));

	return index ? (const struct gt_ptx_meaning *)parser->meanings.items + *index : NULL;
}

/* For register %t12, the declaration of numbered registers %t or %t1 in this scope, and where the number begins in the
 * name. */
static const struct gt_ptx_meaning *look_up_numbered(const struct gt_ptx_parser *parser,
						     const struct gt_ptx_scope *scope, const char *name,
						     const char **number)
{
	size_t length = strlen(name);

	for (size_t digits = 1; digits <= 8 && digits < length; digits++) {
		const char *at = name + length - digits;
		if (*at < '0' || *at > '9')
			return NULL;
		if (*at == '0' && digits > 1)
			continue;
		const char *base = gt_ptx_arena_known(parser->module->arena, name, (size_t)(at - name));
		const struct gt_ptx_meaning *meaning = base ? look_up(parser, scope, base) : NULL;
		*number = at;
		if (meaning && meaning->count > strtoull(at, NULL, 10))
			return meaning;
	}
	return NULL;
}

/* The name of one of several numbered registers that were renamed. */
static char *numbered_name(struct gt_ptx_parser *parser, const char *base, const char *number)
{
	size_t length = strlen(base), digits = strlen(number);
	char *text = malloc(length + digits + 1), *stored;

	if (!text) {
		gt_fail_memory(parser->error, "a PTX module");
		return NULL;
	}
	memcpy(text, base, length);
	memcpy(text + length, number, digits + 1);
	stored = gt_ptx_arena_name(parser->module->arena, text, length + digits, parser->error);
	free(text);
	return stored;
}

int gt_ptx_resolve(struct gt_ptx_parser *parser, char **name)
{
	for (size_t i = parser->depth; i-- > 0;) {
		const struct gt_ptx_scope *scope = &parser->scopes[i];
		const struct gt_ptx_meaning *meaning = look_up(parser, scope, *name);
		const char *number;
		if (meaning && meaning->label)
			return GT_PTX_GENERIC;
		if (meaning && meaning->count == 0) {
			*name = meaning->name;
			return (int)meaning->space;
		}
		meaning = scope->numbered ? look_up_numbered(parser, scope, *name, &number) : NULL;
		if (meaning && i > 0)
			*name = numbered_name(parser, meaning->name, number);
		if (meaning)
			return *name ? (int)meaning->space : -1;
	}
	return GT_PTX_GENERIC;
}

static void rename_labels(const struct gt_ptx_parser *parser, const struct gt_ptx_scope *scope,
			  struct gt_ptx_operand *operands, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct gt_ptx_meaning *meaning =
			operands[i].kind == GT_PTX_SYMBOL ? look_up(parser, scope, operands[i].name) : NULL;
		if (meaning && meaning->label)
			operands[i].name = meaning->name;
	}
}

/* Labels may be used before their definition, so the names of an inner scope's labels are replaced when it closes. */
int gt_ptx_scope_close(struct gt_ptx_parser *parser)
{
	struct gt_ptx_scope *scope = &parser->scopes[--parser->depth];
	struct gt_ptx_instruction *instructions = parser->instructions.items;
	struct gt_ptx_targets *targets = parser->targets.items;

	if (parser->depth > 0 && scope->labelled) {
		for (size_t i = scope->first_instruction; i < parser->instructions.n; i++)
			rename_labels(parser, scope, instructions[i].operands, instructions[i].n_operands);
		for (size_t i = scope->first_targets; i < parser->targets.n; i++)
			rename_labels(parser, scope, targets[i].labels.elements, targets[i].labels.n_elements);
	}
	gt_map_close(&scope->names);
	return 0;
}
