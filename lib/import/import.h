/* SPDX-License-Identifier: MIT */
/* Trace formats: one file each, and a table. An importer reads text and reports launches and
 * accesses in the order of the file; folding and ordering are lib/order's. */
#ifndef GT_IMPORT_IMPORT_H
#define GT_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/kernel.h"
#include "stream/rows.h"
#include "stream/trace.h"

struct gt_importer {
	const char *name;    /* --format NAME */
	const char *summary; /* one line for --help */
	/* True if the first bytes look like this format. NULL: never detected. */
	bool (*detect)(const char *head, size_t bytes);
	/* Reads one file to its end. */
	int (*read)(struct gt_input *input, struct gt_trace *to, struct gt_error *error);
	/* For formats of many files: true if this path (a folder, a file's name) is of this kind ... */
	bool (*owns_path)(const char *path);
	/* ... and reads all of them together. Both NULL for formats of one file. */
	int (*read_paths)(char *const paths[], size_t n, struct gt_trace *to, struct gt_error *error);
};

/* A trace format described by a regular expression with named groups (gtrace-order(1)). */
struct gt_pattern;
struct gt_pattern *gt_pattern_open(const char *regex, struct gt_error *error);
void gt_pattern_close(struct gt_pattern *pattern);
/* As an importer's read(). */
int gt_pattern_read(struct gt_pattern *pattern, struct gt_input *input, struct gt_trace *to,
		    struct gt_error *error);

/* In the order in which they are tried. */
extern const struct gt_importer *const gt_importers[];
extern const size_t gt_importers_n;

/* The importer of that name, or NULL. */
const struct gt_importer *gt_importer_find(const char *name);
/* The importer whose format these first bytes are, or NULL. */
const struct gt_importer *gt_importer_detect(const char *head, size_t bytes);

/* The importer that reads all of these paths together, or NULL: the one `forced`, if it can, else
 * the one that owns any of them. */
const struct gt_importer *gt_importer_of_paths(const struct gt_importer *forced, char *const paths[],
					       size_t n);

/* A launch for accesses that no launch line announces: id GT_KERNEL_NEXT, named after the file. */
void gt_implicit_kernel(struct gt_kernel *kernel, const struct gt_input *input);

/* Reports an access of one lane and any number of bytes, in pieces of GT_ACCESS_SIZE_MAX. */
int gt_trace_span(struct gt_trace *to, struct gt_trace_access *access, uint64_t bytes, struct gt_error *error);
/* Reports rows of a stream, which must be accesses. */
int gt_trace_rows(struct gt_trace *to, const struct gt_rows *rows, struct gt_error *error);

/* Reports accesses of the one thread that a trace of a CPU program has: launch "name of the file",
 * one block, thread 0. */
int gt_cpu_launch(struct gt_trace *to, const struct gt_input *input, struct gt_error *error);
int gt_cpu_access(struct gt_trace *to, uint8_t op, uint64_t address, uint64_t bytes, uint64_t pc,
		  struct gt_error *error);

/* For detect(): copies the next line of the head, cut to `size` - 1 bytes, and moves the head
 * past it. False at the end. */
bool gt_head_line(const char **head, size_t *bytes, char *line, size_t size);

/* Bytes per lane from a SASS opcode, such as 8 for "LDG.E.64.SYS" by NVBit's names: the
 * width suffix, else 4. */
uint8_t gt_sass_size(const char *opcode, size_t length);
/* The hint of a SASS opcode (stream/hint.h), of its suffixes EF, EL, EU, NA, LTC64B and so on, and of
 * CCTL.PF1, PF2, DML2 and RML2. */
uint16_t gt_sass_hint(const char *opcode, size_t length);
/* The op byte from a SASS opcode: LDG, STG, LDL, STL, LDS, STS, ATOM*, RED*, LDGSTS, TEX, LDC and
 * so on. Returns 0, or -1 if it is no memory instruction. */
int gt_sass_op(const char *opcode, size_t length, uint8_t *op);

#endif
