#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Small CUDA programs that check their own results (tests/cuda), compiled by nvcc and run without a GPU. They print PASS
# or "right" for a check that holds, FAIL or WRONG for one that does not.
bats_require_minimum_version 1.5.0
load helpers

# bats file_tags=cuda

# Programs of one target are one source here (tests/cuda/together); tensor_memory is the only one of its own.
setup_file() {
	load helpers
	prepare_preload
	compile_together 80 slots16 shared_wrap graphs member_masks redux_groups labeled_reduce independent_threads divergent_barrier host_memory tensor_cores \
		barriers groups_and_barriers device_algorithms random_numbers device_printf cooperative textures mipmaps images wide_integers managed_attribute_rt \
		repeats spin_pingpong spin_lists spin_counts ncu_names store_through
	compile_together 90 dpx clusters
	compile_together 90a tensor_maps warpgroups
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

@test "registers of 16 bits do not touch those of 32 in divergent code" { passes slots16; }

@test "an address of 32 bits and its offset wrap around" { passes shared_wrap; }

@test "graphs, captured streams and boxes of memory" { passes graphs; }

@test "warp-wide operations use the member mask that each lane names" { passes member_masks; }

@test "a reduction over the groups found by a match" { passes redux_groups; }

@test "a reduction over the labelled groups of cooperative groups" { passes labeled_reduce; }

@test "every thread of a warp takes the same lock" { passes independent_threads 0; }

@test "a lane waits for a lane on the other side of a branch" { passes independent_threads 1; }

@test "the same shuffle on both sides of a branch" { passes independent_threads 2; }

@test "every thread of a warp takes the same lock in shared memory, and counts its tries" { passes independent_threads 4; }

@test "a block waits for a later block" { passes independent_threads 3; }

@test "instructions of dynamic programming, and predicates of logic operations" { GPU=h100 passes dpx; }

@test "threads leave a loop with a barrier in it one after another" { passes divergent_barrier; }

@test "registered host memory, and memory pools" {
	if nm "$BUILD/libgtrace.a" 2>/dev/null | grep -q __asan_init; then
		skip "whole pages are copied, and with them what AddressSanitizer keeps between allocations"
	fi
	passes host_memory
}

@test "products by tensor cores: wmma, and ldmatrix with mma" { passes tensor_cores; }

@test "barriers in shared memory, and copies that report to them" { passes barriers; }

@test "groups of threads, and the barriers, pipelines and atomics of libcu++" { passes groups_and_barriers; }

@test "CUB: sums, scans and a sort of the whole device" { passes device_algorithms; }

@test "cuRAND in kernels: numbers of Philox and XORWOW as a second writing has them" { passes random_numbers; }

@test "an instruction that is ignored is named once, and not with --quiet" {
	needs_cuda
	program store_through
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./store_through 2>said >stream
	[ "$(wc -l <said)" -eq 1 ]
	grep -q "^gtrace-record: PTX line [0-9]*: 'st.wt' is ignored" said
	LD_PRELOAD=${PRELOAD:-} gtrace-record --quiet ./store_through 2>said | cmp - stream
	[ ! -s said ]
}

@test "printf in a kernel" {
	needs_cuda
	program device_printf
	LD_PRELOAD=${PRELOAD:-} timeout 120 gtrace-record --stdout said ./device_printf >stream
	[ "$(tr '\n' ' ' <said)" = "hello 0 hello 1 no error " ]
	gtrace-cat --check stream >/dev/null
}

@test "the blocks of a cooperative launch wait for each other" { passes cooperative; }

@test "textures of arrays: formats, filters and address modes by the formulas of CUDA's guide" { passes textures; }

@test "mipmapped arrays, by level and by gradients, and sRGB" {
	passes mipmaps
	[ "$(grep -c 'maxAnisotropy is taken as 1' said)" -eq 1 ]
}

@test "arrays of every shape, surfaces, and copies of arrays" { passes images; }

@test "accesses to textures are traced on request, and else said to be missing" {
	needs_cuda
	program images
	LD_PRELOAD=${PRELOAD:-} gtrace-record ./images >stream 2>said
	[ "$(grep -c 'textures and surfaces are used, and their accesses are not traced: see --space' said)" -eq 1 ]
	gtrace-cat stream >rows
	run ! grep -q 'texture' <(grep -v '^#' rows)
	LD_PRELOAD=${PRELOAD:-} gtrace-record --space texture --launches 1 ./images >stream 2>said
	run ! grep -q 'not traced' said
	# 5 blocks of a warp fetch from a layered array of one dimension and from one of two. In the first, 32 texels of
	# 4 bytes are 4 sectors.
	[ "$(gtrace-cat stream | grep -c 'load.texture')" -eq 10 ]
	[ "$(gcoalesce stream | gtrace-cat | awk -F '\t' '$3 == 0 && $5 == "load.texture" && $7 == "0xf"' | wc -l)" -eq 5 ]
	# A layer of the second, 9 rows of 160 bytes, is 3 by 2 GOBs. Lane 0 of block b reads its first texel.
	gtrace-cat stream | awk -F '\t' '$3 == 1 && $5 == "load.texture" { split($10, at, ","); print at[1] }' >first
	[ "$(tr '\n' ' ' <first)" = "0x200000000a00 0x200000001600 0x200000002200 0x200000002e00 0x200000002e00 " ]
	gcoalesce stream | gschedule --gpu a100 | gcache --texture | gstats >table
	grep -q texture table
}

@test "quotients and remainders of 128 bits" { passes wide_integers; }

@test "clusters of blocks" { GPU=h100 passes clusters; }

@test "copies of boxes of tensors, and between the blocks of a cluster" { GPU=h100 passes tensor_maps; }

@test "products by four warps: wgmma with every swizzle" { GPU=h100 passes warpgroups; }

# bats test_tags=whole
@test "tensor memory: products, loads, stores and copies of tcgen05" { TARGET=100a GPU=b200 passes tensor_memory; }

@test "a managed variable is managed memory in the attributes of its pointer" { passes managed_attribute_rt; }

@test "a managed variable of a module that the driver loads is managed memory" {
	needs_cuda
	# It has no kernels of its own, so needs no nvcc.
	g++ -x c++ -I "$CUDA_HOME/include" -o managed_attribute "$ROOT/tests/cuda/managed_attribute.cu" -x none \
		-Wl,--unresolved-symbols=ignore-in-shared-libs "$BUILD/cudart/libcuda.so.1" "$BUILD/cudart/libcudart.so.13"
	passes managed_attribute
}

# The program checks what each launch did. The records of a launch that was not executed are those of one that was.
@test "a launch that is the same as an earlier one does what that did, without being executed" {
	passes repeats
	LD_PRELOAD=$PRELOAD gtrace-record --gpu a100 -v ./repeats 2>said | cmp - stream
	grep -q '^gtrace-record: launch 4, sums<<<.*launch 4 of this kernel: .* traced, the same as launch 2$' said
	grep -q '^gtrace-record: all 12 launches of sums: .* traced, 5 of them the same as an earlier one$' said
	grep -q '^gtrace-record: all 16 launches of [a-z:]*add: .* traced, 6 of them the same as an earlier one$' said
	# Of 16 arguments the 1st, 2nd, 6th and 14th in the second round, and the others when the first of these has come again.
	grep -q '^gtrace-record: all 64 launches of part: .* traced, 20 of them the same as an earlier one$' said
	grep -q '^gtrace-record: all 13 launches of follow: .* traced, [4-6] of them the same as an earlier one$' said
	grep -q '^gtrace-record: all 1[0-9][0-9] launches of once: .* traced, [0-9]* of them the same as an earlier one$' said
	grep -q '^gtrace-record: all 6 launches of nothing: .* traced, 2 of them the same as an earlier one$' said
	run ! grep -E 'launches of (number|say).*the same' said
	[ "$(grep -c '^say 17$' said)" -eq 5 ]
	gtrace-cat stream | awk -F '\t' '/^#kernel/ { split($2, id, "="); at = id[2] } !/^#/ && (at <= 3 || at == 7) { $NF = ""; print >"rows." at }'
	cmp rows.1 rows.2
	cmp rows.1 rows.3 # the second is remembered, and the third written again
	cmp rows.1 rows.7 # executed: it reads other contents at the same addresses
}

# Each of 1024 steps needs the store of another block; 64 warps poll. Hardware does it in milliseconds. The program itself checks that
# all is done, in 5 s at most; rows of 200 MB are its other bound.
@test "blocks that poll flags of each other give their turns away" {
	passes spin_pingpong
	[ "$(wc -c <stream)" -lt $((200 << 20)) ]
	gstats stream >table
	grep -q '^ *polls .* turns$' table
	[ "$(grep -c '^waited by polling, how often follows from the order of turns: 1 ' table)" -eq 1 ]
}

# The program compares each level with the host's, in 10 s at most. Cycles of some 10 and of some 100 polls; with 50 predecessors lanes of a
# warp wait for others of it that stand at a join.
@test "blocks whose lanes poll lists of flags of each other, of different lengths, end" {
	passes spin_lists 2401 4
	[ "$(wc -c <stream)" -lt $((20 << 20)) ]
	passes spin_lists 700 50
	[ "$(wc -c <stream)" -lt $((200 << 20)) ]
	passes spin_lists 2401 4 4
	passes spin_lists 700 50 2
	[ "$(wc -c <stream)" -lt $((200 << 20)) ]
}

# Without a state that repeats: the program allows 5 s, and 20 MB of rows are some 4 million polls.
@test "blocks that count, back off and store while they wait for later blocks end, or are stopped" {
	passes spin_counts
	[ "$(wc -c <stream)" -lt $((20 << 20)) ]
	run -1 --separate-stderr env LD_PRELOAD="${PRELOAD-}" gtrace-record --max-instructions 400000000 ./spin_counts never
	# shellcheck disable=SC2154 # set by run
	grep -q "kernel _Z[A-Za-z0-9_]*5chain[A-Za-z0-9_]*, PTX line [0-9]*, .*: it runs away: in 1048576 warp instructions all blocks have found what" <<<"$stderr"
}

@test "a refused launch of PTX that is newer than the GPU says which GPU has what it needs" {
	needs_cuda
	program clusters
	LD_PRELOAD=${PRELOAD:-} gtrace-record --gpu a100 --stdout said ./clusters >stream 2>told && return 1
	grep -q "each of the program's launches, [0-9]*, returned an error: its PTX is for compute capability 9.0, and the GPU has 8.0 (--gpu with it: b200, h100, h200, rtx5090): .*(cudaErrorInvalidClusterSize)" told
	run ! grep -q 'asked the CUDA runtime for no launch' told
}

# The kernel tells for what it was compiled: 10 times the capability, and 1 for that alone, 2 for its family.
build_images() {
	cat >images.cu <<-'END'
		#include <cstdio>
		#ifdef __CUDA_ARCH_SPECIFIC__
		#define FEATURES 1
		#elif defined __CUDA_ARCH_FAMILY_SPECIFIC__
		#define FEATURES 2
		#else
		#define FEATURES 0
		#endif
		#ifdef __CUDA_ARCH__
		__device__ int target = __CUDA_ARCH__ + FEATURES;
		#else
		__device__ int target;
		#endif
		__global__ void tell(int *to) { *to = target; }
		int main()
		{
			cudaFuncAttributes about;
			int *to, got = 0, asked = cudaFuncGetAttributes(&about, tell);
			cudaMalloc(&to, 4);
			tell<<<1, 1>>>(to);
			printf("%d %d ", asked, cudaGetLastError());
			printf("%d ", cudaMemcpyFromSymbol(&got, target, 4));
			cudaMemcpy(&got, to, 4, cudaMemcpyDeviceToHost);
			printf("%d\n", got);
		}
	END
	nvcc -cudart shared "$@" -o images images.cu
}

image_of() {
	LD_PRELOAD=${PRELOAD:-} gtrace-record --gpu "$1" ./images 2>&1 >stream
}

# bats test_tags=whole
@test "a program of several targets runs the one that a driver would choose" {
	needs_cuda
	local gpu want
	build_images -gencode arch=compute_75,code=compute_75 -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90a,code=compute_90a \
		-gencode arch=compute_100f,code=compute_100f
	while read -r gpu want; do
		[ "$(image_of "$gpu")" = "0 0 0 $want" ]
	done <<-END
		gtx1080 750
		t4 750
		a100 800
		rtx4090 800
		h200 901
		b200 1002
		rtx5090 800
	END
}

# bats test_tags=whole
@test "PTX with the features of one GPU is no image for another, and a line names the GPUs that run it" {
	needs_cuda
	build_images -gencode arch=compute_100a,code=compute_100a -gencode arch=compute_120f,code=compute_120f
	[ "$(image_of b200)" = "0 0 0 1001" ]
	[ "$(image_of rtx5090)" = "0 0 0 1202" ]
	image_of h100 >told && return 1
	grep -qx '209 209 209 0' told
	grep -q "each of the program's launches, 1, returned an error: its PTX is for compute capability 10.0 alone, and the GPU has 9.0 (--gpu with it: b200): kernel tell, <<<1x1x1, 1x1x1>>>, .*(cudaErrorNoKernelImageForDevice)" told
	# Here nvcc adds what all later GPUs run; no earlier one does.
	build_images -arch=sm_90a
	[ "$(image_of h200)" = "0 0 0 901" ]
	[ "$(image_of b200)" = "0 0 0 900" ]
	image_of a100 >told && return 1
	grep -q 'its PTX is for compute capability 9.0 alone, and the GPU has 8.0 (--gpu with it: h100, h200)' told
}

# The counters that were posted: of 65,536 blocks, 6,553,600 sectors of loads and 3,211,264 of stores, so 100 and 49 a block; 4, 8 and
# 32 sectors a request of atomicExch on 32, 4 and 1 addresses, as op_atom. L2 is of one part here: an H100 counted 8, 16 and 64 in
# its two (tests/reference/README.md), the halves of the SM and of the line.
@test "counters by ncu's names are those of hardware: volatile loads, and atomics whose result is unused" {
	passes ncu_names
	gschedule stream | gcache --l1 | gcache --l2 --spread none | gdram >served
	for kernel in reduce_global exchange_32 exchange_4 exchange_1 swap_4 add_4; do
		gstats --names ncu --csv --kernel "$kernel" served | tr -d '"' >"$kernel.csv"
	done
	l1() { awk -F, -v metric="$2" '$(NF - 2) == metric { print $NF + 0 }' "$1.csv"; } # KERNEL METRIC
	[ "$(l1 reduce_global l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum)" -eq $((64 * 100)) ]
	[ "$(l1 reduce_global l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum)" -eq $((64 * 49)) ]
	# What bypasses misses; the parts make up the whole.
	[ "$(l1 reduce_global l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum)" -le $((64 * 49)) ]
	[ $(($(l1 reduce_global l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum) + \
		$(l1 reduce_global l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum))) -eq $((64 * 100)) ]
	for case in "exchange_32 4" "exchange_4 8" "exchange_1 32" "swap_4 8"; do
		read -r kernel sectors <<<"$case"
		[ "$(l1 "$kernel" l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_atom.ratio)" = "$sectors" ]
		[ "$(l1 "$kernel" l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum)" = "$sectors" ]
		[ "$(l1 "$kernel" lts__t_sectors_op_atom.sum)" = "$sectors" ]
		[ "$(l1 "$kernel" l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum)" = 1 ]
		[ "$(l1 "$kernel" l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum)" = 0 ]
	done
	[ "$(l1 add_4 l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum)" = 0 ]
	[ "$(l1 add_4 l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_red.ratio)" = 1 ]
}
