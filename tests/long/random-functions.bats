# SPDX-License-Identifier: MIT
# Random functions by nvcc, on the device and on the host: some minutes.

load ../helpers

# holds SEED NUMBER [WARPS]: that many functions, of which every fourth program is built without optimization.
holds() {
	local options=(-O3)
	[ $(($1 % 4)) -ne 0 ] || options=(-G)
	python3 "$ROOT/tests/random_functions.py" "$@" >program.cu
	nvcc "${options[@]}" -arch=sm_80 -std=c++17 -fmad=false -cudart shared -Xcompiler -fwrapv,-ffp-contract=off,-fno-strict-aliasing -o program program.cu
	gtrace-record --space none --stdout said ./program >/dev/null || { cat said; return 1; }
	[ "$(tail -n 1 said)" = "$2 functions, 0 differ" ]
}

# bats test_tags=cuda
@test "600 random functions, of integers and with branches, loops, calls and arrays, are on the device what they are on the host" {
	needs_cuda
	cd "$BATS_TEST_TMPDIR"
	for seed in $(seq 12); do
		holds "$seed" 50
	done
}

# bats test_tags=cuda
@test "120 random programs of warps whose lanes part, vote, shuffle and add to shared memory are what loops over lanes on the host are" {
	needs_cuda
	cd "$BATS_TEST_TMPDIR"
	for seed in $(seq 8); do
		holds "$seed" 15 WARPS
	done
}
