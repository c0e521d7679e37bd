#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What options cost, and what the flags of a packager cost.

bats_require_minimum_version 1.5.0

load ../helpers

@test "no option takes more than 2 times the default's time, or 4 if timed, but for those that HACKING.md names" {
	run "$ROOT/tests/bench/options" "$(dirname "$(command -v gcache)")" "$BUILD" --pairs 100
	echo "$output" | grep -E 'over|^[0-9]+ command lines'
	[ "$status" -eq 0 ]
}

# compare OURS THEIRS COMMAND...: the least processor times of seven runs in turns; fails if theirs is a fifth more
compare() {
	local ours=$1 theirs=$2
	shift 2
	for _ in 1 2 3 4 5 6 7; do
		"$BUILD/tests/bench/used" "$ours/$1" "${@:2}" 2>>ours.times >/dev/null
		"$BUILD/tests/bench/used" "$theirs/$1" "${@:2}" 2>>theirs.times >/dev/null
	done
	awk -v name="$*" '{ least[FILENAME] = !(FILENAME in least) || $1 < least[FILENAME] ? $1 : least[FILENAME] }
		END {
			print name ": " least["ours.times"] " s, " least["theirs.times"] " s"
			exit !(least["ours.times"] > 0 && least["theirs.times"] > 0 && least["theirs.times"] < 1.2 * least["ours.times"])
		}' ours.times theirs.times
	rm ours.times theirs.times
}

@test "with Debian's flags the stages are as fast as with our own" {
	command -v dpkg-buildflags >/dev/null || skip "no dpkg-buildflags"
	cd "$ROOT"
	ours=$(dirname "$(command -v gcache)") theirs=$BATS_TEST_TMPDIR/bin
	make -s CFLAGS="$(dpkg-buildflags --get CFLAGS)" CPPFLAGS="$(dpkg-buildflags --get CPPFLAGS)" BUILD="$BATS_TEST_TMPDIR/build" \
		BIN="$theirs" "$theirs/gcoalesce" "$theirs/gschedule" "$theirs/gcache"
	"$BUILD/tests/bench/matmul" 704 stream >"$BATS_TEST_TMPDIR/accesses.gt"
	cd "$BATS_TEST_TMPDIR"
	gcoalesce accesses.gt >requests.gt
	gschedule --gpu titanv requests.gt >scheduled.gt
	export GTRACE_GPUS=$ROOT/gpus
	for stage in "gcoalesce accesses.gt" "gschedule --gpu titanv requests.gt" "gcache --l1 scheduled.gt"; do
		read -ra command <<<"$stage"
		compare "$ours" "$theirs" "${command[@]}"
	done
}

@test "gtrace sizes of every GPU, and the axes of [000] on both traces" {
	WHOLE=yes GPUS=$(ls "$ROOT/gpus") run bats -f 'sizes: every GPU' "$ROOT/tests/gtrace.bats"
	echo "$output"
	[ "$status" -eq 0 ]
	TRACES="examples/traces/gemm.rdgc.xz examples/traces/conv.rdgc.xz" run bats -f 'the axes of' "$ROOT/tests/sweep.bats"
	echo "$output"
	[ "$status" -eq 0 ]
}
