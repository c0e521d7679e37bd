# SPDX-License-Identifier: MIT
# gtrace: the pipes that it composes are those that it prints, and give what they give when typed.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return 1
	ordered conv >ordered
	gschedule --gpu titanv ordered >scheduled
}

setup() {
	cd "$BATS_TEST_TMPDIR"
	prepare_preload
	ordered=$BATS_FILE_TMPDIR/ordered scheduled=$BATS_FILE_TMPDIR/scheduled
}

# make_program: ./program from transpose.cu, with source lines, compiled once for all tests.
make_program() {
	needs_cuda
	(
		cd "$BATS_FILE_TMPDIR"
		cp "$ROOT/examples/kernels/transpose.cu" program.cu
		cp "$ROOT"/examples/kernels/*.h .
		[ -e program ] || nvcc -lineinfo -cudart shared -arch=sm_75 -o program program.cu
	)
	cp "$BATS_FILE_TMPDIR"/{program,program.cu,*.h} .
}

# composes PIPE ARGUMENT...: the pipe that `gtrace ARGUMENT...` prints, and that its output is the output of that pipe.
composes() {
	local pipe=$1
	shift
	gtrace "$@" >got 2>said
	grep -qxF "gtrace: $pipe" said || { echo "expected: $pipe"; cat said; return 1; }
	bash -o pipefail -c "$pipe" >typed 2>/dev/null
	[ -s typed ]
	cmp got typed
}

@test "gtrace sizes without a kernel is an error, and a file's name cannot steer the terminal" {
	expect_failure 1 "gstats: no kernel has a name that 'nosuch' matches: there is conv" gtrace sizes --quiet --kernel nosuch "$ordered"
	cp "$ordered" $'a\033[31m\302\233b\nc\'d'
	run -0 --separate-stderr gtrace run $'a\033[31m\302\233b\nc\'d'
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ ${stderr_lines[0]} == *"<\$'a\\033[31m\\302\\233b\\012c\\'d' | "* ]]
	# The line that is printed can be typed.
	[ "$(bash -c "${stderr_lines[0]#gtrace: }")" = "$output" ]
}

@test "a PATH that is too long to put the filters before is refused" {
	PATH=$PATH:$(head -c 40000 /dev/zero | tr '\0' x) run -1 --separate-stderr gtrace run --quiet "$ROOT/examples/traces/gemm.rdgc.xz"
	[ "$stderr" = "gtrace: PATH: expected at most 28672 bytes" ]
}

@test "the usual pipe of a trace, of a stream, and of a stream that has passed some stages" {
	ln -s "$ROOT/examples/traces/conv.rdgc.xz" trace
	ln -s "$ordered" ordered
	ln -s "$scheduled" scheduled
	levels='gcache --l1 --by site --causes | gcache --l2 --by site --causes | gdram | gstats --findings'
	composes "gtrace-order trace | gcoalesce --gpu a100 --by site | gschedule --gpu a100 | $levels --program trace" run trace
	models='gcache --l1 | gcache --l2 | gdram | gstats --csv'
	composes "gtrace-order trace | gcoalesce --gpu titanv | gschedule --gpu titanv | $models" run --csv --gpu titanv trace
	composes "gcoalesce --gpu a100 <ordered | gschedule --gpu a100 | $models" run --csv ordered
	composes "gcache --l1 --by site --causes <scheduled | ${levels#* | } --program scheduled" run scheduled
	composes "gcache --l1 <scheduled | gcache --l2 | gdram | gstats --csv --kernel conv" run --csv --kernel conv scheduled
	gcache --l1 scheduled | gcache --l2 >'behind l2'
	composes "gdram <'behind l2' | gstats --csv" run --csv 'behind l2'
	gdram 'behind l2' >counted
	composes "gstats --findings --program counted <counted" run counted
	composes "gstats --findings --json --all --program counted <counted" run --json --all counted
	gcoalesce --gpu a100 --by site ordered | gschedule --gpu a100 | gcache --l1 | gcache --l2 | gdram >by-site
	composes "gstats --lines --color never <by-site" lines --color never by-site
	zstd -qf "$scheduled" -o scheduled.zst
	composes "gtrace-order scheduled.zst | gcoalesce --gpu a100 | gschedule --gpu a100 | $models" run --csv scheduled.zst
}

@test "--keep-l2: a launch finds in L2 what the launches before it have left there" {
	gtrace-cat "$scheduled" | awk '/^#kernel/ { n++ } n <= 1' >once
	{ cat once; sed -n '/^#kernel/,$p' once; } | gtrace-cat --from >twice
	composes "gcache --l1 <twice | gcache --l2 --flush never | gdram | gstats --csv" run --csv --keep-l2 twice
	# conv fits into L2, so the second launch reads nothing from device memory.
	kept=$(awk -F, '$1 == "total" && $2 == "dram" && $3 == "reads" { print $4 }' got)
	gtrace run --quiet --csv twice >got
	[ "$(awk -F, '$1 == "total" && $2 == "dram" && $3 == "reads" { print $4 }' got)" -eq $((2 * kept)) ]
	gtrace sizes --csv twice 2>said >emptied
	gtrace sizes -v --csv --keep-l2 twice 2>said >table
	grep -qxF "gtrace: gcache --l1 --size 16K <scheduled | gcache --l2 --flush never | gdram | gstats --csv" said
	[ "$(sed -n 's/^l2,4.5M,yes,.*,\([0-9]*\),no$/\1/p' table)" -eq "$kept" ]
	[ "$(sed -n 's/^l2,4.5M,yes,.*,\([0-9]*\),no$/\1/p' emptied)" -eq $((2 * kept)) ]
	gcache --l1 "$scheduled" | gcache --l2 >passed
	run -2 --separate-stderr gtrace run --keep-l2 passed
	[[ $stderr == "gtrace: --keep-l2: passed has passed L2"* ]]
}

@test "--kernel reaches the source of the pipe, unless L2 keeps its lines" {
	ln -s "$ROOT/examples/traces/conv.rdgc.xz" trace
	models='gcoalesce --gpu a100 | gschedule --gpu a100 | gcache --l1'
	composes "gtrace-order --kernel '^conv' trace | $models | gcache --l2 | gdram | gstats --csv" run --csv --kernel ^conv trace
	composes "gtrace-order trace | $models | gcache --l2 --flush never | gdram | gstats --csv --kernel '^conv'" run --keep-l2 --csv --kernel ^conv trace
	run -1 --separate-stderr gtrace run --quiet --kernel nosuch trace
	[ "$stderr" = "gtrace-order: no kernel has a name that 'nosuch' matches: there is conv2d" ]
	[ -z "$output" ]
}

@test "kernels: the launches of a trace and of a stream, and what it does not take" {
	ln -s "$ROOT/examples/traces/conv.rdgc.xz" trace
	ln -s "$ordered" ordered
	composes "gtrace-order trace | gstats --kernels" kernels trace
	composes "gtrace-order --kernel conv trace | gstats --kernels --csv" kernels --csv --kernel conv trace
	composes "gstats --kernels --kernel conv <ordered" kernels --kernel conv ordered
	expect_failure 2 "--gpu: expected a program: ./ordered has its launches already" gtrace kernels --gpu a100 ./ordered
	expect_failure 2 "--keep-l2: expected run, report, sizes, lines or compare" gtrace kernels --keep-l2 trace
	expect_failure 2 "--output: expected report" gtrace kernels -o x trace
	gtrace kernels --dry-run trace 2>said >got
	[ ! -s got ]
}

@test "gpu new: a description to fill in, which works, and says where each value is from" {
	gtrace gpu new titnav 2>said
	grep -qx "gtrace: titnav: $(grep -c '^[a-z]' titnav) values of titanv, all still to be replaced or confirmed: .* --gpu ./titnav" said
	# The same keys and values as in its origin, none of them with a source of its own.
	values() { sed -n 's/^\([a-z0-9_.]*\) *= *\([^#]*[^# ]\) *#.*/\1=\2/p' "$1" | grep -v '^name='; }
	diff <(values titnav) <(values "$ROOT/gpus/titanv")
	[ "$(grep '^[a-z]' titnav | grep -vc '# assumed: of titanv, there [a-z]*: .')" -eq 1 ]
	grep -q '^name *= titnav *# assumed: ' titnav
	gtrace run --quiet --csv --gpu ./titnav "$ordered" >got
	gtrace run --quiet --csv --gpu titanv "$ordered" | cmp - got
	expect_failure 1 "titnav: is there already" gtrace gpu new titnav
	cp titnav before
	run -1 gtrace gpu new --from a100 ./titnav
	cmp titnav before
	gtrace gpu new --quiet --from ./titnav mine
	grep -q "^sms .*# assumed: of ./titnav, there assumed: of titanv, there " mine
	gtrace gpu new --quiet zzzzzz --from h100
	grep -q '^sms .*of h100' zzzzzz
	gtrace gpu new --quiet wwwwww
	grep -q '^sms .*of a100' wwwwww # nothing is near
	# shellcheck disable=SC2046 # names
	few 6 $(ls "$ROOT/gpus")
	for gpu in "${FEW[@]}"; do
		gtrace gpu new --quiet "new-$gpu" --from "$gpu"
		gtrace-cat --gpu "./new-$gpu" | grep -q '^sms '
	done
	expect_failure 1 "there is a description of that name" gtrace gpu new a100
	expect_failure 2 "expected a name of letters" gtrace gpu new 'a b'
	expect_failure 2 "expected one name" gtrace gpu new
	expect_failure 2 "--csv: expected run, " gtrace gpu new other --csv
	expect_failure 2 "did you mean 'titanv'" gtrace gpu new other --from titnv
	expect_failure 2 "--from: expected gpu" gtrace run --from a100 "$ordered"
	expect_failure 1 "cannot" gtrace gpu new /proc/nowhere/other
}

# By hand, from the configuration: L1 is 128 KB less shared memory in 4 sets; L2 is 32 x 2 slices of 32 x 24 lines of 128 bytes; a channel has 2^8
# bytes, and 6 bits of columns and 5 of bytes are 2 KB.
@test "gpu from-accelsim: a description from a configuration, and what has no counterpart as comments" {
	mkdir SM7_X
	cp "$ROOT/tests/golden/gpgpusim.config" SM7_X/gpgpusim.config
	gtrace gpu from-accelsim SM7_X/gpgpusim.config >x 2>said
	diff said <(echo 'gtrace: SM7_X/gpgpusim.config: 22 options have a counterpart, 2 have none and are comments of the description')
	value() { sed -n "s/^$1 *= *\([^#]*[^# ]\) *#.*/\1/p" x; }
	while read -r key expected; do
		[ "$(value "$key")" = "$expected" ] || { echo "$key: $(value "$key"), not $expected"; return 1; }
	done <<-'END'
		name SM7_X
		architecture Volta
		compute_capability 7.0
		sms 80
		max_warps 64
		shared_options 0,8K,16K,32K,64K,96K
		l1.size 128K
		l1.ways full/4
		l1.sector 32
		l1.write through
		l1.index mod
		l2.size 6M
		l2.ways 24
		l2.write back
		l2.index ipoly
		dram.channels 32
		dram.banks 16
		dram.row 2K
		dram.interleave 256
		dram.sector 32
	END
	grep -qF -- '# -network_mode 2' x
	grep -q '^l1.size .*# assumed: of the configuration, -gpgpu_cache:dl1 S:4:128:64,L:T:m:L:L' x
	grep -q '^register_unit .*# assumed: of titanv$' x
	gtrace gpu from-accelsim --quiet --from a100 SM7_X/gpgpusim.config 2>&1 | grep -q '^register_unit .*# assumed: of a100$'
	gtrace-cat --gpu ./x | grep -q '^l2  .*49152 lines of 128 in 4 sectors, 2048 sets of 24'
	gtrace run --quiet --csv --gpu ./x "$ordered" | grep -q ',l2,size,6291456'
	# an odd number of slices; letters and forms that there are not
	sed 's/^-gpgpu_n_mem 32/-gpgpu_n_mem 24/' SM7_X/gpgpusim.config >odd
	gtrace gpu from-accelsim --quiet odd | grep -q '^l2.index *= rotate '
	sed 's/L:B:m:L:P/L:B:m:L:Z/' SM7_X/gpgpusim.config >letter
	expect_failure 1 "-gpgpu_cache:dl2 'S:32:128:24,L:B:m:L:Z,A:192:4,32:0,32': index 'Z' has no counterpart" gtrace gpu from-accelsim letter
	sed 's/S:32:128:24/S:32:128/' SM7_X/gpgpusim.config >form
	expect_failure 1 "expected KIND:SETS:LINE:WAYS" gtrace gpu from-accelsim form
	echo 'sms = 80' >other
	expect_failure 1 "other:1: expected '-OPTION VALUE'" gtrace gpu from-accelsim other
	: >empty
	expect_failure 1 "empty: expected options" gtrace gpu from-accelsim empty
	expect_failure 1 "No such file" gtrace gpu from-accelsim nothing
	expect_failure 2 "expected one file, gpgpusim.config" gtrace gpu from-accelsim
}

# bats test_tags=cuda,whole
@test "kernels: the launches of a program are those of its trace" {
	make_program
	LD_PRELOAD=$PRELOAD gtrace kernels --csv --gpu titanv program 64 2>said >got
	grep -qxF "gtrace: gtrace-record --gpu titanv --space none ./program 64 | gstats --kernels --csv" said
	LD_PRELOAD=$PRELOAD gtrace-record --gpu titanv ./program 64 2>said >traced
	gstats --kernels --csv traced | diff got -
	grep -q '^transpose' got
}

# bats test_tags=cuda,whole
@test "--kernel of a program: its launches are counted as among the others" {
	needs_cuda
	cat >program.cu <<-'END'
		__device__ float a[4096], b[4096];
		__global__ void first() { a[blockIdx.x * 32 + threadIdx.x] = threadIdx.x; }
		__global__ void second() { if (a[threadIdx.x] == threadIdx.x) b[threadIdx.x * 32] = a[blockIdx.x * 32 + threadIdx.x]; }
		int main()
		{
			for (int i = 0; i < 3; i++) {
				first<<<128, 32>>>();
				second<<<128, 32>>>();
			}
			return cudaDeviceSynchronize();
		}
	END
	nvcc -cudart shared -arch=sm_75 -o program program.cu
	for gpu in a100 titanv gtx780; do
		LD_PRELOAD=$PRELOAD gtrace run --csv --gpu $gpu --kernel '^sec' ./program 2>said >got
		grep -qF "gtrace-record --gpu $gpu --kernel '^sec' ./program |" said
		LD_PRELOAD=$PRELOAD gtrace run --quiet --csv --gpu $gpu ./program 2>said | grep -E '^(kernel|[246]),' >all
		[ "$(wc -l <all)" -gt 100 ]
		# The stores are right, so the condition holds: first was executed.
		grep -qE '^2,coalesce,store_accesses,[1-9]' got
		grep -v '^total,' got | diff all -
	done
	# An L2 that keeps its lines has those of a that first wrote, 4096 * 4 / 32 sectors.
	LD_PRELOAD=$PRELOAD gtrace run --csv --keep-l2 --kernel '^sec' ./program 2>said >kept
	grep -q 'gstats --csv --kernel '\''^sec'\''$' said
	LD_PRELOAD=$PRELOAD gtrace run --csv --kernel '^sec' ./program 2>said >emptied
	reads() { sed -n 's/^2,l2,read_hits,//p' "$1"; }
	echo "$(reads kept) $(reads emptied) $(grep -h ^2,l2,reads, kept emptied)"
	[ $(($(reads kept) - $(reads emptied))) -eq 512 ]
}

# bats test_tags=cuda
@test "a program, with its arguments, and the page" {
	make_program
	LD_PRELOAD=$PRELOAD gtrace run --csv program 64 2>said >got
	grep -qxF "gtrace: gtrace-record --gpu a100 ./program 64 | gcoalesce | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --csv" said
	LD_PRELOAD=$PRELOAD gtrace-record --gpu a100 ./program 64 2>said | gcoalesce | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --csv | cmp - got
	LD_PRELOAD=$PRELOAD gtrace report -o page ./program 64 2>said
	grep -qxF "gtrace: gtrace-record --gpu a100 --space global,local,shared,constant ./program 64 | gcoalesce --by site | gschedule | gcache --l1 --by site --causes | gcache --l2 --by site --causes | gdram | gstats --program './program 64' --report page" said
	grep -qF "program.cu:12" page/index.html
}

# bats test_tags=cuda
@test "README shows what its command prints: lines in their order, others left out" {
	needs_cuda
	not_instrumented gtrace # nvcc cannot be run with the sanitizers' library before it
	cd "$ROOT"
	command=$(sed -n '/^## What it says/,/^## /s/^    \$ //p' README.md)
	[ "$command" = "gtrace run examples/blur.cu" ]
	LD_PRELOAD=$PRELOAD $command >"$BATS_TEST_TMPDIR/printed" 2>"$BATS_TEST_TMPDIR/said"
	sed -n '/^## What it says/,/^## /s/^    //p' README.md | sed '/^\$/d' >"$BATS_TEST_TMPDIR/shown"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/shown")" -gt 9 ]
	awk 'FNR == NR { want[++n] = $0; next }
		n > at && $0 == want[at + 1] { at++ }
		END { if (at < n) { print "not printed: " want[at + 1]; exit 1 } }' "$BATS_TEST_TMPDIR/shown" "$BATS_TEST_TMPDIR/printed"
}

