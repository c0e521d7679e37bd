/* SPDX-License-Identifier: MIT */
/* Matrices that lie in the registers of a warp: which element a lane's register holds. The layouts are
 * those of the PTX ISA, "Matrix Fragments for mma". A fragment of wmma, whose layout the ISA leaves open,
 * has that of the mma instructions that its product consists of: blocks of 16 x 8 and their multiplicands,
 * from left to right. */
#ifndef GT_PTX_MATRIX_H
#define GT_PTX_MATRIX_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda/ptx/exec/lanes.h"
#include "cuda/ptx/exec/numbers.h"

#define GT_PTX_FRAGMENT_REGISTERS 8

/* What a matrix is in D = A B + C. C: D too. */
enum gt_ptx_role { GT_PTX_MATRIX_A, GT_PTX_MATRIX_B, GT_PTX_MATRIX_C };

struct gt_ptx_shape {
	uint16_t m, n, k;
	bool quads; /* mma.m8n8k4 of f16: four products, each of 8 lanes */
};

struct gt_ptx_fragment {
	enum gt_ptx_element element;
	uint16_t rows, columns; /* in units: an element, or 32 of one bit. Matrices of quads lie one below the other */
	uint8_t n;		/* registers a lane */
	uint8_t distinct;	/* those that hold the matrix; further ones hold the same again */
	uint8_t units;		/* of a register */
	uint16_t step;		/* from unit to unit of a register, in the matrix row by row */
	/* But for quads, the four lanes of a group hold a run of a line in each register: of a row of A or C, of a column of B. The
	 * run of the next group is in the next line. */
	bool by_columns; /* lines are columns */
	bool paired;	 /* each two registers share runs: one has the even units, the next one the odd ones */
	uint16_t line;	 /* bytes */
	struct {
		uint16_t line, at; /* of the first group's run: the line, and how many bytes in */
	} runs[GT_PTX_FRAGMENT_REGISTERS];
	uint32_t slots[GT_PTX_FRAGMENT_REGISTERS];
	/* Where in the matrix, row by row, the first unit of each lane's register lies. */
	uint16_t at[GT_PTX_FRAGMENT_REGISTERS][GT_WARP_SIZE];
};

/* Bits of an element in a register, and in memory. */
unsigned gt_ptx_element_bits(enum gt_ptx_element element);
/* "f16" and so on; GT_PTX_NO_ELEMENT if the word names none. */
enum gt_ptx_element gt_ptx_element_named(const char *word);

/* Lays out a matrix of a product: all but the slots. n: the registers that the instruction names, a multiple of
 * those that are needed: further ones hold the same again. by_columns: the layout written for A or B, which
 * only quads need. Returns false if there can be no such fragment. */
bool gt_ptx_fragment_lay_out(struct gt_ptx_fragment *fragment, enum gt_ptx_role role, struct gt_ptx_shape shape,
			     enum gt_ptx_element element, unsigned n, bool by_columns);

/* Copies registers to the matrix and back: the bits of a unit in each word. */
void gt_ptx_fragment_gather(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, uint64_t *bits);
void gt_ptx_fragment_scatter(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
			     const uint64_t *bits);

/* ---- runs ---- */

/* Copies a fragment that is laid out in runs between registers and the lines of its matrix. */

#define GT_PTX_LINES_MAX 1024 /* bytes: 32 x 16 elements of 16 bits, or 16 x 16 of 32 */
#define GT_PTX_GROUPS (GT_WARP_SIZE / GT_PTX_THREADS)
#define GT_PTX_THREADS 4 /* lanes of a group */

/* Two registers that share runs, and back. Words move in pairs, which compilers make vectors of. */
GT_INLINE void gt_ptx_join32(const uint32_t *even, const uint32_t *odd, unsigned char *to, size_t pitch)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, to += pitch) {
		uint64_t pairs[GT_PTX_THREADS];
		for (unsigned i = 0; i < GT_PTX_THREADS; i++)
			pairs[i] = even[lane + i] | (uint64_t)odd[lane + i] << 32;
		memcpy(to, pairs, sizeof pairs);
	}
}

GT_INLINE void gt_ptx_part32(const unsigned char *from, size_t pitch, uint32_t *even, uint32_t *odd)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, from += pitch) {
		uint64_t pairs[GT_PTX_THREADS];
		memcpy(pairs, from, sizeof pairs);
		for (unsigned i = 0; i < GT_PTX_THREADS; i++) {
			even[lane + i] = (uint32_t)pairs[i];
			odd[lane + i] = (uint32_t)(pairs[i] >> 32);
		}
	}
}

