/* SPDX-License-Identifier: MIT */
/* Loops that gain from wide vectors are compiled once for each of several machines; the program takes the widest that its
 * own machine has when it starts. Nothing else depends on the machine, and results do not.
 *
 *	GT_WIDE static void add(uint32_t *sums, const uint32_t *terms, size_t n);
 *
 * The function is static, since clang does not find the clones of others from another file. */
#ifndef GT_BASE_WIDE_H
#define GT_BASE_WIDE_H

/* The choice is made before ThreadSanitizer is ready for it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GT_NARROW
#endif
#endif
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__) && !defined(GT_NARROW)
#ifdef __clang__ /* whose choice between levels of the architecture takes the default, where gcc's takes the widest */
#define GT_WIDE __attribute__((target_clones("avx512bw", "avx2", "default")))
#else
#define GT_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define GT_WIDE
#endif
#undef GT_NARROW

/* A function of an inner loop that is compiled for several shapes of what it works on. Or one that only prefetches: gcc takes it for one
 * without an effect, and drops calls that it has not inlined before. */
#define GT_INLINE static inline __attribute__((always_inline))

#endif
