#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# One allocation or system call that fails: each tool ends in an error, or does as if nothing had happened.
# make check-long tries each fault of each command, here are some.

setup() {
	cd "$ROOT"
	# a sanitizer replaces the allocator, and reports what an error left allocated
	if nm "$(command -v gcache)" | grep -q __asan_; then skip "instrumented"; fi
}

# faults ARGUMENT...: runs them; there must be many, and none passed over.
faults() {
	run python3 tests/faults --preload "$BUILD/tests/faults/fail_allocation.so" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]{3,}\ runs,\ 0\ failed$ ]]
}

@test "an allocation that fails" {
	faults --kinds malloc --most 4
}

@test "a system call that fails, or is interrupted" {
	strace -qq -o /dev/null true || skip "strace may not trace here"
	faults --kinds read,read-interrupted,write,write-interrupted,open,mmap,fork,send,receive,seek --most 2
}

@test "the harness sees what it is there for: output cut short, and a status without a message" {
	run python3 - <<-'END'
		import sys
		sys.argv = ["faults", "--preload", "none"]
		sys.path.insert(0, "tests/faults")
		import judge
		class Left:
		    def __init__(self, status, output, errors, files=()):
		        self.status, self.output, self.errors, self.files = status, output, errors, dict(files)
		sound = Left(0, b"table", "note\n")
		assert judge.judge(Left(0, b"table", "note\n"), sound) is None
		assert judge.judge(Left(1, b"ta", "note\nfull\n"), sound) is None
		assert "differ" in judge.judge(Left(0, b"ta", "note\n"), sound)
		assert "other files" in judge.judge(Left(0, b"table", "", {"a": b""}), sound)
		assert "0 lines" in judge.judge(Left(1, b"", "note\n"), sound)
		assert "status -11" in judge.judge(Left(-11, b"", "x\n"), sound)
	END
	[ "$status" -eq 0 ]
}
