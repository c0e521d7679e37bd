/* SPDX-License-Identifier: MIT */
/* Which libraries use the driver by themselves. */
#ifndef GT_CUDART_ASKERS_H
#define GT_CUDART_ASKERS_H

/* A call of the driver returns to this code. */
void gt_cudart_driver_called_from(void *code);
/* The file name of the first library with kernels of its own that called the driver, or NULL. */
const char *gt_cudart_driver_caller(void);

#endif
