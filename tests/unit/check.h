/* SPDX-License-Identifier: MIT */
/* A minimal unit test framework. A program is a list of RUNs; each is one test, reported in TAP, and the exit status tells
 * whether all passed. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_runs, check_failed_runs, check_failures;

#define CHECK(CONDITION)                                                                          \
	do {                                                                                       \
		if (!(CONDITION)) {                                                                \
			check_failures++;                                                          \
			printf("# %s:%d: %s does not hold\n", __FILE__, __LINE__, #CONDITION);     \
		}                                                                                  \
	} while (0)

#define CHECK_EQUAL(LEFT, RIGHT)                                                                  \
	do {                                                                                       \
		intmax_t check_left = (intmax_t)(LEFT), check_right = (intmax_t)(RIGHT);           \
		if (check_left != check_right) {                                                   \
			check_failures++;                                                          \
			printf("# %s:%d: %s is %" PRIdMAX ", expected %s, %" PRIdMAX "\n", __FILE__,      \
			       __LINE__, #LEFT, check_left, #RIGHT, check_right);                  \
		}                                                                                  \
	} while (0)

#define CHECK_TEXT(LEFT, RIGHT)                                                                   \
	do {                                                                                       \
		const char *check_left = (LEFT), *check_right = (RIGHT);                           \
		if (strcmp(check_left, check_right) != 0) {                                        \
			check_failures++;                                                          \
			printf("# %s:%d: %s is \"%s\", expected \"%s\"\n", __FILE__, __LINE__,     \
			       #LEFT, check_left, check_right);                                    \
		}                                                                                  \
	} while (0)

#define RUN(TEST)                                                                                 \
	do {                                                                                       \
		check_failures = 0;                                                                \
		TEST();                                                                            \
		check_runs++;                                                                      \
		check_failed_runs += check_failures > 0;                                           \
		printf("%sok %d %s\n", check_failures ? "not " : "", check_runs, #TEST);           \
		fflush(stdout);                                                                    \
	} while (0)

/* The cases of a test that tries many: `whole` of them in `make check-long` (tests/run --whole), else `part`. */
static inline unsigned check_cases(unsigned part, unsigned whole)
{
	const char *wanted = getenv("WHOLE");

	return wanted && *wanted ? whole : part;
}

static inline int check_report(void)
{
	printf("1..%d\n", check_runs);
	return check_failed_runs > 0;
}

#endif