# bats test_tags=cuda
@test "a source is compiled into a folder that is gone afterwards, by a command that is shown" {
	not_instrumented gtrace
	make_program
	mkdir tmp
	export TMPDIR=$PWD/tmp
	LD_PRELOAD=$PRELOAD gtrace run --csv program.cu 64 2>said >got
	head -n 1 said | grep -qE "^gtrace: .*nvcc -g -lineinfo -cudart shared -o $PWD/tmp/gtrace-[A-Za-z0-9]{6}/program program.cu$"
	[ -z "$(ls tmp)" ]
	gtrace run --dry-run program.cu 2>said
	[ -z "$(ls tmp)" ]
	sed 's/^gtrace: //' said | head -n 1 | bash # ./program anew
	LD_PRELOAD=$PRELOAD gtrace run --csv program 64 2>said | cmp - got
	echo 'no source' >program.cu
	run gtrace run program.cu
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} == "gtrace: program.cu: nvcc ended with status "*"give gtrace the program" ]]
	[ -z "$(ls tmp)" ]
}

@test "without nvcc a source is compiled by clang, with the headers of a toolkit" {
	mkdir -p tools/include tools/bin tmp
	echo '#define CUDA_VERSION 12040' >tools/include/cuda.h
	printf '#!/bin/sh\necho "$*" >>called\nwhile [ "$1" != -o ]; do shift; done\n: >"$2"\n' >tools/bin/clang++
	chmod +x tools/bin/clang++
	touch my.cu
	export CUDA_HOME=$PWD/tools TMPDIR=$PWD/tmp CUDACXX=$PWD/tools/bin/clang++
	gtrace run --dry-run my.cu 2>said
	runtime=$(sed -n 's/.* \([^ ]*\)\/libcudart.so.13$/\1/p' said)
	[ -e "$runtime/libcudart.so.13" ]
	options='-x cuda --cuda-gpu-arch=sm_80 -O2 -g -Wno-unknown-cuda-version'
	sed -n 's/^gtrace: //; 1,3p' said >shown
	diff - shown <<-END
		$CUDACXX $options --cuda-device-only -S -o my.ptx my.cu --cuda-path=$PWD/tools
		$CUDACXX $options --cuda-host-only -c -o my.o my.cu --cuda-path=$PWD/tools -Xclang -fcuda-include-gpubinary -Xclang my.ptx
		$CUDACXX -g -o my my.o $runtime/libcudart.so.12 $runtime/libcudart.so.13
	END
	[ -z "$(ls tmp)" ]
	run -127 gtrace run my.cu # what this clang makes is no program
	[ "$status" -ne 0 ]
	[ "$(grep -c -- '-cuda-device-only' called)" -eq 1 ]
	[ -z "$(ls tmp)" ]
	printf '#!/bin/sh\nexit 1\n' >tools/bin/clang++
	run gtrace run my.cu
	[ "$status" -eq 1 ]
	[[ ${lines[-1]} == "gtrace: my.cu: clang ended with status 1: "*"$options and give gtrace the program" ]]
	[ -z "$(ls tmp)" ]
}

