# SPDX-License-Identifier: MIT
# 10,000 random kernels in gtrace-ptx and in a slow interpreter: some five minutes of two processors.

@test "10,000 random kernels, no difference" {
	cd "$ROOT"
	run python3 tests/random_ptx --seed long --kernels 10000 --jobs 2
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "10000 kernels, 0 differ" ]
}
