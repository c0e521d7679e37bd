/* SPDX-License-Identifier: MIT */
/* What the stand-ins of libraries without PTX use of the runtime, which is a library of its own beside them. Their calls are
 * done at once, on the host. */
#ifndef GT_CUDART_STUB_H
#define GT_CUDART_STUB_H

#include <stdbool.h>
#include <stdint.h>

#define GT_STUB_API __attribute__((visibility("default")))

/* Begins a call whose work is not traced: counts it with its flops, 0 if they are not counted, and names it once. False if it cannot be
 * done, which is said: its stream is captured. The caller has the runtime for itself until gt_stub_end(). */
GT_STUB_API bool gt_stub_begin(const char *call, void *stream, uint64_t flops);
GT_STUB_API void gt_stub_end(void);
/* Where n elements of some bytes each, of device memory or of host memory that the device knows, lie in this process; written: they
 * will be. Ends the process if they are not all in one allocation. */
GT_STUB_API void *gt_stub_at(const char *call, const void *pointer, uint64_t n, uint64_t each, bool written);
/* Names, once, a call that the stand-in has not. After it the stream gets no end. */
GT_STUB_API void gt_stub_refuse(const char *call);

#endif
