/* SPDX-License-Identifier: MIT */
/* What the targets share. A target is a function that takes any bytes: libFuzzer calls it (make fuzz), or
 * tests/fuzz/replay.c with the files of the corpus (make check). It must neither crash nor leak, and an error must
 * have one line of text. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/input.h"
#include "stream/records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The bytes as a file of this process, which is one at a time: its path, or NULL for those that would start a
 * decompressor. */
const char *target_file(const uint8_t *data, size_t bytes);
/* The same, opened. NULL: see target_file. */
struct gt_input *target_input(const uint8_t *data, size_t bytes);
/* The same, of a file whose name ends in `suffix`; one suffix a program. */
struct gt_input *target_named_input(const uint8_t *data, size_t bytes, const char *suffix);
/* The bytes as text, up to the first 0; freed by the caller. */
char *target_text(const uint8_t *data, size_t bytes);

/* Ends the program unless an error has one line of text, and success none. */
void target_check(int result, const struct gt_error *error);

/* Reads a stream to its end, and holds it against the invariants. */
int target_read_stream(const char *path, struct gt_error *error);

/* A file that swallows what is written. */
FILE *target_nowhere(void);

#endif
