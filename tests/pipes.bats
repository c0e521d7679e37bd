# SPDX-License-Identifier: MIT
# Pipes whose stages stand in a wrong order, and pipes in which a stage fails: what the user is told, and how often.
load helpers
bats_require_minimum_version 1.5.0

# Standard error of a pipe, whose output is not looked at.
errors_of() {
	run bash -c "{ $1; } 2>&1 >/dev/null"
}

setup() {
	cd "$ROOT"
	GEMM=examples/traces/gemm.rdgc.xz
}

@test "a private cache warns of a kernel of several blocks that no gschedule saw" {
	errors_of "gtrace-order $GEMM | gcache --l1 | gstats"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "gcache: warning: l1 is private to an SM, but no gschedule has assigned SMs: all blocks share one" ]]
	errors_of "gtrace-order $GEMM | gcache --l1 --quiet | gstats"
	[ -z "$output" ]
	errors_of "gtrace-order $GEMM | gschedule --sm 2 | gcache --l1 | gcache --l2 | gdram | gstats"
	[ -z "$output" ]
	errors_of "gtrace-order $GEMM | gcache --l2 | gstats"
	[ -z "$output" ]
}

@test "an L1 after an L2 is warned of, a schedule after a cache refused" {
	errors_of "gtrace-order $GEMM | gschedule --sm 2 | gcache --l2 | gcache --l1 | gstats"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == "gcache: warning: --l1 gets what --l2 has missed: put --l1 first" ]]
	errors_of "gtrace-order $GEMM | gcache --l2 | gschedule --sm 2 | gstats"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"put gschedule before it" ]]
}

@test "no stage models requests after gdram" {
	for stage in 'gcache --l2' 'gschedule --sm 2' gcoalesce gdram; do
		run --separate-stderr bash -c "set -o pipefail; gtrace-order $GEMM | gdram | $stage | gstats"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == *"gdram has taken all requests"* ]]
		[ "${#stderr_lines[@]}" -eq 1 ]
	done
}

@test "two stages that are given two GPUs: one line each" {
	vectoradd="gtrace-ptx --launch 'vectoradd<<<1,32>>>(f32[32], f32[32], f32[32], 32)'"
	ptx=examples/kernels/ptx/vectoradd.ptx
	errors_of "gtrace-order $GEMM | gschedule --gpu titanv | gschedule --gpu=a100 | gstats"
	[ "$output" = "gschedule: warning: gschedule --gpu titanv scheduled the rows: expected the same GPU here, not a100" ]
	errors_of "$vectoradd --gpu titanv $ptx | gcoalesce | gschedule --gpu a100 | gcache --l1 | gstats"
	[ "$output" = "gschedule: warning: gtrace-ptx --gpu titanv ran the kernels: expected the same GPU here, not a100" ]
	# Told once, where the GPUs part.
	errors_of "$vectoradd --gpu titanv $ptx | gcoalesce --gpu a100 | gschedule --gpu a100 | gcache --l1 | gstats"
	[ "$output" = "gcoalesce: warning: gtrace-ptx --gpu titanv ran the kernels: expected the same GPU here, not a100" ]
	errors_of "gtrace-order $GEMM | gcoalesce --gpu titanv | gcoalesce --gpu gtx1080 | gstats"
	[ "$output" = "gcoalesce: warning: an earlier gcoalesce has made the requests: --gpu gtx1080 changes nothing" ]
	errors_of "gtrace-order $GEMM | gcoalesce | gschedule --gpu titanv | gcoalesce --rule fermi | gstats"
	[ "$output" = "gcoalesce: warning: an earlier gcoalesce has made the requests: --rule fermi changes nothing" ]
	for pipe in "gtrace-order $GEMM | gschedule --gpu titanv | gschedule --gpu titanv" "gtrace-order $GEMM | gcoalesce --gpu titanv | gcoalesce --gpu titanv" \
		"gtrace-order $GEMM | gcoalesce | gcoalesce" "gtrace-order $GEMM | gschedule --gpu titanv | gschedule --sm 2" "$vectoradd --gpu titanv $ptx | gcoalesce | gschedule" \
		"gtrace-order $GEMM | gschedule --gpu titanv | gschedule --quiet --gpu a100"; do
		errors_of "$pipe | gstats"
		[ -z "$output" ]
	done
}

