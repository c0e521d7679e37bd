/* SPDX-License-Identifier: MIT */
/* Names of kernels, mangled or not, in the words of their source. */
#ifndef GT_STREAM_KERNEL_NAME_H
#define GT_STREAM_KERNEL_NAME_H

#include <stddef.h>

#include "stream/kernel.h" /* GT_KERNEL_NAME */

/* A mangled name in the words of its source, with its namespaces and the arguments of its template: "one::sum<float*, 128>". Of another name, and where it
 * has what no kernel is likely to have, such as expressions, the name itself. Returns `text` or `name`. */
const char *gt_name_words(const char *name, char text[GT_KERNEL_NAME]);

/* What profilers, compilers and traces agree on of a name, mangled or demangled: no return type, namespaces, arguments of a template or parameters.
 * Returns its beginning in `name`, and its length. */
const char *gt_name_plain(const char *name, size_t *length);

/* The next part of a mangled name, "<length><identifier>": its beginning and its length. NULL: there is none. */
const char *gt_name_part(const char *at, size_t *length);

#endif
