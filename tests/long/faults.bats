# SPDX-License-Identifier: MIT
# Each allocation and each system call of each command of tests/faults/commands fails once, and each stage of tests/faults/pipes is
# killed: some 20,000 runs.

@test "every single fault ends in an error or changes nothing" {
	cd "$ROOT"
	run python3 tests/faults --preload "$BUILD/tests/faults" --jobs 2
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]{4,}\ runs,\ 0\ failed$ ]]
}
