# SPDX-License-Identifier: MIT
# The programs of examples/kernels that tests/kernels.bats builds by clang alone, built by nvcc.

load ../helpers

# bats test_tags=cuda
@test "the programs of the examples, by nvcc" {
	needs_cuda
	CUDA_TESTS=only WHOLE=yes run bats --tap --filter-tags cuda-long "$ROOT/tests/kernels.bats"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -c '^ok ' <<<"$output")" -gt 25 ]
	[ "$(grep -c '# skip' <<<"$output")" -eq 0 ]
}
