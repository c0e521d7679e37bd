#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# One allocation or system call that fails: each tool ends in an error, or does as if nothing had happened.
# make check-long tries each fault of each command, here are some.

load helpers

# bats file_tags=slow

setup() {
	cd "$ROOT"
	# a sanitizer replaces the allocator, and reports what an error left allocated
	not_instrumented gcache
}

# faults ARGUMENT...: runs them; there must be many, and none passed over.
faults() {
	run python3 tests/faults --preload "$BUILD/tests/faults" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[0-9]{3,}\ runs,\ 0\ failed$ ]]
}

@test "an allocation that fails" {
	faults --kinds malloc,malloc-in-program --most 1
}

@test "each allocation of a list of kernels that fails ends it, or leaves its numbers as they are" {
	local kernels=examples/kernels/ptx/dct8x8.ptx fail=$BUILD/tests/faults/fail_allocation.so wrong=0
	FAULT_COUNT=$BATS_TEST_TMPDIR/count LD_PRELOAD=$fail gtrace-ptx --list "$kernels" >"$BATS_TEST_TMPDIR/sound"
	grep -q 'shared_bytes=2112' "$BATS_TEST_TMPDIR/sound"
	local all
	all=$(cat "$BATS_TEST_TMPDIR/count")
	[ "$all" -gt 100 ]
	# shellcheck disable=SC2046
	few 40 $(seq "$all")
	for at in "${FEW[@]}"; do
		if FAULT_AT=$at LD_PRELOAD=$fail gtrace-ptx --list "$kernels" >"$BATS_TEST_TMPDIR/list" 2>/dev/null; then
			cmp "$BATS_TEST_TMPDIR/sound" "$BATS_TEST_TMPDIR/list" || wrong=$((wrong + 1))
		fi
	done
	[ "$wrong" -eq 0 ]
}

@test "a system call that fails, or is interrupted" {
	strace -qq -o /dev/null true || skip "strace may not trace here"
	faults --kinds read,read-interrupted,write,write-interrupted,write-at,read-at,open,mmap,fork,send,receive,seek --most 1 --every 5
}

# bats test_tags=whole
@test "short reads and writes, limits of the shell, a TMPDIR that is none, full or read-only, no /proc" {
	faults --kinds short,address-space,descriptors,file-size,no-tmpdir,full-tmpdir,read-only-tmpdir,no-proc --most 1 --every 4
}

# bats test_tags=whole
@test "a stage of a pipe that is killed" {
	strace -qq -o /dev/null true || skip "strace may not trace here"
	run python3 tests/faults --preload "$BUILD/tests/faults" --kinds kill --most 1
	echo "$output"
	[ "$status" -eq 0 ]
	[[ ${lines[-1]} =~ ^[3-9][0-9]\ runs,\ 0\ failed$ ]]
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
		assert judge.judge(Left(1, b"", "program: x\ngtrace-record: y\n"), sound) is None
		assert "status 1" in judge.judge(Left(1, b"", "one\n"), sound, must_pass=True)
		import killed
		stages = [["gtrace-order"], ["grd"], ["gplot"]]
		assert "other output" in killed.judge_pipe(Left(0, b"ta", ""), sound, 0, stages)
		assert killed.judge_pipe(Left(1, b"", "grd: x\ngplot: y\n"), sound, 0, stages) is None
		assert "2 lines" in killed.judge_pipe(Left(1, b"", "grd: x\ngplot: y\n"), sound, 0, stages[:2])
		assert killed.judge_pipe(Left(-9, b"", ""), sound, 2, stages) is None
		assert "status -9" in killed.judge_pipe(Left(-9, b"", ""), sound, 1, stages)
		assert "status -11" in judge.judge(Left(-11, b"", "x\n"), sound)
	END
	[ "$status" -eq 0 ]
}

@test "sizes that no machine has are refused in time" {
	cd "$BATS_TEST_TMPDIR"
	awk 'BEGIN { for (b = 0; b < 80; b++) for (i = 0; i < 20; i++) print i, b, 0, "R", b * 8000 + i * 128, 4 }' >t.rdgc
	gtrace-order --format rdgc t.rdgc | gschedule --sm 80 >scheduled
	ulimit -v 8000000
	[ -z "${WHOLE:-}" ] || expect_failure 1 "more than 134217728 lines: expected a smaller size" timeout 60 gcache --l1 --size 2G scheduled
	expect_failure 2 "has more than 67108864 lines" gcache --l2 --size 1T scheduled
	expect_failure 2 "1048576 at most" grd --mru 4294967295 scheduled
}

@test "a process of few addresses runs kernels, and says when they do not suffice" {
	cd "$BATS_TEST_TMPDIR"
	local kernel="$ROOT/examples/kernels/ptx/gemm.ptx"
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(f32[4096]:ramp, f32[4096]:ramp, f32[4096], 64)' "$kernel" >all
	ulimit -v 1000000
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(f32[4096]:ramp, f32[4096]:ramp, f32[4096], 64)' "$kernel" | cmp all -
	expect_failure 1 "0 of 512032768 are in use, which the limit of this process's addresses (ulimit -v) leaves" \
		gtrace-ptx --launch 'gemm<<<1,32>>>(A=f32[128*1024*1024], f32[4096], f32[4096], 64)' "$kernel"
}

