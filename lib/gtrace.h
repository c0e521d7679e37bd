/* SPDX-License-Identifier: MIT */
/* Everything of libgtrace: streams and rows, and the models that take and give them. */
#ifndef GTRACE_H
#define GTRACE_H

#include "base/error.h"
#include "base/options.h"
#include "stream/op.h"
#include "stream/rows.h"
#include "stream/kernel.h"
#include "stream/count.h"
#include "stream/gpu.h"
#include "stream/stream.h"

#endif
