# SPDX-License-Identifier: MIT
# What runs in threads, under ThreadSanitizer: the runtime that a program calls from four threads at once, and the tools that
# have an option --jobs.

bats_require_minimum_version 1.5.0

@test "threads that use the runtime at the same time do not race" {
	cd "$ROOT"
	work=build-thread
	make -s -j 2 BUILD=$work BIN=$work/bin CFLAGS='-O1 -g' SANITIZE=-fsanitize=thread $work/bin/gtrace-record $work/cudart/libcudart.so.13
	gcc -std=c11 -O1 -g -fsanitize=thread -D_POSIX_C_SOURCE=200809L -I"$ROOT/tests/unit" -o $work/program tests/cudart/program.c \
		-Wl,--unresolved-symbols=ignore-in-shared-libs $work/cudart/libcudart.so.13 -lm -pthread
	run --separate-stderr env GTRACE_CUDART="$ROOT/$work/cudart" GTRACE_GPUS="$ROOT/gpus" $work/bin/gtrace-record $work/program threads
	echo "$stderr"
	[ "$status" -eq 0 ]
	[[ $stderr == *"0 wrong"* ]]
	[[ $stderr != *ThreadSanitizer* ]]
}

@test "threads of the tools do not race" {
	cd "$ROOT"
	work=build-thread
	mapfile -t tools < <(grep -lE 'TOOL_JOBS|GT_TRACING_PTX' tools/g*.[ch] | sed 's|.*/||; s|[.][ch]$||' | sort -u)
	[ "${#tools[@]}" -gt 1 ]
	make -s -j 2 BUILD=$work BIN=$work/bin CFLAGS='-O1 -g' SANITIZE=-fsanitize=thread "${tools[@]/#/$work/bin/}" $work/tests/unit/pipeline
	run $work/tests/unit/pipeline
	echo "$output"
	[ "$status" -eq 0 ]
	# The others are as they are: gtrace-cat, gstats ...
	TSAN_OPTIONS="halt_on_error=1 exitcode=66" JOBS_FEWER=4 THREADS="1 2 3 8 0" tests/run --bin $work/bin --build $work --whole tests/jobs.bats
}

# sound COMMAND...: it ends in an error or well, without a race, and in time; $runs and $failed count.
sound() {
	local status=0
	timeout 120 "$@" >/dev/null 2>err || status=$?
	if [ "$status" -gt 1 ] || grep -q ThreadSanitizer err; then echo "status $status: $*"; cat err; return 1; fi
	runs=$((runs + 1)) failed=$((failed + status))
}

@test "threads do not race where one fails: a full disk, a closed pipe, a stream that is cut, a launch that stops" {
	cd "$ROOT"
	work=$ROOT/build-thread
	make -s -j 2 BUILD=build-thread BIN=build-thread/bin CFLAGS='-O1 -g' SANITIZE=-fsanitize=thread build-thread/bin/gtrace-{order,ptx} \
		build-thread/bin/{gcoalesce,gschedule,gcache,grd}
	cd "$BATS_TEST_TMPDIR"
	export TSAN_OPTIONS="halt_on_error=1 exitcode=66" GTRACE_GPUS=$ROOT/gpus
	local kernel=$ROOT/examples/kernels/ptx/gemm.ptx runs=0 failed=0 tool
	local launch='gemm<<<(4,16),(32,8)>>>(f32[128*128]:ramp, f32[128*128]:ramp, f32[128*128], 128)'
	gtrace-ptx --launch "$launch" "$kernel" >accesses
	gtrace-ptx --work --launch "$launch" "$kernel" | gcoalesce >requests
	gschedule --gpu titanv accesses >scheduled
	xz -dc "$ROOT/examples/traces/gemm.rdgc.xz" >text
	tools=("gtrace-order text" "gtrace-order -S 64K text" "gtrace-order accesses" "gcoalesce accesses" "gcache --l1 --emit all scheduled"
		"gcache --l2 --emit all scheduled" "grd scheduled" "grd --mru 8 scheduled" "gschedule --gpu titanv --issue latency requests")
	for tool in "${tools[@]}"; do
		# shellcheck disable=SC2086 # words
		set -- $tool
		sound sh -c '"$@" >/dev/full' - "$work/bin/$1" -j 3 "${@:2}"
		sound bash -c 'set -o pipefail; "$@" | head -c 20000; [ ${PIPESTATUS[0]} -lt 66 ] || [ ${PIPESTATUS[0]} -eq 141 ]' - "$work/bin/$1" -j 3 "${@:2}"
		for part in 1 3 5; do
			head -c "$(($(stat -c %s "${!#}") * part / 7))" "${!#}" >cut
			[ "${!#}" != text ] || echo "no line of a trace" >>cut
			sound "$work/bin/$1" -j 3 "${@:2:$#-2}" cut
		done
	done
	for more in "" "-S 1M"; do
		# shellcheck disable=SC2086 # words
		sound sh -c '"$@" >/dev/full' - "$work/bin/gtrace-ptx" $more -j 3 --launch "$launch" "$kernel"
	done
	for n in 1 2000 9000 16383; do
		sound "$work/bin/gtrace-ptx" -j 3 --check fault --launch "gemm<<<(4,16),(32,8)>>>(f32[128*128], f32[128*128], f32[$n], 128)" "$kernel"
		sound "$work/bin/gtrace-ptx" -j 3 --max-instructions $((n * 2)) --launch "$launch" "$kernel"
	done
	sound env TMPDIR=/nowhere "$work/bin/gtrace-ptx" -j 3 -S 1M --launch "$launch" "$kernel"
	sound env TMPDIR=/nowhere "$work/bin/gtrace-order" -j 3 -S 64K text
	echo "$failed of $runs runs failed"
	[ "$failed" -gt 35 ]
}
