# SPDX-License-Identifier: MIT
# 1,000 random functions by nvcc, on the device and on the host: a minute or two.

load ../helpers

# bats test_tags=cuda
@test "1,000 random functions of integers are on the device what they are on the host" {
	needs_cuda
	cd "$BATS_TEST_TMPDIR"
	for seed in $(seq 20); do
		local options=(-O3)
		[ $((seed % 4)) -ne 0 ] || options=(-G)
		python3 "$ROOT/tests/random_functions.py" "$seed" 50 >program.cu
		nvcc "${options[@]}" -arch=sm_80 -std=c++17 -fmad=false -cudart shared -Xcompiler -fwrapv,-ffp-contract=off -o program program.cu
		gtrace-record --space none --stdout said ./program >/dev/null || { cat said; return 1; }
		[ "$(tail -n 1 said)" = "50 functions, 0 differ" ]
	done
}
