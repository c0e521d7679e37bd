# SPDX-License-Identifier: MIT
# A minute of make fuzz, for all targets together; many wrong operands, and many damaged files.

@test "fuzzing finds nothing in a minute" {
	cd "$ROOT"
	run make fuzz SECONDS=6
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "200,000 PTX instructions with wrong operands crash nothing, at any level" {
	for level in plain avx2-native native; do
		GTRACE_PTX_LEVEL=$level run "$UNITS/ptx_operands" 200000
		echo "$output"
		[ "$status" -eq 0 ]
	done
}

@test "30,000 damaged tables, logs, lists and configurations" {
	MUTANTS=3000 SEED=2 run bats -f damaged "$ROOT/tests/fuzz.bats"
	echo "$output"
	[ "$status" -eq 0 ]
}
