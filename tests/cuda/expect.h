/* SPDX-License-Identifier: MIT */
/* For programs that check their own results: what does not hold is printed after FAIL, and the last line is PASS or FAIL. */
#ifndef TESTS_CUDA_EXPECT_H
#define TESTS_CUDA_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

static int failures;

/* The first 20 failures are printed. */
static inline void expect(int holds, const char *what, int line)
{
	if (!holds && failures++ < 20)
		printf("FAIL line %d: %s\n", line, what);
}

#define CHECK(CONDITION) expect(CONDITION, #CONDITION, __LINE__)
#define SUCCEEDS(CALL) CHECK((CALL) == cudaSuccess)

/* A call without which nothing that follows means anything. */
#define MUST(CALL)                                                                                                \
	do {                                                                                                      \
		cudaError_t error = CALL;                                                                         \
		if (error != cudaSuccess) {                                                                       \
			printf("FAIL line %d: %s: %s\n", __LINE__, #CALL, cudaGetErrorString(error));             \
			exit(1);                                                                                  \
		}                                                                                                 \
	} while (0)

/* The exit status. */
static inline int verdict(void)
{
	printf("%s\n", failures ? "FAIL" : "PASS");
	return failures != 0;
}

#endif
