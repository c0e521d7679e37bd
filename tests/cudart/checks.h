/* SPDX-License-Identifier: MIT */
/* What the tests of libraries' calls have in common: a call that must succeed, and a result that must hold. */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdio.h>
#include <stdlib.h>

static int failures; /* results that did not hold */

static void must(int status, const char *call)
{
	if (status != 0) {
		printf("%s: %d\n", call, status);
		exit(1);
	}
}
#define MUST(CALL) must(CALL, #CALL)

static void check(int holds, const char *what)
{
	if (!holds)
		printf("differs: %s\n", what);
	failures += !holds;
}

#endif
