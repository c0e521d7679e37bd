#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The model against hardware: make validate over all tables, with limits for the errors.

setup_file() {
	cd "$ROOT" || return 1
	command -v nvcc >/dev/null || command -v clang >/dev/null || skip "neither nvcc nor clang here"
	tests/validate --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" >"$BATS_FILE_TMPDIR/table"
}

# field GPU METRIC N: column N of the errors of a metric: rows 4, exact 5, MAPE 6, mean absolute error 7.
field() { awk -v gpu="$1" -v metric="$2" -v n="$3" '$1 == gpu && $2 == metric && NF == 9 { print $n }' "$BATS_FILE_TMPDIR/table"; }

@test "Pascal: L2 reads and writes are exact, L1 transactions except for partial warps" {
	for gpu in titanx-pascal gtx1080; do
		for metric in l2_tex_read_transactions l2_tex_write_transactions; do
			[ "$(field $gpu $metric 4)" -gt 0 ]
			[ "$(field $gpu $metric 4)" = "$(field $gpu $metric 5)" ]
		done
	done
	# Each difference has a reason, and is at most 4.
	awk '/ tex_cache_transactions / && !/ 0$/ { if (!/ -[1-4]  the last warp is partly filled/) { print; bad = 1 } } /^gpu +metric/ { exit bad }' "$BATS_FILE_TMPDIR/table"
}

@test "Pascal: hit ratios of L1 within a point, of L2's reads within 3 points on average" {
	for gpu in titanx-pascal gtx1080; do
		awk -v l1="$(field $gpu global_hit_rate 7)" -v l2="$(field $gpu l2_tex_read_hit_rate 7)" 'BEGIN { exit !(l1 != "" && l2 != "" && l1 < 1 && l2 < 3) }'
	done
}

@test "every row was run" {
	run grep '^not run' "$BATS_FILE_TMPDIR/table"
	[ "$status" -eq 1 ] || skip "$output"
}
