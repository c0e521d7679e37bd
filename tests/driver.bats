#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The driver's API: programs that use libcuda.so.1, alone, beside the runtime, and with NVRTC. tests/cuda/driver.c checks its
# own results. The tests need cuda.h; without it they are skipped.
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	load helpers
	prepare_preload
	export TOOLKIT=${CUDA_HOME:-/usr/local/cuda} DRIVER=$BATS_FILE_TMPDIR/driver
	[ ! -f "$TOOLKIT/include/cuda.h" ] || compile "$DRIVER" "$ROOT/tests/cuda/driver.c"
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

# compile OUT SOURCE [FLAG...]: a C program with cuda.h and the stand-in's libraries.
compile() {
	local out=$1 source=$2
	shift 2
	gcc -std=c11 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -I"$TOOLKIT/include" -o "$out" "$source" "$@" \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcuda.so.1" "$BUILD/cudart/libcudart.so.13" -lpthread
}

needs_cuda_h() { [ -f "$TOOLKIT/include/cuda.h" ] || skip "no cuda.h in $TOOLKIT/include"; }

# record ARGUMENT...: the stream goes to `stream`, messages and the program's output to `said`.
record() { LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record "$@" >stream 2>said; }

# passes PART: of the driver's program, which ends well.
passes() {
	needs_cuda_h
	record "$DRIVER" "$1" || { cat said; return 1; }
	[ "$(grep -v '^gtrace-record: ' said)" = PASS ] || { cat said; return 1; }
	gtrace-cat --check stream >/dev/null
}

names() { gtrace-cat stream | sed -n 's/^#kernel.*\tname=\([^\t]*\).*/\1/p' | xargs; }

@test "a launch with arguments one by one, in a buffer, with attributes, and cooperative" {
	passes launches
	[ "$(names)" = "scale scale scale scale" ]
	# 100 threads are 3 warps and a part of a fourth; each loads twice and stores once.
	[ "$(gtrace-cat stream | grep -vc '^#')" -eq $((4 * 4 * 3)) ]
	gtrace-cat stream | grep -qP '^#kernel\tid=3\t.*carveout=50'
}

@test "contexts: a stack for each thread, primary ones, and those that are destroyed" { passes contexts; }

@test "memory: fills, pitched memory, arrays, copies of rectangles, and pointers" {
	passes memory
	gtrace-cat stream | grep '^#count' | grep -q 'cuMemAlloc 1'
}

@test "streams, events, capture, host functions, and occupancy" {
	passes streams
	[ "$(names)" = "touch touch touch" ]
}

@test "linked texts, libraries, and calls by their names" {
	passes modules
	[ "$(names)" = "run nothing nothing" ]
}

@test "mistakes give the codes of CUDA, and the log of the compilation has the message" {
	needs_cuda_h
	run record "$DRIVER" mistakes
	[ "$status" -eq 1 ]
	[ "$(grep -v '^gtrace-record: ' said)" = PASS ] || { cat said; return 1; }
	grep -q "^gtrace-record: cuModuleLoadDataEx: PTX 1:4: .*nonsense" said
	grep -q "^gtrace-record: cuModuleLoadData: PTX 2: no PTX, only machine code: .*nvrtcGetPTX" said
	run ! gtrace-cat --check stream
	record --ignore-unsupported "$DRIVER" mistakes
	gtrace-cat --check stream
}

@test "calls that are not there are named once, and the stream has no end" {
	needs_cuda_h
	run record "$DRIVER" refused
	[ "$status" -eq 1 ]
	grep -qx PASS said
	[ "$(grep -c '^gtrace-record: cuIpcGetMemHandle: this call is not supported' said)" -eq 1 ]
	[ "$(grep -c '^gtrace-record: cuMipmappedArrayCreate: this call is not supported' said)" -eq 1 ]
	run ! gtrace-cat --check stream
}

@test "every call of the toolkit's driver library is there" {
	local stub=$TOOLKIT/lib64/stubs/libcuda.so
	[ -f "$stub" ] || skip "no stub of libcuda"
	nm -D --defined-only "$stub" | awk '$3 ~ /^cu/ { print $3 }' | sort >wanted
	[ "$(wc -l <wanted)" -gt 400 ]
	nm -D --defined-only "$BUILD/cudart/libcudart.so.13" | awk '{ print $3 }' | sort >there
	[ -z "$(comm -23 wanted there)" ] || { comm -23 wanted there; return 1; }
}

@test "the runtime and the driver in one program" {
	needs_cuda_h
	compile mixed "$ROOT/tests/cuda/mixed.c"
	record ./mixed || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
	[ "$(names)" = "add_one add_one" ]
	gtrace-cat --check stream
}

@test "NVRTC compiles for the driver, and PTX comes in place of machine code" {
	needs_cuda_h
	local library
	for library in "$TOOLKIT"/lib64/libnvrtc.so "$TOOLKIT"/lib/libnvrtc.so; do [ ! -f "$library" ] || break; done
	[ -f "$library" ] || skip "no libnvrtc in $TOOLKIT"
	compile mixed "$ROOT/tests/cuda/mixed.c" -DWITH_NVRTC "$library" -Wl,-rpath,"${library%/*}"
	record ./mixed || { cat said; return 1; }
	[ "$(cat said)" = PASS ]
	[ "$(names)" = "add_one add_one" ]
	record ./mixed cubin || { cat said; return 1; }
	grep -qx PASS said
	[ "$(grep '^gtrace-record: ' said)" = "gtrace-record: nvrtcGetCUBIN: gives PTX, which is executed in place of machine code" ]
	gtrace-cat --check stream
}
