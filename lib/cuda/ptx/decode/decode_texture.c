/* SPDX-License-Identifier: MIT */
/* Fetches from textures, accesses to surfaces, and what is asked of both. Their handles are those of
 * objects, in registers; references, which are variables of the module, are refused. */
#include <string.h>

#include "cuda/ptx/decode/decoder.h"
#include "cuda/ptx/exec/texture.h"
#include "cuda/ptx/exec/warp.h"

static const struct gt_ptx_geometry geometries[] = {
	{"1d", 1, false, false, 1}, {"2d", 2, false, false, 2}, {"3d", 3, false, false, 3}, {"a1d", 1, true, false, 1},
	{"a2d", 2, true, false, 2}, {"cube", 2, false, true, 3}, {"acube", 2, true, true, 3},
};

#define LENGTH(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

static const struct gt_ptx_geometry *geometry_named(const char *name)
{
	for (size_t i = 0; i < LENGTH(geometries); i++)
		if (strcmp(geometries[i].name, name) == 0)
			return &geometries[i];
	return NULL;
}

static int place_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

/* The handle, from [handle, {...}] or [handle]. Returns 0; 1 if it was refused; or -1. */
static int read_handle(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, struct gt_ptx_fetch *fetch)
{
	struct gt_ptx_operand reg = *operand;

	if (operand->kind != GT_PTX_ADDRESS || !operand->name || operand->offset != 0)
		return gt_fail(decoder->error, "PTX line %u: a texture or surface in brackets expected",
			       decoder->instruction->line);
	if (!gt_ptx_register_named(&decoder->registers, operand->name))
		return gt_ptx_refuse(decoder, "of a texture or surface reference is not supported, only of objects") == 0 ? 1 : -1;
	reg.kind = GT_PTX_REGISTER;
	reg.elements = NULL;
	reg.n_elements = 0;
	fetch->handle = gt_ptx_source(decoder, &reg, GT_PTX_U64);
	return fetch->handle ? 0 : -1;
}

/* The handle and the coordinates, from [handle, {layer, x, y, z}]. Returns 0; 1 if it was refused; or -1. */
static int read_place(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operand, struct gt_ptx_fetch *fetch)
{
	const struct gt_ptx_geometry *geometry = fetch->geometry;
	int result = read_handle(decoder, operand, fetch);

	if (result != 0)
		return result;
	if (operand->n_elements != 1)
		return gt_ptx_refuse(decoder, "with a sampler of its own is not supported") == 0 ? 1 : -1;
	const struct gt_ptx_operand *first = &operand->elements[0];
	size_t n = first->kind == GT_PTX_VECTOR ? first->n_elements : 1;
	if (first->kind == GT_PTX_VECTOR)
		first = first->elements;
	if (n < geometry->coordinates + (size_t)geometry->layered)
		return gt_fail(decoder->error, "PTX line %u: '%s' needs more coordinates", decoder->instruction->line,
			       decoder->instruction->opcode);
	if (geometry->layered && !(fetch->layer = gt_ptx_source(decoder, first++, GT_PTX_U32)))
		return -1;
	for (size_t i = 0; i < geometry->coordinates; i++)
		if (!(fetch->coordinates[i] = gt_ptx_source(decoder, &first[i], fetch->texels ? GT_PTX_S32 : GT_PTX_F32)))
			return -1;
	return 0;
}

static int emit_fetch(struct gt_ptx_decoder *decoder, const struct gt_ptx_fetch *fetch, gt_ptx_step *run)
{
	struct gt_ptx_op *op = gt_ptx_emit(decoder, run);

	if (op)
		op->with.fetch = fetch;
	return op ? 0 : -1;
}

/* What tex and tld4 say: false if something else is said too. */
static bool read_texture_words(struct gt_ptx_decoder *decoder, struct gt_ptx_fetch *fetch, enum gt_ptx_type types[2],
			       size_t *levels)
{
	static const char *const levels_named[] = {"base", "level", "grad"}, *const channels[] = {"r", "g", "b", "a"};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool gathers = instruction->row == GT_PTX_OP_TLD4, vector = false;
	size_t n = 0;

	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		enum gt_ptx_type type = gt_ptx_type_named(word, strlen(word));
		int level = place_of(word, levels_named, LENGTH(levels_named));
		int channel = place_of(word, channels, LENGTH(channels));
		if (type != GT_PTX_NO_TYPE && n < 2)
			types[n++] = type;
		else if (level >= 0 && !gathers)
			*levels = (size_t)level;
		else if (channel >= 0 && gathers)
			fetch->gather = (uint8_t)channel;
		else if (geometry_named(word))
			fetch->geometry = geometry_named(word);
		else if (strcmp(word, "v4") == 0)
			vector = true;
		else
			return false;
	}
	return n == 2 && vector && fetch->geometry && gathers == (fetch->gather != GT_PTX_NO_GATHER);
}