# bats test_tags=cuda
@test "clang makes the same launches of a source as nvcc" {
	needs_cuda
	cat >plain.cu <<-'END'
		#include <cstdio>
		__global__ void add(const float *a, float *b) { int i = blockIdx.x * blockDim.x + threadIdx.x; b[i] = sqrtf(a[i]) + 1; }
		int main() {
			float *a, *b, last;
			cudaMalloc(&a, 1024);
			cudaMalloc(&b, 1024);
			cudaMemset(a, 0, 1024);
			add<<<2, 128>>>(a, b);
			cudaMemcpy(&last, b + 255, sizeof last, cudaMemcpyDeviceToHost);
			return last != 1;
		}
	END
	for CUDACXX in $(compgen -c clang++ | sort -Vru); do
		if "$CUDACXX" -x cuda --cuda-gpu-arch=sm_80 --cuda-path="$CUDA_HOME" -Wno-unknown-cuda-version --cuda-device-only -S -o /dev/null plain.cu 2>why; then break; fi
		CUDACXX=
	done
	[ -n "$CUDACXX" ] || skip "no clang++ that reads the headers of $CUDA_HOME: $(grep -m 1 error why)"
	export CUDACXX CUDA_HOME
	LD_PRELOAD=$PRELOAD gtrace run --json plain.cu 2>said >by_clang
	LD_PRELOAD=$PRELOAD env -u CUDACXX gtrace run --json plain.cu 2>said >by_nvcc
	grep -o '"traffic": {[^}]*}' by_clang | diff - <(grep -o '"traffic": {[^}]*}' by_nvcc)
	grep -q '"name": "add".*"asked_bytes": 2048' by_clang
}

