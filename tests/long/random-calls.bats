# SPDX-License-Identifier: MIT
# Random calls of CUDA's API, held to the plain models of random_calls: some three minutes.

load ../helpers

# compares N WHAT: that many cases, none of which differs
compares() {
	python=$(command -v /usr/bin/python3 || command -v python3)
	gtrace-record --ignore-unsupported --quiet --space none --stdout said "$python" "$ROOT/tests/random_calls" "$2" --seed long --cases "$1" >/dev/null || {
		cat said
		return 1
	}
	grep -q "^$2: [0-9]* compared, 0 differ$" said
}

setup() { cd "$BATS_TEST_TMPDIR" || return 1; }

@test "110,000 random copies and fills" { compares 5000 copies; }

@test "200,000 random fetches from textures" { compares 3000 fetches; }

@test "3,000 launches of random graphs, which leave no memory" { compares 1000 graphs; }