@test "a record of millions of objects is refused before it is unpacked" {
	cd "$BATS_TEST_TMPDIR"
	# the header; an array of 2^25 elements
	printf '\223\246gtrace\001\201\247history\220\335\002\000\000\000' >nils
	head -c 33554432 /dev/zero | tr '\0' '\300' >>nils
	ulimit -v 200000
	expect_failure 1 "record 2: more objects than any record may have" gtrace-cat nils
}

@test "a file that may grow no further is an error, and so is help that nobody gets" {
	cd "$BATS_TEST_TMPDIR"
	seq 1 100000 | awk '{ print $1 % 50, 0, $1 % 32, "R", $1 * 64, 4 }' >t.rdgc
	status=0
	(ulimit -f 1; gtrace-order --format rdgc t.rdgc >big 2>err) || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = "gtrace-order: standard output: File too large" ]
	status=0
	gcache --help >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ]
	[ "$(cat err)" = "gcache: No space left on device" ]
}

@test "a picture that a full disk cuts is an error" {
	cd "$BATS_TEST_TMPDIR"
	awk 'BEGIN { print "name,n"; for (i = 0; i < 150; i++) print "row" i "," i }' >table.csv
	status=0
	gplot bars table.csv >/dev/full 2>err || status=$?
	[ "$status" -eq 1 ]
	grep -qE '^gplot: standard output: (cannot be written|No space left on device)$' err
	[ "$(wc -l <err)" -eq 1 ]
}

@test "a file that an option names is written whole, or is as it was" {
	cd "$BATS_TEST_TMPDIR"
	local kernel="$ROOT/examples/kernels/ptx/vectoradd.ptx"
	local launch='vectoradd<<<16,256>>>(A=f32[4096]:ramp, B=f32[4096]:ramp, C=f32[4096], 4096)'
	gtrace-ptx --launch "$launch" "$kernel" | gcoalesce | gschedule --gpu titanv | gcache --l1 >stream
	awk 'BEGIN { print "name,n"; for (i = 0; i < 150; i++) print "row" i "," i }' >table.csv
	for file in report page/index.html picture script c.f32 real; do
		mkdir -p "$(dirname "$file")"
		echo old >"$file"
	done
	mkdir good
	gstats --report good stream # an index.html that is no page of gtrace is not replaced
	cp good/index.html page/index.html
	ln -s real linked
	limited() { (ulimit -f 1 && "$@"); }
	expect_failure 1 "report: cannot write the report: File too large" limited gstats --json --output report stream
	expect_failure 1 "cannot write the page: File too large" limited gstats --report page stream
	expect_failure 1 "cannot write the picture: File too large" limited gplot bars -o picture table.csv
	expect_failure 1 "cannot write the picture: File too large" limited gplot bars --script -o script table.csv
	expect_failure 1 "cannot write the buffer: File too large" limited bash -c \
		"gtrace-ptx --launch '$launch' --dump C=c.f32 '$kernel' | cat >/dev/null; exit \${PIPESTATUS[0]}"
	[ "$(cat report picture script c.f32 | sort -u)" = old ]
	cmp page/index.html good/index.html
	run find . -name '*.partial*'
	[ -z "$output" ]

	chmod 640 real
	gstats --json --output linked stream
	[ -L linked ]
	[ "$(stat -c %a real)" = 640 ]
	cmp real <(gstats --json stream)
	mkfifo pipe
	cmp pipe real &
	gstats --json --output pipe stream
	wait $!

	# A link to nothing stays a link; what is appended to is not replaced; what others put in the way is not followed.
	ln -s later ahead
	gstats --json --output ahead stream
	[ -L ahead ]
	cmp later real
	for path in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
		(echo head && gstats --json --output "$path" stream && echo tail) >log
		(echo head && cat real && echo tail) | cmp - log
	done
	gplot bars --script -o /dev/stderr table.csv 2>>log
	gplot bars --script table.csv >script
	(echo head && cat real && echo tail && cat script) | cmp - log
	expect_failure 1 "in-the-way: cannot write the report: File exists" bash -c \
		'ln -s later in-the-way.partial-$$ && exec gstats --output in-the-way stream'
	cmp later real
}

@test "nothing at all is no stream, and an ended stream may have no kernels" {
	cd "$BATS_TEST_TMPDIR"
	expect_failure 1 "/dev/null: empty: expected the text of gtrace-cat" gtrace-cat --from /dev/null
	: | expect_failure 1 "standard input: empty: expected a gtrace stream" gstats
	gtrace-order --format rdgc /dev/null | gstats >out
	[ "$(cat out)" = "no kernels" ]
}
