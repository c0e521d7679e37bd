# SPDX-License-Identifier: MIT
# The programs of examples/kernels: right results at several sizes and block shapes, built by clang
# and by nvcc, and traces that have the accesses, lanes and sectors that the sources' indices give.

load helpers

setup_file() {
	prepare_preload
	if [ "$CUDA_TESTS" != only ] && [ -n "${WHOLE:-}" ]; then build_kernels clang; fi
	[ "$CUDA_TESTS" = without ] || compile_together 75 "$ROOT"/examples/kernels/{vectoradd,gemm_tiled,transpose_tiled,histogram64,bfs,row_shares,gemm_registers,attention}
}

# compilers: those whose programs a test runs. tests/run runs the tests that are tagged `cuda` once for each;
# tests/long/kernels.bats runs those that are tagged `cuda-long` with nvcc, which takes 2.5 s for each program.
compilers() {
	case $CUDA_TESTS in
	without) echo clang ;;
	only) echo nvcc ;;
	both) echo clang nvcc ;;
	esac
}

# built COMPILER NAME: the program as it built it. What is tagged `cuda` is compiled by setup_file.
built() {
	if [ "$1" = nvcc ] && [ -x "$BATS_FILE_TMPDIR/programs/$2" ]; then
		echo "$BATS_FILE_TMPDIR/programs/$2"
		return
	fi
	[ -x "$BUILD/kernels-$1/$2" ] || build_kernels "$1" "$2"
	echo "$BUILD/kernels-$1/$2"
}

# programs NAME: the program as each of them built it.
programs() {
	local compiler
	for compiler in $(compilers); do built "$compiler" "$1"; done
}

setup() { cd "$BATS_TEST_TMPDIR"; }

# compare KERNEL NAME ARGUMENT...: notes the stream `trace` for comparison; compare_all does it.
compare() {
	count=$((${count:-0} + 1))
	gtrace-cat trace >"accesses$count"
	gcoalesce <trace | gtrace-cat >"requests$count"
	echo "accesses$count requests$count $*" >>list
}
compare_all() { python3 "$ROOT/tests/kernels_reference.py" compare <list; }

# compiled_by COMPILER NAME ARGUMENT...: the program's own check holds. Constants are left out: how often they are loaded is the compiler's choice.
compiled_by() {
	local compiler=$1 name=$2
	shift 2
	LD_PRELOAD=${PRELOAD-} gtrace-record --space global,local --stdout words "$(built "$compiler" "$name")" "$@" >trace || {
		echo "$compiler: $name $* exits with $?"
		cat words
		return 1
	}
	[ "$(sed '/\t/d; s/^# ok$/ok/' words)" = ok ] # pchase prints a series before it
	compare - "$name" "$@"
}

# holds NAME "ARGUMENT..." ...: only the program's own check, for programs in which a compiler may load a sum once more,
# or whose access counts are those of a kernel tested by `each`.
holds() {
	local name=$1 arguments program
	shift
	few 1 "$@"
	for arguments in "${FEW[@]}"; do
		for program in $(programs "$name"); do
			# shellcheck disable=SC2086
			LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$program" $arguments >trace
			[ "$(cat words)" = ok ]
			gtrace-cat --check trace >/dev/null
		done
	done
}

# each NAME "ARGUMENT..." ...: runs a program with each of these, and compares the accesses.
each() {
	local name=$1 arguments
	shift
	few 2 "$@"
	for arguments in "${FEW[@]}"; do
		for compiler in $(compilers); do
			# shellcheck disable=SC2086
			compiled_by "$compiler" "$name" $arguments
		done
	done
	compare_all
}

