#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gpchase infer on many more random caches than make check tries.

@test "infer recovers at least 200 of 230 random caches by the runs that it proposes, and no sure value is wrong" {
	GTRACE_CACHES=230 "$UNITS/dissect" >"$BATS_TEST_TMPDIR/out"
	cat "$BATS_TEST_TMPDIR/out"
	[ "$(grep -c '^not ok' "$BATS_TEST_TMPDIR/out")" = 0 ]
	grep -q '^# of 230 caches: .* recovered, 0 wrong but sure' "$BATS_TEST_TMPDIR/out"
}
