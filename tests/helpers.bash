# SPDX-License-Identifier: MIT
# Functions that several bats files use.

# Before each command of a test bats records the stack of calls, in case the command fails. That takes 0.1 ms, in subshells too, and writes to pages
# that forks then copy. Here only the line is kept, and the stack is recorded when a command has failed. If the test itself has returned by then, it
# is no longer on the stack, and the line that was kept is reported.
bats_debug_trap() { [ "$1" != "${BATS_TEST_SOURCE:-}" ] || failing_line=${BASH_LINENO[0]}; }
# shellcheck disable=SC2034 # what bats reads
bats_error_trap() {
	bats_check_status_from_trap
	bats_capture_stack_trace
	[[ -z "${BATS_TEST_NAME:-}" || " ${FUNCNAME[*]} " = *" $BATS_TEST_NAME "* ]] ||
		BATS_DEBUG_LAST_STACK_TRACE=("${failing_line:-1} $BATS_TEST_NAME $BATS_TEST_SOURCE")
	BATS_DEBUG_LAST_STACK_TRACE_IS_VALID=1
}

# expect_failure STATUS TEXT COMMAND...: the command exits with STATUS, and prints exactly one line on stderr, which contains TEXT.
expect_failure() {
	local status=$1 text=$2 got=0 lines
	shift 2
	"$@" >"$BATS_TEST_TMPDIR/stdout" 2>"$BATS_TEST_TMPDIR/stderr" || got=$?
	if [ "$got" -ne "$status" ]; then
		echo "exit status $got, expected $status: $*"
		cat "$BATS_TEST_TMPDIR/stderr"
		return 1
	fi
	mapfile lines <"$BATS_TEST_TMPDIR/stderr"
	if [ "${#lines[@]}" -ne 1 ] || [[ ${lines[0]} != *"$text"*$'\n' ]]; then
		echo "expected one line with '$text', found:"
		cat "$BATS_TEST_TMPDIR/stderr"
		return 1
	fi
}

# ordered KERNEL: the stream that gtrace-order makes of an example trace; the build has made it once (Makefile).
ordered() {
	cat "$BUILD/tests/ordered/$1.gt"
}

