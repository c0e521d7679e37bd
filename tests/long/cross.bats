# SPDX-License-Identifier: MIT
# Other machines, by qemu-user: aarch64 has the numbers of x86-64, and so has an x86-64 without AVX; a big-endian one is refused where it is built.

bats_require_minimum_version 1.5.0

@test "aarch64: the filters and gtrace-ptx write the same bytes, and the model's unit tests pass" {
	local status=0
	"$ROOT/tests/cross" aarch64-linux-gnu arm64 qemu-aarch64 "$BUILD/cross" >"$BATS_TEST_TMPDIR/log" 2>&1 || status=$?
	cat "$BATS_TEST_TMPDIR/log"
	[ "$status" -ne 77 ] || skip "$(tail -n 1 "$BATS_TEST_TMPDIR/log")"
	[ "$status" -eq 0 ]
	[[ $(tail -n 1 "$BATS_TEST_TMPDIR/log") =~ ^[0-9]{4,}\ lines\ are\ equal$ ]]
}

@test "a processor without AVX gives the same rows of a kernel, and the same counts" {
	command -v qemu-x86_64 >/dev/null || skip "no qemu-x86_64"
	[ "$(uname -m)" = x86_64 ] || skip "another processor"
	local launch='gemm<<<(2,8),(32,8)>>>(A=f32[64*64]:ramp, B=f32[64*64]:rand(1), C=f32[64*64], 64)' bin
	bin=$(dirname "$(command -v gcache)")
	old() { qemu-x86_64 -cpu qemu64 "$bin/$1" "${@:2}"; }
	cd "$BATS_TEST_TMPDIR"
	gtrace-ptx --launch "$launch" "$ROOT/examples/kernels/ptx/gemm.ptx" >new.gt
	old gtrace-ptx --launch "$launch" "$ROOT/examples/kernels/ptx/gemm.ptx" | cmp - new.gt
	gschedule --gpu titanv new.gt | gcache --l1 --causes | gcache --l2 | gdram | gstats --csv >new.csv
	[ "$(wc -l <new.csv)" -gt 300 ]
	old gschedule --gpu titanv new.gt | old gcache --l1 --causes | old gcache --l2 | old gdram | old gstats --csv | cmp - new.csv
}

@test "a big-endian machine is refused by name when it is built" {
	command -v s390x-linux-gnu-gcc >/dev/null || skip "no s390x-linux-gnu-gcc"
	run ! s390x-linux-gnu-gcc -std=c11 -D_POSIX_C_SOURCE=200809L -fsyntax-only -I"$ROOT/lib" "$ROOT/lib/stream/batch.c"
	[[ $output == *"columns are little-endian and are copied as they are"* ]]
}
