# SPDX-License-Identifier: MIT
# A minute of make fuzz, for all targets together.

@test "fuzzing finds nothing in a minute" {
	cd "$ROOT"
	run make fuzz SECONDS=6
	echo "$output"
	[ "$status" -eq 0 ]
}
