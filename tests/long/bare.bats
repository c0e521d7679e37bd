# SPDX-License-Identifier: MIT
# README's two commands on the systems that it names, as a newcomer has them: tests/bare.

# commands_work RELEASE
commands_work() {
	[ "$(id -u)" -eq 0 ] || skip "not root"
	command -v debootstrap >/dev/null || skip "no debootstrap: make deps-long"
	local status=0
	"$ROOT/tests/bare" "$1" "$BUILD/bare/$1" >"$BATS_TEST_TMPDIR/log" 2>&1 || status=$?
	[ "$status" -ne 77 ] || skip "$(tail -n 1 "$BATS_TEST_TMPDIR/log")"
	sed -nE '/^(not ok|#  )|passed/p' "$BATS_TEST_TMPDIR/log" # what failed
	grep -qE '^[0-9]+ passed, 0 failed' "$BATS_TEST_TMPDIR/log"
	[ "$status" -eq 0 ]
}

@test "make deps demo and make deps check in a bare Debian 12" { commands_work bookworm; }

@test "make deps demo and make deps check in a bare Ubuntu 24.04" { commands_work noble; }
