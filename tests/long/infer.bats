#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gpchase infer on many more random caches than make check tries.

@test "infer recovers at least 190 of 230 random caches by the runs that it proposes, and no sure value is wrong" {
	GTRACE_CACHES=230 "$UNITS/dissect" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^not ok' "$BATS_TEST_TMPDIR/out")" = 0 ]
	grep -q '^# of 230 caches: .* recovered, 0 wrong but sure' "$BATS_TEST_TMPDIR/out"
}

@test "infer on 500 random caches of all policies, index functions and sectors: 0 wrong and sure, 0 repeated, 9 in 10 policies named or excluded" {
	"$ROOT/tests/infer_random.py" 500 -v >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	grep -q '^500 caches: 0 wrong and sure, .* 0 with repeated advice' "$BATS_TEST_TMPDIR/out"
	[ "$(sed -n 's/^500 caches: .* sure, \([0-9]*\) with.*/\1/p' "$BATS_TEST_TMPDIR/out")" -ge 450 ]
}
