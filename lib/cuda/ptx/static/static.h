/* SPDX-License-Identifier: MIT */
/* Static analysis of a kernel's global accesses [003]: the address of each as an expression of thread and block indices,
 * parameters and constants, found by following registers back through the PTX; and from it the degree of coalescing. */
#ifndef GT_PTX_STATIC_STATIC_H
#define GT_PTX_STATIC_STATIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cuda/ptx/launch/launch.h"
#include "cuda/ptx/text/module.h"
#include "stream/degree.h"

#define GT_STATIC_SECTOR 32 /* bytes */
#define GT_STATIC_SIZE	 (INT64_C(1) << 20) /* value taken for an integer parameter that is not known */

struct gt_static;

/* Follows every global load, store, atomic, reduction and copy of the kernel, which must outlive the
 * result. NULL when memory is short. */
struct gt_static *gt_static_open(const struct gt_ptx_function *kernel, struct gt_error *error);
void gt_static_close(struct gt_static *analysis);

/* The accesses, in the order of the text. */
size_t gt_static_accesses(const struct gt_static *analysis);

/* What is known of a launch. */
struct gt_static_launch {
	uint32_t grid[3], block[3];
	const unsigned char *parameters; /* as gt_ptx_launch has them; NULL: none is known */
	const char *const *names; /* of the parameters; NULL, or NULL among them: param0, ... */
};

/* What a degree is based on. */
enum gt_static_basis {
	GT_STATIC_EXACT, /* nothing but indices, constants and known parameters */
	GT_STATIC_ASSUMED, /* a parameter was taken for GT_STATIC_SIZE, or one of several paths chosen */
	GT_STATIC_LOADED, /* depends on loaded data: there is no degree */
	GT_STATIC_UNKNOWN, /* the address cannot be followed: there is no degree */
};

/* The degree of an access, over its warps and the alignments that loops run through. */
struct gt_static_degree {
	enum gt_static_basis basis;
	struct gt_degree sums;
};

/* The degree of one access. Every thread of the grid counts, as in [003] eq. (1); of a large grid,
 * the first warps. */
void gt_static_measure(const struct gt_static *analysis, size_t access, const struct gt_static_launch *launch,
		       struct gt_static_degree *degree);

/* The folded expression of the address, without a newline. */
void gt_static_write_expression(const struct gt_static *analysis, size_t access,
				const struct gt_static_launch *launch, FILE *to);

/* What is written of a kernel: a line for each access and one for its loads together, with the degree; the same with coalescing graphs
 * and syntax trees; or how much each access moves, and one line for loads and one for stores. */
enum gt_static_output { GT_STATIC_DEGREES, GT_STATIC_TREES, GT_STATIC_VOLUMES };
struct gt_static_choice {
	const char *name; /* of the kernel, as it is to be shown */
	enum gt_static_output output;
};
void gt_static_write_header(enum gt_static_output output, FILE *to);
/* The kernel of a call that is bound: parameters by the names and values they have there. */
int gt_static_write_call(const struct gt_ptx_module *module, const struct gt_ptx_function *kernel,
			 const struct gt_ptx_launch_line *call, const unsigned char *parameters, enum gt_static_output output, FILE *to,
			 struct gt_error *error);
/* Every kernel of a module, all in this shape. */
int gt_static_write_module(const struct gt_ptx_module *module, const struct gt_static_launch *shape, enum gt_static_output output,
			   FILE *to, struct gt_error *error);

#endif
