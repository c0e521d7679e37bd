/* SPDX-License-Identifier: MIT */
#include "base/installed.h"

const char gt_version[] = GT_VERSION;
const char gt_datadir[] = GT_DATADIR;
const char gt_libdir[] = GT_LIBDIR;