@test "a source whose compiler is stopped leaves nothing; a folder that cannot be made is named" {
	mkdir -p tools/bin tmp
	printf '#!/bin/sh\nexec <&- >&- 2>&-\necho $$ >begun\nexec sleep 60\n' >tools/bin/nvcc
	chmod +x tools/bin/nvcc
	touch my.cu
	export CUDA_HOME=$PWD/tools
	TMPDIR=$PWD/tmp PATH="$(dirname "$(command -v gtrace)"):/usr/bin:/bin" bash -c 'command -v nvcc' && skip "another nvcc is found first"
	TMPDIR=$PWD/tmp PATH="$(dirname "$(command -v gtrace)"):/usr/bin:/bin" gtrace run my.cu 2>said &
	for _ in $(seq 100); do [ ! -s begun ] || break; sleep 0.1; done
	[ -n "$(ls tmp)" ]
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ "$status" -eq 143 ]
	run ! kill -0 "$(cat begun)"
	[ -z "$(ls tmp)" ]
	expect_failure 1 "no folder for the program in $PWD/none" env TMPDIR="$PWD/none" gtrace run my.cu
}

@test "--dry-run runs nothing, --quiet prints nothing, and words are quoted for the shell" {
	ln -s "$ROOT/examples/traces/conv.rdgc.xz" "it's a trace"
	gtrace run --csv --dry-run "it's a trace" >got 2>said
	[ ! -s got ]
	pipe="gtrace-order 'it'\\''s a trace' | gcoalesce --gpu a100 | gschedule --gpu a100 | gcache --l1 | gcache --l2 | gdram | gstats --csv"
	grep -qxF "gtrace: $pipe" said
	eval "$pipe" >typed
	gtrace run --csv --quiet "it's a trace" >got 2>said
	[ ! -s said ]
	cmp got typed
	gtrace report -n "it's a trace" 2>said
	[ ! -e gtrace-report ]
}

