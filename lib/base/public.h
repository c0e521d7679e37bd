/* SPDX-License-Identifier: MIT */
/* Public headers, those that gtrace.h reaches, stand between these two: what they declare is exported by
 * libgtrace.so and has C linkage in C++. No other header does, and none of the rest is installed. */
#ifndef GT_BASE_PUBLIC_H
#define GT_BASE_PUBLIC_H

#ifdef __cplusplus
#define GT_PUBLIC_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define GT_PUBLIC_END } _Pragma("GCC visibility pop")
#else
#define GT_PUBLIC_BEGIN _Pragma("GCC visibility push(default)")
#define GT_PUBLIC_END _Pragma("GCC visibility pop")
#endif

#endif
