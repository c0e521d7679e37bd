#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Random small streams in the tools and in the second implementation of tests/reference-model, which is written from the
# manual pages alone; 20,000 of each stage are in long/reference-model.bats.

bats_require_minimum_version 1.5.0
load helpers

# bats file_tags=slow

setup() { export TMPDIR=$BATS_TEST_TMPDIR; }

# agrees STAGE [CASES]: 30 cases, or so many, without a difference; half of them in `make check`.
agrees() {
	local cases=${2:-30}
	[ -n "${WHOLE:-}" ] || cases=$(((cases + 1) / 2))
	run "$ROOT/tests/reference-model/run" "$1" --cases $cases
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$1: $cases cases, 0 differ" ]
}

@test "gcoalesce agrees with its manual page" { agrees coalesce; }
@test "gschedule agrees with its manual page" { agrees schedule; }
@test "gdram agrees with its manual page" { agrees dram; }
@test "grd agrees with its manual page" { agrees reuse; }
@test "gcache agrees with its manual page" { agrees cache; }
@test "a timed gcache agrees with its manual page" { agrees cache_timed; }
@test "a gcache that decides which warps issue agrees with its manual page" { agrees cache_requeue 20; }

@test "a warp whose last request is served before others of its group continues after that, with --on-full stall and --delay" {
	run "$ROOT/tests/reference-model/run" cache_requeue --seed 77002 --case 35
	echo "$output"
	[ "$output" = "cache_requeue: 1 cases, 0 differ" ]
}

@test "findings agree with their manual page" { agrees findings 15; }
@test "gtrace sizes has what gcache has with each size" { agrees sizes 1; }
@test "gtrace compare agrees with its manual page" { agrees compare 6; }
@test "gstats --lines agrees with its manual page" { agrees lines 15; }
@test "gtrace-order agrees with its manual page" { agrees order 20; }
@test "gtrace-order reads the traces of NVBit, Accel-Sim and PPT-GPU as its manual page says" { agrees importers 20; }
@test "gstats prints the numbers and ratios that its manual page defines" { agrees stats 20; }
@test "gstats --reference and --errors agree with their manual page" { agrees reference 15; }
@test "gsample agrees with its manual page" { agrees sample 20; }
@test "what gtrace-ptx --static calls exact is what a run does" { agrees static_ptx 15; }
@test "what gpchase infer calls sure of simulated caches with noise is so" { agrees chase 2; }
@test "reports on the parts of a stream are those on the whole" { agrees merge 8; }

@test "a wrong tool is found" {
	mkdir "$TMPDIR/wrong"
	printf '#!/bin/sh\nexec "%s" "$@" --banks 7\n' "$(command -v gdram)" >"$TMPDIR/wrong/gdram"
	chmod +x "$TMPDIR/wrong/gdram"
	PATH=$TMPDIR/wrong:$PATH run -1 "$ROOT/tests/reference-model/run" dram --cases 10
	echo "$output"
	[[ $output == *"kernel 1, stage dram: banks: expected "*", got 7"* ]]
	[[ $output == *"dram: 10 cases, 10 differ" ]]
}
