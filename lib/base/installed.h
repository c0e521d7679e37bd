/* SPDX-License-Identifier: MIT */
/* What `make` was told about this build: its version and the folders it is installed in. A source file of
 * their own holds them, so that only it is recompiled when they change. */
#ifndef GT_BASE_INSTALLED_H
#define GT_BASE_INSTALLED_H

extern const char gt_version[];	/* "0.1.0" */
extern const char gt_datadir[]; /* with the folder gpus; "/usr/local/share/gtrace" */
extern const char gt_libdir[];	/* with the CUDA runtime of gtrace-record; "/usr/local/lib/gtrace" */

#endif
