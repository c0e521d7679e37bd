#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pipelines/sweep.mk: the points of a sweep file, repeated runs, and failures.

bats_require_minimum_version 1.5.0

load helpers

setup() {
	cd "$ROOT" || return 1
	results=$BATS_TEST_TMPDIR/results
	sweep=$BATS_TEST_TMPDIR/test.sweep
	log=$BATS_TEST_TMPDIR/log
	: >"$log"
}

# Wrappers that log each run and then run the real program.
note_runs() {
	mkdir "$BATS_TEST_TMPDIR/noting"
	for tool in gtrace-order gcoalesce gschedule gcache gdram; do
		printf '#!/bin/sh\necho %s >>%s\nexec %s "$@"\n' "$tool" "$log" "$(command -v $tool)" \
			>"$BATS_TEST_TMPDIR/noting/$tool"
		chmod +x "$BATS_TEST_TMPDIR/noting/$tool"
	done
	PATH=$BATS_TEST_TMPDIR/noting:$PATH
}

run_sweep() {
	make -s -f pipelines/sweep.mk SWEEP="$sweep" RESULTS="$results" "$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr"
}

# column NAME: a column of the CSV, without its heading.
column() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i; next } { print $k }' \
		"$results/test.csv"
}

# total STAGE COUNTER: a total of the report on standard input.
total() {
	awk -F, -v stage="$1" -v counter="$2" '$1 == "total" && $2 == stage && $3 == counter { print $4 }'
}

# bats test_tags=whole
@test "every point has the numbers of its pipe" {
	cat >"$sweep" <<-'END'
		trace = examples/traces/conv.rdgc.xz   # one
		gpu = titanv
		l1.size = 8K 64K
		l2.ways = 16 8
		map = rr random:3
	END
	run_sweep
	[ "$(wc -l <"$results/test.csv")" -eq 9 ]
	for size in 8K 64K; do
		for ways in 16 8; do
			for map in rr random:3; do
				gtrace-order examples/traces/conv.rdgc.xz | gcoalesce --gpu titanv |
					gschedule --gpu titanv --map $map | gcache --l1 --size $size |
					gcache --l2 --ways $ways | gdram | gstats --csv >"$BATS_TEST_TMPDIR/report"
				echo "$((${size%K} * 1024)),$ways,$map,$(total l1 read_hits <"$BATS_TEST_TMPDIR/report"),$(total l2 \
					read_hits <"$BATS_TEST_TMPDIR/report"),$(total dram row_hits <"$BATS_TEST_TMPDIR/report")"
			done
		done
	done >"$BATS_TEST_TMPDIR/expected"
	paste -d, <(column l1.size) <(column l2.ways) <(column map) <(column l1.read_hits) <(column l2.read_hits) \
		<(column dram.row_hits) | diff "$BATS_TEST_TMPDIR/expected" -
}

@test "rates are those of the counts" {
	printf 'trace = examples/traces/conv.rdgc.xz\ngpu = titanv\nl1.size = 8K 64K\n' >"$sweep"
	run_sweep
	paste <(column l1.read_hits) <(column l1.reads) <(column l1.read_hit_rate) |
		awk '{ d = 100 * $1 / $2 - $3; if (d > 0.0001 || d < -0.0001) exit 1 } END { exit NR != 2 }'
}

