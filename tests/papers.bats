#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The papers' models of pipelines/, on small examples: their tables, and the data in each picture.

load helpers

setup_file() {
	cd "$ROOT" || return 1
	type -P gnuplot >/dev/null || skip "no gnuplot"
	for model in $(models); do
		make_model "$model" >"$BATS_FILE_TMPDIR/$model.out"
	done
}

# mei.bats has the numbers of the last one.
models() { echo rdgc yuan ${WHOLE:+nugteren kim ablation mei}; }

make_model() {
	local seeds=1
	[ -z "${WHOLE:-}" ] || seeds=2
	make -s -C "$ROOT/pipelines" "$1" RESULTS="$BATS_FILE_TMPDIR" MOST=64 SEEDS=$seeds
}

# file MODEL NAME: a file that a model made.
file() {
	local path
	path=("$BATS_FILE_TMPDIR/$1"-*/"$2")
	echo "${path[0]}"
}

# metric NAME MODEL: a value of a table of metrics.
metric() {
	awk -F '\t' -v name="$1" '$1 == name { print $2 }' "$(file "$2" metrics.tsv)"
}

# counter STAGE NAME: the total of gstats --csv on standard input.
counter() {
	awk -F, -v stage="$1" -v name="$2" '$1 == "total" && $2 == stage && $3 == name { print $4 }'
}

# bats test_tags=whole
@test "the printed tables are the files, and a second run makes nothing" {
	cd "$ROOT"
	for model in $(models); do
		grep "^$BATS_FILE_TMPDIR/" "$BATS_FILE_TMPDIR/$model.out" | while read -r made; do [ -s "$made" ]; done
		before=$(find "$BATS_FILE_TMPDIR" -type f -printf '%p %i\n' | grep -v '\.out ' | sort)
		make_model "$model" | diff "$BATS_FILE_TMPDIR/$model.out" -
		[ "$before" = "$(find "$BATS_FILE_TMPDIR" -type f -printf '%p %i\n' | grep -v '\.out ' | sort)" ]
	done
}