# bats test_tags=cuda
@test "vectoradd" { each vectoradd "4096 256" "1000 96" "31 32" "100 7" "100 48 64"; }
# bats test_tags=cuda-long,whole
@test "gemm" { each gemm "64 32 8" "30 10 7" "33 16 16" "20 1 32" "17 32 1"; }
# bats test_tags=cuda
@test "gemm_tiled" { each gemm_tiled "64 16" "50 8" "33 32" "10 3"; }
# bats test_tags=cuda-long,whole
@test "gemm_wide" { each gemm_wide "64 32 96" "33 9 40" "20 5 7"; }
# bats test_tags=cuda-long,whole
@test "knee" { each knee "20 3 2" "1 1 1"; }
# bats test_tags=cuda-long,whole
@test "transpose" { each transpose "64 64 32 8" "50 70 16 16" "33 9 8 4" "5 100 32 1"; }
# bats test_tags=cuda,whole
@test "transpose_tiled" { each transpose_tiled "64 64 8" "50 70 32" "33 9 1" "100 31 5" "50 40 16 16" "64 33 4 16"; }
# bats test_tags=cuda-long,whole
@test "conv2d" { each conv2d "64 64 32 8" "50 40 16 16" "66 34 32 4" "3 3 32 8"; }
# bats test_tags=cuda-long,whole
@test "conv3d" { each conv3d "18 16 4" "12 8 8" "9 32 2"; }
# bats test_tags=cuda-long,whole
@test "matvec" { each matvec "128 128 64" "50 30 32" "33 65 96"; }
# bats test_tags=cuda-long,whole
@test "syrk" { each syrk "64 32 32 8" "30 7 16 16" "33 10 10 3"; }
# bats test_tags=cuda-long,whole
@test "fast_walsh" { each fast_walsh 13 12 9 10; }
# bats test_tags=cuda-long,whole
@test "reduce" { each reduce "10000 128 8" "1000 32 3" "5 1 2" "5000 1024 2"; }
# bats test_tags=cuda-long,whole
@test "histogram" { each histogram "10000 256 128 8" "1000 100 48 3" "77 1024 32 2"; }
# bats test_tags=cuda,whole
@test "histogram64" { each histogram64 4096 961 5; }
# bats test_tags=cuda-long,whole
@test "dct8x8" { each dct8x8 "64 32" "32 16" "96 80"; }
# bats test_tags=cuda-long,whole
@test "spmv" { each spmv "256 9 64" "100 3 32" "65 20 48"; }
# bats test_tags=cuda
@test "bfs" { each bfs "512 3 128" "100 2 32" "300 6 96"; }
# bats test_tags=cuda-long,whole
@test "jacobi" { each jacobi "64 64 4 32 8" "50 40 3 16 16" "34 18 1 8 4"; }
# bats test_tags=cuda-long,whole
@test "pchase" { each pchase "16384 32 1" "400 20 9" "65536 32 4"; }

# bats test_tags=cuda-long,whole
@test "shared_stride: the loads of listing 1 of [001] give what the words have, and take gcd(stride, 32) passes" {
	for program in $(programs shared_stride); do
		for case in "1 1" "2 2" "6 2" "32 32"; do
			read -r stride passes <<<"$case"
			LD_PRELOAD=${PRELOAD-} gtrace-record --space shared --stdout words "$program" "$stride" 3 >trace
			[ "$(sed -n '1s/\t.*//p; 2p' words | paste -sd' ')" = "$stride ok" ]
			# 4 iterations of 64 loads, and 32 stores of the words.
			[ "$(gcoalesce trace | gstats --csv | awk -F, '$1 == "total" && $3 == "bank_passes" { print $4 }')" = $((4 * 64 * passes + 32)) ]
		done
		expect_failure 2 "expected a stride of up to 32" env LD_PRELOAD="${PRELOAD-}" LD_LIBRARY_PATH="$BUILD/cudart" "$program" 33
	done
}

