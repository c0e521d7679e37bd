# SPDX-License-Identifier: MIT
# 10,000 random kernels in gtrace-ptx and in a slow interpreter, and all forms of operations: some ten minutes of two processors.

load ../helpers

@test "10,000 random kernels, no difference" {
	cd "$ROOT"
	run python3 tests/random_ptx --seed long --kernels 10000 --jobs 2
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "10000 kernels, 0 differ" ]
}

@test "each form of operation with operands from the input, at every level of instructions" {
	cd "$ROOT"
	for level in plain avx2 avx2-native native; do
		for seed in a b c; do
			GTRACE_PTX_LEVEL=$level run python3 tests/random_ptx --forms --seed "$level $seed" --kernels 100 --jobs 2
			echo "$output"
			[ "$output" = "100 kernels, 0 differ" ]
		done
	done
}

# bats test_tags=cuda
@test "ptxas takes what is drawn, for the newest GPUs and, without what came later, for sm_90" {
	needs_cuda
	cd "$ROOT"
	for what in --forms "--kernels 300"; do
		# shellcheck disable=SC2086 # words
		for newer in "sm_100a --without=" "sm_90 --without newer"; do
			python3 tests/random_ptx $what ${newer#* } --seed valid --write "$BATS_TEST_TMPDIR/module"
			ptxas -arch="${newer%% *}" -O0 -o /dev/null "$BATS_TEST_TMPDIR/module/module.ptx"
		done
	done
}
