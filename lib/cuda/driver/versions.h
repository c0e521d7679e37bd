/* SPDX-License-Identifier: MIT */
/* Since which version of CUDA a call has its present form. */
#ifndef GT_CUDART_DRIVER_VERSIONS_H
#define GT_CUDART_DRIVER_VERSIONS_H

#include <stddef.h>

struct gt_driver_version {
	const char *name; /* as it is exported: "cuMemAlloc_v2" */
	int version;	  /* 1000 * major + 10 * minor */
};
/* Variants of one call stand in the order of their versions. */
extern const struct gt_driver_version gt_driver_versions[];
extern const size_t gt_driver_versions_n;

#endif
