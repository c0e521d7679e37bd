#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The corpus of each target of the fuzzer, replayed: no crash, and an error has one line of text.

load helpers

@test "every target has a corpus, and replays it" {
	cd "$ROOT"
	for target in tests/fuzz/targets/*.c; do
		name=$(basename "$target" .c)
		run timeout 60 "$BUILD/tests/fuzz/replay/$name" tests/fuzz/corpus/"$name"/*
		echo "$name: $output"
		[ "$status" -eq 0 ]
		[[ $output =~ ^[1-9][0-9]*\ inputs$ ]]
	done
}

@test "the corpus is small" {
	[ "$(du -sk "$ROOT/tests/fuzz/corpus" | cut -f 1)" -lt 2048 ]
}

# mutants FILE COMMAND...: so many damaged copies of a file, $MUTANTS of them, each read by the command.
mutants() {
	run python3 "$ROOT/tests/mutants.py" "${MUTANTS:-25}" "${SEED:-1}" "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "damaged tables of profilers, logs, saved reports, lists of traces, sweeps and configurations: a result, or one line" {
	cd "$BATS_TEST_TMPDIR"
	mkdir whole
	gtrace-ptx --launch 'vectoradd<<<4,64>>>(A=f32[256], B=f32[256], C=f32[256], 256)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" |
		gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram >counted
	gstats --names ncu --csv counted >whole/ncu.csv
	gstats --names nvprof --csv counted >whole/nvprof.csv
	gstats --csv counted | head -n 80 >whole/saved.csv
	gstats --names ncu --csv counted | python3 "$ROOT/tests/raw_page.py" >whole/raw.csv
	gstats --reference whole/ncu.csv --csv counted >whole/rows.csv
	cp "$ROOT"/tests/golden/{accelsim.log,gpgpusim.config} whole
	for table in ncu.csv raw.csv nvprof.csv saved.csv accelsim.log; do
		mutants whole/$table gstats --reference {} counted
	done
	mutants whole/rows.csv gstats --errors {}
	mutants whole/gpgpusim.config gtrace gpu from-accelsim {}
	xz -dc "$ROOT/examples/traces/conv.traceg.xz" | head -n 60 >kernel-1.traceg
	cp kernel-1.traceg kernel-2.traceg
	printf '%s\n' MemcpyHtoD,0x00007f1000000000,4096 kernel-1.traceg '# kernel-1.traceg' kernel-2.traceg >whole/kernelslist.g
	mutants whole/kernelslist.g gtrace-order {}
	printf '%s\n' section,l1.size,l1.reads,l2.reads 's,1024,"7",8' s,2048,6,7 t,4096,5,- >whole/points.csv
	mutants whole/points.csv gplot sweep --script -x l1.size -y l2.reads {}
}
