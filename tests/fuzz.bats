#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The corpus of each target of the fuzzer, replayed: no crash, and an error has one line of text.

@test "every target has a corpus, and replays it" {
	cd "$ROOT"
	for target in tests/fuzz/targets/*.c; do
		name=$(basename "$target" .c)
		run timeout 60 "$BUILD/tests/fuzz/replay/$name" tests/fuzz/corpus/"$name"/*
		echo "$name: $output"
		[ "$status" -eq 0 ]
		[[ $output =~ ^[1-9][0-9]*\ inputs$ ]]
	done
}

@test "the corpus is small" {
	[ "$(du -sk "$ROOT/tests/fuzz/corpus" | cut -f 1)" -lt 2048 ]
}