typedef uint64_t gt_ptx_half_line __attribute__((vector_size(4 * sizeof(uint64_t))));
typedef uint64_t gt_ptx_whole_line __attribute__((vector_size(8 * sizeof(uint64_t))));

GT_INLINE void gt_ptx_join64(const uint64_t *even, const uint64_t *odd, unsigned char *to, size_t pitch)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, to += pitch) {
		gt_ptx_half_line x, y;
		memcpy(&x, even + lane, sizeof x);
		memcpy(&y, odd + lane, sizeof y);
		const gt_ptx_whole_line line = __builtin_shufflevector(x, y, 0, 4, 1, 5, 2, 6, 3, 7);
		memcpy(to, &line, sizeof line);
	}
}

GT_INLINE void gt_ptx_part64(const unsigned char *from, size_t pitch, uint64_t *even, uint64_t *odd)
{
	for (unsigned lane = 0; lane < GT_WARP_SIZE; lane += GT_PTX_THREADS, from += pitch) {
		gt_ptx_whole_line line;
		memcpy(&line, from, sizeof line);
		const gt_ptx_half_line x = __builtin_shufflevector(line, line, 0, 2, 4, 6), y = __builtin_shufflevector(line, line, 1, 3, 5, 7);
		memcpy(even + lane, &x, sizeof x);
		memcpy(odd + lane, &y, sizeof y);
	}
}

/* pitch: bytes from line to line; wide: the registers have 64 bits a lane. */
GT_INLINE void gt_ptx_read_wide_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
				     unsigned char *lines, size_t pitch, const bool wide)
{
	const size_t run = GT_PTX_THREADS * (wide ? sizeof(uint64_t) : sizeof(uint32_t));

	for (unsigned r = 0; r < fragment->distinct; r += fragment->paired ? 2 : 1) {
		const unsigned char *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		unsigned char *to = lines + fragment->runs[r].line * pitch + fragment->runs[r].at;
		if (fragment->paired && wide)
			gt_ptx_join64((const void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]), to, pitch);
		else if (fragment->paired)
			gt_ptx_join32((const void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]), to, pitch);
		else
			for (unsigned group = 0; group < GT_PTX_GROUPS; group++)
				memcpy(to + group * pitch, lanes + group * run, run);
	}
}

GT_INLINE void gt_ptx_write_wide_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp,
				      const unsigned char *lines, size_t pitch, const bool wide)
{
	const size_t run = GT_PTX_THREADS * (wide ? sizeof(uint64_t) : sizeof(uint32_t));

	for (unsigned r = 0; r < fragment->n; r += fragment->paired ? 2 : 1) {
		unsigned char *lanes = gt_ptx_lanes(warp, fragment->slots[r]);
		const unsigned char *from = lines + fragment->runs[r].line * pitch + fragment->runs[r].at;
		if (fragment->paired && wide)
			gt_ptx_part64(from, pitch, (void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]));
		else if (fragment->paired)
			gt_ptx_part32(from, pitch, (void *)lanes, gt_ptx_lanes(warp, fragment->slots[r + 1]));
		else
			for (unsigned group = 0; group < GT_PTX_GROUPS; group++)
				memcpy(lanes + group * run, from + group * pitch, run);
	}
}

/* Registers to lines, and back. */
GT_INLINE void gt_ptx_read_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, unsigned char *lines,
				size_t pitch)
{
	if (fragment->element == GT_PTX_ELEMENT_F64)
		gt_ptx_read_wide_runs(fragment, warp, lines, pitch, true);
	else
		gt_ptx_read_wide_runs(fragment, warp, lines, pitch, false);
}

GT_INLINE void gt_ptx_write_runs(const struct gt_ptx_fragment *fragment, const struct gt_ptx_warp *warp, const unsigned char *lines,
				 size_t pitch)
{
	if (fragment->element == GT_PTX_ELEMENT_F64)
		gt_ptx_write_wide_runs(fragment, warp, lines, pitch, true);
	else
		gt_ptx_write_wide_runs(fragment, warp, lines, pitch, false);
}

/* ---- products ---- */

/* Sums of products of matrices, in double precision. */