# bats test_tags=cuda-long,whole
@test "pchase: it prints a series that gpchase infer reads, with latencies of a model too" {
	# The interpreter's clock counts instructions, so all steps take the same time; a modelled level gives the latencies.
	for program in $(programs pchase); do
		for bytes in $(seq 896 64 2048); do
			LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$program" "$bytes" 32 4 |
				gcache --l1 --size 1K --ways 4 --emit latency --hit-cycles 30 --miss-cycles 200 | gtrace-cat |
				awk -F'\t' '$5 == "load.global" { print $(NF - 1) }' >latencies
			[ "$(tail -n 1 words)" = "# ok" ]
			head -n 1 words
			paste <(grep '^[0-9]' words | cut -f 1,2) latencies
		done >series
		gpchase infer --line 128 series >out
		grep -q '^l1.size = 1K' out
		grep -q '^l1.ways = 4 ' out
		grep -q '^# latency 30 cycles' out
		expect_failure 1 "expected latencies of hits and of misses, found all alike" gpchase infer words
	done
	# A hand-written chain, here that of all patterns; and invalid chains.
	gpchase trace -N 9M --page 128K --order patterns -k 1 --base 0 | gtrace-cat --decimal | grep -v '^#' | cut -f 8 >offsets
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$program" 9437184 128 1 offsets | gtrace-cat |
		awk -F'\t' '$5 == "load.global" { print $4 }' | sort | uniq -c | awk -v n="$(wc -l <offsets)" '$1 == n { exit found = 1 } END { exit !found }'
	grep -qx '# ok' words
	diff <(grep '^[0-9]' words | awk '{ printf "%.0f\n", 4 * $2 }') <(sed 1d offsets; echo 0)
	for offsets in "4 8" "0 4 4" "0 9437184" "0 2" "0 x" "" "0 -4"; do
		tr ' ' '\n' <<<"$offsets" >bad
		status=0
		LD_PRELOAD=${PRELOAD-} gtrace-record "$program" 9437184 128 1 bad >trace 2>said || status=$?
		[ "$status" -eq 2 ]
		grep -q "pchase: bad: expected" said
	done
}
# bats test_tags=cuda-long,whole
@test "atomic_exch" { each atomic_exch ""; }
# bats test_tags=cuda-long,whole
@test "invert_image" { each invert_image "512 8" "1024 32"; }
# bats test_tags=cuda-long,whole
@test "sobel" { each sobel "64 64" "62 33"; }
# bats test_tags=cuda-long,whole
@test "transposes" {
	each transposes 64 32
	for program in $(programs transposes); do
		expect_failure 2 "expected a multiple of 32, found 48" env LD_PRELOAD="${PRELOAD-}" LD_LIBRARY_PATH="$BUILD/cudart" "$program" 48
	done
}
# bats test_tags=cuda,whole
@test "row_shares, gemm_registers, attention" {
	holds row_shares "300 256" "3 1024"
	holds gemm_registers "64 64 64" "130 72 200"
	holds attention "64 2" "100 1"
}

# bats test_tags=whole
@test "reductions" {
	each reductions 1024 4096
	for program in $(programs reductions); do
		expect_failure 2 "expected a multiple of 1024, found 1000" env LD_PRELOAD="${PRELOAD-}" LD_LIBRARY_PATH="$BUILD/cudart" "$program" 1000
	done
}
# bats test_tags=cuda-long,whole
@test "strides" { each strides "32 64" "3 96"; }

