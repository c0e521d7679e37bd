#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Small CUDA programs that check their own results (tests/cuda), compiled by nvcc and run without a GPU. They print PASS
# or "right" for a check that holds, FAIL or WRONG for one that does not.
load helpers

setup_file() {
	load helpers
	prepare_preload
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	PATH=$PATH:/usr/local/cuda/bin
}

# passes PROGRAM [ARGUMENT...]: tests/cuda/PROGRAM.cu, run with the arguments.
passes() {
	local program=$1
	shift
	command -v nvcc >/dev/null || skip "no nvcc"
	[ -x "./$program" ] || nvcc -cudart shared -arch=sm_80 -o "$program" "$ROOT/tests/cuda/$program.cu"
	LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record "./$program" "$@" >stream 2>said || { cat said; return 1; }
	gtrace-cat --check stream >/dev/null
	grep -qwE 'PASS|right' said || { cat said; return 1; }
	if grep -wE 'FAIL|WRONG' said; then return 1; fi
}

@test "registers of 16 bits do not touch those of 32 in divergent code" { passes slots16; }

@test "an address of 32 bits and its offset wrap around" { passes shared_wrap; }

@test "graphs, captured streams and boxes of memory" { passes graphs; }

@test "warp-wide operations use the member mask that each lane names" { passes member_masks; }

@test "a reduction over the groups found by a match" { passes redux_groups; }

@test "a reduction over the labelled groups of cooperative groups" { passes labeled_reduce; }

@test "every thread of a warp takes the same lock" { passes independent_threads 0; }

@test "a lane waits for a lane on the other side of a branch" { passes independent_threads 1; }

@test "the same shuffle on both sides of a branch" { passes independent_threads 2; }

@test "a block waits for a later block" { passes independent_threads 3; }

@test "threads leave a loop with a barrier in it one after another" { passes divergent_barrier; }

@test "registered host memory, and memory pools" {
	if nm "$BUILD/libgtrace.a" 2>/dev/null | grep -q __asan_init; then
		skip "whole pages are copied, and with them what AddressSanitizer keeps between allocations"
	fi
	passes host_memory
}

@test "products by tensor cores: wmma, and ldmatrix with mma" { passes tensor_cores; }

@test "printf in a kernel" {
	command -v nvcc >/dev/null || skip "no nvcc"
	nvcc -cudart shared -arch=sm_80 -o device_printf "$ROOT/tests/cuda/device_printf.cu"
	LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record --stdout said ./device_printf >stream
	[ "$(tr '\n' ' ' <said)" = "hello 0 hello 1 no error " ]
	gtrace-cat --check stream >/dev/null
}

@test "the blocks of a cooperative launch wait for each other" { passes cooperative; }

@test "textures of arrays: formats, filters and address modes by the formulas of CUDA's guide" { passes textures; }

@test "arrays of every shape, surfaces, and copies of arrays" { passes images; }
