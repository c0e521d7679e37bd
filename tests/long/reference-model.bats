# SPDX-License-Identifier: MIT
# More random streams than reference-model.bats in the tools and in the second implementation: 20,000 of each stage.
# Some ten minutes a stage.

# agrees STAGE [CASES]
agrees() {
	TMPDIR=$BATS_TEST_TMPDIR run "$ROOT/tests/reference-model/run" "$1" --seed long --cases "${2:-20000}"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$1: ${2:-20000} cases, 0 differ" ]
}

@test "20,000 streams in gcoalesce" { agrees coalesce; }
@test "20,000 streams in gschedule" { agrees schedule; }
@test "20,000 streams in gdram" { agrees dram; }
@test "20,000 streams in grd" { agrees reuse; }
@test "20,000 streams in gcache" { agrees cache; }
@test "20,000 streams in a timed gcache" { agrees cache_timed; }
@test "10,000 streams in a gcache that decides which warps issue" { agrees cache_requeue 10000; }
@test "20,000 traces in gtrace-order" { agrees order; }
@test "20,000 traces of NVBit, Accel-Sim and PPT-GPU in gtrace-order" { agrees importers; }
@test "20,000 reports of gstats" { agrees stats; }
@test "20,000 streams in findings" { agrees findings; }
@test "20,000 tables of profilers in gstats --reference" { agrees reference; }
@test "20,000 streams in gstats --lines" { agrees lines; }
@test "20,000 streams in gsample" { agrees sample; }
@test "10,000 kernels in gtrace-ptx --static" { agrees static_ptx 10000; }
@test "150 caches with noise in gpchase infer" { agrees chase 150; }
@test "1,000 tables of gtrace sizes" { agrees sizes 1000; }
@test "10,000 divided streams" { agrees merge 10000; }
@test "10,000 pairs of runs in gtrace compare" { agrees compare 10000; }

@test "what gschedule.bats draws, many times more" {
	export TMPDIR=$BATS_TEST_TMPDIR
	python3 "$ROOT/tests/golden/schedule.py" 12 100
	python3 "$ROOT/tests/golden/latency.py" 104 1000
}
