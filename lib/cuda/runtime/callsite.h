/* SPDX-License-Identifier: MIT */
/* Where the program calls the runtime, by its debug information. */
#ifndef GT_CUDART_CALLSITE_H
#define GT_CUDART_CALLSITE_H

#include <stdbool.h>
#include <stddef.h>

#define GT_CALLSITE_TEXT 32 /* bytes of a name, with its final 0 */

/* Names what the present call makes: by the variable that its first argument names, if the source can be read, and the file
 * and line of the call, "d_in my.cu:38"; else with the call's own name, "cudaMalloc my.cu:38". A site that calls again gets
 * "d_in my.cu:38 #2". False if the program has no debug information there. */
bool gt_callsite_name(const char *call, char name[GT_CALLSITE_TEXT]);

#endif