# bats test_tags=cuda-long,whole
@test "polybench: products" {
	each polybench_gemm "40 32 8" "33 8 4"
	each polybench_2mm "24 16 4"
	each polybench_3mm "33 32 8"
	each polybench_syrk "40 20 32 8" "17 9 8 8"
	each polybench_syr2k "40 20 32 8" "17 9 8 8"
}
# bats test_tags=cuda-long,whole
@test "polybench: matrix and vector" {
	each polybench_bicg "50 72 256" "33 20 32"
	each polybench_atax "72 52 256" "20 33 32"
	each polybench_mvt "72 32"
	each polybench_gesummv "70 32"
	holds polybench_gemver 52 "33 8 4 32"
}
# bats test_tags=cuda-long,whole
@test "polybench: stencils" {
	each polybench_2dconv "50 70 32 8" "20 33 8 4"
	each polybench_3dconv "8 20 40 32 8" "4 9 10 8 4"
	each polybench_jacobi2d "50 3 32 8" "17 1 8 4"
	each polybench_fdtd2d "30 50 3 32 8" "9 17 2 8 4"
}
# bats test_tags=cuda-long,whole
@test "polybench: columns against columns" {
	holds polybench_covar "40 50" "17 9 8 4 32"
	holds polybench_corr "40 50" "17 9 8 4 32"
	holds polybench_gramschmidt "30 20" "20 30 4 32"
}
# bats test_tags=cuda-long,whole
@test "rodinia" {
	each rodinia_hotspot "50 2 2" "50 3 4" "20 1 3"
	each rodinia_pathfinder "1000 30 20" "500 9 3"
	each rodinia_nn "1000 64" "33 32"
	each rodinia_gaussian 16 21
	holds rodinia_backprop 160 16
	holds rodinia_bfs "2000 3" "513 1"
	holds rodinia_btree "10000 60" "33000 9 20" "100 4" "256 300"
	holds rodinia_lavamd 1 3
	holds rodinia_cfd "1000 30" "500 500"
	holds rodinia_nw "64" "16 3"
	holds rodinia_srad2 "48 2" "16"
}
# bats test_tags=cuda-long,whole
@test "pannotia" {
	holds pannotia_fw 16 48
}
# bats test_tags=cuda-long,whole
@test "parboil" {
	holds parboil_stencil "40 10 6" "200 5 4 3"
	holds parboil_spmv "1000 9" "70 3"
	holds parboil_sgemm "" "256 32 24"
	holds parboil_mriq "1000 1500" "100 7"
}
@test "parboil: the accesses of sgemm and mri-q by hand" {
	cd "$BATS_TEST_TMPDIR"
	accesses() { gtrace-cat trace | grep -v '^#' | cut -f 5 | sort | uniq -c | awk '{ printf "%s %s ", $2, $1 }'; }
	# 2 blocks of 4 warps; each warp loads 3 times its part of B and 8 of A, and stores 16 columns.
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$(built clang parboil_sgemm)" 128 32 24 >trace
	[ "$(accesses)" = "load.global $((8 * 3 * 9)) store.global $((8 * 16)) " ]
	# 47 warps of samples load 2 floats and store one; 2 launches of 32 warps of voxels load 5 and store 2.
	LD_PRELOAD=${PRELOAD-} gtrace-record --space global,local --stdout words "$(built clang parboil_mriq)" 1000 1500 >trace
	[ "$(accesses)" = "load.global $((47 * 2 + 2 * 32 * 5)) store.global $((47 + 2 * 32 * 2)) " ]
	# DRAM reads 1024 constants of 16 bytes, and 4 sectors for the launch, as hardware does: 516 beyond what the L1s miss, 5 floats of 1000 voxels.
	LD_PRELOAD=${PRELOAD-} gtrace-record --gpu quadro-v100 --launches 2 --stdout words "$(built clang parboil_mriq)" 1000 1024 >trace
	gcoalesce trace | gschedule | gcache --l1 | gcache --l2 | gdram | gstats --csv >counts
	[ "$(sed -n 's/^2,l2,reads,//p' counts)" -eq $((125 * 5)) ]
	[ "$(sed -n 's/^2,dram,reads,//p' counts)" -eq $((125 * 5 + 516 + $(sed -n 's/^2,l2,neighbours,//p' counts))) ]
}
# bats test_tags=whole
@test "[000] table 4: the accesses of CFD, NW and SRAD_V2 by hand" {
	cd "$BATS_TEST_TMPDIR"
	# The bits of all masks.
	lanes() {
		gtrace-cat trace | grep -v '^#' | cut -f 7 | awk '
			{ for (i = 3; i <= length($1); i++) n += substr("0112122312232334", index("0123456789abcdef", substr($1, i, 1)), 1) }
			END { print n }'
	}
	# An element reads 5 variables, and for each of 4 sides a number and 3 parts of a normal; it writes 5 fluxes. A grid of
	# 30 x 20 has 2 x (29 x 20 + 30 x 19) sides with a neighbour, of which it reads 5 variables.
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$(built clang rodinia_cfd)" 600 30 >trace
	[ "$(lanes)" -eq $((600 * (5 + 4 * 4 + 5) + 5 * 2 * (29 * 20 + 30 * 19))) ]
	# A tile of 16 x 16 reads its 256 similarities, two edges of 16 and a corner, and writes 256 scores.
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$(built clang rodinia_nw)" 64 >trace
	[ "$(lanes)" -eq $((16 * (256 + 32 + 1 + 256))) ]
	# A point reads itself and four edges and writes five, then reads seven and itself and writes itself.
	LD_PRELOAD=${PRELOAD-} gtrace-record --stdout words "$(built clang rodinia_srad2)" 48 >trace
	[ "$(lanes)" -eq $((48 * 48 * (5 + 5 + 8 + 1))) ]
}