/* The level, or the gradients by x and by y. Returns 0; 1 if it was refused; or -1. */
static int read_levels(struct gt_ptx_decoder *decoder, const struct gt_ptx_operand *operands, size_t n, struct gt_ptx_fetch *fetch)
{
	if (n == 1)
		return (fetch->level = gt_ptx_source(decoder, operands, fetch->texels ? GT_PTX_S32 : GT_PTX_F32)) ? 0 : -1;
	if (n == 2 && (fetch->texels || fetch->geometry->cube))
		return gt_ptx_refuse(decoder, "is not known in this form") == 0 ? 1 : -1;
	for (size_t by = 0; by < n; by++) {
		bool vector = operands[by].kind == GT_PTX_VECTOR;
		const struct gt_ptx_operand *components = vector ? operands[by].elements : &operands[by];
		if ((vector ? operands[by].n_elements : 1) < fetch->geometry->dimensions)
			return gt_fail(decoder->error, "PTX line %u: '%s' needs more gradients", decoder->instruction->line,
				       decoder->instruction->opcode);
		for (size_t d = 0; d < fetch->geometry->dimensions; d++)
			if (!(fetch->gradients[by][d] = gt_ptx_source(decoder, &components[d], GT_PTX_F32)))
				return -1;
	}
	return 0;
}

/* tex(.base|.level|.grad).GEOMETRY.v4.TYPE.TYPE {a, b, c, d}(|p), [texture, {coordinates}](, level or gradients); all
 * texels are resident.
 * tld4.CHANNEL.GEOMETRY.v4.TYPE.f32 {a, b, c, d}, [texture, {coordinates}]. */
static int decode_tex(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	const struct gt_ptx_operand *values = instruction->operands;
	size_t results = gt_ptx_results(instruction), levels = 0;
	enum gt_ptx_type types[2] = {GT_PTX_NO_TYPE, GT_PTX_NO_TYPE};
	struct gt_ptx_fetch *fetch = gt_ptx_own(decoder, sizeof *fetch);

	if (!fetch)
		return -1;
	fetch->gather = GT_PTX_NO_GATHER;
	if (!read_texture_words(decoder, fetch, types, &levels) ||
	    (types[0] != GT_PTX_U32 && types[0] != GT_PTX_S32 && types[0] != GT_PTX_F32) ||
	    (types[1] != GT_PTX_S32 && types[1] != GT_PTX_F32) || instruction->n_operands != results + 1 + levels ||
	    values[0].n_elements != 4 || (fetch->gather != GT_PTX_NO_GATHER && fetch->geometry->dimensions != 2) ||
	    (types[1] == GT_PTX_S32 && (fetch->geometry->cube || fetch->gather != GT_PTX_NO_GATHER)))
		return gt_ptx_refuse(decoder, "is not known in this form");
	fetch->texels = types[1] == GT_PTX_S32;
	int result = read_place(decoder, &instruction->operands[results], fetch);
	if (result == 0)
		result = read_levels(decoder, &instruction->operands[results + 1], levels, fetch);
	if (result != 0)
		return result > 0 ? 0 : -1;
	for (size_t i = 0; i < 4; i++) {
		struct gt_ptx_result one = {0};
		if (values[0].elements[i].kind != GT_PTX_SINK &&
		    gt_ptx_result_slot(decoder, &values[0].elements[i], GT_PTX_B32, &one) != 0)
			return -1;
		fetch->values[i] = one.slot;
	}
	struct gt_ptx_result resident = {0};
	if (results == 2 && gt_ptx_result_slot(decoder, &values[1], GT_PTX_PRED, &resident) != 0)
		return -1;
	fetch->resident = resident.slot;
	return emit_fetch(decoder, fetch, gt_ptx_texture_steps.fetch);
}

