/* SPDX-License-Identifier: MIT */
#include "coalesce/degrees.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grown.h"
#include "base/utf8.h"
#include "stream/hint.h"
#include "stream/op.h"

/* The parts of a key, from the lowest bit. */
enum { SIZE_AT = 0, OP_AT = 8, PC_AT = 16, KERNEL_AT = 48 };
#define KERNELS_MAX UINT16_MAX /* so that no key is GT_MAP_EMPTY */

static uint64_t key_of(uint64_t kernel, const struct gt_rows *rows, size_t i)
{
	return kernel << KERNEL_AT | (uint64_t)rows->pc[i] << PC_AT | (uint64_t)rows->op[i] << OP_AT | rows->size[i];
}

static uint8_t op_of(uint64_t key)
{
	return (uint8_t)(key >> OP_AT);
}

int gt_degrees_open(struct gt_degrees *degrees, struct gt_error *error)
{
	*degrees = (struct gt_degrees){0};
	if (gt_map_open(&degrees->index, 64, error) == 0 && gt_names_open(&degrees->kernels, error) == 0)
		return 0;
	gt_degrees_close(degrees);
	return -1;
}

void gt_degrees_close(struct gt_degrees *degrees)
{
	free(degrees->instructions);
	gt_map_close(&degrees->index);
	gt_names_close(&degrees->kernels);
	*degrees = (struct gt_degrees){0};
}

/* The instruction of a key, made if it is new; NULL when memory is short. */
static struct gt_degrees_instruction *instruction_of(struct gt_degrees *degrees, uint64_t key)
{
	int fresh;
	uint64_t *place = gt_map_put(&degrees->index, key, degrees->n, &fresh);
	struct gt_degrees_instruction *more;

	if (!place || !fresh)
		return place ? &degrees->instructions[*place] : NULL;
	more = gt_grown_to(degrees->instructions, degrees->n + 1, &degrees->capacity, sizeof *more);
	if (!more)
		return NULL;
	degrees->instructions = more;
	more[degrees->n] = (struct gt_degrees_instruction){.key = key};
	return &more[degrees->n++];
}

int gt_degrees_begin(struct gt_degrees *degrees, const char *kernel, struct gt_error *error)
{
	if (gt_names_number(&degrees->kernels, kernel, &degrees->kernel, error) != 0)
		return -1;
	return degrees->kernel < KERNELS_MAX ? 0 : gt_fail(error, "expected at most %u kernels of different names", KERNELS_MAX);
}

/* Adds the run to the other accesses, and ends it. */
static void end_run(struct gt_degrees_instruction *instruction)
{
	gt_degree_join(&instruction->degree, &instruction->run.once, instruction->run.times);
	instruction->run = (struct gt_degrees_run){.mask = 0};
}

static void add_access(struct gt_degrees_instruction *instruction, const struct gt_rows *rows, size_t i)
{
	const uint32_t offset = (uint32_t)(rows->base[i] % GT_SECTOR), mask = rows->mask[i];
	struct gt_degrees_run *run = &instruction->run;
	uint64_t addresses[GT_WARP_SIZE];

	if (!gt_rows_one_stride(rows, i)) {
		gt_degree_add(&instruction->degree, addresses, gt_rows_addresses(rows, i, addresses), rows->size[i]);
		return;
	}
	if (run->stride != rows->stride[i] || run->mask != mask || run->offset != offset) {
		end_run(instruction);
		*run = (struct gt_degrees_run){.stride = rows->stride[i], .mask = mask, .offset = offset};
		gt_degree_add(&run->once, addresses, gt_rows_addresses(rows, i, addresses), rows->size[i]);
	}
	run->times++;
}

int gt_degrees_add(struct gt_degrees *degrees, const struct gt_rows *rows, struct gt_error *error)
{
	if (rows->kind == GT_REQUESTS)
		return gt_fail(error, "requests have no addresses of lanes: expected accesses, as before gcoalesce");
	for (size_t i = 0; i < rows->n; i++) {
		struct gt_degrees_instruction *instruction;

		if (gt_op_space(rows->op[i]) == GT_SHARED || gt_hint_action(gt_rows_hint(rows, i)) != GT_ACCESS_DATA)
			continue;
		instruction = instruction_of(degrees, key_of(degrees->kernel, rows, i));
		if (!instruction)
			return gt_fail_memory(error, "degrees of coalescing");
		add_access(instruction, rows, i);
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = ((const struct gt_degrees_instruction *)a)->key, y = ((const struct gt_degrees_instruction *)b)->key;

	return (x > y) - (x < y);
}

static void write_counts(const struct gt_degree *degree, FILE *to)
{
	fprintf(to, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", degree->accesses, degree->lanes, degree->in_range);
}

static void write_instruction(const struct gt_degrees_instruction *instruction, const char *kernel, bool graph, FILE *to)
{
	uint64_t key = instruction->key;
	char op[GT_OP_TEXT];

	fprintf(to, "%s\t0x%" PRIx32 "\t%s\t%u", kernel, (uint32_t)(key >> PC_AT), gt_op_format(op_of(key), op),
		(unsigned)(uint8_t)(key >> SIZE_AT));
	gt_degree_write(&instruction->degree, to);
	write_counts(&instruction->degree, to);
	if (graph)
		gt_degree_write_graph(&instruction->degree, to);
}

/* The loads of global memory of a kernel together. */
struct loads {
	struct gt_degree_mean mean;
	struct gt_degree sum;
};

static void add_load(struct loads *loads, const struct gt_degrees_instruction *instruction)
{
	uint8_t op = op_of(instruction->key);

	if (gt_op_action(op) != GT_LOAD || gt_op_space(op) != GT_GLOBAL)
		return;
	gt_degree_mean_add(&loads->mean, &instruction->degree);
	gt_degree_join(&loads->sum, &instruction->degree, 1);
}

static void write_loads(const struct loads *loads, const char *kernel, bool graph, FILE *to)
{
	if (loads->mean.n == 0)
		return;
	fprintf(to, "%s\tall\tload.global\t-", kernel);
	gt_degree_mean_write(&loads->mean, to);
	write_counts(&loads->sum, to);
	if (graph)
		gt_degree_mean_write_graph(&loads->mean, to);
}

void gt_degrees_write(struct gt_degrees *degrees, bool graph, FILE *to)
{
	fputs("#kernel\tpc\top\tbytes\tdegree\trange_sectors\texpected\tsectors\taccesses\tlanes\tin_range\n", to);
	if (degrees->n > 0)
		qsort(degrees->instructions, degrees->n, sizeof *degrees->instructions, by_key);
	for (size_t i = 0; i < degrees->n;) {
		uint64_t number = degrees->instructions[i].key >> KERNEL_AT;
		const char *kernel = gt_utf8_printable(degrees->kernels.names[number]);
		struct loads loads = {0};

		for (; i < degrees->n && degrees->instructions[i].key >> KERNEL_AT == number; i++) {
			end_run(&degrees->instructions[i]);
			write_instruction(&degrees->instructions[i], kernel, graph, to);
			add_load(&loads, &degrees->instructions[i]);
		}
		write_loads(&loads, kernel, graph, to);
	}
}