@test "large runs of the suites report that they are unchecked" {
	LD_PRELOAD=${PRELOAD-} gtrace-record --blocks 1 --skip-untraced --stdout words "$(built clang polybench_2dconv)" >trace
	[ "$(cat words)" = "ok, unchecked: the CPU repeats runs of up to 100 million operations" ]
}

@test "a wrong result is found" {
	# Half of the blocks are skipped: their part of the sum is missing.
	LD_PRELOAD=${PRELOAD-} run gtrace-record --blocks 4 --skip-untraced --stdout words "$(built clang vectoradd)" 4096 256
	[ "$status" -eq 1 ]
	grep -q '^c\[1024\] is 0, expected' words
}

@test "wrong arguments are refused" {
	LD_PRELOAD=${PRELOAD-} run gtrace-record --stdout words "$(built clang vectoradd)" many
	[ "$status" -eq 2 ]
}

# ptx_like KERNEL "NAME ARGUMENT..." LAUNCH: runs the kept PTX as the program launches the kernel first.
ptx_like() {
	gtrace-ptx --space global,local --launch "$3" "$ROOT/examples/kernels/ptx/${2%% *}.ptx" >trace
	# shellcheck disable=SC2086
	compare "$1" $2
}

@test "the kept PTX: dense kernels" {
	ptx_like vectoradd "vectoradd 1000 96" 'vectoradd<<<11,96>>>(a=f32[1000], b=f32[1000], c=f32[1000], 1000)'
	ptx_like gemm "gemm 30 10 7" 'gemm<<<(3,5),(10,7)>>>(A=f32[900], B=f32[900], C=f32[900], 30)'
	ptx_like gemm_tiled "gemm_tiled 50 8" 'gemm_tiled<<<(7,7),(8,8),512>>>(A=f32[2500], B=f32[2500], C=f32[2500], 50)'
	ptx_like matvec "matvec 50 30 32" 'matvec<<<2,32>>>(A=f32[1500], p=f32[30], q=f32[50], 50, 30)'
	ptx_like matvec_transposed "matvec 50 30 32" 'matvec_transposed<<<1,32>>>(A=f32[1500], r=f32[50], s=f32[30], 50, 30)'
	ptx_like syrk "syrk 30 7 16 16" 'syrk<<<(2,2),(16,16)>>>(A=f32[210], C=f32[900], 30, 7, 1.5, 0.5)'
	ptx_like transpose "transpose 50 70 16 16" 'transpose<<<(5,4),(16,16)>>>(in=f32[3500], out=f32[3500], 50, 70)'
	ptx_like transpose_tiled "transpose_tiled 50 70 8" 'transpose_tiled<<<(3,2),(32,8)>>>(in=f32[3500], out=f32[3500], 50, 70)'
	compare_all
}