/* What suld and sust say: false if something else is said too. */
static bool read_surface_words(struct gt_ptx_decoder *decoder, struct gt_ptx_fetch *fetch, enum gt_ptx_type *type)
{
	static const char *const beyond[] = {"trap", "clamp", "zero"}, *const vectors[] = {"v2", "v4"};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool bytes = false;

	fetch->n = 1;
	for (size_t i = 0; i < instruction->n_modifiers; i++) {
		const char *word = instruction->modifiers[i];
		int end = place_of(word, beyond, LENGTH(beyond)), vector = place_of(word, vectors, LENGTH(vectors));
		if (gt_ptx_type_named(word, strlen(word)) != GT_PTX_NO_TYPE)
			*type = gt_ptx_type_named(word, strlen(word));
		else if (end >= 0)
			fetch->beyond = (enum gt_ptx_beyond)end;
		else if (vector >= 0)
			fetch->n = vector == 0 ? 2 : 4;
		else if (geometry_named(word))
			fetch->geometry = geometry_named(word);
		else if (strcmp(word, "b") == 0)
			bytes = true;
		else
			return false;
	}
	fetch->size = (uint8_t)gt_ptx_type_size(*type);
	return bytes && fetch->geometry && !fetch->geometry->cube && fetch->size > 0 && fetch->size * fetch->n <= 16;
}

/* suld.b.GEOMETRY(.vN).TYPE.BEYOND {a, ...}, [surface, {coordinates}], and sust.b with the operands the other way
 * round; x counts bytes. */
static int decode_surface(struct gt_ptx_decoder *decoder)
{
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	bool loads = instruction->row == GT_PTX_OP_SULD;
	const struct gt_ptx_operand *values = &instruction->operands[loads ? 0 : 1];
	struct gt_ptx_result results[4] = {{0}};
	enum gt_ptx_type type = GT_PTX_NO_TYPE;
	struct gt_ptx_fetch *fetch = gt_ptx_own(decoder, sizeof *fetch);

	if (!fetch)
		return -1;
	fetch->texels = true;
	if (!read_surface_words(decoder, fetch, &type) || instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	size_t n = values->kind == GT_PTX_VECTOR ? values->n_elements : 1;
	values = values->kind == GT_PTX_VECTOR ? values->elements : values;
	if (n != fetch->n)
		return gt_ptx_refuse(decoder, "is not known in this form");
	int result = read_place(decoder, &instruction->operands[loads ? 1 : 0], fetch);
	if (result != 0)
		return result > 0 ? 0 : -1;
	for (size_t i = 0; i < n; i++) {
		if (loads && gt_ptx_result_slot(decoder, &values[i], type, &results[i]) != 0)
			return -1;
		fetch->values[i] = loads ? results[i].slot : gt_ptx_source(decoder, &values[i], type);
		if (!fetch->values[i])
			return -1;
	}
	if (emit_fetch(decoder, fetch, loads ? gt_ptx_texture_steps.load_surface : gt_ptx_texture_steps.store_surface) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (gt_ptx_finish_result(decoder, &results[i]) != 0)
			return -1;
	return 0;
}

/* txq.FIGURE.b32 d, [texture]; suq.FIGURE.b32 d, [surface]. */
static int decode_image_query(struct gt_ptx_decoder *decoder)
{
	static const char *const figures[GT_PTX_FIGURES] = {
		[GT_PTX_FIGURE_WIDTH] = "width",
		[GT_PTX_FIGURE_HEIGHT] = "height",
		[GT_PTX_FIGURE_DEPTH] = "depth",
		[GT_PTX_FIGURE_LAYERS] = "array_size",
	};
	const struct gt_ptx_instruction *instruction = decoder->instruction;
	struct gt_ptx_result result = {0};
	struct gt_ptx_fetch *fetch = gt_ptx_own(decoder, sizeof *fetch);

	if (!fetch)
		return -1;
	int figure = instruction->n_modifiers == 2 ? place_of(instruction->modifiers[0], figures, GT_PTX_FIGURES) : -1;
	if (figure < 0 || strcmp(instruction->modifiers[1], "b32") != 0 || instruction->n_operands != 2)
		return gt_ptx_refuse(decoder, "is not known in this form");
	fetch->figure = (enum gt_ptx_image_figure)figure;
	int read = read_handle(decoder, &instruction->operands[1], fetch);
	if (read != 0)
		return read > 0 ? 0 : -1;
	if (gt_ptx_result_slot(decoder, &instruction->operands[0], GT_PTX_B32, &result) != 0)
		return -1;
	fetch->values[0] = result.slot;
	if (emit_fetch(decoder, fetch, gt_ptx_texture_steps.query) != 0)
		return -1;
	return gt_ptx_finish_result(decoder, &result);
}

gt_ptx_decode_one *const gt_ptx_decode_texture[GT_PTX_OP_COUNT] = {
	[GT_PTX_OP_SULD] = decode_surface,
	[GT_PTX_OP_SUQ] = decode_image_query,
	[GT_PTX_OP_SUST] = decode_surface,
	[GT_PTX_OP_TEX] = decode_tex,
	[GT_PTX_OP_TLD4] = decode_tex,
	[GT_PTX_OP_TXQ] = decode_image_query,
};