/* d += a b: rows x depth times depth x columns; rows and columns are multiples of 8, the depth is one of 4. a and d lie row by row, b
 * column by column. Each sum is made from k = 0 on, with one rounding a product. */
typedef void gt_ptx_multiplier(unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b, double *d);

/* The one for this processor. */
gt_ptx_multiplier *gt_ptx_multiply(void);

/* How a GPU sums products of floats that are no doubles, which the PTX ISA leaves open; an H100 as was found from its results, of which one
 * of 640,000 differs, and GPUs before it as Khattak and Mikaitis found (Accurate Models of NVIDIA Tensor Cores, 2025) and, a T4, Fasi et al.
 * (Numerical Behavior of NVIDIA Tensor Cores, 2021). C and the products, which are exact, are aligned at the greatest exponent among them,
 * where a product's is the sum of its factors', and are cut to so many bits of fraction. Their sum is exact, and cut to the bits that D keeps
 * (a D of f16: rounded). A GPU before the H100 does so with some successive elements along K, then adds the next to that. */
struct gt_ptx_sums {
	int16_t least[2];	/* the exponent of subnormal elements of A, and of B */
	uint8_t fraction, kept; /* 0: sums are exact */
	uint8_t at_once;	/* products along K; 0: all of them */
	bool twice;  /* bytes: the first two of each four along K, then the others to that; C is added at the end, and rounded */
	bool halves; /* D is of f16 */
};
/* By the GPU's compute capability; 0: as an H100. */
struct gt_ptx_sums gt_ptx_sums_of(enum gt_ptx_element a, enum gt_ptx_element b, enum gt_ptx_element d, bool of_warpgroup, unsigned capability);
/* As a gt_ptx_multiplier, by such sums. */
void gt_ptx_multiply_cut(const struct gt_ptx_sums *sums, unsigned rows, unsigned columns, unsigned depth, const double *a, const double *b,
			 double *d);

/* Products of matrices in registers: D = A B + C.
 *
 * Of integers and of bits D is exact; it wraps around at 32 bits, or is cut to the range of s32 (.satfinite): the sum
 * of all products and C is, once. Products of f64 are fused, from k = 0 on. Where an H100 has no such product of floats,
 * they are added to C in double precision, and the sum is rounded once to the type of D. */

/* Scales of mma: so many successive elements along K have one, of a sparse A as it is stored; 0: there are none. A word of 4 bytes has those of a row of A, in lanes 4 i
 * + 2 thread for row i, and the next one for row i + 8; or of a column i of B, in lane 4 i + thread. The first is this byte of it. */
struct gt_ptx_scales {
	uint8_t scaled;
	bool powers; /* of 2, else e4m3 */
	struct {
		uint32_t words, byte, thread; /* slots; the latter two are the same in all lanes, of 16 bits */
	} of[2];
};

struct gt_ptx_product {
	gt_ptx_multiplier *multiply;
	struct gt_ptx_sums sums;
	struct gt_ptx_shape shape;
	struct gt_ptx_fragment a, b, c, d;
	bool saturates; /* integers */
	bool differs;	/* bits: those that differ are counted (.xor); else those that both have (.and) */
	struct gt_ptx_scales scales;
};

/* Where A is sparse, half of each group of elements of a row are stored, and metadata say which: 4 bits a group. */
#define GT_PTX_SPARSE_ROWS 16
#define GT_PTX_SPARSE_GROUPS 16
struct gt_ptx_sparsity {
	enum gt_ptx_element element;
	uint8_t bits[GT_PTX_SPARSE_ROWS][GT_PTX_SPARSE_GROUPS];
};
/* Elements of a group. */
static inline unsigned gt_ptx_group_of(enum gt_ptx_element element)
{
	return element == GT_PTX_ELEMENT_TF32 ? 2 : gt_ptx_element_bits(element) == 4 ? 8 : 4;
}
/* Metadata that lanes have, of each four from `first` on. */
void gt_ptx_read_metadata(struct gt_ptx_sparsity *sparsity, const uint32_t *lanes, unsigned first);
/* d += a b for 16 rows, of which as many elements are stored. a, b and d lie row by row. */
void gt_ptx_multiply_sparse(const struct gt_ptx_sparsity *sparsity, const struct gt_ptx_sums *sums, unsigned stored, unsigned columns,
			    const double *a, const double *b, double *d);
/* Lanes of each four that hold the metadata of a sparse A. */
unsigned gt_ptx_metadata_lanes(struct gt_ptx_shape shape, enum gt_ptx_element element);