# jobs_of TEXT: what each command of a pipe that was shown has behind -j; 1 without.
jobs_of() {
	sed 's/^gtrace: //' "$1" | tr '|' '\n' | awk '{ n = 1; for (i = 2; i < NF; i++) if ($i == "-j") n = $(i + 1); printf "%s%s", (NR > 1 ? " " : ""), n } END { print "" }'
}

# bats test_tags=whole
@test "--jobs divides processors among the stages by their costs, with the same output" {
	trace=$ROOT/examples/traces/conv.rdgc.xz
	gtrace run --csv "$trace" 2>said >expected
	few 3 1 2 9 4 64
	for jobs in "${FEW[@]}"; do
		gtrace run --csv -j $jobs "$trace" 2>said.$jobs >got
		cmp got expected
	done
	cmp said said.1
	# Of 127: order 62, coalesce 10, schedule 11, which has no threads, L1 18, L2 26. Shares of 9 and 64, rounded up.
	[ "$(jobs_of said.9)" = "5 1 1 2 2 1 1" ]
	[ "$(jobs_of said.64)" = "32 6 1 10 14 1 1" ]
	gtrace report -j 64 -n "$trace" 2>said
	[ "$(jobs_of said)" = "11 1 1 1 1 1 1" ] # 17 of 100; a stage that counts by instruction runs in one thread
	gtrace run -j 3 -n --csv "$scheduled" 2>said
	[ "$(jobs_of said)" = "2 2 1 1" ]
	gtrace kernels -j 5 -n /bin/true 2>said
	[ "$(jobs_of said)" = "5 1" ]
	gtrace sizes -v -j 4 --csv "$scheduled" 2>said >got
	gtrace sizes --csv --quiet "$scheduled" | cmp - got
	grep -q '^gtrace: gcache -j 4 --l2 --size 9M <behind_l1 ' said
	gtrace compare --as a,b -j 4 "$ordered" "$ordered" >got 2>said
	gtrace compare --as a,b "$ordered" "$ordered" 2>/dev/null | cmp - got
	run -2 gtrace sweep -j 2 x
	[[ $output == "gtrace: --jobs: expected run, report, sizes, lines, kernels or compare"* ]]
	run -2 gtrace run -j 257 "$trace"
}

@test "the status is that of the pipe" {
	printf '#!/bin/sh\nexit 7\n' >program
	chmod +x program
	LD_PRELOAD=$PRELOAD run -7 gtrace run ./program
	[ "$(wc -l <<<"$output")" -eq 2 ] # the pipe, and what the program lacks
	head -c 3000 "$scheduled" >cut
	run -1 gtrace run cut
	[[ $output == *"gcache: "*"ends inside"* ]]
	[ "$(wc -l <<<"$output")" -eq 2 ] # the pipe and one message
	run -2 gtrace run --kernel '(' "$scheduled"
	run -2 gtrace run --gpu nosuch "$ordered"
	run -141 bash -o pipefail -c "gtrace run '$scheduled' | :"
}

