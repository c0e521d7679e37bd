/* SPDX-License-Identifier: MIT */
/* For programs that check their own results: what does not hold is printed after FAIL, and the last line is PASS or FAIL. */
#ifndef TESTS_CUDA_EXPECT_H
#define TESTS_CUDA_EXPECT_H

#include <stdio.h>

static int failures;

#define CHECK(CONDITION)                                                                           \
	do {                                                                                       \
		if (!(CONDITION)) {                                                                \
			printf("FAIL line %d: %s\n", __LINE__, #CONDITION);                        \
			failures++;                                                                \
		}                                                                                  \
	} while (0)

/* The exit status. */
static int verdict(void)
{
	printf("%s\n", failures ? "FAIL" : "PASS");
	return failures != 0;
}

#endif
