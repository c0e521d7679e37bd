# SPDX-License-Identifier: MIT
# Random calls of CUDA's API, held to the plain models of random_calls: some three minutes.

load ../helpers

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "110,000 random copies and fills" { random_calls long 5000 copies; }

@test "200,000 random fetches from textures" { random_calls long 3000 fetches; }

@test "3,000 launches of random graphs, which leave no memory" { random_calls long 1000 graphs; }

@test "20,000 random calls of cuBLAS" { random_calls long 20000 products; }

@test "5,000 random factorizations of cuBLAS" { random_calls long 5000 factors; }

@test "10,000 random products by cublasLtMatmul" { random_calls long 10000 matmuls; }

@test "10,000 random transforms of cuFFT" { random_calls long 10000 transforms; }