@test "sizes: each row is what gcache counts with that size" {
	gtrace sizes --csv "$scheduled" 2>said >table
	[ "$(wc -l <table)" -eq 15 ]
	# The TITAN V's own: 128K less 7K that hold no lines, and 4.5M.
	[ "$(grep -c ',yes,' table)" -eq 2 ]
	grep -q '^l1,121K,yes,' table
	grep -q '^l2,4.5M,yes,' table
	[ "$(sed 1d table | cut -d , -f 2 | paste -s -d ,)" = 16K,32K,64K,121K,256K,512K,infinite,576K,1152K,2304K,4.5M,9M,18M,infinite ]
	row() { gstats --csv | awk -F, '$1 == "total" { v[$2 "." $3] = $4 } END { printf "%d,%.2f,%d,%.2f,%d\n", v["l1.reads"], 100 * v["l1.read_hits"] / v["l1.reads"], v["l2.reads"], 100 * v["l2.read_hits"] / v["l2.reads"], v["dram.reads"] }'; }
	sed -i 's/,\(yes\|no\)$//' table # the knee, below
	few 1 16K 32K
	for size in "${FEW[@]}"; do
		[ "$(sed -n "s/^l1,$size,no,//p" table)" = "$(gcache --l1 --size $size "$scheduled" | gcache --l2 | gdram | row)" ]
	done
	[ "$(sed -n 's/^l2,576K,no,//p' table)" = "$(gcache --l1 "$scheduled" | gcache --l2 --size 576K | gdram | row)" ]
	[ "$(sed -n 's/^l2,4.5M,yes,//p' table)" = "$(gcache --l1 "$scheduled" | gcache --l2 | gdram | row)" ]
	[ "$(sed 's/.*yes,//;t;d' table | sort -u | wc -l)" -eq 1 ]
	# An infinite cache is one that holds all.
	[ "$(sed -n 's/^l1,infinite,no,//p' table)" = "$(gcache --l1 --size 8M --ways full "$scheduled" | gcache --l2 | gdram | row)" ]
	[ "$(sed -n 's/^l2,infinite,no,//p' table)" = "$(gcache --l1 "$scheduled" | gcache --l2 --size 64M --ways full | gdram | row)" ]
	# The table to read has the same numbers.
	gtrace sizes --quiet "$scheduled" 2>said | tr -d ', %' | tr -s ' ' >read
	grep -qF "$(awk -F, '$2 == "32K" { print "l132K" $5 $6 $7 $8 }' table)" read
	[ ! -s said ]
}

# One of each architecture; tests/long/options.bats sets GPUS to all.
# bats test_tags=whole
@test "sizes: every GPU has rows for each of its caches; fixed sets get more ways" {
	# shellcheck disable=SC2046 # names
	few 3 ${GPUS:-$(cd "$ROOT/gpus" && awk '$1 == "architecture" && !seen[$3]++ { print FILENAME }' *)}
	for gpu in "${FEW[@]}"; do
		gtrace sizes --quiet --csv --gpu "$gpu" "$ordered" >table
		levels=$(grep -cE '^l[12][.]size *= *[0-9]' "$ROOT/gpus/$gpu" || [ $? -eq 1 ])
		[ "$(cut -d , -f 1 table | sort -u | grep -c '^l')" -eq $((levels + 1)) ] || { echo "$gpu"; cat table; return 1; } # and the heading
		[ "$levels" -eq 0 ] || [ "$(wc -l <table)" -ge $((4 * levels)) ] || { echo "$gpu"; cat table; return 1; }
	done
	gtrace sizes -v --gpu gtx1080 "$ordered" >table 2>said
	grep -qF -e "gcache --l1 --size 48K --ways 96 <scheduled" said
}

# loop LINES ROUNDS [OPERATIONS]: a warp that reads so many lines again and again, or does these operations on a line, scheduled on a GPU
# with an L1 of 4K, fully associative LRU, and no shared memory.
loop() {
	sed '/^unified\|^l1_reserved\|^shared_options/d; s/^l1.size .*/l1.size = 4K # assumed: small/; s/^l1.ways .*/l1.ways = full # assumed: plain/; s/^l1.replace .*/l1.replace = lru # assumed: plain/' \
		"$ROOT/gpus/titanv" >small
	awk -v lines="$1" -v rounds="$2" -v operations="${3:-load.global}" 'BEGIN {
		print "#kernel\tid=1\tname=loop\tgrid=1,1,1\tblock=32,1,1\torder=block"
		print "#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel"
		n = split(operations, each, " ")
		for (i = 0; i < lines * rounds; i++)
			for (k = 1; k <= n; k++)
				printf "0\t0\t%d\t0x10\t%s\t4\t0xffffffff\t0x%x\t4\t-\t1\n", an++, each[k], 65536 + i % lines * 128
	}' | gtrace-cat --from | gschedule --gpu small >looped
}

# says LINE...: what the sizes of the loop say, and that no line is wider than a terminal.
says() {
	gtrace sizes looped >said 2>pipes
	sed '/^$/,$d' said | diff - <(printf '%s\n' "$@")
	[ "$(wc -l <pipes)" -eq 1 ] # one that stands for all
	[ "$(wc -L <said)" -le 80 ]
}

# By hand: a loop over n lines, of four sectors each, misses always in a smaller LRU cache, and only in the first round in one of n lines
# or more.
# bats test_tags=whole
@test "sizes: the sentences, the knee and the compulsory misses of loops, done by hand" {
	l2='    of a sector. 576K would do as well as 4.5M (the knee is there or below).'
	loop 64 3 # 8K of 768 sectors: a larger cache takes 512, and the first 256 stay
	says "L1: 8K would take 67 % of the load misses of the GPU's 4K (the knee). 33 % of" \
		'    its 768 load misses are compulsory, first reads of a sector by an SM. 512' '    would do as well as 4K.' \
		'L2: no larger size helps. All of its 256 load misses are compulsory, first reads' "$l2"
	[ "$(grep -cE '^ .*[KM] +knee ' said)" -eq 2 ]
	grep -qE '^ +l1 +8K +knee +66.67 %' said
	gtrace sizes --csv looped 2>pipes | grep ',yes$' | cut -d , -f 1,2 | paste -sd ' ' | diff - <(echo 'l1,8K l2,576K')
	loop 512 3 # 64K: beyond the table
	says 'L1: no size up to 16K helps. 33 % of its 6,144 load misses are compulsory, first' \
		'    reads of a sector by an SM. 512 would do as well as 4K.' \
		'L2: no larger size helps. All of its 2,048 load misses are compulsory, first' \
		'    reads of a sector. 576K would do as well as 4.5M (the knee is there or' '    below).'
	run ! grep -E '^ +l1 .*knee' said
	grep -qE '^ +l1 +infinite +66.67 %' said
	loop 16 3 # 2K: 64 sectors of 192
	says 'L1: no larger size helps. All of its 64 load misses are compulsory, first reads' \
		'    of a sector by an SM. 2K would do as well as 4K (the knee).' \
		'L2: no larger size helps. All of its 64 load misses are compulsory, first reads' "$l2"
	# What a store has brought in is no first read; what leaves again is read again.
	loop 64 1 'store.global load.global'
	says 'L1: every load hits.' 'L2: no load reaches it.'
}