@test "every picture has labelled axes and data" {
	count=0
	for picture in "$BATS_FILE_TMPDIR"/*-*/*.svg; do
		grep -q '<svg' "$picture"
		[ "$(grep -c '<text' "$picture")" -ge 4 ] || { echo "$picture: no labels"; return 1; }
		[ "$(grep -cE '<(path|polygon|use|circle|rect)' "$picture")" -ge 5 ] || { echo "$picture: nothing drawn"; return 1; }
		count=$((count + 1))
	done
	[ "$count" -ge $((${#WHOLE} > 0 ? 25 : 18)) ]
}

@test "[004]: the metrics are those of the pipe" {
	cd "$ROOT"
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce --gpu titanv | gschedule --gpu titanv | gcache --l1 | gcache --l2 |
		gdram | gstats --csv >"$BATS_TEST_TMPDIR/report"
	[ "$(metric 'L2 Reads' yuan)" = "$(counter l2 reads <"$BATS_TEST_TMPDIR/report")" ]
	[ "$(metric 'DRAM Writes' yuan)" = "$(counter dram writes <"$BATS_TEST_TMPDIR/report")" ]
	[ "$(metric 'L1 Hit Rate (Load)' yuan)" = "$(awk -v h="$(counter l1 read_hits <"$BATS_TEST_TMPDIR/report")" \
		-v n="$(counter l1 reads <"$BATS_TEST_TMPDIR/report")" 'BEGIN { printf "%.2f", 100 * h / n }')" ]
	# Without an L1, L2 has a higher hit rate; the five models have a row each.
	[ "$(cut -f 1 "$(file yuan improvements.tsv)" | tr '\n' ' ')" = "model Final L1NonSec L2NonSec NoL1Filter NoAdaptL1 " ]
	awk -F '\t' '{ l2[$1] = $3 } END { exit !(l2["NoL1Filter"] > l2["Final"]) }' "$(file yuan improvements.tsv)"
}

@test "[000]: the six metrics, reads and all apart, and an L2 that sees more without an L1" {
	[ "$(sed 1d "$(file rdgc metrics.tsv)" | cut -f 1 | sort | tr '\n' ' ')" = \
		"L1_R_Hit L1_R_Hit_M L1_R_Trans L2_Hit L2_Hit_L1B L2_R_Hit L2_R_Hit_L1B L2_R_Hit_M L2_R_Hit_M_L1B L2_Trans L2_Trans_L1B " ]
	[ "$(metric L2_Trans_L1B rdgc)" -gt "$(metric L2_Trans rdgc)" ]
	[ "$(wc -l <"$(file rdgc points.csv)")" -eq 62 ]
	# They are those of a timed pipe.
	cd "$ROOT"
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce --gpu gtx970 | gschedule --gpu gtx970 | gcache --l1 --on-full stall |
		gcache --l2 --on-full stall | gstats --csv >"$BATS_TEST_TMPDIR/report"
	[ "$(metric L2_R_Hit rdgc)" = "$(awk -v h="$(counter l2 read_hits <"$BATS_TEST_TMPDIR/report")" \
		-v n="$(counter l2 reads <"$BATS_TEST_TMPDIR/report")" 'BEGIN { printf "%.2f", 100 * h / n }')" ]
	# The parallelism of 4.4.1 is that of the L2 of the description: the latency is A2's least, and nothing waits.
	[ "$(counter l1 reservation_fails <"$BATS_TEST_TMPDIR/report")" -eq 0 ]
	[ "$(counter l1 latency_steps <"$BATS_TEST_TMPDIR/report")" -eq $((2 * $(counter l1 reservations <"$BATS_TEST_TMPDIR/report"))) ]
}

@test "[000] figure 14: distances from 0 to 7, and 8 and more, add up to the lookups of L2" {
	table=$(file rdgc l2-distances.tsv)
	[ "$(sed 1d "$table" | cut -f 1 | paste -sd ' ')" = "0 1 2 3 4 5 6 7 8+" ]
	cd "$ROOT"
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce | gschedule --gpu pipelines/rdgc.gpu | gcache --l2 --on-full stall |
		gstats --csv >"$BATS_TEST_TMPDIR/report"
	[ "$(awk 'NR > 1 { n += $4 } END { print n }' "$table")" -eq \
		$(($(counter l2 reads <"$BATS_TEST_TMPDIR/report") + $(counter l2 writes <"$BATS_TEST_TMPDIR/report"))) ]
	awk 'NR > 1 && ($2 + $3 != $4 || $2 < 0 || $3 < 0) { exit 1 }' "$table"
}

# bats test_tags=whole
@test "[002]: classes add up to the misses, and data that fits misses one line in 32" {
	for model in nugteren ablation; do
		awk -F '\t' '
			$2 == "cumulative" { cumulative++; d = $4 - $5 - $6 - $7 - $8 - $9; if (d > 0.3 || d < -0.3) exit 1 }
			$2 == "leave-one-out" { left_out++; if ($4 - $8 < 0 || $4 - $9 < 0) exit 1 }
			END { exit !(cumulative == 1 && left_out == 1 && NR == 3) }' "$(file $model classes.tsv)"
	done
	[ "$(sed -n 2p "$(file nugteren figure3.tsv)" | cut -f 1-5)" = "$(printf '32\t3.13\t3.13\t3.13\t3.13')" ]
	[ "$(cut -f 5 "$(file nugteren figure3-latencies.tsv)" | grep -cx fitted)" -eq 1 ]
}

# bats test_tags=whole
@test "[002] figure 9: 64 MSHRs and 6 a warp show in the time of independent loads" {
	[ "$(sed 1d "$(file nugteren figure9.tsv)" | cut -f 3 | paste -sd ' ')" = "6 6 5 4 4 3" ]
	cmp <(cut -f 2 "$(file nugteren figure9.tsv)" | sed 1d) <(cut -f 3 "$(file nugteren figure9.tsv)" | sed 1d)
}

# bats test_tags=whole
@test "[002] figure 12: all sixteen points beside the GTX 470's" {
	table=$(file nugteren figure12.tsv)
	[ "$(sed 1d "$table" | cut -f 1,2 | tr '\t\n' '= ')" = "size=4K size=8K size=16K size=32K size=64K ways=1 ways=2 ways=4 ways=8 ways=16 line=32 line=64 line=128 line=256 line=512 mshr=16 mshr=32 mshr=64 mshr=128 mshr=256 " ]
	# The GTX 470 itself is in each group, and the lines that loads look up depend on the length of lines only.
	[ "$(awk '/^(size.16K|ways.4|line.128|mshr.64)\t/' "$table" | cut -f 3- | sort -u | wc -l)" -eq 1 ]
	[ "$(grep -v ^line "$table" | sed 1d | cut -f 3 | sort -u | wc -l)" -eq 1 ]
}

# bats test_tags=whole
@test "[003]: table 3's base kernels, and traces that touch the sectors that the degree predicts" {
	awk -F '\t' '{ degree[$1] = $2; expected[$1] = $3; traced[$1] = $4 }
		END {
			exit !(degree["stride_32"] == 3.125 && traced["stride_32"] == 32 && expected["stride_4"] == 16 &&
				traced["stride_4"] == 16 && expected["same_location"] == 1 && traced["same_location"] == 1 &&
				degree["coalescing"] == 100 && expected["coalescing"] == 4 && traced["coalescing"] == 4)
		}' "$(file kim kernels.tsv)"
}

# bats test_tags=whole
@test "a trace is found from where make is called, or else from the folder that -C names" {
	cd "$ROOT"
	make -s -C pipelines yuan RESULTS="$BATS_TEST_TMPDIR" TRACE=examples/traces/gemm.rdgc.xz >"$BATS_TEST_TMPDIR/here"
	make -s -C pipelines yuan RESULTS="$BATS_TEST_TMPDIR" TRACE=../examples/traces/gemm.rdgc.xz >"$BATS_TEST_TMPDIR/there"
	grep -v '^/' "$BATS_TEST_TMPDIR/here" | diff - <(grep -v '^/' "$BATS_TEST_TMPDIR/there")
	grep -q '^metrics' "$BATS_TEST_TMPDIR/there"
}

# bats test_tags=whole
@test "a command is a source, and failing ones are reported" {
	cd "$ROOT"
	make -s -C pipelines yuan RESULTS="$BATS_TEST_TMPDIR" SOURCE="gtrace-ptx --launch \
		'gemm<<<(2,8),(32,8)>>>(f32[4096]:ramp, f32[4096]:ramp, f32[4096], 64)' examples/kernels/ptx/gemm.ptx" >"$BATS_TEST_TMPDIR/out"
	gtrace-ptx --launch 'gemm<<<(2,8),(32,8)>>>(f32[4096]:ramp, f32[4096]:ramp, f32[4096], 64)' examples/kernels/ptx/gemm.ptx |
		gcoalesce --gpu titanv | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram | gstats --csv >"$BATS_TEST_TMPDIR/report"
	grep -qx "    L2 Reads	$(counter l2 reads <"$BATS_TEST_TMPDIR/report")	sectors" "$BATS_TEST_TMPDIR/out"
	grep -qx "    DRAM Writes	$(counter dram writes <"$BATS_TEST_TMPDIR/report")	sectors" "$BATS_TEST_TMPDIR/out"
	run make -s -C pipelines yuan RESULTS="$BATS_TEST_TMPDIR" TRACE=nowhere
	[ "$status" -eq 2 ]
	[[ "$output" == *"TRACE=nowhere: no such file in $PWD"* ]]
	run make -s -C pipelines rdgc RESULTS="$BATS_TEST_TMPDIR" GPU=no-such-gpu
	[ "$status" -eq 2 ]
}
