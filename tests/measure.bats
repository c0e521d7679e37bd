#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# examples/kernels/measure, with programs that stand for nvcc and ncu.

load helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p tools
	# What nvcc builds prints its name and arguments.
	cat >tools/nvcc <<-'NVCC'
		#!/bin/sh
		if [ "$1" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit; fi
		while [ "$1" != -o ]; do shift; done
		printf '#!/bin/sh\necho "${0##*/} $*"\n' >"$2"
		chmod +x "$2"
		[ -f "$3" ]
	NVCC
	# ncu has two launches of one kernel, of two metrics each, in the form of ncu --csv.
	cat >tools/ncu <<-'NCU'
		#!/bin/sh
		if [ "$1" = --version ]; then echo 'Version 2025.3.1.0'; exit; fi
		if [ "$1" = --query-metrics ]; then printf '%s Counter sector words\n' lts__t_sectors_op_read lts__t_sector_op_read_hit_rate dram__sectors_write; exit; fi
		echo "$*" >>"$NCU_CALLS"
		echo '==PROF== Connected to process 1'
		echo '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
		for id in 0 1; do
			for row in 'lts__t_sectors_op_read.sum","sector","1,250' 'lts__t_sector_op_read_hit_rate.pct","%","12.5'; do
				echo "\"$id\",\"1\",\"p\",\"h\",\"k(float *, int)\",\"1\",\"7\",\"(32, 8, 1)\",\"(4, 16, 1)\",\"0\",\"7.0\",\"Command line profiler metrics\",\"$row\""
			done
		done
	NCU
	chmod +x tools/*
	export NCU_CALLS=$PWD/calls MEASURE_QUICK=1
	PATH=$PWD/tools:$PATH
}

@test "measure leaves what validate and infer read" {
	"$ROOT/examples/kernels/measure" titanv out >said 2>warned
	grep -qx 'measure: 60 counters, three series and two sweeps in out' said
	grep -qx 'measure: no metric dram__sectors_read.sum on this GPU' warned
	[ "$(wc -l <calls)" -eq 15 ]
	[ "$(grep -c -- '--cache-control all --clock-control none' calls)" -eq 15 ]
	grep -q 'launch__registers_per_thread,.*lts__t_sectors_op_read.sum,.*dram__sectors_write.sum.* out/bin/rodinia_gaussian 16$' calls
	grep -qx 'description,"titanv"' out/about.csv
	grep -qx 'nvcc,"13.0, V13.0.88"' out/about.csv
	grep -qx 'ncu,"2025.3.1.0"' out/about.csv
	grep -q '^date,"2[0-9-]*T[0-9:]*Z"$' out/about.csv
	cat out/l1.series out/l2.series out/tlb.series | diff - <(printf 'pchase %s\n' '16384 32 3' '1048576 128 2' '8388608 2097152 2')
	[ "$(paste -sd' ' out/knee.csv)" = 'kilobytes,bytes_a_tick knee 32 40' ]
	[ "$(paste -sd' ' out/shared.csv)" = 'stride,ticks shared_stride 2 10' ]
	grep '^titanv,gemm,' out/rows.csv | diff - <(printf 'titanv,gemm,128 32 8,k,4x16x1,32x8x1,%s,yes,measure\n' \
		'1,cold,lts__t_sectors_op_read.sum,1250,sector' '1,cold,lts__t_sector_op_read_hit_rate.pct,12.5,%' \
		'2,cold,lts__t_sectors_op_read.sum,1250,sector' '2,cold,lts__t_sector_op_read_hit_rate.pct,12.5,%')
	# Programs and arguments are those of the examples, and validate knows the columns: here it has none of the programs.
	cut -d, -f 2 out/rows.csv | sed 1d | sort -u | while read -r program; do [ -f "$ROOT/examples/kernels/$program.cu" ] || exit 1; done
	sed 's/,[a-z0-9_]*,/,nosuch,/' out/rows.csv | sed '1s/.*/gpu,program,arguments,kernel,grid,block,ordinal,l2,metric,value,unit,target,source/' >nosuch.csv
	"$ROOT/tests/validate" --bin "$(dirname "$(command -v gstats)")" --build "$BUILD" nosuch.csv | grep -q '^not run: 60 rows, nosuch on titanv'
}

# bats test_tags=whole
@test "measure takes three sizes of each program, or the programs of a list" {
	MEASURE_QUICK='' "$ROOT/examples/kernels/measure" titanv out >said 2>warned
	[ "$(wc -l <calls)" -eq 45 ]
	[ "$(wc -l <out/knee.csv)" -eq 80 ]
	[ "$(wc -l <out/shared.csv)" -eq 33 ]
	cat out/l1.series out/l2.series out/tlb.series | diff - <(printf 'pchase %s\n' '16384..270336:2048 32 3' '16777216..67108864:16777216 128 2' '8388608..268435456:8388608 2097152 2')
	[ "$(cut -d, -f 2,3 out/rows.csv | sed 1d | sort -u | wc -l)" -eq 45 ]
	printf '%s\n' atomic_exch 'sobel 64 64|128 64' >list
	MEASURE_QUICK='' "$ROOT/examples/kernels/measure" titanv few list 2>warned
	[ "$(cut -d, -f 2,3 few/rows.csv | sed 1d | uniq | paste -sd' ')" = 'atomic_exch, sobel,64 64 sobel,128 64' ]
}

# bats test_tags=whole
@test "measure says what is missing or fails" {
	run "$ROOT/examples/kernels/measure" titanv
	[ "$status" -eq 2 ]
	printf '#!/bin/sh\nexit 3\n' >tools/ncu
	run "$ROOT/examples/kernels/measure" titanv out
	[ "$status" -eq 1 ]
	[[ $output == *"measure: ncu --query-metrics: exit 3"* ]]
	printf '#!/bin/sh\n[ "$1" = --version ] || [ "$1" = --query-metrics ] || exit 3\n' >tools/ncu
	run "$ROOT/examples/kernels/measure" titanv out
	[ "$status" -eq 1 ]
	[[ $output == *"measure: 15 runs were not counted"* ]]
	[[ $output == *"measure: ncu vectoradd 1000 128: exit 3"* ]]
	printf '#!/bin/sh\n[ "$1" = --version ] || [ "$1" = --query-metrics ] || echo "==ERROR== no permission"\n' >tools/ncu
	run "$ROOT/examples/kernels/measure" titanv out
	[ "$status" -eq 1 ]
	[[ $output == *"measure: ncu vectoradd 1000 128: no table in out/ncu/vectoradd_1000_128.csv"* ]]
}
