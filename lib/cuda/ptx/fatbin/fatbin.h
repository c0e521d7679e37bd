/* SPDX-License-Identifier: MIT */
/* Fat binaries: the device code that nvcc puts into a program, in several forms. A container is a header and entries, each a
 * PTX text or a cubin, compressed or not:
 *
 *     u32 0xba55ed50  u16 version  u16 header bytes  u64 bytes of the entries
 *     u16 kind  u16 version  u32 header bytes  u64 payload bytes  u32 compressed bytes  u32
 *     u16 minor  u16 major  u32 architecture  u32 name offset  u32 name bytes  u64 flags  u64
 *     u64 bytes when unpacked, and more up to the header's size; then the payload
 *
 * clang may put plain PTX text instead of a container. */
#ifndef GT_PTX_FATBIN_FATBIN_H
#define GT_PTX_FATBIN_FATBIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "gpu/gpu.h"

#define GT_FATBIN_UNPACKED_MAX (UINT64_C(1) << 30) /* bytes an entry may unpack to */

enum gt_fatbin_kind { GT_FATBIN_PTX = 1, GT_FATBIN_ELF = 2 };

struct gt_fatbin_entry {
	unsigned kind;		      /* enum gt_fatbin_kind; others exist */
	unsigned major, minor;	      /* version of the PTX */
	struct gt_gpu_target target;
	uint64_t flags;		      /* how it is compressed */
	const unsigned char *payload; /* within the container */
	uint64_t payload_bytes;	      /* compressed or not */
	uint64_t unpacked_bytes;
};

struct gt_fatbin {
	const unsigned char *data;
	size_t bytes, at; /* of the container; where the next entry begins */
	int plain;	  /* not a container but PTX text */
};

/* Opens the container at `data`, which has at most `available` readable bytes. */
int gt_fatbin_open(struct gt_fatbin *fatbin, const void *data, size_t available, struct gt_error *error);

/* The next entry: 1, 0 after the last, or -1 if the container is damaged. */
int gt_fatbin_next(struct gt_fatbin *fatbin, struct gt_fatbin_entry *entry, struct gt_error *error);

/* The PTX that a driver would choose for a GPU: of what the GPU runs that for the highest capability, then for the fewest GPUs, then of
 * the highest version. If it runs none, that for the lowest capability: nvcc -arch=sm_90a puts PTX for all later GPUs beside the one that is
 * meant, with empty kernels where they need what only 9.0 has. Returns 1, 0 if there is no PTX, or -1. */
int gt_fatbin_choose_ptx(const struct gt_fatbin *fatbin, unsigned capability, struct gt_fatbin_entry *entry, struct gt_error *error);
/* The machine code for a capability, else for the highest one. Returns the same. */
int gt_fatbin_choose_code(const struct gt_fatbin *fatbin, unsigned capability, struct gt_fatbin_entry *entry, struct gt_error *error);

/* Unpacks an entry into new memory, which the caller frees, and appends a 0. PTX ends before its first 0. NULL on error. */
char *gt_fatbin_unpack(const struct gt_fatbin_entry *entry, size_t *bytes, struct gt_error *error);

/* The properties of a kernel in a cubin, the ELF file that ptxas makes. */
struct gt_cubin_kernel {
	uint32_t registers;    /* per thread */
	uint32_t shared_bytes; /* static, per block */
	uint32_t local_bytes;  /* per thread */
	bool says_local;       /* else these are 0 */
};

/* Looks a kernel up by its mangled name: its registers and local memory from .nv.info (attributes 0x2f and 0x11), else the registers from
 * the section of its code. Returns 1, 0 if the cubin has no such kernel, or -1 if it is damaged. */
int gt_cubin_find(const void *cubin, size_t bytes, const char *name, struct gt_cubin_kernel *kernel,
		    struct gt_error *error);

#endif