@test "the kept PTX: stencils, and the base workloads of [003]" {
	ptx_like conv2d "conv2d 50 40 16 16" 'conv2d<<<(3,3),(16,16)>>>(in=f32[2000], out=f32[2000], 50, 40)'
	ptx_like conv3d "conv3d 12 8 8" 'conv3d<<<(2,2),(8,8)>>>(in=f32[1728], out=f32[1728], 12, 1.0, 1.0, 1.0, 1.0)'
	ptx_like jacobi "jacobi 50 40 1 16 16" 'jacobi<<<(3,3),(16,16)>>>(in=f32[2000], out=f32[2000], 50, 40)'
	for kernel in stride_32 stride_4 same_location coalescing; do
		ptx_like "$kernel" "strides 3 96" "$kernel<<<3,96>>>(in=f32[9216], out=f32[9216])"
	done
	compare_all
}

@test "the kept PTX: kernels whose addresses are data" {
	local reference=$ROOT/tests/kernels_reference.py
	python3 "$reference" data histogram 1000 100 48 3 .
	ptx_like histogram "histogram 1000 100 48 3" 'histogram<<<3,48>>>(values=s32[1000]:@values.bin, count=u32[100], 1000, 100)'
	python3 "$reference" data spmv 256 9 64 .
	ptx_like spmv "spmv 256 9 64" \
		'spmv<<<4,64>>>(first=s32[257]:@first.bin, column=s32[]:@column.bin, value=f32[2304], x=f32[256], y=f32[256], 256)'
	python3 "$reference" data bfs 512 3 128 .
	ptx_like bfs_visit "bfs 512 3 128" \
		'bfs_visit<<<4,128>>>(first=s32[513]:@first.bin, to=s32[]:@to.bin, frontier=s32[512]:@frontier.bin, visited=s32[512]:@visited.bin, reached=s32[512], distance=s32[512], 512, 0)'
	python3 "$reference" data pchase 400 20 15 .
	ptx_like pchase "pchase 400 20 15" 'pchase<<<1,1,2400>>>(array=s32[100]:@array.bin, index=u32[300], ticks=u32[300], 0, 300)'
	ptx_like reduce "reduce 1000 32 3" 'reduce<<<3,32>>>(in=f32[1000], sum=f32[1], 1000)'
	compare_all
}

@test "the kept PTX: what it computes" {
	gtrace-ptx --dump out=out --launch 'transpose<<<(2,1),(32,32)>>>(in=s32[2048]:ramp, out=s32[2048], 32, 64)' \
		"$ROOT/examples/kernels/ptx/transpose.ptx" >trace
	[ "$(od -An -v -w4 -tu4 out | awk '$1 != NR - 1' | wc -l)" -ne 0 ]
	[ "$(od -An -v -w4 -tu4 out | awk '{ x = int((NR - 1) / 32); y = (NR - 1) % 32 } $1 != y * 64 + x' | wc -l)" -eq 0 ]
	gtrace-ptx --dump C=product --launch 'gemm<<<(2,8),(16,4)>>>(A=f32[1024]:ramp, B=f32[1024]:const(2), C=f32[1024], 32)' \
		"$ROOT/examples/kernels/ptx/gemm.ptx" >trace
	# Row r of A adds up to 32 (32 r) + 496.
	[ "$(od -An -v -w4 -tf4 product | awk '$1 != 2 * (1024 * int((NR - 1) / 32) + 496)' | wc -l)" -eq 0 ]
}

# bats test_tags=whole
@test "the kept PTX is what clang 14 makes of the sources" {
	clang --version | grep -q 'version 14\.' || skip "another clang: it may write other PTX"
	for source in "$ROOT"/examples/kernels/*.cu; do
		name=$(basename "$source" .cu)
		# The first line names the command that made it.
		diff <(tail -n +2 "$ROOT/examples/kernels/ptx/$name.ptx") "$BUILD/kernels-clang/$name.ptx"
	done
}