@test "sizes: the infinite cache of L1 misses what grd counts as an SM's first reads of a sector" {
	ordered gemm | gschedule --gpu a100 >gemm
	first=$(grd --op loads --granularity sector --per sm --lines 1 --total gemm | sed 1d | cut -f 5)
	[ "$first" -gt 1000 ]
	gtrace sizes --quiet --csv gemm | awk -F, -v first="$first" '$1 == "l1" && $2 == "infinite" { exit $6 != first }' # all go to L2
	gtrace sizes -v gemm 2>&1 >said | grep -c '^gtrace: gcache' | diff - <(echo 12) # L1 alone, 11 rows; none for those that are infinite
}

@test "sweep: a table of designs by the makefile of this build, in any folder; wrong files and options are named" {
	printf '%s\n' "trace = $ROOT/examples/traces/conv.rdgc.xz" 'gpu = titanv' 'l1.size = 8K 16K' 'counters = l2.reads' >my.sweep
	gtrace sweep my.sweep RESULTS=out JOBS=1 >said 2>pipe
	[ "$(cat said)" = out/my.csv ]
	[ "$(sed 1d out/my.csv | cut -d , -f 4 | paste -sd ' ')" = "8192 16384" ]
	[ "$(ls out)" = "$(printf 'my.csv\nparts')" ] # the result apart from its parts
	grep -qE "^gtrace: make -s -f /.*/pipelines/sweep.mk RESULTS=out JOBS=1 SWEEP=my.sweep$" pipe
	# What both points share, up to gschedule, and each behind it.
	[ "$(gtrace sweep -n my.sweep RESULTS=new JOBS=1 2>said)" = "2 points of 3 runs, 3 of them to make" ]
	[ ! -e new ]
	grep -q '^gtrace: make .*SWEEP=my.sweep$' said
	# What is there is not made again; a plan leaves nothing.
	[ "$(gtrace sweep -n my.sweep RESULTS=out 2>said)" = "2 points of 3 runs, 0 of them to make" ]
	[ -z "$(find out -name 'plan-*')" ]
	# A reader that has gone is quiet, a full disk is not.
	for option in -n ""; do
		mkfifo gone
		: <gone &
		{ wait $!; gtrace sweep $option my.sweep RESULTS=out 2>said; } >gone
		[ "$(grep -vc '^gtrace: make ' said)" = 0 ]
		run -2 sh -c "gtrace sweep $option my.sweep RESULTS=out 2>&1 >/dev/full"
		[[ "$output" == *"No space left on device"* ]]
		rm gone
	done
	expect_failure 2 "expected a sweep file (gtrace help sweep)" gtrace sweep
	expect_failure 2 "'nowhere': expected a sweep file, or JOBS=" gtrace sweep nowhere
	expect_failure 2 "'OTHER=1': expected a sweep file, or JOBS=" gtrace sweep my.sweep OTHER=1
	expect_failure 2 "--gpu: expected run, report, sizes, lines, kernels or compare" gtrace sweep --gpu a100 my.sweep
	expect_failure 2 "--csv: expected run" gtrace sweep --csv my.sweep
	expect_failure 2 "expected a sweep file" gtrace sweep JOBS=1
	cp my.sweep 'my other.sweep'
	expect_failure 2 "make cannot read a file of that name" gtrace sweep 'my other.sweep'
}

