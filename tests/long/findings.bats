#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Findings of all programs of examples/kernels, built by clang, as `gtrace run` finds them: the report has 80 columns, and few lines; JSON is as its
# schema says.

bats_require_minimum_version 1.5.0

setup() {
	load ../helpers
	command -v clang >/dev/null || skip "no clang"
	cd "$BATS_TEST_TMPDIR"
	prepare_preload
	build_kernels clang
}

# programs: a program a line, with arguments that make it small.
programs() {
	cat <<-'END'
		vectoradd 100000
		gemm 128
		gemm_tiled 128 16
		gemm_wide
		transpose 256 256
		transpose_tiled 256 256
		conv2d 128 128
		conv3d 32
		matvec 256 256
		syrk 64 64
		reduce 100000
		fast_walsh 12
		histogram 50000 256
		histogram64 50000
		dct8x8 128 128
		spmv 2000 16
		bfs 2000 8
		jacobi 128 128 4
		knee 200 4 8
		shared_stride 8
		strides
		pchase 16384 32 3
		atomic_exch
		invert_image 512 32
		pannotia_fw 64
		reductions 16384
		sobel 128 128
		transposes 128
		polybench_gemm 64
		polybench_2mm 64
		polybench_3mm 64
		polybench_syrk 64
		polybench_syr2k 64
		polybench_bicg 256 256
		polybench_atax 256 256
		polybench_mvt 256
		polybench_gesummv 256
		polybench_gemver 128
		polybench_2dconv 128 128
		polybench_3dconv 32 32 32
		polybench_jacobi2d 128 3
		polybench_fdtd2d 128 128 3
		polybench_covar 64 64
		polybench_corr 64 64
		polybench_gramschmidt 64 64 10
		rodinia_backprop 1024
		rodinia_hotspot 128 2 4
		rodinia_pathfinder 5000 40 20
		rodinia_nn 5000
		rodinia_bfs 5000 6
		rodinia_btree 20000 100
		rodinia_gaussian 32
		rodinia_cfd 5000 100
		rodinia_lavamd 2
		rodinia_nw 128
		rodinia_srad2 128 2
		parboil_stencil 128 16 8 2
		parboil_spmv 2000 20
		parboil_sgemm 128 64 64
		parboil_mriq 1000 1000
	END
}

@test "all examples have a report of 80 columns and JSON that follows the schema" {
	# Every source is in the list.
	diff <(programs | cut -d ' ' -f 1 | sort) <(cd "$ROOT/examples/kernels" && basename -s .cu ./*.cu | sort)
	programs | while read -r name arguments; do
		for gpu in titanv a100; do
			# shellcheck disable=SC2086 # arguments are words
			LD_PRELOAD=$PRELOAD gtrace-record --quiet --gpu $gpu --space global,local,shared --stdout said "$BUILD/kernels-clang/$name" $arguments </dev/null |
				gcoalesce --by site | gschedule | gcache --l1 --by site --causes | gcache --l2 --by site --causes | gdram >stream
			gstats --findings --program "./$name $arguments" stream >"$name.$gpu"
			gstats --findings --json --all stream >"$name.$gpu.json"
		done
	done
	# A kernel is shown with five findings of three lines or four at most.
	[ "$(ls ./*.a100 ./*.titanv | wc -l)" -ge 100 ]
	LC_ALL=C.UTF-8 awk 'length($0) > 80 && !/^  more of / { print FILENAME ": " $0; wide = 1 } END { exit wide }' ./*.a100 ./*.titanv
	wc -l ./*.a100 ./*.titanv | awk '$2 != "total" && $1 > 55 { print; long = 1 } END { exit long }'
	grep -L -E '^ +1  |nothing found' ./*.a100 ./*.titanv | diff - /dev/null
	python3 "$ROOT/tests/findings/schema.py" "$ROOT/docs/findings.schema.json" ./*.json
}
