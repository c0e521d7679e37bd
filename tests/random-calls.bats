#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Random calls of CUDA's API by a program of ctypes, held to the plain models of random_calls; more of them are in long/random-calls.bats.

load helpers

# compares N WHAT: that many cases, none of which differs
compares() {
	python=$(command -v /usr/bin/python3 || command -v python3)
	LD_PRELOAD=${PRELOAD:-} gtrace-record --ignore-unsupported --quiet --space none --stdout said "$python" "$ROOT/tests/random_calls" "$2" --cases "$1" >/dev/null || {
		cat said
		return 1
	}
	grep -q "^$2: [0-9]* compared, 0 differ$" said
}

setup_file() { prepare_preload; }

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "random copies and fills move the bytes that they name, or none" { compares 30 copies; }

@test "random fetches from textures give what CUDA's guide says" { compares 40 fetches; }

@test "random graphs within graphs, changed and updated, do what their nodes do in order" { compares 30 graphs; }
