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
	# The others are as they are: gtrace-cat, gschedule ...
	TSAN_OPTIONS="halt_on_error=1 exitcode=66" JOBS_FEWER=4 THREADS="1 2 3 8 0" tests/run --bin $work/bin --build $work tests/jobs.bats
}
