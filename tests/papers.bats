#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The papers' models of pipelines/, on small examples: their tables, and the data in each picture.

setup_file() {
	cd "$ROOT" || return 1
	type -P gnuplot >/dev/null || skip "no gnuplot"
	for model in rdgc nugteren mei kim yuan ablation; do
		make -s -C pipelines $model RESULTS="$BATS_FILE_TMPDIR" MOST=64 SEEDS=2 >"$BATS_FILE_TMPDIR/$model.out"
	done
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

@test "the printed tables are the files, and a second run makes nothing" {
	cd "$ROOT"
	for model in rdgc nugteren mei kim yuan ablation; do
		grep "^$BATS_FILE_TMPDIR/" "$BATS_FILE_TMPDIR/$model.out" | while read -r made; do [ -s "$made" ]; done
		before=$(find "$BATS_FILE_TMPDIR" -type f -printf '%p %i\n' | grep -v '\.out ' | sort)
		make -s -C pipelines $model RESULTS="$BATS_FILE_TMPDIR" MOST=64 SEEDS=2 | diff "$BATS_FILE_TMPDIR/$model.out" -
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
	[ "$count" -ge 25 ]
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

@test "[000]: the six metrics, and an L2 that sees more without an L1" {
	[ "$(sed 1d "$(file rdgc metrics.tsv)" | cut -f 1 | sort | tr '\n' ' ')" = \
		"L1_R_Hit L1_R_Trans L2_Hit L2_Hit_L1B L2_Trans L2_Trans_L1B " ]
	[ "$(metric L2_Trans_L1B rdgc)" -gt "$(metric L2_Trans rdgc)" ]
	[ "$(wc -l <"$(file rdgc points.csv)")" -eq 71 ]
}

@test "[002]: classes add up to the misses, and data that fits misses one line in 32" {
	for model in nugteren ablation; do
		awk -F '\t' 'NR > 1 { d = $3 - $4 - $5 - $6 - $7 - $8; if (d > 0.3 || d < -0.3) exit 1 } END { exit NR != 2 }' \
			"$(file $model classes.tsv)"
	done
	[ "$(sed -n 2p "$(file nugteren figure3.tsv)" | cut -f 1-5)" = "$(printf '32\t3.13\t3.13\t3.12\t3.12')" ]
}

@test "[003]: table 3's base kernels, and traces that touch the sectors that the degree predicts" {
	awk -F '\t' '{ degree[$1] = $2; expected[$1] = $3; traced[$1] = $4 }
		END {
			exit !(degree["stride_32"] == 3.125 && traced["stride_32"] == 32 && expected["stride_4"] == 16 &&
				traced["stride_4"] == 16 && expected["same_location"] == 1 && traced["same_location"] == 1 &&
				degree["coalescing"] == 100 && expected["coalescing"] == 4 && traced["coalescing"] == 4)
		}' "$(file kim kernels.tsv)"
}

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
	[[ "$output" == *"nowhere: no such file"* ]]
	run make -s -C pipelines rdgc RESULTS="$BATS_TEST_TMPDIR" GPU=no-such-gpu
	[ "$status" -eq 2 ]
}
