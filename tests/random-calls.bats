#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Random calls of CUDA's API by a program of ctypes, held to the plain models of random_calls; more of them are in long/random-calls.bats.

load helpers

setup_file() { prepare_preload; }

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "random copies and fills move the bytes that they name, or none" { random_calls 1 30 copies; }

@test "random fetches from textures give what CUDA's guide says" { random_calls 1 40 fetches; }

@test "random graphs within graphs, changed and updated, do what their nodes do in order" { random_calls 1 30 graphs; }

@test "random calls of cuBLAS give what their sums do, and read and write nothing else" { random_calls 2 150 products; }

@test "random factorizations of cuBLAS, multiplied, are the matrix, and solutions solve" { random_calls 1 60 factors; }

@test "random products by cublasLtMatmul, with scales and epilogues, are what its documentation says" { random_calls 1 100 matmuls; }

@test "random transforms of cuFFT are the sums that define them" { random_calls 1 60 transforms; }
