# SPDX-License-Identifier: MIT
# A minute of make fuzz, for all targets together; many wrong operands, and many damaged files and fat binaries.

@test "fuzzing finds nothing in a minute" {
	cd "$ROOT"
	run make fuzz SECONDS=6
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "200,000 PTX instructions with wrong operands crash nothing, at any level" {
	for level in plain avx2-native native; do
		GTRACE_PTX_LEVEL=$level run "$UNITS/ptx_operands" 200000
		echo "$output"
		[ "$status" -eq 0 ]
	done
}

@test "30,000 damaged tables, logs, lists and configurations" {
	MUTANTS=3000 SEED=2 run bats -f damaged "$ROOT/tests/fuzz.bats"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "1,500 programs with damaged fat binaries" {
	cd "$BATS_TEST_TMPDIR"
	programs=()
	if command -v nvcc >/dev/null; then
		make -s -C "$ROOT/examples/kernels" CUDA=nvcc OUT="$PWD/packed" "$PWD/packed/vectoradd"
		make -s -C "$ROOT/examples/kernels" CUDA=nvcc NVCCFLAGS='-rdc=true --compress-mode none' OUT="$PWD/linked" "$PWD/linked/vectoradd"
		programs+=(packed/vectoradd linked/vectoradd)
	fi
	if command -v clang >/dev/null; then
		make -s -C "$ROOT/examples/kernels" CUDA=clang OUT="$PWD/text" "$PWD/text/vectoradd"
		programs+=(text/vectoradd)
	fi
	[ "${#programs[@]}" -gt 0 ] || skip "no compiler of CUDA"
	for program in "${programs[@]}"; do
		run python3 "$ROOT/tests/fatbins.py" 500 1 "$program"
		echo "$program: $output"
		[ "$status" -eq 0 ]
	done
}

@test "every cut of a stream, and 2,000 flipped bits, at a filter, at the report and at device memory" {
	cd "$BATS_TEST_TMPDIR"
	printf '%s\n' '#kernel id=1 name=a grid=2,1,1 block=32,1,1' '0 0 0 R 0x1000 4' '1 0 2 W 0x2000 4' '0 1 3 W 0x2060 8' >small.rdgc
	gtrace-order small.rdgc >small.gt
	gcoalesce --gpu titanv small.gt | gschedule --gpu titanv >scheduled.gt
	gcache --l1 scheduled.gt | gcache --l2 >counted.gt
	for what in 'cut 0' 'flip 2000'; do
		python3 "$ROOT/tests/damage.py" $what small.gt gcoalesce --gpu titanv
		python3 "$ROOT/tests/damage.py" $what counted.gt gdram --quiet # it warns of a description that a flip changed
		python3 "$ROOT/tests/damage.py" $what counted.gt gstats --csv
	done
}