@test "a filter by its name, with and without its beginning" {
	gtrace cat --no-rows "$scheduled" | cmp - <(gtrace-cat --no-rows "$scheduled")
	gtrace gtrace-cat --no-rows "$scheduled" | cmp - <(gtrace-cat --no-rows "$scheduled")
	gtrace stats "$scheduled" | cmp - <(gstats "$scheduled")
	gtrace help dram | grep -q '^usage: gdram'
	for tool in "$ROOT"/tools/*.c; do
		name=$(basename "$tool" .c)
		[ "$name" = gtrace ] || gtrace help | grep -q "^  $name " || { echo "$name"; return 1; }
	done
}

# bats test_tags=cuda
@test "the commands of every task run" {
	not_instrumented gtrace
	make_program
	ln -s "$ROOT/examples" examples
	cp program before
	cp program after
	printf 'kernel,metric,value\ntranspose,dram__sectors_read.sum,1\n' >measured.csv
	gtrace help | awk '/^Tasks/ { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }' >tasks
	[ "$(wc -l <tasks)" -gt 8 ]
	while read -r task; do
		gtrace help "$task" >text
		# A command that goes on does so at eight blanks.
		awk '/^    [^ ]/ { printf "%s%s", n++ ? "\0" : "", $0 } /^        / { print ""; printf "%s", $0 } END { printf "\0" }' text >commands
		while IFS= read -r -d '' command; do
			preload=$PRELOAD
			[[ $command != nvcc* ]] || preload=
			# Of the 200 points of the sweep, 16.
			command=${command//16K 32K 64K 128K 192K/16K 64K} command=${command//2 4 8 full/2 full} command=${command//2M 4M 8M 16M 32M/2M 8M}
			LD_PRELOAD=$preload bash -o pipefail -c "$command" >printed 2>err </dev/null || { echo "$task: $command"; cat err; return 1; }
		done <commands
	done < <(few_lines 4 <tasks)
}

@test "the name of a task is no command: what is suggested instead works" {
	touch hardware # a file of that name is no reason to run it
	for task in $(gtrace help | sed -n '/^Tasks/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		case $task in ptx | sizes | lines | kernels | compare | sweep) continue ;; esac # names of a filter and of a command, too
		run gtrace "$task" a b
		[ "$status" -eq 2 ]
		[[ $output == *"did you mean 'gtrace help $task'?" ]]
		gtrace help "$task" >/dev/null
	done
	for command in run report kernels help; do
		[ "$(gtrace help $command)" = "$(gtrace --help)" ]
	done
}

@test "wrong operands and options are named, with a cure" {
	touch my.cu my.ptx
	[ -x /usr/local/cuda/bin/nvcc ] || expect_failure 1 "nvcc -g -lineinfo -cudart shared -o my my.cu" env -u CUDA_HOME -u CUDA_PATH PATH="$(dirname "$(command -v gtrace)")" gtrace run my.cu
	expect_failure 1 "gtrace-ptx --launch" gtrace report my.ptx
	expect_failure 1 "no.cu: No such file" gtrace run no.cu
	touch my.cpp
	expect_failure 1 "my.cpp: expected a program: make one of it with nvcc" gtrace run my.cpp
	expect_failure 2 "'--gpu': expected options before the trace" gtrace run "$ROOT/examples/traces/conv.rdgc.xz" --gpu a100
	printf '#!/bin/sh\nexit 3\n' >shared # nearly a task's name
	chmod +x shared
	expect_failure 2 "did you mean 'gtrace run ./shared'" gtrace ./shared
	run env LD_PRELOAD="$PRELOAD" gtrace run ./shared --csv --kernel=x 2
	[ "$status" -eq 3 ]
	[[ $output == *"gtrace: warning: --csv stands behind ./shared, which gets it"* ]]
	[[ $output == *"gtrace-record: warning: --kernel=x stands behind ./shared, which gets it"* ]]
	run env LD_PRELOAD="$PRELOAD" gtrace run --quiet ./shared --csv --kernel=x
	[[ $output != *warning* ]]
	expect_failure 1 "nothing: No such file" gtrace run nothing
	: >empty
	expect_failure 1 "./empty: empty: expected a program, a trace or a stream" gtrace run ./empty
	expect_failure 2 ": expected a file, which several stages read, found a pipe" gtrace run --gpu <(cat "$ROOT/gpus/titanv") "$ordered"
	expect_failure 2 "gtrace: --gpu: 'titnav': no such GPU: did you mean 'titanv'? expected a file or one of a100, " gtrace run --gpu titnav "$ordered"
	run -2 gtrace run --gpu nosuchgpuatall "$ordered"
	[[ $output != *"did you mean"* ]]
	expect_failure 1 "/dev/null: expected a file: a pipe is read by the first filter" gtrace run /dev/null
	expect_failure 1 "gtrace: -: expected a file: a pipe is read by the first filter" gtrace run -
	expect_failure 2 "did you mean 'gtrace report'" gtrace reprot "$scheduled"
	expect_failure 2 "did you mean 'gtrace help misses'" gtrace help mises
	expect_failure 2 "did you mean 'gtrace help gcache'" gtrace help gcahe
	expect_failure 2 "did you mean 'gtrace gcache'" gtrace gcahe
	expect_failure 2 "did you mean 'gtrace run $scheduled'" gtrace "$scheduled"
	expect_failure 2 "gtrace help lists tasks" gtrace
	expect_failure 2 "before the options" gtrace --csv "$scheduled"
	expect_failure 2 "expected a program, a trace or a stream" gtrace run
	expect_failure 2 "expected one stream" gtrace run "$scheduled" 64
	expect_failure 2 "has a schedule for its own GPU" gtrace run --gpu a100 "$scheduled"
	expect_failure 2 "--output: expected report" gtrace run -o x "$scheduled"
	expect_failure 2 "--csv: expected run, sizes, lines, kernels or compare" gtrace report --csv "$scheduled"
	expect_failure 2 "--dry-run: expected run, report, lines, kernels" gtrace sizes -n "$scheduled"
	gcache --l1 "$scheduled" >behind
	expect_failure 2 "expected a stream from before L1" gtrace sizes behind
	cp "$(command -v gcache)" program
	chmod -x program
	expect_failure 1 "program: Permission denied" gtrace run program
}

@test "the manual's examples" { run_man_examples gtrace.1; }

@test "whatever signal ends it, its processes end too, and it says what was stopped" {
	cd "$BATS_TEST_TMPDIR"
	few 1 run report sizes
	for task in "${FEW[@]}"; do
		python3 "$ROOT/tests/orphans.py" 5 gtrace "$task" "$(command -v sleep)" 60
	done
}

@test "the last stage of its pipe is named if it is killed" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nkill -KILL $$\n' >"$BATS_TEST_TMPDIR/stage"
	chmod +x "$BATS_TEST_TMPDIR/stage"
	cp "$(command -v gtrace)" "$BATS_TEST_TMPDIR/bin"
	cp "$BATS_TEST_TMPDIR/stage" "$BATS_TEST_TMPDIR/bin/gstats"
	run -137 --separate-stderr "$BATS_TEST_TMPDIR/bin/gtrace" kernels "$ROOT/examples/traces/gemm.rdgc.xz"
	echo "$stderr"
	[ "$(grep -c 'gstats was ended by a signal (Killed): its output is not whole' <<<"$stderr")" -eq 1 ]
}
