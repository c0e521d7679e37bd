#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The driver's API: programs that use libcuda.so.1, alone, beside the runtime, and with NVRTC. tests/cuda/driver.c checks its
# own results.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	load helpers
	prepare_preload
	export DRIVER=$BATS_FILE_TMPDIR/driver DEVICES=$BATS_FILE_TMPDIR/devices
	[ -x "$CUDA_HOME/bin/nvcc" ] || return 0
	compile "$DRIVER" "$ROOT/tests/cuda/driver.c"
	compile "$DEVICES" "$ROOT/tests/cuda/devices.c"
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# compile OUT SOURCE [FLAG...]: a C program with cuda.h and the stand-in's libraries.
compile() {
	local out=$1 source=$2
	shift 2
	gcc -std=c11 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -I"$CUDA_HOME/include" -o "$out" "$source" "$@" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcuda.so.1" "$BUILD/cudart/libcudart.so.13" -lpthread
}

# record ARGUMENT...: the stream goes to `stream`, messages and the program's output to `said`.
record() { LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record "$@" >stream 2>said; }

# passes PART: of the driver's program, which ends well.
passes() {
	needs_cuda
	record "$DRIVER" "$1" || { cat said; return 1; }
	[ "$(grep -v '^gtrace-record: ' said)" = PASS ] || { cat said; return 1; }
	gtrace-cat --check stream >/dev/null
}

names() { gtrace-cat stream | sed -n 's/^#kernel.*\tname=\([^\t]*\).*/\1/p' | xargs; }

# bats test_tags=cuda
@test "a launch with arguments one by one, in a buffer, with attributes, and cooperative" {
	passes launches
	[ "$(names)" = "scale scale scale scale" ]
	# 100 threads are 3 warps and a part of a fourth; each loads twice and stores once.
	[ "$(gtrace-cat stream | grep -vc '^#')" -eq $((4 * 4 * 3)) ]
	gtrace-cat stream | grep -qP '^#kernel\tid=3\t.*carveout=50'
}

# bats test_tags=cuda
@test "contexts: a stack for each thread, primary ones, and those that are destroyed" { passes contexts; }

# bats test_tags=cuda
@test "two contexts: a function runs in the one in which it was loaded, and no longer than that is there" {
	passes two_contexts
	[ "$(gtrace-cat stream | sed -n 's/^#kernel.*\tgrid=\([0-9]*\),.*/\1/p' | xargs)" = "1 3 6 7" ]
}

# bats test_tags=cuda
@test "memory: fills, pitched memory, arrays, copies of rectangles, and pointers" {
	passes memory
	gtrace-cat stream | grep '^#count' | grep -q 'cuMemAlloc 1'
}

# bats test_tags=cuda
@test "the type of a pointer does not depend on the name of its array" {
	needs_cuda
	record --name a,b,c,d,e,f,g "$DRIVER" memory || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
}

# bats test_tags=cuda
@test "batches of copies and hints, pools by place, and values that streams write and wait for" {
	passes batches
	passes values
}

# bats test_tags=cuda
@test "streams, events, capture, host functions, and occupancy" {
	passes streams
	[ "$(names)" = "touch touch touch" ]
}

# bats test_tags=cuda
@test "graphs whose nodes allocate, nodes of any kind, and conditional nodes" {
	passes "graph memory"
}

# bats test_tags=cuda
@test "ranges of addresses, and memory that is mapped to them" { passes virtual; }

# bats test_tags=cuda
@test "linked texts, libraries, and calls by their names" {
	passes modules
	[ "$(names)" = "run nothing nothing" ]
}

# bats test_tags=cuda
@test "mistakes give the codes of CUDA, and the log of the compilation has the message" {
	needs_cuda
	run record "$DRIVER" mistakes
	[ "$status" -eq 1 ]
	[ "$(grep -v '^gtrace-record: ' said)" = PASS ] || { cat said; return 1; }
	grep -q "^gtrace-record: cuModuleLoadDataEx: PTX 1:4: .*nonsense" said
	grep -q "^gtrace-record: cuModuleLoadData: PTX 2: no PTX, only machine code: .*nvrtcGetPTX" said
	run ! gtrace-cat --check stream
	record --ignore-unsupported "$DRIVER" mistakes
	gtrace-cat --check stream
}

# bats test_tags=cuda
@test "calls that are not there are named once, and the stream has no end" {
	needs_cuda
	run record "$DRIVER" refused
	[ "$status" -eq 1 ]
	grep -qx PASS said
	[ "$(grep -c '^gtrace-record: cuIpcGetMemHandle: this call is not supported' said)" -eq 1 ]
	[ "$(grep -c '^gtrace-record: cuStreamWaitValue for a value that is not there when it is called: this is not supported' said)" -eq 1 ]
	run ! gtrace-cat --check stream
}

# bats test_tags=cuda
@test "every call of the toolkit's driver library is there" {
	local stub=$CUDA_HOME/lib64/stubs/libcuda.so
	needs_cuda
	[ -f "$stub" ] || skip "no stub of libcuda"
	nm -D --defined-only "$stub" | awk '$3 ~ /^cu/ { print $3 }' | sort >wanted
	[ "$(wc -l <wanted)" -gt 400 ]
	nm -D --defined-only "$BUILD/cudart/libcudart.so.13" | awk '{ print $3 }' | sort >there
	[ -z "$(comm -23 wanted there)" ] || { comm -23 wanted there; return 1; }
}