# few N WORD...: sets FEW to N of the words, the first and the last among them; all of them in `make check-long` (tests/run --whole).
few() {
	local n=$1 i
	shift
	FEW=("$@")
	[ -z "${WHOLE:-}" ] && [ "$n" -lt $# ] || return 0
	FEW=("$1")
	for ((i = 1; i < n; i++)); do FEW+=("${@:1 + i * ($# - 1) / (n - 1):1}"); done
}

# few_lines N: the same with the lines of standard input.
few_lines() {
	local lines
	mapfile -t lines
	few "$1" "${lines[@]}"
	printf '%s\n' "${FEW[@]}"
}

# needs_cuda: skips without a CUDA toolkit in $CUDA_HOME (tests/run sets it). A test that calls this is tagged `cuda`, so that
# tests/run runs it once more where it hides the toolkit first.
needs_cuda() { [ -x "$CUDA_HOME/bin/nvcc" ] || skip "no CUDA toolkit"; }

# needs_terminal: skips if script(1) cannot give a program a terminal, as in a bare chroot.
needs_terminal() {
	script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no pseudo-terminal (script -c true fails)"
}

# man_examples PAGE: the commands of a man page's literal blocks, one a line (continued lines are
# joined).
man_examples() {
	awk '/^\.Bd -literal/ { inside = 1; next }
	     /^\.Ed/ { inside = 0 }
	     inside { sub(/^\\&/, ""); gsub(/\\e/, "\\"); gsub(/\\-/, "-"); print }' "$ROOT/man/$1" |
		sed -e ':join' -e '/\\$/{N;s/\\\n[ \t]*//;bjoin' -e '}'
}

# run_man_examples PAGE: runs each of them from the top of the repository; all must succeed. Status 141 (SIGPIPE) is
# success, as before `| head`.
run_man_examples() {
	local command count=0
	cd "$ROOT" || return 1
	while IFS= read -r command; do
		[ -n "$command" ] || continue
		count=$((count + 1))
		bash -o pipefail -c "export TMPDIR='$BATS_TEST_TMPDIR'; $command || [ \$? -eq 141 ]" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || {
			echo "fails: $command"
			cat "$BATS_TEST_TMPDIR/err"
			return 1
		}
	done < <(man_examples "$1")
	[ "$count" -gt 0 ] || { echo "no example in $1"; return 1; }
}

# not_instrumented TOOL: skips the test if sanitizers are in the tool, which take memory of their own.
not_instrumented() {
	if nm "$(command -v "$1")" 2>/dev/null | grep -q __asan_; then skip "instrumented"; fi
}

# prepare_preload: sets PRELOAD, for LD_PRELOAD before gtrace-record. An instrumented stand-in runtime needs the
# sanitizers' runtime to be loaded first.
prepare_preload() {
	PRELOAD=
	if nm -D "$BUILD/cudart/libcudart.so.13" | grep -q __asan_; then
		PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
		export ASAN_OPTIONS=detect_leaks=0
	fi
	export PRELOAD
}

# build_kernels COMPILER [NAME...]: all programs of examples/kernels, or these, into the build folder; one build at a time, since a
# program that another test links cannot be started.
build_kernels() {
	local out=$BUILD/kernels-$1
	shift
	flock "$out.lock" make -s -C "$ROOT/examples/kernels" CUDA="${out##*-}" OUT="$out" "${@/#/$out/}" >&2
}

# needs_stub NAME LIBRARY: skips if gtrace was built without this plug-in, which needs a library that was not there.
needs_stub() { [ -d "$BUILD/cudart/stub/$1" ] || skip "built without $2: no plug-in $1"; }

# build_against_stub LIBRARY PROGRAM SOURCE: builds a program of C that calls the stand-in of a CUDA library.
build_against_stub() {
	gcc -std=c11 -Wl,--unresolved-symbols=ignore-in-shared-libs -o "$2" "$ROOT/$3" \
		"$BUILD"/cudart/stub/*/"$1" "$BUILD/cudart/libcudart.so.13" -lm
}

# record_stub NAME ARGUMENT...: gtrace-record --stub NAME; the stream goes to out, the rest to err.
record_stub() {
	LD_PRELOAD=${PRELOAD:-} gtrace-record --stub "$@" >out 2>err
}

# random_calls SEED N WHAT: that many cases of tests/random_calls, none of which differs.
random_calls() {
	local python stub=()
	python=$(command -v /usr/bin/python3 || command -v python3)
	case $3 in
	products | factors | matmuls) needs_stub cublas CBLAS && stub=(--stub cublas) ;;
	transforms) needs_stub cufft FFTW3 && stub=(--stub cufft) ;;
	esac
	LD_PRELOAD=${PRELOAD:-} gtrace-record "${stub[@]}" --ignore-unsupported --quiet --space none --stdout said \
		"$python" "$ROOT/tests/random_calls" "$3" --seed "$1" --cases "$2" >/dev/null || {
		cat said
		return 1
	}
	grep -q "^$3: [0-9]* compared, 0 differ$" said
}

# compile_together TARGET PROGRAM...: for setup_file. Builds these programs of tests/cuda (or of another folder, as FOLDER/PROGRAM) by one
# compilation, for one target and as PTX alone, into the folder from which `program` takes them. Without a toolkit it does nothing, and the tests are skipped.
compile_together() {
	local target=$1 folder=$BATS_FILE_TMPDIR/programs name
	shift
	[ -x "$CUDA_HOME/bin/nvcc" ] || return 0
	mkdir -p "$folder"
	(cd "$ROOT/tests/cuda" && ./together "$@") >"$folder/$target.cu"
	nvcc -w -I "$ROOT/tests/cuda" -I "$ROOT/examples/kernels" -cudart shared -gencode "arch=compute_$target,code=compute_$target" -o "$folder/$target" "$folder/$target.cu"
	for name; do ln "$folder/$target" "$folder/${name##*/}"; done
}

# program NAME: tests/cuda/NAME.cu as ./NAME, from compile_together, or else built with the options in NVCC_FLAGS for TARGET.
program() {
	local target=${TARGET:-80}
	[ ! -x "./$1" ] || return 0
	# shellcheck disable=SC2086 # lists of options
	ln "$BATS_FILE_TMPDIR/programs/$1" . 2>/dev/null ||
		nvcc -cudart shared -gencode "arch=compute_$target,code=compute_$target" -o "$1" "$ROOT/tests/cuda/$1.cu" ${NVCC_FLAGS:-}
}

# passes PROGRAM [ARGUMENT...]: tests/cuda/PROGRAM.cu, run with the arguments on the GPU $GPU.
passes() {
	local program=$1
	shift
	needs_cuda
	program "$program"
	LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record --gpu "${GPU:-a100}" "./$program" "$@" >stream 2>said || { cat said; return 1; }
	gtrace-cat --check stream >/dev/null
	grep -qwE 'PASS|right' said || { cat said; return 1; }
	if grep -wE 'FAIL|WRONG' said; then return 1; fi
}
