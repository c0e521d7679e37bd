#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Processes that are killed at random moments: stages of a pipe of 10^8 rows, and sweeps, which are then resumed; two sweeps in one
# folder at once. Totals and tables are whole, or there are none.

bats_require_minimum_version 1.5.0
load ../helpers

setup() {
	cd "$ROOT" || return 1
	results=$BATS_TEST_TMPDIR/results
	RANDOM=${SEED:-1}
}

# product STAGE...: the trace of a matrix product of 1184 x 1184 through a pipe, whose processes are $pids; the totals are in
# out, what is said in err, the last status in $status.
product() {
	local launch='gemm<<<(37,148),(32,8)>>>(f32[1184*1184], f32[1184*1184], f32[1184*1184], 1184)'
	cd "$BATS_TEST_TMPDIR" || return 1
	rm -f one two three
	mkfifo one two three
	: >err
	gtrace-ptx --gpu titanv --launch "$launch" "$ROOT/examples/kernels/ptx/gemm.ptx" >one 2>>err & pids=($!)
	gschedule <one >two 2>>err & pids+=($!)
	gcache --l1 <two >three 2>>err & pids+=($!)
	gstats --csv <three >out 2>>err & pids+=($!)
}

# Waits for it; sets code to its last status.
ended() {
	code=0
	wait "${pids[3]}" || code=$?
	if wait "${pids[@]}" 2>/dev/null; then return; fi # the others are killed, or lose their reader
}

# 43,808 warps make 2 * 1184 loads and a store each.
@test "a stage that is killed in 10^8 rows: no totals, one message" {
	product
	start=$SECONDS
	ended
	[ "$code" -eq 0 ]
	took=$((SECONDS - start))
	grep -qx 'total,ptx,accesses,103781152' out
	[ ! -s err ]
	for run in 1 2 3 4 5 6; do
		victim=$((run % 4))
		product
		sleep "$(((RANDOM % (900 * took)) / 1000)).$((RANDOM % 10))"
		kill -9 "${pids[victim]}" 2>/dev/null || { echo "# it had ended before"; ended; continue; }
		ended
		echo "victim $victim, status $code: $(cat err)"
		[ "$code" -ne 0 ]
		[ ! -s out ]
		# The last stage dies in silence.
		[ "$(grep -c '^g' err)" -eq $((victim < 3)) ]
	done
}

write_sweep() {
	cat >"$1" <<-'END'
		trace = examples/traces/conv.rdgc.xz examples/traces/gemm.rdgc.xz
		gpu = titanv
		l1.size = 8K 16K 32K 64K
		l2.size = 256K 512K 1M
		map = rr part:4
	END
}

# sweep FILE: in a process group of its own.
sweep() {
	setsid --wait make -s -j 2 -f pipelines/sweep.mk SWEEP="$1" RESULTS="$results" >>"$BATS_TEST_TMPDIR/said" 2>&1
}

# whole FILE: the table is not there, or the one of an undisturbed sweep.
whole() {
	[ ! -e "$1" ] || cmp "$1" "$BATS_TEST_TMPDIR/right.csv"
}

make_right() {
	write_sweep "$BATS_TEST_TMPDIR/test.sweep"
	sweep "$BATS_TEST_TMPDIR/test.sweep"
	mv "$results/test.csv" "$BATS_TEST_TMPDIR/right.csv"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/right.csv")" -eq 49 ]
	rm -rf "$results"
}

@test "a sweep that is killed again and again ends with the table of one that was not" {
	make_right
	for run in 1 2 3 4 5 6 7 8; do
		sweep "$BATS_TEST_TMPDIR/test.sweep" &
		waits=$!
		sleep "$((RANDOM % 2)).$((RANDOM % 10))"
		group=$(pgrep -P "$waits" | head -n 1)
		if [ -n "$group" ]; then kill -9 -- "-$group" 2>/dev/null || :; fi
		if wait "$waits"; then echo "# run $run had ended"; fi
		whole "$results/test.csv"
	done
	sweep "$BATS_TEST_TMPDIR/test.sweep"
	cmp "$results/test.csv" "$BATS_TEST_TMPDIR/right.csv"
	# Nor do the plans of those that were killed stay.
	[ -z "$(find "$results" -name 'plan-*')" ]
}

@test "two sweeps in one folder at once, alike and different, have the tables of each alone" {
	make_right
	sed 's/ 64K$//' "$BATS_TEST_TMPDIR/test.sweep" >"$BATS_TEST_TMPDIR/other.sweep"
	sweep "$BATS_TEST_TMPDIR/other.sweep"
	mv "$results/other.csv" "$BATS_TEST_TMPDIR/right-other.csv"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/right-other.csv")" -eq 37 ]
	for run in 1 2 3; do
		rm -rf "$results"
		pids=()
		for name in test test other; do
			sweep "$BATS_TEST_TMPDIR/$name.sweep" & pids+=($!)
			sleep "0.$((RANDOM % 10))"
		done
		codes=""
		for pid in "${pids[@]}"; do
			code=0
			wait "$pid" || code=$?
			codes+="$code "
		done
		echo "statuses $codes"
		cat "$BATS_TEST_TMPDIR/said"
		[ "$codes" = "0 0 0 " ]
		cmp "$results/test.csv" "$BATS_TEST_TMPDIR/right.csv"
		cmp "$results/other.csv" "$BATS_TEST_TMPDIR/right-other.csv"
		[ -z "$(find "$results" -name 'plan-*')" ]
	done
}