@test "gschedule warns of requests that were made for another GPU" {
	errors_of "gtrace-order $GEMM | gcoalesce --gpu h100 | gschedule --gpu titanv | gstats"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"gcoalesce --gpu h100 made the requests: expected the same GPU here, not titanv" ]]
	errors_of "gtrace-order $GEMM | gcoalesce | gschedule --gpu gtx1080 | gstats"
	[ "${#lines[@]}" -eq 1 ]
	[[ $output == *"by the rule 'default', but gtx1080 has 'pascal': give gcoalesce --gpu gtx1080 too" ]]
	for pipe in 'gcoalesce | gschedule --gpu titanv' 'gcoalesce --rule fermi | gschedule --gpu gtx1080' \
		'gcoalesce --gpu gtx1080 | gschedule --gpu gtx1080' 'gschedule --gpu gtx1080 | gcoalesce'; do
		errors_of "gtrace-order $GEMM | $pipe | gstats"
		[ -z "$output" ]
	done
}

@test "a pipe in which a stage fails gives one diagnostic and no totals" {
	for pipe in "gtrace-order nosuch | gcoalesce | gstats" "gtrace-order $GEMM | gcache --l1 --size 3 | gdram | gstats" \
		"gtrace-order $GEMM | head -c 3000 | gcache --l2 | gdram | gstats" "gtrace-order $GEMM | zstd -q | gcache --l2 | gstats" \
		"gtrace-order $GEMM | gschedule | gcache --l2 | gtrace-cat"; do
		run --separate-stderr bash -c "set -o pipefail; $pipe"
		[ "$status" -ne 0 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $output != *l2* ]]
	done
}

@test "a tool that prints text writes no stream into a pipe when it fails" {
	for command in "gcoalesce --degree nosuch" "gcoalesce --degree --rule fermi" "gtrace-ptx --list nosuch" "gstats nosuch"; do
		run --separate-stderr bash -c "$command | cat"
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
}

@test "a killed stage is reported once, by the stage after it" {
	run --separate-stderr bash -c "gtrace-order $GEMM | bash -c 'head -c 3000; kill -9 \$\$' | gcoalesce | gcache --l2 | gstats"
	[ "$status" -eq 1 ]
	[ "$(grep -c '^g' <<<"$stderr")" -eq 1 ]
	[[ $stderr == *"gcoalesce: standard input: record"* ]]
}

@test "a stream in a file tells which stage failed, and why" {
	run bash -c "gtrace-order $GEMM | head -c 3000 | gcache --l2 2>/dev/null >'$BATS_TEST_TMPDIR/cut'"
	run gstats "$BATS_TEST_TMPDIR/cut"
	[ "$status" -eq 1 ]
	[[ $output == *"cut: gcache failed: standard input: record 3: the input ends inside it" ]]
}

@test "messages name the cure" {
	gtrace-order $GEMM >"$BATS_TEST_TMPDIR/stream"
	run bash -c "gtrace-order $GEMM | gzip | gstats"
	[[ $output == *"compressed: 'gzip -dc' makes the stream of it" ]]
	run gtrace-ptx --list examples/kernels/gemm.cu
	[[ $output == *"gemm.cu:"*"'nvcc -ptx' translates it to PTX"* ]]
	run --separate-stderr gcache --l2 --size 5000 --ways 4 "$BATS_TEST_TMPDIR/stream"
	[[ $stderr == *"try 4.5K or 5K" ]]
	run --separate-stderr gcache --l2 --size 128 --ways 4 "$BATS_TEST_TMPDIR/stream"
	[[ $stderr == *"try 512" ]]
	run gplot curve "$BATS_TEST_TMPDIR/stream"
	[[ $output == *"expected text, found a gtrace stream (gtrace-cat shows it)" ]]
	run grd --lines 16K "$BATS_TEST_TMPDIR/stream"
	[[ $output == *": a count, not a size in bytes" ]]
}

@test "a stream that comes and goes in uneven pieces, through a stage that is stopped and continued, is the same" {
	cd "$BATS_TEST_TMPDIR"
	gtrace-order "$ROOT/$GEMM" >ordered
	gschedule --gpu titanv ordered >scheduled
	for stage in "gtrace-order -j 2" gcoalesce "gschedule --gpu titanv --issue gto" gtrace-cat; do
		# shellcheck disable=SC2086 # words
		python3 "$ROOT/tests/uneven.py" ordered $stage
	done
	for stage in "gcache --l1 --emit all" "gcache --l1 -j 2" "grd -j 2 --mru 8" gdram "gstats --csv"; do
		# shellcheck disable=SC2086 # words
		python3 "$ROOT/tests/uneven.py" scheduled $stage
	done
}
