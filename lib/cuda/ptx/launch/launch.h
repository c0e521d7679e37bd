/* SPDX-License-Identifier: MIT */
/* A launch as users write it (gtrace-ptx(1), "Launches"):
 *
 *     gemm<<<(16,64),(32,8)>>>(A=f32[512*512]:ramp, B=f32[262144]:rand(1), C=f32[262144], 512)
 *
 * The line is parsed first, and then bound to the kernel's parameters and the device's memory. */
#ifndef GT_PTX_LAUNCH_LAUNCH_H
#define GT_PTX_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/exec/texture.h"
#include "cuda/ptx/text/module.h"

#define GT_PTX_LAUNCH_NAME 64		    /* bytes of a buffer's name, with its final 0 */
#define GT_PTX_EXTENT_MAX 131072 /* texels of a row of one dimension, on any GPU */
#define GT_PTX_LAUNCH_SHARED (228 * 1024) /* bytes of shared memory of a block, at most, on any GPU */

/* A number: an integer of up to 64 bits with its sign, or a real number. */
struct gt_ptx_value {
	bool real;
	bool negative; /* integers */
	uint64_t magnitude;
	double number; /* the real number, or the one nearest to the integer */
};

enum gt_ptx_fill { GT_PTX_ZERO, GT_PTX_RAMP, GT_PTX_RAND, GT_PTX_CONSTANT, GT_PTX_FILE };

/* Memory that is allocated for a launch. */
struct gt_ptx_buffer {
	char name[GT_PTX_LAUNCH_NAME]; /* "" if it has none */
	enum gt_ptx_type type;
	uint64_t elements; /* 0: as many as the file has */
	enum gt_ptx_fill fill;
	struct gt_ptx_value values[2]; /* ramp(start, step), rand(seed, below), const(x) */
	bool below;		       /* rand has its second value */
	char *file;		       /* owned */
	uint64_t address;	       /* of the device */
};

enum gt_ptx_argument_kind {
	GT_PTX_ARGUMENT_NUMBER,
	GT_PTX_ARGUMENT_BUFFER, /* a new one */
	GT_PTX_ARGUMENT_NAMED,	/* one made before */
	GT_PTX_ARGUMENT_BYTES,	/* of a struct */
	GT_PTX_ARGUMENT_IMAGE,	/* a new texture or surface object */
};

struct gt_ptx_argument {
	enum gt_ptx_argument_kind kind;
	char name[GT_PTX_LAUNCH_NAME]; /* of a buffer or a number; "" if it has none */
	struct gt_ptx_value value;
	struct gt_ptx_buffer buffer; /* of an image: its texels, row by row */
	struct gt_ptx_texture image;
	unsigned char *bytes; /* owned */
	size_t n_bytes;
	size_t place; /* offset in the line, in bytes */
};

struct gt_ptx_launch_line {
	char *line;   /* as it was given; owned */
	char *kernel; /* owned */
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared; /* bytes */
	uint32_t cluster[3]; /* blocks; 0: not given */
	struct gt_ptx_argument *arguments;
	size_t n;
};

/* Reads a line. Returns 0, or -1 with an error that shows the place. Freed by gt_ptx_launch_line_free in
 * either case. */
int gt_ptx_launch_line_read(struct gt_ptx_launch_line *call, const char *line, struct gt_error *error);
void gt_ptx_launch_line_free(struct gt_ptx_launch_line *call);

/* X, X,Y or X,Y,Z as the shape of a grid or a block, with the limits that launches have. */
int gt_ptx_shape_read(const char *text, bool block, uint32_t *shape, struct gt_error *error);

/* The buffers of all launches. */
struct gt_ptx_buffers {
	struct gt_ptx_buffer *items;
	size_t n, capacity;
};

void gt_ptx_buffers_free(struct gt_ptx_buffers *buffers);
/* The buffer of that name, or NULL. */
const struct gt_ptx_buffer *gt_ptx_buffer_find(const struct gt_ptx_buffers *buffers, const char *name);

/* Writes the bytes of the buffer of that name to a file. */
int gt_ptx_buffer_dump(const struct gt_ptx_buffers *buffers, struct gt_ptx_memory *memory, const char *name,
		       const char *path, struct gt_error *error);

/* Finds the call's kernel, allocates and fills the new buffers, and writes the parameters, which the caller frees. Arguments
 * that do not match the kernel are an error, and so is a block that its .maxntid or .reqntid forbids. */
int gt_ptx_launch_line_bind(struct gt_ptx_launch_line *call, const struct gt_ptx_module *module, struct gt_ptx_buffers *buffers,
		     struct gt_ptx_memory *memory, const struct gt_ptx_function **kernel, unsigned char **parameters,
		     struct gt_error *error);

/* ---- shared by the files of this folder ---- */

/* Reads an expression of + - * / and parentheses at *at and moves past it; names refer to the call's earlier numbers. On
 * error *at is its place. */
int gt_ptx_value_read(const struct gt_ptx_launch_line *call, const char **at, struct gt_ptx_value *value,
		      struct gt_error *error);
/* The bits of a value in a type. -1 if an integer does not fit, or if a real number is given for an integer type. Bit types
 * accept both: a real number becomes a float of their width. */
int gt_ptx_value_bits(const struct gt_ptx_value *value, enum gt_ptx_type type, uint64_t *bits, struct gt_error *error);

#endif
