/* SPDX-License-Identifier: MIT */
/* Everything of libgtrace: streams and rows, and the models that take and give them. */
#ifndef GTRACE_H
#define GTRACE_H

#include "base/error.h"
#include "base/options.h"
#include "stream/op.h"
#include "stream/rows.h"
#include "stream/status.h"
#include "stream/kernel.h"
#include "stream/count.h"
#include "gpu/gpu.h"
#include "stream/stream.h"
#include "stream/trace.h"
#include "order/order.h"
#include "coalesce/coalesce.h"
#include "schedule/schedule.h"
#include "cache/level.h"
#include "dram/dram.h"
#include "reuse/reuse.h"

#endif