# bats test_tags=cuda
@test "the runtime and the driver in one program" {
	needs_cuda
	compile mixed "$ROOT/tests/cuda/mixed.c"
	record ./mixed || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
	[ "$(names)" = "add_one add_one" ]
	gtrace-cat --check stream
}

# bats test_tags=cuda
@test "NVRTC compiles for the driver, and PTX comes in place of machine code" {
	needs_cuda
	local library
	for library in "$CUDA_HOME"/lib64/libnvrtc.so "$CUDA_HOME"/lib/libnvrtc.so; do [ ! -f "$library" ] || break; done
	[ -f "$library" ] || skip "no libnvrtc in $CUDA_HOME"
	compile mixed "$ROOT/tests/cuda/mixed.c" -DWITH_NVRTC "$library" -Wl,-rpath,"${library%/*}"
	record ./mixed || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
	[ "$(names)" = "add_one add_one" ]
	record ./mixed cubin || { cat said; return 1; }
	grep -qx PASS said
	[ "$(grep '^gtrace-record: ' said)" = "gtrace-record: nvrtcGetCUBIN: gives PTX, which is executed in place of machine code" ]
	gtrace-cat --check stream
}

# bats test_tags=cuda
@test "several devices: memory, variables and streams of their own, and peer access" {
	needs_cuda
	record --devices 2 "$DEVICES" 2 || { cat said; return 1; }
	[ "$(grep -v "^gtrace-record: warning: cudaMalloc of 17179869184 bytes: out of memory" said)" = PASS ] # it asks for all
	gtrace-cat --check stream >/dev/null
	[ "$(gtrace-cat stream | grep -c '^#kernel.*device=1')" -eq 4 ]
	[ "$(gtrace-cat stream | grep '^#kernel' | grep -vc 'device=')" -eq 2 ]
	gtrace-cat stream | grep '^#kernel' >kernels
	gtrace-cat stream | gtrace-cat --from | gtrace-cat | grep '^#kernel' | cmp - kernels
	GTRACE_DEVICES=4 record "$DEVICES" 4
	[ "$(grep -v "^gtrace-record: warning: cudaMalloc of 17179869184 bytes: out of memory" said)" = PASS ] # it asks for all
}

# bats test_tags=cuda
@test "a kernel that reads another device's memory without access is at fault" {
	needs_cuda
	run record --devices 2 "$DEVICES" 2 stray
	[ "$status" -eq 1 ]
	grep -q "load of 4 bytes at 0x[0-9a-f]*: 'cudaMalloc [0-9]*' is memory of device 0, to which device 1 has no peer access" said
	run ! grep -q 'not reached' said
	record --devices 2 --check list "$DEVICES" 2 stray
	grep -q 'not reached' said
}

# bats test_tags=cuda
@test "stages whose caches are one device's refuse several; --device chooses" {
	needs_cuda
	record --devices 2 "$DEVICES" 2
	for stage in "gcache --l2 --size 1M" gdram "grd --unbounded"; do
		# shellcheck disable=SC2086
		run $stage stream
		[ "$status" -ne 0 ]
	done
	expect_failure 1 "kernel 3 ran on device 1, and others on device 0" gcache --l2 --size 1M stream
	record --devices 2 --device 1 "$DEVICES" 2
	[ "$(gtrace-cat stream | grep -c '^#kernel')" -eq 4 ]
	gcoalesce stream | gschedule --gpu a100 | gcache --l1 | gcache --l2 | gdram | gstats >table
	grep -qw l2 table
	expect_failure 2 "--device: there are 1 devices" gtrace-record --device 1 true
	expect_failure 2 "at most 8589934592 bytes" gtrace-record --devices 8 true
	expect_failure 2 "GTRACE_DEVICES: " env GTRACE_DEVICES=none gtrace-record true
}

# bats test_tags=cuda
@test "PTX as Triton and Numba make it" {
	needs_cuda
	compile compilers "$ROOT/tests/cuda/compilers.c"
	record ./compilers || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
	[ "$(names)" = "sum_kernel twice" ]
	# 200 elements are 128 in a whole warp and 72 in 18 lanes of a second one, which load 16 bytes each.
	[ "$(gtrace-cat stream | awk '!/^#/ && $5 == "load.global" && $11 == 1' | cut -f 6,7 | sort | uniq -c | xargs)" = "2 16 0x0003ffff 2 16 0xffffffff" ]
	gtrace-cat --check stream
}

# compiled_by MODULE: a kernel that a Python module compiles and launches; skips with the reason where that cannot be done.
compiled_by() {
	local why
	why=$(python3 "$ROOT/tests/cuda/compilers.py" missing "$1")
	[ -z "$why" ] || skip "$why"
	CUPY_COMPILE_WITH_PTX=1 HOME=$PWD record python3 "$ROOT/tests/cuda/compilers.py" "$1" || { cat said; return 1; }
	grep -qx PASS said || { cat said; return 1; }
	gtrace-cat --check stream >/dev/null
	# 1000 elements in warps of 32: 31 whole ones and 8 lanes.
	[ "$(gtrace-cat stream | awk '!/^#/ && $5 == "load.global"' | wc -l)" -eq 32 ]
}

@test "Numba compiles a kernel and launches it" { compiled_by numba; }

@test "CuPy compiles a kernel by NVRTC and launches it" { compiled_by cupy; }

@test "Triton compiles a kernel to PTX, which the driver loads" { compiled_by triton; }