# bats test_tags=whole
@test "a counter with the name of an axis has a column of its own, and so has a second stage of a name" {
	printf '%s\n' 'trace = examples/traces/gemm.rdgc.xz' 'sm = 8' 'l1.latency = fixed:10' 'l1.merges = 8 4' \
		'counters = l1.merges l1.read_hit_rate l1.merged_read_hit_rate' 'model = gschedule {schedule} | gcache --l1 {l1}' >"$sweep"
	run_sweep
	[ "$(column l1.merges | paste -sd ' ')" = "8 4" ]
	for merges in 8 4; do
		gtrace-order examples/traces/gemm.rdgc.xz | gschedule --sm 8 | gcache --l1 --latency fixed:10 --merges $merges | gstats --csv |
			awk -F, '$1 == "total" { v[$3] = $4 } END { printf "%d %.4f %.4f\n", v["merges"], 100 * v["read_hits"] / v["reads"], 100 * (v["read_hits"] + v["merged_reads"]) / v["reads"] }'
	done >"$BATS_TEST_TMPDIR/expected"
	paste -d ' ' <(column l1.merges.counted) <(column l1.read_hit_rate) <(column l1.merged_read_hit_rate) | diff "$BATS_TEST_TMPDIR/expected" -
	[ "$(cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/expected" | head -n 1)" -gt 8 ]
	printf '%s\n' 'trace = examples/traces/conv.rdgc.xz' 'sm = 8' 'model = gschedule {schedule} | gcache --l1 {l1} | gcache --l1' \
		'l1.size = 8K' >"$sweep"
	run_sweep
	[ "$(column l1.sent_reads)" = "$(column "l1#2.reads")" ]
	[ "$(head -n 1 "$results/test.csv" | tr ',' '\n' | sort | uniq -d | wc -l)" -eq 0 ]
}

@test "sections replace the shared axes; sizes are in bytes, and axes that a section lacks are empty or a dash" {
	cat >"$sweep" <<-'END'
		trace = examples/traces/conv.rdgc.xz
		gpu = titanv
		l1.size = 32K
		counters = l2.reads
		[size]
		l1.size = 8K 16K
		[no-l1]
		model = gschedule {schedule} | gcache --l2 {l2}
		l2.size = - 1M
	END
	run_sweep
	cut -d, -f 1-5 "$results/test.csv" | diff - <(cat <<-'END'
		section,trace,gpu,l1.size,l2.size
		size,examples/traces/conv.rdgc.xz,titanv,8192,
		size,examples/traces/conv.rdgc.xz,titanv,16384,
		no-l1,examples/traces/conv.rdgc.xz,titanv,,
		no-l1,examples/traces/conv.rdgc.xz,titanv,,1048576
	END
	)
	[ "$(head -n 1 "$results/test.csv" | cut -d, -f 6-)" = l2.reads ]
	[ "$(column l2.reads | sed -n 3p)" -gt "$(column l2.reads | sed -n 1p)" ]
}

# bats test_tags=whole
@test "stages that points share run once, and a second sweep runs only new stages" {
	note_runs
	printf 'trace = examples/traces/conv.rdgc.xz\ngpu = titanv\nl1.size = 8K 16K 32K\n' >"$sweep"
	run_sweep
	[ "$(grep -c gtrace-order "$log") $(grep -c gcoalesce "$log")" = "1 1" ]
	[ "$(grep -c gcache "$log")" -eq 6 ]
	cp "$results/test.csv" "$BATS_TEST_TMPDIR/first"
	: >"$log"
	run_sweep
	run ! grep gcache "$log"
	diff "$BATS_TEST_TMPDIR/first" "$results/test.csv"
	sed -i 's/32K/32K 64K/' "$sweep"
	run_sweep
	[ "$(grep -c gcache "$log")" -eq 2 ]
	run ! grep gtrace-order "$log"
}

# bats test_tags=whole
@test "a trace's content, a GPU's values and a program are part of a result's name" {
	note_runs
	cp examples/traces/conv.rdgc.xz "$BATS_TEST_TMPDIR/trace.xz"
	cp gpus/titanv "$BATS_TEST_TMPDIR/gpu"
	printf 'trace = %s\ngpu = %s\n' "$BATS_TEST_TMPDIR/trace.xz" "$BATS_TEST_TMPDIR/gpu" >"$sweep"
	run_sweep
	for change in "cp examples/traces/gemm.rdgc.xz $BATS_TEST_TMPDIR/trace.xz" \
		"sed -i /^l2.ways/s/16/8/ $BATS_TEST_TMPDIR/gpu" \
		"sed -i \$a#other $BATS_TEST_TMPDIR/noting/gdram"; do
		: >"$log"
		$change
		run_sweep
		grep -q gdram "$log"
	done
	: >"$log"
	sed -i '1i # a remark' "$BATS_TEST_TMPDIR/gpu"
	run_sweep
	run ! grep gdram "$log"
}

@test "a failed point is reported with its command, is retried, and does not stop the others" {
	cat >"$sweep" <<-'END'
		input broken = false
		trace = examples/traces/conv.rdgc.xz broken
		gpu = titanv
		l1.size = 8K 100 16K
	END
	run ! run_sweep
	grep -q '^sweep: 4 of 6 points have no result$' "$BATS_TEST_TMPDIR/stderr"
	grep -q 'gcache --l1 --size 100 ' "$BATS_TEST_TMPDIR/stderr"
	grep -q 'a size of 100 is not a whole number of sets' "$BATS_TEST_TMPDIR/stderr"
	grep -q '^sweep: false | gcoalesce' "$BATS_TEST_TMPDIR/stderr"
	[ "$(column l1.reads | grep -c .)" -eq 2 ]
	[ "$(wc -l <"$results/test.csv")" -eq 7 ]
	note_runs
	run ! run_sweep
	[ -s "$log" ]
	# What an option would say is a line of the sweep.
	printf 'trace = examples/traces/conv.rdgc.xz\nl1.size = 8K\n' >"$sweep"
	run ! run_sweep
	grep -q 'no GPU description: expected --gpu NAME or --sm N, in a sweep the line gpu = NAME$' "$BATS_TEST_TMPDIR/stderr"
}

# bats test_tags=whole
@test "parallel gives the same bytes as make, and the calling make's -j is used" {
	printf 'trace = examples/traces/conv.rdgc.xz\ngpu = titanv\nl1.size = 8K 16K\nmap = rr part:4\n' >"$sweep"
	run_sweep
	cp "$results/test.csv" "$BATS_TEST_TMPDIR/first"
	for engine in 'ENGINE=parallel' '-j2'; do
		rm -rf "$results"
		run_sweep $engine JOBS=2
		diff "$BATS_TEST_TMPDIR/first" "$results/test.csv"
	done
}

@test "a killed sweep continues where it stopped" {
	printf 'trace = examples/traces/gemm.rdgc.xz\ngpu = titanv\nl1.size = %s\n' "$(seq -s ' ' 1 $((${#WHOLE} > 0 ? 40 : 12)) | sed 's/[0-9]*/&K/g')" >"$sweep"
	setsid make -s -f pipelines/sweep.mk SWEEP="$sweep" RESULTS="$results" 2>/dev/null 3>&- &
	for _ in $(seq 200); do
		[ "$(find "$results" -name '*.csv' 2>/dev/null | wc -l)" -lt 5 ] || break
		sleep 0.05
	done
	kill -KILL -- "-$!"
	sleep 0.2
	[ ! -e "$results/test.csv" ]
	finished=$(find "$results" -name '*.csv' -printf '%f %i %T@\n' | sort)
	[ -n "$finished" ]
	run_sweep
	[ "$(find "$results" -name '*.csv' -printf '%f %i %T@\n' | sort | comm -23 <(echo "$finished") - | wc -l)" -eq 0 ]
	cp "$results/test.csv" "$BATS_TEST_TMPDIR/resumed"
	rm -rf "$results"
	run_sweep
	diff "$BATS_TEST_TMPDIR/resumed" "$results/test.csv"
}

@test "errors in a sweep file are reported with their line" {
	while IFS='|' read -r line text; do
		printf 'trace = examples/traces/conv.rdgc.xz\n%b\n' "$line" >"$sweep"
		run run_sweep
		[ "$status" -eq 2 ]
		grep -qF "$text" "$BATS_TEST_TMPDIR/stderr" || { cat "$BATS_TEST_TMPDIR/stderr"; return 1; }
		[ ! -e "$results/test.csv" ]
	done <<-'END'
		anything|test.sweep:2: expected 'axis = value ...'
		trace = x|test.sweep:2: trace is given twice
		l1.size =|test.sweep:2: expected values after
		l1.size = $(reboot)|test.sweep:2: '$(reboot)' cannot be a value
		l9.size = 8K|test.sweep:2: l9.size: the model has no stage {l9}
		gpu = no-such|gpu no-such: cannot be read
		[a]\ntrace = nowhere|trace nowhere: no such file, folder or input
		[a]\n[a]|test.sweep:3: there is a section a already
		input a =|test.sweep:2: expected a command
		input a = cat x|test.sweep:2: input a: no 'trace =' names it
	END
}

@test "a pattern of counters that matches none is named, and the status is not 0; the others are there" {
	printf '%s\n' 'trace = examples/traces/conv.rdgc.xz' 'gpu = titanv' 'l1.size = 8K' 'counters = l1.raeds l1.reads l[23].reads' >"$sweep"
	run run_sweep
	[ "$status" -eq 2 ]
	grep -qx 'sweep: counters: no counter of any point is called l1.raeds: without this line the table has all' "$BATS_TEST_TMPDIR/stderr"
	[ "$(grep -c '^sweep: counters' "$BATS_TEST_TMPDIR/stderr")" -eq 1 ]
	[ "$(head -n 1 "$results/test.csv")" = section,trace,gpu,l1.size,l1.reads,l2.reads ]
}

@test "lines may end in CRLF, and a byte-order mark may stand before the first" {
	printf '\357\273\277%s\r\n' 'trace = examples/traces/conv.rdgc.xz' >"$sweep"
	printf '%s\r\n' 'gpu = titanv # one' '' 'l1.size = 8K 64K' 'counters = l1.reads' >>"$sweep"
	run_sweep
	[ "$(column l1.size | tr '\n' ' ')" = "8192 65536 " ]
}

@test "a file of inputs serves several sweeps: one that names traces must use its own" {
	printf 'input used = gtrace-order examples/traces/conv.rdgc.xz\ninput other = gtrace-order examples/traces/gemm.rdgc.xz\n' >"$BATS_TEST_TMPDIR/inputs.sweep"
	printf 'trace = used\ngpu = titanv\nl1.size = 16K\n' >"$sweep"
	make -s -f pipelines/sweep.mk RESULTS="$results" SWEEP="$sweep $BATS_TEST_TMPDIR/inputs.sweep" 2>/dev/null
	[ "$(grep -c ',used,' "$results/test.csv")" -eq 1 ]
	[ "$(grep -c other "$results/test.csv")" -eq 0 ]
	printf 'trace = used\ninput own = gtrace-order examples/traces/gemm.rdgc.xz\n' >"$sweep"
	run -2 make -s -f pipelines/sweep.mk RESULTS="$results" SWEEP="$sweep $BATS_TEST_TMPDIR/inputs.sweep"
	[[ "$output" == *"test.sweep:2: input own: no 'trace =' names it"* ]]
}

@test "an axis input.NAME varies the command of an input, and has one point for traces without its place" {
	cat >"$sweep" <<-'END'
		trace = strided examples/traces/conv.rdgc.xz
		input strided = gtrace-ptx --launch 'stride_4<<<{grid},{block}>>>(in=f32[65536], out=f32[65536])' examples/kernels/ptx/strides.ptx
		input.block = 64
		counters = coalesce.load_sectors
		gpu = titanv
		[few]
		input.grid = 8
		[more]
		input.grid = 16 32
		input.block = 128
	END
	run_sweep
	# Each thread loads 4 bytes out of 16, so that two share a sector.
	[ "$(column trace | paste -sd,)" = "strided,examples/traces/conv.rdgc.xz,strided,strided,examples/traces/conv.rdgc.xz" ]
	[ "$(column input.grid | paste -sd,)" = "8,,16,32," ]
	[ "$(column input.block | paste -sd,)" = "64,,128,128," ]
	[ "$(column coalesce.load_sectors | paste -sd, | cut -d, -f 1,3,4)" = "$((8 * 64 / 2)),$((16 * 128 / 2)),$((32 * 128 / 2))" ]
	printf 'trace = a\ninput a = gtrace-order examples/traces/conv.rdgc.xz\ninput.size = 8\n' >"$sweep"
	run -2 run_sweep
	grep -qF "test.sweep:3: input.size: no input has {size}" "$BATS_TEST_TMPDIR/stderr"
	# A division in a command is no folder.
	[ -z "$(timeout 20 pipelines/digest 'b=8; echo $((b / 2))' | grep ,.*,)" ]
}

@test "missing inputs are named" {
	run make -s -f pipelines/sweep.mk RESULTS="$results"
	[ "$status" -eq 2 ]
	[[ "$output" == *"SWEEP is not set"* ]]
	run make -s -f pipelines/sweep.mk RESULTS="$results" SWEEP=nowhere
	[ "$status" -eq 2 ]
	[[ "$output" == *"nowhere: expected a sweep file"* ]]
	run make -s -f pipelines/sweep.mk RESULTS="$results" SWEEP=examples/sizes.sweep ENGINE=condor
	[ "$status" -eq 2 ]
	[[ "$output" == *"expected make, parallel or slurm"* ]]
	printf 'trace = examples/traces/conv.rdgc.xz\nl1.size = %s\nl2.size = %s\n' "$(seq -s ' ' 400)" "$(seq -s ' ' 400)" >"$sweep"
	run run_sweep
	[ "$status" -eq 2 ]
	grep -q 'more than 100000 points' "$BATS_TEST_TMPDIR/stderr"
}

# bats test_tags=whole
@test "the command of the manual" {
	while IFS= read -r command; do
		RESULTS=$results bash -c "${command//make /make -s -e }" >"$BATS_TEST_TMPDIR/out"
		[ "$(wc -l <"$(cat "$BATS_TEST_TMPDIR/out")")" -ge 19 ]
	done < <(sed -n 's/^    make/make/p' pipelines/sweep.md)
	make -s -f pipelines/sweep.mk RESULTS="$results" sweep-clean
	[ "$(ls "$results" | grep -vc '[.]csv$')" -eq 0 ] # the tables stay
}

# bats test_tags=whole
@test "the axes of [000] run on the examples, and agree with the paper's findings" {
	# tests/long/options.bats takes both traces.
	sed "s|^trace = .*|trace = ${TRACES:-examples/traces/conv.rdgc.xz}|" pipelines/rdgc-small.sweep >"$BATS_TEST_TMPDIR/small.sweep"
	run_sweep SWEEP="$BATS_TEST_TMPDIR/small.sweep pipelines/rdgc.sweep" CSV="$BATS_TEST_TMPDIR/rdgc.csv"
	python3 - "$BATS_TEST_TMPDIR/rdgc.csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		traces = {r["trace"] for r in rows}
		assert len(rows) == len(traces) * 61, len(rows)
		assert all(int(r["l1.reads"]) + int(r["l2.reads"]) > 0 for r in rows)
		def points(section, trace):
		    return [r for r in rows if r["section"] == section and trace in r["trace"]]
		for trace in traces:
		    # A longer fixed latency never takes fewer steps, and a larger LRU L1 never has fewer hits here.
		    steps = [int(r["l1.steps"]) for r in points("latency", trace)][:5]
		    assert steps == sorted(steps), steps
		    hits = [int(r["l1.read_hits"]) for r in points("l1-size", trace)]
		    assert hits == sorted(hits), hits
		    # Hits and merges hardly depend on the latency (5.1).
		    assert len({r["l1.merged_read_hit_rate"] for r in points("latency", trace)}) == 1
	END
	# Figures 16 and 17: without an L1 every request reaches L2; one bank takes no fewer steps than many.
	run_sweep SWEEP="$BATS_TEST_TMPDIR/small.sweep pipelines/rdgc-parallelism.sweep" CSV="$BATS_TEST_TMPDIR/parallelism.csv"
	python3 - "$BATS_TEST_TMPDIR/parallelism.csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		traces = {r["trace"] for r in rows}
		assert len(rows) == len(traces) * 12, len(rows)
		for trace in traces:
		    wide = [r for r in rows if trace in r["trace"]]
		    assert len({r["l2.requests"] for r in wide}) == 1
		    at = {(r["l2.partitions"], r["l2.banks"]): r for r in wide}
		    assert int(at["1", "1"]["l2.steps"]) > int(at["4", "2"]["l2.steps"])
	END
}

@test "a trace whose name a spreadsheet would compute is a text in the table" {
	cp examples/traces/conv.rdgc.xz "$BATS_TEST_TMPDIR/=conv.rdgc.xz"
	printf 'trace = =conv.rdgc.xz\ngpu = titanv\nl1.size = 8K\n' >"$sweep"
	(cd "$BATS_TEST_TMPDIR" && make -s -f "$ROOT/pipelines/sweep.mk" SWEEP="$sweep" RESULTS="$results")
	column trace | grep -Fx "\"'=conv.rdgc.xz\""
}