/* ---- instructions of a warp ---- */

/* Instructions that a whole warp does together on matrices: ldmatrix, stmatrix, movmatrix, mma, wmma. */

/* wmma.load and wmma.store: a fragment, and where its matrix lies. */
struct gt_ptx_tile {
	struct gt_ptx_access access; /* of pieces: its address slot gets the addresses, 64 bits each */
	struct gt_ptx_access base;   /* address and offset of the first element, the same in all lanes */
	uint32_t stride;	     /* slot: elements from one line to the next */
	struct gt_ptx_fragment fragment;
	bool by_columns; /* a line is a column, else a row */
};

/* The lines of a tile in memory, and the pieces in which they are accessed. */
struct gt_ptx_lines {
	uint64_t address, pitch; /* of the first; bytes from line to line */
	unsigned n, bytes;	 /* of a line */
	unsigned unit;		 /* bits */
	unsigned piece;		 /* bytes */
};
/* Those of a tile whose first element is at this address; its stride counts elements. */
void gt_ptx_tile_lines(const struct gt_ptx_tile *tile, uint64_t address, uint64_t stride, struct gt_ptx_lines *lines);
/* How far piece i lies from the first one, in memory; in the lines one behind the other: *packed. */
static inline uint64_t gt_ptx_piece_at(const struct gt_ptx_lines *lines, unsigned i, unsigned *packed)
{
	const unsigned line = i % lines->n, at = i / lines->n * lines->piece;

	*packed = line * lines->bytes + at;
	return line * lines->pitch + at;
}

/* False after a fault: not all 32 lanes of the warp are here. */
bool gt_ptx_whole_warp(struct gt_ptx_warp *warp, const struct gt_ptx_op *op, uint32_t mask);

/* ldmatrix, stmatrix: op->with.access has the address slot, and `n` registers; op->choice: 4, 6: bits of elements that become bytes;
 * GT_PTX_TURNED: .trans; GT_PTX_TURNED_BYTES: the same of bytes, with 4 or 6 beside it. movmatrix: op->d becomes op->a with rows and
 * columns exchanged. */
#define GT_PTX_TURNED	    1
#define GT_PTX_TURNED_BYTES 8
extern const struct gt_ptx_matrix_steps {
	gt_ptx_step *load, *store, *transpose;
} gt_ptx_matrix_steps;
/* wmma.load, wmma.store: op->with.access is that of a struct gt_ptx_tile. */
gt_ptx_step *gt_ptx_tile_step(bool stores);
/* mma, wmma.mma: op->with.product, for which this is the step. */
gt_ptx_step *gt_ptx_product_step(const struct gt_ptx_product *product);
/* mma.sp: op->with.product, whose A has half the columns; op->a: metadata; op->choice: the first lane of each four that has
 * some. */
gt_ptx_step gt_ptx_sparse_product;

/* ---- wgmma ---- */

/* wgmma: products of matrices by four warps, whose multiplicands lie in shared memory, as descriptors say; A may be in
 * registers. Each warp makes 16 of the 64 rows. */

#define GT_PTX_WGMMA_COLUMNS 256
#define GT_PTX_WGMMA_RESULTS 128 /* registers of D: 16 x 256 elements of 32 bits, over 32 lanes */

struct gt_ptx_wgmma {
	struct gt_ptx_access access; /* of pieces of 16 bytes in shared memory: its address slot is temporary */
	gt_ptx_multiplier *multiply;
	struct gt_ptx_sums sums;
	uint16_t columns, depth; /* depth in elements, or words of 32 bits */
	enum gt_ptx_element a_element, b_element, d_element;
	bool a_in_registers, a_transposed, b_transposed; /* transposed: successive elements lie along M, or N */
	bool a_negative, b_negative, saturates;
	struct gt_ptx_fragment a; /* if it is in registers */
	uint32_t a_descriptor, b_descriptor; /* slots */
	uint32_t adds; /* slot of the predicate: D is added to */
	uint16_t n;    /* registers of D */
	uint32_t d[GT_PTX_WGMMA_RESULTS];
	bool sparse;   /* A is */
	uint8_t first; /* lane of each four that has metadata */
	uint32_t metadata; /* slot */
};

/* wgmma.mma_async: op->with.access is that of a struct gt_ptx_wgmma. wgmma.wait_group: the four warps wait for each
 * other, so that none overwrites what another has still to read. */
