#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Random kernels in gtrace-ptx and in the slow interpreter of random_ptx; 10,000 are in long/random-ptx.bats.

load helpers

# bats file_tags=slow

setup() {
	cd "$ROOT" || return 1
	t=$BATS_TEST_TMPDIR
	export TMPDIR=$t
}

@test "random kernels: results and accesses are those of one thread at a time" {
	run python3 tests/random_ptx --kernels 100 --jobs 2
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "100 kernels, 0 differ" ]
}

@test "random kernels: the same with every level of instructions" {
	for level in plain avx2 avx2-native; do
		GTRACE_PTX_LEVEL=$level run python3 tests/random_ptx --seed "$level" --kernels 20 --jobs 2
		echo "$output"
		[ "$output" = "20 kernels, 0 differ" ]
	done
}

@test "forms of operations: 4 of the 100 kernels that have each once, at every level of instructions; the others are in long/random-ptx.bats" {
	first=0
	for level in plain avx2 avx2-native native; do
		GTRACE_PTX_LEVEL=$level run python3 tests/random_ptx --forms --seed "$level" --first $first --kernels 1
		echo "$output"
		[ "$output" = "1 kernels, 0 differ" ]
		first=$((first + 1))
	done
}

# bats test_tags=whole
@test "random kernels: a wrong instruction is found, and the kernel is reduced to it" {
	mkdir "$t/wrong"
	cat >"$t/wrong/gtrace-ptx" <<-END
		#!/bin/sh
		for file; do :; done
		sed 's/\\tand\\.b32/\\tor.b32/' "\$file" >"\$file.wrong" && mv "\$file.wrong" "\$file"
		exec "$(command -v gtrace-ptx)" "\$@"
	END
	chmod +x "$t/wrong/gtrace-ptx"
	PATH=$t/wrong:$PATH run python3 tests/random_ptx --kernels 1 --size 6 --first 8
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"and.b32"* ]]
	[[ $output == *"1 kernels, 1 differ" ]]
	[ "$(grep -c ';' <<<"$output")" -lt 40 ]
}

@test "random kernels: written for a GPU, the same twice" {
	python3 tests/random_ptx --kernels 2 --size 10 --write "$t/one"
	python3 tests/random_ptx --kernels 2 --size 10 --write "$t/two"
	diff -r "$t/one" "$t/two"
	[ "$(wc -l <"$t/one/launches")" -eq 2 ]
	mapfile -t launches <"$t/one/launches"
	(cd "$t/one" && gtrace-ptx --dump k0_buffer=k0.got --dump k1_buffer=k1.got --launch "${launches[0]}" \
		--launch "${launches[1]}" module.ptx >stream)
	[ "$(python3 tests/random_ptx --kernels 2 --size 10 --compare "$t/one")" = "2 kernels, 0 differ" ]
	printf '\377\377\377' | dd of="$t/one/k1.got" bs=1 seek=5 conv=notrunc 2>/dev/null
	run python3 tests/random_ptx --kernels 2 --size 10 --compare "$t/one"
	[ "$status" -eq 1 ]
	[[ $output == "k1: output row 0, cell 0, byte"* ]]
}
