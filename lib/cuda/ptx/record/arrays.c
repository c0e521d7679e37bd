/* SPDX-License-Identifier: MIT */
#include "cuda/ptx/record/arrays.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/ptx/exec/shared.h"
#include "stream/arrays.h"

/* The arrays of a count, of which there are at most as many as were asked for. */
struct list {
	uint64_t *addresses, *bytes;
	char *names, *end; /* separated by commas */
	size_t n;
};

static int open_list(struct list *list, size_t most, struct gt_error *error)
{
	*list = (struct list){.addresses = malloc(most * sizeof *list->addresses), .bytes = malloc(most * sizeof *list->bytes),
			      .names = malloc(most * GT_PTX_VARIABLE_NAME)};
	list->end = list->names;
	return list->addresses && list->bytes && list->names ? 0 : gt_fail_memory(error, "allocations");
}

/* A comma inside a name becomes a dot. */
static void add(struct list *list, uint64_t address, uint64_t bytes, const char *name)
{
	list->addresses[list->n] = address;
	list->bytes[list->n] = bytes;
	if (list->n++ > 0)
		*list->end++ = ',';
	for (; *name; name++)
		*list->end++ = *name == ',' ? '.' : *name;
	*list->end = '\0';
}

/* Writes the list as a count, if there are any arrays. */
static int write_list(struct gt_writer *writer, const char *stage, uint64_t kernel, const struct list *list, struct gt_error *error)
{
	struct gt_count count;

	if (list->n == 0)
		return 0;
	gt_count_begin(&count, stage, kernel);
	int failed = gt_count_array(&count, "addresses", list->addresses, list->n, error) != 0 ||
		     gt_count_array(&count, "bytes", list->bytes, list->n, error) != 0 ||
		     gt_count_text(&count, "names", list->names, error) != 0 || gt_write_count(writer, &count, error) != 0;
	gt_count_clear(&count);
	return failed ? -1 : 0;
}

static void close_list(struct list *list)
{
	free(list->addresses);
	free(list->bytes);
	free(list->names);
}

int gt_ptx_count_allocations(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_memory *memory, struct gt_error *error)
{
	struct list list;

	if (memory->n == 0)
		return 0;
	int result = open_list(&list, memory->n, error);
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); result == 0 && one; one = gt_ptx_live(one->after))
		add(&list, one->address, one->bytes, one->name);
	if (result == 0)
		result = write_list(writer, GT_ARRAYS_STAGE, kernel, &list, error);
	close_list(&list);
	return result;
}

int gt_ptx_count_shared(struct gt_writer *writer, uint64_t kernel, const struct gt_ptx_program *program, uint64_t dynamic,
			struct gt_error *error)
{
	struct gt_ptx_shared_array array;
	struct list list;

	if (program->n_shared == 0)
		return 0;
	int result = open_list(&list, program->n_shared, error);
	for (size_t i = 0; result == 0 && i < program->n_shared; i++)
		if (gt_ptx_find_shared(program, i, dynamic, &array))
			add(&list, array.at, array.bytes, array.name);
	if (result == 0)
		result = write_list(writer, GT_SHARED_ARRAYS_STAGE, kernel, &list, error);
	close_list(&list);
	return result;
}