gt_ptx_step *gt_ptx_wgmma_step(void);
gt_ptx_step gt_ptx_wgmma_wait;
/* A warp has ended: others may have waited for it. */
void gt_ptx_wgmma_left(struct gt_ptx_warp *warp);

/* ---- tcgen05 ---- */

/* Tensor memory: each block has 128 lanes of 512 columns of 32 bits. An address has the lane in its upper 16 bits and the column in its
 * lower 16. Columns are allocated in units of 32, and zeroed then. Two blocks can work on one product, a pair: those of ranks 2 i and
 * 2 i + 1 of a cluster. */

#define GT_PTX_TENSOR_LANES   128
#define GT_PTX_TENSOR_COLUMNS 512
#define GT_PTX_TENSOR_UNIT    32

/* The shapes of tcgen05.ld and tcgen05.st: 16 lanes, or 32, of so many bits. */
enum gt_ptx_tensor_shape { GT_PTX_32X32B, GT_PTX_16X64B, GT_PTX_16X128B, GT_PTX_16X256B, GT_PTX_16X32BX2, GT_PTX_TENSOR_SHAPES };

/* An address in tensor memory: a slot, and what is added to it. */
struct gt_ptx_tensor_address {
	uint32_t slot;
	int64_t offset;
};

/* tcgen05.ld, tcgen05.st */
struct gt_ptx_tensor_move {
	struct gt_ptx_tensor_address address;
	enum gt_ptx_tensor_shape shape;
	uint16_t n;	/* registers */
	uint16_t columns; /* that it reaches */
	uint32_t half;	/* of 16x32bx2: columns from the first half to the second */
	bool packed;	/* a register has the lower halves of two columns */
	uint32_t slots[GT_PTX_TENSOR_LANES];
};

/* From GT_PTX_KIND_MXF8F6F4 on elements have scales. */
enum gt_ptx_tensor_kind {
	GT_PTX_KIND_F16,
	GT_PTX_KIND_TF32,
	GT_PTX_KIND_F8F6F4,
	GT_PTX_KIND_I8,
	GT_PTX_KIND_MXF8F6F4,
	GT_PTX_KIND_MXF4,
	GT_PTX_KIND_MXF4NVF4,
	GT_PTX_TENSOR_KINDS
};

/* tcgen05.mma */
struct gt_ptx_tensor_product {
	struct gt_ptx_access access; /* of pieces of 16 bytes in shared memory: its address slot is temporary */
	gt_ptx_multiplier *multiply;
	enum gt_ptx_tensor_kind kind;
	bool pair, a_in_tensor, sparse;
	bool keeps_b; /* .ws: D has the lanes of tensor memory with few rows, too */
	struct gt_ptx_tensor_address d, a, metadata; /* a: if it is in tensor memory; metadata: if A is sparse */
	uint32_t a_descriptor, b_descriptor, form, adds; /* slots; form: the instruction descriptor */
	uint32_t disabled[2 * GT_PTX_TENSOR_LANES / GT_WARP_SIZE]; /* slots of bits of lanes that are not written; 0: none */
	uint8_t scale; /* D is divided by 2 to the power of it before */
	/* A scale is a byte in tensor memory, of so many successive elements along K, of a sparse A as it is stored; 0: there are none. Row r of A, or column r of B, has
	 * its scales in lane r % 32, and in column r / 32 from the address on. */
	uint8_t scaled;
	struct gt_ptx_tensor_address a_scales, b_scales;
};

/* tcgen05.cp: lines of a matrix in shared memory, 32 of which go to 32 lanes */
struct gt_ptx_tensor_copy {
	struct gt_ptx_access access; /* as of a product */
	bool pair;
	struct gt_ptx_tensor_address d;
	uint32_t descriptor;	   /* slot */
	uint8_t lines, pieces;	   /* pieces of 16 bytes of a line */
	uint8_t next;		   /* lanes from 32 lines to the next 32 */
	uint8_t times, apart;	   /* so often a line is there, so many lanes apart */
};

/* op->with.access: of alloc, where the address goes, op->a: columns; of a product and of copy, that of its struct. free: op->a:
 * address, op->b: columns. op->with.move: load and store. */
extern const struct gt_ptx_tensor_steps {
	gt_ptx_step *alloc, *free, *load, *store, *copy;
} gt_ptx_tensor_steps;
gt_ptx_step *gt_ptx_tensor_product_step(void);

#endif
